"""Types and sizes of values that are, or may be, tensors."""

from collections.abc import Collection, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    FixedBitwidthType,
    IntegerType,
    ShapedType,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue

Tensor = TensorType[Attribute]


def is_tensor(value: SSAValue) -> bool:
    """Whether a value is a ranked tensor."""
    return isinstance(value.type, TensorType)


def tensor_type(value: SSAValue) -> Tensor:
    """The type of a value that is known to be a tensor."""
    return cast(Tensor, value.type)


def element_of(value: SSAValue) -> Attribute:
    """The element type of a value that is known to be a tensor."""
    return tensor_type(value).element_type


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a tensor; `()` for other types, such as a token."""
    type_ = value.type
    # the class first: asking an abstract one takes longer, and few values are others
    if isinstance(type_, TensorType):
        return cast(Tensor, type_).get_shape()
    return tuple(type_.get_shape()) if isinstance(type_, ShapedType) else ()


def element_bits(element: Attribute) -> int:
    """Return the bits that one element takes, in memory and on a link.

    A boolean takes a byte; other elements below a byte are packed, as XLA stores them
    (`s4[64]{0:E(4)}`). A complex element has two parts, an index is 64 bits. The widening
    of what one backend cannot send (XLA's CPU gathers s4 as s8) is left to that backend.
    """
    if isinstance(element, ComplexType):
        part = cast("ComplexType[IntegerType | AnyFloat]", element).element_type
        return 2 * element_bits(part)
    if element == _BOOLEAN:
        return 8
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


_BOOLEAN = IntegerType(1)


def tensor_bytes(shape: Sequence[int], element: Attribute) -> int:
    """Return the bytes of a dense tensor of static shape."""
    return -(-prod(shape) * element_bits(element) // 8)


def tiled_bytes(
    shape: Sequence[int],
    element: Attribute,
    tile: tuple[int, int],
    along_columns: Collection[int] | None = None,
) -> int:
    """Return the bytes of a tensor that is stored in whole tiles.

    Compilers choose which two dimensions are tiled (`{2,0,1:T(8,128)}`); here those with
    the least padding, of `along_columns` only if given. Fewer rows than a tile has take a
    power of two.
    """
    if not prod(shape) or not shape:
        return tensor_bytes(shape, element)
    rows, columns = tile
    if len(shape) == 1:
        return tensor_bytes((-(-shape[0] // columns) * columns,), element)
    padded_rows = [
        -(-size // rows) * rows if size >= rows else 1 << (size - 1).bit_length()
        for size in shape
    ]
    padded_columns = [-(-size // columns) * columns for size in shape]
    total = prod(shape)
    least = min(
        total
        // (shape[row] * shape[column])
        * padded_rows[row]
        * padded_columns[column]
        for column in along_columns or range(len(shape))
        for row in range(len(shape))
        if row != column
    )
    return tensor_bytes((least,), element)


def value_bytes(value: SSAValue) -> int:
    """Return the bytes of a tensor, 0 for anything else."""
    if not is_tensor(value):
        return 0
    return tensor_bytes(shape_of(value), element_of(value))
