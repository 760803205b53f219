"""Ops that make, move, cut and join tensors without looking at the elements.

Source: StableHLO specification, one section an op.
"""

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
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
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo import _infer as infer, _shapes as shapes
from ttxdsl.dialects.stablehlo._base import (
    Field,
    Integers,
    NotNegative,
    PrettyNullaryOp,
    PrettyOp,
    PurePrettyOp,
    StableHLOOp,
)
from ttxdsl.dialects.stablehlo._quantized import (
    check_quantized_broadcast,
    check_quantized_reshape,
    check_quantized_transpose,
)
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo._syntax import (
    I64,
    I64S,
    i64_array,
    parse_attr_dict,
    print_attr_dict,
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
    element_of,
    shape_of,
    with_element,
)
from ttxdsl.dialects.traits import Linear, MovesData, RoundsOnce, SameBytes
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition


class ConstantFolds(HasFolder):
    """The folder with which `ConstantLike` returns the constant's value."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        """Return the value."""
        return (op.properties["value"],)


@irdl_op_definition
class ConstantOp(StableHLOOp):
    """A tensor that is written in the program. Spec section "constant"."""

    name = "stablehlo.constant"

    value = prop_def(AnyAttr())
    output = result_def(STATIC_TENSOR_PER_AXIS)

    traits = traits_def(Pure(), ConstantLike(), ConstantFolds(), MovesData())

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

    def verify_(self) -> None:
        """The result has the value's type; a quantized one its storage type."""
        value = self.value
        if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
            raise VerifyException(f"the value must be dense elements, got {value}")
        expected = cast("DenseResourceAttr", value).get_type()
        got = self.output.type
        element = element_of(got)
        if isinstance(element, QuantizedType):
            got = with_element(got, element.data.storage_type)
        if got != expected:
            raise VerifyException(f"the value has type {expected}, the result {got}")


@irdl_op_definition
class IotaOp(PrettyNullaryOp):
    """Each element's index along a dimension. Spec section "iota"."""

    name = "stablehlo.iota"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "iota_dimension", I64),)

    iota_dimension = prop_def(NotNegative)
    output = result_def(
        TensorOf(Kind.INT | Kind.FLOAT | Kind.COMPLEX | Kind.QUANT, static=True)
    )

    traits = traits_def(RoundsOnce())

    def verify_(self) -> None:
        """C1: the dimension is one of the result."""
        dim = self.iota_dimension.value.data
        shapes.require_dim(dim, shape_of(self.output.type), "iota_dimension", "C1")


@irdl_op_definition
class DynamicIotaOp(PurePrettyOp):
    """`iota` of a shape that is computed. Spec section "dynamic_iota"."""

    name = "stablehlo.dynamic_iota"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "iota_dimension", I64),)

    output_shape = operand_def(STATIC_DIMENSION_TENSOR)
    iota_dimension = prop_def(NotNegative)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        """C1: the dimension is one of the result; C2: the shape is the result's."""
        dim = self.iota_dimension.value.data
        shapes.require_dim(dim, shape_of(self.result.type), "iota_dimension", "C1")
        infer.require_computed_shape(self.output_shape, self.result.type, "C2")


class _MovingOp(PrettyOp, ABC):
    """Base of ops whose result holds elements of the operands, unchanged."""

    traits = traits_def(Pure(), MovesData())


@irdl_op_definition
class BroadcastOp(_MovingOp):
    """New leading dimensions. Deprecated, not in the specification."""

    name = "stablehlo.broadcast"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("sizes", "broadcast_sizes", I64S),)

    operand = operand_def(TENSOR)
    broadcast_sizes = prop_def(Integers)
    result = result_def(TENSOR_PER_AXIS)

    def verify_(self) -> None:
        """Sizes are not negative and come before the operand's."""
        sizes = self.broadcast_sizes.get_values()
        require(
            all(size >= 0 for size in sizes),
            f"broadcast_sizes {list(sizes)} has a negative",
        )
        infer.require_element(self.result.type, self.operand.type)
        infer.require_sizes(self.result.type, sizes + shape_of(self.operand.type))


@irdl_op_definition
class BroadcastInDimOp(_MovingOp):
    """Repetition along new and size-1 dimensions. Spec section "broadcast_in_dim".

    Dimension `i` of the operand is dimension `broadcast_dimensions[i]` of the result.
    """

    name = "stablehlo.broadcast_in_dim"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "broadcast_dimensions", I64S),)

    operand = operand_def(TENSOR_PER_AXIS)
    broadcast_dimensions = prop_def(Integers)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Linear())

    def verify_(self) -> None:
        """C1: element types; C2 to C6: dimensions and sizes."""
        operand, result = self.operand.type, self.result.type
        infer.require_element(result, operand, "result (C1)")
        infer.require_static_or_one_bound(result)
        dims = self.broadcast_dimensions.get_values()
        shapes.check_broadcast(shape_of(operand), dims, shape_of(result))
        check_quantized_broadcast(operand, dims, result)


@irdl_op_definition
class DynamicBroadcastInDimOp(_MovingOp):
    """`broadcast_in_dim` to a computed shape. Spec: "dynamic_broadcast_in_dim"."""

    name = "stablehlo.dynamic_broadcast_in_dim"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "broadcast_dimensions", I64S),)

    operand = operand_def(TENSOR_PER_AXIS)
    output_dimensions = operand_def(STATIC_DIMENSION_TENSOR)
    broadcast_dimensions = prop_def(Integers)
    known_expanding_dimensions = opt_prop_def(Integers)
    known_nonexpanding_dimensions = opt_prop_def(Integers)
    result = result_def(TENSOR_PER_AXIS)

    def verify_(self) -> None:
        """C1 to C10."""
        operand, result = self.operand.type, self.result.type
        infer.require_element(result, operand, "result (C1)")
        dims = self.broadcast_dimensions.get_values()
        shape, target = shape_of(operand), shape_of(result)
        require(
            len(target) >= len(shape),
            f"C3: the result has rank {len(target)}, the operand {len(shape)}",
        )
        shapes.require_length(dims, len(shape), "broadcast_dimensions", "C2")
        shapes.require_unique(dims, "broadcast_dimensions", "C4")
        shapes.require_dims(dims, len(target), "broadcast_dimensions", "C5", "result")
        for index, (size, dim) in enumerate(zip(shape, dims, strict=True)):
            if size != 1 and not shapes.sizes_fit(size, target[dim]):
                raise VerifyException(
                    f"C5: operand dimension {index} has size {size}, result dimension "
                    f"{dim} has {target[dim]}"
                )
        infer.require_computed_shape(self.output_dimensions, result, "C7")
        known = tuple(
            dim
            for array in (
                self.known_expanding_dimensions,
                self.known_nonexpanding_dimensions,
            )
            if array is not None
            for dim in array.get_values()
        )
        shapes.require_unique(known, "known dimensions", "C8")
        shapes.require_dims(known, len(shape), "known dimensions", "C9, C10")
        values = infer.constant_ints(self.output_dimensions)
        if values is not None and DYNAMIC_INDEX not in shape:
            for index, (size, dim) in enumerate(zip(shape, dims, strict=True)):
                if size not in (1, values[dim]):
                    raise VerifyException(
                        f"C5: operand dimension {index} has size {size}, but "
                        f"output_dimensions has {values[dim]}"
                    )
        check_quantized_broadcast(operand, dims, result)


@irdl_op_definition
class ReshapeOp(_MovingOp):
    """Another shape for the same elements in the same order. Spec section "reshape"."""

    name = "stablehlo.reshape"

    operand = operand_def(TENSOR_PER_AXIS)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(SameBytes(), Linear())

    def verify_(self) -> None:
        """C1: element types; C2: numbers of elements."""
        operand, result = self.operand.type, self.result.type
        infer.require_element(result, operand, "result (C1)")
        infer.require_static_or_one_bound(result)
        shapes.check_reshape(shape_of(operand), shape_of(result))
        check_quantized_reshape(operand, result)


@irdl_op_definition
class DynamicReshapeOp(_MovingOp):
    """`reshape` to a computed shape. Spec section "dynamic_reshape"."""

    name = "stablehlo.dynamic_reshape"

    operand = operand_def(TENSOR_PER_AXIS)
    output_shape = operand_def(STATIC_DIMENSION_TENSOR)
    result = result_def(TENSOR_PER_AXIS)

    def verify_(self) -> None:
        """C1: element types; C2: numbers of elements; C4: the shape."""
        operand, result = self.operand.type, self.result.type
        infer.require_element(result, operand, "result (C1)")
        shapes.check_reshape(shape_of(operand), shape_of(result))
        infer.require_computed_shape(self.output_shape, result, "C4")
        rank = shape_of(self.output_shape.type)[0]
        if rank != len(shape_of(result)):
            raise VerifyException(
                f"C4: output_shape has {rank} entries, but the result {result}"
            )
        values = infer.constant_ints(self.output_shape)
        if values is not None:
            shapes.check_reshape(shape_of(operand), values)
        check_quantized_reshape(operand, result)


@irdl_op_definition
class TransposeOp(_MovingOp):
    """Permuted dimensions. Spec section "transpose".

    Dimension `i` of the result is dimension `permutation[i]` of the operand.
    """

    name = "stablehlo.transpose"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "permutation", I64S),)

    operand = operand_def(TENSOR_PER_AXIS)
    permutation = prop_def(Integers)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Linear())

    def verify_(self) -> None:
        """C1: element types; C2: a permutation; C3: sizes."""
        operand, result = self.operand.type, self.result.type
        infer.require_element(result, operand, "result (C1)")
        permutation = self.permutation.get_values()
        shape = shapes.transpose(shape_of(operand), permutation)
        infer.require_sizes(result, shape, "result (C3)")
        check_quantized_transpose(operand, permutation, result)


@irdl_op_definition
class ReverseOp(_MovingOp):
    """Reversed order along dimensions. Spec section "reverse"."""

    name = "stablehlo.reverse"

    SHORTHAND: ClassVar[bool] = True
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dims", "dimensions", I64S),)

    operand = operand_def(TENSOR)
    dimensions = prop_def(Integers)
    result = result_def(TENSOR)

    traits = traits_def(Linear())

    def verify_(self) -> None:
        """C1: one type; C2, C3: dimensions."""
        infer.require_type(self.result.type, self.operand.type, "result (C1)")
        shapes.check_reverse(shape_of(self.operand.type), self.dimensions.get_values())


@irdl_op_definition
class SliceOp(_MovingOp):
    """Every `stride`-th element from `start` up to `limit`. Spec section "slice"."""

    name = "stablehlo.slice"

    operand = operand_def(TENSOR)
    start_indices = prop_def(Integers)
    limit_indices = prop_def(Integers)
    strides = prop_def(Integers)
    result = result_def(TENSOR)

    traits = traits_def(Linear())

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

    def print(self, printer: Printer) -> None:
        """Print the op; the generic form if the arrays differ in length."""
        lengths = {len(values) for values in (self.start_indices, self.limit_indices)}
        if lengths == {len(self.strides)}:
            super().print(printer)
        else:
            printer.print_op_with_default_format(self)

    def print_fields(self, printer: Printer) -> None:
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
        """Return the three arrays."""
        return ("start_indices", "limit_indices", "strides")

    def verify_(self) -> None:
        """C1: element types; C2 to C4: ranges; C5: sizes."""
        operand, result = self.operand.type, self.result.type
        infer.require_equal_elements(operand, result, "C1")
        shape = shapes.slice_(
            shape_of(operand),
            self.start_indices.get_values(),
            self.limit_indices.get_values(),
            self.strides.get_values(),
        )
        infer.require_sizes(result, shape, "result (C5)")


@irdl_op_definition
class DynamicSliceOp(_MovingOp):
    """A slice of fixed size at a computed place. Spec section "dynamic_slice"."""

    name = "stablehlo.dynamic_slice"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("sizes", "slice_sizes", I64S),)

    operand = operand_def(TENSOR)
    start_indices = var_operand_def(SCALAR_INT_TENSOR)
    slice_sizes = prop_def(Integers)
    result = result_def(TENSOR)

    traits = traits_def(Linear(stop=1))

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse `sizes = […]`.

        C++ prints an operand of rank 0 as `%x, , sizes = []`, which it does not read
        back; we read that and print one comma.
        """
        parser.parse_optional_punctuation(",")
        return super().parse_fields(parser, comma)

    def verify_(self) -> None:
        """C1: element types; C2 to C4: sizes; C5: the result."""
        operand, result = self.operand.type, self.result.type
        infer.require_same_indices(self.start_indices, "C3")
        infer.require_equal_elements(operand, result, "C1")
        shape = shapes.dynamic_slice(
            shape_of(operand), len(self.start_indices), self.slice_sizes.get_values()
        )
        infer.require_sizes(result, shape, "result (C5)")


@irdl_op_definition
class DynamicUpdateSliceOp(_MovingOp):
    """A tensor with a slice replaced at a computed place. Spec: same name."""

    name = "stablehlo.dynamic_update_slice"

    operand = operand_def(TENSOR)
    update = operand_def(TENSOR)
    start_indices = var_operand_def(SCALAR_INT_TENSOR)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        """C1, C2: element types; C3 to C6: ranks, indices and sizes."""
        operand, update = self.operand.type, self.update.type
        infer.require_same_indices(self.start_indices, "C5")
        infer.require_equal_elements(operand, update, "C2", "update")
        shapes.check_update_slice(
            shape_of(operand), shape_of(update), len(self.start_indices)
        )
        infer.require_type(self.result.type, operand, "result (C1)")


@irdl_op_definition
class RealDynamicSliceOp(PurePrettyOp):
    """A slice whose ends and strides are computed. Not in the specification."""

    name = "stablehlo.real_dynamic_slice"

    operand = operand_def(TENSOR)
    start_indices = operand_def(DIMENSION_TENSOR)
    limit_indices = operand_def(DIMENSION_TENSOR)
    strides = operand_def(DIMENSION_TENSOR)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        """The indices have one type and one entry a dimension."""
        operand, result = self.operand.type, self.result.type
        infer.require_equal_elements(operand, result)
        rank = len(shape_of(operand))
        for name, value in (
            ("start_indices", self.start_indices),
            ("limit_indices", self.limit_indices),
            ("strides", self.strides),
        ):
            if value.type != self.start_indices.type or shape_of(value.type) != (rank,):
                raise VerifyException(
                    f"{name} must have {rank} entries, got {value.type}"
                )


@irdl_op_definition
class ConcatenateOp(_MovingOp):
    """Tensors one after the other along a dimension. Spec section "concatenate"."""

    name = "stablehlo.concatenate"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "dimension", I64),)

    inputs = var_operand_def(TENSOR)
    dimension = prop_def(NotNegative)
    result = result_def(TENSOR)

    traits = traits_def(Linear())

    def verify_(self) -> None:
        """C1: element types; C2 to C4: shapes; C5, C6: the result."""
        result = self.result.type
        require(bool(self.inputs), "C3: there must be an input")
        for value in self.inputs:
            infer.require_equal_elements(value.type, result, "C1, C5")
        shape = shapes.concatenate(
            [shape_of(value.type) for value in self.inputs], self.dimension.value.data
        )
        infer.require_sizes(result, shape, "result (C6)")


@irdl_op_definition
class PadOp(_MovingOp):
    """Padding at the edges and between elements; negative cuts. Spec section "pad"."""

    name = "stablehlo.pad"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("low", "edge_padding_low", I64S),
        Field("high", "edge_padding_high", I64S),
        Field("interior", "interior_padding", I64S),
    )

    operand = operand_def(TENSOR)
    padding_value = operand_def(SCALAR_TENSOR)
    edge_padding_low = prop_def(Integers)
    edge_padding_high = prop_def(Integers)
    interior_padding = prop_def(Integers)
    result = result_def(TENSOR)

    traits = traits_def(Linear())

    def verify_(self) -> None:
        """C1: element types; C2, C3: amounts; C4: the result."""
        operand, result = self.operand.type, self.result.type
        padding = self.padding_value.type
        infer.require_equal_elements(operand, padding, "C1", "padding value")
        infer.require_equal_elements(operand, result, "C1")
        shape = shapes.pad(
            shape_of(operand),
            self.edge_padding_low.get_values(),
            self.edge_padding_high.get_values(),
            self.interior_padding.get_values(),
        )
        infer.require_sizes(result, shape, "result (C4)")


@irdl_op_definition
class DynamicPadOp(PurePrettyOp):
    """`pad` by computed amounts. Spec section "dynamic_pad"."""

    name = "stablehlo.dynamic_pad"

    operand = operand_def(TENSOR)
    padding_value = operand_def(SCALAR_TENSOR)
    edge_padding_low = operand_def(STATIC_DIMENSION_TENSOR)
    edge_padding_high = operand_def(STATIC_DIMENSION_TENSOR)
    interior_padding = operand_def(STATIC_DIMENSION_TENSOR)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        """C1: element types; C2, C3: amounts; C4: the result."""
        operand, result = self.operand.type, self.result.type
        padding = self.padding_value.type
        infer.require_equal_elements(operand, padding, "C1", "padding value")
        infer.require_equal_elements(operand, result, "C1")
        rank = len(shape_of(operand))
        if len(shape_of(result)) != rank:
            raise VerifyException(
                f"C4: the operand has rank {rank}, the result is {result}"
            )
        amounts = (
            self.edge_padding_low,
            self.edge_padding_high,
            self.interior_padding,
        )
        for amount_type in amounts:
            if amount_type.type != amounts[0].type or shape_of(amount_type.type) != (
                rank,
            ):
                raise VerifyException(
                    f"C2: amounts must have {rank} entries of one type, got {amount_type.type}"
                )
        low, high, interior = (
            infer.constant_ints(amount_type) for amount_type in amounts
        )
        if interior is not None:
            require(
                all(amount >= 0 for amount in interior),
                f"C3: interior padding {list(interior)} has a negative",
            )
            target = shape_of(result)
            if low is not None and high is not None and DYNAMIC_INDEX not in target:
                shape = shapes.pad(shape_of(operand), low, high, interior)
                infer.require_sizes(result, shape, "result (C4)")


@irdl_op_definition
class BitcastConvertOp(_MovingOp):
    """The same bits as elements of another type. Spec section "bitcast_convert"."""

    name = "stablehlo.bitcast_convert"

    operand = operand_def(TENSOR_PER_AXIS)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(SameBytes())

    def verify_(self) -> None:
        """C1: sizes and widths; C2: complex to complex only."""
        operand, result = self.operand.type, self.result.type
        source, target = element_of(operand), element_of(result)
        if isinstance(source, ComplexType) != isinstance(target, ComplexType):
            raise VerifyException(
                f"C2: {operand} and {result} must both be complex, or neither"
            )
        shapes.check_bitcast(
            shape_of(operand), infer.bits(source), shape_of(result), infer.bits(target)
        )


@irdl_op_definition
class GetDimensionSizeOp(_MovingOp):
    """The size of a dimension. Spec section "get_dimension_size"."""

    name = "stablehlo.get_dimension_size"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "dimension", I64),)

    operand = operand_def(TENSOR_PER_AXIS)
    dimension = prop_def(NotNegative)
    result = result_def(TensorOf(Kind.SINT))

    def verify_(self) -> None:
        """C1: the dimension is one of the operand; the result is an i32."""
        dim = self.dimension.value.data
        shapes.require_dim(dim, shape_of(self.operand.type), "dimension", "C1")
        infer.require_type(self.result.type, TensorType(i32, ()))


@irdl_op_definition
class SetDimensionSizeOp(PurePrettyOp):
    """A tensor with a dimension's dynamic size set. Not in the specification."""

    name = "stablehlo.set_dimension_size"

    FIELDS: ClassVar[tuple[Field, ...]] = (Field("dim", "dimension", I64),)

    operand = operand_def(TENSOR)
    size = operand_def(TensorOf(Kind.SINT))
    dimension = prop_def(NotNegative)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        """The dimension is one of the operand; the size is a scalar i32."""
        operand, result = self.operand.type, self.result.type
        dim = self.dimension.value.data
        shapes.require_dim(dim, shape_of(operand), "dimension")
        infer.require_type(self.size.type, TensorType(i32, ()), "size")
        infer.require_element(result, operand)
        shape = list(shape_of(operand))
        size = infer.constant_ints(self.size)
        if size is None or size[0] != shape[dim]:
            shape[dim] = DYNAMIC_INDEX
        infer.require_sizes(result, tuple(shape))
