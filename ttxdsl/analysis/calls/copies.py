"""Limits on the size of a program whose calls each get a copy of their callee.

A function that calls another twice, which calls another twice, and so on, has a few
lines and more ops than any machine holds. Passes that copy the bodies of functions
check this first.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects.stablehlo.calls import CompositeOp
from ttxdsl.ir.traversal import all_ops, ops_of_type

MOST_OPS = 1 << 20
"""Ops of a program whose functions are copied to where they are called.

Each takes some kilobytes and a millisecond on its way to ttnn.
"""
MOST_RUN = 1 << 28
"""Ops of a program that is run without copying; each takes some microseconds."""


def require_few_copies(module: ModuleOp, most_ops: int = MOST_OPS) -> None:
    """Refuse a program that becomes too large when calls and composites are opened.

    Found from the callees upwards, before anything is copied. Functions that call
    themselves are left to whoever opens them.

    Raises:
        UnsupportedError: a function, or all that stay, would have more than `most_ops`
            ops with those of all that they call.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    callees: dict[str, list[str]] = {}
    for name, function in functions.items():
        calls = ops_of_type(function, CallOp, CompositeOp)
        callees[name] = [called for op in calls if (called := _called(op)) in functions]
    if not any(callees.values()):
        return  # nothing is copied
    own = {name: len(all_ops(function)) for name, function in functions.items()}
    most = max(sum(own.values()), most_ops)
    sizes: dict[str, int] = {}
    for name in _callees_first(callees):
        size = own[name] + sum(sizes.get(called, 0) for called in callees[name])
        sizes[name] = size
        if size > most:
            raise UnsupportedError(
                f"'@{name}' has {size} ops with those of the functions that it calls,"
                f" each as often as it is called: more than {most}",
                functions[name],
                hint="call what is long less often, or from a stablehlo.while",
            )
    called = {name for names in callees.values() for name in names}
    kept = sum(size for name, size in sizes.items() if name not in called)
    if kept > most:
        raise UnsupportedError(
            f"the program has {kept} ops if every call gets a copy of what it calls:"
            f" more than {most}",
            module,
        )


def _called(op: CallOp | CompositeOp) -> str:
    """Return the name of the function that an op stands for."""
    name = op.callee if isinstance(op, CallOp) else op.decomposition
    return name.string_value()


def _callees_first(callees: Mapping[str, list[str]]) -> list[str]:
    """The functions, each behind those that it calls where there is such an order."""
    order: dict[str, None] = {}
    for root in callees:
        path = {root: iter(callees[root])} if root not in order else {}
        while path:
            name, pending = next(reversed(path.items()))
            called = next(pending, None)
            if called is None:
                path.pop(name)
                order[name] = None
            elif called not in order and called not in path:
                path[called] = iter(callees[called])
    return list(order)
