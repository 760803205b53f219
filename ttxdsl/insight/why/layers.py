"""Collectives and buffers that repeat over the layers of a model, as one with a count."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.usage.memory import LiveValue
from ttxdsl.costs.units import listed, number_ranges, others
from ttxdsl.diagnostics.folding import Folded, fold
from ttxdsl.insight.why.answers import WhyCollective

_NUMBER = re.compile(r"\d+")
_INDEX = re.compile(r"(?<=[\[_])\d+(?!\w)|(?<=[a-z])\d+(?='\]\[|\.)")
"""The number of a layer: `p[3]`, `layers_3`, and `block3` of what has parts itself."""
_VALUE = re.compile(r" ?(?:@[\w.$-]+:)?%[\w.$-]+(?:#\d+)?")
_BEFORE_AN_OPERAND = re.compile(r"(?:\b(?:and|from|needs|of|on|or)|,)$")

_NAMES = 3
"""Annotations that are told of what several cause."""


def _likeness(collective: WhyCollective) -> tuple[object, ...]:
    """Return the key that collectives of several layers share, names without numbers."""
    origins = (
        f"{axis} {name}"
        for axis in collective.origins
        for name in collective.origins[axis]
    )
    texts = (collective.summary, *origins, collective.op.scope or "")
    names = tuple(_NUMBER.sub("", text) for text in texts)
    return (
        collective.kind,
        collective.axes,
        str(collective.times),
        collective.tensor,
        collective.op.op,
        names,
    )


def fold_collectives(
    all_: Sequence[WhyCollective], rows: Sequence[str] = ()
) -> Folded[WhyCollective]:
    """Those of several layers together, the slowest first.

    Args:
        all_: in program order.
        rows: of each one the row that it is to be in; of those in a row the slowest is the
            first.
    """
    if not rows:
        return fold(all_, _likeness, attrgetter("seconds"))
    seconds = attrgetter("seconds")
    folded = fold(all_, lambda collective: rows[collective.number], seconds)
    groups = [sorted(group, key=seconds, reverse=True) for group in folded.groups]
    return Folded(groups, folded.hidden)


def text_of_all(texts: Sequence[str]) -> str | None:
    """Return texts that differ in numbers only as one, `p[0]` to `p[3]` as `p[0-3]`.

    None if they differ in more.
    """
    texts = _with_values_of_all(texts)
    if len({_NUMBER.sub("", text) for text in texts}) > 1:
        return None
    numbers = zip(*(map(int, _NUMBER.findall(text)) for text in texts), strict=True)
    ranges = iter([number_ranges(sorted(set(column))) for column in numbers])
    return _NUMBER.sub(lambda _: next(ranges), texts[0])


def _with_values_of_all(texts: Sequence[str]) -> list[str]:
    """Return texts with the values that they share, `%12`, and `%arg3 …` for several.

    Behind the name of an op the numbers of several say nothing and are left out.
    """
    rows = [[*_VALUE.finditer(text)] for text in texts]
    shared: list[str] = []
    if len({*map(len, rows)}) == 1:
        for first, *rest in zip(*rows, strict=True):
            is_operand = _BEFORE_AN_OPERAND.search(first.string, 0, first.start())
            several = f"{first[0]} …" if is_operand else ""
            shared.append(
                several if {match[0] for match in rest} - {first[0]} else first[0]
            )
    together: list[str] = []
    for text in texts:
        kept = iter(shared)
        together.append(_VALUE.sub(lambda _, kept=kept: next(kept, ""), text))
    return together


def without_layers(name: str) -> str:
    """Return a name without the numbers of layers, the same for those of all of them."""
    return _INDEX.sub("", name)


def names_together(names: Iterable[str]) -> list[str]:
    """Return names with those of several layers as one, `p[0]` to `p[3]` as `p[0-3]`."""
    alike: dict[str, dict[str, None]] = {}
    for name in names:
        alike.setdefault(without_layers(name), {})[name] = None
    return [
        (text_of_all(list(group)) if len(group) > 1 else None) or next(iter(group))
        for group in alike.values()
    ]


def annotations_text(names: Iterable[str]) -> str:
    """Return `p['w'][0-3], x and 2 others`, empty if there are none."""
    told = names_together(names)
    more = len(told) - _NAMES
    return listed([*told[:_NAMES], *([others(more)] if more > 0 else [])])


@dataclass(frozen=True, slots=True)
class AlikeBuffers:
    """Buffers at the peak of one name, type and line, as those of all layers are.

    Attributes:
        name: in the words of the program's author.
        type: of each, on a device.
        bytes: of all of them.
        position: in the source; None where the program does not say it.
    """

    name: str
    type: str
    count: int
    bytes: int
    position: str | None


def largest_buffers(
    values: Iterable[LiveValue], words: Words, most: int
) -> Iterator[AlikeBuffers]:
    """Yield the buffers that take most together, those that differ in the layer as one."""
    named = [
        (words.value(value.value) or value.name, value)
        for value in values
        if value.bytes
    ]
    groups = fold(
        named,
        lambda row: (without_layers(row[0]), row[1].type, row[1].position),
        lambda row: row[1].bytes,
        most,
    ).groups
    for group in groups[:most]:
        names = [name for name, _ in group]
        first = group[0][1]
        size = sum(value.bytes for _, value in group)
        name = text_of_all(names) or names[0]
        yield AlikeBuffers(name, first.type, len(group), size, first.position)
