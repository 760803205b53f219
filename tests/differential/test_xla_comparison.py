"""The page that puts our collectives beside XLA's: it is fresh."""

import sys
from functools import cache
from pathlib import Path

import pytest

from tests.differential import parallel_models, sharded_models
from tests.sampling import sampled

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "xla"))

import compare_xla  # noqa: E402

EXAMPLES = sorted(f"examples/{path.stem}" for path in ROOT.glob("examples/*.mlir"))
NAMES = (*EXAMPLES, *sharded_models.MODELS, *parallel_models.MODELS)


@cache
def page_bytes() -> dict[str, tuple[int, int, int]]:
    """What the page says that ours move, that they do in XLA, and that XLA's do."""
    rows = (line.split("|") for line in compare_xla.PAGE.read_text().splitlines())
    return {
        row[1].strip(" `"): (int(row[2]), int(row[3]), int(row[4]))
        for row in rows
        if len(row) == 10 and "`" in row[1]
    }


def test_every_program_is_on_the_page():
    assert set(page_bytes()) == {*NAMES}


@pytest.mark.parametrize("name", sampled(NAMES, 8))
def test_the_page_is_fresh(name: str):
    """If this fails for the better: `python benchmarks/xla/compare_xla.py --write`."""
    moved = compare_xla.our_collectives(compare_xla.programs()[name])
    assert compare_xla.sent(moved) == page_bytes()[name][0]


def test_xla_adds_nothing_to_ours():
    changed = {
        name for name, (ours, in_xla, _) in page_bytes().items() if ours != in_xla
    }
    assert changed == {*compare_xla.CHANGED}


def test_what_moves_more_than_xla_has_a_reason():
    more = {name for name, (ours, _, xla) in page_bytes().items() if ours > xla}
    assert more == {*compare_xla.REASONS}
    assert "no reason known" not in compare_xla.PAGE.read_text()
