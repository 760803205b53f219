"""Mend: xDSL makes the text of an attribute anew wherever it prints it.

A module of some thousand ops prints some hundred different types and properties. The
text of those kinds that say the same everywhere is made once. Others are left to xDSL:
locations (which print in two ways), resources (which the printer notes down), and
attributes of dialects that are not known here.
"""

from io import StringIO

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.printer import Printer

from ttxdsl.ir.memo import IdentityMemo

_MOST_KEPT = 1 << 14
_LARGEST = 256
"""Bytes of a constant whose text is kept."""

_SAME_EVERYWHERE = (DenseArrayBase, IntegerAttr, StringAttr)

_by_identity = IdentityMemo[str]()
_by_value: dict[Attribute, str] = {}


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


def mend() -> None:
    """Make the text of each attribute once."""
    print_attribute = Printer.print_attribute

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
        if type(self) is not Printer:  # one that may print in its own way
            print_attribute(self, attribute)
            return
        text = _by_identity.get(id(attribute)) or text_of(attribute)
        if text is None:
            print_attribute(self, attribute)
        else:
            self.print_string(text)

    Printer.print_attribute = print_remembered
