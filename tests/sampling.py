"""A sample of many cases of a kind for each run, the rest for `make fuzz`."""

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], keep: int, *, several: bool = True) -> list[Any]:
    """Return the cases as parameters: `keep` of them, evenly spread, are always run.

    The others are marked `fuzz`. A tuple is the values of several parameters, unless
    `several` is false.
    """
    listed = list(cases)
    assert keep < len(listed), "all of them are always run"
    kept = {len(listed) * number // keep for number in range(keep)}
    return [
        pytest.param(
            *(case if several and isinstance(case, tuple) else (case,)),
            marks=() if number in kept else pytest.mark.fuzz,
        )
        for number, case in enumerate(listed)
    ]
