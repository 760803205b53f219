"""docs/evidence/plan.md is what the data of benchmarks/tpu/evidence say."""

import re
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from tpu.evidence import page  # noqa: E402
from tpu.evidence.page import Row, Step  # noqa: E402


def test_page_is_rendered_from_the_data():
    """If this fails: `python benchmarks/plan.py --write`."""
    assert page.PAGE.read_text() == page.rendered()


def test_rows_are_of_known_sets_and_have_programs():
    rows = page.read(Row, "rows.csv")
    keys = [(row.program, row.set) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {row.set for row in rows} == set(page.sets())
    sources = (BENCHMARKS / "tpu" / "programs").rglob("*.py")
    programs = set(
        re.findall(r"^def (\w+)\(\):", "".join(map(Path.read_text, sources)), re.M)
    )
    lost = {row.program for row in rows if row.set == "blind 6"}
    by_hand = {row.program for row in rows if row.written == "hand"}
    assert by_hand <= programs | lost
    assert not programs & {row.program for row in rows if row.written == "MaxText"}


def test_steps_are_of_a_list():
    published = {
        line[0] for name in ("recipes.txt", "pods.txt") for line in page.published(name)
    }
    assert {step.step for step in page.read(Step, "seconds.csv")} <= published
