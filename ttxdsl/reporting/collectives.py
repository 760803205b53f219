"""The collectives of a per-device program: which, along which axes, how many bytes.

Reads StableHLO with local shapes, as stage 13 leaves it or as somebody wrote it by
hand, so it tells the same about both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.facts import Collective, ops_with
from ttxdsl.dialects.replica_groups import counts_replicas, device_groups, devices_of
from ttxdsl.errors import CompileError, source_position
from ttxdsl.ir.tensors import element_bits
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.cost import Ring, ring_bytes, tensor_bytes
from ttxdsl.sharding.replica_groups import Groups, axes_of_groups, groups_joined

RINGS = {
    op.name.removeprefix("stablehlo."): fact.ring
    for op in ops_with(Collective, stablehlo.StableHLO)
    if (fact := op.get_trait(Collective)) is not None
}
"""StableHLO's collectives, by how their bytes count."""

COLLECTIVE_OPS = frozenset(f"stablehlo.{kind}" for kind in RINGS)
"""The names of the ops that are counted."""


@dataclass(frozen=True, slots=True)
class CountedCollective:
    """One collective of the program that every device runs.

    `bytes_per_device` is what each device sends by the ring model
    (`ttxdsl.sharding.cost`). `axes` is None where the groups follow no mesh axis.
    """

    kind: str
    axes: Axes | None
    group_size: int
    tensor: str
    bytes_per_device: int
    reason: str
    position: str | None

    @property
    def ring(self) -> Ring:
        """How its bytes and its time count."""
        return RINGS[self.kind]

    @property
    def axes_text(self) -> str:
        """The axes by name, or how large the groups are."""
        if self.axes:
            return ", ".join(str(axis).replace('"', "") for axis in self.axes)
        return f"groups of {self.group_size}"


def _type_text(values: Sequence[SSAValue]) -> str:
    texts: list[str] = []
    for value in values:
        assert isinstance(value.type, ShapedType)
        element = str(getattr(value.type, "element_type", ""))
        texts.append("x".join((*map(str, value.type.get_shape()), element)))
    return ", ".join(texts)


def _local_bytes(values: Sequence[SSAValue]) -> int:
    total = 0
    for value in values:
        assert isinstance(value.type, ShapedType)
        bits = element_bits(getattr(value.type, "element_type", value.type))
        total += tensor_bytes(value.type.get_shape(), bits)
    return total


def _short(op: Operation) -> str:
    if isinstance(op, stablehlo.CompositeOp):
        return op.composite_name.data.removeprefix("sdy.")
    return op.name.removeprefix("stablehlo.")


def _producer(op: Operation) -> str:
    value = op.operands[0]
    # a lookup in a split table is masked where the row is on another device
    if isinstance(value, OpResult) and isinstance(value.op, stablehlo.SelectOp):
        chosen = value.op.on_true
        if isinstance(chosen, OpResult) and isinstance(chosen.op, stablehlo.GatherOp):
            value = chosen
    return _short(value.op) if isinstance(value, OpResult) else "an argument"


def _consumer(op: Operation) -> str:
    users = [use.operation for result in op.results for use in result.uses]
    if not users:
        return "nothing"
    if isinstance(users[0], sdy.ReturnOp | ReturnOp | stablehlo.ReturnOp):
        return "the result"
    return _short(users[0])


def _reason(op: Operation) -> str:
    match op:
        case stablehlo.AllReduceOp() | stablehlo.CrossReplicaSumOp():
            return f"combines what each device has of {_producer(op)}"
        case stablehlo.ReduceScatterOp():
            return (
                f"combines what each device has of {_producer(op)};"
                f" {_consumer(op)} wants it split"
            )
        case stablehlo.AllGatherOp():
            dim = op.all_gather_dim.value.data
            return f"{_consumer(op)} needs dimension {dim} of {_producer(op)} whole"
        case stablehlo.AllToAllOp():
            whole = op.concat_dimension.value.data
            split = op.split_dimension.value.data
            return (
                f"{_consumer(op)} needs {_producer(op)} split along dimension {split},"
                f" not {whole}"
            )
        case _:
            return f"{_consumer(op)} needs other parts of {_producer(op)}"


def _collective(op: Operation, where: "_Devices") -> CountedCollective:
    permutes = isinstance(op, stablehlo.CollectivePermuteOp)
    groups = where.groups(op)
    if permutes:
        groups = tuple(pair for pair in groups if pair[0] != pair[1])
    kind, size = _short(op), max((len(group) for group in groups), default=1)
    return CountedCollective(
        kind=kind,
        axes=where.axes(groups, pairs=permutes),
        group_size=size,
        tensor=_type_text(op.operands),
        bytes_per_device=ring_bytes(RINGS[kind], _local_bytes(op.operands), size),
        reason=_reason(op),
        position=source_position(op.location),
    )


class _Devices:
    """The devices that the collectives of a module run on."""

    def __init__(self, module: ModuleOp) -> None:
        self._meshes = list(sdy.mesh_table(module).values())
        self._count = devices_of(module)
        self._partitions = 1 if counts_replicas(module) else None

    def groups(self, op: Operation) -> Groups:
        """The groups of device ids of a collective.

        Raises:
            CompileError: they contradict themselves.
        """
        try:
            return device_groups(op, self._count, self._partitions)
        except ValueError as error:
            raise CompileError(str(error), op) from error

    def axes(self, groups: Groups, *, pairs: bool) -> Axes | None:
        """The axes of the first mesh that groups follow, or that pairs stay within."""
        for mesh in self._meshes:
            found = groups
            if pairs:
                devices = mesh.devices()
                if not {one for pair in groups for one in pair} <= set(devices):
                    continue
                found = groups_joined(devices, groups)
            axes = axes_of_groups(mesh, found)
            if axes is not None:
                return axes
        return None


def list_collectives(module: ModuleOp) -> list[CountedCollective]:
    """Every collective of the module, in program order.

    Raises:
        CompileError: one whose groups contradict themselves.
    """
    where = _Devices(module)
    found: list[CountedCollective] = []
    for op in module.walk():
        if op.name in COLLECTIVE_OPS:
            found.append(_collective(op, where))
    return found
