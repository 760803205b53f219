"""Loops of a fixed number of steps, for ops whose steps need each other's results."""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering
from ttxdsl.dialects import ttir
from ttxdsl.ir.tensors import element_of, shape_of

Step = Callable[[Lowering, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]
"""Writes one step: the number of the step (an i32 scalar) and the values so far."""


def counted_loop(
    low: Lowering, count: int, carried: Sequence[SSAValue], step: Step
) -> Sequence[SSAValue]:
    """`ttir.while` that does a step for each of 0 to `count` - 1.

    Args:
        step: writes the ops of a step and answers with the values after it.

    Returns:
        The values after the last step.
    """
    if not count:
        return carried
    start = low.builder.full((), i32, 0)
    values = [start, *carried]
    types = [value.type for value in values]

    def more(builder: TTIRBuilder, now: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [builder.compare("lt", now[0], builder.full((), i32, count))]

    def body(builder: TTIRBuilder, now: Sequence[SSAValue]) -> Sequence[SSAValue]:
        inner = low.inside(builder)
        after = step(inner, now[0], now[1:])
        return [builder.with_number("add", now[0], 1), *after]

    cond, work = (low.builder.region(types, fill) for fill in (more, body))
    return low.builder.add(ttir.WhileOp(values, cond, work)).results[1:]


def take(build: TTIRBuilder, value: SSAValue, dim: int, index: SSAValue) -> SSAValue:
    """Slice number `index` (an i32 scalar) of a dimension, which stays with size 1."""
    shape = list(shape_of(value))
    begins = build.concat(
        [
            build.reshape(index, (1,)) if d == dim else build.full((1,), i32, 0)
            for d in range(len(shape))
        ],
        0,
    )
    shape[dim] = 1
    return build.slice_dynamic(value, begins, shape)


def put(
    build: TTIRBuilder, value: SSAValue, dim: int, index: SSAValue, new: SSAValue
) -> SSAValue:
    """The value with slice number `index` of a dimension replaced; `new` has size 1."""
    shape = shape_of(new)
    if not all(shape):
        return value
    here = build.arange(shape_of(value), dim, element_of(index))
    place = build.reshape(index, (1,) * len(shape))
    mask = build.compare("eq", here, build.broadcast(place, shape_of(value)))
    return build.elementwise(
        "where", mask, build.broadcast(new, shape_of(value)), value
    )
