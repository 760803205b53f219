"""Elementwise ops that follow each other, computed together on large arrays.

What they make for each other is never whole: a stretch of the operands goes through all
of them while it is in a core's cache, and threads share the stretches. New memory is
taken for what is used later alone, or that of an operand which nobody else looks at.
"""

from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from ttxdsl.interpreters.kernels import UFUNCS, Array, Kernel
from ttxdsl.interpreters.memory import empty, release
from ttxdsl.interpreters.planned import PlannedOp, Together
from ttxdsl.interpreters.prepared import COMPUTING, PLAIN
from ttxdsl.interpreters.threads import (
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
    """Compute a run of elementwise ops into the frame of a pass.

    Returns:
        Whether it was worth it; nothing happened otherwise.

    Raises:
        Exception: what `located` makes of an error in an op.
    """
    inputs = [frame[at] for at in run.inputs]
    if all(x.size < LARGE for x in inputs):
        return False
    shape = _common_shape(run, inputs)
    if shape is None:
        return False
    # results lie in memory as the operands do
    order = outermost_first(next(x for x in inputs if x.shape == shape))
    outs = _room_for(run, inputs, shape, order)
    reads = {
        at: np.broadcast_to(x, shape).transpose(order)
        for at, x in zip(run.inputs, inputs, strict=True)
    }
    writes = {at: out.transpose(order) for at, out in outs.items()}
    last = run.steps[-1] if run.steps[-1] in run.outputs else None
    steps = [(step, _ufunc_of(step) if step is last else None) for step in run.steps]

    def work(part: Stretch) -> None:
        values = {at: x[part] for at, x in reads.items()}
        for step, ufunc in steps:
            args = [values[at] for at in step.uses]
            (at,), (_, _, dtype) = step.makes, step.results[0]
            prepared = step.prepared
            assert prepared is not None and prepared.each is not None
            try:
                if ufunc is not None and args[0].dtype == dtype:
                    ufunc(*args, out=writes[at][part])  # nobody reads from here on
                    continue
                values[at] = prepared.each(*args)
                if values[at].dtype != dtype:
                    raise TypeError(f"gives values of type {values[at].dtype}")
            except COMPUTING as error:
                raise located(error, step.op, args) from error
            del args
            for dead in step.frees:
                values.pop(dead, None)
        for at, out in writes.items():
            if at in values:
                out[part] = values[at]

    share(work, stretches([shape[dim] for dim in order], SIZE))
    reads.clear()
    del inputs
    for step in run.steps:
        for at in step.frees:
            release(frame, at)
    for at, out in outs.items():
        frame[at] = out
    return True


def _common_shape(run: Together, inputs: Sequence[Array]) -> tuple[int, ...] | None:
    """The shape of all results, if they have one and an operand is as large.

    A result that is the same on more devices than another one is smaller.
    """
    shapes = {at: x.shape for at, x in zip(run.inputs, inputs, strict=True)}
    found: set[tuple[int, ...]] = set()
    for step in run.steps:
        shape = np.broadcast_shapes(*(shapes[at] for at in step.uses))
        shapes[step.makes[0]] = shape
        found.add(shape)
    shape = found.pop()
    local = run.steps[0].results[0][1]
    fits = shape[len(shape) - len(local) :] == local
    if found or not fits or all(x.shape != shape for x in inputs):
        return None
    return shape


def _room_for(
    run: Together, inputs: list[Array], shape: tuple[int, ...], order: Sequence[int]
) -> dict[int, Array]:
    """Memory for what is used later: an operand's that dies, or some that is new."""
    dying = {at for step in run.steps for at in step.frees}
    places = [at for at, place in enumerate(run.inputs) if place in dying]
    room = [x for x in free(inputs, places) if x.shape == shape]
    found: dict[int, Array] = {}
    for step in run.outputs:
        dtype = step.results[0][2]
        fits = next((x for x in room if x.dtype == dtype), None)
        if fits is None:
            made = empty([shape[dim] for dim in order], dtype)
            fits = made.transpose(np.argsort(order))
        room = [x for x in room if x is not fits]
        found[step.makes[0]] = fits
    return found


def _ufunc_of(step: PlannedOp) -> np.ufunc | None:
    """The ufunc that the op is on plain types."""
    if step.prepared is None or step.results[0][2] not in PLAIN:
        return None
    return UFUNCS.get(cast(Kernel, step.prepared.each))
