"""Fusion of ops that work row by row: a group of them computed on large arrays.

Values inside of a group are never materialized: a stretch of the rows goes through all
of its ops (a softmax, a norm, an activation) while it is in a core's cache, and threads
share the stretches. Only outputs take new memory, or that of an operand without other
owners.
"""

from collections.abc import Callable, Sequence
from math import prod
from sys import getrefcount
from typing import Any, cast

import numpy as np
from numpy import empty
from xdsl.ir import Operation

from ttxdsl.interpreters.kernels.elementwise import Array
from ttxdsl.interpreters.runtime.compiled_op import COMPUTE_ERRORS
from ttxdsl.interpreters.runtime.plan import OpGroup
from ttxdsl.interpreters.runtime.threads import (
    LARGE,
    SIZE,
    Stretch,
    outermost_first,
    share,
    stretches,
)

_REFERENCES = 4
"""To an array that only a frame holds: the frame, the operands, a name, a question."""


def free(inputs: Sequence[Any], at: Sequence[int]) -> list[Array]:
    """Return the operands without other owners, views, or gaps between elements.

    NumPy before 2.5 negates what has gaps wrongly if the result has some, too.
    """
    arrays: list[Array] = []
    for index in at:
        array: Any = inputs[index]
        if not isinstance(array, np.ndarray) or not array.flags.writeable:
            continue
        again = sum(other is array for other in inputs) - 1
        if getrefcount(array) - again > _REFERENCES:
            continue
        base = cast(object, array.base)
        # NumPy views refer to the array that owns the memory: the view, a name, a question
        if base is not None and (
            not isinstance(base, np.ndarray) or getrefcount(base) > _REFERENCES - 1
        ):
            continue
        if _is_compact(cast(Array, array)):
            arrays.append(cast(Array, array))
    return arrays


def _is_compact(x: Array) -> bool:
    return x.flags.forc or x.transpose(outermost_first(x)).flags.c_contiguous


Located = Callable[[Exception, Operation, Sequence[Any]], Exception]
"""Makes of an error the one that names the op and its operands."""


def compute_group(group: OpGroup, frame: list[Any], located: Located) -> bool:
    """Compute a group of ops into the frame of a pass.

    Returns:
        Whether it was worth it; nothing happened otherwise.

    Raises:
        Exception: what `located` makes of an error in an op.
    """
    inputs = [frame[at] for at, _ in group.inputs]
    if all(x.size < LARGE for x in inputs):
        return False
    lead = _common_lead(group, inputs)
    if lead is None or not (lead or group.keeps):
        return False  # no rows
    rows = (*lead, *group.steps[0].results[0][1][: group.keeps])
    ranks = [rank for _, rank in group.inputs]

    def lifted() -> list[Array]:
        pairs = zip(inputs, ranks, strict=True)
        return [_lifted(x, rank, rows, group) for x, rank in pairs]

    order = _order_of(lifted(), len(rows))
    # before local references to the operands exist
    outs = _room_for(group, inputs, rows, order)

    def in_order(x: Array) -> Array:
        return x.transpose((*order, *range(len(rows), x.ndim)))

    reads = {at: in_order(x) for (at, _), x in zip(group.inputs, lifted(), strict=True)}
    writes = {at: in_order(out) for at, out in outs.items()}
    last = group.row_steps[-1] if group.steps[-1] in group.outputs else None

    def work(part: Stretch) -> None:
        values = {at: x[part] for at, x in reads.items()}
        for row_step in group.row_steps:
            args = [values[at] for at in row_step.uses]
            try:
                if row_step.ufunc is None:
                    values[row_step.makes] = row_step.kernel(*args)
                    if (dtype := values[row_step.makes].dtype) != row_step.dtype:
                        raise TypeError(f"gives values of type {dtype}")
                elif row_step is last:
                    # its last use was above
                    row_step.ufunc(*args, out=writes[row_step.makes][part])
                else:
                    room = None if row_step.over is None else values[row_step.over]
                    values[row_step.makes] = row_step.ufunc(*args, out=room)
                    del room
            except COMPUTE_ERRORS as error:
                raise located(error, row_step.op, args) from error
            del args
            for dead in row_step.frees:
                values.pop(dead, None)
        for at, out in writes.items():
            if at in values:
                out[part] = values[at]

    arrays = (*reads.values(), *writes.values())
    widest = max(prod(x.shape[len(rows) :]) for x in arrays)
    share(work, stretches([rows[dim] for dim in order], SIZE // max(widest, 1)))
    for looks in (reads, writes):
        looks.clear()
    inputs.clear()
    del arrays
    for step in group.steps:
        for at in step.frees:
            frame[at] = None
    for at, out in outs.items():
        frame[at] = out
    return True


def _common_lead(group: OpGroup, inputs: Sequence[Array]) -> tuple[int, ...] | None:
    """Return the devices' dimensions of all results, if they have the same.

    A result that is the same on more devices than another one has smaller ones.
    """
    leads = {
        at: x.shape[: x.ndim - rank]
        for (at, rank), x in zip(group.inputs, inputs, strict=True)
    }
    leads_of_steps = {*leads.values()}
    if len(leads_of_steps) == 1:
        return leads_of_steps.pop()
    leads_of_steps.clear()
    for step in group.steps:
        lead = np.broadcast_shapes(*(leads[at] for at in step.uses))
        leads[step.makes[0]] = lead
        leads_of_steps.add(lead)
    return None if len(leads_of_steps) > 1 else leads_of_steps.pop()


def _lifted(x: Array, rank: int, rows: tuple[int, ...], group: OpGroup) -> Array:
    """Return an operand with all of the rows in front, repeated if need be (a view)."""
    more = len(rows) - group.keeps + rank - x.ndim
    if not more and x.shape[: len(rows)] == rows:
        return x
    x = x.reshape((*(1,) * more, *x.shape))
    return np.broadcast_to(x, (*rows, *x.shape[len(rows) :]))


def _order_of(arrays: Sequence[Array], count: int) -> tuple[int, ...]:
    """In which order the first dimensions of results lie in memory, outermost first.

    As NumPy decides for a ufunc: as those of the operands do, as written where these
    differ. What reads the results next then adds in the same order.
    """
    inside: list[int] = []
    for dim in reversed(range(count)):
        place = len(inside)
        for at in reversed(range(place)):
            pairs = [
                (abs(x.strides[dim]), abs(x.strides[inside[at]]))
                for x in arrays
                if x.strides[dim] and x.strides[inside[at]]
            ]
            if pairs and not all(own < other for own, other in pairs):
                break
            if pairs:
                place = at
        inside.insert(place, dim)
    return tuple(reversed(inside))


def _room_for(
    group: OpGroup, inputs: list[Array], rows: tuple[int, ...], order: Sequence[int]
) -> dict[int, Array]:
    """Memory for what is used later: new, or for a lone result an operand's that dies."""
    room: list[Array] = []
    if len(group.outputs) == 1:
        dying = {at for step in group.steps for at in step.frees}
        places = [at for at, (place, _) in enumerate(group.inputs) if place in dying]
        room = free(inputs, places)
    rooms: dict[int, Array] = {}
    for step in group.outputs:
        _, local, dtype = step.results[0]
        shape = (*rows, *local[group.keeps :])
        fits = (x for x in room if x.shape == shape and x.dtype == dtype)
        if (out := next(fits, None)) is None:
            turned = (*order, *range(len(rows), len(shape)))
            out = empty([shape[dim] for dim in turned], dtype)
            out = out.transpose(np.argsort(turned))
        rooms[step.makes[0]] = out
    return rooms
