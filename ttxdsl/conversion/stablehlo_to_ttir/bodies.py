"""Reading the small computations that StableHLO ops carry: reducers, updates, maps.

Such a computation works on scalars. It is recognized as one combining op where it is
one, and otherwise evaluated on whole tensors at once: each scalar becomes a tensor of
one shape, each op of the body one elementwise op.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import Number, value_range
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, constant_splat
from ttxdsl.conversion.stablehlo_to_ttir.ops.elementwise import TABLE as PLAIN
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects._tt.extension_ops import ADDITIONS
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.ir.tensors import shape_of, tensor_type

_KINDS: dict[str, ReduceType] = {
    "stablehlo.add": ReduceType.SUM,
    "stablehlo.multiply": ReduceType.PROD,
    "stablehlo.maximum": ReduceType.MAX,
    "stablehlo.minimum": ReduceType.MIN,
}

_TRUTH_KINDS: dict[str, ReduceType] = {
    "stablehlo.add": ReduceType.MAX,
    "stablehlo.or": ReduceType.MAX,
    "stablehlo.maximum": ReduceType.MAX,
    "stablehlo.multiply": ReduceType.MIN,
    "stablehlo.and": ReduceType.MIN,
    "stablehlo.minimum": ReduceType.MIN,
}
"""On i1 the largest is "any", the smallest "all"."""

ELEMENTWISE = frozenset(PLAIN) | {
    addition.source for addition in ADDITIONS if addition.each
}
"""The ops that may stand in a computation on scalars and work element by element."""

COMBINE: dict[ReduceType, str] = {
    ReduceType.SUM: "add",
    ReduceType.PROD: "multiply",
    ReduceType.MAX: "maximum",
    ReduceType.MIN: "minimum",
}
"""The elementwise ttir op that combines two values by a kind."""


def reduce_kind(region: Region, which: int = 0) -> ReduceType | None:
    """Return the reduction that combines a computation's arguments, None if not one op.

    Args:
        region: takes n old values, then n new ones, and returns n values.
        which: the one of the n that is asked about. `INVALID` says that the new value
            replaces the old.
    """
    block = region.block
    count = len(block.args) // 2
    old, new = block.args[which], block.args[count + which]
    last = block.last_op
    if last is None or len(last.operands) != count:
        return None
    result = last.operands[which]
    if result is new:
        return ReduceType.INVALID
    owner = result.owner
    if not isinstance(owner, Operation) or len(owner.operands) != 2:
        return None
    if {owner.operands[0], owner.operands[1]} != {old, new}:
        return None
    kinds = _TRUTH_KINDS if tensor_type(old).element_type == i1 else _KINDS
    return kinds.get(owner.name)


def combining_kind(region: Region) -> ReduceType | None:
    """Return the kind of a computation that combines by one op; None for any other."""
    kind = reduce_kind(region)
    return kind if kind in COMBINE else None


def identity_of(kind: ReduceType, element: Attribute) -> Number:
    """Return the neutral element of a combination."""
    low, high = value_range(element)
    neutral: dict[ReduceType, Number] = {
        ReduceType.SUM: 0,
        ReduceType.PROD: 1,
        ReduceType.MAX: low,
        ReduceType.MIN: high,
    }
    return neutral[kind]


def is_identity(value: SSAValue, kind: ReduceType) -> bool:
    """Whether a value of the input program is known to be the kind's identity."""
    number = constant_splat(value)
    return number is not None and number == identity_of(
        kind, tensor_type(value).element_type
    )


def evaluate(
    low: Lowering, block: Block, arguments: Sequence[SSAValue], shape: Sequence[int]
) -> list[SSAValue]:
    """Evaluate a computation on scalars for a whole tensor of them.

    Args:
        low: gives the values around the computation, and the builder.
        block: the computation; it takes scalars and ends with a return.
        arguments: a tensor of that shape for each scalar argument.

    Returns:
        What the computation returns, as tensors of that shape.

    Raises:
        UnsupportedError: the computation has an op that is not elementwise.
    """
    inner = low.computation(block, arguments)
    last = block.last_op
    for op in block.ops:
        for operand in op.operands:
            if not shape_of(inner[operand]) and shape:
                spread = low.builder.broadcast_in_dim(inner[operand], shape, ())
                inner.values[operand] = spread
        if op is last:
            break
        number = constant_splat(op.results[0]) if op.results else None
        if number is not None:
            element = tensor_type(op.results[0]).element_type
            inner.values[op.results[0]] = low.builder.full(shape, element, number)
        elif op.name in ELEMENTWISE or op.name.startswith("chlo.broadcast_"):
            inner.lower_op(op)
        elif op.name in ("stablehlo.if", "stablehlo.case"):
            chosen = _branches(inner, op, shape)
            inner.values.update(zip(op.results, chosen, strict=True))
        elif op.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim"):
            inner.values[op.results[0]] = inner[op.operands[0]]
        else:
            raise UnsupportedError(
                "a computation on scalars may hold elementwise ops only", op
            )
    return [] if last is None else inner.all(last.operands)


def _branches(low: Lowering, op: Operation, shape: Sequence[int]) -> list[SSAValue]:
    """A choice inside of a computation on scalars: all branches, then each place its own."""
    build, which = low.builder, low[op.operands[0]]
    results = [evaluate(low, region.block, (), shape) for region in op.regions]
    if op.name == "stablehlo.if":
        on_true, on_false = results
        pairs = zip(on_true, on_false, strict=True)
        return [build.elementwise("where", which, a, b) for a, b in pairs]
    # any number without a branch is the last one's
    chosen = results[-1]
    for number, branch in enumerate(results[:-1]):
        here = build.compare("eq", which, build.like(which, number))
        pairs = zip(branch, chosen, strict=True)
        chosen = [build.elementwise("where", here, a, b) for a, b in pairs]
    return chosen
