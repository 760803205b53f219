"""What is written from the code is as the code is now."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "scripts"))

import pictures  # noqa: E402
import reference  # noqa: E402

PAGES = reference.pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_reference(path: Path):
    """If this fails: `make docs`, or `python docs/scripts/reference.py`."""
    assert path.read_text() == PAGES[path]


def test_pictures():
    for path, text in pictures.pictures().items():
        assert path.read_text() == text + "\n"
