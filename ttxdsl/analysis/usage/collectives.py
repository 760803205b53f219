"""The collectives of a per-device program: which, along which axes, how many bytes.

Reads StableHLO with local shapes, as stage 13 leaves it or as somebody wrote it by
hand, so it tells the same about both. A collective in a loop counts once an iteration
(`ttxdsl.analysis.calls.execution_counts`): its bytes are those of one run of the program.

Custom calls are listed with them where devices send each other something in them: a
`ragged_all_to_all` by its own model, any other as a row that is not priced.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from math import prod
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, ShapedType
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.attribution.origins import is_on_whole_values, is_written
from ttxdsl.analysis.attribution.words import takes_one
from ttxdsl.analysis.calls.execution_counts import ONCE, Runs, Times
from ttxdsl.analysis.usage.needs import (
    MOVING,
    needing,
    only_moves,
    other_lines_of,
    place_of,
)
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.ring import Ring, ragged_bytes, ring_bytes
from ttxdsl.costs.units import bytes_text, others
from ttxdsl.diagnostics.errors import (
    CompileError,
    Frame,
    line_text,
    place_text,
)
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.custom import (
    RAGGED_ALL_TO_ALL,
    Communication,
    communication_of,
)
from ttxdsl.dialects.replica_groups import counts_replicas, device_groups, devices_of
from ttxdsl.dialects.traits import Collective, ops_with
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import are_of, chosen_ops
from ttxdsl.sharding.axes import Axes, parts_of_axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, axes_of_groups, groups_joined

RINGS = {
    op.name.removeprefix("stablehlo."): fact.ring
    for op in ops_with(Collective, stablehlo.StableHLO)
    if (fact := op.get_trait(Collective)) is not None
} | {RAGGED_ALL_TO_ALL: Ring.ALL_TO_ALL}
"""The collectives that are priced, by how their bytes and their time count."""

UNKNOWN_LOOPS = (
    "stand in loops whose number of iterations the program does not say: they count as one"
    " iteration; --trip-count says it"
)

_OPS = frozenset(ops_with(Collective, stablehlo.StableHLO))
_MAY_SEND = are_of((*_OPS, stablehlo.CustomCallOp))

_UNPRICED = {
    Communication.UNPRICED: "sends what the program does not say: not counted",
    Communication.UNKNOWN: "nobody knows what it sends: not counted",
}


def _communication(op: Operation) -> Communication:
    """Return the communication of a custom call, also of one on whole values."""
    if not isinstance(op, stablehlo.CustomCallOp):
        return Communication.NONE
    known = communication_of(op)
    if known is Communication.UNKNOWN and is_on_whole_values(op.location):
        return Communication.NONE
    return known


def collective_ops(module: ModuleOp) -> list[Operation]:
    """Return the ops that `list_collectives` lists, in its order."""
    return [
        op
        for op in chosen_ops(module, _MAY_SEND)
        if type(op) in _OPS or _communication(op) is not Communication.NONE
    ]


WRITTEN = "written in the program"
"""The beginning of the reason of a collective that the program has."""


@dataclass(frozen=True, slots=True)
class CountedCollective:
    """One collective of the program that every device runs.

    `bytes_per_device` is what each device sends by the ring model
    (`ttxdsl.costs.ring`) in one run of the program, in which the collective runs
    `times`. `axes` is None where the groups follow no mesh axis; `groups` are the devices
    among which it runs, of a permutation the pairs; `function` is what the position is in.
    What several collectives were joined to is for `other_lines` besides that of the position.
    `argument` is the path of the program's argument that it moves, where somebody asked.
    Of a custom call `@target` that is not priced nobody knows the bytes: they count as 0.
    """

    kind: str
    axes: Axes | None
    group_size: int
    tensor: str
    bytes_per_device: int
    reason: str
    position: str | None
    function: str | None = None
    times: Times = ONCE
    groups: Groups = field(default=(), repr=False)
    is_priced: bool = True
    other_lines: int = 0
    argument: str | None = None

    @property
    def count(self) -> int:
        """The number of times that it runs."""
        return self.times.count

    @property
    def bytes_each(self) -> int:
        """The bytes that each device sends each time."""
        return self.bytes_per_device // max(1, self.count)

    @property
    def ring(self) -> Ring:
        """The ring algorithm by which its bytes and its time are computed."""
        return RINGS.get(self.kind, Ring.ALL_SLICE)  # which takes no time

    @property
    def use(self) -> str:
        """The reason, whether the program has the collective or a stage chose it."""
        return self.reason.removeprefix(f"{WRITTEN}: ")

    @property
    def title(self) -> str:
        """Its kind, and how often it runs: `all_reduce x12 in loop`."""
        return f"{self.kind} {self.times}".rstrip()

    @property
    def axes_text(self) -> str:
        """The axes by name, or how large the groups are."""
        if not self.is_priced:
            return "?"
        if self.axes:
            return _axes_text(self.axes)
        return f"groups of {self.group_size}"

    @property
    def axis_names(self) -> tuple[str, ...] | None:
        """The names of the axes that it runs along, None where it follows none."""
        return tuple(axis.name for axis in self.axes) if self.axes else None

    @property
    def row(self) -> tuple[str, str, str, str]:
        """The key of its row in a table."""
        return self.title, self.axes_text, self.tensor, self.reason

    @property
    def line(self) -> str:
        """The line of the author's program, `line 33 of block`; '' where none is known."""
        if self.position is None or not self.function:
            return ""
        line = line_text(Frame(self.function, self.position))
        return f"{line} and {others(self.other_lines)}" if self.other_lines else line

    @property
    def place(self) -> str:
        """The position for people, `train.py:33 in block`; nothing if there is none."""
        place = place_text(self.position, self.function)
        if place and self.other_lines:
            return f"{place} and {others(self.other_lines)}"
        return place

    def data(self) -> dict[str, Any]:
        """Return all of it for JSON but the groups, which `axes` says."""
        known = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name != "groups"
        }
        return {**known, "axes": self.axes_text, "times": asdict(self.times)}


def _axes_text(axes: Axes) -> str:
    return ", ".join(str(axis).replace('"', "") for axis in axes)


_MOST_TYPES = 4
"""Types of what one collective sends that are named."""


def _type_text(values: Sequence[SSAValue]) -> str:
    """`16x16xf32, 2 of 16xf32`: the types, those of most bytes first."""
    texts: Counter[str] = Counter()
    for value in sorted(values, key=value_bytes, reverse=True):
        assert isinstance(value.type, ShapedType)
        element = str(getattr(value.type, "element_type", ""))
        texts["x".join((*map(str, value.type.get_shape()), element))] += 1
    named = [
        f"{count} of {text}" if count > 1 else text
        for text, count in list(texts.items())[:_MOST_TYPES]
    ]
    rest = sum(list(texts.values())[_MOST_TYPES:])
    return ", ".join([*named, *([others(rest)] if rest else [])])


def short_name(op: Operation) -> str:
    """Return what an op is called in answers: of a call its target, of `sdy.all_slice` that."""
    if isinstance(op, stablehlo.CustomCallOp):
        return op.call_target_name.data
    if isinstance(op, stablehlo.CompositeOp):
        return op.composite_name.data.removeprefix("sdy.")
    return op.name.removeprefix("stablehlo.")


_MOST_OPS = 3
"""Kinds of ops that a reason names."""
AN_ARGUMENT = "an argument"
"""Stands in a reason for an argument of the program."""
A_SLICE = "a slice of an argument"
"""Stands in a reason for what an iteration takes of a stacked argument."""


def _listed(names: Iterable[str]) -> str:
    known = list(dict.fromkeys(names))
    if len(known) < 2:
        return "".join(known)
    *first, last = known[:_MOST_OPS]
    if len(known) > _MOST_OPS:
        first, last = [*first, last], "others"
    return f"{', '.join(first)} and {last}"


def _producer(op: Operation) -> str:
    return _listed(map(_maker, op.operands if len(op.results) > 1 else op.operands[:1]))


def _stack_of(value: SSAValue) -> SSAValue | None:
    """Return the value of whose first dimension a loop takes this one, None of another."""
    if isinstance(value, OpResult) and isinstance(value.op, stablehlo.ReshapeOp):
        value = value.op.operands[0]
    if isinstance(value, OpResult) and isinstance(value.op, stablehlo.DynamicSliceOp):
        return value.op.operands[0] if takes_one(value.op) else None
    return None


def _maker(value: SSAValue) -> str:
    # what a collective only moves was made before it
    while isinstance(value, OpResult) and only_moves(value.op):
        value = value.op.operands[value.index]
    # a lookup in a split table is masked where the row is on another device
    if isinstance(value, OpResult) and isinstance(value.op, stablehlo.SelectOp):
        chosen = value.op.on_true
        if isinstance(chosen, OpResult) and isinstance(chosen.op, stablehlo.GatherOp):
            value = chosen
    if isinstance(value, OpResult):
        if isinstance(value.op, stablehlo.WhileOp):
            return "a loop's result"
        stack = _stack_of(value)
        is_argument = stack is not None and _maker(stack) == AN_ARGUMENT
        return A_SLICE if is_argument else short_name(value.op)
    owner = sdy.owning_op(value)
    if isinstance(owner, stablehlo.WhileOp) and isinstance(value, BlockArgument):
        # of a loop what its body leaves alone is no carry
        last = owner.body.block.last_op
        is_carry = last is not None and last.operands[value.index] is not value
        return "a loop's carry" if is_carry else _maker(owner.operands[value.index])
    return AN_ARGUMENT


def _consumer(op: Operation, verb: str) -> str:
    """Return who uses the results of an op, and that they `need` or `want` something."""
    users = _listed(_first_user(op, result) for result in op.results)
    return f"{users} {verb}" if " and " in users else f"{users} {verb}s"


def _first_user(op: Operation, result: SSAValue) -> str:
    if (user := needing(op, result)) is not None:
        return short_name(user)
    users = [use.operation for use in result.uses]
    if not users:
        return "nothing"
    if isinstance(users[0], stablehlo.WhileOp):
        return "a loop"
    return short_name(users[0]) if isinstance(users[0], MOVING) else "the result"


def _reason(op: Operation, axes: Axes | None) -> str:
    use = _use(op, axes)
    told = isinstance(op, stablehlo.CustomCallOp) or is_written(op.location)
    return f"{WRITTEN}: {use}" if told else use


def _use(op: Operation, axes: Axes | None) -> str:
    fact = op.get_trait(Collective)
    if fact is not None and fact.combines:
        combines = f"combines what each device has of {_producer(op)}"
        if fact.ring is Ring.REDUCE_SCATTER:
            return f"{combines}; {_consumer(op, 'want')} it split"
        return combines
    match op:
        case stablehlo.AllGatherOp():
            dim = op.all_gather_dim.value.data
            return f"{_consumer(op, 'need')} dimension {dim} of {_producer(op)} whole"
        case stablehlo.AllToAllOp():
            whole = op.concat_dimension.value.data
            split = op.split_dimension.value.data
            if split == whole:
                by = f" by {_axes_text(axes)}" if axes else ""
                return (
                    f"{_consumer(op, 'need')} dimension {split} of {_producer(op)} split"
                    f"{by} in another order"
                )
            return (
                f"{_consumer(op, 'need')} {_producer(op)} split along dimension {split},"
                f" not {whole}"
            )
        case stablehlo.CustomCallOp():
            if _constant_numbers(op.inputs[3]) is not None:
                return f"sends the rows of {_producer(op)} that constant sizes say"
            return f"sends at most all rows of {_producer(op)}, as sizes say in a run"
        case _:
            return f"{_consumer(op, 'need')} other parts of {_producer(op)}"


def _constant_numbers(value: SSAValue) -> tuple[int, ...] | None:
    """Return the integers of a constant, None of anything else."""
    while isinstance(value, OpResult):
        match value.op:
            case stablehlo.ConstantOp() as op:
                numbers = op.value
                if not isinstance(numbers, DenseIntOrFPElementsAttr):
                    return None
                return tuple(int(number) for number in numbers.get_values())
            case stablehlo.ReshapeOp() | stablehlo.ConvertOp() as op:
                value = op.operand
            case stablehlo.BroadcastInDimOp() as op if not shape_of(op.operand):
                number = _constant_numbers(op.operand)
                return number and number * prod(shape_of(value))
            case _:
                return None
    return None


def _start_alike(offsets: SSAValue) -> bool:
    """Whether all slices of rows start at one place, so that they share rows."""
    numbers = _constant_numbers(offsets)
    if numbers is not None:
        return len(set(numbers)) < len(numbers)
    return (
        isinstance(offsets, OpResult)
        and isinstance(offsets.op, stablehlo.BroadcastInDimOp)
        and prod(shape_of(offsets.op.operand)) == 1
    )


def _ragged_bytes(op: stablehlo.CustomCallOp, group_size: int) -> int:
    operand, output, starts, sizes, *_ = op.inputs
    rows = shape_of(operand)[0]
    return ragged_bytes(
        value_bytes(operand) // max(1, rows),
        rows,
        shape_of(output)[0],
        group_size,
        _constant_numbers(sizes),
        overlap=_start_alike(starts),
    )


def _unpriced(op: Operation, runs: Runs) -> CountedCollective:
    frame = place_of(op)
    return CountedCollective(
        kind=f"@{short_name(op)}",
        axes=None,
        group_size=1,
        tensor=_type_text(op.operands),
        bytes_per_device=0,
        reason=_UNPRICED[_communication(op)],
        position=None if frame is None else frame.position,
        function=None if frame is None else frame.function or None,
        times=runs.of(op),
        is_priced=False,
    )


def _collective(op: Operation, where: "_Devices", runs: Runs) -> CountedCollective:
    if _communication(op) in _UNPRICED:
        return _unpriced(op, runs)
    permutes = isinstance(op, stablehlo.CollectivePermuteOp)
    groups = where.groups(op)
    kind, size = short_name(op), max((len(group) for group in groups), default=1)
    axes = where.axes(groups, pairs=permutes)
    times = runs.of(op)
    each = where.sent_bytes(op)
    frame = place_of(op)
    return CountedCollective(
        kind=kind,
        axes=axes,
        group_size=size,
        tensor=_type_text(op.operands[: 1 if kind == RAGGED_ALL_TO_ALL else None]),
        bytes_per_device=times.count * each,
        reason=_reason(op, axes),
        position=None if frame is None else frame.position,
        function=None if frame is None else frame.function or None,
        times=times,
        groups=groups,
        other_lines=other_lines_of(op),
    )


class _Devices:
    """The devices that the collectives of a module run on."""

    def __init__(self, module: ModuleOp) -> None:
        self._meshes = list(sdy.mesh_table(module).values())
        self._count = devices_of(module)
        self._partitions = 1 if counts_replicas(module) else None

    def groups(self, op: Operation) -> Groups:
        """The groups of device ids of a collective; pairs of others of a permutation.

        Raises:
            CompileError: they contradict themselves.
        """
        try:
            groups = device_groups(op, self._count, self._partitions)
        except ValueError as error:
            raise CompileError(str(error), op) from error
        if isinstance(op, stablehlo.CollectivePermuteOp):
            return tuple(pair for pair in groups if pair[0] != pair[1])
        return groups

    def sent_bytes(self, op: Operation) -> int:
        """Return the bytes that each device sends each time that a collective runs."""
        if _communication(op) in _UNPRICED:
            return 0
        size = max((len(group) for group in self.groups(op)), default=1)
        if isinstance(op, stablehlo.CustomCallOp):
            return _ragged_bytes(op, size)
        return ring_bytes(
            RINGS[short_name(op)], sum(map(value_bytes, op.operands)), size
        )

    def axes(self, groups: Groups, *, pairs: bool) -> Axes | None:
        """The axes of the first mesh that groups follow, or that pairs stay within."""
        for mesh in self._meshes:
            joined = groups
            if pairs:
                devices = mesh.devices()
                if not {device for pair in groups for device in pair} <= set(devices):
                    continue
                joined = groups_joined(devices, groups)
            axes = axes_of_groups(mesh, joined)
            if axes is not None:
                return axes
        return None


def device_runs(module: ModuleOp, trip_count: int | None = None) -> Runs:
    """Return execution counts in a per-device program; the dearest branch sends most.

    Args:
        trip_count: iterations of loops with an unknown trip count.

    Raises:
        CompileError: a collective whose groups contradict themselves.
    """
    where, counted = _Devices(module), set(collective_ops(module))

    def price(op: Operation) -> tuple[int, int]:
        return (where.sent_bytes(op) if op in counted else 0), 1

    return Runs(module, trip_count, price)


def list_collectives(
    module: ModuleOp, trip_count: int | None = None, runs: Runs | None = None
) -> list[CountedCollective]:
    """Return every collective of the module, in program order.

    Args:
        trip_count: iterations of loops whose number nobody knows; else they count as one
            iteration, and `times` says so.
        runs: what `device_runs` found, if somebody asked already.

    Raises:
        CompileError: one whose groups contradict themselves.
    """
    where = _Devices(module)
    ops = collective_ops(module)
    if ops and runs is None:
        runs = device_runs(module, trip_count)
    return [_collective(op, where, runs) for op in ops if runs is not None]


def collective_seconds(collective: CountedCollective, machine: Machine) -> float:
    """Return the time of a collective in one run of the program, if it is alone."""
    return collective.count * machine.collective_seconds(
        collective.ring,
        collective.bytes_each,
        collective.group_size,
        collective.axis_names,
        collective.groups,
    )


def launches_of(collectives: Iterable[CountedCollective]) -> int:
    """Return how many collectives run: each is one message, or a ring of them."""
    return sum(collective.count for collective in collectives)


def counts_of(collectives: Iterable[CountedCollective]) -> dict[str, int]:
    """Return the number of runs of collectives of each kind, sorted by name."""
    counts: Counter[str] = Counter()
    for collective in collectives:
        counts[collective.kind] += collective.count
    return dict(sorted(counts.items()))


def sent_text(collectives: Sequence[CountedCollective]) -> str:
    """Return the bytes that a device sends for collectives; `?` if none is priced."""
    if not any(collective.is_priced for collective in collectives):
        return "?"
    return bytes_text(sum(collective.bytes_per_device for collective in collectives))


def sub_axes_texts(
    collectives: Iterable[CountedCollective], meshes: Iterable[Mesh]
) -> list[str]:
    """Return a sentence for each part of an axis that collectives run along."""
    return parts_of_axes(
        (axis for collective in collectives for axis in collective.axes or ()), meshes
    )


def guesses_text(collectives: Iterable[CountedCollective]) -> str | None:
    """Return a note on figures that stand on guesses; None if they do not."""
    known = list(collectives)
    lines = [
        f"{count} {'calls' if count != 1 else 'call'} of {target}: {reason}"
        for (target, reason), count in Counter(
            (collective.kind, collective.reason)
            for collective in known
            if not collective.is_priced
        ).items()
    ]
    guessed = sum(not collective.times.is_known for collective in known)
    if guessed:
        lines.append(f"{guessed} of the collectives {UNKNOWN_LOOPS}")
    return "\n".join(lines) or None
