"""Which function runs an op: one table for all dialects, filled where functions stand.

    @implements(stablehlo.TransposeOp)
    def _transpose(_: Interpreter, op: stablehlo.TransposeOp, args: Values) -> Values:
        return (kernels.transpose(args[0], op.permutation.get_values()),)

A function gets the values of the operands and answers with those of the results. What is
added last is what runs; a plug-in may add at any time.
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

from ttxdsl.interpreters.kernels import Kernel
from ttxdsl.interpreters.regions import Values

Run = Callable[[Interpreter, Any, Values], Values]

_OpT = TypeVar("_OpT", bound=Operation)

_RUNS: dict[type[Operation], Run] = {}
_RETURNS: list[type[Operation]] = []


def implements(
    *op_classes: type[_OpT],
) -> Callable[[Callable[[Interpreter, _OpT, Values], Values]], Run]:
    """Decorator: the function runs ops of these classes."""

    def add(run: Callable[[Interpreter, _OpT, Values], Values]) -> Run:
        _RUNS.update(dict.fromkeys(op_classes, run))
        implementations.cache_clear()
        return run

    return add


def implement_by_kernels(kernels: Mapping[type[Operation], Kernel]) -> None:
    """Ops of these classes are run by functions of their operands' arrays alone."""
    for op_class, kernel in kernels.items():
        implements(op_class)(lambda _, op, args, kernel=kernel: (kernel(*args),))


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
