"""`combine-collective-permutes`: join permutes that do not need each other.

Permutes without a common source or target become one, in which every device sends what
it sent in its own. Permutes with the same pairs, of places of one value that overlap or
follow each other, become one of all these places.

**Why it is right.** The target of a pair gets what its source holds, and other devices
get zeros. So with disjoint sources and targets, the result of each is that of the joint
permute on its own targets and zeros elsewhere. A permute of a slice is that slice of
the permute of more places. What the later one sends is made by ops without effects that
move ahead of the first.

Each join leaves one permute less and sends no more, so it ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import Pure

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.in_order import places_in
from ttxdsl.transforms.collectives.program.single_ops import erase_unused, slice_of
from ttxdsl.transforms.partition.exchange.pieces import Stretch, cuts_only

NAME = "combine-collective-permutes"

_MOST = 64
"""How many ops move ahead for one permute, and joint permutes are tried for one."""

Pair = tuple[int, int]


@dataclass
class _Joint:
    """Permutes that become one, the first of them first."""

    members: list[stablehlo.CollectivePermuteOp]
    sources: set[int] = field(default_factory=set[int])
    targets: set[int] = field(default_factory=set[int])

    def add(self, op: stablehlo.CollectivePermuteOp, pairs: Iterable[Pair]) -> None:
        """Let one more permute be part of it, which has these pairs."""
        for source, target in pairs:
            self.sources.add(source)
            self.targets.add(target)
        if op not in self.members:
            self.members.append(op)


def combine_permutes(program: DeviceProgram, block: Block) -> bool:
    """Join collective_permutes of a block, and return True if any were joined."""
    permutes = [
        op
        for op in program.sending(block)
        if isinstance(op, stablehlo.CollectivePermuteOp) and len(op.operands) == 1
    ]
    if len(permutes) < 2:
        return False
    changed = _join_places(program, block, permutes)
    permutes = [op for op in permutes if op.parent is block]
    return _join_devices(program, block, permutes) or changed


def _pairs(op: stablehlo.CollectivePermuteOp) -> list[Pair]:
    numbers = [int(device) for device in op.source_target_pairs.get_values()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


# The same pairs, several places


def _cut(value: SSAValue) -> tuple[SSAValue, int, Stretch] | None:
    """Return the value, dimension and stretch that a value is a slice of, or None."""
    op = value.owner
    if not isinstance(op, stablehlo.SliceOp):
        return None
    before, after = shape_of(op.operand), shape_of(value)
    dims = [dim for dim, size in enumerate(before) if size != after[dim]]
    if len(dims) != 1 or not cuts_only(op, dims[0]):
        return None
    start = op.start_indices.get_values()[dims[0]]
    return op.operand, dims[0], (start, start + after[dims[0]])


_Cut = tuple[SSAValue, int, tuple[Pair, ...]]
"""What permutes have in common: a value, a dimension of which each has places, pairs."""


def _join_places(
    program: DeviceProgram,
    block: Block,
    permutes: Sequence[stablehlo.CollectivePermuteOp],
) -> bool:
    alike: dict[_Cut, list[tuple[Stretch, stablehlo.CollectivePermuteOp]]] = {}
    for op in permutes:
        cut = _cut(op.operands[0])
        if cut is not None:
            value, dim, stretch = cut
            key = value, dim, tuple(sorted(_pairs(op)))
            alike.setdefault(key, []).append((stretch, op))
    for op in permutes if alike else ():
        (value,) = op.operands
        for (source, dim, pairs), members in alike.items():
            if source is value and pairs == tuple(sorted(_pairs(op))):
                members.append(((0, shape_of(value)[dim]), op))
                break
    changed = False
    order: dict[Operation, int] = {}
    for (value, dim, _), members in alike.items():
        for low, high, joined in _runs(members):
            if len(joined) < 2:
                continue
            order = order or places_in(block)
            first = min((op for _, op in joined), key=order.__getitem__)
            sent = program.cut(value, dim, [(low, high)], first, NAME)
            permuted = program.permute_pairs(sent, _pairs(first), first, NAME)
            for (start, end), op in joined:
                part = program.cut(permuted, dim, [(start - low, end - low)], first)
                op.results[0].replace_all_uses_with(part)
            erase_unused([op.results[0] for _, op in joined])
            changed = True
    return changed


def _runs(
    members: Iterable[tuple[Stretch, stablehlo.CollectivePermuteOp]],
) -> list[tuple[int, int, list[tuple[Stretch, stablehlo.CollectivePermuteOp]]]]:
    """Group stretches that overlap or touch, with their first and last places."""
    runs: list[tuple[int, int, list[tuple[Stretch, stablehlo.CollectivePermuteOp]]]]
    runs = []
    for member in sorted(members, key=lambda member: member[0]):
        (start, end), _ = member
        if runs and start <= runs[-1][1]:
            low, high, joined = runs.pop()
            runs.append((low, max(high, end), [*joined, member]))
        else:
            runs.append((start, end, [member]))
    return runs


# Different devices


def _join_devices(
    program: DeviceProgram,
    block: Block,
    permutes: Sequence[stablehlo.CollectivePermuteOp],
) -> bool:
    by_type: dict[object, list[_Joint]] = {}
    order = places_in(block)
    for op in permutes:
        pairs = _pairs(op)
        sources = {source for source, _ in pairs}
        targets = {target for _, target in pairs}
        known = by_type.setdefault(op.operands[0].type, [])
        for joint in known[-_MOST:]:
            apart = not (sources & joint.sources or targets & joint.targets)
            first = joint.members[0]
            if apart and _moves_ahead(op.operands[0], first, order) is not None:
                joint.add(op, pairs)
                break
        else:
            joint = _Joint([op])
            joint.add(op, pairs)
            known.append(joint)
    joined = [
        joint
        for joints in by_type.values()
        for joint in joints
        if len(joint.members) > 1
    ]
    for joint in joined:
        _join(program, joint, order)
    return bool(joined)


def _moves_ahead(
    value: SSAValue, place: Operation, order: dict[Operation, int]
) -> list[Operation] | None:
    """Return the ops to move ahead of another one so that a value is there, in order."""
    moved: set[Operation] = set()
    waiting = [value]
    while waiting:
        operand = waiting.pop()
        op = operand.op if isinstance(operand, OpResult) else None
        # what is in no order stands around the block or at its start
        if op is None or op in moved or order.get(op, -1) < order[place]:
            continue
        pure = op.has_trait(Pure, value_if_unregistered=False) and not op.regions
        if (not pure and slice_of(op) is None) or len(moved) == _MOST:
            return None
        moved.add(op)
        waiting += op.operands
    return sorted(moved, key=lambda op: order[op])


def _join(program: DeviceProgram, joint: _Joint, order: dict[Operation, int]) -> None:
    first = joint.members[0]
    for op in joint.members[1:]:
        # what an earlier joint permute moved is ahead already
        for moved in _moves_ahead(op.operands[0], first, order) or ():
            moved.detach()
            assert first.parent is not None
            first.parent.insert_op_before(moved, first)
            order[moved] = order[first] - 1
    pairs = [pair for op in joint.members for pair in _pairs(op)]
    sent = first.operands[0]
    for op in joint.members[1:]:
        if op.operands[0] is not sent:
            sources = {source for source, _ in _pairs(op)}
            sent = program.on_devices(sources, op.operands[0], sent, first)
    permuted = program.permute_pairs(sent, pairs, first, NAME)
    for op in joint.members:
        targets = {target for _, target in _pairs(op)}
        received = program.on_devices(targets, permuted, None, first)
        op.results[0].replace_all_uses_with(received)
    erase_unused([op.results[0] for op in joint.members])
