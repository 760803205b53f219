"""Small matrix products take one thread, large ones all."""

from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ttxdsl.interpreters.threads import threads_for


def blas_threads() -> set[int]:
    pools: list[dict[str, Any]] = threadpool_info()
    return {
        one["num_threads"]
        for one in pools
        # that of SciPy may come later, and multiplies nothing here
        if one["user_api"] == "blas" and "numpy" in one["filepath"]
    }


@pytest.mark.parametrize(
    ("sides", "threads"), [((32, 32, 32), 2), ((96, 192, 96), 1), ((512, 1024, 512), 2)]
)
def test_threads_of_a_product(sides: tuple[int, int, int], threads: int):
    with threadpool_limits(2, user_api="blas"):
        with threads_for(sides[0] * sides[1] * sides[2]):
            assert blas_threads() == {threads}
        assert blas_threads() == {2}
