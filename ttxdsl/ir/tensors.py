"""Types and sizes of values that are, or may be, tensors."""

from collections.abc import Collection, Iterator, Sequence
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
    """Return the type of a value that is known to be a tensor."""
    return cast(Tensor, value.type)


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of a value that is known to be a tensor."""
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
    if len(shape) == 1:
        return tensor_bytes((-(-shape[0] // tile[1]) * tile[1],), element)
    least = min(_padded(shape, tile, *dims) for dims in _tiled(shape, along_columns))
    return tensor_bytes((least,), element)


def tiled_order(shape: Sequence[int], tile: tuple[int, int]) -> tuple[int, ...]:
    """Return the dimensions in the order in which whole tiles of them take the fewest bytes.

    The last two are tiled; of several such orders it is the one that changes least.
    """
    dims = range(len(shape))
    if len(shape) < 2:
        return tuple(dims)
    last = min(
        _tiled(shape, None),
        key=lambda two: (_padded(shape, tile, *two), [-d for d in two]),
    )
    return *(dim for dim in dims if dim not in last), last[1], last[0]


def ordered_bytes(
    shape: Sequence[int],
    element: Attribute,
    tile: tuple[int, int],
    order: Sequence[int],
) -> int:
    """Return the bytes of a tensor in whole tiles of the last two dimensions of an order.

    Rows of elements narrower than 32 bits come in as many as fill those.
    """
    if len(shape) < 2:
        return tiled_bytes(shape, element, tile)
    row, column = order[-2:]
    rows = max(shape[row], 32 // element_bits(element))
    stored = [rows if dim == row else size for dim, size in enumerate(shape)]
    return tensor_bytes((_padded(stored, tile, column, row),), element)


def _tiled(
    shape: Sequence[int], along_columns: Collection[int] | None
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of dimensions that may lie along columns and rows of tiles."""
    for column in along_columns or range(len(shape)):
        yield from ((column, row) for row in range(len(shape)) if row != column)


def _padded(shape: Sequence[int], tile: tuple[int, int], column: int, row: int) -> int:
    """Return the elements of whole tiles; fewer rows than one has take a power of two."""
    rows, columns = shape[row], shape[column]
    full = (
        -(-rows // tile[0]) * tile[0]
        if rows >= tile[0]
        else 1 << (rows - 1).bit_length()
    )
    return prod(shape) // (rows * columns) * full * -(-columns // tile[1]) * tile[1]


def value_bytes(value: SSAValue) -> int:
    """Return the bytes of a tensor, 0 for anything else."""
    if not is_tensor(value):
        return 0
    return tensor_bytes(shape_of(value), element_of(value))
