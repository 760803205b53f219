"""The order in which a compiler runs the ops of a block, where it is not the program's.

libtpu's scheduler works from the end of a block to its start and looks for what hides the
messages of a product whose result is scattered. The gradient of a head's weights that nobody
needs but the optimizer so runs behind the loop of the layers' gradients, and what it is made
of is held across that loop. libtpu 0.0.52 does so for 9 of the 12 public models with such a
head whose buffers were read (docs/evidence/plan.md), in windows or not; not for Qwen 3 8B on
v5e and 30B, and Llama 2 7B; nor for heads that are the embedding, too, whose
gradients are added first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.attribution.origins import HOISTED, optimizations
from ttxdsl.analysis.usage.fusion import Fusion, shares_bytes
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of

_MOVES = (stablehlo.TransposeOp, stablehlo.ConvertOp)


def scheduled(ops: Sequence[Operation], fusion: Fusion | None) -> list[Operation]:
    """Return the ops of a block in the order in which a compiler runs them."""
    loops = [op for op in ops if isinstance(op, stablehlo.WhileOp)]
    if fusion is None or fusion.saves_memory or not fusion.compiler.windows:
        return list(ops)
    if not loops:
        return list(ops)
    position = {op: index for index, op in enumerate(ops)}
    last = position[loops[-1]]
    late: set[Operation] = set()
    for op in ops[:last]:
        if not isinstance(op, stablehlo.DotGeneralOp):
            continue
        chain = _gradient(op)
        is_scattered = any(isinstance(one, stablehlo.ReduceScatterOp) for one in chain)
        if is_scattered and _is_needed_behind(chain[-1], position, last):
            late.update(chain)
    moved = [op for op in ops if op in late]
    kept = [op for op in ops if op not in late]
    at = len(kept) if not late else kept.index(loops[-1]) + 1
    return [*kept[:at], *moved, *kept[at:]]


def _gradient(product: Operation) -> list[Operation]:
    """Return a product and the ops behind it up to one that several read, or that computes."""
    chain = [product]
    while chain[-1].results[0].has_one_use():
        (use,) = chain[-1].results[0].uses
        op = use.operation
        is_scatter = isinstance(op, stablehlo.ReduceScatterOp)
        if not (is_scatter or isinstance(op, _MOVES) or shares_bytes(op)):
            break
        chain.append(op)
    return chain


def _is_needed_behind(
    op: Operation, position: Mapping[Operation, int], last: int
) -> bool:
    """Whether all readers of an op are behind a position, and none adds to it."""
    users = [use.operation for use in op.results[0].uses]
    return bool(users) and all(
        position.get(user, -1) > last and not isinstance(user, stablehlo.AddOp)
        for user in users
    )


def repeating_loop(op: Operation) -> stablehlo.WhileOp | None:
    """Return the loop whose turns each repeat a gather that we moved ahead of it.

    XLA moves nothing out of a loop that is larger than what it is made of
    (`WhileLoopInvariantCodeMotion`, `hoist_size_inflating_ops`): weights that a loop of
    microbatches gathers are held for the part of a turn that needs them (libtpu 0.0.52,
    Mistral 7B on v5e with four microbatches: the embedding's 250 MiB).
    """
    if not isinstance(op, stablehlo.AllGatherOp) or op.parent is None:
        return None
    if HOISTED not in optimizations(op.location):
        return None
    uses = list(op.results[0].uses)
    around = {op.parent.find_ancestor_op_in_block(use.operation) for use in uses}
    loop = around.pop() if len(around) == 1 else None
    if not isinstance(loop, stablehlo.WhileOp):
        return None
    return None if any(use.operation is loop for use in uses) else loop


def on_demand(ops: Sequence[Operation]) -> list[Operation]:
    """Return a loop's ops with what does not depend on carried values where it is needed.

    What a checkpoint computes again of saved values so runs before the gradients that need
    it, not ahead of all gradients of an iteration of several layers. A scheduler that looks
    at memory does that.
    """
    anchors = [*depends_on_carried(ops), ops[-1]]
    inside = set(ops)
    position = {op: index for index, op in enumerate(ops)}
    ordered: dict[Operation, None] = {}
    for anchor in anchors:
        needed, pending = {anchor}, [anchor]
        while pending:
            operands = (v for inner in _all_in(pending.pop()) for v in inner.operands)
            owners = {v.owner for v in operands if isinstance(v.owner, Operation)}
            new = (owners & inside) - ordered.keys() - needed
            needed |= new
            pending += new
        ordered |= dict.fromkeys(sorted(needed, key=position.__getitem__))
    # what nobody needs stays where it cannot be in the way
    return [*(op for op in ops if op not in ordered), *ordered]


def depends_on_carried(ops: Sequence[Operation]) -> list[Operation]:
    """Return the ops of a loop's body that need what the iteration before made.

    Of a loop of gradients, the others compute again what a checkpoint did not save.
    """
    carried: set[SSAValue] = set(_carried(ops[-1]))
    dependent: list[Operation] = []
    for op in ops[:-1]:
        if isinstance(op, stablehlo.OptimizationBarrierOp):
            pairs = zip(op.operands, op.results, strict=True)
            carried.update(result for value, result in pairs if value in carried)
            continue
        values = (v for inner in _all_in(op) for v in inner.operands)
        if any(value in carried for value in values):
            carried.update(op.results)
            dependent.append(op)
    return dependent


def _all_in(op: Operation) -> Iterable[Operation]:
    return op.walk() if op.regions else (op,)


def _carried(terminator: Operation) -> Iterator[SSAValue]:
    """Yield the arguments that an iteration gives new values, but for counters and stacks."""
    block = terminator.parent
    assert block is not None, "a terminator ends a block"
    for argument, end in zip(block.args, terminator.operands, strict=False):
        is_part = isinstance(end.owner, stablehlo.DynamicUpdateSliceOp)
        if end is not argument and not is_part and shape_of(argument):
            yield argument
