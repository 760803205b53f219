"""Python's garbage collector, kept from reading a whole module again and again.

An op, its values and its block refer to each other, so nothing of a module is ever
freed by counting references alone, and nothing of it is garbage while a pass runs. The
collector does not know that: as a module grows it is read over and over, which takes a
quarter of the time of a large compilation and finds the few ops that were erased.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Generator[None]:
    """No automatic garbage collection inside; use it around one pass, not a session.

    What a pass leaves behind is collected after it, so memory grows by that much at
    most. Nested uses are one, and a collector that was off stays off. Two threads may
    both use it: one that ends early gives the other its collections back, no more.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
