"""Mend: xDSL makes the text of an attribute anew wherever it prints it.

A module of some thousand ops prints some hundred different types and properties. The
text of those kinds that say the same everywhere is made once. Others are left to xDSL:
locations (which print in two ways), resources (which the printer notes down), and
attributes of dialects that are not known here.

An op in generic form ends in its properties, attributes and types: layers repeat them,
so that end is made once too. So is a dictionary, of which functions have one for each
argument. Ops with a form of their own, regions or successors, and printers that do more
than print the text, are left to xDSL. A printer that only prints ops and values in its
own way says so by `attributes_as_ever`.
"""

from collections.abc import Mapping
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.printer import Printer

from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import operands_of

_MOST_KEPT = 1 << 15
_LARGEST = 256
"""The largest constant, in bytes, whose text is kept."""

_SAME_EVERYWHERE = (
    AnyFloat,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
)

AS_EVER = "attributes_as_ever"
"""The field of a printer's class that prints attributes as `Printer` does."""

_by_identity = IdentityMemo[str]()
_by_value: dict[Attribute, str] = {}
_ends = IdentityMemo[str | None]()
"""Of generic ops, by class, names, and the identities of attributes and types; None of
those whose text depends on more."""
_dictionaries = IdentityMemo[str | None]()
"""The texts of dictionaries, by names and the identities of attributes."""
_print_attr_dict = Printer.print_attr_dict


def _is_plain(attribute: Attribute) -> bool:
    """Whether an attribute's text depends on nothing but the attribute."""
    if isinstance(attribute, TensorType):
        encoding: Attribute = attribute.encoding
        return isinstance(encoding, NoneAttr) or _is_ours(encoding)
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return len(attribute.data.data) <= _LARGEST
    return isinstance(attribute, _SAME_EVERYWHERE) or _is_ours(attribute)


def _is_ours(attribute: Attribute) -> bool:
    if not type(attribute).__module__.startswith("ttxdsl.dialects."):
        return False
    # 0.0 equals -0.0, and does not print so
    return not isinstance(attribute, ParametrizedAttribute) or not any(
        isinstance(parameter, FloatAttr) for parameter in attribute.parameters
    )


def _is_repeated(attribute: Attribute) -> bool:
    """Whether the very same object prints the same text again."""
    if isinstance(attribute, ArrayAttr):
        parts = cast(ArrayAttr[Attribute], attribute).data
        return len(parts) <= _LARGEST and all(map(_is_repeated, parts))
    return isinstance(attribute, FloatAttr | UnitAttr) or _is_plain(attribute)


def _end_of(op: Operation) -> str | None:
    """Return the text of a generic op after its operands, None if it is not kept."""
    properties, attributes = op.properties, op.attributes
    objects = [
        *[value.type for value in (*operands_of(op), *op.results)],
        *properties.values(),
        *attributes.values(),
    ]
    key = (type(op), len(op.results), *properties, "", *attributes, *map(id, objects))
    try:
        return _ends[key]
    except KeyError:
        pass
    end: str | None = None
    if not isinstance(op, UnregisteredOp) and all(map(_is_repeated, objects)):
        stream = StringIO()
        printer = Printer(stream=stream)
        printer._print_op_properties(properties)  # pyright: ignore[reportPrivateUsage]
        printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_operation_type(op)
        end = stream.getvalue()
    if len(_ends) >= _MOST_KEPT:
        _ends.clear()
    return _ends.keep(key, end, *objects)


def _dictionary_of(attributes: Mapping[str, Attribute]) -> str | None:
    """Return the text of a dictionary of attributes, None if it is not kept."""
    values = attributes.values()
    key = (*attributes, *map(id, values))
    try:
        return _dictionaries[key]
    except KeyError:
        pass
    text: str | None = None
    if all(map(_is_repeated, values)):
        stream = StringIO()
        _print_attr_dict(Printer(stream=stream), attributes)
        text = stream.getvalue()
    if len(_dictionaries) >= _MOST_KEPT:
        _dictionaries.clear()
    return _dictionaries.keep(key, text, *values)


def mend() -> None:
    """Make the text of each attribute, of a dictionary and of what ends a line once."""
    print_attribute = Printer.print_attribute
    print_op = Printer.print_op

    def print_line(self: Printer, op: Operation) -> None:
        if (
            type(self) is not Printer
            or self.print_debuginfo
            or self.print_properties_as_attributes
            or self.diagnostic.op_messages
            or op.regions
            or op._successors  # pyright: ignore[reportPrivateUsage]  # no call
            or not (self.print_generic_format or type(op).print is Operation.print)
            or (end := _end_of(op)) is None
        ):
            print_op(self, op)
            return
        names = self._ssa_values  # pyright: ignore[reportPrivateUsage]
        try:
            operands = ", ".join([f"%{names[value]}" for value in operands_of(op)])
        except KeyError:  # one that is defined further down
            print_op(self, op)
            return
        self._print_results(op)  # pyright: ignore[reportPrivateUsage]
        self.print_string(f'"{op.name}"({operands}){end}')

    def text_of(attribute: Attribute) -> str | None:
        if not _is_plain(attribute):
            return None
        text = _by_value.get(attribute)
        if text is None:
            stream = StringIO()
            print_attribute(Printer(stream=stream), attribute)
            text = stream.getvalue()
            if len(_by_value) >= _MOST_KEPT:
                _by_value.clear()
            _by_value[attribute] = text
        if len(_by_identity) >= _MOST_KEPT:
            _by_identity.clear()
        return _by_identity.keep(id(attribute), text, attribute)

    def print_remembered(self: Printer, attribute: Attribute) -> None:
        if type(self) is not Printer and not getattr(self, AS_EVER, False):
            print_attribute(self, attribute)
            return
        text = _by_identity.get(id(attribute)) or text_of(attribute)
        if text is None:
            print_attribute(self, attribute)
        else:
            self.print_string(text)

    def print_dictionary(self: Printer, attr_dict: Mapping[str, Attribute]) -> None:
        text = None
        if type(self) is Printer or getattr(self, AS_EVER, False):
            text = _dictionary_of(attr_dict)
        if text is None:
            _print_attr_dict(self, attr_dict)
        else:
            self.print_string(text)

    Printer.print_attribute = print_remembered
    Printer.print_attr_dict = print_dictionary
    Printer.print_op = print_line
