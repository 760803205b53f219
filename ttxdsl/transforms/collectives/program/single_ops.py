"""Facts about one op for optimizations: what it reads, sends, and makes of what."""

from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import Pure

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.traits import Collective, Elementwise
from ttxdsl.ir.tensors import element_of
from ttxdsl.ir.traversal import operands_of
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.transforms.partition.exchange.collectives import ALL_SLICE
from ttxdsl.transforms.partition.exchange.combiner import Combiner, combiner_of

COLLECTIVES = (
    stablehlo.AllReduceOp,
    stablehlo.AllGatherOp,
    stablehlo.ReduceScatterOp,
    stablehlo.AllToAllOp,
)
"""Those among groups of devices."""

MOVED = (*COLLECTIVES, stablehlo.CollectivePermuteOp)
"""All that send."""

_REDUCING = frozenset((stablehlo.AllReduceOp, stablehlo.ReduceScatterOp))

SENDING = frozenset((*MOVED, stablehlo.CompositeOp))
"""These, and what may be a slice by device."""

OF_OPERANDS = (
    stablehlo.ReduceOp,
    stablehlo.SortOp,
    stablehlo.MapOp,
    stablehlo.ReduceWindowOp,
    stablehlo.ScatterOp,
    stablehlo.SelectAndScatterOp,
)
"""Ops with regions whose results are what operands and captured values make them."""

LIGHT = (
    stablehlo.TransposeOp,
    stablehlo.ReshapeOp,
    stablehlo.BroadcastInDimOp,
    stablehlo.ConcatenateOp,
    stablehlo.SliceOp,
    stablehlo.PadOp,
    stablehlo.ReverseOp,
    stablehlo.IotaOp,
    stablehlo.ConstantOp,
)
"""Ops beside elementwise ones that all devices may do for the sake of fewer bytes."""


def slice_of(op: Operation) -> tuple[AxisRef, int] | None:
    """Return the axis and the dimension of a slice by device; None for another op."""
    if (
        not isinstance(op, stablehlo.CompositeOp)
        or op.composite_name.data != ALL_SLICE
        or len(op.operands) != 1
    ):
        return None
    attributes = op.composite_attributes
    axis, dim = attributes.data.get("axis"), attributes.data.get("dim")
    if not isinstance(axis, StringAttr) or not isinstance(dim, IntegerAttr):
        return None
    pre, size = (
        attributes.data.get("sub_axis_pre_size"),
        attributes.data.get("sub_axis_size"),
    )
    if isinstance(pre, IntegerAttr) and isinstance(size, IntegerAttr):
        ref = AxisRef(axis.data, pre.value.data, size.value.data)
    else:
        ref = AxisRef(axis.data)
    return ref, dim.value.data


def sum_of(op: Operation) -> Combiner | None:
    """Return the combiner of an all_reduce or reduce_scatter of one tensor.

    None for quantized elements: each addition of those is rounded and cut off.
    """
    if (
        type(op) in _REDUCING
        and len(operands_of(op)) == 1
        and not isinstance(element_of(op.operands[0]), QuantizedType)
    ):
        return combiner_of(op.regions[0])
    return None


def read_by(op: Operation) -> Sequence[SSAValue]:
    """Return the operands of an op, and the values from outside that its regions use."""
    operands = operands_of(op)
    if not op.regions or type(op) in MOVED:  # which combine two arguments
        return operands
    read = [*operands]
    for region in op.regions:
        for inner in region.walk():
            for value in operands_of(inner):
                owner = value.owner
                block = owner if isinstance(owner, Block) else owner.parent
                while block is not None and block.parent is not region:
                    around = block.parent_op()
                    block = around.parent if around is not None else None
                if block is None:
                    read.append(value)
    return read


_MAKING: dict[type[Operation], bool] = {}


def makes_results_alone(op: Operation) -> bool:
    """Whether an op whose results have no users may be erased.

    The end of a region is pure and has none, and the region is lost without it.
    """
    if not op.results:
        return False
    kind = type(op)
    known = _MAKING.get(kind)
    if known is None:
        known = _MAKING[kind] = issubclass(kind, (*MOVED, *OF_OPERANDS)) or (
            kind.has_trait(Pure, value_if_unregistered=False)
        )
    return known or slice_of(op) is not None


def erase_unused(values: Iterable[SSAValue]) -> None:
    """Erase the ops of values that nobody uses, and what only they used."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if not isinstance(value, OpResult):
            continue
        op = value.op
        # what is in no region yet is for others, too
        if op.parent is None or op.parent.parent is None:
            continue
        if any(result.uses for result in op.results):
            continue
        if not makes_results_alone(op):
            continue
        waiting.extend(op.operands)
        op.detach()
        op.erase()


def is_elementwise(op: Operation) -> bool:
    """Whether an op has one result, each element of which depends on its place alone."""
    return op.has_trait(Elementwise, value_if_unregistered=False)


_DEPENDING: dict[type[Operation], bool] = {}


def depends_on_operands(op: Operation) -> bool:
    """Whether an op's results depend on its operands alone.

    A barrier says that nobody is to look whether it does.
    """
    kind = type(op)
    known = _DEPENDING.get(kind)
    if known is None:
        known = _DEPENDING[kind] = kind is not stablehlo.OptimizationBarrierOp and (
            issubclass(kind, (*SENDING, *OF_OPERANDS, stablehlo.PartitionIdOp))
            or kind.has_trait(Pure, value_if_unregistered=False)
        )
    return known


_NAME = "channel_handle"
"""What tells collectives apart that do the same."""


def compared_attributes(op: Operation) -> Iterator[Attribute]:
    """Yield the attributes that are equal in ops that compute the same."""
    for name, value in sorted(op.properties.items()):
        if name != _NAME:
            yield value


def does_the_same(op: Operation, other: Operation) -> bool:
    """Whether two ops of one kind compute the same function of their operands."""
    return (
        op.properties.keys() == other.properties.keys()
        and all(
            name == _NAME
            or value is other.properties[name]
            or value == other.properties[name]
            for name, value in op.properties.items()
        )
        and [result.type for result in op.results]
        == [result.type for result in other.results]
        and all(
            mine.is_structurally_equivalent(theirs)
            for mine, theirs in zip(op.regions, other.regions, strict=True)
        )
    )


def is_collective(op: Operation) -> bool:
    """Whether an op sends something between devices."""
    return op.get_trait(Collective) is not None
