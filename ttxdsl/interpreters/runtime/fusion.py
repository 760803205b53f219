"""Ops that work row by row and follow each other, computed together on large arrays.

What they make for each other is never whole: a stretch of the rows goes through all of
them (a softmax, a norm, an activation) while it is in a core's cache, and threads share
the stretches. New memory is taken for what is used later alone, or that of an operand
which nobody else looks at.
"""

from collections.abc import Callable, Sequence
from math import prod
from sys import getrefcount
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from ttxdsl.interpreters.kernels.elementwise import Array
from ttxdsl.interpreters.runtime.compiled_op import COMPUTING
from ttxdsl.interpreters.runtime.memory.pool import empty, release
from ttxdsl.interpreters.runtime.plan import Together
from ttxdsl.interpreters.runtime.threads import (
    LARGE,
    SIZE,
    Stretch,
    share,
    stretches,
)

_REFERENCES = 4
"""To an array that only a frame holds: the frame, the operands, a name, a question."""


def free(inputs: Sequence[Any], at: Sequence[int]) -> list[Array]:
    """The operands that nobody else looks at, also not through a view."""
    found: list[Array] = []
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
        found.append(cast(Array, array))
    return found


Located = Callable[[Exception, Operation, Sequence[Any]], Exception]
"""The error that says in which op, of which operands, another one happened."""


def compute(run: Together, frame: list[Any], located: Located) -> bool:
    """Compute a run of ops into the frame of a pass.

    Returns:
        Whether it was worth it; nothing happened otherwise.

    Raises:
        Exception: what `located` makes of an error in an op.
    """
    inputs = [frame[at] for at, _ in run.inputs]
    if all(x.size < LARGE for x in inputs):
        return False
    lead = _common_lead(run, inputs)
    if lead is None or not (lead or run.keeps):
        return False  # no rows
    rows = (*lead, *run.steps[0].results[0][1][: run.keeps])
    ranks = [rank for _, rank in run.inputs]

    def lifted() -> list[Array]:
        pairs = zip(inputs, ranks, strict=True)
        return [_lifted(x, rank, rows, run) for x, rank in pairs]

    order = _order_of(lifted(), len(rows))
    # while nobody here looks at the operands
    outs = _room_for(run, inputs, rows, order)

    def in_order(x: Array) -> Array:
        return x.transpose((*order, *range(len(rows), x.ndim)))

    reads = {at: in_order(x) for (at, _), x in zip(run.inputs, lifted(), strict=True)}
    writes = {at: in_order(out) for at, out in outs.items()}
    last = run.moves[-1] if run.steps[-1] in run.outputs else None

    def work(part: Stretch) -> None:
        values = {at: x[part] for at, x in reads.items()}
        for move in run.moves:
            args = [values[at] for at in move.uses]
            try:
                if move.ufunc is None:
                    values[move.makes] = move.kernel(*args)
                    if (found := values[move.makes].dtype) != move.dtype:
                        raise TypeError(f"gives values of type {found}")
                elif move is last:
                    # nobody reads it from here on
                    move.ufunc(*args, out=writes[move.makes][part])
                else:
                    room = None if move.over is None else values[move.over]
                    values[move.makes] = move.ufunc(*args, out=room)
                    del room
            except COMPUTING as error:
                raise located(error, move.op, args) from error
            del args
            for dead in move.frees:
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
    for step in run.steps:
        for at in step.frees:
            release(frame, at)
    for at, out in outs.items():
        frame[at] = out
    return True


def _common_lead(run: Together, inputs: Sequence[Array]) -> tuple[int, ...] | None:
    """The devices' dimensions of all results, if they have the same.

    A result that is the same on more devices than another one has smaller ones.
    """
    leads = {
        at: x.shape[: x.ndim - rank]
        for (at, rank), x in zip(run.inputs, inputs, strict=True)
    }
    found = {*leads.values()}
    if len(found) == 1:
        return found.pop()
    found.clear()
    for step in run.steps:
        lead = np.broadcast_shapes(*(leads[at] for at in step.uses))
        leads[step.makes[0]] = lead
        found.add(lead)
    return None if len(found) > 1 else found.pop()


def _lifted(x: Array, rank: int, rows: tuple[int, ...], run: Together) -> Array:
    """An operand with all of the rows in front, repeated if need be (a view)."""
    more = len(rows) - run.keeps + rank - x.ndim
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
    run: Together, inputs: list[Array], rows: tuple[int, ...], order: Sequence[int]
) -> dict[int, Array]:
    """Memory for what is used later: new, or for a lone result an operand's that dies."""
    room: list[Array] = []
    if len(run.outputs) == 1:
        dying = {at for step in run.steps for at in step.frees}
        places = [at for at, (place, _) in enumerate(run.inputs) if place in dying]
        room = free(inputs, places)
    found: dict[int, Array] = {}
    for step in run.outputs:
        _, local, dtype = step.results[0]
        shape = (*rows, *local[run.keeps :])
        fits = (x for x in room if x.shape == shape and x.dtype == dtype)
        if (out := next(fits, None)) is None:
            turned = (*order, *range(len(rows), len(shape)))
            out = empty([shape[dim] for dim in turned], dtype)
            out = out.transpose(np.argsort(turned))
        found[step.makes[0]] = out
    return found
