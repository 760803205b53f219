"""Hooks of the dialect that need its op classes, filled in when `sdy` is loaded.

The checks that cross symbols, regions or uses (`_sdy.verify_ops`) and the rewrites
(`_sdy.canonicalize`) know the op classes, and the classes ask here for them.
"""

from collections.abc import Callable

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

CHECKS: list[Callable[[Operation], None]] = []
"""Each raises a `VerifyException` if an op breaks a constraint in its module."""

REWRITES: dict[type[Operation], tuple[RewritePattern, ...]] = {}
"""The patterns of `canonicalize` by the class of the root op."""
