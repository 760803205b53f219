"""What XLA sends before and after what the doctor prescribes.

    python benchmarks/doctor/prescriptions.py step.mlir other.mlir --seconds 60

Each prescription is made to the program alone, and those together; both texts are compiled
by XLA for virtual CPU devices (`ttxdsl compare-xla --static`).
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ttxdsl.insight.doctor.prescriptions.answers import Prescription
from ttxdsl.insight.doctor.prescriptions.candidates.generate import Candidates
from ttxdsl.insight.doctor.prescriptions.prescribe import own_mesh, prescribe
from ttxdsl.insight.why.trials.edits import changed
from ttxdsl.loading.program import parse_program, program_text
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def applied(text: str, prescriptions: Sequence[Prescription]) -> str:
    """Return the text of a program with prescriptions, found among its candidates."""
    module = parse_program(text)
    mesh = own_mesh(module)
    candidates = Candidates(module, text, "<text>", TTStableHLOPipelinePass(), mesh)
    wanted = {(one.write, one.places) for one in prescriptions}
    edits = [
        edit
        for candidate in candidates.all()
        if (candidate.write, candidate.places) in wanted
        for edit in candidate.edits
    ]
    return program_text(changed(module, edits))


def xla(text: str) -> tuple[int, int]:
    """Return the bytes that XLA's program has a device send, and its memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(text)
        command = [
            "-m",
            "ttxdsl.cli.main",
            "compare-xla",
            "--static",
            "--json",
            str(path),
        ]
        run = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    data = json.loads(run.stdout)
    return data["bytes_per_device"]["xla"], data["memory"]["xla"]["total"]


def mib(size: int | None) -> str:
    return f"{(size or 0) / 2**20:.3g}"


def _name(prescription: Prescription) -> str:
    code = prescription.write.partition("\n")[0].partition("  #")[0]
    return f"{prescription.kind}: {code[:60]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    print("| program | prescription | our MiB | XLA's MiB | XLA's memory, MiB |")
    print("|---|---|---|---|---|")
    fewer = claims = 0
    for path in options.programs:
        text = path.read_text()
        module = parse_program(text)
        answer = prescribe(module, text=text, source="<text>", seconds=options.seconds)
        before = xla(program_text(module))
        rows = [
            (_name(one), [one], one.after)
            for one in answer.prescriptions
            if not one.on_top_of
        ]
        chain = [answer.prescriptions[number - 1] for number in answer.together]
        if len(chain) > 1:
            rows.append((f"{len(chain)} together", chain, answer.after))
        for name, prescriptions, figures in rows:
            after = xla(applied(text, prescriptions))
            if figures.bytes < 0.995 * answer.before.bytes:
                claims += 1
                fewer += after[0] < before[0]
            print(
                f"| `{path.stem}` | `{name}` |"
                f" {mib(answer.before.bytes)} → {mib(figures.bytes)} |"
                f" {mib(before[0])} → {mib(after[0])} |"
                f" {mib(before[1])} → {mib(after[1])} |",
                flush=True,
            )
    print(f"\nXLA sends less, too: {fewer} of {claims} that claim fewer bytes")


if __name__ == "__main__":
    main()
