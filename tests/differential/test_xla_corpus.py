"""The page that puts our collectives for the corpus beside XLA's: its worst rows."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "xla"))

import compare_xla_corpus  # noqa: E402


def page_rows() -> dict[str, tuple[int, int]]:
    """What the programs of the table move, ours and XLA's."""
    rows = (
        line.split("|") for line in compare_xla_corpus.PAGE.read_text().splitlines()
    )
    return {
        r[1].strip(" `"): (int(r[2]), int(r[3]))
        for r in rows
        if len(r) > 3 and "`" in r[1]
    }


def test_every_program_that_moves_more_has_a_reason():
    more = {name for name, (ours, theirs) in page_rows().items() if ours > theirs}
    assert more == {*compare_xla_corpus.REASONS}
    assert {*page_rows()} - more == {*compare_xla_corpus.LAUNCHES}


@pytest.mark.fuzz
def test_the_table_is_fresh():
    """If this fails for the better: `python benchmarks/xla/compare_xla_corpus.py --write`."""
    rows = page_rows()
    texts = {k: v for k, v in compare_xla_corpus.sharded_texts().items() if k in rows}
    for name, moved in compare_xla_corpus.our_side(texts).items():
        assert moved is not None
        assert sum(one.bytes for one in moved) == rows[name][0], name
