"""One worker with eight devices for all tests here."""

from collections.abc import Iterator

import pytest

from tests.bridges.jax.engine.devices import DevicesOfJax


@pytest.fixture(scope="session")
def devices() -> Iterator[DevicesOfJax]:
    worker = DevicesOfJax()
    yield worker
    worker.close()
