"""What StableHLO's ops have in common: a syntax said by a table, and checked types."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import AttrConstraint, BaseAttr, IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from ttxdsl.dialects.stablehlo._syntax import (
    Codec,
    Types,
    parse_attr_dict,
    parse_operands,
    parse_shorthand,
    parse_signature,
    print_attr_dict,
    print_shorthand,
    print_signature,
    print_values,
)

# The attribute types of properties. The element type of an `array<…>` is part of the
# verification of the op (`require_integers`): a generic constraint costs more.
IntegerArray = BaseAttr[DenseArrayBase[IntegerType]](DenseArrayBase)
Integer = BaseAttr[IntegerAttr[IntegerType]](IntegerAttr)
Bool = cast("AttrConstraint[BoolAttr]", Integer)
String = BaseAttr(StringAttr)
Array = BaseAttr[ArrayAttr[Attribute]](ArrayAttr)


class StableHLOOp(IRDLOperation, ABC):
    """Base of all ops of the dialect.

    `DEFAULTS` names the optional properties that the printed attribute dictionary
    leaves out when they have their default value.
    """

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {}


_EnumT = TypeVar("_EnumT", bound=StrEnum)


def enum_codec(attribute: type[EnumAttribute[_EnumT]]) -> Codec:
    """How an enum reads as a bare keyword."""

    def parse(parser: Parser) -> Attribute:
        return attribute(attribute.parse_parameter(parser))

    def text(value: Attribute) -> str:
        return cast("EnumAttribute[StrEnum]", value).data.value

    return parse, text


@dataclass(frozen=True)
class Field:
    """A property that an op's syntax writes as `keyword = value`."""

    keyword: str
    name: str
    codec: Codec
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
            parser: the parser, behind the operands.
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
        """Print what stands between the operands and the attribute dictionary."""
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
        """The properties that `print_fields` prints."""
        return tuple(field.name for field in cls.FIELDS)

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> tuple[Types, Types]:
        """Parse the types of operands and results, behind the colon."""
        if cls.SHORTHAND:
            return parse_shorthand(parser, operands)
        return parse_signature(parser)

    def print_types(self, printer: Printer) -> None:
        """Print the types of operands and results."""
        if self.SHORTHAND:
            print_shorthand(printer, self)
        else:
            print_signature(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the op behind its name."""
        operands, comma = parse_operands(parser)
        properties = cls.parse_fields(parser, comma)
        attributes = parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = cls.parse_types(parser, len(operands))
        return cls.create(
            operands=parser.resolve_operands(operands, operand_types, position),
            result_types=result_types,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print the op behind its name."""
        if self.operands:
            printer.print_string(" ")
            print_values(printer, self.operands)
        self.print_fields(printer)
        print_attr_dict(printer, self, self.printed_properties(), self.DEFAULTS)
        printer.print_string(" : ")
        self.print_types(printer)


def require(condition: bool, message: str) -> None:
    """Refuse an op whose constraint does not hold."""
    if not condition:
        raise VerifyException(message)


def only_block(region: Region) -> Block:
    """The block of a region that must have exactly one."""
    block = region.blocks.first
    if block is None or block.next_block is not None:
        raise VerifyException("a region must have exactly one block")
    return block


def terminator_of(block: Block) -> Operation:
    """The `stablehlo.return` that ends a block."""
    last = block.last_op
    if last is None or last.name != "stablehlo.return":
        raise VerifyException("a region must end with stablehlo.return")
    return last


def integers(value: DenseArrayBase[IntegerType] | Sequence[int]) -> tuple[int, ...]:
    """The numbers of an `array<i64: …>`."""
    if isinstance(value, DenseArrayBase):
        return value.get_values()
    return tuple(value)
