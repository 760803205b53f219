"""StableHLO on NumPy, by families of ops."""

from __future__ import annotations

from xdsl.interpreter import InterpreterFunctions

from ttxdsl.interpreters.stablehlo.calls import CallFunctions
from ttxdsl.interpreters.stablehlo.collective import CollectiveFunctions
from ttxdsl.interpreters.stablehlo.contraction import ContractionFunctions
from ttxdsl.interpreters.stablehlo.control_flow import ControlFlowFunctions
from ttxdsl.interpreters.stablehlo.data_movement import DataMovementFunctions
from ttxdsl.interpreters.stablehlo.elementwise import ElementwiseFunctions
from ttxdsl.interpreters.stablehlo.indexing import IndexingFunctions
from ttxdsl.interpreters.stablehlo.normalization import NormalizationFunctions
from ttxdsl.interpreters.stablehlo.reduction import ReductionFunctions
from ttxdsl.interpreters.stablehlo.rng import RngFunctions

FUNCTIONS: tuple[type[InterpreterFunctions], ...] = (
    CallFunctions,
    CollectiveFunctions,
    ContractionFunctions,
    ControlFlowFunctions,
    DataMovementFunctions,
    ElementwiseFunctions,
    IndexingFunctions,
    NormalizationFunctions,
    ReductionFunctions,
    RngFunctions,
)
"""All of the dialect's implementations."""
