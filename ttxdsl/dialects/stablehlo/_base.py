"""Bases of StableHLO's ops: a syntax given by a table, and checked types."""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Region
from xdsl.irdl import AttrConstraint, BaseAttr, VerificationContext, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ttxdsl.dialects.stablehlo import _syntax as syntax
from ttxdsl.dialects.stablehlo.attributes import PrecisionAttr
from ttxdsl.dialects.stablehlo.types import FixedConstraint
from ttxdsl.ir.compat.speed.verify_once import VerifiedOnce

_WIDTHS = {width: IntegerType(width) for width in (1, 32, 64)}


@dataclass(frozen=True)
class IntegerOf(FixedConstraint[IntegerAttr[IntegerType]]):
    """An integer of a width, not below `least` and not above `most`."""

    width: int
    least: int | None = None
    most: int | None = None

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Raise for another type, or a number out of range."""
        if isinstance(attr, IntegerAttr):
            integer = cast("IntegerAttr[IntegerType]", attr)
            kind, value = integer.type, integer.value.data
            if kind == _WIDTHS[self.width]:
                if self.least is not None and value < self.least:
                    raise VerifyException(f"must be {self.least} or more, got {value}")
                if self.most is not None and value > self.most:
                    raise VerifyException(f"must be {self.most} or less, got {value}")
                return
        raise VerifyException(f"expected an i{self.width}, got {attr}")


@dataclass(frozen=True)
class ArrayOf(FixedConstraint[DenseArrayBase[IntegerType]]):
    """An `array<…>` of integers of a width."""

    width: int

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Raise for another type of attribute or of elements."""
        if isinstance(attr, DenseArrayBase) and (
            cast("DenseArrayBase[IntegerType]", attr).elt_type == _WIDTHS[self.width]
        ):
            return
        raise VerifyException(f"expected an array of i{self.width}, got {attr}")


@dataclass(frozen=True)
class ElementsOf(FixedConstraint[DenseIntOrFPElementsAttr[IntegerType]]):
    """A `dense<…>` tensor of 64-bit integers or of indices."""

    index: bool = False
    rank: int | None = None

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Raise for another type of attribute or of elements."""
        if isinstance(attr, DenseIntOrFPElementsAttr):
            dense = cast("DenseIntOrFPElementsAttr[IntegerType]", attr)
            kind = cast(Attribute, dense.get_element_type())
            fits = isinstance(kind, IndexType) if self.index else kind == i64
            if fits and self.rank in (None, len(dense.get_shape())):
                return
        expected = "indices" if self.index else "i64"
        raise VerifyException(f"expected dense elements of {expected}, got {attr}")


@dataclass(frozen=True)
class ListOf(FixedConstraint[ArrayAttr[Attribute]]):
    """A `[…]` whose entries satisfy a constraint."""

    entry: AttrConstraint

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Raise for another type of attribute or of an entry."""
        if not isinstance(attr, ArrayAttr):
            raise VerifyException(f"expected a list, got {attr}")
        for element in cast("ArrayAttr[Attribute]", attr).data:
            self.entry.verify(element, constraint_context or VerificationContext())


Integers = ArrayOf(64)
Booleans = ArrayOf(1)
Integer = IntegerOf(64)
NotNegative = IntegerOf(64, 0)
Positive = IntegerOf(64, 1)
Bool = cast("AttrConstraint[BoolAttr]", IntegerOf(1))
String = BaseAttr(StringAttr)
Array = BaseAttr[ArrayAttr[Attribute]](ArrayAttr)
Precisions = ListOf(BaseAttr(PrecisionAttr))
Padding = ElementsOf()
Layouts = ListOf(ElementsOf(index=True, rank=1))
Tilings = ListOf(Layouts)


class StableHLOOp(VerifiedOnce, ABC):
    """Base of all ops of the dialect.

    `DEFAULTS` names the optional properties that the printed attribute dictionary
    leaves out when they have their default value.
    """

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {}

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse the types of operands and results after the colon."""
        return syntax.parse_signature(parser)

    @classmethod
    def parse_end(
        cls,
        parser: Parser,
        operands: Sequence[UnresolvedOperand],
        properties: dict[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> Self:
        """Parse `attr-dict : types`, and build the op from these and the parts before."""
        attributes = syntax.parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = cls.parse_types(parser, len(operands))
        return cls.create(
            operands=parser.resolve_operands(operands, operand_types, position),
            result_types=result_types,
            properties=dict(sorted(properties.items()))
            if len(properties) > 1
            else properties,
            attributes=attributes,
            regions=regions,
        )


_EnumT = TypeVar("_EnumT", bound=StrEnum)


def enum_codec(attribute: type[EnumAttribute[_EnumT]]) -> syntax.Codec:
    """Return parser and printer of an enum as a keyword; MLIR also has the attribute."""

    def parse(parser: Parser) -> Attribute:
        if parser.lexer.input.at(parser.pos) == "#":
            return parser.parse_attribute()
        return attribute(attribute.parse_parameter(parser))

    def text(value: Attribute) -> str:
        return cast("EnumAttribute[StrEnum]", value).data.value

    return parse, text


@dataclass(frozen=True)
class Field:
    """A property that an op's syntax writes as `keyword = value`."""

    keyword: str
    name: str
    codec: syntax.Codec
    optional: bool = False


class PrettyOp(StableHLOOp, ABC):
    """An op written `operands, keyword = value, … attr-dict : types`.

    Subclasses say what differs in class variables:

    - FIELDS: the properties, in their order;
    - SHORTHAND: whether one type stands for all when they are equal, or the signature
      of operands and results is always written;
    - LIST: whether the comma before the first field belongs to the operand list (and
      so is missing when there are no operands).
    """

    FIELDS: ClassVar[tuple[Field, ...]] = ()
    SHORTHAND: ClassVar[bool] = False

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse what stands between the operands and the attribute dictionary.

        Args:
            comma: whether the last thing parsed was a comma.
        """
        properties: dict[str, Attribute] = {}
        for field in cls.FIELDS:
            if properties:
                parser.parse_punctuation(",")
            elif field.optional and not comma:
                continue
            parser.parse_keyword(field.keyword)
            parser.parse_punctuation("=")
            properties[field.name] = field.codec[0](parser)
        return properties

    def print_fields(self, printer: Printer) -> None:
        separator = ", " if self.operands else " "
        for field in self.FIELDS:
            value = self.properties.get(field.name)
            if value is None:
                continue
            printer.print_string(
                f"{separator}{field.keyword} = {field.codec[1](value)}"
            )
            separator = ", "

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """Return the properties that `print_fields` prints."""
        return tuple(field.name for field in cls.FIELDS)

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse the types of operands and results after the colon."""
        if cls.SHORTHAND:
            return syntax.parse_shorthand(parser, operands)
        return syntax.parse_signature(parser)

    def print_types(self, printer: Printer) -> None:
        if self.SHORTHAND:
            syntax.print_shorthand(printer, self)
        else:
            syntax.print_signature(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands, comma = syntax.parse_operands(parser)
        properties = cls.parse_fields(parser, comma)
        return cls.parse_end(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            syntax.print_values(printer, self.operands)
        self.print_fields(printer)
        syntax.print_attr_dict(printer, self, self.printed_properties(), self.DEFAULTS)
        printer.print_string(" : ")
        self.print_types(printer)


class PureOp(StableHLOOp, ABC):
    """An op without effects on anything but its results."""

    traits = traits_def(Pure())


class PurePrettyOp(PrettyOp, PureOp, ABC):
    """Base of pure ops in the syntax of `PrettyOp`."""


class PrettyNullaryOp(PurePrettyOp, ABC):
    """Base of pure ops without operands: the only type is the result's."""

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> syntax.Signature:
        """Parse the result's type."""
        return (), (parser.parse_type(),)

    def print_types(self, printer: Printer) -> None:
        printer.print_attribute(self.results[0].type)
