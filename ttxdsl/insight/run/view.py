"""The outcome of a run as tables, and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from operator import attrgetter, itemgetter
from typing import Any

from rich.table import Table
from rich.text import Text

from ttxdsl.analysis.attribution.locations import PLACES
from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    guesses_text,
    launches_of,
    sent_text,
    sub_axes_texts,
)
from ttxdsl.analysis.usage.device import UNFUSED
from ttxdsl.analysis.usage.reasons import lines_of, reason_of
from ttxdsl.costs.units import bytes_text, number_ranges, seconds_text
from ttxdsl.diagnostics.display import finite
from ttxdsl.diagnostics.folding import farthest, fold, unfolded
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import Terminal, heading, styled
from ttxdsl.insight.run.comparisons import (
    comparison_data,
    not_compared,
    tell_of_nothing,
)
from ttxdsl.insight.run.engines import ProcessUse
from ttxdsl.insight.run.outcome import RunOutcome, RunResult
from ttxdsl.interpreters.compare import Verdict
from ttxdsl.sharding.devices.mesh import mesh_heading, mesh_titles
from ttxdsl.transforms.pipeline import Stage

_MOST_LINES = 34
"""Of a table of collectives, so that a screen has all of the report."""


def _stages_text(stages: Sequence[Stage]) -> str:
    """Return a line on stages: the total time, the longest, and the skipped ones."""
    total = sum(stage.seconds for stage in stages)
    text = f"{len(stages)} stages and lowerings {seconds_text(total)}"
    if stages:
        longest = max(stages, key=attrgetter("seconds"))
        text += f", of it {longest.name} {seconds_text(longest.seconds)}"
    skipped = [stage.number for stage in stages if stage.skipped and stage.number]
    return text + (f"; skipped: {number_ranges(skipped)}" if skipped else "")


def _stage_table(stages: Sequence[Stage]) -> Table:
    table = Table("stage", title="Stages", title_justify="left")
    table.add_column("ms", justify="right")
    for stage in stages:
        number = "  " if stage.number is None else f"{stage.number:2}"
        milliseconds = f"{stage.seconds * 1e3:.1f}"
        table.add_row(
            f"{number} {stage.name}", "skipped" if stage.skipped else milliseconds
        )
    return table


def _cell(texts: Iterable[str]) -> str:
    """Return the text that a group has in common, or the number of different ones."""
    first, *others = dict.fromkeys(texts)
    return f"{1 + len(others)} different" if others else first


def _why(group: Sequence[CountedCollective]) -> str:
    """Return why collectives are there, and where, or how many reasons they have."""
    reason = _cell(collective.reason for collective in group)
    if reason != group[0].reason:
        return reason
    return "\n".join(filter(None, (reason_of(group), lines_of(group))))


def _collective_table(
    collectives: Sequence[CountedCollective],
    outcome: RunOutcome,
    *,
    whole: bool,
) -> Table:
    keyed = list(zip(collectives, outcome.row_keys, strict=True))
    if whole:
        rows = unfolded(keyed)
    else:
        rows = fold(keyed, itemgetter(1), lambda pair: pair[0].bytes_per_device)
    table = Table("", "collective", title="Collectives", title_justify="left")
    table.columns[0].justify = "right"
    table.add_column("axis")
    table.add_column("local tensor")
    table.add_column("bytes/device", justify="right", no_wrap=True)
    place_of = outcome.by if outcome.by in PLACES else None
    table.add_column(place_of or "why")
    for pairs in rows.groups:
        group, place = [member for member, _ in pairs], pairs[0][1]
        table.add_row(
            str(len(group)),
            _cell(member.title for member in group),
            _cell(member.axes_text for member in group),
            _cell(member.tensor for member in group),
            sent_text(group),
            str(place or f"no {place_of} is known") if place_of else _why(group),
        )
    if rows.hidden:
        rest = sum(member.bytes_per_device for member, _ in rows.hidden)
        number, text = str(len(rows.hidden)), "others, shown by --all"
        table.add_row(number, text, "", "", bytes_text(rest), "")
    total = sum(collective.bytes_per_device for collective in collectives)
    table.add_section()
    table.add_row(
        str(launches_of(collectives)), "launches", "", "", bytes_text(total), ""
    )
    return table


def _result_table(results: Sequence[RunResult], *, whole: bool) -> Table:
    """Results with their faults; of many those that are farthest off."""
    shown = results
    if not whole:
        shown = farthest(
            results,
            lambda compared: compared.comparison.ok,
            lambda compared: compared.comparison.max_rel,
        )
    table = Table("result", "type", title="Results", title_justify="left")
    table.columns[0].overflow = "fold"  # the middle of a path tells states apart
    special = any(compared.comparison.special.is_any for compared in results)
    columns = ("max abs", "max rel", "PCC", *(("not finite",) if special else ()))
    for column in columns:
        table.add_column(column, justify="right")
    table.add_column("")
    for result in shown:
        shape = "x".join(map(str, (*result.array.shape, result.array.dtype)))
        comparison = result.comparison
        table.add_row(
            result.name,
            shape,
            f"{comparison.max_abs:.2e}",
            f"{comparison.max_rel:.2e}",
            f"{comparison.pcc:.8f}",
            *((str(comparison.special),) if special else ()),
            _shown(comparison.verdict),
        )
    if len(shown) < len(results):
        right = sum(result.comparison.ok for result in results)
        text = f"{right} of {len(results)} pass, the farthest off shown"
        table.add_section()
        verdicts = {
            Verdict.PASS,
            *(compared.comparison.verdict for compared in results),
        }
        worst = max(verdicts - {Verdict.ROUNDED}, key=[*Verdict].index)
        table.add_row("all", text, *("" for _ in columns), _shown(worst))
    return table


def _shown(verdict: Verdict) -> Text:
    is_good = verdict in (Verdict.PASS, Verdict.ROUNDED)
    return styled(verdict.value, "green" if is_good else "bold red")


def print_outcome(
    console: Terminal,
    source: str,
    outcome: RunOutcome,
    *,
    whole: bool = False,
    all_axes: bool = False,
) -> None:
    """Print an outcome."""
    lowered = outcome.lowered
    meshes = mesh_heading(mesh_titles(lowered.meshes, all_axes=all_axes))
    head = heading(source, f"  {visible(meshes)}")
    console.print(head, soft_wrap=True)
    if whole:
        console.print(_stage_table(lowered.stages))
    else:
        console.print(_stages_text(lowered.stages), soft_wrap=True)
    collectives = outcome.collectives
    for purpose in outcome.purposes:
        console.print(str(purpose), soft_wrap=True)
    if outcome.peak_bytes is not None:
        peak = bytes_text(outcome.peak_bytes)
        text = f"memory of a device: {peak} at its peak"
        if outcome.chip is not None and outcome.step_seconds is not None:
            limit = bytes_text(outcome.chip.memory_bytes)
            step = seconds_text(outcome.step_seconds)
            text += f", of {limit} on {outcome.chip.name}; a step there takes {step}"
        else:
            text += f" ({UNFUSED})"
        console.print(text)
    table = _collective_table(collectives, outcome, whole=whole)
    lines = None if whole else _MOST_LINES
    console.print_table(table, ["local tensor", "axis"], lines)
    for text in sub_axes_texts(collectives, lowered.meshes.values()):
        console.print(text, soft_wrap=True)
    if (guessed := guesses_text(collectives)) is not None:
        console.print(guessed, soft_wrap=True)
    if outcome.processes:
        console.print(_use_table(outcome.processes))
    if not outcome.results:
        seconds = outcome.simulation_seconds
        console.print(f"{outcome.engine.label} {seconds * 1e3:.1f} ms, not compared")
        return
    console.print(_result_table(outcome.results, whole=whole))
    comparisons = [result.comparison for result in outcome.results]
    if outcome.ok and any(comparison.rounded for comparison in comparisons):
        console.print(
            "* off by no more than rounding alone may do to the program on one device",
            soft_wrap=True,
        )
    names = [result.name for result in outcome.results]
    tell_of_nothing(console, not_compared(comparisons), names)
    console.print(
        f"single device {outcome.reference_seconds * 1e3:.1f} ms,"
        f" {outcome.engine.label} {outcome.simulation_seconds * 1e3:.1f} ms"
    )


def outcome_data(file: str, engine: str, outcome: RunOutcome) -> dict[str, Any]:
    """Return what `print_outcome` prints, and the remarks, for JSON."""
    lowered = outcome.lowered
    collectives = outcome.collectives
    return {
        "file": file,
        "engine": engine,
        "ok": outcome.ok,
        "meshes": {name: dict(mesh.axes) for name, mesh in lowered.meshes.items()},
        "stages": [asdict(stage) for stage in lowered.stages],
        "launches": launches_of(collectives),
        "collectives": [collective.data() for collective in collectives],
        "summary": [asdict(purpose) for purpose in outcome.purposes],
        "peak_bytes": outcome.peak_bytes,
        "step_s": outcome.step_seconds,
        "results": [_result_data(result) for result in outcome.results],
        "reference_seconds": outcome.reference_seconds,
        "simulation_seconds": outcome.simulation_seconds,
        "processes": [asdict(use) for use in outcome.processes],
        "remarks": [asdict(remark) for remark in lowered.remarks],
    }


def _result_data(result: RunResult) -> dict[str, Any]:
    comparison = result.comparison
    return {
        "name": result.name,
        "shape": result.array.shape,
        "dtype": str(result.array.dtype),
        "ok": comparison.ok,
        **comparison_data(comparison),
        "rounded": comparison.rounded,
        "max_abs": finite(comparison.max_abs),
        "max_rel": finite(comparison.max_rel),
        "pcc": finite(comparison.pcc),
        "tolerance": finite(comparison.tolerance),
        "differing": int(comparison.differing),
    }


def _use_table(uses: Sequence[ProcessUse]) -> Table:
    """A table of what the processes took."""
    table = Table(title="Processes", title_justify="left")
    for name in ("process", "shards", "results", "peak memory", "sent", "ms", "waited"):
        table.add_column(name, justify="right")
    for use in uses:
        sizes = (use.shards, use.results, use.peak, use.sent)
        times = (use.seconds, use.waited)
        table.add_row(
            str(use.process),
            *map(bytes_text, sizes),
            *(f"{seconds * 1e3:.1f}" for seconds in times),
        )
    return table
