"""Names that errors suggest for misspelt ones."""

from __future__ import annotations

import pytest

from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.ir.near_names import near_names


def test_the_nearest_is_first():
    assert near_names("dta", ["model", "data"]) == ["data"]
    assert near_names("propagate", ["sdy-basic-propagate"]) == ["sdy-basic-propagate"]


@pytest.mark.parametrize(
    ("given", "names", "hint"),
    [
        (["dta"], ["data", "model"], "did you mean data?"),
        (["zz"], ["data", "model"], "the axes are data, model"),
        (["zz"], [], "there are no axes"),
        (["zz"], list("abcdefghi"), "the axes are a, b, c, d, e, f, g, h, …"),
    ],
)
def test_hints(given: list[str], names: list[str], hint: str):
    assert near_hint(given, names, "axes") == hint
