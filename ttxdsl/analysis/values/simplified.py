"""Programs as compilers have them when they plan memory: no loop of one iteration, no value twice.

XLA puts the body of a loop of one iteration in its place (`WhileLoopSimplifier`; not where a
frontend attribute forbids it, as MaxText does for layers that are scanned one by one), and makes
one op of two that compute the same in one computation (`HloCSE`); transposes there and back, as of the
rows of experts for their weights' gradients, are none (`AlgebraicSimplifier`). What a checkpoint computes again stays
apart behind the `optimization_barrier` that JAX writes, and in a loop of its own. Of a layer
outside of loops without a barrier (`jax.checkpoint(..., prevent_cse=False)`, as MaxText has it
beside its scanned layers) nothing is computed again: what its gradients read is held from the
forward pass on, whatever was to be saved (libtpu 0.0.52: the dense layer of DeepSeek 2 16B, a scan
of one, 1.8 GiB on v5p).
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure, is_side_effect_free

from ttxdsl.analysis.calls.trip_counts import TripCounts
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.custom import frontend_attribute
from ttxdsl.dialects.calls.kernels import is_kernel, is_product
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import operands_of, ops_of_type

_STAYS = "skip-simplify-while-loops_trip-count-one"
"""A frontend attribute of loops of one iteration that stay loops."""

_OF_OPERANDS = (stablehlo.ReduceOp, stablehlo.SortOp, stablehlo.ScatterOp)
"""Ops with regions that make their results of operands alone."""

_MADE_ANYWHERE = (stablehlo.ConstantOp, stablehlo.IotaOp, stablehlo.BroadcastInDimOp)
"""Ops that compilers make again for each reader; loops fill a copy each."""


def _class_depends(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(Pure) is not None or issubclass(kind, _OF_OPERANDS)


_DEPENDS_ON_OPERANDS = ByClass(_class_depends)


@dataclass(frozen=True)
class Simplified:
    """A copy of a program, simplified.

    Attributes:
        values: the value in it for each value of the program.
        ops: the op of the program for each op of it.
    """

    module: ModuleOp
    values: dict[SSAValue, SSAValue]
    ops: Mapping[Operation, Operation]


def simplified(module: ModuleOp, *, always: bool = False) -> Simplified | None:
    """Return a copy of a program, simplified; None if that hardly changes what is stored.

    It does where a product is in a loop of one iteration or computed twice, or a value is transposed
    there and back.
    """
    counts = TripCounts(module)
    single = [
        loop
        for loop in ops_of_type(module, stablehlo.WhileOp)
        if counts.of(loop) == 1 and frontend_attribute(loop, _STAYS) != "true"
    ]
    if not always and not (
        any(is_product(op) for loop in single for op in loop.body.walk())
        or _has_equal_values(module)
    ):
        return None
    values: dict[SSAValue, SSAValue] = {}
    copy = module.clone(values)
    ops = dict(zip(copy.walk(), module.walk(), strict=True))
    new_ops = {op: new for new, op in ops.items()}
    replaced: dict[SSAValue, SSAValue] = {}
    for loop in single:
        replaced |= _inline(new_ops[loop])
    replaced |= merge_equal_values(copy, _is_made_anywhere)
    for value, new in values.items():
        while new in replaced:
            new = replaced[new]
        values[value] = new
    return Simplified(copy, values, ops)


def merge_equal_values(
    module: ModuleOp, stays: Callable[[Operation], bool]
) -> dict[SSAValue, SSAValue]:
    """Replace values of a block by equal ones ahead of them; return what stands for each.

    Args:
        stays: whether an op's results are made again although there are equal ones.
    """
    replaced: dict[SSAValue, SSAValue] = {}
    for block in list(_blocks(module)):
        for value, earlier in list(_equal_values(block, stays)):
            replaced[value] = earlier
            value.replace_all_uses_with(earlier)
        for op in reversed(block.ops):
            if _depends_on_operands(op) and not any(map(_is_used, op.results)):
                Rewriter.erase_op(op)
    return replaced


def _is_used(value: SSAValue) -> bool:
    return value.first_use is not None


def _has_equal_values(module: ModuleOp) -> bool:
    """Whether a product is computed twice, or a transpose undone."""
    return any(
        isinstance(value, OpResult)
        and (is_product(value.op) or isinstance(value.op, stablehlo.TransposeOp))
        for block in _blocks(module)
        for value, _ in _equal_values(block, _is_made_anywhere)
    )


def _blocks(module: ModuleOp) -> Iterator[Block]:
    for op in module.walk():
        for region in op.regions:
            yield from region.blocks


def _inline(loop: Operation) -> dict[SSAValue, SSAValue]:
    """Put the body of a loop of one iteration in its place; return what stands for its results."""
    assert isinstance(loop, stablehlo.WhileOp), "a copy is of the same class"
    body = loop.body.block
    last = body.last_op
    assert last is not None, "a loop's body returns"
    Rewriter.inline_block(body, InsertPoint.before(loop), list(loop.operands))
    ends: dict[SSAValue, SSAValue] = {}
    ends |= zip(loop.results, last.operands, strict=True)
    Rewriter.erase_op(last)
    Rewriter.replace_op(loop, [], list(ends.values()))
    return ends


def _equal_values(
    block: Block, stays: Callable[[Operation], bool]
) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield the values of a block that are equal to an earlier one, each with that."""
    first_of: dict[SSAValue, SSAValue] = {}
    alike: dict[Hashable, list[Operation]] = {}
    for op in block.ops:
        if not _depends_on_operands(op):
            continue
        operands = [first_of.get(value, value) for value in operands_of(op)]
        if (whole := _same_elements(op, operands)) is not None:
            whole = first_of.get(whole, whole)
            first_of[op.results[0]] = whole
            yield op.results[0], whole
            continue
        # operands tell most ops apart, and hash faster than attributes
        key = type(op), tuple(operands) or frozenset(op.properties.items())
        candidates = alike.setdefault(key, [])
        earlier = next(
            (other for other in candidates if _does_the_same(op, other)), None
        )
        if earlier is None:
            candidates.append(op)
            continue
        pairs = list(zip(op.results, earlier.results, strict=True))
        first_of |= pairs
        if not stays(op):
            yield from pairs


def _same_elements(op: Operation, operands: Sequence[SSAValue]) -> SSAValue | None:
    """Return the value that the result of a slice of all, or of moves there and back, is."""
    match op:
        case stablehlo.DynamicSliceOp() | stablehlo.SliceOp():
            source = operands[0]
        case stablehlo.DynamicUpdateSliceOp():
            source = operands[1]
        case stablehlo.TransposeOp():
            source = _untransposed(op, operands[0])
        case _ if _is_reshape(op):
            source = operands[0]
            while isinstance(source, OpResult) and _is_reshape(source.op):
                source = source.op.operands[0]
        case _:
            return None
    if source is None or source.type != op.results[0].type:
        return None
    return source


def _untransposed(op: stablehlo.TransposeOp, value: SSAValue) -> SSAValue | None:
    """Return the value whose transpose an op undoes."""
    if not isinstance(value.owner, stablehlo.TransposeOp):
        return None
    first, second = (each.permutation.get_values() for each in (value.owner, op))
    is_undone = all(first[dim] == at for at, dim in enumerate(second))
    return value.owner.operand if is_undone else None


def _is_made_anywhere(op: Operation) -> bool:
    return isinstance(op, _MADE_ANYWHERE)


def _is_reshape(op: Operation) -> bool:
    """Whether an op gives a value another shape, by dimensions of one element too."""
    if isinstance(op, stablehlo.BroadcastInDimOp):
        dims = op.broadcast_dimensions.get_values()
        return list(dims) == sorted(dims) and value_bytes(op.operand) == value_bytes(
            op.result
        )
    return isinstance(op, stablehlo.ReshapeOp)


def _depends_on_operands(op: Operation) -> bool:
    """Whether an op makes its results of its operands alone, and does nothing else."""
    if isinstance(op, stablehlo.CustomCallOp):
        return is_kernel(op) and is_side_effect_free(op)
    return bool(op.results) and _DEPENDS_ON_OPERANDS[type(op)]


def _does_the_same(op: Operation, other: Operation) -> bool:
    """Whether two ops of equal operands have equal attributes, regions and types of results."""
    return (
        op.properties == other.properties
        and op.attributes == other.attributes
        and op.result_types == other.result_types
        and len(op.regions) == len(other.regions)
        and all(map(Region.is_structurally_equivalent, op.regions, other.regions))
    )
