"""Which function runs an op: one table for all dialects, filled where functions stand.

    @implements(stablehlo.TransposeOp)
    def _transpose(_: Interpreter, op: stablehlo.TransposeOp, args: Values) -> Values:
        return (kernels.transpose(args[0], op.permutation.get_values()),)

A function gets the values of the operands and answers with those of the results. Where
nothing but their arrays and the op itself matters, the function says once of an op by
which kernel it is computed:

    @prepares(stablehlo.TransposeOp)
    def _transpose(op: stablehlo.TransposeOp) -> Kernel:
        return partial(kernels.transpose, permutation=op.permutation.get_values())

What is added last is what runs; a plug-in may add at any time.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Operation

from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.runtime.compiled_op import (
    COMBINES,
    PREPARES,
    Kernel,
    Prepared,
    elementwise,
)
from ttxdsl.interpreters.runtime.regions import Values, prepared_of, session

Run = Callable[[Interpreter, Any, Values], Values]

_OpT = TypeVar("_OpT", bound=Operation)

_RUNS: dict[type[Operation], Run] = {}
_RETURNS: list[type[Operation]] = []


def implements(
    *op_classes: type[_OpT], combines: bool = False
) -> Callable[[Callable[[Interpreter, _OpT, Values], Values]], Run]:
    """Decorator: the function runs ops of these classes.

    Args:
        op_classes: what it runs.
        combines: whether it takes products that are not computed yet (`Summands`).
    """

    def add(run: Callable[[Interpreter, _OpT, Values], Values]) -> Run:
        _RUNS.update(dict.fromkeys(op_classes, run))
        for op_class in op_classes:
            PREPARES.pop(op_class, None)
        (COMBINES.update if combines else COMBINES.difference_update)(op_classes)
        implementations.cache_clear()
        return run

    return add


Prepare = Callable[[_OpT], Kernel | Prepared | None]


def prepares(
    *op_classes: type[_OpT], otherwise: Run | None = None
) -> Callable[[Prepare[_OpT]], Prepare[_OpT]]:
    """Decorator: the function says by what ops of these classes are computed.

    Args:
        op_classes: classes of ops with one result.
        otherwise: runs the ops for which it says None.
    """

    def add(prepare: Prepare[_OpT]) -> Prepare[_OpT]:
        implements(*op_classes)(_run_prepared(otherwise))
        PREPARES.update(dict.fromkeys(op_classes, prepare))
        return prepare

    return add


def _run_prepared(otherwise: Run | None) -> Run:
    """Runs an op by what is prepared for it, when it is met first."""

    def run(interpreter: Interpreter, op: Operation, args: Values) -> Values:
        state = session(interpreter)
        prepared = prepared_of(state, op)
        if prepared is None:
            assert otherwise is not None
            return otherwise(interpreter, op, args)
        if state.room and prepared.into is not None:
            value = prepared.into(state.room, *args)
            if value is not None:
                return (value,)
        return (prepared.kernel(*args),)

    return run


def implement_by_kernels(kernels: Mapping[type[Operation], Kernel]) -> None:
    """Ops of these classes do the same with every element of their operands."""
    for op_class, kernel in kernels.items():
        prepares(op_class)(_elementwise(kernel))


def _elementwise(kernel: Kernel) -> Callable[[Operation], Prepared]:
    return lambda op: elementwise(kernel, rank_of(op.results[0].type))


def implement_returns(*op_classes: type[Operation]) -> None:
    """Ops of these classes end a region and hand their operands back."""
    _RETURNS.extend(op_classes)


@cache
def implementations() -> type[InterpreterFunctions]:
    """The table as xDSL's interpreter takes it."""
    found: dict[str, Any] = {"__doc__": "Every op of the table."}
    for op_class, run in _RUNS.items():
        found[f"run {op_class.name}"] = impl(op_class)(_as_method(run))
    for op_class in _RETURNS:
        found[f"run {op_class.name}"] = impl_terminator(op_class)(_return)
    return register_impls(type("Implementations", (InterpreterFunctions,), found))


def _as_method(run: Run) -> Callable[[Any, Interpreter, Operation, Values], Values]:
    return lambda _, interpreter, op, args: run(interpreter, op, args)


def _return(
    _: Any, interpreter: Interpreter, op: Operation, args: Values
) -> tuple[TerminatorValue, Values]:
    return ReturnedValues(args), ()
