"""The order in which a compiler runs the ops of a block, where it is not the program's.

libtpu's scheduler works from the end of a block to its start and looks for what hides the
messages of a product whose result is scattered: gradients of weights, which nobody needs but the
optimizer, run late (those of heads: `heads.py`), and what each is made of is held until then.
"""

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.attribution.origins import HOISTED, optimizations
from ttxdsl.analysis.usage.buffers.allocation import NOTHING, BufferStep
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.heads import schedule_heads
from ttxdsl.analysis.usage.buffers.layouts import UNROLLED, shares_bytes, turned, uses
from ttxdsl.analysis.values.entry import given_away, is_argument, replaced_arguments
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.custom import RAGGED_ALL_TO_ALL
from ttxdsl.dialects.calls.kernels import PRODUCTS, is_kernel
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import needed_by, operands_in, with_inner

_MOVES = (stablehlo.TransposeOp, stablehlo.ConvertOp)

_OF_UPDATES = (
    *(stablehlo.ConstantOp, stablehlo.BroadcastInDimOp, stablehlo.SliceOp, *_MOVES),
    *(stablehlo.AllReduceOp, stablehlo.ReduceScatterOp, stablehlo.AllGatherOp),
)

_HEAD_GATHERS = 2
"""Gathers of a head's weights: for its product, and for its input's gradient."""

_LAYER_WEIGHTS = 7
"""Products with weights in a layer of Llama."""

_PASSING = (*PRODUCTS, stablehlo.WhileOp)
"""Ops that make what is saved for gradients."""

FEWEST_TOGETHER = 2
"""Microbatches whose loops run together at least, where there are as many."""


def scheduled(ops: Sequence[Operation], fusion: Fusion | None) -> list[Operation]:
    """Return the ops of a block in the order in which a compiler runs them."""
    if not ops or fusion is None or fusion.saves_memory:
        return list(ops)
    if not fusion.compiler.windows.stop:
        return list(ops)
    ops = _saving_first(passes_first(ops), fusion)
    loops = [op for op in ops if isinstance(op, stablehlo.WhileOp)]
    if not loops:
        return updates_early(gradients_last(ops, fusion), fusion)
    if any(_is_barrier(op) for op in ops):
        ops = gradients_last(ops, fusion)
    inside = set(ops[: ops.index(loops[-1])])
    needed = set[Operation]().union(*(needed_by(loop, inside) for loop in loops))
    saved_bytes = _saved_bytes(loops[-1])
    ops, late = schedule_heads(ops, loops[-1], needed, saved_bytes, fusion)
    moved = [op for op in ops if op in late]
    kept = [op for op in ops if op not in late]
    at = len(kept) if not late else kept.index(loops[-1]) + 1
    return [*kept[:at], *moved, *kept[at:]]


def updates_early(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with what only leads to results directly behind what makes their last operand.

    An update of weights in their place ends their gradient and begins nothing; JAX writes all of
    them behind the last gradient. From the end, a scheduler that looks at memory puts off what ends
    less than it begins: updates whose results have no donated argument's place, and are more than
    their gradients (libtpu 0.0.52: tables of 98 MiB with AdamW have all gradients ahead of the
    first update). No update runs ahead of a reader of the argument whose place it takes.
    """
    leading: dict[Operation, None] = {}
    block = ops[-1].parent
    for op in reversed(ops):
        users = {use.operation for result in op.results for use in result.uses}
        is_leading = all(
            user in leading or (block and user is block.last_op) for user in users
        )
        if users and is_leading and _is_update(op):
            leading[op] = None
    if block is None or block.last_op is None:
        return list(ops)
    read = {value for op in leading for value in operands_in(op)}
    ended = sum(
        value_bytes(value)
        for value in read
        if isinstance(value.owner, Operation) and value.owner not in leading
    )
    begun = sum(value_bytes(v) for v in block.last_op.operands if v.owner in leading)
    begun -= sum(map(value_bytes, given_away(block)))
    if begun > ended:
        return list(ops)
    readers: dict[Operation, set[Operation]] = {}
    for value, argument in replaced_arguments(block).items():
        if value.owner in leading and isinstance(value.owner, Operation):
            kernels = _kernels_reading(argument, fusion)
            readers[value.owner] = {op for op in kernels if op not in leading}
    return _behind_makers(ops, list(reversed(leading)), readers)


def _kernels_reading(value: SSAValue, fusion: Fusion) -> set[Operation]:
    """Return the ops that read a value, and those that store what is made of it on the way."""
    kernels: dict[Operation, None] = {}
    pending = [value]
    while pending:
        for op, _ in uses(pending.pop()):
            if op not in kernels:
                kernels[op] = None
                if fusion.is_fused(op) or fusion.is_streamed(op):
                    pending += op.results
    return set(kernels)


def _saving_first(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with loops that save for gradients ahead of gradients that they do not need.

    The gradients of microbatches that Python adds are needed at the same place, so that seen
    from the end all of their loops may run at once, and what saves for them runs only ahead of
    all: what several microbatches save is there together (libtpu 0.0.52, v5e and v5p, with and
    without a checkpoint).
    """
    ordered, inside = list(ops), set(ops)
    saving = _saving_loops(ops)
    needed: dict[Operation, set[Operation]] = {
        maker: needed_by(maker, inside)
        for makers in saving.values()
        for maker in makers
    }
    gradients = {loop for loop, makers in saving.items() if makers}
    last = [  # of each microbatch: the next loops need no other one
        loop
        for loop in ops
        if loop in needed
        and not any(loop in of for other, of in needed.items() if other is not loop)
    ]
    if len(last) > FEWEST_TOGETHER:
        fusion.depends_on.add("together")
    for start in range(0, len(last), fusion.together):
        group = last[start : start + fusion.together]
        ahead = set[Operation]().union(*(needed[loop] for loop in group))
        begin = ordered.index(group[0])
        place = next(
            at for at in range(begin, len(ordered)) if ordered[at] in gradients
        )
        behind = ordered[place:]
        moved = [op for op in behind if op in ahead]
        rest = [op for op in behind if op not in ahead]
        ordered = [*ordered[:place], *moved, *rest]
    return ordered


def passes_first(ops: Sequence[Operation]) -> list[Operation]:
    """Return ops with passes that save nothing for a gradient ahead of those that do.

    A reference model or a teacher gives a few bytes a token, which all that it makes leads to alone.
    Seen from the end it begins what the other pass ends, and so runs behind that: ahead of it (libtpu
    0.0.52: PPO whose reference is written behind, 0.8 of 2.2 GiB less; a teacher of 24 layers in
    Python behind its student, 0.5 of 3.1 GiB less).
    """
    position = {op: at for at, op in enumerate(ops)}
    place: dict[Operation, int] = {}
    for first, last in _passes(ops, position):
        needed = needed_by(ops[last], position)
        saved = {
            at: _bytes_behind(op, last, position)
            for at, op in enumerate(ops[:first])
            if isinstance(op, _PASSING) and op not in needed
        }
        if sum(map(value_bytes, ops[last].results)) < sum(saved.values()):
            start = next(at for at, size in saved.items() if size)
            place |= {op: start for op in needed if position[op] >= start}
    return sorted(
        ops, key=lambda op: (place.get(op, position[op]), op not in place, position[op])
    )


def _bytes_behind(op: Operation, last: int, position: Mapping[Operation, int]) -> int:
    """Return the bytes of results that are read behind a place of a block."""
    return sum(
        value_bytes(value)
        for value in op.results
        if any(position.get(user, last) > last for user, _ in uses(value))
    )


def _passes(
    ops: Sequence[Operation], position: Mapping[Operation, int]
) -> Iterator[tuple[int, int]]:
    """Yield where passes begin that need no product but their own, and the op that all of one leads to."""
    end = len(ops) - 1
    owners = ([value.owner for value in operands_in(op)] for op in ops)
    makers = [
        {position[o] for o in of_op if isinstance(o, Operation) and o in position}
        for of_op in owners
    ]
    users: list[list[int]] = [[] for _ in ops]
    for at, of_op in enumerate(makers):
        for maker in of_op:
            users[maker].append(at)
    behind, depth = [end] * len(ops), [0] * len(ops)
    for at in range(end - 1, -1, -1):
        common = users[at][0] if users[at] else end
        for user in users[at][1:]:
            common = _common(common, user, behind, depth)
        behind[at], depth[at] = common, depth[common] + 1
    products = [at for at, op in enumerate(ops) if isinstance(op, _PASSING)]
    needed, leading = [0] * len(ops), [0] * len(ops)
    """The products that an op needs, and those that lead to it alone, as bits."""
    for number, at in enumerate(products):
        needed[at] = leading[at] = 1 << number
    for at in range(end):
        for maker in makers[at]:
            needed[at] |= needed[maker]
        leading[behind[at]] |= leading[at]
    for at in range(end):
        of_pass, last = leading[at], behind[at]
        is_whole = last == end or needed[last] != leading[last]
        if of_pass and of_pass == needed[at] and is_whole:
            first = products[(of_pass & -of_pass).bit_length() - 1]
            if of_pass.bit_count() > 1 or isinstance(ops[first], stablehlo.WhileOp):
                yield first, at


def _common(left: int, right: int, behind: Sequence[int], depth: Sequence[int]) -> int:
    """Return the first op through which all leads that two ops make, by those of the ops behind."""
    while left != right:
        if depth[left] >= depth[right]:
            left = behind[left]
        else:
            right = behind[right]
    return left


def _saving_loops(
    ops: Sequence[Operation],
) -> dict[Operation, list[stablehlo.WhileOp]]:
    """Return for each loop of a block the loops whose results it reads."""
    saving: dict[Operation, list[stablehlo.WhileOp]] = {}
    for op in ops:
        if isinstance(op, stablehlo.WhileOp):
            owners = {value.owner for value in _values_read(op)}
            saving[op] = [
                owner
                for owner in owners
                if isinstance(owner, stablehlo.WhileOp) and owner.parent is op.parent
            ]
    return saving


def _values_read(loop: stablehlo.WhileOp) -> set[SSAValue]:
    """Return what enters a loop, and what its body reads of what is around it."""
    return {*loop.operands, *(v for op in loop.body.walk() for v in op.operands)}


def _saved_bytes(loop: stablehlo.WhileOp) -> int:
    """Return the bytes of what a loop reads that loops before it made."""
    return sum(
        value_bytes(value)
        for value in _values_read(loop)
        if isinstance(value.owner, stablehlo.WhileOp)
        and value.owner.parent is loop.parent
    )


def repeating_loop(op: Operation) -> stablehlo.WhileOp | None:
    """Return the loop whose iterations each repeat a gather that we moved ahead of it.

    XLA moves nothing out of a loop that is larger than what it is made of
    (`WhileLoopInvariantCodeMotion`, `hoist_size_inflating_ops`): weights that a loop of
    microbatches gathers are held for the part of an iteration that needs them (libtpu 0.0.52,
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


def on_demand(ops: Sequence[Operation], slices: bool = False) -> list[Operation]:
    """Return a loop's ops with what does not depend on carried values where it is needed.

    What a checkpoint computes again of saved values so runs before the gradients that need
    it, not ahead of all gradients of an iteration of several layers. A scheduler that looks
    at memory does that. Microbatches, which only add to what is carried, have the order of
    the program, but add as soon as they have what they add. On several `slices` products hide no
    exchange (Llama 2 13B on two of v6e).
    """
    ops = passes_first(ops)
    dependent = depends_on_carried(ops)
    if all(map(_is_returned, dependent)):
        return _behind_makers(ops, dependent)
    anchors = [*dependent, ops[-1]]
    inside = set(ops)
    position = {op: index for index, op in enumerate(ops)}
    ordered: dict[Operation, None] = {}
    for anchor in anchors:
        needed, pending = {anchor}, [anchor]
        while pending:
            operands = (
                v for inner in with_inner(pending.pop()) for v in inner.operands
            )
            owners = inside.intersection(v.owner for v in operands)
            new = {op for op in owners if op not in ordered and op not in needed}
            needed |= new
            pending += new
        ordered |= dict.fromkeys(sorted(needed, key=position.__getitem__))
    # what nobody needs stays where it cannot be in the way
    unneeded = (op for op in ops if op not in ordered)
    waiting = () if slices else (stablehlo.DotGeneralOp,)
    return _behind_exchange([*unneeded, *ordered], set(dependent), waiting)


def _behind_makers(
    ops: Sequence[Operation],
    moved: Sequence[Operation],
    behind: Mapping[Operation, Collection[Operation]] | None = None,
) -> list[Operation]:
    """Return ops with those that are moved directly behind what makes their last operand.

    What needs none of the others is made for its first reader.

    Args:
        ops: of a block.
        moved: some of them.
        behind: other ops that one that is moved runs behind.
    """
    waiting = set(moved)
    place = {op: at for at, op in enumerate(ops) if op not in waiting}
    for op in moved:
        owners = [value.owner for value in operands_in(op)]
        owners += (behind or {}).get(op, ())
        makers = [
            place[at] for at in owners if isinstance(at, Operation) and at in place
        ]
        if makers:
            place[op] = max(makers)
    for op in reversed(moved):
        if op not in place:
            users = (use.operation for result in op.results for use in result.uses)
            place[op] = min(
                (place[user] for user in users if user in place), default=len(ops)
            )
    number = {op: at for at, op in enumerate(ops)}
    return sorted(ops, key=lambda op: (place[op], op in waiting, number[op]))


def _behind_exchange(
    ops: Sequence[Operation],
    dependent: set[Operation],
    waiting: tuple[type[Operation], ...],
) -> list[Operation]:
    """Return a loop's ops with the weights' gradients behind the last exchange of an iteration.

    They hide the message in which the rows' gradients go to their devices, and until then hold
    the rows and their gradients (libtpu 0.0.52: Mixtral, Qwen 3 and DeepSeek 2 with experts among 4
    and 8, all three kernels in five of six steps, and two in the sixth; GPT and Llama without
    constraints, whose heads are exchanged).
    """
    exchanges = [op for op in ops if op in dependent and _is_exchange(op)]
    if not exchanges:
        return list(ops)
    at = ops.index(exchanges[-1]) + 1
    needed = needed_by(exchanges[-1], set(ops[:at]))
    late: dict[Operation, None] = {}
    of_late: set[SSAValue] = set()
    for op in ops[:at]:
        values = {value for inner in with_inner(op) for value in inner.operands}
        is_product = is_kernel(op) or isinstance(op, waiting)
        is_gradient = op in dependent and op not in needed and is_product
        if is_gradient or not of_late.isdisjoint(values):
            late[op] = None
            of_late.update(op.results)
    return [*(op for op in ops[:at] if op not in late), *late, *ops[at:]]


def gradients_last(ops: Sequence[Operation], fusion: Fusion) -> list[Operation]:
    """Return ops with gradients that are scattered in windows behind a layer's others.

    The gradient of a layer's input needs none of them, so that seen from the end they come
    first: what each is made of is held from where it is made to the end of the layer (libtpu
    0.0.52: Llama with FSDP among 4, 8 and 16, in a scan and in Python). A layer ends where another
    begins to be computed again, and has at most `_LAYER_WEIGHTS` of them.

    For v5p and v6e those of all layers in Python run behind the last layer, but for the head's
    ahead of a checkpoint and those that are transposed behind their last window: 13 of 13 steps
    with 6 to 20 layers, with and without checkpoints and a norm of gradients (none of five for v5e;
    with four windows, which are no loop, only without checkpoints: four of four). Where they have no
    room those of the layers that run last wait alone (`Fusion.waiting`).
    """
    if fusion.saves_memory:
        return list(ops)
    is_iteration = _is_iteration(ops)
    has_layers = is_iteration or any(_is_barrier(op) for op in ops)
    behind_all = fusion.compiler.gradients_last and not is_iteration
    if not has_layers and not behind_all:
        return list(ops)
    scattered = [
        number
        for number, op in enumerate(ops[:-1])
        if isinstance(op, PRODUCTS) and fusion.is_scattered(op)
    ]
    at_once = set(scattered[: round((1 - fusion.waiting) * len(scattered))])
    dependent = set(depends_on_carried(ops)) if is_iteration else set[Operation]()
    chains: dict[tuple[bool, int], list[Operation]] = {}
    """Gradients that wait, each with what follows, by whether for all layers and their number."""
    chain_of: dict[SSAValue, tuple[bool, int]] = {}
    waiting: list[tuple[bool, int]] = []
    """The chains that wait for the end of their layer, in order."""
    ordered: list[Operation] = []

    def end(places: Iterable[tuple[bool, int]]) -> None:
        for place in places:
            for op in chains.pop(place):
                ordered.append(op)
                for result in op.results:
                    del chain_of[result]

    is_behind_head = not has_layers
    for number, op in enumerate(ops[:-1]):
        is_product = isinstance(op, PRODUCTS)
        places = [chain_of[v] for v in operands_in(op) if v in chain_of]
        if is_product and fusion.is_scattered(op):
            waits_for_all = (
                *(behind_all, is_behind_head, number not in at_once),
                not fusion.is_transposed_behind(op),
                fusion.windows(op) > UNROLLED or not (has_layers or turned(op)),
            )
            is_behind_head = True
            if all(waits_for_all):
                fusion.depends_on.add("waiting")
            if all(waits_for_all) or has_layers:
                places = [(all(waits_for_all), number)]
        if not places:
            is_again = is_product and dependent and op not in dependent
            if is_again or _is_barrier(op):
                end(waiting)
                waiting.clear()
            ordered.append(op)
            continue
        place = max(places)
        if place not in chains:
            chains[place] = []
            if not place[0]:
                waiting.append(place)
        chains[place].append(op)
        chain_of.update(dict.fromkeys(op.results, place))
        if len(waiting) > _LAYER_WEIGHTS:
            end([waiting.pop(0)])
    end(sorted(chains))
    return [*ordered, ops[-1]]


def _is_update(op: Operation) -> bool:
    """Whether an op may be part of an update: of elements, or a message."""
    return op.has_trait(Elementwise) or shares_bytes(op) or isinstance(op, _OF_UPDATES)


def _is_barrier(op: Operation) -> bool:
    return isinstance(op, stablehlo.OptimizationBarrierOp)


def _is_exchange(op: Operation) -> bool:
    return isinstance(op, stablehlo.AllToAllOp) or (
        isinstance(op, stablehlo.CustomCallOp)
        and op.call_target_name.data == RAGGED_ALL_TO_ALL
    )


def _is_returned(op: Operation) -> bool:
    """Whether a block's end alone reads an op, or what is in the same elements."""
    users = [user for result in op.results for user, _ in uses(result)]
    return bool(users) and all(user is op.parent.last_op for user in users if op.parent)


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
        values = (v for inner in with_inner(op) for v in inner.operands)
        if any(value in carried for value in values):
            carried.update(op.results)
            dependent.append(op)
    return dependent


def _carried(terminator: Operation) -> Iterator[SSAValue]:
    """Yield the arguments that an iteration gives new values, but for counters and stacks."""
    block = terminator.parent
    assert block is not None, "a terminator ends a block"
    for argument, end in zip(block.args, terminator.operands, strict=False):
        is_part = isinstance(end.owner, stablehlo.DynamicUpdateSliceOp)
        if end is not argument and not is_part and shape_of(argument):
            yield argument


def begin_windows(
    steps: Sequence[BufferStep], windows: Callable[[Operation], int]
) -> None:
    """Have what products in windows write be there for longer than they run.

    What a loop of windows writes is allocated by ops that wait for nothing: its result, or the two
    partial sums of one that is scattered. libtpu's scheduler, which works from the end, finds
    other work for each message of the gradients, and has all of these left where it waits for the
    gather of a head's weights, which runs beside the layer before it (libtpu 0.0.52, v5e and v6e:
    3, 6 and 16 layers in Python). In a loop of microbatches it has those of all layers left at the
    start of an iteration (3 and 8 layers); in a loop of layers it has none left. Of four windows, which
    are no loop, what is to be scattered is sent behind all gradients: until then there are all
    four partial sums (v5p, 8 layers in Python).

    Args:
        windows: of a product, how many it has.
    """
    ops = [step.op for step in steps]
    products = {at: count for at, op in enumerate(ops) if (count := windows(op)) > 1}
    if not products:
        return
    loops = [at for at, count in products.items() if count > UNROLLED]
    if _is_iteration(ops):
        start = 0 if _only_adds(ops) else None
    else:
        sums = [at for at in products if len(steps[at].inside.buffers) == UNROLLED]
        for at in sums[:-1]:
            parts = steps[at].inside.buffers[1:]  # the other one becomes the result
            for part in parts:
                part.last = sums[-1]
            steps[at].buffers += parts
            steps[at].inside = NOTHING
        start = _beside_head(steps, loops)
    if start is None:
        return
    for at in loops:
        step = steps[at]
        if at > start:
            for part in step.inside.buffers:
                part.last = at
                steps[start].buffers += [part, replace(part)]
            steps[start].buffers += step.buffers
            step.buffers, step.inside = [], NOTHING


def hold_peeled(steps: Sequence[BufferStep]) -> None:
    """Have what the last iteration of a loop makes be there until the first iteration of its gradients.

    On several slices libtpu takes both out of their loops, to send what they sum while the others
    run, and then computes nothing of that iteration again: what its layers gather and make, and their
    gradients read, is held between the two (libtpu 0.0.52: Gemma 3 12B, Llama and Qwen 3). Where that
    does not fit it is taken to be made again: a pod ran Gemma 3 12B with 32,768 tokens a device so.
    """
    place = {step.op: at for at, step in enumerate(steps)}
    for loop, makers in _saving_loops([step.op for step in steps]).items():
        body = steps[place[loop]].programs[-1]
        start = max((place[maker] for maker in makers), default=place[loop]) + 1
        if start >= place[loop]:
            continue
        dependent = set(depends_on_carried([step.op for step in body]))
        held = [
            replace(buffer, last=place[loop] - 1)
            for step in body
            for buffer in step.buffers
            if step.op not in dependent and body[buffer.last].op in dependent
        ]
        steps[start].buffers += held


def _is_iteration(ops: Sequence[Operation]) -> bool:
    return isinstance(ops[-1].parent_op(), stablehlo.WhileOp)


def _only_adds(ops: Sequence[Operation]) -> bool:
    """Whether a loop's iteration only adds to what is carried, as microbatches do."""
    return all(_is_returned(op) for op in depends_on_carried(ops))


def _beside_head(steps: Sequence[BufferStep], loops: Sequence[int]) -> int | None:
    """Return where the layer begins that the largest gather for products runs beside.

    That is the head's weights', but where layers have several as large: then nothing is left to it. An
    embedding that is looked up is gathered for that, and again for the head, beside all layers (libtpu
    0.0.52: Whisper, both of whose sides have 12 layers in Python).

    Args:
        loops: the places of products in windows, which that layer has.
    """
    gathered = {
        at: step.made_bytes
        for at, step in enumerate(steps)
        if isinstance(step.op, stablehlo.AllGatherOp)
        and _is_weight(step.op)
        and _is_multiplied(step.op)
    }
    most = max(gathered.values(), default=0)
    largest = [at for at, size in gathered.items() if size == most]
    if not 0 < len(largest) <= _HEAD_GATHERS:
        return None
    head = largest[0]
    ahead = [at for at in loops if at < head]
    return ahead[-_LAYER_WEIGHTS:][0] if ahead else head


def _is_weight(op: Operation) -> bool:
    """Whether an op gathers an argument, converted or transposed on the way."""
    value = op.operands[0]
    while isinstance(owner := value.owner, Operation) and (
        isinstance(owner, _MOVES) or shares_bytes(owner)
    ):
        value = owner.operands[0]
    return is_argument(value)


def _is_multiplied(op: Operation) -> bool:
    """Whether products, and no lookup, read a result, transposed or converted on the way."""
    pending, is_multiplied = [op], False
    while pending:
        for user, _ in uses(pending.pop().results[0]):
            if isinstance(user, stablehlo.GatherOp):
                return False
            is_multiplied |= isinstance(user, PRODUCTS)
            if isinstance(user, stablehlo.TransposeOp | stablehlo.ConvertOp):
                pending.append(user)
    return is_multiplied


def repeated_gathers(
    ops: Sequence[Operation], threshold: int
) -> dict[Operation, list[SSAValue]]:
    """Return what is gathered anew for an op of a block, for the first that needs it then.

    XLA's partitioner gathers an operand for each product that needs it whole, and makes one of two
    gathers only if that keeps it for a short time: if the height of the first one's readers, the
    longest way to the end of the block, is at most a threshold more than that of the second
    (`ScheduleAwareCollectiveOpsCSE`). What the layers of one iteration gather for what a checkpoint
    computes again is so gathered anew for the gradients, but for the layer behind which they begin.

    Measured of libtpu 0.0.52, in the ops of our programs: readers 94, 95 and 115 apart share a gather
    (DeepSeek 2, Mistral, GPT-3), readers 123 and more apart do not (queries of Qwen 3 1.7B, two
    layers an iteration of Gemma 2, six of Gemma 3, four of OLMo 3).

    Args:
        ops: of a block, in the order in which they run.
        threshold: how much higher than a gather the readers of one before it may be.
    """
    heights: dict[Operation, int] = {}
    for op in reversed(ops):
        users = (use.operation for result in op.results for use in result.uses)
        heights[op] = 1 + max((heights.get(user, -1) for user in users), default=-1)
    position = {op: index for index, op in enumerate(ops)}
    repeated: dict[Operation, list[SSAValue]] = {}
    for op in ops:
        if not isinstance(op, stablehlo.AllGatherOp):
            continue
        gathered = op.results[0]
        readers = [pair for pair in _products_reading(gathered) if pair[0] in heights]
        readers.sort(key=lambda pair: -heights[pair[0]])
        lowest, last = heights[op], position[op]
        for reader, way in readers:
            if lowest > heights[reader] + 1 + threshold and reader is not readers[0][0]:
                later = (step for step in way if position.get(step, -1) > last)
                first = next(later, reader)
                repeated.setdefault(first, []).append(gathered)
            lowest, last = heights[reader], max(last, position[reader])
    return repeated


def _products_reading(
    value: SSAValue, way: Sequence[Operation] = ()
) -> Iterator[tuple[Operation, Sequence[Operation]]]:
    """Yield the products that read a value, each with the moves that lead to it and itself."""
    for user, _ in uses(value):
        if isinstance(user, _MOVES):
            yield from _products_reading(user.results[0], (*way, user))
        elif isinstance(user, stablehlo.DotGeneralOp):
            yield user, (*way, user)
