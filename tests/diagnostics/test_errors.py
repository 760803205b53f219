"""Where something is, as people read it."""

from pathlib import Path

import pytest

from ttxdsl.diagnostics.errors import place_text

LONG = "/home/me/projects/models/transformer/layers/attention.py"


@pytest.mark.parametrize(
    ("position", "function", "text"),
    [
        ("train.py:33:4", "block", "train.py:33 in block"),
        ("train.py:33:4", "main.<locals>.loss", "train.py:33 in loss"),
        ("train.py:33:4", "Block.__call__", "train.py:33 in Block"),
        # without a function the column is all that tells two ops of a line apart
        ("train.py:33:4", None, "train.py:33:4"),
        (None, "block", ""),
        # of a long path the first folder and the last ones
        (f"{LONG}:287:8", "attend", "/…/transformer/layers/attention.py:287 in attend"),
        (f"src/{LONG}:2:8", None, "src/…/layers/attention.py:2:8"),
        ("a/b.py:1:2", None, "a/b.py:1:2"),
    ],
)
def test_a_place_for_people(position: str | None, function: str | None, text: str):
    assert place_text(position, function) == text


def test_a_place_is_told_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert place_text(f"{tmp_path}/models/a.py:3:1", "f") == "models/a.py:3 in f"
