"""Ops that know the sizes of whole tensors: each device's part of what they make."""

from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import total_size
from ttxdsl.transforms.local.combiner import combiners_of
from ttxdsl.transforms.local.creation import splat_of
from ttxdsl.transforms.local.devices import shard_index_of_device
from ttxdsl.transforms.local.emitter import dims_attr, int_attr
from ttxdsl.transforms.local.reduction import is_constant_number
from ttxdsl.transforms.shardy.per_device.literal import LiteralEmitter
from ttxdsl.transforms.shardy.per_device.planning import (
    Planner,
    Rewrite,
    WholeProgram,
)


def iota(program: WholeProgram, op: stablehlo.IotaOp) -> Rewrite | None:
    """Positions in the shard, and along a split dimension where it starts."""
    if program.is_whole(op.output):
        return None
    dim = op.iota_dimension.value.data
    axes, mesh = program.axes(op.output)[dim], program.mesh(op.output, op)
    type_ = program.local_tensor(op.output, op)
    shape = type_.get_shape()

    def written(emit: LiteralEmitter) -> SSAValue:
        properties = {"iota_dimension": int_attr(dim)}
        inside = emit.one(stablehlo.IotaOp, [], type_, properties)
        if not axes:
            return inside
        start = emit.convert(emit.offset(mesh, axes, shape[dim]), type_.element_type)
        return emit.add(inside, emit.broadcast(start, shape))

    return written


def constant(
    program: WholeProgram, op: sdy.ConstantOp | stablehlo.ConstantOp
) -> Rewrite | None:
    """One number is one of each shard; of others each device takes its part."""
    if isinstance(op, stablehlo.ConstantOp) and program.is_whole(op.output):
        return None
    local = program.local_tensor(op.output, op)
    shape, axes = local.get_shape(), program.axes(op.output)
    value = op.value if local == op.output.type else splat_of(op.value, shape)

    def written(emit: LiteralEmitter) -> SSAValue:
        if value is not None:
            return emit.one(stablehlo.ConstantOp, [], local, {"value": value})
        properties = {"value": op.value}
        whole = emit.one(stablehlo.ConstantOp, [], op.output.type, properties)
        return emit.shard_of(whole, program.mesh(op.output, op), axes, shape)

    return written


def reduce(program: WholeProgram, op: stablehlo.ReduceOp) -> Rewrite | None:
    """Of the parts of one reduction, one counts the initial value."""
    if op not in program.parts:
        return None
    mesh, axes = program.parts[op]
    counted = [
        (len(op.inputs) + at, int(combine.neutral))  # C++'s zeros are positive
        for at, combine in enumerate(combiners_of(op.body))
        if combine.neutral is not None
        and not combine.is_idempotent
        and not is_constant_number(op.init_values[at], combine.neutral)
    ]
    if not counted:
        return None

    def written(emit: LiteralEmitter) -> None:
        for index, number in counted:
            initial = op.operands[index]
            neutral = emit.number(number, element_of(initial))
            op.operands[index] = emit.counted_once(initial, neutral, mesh, axes)

    return written


def slice_(program: WholeProgram, op: stablehlo.SliceOp) -> Rewrite | None:
    """A split dimension must be taken whole."""
    if program.is_whole(op.operand) and program.is_whole(op.result):
        return None
    local = program.local_tensor(op.operand, op)
    bounds = zip(
        op.start_indices.get_values(), op.limit_indices.get_values(), strict=True
    )
    limits: list[int] = []
    shards, sizes = local.get_shape(), shape_of(op.operand)
    strides = op.strides.get_values()
    for dim, (start, limit) in enumerate(bounds):
        split = shards[dim] != sizes[dim]
        # each shard must start with an element that is taken
        kept = (start, limit, shards[dim] % strides[dim]) == (0, sizes[dim], 0)
        if split and not kept:
            raise UnsupportedError(
                f"dimension {dim} is split, but not taken whole",
                op,
                hint="run sdy-resolve-permutation-factors before",
            )
        limits.append(shards[dim] if split else limit)
    starts = op.start_indices.get_values()
    return lambda emit: emit.slice(op.operand, starts, limits, strides)


def dynamic_slice(
    program: WholeProgram, op: stablehlo.DynamicSliceOp
) -> Rewrite | None:
    """Split dimensions are taken whole, wherever the slice is to start."""
    sizes = program.local_tensor(op.result, op).get_shape()
    if sizes == op.slice_sizes.get_values():
        return None

    def written(emit: LiteralEmitter) -> None:
        op.properties["slice_sizes"] = dims_attr(sizes)

    return written


def random(
    program: WholeProgram, op: stablehlo.RngOp | stablehlo.RngBitGeneratorOp
) -> None:
    """Devices that draw for their shards draw the same numbers, or other ones."""
    if not all(program.is_whole(result) for result in op.results):
        raise UnsupportedError(
            "each device would draw its shard by itself, which are other numbers",
            op,
            hint="let its results be whole, and slice them behind",
        )


def dynamic_update_slice(
    program: WholeProgram, op: stablehlo.DynamicUpdateSliceOp
) -> None:
    """Where it is to go is not known: split dimensions are to be updated whole."""
    shapes = zip(shape_of(op.operand), shape_of(op.update), strict=True)
    axes = program.axes(op.operand)
    for dim, (size, new) in enumerate(shapes):
        if size != new and axes[dim]:
            raise UnsupportedError(
                f"dimension {dim} is split, and the update is of a part of it",
                op,
                hint="gather its operand before",
            )


def pad(program: WholeProgram, op: stablehlo.PadOp) -> Rewrite | None:
    """The elements of a shard must stay on their device."""
    if program.is_whole(op.operand):
        return None
    mesh = program.mesh(op.operand, op)
    low, interior = (
        one.get_values() for one in (op.edge_padding_low, op.interior_padding)
    )
    sizes, made = shape_of(op.operand), shape_of(op.result)
    offsets: list[list[int]] = []
    shards: list[tuple[int, int]] = []
    for dim, axes in enumerate(program.axes(op.operand)):
        count = total_size(axes, mesh)
        size, after = sizes[dim] // count, made[dim] // count
        shards.append((size, after))
        for index in range(count):
            # all elements in the result's shard are to come from the operand's
            step = interior[dim] + 1
            first = -((low[dim] - index * after) // step)
            last = ((index + 1) * after - 1 - low[dim]) // step
            if max(first, 0) < index * size or (
                min(last, sizes[dim] - 1) >= (index + 1) * size
            ):
                raise UnsupportedError(
                    f"padding moves elements of dimension {dim} to other devices",
                    op,
                    hint="run sdy-resolve-permutation-factors before",
                )
        offsets.append(
            [
                index * (size * (interior[dim] + 1) - after) + low[dim]
                for index in shard_index_of_device(mesh, axes)
            ]
        )
    spread = [
        (size - 1) * (between + 1) + 1 if size else 0
        for (size, _), between in zip(shards, interior, strict=True)
    ]
    before = [max(0, *of_dim) for of_dim in offsets]
    behind = [
        max(0, after - min(of_dim) - wide)
        for (_, after), of_dim, wide in zip(shards, offsets, spread, strict=True)
    ]
    alike = all(len(set(of_dim)) == 1 for of_dim in offsets)
    shape = [after for _, after in shards]

    def on_all_alike(emit: LiteralEmitter) -> SSAValue:
        starts = [of_dim[0] for of_dim in offsets]
        ends = [
            after - (wide + start)
            for after, wide, start in zip(shape, spread, starts, strict=True)
        ]
        return emit.pad(op.operand, op.padding_value, starts, ends, interior)

    def cut_from_enough(emit: LiteralEmitter) -> SSAValue:
        padded = emit.pad(op.operand, op.padding_value, before, behind, interior)
        device = emit.device()
        starts: list[SSAValue] = []
        for front, of_dim in zip(before, offsets, strict=True):
            table = [front - offset for offset in of_dim]
            starts.append(
                emit.constant(table[:1], ())
                if len(set(table)) == 1
                else emit.reshape(emit.entry(table, device), ())
            )
        return emit.dynamic_slice(padded, starts, shape)

    return on_all_alike if alike else cut_from_enough


def convolution(program: WholeProgram, op: stablehlo.ConvolutionOp) -> Rewrite | None:
    """Groups are split with the features or batches that they are of."""
    if all(program.is_whole(value) for value in (op.lhs, op.rhs, op.result)):
        return None
    dims = op.dimension_numbers.data
    _require_spatial(program, op)
    properties = dict(op.properties)
    for name, operand, dim in (
        ("feature_group_count", op.rhs, dims.kernel_output_feature_dimension),
        ("batch_group_count", op.lhs, dims.input_batch_dimension),
    ):
        axes = program.axes(operand)[dim]
        count = getattr(op, name).value.data
        if count > 1 and axes:
            parts = min(count, total_size(axes, program.mesh(operand, op)))
            if count % parts:
                raise UnsupportedError(f"{name} {count} is not divided by {parts}", op)
            properties[name] = int_attr(count // parts)
    type_ = program.local_type(op.result, op)
    return lambda emit: emit.one(
        stablehlo.ConvolutionOp, [op.lhs, op.rhs], type_, properties
    )


def _require_spatial(program: WholeProgram, op: stablehlo.ConvolutionOp) -> None:
    """Split spatial dimensions pass through, or are summed up by one window."""
    dims = op.dimension_numbers.data
    rank = len(dims.input_spatial_dimensions)
    padding = op.padding.get_values() if op.padding is not None else (0,) * (2 * rank)

    def entries(name: str, default: int) -> tuple[int, ...]:
        value = getattr(op, name)
        return (default,) * rank if value is None else tuple(value.get_values())

    strides, base = entries("window_strides", 1), entries("lhs_dilation", 1)
    between, turned = entries("rhs_dilation", 1), entries("window_reversal", 0)
    for at, (dim, window, result) in enumerate(
        zip(
            dims.input_spatial_dimensions,
            dims.kernel_spatial_dimensions,
            dims.output_spatial_dimensions,
            strict=True,
        )
    ):
        here, there = program.axes(op.lhs)[dim], program.axes(op.rhs)[window]
        if program.axes(op.result)[result] not in ((), here):
            raise UnsupportedError(
                f"dimension {result} of its result is split, and not the windows that"
                f" make it, of dimension {dim}",
                op,
                hint="make it whole, and slice it behind",
            )
        if not here and not there:
            continue
        plain = not any(padding[2 * at : 2 * at + 2]) and base[at] == 1
        size, width = shape_of(op.lhs)[dim], shape_of(op.rhs)[window]
        if there:
            plain &= here == there and size == width
            plain &= between[at] == 1 and not turned[at]
        else:
            plain &= width == strides[at] == 1
        if not plain:
            raise UnsupportedError(
                f"windows reach into other shards of dimension {dim}",
                op,
                hint="run sdy-resolve-permutation-factors before",
            )


def windows(
    program: WholeProgram, op: stablehlo.ReduceWindowOp | stablehlo.SelectAndScatterOp
) -> None:
    """Windows of split dimensions are of one element."""
    rank = len(shape_of(op.operands[0]))
    ones = (1,) * rank
    sizes, strides, dilations = (
        ones if one is None else one.get_values()
        for one in (
            op.window_dimensions,
            op.window_strides,
            getattr(op, "base_dilations", None),
        )
    )
    padding = op.padding.get_values() if op.padding is not None else (0, 0) * rank
    for dim, axes in enumerate(program.axes(op.operands[0])):
        plain = sizes[dim] == strides[dim] == dilations[dim] == 1
        if axes and not (plain and not any(padding[2 * dim : 2 * dim + 2])):
            raise UnsupportedError(
                f"windows reach into other shards of dimension {dim}",
                op,
                hint="run sdy-resolve-permutation-factors before",
            )


PLANNERS: dict[type[Operation], Planner] = {
    stablehlo.IotaOp: iota,
    sdy.ConstantOp: constant,
    stablehlo.ConstantOp: constant,
    stablehlo.ReduceOp: reduce,
    stablehlo.SliceOp: slice_,
    stablehlo.DynamicSliceOp: dynamic_slice,
    stablehlo.DynamicUpdateSliceOp: dynamic_update_slice,
    stablehlo.RngOp: random,
    stablehlo.RngBitGeneratorOp: random,
    stablehlo.PadOp: pad,
    stablehlo.ConvolutionOp: convolution,
    stablehlo.ReduceWindowOp: windows,
    stablehlo.SelectAndScatterOp: windows,
}
