"""What runs the ops of every dialect: each module here adds its functions to the table."""

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
    calls as calls,
    collective as collective,
    contraction as contraction,
    control_flow as control_flow,
    data_movement as data_movement,
    elementwise as elementwise,
    indexing as indexing,
    normalization as normalization,
    reduction as reduction,
    rng as rng,
)
from ttxdsl.interpreters.ops.tt import table as table


def all_functions() -> tuple[type[InterpreterFunctions], ...]:
    """The table as xDSL's interpreter takes it, and how functions are called."""
    return FuncFunctions, implementations()
