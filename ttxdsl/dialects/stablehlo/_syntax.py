"""Parsing and printing that StableHLO's ops share.

Signatures without anything that depends on context (aliases, encodings) are looked up
by their text, as types are (`ttxdsl.ir.compat.speed.types`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer

Types = tuple[Attribute, ...]
Signature = tuple[Types, Types]
"""The types of operands and of results."""

_SIMPLE_TYPE = r"tensor<(?:(?:\d+|\?)x)*(?:[a-z][a-zA-Z0-9]*|complex<f\d+>)>"
_SIMPLE_LIST = rf"\((?:{_SIMPLE_TYPE}(?:, {_SIMPLE_TYPE})*)?\)"
_signature_at = re.compile(
    rf"{_SIMPLE_LIST} -> (?:{_SIMPLE_TYPE}|{_SIMPLE_LIST})"
).match

_MOST_KEPT = 1 << 14
_signatures: dict[str, Signature] = {}


class _Cursor(Parser):
    """Gives the functions here the parser's position, which xDSL keeps to parsers."""

    @staticmethod
    def skip_to(parser: AttrParser, position: int) -> None:
        """Continue lexing at a position of the input."""
        parser._resume_from(position)

    @staticmethod
    def text(parser: AttrParser) -> str:
        """Return the text of the next token."""
        return parser._current_token.text


def next_text(parser: AttrParser) -> str:
    """Return the text of the next token, not consumed."""
    return _Cursor.text(parser)


def parse_type_list(parser: AttrParser) -> list[Attribute]:
    """Parse `type, type, …`, at least one."""
    types: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parser.parse_type())
    return types


def parse_types_of(parser: AttrParser, operands: Sequence[object]) -> list[Attribute]:
    """Parse `: type, …` of operands, or nothing if there are none."""
    if not operands:
        return []
    parser.parse_punctuation(":")
    return parse_type_list(parser)


def parse_signature(parser: AttrParser) -> Signature:
    """Parse `(type, …) -> type` into the types of operands and of results."""
    match = _signature_at(parser.lexer.input.content, parser.pos)
    if match is not None:
        text = match.group()
        known = _signatures.get(text)
        if known is not None:
            _Cursor.skip_to(parser, match.end())
            return known
    function = parser.parse_function_type()
    signature = (tuple(function.inputs.data), tuple(function.outputs.data))
    if match is not None and len(_signatures) < _MOST_KEPT:
        _signatures[match.group()] = signature
    return signature


def parse_shorthand(parser: AttrParser, operands: int) -> Signature:
    """Parse one type that all operands and the result have, or a signature."""
    if next_text(parser) == "(":
        return parse_signature(parser)
    type = parser.parse_type()
    if isinstance(type, FunctionType):  # an alias of one
        return tuple(type.inputs.data), tuple(type.outputs.data)
    return (type,) * operands, (type,)


def print_type_list(printer: Printer, types: Iterable[Attribute]) -> None:
    """Print `type, type, …`."""
    printer.print_list(types, lambda type: printer.print_attribute(type))


def print_signature(printer: Printer, op: Operation) -> None:
    """Print `(type, …) -> type` of an op's operands and results."""
    with printer.in_parens():
        print_type_list(printer, (operand.type for operand in op.operands))
    printer.print_string(" -> ")
    results = op.results
    if len(results) == 1 and not isinstance(results[0].type, FunctionType):
        printer.print_attribute(results[0].type)
        return
    with printer.in_parens():
        print_type_list(printer, (result.type for result in results))


def print_shorthand(printer: Printer, op: Operation) -> None:
    """Print one type if all operands and the result have it, else the signature."""
    result = op.results[0].type
    if all(operand.type == result for operand in op.operands):
        printer.print_attribute(result)
    else:
        print_signature(printer, op)


def parse_operands(parser: Parser) -> tuple[list[UnresolvedOperand], bool]:
    """Parse `%a, %b, …`; return also whether a comma came last."""
    operands: list[UnresolvedOperand] = []
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        operands.append(operand)
        if parser.parse_optional_punctuation(",") is None:
            return operands, False
    return operands, bool(operands)


def print_values(printer: Printer, values: Iterable[SSAValue]) -> None:
    """Print `%a, %b, …`."""
    printer.print_list(values, printer.print_ssa_value)


def parse_attr_dict(
    parser: Parser,
    op_class: type[IRDLOperation],
    properties: dict[str, Attribute],
) -> dict[str, Attribute]:
    """Parse an optional attribute dictionary.

    Entries that are properties of the op are added to `properties`; the others, the
    discardable attributes, are returned.
    """
    attributes = parser.parse_optional_attr_dict()
    if attributes:
        defined = op_class.get_irdl_definition().properties
        for name in tuple(attributes):
            if name in defined:
                if name in properties:
                    parser.raise_error(f"'{name}' is given twice")
                properties[name] = attributes.pop(name)
    return attributes


def print_attr_dict(
    printer: Printer,
    op: Operation,
    printed: Sequence[str] = (),
    defaults: Mapping[str, Attribute] | None = None,
    *,
    keyword: bool = False,
) -> None:
    """Print properties that the syntax has no place for, and discardable attributes.

    Args:
        printed: the properties that the op's syntax prints itself.
        defaults: properties that are left out when they have this value.
        keyword: whether the dictionary comes after the word `attributes`.
    """
    entries = dict(op.attributes)
    for name, value in op.properties.items():
        if name not in printed and not (defaults and defaults.get(name) == value):
            entries[name] = value
    if entries:
        # MLIR keeps dictionaries sorted by name.
        printer.print_op_attributes(
            {name: entries[name] for name in sorted(entries)}, print_keyword=keyword
        )


def i64_array(values: Iterable[int]) -> DenseArrayBase[IntegerType]:
    """Return an `array<i64: …>`."""
    return DenseArrayBase.from_list(i64, tuple(values))


def bool_array(values: Iterable[bool]) -> DenseArrayBase[IntegerType]:
    """Return an `array<i1: …>`."""
    return DenseArrayBase.from_list(i1, tuple(int(value) for value in values))


def parse_integers(parser: AttrParser) -> list[int]:
    """Parse `[1, 2, …]`."""
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_integer
    )


def parse_dims(
    parser: AttrParser, brackets: AttrParser.Delimiter = AttrParser.Delimiter.SQUARE
) -> tuple[int, ...]:
    """Parse `[1, ?, …]`, or in other brackets; `?` is `DYNAMIC_INDEX`."""

    def parse_one() -> int:
        if parser.parse_optional_punctuation("?") is not None:
            return DYNAMIC_INDEX
        return parser.parse_integer()

    return tuple(parser.parse_comma_separated_list(brackets, parse_one))


def dim_text(dim: int) -> str:
    """Return a dimension's size as MLIR prints it."""
    return "?" if dim == DYNAMIC_INDEX else str(dim)


def dims_text(dims: Iterable[int]) -> str:
    """`[1, ?, …]`."""
    return f"[{', '.join(map(dim_text, dims))}]"


Codec = tuple[Callable[[Parser], Attribute], Callable[[Attribute], str]]
"""How a field's value is parsed and how it reads."""


def _i64s_text(value: Attribute) -> str:
    return dims_text(cast("DenseArrayBase[IntegerType]", value).get_values())


def _int_text(value: Attribute) -> str:
    return str(cast("IntegerAttr[IntegerType]", value).value.data)


def _bool_text(value: Attribute) -> str:
    return "true" if cast("IntegerAttr[IntegerType]", value).value.data else "false"


I64S: Codec = (lambda parser: i64_array(parse_integers(parser)), _i64s_text)
I64: Codec = (lambda parser: IntegerAttr(parser.parse_integer(), i64), _int_text)
BOOL: Codec = (lambda parser: BoolAttr.from_bool(parser.parse_boolean()), _bool_text)
STRING: Codec = (lambda parser: StringAttr(parser.parse_str_literal()), str)


class NamedPrinter(Printer):
    """Gives ops a hand in naming values, which xDSL keeps to printers."""

    @staticmethod
    def share_name(printer: Printer, value: SSAValue, named: SSAValue) -> None:
        """Let a value print under the name that another one was printed with."""
        printer._ssa_values[value] = printer._ssa_values[named]
