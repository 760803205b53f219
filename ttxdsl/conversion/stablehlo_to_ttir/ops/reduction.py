"""StableHLO's reductions in ttir.

A reduction whose body is one combining op is one ttir op; any other body is evaluated
on neighbouring pairs again and again, as a tree, which StableHLO allows.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.bodies import (
    COMBINE,
    evaluate,
    is_identity,
    reduce_kind,
)
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering, Rule
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.ttcore import ReduceType
from ttxdsl.ir.tensors import element_of, shape_of

_NAMES: dict[ReduceType, str] = {
    ReduceType.SUM: "sum",
    ReduceType.PROD: "prod",
    ReduceType.MAX: "max",
    ReduceType.MIN: "min",
}

_TRUTH_NAMES: dict[ReduceType, str] = {
    ReduceType.MAX: "reduce_or",
    ReduceType.MIN: "reduce_and",
}


def reduction_name(kind: ReduceType, value: SSAValue) -> str | None:
    """Return the mnemonic of a reduction by that kind, None if there is none."""
    names = _TRUTH_NAMES if element_of(value) == i1 else _NAMES
    return names.get(kind)


def _reduce(low: Lowering, op: stablehlo.ReduceOp) -> Sequence[SSAValue]:
    build, values = low.builder, low.all(op.inputs)
    dims = op.dimensions.get_values()
    shape = shape_of(values[0])
    kept = [size for dim, size in enumerate(shape) if dim not in dims]
    has_none = any(shape[dim] == 0 for dim in dims)
    kind = reduce_kind(op.body)
    name = reduction_name(kind, values[0]) if len(values) == 1 and kind else None
    if name and kind and not has_none and is_identity(op.init_values[0], kind):
        return [build.reduce(name, values[0], dims)]
    # the initial value may be narrower than the operand
    firsts = [
        build.typecast(low[init], element_of(result))
        for init, result in zip(op.init_values, op.results, strict=True)
    ]
    starts = [build.broadcast_in_dim(first, kept, ()) for first in firsts]
    if has_none:
        return starts
    if name is None or kind is None:
        reduced = _reduce_as_tree(low, op, values, dims)
        return evaluate(low, op.body.block, [*starts, *reduced], kept)
    result = build.reduce(name, values[0], dims)
    return [build.elementwise(COMBINE[kind], starts[0], result)]


def _reduce_as_tree(
    low: Lowering,
    op: stablehlo.ReduceOp,
    values: Sequence[SSAValue],
    dims: Sequence[int],
) -> list[SSAValue]:
    """Reduce by evaluating the body on pairs until one element is left."""
    build = low.builder
    kept = [dim for dim in range(len(shape_of(values[0]))) if dim not in dims]
    rows = [shape_of(values[0])[dim] for dim in kept]
    # the reduced dimensions merged into one, in row-major order, at the front
    current = [
        build.reshape(
            build.permute(value, [*dims, *kept]), [_count(value, dims), *rows]
        )
        for value in values
    ]
    # neighbours combine, so that elements keep their order: bodies need not commute
    while (size := shape_of(current[0])[0]) > 1:
        even = size - size % 2
        left = [build.slice_dim(value, 0, 0, even, 2) for value in current]
        right = [build.slice_dim(value, 0, 1, even, 2) for value in current]
        rest = [build.slice_dim(value, 0, even, size) for value in current]
        current = evaluate(low, op.body.block, [*left, *right], shape_of(left[0]))
        if size % 2:
            pairs = zip(current, rest, strict=True)
            current = [build.concat(pair, 0) for pair in pairs]
    return [build.reshape(value, rows) for value in current]


def _count(value: SSAValue, dims: Sequence[int]) -> int:
    count = 1
    for dim in dims:
        count *= shape_of(value)[dim]
    return count


def _map(low: Lowering, op: stablehlo.MapOp) -> SSAValue:
    values = low.all(op.inputs)
    return evaluate(low, op.computation.block, values, shape_of(values[0]))[0]


TABLE: dict[str, Rule] = {
    "stablehlo.map": _map,
    "stablehlo.reduce": _reduce,
}
"""The rules of this family, by StableHLO name."""
