"""Processes that run XLA for tests wait for the next question; tt-mlir's answers are kept."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from ttxdsl.bridges.xla import calibrating, execute
from ttxdsl.loading.worker import Worker

_OF_EACH_TEST = {"PYTEST_CURRENT_TEST", "COLUMNS"}


@contextmanager
def kept_workers() -> Iterator[None]:
    """Keep workers that have the same variables; one that fails is closed as ever."""
    idle: dict[Any, Worker] = {}

    @contextmanager
    def lend(target: str, env: Mapping[str, str]) -> Iterator[Worker]:
        variables = {k: v for k, v in os.environ.items() if k not in _OF_EACH_TEST}
        key = target, frozenset((variables | env).items())
        worker = idle.pop(key, None) or Worker(target, env)
        try:
            yield worker
        except BaseException:
            worker.close(0)
            raise
        idle[key] = worker

    with pytest.MonkeyPatch.context() as patch:
        for module in (execute, calibrating):
            patch.setattr(module, "Worker", lend)
        # where no test of it is collected, importing it would be most of a run
        if comparing := sys.modules.get("ttxdsl.bridges.tt_mlir.comparing"):
            from tests.bridges.tt_mlir.oracle import ask

            patch.setattr(comparing, "compile_text", ask)
        yield
    for worker in idle.values():
        worker.close()
