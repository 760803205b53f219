"""README and every page of docs/ are executed: its commands and its Python print what it shows.

If one fails for the better: `python -m tests.docs.pages docs/PAGE.md`, and look at it.
"""

from pathlib import Path

import pytest

from tests.bridges.tt_mlir.oracle import needs_tt
from tests.docs.pages import ROOT, blocks, in_folder_of_its_own, matches, run_page
from tests.insight.check.faults import forget

PAGES = [
    page
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
    if page.name not in ("propagation.md", "plugins.md") and blocks(page)
]
"""Both have a test of their own: one has doctests, the other installs a package."""


NEEDS = {"tt-mlir.md": needs_tt}
"""What a page's commands need besides."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=NEEDS.get(page.name, ()))
        for page in PAGES
    ],
)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    in_folder_of_its_own(tmp_path)
    monkeypatch.chdir(tmp_path)
    try:
        run_page(page)
    finally:
        # a page may break the compiler on purpose, and caches would remember
        forget()


@pytest.mark.parametrize(
    ("expected", "actual", "answer"),
    [
        ("a\nb", "a\nb", True),
        ("a\nb", "a\nc", False),
        ("a\n...", "a\nb\nc", True),
        ("a\n...\nc", "a\nb\nc", True),
        ("...\nd", "a\nb\nc", False),
        ("it took ... ms", "it took 3.2 ms", True),
        ("it took ... ms", "it took 3.2 s", False),
        ("a", "a\nb", False),
    ],
)
def test_what_a_page_may_leave_out(expected: str, actual: str, answer: bool):
    assert matches(expected.split("\n"), actual.split("\n")) is answer
