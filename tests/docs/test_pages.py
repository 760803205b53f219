"""Every page of docs/ is executed: its commands and its Python print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, matches, run_page

PAGES = sorted(
    page
    for page in ROOT.glob("docs/**/*.md")
    if page.name not in ("propagation.md",) and blocks(page)
)
"""propagation.md has doctests, and a test of its own."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("examples", "docs", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    run_page(page)


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
