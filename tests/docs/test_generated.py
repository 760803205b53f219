"""What is written from the code is as the code is now."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "scripts"))

import pictures  # noqa: E402
import reference  # noqa: E402


def test_reference():
    """If this fails: `make docs`, or `python docs/scripts/reference.py`."""
    for path, text in reference.pages().items():
        assert path.read_text() == text, path.stem


def test_pictures():
    for path, text in pictures.pictures().items():
        assert path.read_text() == text + "\n"
