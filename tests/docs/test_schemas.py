"""What commands print with `--json` is as docs/reference/schemas/ says."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.sampling import sampled
from ttxdsl.loading.doors import COMMANDS

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "scripts"))

import schemas  # noqa: E402

WITHOUT = {"compile", "completion"}
"""Commands that print text alone."""

PROGRAMS = [
    f"docs/{name}.mlir"
    for name in (
        *("programs/attention", "programs/predict", "programs/shared"),
        *("by-hand/sum", "by-hand/tall"),
    )
]
ATTENTION, PREDICT, *_ = PROGRAMS
STEP = "examples/mlp_train_step.mlir"

EACH = [
    [name, *options, path]
    for path in PROGRAMS
    for name, *options in (
        ["run"],
        ["check", "--runs", "1"],
        ["interpret", "--seed", "1"],
        ["report"],
        ["why"],
        ["plan", "--chip", "h100"],
        ["show"],
        ["show", "--argument", "0"],
    )
    # to look at a quarter of a million numbers takes seconds
    if (name, path) != ("interpret", "docs/by-hand/tall.mlir")
]
"""Every command for every program."""

LINES = [
    *(["doctor", "--seconds", "1", path] for path in (PREDICT, STEP)),
    ["why", "--collective", "1", STEP],
    ["why", "--argument", "1", ATTENTION],
    ["why", "--between", PREDICT, ATTENTION],
    ["diff", ATTENTION, PREDICT],
    ["doctor", "--devices", "2", "--candidates", "3", ATTENTION],
    ["plan", "--chip", "v6e", "--search", "--candidates", "3", STEP],
    ["compare-xla", "--static", STEP],
]


@cache
def validator(command: str) -> Any:
    schema = json.loads((schemas.SCHEMAS / f"{command}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_command_that_prints_json_has_a_schema():
    named = set(COMMANDS) - WITHOUT
    assert set(schemas.QUESTIONS) == named
    assert {path.stem for path in schemas.SCHEMAS.glob("*.json")} == named


@pytest.mark.parametrize("line", [*sampled(EACH, 10), *LINES], ids=" ".join)
def test_output_is_as_its_schema_says(line: list[str]):
    """If this fails for something new: `python docs/scripts/schemas.py COMMAND`."""
    command, *words = line
    answers = schemas.answers(command, [words])
    assert answers, "an error is no answer"
    for answer in answers:
        found = jsonschema.exceptions.best_match(validator(command).iter_errors(answer))
        assert found is None, f"{found.json_path}: {found.message[:500]}"


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ({"file": "x", "runs": []}, False),
        ({"file": "x.mlir", "runs": "none"}, False),
        ([], False),
    ],
)
def test_a_schema_refuses_what_it_does_not_say(answer: Any, is_right: bool):
    assert validator("run").is_valid(answer) is is_right
