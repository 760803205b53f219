"""A plan as one screen."""

from rich.table import Table
from rich.text import Text

from ttxdsl.costs.units import bytes_text, seconds_text
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import Terminal, heading, styled
from ttxdsl.insight.plan.plan import MemoryPlan, StepPlan
from ttxdsl.insight.plan.search import Choice, Search

_MOST_SAVED = 8


def verdict(memory: MemoryPlan) -> str:
    """Return whether a step fits, and how sure that is."""
    if memory.is_certain:
        return "fits" if memory.fits else "does not fit"
    return "fits, barely" if memory.fits else "does not fit, barely"


def _memory_table(plan: StepPlan) -> Table:
    memory = plan.memory
    table = Table("memory at the peak", title_justify="left")
    table.add_column("bytes", justify="right", no_wrap=True)
    for name, size in memory.by_category.items():
        table.add_row(name, bytes_text(size))
    return table


def _largest_table(plan: StepPlan) -> Table:
    table = Table("largest buffers", "type")
    several = any(buffers.count > 1 for buffers in plan.memory.largest)
    if several:
        table.add_column("count", justify="right", no_wrap=True)
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("line")
    for buffers in plan.memory.largest:
        table.add_row(
            visible(buffers.name),
            buffers.type,
            *([str(buffers.count)] if several else []),
            bytes_text(buffers.bytes),
            visible(plan.place(buffers.position)),
        )
    return table


def _saved_table(plan: StepPlan) -> Table:
    table = Table("saved by layers", "type")
    for name in ("a layer", "layers", "bytes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("line")
    for activation in plan.memory.saved[:_MOST_SAVED]:
        table.add_row(
            visible(activation.called or activation.name)
            + (", on the host" if activation.on_host else ""),
            activation.type,
            bytes_text(activation.layer_bytes),
            str(activation.layers),
            bytes_text(activation.bytes),
            visible(plan.place(activation.position)),
        )
    return table


def _time_table(plan: StepPlan) -> Table:
    table = Table("what takes longest", "bound by")
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("line")
    for line in plan.time.lines:
        table.add_row(
            visible(line.name),
            line.bound,
            seconds_text(line.seconds),
            visible(plan.place(line.position)),
        )
    return table


def _variant_table(plan: StepPlan) -> Table:
    table = Table("what would change it", title_justify="left")
    for name in ("peak", "of", "step", "tokens/s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for variant in plan.variants:
        table.add_row(
            variant.change,
            bytes_text(variant.peak_bytes),
            bytes_text(variant.limit_bytes),
            seconds_text(variant.step_s),
            "" if (rate := variant.tokens_per_second) is None else f"{rate:,.0f}",
            styled("fits", "green")
            if variant.fits
            else styled("does not fit", "bold red"),
        )
    return table


def print_plan(console: Terminal, source: str, plan: StepPlan) -> None:
    """Print a plan: the verdict first, then what it is made of, and what would change it."""
    print_step(console, source, plan)
    print_variants(console, plan)


def print_step(console: Terminal, source: str, plan: StepPlan) -> None:
    """Print a plan without variants."""
    memory, time = plan.memory, plan.time
    slices = f" in {plan.slices} slices" if plan.slices > 1 else ""
    head = heading(source, f"  {plan.devices} {plan.chip.name}{slices}")
    console.print(head, soft_wrap=True)
    style = "green" if memory.fits else "bold red"
    peak = f"{bytes_text(memory.peak_bytes)} ± {bytes_text(memory.error_bytes)}"
    console.print(
        styled(verdict(memory), style).append_text(
            styled(f": {peak} of {bytes_text(memory.limit_bytes)} a device")
        ),
        soft_wrap=True,
    )
    hidden = time.network_s - time.exposed_s
    is_shown = hidden >= 5e-11  # less is 0.0 ns
    console.print(
        f"step {seconds_text(time.step_s)}, bound by {time.bound}:"
        f" compute {seconds_text(time.compute_s)},"
        f" memory {seconds_text(time.memory_s)},"
        f" network {seconds_text(time.network_s)}"
        + (f" ({seconds_text(hidden)} of it hidden)" if is_shown else "")
        + (f", host {seconds_text(time.host_s)}" if time.host_s else ""),
        soft_wrap=True,
    )
    rate = plan.tokens_per_second
    console.print(
        f"{plan.flops:.3g} FLOPs a device, {plan.utilization:.0%} of the chip's;"
        f" model FLOPs utilization {plan.model_utilization:.0%};"
        f" {bytes_text(plan.bytes_sent)} sent in {plan.launches}"
        f" {'launch' if plan.launches == 1 else 'launches'}"
        + ("" if rate is None else f"; {rate:,.0f} tokens/s a device"),
        soft_wrap=True,
    )
    if memory.position is not None:
        place = plan.place(memory.position)
        console.print(f"the peak is at {visible(place)}", soft_wrap=True)
    for assumption in plan.assumptions:
        console.print(f"assumed: {visible(assumption)}", soft_wrap=True)
    console.print(_memory_table(plan))
    console.print_table(_largest_table(plan), ["type"])
    if memory.saved:
        console.print_table(_saved_table(plan), ["type"])
    if plan.time.lines:
        console.print_table(_time_table(plan), ["line"])


def print_variants(console: Terminal, plan: StepPlan) -> None:
    """Print what would change a step, what cannot be changed, and what was not measured."""
    if plan.variants:
        console.print(_variant_table(plan))
    for change, reason in plan.refused:
        console.print(f"not possible: {change}: {visible(reason)}", soft_wrap=True)
    if plan.unmeasured:
        console.print(
            f"not measured, as each takes long (--all): {', '.join(plan.unmeasured)}",
            soft_wrap=True,
        )


_MOST_CHOICES = 20
_BAR = 24


def print_search(console: Terminal, source: str, search: Search) -> None:
    """Print what was compiled, the best first, and the frontier as bars."""
    chip = search.chip
    limit = bytes_text(chip.memory_bytes)
    console.print(
        heading(source, f"  {search.devices} {chip.name} of {limit}"), soft_wrap=True
    )
    table = Table("mesh", title_justify="left")
    table.add_column("batch", justify="right", no_wrap=True)
    table.add_column("computed again")
    for name in ("peak", "step", "tokens/s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for choice in search.choices[:_MOST_CHOICES]:
        table.add_row(
            visible(choice.mesh),
            f"x {choice.batch}",
            choice.remat,
            bytes_text(choice.peak_bytes),
            seconds_text(choice.step_s),
            _rate(choice),
            _verdict(choice),
        )
    console.print(table)
    if (left := len(search.choices) - _MOST_CHOICES) > 0:
        console.print(f"and {left} more: --json has all")
    _print_frontier(console, search)
    for name, reason in search.refused:
        console.print(
            f"not compiled: {visible(name)}: {visible(reason)}", soft_wrap=True
        )


def _rate(choice: Choice) -> str:
    rate = choice.tokens_per_second
    return f"{choice.speed:,.3g} batches" if rate is None else f"{rate:,.0f}"


def _verdict(choice: Choice) -> Text:
    if not choice.fits:
        return styled("does not fit", "bold red")
    return styled("frontier", "green") if choice.on_frontier else styled("fits")


def _print_frontier(console: Terminal, search: Search) -> None:
    """Print memory against speed of what nothing beats in both."""
    frontier = [choice for choice in search.choices if choice.on_frontier]
    if not frontier:
        console.print("nothing that was tried fits")
        return
    fastest = max(choice.speed for choice in frontier)
    console.print("memory and speed of the frontier:")
    for choice in sorted(frontier, key=lambda choice: choice.peak_bytes):
        bar = "#" * max(1, round(_BAR * choice.speed / fastest))
        console.print(
            f"{bytes_text(choice.peak_bytes):>10} {bar:<{_BAR}} {_rate(choice)}"
            f"  {visible(choice.mesh)}, batch x {choice.batch}",
            soft_wrap=True,
        )
