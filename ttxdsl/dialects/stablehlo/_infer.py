"""Comparing types as StableHLO's type inference does: a dynamic size fits any size."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo.types import Kind, Tensor, element_kind


def sizes_fit(one: int, other: int) -> bool:
    """Whether two sizes of a dimension can be the same at run time."""
    return one == other or DYNAMIC_INDEX in (one, other)


def shapes_fit(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes can be the same at run time."""
    return one == other or (len(one) == len(other) and all(map(sizes_fit, one, other)))


def elements_fit(one: Attribute, other: Attribute) -> bool:
    """Whether two element types are the same, but for how they are quantized."""
    if one == other:
        return True
    quantized = Kind.QUANT | Kind.QUANT_PER_AXIS
    return (
        element_kind(one) in quantized
        and element_kind(other) in quantized
        and bool(element_kind(one))
        and bool(element_kind(other))
    )


def types_fit(one: Attribute, other: Attribute) -> bool:
    """Whether values of the two types can be the same value."""
    if one is other or one == other:
        return True
    if not (isinstance(one, TensorType) and isinstance(other, TensorType)):
        return False
    left, right = cast(Tensor, one), cast(Tensor, other)
    return elements_fit(left.element_type, right.element_type) and shapes_fit(
        left.get_shape(), right.get_shape()
    )


def require_type(got: Attribute, expected: Attribute, what: str = "result") -> None:
    """Refuse a value whose type does not fit."""
    if not types_fit(got, expected):
        raise VerifyException(f"{what}: expected type {expected}, got {got}")


def require_shape(got: Attribute, expected: Attribute, what: str = "result") -> None:
    """Refuse a tensor whose shape does not fit another's."""
    left, right = cast(Tensor, got), cast(Tensor, expected)
    if left is not right and not shapes_fit(left.get_shape(), right.get_shape()):
        raise VerifyException(f"{what}: expected the shape of {expected}, got {got}")


def require_element(got: Attribute, expected: Attribute, what: str = "result") -> None:
    """Refuse a tensor whose element type does not fit another's."""
    left, right = cast(Tensor, got), cast(Tensor, expected)
    if left is not right and not elements_fit(left.element_type, right.element_type):
        raise VerifyException(f"{what}: expected elements as in {expected}, got {got}")
