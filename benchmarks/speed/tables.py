"""The tables of a run, for the terminal and for docs/evidence/performance.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from figures import (
    SHARDING_STAGES,
    Figures,
    Program,
    cpp_growth,
    growth,
    memory_growth,
    stage_number,
)
from rich.table import Table

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "performance.md"
BEGIN, END = "<!-- begin of what `make bench` wrote -->", "<!-- end -->"

MOST_TIMES_CPP = 6.0
STEEPEST = 1.05
LEAST_PARSING = 2.5
SIZE_OF_PARSING = 12
MOST_TIMES_XLA = {
    ("train", 12): 0.5,
    ("train", 24): 0.3,
    **{("forward", layers): 1.0 for layers in (1, 4, 12, 24)},
}
"""Whole processes by the clock, by kind and layers."""
STARTING = "the command on a program of ten ops"
LARGE_STEP = "a training step like that of Llama 405B, looked into, CPU"
SIMULATION = "simulation"
SCANNED = "simulation of a scanned training step, CPU"
MOST_BESIDE_OTHERS = {
    (STARTING, "ratio"): 1.4,
    (SIMULATION, "ratio"): 1.2,
    (SIMULATION, "16 x 16, ratio"): 1.0,
    (SCANNED, "ratio"): 3.0,
}
"""Ratios by the title of a table and a column; the worst line counts."""
LARGE = 12
"""Layers from which on stages 5 to 12 have a target."""
LEAST_MILLISECONDS = 10.0
"""A step that takes less than this at 96 layers says nothing by its exponent."""


@dataclass
class Grid:
    """A table as text: a title, a header, and rows; None is a rule between rows."""

    title: str
    header: list[str]
    rows: list[list[str] | None] = field(default_factory=list[list[str] | None])

    def for_terminal(self) -> Table:
        """As rich draws it."""
        table = Table(title=self.title, title_justify="left")
        for index, name in enumerate(self.header):
            table.add_column(name, justify="right" if index else "left")
        for row in self.rows:
            if row is None:
                table.add_section()
            else:
                table.add_row(*row)
        return table

    def for_page(self) -> str:
        """As Markdown."""
        rule = ["---", *["--:"] * (len(self.header) - 1)]
        lines = [self.header, rule, *(row for row in self.rows if row is not None)]
        text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        return f"**{self.title}**\n\n{text}\n"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f}" if seconds < 1 else f"{seconds * 1e3:,.0f}"


def _exponent(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def steps_grid(kind: str, programs: list[Program]) -> Grid:
    """Every step of ours at every size, and how it grows."""
    sizes = (f"{p.layers} layers" for p in programs)
    header = [f"{kind}: ms", *sizes, "growth", "warm", "C++"]
    grid = Grid(f"{kind}: every step from text to ttnn text, CPU ms", header)

    def add(name: str, cells: Iterable[str], *exponents: float | None) -> None:
        texts = [_exponent(value) for value in exponents]
        grid.rows.append([name, *cells, *texts, *[""] * (3 - len(texts))])

    add("ops", (f"{p.ops:,}" for p in programs))
    grid.rows.append(None)
    for step in programs[0].seconds:
        number = stage_number(step)
        add(
            step,
            (_ms(program.seconds[step]) for program in programs),
            growth(programs, step),
            growth(programs, step, cold=False),
            cpp_growth(programs, number) if number in programs[0].cpp else None,
        )
    grid.rows.append(None)
    add("all steps", (_ms(sum(p.seconds.values())) for p in programs))
    add("the command, CPU", (_ms(p.command["cpu"]) for p in programs))
    add("the command, clock", (_ms(p.command["wall"]) for p in programs))
    add("peak memory", (f"{p.peak / 1e6:,.0f} MB" for p in programs))
    add(
        "of it for the program",
        (f"{p.needed / 1e6:,.1f} MB" for p in programs),
        memory_growth(programs),
    )
    return grid


def cpp_grid(kind: str, programs: list[Program]) -> Grid:
    """Stages 5 to 12 beside Shardy's own passes on the same module."""
    header = [f"{kind}: ours / C++", *(f"{p.layers} layers" for p in programs)]
    grid = Grid(f"{kind}: ms beside C++ Shardy's passes on the same module", header)
    names = {
        stage_number(step): step
        for step in programs[0].seconds
        if stage_number(step) in SHARDING_STAGES
    }
    for number in SHARDING_STAGES:
        cells: list[str] = []
        for program in programs:
            ours, cpp = program.stage(number), program.cpp.get(number)
            cells.append(f"{_ms(ours)} / -" if cpp is None else _times(ours, cpp))
        grid.rows.append([names[number], *cells])
    grid.rows.append(None)
    sums = (
        _times(sum(map(p.stage, SHARDING_STAGES)), sum(p.cpp.values()))
        for p in programs
    )
    grid.rows.append(["5 to 12", *sums])
    return grid


def _times(ours: float, other: float) -> str:
    return f"{_ms(ours)} / {_ms(other)} = {ours / other:.1f}"


def xla_grid(figures: Figures) -> Grid:
    """Whole processes of ours beside XLA's compile."""
    header = [
        "program",
        "ours, s",
        "XLA, s",
        "ratio",
        "ours, CPU s",
        "XLA, CPU s",
        "ratio",
    ]
    title = (
        "text to ttnn text, the whole process, beside XLA's .compile() for 8 devices"
    )
    grid = Grid(title, header)
    for program in figures.programs:
        if not program.xla:
            continue
        cells: list[str] = []
        for which in ("wall", "cpu"):
            ours, xla = program.command[which], program.xla[which]
            cells += [f"{ours:.2f}", f"{xla:.2f}", f"{ours / xla:.2f}"]
        grid.rows.append([f"{program.kind}, {program.layers} layers", *cells])
    return grid


def targets(figures: Figures) -> Grid:
    """What the issues ask for, and what this run shows."""
    grid = Grid("targets", ["target", "wanted", "measured", ""])

    def say(name: str, most: float, measured: float, where: str) -> None:
        verdict = "met" if measured <= most else "NOT met"
        grid.rows.append(
            [name, f"at most {most:g}", f"{measured:.2f} {where}", verdict]
        )

    for program in figures.programs:
        most = MOST_TIMES_XLA.get((program.kind, program.layers))
        if most is not None and program.xla:
            clock, cpu = (
                program.command[of] / program.xla[of] for of in ("wall", "cpu")
            )
            name = f"over XLA's compile: {program.kind}, {program.layers} layers"
            say(name, most, clock, f"(clock; CPU {cpu:.2f})")
    name = "stages 5 to 12 over C++ Shardy, the worst"
    large = [p for p in figures.programs if p.layers >= LARGE]
    if large:
        worst = max(large, key=lambda program: program.sharding_ratio)
        where = f"({worst.kind}, {worst.layers} layers)"
        size = f"from {LARGE} layers on"
        say(f"{name} {size}", MOST_TIMES_CPP, worst.sharding_ratio, where)
    small = [p for p in figures.programs if p.layers < LARGE]
    if small:
        worst = max(small, key=lambda program: program.sharding_ratio)
        where = f"({worst.kind}, {worst.layers} layers)"
        measured = f"{worst.sharding_ratio:.2f} {where}"
        grid.rows.append([f"{name} of smaller ones", "-", measured, "no target"])
    for kind in figures.kinds:
        programs = figures.of_kind(kind)
        steps = [
            (value, step)
            for step in programs[-1].seconds
            if programs[-1].seconds[step] * 1e3 >= LEAST_MILLISECONDS
            and step != "start Python"
            and (value := growth(programs, step)) is not None
        ]
        if steps:
            value, step = max(steps)
            say(f"steepest step of {kind}", STEEPEST, value, f"({step})")
        memory = memory_growth(programs)
        if memory is not None:
            say(f"growth of memory of {kind}", STEEPEST, memory, "")
    for (title, column), most in MOST_BESIDE_OTHERS.items():
        lines = [line for line in figures.others.get(title, []) if column in line]
        if lines:
            worst = max(lines, key=lambda line: line[column])
            cpu = worst.get(f"{column}, CPU")
            where = "" if cpu is None else f"(clock; CPU {cpu:.2f})"
            name = title if column == "ratio" else f"{title}: {column}"
            say(name, most, worst[column], where)
    lines = (line for found in figures.others.values() for line in found)
    for line in lines:
        if line.get("layers") == SIZE_OF_PARSING:
            faster = float(line["parse, times faster"])
            name = "times faster than plain xDSL reads the module in generic form"
            verdict = "met" if faster >= LEAST_PARSING else "NOT met"
            row = [name, f"at least {LEAST_PARSING:g}", f"{faster:.2f}", verdict]
            grid.rows.append(row)
    return grid


def other_grids(figures: Figures) -> Iterator[Grid]:
    """What else was measured: lines with the same keys each."""
    for name, lines in figures.others.items():
        if lines:
            grid = Grid(name, list(lines[0]))
            for line in lines:
                grid.rows.append([_text(value) for value in line.values()])
            yield grid


def _text(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else str(value)


def all_grids(figures: Figures) -> Iterator[Grid]:
    """Every table, the targets first."""
    yield targets(figures)
    for kind in figures.kinds:
        yield steps_grid(kind, figures.of_kind(kind))
    for kind in figures.kinds:
        yield cpp_grid(kind, figures.of_kind(kind))
    if any(program.xla for program in figures.programs):
        yield xla_grid(figures)
    yield from other_grids(figures)


def all_tables(figures: Figures) -> Iterable[Table]:
    """Every table, for the terminal."""
    return (grid.for_terminal() for grid in all_grids(figures))


def write_page(figures: Figures, page: Path = PAGE) -> None:
    """Replace the tables of the page, between its two marks."""
    where = ", ".join(
        value if key in ("date", "processor") else f"{key} {value}"
        for key, value in figures.machine.items()
    )
    tables = "\n".join(grid.for_page() for grid in all_grids(figures))
    block = f"{BEGIN}\n\nMeasured {where}.\n\n{tables}\n{END}"
    text = page.read_text()
    between = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not between.search(text):
        raise ValueError(f"{page} has no mark {BEGIN}")
    page.write_text(between.sub(lambda _: block, text))
