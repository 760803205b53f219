"""Mend: `func.func` declarations lose the attributes of arguments and results.

`func.func private @f(tensor<2xf32> {sdy.sharding = …}) -> (tensor<2xf32> {…})` is
what MLIR prints for a function without a body. xDSL 0.74 drops the arguments'
attributes when it reads that, and the results' when it writes it.
"""

from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import format as function_format
from xdsl.ir import Attribute, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_VISIBILITIES = ("public", "private", "nested")

_RESERVED = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")

Input = tuple[Attribute, dict[str, Attribute]]


def _parse_unnamed_input(parser: Parser) -> Input:
    type = parser.parse_type()
    attributes = parser.parse_optional_dictionary_attr_dict()
    parser.parse_optional_location()
    return type, attributes


def _parse_declaration(parser: Parser) -> FuncOp | None:
    """Parse from the visibility on; None, with nothing consumed, if inputs are named."""
    start = parser.pos
    visibility = parser.parse_optional_visibility_keyword()
    name = parser.parse_symbol_name().data
    if parser.parse_optional_punctuation("(") is None:
        parser.raise_error("'(' expected")
    if parser.pos < len(parser.lexer.input.content) and _next_is_named(parser):
        parser._resume_from(start)  # pyright: ignore[reportPrivateUsage]
        return None
    inputs: list[Input] = []
    if parser.parse_optional_punctuation(")") is None:
        inputs = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: _parse_unnamed_input(parser)
        )
        parser.parse_punctuation(")")
    outputs, result_attributes = function_format._parse_func_outputs(parser)  # pyright: ignore[reportPrivateUsage]
    extra = parser.parse_optional_attr_dict_with_keyword(_RESERVED)
    body = parser.parse_optional_region()
    if body is not None and inputs:
        parser.raise_error("the arguments of a function with a body need names")
    attributes = [DictionaryAttr(entry) for _, entry in inputs]
    function = FuncOp(
        name,
        FunctionType.from_lists([type for type, _ in inputs], outputs),
        Region() if body is None else body,
        visibility,
        arg_attrs=ArrayAttr(attributes) if any(a.data for a in attributes) else None,
        res_attrs=result_attributes,
    )
    if extra is not None:
        function.attributes |= extra.data
    return function


def _next_is_named(parser: Parser) -> bool:
    return parser._current_token.text.startswith("%")  # pyright: ignore[reportPrivateUsage]


def _print_declaration(function: FuncOp, printer: Printer) -> None:
    if function.sym_visibility:
        printer.print_string(f" {function.sym_visibility.data}")
    printer.print_string(" ")
    printer.print_symbol_name(function.sym_name.data)
    inputs = function.function_type.inputs.data
    entries = function.arg_attrs or ArrayAttr([DictionaryAttr({})] * len(inputs))

    def print_input(pair: tuple[Attribute, DictionaryAttr]) -> None:
        printer.print_attribute(pair[0])
        if pair[1].data:
            printer.print_string(" ")
            printer.print_attr_dict(cast(Any, pair[1].data))

    with printer.in_parens():
        printer.print_list(zip(inputs, entries, strict=True), print_input)
    function_format._print_func_outputs(  # pyright: ignore[reportPrivateUsage]
        printer, function.function_type.outputs.data, function.res_attrs
    )
    printer.print_op_attributes(
        function.attributes, reserved_attr_names=_RESERVED, print_keyword=True
    )


def _verify_border(function: FuncOp) -> None:
    visibility = function.sym_visibility
    if visibility is not None and visibility.data not in _VISIBILITIES:
        raise VerifyException(
            f"visibility is {visibility}, expected one of {', '.join(_VISIBILITIES)}"
        )
    type_ = function.function_type
    for kind, entries, types in (
        ("argument", function.arg_attrs, type_.inputs),
        ("result", function.res_attrs, type_.outputs),
    ):
        if entries is not None and len(entries) != len(types):
            raise VerifyException(
                f"{len(entries)} {kind} attributes for {len(types)} {kind}s"
            )


def mend() -> None:
    """Keep the attributes of declarations, and verify those of all functions."""
    parse_definition = FuncOp.parse
    verify_definition = FuncOp.verify_
    print_definition = FuncOp.print

    def parse(cls: type[FuncOp], parser: Parser) -> FuncOp:
        return _parse_declaration(parser) or parse_definition(parser)

    def print_function(self: FuncOp, printer: Printer) -> None:
        if self.body.blocks:
            print_definition(self, printer)
        else:
            _print_declaration(self, printer)

    def verify(self: FuncOp) -> None:
        verify_definition(self)
        _verify_border(self)

    FuncOp.verify_ = verify
    FuncOp.parse = cast(Any, classmethod(parse))
    FuncOp.print = print_function
