"""The collectives of a per-device program: which, along which axes, how many bytes.

Reads StableHLO with local shapes, as stage 13 leaves it or as somebody wrote it by
hand, so it tells the same about both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IntegerType,
    ModuleOp,
    ShapedType,
)
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.errors import source_position
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.cost import Ring, ring_bytes, tensor_bytes
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.replica_groups import axes_of_groups

_RINGS: dict[type[Operation], Ring] = {
    stablehlo.AllGatherOp: Ring.ALL_GATHER,
    stablehlo.AllReduceOp: Ring.ALL_REDUCE,
    stablehlo.AllToAllOp: Ring.ALL_TO_ALL,
    stablehlo.CollectiveBroadcastOp: Ring.COLLECTIVE_PERMUTE,
    stablehlo.CollectivePermuteOp: Ring.COLLECTIVE_PERMUTE,
    stablehlo.ReduceScatterOp: Ring.REDUCE_SCATTER,
}


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
    def axes_text(self) -> str:
        """The axes by name, or how large the groups are."""
        if self.axes:
            return ", ".join(str(axis).replace('"', "") for axis in self.axes)
        return f"groups of {self.group_size}"


def element_bits(element: Attribute) -> int:
    """Bits of one element; a complex one has two parts, an index is 64 bits."""
    if isinstance(element, ComplexType):
        part = cast("ComplexType[IntegerType | AnyFloat]", element).element_type
        return 2 * element_bits(part)
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


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
        case stablehlo.AllReduceOp():
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


def _groups(op: Operation) -> tuple[tuple[int, ...], ...] | None:
    groups = getattr(op, "groups", None)
    if isinstance(op, stablehlo.CollectivePermuteOp):
        pairs = op.source_target_pairs
        assert isinstance(pairs, DenseIntOrFPElementsAttr)
        flat = [int(one) for one in pairs.get_values()]  # pyright: ignore[reportArgumentType]
        sources, targets = flat[::2], flat[1::2]
        return tuple((s, t) for s, t in zip(sources, targets, strict=True) if s != t)
    return groups


def _permuted_axes(mesh: Mesh, pairs: Sequence[Sequence[int]]) -> Axes | None:
    """The axes within which every pair of a permutation stays."""
    reachable: dict[int, set[int]] = {device: {device} for device in mesh.devices()}
    for source, target in pairs:
        if source not in reachable or target not in reachable:
            return None
        joined = reachable[source] | reachable[target]
        for device in joined:
            reachable[device] = joined
    groups = {tuple(sorted(group)) for group in reachable.values()}
    return axes_of_groups(mesh, sorted(groups))


def _collective(op: Operation, ring: Ring, meshes: Sequence[Mesh]) -> CountedCollective:
    groups = _groups(op) or ()
    permutes = isinstance(op, stablehlo.CollectivePermuteOp)
    axes: Axes | None = None
    for mesh in meshes:
        axes = (
            _permuted_axes(mesh, groups) if permutes else axes_of_groups(mesh, groups)
        )
        if axes is not None:
            break
    size = max((len(group) for group in groups), default=1)
    return CountedCollective(
        kind=_short(op),
        axes=axes,
        group_size=size,
        tensor=_type_text(op.operands),
        bytes_per_device=ring_bytes(ring, _local_bytes(op.operands), size),
        reason=_reason(op),
        position=source_position(op.location),
    )


def meshes_of(module: ModuleOp) -> dict[str, Mesh]:
    """The meshes of a module by name."""
    return {
        op.sym_name.data: op.mesh.data
        for op in module.ops
        if isinstance(op, sdy.MeshOp)
    }


def list_collectives(module: ModuleOp) -> list[CountedCollective]:
    """Every collective of the module, in program order."""
    meshes = list(meshes_of(module).values())
    found: list[CountedCollective] = []
    for op in module.walk():
        if (ring := _RINGS.get(type(op))) is not None:
            found.append(_collective(op, ring, meshes))
    return found
