"""The operands of an op as they are now, for code that asks every op for them.

`op.operands` is a view that follows when they change. To make it and to go through it
takes three times as long, and a compilation does so some twenty times for each op.
"""

from collections.abc import Callable
from operator import attrgetter

from xdsl.ir import Operation, SSAValue

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""The operands of an op, a tuple."""
