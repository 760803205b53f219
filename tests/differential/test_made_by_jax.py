"""Kept programs of JAX: all are current, and what is not current is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.differential import made_by_jax as here
from tests.differential.made_by_jax import PROGRAMS, kept, made_by_jax, state_of

MODULE = "tests.differential.test_made_by_jax"


def main() -> None:
    """Print the location of a program."""
    print(json.dumps(__file__))


@pytest.mark.parametrize("file", sorted(PROGRAMS.iterdir()), ids=lambda file: file.name)
def test_kept_programs_are_current(file: Path) -> None:
    """If one is not: `pytest --ask-oracle` with the tests that read it."""
    question, state, _ = kept(file)
    assert state == state_of(question)


def test_what_is_not_current_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here, "PROGRAMS", tmp_path)
    monkeypatch.setattr(here.ANSWERS, "anew", False)
    lines = [__file__]
    assert made_by_jax(MODULE) == lines
    assert not [*tmp_path.iterdir()]
    with monkeypatch.context() as patch:
        patch.setattr(here.ANSWERS, "anew", True)
        assert made_by_jax(MODULE) == lines
    (file,) = tmp_path.iterdir()
    question, state, answer = kept(file)
    assert answer == lines
    assert str(here.ROOT).encode() not in here.lzma.decompress(file.read_bytes())
    for kept_for, wanted in ((state, ["kept"]), ("another JAX", lines)):
        here.keep(file, question, kept_for, ["kept"])
        assert made_by_jax(MODULE) == wanted


if __name__ == "__main__":
    main()
