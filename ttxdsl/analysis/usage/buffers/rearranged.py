"""A few ops of a block in another order, which ends or begins their buffers otherwise."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.kernels import is_probabilities
from ttxdsl.analysis.usage.buffers.layouts import shares_bytes, uses
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import is_kernel
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import needed_by, operands_in


def rearranged(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return the ops of a block in an order that ends or begins a few buffers otherwise."""
    ops = stored_late(tables_beside(ops, fusion), fusion)
    return probabilities_first(written_over_first(ops, fusion), fusion)


def tables_beside(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with gathers behind what is stored of the same buffers as their tables.

    XLA makes both in one loop over elements: the log-probabilities that the loss looks up are
    there beside the gradient of logits without the last token, which is padded for its products
    (libtpu 0.0.52, v5e and v5p; not of all tokens' logits, whose gradient depends on the loss's
    kernel).
    """
    ordered = list(ops)
    padded = {
        op: set(fusion.buffers_read(op))
        for op in ops
        if fusion.is_stored(op)
        and any(isinstance(user, stablehlo.PadOp) for user, _ in uses(op.results[0]))
    }
    for gather in ops if padded else ():
        if not isinstance(gather, stablehlo.GatherOp):
            continue
        table = gather.operand.owner
        if not isinstance(table, Operation) or not gather.operand.has_one_use():
            continue
        if not fusion.is_stored(table):
            continue
        size, read = value_bytes(gather.operand), set(fusion.buffers_read(table))
        beside = {
            op
            for op, others in padded.items()
            if read & others and 2 * value_bytes(op.results[0]) >= size
        }
        if not beside:
            continue
        behind = ordered[ordered.index(gather) :]
        needing: set[Operation] = set()
        for at, op in enumerate(behind):
            if op is gather or any(v.owner in needing for v in operands_in(op)):
                needing.add(op)
            elif op in beside:
                passed = behind[: at + 1]
                moved = [op for op in passed if op in needing]
                kept = [op for op in passed if op not in needing]
                ordered[-len(behind) :] = [*kept, *moved, *behind[at + 1 :]]
                break
    return ordered


def stored_late(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with what is stored for a product in windows alone just ahead of that.

    What its other readers make themselves needs no memory until then, if what it is made of
    is there anyway (libtpu 0.0.52, eight layers of gated products, unrolled: 7 x 128 MiB less).
    """
    position = {op: index for index, op in enumerate(ops)}
    ahead: defaultdict[Operation, list[Operation]] = defaultdict(list)
    for op in ops:
        storing = [user for user in fusion.stored_for(op) if user in position]
        if not storing:
            continue
        first = min(storing, key=position.__getitem__)
        if all(
            _is_needed_at(value, first, op, position, fusion)
            for value in fusion.buffers_read(op)
        ):
            ahead[first].append(op)
    moved = {op for moving in ahead.values() for op in moving}
    ordered: list[Operation] = []
    for op in ops:
        ordered += ahead.get(op, ())
        if op not in moved:
            ordered.append(op)
    return ordered


def written_over_first(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with an elementwise op that ends more of what kernels made ahead of another.

    It writes over what it alone reads, and the other one over the rest (libtpu 0.0.52: the
    gradients of gate and projection of experts, which it makes in one loop or in this order).
    """
    ordered = list(ops)
    reads = {
        op: {v for v in fusion.buffers_read(op) if is_kernel(v.owner)}
        for op in ops
        if any(is_kernel(value.owner) for value, _ in fusion.written_in_place(op))
    }
    readers: defaultdict[SSAValue, list[Operation]] = defaultdict(list)
    for op, values in reads.items():
        for value in values:
            readers[value].append(op)
    for op, of_op in reads.items():
        for other in dict.fromkeys(o for value in of_op for o in readers[value]):
            if not reads[other] < of_op:
                continue
            start, end = ordered.index(other), ordered.index(op)
            between = ordered[start:end]
            needed = needed_by(op, set(between))
            if not between or not all(
                step is op
                or fusion.is_fused(step)
                or shares_bytes(step)
                or isinstance(step, stablehlo.ConstantOp)
                for step in needed
            ):
                continue
            ahead = [step for step in (*between, op) if step in needed]
            rest = [step for step in between if step not in needed]
            ordered[start : end + 1] = [*ahead, *rest]
    return ordered


def probabilities_first(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with the product that ends a softmax's probabilities ahead of their gradient's.

    Both read the gradient of what attention gives, and the values' is small (libtpu 0.0.52: of six
    layers whose gradients are scattered or among few devices five; not of one with a tensor axis).
    What finishes the product, as sums of grouped queries do, runs with it.
    """
    ordered = list(ops)
    position = {op: index for index, op in enumerate(ops)}
    for op in ops:
        if not isinstance(op, stablehlo.DotGeneralOp):
            continue
        size = value_bytes(op.result)
        for user, index in (use for value in op.operands for use in uses(value)):
            if user is op or not isinstance(user, stablehlo.DotGeneralOp):
                continue
            other = user.operands[1 - index]
            readers = [position.get(reader, -1) for reader, _ in uses(other)]
            ends = position.get(user, -1) == max(readers) > position[op]
            if not ends or value_bytes(other) != size or not is_probabilities(other):
                continue
            last = _finishing(user, position, fusion)
            start, end = ordered.index(op), ordered.index(last)
            needed = needed_by(last, set(ordered[start : end + 1]))
            if start < end and op not in needed:
                ahead = [step for step in ordered[start : end + 1] if step in needed]
                rest = [step for step in ordered[start : end + 1] if step not in needed]
                ordered[start : end + 1] = [*ahead, *rest]
    return ordered


def _finishing(
    op: Operation, block: Collection[Operation], fusion: Fusion
) -> Operation:
    """Return the op of a block that stores what a product's kernel makes."""
    while fusion.is_streamed(op) or fusion.is_fused(op) or shares_bytes(op):
        users = {user for result in op.results for user, _ in uses(result)}
        if len(users) != 1 or users.isdisjoint(block):
            break
        op = users.pop()
    return op


def _is_needed_at(
    value: SSAValue,
    place: Operation,
    maker: Operation,
    position: Mapping[Operation, int],
    fusion: Fusion,
) -> bool:
    """Whether others than what a maker makes need a value's buffer at a place or behind it."""
    pending, seen = [value], {maker}
    end = maker.parent.last_op if maker.parent else None
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if user in seen:
                continue
            seen.add(user)
            if shares_bytes(user) or fusion.is_fused(user):
                pending += user.results
            elif position.get(user, -1) >= position[place] or user is end:
                return True
    return not isinstance(value.owner, Operation)
