"""Other ways to say the same, which may cost less where dimensions are split.

A spelling is known by the op that it is made of. It computes the same numbers: where ops
of elements and rows are only moved, the same bits.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import stablehlo
from ttxdsl.insight.why.trials.rewrites.constant_rows import constant_rows, respell_rows
from ttxdsl.insight.why.trials.rewrites.row_indices import respell_indices, row_indices
from ttxdsl.insight.why.trials.rewrites.row_loops import (
    loop_code,
    respell_loop,
    row_loop,
    row_predicate,
)
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter

_SLICED_PRODUCT = "sliced product"
_ROWS = "constant rows"
_ROW_LOOP = "loop of own rows"
_ROW_INDICES = "indices of rows"


def spellings(op: Operation) -> Iterator[str]:
    """Yield the names of other spellings of an op."""
    if isinstance(op, stablehlo.WhileOp) and row_predicate(op) is not None:
        yield _ROW_LOOP
    if isinstance(op, stablehlo.DotGeneralOp) and _sliced(op) is not None:
        yield _SLICED_PRODUCT
    if (indices := row_indices(op)) is not None:
        yield f"{_ROW_INDICES} {indices.code(op)}"
    if isinstance(op, stablehlo.GatherOp) and (rows := constant_rows(op)):
        yield f"{_ROWS} {rows.code(len(shape_of(op.operand)))}"


def split_by(op: Operation) -> SSAValue | None:
    """Return the value whose sharding a spelling of an op depends on, if any."""
    return row_predicate(op) if isinstance(op, stablehlo.WhileOp) else None


def holds(op: Operation, sharding: TensorSharding) -> bool:
    """Return True if a spelling that depends on a sharding is the same for this one."""
    return isinstance(op, stablehlo.WhileOp) and row_loop(op, sharding) is not None


def respell(op: Operation, name: str, sharding: TensorSharding | None = None) -> None:
    """Replace an op by another spelling, which `spellings` names.

    Args:
        sharding: of the value that it depends on (`split_by`).

    Raises:
        ValueError: the op has no such spelling.
    """
    if name not in spellings(op):
        raise ValueError(f"{op.name} has no spelling '{name}'")
    if isinstance(op, stablehlo.WhileOp):
        assert sharding is not None
        respell_loop(op, sharding)
        return
    if name.startswith(_ROW_INDICES):
        indices = row_indices(op)
        assert indices is not None
        respell_indices(op, indices)
        return
    if isinstance(op, stablehlo.GatherOp):
        rows = constant_rows(op)
        assert rows is not None
        respell_rows(op, rows)
        return
    assert isinstance(op, stablehlo.DotGeneralOp)
    sliced = _sliced(op)
    assert sliced is not None
    slices, operand, dim, at = sliced
    for part in slices:
        _product_of_slice(op, part, operand, dim, at)
    Rewriter.erase_op(op)


def spelling_code(op: Operation, sharding: TensorSharding | None = None) -> str:
    """Return what to write instead of an op that has another spelling."""
    if isinstance(op, stablehlo.WhileOp) and sharding is not None:
        return loop_code([axis.name for axis in sharding.sharding_axes])
    if (indices := row_indices(op)) is not None:
        return indices.code(op)
    if isinstance(op, stablehlo.GatherOp) and (rows := constant_rows(op)):
        return rows.code(len(shape_of(op.operand)))
    sliced = _sliced(op) if isinstance(op, stablehlo.DotGeneralOp) else None
    assert sliced is not None, "only asked for ops with a spelling"
    slices, operand, dim, at = sliced
    assert isinstance(op, stablehlo.DotGeneralOp)
    rank = len(shape_of(op.operands[operand]))
    lines = ["# instead of parts of y = dot(a, b), products of parts:"]
    for number, part in enumerate(slices):
        start, limit = _ranges(part)[at]
        index = [":"] * rank
        index[dim] = f"{start}:{limit}"
        text = ["a", "b"]
        text[operand] += f"[{', '.join(index)}]"
        lines.append(f"y{number} = dot({', '.join(text)})")
    return "\n".join(lines)


def _ranges(op: stablehlo.SliceOp) -> list[tuple[int, int]]:
    return list(
        zip(op.start_indices.get_values(), op.limit_indices.get_values(), strict=True)
    )


def _sliced(
    op: stablehlo.DotGeneralOp,
) -> tuple[list[stablehlo.SliceOp], int, int, int] | None:
    """Return the slices that a product is only used by, and what they are slices along.

    That is the operand, its dimension, and the dimension of the result.
    """
    slices: list[stablehlo.SliceOp] = []
    for use in op.result.uses:
        user = use.operation
        if not isinstance(user, stablehlo.SliceOp):
            return None
        if any(stride != 1 for stride in user.strides.get_values()):
            return None
        slices.append(user)
    if len(slices) < 2 or not all(map(is_tensor, (*op.operands, op.result))):
        return None
    shape = shape_of(op.result)
    along = {
        at
        for part in slices
        for at, (pair, size) in enumerate(zip(_ranges(part), shape, strict=True))
        if pair != (0, size)
    }
    if len(along) != 1:
        return None
    (at,) = along
    slices.sort(key=lambda part: _ranges(part)[at])
    dims = op.dot_dimension_numbers.data
    batch = len(dims.lhs_batching_dimensions)
    left = _kept(op.lhs, dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions)
    right = _kept(op.rhs, dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions)
    if at < batch:
        return None
    if at < batch + len(left):
        return slices, 0, left[at - batch], at
    return slices, 1, right[at - batch - len(left)], at


def _kept(
    value: SSAValue, batching: Sequence[int], contracting: Sequence[int]
) -> list[int]:
    gone = {*batching, *contracting}
    return [dim for dim in range(len(shape_of(value))) if dim not in gone]


def _product_of_slice(
    op: stablehlo.DotGeneralOp,
    part: stablehlo.SliceOp,
    operand: int,
    dim: int,
    at: int,
) -> None:
    """Replace a part of a product by the product of a part."""
    emit, operands = Emitter(Block(), op.location), list(op.operands)
    limits = list(shape_of(operands[operand]))
    starts = [0] * len(limits)
    starts[dim], limits[dim] = _ranges(part)[at]
    operands[operand] = emit.slice(operands[operand], starts, limits)
    product = emit.one(type(op), operands, part.result.type, op.properties)
    Rewriter.inline_block(emit.block, InsertPoint.before(op))
    Rewriter.replace_op(part, [], [product])
