"""Implementations of all ops of ttir or ttnn, by the tables of their declarations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
)

from ttxdsl.dialects._tt.control_flow import Yield
from ttxdsl.dialects._tt.op import TTOp
from ttxdsl.interpreters.tt import RUNS, Run
from ttxdsl.interpreters.tt_mesh import MESH_RUNS

_ALL: dict[str, Run] = {**RUNS, **MESH_RUNS}

_Functions = type[InterpreterFunctions]


def with_runs(ops: Sequence[type[TTOp]]) -> Callable[[_Functions], _Functions]:
    """Adds an implementation for every op that the tables know, and the terminator."""

    def add(functions: _Functions) -> _Functions:
        for op in ops:
            known = _ALL.get(op.mnemonic())
            if issubclass(op, Yield):
                setattr(functions, f"run {op.name}", impl_terminator(op)(_yield))
            elif known is not None:
                setattr(functions, f"run {op.name}", impl(op)(_on_inputs(known)))
        return functions

    return add


def _on_inputs(known: Run) -> Callable[..., PythonValues]:
    def run(
        self: InterpreterFunctions, at: Interpreter, op: TTOp, args: PythonValues
    ) -> PythonValues:
        return known(at, op, args[: len(op.reads)])

    return run


def _yield(
    self: InterpreterFunctions, at: Interpreter, op: Yield, args: PythonValues
) -> tuple[TerminatorValue, PythonValues]:
    return ReturnedValues(args), ()
