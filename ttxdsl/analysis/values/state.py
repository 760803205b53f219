"""The result of a function that an argument becomes: a step's state before and after.

Given by `tf.aliasing_output`; else by the path in the pytree, as JAX names arguments and
results; else an argument that is given away (`jax.buffer_donor`) becomes the result of
its type, as XLA pairs them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, NameLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    result_names,
)

_ALIASED = "tf.aliasing_output"
BUFFER_DONOR = "jax.buffer_donor"

DONATED = (_ALIASED, BUFFER_DONOR)
"""Attributes of arguments that the caller gives away; the first says for which result."""

_PART = re.compile(r"\[[^\]]*\]|\.?\w+")
_COUNTED = re.compile(r"\[\d+\]")


def results_of_arguments(function: FuncOp) -> dict[int, int]:
    """The result that an argument becomes, by their indices, for all that become one.

    Both have one type. No result is what two arguments become.
    """
    types = function.function_type
    given = argument_attributes(function)
    pairs_of_state: dict[int, int] = {}
    taken: set[int] = set()
    for index, entry in enumerate(given):
        aliased = entry.get(_ALIASED)
        if isinstance(aliased, IntegerAttr):
            result = aliased.value.data
            if result < len(types.outputs.data) and result not in taken:
                pairs_of_state[index] = result
                taken.add(result)
    arguments: defaultdict[Attribute, list[int]] = defaultdict(list)
    results: defaultdict[Attribute, list[int]] = defaultdict(list)
    for index, type_ in enumerate(types.inputs.data):
        if index not in pairs_of_state:
            arguments[type_].append(index)
    for index, type_ in enumerate(types.outputs.data):
        if index not in taken:
            results[type_].append(index)
    names = _argument_paths(function), _result_paths(function)
    for type_, outputs in results.items():
        inputs = arguments[type_]
        donated = {
            index for index in inputs if any(name in given[index] for name in DONATED)
        }
        pairs = _by_path(inputs, outputs, names, donated)
        pairs_of_state.update(pairs)
        left = sorted(donated - set(pairs))
        free = sorted(set(outputs) - set(pairs.values()))
        if len(left) == len(free):
            pairs_of_state.update(zip(left, free, strict=True))
    return dict(sorted(pairs_of_state.items()))


def _by_path(
    inputs: Sequence[int],
    outputs: Sequence[int],
    names: tuple[list[tuple[str, ...]], list[tuple[str, ...]]],
    donated: set[int],
) -> dict[int, int]:
    """Return the pairs whose paths end alike, those that agree in most parts first."""
    ends = _Ends()
    chains = (
        {index: ends.of(names[0][index]) for index in inputs},
        {index: ends.of(names[1][index]) for index in outputs},
    )
    pairs: dict[int, int] = {}
    longest = min(max(map(len, side.values()), default=0) for side in chains)
    for parts in range(longest, 0, -1):
        alike: dict[int, tuple[list[int], list[int]]] = {}
        for at, side in enumerate(chains):
            for index, chain in side.items():
                if len(chain) >= parts and not ends.only_counts[chain[parts - 1]]:
                    group = alike.setdefault(chain[parts - 1], ([], []))
                    group[at].append(index)
        for group in alike.values():
            behind = [
                [chains[at][index][parts : parts + 1] for index in group[at]]
                for at in (0, 1)
            ]
            mine = _parting(group[0], *behind)
            theirs = _parting(group[1], *reversed(behind))
            if len(mine) != len(theirs):
                mine = [index for index in mine if index in donated]
            if len(mine) == len(theirs):
                pairs.update(zip(sorted(mine), sorted(theirs), strict=True))
                for at, paired in enumerate((mine, theirs)):
                    for index in paired:
                        del chains[at][index]
    return pairs


class _Ends:
    """The ends of paths by numbers, the same of those that are alike."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self.only_counts = [True]
        """For each end, True if all its parts are positions in lists."""

    def of(self, path: Sequence[str]) -> list[int]:
        """Return the ends of a path, that of one part first."""
        chain: list[int] = []
        end = 0
        for part in reversed(path):
            number = self._numbers.setdefault((end, part), len(self.only_counts))
            if number == len(self.only_counts):
                counts = self.only_counts[end] and bool(_COUNTED.fullmatch(part))
                self.only_counts.append(counts)
            end = number
            chain.append(end)
        return chain


def _parting(
    group: Sequence[int], own: Sequence[list[int]], others: Sequence[list[int]]
) -> list[int]:
    """Return the members of a group that agree with none of the other side in more parts."""
    longer = Counter(end[0] for end in others if end)
    return [
        index
        for index, end in zip(group, own, strict=True)
        if len(others) > (longer[end[0]] if end else 0)
    ]


def _argument_paths(function: FuncOp) -> list[tuple[str, ...]]:
    """Return the paths of arguments, without the names of the function's parameters."""
    paths: list[tuple[str, ...]] = []
    for argument in function.body.block.args:
        location = unmarked(argument.location)
        text = location.desc.data if isinstance(location, NameLoc) else ""
        paths.append(tuple(_PART.findall(text)[1:]))
    return paths


def _result_paths(function: FuncOp) -> list[tuple[str, ...]]:
    return [tuple(_PART.findall(name or "")) for name in result_names(function)]
