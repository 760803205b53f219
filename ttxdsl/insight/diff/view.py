"""Two programs side by side as tables, and as JSON."""

from collections.abc import Callable, Iterable
from typing import Any

from rich.table import Table

from ttxdsl.analysis.usage.collectives import CountedCollective, guesses_text, sent_text
from ttxdsl.analysis.usage.device import UNFUSED
from ttxdsl.analysis.usage.reasons import lines_of, reason_of
from ttxdsl.costs.units import bytes_text, seconds_text
from ttxdsl.diagnostics.folding import fold, unfolded
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import Terminal
from ttxdsl.insight.diff.difference import Difference, Pair, Side
from ttxdsl.insight.why.layers import annotations_text

_MOST_LINES = 36
"""Rows of the table of collectives: a screen then has all of the difference."""


def _summary_table(difference: Difference) -> Table:
    table = Table("", title_justify="left")
    for heading in ("A", "B", "B - A"):
        table.add_column(heading, justify="right", no_wrap=True)

    def row(
        name: str, of: Callable[[Side], int], text: Callable[[int], str] = str
    ) -> None:
        left, right = of(difference.left), of(difference.right)
        change = right - left
        sign = "+" if change > 0 else "-" if change < 0 else ""
        shown = f"{sign}{text(abs(change))}" if change else "="
        table.add_row(name, text(left), text(right), shown)

    for kind in difference.kinds:
        row(kind, lambda side, kind=kind: side.count(kind))
    row("launches", lambda side: side.launches)
    row("bytes that a device sends", lambda side: side.bytes_sent, bytes_text)
    row("memory of a device", lambda side: side.memory.peak_bytes, bytes_text)
    row("of it arguments", lambda side: side.memory.argument_bytes, bytes_text)
    if difference.left.seconds is not None and difference.right.seconds is not None:
        left, right = difference.left.seconds, difference.right.seconds
        ratio = f"x {right / max(left, 1e-12):.2f}"
        table.add_row("step", seconds_text(left), seconds_text(right), ratio)
    return table


def _sides_text(texts: Iterable[str]) -> str:
    return " -> ".join(filter(None, dict.fromkeys(texts)))


def _cells(pair: Pair) -> tuple[str, ...]:
    """Return the cells of two collectives, both texts where they differ."""
    both = [
        collective for collective in (pair.left, pair.right) if collective is not None
    ]
    return (
        pair.sign,
        _sides_text(collective.title for collective in both),
        _sides_text(collective.axes_text for collective in both),
        _sides_text(collective.tensor for collective in both),
        _sides_text(collective.reason for collective in both),
    )


def _moved(pair: Pair) -> int:
    """Bytes that it is about."""
    left, right = (
        collective.bytes_per_device if collective is not None else 0
        for collective in (pair.left, pair.right)
    )
    return max(left, right)


def _pair_table(pairs: list[Pair], *, whole: bool) -> Table:
    """Pairs that differ alike are one row with a count, the dearest first."""
    rows = unfolded(pairs) if whole else fold(pairs, _cells, _moved)
    table = Table("", "collective", "axis", "local tensor")
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("why")
    for group in rows.groups:
        sign, title, axes, tensor, _ = _cells(group[0])
        count = f"{len(group)} " if len(group) > 1 else ""
        sides = [
            [collective for collective in side if collective is not None]
            for side in (
                [pair.left for pair in group],
                [pair.right for pair in group],
            )
        ]
        told = [side for side in sides if side]
        bytes_ = _sides_text(map(sent_text, told))
        texts = _sides_text(map(reason_of, told)), _sides_text(map(lines_of, told))
        names = annotations_text(name for pair in group for name in pair.annotations)
        origin = f"from {names}" if names else ""
        why = "\n".join(filter(None, (*texts, origin)))
        table.add_row(sign, f"{count}{title}", axes, tensor, bytes_, why)
    if rows.hidden:
        table.add_row("", f"{len(rows.hidden)} others, shown by --all")
    return table


def print_difference(
    console: Terminal, difference: Difference, *, everything: bool = False
) -> None:
    """Both programs side by side, and the collectives that differ."""
    console.print(f"A  {visible(difference.left.name)}", soft_wrap=True)
    console.print(f"B  {visible(difference.right.name)}", soft_wrap=True)
    console.print(_summary_table(difference))
    if difference.left.seconds is None:
        console.print(f"memory: {UNFUSED}", soft_wrap=True)
    sides = (
        guesses_text(side.collectives) for side in (difference.left, difference.right)
    )
    for guessed in dict.fromkeys(filter(None, sides)):
        console.print(guessed, soft_wrap=True)
    shown = [pair for pair in difference.pairs if everything or not pair.is_equal]
    if shown:
        pairs = _pair_table(shown, whole=everything)
        lines = None if everything else _MOST_LINES
        console.print_table(pairs, ["local tensor", "axis"], lines)
        console.print("- only in A, + only in B, ~ changed")
        for text in dict.fromkeys((*difference.left.parts, *difference.right.parts)):
            console.print(text, soft_wrap=True)
    same = len(difference.pairs) - sum(not pair.is_equal for pair in difference.pairs)
    if same and not everything:
        console.print(
            f"{same} {'collective is' if same == 1 else 'collectives are'} the same: --all"
        )
    if difference.is_equal:
        console.print("no difference")
    if hint := difference.left.hint or difference.right.hint:
        console.print(hint, soft_wrap=True)


def difference_data(difference: Difference) -> dict[str, Any]:
    """Return a difference for JSON."""

    def side(program: Side) -> dict[str, Any]:
        return {
            "name": program.name,
            "collectives": {kind: program.count(kind) for kind in difference.kinds},
            "launches": program.launches,
            "bytes_sent": program.bytes_sent,
            "peak_bytes": program.memory.peak_bytes,
            "argument_bytes": program.memory.argument_bytes,
            **({} if program.seconds is None else {"step_s": program.seconds}),
        }

    def collective(counted: CountedCollective | None) -> dict[str, Any] | None:
        return None if counted is None else counted.data()

    return {
        "equal": difference.is_equal,
        "a": side(difference.left),
        "b": side(difference.right),
        "collectives": [
            {
                "change": pair.sign,
                "a": collective(pair.left),
                "b": collective(pair.right),
                "annotations": list(pair.annotations),
            }
            for pair in difference.pairs
        ],
    }
