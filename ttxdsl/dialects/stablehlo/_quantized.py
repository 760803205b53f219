"""Constraints on quantized element types: which scales must agree with which.

Source: StableHLO specification, the constraints with `is_per_axis_quantized`,
`scales`, `zero_points` and `quantization_dimension`.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.quant import Quantization, QuantizedType
from ttxdsl.dialects.stablehlo._shapes import elements, require
from ttxdsl.dialects.stablehlo.attributes import ConvDims
from ttxdsl.dialects.stablehlo.types import element_of, shape_of


def _both(
    element: Attribute, other: Attribute
) -> tuple[Quantization, Quantization] | None:
    """Return the quantizations of two tensors; None unless both are quantized."""
    left, right = element_of(element), element_of(other)
    if isinstance(left, QuantizedType) and isinstance(right, QuantizedType):
        return left.data, right.data
    return None


def _require_same_scales(quantization: Quantization, other: Quantization) -> None:
    require(
        quantization.scales == other.scales
        and quantization.zero_points == other.zero_points,
        f"C1: scales and zero points must agree, got {QuantizedType(quantization)} and "
        f"{QuantizedType(other)}",
    )


def check_quantized_transpose(
    operand: Attribute, permutation: Sequence[int], result: Attribute
) -> None:
    """C1 and C4 of `transpose`."""
    if (pair := _both(operand, result)) is None:
        return
    before, after = pair
    _require_same_scales(before, after)
    if before.axis is None or after.axis is None:
        return
    if before.axis != permutation[after.axis]:
        raise VerifyException(
            f"C4: the operand is quantized along {before.axis}, the result along "
            f"{after.axis}, which comes from {permutation[after.axis]}"
        )


def check_quantized_broadcast(
    operand: Attribute, dims: Sequence[int], result: Attribute
) -> None:
    """C1 and C6 of `broadcast_in_dim`."""
    if (pair := _both(operand, result)) is None:
        return
    before, after = pair
    if before.axis is None or after.axis is None:
        _require_same_scales(before, after)
        return
    if after.axis != dims[before.axis]:
        raise VerifyException(
            f"C6: the operand is quantized along {before.axis}, which is dimension "
            f"{dims[before.axis]} of the result, but that is along {after.axis}"
        )
    if shape_of(operand)[before.axis] == 1:
        require(
            set(after.scales) == {before.scales[0]}
            and set(after.zero_points) == {before.zero_points[0]},
            "C6: a repeated slice keeps its scale and zero point",
        )


def check_quantized_reshape(operand: Attribute, result: Attribute) -> None:
    """C1 and C3 of `reshape`."""
    if (pair := _both(operand, result)) is None:
        return
    before, after = pair
    source, target = shape_of(operand), shape_of(result)
    if DYNAMIC_INDEX in source or DYNAMIC_INDEX in target:
        return
    _require_same_scales(before, after)
    if before.axis is None or after.axis is None:
        return
    around = elements(source[: before.axis]), elements(target[: after.axis])
    if source[before.axis] != target[after.axis] or around[0] != around[1]:
        raise VerifyException(f"C3: {operand} and {result} do not have the same slices")


def check_quantized_add(lhs: Attribute, rhs: Attribute, result: Attribute) -> None:
    """C2 to C7 of `add`."""
    elements = [element_of(type) for type in (lhs, rhs, result)]
    quantized = [
        element.data for element in elements if isinstance(element, QuantizedType)
    ]
    if not quantized:
        return
    require(
        len(quantized) == 3, "C2: operands and result must all be quantized, or none"
    )
    left, right, out = quantized
    for name, side in (("lhs", left), ("rhs", right)):
        require(
            side.storage_type == out.storage_type
            and side.expressed_type == out.expressed_type,
            f"C3, C4: {name} {QuantizedType(side)} does not fit {QuantizedType(out)}",
        )
        if side.axis is not None and side.axis != out.axis:
            raise VerifyException(
                f"C5 to C7: {name} is quantized along {side.axis}, the result along "
                f"{out.axis}"
            )
    require(
        out.axis is None or left.axis is not None or right.axis is not None,
        "C5: the result is quantized along an axis, but no operand is",
    )


def _check_product(lhs: Attribute, rhs: Attribute, result: Attribute) -> bool:
    """Check the constraints of `convolution` and `dot_general`; False if not quantized."""
    left, right, out = element_of(lhs), element_of(rhs), element_of(result)
    if not any(isinstance(element, QuantizedType) for element in (left, right, out)):
        return False
    require(
        isinstance(left, QuantizedType) == isinstance(out, QuantizedType)
        and isinstance(right, QuantizedType),
        "C14, C28: rhs must be quantized, and lhs and result both or neither",
    )
    assert isinstance(right, QuantizedType)
    if isinstance(left, QuantizedType) and isinstance(out, QuantizedType):
        if left.data.storage_type != right.data.storage_type:
            raise VerifyException(
                f"C17, C31: lhs stores {left.data.storage_type}, rhs "
                f"{right.data.storage_type}"
            )
        require(
            left.expressed_type == right.expressed_type == out.expressed_type,
            "C18, C32: lhs, rhs and result must express one type",
        )
        require(
            right.axis is not None or out.axis is None,
            "C19, C33: the result is quantized along an axis, but rhs is not",
        )
    else:
        if not left == right.expressed_type == out:
            raise VerifyException(
                f"C20, C34: lhs and result must be {right.expressed_type}"
            )
    return True


def check_quantized_dot(
    lhs: Attribute, rhs: Attribute, result: Attribute, contracted: Sequence[int]
) -> None:
    """C14 to C20 of `dot_general`."""
    if not _check_product(lhs, rhs, result):
        return
    right = element_of(rhs)
    assert isinstance(right, QuantizedType)
    require(
        not any(right.data.zero_points),
        f"C15: the zero points of rhs must be 0, got {list(right.data.zero_points)}",
    )
    if right.axis in contracted:
        raise VerifyException(
            f"C16: rhs is quantized along {right.axis}, which is contracted"
        )


def check_quantized_convolution(
    lhs: Attribute, rhs: Attribute, result: Attribute, dims: ConvDims
) -> None:
    """C28 to C34 of `convolution`."""
    if not _check_product(lhs, rhs, result):
        return
    right, out = element_of(rhs), element_of(result)
    for name, type, dim, constraint in (
        ("rhs", right, dims.kernel_output_feature_dimension, "C29"),
        ("result", out, dims.output_feature_dimension, "C30"),
    ):
        axis = type.axis if isinstance(type, QuantizedType) else None
        if axis not in (None, dim):
            raise VerifyException(
                f"{constraint}: {name} is quantized along {axis}, not along {dim}"
            )
