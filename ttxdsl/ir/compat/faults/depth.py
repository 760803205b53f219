"""Mend: xDSL parses, walks, verifies, copies and prints nested regions by recursion.

A level of regions takes up to twelve calls, and so does a call of a function that is
run, so that Python's limit of a thousand calls is reached with eighty regions inside
each other. Calls of Python functions by Python functions take no stack of the machine,
which is what the limit is there to protect: a thousand levels are read, compiled and run
with 1 MiB of it. The limit is raised to what a thread's usual 8 MiB hold with room to
spare; deeper programs are still refused with a `RecursionError`, which
`ttxdsl.loading.program` explains.
"""

import sys

CALLS = 40_000
"""Calls inside each other, enough for 3,000 regions inside each other."""


def mend() -> None:
    """Allow deep recursion; a higher limit is left alone."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS))
