"""The order of the gradients of heads, and of what the loss alone reads of logits.

The gradient of a head's weights that nobody needs but the optimizer runs behind the loop of the
layers' gradients, and what it is made of is held across that loop. libtpu 0.0.52 does so for 9 of
the 12 public models with such a head whose buffers were read first (docs/evidence/plan.md), in
windows or not; not for Qwen 3 8B on v5e and 30B, and Llama 2 7B. Of 21 steps more whose gradient
an all_reduce sums, 12 run it ahead of the loop, behind the gradient of the head's input (or beside
it, `_hides_sum`): all 8 whose gradient is smaller than the logits' (but for the 3 that move
activations to the host, and one that does not fit), and 4 of 9 whose gradient is not, where either
takes about the same. The gradient of a head that is the embedding, too, is added to another behind
the loop. In windows it runs where any other does (`_is_early`: seven of seven steps, of Gemma 2 and
3, Qwen 3 and GPT). One that an all_reduce sums runs behind the loop if that holds more bytes, of
what was saved for it, than the logits' gradient has: then the loop is the one to run early (not on
v5e, where `_hides_sum`, if it is smaller than that: Qwen 3 4B, and not GPT-3 6B). One that slices
sum, too, or that is scattered along two axes, runs behind the loop in any case (Llama 2 7B, Llama
3.1 8B and Qwen 3 8B on two slices; and Gemma 3 12B, where slices sum it behind the embedding's), but
not one that only data beside FSDP sum (five of five steps on v5e, v5p and v6e).
What is added to a gradient ahead of the last loop waits with it, as the sum of those of an embedding
that an encoder and a decoder share; and what only ops behind the loop read is gathered there, as the
logits' gradient is (five of five steps whose batch no constraint holds).
"""

from collections.abc import Collection, Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.host import placement
from ttxdsl.analysis.usage.buffers.layouts import shares_bytes, uses
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Collective, Elementwise
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import operands_in

_MOVES = (stablehlo.TransposeOp, stablehlo.ConvertOp)

_SUMS = (stablehlo.ReduceScatterOp, stablehlo.AllReduceOp)


def schedule_heads(
    ops: Sequence[Operation],
    loop: stablehlo.WhileOp,
    needed: Collection[Operation],
    saved_bytes: int,
    fusion: Fusion,
) -> tuple[list[Operation], set[Operation]]:
    """Return ops with the gradients of heads in their order, and those that run behind a loop.

    Args:
        ops: of a block with loops.
        loop: the last of them.
        needed: the ops that a loop depends on.
        saved_bytes: of what loops saved for the last one.
    """
    ops = _behind_gradients(ops, fusion)
    ahead = ops[: ops.index(loop)]
    chains = [
        _gradient(op)
        for op in ahead
        if isinstance(op, stablehlo.DotGeneralOp) and op not in needed
    ]
    chains = [
        chain
        for chain in chains
        if any(isinstance(op, stablehlo.ReduceScatterOp) for op in chain)
        and chain[-1].results[0].first_use is not None
    ]
    late = set[Operation]()
    for chain in chains:
        is_late = not _is_added(chain[-1]) or fusion.is_scattered(chain[0])
        is_late |= _scatters(chain) > 1 or fusion.compiler.peels_iterations
        read = _largest_read(chain[0])
        is_small = value_bytes(chain[0].results[0]) < read
        is_held = saved_bytes > read
        if is_late or (is_held and not (is_small and _hides_sum(chain, fusion))):
            late.update(chain)
    _add_readers(late, ahead)
    head = max(
        chains, key=lambda chain: _largest_read(chain[0]), default=list[Operation]()
    )
    if head and late.issuperset(head):
        for_loss = _read_for_loss(ahead, needed, fusion)
        if _is_early(head, loop, sum(for_loss.values()), fusion):
            late.difference_update(head)
        else:
            late.update(for_loss)
            _add_readers(late, ahead)
    if head and late.isdisjoint(head) and not _hides_sum(head, fusion):
        return _behind_readers(ops, head), late
    behind = late.union(ops[len(ahead) :])
    late.update(op for op in ahead if _is_gathered_for(behind, op, fusion))
    _add_readers(late, ahead)
    return list(ops), late


def _behind_gradients(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with the labels' gathers behind the gradient of the logits that they read.

    What is stored for the gather alone, as f32 logarithms of probabilities are, and a gradient that is
    stored for two products read the same logits, and one kernel makes both: they are there together
    (libtpu 0.0.52: eleven of eleven steps whose head runs in windows, on v5e, v5p and v6e). Not where
    devices have parts of the vocabulary (three of three), or labels are joined of parts, as `jnp.roll`
    does: what masks them is then made with the loss, and the gradient waits for it (seven of seven).
    """
    ordered = list(ops)
    for gather in (op for op in ops if isinstance(op, stablehlo.GatherOp)):
        table = gather.operand.owner
        if not isinstance(table, Operation) or not _is_elementwise(table):
            continue
        if fusion.is_fused(table) or _is_joined(gather.start_indices):
            continue
        read = fusion.buffers_read(table)
        if any(isinstance(value.owner, stablehlo.AllReduceOp) for value in read):
            continue
        logits = max(read, key=value_bytes, default=None)
        waiting: set[Operation] = {gather}
        _add_readers(waiting, ordered)
        at = ordered.index(gather)
        gradient = next(
            (
                op
                for op in ordered[at + 1 :]
                if op not in waiting and _is_made_beside(op, table, logits, fusion)
            ),
            None,
        )
        if gradient is not None:
            end = ordered.index(gradient) + 1
            moved = [op for op in ordered[at:end] if op in waiting]
            kept = [op for op in ordered[at:end] if op not in waiting]
            ordered[at:end] = [*kept, *moved]
    return ordered


def _is_joined(value: SSAValue) -> bool:
    """Whether parts that an op joins lead to a value, element by element."""
    values = [value]
    for member in values:  # it grows
        owner = member.owner
        if isinstance(owner, stablehlo.ConcatenateOp):
            return True
        is_repeated = isinstance(owner, stablehlo.BroadcastInDimOp)
        if isinstance(owner, Operation) and (
            is_repeated or _is_elementwise(owner) or shares_bytes(owner)
        ):
            values += [v for v in owner.operands if v not in values]
    return False


def _is_made_beside(
    op: Operation, table: Operation, logits: SSAValue | None, fusion: Fusion
) -> bool:
    """Whether an op's kernel stores as many elements as another one, of the same logits."""
    return (
        _is_elementwise(op)
        and not fusion.is_fused(op)
        and shape_of(op.results[0]) == shape_of(table.results[0])
        and logits in fusion.buffers_read(op)
    )


def _is_elementwise(op: Operation) -> bool:
    """Whether an op computes each element of its result of one of each operand."""
    return isinstance(op, stablehlo.ConvertOp) or op.get_trait(Elementwise) is not None


def _is_gathered_for(
    behind: Collection[Operation], op: Operation, fusion: Fusion
) -> bool:
    """Whether an op gathers values that only ops behind a loop read, themselves or in a kernel."""
    if not isinstance(op, stablehlo.AllGatherOp):
        return False
    pending: list[Operation] = [op]
    seen = set(pending)
    while pending:
        readers = [use for result in pending.pop().results for use in uses(result)]
        for user, _ in readers:
            if user in seen or user in behind:
                continue
            if not (fusion.is_fused(user) or fusion.is_streamed(user)):
                return False
            seen.add(user)
            pending.append(user)
    return True


def _add_readers(late: set[Operation], ops: Iterable[Operation]) -> None:
    """Add the ops to those that run late which depend on them."""
    for op in ops:
        if not late.isdisjoint(value.owner for value in operands_in(op)):
            late.add(op)


def _read_for_loss(
    ahead: Iterable[Operation], needed: Collection[Operation], fusion: Fusion
) -> dict[Operation, int]:
    """Return the reductions of logits that nothing but the loss needs, with the bytes they read.

    Where devices have parts of the vocabulary, the labels' logits are summed among them, and that
    sum is awaited with those of the gradients' norm: seen from the end it comes first, and the
    logits are held across the loop, as their gradient is. That gradient's kernel makes it beside,
    but of logits that are scaled behind the head (libtpu 0.0.52: Gemma 1 to 3 with a tensor axis,
    seven of eight steps whose gradient runs behind the loop, and not the one whose runs ahead).
    """
    reads: dict[SSAValue, list[Operation]] = {}
    for op in ahead:
        if isinstance(op, stablehlo.ReduceOp) and not fusion.is_fused(op):
            for value in fusion.buffers_read(op):
                if _is_scaled(value):
                    reads.setdefault(value, []).append(op)
    return {
        op: value_bytes(value)
        for value, readers in reads.items()
        if any(_is_summed(op) for op in readers if op in needed)
        for op in readers
        if op not in needed
    }


def _is_scaled(value: SSAValue) -> bool:
    """Whether ops multiply or divide a value by a number."""
    return any(
        _is_number(operand)
        for op, _ in uses(value)
        if isinstance(op, stablehlo.DivOp | stablehlo.MulOp)
        for operand in op.operands
    )


def _is_number(value: SSAValue) -> bool:
    """Whether all elements of a value are one."""
    op = value.owner
    if isinstance(op, stablehlo.BroadcastInDimOp):
        return not shape_of(op.operand)
    return isinstance(op, stablehlo.ConstantOp)


def _is_summed(op: Operation) -> bool:
    """Whether devices reduce what an op reduces."""
    return any(
        isinstance(use.operation, stablehlo.AllReduceOp) for use in op.results[0].uses
    )


def _is_early(
    head: Sequence[Operation],
    loop: stablehlo.WhileOp,
    read_behind: int,
    fusion: Fusion,
) -> bool:
    """Whether the gradient of a head runs ahead of the layers' loop.

    One that is scattered in windows does if nothing behind the loop takes long enough to hide its
    last message (libtpu 0.0.52, where a norm of gradients is awaited: on v5p what is behind moves 16 to
    40 times the message's bytes in five that run it ahead, 48 to 98 in seven that run it behind; on v6e
    22 to 26 in four, and 38 to 84 in seven; on v5e seven of eight are as planned), but for one of a
    single sequence, whose products have no batch (five of five run it behind), unless it is added to
    that of the embedding. One that an all_reduce sums may, unless it is scattered along two axes.
    """
    product, *_, gradient = head
    sums = _sums(head)
    if fusion.is_scattered(product):
        is_single = any(shape_of(value)[0] == 1 for value in product.operands)
        if is_single and not _is_added(gradient):
            return False
        sent = value_bytes(sums[-1].results[0])
        behind = read_behind + _bytes_behind(loop, gradient, fusion)
        return behind < sent * fusion.compiler.read_while_sent
    if fusion.compiler.peels_iterations or _scatters(head) > 1 or _is_added(gradient):
        return False
    if any(placement(op) is not None for op in loop.body.walk()):
        return False
    return value_bytes(head[0].results[0]) < _largest_read(head[0])


def _hides_sum(head: Sequence[Operation], fusion: Fusion) -> bool:
    """Whether the gradient of a head's input hides the sum of its weights' gradient.

    What is gathered for the one is so there beside the other (libtpu 0.0.52: Llama 3.1 8B, Gemma 2 9B
    and Qwen 3 30B among 64 and 128 v5e, and neither of two steps of v6e).
    """
    return fusion.compiler.sums_beside_products and not fusion.is_scattered(head[0])


def _bytes_behind(loop: stablehlo.WhileOp, gradient: Operation, fusion: Fusion) -> int:
    """Return the bytes that ops move which need a loop's results, and not a gradient.

    Where the norm of all gradients is awaited, those are its squares, and else all updates.
    """
    needing: dict[Operation, bool] = {loop: False, gradient: True}
    moved = 0
    op = loop.next_op
    while op is not None:
        needed = [
            needing[owner]
            for value in operands_in(op)
            if isinstance(owner := value.owner, Operation) and owner in needing
        ]
        if needed and op is not gradient:
            needing[op] = any(needed)
            if needing[op] or fusion.is_fused(op) or shares_bytes(op):
                pass
            elif isinstance(op, stablehlo.ScatterOp):  # in place
                moved += 2 * sum(map(value_bytes, op.updates))
            elif op.get_trait(Collective) is None:
                moved += sum(map(value_bytes, fusion.buffers_read(op)))
                moved += sum(map(value_bytes, op.results))
        op = op.next_op
    return moved


def _behind_readers(
    ops: Sequence[Operation], chain: Sequence[Operation]
) -> list[Operation]:
    """Return ops with a product and what follows it behind the other readers of what it reads."""
    logits = max(chain[0].operands, key=value_bytes)
    readers = {use.operation for use in logits.uses}
    at = max(index for index, op in enumerate(ops) if op in readers) + 1
    ahead = [op for op in ops[:at] if op not in chain]
    behind = [op for op in ops[at:] if op not in chain]
    return [*ahead, *chain, *behind]


def _gradient(product: Operation) -> list[Operation]:
    """Return a product and the ops behind it up to one that several read, or that computes."""
    chain = [product]
    while chain[-1].results[0].has_one_use():
        (use,) = chain[-1].results[0].uses
        op = use.operation
        if not (isinstance(op, (*_SUMS, *_MOVES)) or shares_bytes(op)):
            break
        chain.append(op)
    return chain


def _sums(chain: Sequence[Operation]) -> list[Operation]:
    """Return the collectives that sum a gradient."""
    return [op for op in chain if isinstance(op, _SUMS)]


def _scatters(chain: Sequence[Operation]) -> int:
    """Return along how many axes a gradient is scattered, one after the other."""
    return sum(isinstance(op, stablehlo.ReduceScatterOp) for op in chain)


def _is_added(op: Operation) -> bool:
    """Whether a reader adds a gradient to another one of the same weights."""
    return any(isinstance(use.operation, stablehlo.AddOp) for use in op.results[0].uses)


def _largest_read(op: Operation) -> int:
    return max(map(value_bytes, op.operands))
