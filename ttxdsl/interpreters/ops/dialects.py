"""The functions of every dialect: each module here adds its own to the table."""

from xdsl.interpreter import InterpreterFunctions

from ttxdsl.interpreters.ops import (
    check as check,
    chlo as chlo,
    parallel as parallel,
    sdy as sdy,
    ttcore as ttcore,
)
from ttxdsl.interpreters.ops.func import FuncFunctions
from ttxdsl.interpreters.ops.registry import implementations
from ttxdsl.interpreters.ops.stablehlo import (
    collective as collective,
    contraction as contraction,
    control_flow as control_flow,
    data_movement as data_movement,
    elementwise as elementwise,
    indexing as indexing,
    reduction as reduction,
)
from ttxdsl.interpreters.ops.tt import registration as registration


def all_functions() -> tuple[type[InterpreterFunctions], ...]:
    """Return the table for xDSL's interpreter, and what calls functions."""
    return FuncFunctions, implementations()
