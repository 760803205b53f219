"""Ops that slide a window over a tensor: convolutions, reductions and pooling.

Source: StableHLO specification, sections "convolution", "dynamic_conv",
"reduce_window", "select_and_scatter".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    BaseAttr,
    SameVariadicOperandSize,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect

from ttxdsl.dialects.stablehlo._base import (
    Array,
    Integer,
    IntegerArray,
    StableHLOOp,
)
from ttxdsl.dialects.stablehlo._syntax import (
    bool_array,
    i64_array,
    parse_attr_dict,
    parse_integers,
    parse_operands,
    parse_signature,
    print_attr_dict,
    print_signature,
    print_values,
)
from ttxdsl.dialects.stablehlo.attributes import (
    ConvDimensionNumbersAttr,
    conv_dims_text,
    parse_conv_dims,
)
from ttxdsl.dialects.stablehlo.types import (
    TENSOR,
    TENSOR_PER_AXIS,
    Kind,
    TensorOf,
)

Elements = BaseAttr(DenseIntOrFPElementsAttr)
_Ints = Sequence[int] | DenseArrayBase[IntegerType]
Padding = Sequence[tuple[int, int]]
"""What is added before and after each dimension; negative cuts."""


def padding_attr(padding: Padding | DenseIntOrFPElementsAttr) -> Attribute:
    """Padding as the `dense<…> : tensor<nx2xi64>` that ops carry."""
    if isinstance(padding, DenseIntOrFPElementsAttr):
        return cast(Attribute, padding)
    flat = [amount for pair in padding for amount in pair]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, (len(padding), 2)), flat)


def padding_pairs(
    padding: DenseIntOrFPElementsAttr | None, dimensions: int
) -> tuple[tuple[int, int], ...]:
    """Padding as pairs; none is said: zeros."""
    if padding is None:
        return ((0, 0),) * dimensions
    flat = cast("tuple[int, ...]", padding.get_values())
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def window_values(values: DenseArrayBase[IntegerType] | None, dimensions: int):
    """Strides or dilations as a tuple; none are said: ones."""
    return (1,) * dimensions if values is None else values.get_values()


def _array(values: _Ints | None) -> DenseArrayBase | None:
    if values is None or isinstance(values, DenseArrayBase):
        return values
    return i64_array(values)


_WINDOW = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
"""The words of a convolution's `window = {…}`, in order, and their properties."""


@irdl_op_definition
class ConvolutionOp(StableHLOOp):
    """Products of a kernel with windows of the input. Spec section "convolution"."""

    name = "stablehlo.convolution"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR_PER_AXIS)
    window_strides = opt_prop_def(IntegerArray)
    padding = opt_prop_def(Elements)
    lhs_dilation = opt_prop_def(IntegerArray)
    rhs_dilation = opt_prop_def(IntegerArray)
    window_reversal = opt_prop_def(IntegerArray)
    dimension_numbers = prop_def(BaseAttr(ConvDimensionNumbersAttr))
    feature_group_count = prop_def(Integer)
    batch_group_count = prop_def(Integer)
    precision_config = opt_prop_def(Array)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Pure())

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        dimension_numbers: ConvDimensionNumbersAttr,
        result_type: Attribute,
        *,
        window_strides: _Ints | None = None,
        padding: Padding | DenseIntOrFPElementsAttr | None = None,
        lhs_dilation: _Ints | None = None,
        rhs_dilation: _Ints | None = None,
        window_reversal: Sequence[bool] | None = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: ArrayAttr[Attribute] | None = None,
    ):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[result_type],
            properties={
                "batch_group_count": IntegerAttr(batch_group_count, i64),
                "dimension_numbers": dimension_numbers,
                "feature_group_count": IntegerAttr(feature_group_count, i64),
                "lhs_dilation": _array(lhs_dilation),
                "padding": None if padding is None else padding_attr(padding),
                "precision_config": precision_config,
                "rhs_dilation": _array(rhs_dilation),
                "window_reversal": (
                    None if window_reversal is None else bool_array(window_reversal)
                ),
                "window_strides": _array(window_strides),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `(%lhs, %rhs) dim_numbers = …, window = {…} {…} : (…) -> …`."""
        parser.parse_punctuation("(")
        operands, _ = parse_operands(parser)
        parser.parse_punctuation(")")
        parser.parse_keyword("dim_numbers")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "dimension_numbers": ConvDimensionNumbersAttr(parse_conv_dims(parser))
        }
        parser.parse_punctuation(",")
        parser.parse_keyword("window")
        parser.parse_punctuation("=")
        with parser.in_braces():
            _parse_window(parser, properties)
        attributes = parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = parse_signature(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, operand_types, position),
            result_types=result_types,
            properties={name: properties[name] for name in sorted(properties)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `(%lhs, %rhs) dim_numbers = …, window = {…} {…} : (…) -> …`."""
        dims = conv_dims_text(self.dimension_numbers.data)
        if dims is None:
            # Only the raw attribute can say dimensions that clash.
            printer.print_op_with_default_format(self)
            return
        with printer.in_parens():
            print_values(printer, self.operands)
        window: list[str] = []
        for word, name in _WINDOW.items():
            value = self.properties.get(name)
            if value is None:
                continue
            if isinstance(value, DenseIntOrFPElementsAttr):
                pairs = padding_pairs(value, 0)
                texts = [f"[{low}, {high}]" for low, high in pairs]
            else:
                numbers = cast("DenseArrayBase[IntegerType]", value).get_values()
                texts = [
                    ("true" if number else "false")
                    if word == "reverse"
                    else str(number)
                    for number in numbers
                ]
            window.append(f"{word} = [{', '.join(texts)}]")
        printer.print_string(f" dim_numbers = {dims}, window = {{{', '.join(window)}}}")
        print_attr_dict(printer, self, ("dimension_numbers", *_WINDOW.values()))
        printer.print_string(" : ")
        print_signature(printer, self)


def _parse_window(parser: Parser, properties: dict[str, Attribute]) -> None:
    """Parse `stride = [1], pad = [[0, 0]], …` in any order."""
    while (word := parser.parse_optional_identifier()) is not None:
        name = _WINDOW.get(word)
        if name is None or name in properties:
            parser.raise_error(f"unexpected keyword {word}")
        parser.parse_punctuation("=")
        reader = _WINDOW_READERS.get(word, lambda one: i64_array(parse_integers(one)))
        properties[name] = reader(parser)
        if parser.parse_optional_punctuation(",") is None:
            return


def _parse_padding(parser: Parser) -> Attribute:
    position = parser.pos
    pairs = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_integers(parser)
    )
    if any(len(pair) != 2 for pair in pairs):
        parser.raise_error("padding is a list of pairs", position)
    return padding_attr([(low, high) for low, high in pairs])


def _parse_reversal(parser: Parser) -> Attribute:
    return bool_array(
        bool(value)
        for value in parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_integer
        )
    )


_WINDOW_READERS: dict[str, Callable[[Parser], Attribute]] = {
    "pad": _parse_padding,
    "reverse": _parse_reversal,
}


@irdl_op_definition
class DynamicConvOp(StableHLOOp):
    """`convolution` with computed padding. Spec section "dynamic_conv"."""

    name = "stablehlo.dynamic_conv"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    padding = operand_def(TensorOf(Kind.INT, rank=2, static=True))
    window_strides = opt_prop_def(IntegerArray)
    lhs_dilation = opt_prop_def(IntegerArray)
    rhs_dilation = opt_prop_def(IntegerArray)
    window_reversal = opt_prop_def(IntegerArray)
    dimension_numbers = prop_def(BaseAttr(ConvDimensionNumbersAttr))
    feature_group_count = prop_def(Integer)
    batch_group_count = prop_def(Integer)
    precision_config = opt_prop_def(Array)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        padding: SSAValue,
        dimension_numbers: ConvDimensionNumbersAttr,
        result_type: Attribute,
        *,
        window_strides: _Ints | None = None,
        lhs_dilation: _Ints | None = None,
        rhs_dilation: _Ints | None = None,
        window_reversal: Sequence[bool] | None = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: ArrayAttr[Attribute] | None = None,
    ):
        super().__init__(
            operands=[lhs, rhs, padding],
            result_types=[result_type],
            properties={
                "batch_group_count": IntegerAttr(batch_group_count, i64),
                "dimension_numbers": dimension_numbers,
                "feature_group_count": IntegerAttr(feature_group_count, i64),
                "lhs_dilation": _array(lhs_dilation),
                "precision_config": precision_config,
                "rhs_dilation": _array(rhs_dilation),
                "window_reversal": (
                    None if window_reversal is None else bool_array(window_reversal)
                ),
                "window_strides": _array(window_strides),
            },
        )


@irdl_op_definition
class ReduceWindowOp(StableHLOOp):
    """Elements of each window combined into one. Spec section "reduce_window"."""

    name = "stablehlo.reduce_window"

    inputs = var_operand_def(TENSOR)
    init_values = var_operand_def(TENSOR)
    window_dimensions = prop_def(IntegerArray)
    window_strides = opt_prop_def(IntegerArray)
    base_dilations = opt_prop_def(IntegerArray)
    window_dilations = opt_prop_def(IntegerArray)
    padding = opt_prop_def(Elements)
    body = region_def()
    outputs = var_result_def(TENSOR)

    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        init_values: Sequence[SSAValue],
        window_dimensions: _Ints,
        body: Region,
        result_types: Sequence[Attribute],
        *,
        window_strides: _Ints | None = None,
        base_dilations: _Ints | None = None,
        window_dilations: _Ints | None = None,
        padding: Padding | DenseIntOrFPElementsAttr | None = None,
    ):
        super().__init__(
            operands=[inputs, init_values],
            result_types=[result_types],
            properties={
                "base_dilations": _array(base_dilations),
                "padding": None if padding is None else padding_attr(padding),
                "window_dilations": _array(window_dilations),
                "window_dimensions": _array(window_dimensions),
                "window_strides": _array(window_strides),
            },
            regions=[body],
        )


@irdl_op_definition
class SelectAndScatterOp(StableHLOOp):
    """Values added where a window's selected element is. Spec: same name."""

    name = "stablehlo.select_and_scatter"

    operand = operand_def(TENSOR)
    source = operand_def(TENSOR)
    init_value = operand_def(TENSOR)
    window_dimensions = opt_prop_def(IntegerArray)
    window_strides = opt_prop_def(IntegerArray)
    padding = opt_prop_def(Elements)
    select = region_def()
    scatter = region_def()
    result = result_def(TENSOR)

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        operand: SSAValue,
        source: SSAValue,
        init_value: SSAValue,
        select: Region,
        scatter: Region,
        *,
        window_dimensions: _Ints | None = None,
        window_strides: _Ints | None = None,
        padding: Padding | DenseIntOrFPElementsAttr | None = None,
    ):
        super().__init__(
            operands=[operand, source, init_value],
            result_types=[operand.type],
            properties={
                "padding": None if padding is None else padding_attr(padding),
                "window_dimensions": _array(window_dimensions),
                "window_strides": _array(window_strides),
            },
            regions=[select, scatter],
        )
