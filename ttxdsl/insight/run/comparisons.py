"""Messages about results that were compared, and about those that cannot be."""

from collections.abc import Sequence
from typing import Any

from ttxdsl.costs.units import number_ranges
from ttxdsl.diagnostics.terminal import Terminal
from ttxdsl.interpreters.compare import Comparison, Verdict

_MOST_NAMED = 8
"""Arrays that a message names."""


def first_few(texts: Sequence[str], between: str) -> str:
    """Return the first few texts, joined, with an ellipsis for the others."""
    more = f"{between}…" if len(texts) > _MOST_NAMED else ""
    return between.join(texts[:_MOST_NAMED]) + more


OTHER_INPUTS = "give inputs that make sense with --inputs, or another --seed"


def not_compared(comparisons: Sequence[Comparison]) -> list[int]:
    """The results that are no numbers on either side."""
    return [
        at
        for at, comparison in enumerate(comparisons)
        if comparison.verdict is Verdict.NOTHING
    ]


def tell_of_nothing(
    console: Terminal, results: Sequence[int], names: Sequence[str] = ()
) -> None:
    """Say that results are no numbers on these inputs, and what to do."""
    if results:
        told = f"result{'s' if len(results) > 1 else ''} {number_ranges(results)}"
        if names and not any(names[at].isdigit() for at in results):
            told = first_few([names[at] for at in results], ", ")
        console.print(
            f"most of {told}"
            f" is NaN or infinite on these inputs, so that nothing was compared:"
            f" {OTHER_INPUTS}",
            soft_wrap=True,
        )


def tell_of_special(console: Terminal, comparisons: Sequence[Comparison]) -> None:
    """Say which results hold NaN or infinities, where no table does."""
    texts = [
        f"result {at}: {comparison.special} elements"
        for at, comparison in enumerate(comparisons)
        if comparison.special.is_any
    ]
    if texts:
        console.print(f"not finite: {first_few(texts, '; ')}", soft_wrap=True)


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """The verdict, and how many elements are no numbers, for JSON."""
    return {
        "verdict": comparison.verdict.value,
        "nan": comparison.special.nan,
        "infinite": comparison.special.infinite,
        "elements": comparison.special.size,
    }
