"""Answers of `why` as trees and tables."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ttxdsl.analysis.attribution.locations import PLACES
from ttxdsl.costs.machines import Machine, machine_data
from ttxdsl.costs.units import bytes_text, listed, seconds_text
from ttxdsl.diagnostics.display import PLAIN_WIDTH
from ttxdsl.diagnostics.folding import unfolded
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import Terminal, styled
from ttxdsl.insight.why import answers
from ttxdsl.insight.why.causes.lines import cost_text
from ttxdsl.insight.why.layers import (
    fold_collectives,
    names_together,
    text_of_all,
)
from ttxdsl.sharding.devices.mesh import mesh_heading

_MOST_LINES = 46
"""Rows of the table of collectives: a screen then has all of the answer."""
_STEPS_SHOWN = 6
"""Steps of a chain that are printed without `--all`, the first and the last ones."""


# --- numbers ----------------------------------------------------------------------

Answer = answers.Answer | answers.Between


_LEAST_SECONDS = 5e-11
"""The least seconds by which two times differ: a tenth of a nanosecond is shown."""


def _changed(more: float, text: str) -> str:
    return f"{text} {'more' if more > 0 else 'less'}"


def outcome_text(base: answers.Figures, figures: answers.Figures) -> str:
    """Return the effect of a change: `1 all_gather less, 12.0 MiB less, 1.0 ms less sending`.

    A step may take longer all the same, where devices repeat more of others' work.
    """
    parts = [
        _changed(count, f"{abs(count)} {kind}")
        for kind, count in figures.difference(base)
    ]
    sent = figures.bytes - base.bytes
    parts.append(_changed(sent, bytes_text(abs(sent))) if sent else "as many bytes")
    time = figures.seconds - base.seconds
    if abs(time) < _LEAST_SECONDS:
        parts.append("sending takes as long")
    else:
        parts.append(f"{_changed(time, seconds_text(abs(time)))} sending")
    if base.peak_bytes is not None and figures.peak_bytes is not None:
        peak = figures.peak_bytes - base.peak_bytes
        text = _changed(peak, bytes_text(abs(peak))) if peak else "the same"
        parts.append(f"peak memory {text}")
    repeated = figures.repeated - base.repeated
    if abs(repeated) * 100 > base.operations:
        parts.append(_changed(repeated, f"{abs(repeated):,} repeated operations"))
    return ", ".join(parts)


# --- trees ------------------------------------------------------------------------


def _add_conflict(tree: Tree, conflict: answers.Conflict) -> None:
    branch = tree.add(styled(f"conflict at {conflict.place}", "yellow"))
    won, lost = ("won: ", "lost:") if conflict.decided else ("one: ", "other:")
    branch.add(styled(f"{won} {conflict.winner}"))
    branch.add(styled(f"{lost} {conflict.loser}"))
    branch.add(styled(f"rule: {conflict.rule}"))


class _Shown:
    """The steps that a tree already shows, and whether it shows everything."""

    def __init__(self, *, whole: bool):
        self.whole = whole
        self.steps: set[answers.ChainStep] = set()


def _add_cause(tree: Tree, cause: answers.AxisCause, shown: _Shown) -> None:
    origin = cause.origin
    place = f" ({origin.place.shown})" if origin.place.position else ""
    branch = tree.add(styled(f"{cause.axis}: {origin.text}{place}"))
    steps = cause.steps
    known = 0
    while not shown.whole and known < len(steps) and steps[known] in shown.steps:
        known += 1
    if known:
        text = f"step {steps[0].step}"
        text += f" to step {steps[known - 1].step}" if known > 1 else ""
        branch.add(styled(f"{text} as above", "dim"))
    rest = steps[known:]
    hidden = 0 if shown.whole else max(0, len(rest) - _STEPS_SHOWN)
    first = _STEPS_SHOWN // 2
    for index, step in enumerate(rest):
        if first <= index < first + hidden:
            if index == first:
                branch.add(styled(f"… {hidden} more steps (--all shows them)", "dim"))
            continue
        shown.steps.add(step)
        factor = f", factor {step.factor} ({step.factor_kind})" if step.factor else ""
        leaf = branch.add(
            Text(
                f"step {step.step}, {step.direction} through {step.place}:"
                f" {step.source} to {step.target}{factor}; {step.priority}"
            )
        )
        for conflict in step.conflicts:
            _add_conflict(leaf, conflict)


def _add_obstacle(tree: Tree, obstacle: answers.Obstacle) -> None:
    if obstacle.conflict is not None:
        if obstacle.upstream is not None:
            text = f"{obstacle.axis or 'an axis'} was lost at {obstacle.upstream}:"
            tree = tree.add(styled(text))
        _add_conflict(tree, obstacle.conflict)
    else:
        tree.add(styled(f"{obstacle.kind}: {obstacle.text}"))


def sharding_tree(answer: answers.WhySharding, *, whole: bool = False) -> Tree:
    """An answer about a value as a tree."""
    path = answer.place.scope if answer.place.op == "func.func" else None
    head = styled(f"{path} ({answer.name})" if path else answer.name, "bold")
    head.append_text(styled(f"  {answer.type}  {_maker_text(answer)}", "not bold"))
    tree, shown = Tree(head), _Shown(whole=whole)
    text = answer.sharding or "none: replicated"
    tree.add(styled(f"sharding {text}"))
    if answer.final != answer.sharding:
        tree.add(styled(f"made as {answer.final or 'replicated'}, see the collectives"))
    if answer.copies > 1:
        tree.add(styled(f"inlined {answer.copies} times; this is the first"))
    for note in answer.notes:
        tree.add(styled(note))
    for dim in answer.dims:
        split = f"split by {', '.join(dim.axes)}" if dim.axes else "not split"
        branch = tree.add(styled(f"dimension {dim.index} of size {dim.size}: {split}"))
        for cause in dim.causes:
            _add_cause(branch, cause, shown)
        for obstacle in dim.obstacles:
            _add_obstacle(branch, obstacle)
    return tree


def _maker_text(answer: answers.WhySharding) -> str:
    place = replace(answer.place, value=None)
    if place.op == "func.func":
        return f"argument ({place.shown})" if place.position else "argument"
    scope = f" [{place.scope}]" if place.scope else ""
    return f"{place}{scope}"


def _add_side(tree: Tree, side: answers.Party, shown: _Shown) -> None:
    dims = ", ".join(map(str, side.dims))
    where = f", dimension{'s' if len(side.dims) > 1 else ''} {dims}" if dims else ""
    sharding = side.sharding or "replicated"
    branch = tree.add(styled(f"{side.label} is {sharding}{where}:"))
    for cause in side.causes:
        _add_cause(branch, cause, shown)
    for obstacle in side.obstacles:
        _add_obstacle(branch, obstacle)
    if side.note is not None:
        branch.add(styled(side.note))
    elif not side.causes and not side.obstacles:
        branch.add(styled("not split there"))


def _add_needs(tree: Tree, answer: answers.WhyCollective) -> None:
    """The annotations that it hangs on, each with the program without it."""
    if answer.necessary is None:
        return
    if not answer.necessary:
        tree.add(styled("it is there whatever annotation is taken away"))
    for necessity in answer.necessary:
        branch = tree.add(styled(_needed_text(necessity)))
        if necessity.outcome is not None:
            several = f"none of the {len(necessity.changes)} split so"
            change = necessity.outcome.text if len(necessity.changes) == 1 else several
            text = outcome_text(necessity.outcome.base, necessity.outcome.figures)
            branch.add(styled(f"it is gone with {change}: {text}"))


def _add_changes(tree: Tree, answer: answers.WhyCollective) -> None:
    if answer.tried is None:
        return
    count = answer.tried
    failed = f", {answer.failed} could not be compiled" if answer.failed else ""
    if count or answer.failed or not answer.untried:
        _add_helping(tree, answer, failed, count)
    if left := answer.untried:
        more = " more" if count or answer.failed else ""
        changes = "change was" if left == 1 else "changes were"
        tries = count + answer.failed + left
        text = (
            f"{left}{more} {changes} not compiled, for each takes long: --tries {tries}"
        )
        tree.add(styled(text))
    if answer.removal is not None:
        text = styled("removed at the least cost ")
        if answer.removal in answer.counterfactuals:  # what it does stands above
            text.append(f"with {answer.removal.text}")
        else:
            text.append_text(_change_text(answer.removal))
        tree.add(text)
    elif answer.needed is not None:
        tree.add(styled(f"needed: {answer.needed}"))


def _add_helping(
    tree: Tree, answer: answers.WhyCollective, failed: str, count: int
) -> None:
    if not answer.counterfactuals:
        text = f"no change helps: {count} compiled{failed}, none takes less time"
        tree.add(styled(text))
        return
    changes = "1 change" if count == 1 else f"{count} changes"
    branch = tree.add(styled(f"what would help ({changes} compiled{failed}):"))
    for counterfactual in answer.counterfactuals:
        branch.add(_change_text(counterfactual))


def _change_text(counterfactual: answers.Counterfactual) -> Text:
    text = styled("with ")
    text.append_text(styled(counterfactual.text, "bold"))
    text.append(f": {outcome_text(counterfactual.base, counterfactual.figures)}")
    return text


def collective_tree(
    answer: answers.WhyCollective, machine: Machine, *, whole: bool = False
) -> Tree:
    """An answer about a collective as a tree."""
    head = styled(
        f"collective {answer.number}: {answer.kind} over {answer.axes}", "bold"
    )
    head.append(
        f"  local {answer.tensor}, {_sent_text([answer])} a device,"
        f" {seconds_text(answer.seconds)} ({machine.links_text})",
        "not bold",
    )
    if str(answer.times):
        head.append(f"  {answer.times}", "not bold")
    tree, shown = Tree(head), _Shown(whole=whole)
    tree.add(styled(answer.reason))
    for detail in answer.details:
        tree.add(styled(detail))
    if answer.reshard is not None:
        before, after = answer.reshard
        plan = f": {', '.join(answer.plan)}" if answer.plan else ""
        tree.add(styled(f"part of the reshard from {before} to {after}{plan}"))
    elif answer.plan:
        tree.add(styled(f"stage 8 inserted it as {', '.join(answer.plan)}"))
    sides = answer.sides if whole else answer.sides[:_SIDES_SHOWN]
    for side in sides:
        _add_side(tree, side, shown)
    if hidden := len(answer.sides) - len(sides):
        tree.add(styled(f"… {hidden} more sides (--all shows them)", "dim"))
    _add_needs(tree, answer)
    _add_changes(tree, answer)
    return tree


_SIDES_SHOWN = 16
"""Operands and results that disagree: of an op that has thousands, nobody reads all."""


def _origins(collective: answers.WhyCollective) -> list[str]:
    """Return the annotations a collective depends on, or each axis with its origin."""
    if collective.necessary:
        return [_needed_text(each, _NEEDED_SHOWN) for each in collective.necessary]
    return [
        f"{axis} from {', '.join(names)}" for axis, names in collective.origins.items()
    ]


_NEEDED_SHOWN = 3
"""Annotations of which each brings a collective, that a row of the table names."""


def _needed_text(necessity: answers.Necessity, most: int | None = None) -> str:
    names = names_together(necessity.annotations)
    if most is not None and len(names) > most + 1:
        names = [*names[:most], f"one of {len(names) - most} more"]
    return f"needs {necessity.axis} on {listed(names, 'or')}"


def _sent_text(group: Sequence[answers.WhyCollective]) -> str:
    """Return the bytes that a device sends; `?` for calls where they are not known."""
    if all(collective.kind.startswith("@") for collective in group):
        return "?"
    return bytes_text(sum(collective.bytes for collective in group))


def _numbers(group: Sequence[answers.WhyCollective]) -> str:
    first = ", ".join(str(collective.number) for collective in group[:3])
    return f"{first}, …" if len(group) > 3 else first


def _moved(group: Sequence[answers.WhyCollective]) -> list[str]:
    """Of a row: the kinds, how many of each, the axes, how often they run."""
    kinds = Counter(each.kind for each in group)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    axes = dict.fromkeys(each.axes for each in group)
    turns = dict.fromkeys(str(each.times) for each in group)
    kind = counted if len(group) > 1 else group[0].kind
    return [text for text in (kind, ", ".join(axes), *turns) if text]


def _reasons(
    group: Sequence[answers.WhyCollective], *, named: bool, brief: bool
) -> str:
    """Return the cell of a row's causes: op and line, then what disagrees and why."""

    first = group[0]

    def reasons(collective: answers.WhyCollective) -> str:
        # what it needs was tried for the first of those that are alike
        needs = [] if first.necessary else _origins(collective)
        site = "" if named and brief else str(collective.op)
        summary = "" if brief and (needs or first.necessary) else collective.summary
        return "\n".join(filter(None, (site, summary, *needs)))

    texts = [reasons(collective) for collective in group]
    of_all = text_of_all(texts) if len(texts) > 1 else texts[0]
    lines = [of_all or f"the slowest: {texts[0]}"]
    if first.necessary:
        which = f"#{first.number} " if len(group) > 1 else ""
        lines += [f"{which}{text}" for text in _origins(first)]
    return "\n".join(filter(None, lines))


def _program_table(
    answer: answers.WhyProgram, *, whole: bool, narrow: bool = False
) -> Table:
    """The collectives; where it is narrow, their numbers have no column of their own."""
    rows = (
        unfolded(answer.collectives)
        if whole
        else fold_collectives(answer.collectives, answer.rows)
    )
    table = Table(title="Collectives", title_justify="left")
    if not narrow:
        table.add_column("#")
    table.add_column("collective")
    table.add_column("bytes/device", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    if answer.by in PLACES:
        table.add_column(answer.by)
    table.add_column("why", min_width=30)
    for group in rows.groups:
        slowest = group[0]
        figures = (
            _sent_text(group),
            seconds_text(sum(each.seconds for each in group)),
        )
        named = ()
        if answer.by in PLACES:
            named = (answer.rows[slowest.number] or f"no {answer.by} is known",)
        why = _reasons(group, named=bool(named), brief=narrow)
        moved = _moved(group)
        if narrow:
            more = ", …" if len(group) > 1 else ""
            table.add_row(
                f"{' '.join(moved)}\n#{slowest.number}{more}", *figures, *named, why
            )
        else:
            cell = "\n".join(moved)
            table.add_row(_numbers(group), cell, *figures, *named, why)
    blank = () if narrow else ("",)
    if rows.hidden:
        table.add_row(
            *blank,
            f"{len(rows.hidden)} others, shown by --all",
            bytes_text(sum(slowest.bytes for slowest in rows.hidden)),
            seconds_text(sum(slowest.seconds for slowest in rows.hidden)),
        )
    total = answer.figures
    alone = seconds_text(sum(collective.seconds for collective in answer.collectives))
    together = seconds_text(total.seconds)
    named = ("",) if answer.by in PLACES else ()
    table.add_section()
    table.add_row(
        *blank,
        f"{total.launches} {'launch' if total.launches == 1 else 'launches'}",
        bytes_text(total.bytes),
        together,
        *named,
        f"neighbours start together: {alone} one by one" if alone != together else "",
    )
    return table


def _print_causes(console: Terminal, answer: answers.WhyProgram) -> None:
    """Print the lines that cost most."""
    console.print(styled("what costs most in sending:", "bold"))
    for cost in answer.causes:
        console.print_wrapped(
            f"{cost.share:>5.0%}  {cost.where}: {seconds_text(cost.seconds)},"
            f" {bytes_text(cost.bytes)} in {cost_text(cost)}",
            indent=7,
        )


def _why_not_tree(answer: answers.WhyNot, *, whole: bool) -> Tree:
    tree = Tree(styled(f"with {answer.wish}", "bold"))
    tree.add(styled(answer.change))
    if answer.outcome is None:
        tree.add(styled("the program does not compile so", "bold red"))
    else:
        text = outcome_text(answer.outcome.base, answer.outcome.figures)
        tree.add(styled(f"it would cost {text}"))
        before, after = answer.outcome.base, answer.outcome.figures
        tree.add(
            styled(
                f"a step {seconds_text(before.program_seconds)} before,"
                f" {seconds_text(after.program_seconds)} with it"
            )
        )
    if answer.against:
        branch = tree.add(styled("against it stands:"))
        for text in answer.against if whole else answer.against[:_MOST_AGAINST]:
            branch.add(styled(text))
    elif answer.now is not None:
        tree.add(styled("nothing stands against it: it is sharded so"))
    return tree


_MOST_AGAINST = 6


def _print_between(console: Terminal, answer: answers.Between) -> None:
    before, after = answer.before, answer.after
    times = [seconds_text(cost.program_seconds) for cost in (before, after)]
    console.print(
        styled(
            f"{answer.left} to {answer.right}: a step {times[0]} to {times[1]}; "
        ).append_text(styled(outcome_text(before, after))),
        soft_wrap=True,
    )
    for left, right in answer.lines:
        cost = right or left
        assert cost is not None
        spent = [seconds_text(each.seconds) if each else "0" for each in (left, right)]
        where = cost.where
        if left and right and left.where != right.where:
            where = f"{left.where}, now {right.where}"
        console.print(styled(f"{where}: {spent[0]} to {spent[1]}"), soft_wrap=True)
        for sign, each in (("-", left), ("+", right)):
            if each is not None:
                text = f"  {sign} {bytes_text(each.bytes)} in {cost_text(each)}"
                console.print_wrapped(text, "dim", indent=4)
    if answer.others:
        console.print(f"and {answer.others} more line{'s' * (answer.others > 1)}")
    if not answer.lines:
        console.print("no line sends otherwise")


def print_answer(
    console: Terminal, answer: Answer, machine: Machine, *, whole: bool = False
) -> None:
    """An answer of any kind, with all its rows if it is to be whole."""
    match answer:
        case answers.WhySharding():
            console.print(sharding_tree(answer, whole=whole))
        case answers.WhyCollective():
            console.print(collective_tree(answer, machine, whole=whole))
        case answers.WhyNot():
            console.print(_why_not_tree(answer, whole=whole))
        case answers.Between():
            _print_between(console, answer)
        case answers.WhyProgram():
            meshes = mesh_heading(answer.meshes)
            head = visible(f"{answer.source}  {meshes}; links {machine.links_text}")
            console.print(styled(head), soft_wrap=True)
            for note in answer.notes:
                console.print(styled(note))
            if answer.collectives:
                _print_causes(console, answer)
                for purpose in answer.summary:
                    console.print(styled(str(purpose)), soft_wrap=True)
                narrow = console.width < PLAIN_WIDTH
                table = _program_table(answer, whole=whole, narrow=narrow)
                lines = _MOST_LINES if narrow and not whole else None
                console.print_table(table, ["time"], lines)
                console.print("--collective N tells more, and what would help")
            else:
                console.print("no collectives: nothing has to be sent")


def answer_data(answer: Answer) -> dict[str, Any]:
    """The answer as JSON has it; counterfactuals say in words what they do."""
    data = asdict(answer)
    if isinstance(answer, answers.WhyCollective):
        pairs: Sequence[tuple[dict[str, Any], answers.Counterfactual]] = list(
            zip(data["counterfactuals"], answer.counterfactuals, strict=True)
        )
        for entry, counterfactual in pairs:
            text = f"with {counterfactual.text}: {outcome_text(counterfactual.base, counterfactual.figures)}"
            entry["text"] = text
    if isinstance(answer, answers.WhyProgram):
        data["figures"]["launches"] = answer.figures.launches
        data["machine"] = machine_data(answer.machine)
    return data
