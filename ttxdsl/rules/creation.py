"""Sharding rules of ops that make values."""

from collections.abc import Iterator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType
from ttxdsl.rules.table import OpRule, rule


def rng_bit_generator(op: stablehlo.RngBitGeneratorOp) -> Iterator[Factor]:
    """Every device has the whole state, and makes its shard of the output from it."""
    for dim, size in enumerate(shape_of(op.initial_state)):
        yield Factor(size, (dim,), (dim, None), FactorType.NEED_REPLICATION, True)
    for dim, size in enumerate(shape_of(op.output)):
        yield Factor(size, None, (None, dim))


RULES: tuple[OpRule, ...] = (rule(stablehlo.RngBitGeneratorOp, rng_bit_generator),)
