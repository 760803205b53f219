"""How many threads a matrix product wakes: one, unless it is large.

BLAS wakes all its threads for a product of a few microseconds, and they wait for each
other by spinning: on a busy machine (tests in parallel, a shared CI) the last one gets
its turn milliseconds later. A product is worth that when it takes longer itself.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs]

_FEW = 1 << 18
"""Multiplications of a product for which BLAS takes one thread anyway."""

_MANY = 1 << 27
"""Multiplications from which on all threads are taken: a few milliseconds of one."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def threads_for(multiplications: int) -> AbstractContextManager[object]:
    """Where a product of so many multiplications is to be computed."""
    if not _FEW < multiplications < _MANY:
        return nullcontext()
    controller: Any = _controller()
    return controller.limit(limits=1, user_api="blas")
