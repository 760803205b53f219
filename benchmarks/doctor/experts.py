"""What the doctor makes of steps whose shardings were taken out, beside their authors'.

    python benchmarks/doctor/experts.py STEP.mlir:v5e STEP.mlir:v5p … --seconds 40
    python benchmarks/doctor/experts.py STEP.mlir:v5e … --from-nothing

Each step is given with its chip. Without an option the constraints on what is computed are
taken out and the program's own mesh is kept; with `--from-nothing` all shardings and the
mesh are, and 12 meshes of as many devices are compiled, without a search after it. Times
of a step and memory are parts of the author's; "solved" is the best that the solver chose.
"""

import argparse
from pathlib import Path

from judged import stripped

from ttxdsl.analysis.usage.device import known_chip, machine_on
from ttxdsl.costs.chips import Chip
from ttxdsl.insight.doctor.doctor import diagnose
from ttxdsl.insight.doctor.measure import propagating_as_xla
from ttxdsl.insight.doctor.prescriptions.prescribe import own_mesh, prescribe
from ttxdsl.insight.doctor.prescriptions.trials import Meter
from ttxdsl.insight.doctor.solving.candidates import SOLVED
from ttxdsl.insight.why.answers import Figures
from ttxdsl.loading.program import parse_program


def costs_of(text: str, chip: Chip) -> Figures:
    """Return what a program costs as it is, propagated as XLA does."""
    module = parse_program(text)
    machine = machine_on(chip, own_mesh(module)[1].total_size)
    meter = Meter(propagating_as_xla(), machine, compiler=chip.compiler)
    figures = meter.compile(module, ())
    assert figures is not None
    return figures


def ratio(seconds: float, expert: Figures) -> str:
    return f"{seconds / expert.program_seconds:.2f}"


def with_constraints_out(text: str, chip: Chip, seconds: float) -> list[str]:
    """Return cells: without constraints, with all that is prescribed, with its first."""
    expert = costs_of(text, chip)
    less = stripped(text)
    answer = prescribe(parse_program(less), text=less, chip=chip, seconds=seconds)
    sides = [costs_of(less, chip), answer.after]
    sides += [one.after for one in answer.prescriptions[:1]]
    return [ratio(side.program_seconds, expert) for side in sides]


def from_nothing(text: str, chip: Chip) -> list[str]:
    """Return cells: devices, the first row, its memory and mesh, the best solved."""
    expert = costs_of(text, chip)
    module = parse_program(text)
    devices = own_mesh(module)[1].total_size
    answer = diagnose(module, devices, chip=chip, ignore_shardings=True, limit=12)
    first = answer.rows[0]
    solved = [row for row in answer.rows if row.candidate.note.startswith(SOLVED)]
    memory = first.measurement.peak_bytes / (expert.peak_bytes or 1)
    return [
        str(devices),
        ratio(first.measurement.seconds, expert),
        f"{memory:.2f}",
        str(first.candidate),
        ratio(solved[0].measurement.seconds, expert) if solved else "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="+", metavar="STEP:CHIP")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--from-nothing", action="store_true")
    options = parser.parse_args()
    columns = ["stripped", "prescribed", "first"]
    if options.from_nothing:
        columns = ["devices", "time", "memory", "mesh", "solved"]
    print(f"| step | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for step in options.steps:
        path, name = step.rsplit(":", 1)
        text, chip = Path(path).read_text(), known_chip(name)
        cells = (
            from_nothing(text, chip)
            if options.from_nothing
            else with_constraints_out(text, chip, options.seconds)
        )
        print(f"| `{Path(path).stem}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
