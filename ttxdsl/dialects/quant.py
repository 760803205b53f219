"""MLIR's quantized element types, as far as StableHLO's programs carry them.

Source: MLIR's `quant` dialect; StableHLO specification, section "Types".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType
from xdsl.ir import Attribute, Data, Dialect
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition


@dataclass(frozen=True, slots=True)
class Quantization:
    """The mapping of integers to real numbers: `real = (stored - zero_point) * scale`.

    Attributes:
        is_signed: whether the stored integers are signed.
        storage_min, storage_max: the stored range.
        expressed_type: the floating-point type that is meant.
        scales, zero_points: one each, or one for each slice along `axis`.
        axis: the dimension along which scales differ; None: one scale for all.
    """

    is_signed: bool
    storage_type: IntegerType
    storage_min: int
    storage_max: int
    expressed_type: Attribute
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None

    def without_scales(self) -> "Quantization":
        """Return the fields that two types of one kind of values must share."""
        axis = None if self.axis is None else 0
        return replace(self, scales=(), zero_points=(), axis=axis)


def full_range(width: int, is_signed: bool) -> tuple[int, int]:
    """Return the least and the largest integer of so many bits."""
    if is_signed:
        return -(1 << (width - 1)), (1 << (width - 1)) - 1
    return 0, (1 << width) - 1


@irdl_attr_definition
class QuantizedType(Data[Quantization], FixedBitwidthType):
    """`!quant.uniform<i8:f32, 0.5:10>`, or with an axis `<i8:f32:1, {0.5, 0.25:3}>`."""

    name = "quant.uniform"

    @property
    def bitwidth(self) -> int:
        """The bits of what is stored."""
        return self.data.storage_type.bitwidth

    @property
    def compile_time_size(self) -> int:
        """The bytes of what is stored."""
        return self.size

    @property
    def axis(self) -> int | None:
        """The dimension along which scales differ; None: one scale for all."""
        return self.data.axis

    @property
    def expressed_type(self) -> Attribute:
        """The floating-point type that is meant."""
        return self.data.expressed_type

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Quantization:
        """Parse `<storage(<min:max>)?:expressed(:axis)?, scales>`."""
        parser.parse_punctuation("<")
        position = parser.pos
        is_signed, width = _storage(parser.parse_identifier(), parser, position)
        low, high = full_range(width, is_signed)
        if parser.parse_optional_punctuation("<") is not None:
            low = parser.parse_integer()
            parser.parse_punctuation(":")
            high = parser.parse_integer()
            parser.parse_punctuation(">")
        parser.parse_punctuation(":")
        expressed = parser.parse_type()
        axis: int | None = None
        if parser.parse_optional_punctuation(":") is not None:
            axis = parser.parse_integer()
        parser.parse_punctuation(",")

        def parse_scale() -> tuple[float, int]:
            scale = float(parser.parse_number())
            if parser.parse_optional_punctuation(":") is not None:
                return scale, parser.parse_integer()
            return scale, 0

        if axis is None:
            pairs = [parse_scale()]
        else:
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.BRACES, parse_scale
            )
        parser.parse_punctuation(">")
        return Quantization(
            is_signed,
            IntegerType(width),
            low,
            high,
            expressed,
            tuple(scale for scale, _ in pairs),
            tuple(zero for _, zero in pairs),
            axis,
        )

    def print_parameter(self, printer: Printer) -> None:
        """Print the range only if it is not the full one, zero points if not zero."""
        this = self.data
        width = this.storage_type.width.data
        text = f"<{'i' if this.is_signed else 'u'}{width}"
        if (this.storage_min, this.storage_max) != full_range(width, this.is_signed):
            text += f"<{this.storage_min}:{this.storage_max}>"
        text += f":{this.expressed_type}"
        pairs = ", ".join(
            _number(scale) + (f":{zero}" if zero else "")
            for scale, zero in zip(this.scales, this.zero_points, strict=True)
        )
        if this.axis is None:
            text += f", {pairs}>"
        else:
            text += f":{this.axis}, {{{pairs}}}>"
        printer.print_string(text)


def scaled_dim(element: Attribute) -> int | None:
    """The dimension along which the scales of a tensor's elements differ, if any."""
    return element.axis if isinstance(element, QuantizedType) else None


def permuted(element: Attribute, order: Sequence[int]) -> Attribute:
    """The elements of a transpose: dimension `order[i]` becomes dimension i."""
    dim = scaled_dim(element)
    return element if dim is None else _along(element, order.index(dim))


def reshaped(
    element: Attribute, before: Sequence[int], after: Sequence[int]
) -> Attribute:
    """Return the elements of a tensor in another shape, each with the scale it had.

    Raises:
        ValueError: no dimension of that shape has the slices that scales are for.
    """
    dim = scaled_dim(element)
    if dim is None:
        return element
    for other, size in enumerate(after):
        if size == before[dim] and prod(before[:dim]) == prod(after[:other]):
            return _along(element, other)
    if before[dim] == 1:
        return _along(element, None)
    raise ValueError(f"{element} of shape {list(before)} in shape {list(after)}")


def repeated(element: Attribute, factors: Sequence[int]) -> Attribute:
    """Return the elements of a tensor repeated so many times along each dimension."""
    dim = scaled_dim(element)
    return element if dim is None else _along(element, dim, factors[dim])


def _along(element: Attribute, dim: int | None, repeats: int = 1) -> QuantizedType:
    assert isinstance(element, QuantizedType)
    how = element.data
    scales, zero_points = how.scales * repeats, how.zero_points * repeats
    return QuantizedType(replace(how, axis=dim, scales=scales, zero_points=zero_points))


def _storage(name: str, parser: AttrParser, position: int) -> tuple[bool, int]:
    """Signedness and width of `i8` or `u8`."""
    digits = name[1:]
    if name[0] not in "iu" or not digits.isdecimal() or not int(digits):
        parser.raise_error(f"{name} cannot store quantized values", position)
    return name[0] == "i", int(digits)


def _number(value: float) -> str:
    """Return a scale so that it reads back as the same number."""
    text = repr(value)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


Quant = Dialect("quant", [], [QuantizedType])
"""The dialect of quantized types."""
