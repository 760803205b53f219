"""What the TPU's compiler needs before and after the doctor's first prescription.

    python benchmarks/doctor/judged.py FOLDER STEP.mlir:v5e:4x4 … --python PYTHON --strip

Each step is given with the topology that it was exported for. Constraints on what is
computed are taken out first with `--strip`. PYTHON has `jax` and `libtpu` and compiles each
text by `benchmarks/tpu/text.py`; texts and answers are kept in FOLDER, and not asked for again.
"""

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from prescriptions import applied
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.usage.device import known_chip
from ttxdsl.bridges.xla.hlo.collectives import list_hlo_collectives
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.prescriptions.prescribe import own_mesh, prescribe
from ttxdsl.loading.program import parse_program, program_text

TEXT = Path(__file__).parents[1] / "tpu" / "text.py"


def stripped(text: str) -> str:
    """Return the text of a program without constraints on what is computed."""
    module = parse_program(text)
    for op in list(module.walk()):
        if isinstance(op, sdy.ShardingConstraintOp):
            Rewriter.replace_op(op, [], [op.input])
    return program_text(module)


def prepare(base: Path, text: str, chip: str, seconds: float) -> dict[str, Any]:
    """Write a program before and after its first prescription; return our figures."""
    facts = base.with_suffix(".ours.json")
    if facts.exists():
        return json.loads(facts.read_text())
    answer = prescribe(
        parse_program(text),
        text=text,
        source="<text>",
        seconds=seconds,
        chip=known_chip(chip),
    )
    base.with_suffix(".before.mlir").write_text(text)
    data = {
        "devices": own_mesh(parse_program(text))[1].total_size,
        "before": [answer.before.bytes, answer.before.peak_bytes],
    }
    if answer.prescriptions:
        first = answer.prescriptions[0]
        base.with_suffix(".first.mlir").write_text(applied(text, [first]))
        data |= {
            "write": first.write,
            "first": [first.after.bytes, first.after.peak_bytes],
        }
    facts.write_text(json.dumps(data))
    return data


def asked(python: str, topology: str, program: Path) -> dict[str, Any]:
    """Return what libtpu says of a program, from an earlier run if there was one."""
    answer = program.with_suffix(".json")
    if not answer.exists():
        command = [python, str(TEXT), topology, str(program)]
        subprocess.run([*command, str(answer)], capture_output=True, check=True)
    return json.loads(answer.read_text())


def gib(size: float) -> str:
    return f"{size / 2**30:.1f}"


def row(base: Path, ours: dict[str, Any], python: str, topology: str) -> str:
    memory: list[str] = []
    sent: list[str] = []
    for side in ("before", "first"):
        program = base.with_suffix(f".{side}.mlir")
        answer = asked(python, topology, program)
        if error := answer.get("error"):
            needed = re.search(r"([\d.]+)G.*?([\d.]+)G", error)
            memory.append(
                f"{needed[1]}, does not fit in {needed[2]}" if needed else "refused"
            )
            continue
        memory.append(gib(answer["peak_bytes"]))
        hlo = program.with_suffix(".hlo").read_text()
        rows = list_hlo_collectives(hlo, ours["devices"])
        sent.append(gib(sum(collective.bytes_per_device for collective in rows)))
    if len(sent) == 1:
        sent.insert(0, "")
    told = " → ".join(gib(ours[side][0]) for side in ("before", "first"))
    return (
        f"| {base.name} | {ours['devices']} {topology.partition(':')[0]} |"
        f" {' → '.join(memory)} | {' → '.join(sent).strip()} | {told} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("steps", nargs="+", metavar="STEP:TOPOLOGY")
    parser.add_argument("--python", required=True)
    parser.add_argument("--strip", action="store_true")
    parser.add_argument("--seconds", type=float, default=45)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(
        "| step | chips | libtpu's memory, GiB | libtpu sends, GiB | ours, GiB sent |"
    )
    print("|---|---|---|---|---|")
    for step in options.steps:
        path, topology = step.split(":", 1)
        text = Path(path).read_text()
        text = stripped(text) if options.strip else text
        base = options.folder / Path(path).stem
        chip = topology.partition(":")[0]
        ours = prepare(base, text, chip, options.seconds)
        if "first" in ours:
            print(row(base, ours, options.python, topology), flush=True)
        else:
            print(f"| {base.name} | | nothing is prescribed | | |", flush=True)


if __name__ == "__main__":
    main()
