"""Numbers and shapes of ttir and ttnn: type aliases, makers, and `ints`.

tt-mlir is particular about integer types: dimensions are si32, the mesh axis of a
collective is ui32, shapes are arrays of i32, and ttnn has an attribute for them. These
spell them once.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    i32,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition
from ttxdsl.ir.memo import IdentityMemo

SI8: TypeAlias = IntegerType[Literal[8], Literal[Signedness.SIGNED]]
SI32: TypeAlias = IntegerType[Literal[32], Literal[Signedness.SIGNED]]
UI32: TypeAlias = IntegerType[Literal[32], Literal[Signedness.UNSIGNED]]
SI64: TypeAlias = IntegerType[Literal[64], Literal[Signedness.SIGNED]]

si32: SI32 = IntegerType(32, Signedness.SIGNED)
ui32: UI32 = IntegerType(32, Signedness.UNSIGNED)
si64: SI64 = IntegerType(64, Signedness.SIGNED)

I32Array: TypeAlias = ArrayAttr[IntegerAttr]
"""An array of i32, printed `[1 : i32, 2 : i32]`."""

DenseInts: TypeAlias = DenseArrayBase[IntegerType]
"""`array<i64: …>` or `array<i32: …>`."""


@dataclass(frozen=True, init=False)  # otherwise comparisons would ignore the sizes
class Dimensions(ParametrizedAttribute):
    """Base of attributes that are a list of sizes, `2x4`."""

    sizes: ArrayAttr[IntAttr]

    def values(self) -> tuple[int, ...]:
        """Return the sizes as integers."""
        return tuple(size.data for size in self.sizes)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `2x4`."""
        return [ArrayAttr(IntAttr(size) for size in parser.parse_dimension_list())]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_dimension_list(self.values())


@irdl_attr_definition
class ShapeAttr(Dimensions):
    """A tensor shape, or factors for each dimension: `#ttnn.shape<16x32>`."""

    name = "ttnn.shape"

    def __init__(self, sizes: Iterable[int]):
        super().__init__(ArrayAttr(IntAttr(size) for size in sizes))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<16x32>`."""
        with parser.in_angle_brackets():
            return super().parse_parameters(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameters(printer)


Sizes: TypeAlias = I32Array | DenseInts | ShapeAttr
"""The three ways to write several integers."""


I32 = range(-(1 << 31), 1 << 31)
"""The numbers of 32 bits. xDSL takes one more bit for i32, and changes the sign."""


class NumberError(ValueError):
    """A number that does not fit into what tt-mlir keeps it in."""


def _require_i32(values: Iterable[int]) -> None:
    for value in values:
        if value not in I32:
            raise NumberError(f"{value} does not fit in 32 bits")


_MOST_KEPT = 1 << 14
_remember = lru_cache(maxsize=_MOST_KEPT)
"""Attributes never change, and programs ask for the same few over and over."""


@_remember
def si32_attr(value: int) -> IntegerAttr[SI32]:
    """`value : si32`."""
    _require_i32((value,))
    return IntegerAttr(value, si32)


@_remember
def ui32_attr(value: int) -> IntegerAttr[UI32]:
    """`value : ui32`."""
    return IntegerAttr(value, ui32)


@_remember
def si64_attr(value: int) -> IntegerAttr[SI64]:
    """`value : si64`."""
    return IntegerAttr(value, si64)


@_remember
def bool_attr(*, value: bool) -> BoolAttr:
    """`true` or `false`."""
    return BoolAttr.from_bool(value)


def i32_array(values: Iterable[int]) -> I32Array:
    """`[v0 : i32, …]`."""
    return _i32_array(tuple(values))


def dense_i32(values: Iterable[int]) -> DenseInts:
    """`array<i32: v0, …>`."""
    return _dense(i32, tuple(values))


def dense_i64(values: Iterable[int]) -> DenseInts:
    """`array<i64: v0, …>`."""
    return _dense(i64, tuple(values))


@_remember
def _i32_array(values: tuple[int, ...]) -> I32Array:
    _require_i32(values)
    return ArrayAttr(IntegerAttr(value, i32) for value in values)


@_remember
def _dense(element: IntegerType, values: tuple[int, ...]) -> DenseInts:
    if element == i32:
        _require_i32(values)
    return DenseArrayBase.from_list(element, values)


_values = IdentityMemo[tuple[int, ...]]()
"""By the identity of the array: programs have few, which ops share."""


def ints(attr: Sizes) -> tuple[int, ...]:
    """Return the integers, however they are written."""
    if isinstance(attr, DenseArrayBase):
        known = _values.get(id(attr))
        if known is None:
            if len(_values) >= _MOST_KEPT:
                _values.clear()
            known = _values.keep(id(attr), attr.get_values(), attr)
        return known
    if isinstance(attr, ShapeAttr):
        return attr.values()
    return tuple(element.value.data for element in attr)
