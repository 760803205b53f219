"""A sample of many cases of a kind for each run, the rest for `make fuzz`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], keep: int) -> list[Any]:
    """Return the cases as parameters: `keep` of them, evenly spread, are always run.

    A tuple is the values of several parameters. The others are marked `fuzz`.
    """
    listed = list(cases)
    assert keep < len(listed), "all of them are always run"
    kept = {len(listed) * number // keep for number in range(keep)}
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if number in kept else pytest.mark.fuzz,
        )
        for number, case in enumerate(listed)
    ]
