"""Tensors as text, in the layout of StableHLO's own interpreter.

tensor<2x2xi8> {
  [
    [1, 2],
    [3, 4]
  ]
}
"""

from io import StringIO
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import AnyFloat, ComplexType, ShapedType
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ttxdsl.interpreters.kernels.elements import widen

Array = NDArray[Any]


class _FloatText:
    """Floats as xDSL prints them, by one printer: making one takes longer than that."""

    def __init__(self) -> None:
        self._stream = StringIO()
        self._printer = Printer(stream=self._stream)

    def __call__(self, value: float, type_: AnyFloat) -> str:
        self._stream.seek(0)
        self._stream.truncate()
        self._printer.print_float(value, type_)
        return self._stream.getvalue()


_float_text = _FloatText()


def _element_text(value: Any, type_: Attribute) -> str:
    if isinstance(type_, ComplexType):
        part = cast("ComplexType[AnyFloat]", type_).element_type
        return f"[{_element_text(value.real, part)}, {_element_text(value.imag, part)}]"
    if isinstance(type_, AnyFloat):
        return _float_text(float(value), type_)
    if isinstance(value, np.bool_ | bool):
        return "true" if value else "false"
    return str(int(value))


def _lines(array: Array, type_: Attribute, indent: str) -> list[str]:
    if array.ndim == 1 or array.shape[0] == 0:
        count = array.shape[0]
        items = (_element_text(array[at], type_) for at in range(count))
        return [f"{indent}[{', '.join(items)}]"]
    lines = [f"{indent}["]
    for at, part in enumerate(array):
        inner = _lines(part, type_, f"{indent}  ")
        if at + 1 < len(array):
            inner[-1] += ","
        lines.extend(inner)
    return [*lines, f"{indent}]"]


def tensor_text(value: Array, type_: Attribute) -> str:
    """Return a value of a tensor type as text.

    Args:
        value: of the type's shape.
        type_: a ranked tensor type; others print as their type alone.
    """
    if not isinstance(type_, ShapedType):
        return str(type_)
    element: Attribute = getattr(type_, "element_type", type_)
    wide = widen(np.asarray(value))
    if wide.ndim == 0:
        return f"{type_} {{{_element_text(wide[()], element)}}}"
    return "\n".join([f"{type_} {{", *_lines(wide, element, "  "), "}"])
