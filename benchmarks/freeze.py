"""Hash every answer about many programs, to show what a change of the code changes.

    python benchmarks/freeze.py -o before.json          # hash every answer
    python benchmarks/freeze.py --against before.json   # and list those that differ

Programs: the JAX corpus with random shardings on six meshes, the sharded models, the
design's cases, the examples and the inputs of `tests/filecheck`. Answers: the text after
each of the thirteen stages, of ttir and ttnn in both vocabularies, the collectives, their
bytes, the memory profile, `why` and the report's data. A refusal is an answer, too: its
message is hashed. Times that were measured are left out.

A change that must not change an answer runs this before and after it; the exit code is 1
where something differs. All programs take about half an hour of one core; `--every N`
takes every Nth.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from xdsl.ir import Attribute, IRNode, SSAValue  # noqa: E402

from tests.differential.corpus import programs  # noqa: E402
from tests.differential.partitioning import MESHES, sharded_program  # noqa: E402
from tests.differential.sharded_models import sharded_models  # noqa: E402
from ttxdsl.api import Program  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402

MEASURED = frozenset(("seconds", "version"))
"""Keys of a report's stages and header that hold measured times, or our version."""


def texts() -> Iterator[tuple[str, str]]:
    """The name and text of every program."""
    for program in programs():
        for mesh in MESHES:
            name = f"{program.name} {mesh} 0"
            module = sharded_program(program.pretty, MESHES[mesh], name)
            if module is None:
                yield f"jax/{program.name}", program.pretty
                break
            yield f"jax/{name}", str(module)
    for name, text in sharded_models().items():
        yield f"model/{name}", text
    folders = (
        ("examples", "examples/*.mlir"),
        ("seed", "tests/pipeline/seed_cases/*/00-input.mlir"),
        ("filecheck", "tests/filecheck/transforms/**/*.mlir"),
    )
    for kind, pattern in folders:
        for path in sorted(ROOT.glob(pattern)):
            yield f"{kind}/{path.relative_to(ROOT).as_posix()}", path.read_text()


def digest(answer: object) -> str:
    """Return a short hash of a text or of data that JSON can hold."""
    text = (
        answer
        if isinstance(answer, str)
        else json.dumps(answer, sort_keys=True, default=str)
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def without_measured(data: Any) -> Any:
    """Return report data without the keys of `MEASURED` in its header and stages."""
    parts = (data, *data["stages"])
    header, *stages = ({k: v for k, v in d.items() if k not in MEASURED} for d in parts)
    return header | {"stages": stages}


def plain(value: Any) -> Any:
    """Return an answer as data for JSON, without the ops and values it refers to."""
    if isinstance(value, Attribute):
        return str(value)
    if isinstance(value, IRNode | SSAValue):
        return type(value).__name__
    if is_dataclass(value) and not isinstance(value, type):
        shown = (field for field in fields(value) if not field.name.startswith("_"))
        return {field.name: plain(getattr(value, field.name)) for field in shown}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [plain(item) for item in value]
        return items if isinstance(value, list | tuple) else sorted(items, key=str)
    if isinstance(value, str | int | float | None):
        return value
    return type(value).__name__


def answers(text: str, name: str) -> dict[str, str]:
    """Return the hash of each answer about a program."""
    hashes: dict[str, str] = {}

    def ask(answer: str, question: Callable[[], object]) -> Any:
        try:
            value = question()
        except CompileError as error:
            hashes[answer] = digest(f"refused: {error.message}")
            return None
        except Exception as error:  # no answer should be one
            hashes["crash"] = f"{answer}: {type(error).__name__}: {error}"[:200]
            return None
        hashes[answer] = "" if isinstance(value, Program) else digest(value)
        return value

    program = ask("parse", lambda: Program.of_text(text, name))
    if program is None:
        return hashes
    local = ask("partition", program.partition)
    if local is None:
        return hashes
    for stage in range(1, 14):
        ask(f"stage {stage}", lambda stage=stage: str(local.after(stage).text))
    ask("ttir", lambda: local.lower("ttir").text)
    ask("ttnn", lambda: local.lower("ttnn").text)
    for form in ("ttir", "ttnn"):
        ask(
            f"{form} for tt-mlir",
            lambda form=form: local.lower(form, vocabulary="tt-mlir").text,
        )
    found = ask("collectives", lambda: plain(local.collectives()))
    if found is not None:
        ask("bytes", lambda: sum(c.bytes_per_device for c in local.collectives()))
    ask("memory", lambda: plain(local.memory()))
    ask("why", lambda: plain(program.why()))
    ask("report", lambda: without_measured(program.report_data()))
    return hashes


def _answers(named: tuple[str, str]) -> tuple[str, dict[str, str]]:
    name, text = named
    return name, answers(text, name)


def differences(
    before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the answer and the program of each hash that differs."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield ("program is new" if old is None else "program is gone"), name
            continue
        for answer in old.keys() | new.keys():
            if old.get(answer) != new.get(answer):
                yield answer, name


def report(changes: Iterable[tuple[str, str]]) -> int:
    """Print how many programs each answer differs for, with some names."""
    by_answer: dict[str, list[str]] = {}
    for answer, name in changes:
        by_answer.setdefault(answer, []).append(name)
    for answer, names in sorted(by_answer.items()):
        print(f"{answer}: {len(names)} differ, e.g. {', '.join(names[:4])}")
    print("nothing differs" if not by_answer else f"{len(by_answer)} answers differ")
    return 1 if by_answer else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, help="write the hashes there")
    parser.add_argument("--against", type=Path, help="hashes to compare with")
    parser.add_argument("--every", type=int, default=1, help="take every Nth program")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [pair for k, pair in enumerate(texts()) if k % options.every == 0]
    with ProcessPoolExecutor(options.jobs) as pool:
        hashes = dict(pool.map(_answers, chosen, chunksize=8))
    crashes = Counter(h["crash"] for h in hashes.values() if "crash" in h)
    for crash, times in crashes.items():
        print(f"crash in {times} programs: {crash}")
    print(f"{len(hashes)} programs, {sum(map(len, hashes.values()))} answers")
    if options.output:
        options.output.write_text(json.dumps(hashes, indent=0, sort_keys=True))
    if options.against:
        before = json.loads(options.against.read_text())
        if options.every > 1:
            before = {name: before[name] for name in hashes if name in before}
        return report(differences(before, hashes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
