"""Ops that are put in place of another one of a program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of

Note = Callable[[Operation, Operation], None]
"""Notes a new op, and the op that it is made of."""


@dataclass(frozen=True)
class Builder:
    """Inserts ops ahead of one, each of which is noted as made of that."""

    at: Operation
    note: Note

    def insert(
        self,
        kind: type[Operation],
        operands: Sequence[SSAValue],
        properties: dict[str, Attribute],
        shape: Sequence[int],
    ) -> SSAValue:
        """Return the result of a new op; that of a product has the type of the product replaced."""
        like = self.at.results[0] if kind is type(self.at) else operands[0]
        op = kind.create(
            operands=operands,
            properties=properties,
            result_types=[TensorType(element_of(like), shape)],
            location=self.at.location,
        )
        self.put(op)
        return op.results[0]

    def repeated(
        self, number: float, kind: TensorType[Float32Type | Float64Type]
    ) -> SSAValue:
        """Return a number, repeated."""
        value = DenseIntOrFPElementsAttr.from_list(kind, [number])
        op = stablehlo.ConstantOp.create(
            properties={"value": value}, result_types=[kind]
        )
        self.put(op)
        return op.results[0]

    def put(self, op: Operation, of: Operation | None = None) -> None:
        """Insert an op; it may be made `of` another one than what it is put ahead of."""
        Rewriter.insert_op(op, InsertPoint.before(self.at))
        self.note(op, of or self.at)

    def reshaped(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a value in another shape."""
        if shape_of(value) == tuple(shape):
            return value
        return self.insert(stablehlo.ReshapeOp, [value], {}, shape)

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Return a value with its dimensions in another order."""
        while isinstance(value.owner, stablehlo.TransposeOp):
            first = value.owner.permutation.get_values()
            value, order = value.owner.operand, [first[dim] for dim in order]
        shape = [shape_of(value)[dim] for dim in order]
        if moves_nothing(shape_of(value), order):
            return self.reshaped(value, shape)
        permutation = DenseArrayBase.from_list(i64, tuple(order))
        properties: dict[str, Attribute] = {"permutation": permutation}
        return self.insert(stablehlo.TransposeOp, [value], properties, shape)


def moves_nothing(shape: Sequence[int], order: Sequence[int]) -> bool:
    """Whether a transpose leaves all elements where they are."""
    large = [dim for dim in order if shape[dim] != 1]
    return large == sorted(large)


def copied(value: SSAValue, builder: Builder) -> SSAValue:
    """Return a copy of a value, which is never made inside others."""
    return builder.insert(stablehlo.ConvertOp, [value], {}, shape_of(value))


def is_copy(op: Operation) -> bool:
    """Whether an op gives its operand as it is."""
    is_convert = isinstance(op, stablehlo.ConvertOp)
    return is_convert and op.operands[0].type == op.results[0].type
