"""The page that puts our collectives beside XLA's: it is fresh."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.differential.sharded_models import MODELS, sharded_models

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import compare_xla  # noqa: E402

EXAMPLES = sorted(f"examples/{path.stem}" for path in ROOT.glob("examples/*.mlir"))


def page_bytes() -> dict[str, int]:
    """What the page says that ours move."""
    rows = (line.split("|") for line in compare_xla.PAGE.read_text().splitlines())
    return {r[1].strip(" `"): int(r[2]) for r in rows if len(r) > 2 and "`" in r[1]}


def test_every_program_is_on_the_page():
    assert set(page_bytes()) == {*EXAMPLES, *MODELS}


@pytest.mark.parametrize("name", (*EXAMPLES, *MODELS))
def test_the_page_is_fresh(name: str):
    """If this fails for the better: `python benchmarks/compare_xla.py --write`."""
    path = ROOT / f"{name}.mlir"
    text = path.read_text() if name in EXAMPLES else sharded_models()[name]
    moved = sum(one.bytes for one in compare_xla.our_collectives(text))
    assert moved == page_bytes()[name]


def test_what_moves_more_than_xla_has_a_reason():
    assert "no reason known" not in compare_xla.PAGE.read_text()
