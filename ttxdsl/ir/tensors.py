"""Types of values that are known, or hoped, to be tensors."""

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
    """The shape of a tensor; `()` for what has none, such as a token."""
    type_ = value.type
    # the class first: asking an abstract one takes longer, and few values are others
    if isinstance(type_, TensorType):
        return cast(Tensor, type_).get_shape()
    return tuple(type_.get_shape()) if isinstance(type_, ShapedType) else ()


def element_bits(element: Attribute) -> int:
    """Bits of one element; a complex one has two parts, an index is 64 bits."""
    if isinstance(element, ComplexType):
        part = cast("ComplexType[IntegerType | AnyFloat]", element).element_type
        return 2 * element_bits(part)
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64
