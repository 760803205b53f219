"""StableHLO's attributes: enums, dimension numbers, and what collectives carry.

Sources: StableHLO specification (each op's inputs) and StablehloAttrs.td for the
spelling. Attributes hold plain Python values (tuples of ints, strings), so that
passes and interpreters read them without unwrapping.
"""

from abc import ABC
from collections.abc import Callable, Collection, Mapping, Sequence
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
from ttxdsl.sharding.text import quoted

Dims = tuple[int, ...]

# --- enums ------------------------------------------------------------------------


class Precision(StrEnum):
    """The precision with which an operand of a product is read."""

    DEFAULT = "DEFAULT"
    HIGH = "HIGH"
    HIGHEST = "HIGHEST"


@irdl_attr_definition
class PrecisionAttr(EnumAttribute[Precision], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<precision DEFAULT>`."""

    name = "stablehlo.precision"


class ResultAccuracyMode(StrEnum):
    """The accuracy that is requested of a transcendental function."""

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
    """The transposition that `triangular_solve` applies to its first operand."""

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


# --- structs ----------------------------------------------------------------------

_StructT = TypeVar("_StructT")


class SubAxisInfo(NamedTuple):
    """A part of an axis: the product of the parts before it, and its size."""

    pre_size: int
    size: int

    def __str__(self) -> str:
        return f"({self.pre_size}){self.size}"


def _parse_sub_axis(parser: AttrParser) -> SubAxisInfo:
    with parser.in_parens():
        pre_size = parser.parse_integer()
    return SubAxisInfo(pre_size, parser.parse_integer())


_READERS: Mapping[Any, Callable[[Any], Any]] = {
    int: AttrParser.parse_integer,
    bool: AttrParser.parse_boolean,
    str: AttrParser.parse_str_literal,
    Dims: parse_dims,
    Attribute: AttrParser.parse_type,
    SubAxisInfo | None: _parse_sub_axis,
}
"""How a field of a struct is parsed, by its annotation."""


def _value_text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case tuple() if not isinstance(value, SubAxisInfo):
            return dims_text(cast(Dims, value))
        case _:
            return str(value)


def _parse_fields(
    parser: AttrParser,
    readers: Mapping[str, Callable[[Any], Any]],
    required: Collection[str],
) -> dict[str, Any]:
    """Parse `field = value, …>` in any order; only fields with defaults may be missing."""
    values: dict[str, Any] = {}
    while parser.parse_optional_punctuation(">") is None:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in readers:
            wanted = ", ".join(f"`{field}`" for field in readers)
            parser.raise_error(f"expected one of: {wanted}", position)
        if name in values:
            parser.raise_error(f"duplicated `{name}` entry", position)
        parser.parse_punctuation("=")
        values[name] = readers[name](parser)
        if parser.parse_optional_punctuation(",") is None:
            parser.parse_punctuation(">")
            break
    missing = [f"`{name}`" for name in required if name not in values]
    if missing:
        parser.raise_error(f"expected {' and '.join(missing)}")
    return values


class StructAttr(Data[_StructT], ABC):
    """An attribute `<field = value, …>`: a named tuple, in `data`.

    `IN_ORDER`: all fields are written, in their order; otherwise in any order. `SHOWN`
    tells which values are printed.
    """

    STRUCT: ClassVar[type[Any]]
    IN_ORDER: ClassVar[bool] = False
    SHOWN: ClassVar[Callable[[Any], bool]] = lambda value: value is not None

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _StructT:
        """Parse `<field = value, …>`."""
        parser.parse_punctuation("<")
        return cls.parse_fields(parser)

    @classmethod
    def parse_fields(cls, parser: AttrParser) -> _StructT:
        """Parse `field = value, …>`."""
        fields = cls.STRUCT.__annotations__
        readers = {name: _READERS[kind] for name, kind in fields.items()}
        if not cls.IN_ORDER:
            required = fields.keys() - cls.STRUCT._field_defaults.keys()
            return cls.STRUCT(**_parse_fields(parser, readers, sorted(required)))
        values: list[Any] = []
        for name, read in readers.items():
            if values:
                parser.parse_punctuation(",")
            parser.parse_keyword(name)
            parser.parse_punctuation("=")
            values.append(read(parser))
        parser.parse_punctuation(">")
        return cls.STRUCT(*values)

    @property
    def text(self) -> str:
        """`<field = value, …>`, in the order of the fields."""
        return f"<{self.fields_text(type(self).SHOWN)}>"

    def fields_text(self, shown: Callable[[Any], bool]) -> str:
        """`field = value, …` of the values to show."""
        struct = cast(Any, self.data)
        return ", ".join(
            f"{name} = {_value_text(value)}"
            for name, value in zip(struct._fields, struct, strict=True)
            if shown(value)
        )

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.text)


class DimsAttr(StructAttr[_StructT], ABC):
    """Dimension numbers; those that are empty or zero are not written."""

    SHOWN = bool


class DotDims(NamedTuple):
    """The batch and the contracting dimensions of a `dot_general`.

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
    """The mapping of a `gather` between dimensions of operand, indices and result.

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
    """The mapping of a `scatter` between dimensions of inputs, indices and updates.

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
    """The roles of the dimensions of a convolution's input, kernel and output.

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
class ConvDimensionNumbersAttr(StructAttr[ConvDims]):
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`; `<raw …>` is parsed too."""

    name = "stablehlo.conv"

    STRUCT = ConvDims

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConvDims:
        """Parse `<[b, 0, f]x[0, i, o]->[b, 0, f]>` or `<raw field = …>`."""
        parser.parse_punctuation("<")
        if parser.parse_optional_keyword("raw") is not None:
            return cls.parse_fields(parser)
        dims = parse_conv_dims(parser)
        parser.parse_punctuation(">")
        return dims

    @property
    def text(self) -> str:
        """The labelled form; the raw one when dimensions clash."""
        labelled = conv_dims_text(self.data)
        return f"<{labelled or f'raw {self.fields_text(type(self).SHOWN)}'}>"


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


@irdl_attr_definition
class DotAlgorithmAttr(StructAttr[DotAlgorithm]):
    """`#stablehlo.dot_algorithm<…>`: how a `dot_general` is to be computed."""

    name = "stablehlo.dot_algorithm"

    STRUCT = DotAlgorithm
    IN_ORDER = True


class ChannelHandle(NamedTuple):
    """A channel: its number, and which ends it joins (0: any, 1: devices, 2, 3: host).

    A number that is not positive: no channel.
    """

    handle: int
    type: int


@irdl_attr_definition
class ChannelHandleAttr(StructAttr[ChannelHandle]):
    """`#stablehlo.channel_handle<handle = 1, type = 0>`."""

    name = "stablehlo.channel_handle"

    STRUCT = ChannelHandle

    @staticmethod
    def of(handle: int, type: int = 0) -> "ChannelHandleAttr":
        """Make one from its fields."""
        return ChannelHandleAttr(ChannelHandle(handle, type))


class OutputOperandAlias(NamedTuple):
    """A result of a custom call that lies in the memory of an operand."""

    output_tuple_indices: Dims
    operand_index: int
    operand_tuple_indices: Dims


@irdl_attr_definition
class OutputOperandAliasAttr(StructAttr[OutputOperandAlias]):
    """`#stablehlo.output_operand_alias<…>`."""

    name = "stablehlo.output_operand_alias"

    STRUCT = OutputOperandAlias
    IN_ORDER = True


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
        tolerances = {"atol": 0.0, "rtol": 0.0, "ulps": 0}
        with parser.in_angle_brackets():
            for name in tolerances:
                if parser.parse_optional_keyword(name) is not None:
                    parser.parse_punctuation("=")
                    exact = name == "ulps"
                    tolerances[name] = (
                        parser.parse_integer()
                        if exact
                        else float(parser.parse_number())
                    )
                    parser.parse_punctuation(",")
            parser.parse_keyword("mode")
            parser.parse_punctuation("=")
            mode = parser.parse_attribute()
        return [
            FloatAttr(tolerances["atol"], f64),
            FloatAttr(tolerances["rtol"], f64),
            IntegerAttr(int(tolerances["ulps"]), i64),
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
class MeshAxisAttr(StructAttr[MeshAxis]):
    """`#stablehlo.mesh_axis<name = "x", size = 2>`."""

    name = "stablehlo.mesh_axis"

    STRUCT = MeshAxis


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
        with printer.in_angle_brackets():
            printer.print_string("axes=")
            with printer.in_square_brackets():
                printer.print_list(self.axes.data, printer.print_attribute)
            if not isinstance(self.device_ids, NoneAttr):
                printer.print_string(", device_ids=")
                printer.print_attribute(self.device_ids)


@irdl_attr_definition
class SubAxisInfoAttr(Data[SubAxisInfo], OpaqueSyntaxAttribute):
    """`#stablehlo<sub_axis_info(1)2>`."""

    name = "stablehlo.sub_axis_info"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SubAxisInfo:
        """Parse `(pre_size)size`."""
        return _parse_sub_axis(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(str(self.data))


class MeshAxisRef(NamedTuple):
    """A mesh axis by name, or a part of it."""

    name: str
    sub_axis_info: SubAxisInfo | None = None


@irdl_attr_definition
class AxisRefAttr(StructAttr[MeshAxisRef]):
    """`#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>`."""

    name = "stablehlo.axis_ref"

    STRUCT = MeshAxisRef


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
        names = "mesh", "axes"
        fields = _parse_fields(
            parser, dict.fromkeys(names, AttrParser.parse_attribute), names
        )
        return [fields["mesh"], fields["axes"]]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("mesh = ")
            printer.print_attribute(self.mesh)
            printer.print_string(", axes = ")
            printer.print_attribute(self.axes)
