"""`join-collectives`: join independent collectives of one kind.

Whatever a collective sends, it makes the devices meet. XLA for CPUs joins all_reduces and
nothing else; gathers, scatters and exchanges of one kind, in the same groups and of
elements of one type, are joined here: what each sends to each member of its group is a
row, the rows of all stand one behind the other, and are sent at once.

What is gathered or scattered along another dimension than the first goes as rows too, also
alone: XLA for CPUs turns the whole tensor for it, number by number, where the parts of a row
stay together. Of 1 MiB that took 2 to 3.7 times the processor time.

**Why it is right.** Each row is sent to the same device as before, and parts that are
summed are summed with the same parts of the others. Those joined do not wait for each other
(`independence.py`).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import combining_op
from ttxdsl.conversion.writing import Writer
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of, value_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.collectives.independence import independent_groups, put_in_order
from ttxdsl.transforms.partition.emitter import int_attr

MOST_BYTES = 2**16
"""The most bytes of a joined collective.

Joining copies the operands and the results. On eight virtual CPU devices, joining ten
scatters of 64 KiB halves their processor time; joining ten of 1 MiB adds half of it.
"""

_DIMENSIONS = {
    *("all_gather_dim", "scatter_dimension", "split_dimension", "concat_dimension")
}
_Joinable = stablehlo.AllGatherOp | stablehlo.ReduceScatterOp | stablehlo.AllToAllOp


class JoinCollectivesPass(ModulePass):
    """Join collectives of one kind that do not wait for each other."""

    name = "join-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        join_collectives(op)


def join_collectives(module: ModuleOp) -> None:
    """Join what can be joined in each block of a per-device program."""
    ops = ops_of_type(module, *_Joinable.__args__)
    for block in dict.fromkeys(op.parent for op in ops):
        assert block is not None
        _join_in(block)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows that a collective sends of one tensor: one to each group member."""

    value: SSAValue
    result: SSAValue
    count: int
    """How many members a group has."""
    split: int | None
    """The dimension whose parts go to the members; None if all get the whole."""
    concat: int | None
    """The dimension along which received rows are joined; None if they are combined."""

    def sent(self, w: Writer) -> SSAValue:
        """Write the rows to send: one if all get the whole, otherwise one a member."""
        at, shape = self.split, shape_of(self.value)
        if at is None:
            return w.reshape(self.value, (1, prod(shape)))
        parts = (*shape[:at], self.count, shape[at] // self.count, *shape[at + 1 :])
        value = _moved(w, w.reshape(self.value, parts), at, 0)
        return w.reshape(value, (self.count, prod(shape) // self.count))

    def taken(self, w: Writer, rows: SSAValue) -> SSAValue:
        """Write the result from the received rows."""
        at, shape = self.concat, shape_of(self.result)
        if at is None:
            return w.reshape(rows, shape)
        part = (*shape[:at], shape[at] // self.count, *shape[at + 1 :])
        value = _moved(w, w.reshape(rows, (self.count, *part)), 0, at)
        return w.reshape(value, shape)


def _rows(op: _Joinable) -> list[_Rows]:
    match op:
        case stablehlo.AllGatherOp():
            at = op.all_gather_dim.value.data
            return [
                _Rows(input, result, _times(result, input, at), None, at)
                for input, result in zip(op.inputs, op.outputs, strict=True)
            ]
        case stablehlo.ReduceScatterOp():
            at = op.scatter_dimension.value.data
            count = _times(op.operand, op.result, at)
            return [_Rows(op.operand, op.result, count, at, None)]
        case stablehlo.AllToAllOp():
            split, concat = op.split_dimension, op.concat_dimension
            dims = split.value.data, concat.value.data
            return [
                _Rows(input, result, op.split_count.value.data, *dims)
                for input, result in zip(op.inputs, op.outputs, strict=True)
            ]


def _times(whole: SSAValue, part: SSAValue, dim: int) -> int:
    return shape_of(whole)[dim] // (shape_of(part)[dim] or 1)


def _moved(w: Writer, value: SSAValue, source: int, target: int) -> SSAValue:
    """Return a dimension at another place, the others in their order."""
    order = list(range(len(shape_of(value))))
    order.insert(target, order.pop(source))
    return w.transpose(value, order)


def _is_inner(op: _Joinable) -> bool:
    """Whether it gathers or scatters along another dimension than the first.

    Parts are exchanged as they stand: all_to_alls by rows take up to twice as long.
    """
    return any(
        None in (row.split, row.concat) and bool(row.split or row.concat)
        for row in _rows(op)
    )


def _kind(op: _Joinable) -> Hashable:
    """Return the key that joined collectives share; None for one that stays alone."""
    values = (*op.operands, *op.results)
    if any(0 in shape_of(value) for value in values):
        return None
    combined = combining_op(op.regions[0].block) if op.regions else None
    if op.regions and combined is None:
        return None
    elements = tuple(dict.fromkeys(map(element_of, values)))
    # groups written as mesh axes do not have their number
    counts = {row.count for row in _rows(op)}
    return (
        *(type(op), combined, elements, *counts, op.replica_groups),
        "use_global_device_ids" in op.properties,
    )


def _join_in(block: Block) -> None:
    ops = [op for op in block.ops if isinstance(op, _Joinable)]
    kinds: dict[Operation, Hashable] = {}
    for op in ops:
        kind = _kind(op)
        if kind is None:
            continue
        is_large = max(map(value_bytes, (*op.operands, *op.results))) > MOST_BYTES
        kinds[op] = kind, op if is_large else None
    groups = independent_groups(kinds)
    grouped = {op for group in groups for op in group}
    groups += [
        [op]
        for op in ops
        # XLA exchanges several tensors by other rules
        if op in kinds and op not in grouped and (len(op.operands) > 1 or _is_inner(op))
    ]
    joint = [
        _join([op for op in group if isinstance(op, _Joinable)]) for group in groups
    ]
    put_in_order(block, (op for ops in joint for op in ops))


def _join(ops: Sequence[_Joinable]) -> list[Operation]:
    """One collective where the last of several stood; all ops that make it."""
    first, last = ops[0], ops[-1]
    w = Writer(Block(), first.location)
    rows = [row for op in ops for row in _rows(op)]
    sent = w.concatenate([row.sent(w) for row in rows], 1)
    like = rows[0]
    came = 1 if like.concat is None else like.count
    result_type = TensorType(element_of(like.result), [came, shape_of(sent)[1]])
    properties = dict(first.properties)
    for name in _DIMENSIONS & properties.keys():
        properties[name] = int_attr(0)
    regions = [region.clone() for region in first.regions]
    all_rows = w.one(type(first), [sent], result_type, properties, regions)
    start = 0
    for row in rows:
        length = prod(shape_of(row.result)) // came
        part = w.slice_dim(all_rows, 1, start, start + length)
        row.result.replace_all_uses_with(row.taken(w, part))
        start += length
    new_ops = list(w.block.ops)
    for new_op in new_ops:
        new_op.detach()
    Rewriter.insert_op(new_ops, InsertPoint.before(last))
    for op in ops:
        Rewriter.erase_op(op)
    return new_ops
