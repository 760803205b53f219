"""Mends to xDSL 0.74: small, each naming the fault, each with a test.

They are applied when our universe loads, so plain `xdsl-opt` has them too. Each
mend comes with a probe that shows the fault on the unmended xDSL;
`tests/ir/compat` fails when xDSL no longer needs one.
"""

from ttxdsl.ir.compat.faults import (
    aliases,
    dense,
    depth,
    dominance,
    functions,
    literals,
    locations,
    pipelines,
    splats,
)
from ttxdsl.ir.compat.speed import (
    class_checks,
    cloning,
    lexing,
    linear,
    lines,
    operations,
    printing,
    types,
)

_MENDS = (
    splats.mend,
    dense.mend,
    literals.mend,
    depth.mend,
    dominance.mend,
    locations.mend,
    aliases.mend,
    functions.mend,
    pipelines.mend,
    class_checks.mend,
    lexing.mend,
    types.mend,
    operations.mend,
    cloning.mend,
    lines.mend,
    printing.mend,
    linear.mend,
)
_applied = False


def mend_xdsl() -> None:
    """Apply every mend once; calling it again changes nothing."""
    global _applied
    if not _applied:
        _applied = True
        for mend in _MENDS:
            mend()
