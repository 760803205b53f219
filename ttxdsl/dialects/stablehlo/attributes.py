"""StableHLO's attributes: enums, dimension numbers, and what collectives carry.

Sources: StableHLO specification (each op's inputs) and StablehloAttrs.td for the
spelling. Attributes hold plain Python values (tuples of ints, strings), so that
passes and interpreters read them without unwrapping.
"""

from abc import ABC
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    NoneAttr,
    SymbolRefAttr,
    f64,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import (
    Attribute,
    Data,
    OpaqueSyntaxAttribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
)
from xdsl.irdl import param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ttxdsl.dialects.stablehlo._syntax import dim_text, dims_text, next_text, parse_dims
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition

Dims = tuple[int, ...]

# --- enums ------------------------------------------------------------------------


class Precision(StrEnum):
    """How exactly an operand of a product is read."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


@irdl_attr_definition
class PrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<precision DEFAULT>`."""

    name = "stablehlo.precision"


class ResultAccuracyMode(StrEnum):
    """Which accuracy a transcendental function is asked for."""

    DEFAULT = "DEFAULT"
    HIGHEST = "HIGHEST"
    TOLERANCE = "TOLERANCE"


@irdl_attr_definition
class ResultAccuracyModeAttr(EnumAttribute[ResultAccuracyMode]):
    """`#stablehlo.result_accuracy_mode<DEFAULT>`."""

    name = "stablehlo.result_accuracy_mode"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ResultAccuracyMode:
        """Parse `<mode>`."""
        with parser.in_angle_brackets():
            return parser.parse_str_enum(ResultAccuracyMode)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<mode>`."""
        printer.print_string(f"<{self.data.value}>")


class FftType(StrEnum):
    """Direction of a Fourier transform, and whether one side is real."""

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


@irdl_attr_definition
class FftTypeAttr(EnumAttribute[FftType], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<fft_type FFT>`."""

    name = "stablehlo.fft_type"


class ComparisonDirection(StrEnum):
    """The relation that `compare` tests."""

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


@irdl_attr_definition
class ComparisonDirectionAttr(
    EnumAttribute[ComparisonDirection], SpacedOpaqueSyntaxAttribute
):
    """`#stablehlo<comparison_direction EQ>`."""

    name = "stablehlo.comparison_direction"


class ComparisonType(StrEnum):
    """The order in which `compare` compares."""

    NOTYPE = "NOTYPE"
    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


@irdl_attr_definition
class ComparisonTypeAttr(EnumAttribute[ComparisonType], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<comparison_type FLOAT>`."""

    name = "stablehlo.comparison_type"


class Transpose(StrEnum):
    """What `triangular_solve` does to its first operand."""

    TRANSPOSE_INVALID = "TRANSPOSE_INVALID"
    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


@irdl_attr_definition
class TransposeAttr(EnumAttribute[Transpose], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<transpose NO_TRANSPOSE>`."""

    name = "stablehlo.transpose"


class RngDistribution(StrEnum):
    """The distribution that `rng` draws from."""

    UNIFORM = "UNIFORM"
    NORMAL = "NORMAL"


@irdl_attr_definition
class RngDistributionAttr(EnumAttribute[RngDistribution], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<rng_distribution UNIFORM>`."""

    name = "stablehlo.rng_distribution"


class RngAlgorithm(StrEnum):
    """The generator that `rng_bit_generator` runs."""

    DEFAULT = "DEFAULT"
    THREE_FRY = "THREE_FRY"
    PHILOX = "PHILOX"


@irdl_attr_definition
class RngAlgorithmAttr(EnumAttribute[RngAlgorithm], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<rng_algorithm DEFAULT>`."""

    name = "stablehlo.rng_algorithm"


# --- structs of dimensions ---------------------------------------------------------

_StructT = TypeVar("_StructT")


def _parse_struct(
    parser: AttrParser,
    struct: type[_StructT],
    parsers: dict[str, Callable[[], Any]],
) -> _StructT:
    """Parse `field = value, …>` in any order; fields that are left out keep defaults."""
    values: dict[str, Any] = {}
    while parser.parse_optional_punctuation(">") is None:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in parsers:
            wanted = ", ".join(f"`{field}`" for field in parsers)
            parser.raise_error(f"expected one of: {wanted}", position)
        if name in values:
            parser.raise_error(f"duplicated `{name}` entry", position)
        parser.parse_punctuation("=")
        values[name] = parsers[name]()
        if parser.parse_optional_punctuation(",") is None:
            parser.parse_punctuation(">")
            break
    return struct(**values)


def _parse_dims_struct(parser: AttrParser, struct: type[_StructT]) -> _StructT:
    """Parse a struct of lists of dimensions or single integers, behind the `<`."""
    parsers: dict[str, Callable[[], Any]] = {
        name: parser.parse_integer
        if cast(Any, struct)._field_defaults.get(name) == 0
        else (lambda: parse_dims(parser))
        for name in cast(Any, struct)._fields
    }
    return _parse_struct(parser, struct, parsers)


def _value_text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return dims_text(cast(Dims, value))
        case _:
            return str(value)


def _fields_text(struct: Any, *, shown: Callable[[Any], bool] = lambda _: True) -> str:
    """`field = value, …` in the order of the fields, of those whose value is shown."""
    return ", ".join(
        f"{name} = {_value_text(value)}"
        for name in struct._fields
        if shown(value := getattr(struct, name))
    )


class DimsAttr(Data[_StructT], ABC):
    """Dimension numbers: a struct of lists of dimensions or single ones, in `data`."""

    STRUCT: ClassVar[type[Any]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _StructT:
        """Parse `<field = [0], …>`."""
        parser.parse_punctuation("<")
        return _parse_dims_struct(parser, cls.STRUCT)

    def print_parameter(self, printer: Printer) -> None:
        """Print the fields that are not empty and not zero."""
        printer.print_string(f"<{_fields_text(self.data, shown=bool)}>")


class DotDims(NamedTuple):
    """Which dimensions of a `dot_general` are batch and which are contracted.

    Those of the right operand are in the order of the left's.
    """

    lhs_batching_dimensions: Dims = ()
    rhs_batching_dimensions: Dims = ()
    lhs_contracting_dimensions: Dims = ()
    rhs_contracting_dimensions: Dims = ()


@irdl_attr_definition
class DotDimensionNumbersAttr(DimsAttr[DotDims]):
    """`#stablehlo.dot<…>`: dimension numbers of a `dot_general`."""

    name = "stablehlo.dot"

    STRUCT = DotDims


class GatherDims(NamedTuple):
    """How a `gather` maps dimensions of operand, indices and result.

    Attributes:
        offset_dims: result dimensions that come from the slices.
        collapsed_slice_dims: operand dimensions of slice size 1 that the result does
            not have.
        operand_batching_dims: operand dimensions that are batch dimensions.
        start_indices_batching_dims: batch dimensions of the indices, in the order of
            the operand's.
        start_index_map: the operand dimension that each entry of an index vector
            positions.
        index_vector_dim: the dimension of the indices that holds the index vectors.
    """

    offset_dims: Dims = ()
    collapsed_slice_dims: Dims = ()
    operand_batching_dims: Dims = ()
    start_indices_batching_dims: Dims = ()
    start_index_map: Dims = ()
    index_vector_dim: int = 0


@irdl_attr_definition
class GatherDimensionNumbersAttr(DimsAttr[GatherDims]):
    """`#stablehlo.gather<…>`: dimension numbers of a `gather`."""

    name = "stablehlo.gather"

    STRUCT = GatherDims


class ScatterDims(NamedTuple):
    """How a `scatter` maps dimensions of inputs, indices and updates.

    Attributes:
        update_window_dims: dimensions of the updates that lie in a window of the input.
        inserted_window_dims: window dimensions of size 1 that the updates do not have.
        input_batching_dims: input dimensions that are batch dimensions.
        scatter_indices_batching_dims: batch dimensions of the indices, in the order of
            the input's.
        scatter_dims_to_operand_dims: the input dimension that each entry of an index
            vector positions.
        index_vector_dim: the dimension of the indices that holds the index vectors.
    """

    update_window_dims: Dims = ()
    inserted_window_dims: Dims = ()
    input_batching_dims: Dims = ()
    scatter_indices_batching_dims: Dims = ()
    scatter_dims_to_operand_dims: Dims = ()
    index_vector_dim: int = 0


@irdl_attr_definition
class ScatterDimensionNumbersAttr(DimsAttr[ScatterDims]):
    """`#stablehlo.scatter<…>`: dimension numbers of a `scatter`."""

    name = "stablehlo.scatter"

    STRUCT = ScatterDims


class ConvDims(NamedTuple):
    """What each dimension of a convolution's input, kernel and output is.

    The kernel's input features meet the input's, its output features make the
    output's. Spatial dimensions are in order.
    """

    input_batch_dimension: int = 0
    input_feature_dimension: int = 0
    input_spatial_dimensions: Dims = ()
    kernel_input_feature_dimension: int = 0
    kernel_output_feature_dimension: int = 0
    kernel_spatial_dimensions: Dims = ()
    output_batch_dimension: int = 0
    output_feature_dimension: int = 0
    output_spatial_dimensions: Dims = ()


def parse_conv_dims(parser: AttrParser) -> ConvDims:
    """Parse `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`."""
    input_named, input_spatial = _parse_labels(parser, "bf")
    parser.parse_keyword("x")
    kernel_named, kernel_spatial = _parse_labels(parser, "io")
    parser.parse_punctuation("->")
    output_named, output_spatial = _parse_labels(parser, "bf")
    return ConvDims(
        *input_named, input_spatial, *kernel_named, kernel_spatial, *output_named,
        output_spatial,
    )  # fmt: skip


def _parse_labels(parser: AttrParser, labels: str) -> tuple[tuple[int, int], Dims]:
    """Parse `[b, 0, f]`: where the two labels stand, and where the numbers do."""
    start = parser.pos

    def parse_one() -> str:
        number = parser.parse_optional_integer(allow_boolean=False)
        return parser.parse_identifier() if number is None else str(number)

    dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_one)
    spatial = len(dims) - len(labels)
    if sorted(dims) != sorted([*labels, *map(str, range(spatial))]):
        parser.raise_error(
            f"expected {labels[0]}, {labels[1]} and the numbers of the spatial "
            "dimensions, each once",
            start,
            parser.pos,
        )
    first, second = (dims.index(label) for label in labels)
    return (first, second), tuple(dims.index(str(i)) for i in range(spatial))


def conv_dims_text(dims: ConvDims) -> str | None:
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, or None if dimensions clash."""
    groups = (
        ("bf", dims.input_batch_dimension, dims.input_feature_dimension,
         dims.input_spatial_dimensions),
        ("io", dims.kernel_input_feature_dimension,
         dims.kernel_output_feature_dimension, dims.kernel_spatial_dimensions),
        ("bf", dims.output_batch_dimension, dims.output_feature_dimension,
         dims.output_spatial_dimensions),
    )  # fmt: skip
    texts: list[str] = []
    for labels, first, second, spatial in groups:
        places = {first: labels[0], second: labels[1]}
        places |= {place: str(i) for i, place in enumerate(spatial)}
        if sorted(places) != list(range(len(spatial) + 2)):
            return None
        texts.append(f"[{', '.join(places[i] for i in range(len(places)))}]")
    return f"{texts[0]}x{texts[1]}->{texts[2]}"


@irdl_attr_definition
class ConvDimensionNumbersAttr(Data[ConvDims]):
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`; `<raw …>` is parsed too."""

    name = "stablehlo.conv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConvDims:
        """Parse `<[b, 0, f]x[0, i, o]->[b, 0, f]>` or `<raw field = …>`."""
        parser.parse_punctuation("<")
        if parser.parse_optional_keyword("raw") is not None:
            return _parse_dims_struct(parser, ConvDims)
        dims = parse_conv_dims(parser)
        parser.parse_punctuation(">")
        return dims

    def print_parameter(self, printer: Printer) -> None:
        """Print the labelled form; the raw one when dimensions clash."""
        text = conv_dims_text(self.data)
        if text is None:
            text = f"raw {_fields_text(self.data)}"
        printer.print_string(f"<{text}>")


# --- other structs -----------------------------------------------------------------


class DotAlgorithm(NamedTuple):
    """The arithmetic that a `dot_general` is to be computed with."""

    lhs_precision_type: Attribute
    rhs_precision_type: Attribute
    accumulation_type: Attribute
    lhs_component_count: int
    rhs_component_count: int
    num_primitive_operations: int
    allow_imprecise_accumulation: bool


def dot_algorithm_text(value: DotAlgorithm) -> str:
    """The struct as printed, with its angle brackets."""
    return f"<{_fields_text(value)}>"


def _parse_fields(
    parser: AttrParser, readers: dict[str, Callable[[], Any]]
) -> dict[str, Any]:
    """Parse `<name = value, …>` with all fields in order."""
    values: dict[str, Any] = {}
    with parser.in_angle_brackets():
        for name, reader in readers.items():
            if values:
                parser.parse_punctuation(",")
            parser.parse_keyword(name)
            parser.parse_punctuation("=")
            values[name] = reader()
    return values


@irdl_attr_definition
class DotAlgorithmAttr(Data[DotAlgorithm]):
    """`#stablehlo.dot_algorithm<…>`: how a `dot_general` is to be computed."""

    name = "stablehlo.dot_algorithm"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DotAlgorithm:
        """Parse `<lhs_precision_type = f32, …>`; the fields come in their order."""
        readers: dict[str, Callable[[], Any]] = {
            "lhs_precision_type": parser.parse_type,
            "rhs_precision_type": parser.parse_type,
            "accumulation_type": parser.parse_type,
            "lhs_component_count": parser.parse_integer,
            "rhs_component_count": parser.parse_integer,
            "num_primitive_operations": parser.parse_integer,
            "allow_imprecise_accumulation": parser.parse_boolean,
        }
        return DotAlgorithm(**_parse_fields(parser, readers))

    def print_parameter(self, printer: Printer) -> None:
        """Print the struct."""
        printer.print_string(dot_algorithm_text(self.data))


class ChannelHandle(NamedTuple):
    """A channel: its number, and which ends it joins (0: any, 1: devices, 2, 3: host).

    A number that is not positive: no channel.
    """

    handle: int
    type: int


@irdl_attr_definition
class ChannelHandleAttr(Data[ChannelHandle]):
    """`#stablehlo.channel_handle<handle = 1, type = 0>`."""

    name = "stablehlo.channel_handle"

    @staticmethod
    def of(handle: int, type: int = 0) -> "ChannelHandleAttr":
        """Make one from its fields."""
        return ChannelHandleAttr(ChannelHandle(handle, type))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ChannelHandle:
        """Parse `<handle = 1, type = 0>`, in any order."""
        parser.parse_punctuation("<")
        return _parse_struct(
            parser,
            ChannelHandle,
            {"handle": parser.parse_integer, "type": parser.parse_integer},
        )

    def print_parameter(self, printer: Printer) -> None:
        """Print the struct."""
        printer.print_string(f"<{_fields_text(self.data)}>")


class OutputOperandAlias(NamedTuple):
    """A result of a custom call that lies in the memory of an operand."""

    output_tuple_indices: Dims
    operand_index: int
    operand_tuple_indices: Dims


@irdl_attr_definition
class OutputOperandAliasAttr(Data[OutputOperandAlias]):
    """`#stablehlo.output_operand_alias<…>`."""

    name = "stablehlo.output_operand_alias"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> OutputOperandAlias:
        """Parse the struct; the fields come in their order."""
        return OutputOperandAlias(
            **_parse_fields(
                parser,
                {
                    "output_tuple_indices": lambda: parse_dims(parser),
                    "operand_index": parser.parse_integer,
                    "operand_tuple_indices": lambda: parse_dims(parser),
                },
            )
        )

    def print_parameter(self, printer: Printer) -> None:
        """Print the struct."""
        printer.print_string(f"<{_fields_text(self.data)}>")


@irdl_attr_definition
class TypeExtensionsAttr(Data[Dims]):
    """`#stablehlo.bounds<?, 4>`: an encoding that bounds dynamic dimensions.

    One entry a dimension: the bound of a dynamic dimension, `DYNAMIC_INDEX` where
    there is none.
    """

    name = "stablehlo.bounds"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Dims:
        """Parse `<?, 4>`."""
        return parse_dims(parser, parser.Delimiter.ANGLE)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<?, 4>`."""
        printer.print_string(f"<{', '.join(map(dim_text, self.data))}>")


@irdl_attr_definition
class ResultAccuracyAttr(ParametrizedAttribute):
    """`#stablehlo.result_accuracy<atol = …, rtol = …, ulps = …, mode = …>`.

    Spec section "Result accuracy": tolerances count only in mode TOLERANCE.
    """

    name = "stablehlo.result_accuracy"

    atol: FloatAttr
    rtol: FloatAttr
    ulps: IntegerAttr
    mode: ResultAccuracyModeAttr

    @staticmethod
    def of(
        mode: ResultAccuracyMode, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0
    ) -> "ResultAccuracyAttr":
        """Make one from its fields."""
        return ResultAccuracyAttr(
            FloatAttr(atol, f64),
            FloatAttr(rtol, f64),
            IntegerAttr(ulps, i64),
            ResultAccuracyModeAttr(mode),
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse the struct; tolerances that are zero are left out."""
        atol = rtol = 0.0
        ulps = 0
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("atol") is not None:
                parser.parse_punctuation("=")
                atol = float(parser.parse_number())
                parser.parse_punctuation(",")
            if parser.parse_optional_keyword("rtol") is not None:
                parser.parse_punctuation("=")
                rtol = float(parser.parse_number())
                parser.parse_punctuation(",")
            if parser.parse_optional_keyword("ulps") is not None:
                parser.parse_punctuation("=")
                ulps = parser.parse_integer()
                parser.parse_punctuation(",")
            parser.parse_keyword("mode")
            parser.parse_punctuation("=")
            mode = parser.parse_attribute()
        return [
            FloatAttr(atol, f64),
            FloatAttr(rtol, f64),
            IntegerAttr(ulps, i64),
            mode,
        ]

    def print_parameters(self, printer: Printer) -> None:
        """Print the struct without the tolerances that are zero."""
        with printer.in_angle_brackets():
            for name, tolerance in (("atol", self.atol), ("rtol", self.rtol)):
                if tolerance.value.data:
                    printer.print_string(f"{name} = ")
                    printer.print_float(tolerance.value.data, f64)
                    printer.print_string(", ")
            if self.ulps.value.data:
                printer.print_string(f"ulps = {self.ulps.value.data}, ")
            printer.print_string("mode = ")
            printer.print_attribute(self.mode)

    def verify(self) -> None:
        """Tolerances are not negative, and are only given in mode TOLERANCE."""
        tolerances = (self.atol.value.data, self.rtol.value.data, self.ulps.value.data)
        if min(tolerances) < 0:
            raise VerifyException("result accuracy: a tolerance is negative")
        if self.mode.data is not ResultAccuracyMode.TOLERANCE and any(tolerances):
            raise VerifyException(
                "result accuracy: tolerances are given, but the mode is "
                f"{self.mode.data.value}, not TOLERANCE"
            )


# --- meshes ------------------------------------------------------------------------


class MeshAxis(NamedTuple):
    """A mesh axis and its size."""

    name: str
    size: int


@irdl_attr_definition
class MeshAxisAttr(Data[MeshAxis]):
    """`#stablehlo.mesh_axis<name = "x", size = 2>`."""

    name = "stablehlo.mesh_axis"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MeshAxis:
        """Parse `<name = "x", size = 2>`, in any order."""
        parser.parse_punctuation("<")
        return _parse_struct(
            parser,
            MeshAxis,
            {"name": parser.parse_str_literal, "size": parser.parse_integer},
        )

    def print_parameter(self, printer: Printer) -> None:
        """Print the struct."""
        printer.print_string("<name = ")
        printer.print_string_literal(self.data.name)
        printer.print_string(f", size = {self.data.size}>")


@irdl_attr_definition
class MeshAttr(ParametrizedAttribute):
    """`#stablehlo.mesh<axes=[…], device_ids=dense<…>>`: a mesh by value."""

    name = "stablehlo.mesh"

    axes: ArrayAttr[MeshAxisAttr] = param_def(converter=ArrayAttr[MeshAxisAttr].get)
    device_ids: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse the struct; device ids may be left out."""
        with parser.in_angle_brackets():
            parser.parse_keyword("axes")
            parser.parse_punctuation("=")

            def parse_axis() -> Attribute:
                if next_text(parser) == "<":
                    return MeshAxisAttr(MeshAxisAttr.parse_parameter(parser))
                return parser.parse_attribute()

            axes = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parse_axis
            )
            device_ids: Attribute = NoneAttr()
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("device_ids")
                parser.parse_punctuation("=")
                device_ids = parser.parse_attribute()
        return [ArrayAttr(axes), device_ids]

    def print_parameters(self, printer: Printer) -> None:
        """Print the struct."""
        with printer.in_angle_brackets():
            printer.print_string("axes=")
            with printer.in_square_brackets():
                printer.print_list(self.axes.data, printer.print_attribute)
            if not isinstance(self.device_ids, NoneAttr):
                printer.print_string(", device_ids=")
                printer.print_attribute(self.device_ids)


class SubAxisInfo(NamedTuple):
    """Which part of an axis: the product of the parts before it, and its size."""

    pre_size: int
    size: int


def _parse_sub_axis(parser: AttrParser) -> SubAxisInfo:
    with parser.in_parens():
        pre_size = parser.parse_integer()
    return SubAxisInfo(pre_size, parser.parse_integer())


@irdl_attr_definition
class SubAxisInfoAttr(Data[SubAxisInfo], OpaqueSyntaxAttribute):
    """`#stablehlo<sub_axis_info(1)2>`."""

    name = "stablehlo.sub_axis_info"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SubAxisInfo:
        """Parse `(pre_size)size`."""
        return _parse_sub_axis(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Print `(pre_size)size`."""
        printer.print_string(f"({self.data.pre_size}){self.data.size}")


class MeshAxisRef(NamedTuple):
    """A mesh axis by name, or a part of it."""

    name: str
    sub_axis_info: SubAxisInfo | None = None


@irdl_attr_definition
class AxisRefAttr(Data[MeshAxisRef]):
    """`#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>`."""

    name = "stablehlo.axis_ref"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MeshAxisRef:
        """Parse the struct."""
        parser.parse_punctuation("<")
        return _parse_struct(
            parser,
            MeshAxisRef,
            {
                "name": parser.parse_str_literal,
                "sub_axis_info": lambda: _parse_sub_axis(parser),
            },
        )

    def print_parameter(self, printer: Printer) -> None:
        """Print the struct."""
        printer.print_string("<name = ")
        printer.print_string_literal(self.data.name)
        if (sub := self.data.sub_axis_info) is not None:
            printer.print_string(f", sub_axis_info = ({sub.pre_size}){sub.size}")
        printer.print_string(">")


@irdl_attr_definition
class ReplicaGroupMeshAxesAttr(ParametrizedAttribute):
    """`#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = […]>`.

    Replica groups said by mesh axes: one group for each position along the other axes.
    """

    name = "stablehlo.replica_group_mesh_axes"

    mesh: Attribute
    axes: ArrayAttr[Attribute] = param_def(converter=ArrayAttr[Attribute].get)

    def verify(self) -> None:
        """The mesh is given by name or by value; by value, it has the axes."""
        if isinstance(self.mesh, SymbolRefAttr):
            return
        if not isinstance(self.mesh, MeshAttr):
            raise VerifyException(f"expected a mesh or its name, got {self.mesh}")
        known = {axis.data.name for axis in self.mesh.axes.data}
        for axis in self.axes.data:
            if not isinstance(axis, AxisRefAttr):
                raise VerifyException(f"expected a reference to an axis, got {axis}")
            if axis.data.name not in known:
                raise VerifyException(
                    f"mesh axis '{axis.data.name}' is not one of {sorted(known)}"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse the struct, in any order."""
        parser.parse_punctuation("<")
        found = _parse_struct(
            parser,
            dict[str, Attribute],
            {"mesh": parser.parse_attribute, "axes": parser.parse_attribute},
        )
        if found.keys() != {"mesh", "axes"}:
            parser.raise_error("expected `mesh` and `axes`")
        return [found["mesh"], found["axes"]]

    def print_parameters(self, printer: Printer) -> None:
        """Print the struct."""
        with printer.in_angle_brackets():
            printer.print_string("mesh = ")
            printer.print_attribute(self.mesh)
            printer.print_string(", axes = ")
            printer.print_attribute(self.axes)
