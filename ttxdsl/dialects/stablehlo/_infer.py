"""Comparing types as StableHLO's type inference does: a dynamic size fits any size."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IndexType,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo._shapes import shapes_fit
from ttxdsl.dialects.stablehlo.attributes import TypeExtensionsAttr
from ttxdsl.dialects.stablehlo.types import (
    Kind,
    Tensor,
    complex_part,
    element_kind,
    element_of,
)
from ttxdsl.ir.compat.speed.verify_once import looks_around


def elements_fit(element: Attribute, other: Attribute) -> bool:
    """Whether two element types are the same, but for scales and zero points."""
    if element is other or element == other:
        return True
    if isinstance(element, QuantizedType) and isinstance(other, QuantizedType):
        return element.data.without_scales() == other.data.without_scales()
    return False


def _within_bounds(sizes: tuple[int, ...], encoding: Attribute) -> bool:
    if not isinstance(encoding, TypeExtensionsAttr):
        return True
    return all(
        bound == DYNAMIC_INDEX or size <= bound
        for size, bound in zip(sizes, encoding.data, strict=False)
    )


def types_fit(type: Attribute, other: Attribute) -> bool:
    """Whether values of the two types can be the same value."""
    if type is other or type == other:
        return True
    if not (isinstance(type, TensorType) and isinstance(other, TensorType)):
        return False
    left, right = cast(Tensor, type), cast(Tensor, other)
    left_shape, right_shape = left.get_shape(), right.get_shape()
    return (
        shapes_fit(left_shape, right_shape)
        and elements_fit(left.element_type, right.element_type)
        and _within_bounds(left_shape, right.encoding)
        and _within_bounds(right_shape, left.encoding)
    )


def require_type(got: Attribute, expected: Attribute, label: str = "result") -> None:
    """Raise if a value's type does not fit."""
    if not types_fit(got, expected):
        raise VerifyException(f"{label}: expected type {expected}, got {got}")


def require_shape(got: Attribute, expected: Attribute, label: str = "result") -> None:
    """Raise if a tensor's shape does not fit another's."""
    left, right = cast(Tensor, got), cast(Tensor, expected)
    if left is not right and not shapes_fit(left.get_shape(), right.get_shape()):
        raise VerifyException(f"{label}: expected the shape of {expected}, got {got}")


def require_same_shape(types: Sequence[Attribute], label: str) -> None:
    """Refuse tensors of which two have shapes that do not fit.

    Where one is dynamic, fitting is not transitive: every pair counts.
    """
    first = cast(Tensor, types[0])
    if all(cast(Tensor, type).get_shape() == first.get_shape() for type in types):
        return
    for type, other in combinations(types, 2):
        require_shape(other, type, label)


def require_sizes(
    got: Attribute, shape: tuple[int, ...], label: str = "result"
) -> None:
    """Refuse a tensor that cannot have these sizes."""
    if not shapes_fit(cast(Tensor, got).get_shape(), shape):
        text = "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in shape)
        raise VerifyException(
            f"{label}: expected the sizes {text or 'of a scalar'}, got {got}"
        )


def require_element(got: Attribute, expected: Attribute, label: str = "result") -> None:
    """Raise if a tensor's element type does not fit another's."""
    left, right = cast(Tensor, got), cast(Tensor, expected)
    if left is not right and not elements_fit(left.element_type, right.element_type):
        raise VerifyException(f"{label}: expected elements as in {expected}, got {got}")


def require_equal_elements(
    operand: Attribute, other: Attribute, constraint: str = "", label: str = "result"
) -> None:
    """Raise if a tensor's element type is not the operand's."""
    if cast(Tensor, operand).element_type != cast(Tensor, other).element_type:
        where = f"{constraint}: " if constraint else ""
        raise VerifyException(f"{where}the operand is {operand}, the {label} {other}")


def bits(element: Attribute) -> int:
    """Return the width of an element in bits; of a quantized one, of its storage."""
    if isinstance(element, ComplexType):
        return 2 * bits(complex_part(cast(Attribute, element)))
    if isinstance(element, FixedBitwidthType):
        return element.bitwidth
    raise VerifyException(f"{element} has no width")


_FAMILIES = (
    Kind.PRED | Kind.INT,
    Kind.FLOAT,
    Kind.COMPLEX,
    Kind.QUANT | Kind.QUANT_PER_AXIS,
)


def promotable(source: Attribute, target: Attribute) -> bool:
    """Whether values of an element type can be combined in a wider one.

    Floating-point types of any precision can be promoted to each other, as C++ has it.
    """
    kind, other = element_kind(source), element_kind(target)
    family = next((kinds for kinds in _FAMILIES if kind & kinds), None)
    if family is None or not other & family:
        return False
    if (
        isinstance(source, QuantizedType)
        and isinstance(target, QuantizedType)
        and source.data.expressed_type != target.data.expressed_type
    ):
        return False
    return bool(family & Kind.FLOAT) or bits(source) <= bits(target)


def same_but_precision(element: Attribute, other: Attribute) -> bool:
    """Whether element types are equal, or both floating-point."""
    return element == other or bool(
        element_kind(element) & element_kind(other) & Kind.FLOAT
    )


def tensors_of(values: Iterable[SSAValue]) -> tuple[Tensor, ...]:
    """Return the types of values that are all tensors."""
    return tuple(cast(Tensor, value.type) for value in values)


def require_results(
    op: Operation, expected: Sequence[Attribute], constraint: str
) -> None:
    """Raise unless an op's results have these types."""
    if len(op.results) != len(expected):
        raise VerifyException(
            f"{constraint}: expected {len(expected)} results, got {len(op.results)}"
        )
    for index, (result, type) in enumerate(zip(op.results, expected, strict=True)):
        require_type(result.type, type, f"result {index} ({constraint})")


def require_same_indices(indices: Sequence[SSAValue], constraint: str) -> None:
    """Refuse start indices of different types."""
    types = {index.type for index in indices}
    if len(types) > 1:
        raise VerifyException(
            f"{constraint}: start indices must have one type, got "
            f"{', '.join(sorted(map(str, types)))}"
        )


def constant_ints(value: SSAValue) -> tuple[int, ...] | None:
    """Return the integers that a value holds if a constant op defines it."""
    looks_around()
    owner = value.owner
    if isinstance(owner, Operation) and owner.has_trait(ConstantLike):
        constant = owner.properties.get("value")
        if isinstance(constant, DenseIntOrFPElementsAttr):
            dense = cast("DenseIntOrFPElementsAttr[IntegerType]", constant)
            if isinstance(element_of(dense.type), IntegerType | IndexType):
                return dense.get_values()
    return None


def require_computed_shape(shape: SSAValue, result: Attribute, constraint: str) -> None:
    """Refuse a result that cannot have the shape that a constant says."""
    values = constant_ints(shape)
    if values is None:
        return
    if any(value < 0 for value in values):
        raise VerifyException(f"{constraint}: the shape {list(values)} has a negative")
    require_sizes(result, values, f"result ({constraint})")


def require_static_or_one_bound(result: Attribute) -> None:
    """Refuse a shape that is not static, but for one dimension with a bound."""
    tensor = cast(Tensor, result)
    dynamic = [
        dim for dim, size in enumerate(tensor.get_shape()) if size == DYNAMIC_INDEX
    ]
    if not dynamic:
        return
    encoding = tensor.encoding
    if (
        len(dynamic) > 1
        or not isinstance(encoding, TypeExtensionsAttr)
        or encoding.data[dynamic[0]] == DYNAMIC_INDEX
    ):
        raise VerifyException(
            f"the result must have a static shape, or one bounded dimension, got "
            f"{result}"
        )
