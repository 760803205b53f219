"""Loops and branches whose condition may differ by device (or by element of a batch).

A condition that is the same everywhere runs one branch. Where it differs all branches
run on all values and each place keeps its own: programs are pure, so what a place does
not keep does no harm.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation, Region
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.kernels.elementwise import Array, expand_scalar, select
from ttxdsl.interpreters.mesh.collectives import DeviceMesh, Groups
from ttxdsl.interpreters.runtime.regions import (
    LimitError,
    Loop,
    Values,
    run_region,
    running_on,
    session,
)


def _scalar(x: Array, rank: int) -> Array:
    """Return a predicate or index of one element as a scalar tensor."""
    return x.reshape(x.shape[: x.ndim - rank]) if rank else x


def _kept(
    keep: Array, new: Sequence[Any], old: Sequence[Any], types: Sequence[Attribute]
) -> Values:
    return tuple(
        a if isinstance(t, TokenType) else select(expand_scalar(keep, rank_of(t)), a, b)
        for a, b, t in zip(new, old, types, strict=True)
    )


def run_while(
    interpreter: Interpreter,
    cond: Region,
    body: Region,
    state: Sequence[Any],
    captured: Sequence[Any] = (),
) -> Values:
    """`body` on `state` as long as `cond` holds, for each place for itself.

    Both regions take the `captured` values too, behind the state.
    """
    state, always = list(state), tuple(captured)
    types = [arg.type for arg in body.block.args[: len(state)]]
    end = cond.block.last_op
    assert end is not None
    rank = rank_of(end.operands[0].type)
    loops, loop = session(interpreter).loops, Loop(body)
    active, devices = session(interpreter).active, session(interpreter).devices
    loops.append(loop)
    while True:
        with running_on(interpreter, active):
            (holds,) = run_region(interpreter, cond, (*state, *always), "cond")
        holds = _scalar(np.asarray(holds).astype(np.bool_, copy=False), rank)
        active = holds if active is None else active & holds
        numbers = devices.distinct(active)
        if True not in numbers:
            loops.pop()
            return tuple(state)
        _take_turn(interpreter, loop)
        if False not in numbers:
            active = None
        old = () if active is None else tuple(state)
        # the body may reuse the memory of values without other owners
        state += always
        with running_on(interpreter, active):
            new = run_region(interpreter, body, state, "body", handed=True)
        state = list(new if active is None else _kept(active, new, old, types))
        del new, old


def run_counted(
    interpreter: Interpreter,
    iterations: int,
    body: Region,
    state: Sequence[Any],
    captured: Sequence[Any] = (),
) -> Values:
    """`body` on `state` so many times, with the `captured` values behind the state."""
    loops, loop = session(interpreter).loops, Loop(body)
    loops.append(loop)
    for _ in range(iterations):
        _take_turn(interpreter, loop)
        args = [*state, *captured]
        del state
        state = run_region(interpreter, body, args, "body", handed=True)
    loops.pop()
    return tuple(state)


def _take_turn(interpreter: Interpreter, loop: Loop) -> None:
    """Count an iteration of a loop."""
    state = session(interpreter)
    if state.steps == state.max_steps:
        raise LimitError(
            f"the loop goes on after {state.steps} iterations of all loops, the most that are"
            " allowed",
            loop.body.parent_op(),
            hint="--max-steps (max_steps= in Python) says how many may be taken",
        )
    state.steps += 1
    loop.iterations += 1


def run_branches(
    interpreter: Interpreter, branches: Sequence[Region], index: Array, args: Values
) -> Values:
    """Run branch number `index`; the last one for numbers out of range."""
    if not branches:
        raise InterpretationError("a case without branches")
    last = len(branches) - 1
    index = np.where((index < 0) | (index > last), last, index)
    devices, outer = session(interpreter).devices, session(interpreter).active
    numbers = devices.distinct(index)
    if len(numbers) == 1:
        return run_region(interpreter, branches[numbers[0]], args, "branch")
    results: Values | None = None
    for number in numbers:
        region, chosen = branches[number], index == number
        active = chosen if outer is None else outer & chosen
        with running_on(interpreter, active):
            here = run_region(interpreter, region, args, "branch")
        end = region.block.last_op
        assert end is not None
        types = [value.type for value in end.operands]
        results = here if results is None else _kept(chosen, here, results, types)
    assert results is not None
    return results


def require_company(
    interpreter: Interpreter, op: Operation, mesh: DeviceMesh, groups: Groups
) -> None:
    """Refuse a collective that some devices of a group never come to.

    Raises:
        CompileError: a loop or branch runs on some devices of a group and not on others,
            for which they would wait forever.
    """
    active, devices = session(interpreter).active, session(interpreter).devices
    if active is None:
        return
    pairs = [(first, member) for first, *members in groups for member in members]
    own = mesh.lift(active, 0)
    compared = mesh.here(np.isin(np.arange(mesh.num_devices), [at for _, at in pairs]))
    alone = compared & (mesh.collective_permute(own, 0, pairs) != own)
    if True in devices.distinct(alone):
        raise CompileError(
            "devices of one group disagree whether the loop or branch around goes on:"
            " those that run it would wait for the others forever",
            op,
            hint="decide by a value that all devices of a group have",
        )
