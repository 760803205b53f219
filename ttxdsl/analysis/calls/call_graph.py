"""The call graph: orders of functions, their copies, and their shardings.

Source: MLIR's `CallGraph`; Shardy's `walkCalls`, `iterateFuncs` and
`cloneFuncRecursively` for orders and names.
"""

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import are_of, chosen_ops, ops_of_type
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

ORIGINAL_NAME = "sdy.original_func_name"
"""Attribute of a copied function: the name of the function that it is a copy of."""

MAIN = "main"


def calls_in(op: Operation) -> list[CallOp]:
    """Return the calls in an op, in the order of the text."""
    return ops_of_type(op, CallOp)


def callers(module: ModuleOp) -> dict[str, list[Operation]]:
    """The ops that run a function, by its name: calls, composites and custom calls."""
    calls_by_name: dict[str, list[Operation]] = {}
    kinds = (CallOp, stablehlo.CompositeOp, stablehlo.CustomCallOp)
    for op in ops_of_type(module, *kinds):
        for name in called_by(op):
            calls_by_name.setdefault(name, []).append(op)
    return calls_by_name


CALLING = are_of((CallOp, stablehlo.CompositeOp, stablehlo.CustomCallOp))
"""The classes of ops that `called_by` has an answer for."""


def callees(root: Operation) -> list[str]:
    """Return the functions that the ops in an op run, by name, as often as they do."""
    return [name for op in chosen_ops(root, CALLING) for name in called_by(op)]


def called_by(op: Operation) -> list[str]:
    """Return the functions that an op runs, by name."""
    if not CALLING[type(op)]:
        return []
    match op:
        case CallOp():
            return [op.callee.string_value()]
        case stablehlo.CompositeOp():
            return [op.decomposition.string_value()]
        case stablehlo.CustomCallOp():
            names = op.called_computations
            return [n.string_value() for n in names if isinstance(n, SymbolRefAttr)]
        case _:
            return []


def callees_first(module: ModuleOp) -> list[FuncOp]:
    """The functions with a body, each behind those it calls, else in their order.

    Raises:
        UnsupportedError: if a function calls itself, directly or through others.
    """
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp) and not op.is_declaration
    }
    order: list[FuncOp] = []
    done: set[str] = set()
    for root, function in functions.items():
        if root in done:
            continue
        # depth first with an explicit stack: call chains may be long
        path: dict[str, Iterator[CallOp]] = {root: iter(calls_in(function))}
        while path:
            name, pending = next(reversed(path.items()))
            call = next(pending, None)
            if call is None:
                path.pop(name)
                done.add(name)
                order.append(functions[name])
                continue
            callee = call.callee.string_value()
            if callee in path:
                raise UnsupportedError(
                    f"recursive call of '@{callee}'",
                    call,
                    hint="rewrite the recursion as a stablehlo.while",
                )
            if callee in functions and callee not in done:
                path[callee] = iter(calls_in(functions[callee]))
    return order


def callers_first(module: ModuleOp) -> list[FuncOp]:
    """Return the functions of `callees_first` the other way round."""
    return callees_first(module)[::-1]


def original_name(function: FuncOp) -> str:
    """Return the name of the function that this one is a copy of, or its own."""
    name = function.attributes.get(ORIGINAL_NAME)
    return name.data if isinstance(name, StringAttr) else function.sym_name.data


def set_callee(call: CallOp, name: str) -> None:
    """Let a call call another function of the same type."""
    call.callee = SymbolRefAttr(name)


def copy_function(function: FuncOp, symbols: Symbols) -> str:
    """Add a copy of a function, which calls copies of its callees; return its name."""
    copy = function.clone()
    copy.attributes[ORIGINAL_NAME] = StringAttr(original_name(function))
    for call in calls_in(copy):
        callee = symbols.callee(call)
        if not callee.is_declaration:
            set_callee(call, copy_function(callee, symbols))
    return symbols.add_function(copy)


def main_function(module: ModuleOp) -> FuncOp:
    """Return the only function, or the one called `main`.

    Raises:
        CompileError: if there are several and none has that name.
    """
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) == 1:
        return functions[0]
    for function in functions:
        if function.sym_name.data == MAIN:
            return function
    raise CompileError(
        f"which of the {len(functions)} functions is the main one?",
        module,
        hint=f"call it @{MAIN}",
    )


# Shardings at calls


def _all_or_none(
    shardings: list[TensorSharding | None],
    rank_of: Callable[[int], int],
    mesh_of: Callable[[TensorSharding], Mesh],
) -> tuple[TensorSharding, ...] | None:
    """Fully open shardings where there are none; None if nothing names a mesh."""
    for sharding in shardings:
        if sharding is not None and not mesh_of(sharding).is_maximal:
            return tuple(
                TensorSharding.fully_open(sharding.mesh, rank_of(index))
                if sharding_or_none is None
                else sharding_or_none
                for index, sharding_or_none in enumerate(shardings)
            )
    return None


def argument_shardings(
    function: FuncOp, mesh_of: Callable[[TensorSharding], Mesh]
) -> tuple[TensorSharding, ...] | None:
    """The shardings of all arguments, None if none has one over several devices."""
    types = function.function_type.inputs.data
    return _all_or_none(
        sdy.func_argument_shardings(function),
        lambda index: sdy.tensor_rank(types[index]),
        mesh_of,
    )


def result_shardings(
    function: FuncOp, mesh_of: Callable[[TensorSharding], Mesh]
) -> tuple[TensorSharding, ...] | None:
    """The shardings of all results, None if none has one over several devices."""
    types = function.function_type.outputs.data
    return _all_or_none(
        sdy.func_result_shardings(function),
        lambda index: sdy.tensor_rank(types[index]),
        mesh_of,
    )


def call_shardings(call: CallOp) -> sdy.TensorShardingPerValueAttr | None:
    """Return the shardings of the results of a call."""
    shardings = call.attributes.get(sdy.SHARDING)
    if isinstance(shardings, sdy.TensorShardingPerValueAttr):
        return shardings
    return None
