"""Every `.mlir` test of tests/filecheck: lit runs them all once, pytest counts each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIT = Path(sys.executable).parent / "lit"
ROOT = Path(__file__).parent / "filecheck"
FILES = sorted(str(file.relative_to(ROOT)) for file in ROOT.rglob("*.mlir"))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """For each file lit's verdict and output."""
    folder = tmp_path_factory.mktemp("lit")
    report = folder / "results.json"
    done = subprocess.run(
        [
            *(str(LIT), str(ROOT), f"-j{os.cpu_count() or 1}"),
            *("-v", "--output", str(report)),
        ],
        capture_output=True,
        text=True,
        env=os.environ | {"LIT_OUTPUT": str(folder)},
    )
    assert report.exists(), done.stdout + done.stderr
    found: dict[str, tuple[str, str]] = {}
    for test in json.loads(report.read_text())["tests"]:
        name = test["name"].removeprefix("ttxdsl :: ")
        found[name] = (test["code"], test["output"])
    return found


@pytest.mark.parametrize("file", FILES)
def test_file(results: dict[str, tuple[str, str]], file: str):
    code, output = results[file]
    assert code == "PASS", output
