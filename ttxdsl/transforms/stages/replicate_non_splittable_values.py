"""`replicate-non-splittable-values`: keep whole what equal code cannot split.

A constant that is no splat, an iota along the split dimension, and a slice of part of a
split dimension need the device's number to be written in parts. They become replicated,
and stage 8 puts a reshard, which is a slice, behind them. Our own stage 11 asks for the
number, so only `tt-stablehlo-pipeline{version=2026}` runs this.

Source: the pass of that name in tt-mlir's StableHLO pipeline of 2026.
"""

from collections.abc import Callable
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup

Judge = Callable[[Any, TensorSharding, Mesh], bool]
"""Whether devices that all do the same can make their parts of an op's result."""


def _constant_parts_alike(
    op: stablehlo.ConstantOp, sharding: TensorSharding, mesh: Mesh
) -> bool:
    value = op.value
    if not isinstance(value, DenseIntOrFPElementsAttr) or value.is_splat():
        return True
    values, shape = tuple(value.get_values()), value.get_shape()
    for dim, split in enumerate(sharding.dims):
        count = split.sharded_size(mesh)
        if shape[dim] % count:
            return True  # even-out-shardings could not either
        row = prod(shape[dim:])
        for start in range(0, len(values), row):
            part = row // count
            first, *others = (
                values[at : at + part] for at in range(start, start + row, part)
            )
            if any(other != first for other in others):
                return False
    return True


def _counts_along_no_axis(
    op: stablehlo.IotaOp, sharding: TensorSharding, mesh: Mesh
) -> bool:
    return not sharding.dims[op.iota_dimension.value.data].axes


def _takes_each_part_alike(
    op: stablehlo.SliceOp, sharding: TensorSharding, mesh: Mesh
) -> bool:
    shape = shape_of(op.operand)
    bounds = zip(
        sharding.dims,
        shape,
        op.start_indices.get_values(),
        op.limit_indices.get_values(),
        op.strides.get_values(),
        strict=True,
    )
    for split, size, start, limit, stride in bounds:
        if not split.axes or (start, limit, stride) == (0, size, 1):
            continue
        # every other element, and the like: as many of each part, at the same places
        interleaved = stride > 1 and start < stride and limit == size
        width, rest = divmod(size, split.sharded_size(mesh))
        if not interleaved or rest or width % stride:
            return False
    return True


_JUDGES: tuple[tuple[type[Operation], Judge], ...] = (
    (stablehlo.ConstantOp, _constant_parts_alike),
    (stablehlo.IotaOp, _counts_along_no_axis),
    (stablehlo.SliceOp, _takes_each_part_alike),
)


class ReplicateNonSplittableValuesPass(ModulePass):
    """Make whole what code that is the same on all devices cannot make parts of."""

    name = "replicate-non-splittable-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mesh_of = mesh_lookup(op)
        for kind, is_splittable in _JUDGES:
            for inner in ops_of_type(op, kind):
                (value,) = inner.results
                sharding = sdy.get_sharding(value)
                if sharding is None or not any(dim.axes for dim in sharding.dims):
                    continue
                if not is_splittable(inner, sharding, mesh_of(sharding)):
                    whole = TensorSharding.fully_closed(sharding.mesh, sharding.rank)
                    sdy.set_sharding(value, whole)
