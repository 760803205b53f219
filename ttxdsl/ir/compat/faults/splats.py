"""A dense constant of equal elements is held as one element, as MLIR holds it.

xDSL 0.74 repeats the element as often as the type says: `dense<0.0>` of a GiB costs a
GiB, and several times that on the way. Here `data` of every constant whose elements all
have the same bits is those of one, however it was written or made, so that equal
constants stay equal; `len` and all that lists elements answer as before.
"""

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.utils.exceptions import VerifyException

Dense = DenseIntOrFPElementsAttr[Any]

_CHUNK = 1 << 16
"""Bytes to compare at a time."""

_MOST_LISTED = 1 << 24
"""Times that the one element is put into a list; no op needs so many numbers."""


def is_splat(value: Dense) -> bool:
    """Whether all elements have the same bits; NaN is equal to itself here."""
    return len(value.data.data) == value.type.element_type.compile_time_size


def elements(value: Dense) -> int:
    """Return the number of elements, also if it is too large for `len`.

    For a constant of unknown shape it is the number of held elements.
    """
    size = value.type.element_type.compile_time_size
    shape = value.type.get_shape()
    if len(value.data.data) == size and all(extent >= 0 for extent in shape):
        return prod(shape)
    return len(value.data.data) // size


def _repeats(data: bytes, size: int) -> bool:
    """Whether the first `size` bytes come again and again to the end."""
    first = data[:size]
    if data[-size:] != first:
        return False
    step = max(size, _CHUNK - _CHUNK % size)
    chunk = data[:step]
    if chunk != first * (len(chunk) // size):
        return False
    return all(
        data[start : start + step] == chunk[: len(data) - start]
        for start in range(step, len(data), step)
    )


def _hold_once(value: Dense) -> None:
    """Shorten the data of a new constant to one element if all are equal."""
    data, size = value.data.data, value.type.element_type.compile_time_size
    shape = value.type.get_shape()
    if 0 in shape:
        if len(data) == size:
            object.__setattr__(value, "data", BytesAttr(b""))
    elif len(data) > size and len(data) == size * prod(shape) and _repeats(data, size):
        object.__setattr__(value, "data", BytesAttr(data[:size]))


def _listed(value: Dense, read: Callable[[Any, bytes, int], tuple[Any, ...]]) -> Any:
    """Return all elements; the held ones are repeated."""
    data, count = value.data.data, elements(value)
    size = value.type.element_type.compile_time_size
    held = read(value.get_element_type(), data, len(data) // size)
    if count > max(len(held), _MOST_LISTED):
        raise VerifyException(
            f"expected at most {_MOST_LISTED} numbers, got {count} in {value.type}"
        )
    return held if len(held) == count else held * count


def mend() -> None:
    """Replace the constructors and accessors of dense constants."""
    mended = cast(Any, DenseIntOrFPElementsAttr)
    post_init, from_list = mended.__post_init__, mended.from_list

    def hold_once(self: Dense) -> None:
        _hold_once(self)
        post_init(self)

    def verify(self: Dense) -> None:
        if not self.type.get_shape() and not is_splat(self):
            raise VerifyException(
                f"A zero-rank {self.type.name} can only hold 1 value but {elements(self)}"
                " were given."
            )

    def one_for_all(type: Any, data: Sequence[Any]) -> Dense:
        if len(data) != 1:
            return from_list(type, data)
        element = type.get_element_type()
        if isinstance(element, IntegerType):
            data = (element.get_normalized_value(data[0]),)
        return DenseIntOrFPElementsAttr(type, BytesAttr(element.pack(data)))

    def get_values(self: Dense) -> Any:
        return _listed(self, lambda element, data, count: element.unpack(data, count))

    def get_attrs(self: Dense) -> Any:
        kind: Any = IntegerAttr
        if isinstance(self.get_element_type(), AnyFloat):
            kind = FloatAttr
        return _listed(self, kind.unpack)

    def iter_values(self: Dense) -> Iterator[Any]:
        held = self.get_element_type().iter_unpack(self.data.data)
        if not is_splat(self):
            return held
        value = next(held)
        return (value for _ in range(elements(self)))

    def iter_attrs(self: Dense) -> Iterator[Any]:
        return iter(get_attrs(self))

    mended.__post_init__ = hold_once
    mended.__len__ = elements
    mended.verify = verify
    mended.is_splat = is_splat
    mended.from_list = staticmethod(one_for_all)
    mended.get_values = get_values
    mended.get_attrs = get_attrs
    mended.iter_values = iter_values
    mended.iter_attrs = iter_attrs
