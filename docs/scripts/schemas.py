"""Writes docs/reference/schemas/: for each command the JSON Schema of what `--json` prints.

    python docs/scripts/schemas.py            # writes the files
    python docs/scripts/schemas.py bench why  # those of some commands

A schema is read off what the command prints for the questions and programs below, so
there is no second description to keep; a test holds other programs against the files.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.bridges.tt_mlir.comparing import TtComparison, Way
from ttxdsl.bridges.tt_mlir.compiler import Answer
from ttxdsl.bridges.tt_mlir.simulating import DifferentOp, StageCheck
from ttxdsl.cli.commands.compare_tt import comparison_data
from ttxdsl.cli.main import main
from ttxdsl.insight.diff.side_by_side import CollectiveRow

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "docs" / "reference" / "schemas"
EXAMPLES = [
    f"examples/{name}.mlir"
    for name in (
        *("mlp_data_parallel", "mlp_data_tensor_parallel", "mlp_tensor_parallel"),
        *("mlp_train_step", "transformer_block"),
    )
]
DATA, BOTH, TENSOR, STEP, BLOCK = EXAMPLES
SCANNED = "docs/programs/scanned.mlir"
"""Scanned layers, with debug info."""
PROGRAMS = [*EXAMPLES, SCANNED, "docs/programs/gathers.mlir", "docs/by-hand/wide.mlir"]

Question = list[list[str]]
"""Command lines behind the command that are answered alike."""


def _each(*options: str) -> Question:
    return [[path, *options] for path in PROGRAMS]


QUESTIONS: dict[str, dict[str, Question]] = {
    "run": {"a run": _each()},
    "check": {"all stages": _each("--runs", "1")},
    "interpret": {"results": _each("--seed", "0")},
    "report": {"all of a report": _each()},
    "why": {
        "the program": _each("--tries", "4"),
        "a value": [[path, "--argument", "0"] for path in PROGRAMS],
        "a collective": [
            [path, "--collective", number, "--tries", "8"]
            for path in (BOTH, TENSOR, STEP, BLOCK, SCANNED)
            for number in ("0", "1", "2")
        ],
        "another sharding (--not)": [
            [STEP, "--not", "%arg0=P()"],
            [BLOCK, "--not", "%arg0=P()"],
            [BLOCK, "--not", "%arg1=P()"],
        ],
        "two programs (--between)": [
            [DATA, "--between", TENSOR],
            [TENSOR, "--between", BOTH],
            [BOTH, "--between", STEP],
            [BLOCK, "--between", SCANNED],
        ],
    },
    "show": {
        "a program": _each(),
        "a value": [[path, "--argument", "0"] for path in PROGRAMS],
    },
    "diff": {
        "two programs": [
            [DATA, TENSOR],
            [TENSOR, BOTH],
            [STEP, BLOCK],
            [BLOCK, SCANNED, "--chip", "v5e"],
        ],
        "a folder (--with)": [
            ["examples", "--with", "reshards=sdy-insert-explicit-reshards"]
        ],
    },
    "plan": {
        "a step": _each("--chip", "v5e"),
        "--search": [
            [STEP, "--chip", "v5e", "--search"],
            [BLOCK, "--chip", "v5p", "--search"],
        ],
    },
    "doctor": {
        "prescriptions": _each("--seconds", "2"),
        "--devices": [
            [path, "--devices", "4", "--candidates", "6"] for path in (STEP, BLOCK)
        ],
    },
    "budget": {
        "limits": [
            ["docs/programs/budgeted.mlir"],
            ["docs/programs/budgeted.mlir", "docs/programs/budgeted.mlir"],
        ]
    },
    "compare-xla": {"both compilers": [[TENSOR], [BLOCK], [STEP, "--static"]]},
    "compare-tt": {"both compilers": [[TENSOR]]},
    "bench": {"times": [[TENSOR, "--rounds", "1"]]},
    "calibrate": {"a machine": [["--devices", "2", "--repeats", "1", "-o", "OUT"]]},
}

_MAPS = {
    *("becomes", "by_category", "collectives", "communicates", "files", "graph_stages"),
    *(
        "mesh",
        "meshes",
        "origins",
        "padding",
        "partition_specs",
        "seconds_by",
        "functions",
    ),
}
"""Members whose keys are names of the program: what they hold is the same for each."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


_GATHER = CountedCollective("all_gather", None, 2, "8xf32", 16, "", None)


def comparisons() -> list[TtComparison]:
    """Return what `compare-tt` may find, which asks a compiler that few machines have."""
    compiled = Answer({"ttir": "", "ttnn": ""}, None, True)
    refused = Answer({}, "failed to legalize", True, crashed=True, line=3)
    right = StageCheck("ttir", True, 0.0, None, ("bf16",))
    op = DifferentOp("ttnn.add", 3, "off by 0.5")
    wrong = StageCheck("ttnn", False, None, "it is not read", ops=(op,))
    row = CollectiveRow("all_gather", "x", (_GATHER,), (_GATHER,))
    return [
        TtComparison("a.mlir", *ways, rows, memory)
        for ways, rows, memory in (
            ((Way(compiled, checks=(right, wrong)),) * 2, (row,), (64, 128)),
            (
                (Way(refused, stopped_by=("op", "a.mlir:3:1")), Way(None, "no mesh")),
                None,
                (64, None),
            ),
            ((Way(compiled, not_run="too large"),) * 2, (), (None, None)),
        )
    ]


def answers(command: str, lines: Question) -> list[Any]:
    """Return what a command prints with `--json` for some command lines."""
    if command == "compare-tt":
        found_by_tt = map(comparison_data, comparisons())
        return [json.loads(json.dumps(one)) for one in found_by_tt]
    found: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            words = [
                str(Path(folder) / word) if word == "OUT" else word for word in line
            ]
            out, folder_before = io.StringIO(), Path.cwd()
            os.chdir(ROOT)
            try:
                with redirect_stdout(out), redirect_stderr(io.StringIO()):
                    main([command, *words, "--json"])
            finally:
                os.chdir(folder_before)
            if out.getvalue():
                found.append(json.loads(out.getvalue()))
    return found


def schema_of(values: Sequence[Any], name: str = "") -> dict[str, Any]:
    """Return the schema that values of one member have in common."""
    kinds: list[dict[str, Any]] = []
    known = [value for value in values if value is not None]
    objects = [value for value in known if isinstance(value, dict)]
    if objects:
        kinds.append(_object(objects, name))
    lists = [value for value in known if isinstance(value, list)]
    if lists:
        inner = [one for value in lists for one in value]
        kinds.append(
            {"type": "array", **({"items": schema_of(inner)} if inner else {})}
        )
    for type_, name_ in ((bool, "boolean"), (str, "string")):
        if any(isinstance(value, type_) for value in known):
            kinds.append({"type": name_})
    numbers = [
        v for v in known if isinstance(v, int | float) and not isinstance(v, bool)
    ]
    if numbers:
        whole = all(isinstance(value, int) for value in numbers)
        kinds.append({"type": "integer" if whole else "number"})
    if not kinds:
        return {}  # nobody has seen more than a null
    if len(known) < len(values):
        kinds.append({"type": "null"})
    if all(set(kind) == {"type"} for kind in kinds):
        types = [kind["type"] for kind in kinds]
        return {"type": types[0] if len(types) == 1 else types}
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _object(objects: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    keys = dict.fromkeys(key for one in objects for key in one)
    if name in _MAPS or not all(map(_NAME.fullmatch, keys)):
        inner = schema_of([v for one in objects for v in one.values()], name)
        return {"type": "object", "additionalProperties": inner}
    return {
        "type": "object",
        "properties": {
            key: schema_of([one[key] for one in objects if key in one], key)
            for key in keys
        },
        "required": [key for key in keys if all(key in one for one in objects)],
        "additionalProperties": False,
    }


def schema(command: str) -> dict[str, Any]:
    """Return the schema of what a command prints, one alternative a question."""
    kinds = [
        {"title": title, **schema_of(answers(command, lines))}
        for title, lines in QUESTIONS[command].items()
    ]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ttxdsl {command} --json",
    }
    return {**head, **({"anyOf": kinds} if len(kinds) > 1 else kinds[0])}


def write(commands: Iterable[str]) -> None:
    """Write the schemas of some commands."""
    SCHEMAS.mkdir(exist_ok=True)
    for command in commands:
        text = json.dumps(schema(command), indent=1)
        (SCHEMAS / f"{command}.json").write_text(f"{text}\n")
        print(command, len(text))


if __name__ == "__main__":
    write(sys.argv[1:] or QUESTIONS)
