"""Writing StableHLO: small ops on tensors, and what a device knows of its place.

An emitter appends to one block. Everything that depends on the device comes from
`stablehlo.partition_id`; the index of a device along some axes is computed once a
block and used by all that need it.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    Signedness,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttxdsl.diagnostics.errors import UnsupportedError, source_position
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.partition.devices import shard_index_of_device

OpT = TypeVar("OpT", bound=Operation)

INDEX = i32
_LAST_INDEX = (1 << 31) - 1
"""The element type of computed positions; sizes beyond it are refused."""


def dims_attr(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """`array<i64: …>`."""
    return DenseArrayBase.from_list(i64, list(values))


def int_attr(value: int) -> IntegerAttr[IntegerType]:
    """Return an `i64` attribute."""
    return IntegerAttr(value, i64)


def is_unsigned(element: Attribute) -> bool:
    """Whether an element type orders its values without a sign."""
    if element == i1:
        return True
    return any(
        element == IntegerType(width, Signedness.UNSIGNED)
        for width in (2, 4, 8, 16, 32, 64)
    )


def is_wider_than_index(element: Attribute) -> bool:
    """Whether an integer type has values that a position cannot hold."""
    return element in (
        i64,
        IntegerType(32, Signedness.UNSIGNED),
        IntegerType(64, Signedness.UNSIGNED),
    )


def _sorted(entries: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """By name, as MLIR prints them."""
    return dict(sorted(entries.items())) if len(entries) > 1 else entries


class Emitter:
    """Appends StableHLO ops to a block, all at one source `location`."""

    def __init__(self, block: Block, location: LocationAttr):
        self.block = block
        self.location = location

    def emit(
        self,
        op_class: type[OpT],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> OpT:
        """Append one op."""
        op = op_class.create(
            operands=operands,
            result_types=result_types,
            properties=_sorted(properties or {}),
            attributes=attributes or {},
            regions=regions,
            location=self.location,
        )
        self.block.add_op(op)
        return op

    def one(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> SSAValue:
        """Append an op of one result and answer with that."""
        op = self.emit(op_class, operands, [result_type], properties, regions=regions)
        return op.results[0]

    # Constants

    def integers(self, values: Sequence[int], shape: Sequence[int] = ()) -> SSAValue:
        """A constant of positions: one value for all elements, or one an element.

        Raises:
            UnsupportedError: a position that does not fit in `INDEX`.
        """
        if values and (largest := max(map(abs, values))) > _LAST_INDEX:
            raise UnsupportedError(
                f"element {largest} of a dimension: devices count positions in {INDEX}",
                position=source_position(self.location),
            )
        type_ = TensorType(INDEX, list(shape))
        value = DenseIntOrFPElementsAttr.from_list(type_, list(values))
        return self.one(stablehlo.ConstantOp, [], type_, {"value": value})

    def position(self, value: int) -> SSAValue:
        """Return a scalar position."""
        return self.integers([value])

    def number(self, number: float, element: Attribute) -> SSAValue:
        """Write a scalar of any element type that holds a small integer.

        Negative zero is the neutral element of float addition. It is zero in types
        without it, and has both parts negative in complex types.
        """
        match element:
            case IntegerType():
                type_ = TensorType(element, [])
                value = DenseIntOrFPElementsAttr.from_list(type_, [int(number)])
            case Float16Type() | BFloat16Type() | Float32Type() | Float64Type():
                type_ = TensorType(element, [])
                value = DenseIntOrFPElementsAttr.from_list(type_, [float(number)])
            case ComplexType(element_type=Float32Type() | Float64Type()):
                complex_ = TensorType(cast("ComplexType[Float32Type]", element), [])
                pair = (float(number), 0.0 if number else float(number))
                complex_value = DenseIntOrFPElementsAttr.from_list(complex_, [pair])
                return self.one(
                    stablehlo.ConstantOp, [], complex_, {"value": complex_value}
                )
            case _:
                return self.convert(self.position(int(number)), element)
        return self.one(stablehlo.ConstantOp, [], type_, {"value": value})

    def splat(
        self, number: float, element: Attribute, shape: Sequence[int]
    ) -> SSAValue:
        """Return a tensor of one small number, or of what stands for it where quantized."""
        if isinstance(element, QuantizedType):
            real = self.splat(number, element.expressed_type, shape)
            type_ = TensorType(element, list(shape))
            return self.one(stablehlo.UniformQuantizeOp, [real], type_)
        return self.broadcast(self.number(number, element), shape)

    # Elementwise

    def convert(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Write a conversion to another element type."""
        if element_of(value) == element:
            return value
        type_ = TensorType(element, list(shape_of(value)))
        return self.one(stablehlo.ConvertOp, [value], type_)

    def binary(
        self, op_class: type[Operation], lhs: SSAValue, rhs: SSAValue
    ) -> SSAValue:
        """Return an elementwise op on two tensors of one type."""
        return self.one(op_class, [lhs, rhs], lhs.type)

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Elementwise sum."""
        return self.binary(stablehlo.AddOp, lhs, rhs)

    def subtract(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Elementwise difference."""
        return self.binary(stablehlo.SubtractOp, lhs, rhs)

    def scaled(self, value: SSAValue, factor: int) -> SSAValue:
        """Return a scalar position times a number."""
        if factor == 1:
            return value
        return self.binary(stablehlo.MulOp, value, self.position(factor))

    def compare(
        self, lhs: SSAValue, rhs: SSAValue, direction: ComparisonDirection
    ) -> SSAValue:
        """Elementwise comparison of integers."""
        kind = (
            ComparisonType.UNSIGNED
            if is_unsigned(element_of(lhs))
            else ComparisonType.SIGNED
        )
        return self.one(
            stablehlo.CompareOp,
            [lhs, rhs],
            TensorType(i1, list(shape_of(lhs))),
            {
                "comparison_direction": ComparisonDirectionAttr(direction),
                "compare_type": ComparisonTypeAttr(kind),
            },
        )

    def clamp(self, low: SSAValue, value: SSAValue, high: SSAValue) -> SSAValue:
        """Elementwise `value`, at least `low` and at most `high`; bounds may be scalars."""
        return self.one(stablehlo.ClampOp, [low, value, high], value.type)

    def both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Elementwise conjunction."""
        return self.binary(stablehlo.AndOp, lhs, rhs)

    def select(
        self, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """Elementwise choice; the predicate may be a scalar."""
        return self.one(
            stablehlo.SelectOp, [predicate, on_true, on_false], on_true.type
        )

    # Shapes

    def broadcast(
        self, value: SSAValue, shape: Sequence[int], dims: Sequence[int] = ()
    ) -> SSAValue:
        """`value` along `dims` of a larger shape, repeated along the others."""
        if tuple(shape) == shape_of(value):
            return value
        return self.one(
            stablehlo.BroadcastInDimOp,
            [value],
            TensorType(element_of(value), list(shape)),
            {"broadcast_dimensions": dims_attr(dims)},
        )

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Write a reshape."""
        if tuple(shape) == shape_of(value):
            return value
        type_ = TensorType(element_of(value), list(shape))
        return self.one(stablehlo.ReshapeOp, [value], type_)

    def iota(self, shape: Sequence[int], dim: int) -> SSAValue:
        """Positions along one dimension."""
        return self.one(
            stablehlo.IotaOp,
            [],
            TensorType(INDEX, list(shape)),
            {"iota_dimension": int_attr(dim)},
        )

    def slice(
        self,
        value: SSAValue,
        start: Sequence[int],
        limit: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> SSAValue:
        """Return a static slice."""
        strides = strides or [1] * len(start)
        sizes = [
            max(0, -(-(end - begin) // step))
            for begin, end, step in zip(start, limit, strides, strict=True)
        ]
        return self.one(
            stablehlo.SliceOp,
            [value],
            TensorType(element_of(value), sizes),
            {
                "start_indices": dims_attr(start),
                "limit_indices": dims_attr(limit),
                "strides": dims_attr(strides),
            },
        )

    def slice_dim(self, value: SSAValue, dim: int, start: int, limit: int) -> SSAValue:
        """Return a static slice along one dimension."""
        shape = shape_of(value)
        if (start, limit) == (0, shape[dim]):
            return value
        starts, limits = [0] * len(shape), list(shape)
        starts[dim], limits[dim] = start, limit
        return self.slice(value, starts, limits)

    def pad(
        self,
        value: SSAValue,
        filler: SSAValue,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int] | None = None,
    ) -> SSAValue:
        """Surrounded (and spread) by a scalar; negative amounts cut."""
        interior = interior or [0] * len(low)
        shape = [
            before + size + max(0, size - 1) * between + after
            for size, before, after, between in zip(
                shape_of(value), low, high, interior, strict=True
            )
        ]
        return self.one(
            stablehlo.PadOp,
            [value, filler],
            TensorType(element_of(value), shape),
            {
                "edge_padding_low": dims_attr(low),
                "edge_padding_high": dims_attr(high),
                "interior_padding": dims_attr(interior),
            },
        )

    def concatenate(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        """Concatenate tensors along a dimension; empty ones are left out."""
        values = [value for value in values if shape_of(value)[dim]] or [*values[:1]]
        if len(values) == 1:
            return values[0]
        shape = list(shape_of(values[0]))
        shape[dim] = sum(shape_of(value)[dim] for value in values)
        return self.one(
            stablehlo.ConcatenateOp,
            values,
            TensorType(element_of(values[0]), shape),
            {"dimension": int_attr(dim)},
        )

    def dynamic_slice(
        self, value: SSAValue, starts: Sequence[SSAValue], sizes: Sequence[int]
    ) -> SSAValue:
        """A slice of static size at scalar starts (clamped to fit)."""
        return self.one(
            stablehlo.DynamicSliceOp,
            [value, *starts],
            TensorType(element_of(value), list(sizes)),
            {"slice_sizes": dims_attr(sizes)},
        )

    def dynamic_slice_dim(
        self, value: SSAValue, dim: int, start: SSAValue, size: int
    ) -> SSAValue:
        """Return a slice along one dimension."""
        sizes = list(shape_of(value))
        zero = self.convert(self.position(0), element_of(start))
        starts = [zero] * len(sizes)
        starts[dim], sizes[dim] = start, size
        return self.dynamic_slice(value, starts, sizes)

    def dynamic_update_slice(
        self, value: SSAValue, update: SSAValue, starts: Sequence[SSAValue]
    ) -> SSAValue:
        """`value` with `update` written at scalar starts (clamped to fit)."""
        return self.one(
            stablehlo.DynamicUpdateSliceOp, [value, update, *starts], value.type
        )

    def all_along(self, value: SSAValue, dim: int) -> SSAValue:
        """Write whether all elements along one dimension are true."""
        shape = [size for i, size in enumerate(shape_of(value)) if i != dim]
        init = self.number(1, i1)
        return self.one(
            stablehlo.ReduceOp,
            [value, init],
            TensorType(i1, shape),
            {"dimensions": dims_attr([dim])},
            [binary_region(stablehlo.AndOp, i1)],
        )

    # The place of a device

    def partition_id(self) -> SSAValue:
        """Return the id of this device, as a position."""
        unsigned = TensorType(IntegerType(32, Signedness.UNSIGNED), [])
        return self.convert(self.one(stablehlo.PartitionIdOp, [], unsigned), INDEX)

    def index_along(self, mesh: Mesh, axes: Axes, device: SSAValue) -> SSAValue:
        """Return the index of a device along some axes, major to minor, as a position.

        Args:
            mesh: the mesh of the axes. Where its devices are not in natural order,
                the index is looked up in a constant.
            axes: the axes; along none of them every device has index 0.
        """
        if not axes:
            return self.position(0)
        if mesh.device_ids and mesh.device_ids != tuple(range(mesh.total_size)):
            table = self.integers(shard_index_of_device(mesh, axes), [mesh.total_size])
            return self.reshape(self.dynamic_slice(table, [device], [1]), [])
        index: SSAValue | None = None
        for stride, size in _digits(mesh, axes):
            digit = device
            if stride > 1:
                digit = self.binary(stablehlo.DivOp, digit, self.position(stride))
            if stride * size < mesh.total_size:
                digit = self.binary(stablehlo.RemOp, digit, self.position(size))
            index = (
                digit if index is None else self.add(self.scaled(index, size), digit)
            )
        assert index is not None
        return index


def _digits(mesh: Mesh, axes: Axes) -> list[tuple[int, int]]:
    """Strides and sizes of the axes in row-major device numbers, major first.

    Axes that follow each other in the mesh are one digit.
    """
    strides: dict[str, int] = {}
    stride = 1
    for name, size in reversed(mesh.axes):
        strides[name] = stride
        stride *= size
    digits: list[tuple[int, int]] = []
    for axis in axes:
        size = axis.size_in(mesh)
        minor = mesh.axis_size(axis.name) // axis.next_pre_size_in(mesh)
        stride = strides[axis.name] * minor
        if digits and digits[-1][0] == stride * size:
            digits[-1] = (stride, digits[-1][1] * size)
        else:
            digits.append((stride, size))
    return digits


def binary_region(op_class: type[Operation], element: Attribute) -> Region:
    """Return the body of a reduction by one binary op."""
    scalar = TensorType(element, [])
    block = Block(arg_types=[scalar, scalar])
    op = op_class.create(operands=block.args, result_types=[scalar])
    block.add_ops((op, stablehlo.ReturnOp.create(operands=op.results)))
    return Region(block)
