"""ttir: device ops in destination-passing style.

The destinations are ignored: a result is a new value, and what `ttir.empty` makes has
no memory.
"""

from __future__ import annotations

from xdsl.interpreter import InterpreterFunctions, register_impls

from ttxdsl.dialects.ttir import TTIROp
from ttxdsl.interpreters.tt_ops import with_runs


@register_impls
@with_runs(TTIROp.OPS)
class TTIRFunctions(InterpreterFunctions):
    """Every op by the shared tables, and the terminator."""
