"""The state of lowering a block of ttir to ttnn, and what all rules write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    LocationAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowered, results_of_rule
from ttxdsl.conversion.ttir_to_ttnn.spelling import write_for_tt_mlir
from ttxdsl.conversion.vocabulary import Vocabulary
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import ttnn
from ttxdsl.dialects._tt.attributes import (
    dense_i64,
    i32_array,
)
from ttxdsl.dialects.ttcore import device_mesh_name
from ttxdsl.ir.tensors import Tensor, tensor_type

TTNNRule: TypeAlias = "Callable[[TTNNLowering, Any], Lowered]"
"""Writes the ttnn of one ttir op."""


_RuleT = TypeVar("_RuleT", bound=TTNNRule)

_registered: dict[str, TTNNRule] = {}


def lowers_to_ttnn(op_class: type[Operation]) -> Callable[[_RuleT], _RuleT]:
    """Decorator, for plug-ins: the function writes the ttnn of ops of another dialect.

        @lowers_to_ttnn(SoftCapOp)
        def soft_cap(low: TTNNLowering, op: SoftCapOp) -> SSAValue: ...

    It comes before a rule of ours.
    """

    def register(rule: _RuleT) -> _RuleT:
        _registered[op_class.name] = rule
        return rule

    return register


@dataclass
class TTNNLowering:
    """The state of lowering one block.

    Attributes:
        num_links: links that each collective uses.
        rule_of: how the ops of a class are lowered, None for no ttir op.
        devices: the handle of each mesh by name.
        values: what has replaced each ttir value.
        location: what the ops to come say about their origin.
        constants: those of this block, by what they are.
    """

    block: Block
    num_links: int
    vocabulary: Vocabulary
    rule_of: "Callable[[type[Operation], Vocabulary], TTNNRule | None]"
    devices: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    location: LocationAttr = UNKNOWN_LOC
    constants: dict[tuple[object, ...], Operation] = field(
        default_factory=dict[tuple[object, ...], Operation]
    )

    def add(self, op: Operation) -> Operation:
        """Append any op; an equal constant in this block takes its place.

        Raises:
            UnsupportedError: it is for tt-mlir, which has no such op.
        """
        if op.name in _CONSTANTS:
            known = self.constants.setdefault(_meaning(op), op)
            if known is not op:
                return known
        op.location = self.location
        if self.vocabulary is Vocabulary.TT_MLIR:
            write_for_tt_mlir(op)
            if isinstance(op, ttnn.ConstantOp) and device_mesh_name(op.result.type):
                op.operands = [self.device_of(op)]
        self.block.add_op(op)
        return op

    def all(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the ttnn values of several ttir values."""
        return [self.values[value] for value in values]

    def one(
        self,
        op: type[Operation],
        operands: Sequence[SSAValue],
        result: Attribute,
        properties: Mapping[str, Attribute],
    ) -> SSAValue:
        """An op with these operands and properties, and one result of that type."""
        new_op = op.create(
            operands=operands, result_types=[result], properties=properties
        )
        return self.add(new_op).results[0]

    def device_of(self, op: Operation) -> SSAValue:
        """Return the handle of the mesh that an op's tensors live on."""
        for value in (*op.results, *op.operands):
            name = device_mesh_name(value.type)
            if name is not None:
                return self.devices[name]
        raise CompileError("no tensor of it lives on a mesh", op)

    def lower_block(self, block: Block) -> None:
        """Lower all ops of a block.

        Raises:
            UnsupportedError: there is no rule for an op.
        """
        for op in block.ops:
            self.location = op.location
            if op.name == "func.return":
                self.add(op.clone(value_mapper=dict(self.values)))
                continue
            rule = _registered.get(op.name) or self.rule_of(type(op), self.vocabulary)
            if rule is None:
                raise UnsupportedError("it is no ttir op", op)
            results = results_of_rule(op, rule(self, op))
            self.values.update(zip(op.results, results, strict=True))

    def region(self, region: Region) -> Region:
        """Return a region with its ops lowered."""
        block = Block(arg_types=region.block.arg_types)
        inner = replace(self, block=block, values=dict(self.values), constants={})
        inner.values.update(zip(region.block.args, block.args, strict=True))
        inner.lower_block(region.block)
        return Region(block)

    # --- idioms of the rules below -------------------------------------------

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`ttnn.reshape`, unless the shape is that already."""
        if tensor_type(value).get_shape() == tuple(shape):
            return value
        result = with_shape(tensor_type(value), shape)
        return self.one(ttnn.ReshapeOp, [value], result, {"shape": i32_array(shape)})

    def shaped(self, value: SSAValue, shape: Sequence[int]) -> Tensor:
        """Return a value's type in another shape."""
        return with_shape(tensor_type(value), shape)

    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """`ttnn.permute`, unless the order is that already."""
        if tuple(order) == tuple(range(len(order))):
            return value
        shape = tensor_type(value).get_shape()
        result = with_shape(tensor_type(value), [shape[dim] for dim in order])
        properties = {"permutation": dense_i64(order)}
        return self.one(ttnn.PermuteOp, [value], result, properties)

    def typecast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """`ttnn.typecast`."""
        type = tensor_type(value)
        result = TensorType(element, type.get_shape(), type.encoding)
        return self.one(ttnn.ELEMENTWISE_OPS["typecast"], [value], result, {})


_CONSTANTS = frozenset(
    f"ttnn.{name}" for name in ("arange", "constant", "full", "ones", "zeros")
)
"""Ops whose result depends on their properties and type alone."""


def _meaning(op: Operation) -> tuple[object, ...]:
    """Equal for ops that make the same tensor in the same place."""
    fill = op.properties.get("fill_value")
    # the text, too, for attributes of 0.0 and -0.0 are equal
    return (
        op.name,
        op.results[0].type,
        tuple(sorted(op.properties.items(), key=itemgetter(0))),
        str(fill),
    )


def with_shape(type: Tensor, shape: Sequence[int]) -> Tensor:
    """Return a tensor type in another shape."""
    return _with_sizes(type, tuple(shape))


@lru_cache(maxsize=4096)
def _with_sizes(type: Tensor, shape: tuple[int, ...]) -> Tensor:
    return TensorType(type.element_type, shape, type.encoding)
