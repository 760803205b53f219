"""What a lowering rule answers: values that take the place of an op's results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

Lowered: TypeAlias = SSAValue | Sequence[SSAValue]
"""The value of the op's only result, or of all its results."""


def as_results(lowered: Lowered) -> Sequence[SSAValue]:
    """The values of all results of an op."""
    if isinstance(lowered, tuple | list):  # asked first, for it costs less
        return lowered
    return [lowered] if isinstance(lowered, SSAValue) else lowered
