"""Gathers and scatters of which a device has only some of the elements.

An index that a device does not have gives zeros, which the sum over the devices behind
the gather does not count; an update that falls outside of a shard is dropped there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.tensors import Tensor, element_of, shape_of
from ttxdsl.sharding.axes import Axes, lists_overlap, total_size
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.transforms.local.combiner import Combiner, combiner_of
from ttxdsl.transforms.local.emitter import dims_attr, is_unsigned
from ttxdsl.transforms.shardy.per_device.literal import LiteralEmitter
from ttxdsl.transforms.shardy.per_device.planning import (
    Planner,
    Rewrite,
    WholeProgram,
)


@dataclass(frozen=True)
class _Picked:
    """Where indices point to in a tensor of which devices have shards."""

    mesh: Mesh
    axes: tuple[Axes, ...]
    """Those of each dimension of the tensor."""
    sizes: tuple[int, ...]
    """The whole tensor's."""
    positions: Sequence[int]
    """The dimension of each entry of an index."""
    vectors: int
    """The dimension of the indices along which these entries are."""
    dims: Sequence[int]
    """Those split dimensions of which an index picks one element."""

    def shard(self, dim: int) -> int:
        """How much of a dimension a device has."""
        return self.sizes[dim] // total_size(self.axes[dim], self.mesh)

    def clamped(self, emit: LiteralEmitter, indices: SSAValue) -> SSAValue:
        """Indices within the whole tensor, as a gather takes them."""
        shape, element = shape_of(indices), element_of(indices)
        last = [self.sizes[dim] - 1 for dim in self.positions]
        low = emit.constant([0], shape, element)
        if self.vectors < len(shape) and len(last) > 1:
            row = emit.constant(last, [len(last)], element)
            high = emit.broadcast(row, shape, [self.vectors])
        else:
            high = emit.constant(last[:1], shape, element)
        return emit.clamp(low, indices, high)

    def bounds(
        self, emit: LiteralEmitter, element: Attribute, *, upper: bool
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """The first and the last position of this device for each entry of an index."""
        first: list[SSAValue] = []
        last: list[SSAValue] = []
        for dim in self.positions:
            if dim not in self.dims:
                first.append(emit.constant([0], (), element))
                if upper:
                    last.append(emit.constant([self.sizes[dim] - 1], (), element))
                continue
            start = emit.offset(self.mesh, self.axes[dim], self.shard(dim))
            first.append(emit.convert(start, element))
            if upper:
                more = emit.constant([self.shard(dim) - 1], (), element)
                last.append(emit.add(first[-1], more))
        return first, last

    def like(
        self, emit: LiteralEmitter, entries: Sequence[SSAValue], indices: SSAValue
    ) -> SSAValue:
        """Scalars, one for each entry of an index, in the shape of all indices."""
        shape = shape_of(indices)
        if self.vectors >= len(shape) or shape[self.vectors] == 1:
            return emit.broadcast(entries[0], shape)
        row = emit.concatenate([emit.reshape(one, [1]) for one in entries], 0)
        return emit.broadcast(row, shape, [self.vectors])

    def inside(
        self, emit: LiteralEmitter, indices: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """Clamped indices as positions in the shard, and which of them it has."""
        here: SSAValue | None = None
        local = indices
        if set(self.dims) & set(self.positions):
            indices = self.clamped(emit, indices)
            first, last = self.bounds(emit, element_of(indices), upper=True)
            low, high = (self.like(emit, one, indices) for one in (first, last))
            local = emit.subtract(indices, low)
            here = emit.both(
                emit.compare(indices, low, ComparisonDirection.GE),
                emit.compare(indices, high, ComparisonDirection.LE),
            )
        first_shard: SSAValue | None = None
        for dim in self.dims:
            if dim not in self.positions:  # no index means position 0
                start = emit.offset(self.mesh, self.axes[dim], self.shard(dim))
                zero = emit.constant([0], ())
                is_first = emit.compare(start, zero, ComparisonDirection.EQ)
                first_shard = (
                    emit.both(first_shard, is_first) if first_shard else is_first
                )
        if first_shard is None:
            assert here is not None
            return local, here
        if here is None:
            return local, first_shard
        return local, emit.both(here, emit.broadcast(first_shard, shape_of(here)))

    def shifted(self, emit: LiteralEmitter, indices: SSAValue) -> SSAValue:
        """Indices as positions in the shard; those outside stay outside."""
        if not set(self.dims) & set(self.positions):
            return indices
        first, _ = self.bounds(emit, element_of(indices), upper=False)
        return emit.subtract(indices, self.like(emit, first, indices))


def gather(program: WholeProgram, op: stablehlo.GatherOp) -> Rewrite | None:
    """Slices of one element are taken where they are; others span their dimension."""
    if program.is_whole(op.operand):
        return None
    numbers = op.dimension_numbers.data
    axes, mesh = program.axes(op.operand), program.mesh(op.operand, op)
    sizes, taken = shape_of(op.operand), [*op.slice_sizes.get_values()]
    single: list[int] = []
    for dim, split in enumerate(axes):
        if not split or dim in numbers.operand_batching_dims:
            continue
        if taken[dim] == 1:
            single.append(dim)
        elif taken[dim] == sizes[dim]:
            taken[dim] //= total_size(split, mesh)
        else:
            raise UnsupportedError(
                f"slices span {taken[dim]} of {sizes[dim]} elements of dimension {dim},"
                " which is split",
                op,
            )
    picked = _Picked(
        mesh, axes, sizes, numbers.start_index_map, numbers.index_vector_dim, single
    )
    result_type = program.local_type(op.result, op)
    slice_sizes = dims_attr(taken)
    sorted_ = op.indices_are_sorted or BoolAttr.from_bool(False)

    def local(emit: LiteralEmitter) -> SSAValue:
        indices, here = op.start_indices, None
        if single:
            indices, here = picked.inside(emit, indices)
        made = emit.emit(
            stablehlo.GatherOp,
            [op.operand, indices],
            [result_type],
            {
                **op.properties,
                "slice_sizes": slice_sizes,
                "indices_are_sorted": sorted_,
            },
            op.attributes,
        ).result
        if here is None:
            return made
        if numbers.index_vector_dim < len(shape_of(here)):
            here = emit.all_along(here, numbers.index_vector_dim)
        shape = shape_of(made)
        batches = [dim for dim in range(len(shape)) if dim not in numbers.offset_dims]
        mask = emit.broadcast(here, shape, batches if shape_of(here) else [])
        return emit.select(mask, made, _zeros(emit, made.type))

    return local


def _zeros(emit: LiteralEmitter, type_: Attribute) -> SSAValue:
    element, shape = cast(Tensor, type_).element_type, cast(Tensor, type_).get_shape()
    if isinstance(element, IntegerType):
        return emit.constant([0], shape, cast(Attribute, element))
    if isinstance(element, AnyFloat):
        value = DenseIntOrFPElementsAttr.from_list(TensorType(element, shape), [0.0])
        return emit.one(stablehlo.ConstantOp, [], type_, {"value": value})
    return emit.broadcast(emit.number(0, element), shape)


def neutral(emit: LiteralEmitter, combine: Combiner, element: Attribute) -> SSAValue:
    """The number that leaves any other of its type unchanged, as a scalar.

    Zero is positive, as C++ writes it.
    """
    if combine.neutral is not None:
        return emit.number(int(combine.neutral), element)
    largest = combine.op_class is stablehlo.MinOp
    if not isinstance(element, AnyFloat):
        bits = cast(IntegerType, element).width.data
        if combine.op_class is stablehlo.AndOp:
            value = 1 if bits == 1 else -1
        elif is_unsigned(element):
            value = (1 << bits) - 1 if largest else 0
        else:
            value = (1 << (bits - 1)) - 1 if largest else -(1 << (bits - 1))
        return emit.constant([value], (), element)
    bound = float("inf") if largest else float("-inf")
    type_ = TensorType(element, [])
    value = DenseIntOrFPElementsAttr.from_list(type_, [bound])
    return emit.one(stablehlo.ConstantOp, [], type_, {"value": value})


def _window_sizes(op: stablehlo.ScatterOp) -> dict[int, int]:
    """How much of each dimension of the inputs one update spans."""
    numbers = op.scatter_dimension_numbers.data
    inserted = numbers.inserted_window_dims
    spanned = [
        dim
        for dim in range(len(shape_of(op.inputs[0])))
        if dim not in inserted and dim not in numbers.input_batching_dims
    ]
    update = shape_of(op.updates[0])
    sizes = [update[dim] for dim in numbers.update_window_dims]
    return {**dict.fromkeys(inserted, 1), **dict(zip(spanned, sizes, strict=True))}


def scatter(program: WholeProgram, op: stablehlo.ScatterOp) -> Rewrite | None:
    """Updates go where they belong; of split updates the inputs count once."""
    source, update = op.inputs[0], op.updates[0]
    numbers = op.scatter_dimension_numbers.data
    axes = program.axes(source)
    summed: Axes = tuple(
        axis
        for dim, split in enumerate(program.axes(update))
        if dim not in numbers.update_window_dims
        for axis in split
        if not any(lists_overlap((axis,), theirs) for theirs in axes)
    )
    moved = [dim for dim, split in enumerate(axes) if split]
    indexed = [dim for dim in moved if dim in numbers.scatter_dims_to_operand_dims]
    sizes, windows = shape_of(source), _window_sizes(op)
    for dim in moved:
        if windows.get(dim, sizes[dim]) != (1 if dim in indexed else sizes[dim]):
            raise UnsupportedError(
                f"updates of {windows[dim]} elements may lie in several shards of "
                f"dimension {dim}",
                op,
                hint="gather the inputs before",
            )
    if not indexed and not summed:
        return None
    mesh = program.mesh(source if moved else update, op)
    combine = combiner_of(op.update_computation) if len(op.inputs) == 1 else None
    if summed and combine is None:
        raise UnsupportedError(
            "updates are split, and it is not known how their parts are to be joined",
            op,
        )
    picked = _Picked(
        mesh,
        axes,
        sizes,
        numbers.scatter_dims_to_operand_dims,
        numbers.index_vector_dim,
        indexed,
    )

    def written(emit: LiteralEmitter) -> None:
        count = len(op.inputs)
        if summed:
            assert combine is not None
            (local,) = op.inputs
            other = neutral(emit, combine, element_of(local))
            op.operands[0] = emit.counted_once(local, other, mesh, summed)
        if indexed:
            op.operands[count] = picked.shifted(emit, op.scatter_indices)
        for name in ("indices_are_sorted", "unique_indices"):
            op.properties.setdefault(name, BoolAttr.from_bool(False))

    return written


PLANNERS: dict[type[Operation], Planner] = {
    stablehlo.GatherOp: gather,
    stablehlo.ScatterOp: scatter,
}
