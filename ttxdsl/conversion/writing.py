"""Writing elementwise StableHLO in place of one op."""

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr, is_unsigned


def integer_width(element: Attribute) -> int | None:
    """Return the bits of an integer type, None of another."""
    if not isinstance(element, IntegerType):
        return None
    return cast("IntegerType", element).width.data


class Writer(Emitter):
    """An emitter with arithmetic on whole tensors and Python's numbers."""

    def full(self, number: float, like: SSAValue) -> SSAValue:
        """Return a tensor of one number, of the type of another value."""
        element, shape = element_of(like), list(shape_of(like))
        type_ = TensorType(element, shape)
        value: Attribute
        if isinstance(element, IntegerType):
            value = DenseIntOrFPElementsAttr.from_list(
                cast("TensorType[IntegerType]", type_), [int(number)]
            )
        else:
            value = DenseIntOrFPElementsAttr.from_list(
                cast("TensorType[AnyFloat]", type_), [float(number)]
            )
        return self.one(stablehlo.ConstantOp, [], type_, {"value": value})

    def unary(self, op_class: type[Operation], value: SSAValue) -> SSAValue:
        """Return an elementwise op of one operand."""
        return self.one(op_class, [value], value.type)

    def mul(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """Elementwise product; a number is a tensor of it."""
        return self.binary(stablehlo.MulOp, lhs, self._value(rhs, lhs))

    def div(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """Elementwise quotient."""
        return self.binary(stablehlo.DivOp, lhs, self._value(rhs, lhs))

    def plus(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """Elementwise sum."""
        return self.add(lhs, self._value(rhs, lhs))

    def minus(self, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """Elementwise difference."""
        return self.subtract(lhs, self._value(rhs, lhs))

    def from_number(self, number: float, rhs: SSAValue) -> SSAValue:
        """Return a number minus a tensor."""
        return self.subtract(self.full(number, rhs), rhs)

    def _value(self, given: SSAValue | float, like: SSAValue) -> SSAValue:
        return given if isinstance(given, SSAValue) else self.full(given, like)

    def test(self, lhs: SSAValue, direction: str, rhs: SSAValue | float) -> SSAValue:
        """Elementwise comparison of any numbers: `EQ`, `NE`, `LT`, ...."""
        element = element_of(lhs)
        kind = ComparisonType.FLOAT
        if integer_width(element) is not None:
            kind = (
                ComparisonType.UNSIGNED
                if is_unsigned(element)
                else ComparisonType.SIGNED
            )
        return self.one(
            stablehlo.CompareOp,
            [lhs, self._value(rhs, lhs)],
            TensorType(IntegerType(1), list(shape_of(lhs))),
            {
                "comparison_direction": ComparisonDirectionAttr(
                    ComparisonDirection[direction]
                ),
                "compare_type": ComparisonTypeAttr(kind),
            },
        )

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """By Horner's scheme, the highest power first."""
        value = self.full(coefficients[0], x)
        for coefficient in coefficients[1:]:
            value = self.plus(self.mul(value, x), coefficient)
        return value

    def exp(self, x: SSAValue) -> SSAValue:
        """Elementwise exponential."""
        return self.unary(stablehlo.ExpOp, x)

    def log(self, x: SSAValue) -> SSAValue:
        """Elementwise natural logarithm."""
        return self.unary(stablehlo.LogOp, x)

    def log1p(self, x: SSAValue) -> SSAValue:
        """Elementwise `log(1 + x)`."""
        return self.unary(stablehlo.Log1pOp, x)

    def sqrt(self, x: SSAValue) -> SSAValue:
        """Elementwise square root."""
        return self.unary(stablehlo.SqrtOp, x)

    def abs(self, x: SSAValue) -> SSAValue:
        """Elementwise absolute value, of real numbers."""
        return self.unary(stablehlo.AbsOp, x)

    def neg(self, x: SSAValue) -> SSAValue:
        """Elementwise negation."""
        return self.unary(stablehlo.NegOp, x)

    def atan2(self, y: SSAValue, x: SSAValue) -> SSAValue:
        """Elementwise angle."""
        return self.binary(stablehlo.Atan2Op, y, x)

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Dimension `order[i]` of a value at place `i`."""
        if list(order) == sorted(order):
            return value
        type_ = TensorType(element_of(value), [shape_of(value)[dim] for dim in order])
        properties = {"permutation": dims_attr(order)}
        return self.one(stablehlo.TransposeOp, [value], type_, properties)

    def part(self, op_class: type[Operation], value: SSAValue) -> SSAValue:
        """Return the real or the imaginary part of complex numbers."""
        element = cast("ComplexType[AnyFloat]", element_of(value)).element_type
        return self.one(op_class, [value], TensorType(element, list(shape_of(value))))

    def constant(
        self, values: Sequence[int], shape: Sequence[int], element: Attribute
    ) -> SSAValue:
        """Return a constant of integers of any type."""
        type_ = TensorType(cast(IntegerType, element), list(shape))
        value = DenseIntOrFPElementsAttr.from_list(type_, list(values))
        return self.one(stablehlo.ConstantOp, [], type_, {"value": value})


def write_instead(op: Operation, write: Callable[[Writer], Sequence[SSAValue]]) -> None:
    """Replace an op by others, which stand where it stood."""
    block = Block()
    results = write(Writer(block, op.location))
    new_ops = list(block.ops)
    for new_op in new_ops:
        new_op.detach()
    PatternRewriter(op).replace(op, new_ops, results)
