"""StableHLO's products in ttir."""

from xdsl.ir import SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule
from ttxdsl.dialects import stablehlo, ttir
from ttxdsl.dialects._tt.attributes import dense_i64
from ttxdsl.ir.tensors import shape_of

Dims = tuple[int, ...]


def _dot_general(low: Lowering, op: stablehlo.DotGeneralOp) -> SSAValue:
    numbers = op.dot_dimension_numbers.data
    return _product(
        low,
        op,
        (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions),
        (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions),
    )


def _dot(low: Lowering, op: stablehlo.DotOp) -> SSAValue:
    """Return the last dimension of lhs with the first of rhs."""
    last = len(shape_of(low[op.lhs])) - 1
    return _product(low, op, ((), ()), ((last,), (0,)))


def _product(
    low: Lowering,
    op: stablehlo.DotGeneralOp | stablehlo.DotOp,
    batch: tuple[Dims, Dims],
    contract: tuple[Dims, Dims],
) -> SSAValue:
    properties = {
        "batch_dims_lhs": dense_i64(batch[0]),
        "batch_dims_rhs": dense_i64(batch[1]),
        "contract_dims_lhs": dense_i64(contract[0]),
        "contract_dims_rhs": dense_i64(contract[1]),
    }
    result = low.builder.here(op.result.type)
    operands = [low[op.lhs], low[op.rhs]]
    return low.builder.one(ttir.DotGeneralOp, operands, result, properties)


TABLE: dict[str, Rule] = {
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot_general,
}
"""The rules of this family, by StableHLO name."""
