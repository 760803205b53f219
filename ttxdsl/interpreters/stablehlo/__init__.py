"""StableHLO on NumPy, by families of ops."""

from __future__ import annotations

from xdsl.interpreter import InterpreterFunctions

from ttxdsl.interpreters.stablehlo.collective import CollectiveFunctions
from ttxdsl.interpreters.stablehlo.contraction import ContractionFunctions
from ttxdsl.interpreters.stablehlo.control_flow import ControlFlowFunctions
from ttxdsl.interpreters.stablehlo.data_movement import DataMovementFunctions
from ttxdsl.interpreters.stablehlo.elementwise import ElementwiseFunctions
from ttxdsl.interpreters.stablehlo.indexing import IndexingFunctions
from ttxdsl.interpreters.stablehlo.other import OtherFunctions
from ttxdsl.interpreters.stablehlo.reduction import ReductionFunctions

FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    CollectiveFunctions,
    ContractionFunctions,
    ControlFlowFunctions,
    DataMovementFunctions,
    ElementwiseFunctions,
    IndexingFunctions,
    OtherFunctions,
    ReductionFunctions,
)
"""All of the dialect's implementations."""
