"""Ops that make, move, cut and join tensors without looking at the elements.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasFolder, Pure

from ttxdsl.dialects.stablehlo._base import (
    Field,
    Integer,
    IntegerArray,
    PrettyOp,
    StableHLOOp,
)
from ttxdsl.dialects.stablehlo._syntax import (
    I64,
    I64S,
    Types,
    i64_array,
    parse_attr_dict,
    parse_type,
    print_attr_dict,
    print_type,
)
from ttxdsl.dialects.stablehlo.types import (
    DIMENSION_TENSOR,
    SCALAR_INT_TENSOR,
    SCALAR_TENSOR,
    STATIC_DIMENSION_TENSOR,
    STATIC_TENSOR_PER_AXIS,
    TENSOR,
    TENSOR_PER_AXIS,
    Kind,
    TensorOf,
    shape_of,
    with_shape,
)

_Ints = Sequence[int] | DenseArrayBase[IntegerType]


def _array(values: _Ints) -> DenseArrayBase:
    return values if isinstance(values, DenseArrayBase) else i64_array(values)


def _values(values: _Ints) -> tuple[int, ...]:
    return values.get_values() if isinstance(values, DenseArrayBase) else tuple(values)


class ConstantFolds(HasFolder):
    """The folder that makes `ConstantLike` answer with the constant's value."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        """The value."""
        return (op.properties["value"],)


@irdl_op_definition
class ConstantOp(StableHLOOp):
    """A tensor that is written in the program. Spec section "constant"."""

    name = "stablehlo.constant"

    value = prop_def(AnyAttr())
    output = result_def(STATIC_TENSOR_PER_AXIS)

    traits = traits_def(Pure(), ConstantLike(), ConstantFolds())

    def __init__(
        self,
        value: DenseIntOrFPElementsAttr | DenseResourceAttr,
        result_type: Attribute | None = None,
    ):
        super().__init__(
            properties={"value": value},
            result_types=[value.get_type() if result_type is None else result_type],
        )
        self.output.name_hint = self.result_name()

    def result_name(self) -> str:
        """The name that MLIR gives the result: `c` for integers, else `cst`."""
        tensor = self.output.type
        is_integer = isinstance(tensor, TensorType) and isinstance(
            cast("TensorType[Attribute]", tensor).element_type, IntegerType
        )
        return "c" if is_integer else "cst"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `dense<…> : type`, or the generic form behind the op's name."""
        if parser.parse_optional_punctuation("(") is not None:
            parser.parse_punctuation(")")
            properties = parser.parse_optional_properties_dict()
            attributes = parse_attr_dict(parser, cls, properties)
            parser.parse_punctuation(":")
            function = parser.parse_function_type()
            return cls.create(
                result_types=function.outputs.data,
                properties=properties,
                attributes=attributes,
            )
        properties: dict[str, Attribute] = {}
        attributes = parse_attr_dict(parser, cls, properties)
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
            parser.raise_error("expected dense elements", position)
        properties["value"] = cast(Attribute, value)
        return cls.create(
            result_types=(cast("DenseResourceAttr", value).get_type(),),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `dense<…> : type`, or the generic form if the types differ."""
        value = cast("DenseResourceAttr", self.value)
        if value.get_type() != self.output.type:
            printer.print_op_with_default_format(self)
            return
        print_attr_dict(printer, self, ("value",))
        printer.print_string(" ")
        printer.print_attribute(value)


@irdl_op_definition
class IotaOp(PrettyOp):
    """Each element's index along a dimension. Spec section "iota"."""

    name = "stablehlo.iota"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "iota_dimension", I64),)

    iota_dimension = prop_def(Integer)
    output = result_def(
        TensorOf(Kind.INT | Kind.FLOAT | Kind.COMPLEX | Kind.QUANT, static=True)
    )

    traits = traits_def(Pure())

    def __init__(self, iota_dimension: int, result_type: Attribute):
        super().__init__(
            result_types=[result_type],
            properties={"iota_dimension": IntegerAttr(iota_dimension, i64)},
        )

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> tuple[Types, Types]:
        """Parse the result's type."""
        return (), (parse_type(parser),)

    def print_types(self, printer: Printer) -> None:
        """Print the result's type."""
        print_type(printer, self.output.type)


@irdl_op_definition
class DynamicIotaOp(PrettyOp):
    """`iota` of a shape that is computed. Spec section "dynamic_iota"."""

    name = "stablehlo.dynamic_iota"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "iota_dimension", I64),)

    output_shape = operand_def(STATIC_DIMENSION_TENSOR)
    iota_dimension = prop_def(Integer)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self, output_shape: SSAValue, iota_dimension: int, result_type: Attribute
    ):
        super().__init__(
            operands=[output_shape],
            result_types=[result_type],
            properties={"iota_dimension": IntegerAttr(iota_dimension, i64)},
        )


@irdl_op_definition
class BroadcastOp(PrettyOp):
    """New leading dimensions. Deprecated, not in the specification."""

    name = "stablehlo.broadcast"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("sizes", "broadcast_sizes", I64S),)

    operand = operand_def(TENSOR)
    broadcast_sizes = prop_def(IntegerArray)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, broadcast_sizes: _Ints):
        sizes = _values(broadcast_sizes)
        super().__init__(
            operands=[operand],
            result_types=[with_shape(operand.type, sizes + shape_of(operand.type))],
            properties={"broadcast_sizes": _array(sizes)},
        )


@irdl_op_definition
class BroadcastInDimOp(PrettyOp):
    """Repetition along new and size-1 dimensions. Spec section "broadcast_in_dim".

    Dimension `i` of the operand is dimension `broadcast_dimensions[i]` of the result.
    """

    name = "stablehlo.broadcast_in_dim"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "broadcast_dimensions", I64S),)

    operand = operand_def(TENSOR_PER_AXIS)
    broadcast_dimensions = prop_def(IntegerArray)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(
        self, operand: SSAValue, broadcast_dimensions: _Ints, result_type: Attribute
    ):
        super().__init__(
            operands=[operand],
            result_types=[result_type],
            properties={"broadcast_dimensions": _array(broadcast_dimensions)},
        )


@irdl_op_definition
class DynamicBroadcastInDimOp(PrettyOp):
    """`broadcast_in_dim` to a computed shape. Spec: "dynamic_broadcast_in_dim"."""

    name = "stablehlo.dynamic_broadcast_in_dim"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "broadcast_dimensions", I64S),)

    operand = operand_def(TENSOR_PER_AXIS)
    output_dimensions = operand_def(STATIC_DIMENSION_TENSOR)
    broadcast_dimensions = prop_def(IntegerArray)
    known_expanding_dimensions = opt_prop_def(IntegerArray)
    known_nonexpanding_dimensions = opt_prop_def(IntegerArray)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        output_dimensions: SSAValue,
        broadcast_dimensions: _Ints,
        result_type: Attribute,
    ):
        super().__init__(
            operands=[operand, output_dimensions],
            result_types=[result_type],
            properties={"broadcast_dimensions": _array(broadcast_dimensions)},
        )


@irdl_op_definition
class ReshapeOp(PrettyOp):
    """Another shape for the same elements in the same order. Spec section "reshape"."""

    name = "stablehlo.reshape"

    operand = operand_def(TENSOR_PER_AXIS)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, result_type: Attribute):
        super().__init__(operands=[operand], result_types=[result_type])


@irdl_op_definition
class DynamicReshapeOp(PrettyOp):
    """`reshape` to a computed shape. Spec section "dynamic_reshape"."""

    name = "stablehlo.dynamic_reshape"

    operand = operand_def(TENSOR_PER_AXIS)
    output_shape = operand_def(STATIC_DIMENSION_TENSOR)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(
        self, operand: SSAValue, output_shape: SSAValue, result_type: Attribute
    ):
        super().__init__(operands=[operand, output_shape], result_types=[result_type])


@irdl_op_definition
class TransposeOp(PrettyOp):
    """Permuted dimensions. Spec section "transpose".

    Dimension `i` of the result is dimension `permutation[i]` of the operand.
    """

    name = "stablehlo.transpose"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "permutation", I64S),)

    operand = operand_def(TENSOR_PER_AXIS)
    permutation = prop_def(IntegerArray)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        permutation: _Ints,
        result_type: Attribute | None = None,
    ):
        if result_type is None:
            shape = shape_of(operand.type)
            result_type = with_shape(
                operand.type, (shape[dim] for dim in _values(permutation))
            )
        super().__init__(
            operands=[operand],
            result_types=[result_type],
            properties={"permutation": _array(permutation)},
        )


@irdl_op_definition
class ReverseOp(PrettyOp):
    """Reversed order along dimensions. Spec section "reverse"."""

    name = "stablehlo.reverse"

    SHORTHAND: ClassVar[bool] = True
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "dimensions", I64S),)

    operand = operand_def(TENSOR)
    dimensions = prop_def(IntegerArray)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, dimensions: _Ints):
        super().__init__(
            operands=[operand],
            result_types=[operand.type],
            properties={"dimensions": _array(dimensions)},
        )


@irdl_op_definition
class SliceOp(PrettyOp):
    """Every `stride`-th element from `start` up to `limit`. Spec section "slice"."""

    name = "stablehlo.slice"

    operand = operand_def(TENSOR)
    start_indices = prop_def(IntegerArray)
    limit_indices = prop_def(IntegerArray)
    strides = prop_def(IntegerArray)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        start_indices: _Ints,
        limit_indices: _Ints,
        strides: _Ints,
        result_type: Attribute | None = None,
    ):
        if result_type is None:
            result_type = with_shape(
                operand.type,
                (
                    -(-(limit - start) // stride)
                    for start, limit, stride in zip(
                        _values(start_indices),
                        _values(limit_indices),
                        _values(strides),
                        strict=True,
                    )
                ),
            )
        super().__init__(
            operands=[operand],
            result_types=[result_type],
            properties={
                "limit_indices": _array(limit_indices),
                "start_indices": _array(start_indices),
                "strides": _array(strides),
            },
        )

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse `[start:limit:stride, …]`; a stride of 1 may be left out."""
        starts: list[int] = []
        limits: list[int] = []
        strides: list[int] = []

        def parse_range() -> None:
            starts.append(parser.parse_integer())
            parser.parse_punctuation(":")
            limits.append(parser.parse_integer())
            more = parser.parse_optional_punctuation(":") is not None
            strides.append(parser.parse_integer() if more else 1)

        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
        return {
            "limit_indices": i64_array(limits),
            "start_indices": i64_array(starts),
            "strides": i64_array(strides),
        }

    def print_fields(self, printer: Printer) -> None:
        """Print `[start:limit:stride, …]`."""
        ranges = (
            f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"
            for start, limit, stride in zip(
                self.start_indices.get_values(),
                self.limit_indices.get_values(),
                self.strides.get_values(),
                strict=True,
            )
        )
        printer.print_string(f" [{', '.join(ranges)}]")

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """The three arrays."""
        return ("start_indices", "limit_indices", "strides")


@irdl_op_definition
class DynamicSliceOp(PrettyOp):
    """A slice of fixed size at a computed place. Spec section "dynamic_slice"."""

    name = "stablehlo.dynamic_slice"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("sizes", "slice_sizes", I64S),)

    operand = operand_def(TENSOR)
    start_indices = var_operand_def(SCALAR_INT_TENSOR)
    slice_sizes = prop_def(IntegerArray)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        start_indices: Sequence[SSAValue],
        slice_sizes: _Ints,
    ):
        super().__init__(
            operands=[operand, start_indices],
            result_types=[with_shape(operand.type, _values(slice_sizes))],
            properties={"slice_sizes": _array(slice_sizes)},
        )

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse `sizes = […]`.

        C++ prints an operand of rank 0 as `%x, , sizes = []`, which it does not read
        back; we read that and print one comma.
        """
        parser.parse_optional_punctuation(",")
        return super().parse_fields(parser, comma)


@irdl_op_definition
class DynamicUpdateSliceOp(PrettyOp):
    """A tensor with a slice replaced at a computed place. Spec: same name."""

    name = "stablehlo.dynamic_update_slice"

    operand = operand_def(TENSOR)
    update = operand_def(TENSOR)
    start_indices = var_operand_def(SCALAR_INT_TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self, operand: SSAValue, update: SSAValue, start_indices: Sequence[SSAValue]
    ):
        super().__init__(
            operands=[operand, update, start_indices], result_types=[operand.type]
        )


@irdl_op_definition
class RealDynamicSliceOp(PrettyOp):
    """A slice whose ends and strides are computed. Not in the specification."""

    name = "stablehlo.real_dynamic_slice"

    operand = operand_def(TENSOR)
    start_indices = operand_def(DIMENSION_TENSOR)
    limit_indices = operand_def(DIMENSION_TENSOR)
    strides = operand_def(DIMENSION_TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        start_indices: SSAValue,
        limit_indices: SSAValue,
        strides: SSAValue,
        result_type: Attribute,
    ):
        super().__init__(
            operands=[operand, start_indices, limit_indices, strides],
            result_types=[result_type],
        )


@irdl_op_definition
class ConcatenateOp(PrettyOp):
    """Tensors one after the other along a dimension. Spec section "concatenate"."""

    name = "stablehlo.concatenate"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "dimension", I64),)

    inputs = var_operand_def(TENSOR)
    dimension = prop_def(Integer)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        dimension: int,
        result_type: Attribute | None = None,
    ):
        if result_type is None:
            shape = list(shape_of(inputs[0].type))
            shape[dimension] = sum(shape_of(one.type)[dimension] for one in inputs)
            result_type = with_shape(inputs[0].type, shape)
        super().__init__(
            operands=[inputs],
            result_types=[result_type],
            properties={"dimension": IntegerAttr(dimension, i64)},
        )


@irdl_op_definition
class PadOp(PrettyOp):
    """Padding at the edges and between elements; negative cuts. Spec section "pad"."""

    name = "stablehlo.pad"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("low", "edge_padding_low", I64S),
        Field("high", "edge_padding_high", I64S),
        Field("interior", "interior_padding", I64S),
    )

    operand = operand_def(TENSOR)
    padding_value = operand_def(SCALAR_TENSOR)
    edge_padding_low = prop_def(IntegerArray)
    edge_padding_high = prop_def(IntegerArray)
    interior_padding = prop_def(IntegerArray)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        padding_value: SSAValue,
        edge_padding_low: _Ints,
        edge_padding_high: _Ints,
        interior_padding: _Ints,
    ):
        shape = (
            size + low + high + max(size - 1, 0) * interior
            for size, low, high, interior in zip(
                shape_of(operand.type),
                _values(edge_padding_low),
                _values(edge_padding_high),
                _values(interior_padding),
                strict=True,
            )
        )
        super().__init__(
            operands=[operand, padding_value],
            result_types=[with_shape(operand.type, shape)],
            properties={
                "edge_padding_high": _array(edge_padding_high),
                "edge_padding_low": _array(edge_padding_low),
                "interior_padding": _array(interior_padding),
            },
        )


@irdl_op_definition
class DynamicPadOp(PrettyOp):
    """`pad` by computed amounts. Spec section "dynamic_pad"."""

    name = "stablehlo.dynamic_pad"

    operand = operand_def(TENSOR)
    padding_value = operand_def(SCALAR_TENSOR)
    edge_padding_low = operand_def(STATIC_DIMENSION_TENSOR)
    edge_padding_high = operand_def(STATIC_DIMENSION_TENSOR)
    interior_padding = operand_def(STATIC_DIMENSION_TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        padding_value: SSAValue,
        edge_padding_low: SSAValue,
        edge_padding_high: SSAValue,
        interior_padding: SSAValue,
        result_type: Attribute,
    ):
        super().__init__(
            operands=[
                operand,
                padding_value,
                edge_padding_low,
                edge_padding_high,
                interior_padding,
            ],
            result_types=[result_type],
        )


@irdl_op_definition
class BitcastConvertOp(PrettyOp):
    """The same bits as elements of another type. Spec section "bitcast_convert"."""

    name = "stablehlo.bitcast_convert"

    operand = operand_def(TENSOR_PER_AXIS)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, result_type: Attribute):
        super().__init__(operands=[operand], result_types=[result_type])


@irdl_op_definition
class GetDimensionSizeOp(PrettyOp):
    """The size of a dimension. Spec section "get_dimension_size"."""

    name = "stablehlo.get_dimension_size"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "dimension", I64),)

    operand = operand_def(TENSOR_PER_AXIS)
    dimension = prop_def(Integer)
    result = result_def(TensorOf(Kind.SINT))

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, dimension: int):
        super().__init__(
            operands=[operand],
            result_types=[TensorType(i32, ())],
            properties={"dimension": IntegerAttr(dimension, i64)},
        )


@irdl_op_definition
class SetDimensionSizeOp(PrettyOp):
    """A tensor with a dimension's dynamic size set. Not in the specification."""

    name = "stablehlo.set_dimension_size"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "dimension", I64),)

    operand = operand_def(TENSOR)
    size = operand_def(TensorOf(Kind.SINT))
    dimension = prop_def(Integer)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        size: SSAValue,
        dimension: int,
        result_type: Attribute,
    ):
        super().__init__(
            operands=[operand, size],
            result_types=[result_type],
            properties={"dimension": IntegerAttr(dimension, i64)},
        )
