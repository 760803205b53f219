"""The functions that run ops: one table for all dialects, filled where functions stand.

    @computes(stablehlo.TransposeOp)
    def _transpose(op: stablehlo.TransposeOp, x: Array) -> Array:
        return kernels.transpose(x, op.permutation.get_values())

- `computes`: a function of the op and its operands' arrays returns the result (or a tuple
  of results).
- `compiles`: a function of the op reads attributes and types once, and returns the kernel
  of arrays, or a `CompiledOp` that says more of it.
- `implements`: a function of the interpreter, the op and its operands' values returns a
  tuple of results. For ops with regions, on meshes, and with state.

The function that is added last is used; a plug-in may add at any time.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypeVar, cast

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
    COMPILERS,
    CompiledOp,
    Compiler,
    Kernel,
    elementwise,
)
from ttxdsl.interpreters.runtime.regions import Values, compiled_op_of, session

Run = Callable[[Interpreter, Any, Values], Values]
OpKernel = Callable[..., Any]
"""A kernel whose first argument is the op: (op, arrays…) -> result or tuple of results."""

_OpT = TypeVar("_OpT", bound=Operation)

_RUNS: dict[type[Operation], Run] = {}
_RETURNS: list[type[Operation]] = []


def implements(
    *op_classes: type[_OpT], combines: bool = False
) -> Callable[[Callable[[Interpreter, _OpT, Values], Values]], Run]:
    """Decorate a function that runs ops of these classes.

    Args:
        combines: whether it takes products that are not computed yet (`Summands`).
    """

    def add(run: Callable[[Interpreter, _OpT, Values], Values]) -> Run:
        _RUNS.update(dict.fromkeys(op_classes, run))
        for op_class in op_classes:
            COMPILERS.pop(op_class, None)
        (COMBINES.update if combines else COMBINES.difference_update)(op_classes)
        implementations.cache_clear()
        return run

    return add


_CompilerT = TypeVar("_CompilerT", bound=Compiler)
_OpKernelT = TypeVar("_OpKernelT", bound=OpKernel)


def compiles(
    *op_classes: type[Operation], otherwise: Run | None = None
) -> Callable[[_CompilerT], _CompilerT]:
    """Decorate a function that compiles ops of these classes, which have one result.

    Args:
        otherwise: runs the ops for which the function returns None.
    """

    def add(compiler: _CompilerT) -> _CompilerT:
        implements(*op_classes)(partial(_run_compiled, otherwise))
        COMPILERS.update(dict.fromkeys(op_classes, compiler))
        return compiler

    return add


def _run_compiled(
    otherwise: Run | None, interpreter: Interpreter, op: Operation, args: Values
) -> Values:
    """Run the kernel of an op, compiling it at the first call."""
    compiled = compiled_op_of(session(interpreter), op)
    if compiled is not None:
        return (compiled.kernel(*args),)
    assert otherwise is not None
    return otherwise(interpreter, op, args)


def computes(*op_classes: type[Operation]) -> Callable[[_OpKernelT], _OpKernelT]:
    """Decorate a function of the op and its operands' arrays."""

    def add(kernel: _OpKernelT) -> _OpKernelT:
        def run(_: Interpreter, op: Operation, args: Values) -> Values:
            results = kernel(op, *args)
            if isinstance(results, tuple):
                return cast("Values", results)
            return (results,)

        def compiler(op: Operation) -> Kernel | None:
            return partial(kernel, op) if len(op.results) == 1 else None

        compiles(*op_classes, otherwise=run)(compiler)
        return kernel

    return add


def elementwise_compiler(kernel: Kernel) -> Compiler:
    """Return the compiler of ops that do `kernel` with every element."""

    def compiler(op: Operation) -> CompiledOp:
        return elementwise(kernel, rank_of(op.results[0].type))

    return compiler


def implement_returns(*op_classes: type[Operation]) -> None:
    """Let ops of these classes end a region and return their operands."""
    _RETURNS.extend(op_classes)


@cache
def implementations() -> type[InterpreterFunctions]:
    """Return the table in the form that xDSL's interpreter takes."""
    functions: dict[str, Any] = {"__doc__": "Every op of the table."}
    for op_class, run in _RUNS.items():
        functions[f"run {op_class.name}"] = impl(op_class)(_as_method(run))
    for op_class in _RETURNS:
        functions[f"run {op_class.name}"] = impl_terminator(op_class)(_return)
    return register_impls(type("Implementations", (InterpreterFunctions,), functions))


def _as_method(run: Run) -> Callable[[Any, Interpreter, Operation, Values], Values]:
    return lambda _, interpreter, op, args: run(interpreter, op, args)


def _return(
    _: Any, interpreter: Interpreter, op: Operation, args: Values
) -> tuple[TerminatorValue, Values]:
    return ReturnedValues(args), ()
