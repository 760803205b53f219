"""Random numbers and bits.

Source: StableHLO specification, one section an op.
"""

from xdsl.interpreter import Interpreter

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.kernels import random
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.ops.registry import (
    implements,
)
from ttxdsl.interpreters.ops.stablehlo.data_movement import shape_value
from ttxdsl.interpreters.runtime.regions import Values


@implements(hlo.RngBitGeneratorOp)
def _rng_bit_generator(
    _: Interpreter, op: hlo.RngBitGeneratorOp, args: Values
) -> Values:
    """Random bits and the next state, by the algorithm asked for."""
    shape, dtype = tensor_of(op.output.type)
    algorithm = op.rng_algorithm.data.value
    return random.bit_generator(algorithm, args[0], shape, dtype)


@implements(hlo.RngOp)
def _rng(_: Interpreter, op: hlo.RngOp, args: Values) -> Values:
    """Numbers of a distribution, the same in every run."""
    low, high, shape = args
    dtype = tensor_of(op.result.type)[1]
    kind = op.rng_distribution.data.value
    return (random.distribution(kind, low, high, shape_value(shape, op), dtype),)
