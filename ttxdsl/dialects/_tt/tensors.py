"""Tensor types, and what ops demand of them, with the message if it does not hold."""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttxdsl.ir.tensors import Tensor, tensor_type


def tensor_types(*values: SSAValue) -> tuple[Tensor, ...]:
    """Return the types of values that the op's definition already says are tensors."""
    return tuple(map(tensor_type, values))


def bit_width(type: Attribute) -> int | None:
    """Bits of one element, None when that is not a plain number type."""
    return type.bitwidth if isinstance(type, IntegerType | AnyFloat) else None


def shape_text(type: Tensor) -> str:
    """Return a shape as messages write it: `2x3`, or `scalar`."""
    return sizes_text(type.get_shape())


def sizes_text(sizes: Sequence[int]) -> str:
    """Sizes as messages write a shape."""
    return "x".join(str(size) for size in sizes) or "scalar"


def expect_shape(actual: Tensor, wanted: Sequence[int], reason: str) -> None:
    """Raise unless the result has the shape that an op asks for."""
    if actual.get_shape() != tuple(wanted):
        raise VerifyException(
            f"the result has shape {shape_text(actual)}, "
            f"expected {sizes_text(wanted)}: {reason}"
        )


def expect_element_type(actual: Tensor, wanted: Tensor) -> None:
    """The result has the operand's element type."""
    expect_elements(actual.element_type, wanted.element_type)


def expect_elements(actual: Attribute, wanted: Attribute) -> None:
    """The result's element type is the operand's, its scales where they are now."""
    if actual != wanted:
        raise VerifyException(
            f"the result has elements of {actual}, "
            f"the operand of {wanted}: they must be the same"
        )


def expect_type(actual: Tensor, wanted: Tensor, reason: str) -> None:
    """The result has the operand's element type and shape."""
    expect_element_type(actual, wanted)
    expect_shape(actual, wanted.get_shape(), reason)


def expect_dim(type: Tensor, dim: int, name: str) -> None:
    """The tensor has that dimension."""
    rank = len(type.get_shape())
    if not 0 <= dim < rank:
        raise VerifyException(
            f"{name} is {dim}, expected 0 to {rank - 1} for a tensor of rank {rank}"
        )


def expect_indices(type: Tensor) -> None:
    """Elements are integers."""
    if not isinstance(type.element_type, IntegerType):
        raise VerifyException(f"indices have elements of {type.element_type}")


def expect_along(input: Tensor, result: Tensor, dim: int) -> None:
    """The result has the operand's type, and the op works along a dimension of it."""
    expect_dim(input, dim, "dim")
    expect_type(result, input, "the operand's shape")


def differ_only_in(dim: int, tensor: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same rank and sizes, but for one dimension."""
    mine, theirs = tensor.get_shape(), other.get_shape()
    return (
        len(mine) == len(theirs)
        and mine[:dim] == theirs[:dim]
        and mine[dim + 1 :] == theirs[dim + 1 :]
    )


def resized(type: Tensor, dim: int, size: int) -> tuple[int, ...]:
    """Return a tensor's shape with another size of one dimension."""
    shape = type.get_shape()
    return (*shape[:dim], size, *shape[dim + 1 :])


def exactly(count: int, name: str, values: Sequence[int]) -> Sequence[int]:
    """Return the values, if there are that many."""
    if len(values) != count:
        raise VerifyException(f"{name} has {len(values)} entries, expected {count}")
    return values
