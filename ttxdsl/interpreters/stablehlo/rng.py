"""Random numbers and bits.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters import random
from ttxdsl.interpreters.elements import tensor_of
from ttxdsl.interpreters.stablehlo.data_movement import shape_value


@register_impls
class RngFunctions(InterpreterFunctions):
    """What draws numbers."""

    @impl(stablehlo.RngBitGeneratorOp)
    def run_rng_bit_generator(
        self,
        interpreter: Interpreter,
        op: stablehlo.RngBitGeneratorOp,
        args: PythonValues,
    ) -> PythonValues:
        """Random bits and the next state, by the algorithm asked for."""
        shape, dtype = tensor_of(op.output.type)
        algorithm = op.rng_algorithm.data.value
        return random.bit_generator(algorithm, args[0], shape, dtype)

    @impl(stablehlo.RngOp)
    def run_rng(
        self, interpreter: Interpreter, op: stablehlo.RngOp, args: PythonValues
    ) -> PythonValues:
        """Numbers of a distribution, the same in every run."""
        low, high, shape = args
        dtype = tensor_of(op.result.type)[1]
        kind = op.rng_distribution.data.value
        return (random.distribution(kind, low, high, shape_value(shape, op), dtype),)
