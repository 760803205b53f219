"""Shared parts of the StableHLO lowering's rules: values so far, devices, the table.

A rule is a function from one StableHLO op to the ttir values that replace its results.
It reads its operands through the `Lowering`, writes ops with the builder, and is found
by the op's name in a table. Rules are in files by family (`lower_*.py`), each with its
table at the foot; those of other packages are registered with `lowers`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import Number, TTIRBuilder, splat_of
from ttxdsl.conversion.stablehlo_to_ttir.group_axes import coordinates
from ttxdsl.conversion.stablehlo_to_ttir.unsupported import UNSUPPORTED
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import ttir
from ttxdsl.dialects._tt.attributes import NumberError
from ttxdsl.dialects.expressed import on_floats, quantization_of
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo.types import FutureType, TokenType
from ttxdsl.ir.collector import discard_regions, forget_uses
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.tensors import Tensor, tensor_type
from ttxdsl.ir.traversal import operands_of

Lowered: TypeAlias = SSAValue | Sequence[SSAValue]
"""The value of the op's only result, or of all its results."""


Rule: TypeAlias = "Callable[[Lowering, Any], Lowered]"
"""Writes the ttir of one op; docs/reference/lowering.md is what was seen written."""


_RuleT = TypeVar("_RuleT", bound=Rule)

_registered: dict[type[Operation] | str, Rule] = {}


def lowers(key: type[Operation] | str) -> Callable[[_RuleT], _RuleT]:
    """Register a lowering of another dialect's ops to ttir, as a plug-in's decorator.

        @lowers(SoftCapOp)
        def soft_cap(low: Lowering, op: SoftCapOp) -> SSAValue: ...

    It comes before a rule of ours.

    Args:
        what: the class of the ops, or the target of custom calls.
    """

    def register(rule: _RuleT) -> _RuleT:
        _registered[key] = rule
        return rule

    return register


def registered_lowerings() -> dict[str, Rule]:
    """Return the rules that `lowers` registered for ops, by their names."""
    return {
        key.name: rule for key, rule in _registered.items() if isinstance(key, type)
    }


def lowering_of_call(target: str) -> "Rule | None":
    """Return the rule that `lowers` registered for a custom call, or None."""
    return _registered.get(target)


def as_results(lowered: Lowered) -> Sequence[SSAValue]:
    """Return the values of all results of an op."""
    if (
        type(lowered) is OpResult
    ):  # almost always a registered class, so bases are not searched
        return [lowered]
    return [lowered] if isinstance(lowered, SSAValue) else lowered


def results_of_rule(op: Operation, lowered: Lowered) -> Sequence[SSAValue]:
    """Return the values of all results of an op, as its rule gave them.

    Raises:
        UnsupportedError: there are more or fewer of them than results.
    """
    values = as_results(lowered)
    if len(values) != len(op.results):
        message = f"its rule gives {len(values)} values for {len(op.results)} results"
        raise UnsupportedError(message, op)
    return values


@dataclass(frozen=True, slots=True)
class DeviceGrid:
    """The devices that a computation runs on, as an array over the mesh axes.

    A *position* is a device's place in the mesh, row-major; `ids[position]` is what
    StableHLO calls it (its partition id, the number in replica groups).
    """

    name: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    ids: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of devices."""
        return prod(self.shape)

    def positions(self) -> dict[int, int]:
        """Return the position of each device id."""
        return {device: position for position, device in enumerate(self.ids)}

    def coordinates(self, position: int) -> tuple[int, ...]:
        """One coordinate a mesh axis."""
        return coordinates(position, self.shape)


@dataclass
class Lowering:
    """The state of lowering one block.

    Attributes:
        functions: the module's functions by name, for calls and composites.
        devices: where the code runs, None on the host.
        replicas: whether device numbers are replica ids (else partition ids).
        values: what has replaced each value of the input program.
        stack: names of the functions being lowered in place, outermost first.
        started: the results of asynchronous ops, by the future that they promise.
        types: those that were seen to have a form in ttir, and whether numbers are
            quantized.
    """

    builder: TTIRBuilder
    table: Mapping[str, Rule]
    functions: Mapping[str, FuncOp]
    devices: DeviceGrid | None
    replicas: bool = False
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    stack: tuple[str, ...] = ()
    started: dict[SSAValue, tuple[SSAValue, ...]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, ...]]
    )
    types: IdentityMemo[bool] = field(default_factory=IdentityMemo[bool])

    def __getitem__(self, value: SSAValue) -> SSAValue:
        """Return the ttir value that stands for a value of the input program."""
        return self.values[value]

    def all(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the ttir values of several values."""
        return [self.values[value] for value in values]

    def inside(self, builder: TTIRBuilder) -> "Lowering":
        """The same with ops going into a region; values around stay visible."""
        return replace(self, builder=builder, values=dict(self.values))

    def computation(self, block: Block, arguments: Sequence[SSAValue]) -> "Lowering":
        """The same for a block of an op that is written here; its ops say where they are."""
        inner = self.inside(self.builder.at(self.builder.block))
        inner.values.update(zip(block.args, arguments, strict=True))
        return inner

    def lower_op(self, op: Operation) -> None:
        """Write the ttir form of an op and remember its results.

        Raises:
            UnsupportedError: there is no rule for the op, or its types have no ttir form,
                or its numbers do not fit into those of ttir.
        """
        rule = self.table.get(op.name)
        if rule is None:
            raise UnsupportedError(
                UNSUPPORTED.get(op.name, "no rule says what it is in ttir"),
                op,
                hint="docs/reference/lowering.md lists what can be lowered",
            )
        known, has_quantized = self.types, False
        for value in (*operands_of(op), *op.results):
            type = value.type
            if id(type) not in known:
                known.keep(id(type), is_quantized(type, op), type)
            has_quantized = has_quantized or known[id(type)]
        self.builder.location = op.location
        floats = on_floats(op) if has_quantized else None
        try:
            results = (
                results_of_rule(op, rule(self, op))
                if floats is None
                else self._quantized(rule, op, floats)
            )
        except NumberError as error:
            raise UnsupportedError(f"has no form in ttir: {error}", op) from error
        for old, new in zip(op.results, results, strict=True):
            self.values[old] = new

    def _quantized(
        self, rule: Rule, op: Operation, floats: Operation
    ) -> Sequence[SSAValue]:
        """An op of quantized numbers: what they stand for, the op of floats, quantized."""
        build, inner = self.builder, self.inside(self.builder)
        for given, real in zip(op.operands, floats.operands, strict=True):
            value = self[given]
            if given.type != real.type:
                type = build.here(real.type)
                value = build.one(ttir.DequantizeOp, [value], type)
            inner.values[real] = value
        results: list[SSAValue] = []
        lowered = results_of_rule(op, rule(inner, floats))
        for value, wanted, real in zip(
            lowered, op.results, floats.results, strict=True
        ):
            if wanted.type != real.type:
                type = build.here(wanted.type)
                value = build.one(ttir.QuantizeOp, [value], type)
            results.append(value)
        return results

    def lower_ops(self, block: Block, *, once: bool = False) -> Sequence[SSAValue]:
        """Lower all ops of a block; the values that its terminator hands out.

        Args:
            once: whether nobody lowers them again, so that of those which are done only
                what later ones may look back at has to stay.
        """
        last = block.last_op
        for op in block.ops:
            if op is not last:
                self.lower_op(op)
                if once:
                    forget_uses(op)
                    discard_regions(op)
        return [] if last is None else self.all(last.operands)

    def lower_call(
        self, function: FuncOp, arguments: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """Lower a function's body in place of a call.

        Raises:
            UnsupportedError: the function calls itself, or is only declared.
        """
        name = function.sym_name.data
        if name in self.stack:
            raise UnsupportedError(f"@{name} calls itself", function)
        if function.is_declaration:
            raise UnsupportedError(f"@{name} has no body", function)
        callee = replace(
            self,
            values=dict(zip(function.body.block.args, arguments, strict=True)),
            stack=(*self.stack, name),
        )
        return callee.lower_ops(function.body.block)


def is_quantized(type: Attribute, op: Operation) -> bool:
    """Whether an operand or result of an op has quantized numbers.

    Raises:
        UnsupportedError: ttir has no such type: neither a token nor a tensor, of dynamic
            shape, or larger than the 32 bits that ttir writes sizes with.
    """
    if not isinstance(type, TensorType):
        if isinstance(type, TokenType | FutureType):
            return False
        raise UnsupportedError(f"ttir has no value of type {type}", op)
    type = cast(Tensor, type)
    if DYNAMIC_INDEX in type.get_shape():
        raise UnsupportedError(
            f"{type} has a dynamic shape",
            op,
            hint="export the program for fixed shapes",
        )
    if any(size > _LARGEST_SIZE for size in type.get_shape()):
        raise UnsupportedError(
            f"{type} has a dimension above {_LARGEST_SIZE}, the largest that ttir's shapes"
            " can say",
            op,
        )
    return quantization_of(type) is not None


_LARGEST_SIZE = 2**31 - 1


_FEW = 16
"""Ops between a constant and a value that is asked about: each of a chain may ask."""


def constant_splat(value: SSAValue) -> Number | None:
    """The number that a value of the input program is everywhere, None if not known.

    Sees through `broadcast_in_dim` and `reshape`, a few behind each other; not into
    quantized numbers.
    """
    owner = value.owner
    if isinstance(tensor_type(value).element_type, QuantizedType):
        return None
    for _ in range(_FEW):
        if not isinstance(owner, Operation):
            return None
        if owner.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
            owner = owner.operands[0].owner
            continue
        constant = owner.properties.get("value")
        if owner.name in ("stablehlo.constant", "sdy.constant") and isinstance(
            constant, DenseIntOrFPElementsAttr
        ):
            return splat_of(cast(DenseIntOrFPElementsAttr, constant))
        return None
    return None
