"""Mend: xDSL parses, walks, verifies, copies and prints nested regions by recursion.

A level of regions takes up to twelve calls, so that Python's limit of a thousand calls
is reached with eighty regions inside each other. The limit is raised to what a thread's
usual stack of 8 MiB holds with room to spare; deeper programs are still refused with a
`RecursionError`, which `ttxdsl.program` explains.
"""

from __future__ import annotations

import sys

CALLS = 20_000
"""Calls inside each other, enough for 1,500 regions inside each other."""


def mend() -> None:
    """Allow deep recursion; a higher limit is left alone."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS))
