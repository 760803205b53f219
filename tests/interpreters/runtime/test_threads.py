"""Large arrays in stretches, which threads share while BLAS takes one."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from threadpoolctl import threadpool_limits

from ttxdsl.interpreters.kernels import matrices, reduction
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer, reduce_named
from ttxdsl.interpreters.runtime import threads
from ttxdsl.interpreters.runtime.threads import share, stretches


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch):
    """As on a machine of two cores, whatever this one is told to be."""
    threads.threads.cache_clear()
    threads._pool.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with threadpool_limits(2, user_api="blas"):
        assert threads.threads() == 2
        yield
    threads.threads.cache_clear()
    threads._pool.cache_clear()  # pyright: ignore[reportPrivateUsage]


@given(st.lists(st.integers(0, 7), max_size=4), st.integers(0, 50))
def test_stretches_are_all_of_an_array_once(shape: list[int], size: int):
    seen = np.zeros(shape, int)
    for part in stretches(shape, size):
        seen[part] += 1
        assert seen[part].size <= max(1, size)
        assert np.ascontiguousarray(seen)[part].flags.c_contiguous
    assert (seen == 1).all()


@pytest.mark.usefixtures("two_threads")
def test_threads_take_turns():
    """Both are at work at once, and keep NumPy's error state."""
    there = threading.Barrier(2, timeout=30)
    seen: set[int] = set()

    def work(_: threads.Stretch) -> None:
        assert np.geterr()["divide"] == "raise"
        seen.add(threading.get_ident())
        there.wait()

    with np.errstate(divide="raise"):
        share(work, stretches((2,), 1))
    assert len(seen) == 2


@pytest.mark.usefixtures("two_threads")
def test_nobody_waits_for_a_thread_that_is_busy():
    """The pool's one thread does something else: the one that asks does all."""
    block, done = threading.Event(), list[threads.Stretch]()
    pool = threads._pool()  # pyright: ignore[reportPrivateUsage]
    other = pool.submit(block.wait, 30)
    share(done.append, stretches((4,), 1))
    assert len(done) == 4 and not other.done()
    block.set()
    other.result()


@pytest.mark.usefixtures("two_threads")
def test_an_error_ends_the_work():
    started: list[threads.Stretch] = []

    def work(part: threads.Stretch) -> None:
        started.append(part)
        if threading.current_thread() is threading.main_thread():
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="no"):
        share(work, stretches((1000,), 1))
    assert len(started) < 10


@pytest.mark.usefixtures("two_threads")
def test_a_copy_in_another_shape(monkeypatch: pytest.MonkeyPatch):
    """In stretches where it is one; a view stays one."""
    monkeypatch.setattr(matrices, "LARGE", 16)
    monkeypatch.setattr(matrices, "SIZE", 8)
    asked: list[int] = []

    def spy(work: Any, parts: Any) -> None:
        asked.append(len(parts))
        share(work, parts)

    monkeypatch.setattr(matrices, "share", spy)
    x = np.arange(60).reshape(5, 4, 3)
    turned = x.transpose(1, 0, 2)
    np.testing.assert_array_equal(
        matrices.reshaped(turned, (20, 3)), turned.reshape(20, 3)
    )
    assert asked == [12]
    assert np.shares_memory(matrices.reshaped(x, (20, 3)), x)
    assert asked == [12]


SHAPES = [
    ((3, 40, 20), (3, 20, 30)),
    ((70, 20), (20, 30)),
    ((20, 30), (30, 90)),
    ((2, 1, 30, 20), (1, 3, 20, 30)),
    ((2, 0, 20), (2, 20, 3)),
    ((2, 4, 0), (2, 0, 3)),
]


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_products_in_stretches(
    left: tuple[int, ...], right: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(matrices, "_SMALL", 0)
    monkeypatch.setattr(matrices, "_SHARE", 200)
    monkeypatch.setattr(matrices, "_LINES", 16)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(left), rng.standard_normal(right)
    found = matrices.multiplied(x, y)
    np.testing.assert_allclose(found, np.matmul(x, y), rtol=1e-12, atol=1e-12)
    with monkeypatch.context() as patch:
        patch.setattr(threads, "threads", lambda: 1)
        alone = matrices.multiplied(x, y)
    np.testing.assert_array_equal(alone, found)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("axes", [(0,), (2,), (1, 3), (0, 1, 2, 3)])
@pytest.mark.parametrize("name", ["add", "maximum"])
def test_reductions_in_stretches(
    name: str, axes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    """However an array lies in memory, also where it repeats."""
    monkeypatch.setattr(reduction, "SIZE", 64)
    monkeypatch.setattr(reduction, "LARGE", 128)
    x = np.random.default_rng(0).integers(0, 99, (8, 5, 6, 7)).astype(np.float32)
    for one in (x, x.transpose(2, 0, 3, 1), np.broadcast_to(x[:, :1], x.shape)):
        wanted = reduction.UFUNCS[name].reduce(one, axis=axes, keepdims=True)
        np.testing.assert_array_equal(reduce_named(name, one, axes), wanted)
        over = AllReducer(Reducer.named(name))
        np.testing.assert_array_equal(over(one, axes), wanted)


@pytest.mark.usefixtures("two_threads")
def test_reductions_add_in_the_order_of_the_whole(monkeypatch: pytest.MonkeyPatch):
    """Also along a dimension that repeats, which lies nowhere in memory."""
    monkeypatch.setattr(reduction, "SIZE", 8)
    monkeypatch.setattr(reduction, "LARGE", 16)
    x = np.random.default_rng(0).standard_normal((32, 1, 4)).astype(np.float32)
    whole = np.broadcast_to(x, (32, 3, 4))
    wanted = np.add.reduce(whole, axis=(1, 2), keepdims=True)
    np.testing.assert_array_equal(reduce_named("add", whole, (1, 2)), wanted)
