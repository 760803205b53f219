"""What tests of ops against JAX share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture
def no_warnings() -> Iterator[None]:
    """Leave NumPy's warnings out: edge values are meant to overflow."""
    with np.errstate(all="ignore"):
        yield
