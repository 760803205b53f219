"""Ops that slide a window over a tensor: convolutions, reductions and pooling.

Source: StableHLO specification, sections "convolution", "dynamic_conv",
"reduce_window", "select_and_scatter".
"""

from abc import ABC
from collections.abc import Callable, Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    BaseAttr,
    SameVariadicOperandSize,
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
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo import _shapes as shapes, _syntax as syntax
from ttxdsl.dialects.stablehlo._base import (
    Booleans,
    Integers,
    Padding,
    Positive,
    Precisions,
    PureOp,
    StableHLOOp,
)
from ttxdsl.dialects.stablehlo._infer import (
    constant_ints,
    require_results,
    require_shape,
    require_sizes,
    same_but_precision,
    tensors_of,
)
from ttxdsl.dialects.stablehlo._quantized import check_quantized_convolution
from ttxdsl.dialects.stablehlo._regions import block_of, check_predicate, check_reducer
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo.attributes import (
    ConvDimensionNumbersAttr,
    conv_dims_text,
    parse_conv_dims,
)
from ttxdsl.dialects.stablehlo.contraction import check_precision
from ttxdsl.dialects.stablehlo.types import (
    TENSOR,
    TENSOR_PER_AXIS,
    Kind,
    Tensor,
    TensorOf,
    element_kind,
    element_of,
    is_tensor,
    scalar_of,
    shape_of,
    with_element,
    with_shape,
)
from ttxdsl.dialects.traits import Linear
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition

PadAmounts = Sequence[tuple[int, int]]
"""The padding before and after each dimension; negative numbers cut."""


def padding_pairs(
    padding: DenseIntOrFPElementsAttr | None, dimensions: int
) -> tuple[tuple[int, int], ...]:
    """Padding as pairs; none is said: zeros."""
    flat = () if padding is None else cast("tuple[int, ...]", padding.get_values())
    pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
    return pairs or ((0, 0),) * dimensions


def window_values(
    values: DenseArrayBase[IntegerType] | None, dimensions: int
) -> tuple[int, ...]:
    """Return strides or dilations as a tuple, ones by default."""
    numbers = () if values is None else values.get_values()
    return numbers or (1,) * dimensions


def window_flips(
    values: DenseArrayBase[IntegerType] | None, dimensions: int
) -> tuple[bool, ...]:
    """Along which dimensions a window is reversed; none are said: none."""
    flips = () if values is None else tuple(map(bool, values.get_values()))
    return flips or (False,) * dimensions


_WINDOW = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
"""The words of a convolution's `window = {…}`, in order, and their properties."""


def _pairs(
    padding: DenseIntOrFPElementsAttr[IntegerType] | None, constraint: str
) -> tuple[tuple[int, int], ...] | None:
    """Padding as pairs, checked to be pairs; None if none is said."""
    if padding is None:
        return None
    shape = padding.get_shape()
    require(
        len(shape) == 2 and shape[1] == 2,
        f"{constraint}: padding must be a list of pairs, got shape {list(shape)}",
    )
    return padding_pairs(padding, 0)


def _check_lengths(
    rank: int, named: Sequence[tuple[str, Sequence[object] | None, str]]
) -> None:
    """Check that given lists have one entry for each window dimension."""
    for name, values, constraint in named:
        if values:
            shapes.require_length(values, rank, name, constraint)


def _numbers(values: DenseArrayBase[IntegerType] | None) -> tuple[int, ...] | None:
    return None if values is None else values.get_values()


class _AnyConvolutionOp(PureOp, ABC):
    """Base of convolutions, without their padding: a property or an operand.

    Subclasses declare all operands, because their fields precede those of a base.
    """

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    window_strides = opt_prop_def(Integers)
    lhs_dilation = opt_prop_def(Integers)
    rhs_dilation = opt_prop_def(Integers)
    window_reversal = opt_prop_def(Booleans)
    dimension_numbers = prop_def(BaseAttr(ConvDimensionNumbersAttr))
    feature_group_count = prop_def(Positive)
    batch_group_count = prop_def(Positive)
    precision_config = opt_prop_def(Precisions)
    result = result_def(TENSOR)

    def check_without_padding(self) -> None:
        """Check the constraints that do not depend on padding: C1, C10 to C24, C27."""
        lhs, rhs = self.lhs.type, self.rhs.type
        dims = self.dimension_numbers.data
        quantized = Kind.QUANT | Kind.QUANT_PER_AXIS
        if element_of(lhs) != element_of(rhs) and (
            not element_kind(element_of(rhs)) & quantized
        ):
            raise VerifyException(f"C27: lhs is {lhs}, but rhs is {rhs}")
        shapes.check_conv_dims(len(shape_of(lhs)), len(shape_of(rhs)), dims)
        shapes.check_conv_groups(
            shape_of(lhs),
            shape_of(rhs),
            dims,
            self.feature_group_count.value.data,
            self.batch_group_count.value.data,
        )
        check_precision(self.precision_config, "C24")

    def check(self, padding: PadAmounts | None) -> None:
        """C1 to C24: windows, dimensions, groups; C25: the result."""
        self.check_without_padding()
        dims = self.dimension_numbers.data
        lhs, rhs = shape_of(self.lhs.type), shape_of(self.rhs.type)
        window = [rhs[dim] for dim in dims.kernel_spatial_dimensions]
        rank = len(window)
        _check_lengths(
            rank,
            (
                ("window_strides", _numbers(self.window_strides), "C2"),
                ("padding", padding, "C4"),
                ("lhs_dilation", _numbers(self.lhs_dilation), "C5"),
                ("rhs_dilation", _numbers(self.rhs_dilation), "C7"),
                ("window_reversal", _numbers(self.window_reversal), "C9"),
            ),
        )
        strides = window_values(self.window_strides, rank)
        lhs_dilation = window_values(self.lhs_dilation, rank)
        rhs_dilation = window_values(self.rhs_dilation, rank)
        shapes.check_window(
            [1 if size == DYNAMIC_INDEX else size for size in window],
            strides,
            lhs_dilation,
            rhs_dilation,
            ("kernel size", "C3", "C6", "C8"),
        )
        places = shapes.windows(
            [lhs[dim] for dim in dims.input_spatial_dimensions],
            window,
            strides,
            padding or ((0, 0),) * rank,
            lhs_dilation,
            rhs_dilation,
        )
        batch_groups = self.batch_group_count.value.data
        shape = shapes.convolution_result(lhs, rhs, dims, places, batch_groups)
        require_sizes(self.result.type, shape, "result (C25)")


@irdl_op_definition
class ConvolutionOp(_AnyConvolutionOp):
    """Products of a kernel with windows of the input. Spec section "convolution"."""

    name = "stablehlo.convolution"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR_PER_AXIS)
    padding = opt_prop_def(Padding)
    result = result_def(TENSOR_PER_AXIS)

    traits = traits_def(Linear(is_product=True))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `(%lhs, %rhs) dim_numbers = …, window = {…} {…} : (…) -> …`."""
        parser.parse_punctuation("(")
        operands, _ = syntax.parse_operands(parser)
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
        return cls.parse_end(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        dims = conv_dims_text(self.dimension_numbers.data)
        if dims is None:
            # Only the raw attribute can have conflicting dimensions.
            printer.print_op_with_default_format(self)
            return
        with printer.in_parens():
            syntax.print_values(printer, self.operands)
        window: list[str] = []
        for word, name in _WINDOW.items():
            value = self.properties.get(name)
            if value is None:
                continue
            if word == "pad":
                pairs = padding_pairs(self.padding, 0)
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
        syntax.print_attr_dict(printer, self, ("dimension_numbers", *_WINDOW.values()))
        printer.print_string(" : ")
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        """C1 to C25, and quantized types."""
        self.check(_pairs(self.padding, "C4"))
        check_quantized_convolution(
            self.lhs.type, self.rhs.type, self.result.type, self.dimension_numbers.data
        )


def _parse_window(parser: Parser, properties: dict[str, Attribute]) -> None:
    """Parse `stride = [1], pad = [[0, 0]], …` in any order."""
    while (word := parser.parse_optional_identifier()) is not None:
        name = _WINDOW.get(word)
        if name is None or name in properties:
            parser.raise_error(f"unexpected keyword {word}")
        parser.parse_punctuation("=")
        reader = _WINDOW_READERS.get(
            word, lambda inner: syntax.i64_array(syntax.parse_integers(inner))
        )
        properties[name] = reader(parser)
        if parser.parse_optional_punctuation(",") is None:
            return


def _parse_padding(parser: Parser) -> Attribute:
    position = parser.pos
    pairs = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: syntax.parse_integers(parser)
    )
    if any(len(pair) != 2 for pair in pairs):
        parser.raise_error("padding is a list of pairs", position)
    flat = [amount for pair in pairs for amount in pair]
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, (len(pairs), 2)), flat)


def _parse_reversal(parser: Parser) -> Attribute:
    return syntax.bool_array(
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
class DynamicConvOp(_AnyConvolutionOp):
    """`convolution` with computed padding. Spec section "dynamic_conv"."""

    name = "stablehlo.dynamic_conv"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    padding = operand_def(TensorOf(Kind.INT, rank=2, static=True))

    def verify_(self) -> None:
        """C1 to C25, where the padding is known."""
        spatial = len(shape_of(self.lhs.type)) - 2
        if shape_of(self.padding.type) != (spatial, 2):
            raise VerifyException(
                f"C4: padding must have {spatial} pairs, got {self.padding.type}"
            )
        values = constant_ints(self.padding)
        if values is None:
            self.check_without_padding()
        else:
            self.check(tuple(zip(values[::2], values[1::2], strict=True)))


@irdl_op_definition
class ReduceWindowOp(StableHLOOp):
    """Elements of each window combined into one. Spec section "reduce_window"."""

    name = "stablehlo.reduce_window"

    inputs = var_operand_def(TENSOR)
    init_values = var_operand_def(TENSOR)
    window_dimensions = prop_def(Integers)
    window_strides = opt_prop_def(Integers)
    base_dilations = opt_prop_def(Integers)
    window_dilations = opt_prop_def(Integers)
    padding = opt_prop_def(Padding)
    body = region_def()
    outputs = var_result_def(TENSOR)

    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        """C1 to C13: inputs, windows, body; C14 to C16: results."""
        inputs = tensors_of(self.inputs)
        require(bool(inputs), "C1: there must be an input")
        for index, type in enumerate(inputs):
            require_shape(type, inputs[0], f"input {index} (C2)")
        shape = inputs[0].get_shape()
        rank = len(shape)
        window = self.window_dimensions.get_values()
        shapes.require_length(window, rank, "window_dimensions", "C4")
        padding = _pairs(self.padding, "C12")
        _check_lengths(
            rank,
            (
                ("window_strides", _numbers(self.window_strides), "C6"),
                ("base_dilations", _numbers(self.base_dilations), "C8"),
                ("window_dilations", _numbers(self.window_dilations), "C10"),
                ("padding", padding, "C12"),
            ),
        )
        strides = window_values(self.window_strides, rank)
        base = window_values(self.base_dilations, rank)
        gaps = window_values(self.window_dilations, rank)
        shapes.check_window(window, strides, base, gaps, ("C5", "C7", "C9", "C11"))
        results = check_reducer(
            self.body, inputs, tensors_of(self.init_values), window, "C13"
        )
        places = shapes.windows(
            shape, window, strides, padding or ((0, 0),) * rank, base, gaps
        )
        require_results(
            self, [with_shape(type, places) for type in results], "C15, C16"
        )


@irdl_op_definition
class SelectAndScatterOp(StableHLOOp):
    """Values added where a window's selected element is. Spec: same name."""

    name = "stablehlo.select_and_scatter"

    operand = operand_def(TENSOR)
    source = operand_def(TENSOR)
    init_value = operand_def(TENSOR)
    window_dimensions = opt_prop_def(Integers)
    window_strides = opt_prop_def(Integers)
    padding = opt_prop_def(Padding)
    select = region_def()
    scatter = region_def()
    result = result_def(TENSOR)

    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        """C1 to C10: windows and computations; C11, C12: the result."""
        operand = cast(Tensor, self.operand.type)
        source = cast(Tensor, self.source.type)
        block = block_of(self.select, "select")
        require(
            len(block.args) == 2,
            f"C9: select must take 2 arguments, got {len(block.args)}",
        )
        for index, argument in enumerate(block.args):
            type = argument.type
            require(
                is_tensor(type)
                and not shape_of(type)
                and same_but_precision(element_of(type), operand.element_type),
                f"C9: argument {index} of select must be {scalar_of(operand)}, got {type}",
            )
        check_predicate(self.select, "C9", "select")
        results = check_reducer(
            self.scatter,
            [scalar_of(source)],
            [cast(Tensor, self.init_value.type)],
            (),
            "C3, C10",
            "scatter",
        )
        shape = operand.get_shape()
        rank = len(shape)
        window = _numbers(self.window_dimensions) or ()
        shapes.require_length(window, rank, "window_dimensions", "C4")
        padding = _pairs(self.padding, "C8")
        _check_lengths(
            rank,
            (
                ("window_strides", _numbers(self.window_strides), "C6"),
                ("padding", padding, "C8"),
            ),
        )
        strides = window_values(self.window_strides, rank)
        ones = (1,) * rank
        shapes.check_window(window, strides, ones, ones, ("C5", "C7", "", ""))
        places = shapes.windows(
            shape, window, strides, padding or ((0, 0),) * rank, ones, ones
        )
        require_sizes(source, places, "source (C1)")
        if not same_but_precision(source.element_type, operand.element_type):
            raise VerifyException(
                f"C2: the source {source} must have the elements of {operand}"
            )
        require_results(
            self, [with_element(operand, results[0].element_type)], "C11, C12"
        )
