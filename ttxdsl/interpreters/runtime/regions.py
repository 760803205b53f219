"""Running regions: the state of a run, liveness, and bodies as array operations.

A region is run op by op with every value dropped after its last use, so that the
memory that a program needs is what is alive at once. What is found out about a region
stays (`RegionPlan`): the first pass finds the kernels of its ops and what follows from
constants alone, each further one costs the kernels.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.diagnostics.errors import (
    CompileError,
    UnsupportedError,
    place_text,
    source_position,
)
from ttxdsl.dialects.expressed import on_floats
from ttxdsl.dialects.sdy import ManualComputationOp
from ttxdsl.interpreters.kernels import quantized
from ttxdsl.interpreters.kernels.elements import DType, is_integer, tensor_of
from ttxdsl.interpreters.kernels.matrices import Summands
from ttxdsl.interpreters.mesh.collectives import DeviceMesh, Groups
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.runtime.compiled_op import COMPUTING, PREPARES, Prepared
from ttxdsl.interpreters.runtime.engine import Devices, VirtualDevices
from ttxdsl.interpreters.runtime.fusion import compute, free
from ttxdsl.interpreters.runtime.memory.pool import Spare, release
from ttxdsl.interpreters.runtime.plan import PlannedOp, RegionPlan, Together

Array = NDArray[Any]
Values = tuple[Any, ...]
Rounding = Callable[[Operation, Array], Array]
"""A result of an op as another rounding might have made it."""


_SMALL = 1 << 12
"""Elements of values for which equality of devices is looked for."""


class LocatedError(CompileError, InterpretationError):
    """A run that failed in one op, which the message names."""


class LimitError(LocatedError):
    """A run that needs more memory or more turns of a loop than it may have."""


class Nothing(LocatedError):
    """A process waits for what was not sent (yet)."""


@dataclass
class Session:
    """What one interpreter remembers between ops."""

    alone: bool = False
    """Whether ops are run as this package says: no others' functions are registered."""
    devices: Devices = field(default_factory=VirtualDevices)
    """Where the meshes of the program are."""
    mesh: DeviceMesh = field(default_factory=DeviceMesh)
    """The devices of the code that runs now; no axes outside of a mesh."""
    plans: dict[Region, RegionPlan] = field(default_factory=dict[Region, RegionPlan])
    captures: dict[Region, tuple[SSAValue, ...]] = field(
        default_factory=dict[Region, tuple[SSAValue, ...]]
    )
    room: list[Array] = field(default_factory=list[Array])
    """Arrays that the op which runs now may write its result into."""
    symbols: dict[str, Operation] = field(default_factory=dict[str, Operation])
    groups: dict[Operation, Groups] = field(default_factory=dict[Operation, Groups])
    """Positions of the devices in the groups of each collective."""
    meshes: dict[Operation, DeviceMesh] = field(
        default_factory=dict[Operation, DeviceMesh]
    )
    """The devices of each op whose tensors say them."""
    common_mesh: DeviceMesh | None = None
    """The devices of all such ops, if they are the same."""
    kernels: dict[Operation, Prepared | None] = field(
        default_factory=dict[Operation, Prepared | None]
    )
    """How the ops that are functions of arrays alone are computed; None of others."""
    stands_for: dict[Operation, Operation] = field(
        default_factory=dict[Operation, Operation]
    )
    """The op that computes for another one, which means the same."""
    channels: dict[int, list[Values]] = field(default_factory=dict[int, list[Values]])
    """What was sent and not received yet, by channel."""
    infeed: list[str] = field(default_factory=list[str])
    """Functions whose results the coming infeeds read."""
    probes: dict[str, list[Array]] = field(default_factory=dict[str, list[Array]])
    """What each probe has seen."""
    told: set[Operation] = field(default_factory=set[Operation])
    """Ops of which the user was told that they do nothing here."""
    rounding: Rounding | None = None
    """What is done to every result of a run that rounds otherwise."""
    spare: Spare = field(default_factory=Spare)
    """Memory that results may take."""
    max_steps: int | None = None
    """Turns that all loops together may take."""
    steps: int = 0
    """Turns that they have taken."""
    running: Together | None = None
    """The ops that run now."""
    loops: list["Loop"] = field(default_factory=list["Loop"])
    """The loops that run now, the outermost first."""

    def what_is_done(self) -> str:
        """Say which loop or op runs now, and where the user has it."""
        if self.loops:
            shown = (self.loops[0], self.loops[-1])
            return ", ".join(str(one) for one in dict.fromkeys(shown))
        if self.running is None:
            return ""
        op = self.running.steps[0].op
        return f"'{op.name}'{_place_of(op)}"


@dataclass(slots=True, eq=False)
class Loop:
    """A loop that runs: its body, and the iterations that it has begun."""

    body: Region
    iterations: int = 0

    def __str__(self) -> str:
        op = self.body.parent_op()
        place = "" if op is None else _place_of(op)
        return f"loop{place} in iteration {self.iterations:,} (--max-steps N ends it)"


def _place_of(op: Operation) -> str:
    place = place_text(source_position(op.location))
    return f" at {place}" if place else ""


class _SessionKey(InterpreterFunctions):
    """Where the interpreter keeps the session."""


def session(interpreter: Interpreter) -> Session:
    """The session of an interpreter, made when first asked for."""
    return cast(Session, interpreter.get_data(_SessionKey, "session", Session))


@contextmanager
def on_mesh(interpreter: Interpreter, mesh: DeviceMesh) -> Generator[DeviceMesh]:
    """Run what is inside on the devices of `mesh`."""
    state = session(interpreter)
    outer, state.mesh = state.mesh, mesh
    try:
        yield mesh
    finally:
        state.mesh = outer


def prepared_of(state: Session, op: Operation) -> Prepared | None:
    """How the op is computed, if it is a function of arrays alone; found out once."""
    if op not in state.kernels:
        prepare = PREPARES.get(type(op))
        found = None if prepare is None else prepare(op)
        state.kernels[op] = Prepared(found) if callable(found) else found
    return state.kernels[op]


def _prepared_ahead(state: Session, op: Operation) -> Prepared | None:
    """The same before the op runs; where that fails its turn will say why."""
    try:
        return prepared_of(state, op)
    except (CompileError, *COMPUTING):
        return None


def find_symbol(interpreter: Interpreter, name: str) -> Operation:
    """The op of the module with that symbol name."""
    symbols = session(interpreter).symbols
    if name not in symbols:
        found = SymbolTable.lookup_symbol(interpreter.module, name)
        if found is None:
            raise InterpretationError(f"the module has no symbol @{name}")
        symbols[name] = found
    return symbols[name]


def _plan(interpreter: Interpreter, region: Region) -> RegionPlan:
    block = region.block
    outside = captures_of(interpreter, region)
    places = {value: at for at, value in enumerate((*outside, *block.args))}
    last: dict[SSAValue, Operation] = {}
    inner: dict[Operation, tuple[SSAValue, ...]] = {}
    for op in block.ops:
        for result in op.results:
            places[result] = len(places)
        captured = (captures_of(interpreter, one) for one in op.regions)
        inner[op] = tuple(dict.fromkeys(chain.from_iterable(captured)))
        for value in (*op.operands, *inner[op]):
            last[value] = op
    dying: dict[Operation, list[SSAValue]] = {}
    for value, op in last.items():
        dying.setdefault(op, []).append(value)
    steps: list[PlannedOp] = []
    for op in block.ops:
        dead = dying.get(op, [])
        dead += [result for result in op.results if result not in last]
        results = tuple((result, *expected(result.type)) for result in op.results)
        leaves = isinstance(region.parent, FuncOp) and all(
            last.get(result, block.last_op) is block.last_op and result.has_one_use()
            for result in op.results
        )
        steps.append(
            PlannedOp(
                op,
                results,
                tuple(dead),
                shadow=on_floats(op),
                returns=op.has_trait(IsTerminator),
                last_use=_last_used(op, set(dead)),
                leaves=leaves,
                uses=tuple(places[value] for value in op.operands),
                makes=tuple(places[value] for value in op.results),
                frees=tuple(places[value] for value in dead),
                captured=tuple((value, places[value]) for value in inner[op]),
            )
        )
    unused = tuple(places[arg] for arg in block.args if arg not in last)
    loops = not isinstance(region.parent, FuncOp)
    frame: list[Any] = [None] * len(places)
    once = isinstance(region.parent, FuncOp | ManualComputationOp)
    return RegionPlan(steps, outside, len(block.args), unused, frame, loops, once)


def plan_of(interpreter: Interpreter, region: Region) -> RegionPlan:
    """What there is to do in the one block of a region, found out once."""
    plans = session(interpreter).plans
    if (plan := plans.get(region)) is None:
        plan = plans[region] = _plan(interpreter, region)
    return plan


def _last_used(op: Operation, dead: set[SSAValue]) -> tuple[int, ...]:
    if len(op.results) != 1 or not all(map(_takes_scalars, op.regions)):
        return ()
    wanted = op.results[0].type
    return tuple(
        at
        for at, operand in enumerate(op.operands)
        if operand in dead and operand.type == wanted
    )


def _takes_scalars(region: Region) -> bool:
    """Whether it is a body, as of a reduction: what control flow runs may take buffers."""
    args = (arg for block in region.blocks for arg in block.args)
    return all(expected(arg.type)[0] == () for arg in args)


def expected(type: Attribute) -> tuple[tuple[int, ...], DType | None]:
    """Shape and dtype that a value must have; no dtype where that cannot be said."""
    try:
        shape, dtype = tensor_of(type)
    except UnsupportedError:
        return (), None
    return (shape, dtype) if -1 not in shape else ((), None)


def run_region(
    interpreter: Interpreter,
    region: Region,
    args: Sequence[Any],
    name: str,
    *,
    handed: bool = False,
) -> Values:
    """The values that the one block of `region` returns for `args`.

    Every result is held against its type: what an op computes can be wrong, but not
    silently of a wrong shape. Values die after their last use.

    Args:
        interpreter: runs it.
        region: what is run.
        args: its arguments.
        name: what the interpreter calls it.
        handed: `args` is a list and is emptied, so that values which nobody else has
            die in the region; results may take their memory.

    Raises:
        LocatedError: an op that cannot be computed, or computes another type.
    """
    state = session(interpreter)
    if (plan := state.plans.get(region)) is None:
        if len(region.blocks) != 1:
            return interpreter.run_ssacfg_region(region, tuple(args), name)
        plan = plan_of(interpreter, region)
    # who watches sees every op, and other roundings are other constants
    watched = bool(interpreter.listeners) or state.rounding is not None
    frame = plan.frame.copy()
    first = len(plan.captured)
    if first:
        frame[:first] = interpreter.get_values(plan.captured)
    if len(args) != plan.arguments:
        raise InterpretationError(
            f"{name} takes {plan.arguments} values, {len(args)} were given"
        )
    frame[first : first + len(args)] = args
    for at in plan.unused:
        frame[at] = None
    if handed:
        cast(list[Any], args).clear()
    del args
    with np.errstate(all="ignore"):
        return _pass(interpreter, plan, frame, name, watched=watched)


def _pass(
    interpreter: Interpreter,
    plan: RegionPlan,
    frame: list[Any],
    name: str,
    *,
    watched: bool,
) -> Values:
    """One pass through a region, in whose frame are its arguments."""
    state = session(interpreter)
    if plan.first is None:
        plan.begin((lambda op: _prepared_ahead(state, op)) if state.alone else None)
    settled = plan.rest is not None and not watched
    runs = plan.alone if watched else plan.rest if settled else plan.first
    assert runs is not None
    for run in runs:
        state.running = run
        if run.inputs and not watched and compute(run, frame, _located):
            continue
        for step in run.steps:
            inputs: Sequence[Any] = [frame[at] for at in step.uses]
            if step.returns:
                if not settled and not watched:
                    plan.settle()
                return tuple(inputs)
            if step.prepared is None or watched:
                values = _results(interpreter, step, inputs, frame)
                if not watched and (found := state.kernels.get(step.op)) is not None:
                    step.prepared = found
                    plan.fix(step, cast(Array, values[0]))
                for at, value in zip(step.makes, values, strict=True):
                    frame[at] = value
                # names would keep them alive
                del values
                value = None
            else:
                value = _prepared_result(state, step, step.prepared, inputs)
                frame[step.makes[0]] = value
                if not settled and not step.later:
                    plan.fix(step, value)
                value = None
            inputs = ()
            for at in step.frees:
                release(frame, at)
    raise InterpretationError(f"the region of {name} does not return")


def _prepared_result(
    state: Session, step: PlannedOp, prepared: Prepared, inputs: Sequence[Any]
) -> Any:
    """What an op makes of its operands' arrays alone."""
    value: Array | None = None
    try:
        if step.last_use and prepared.into is not None:
            room = free(inputs, step.last_use)
            if room:
                value = prepared.into(room, *inputs)
            del room
        if value is None:
            later = prepared.later if step.later else None
            value = (later or prepared.kernel)(*inputs)
    except CompileError:
        raise
    except COMPUTING as error:
        raise _located(error, step.op, inputs) from error
    _, shape, dtype = step.results[0]
    return _typed(state, step.op, value, shape, dtype)


def _results(
    interpreter: Interpreter, step: PlannedOp, inputs: Sequence[Any], frame: list[Any]
) -> list[Any]:
    """What an op makes, by the function that is registered for it."""
    state, op = session(interpreter), step.op
    if step.shadow is not None:
        floats = quantized.to_floats(op, tuple(inputs))
        floats = _run_op(interpreter, step.shadow, floats)
        made = quantized.from_floats(op, floats)
    elif step.captured:
        # its regions find there what they use
        interpreter.push_scope(op.name)
        try:
            interpreter.set_values((value, frame[at]) for value, at in step.captured)
            made = _run_op(interpreter, op, tuple(inputs))
        finally:
            interpreter.pop_scope()
    else:
        # the ops of a body do not get the room of the op around them
        state.room = free(inputs, step.last_use) if step.last_use else []
        made = _run_op(interpreter, op, tuple(inputs))
        state.room = []
    return [
        # what nobody needs whole here stays apart
        value
        if step.leaves and isinstance(value, Scattered)
        else _typed(state, op, value, shape, dtype)
        for (_, shape, dtype), value in zip(step.results, made, strict=True)
    ]


_TOO_MANY_DIMENSIONS = re.compile(r"maximum supported dimension|too many dimensions")


def _run_op(interpreter: Interpreter, op: Operation, inputs: Values) -> Values:
    try:
        return interpreter.run_op(op, inputs)
    except CompileError:
        raise
    except COMPUTING as error:
        raise _located(error, op, inputs) from error


def _located(error: Exception, op: Operation, inputs: Sequence[Any]) -> Exception:
    """The error that says in which op another one happened."""
    if isinstance(error, InterpretationError):
        return LocatedError(str(error), op)
    if isinstance(error, MemoryError):
        reason = str(error).rstrip(".") or "no more is left"
        return LimitError(f"needs more memory than there is: {reason}", op)
    if _TOO_MANY_DIMENSIONS.search(str(error)):
        return LimitError(
            "needs more dimensions than NumPy's arrays have, with those of the mesh:"
            f" {error}",
            op,
        )
    shapes = ", ".join(f"{getattr(x, 'shape', x)}" for x in inputs)
    return LocatedError(f"cannot be computed of {shapes}: {error}", op)


def _typed(
    state: Session,
    op: Operation,
    value: Any,
    shape: tuple[int, ...],
    dtype: DType | None,
) -> Any:
    """A result as its type wants it, rounded as the run rounds."""
    if dtype is None:
        return value
    array = value if type(value) in (np.ndarray, Summands) else np.asarray(value)
    rank = len(shape)
    if array.dtype != dtype or array.shape[array.ndim - rank :] != shape:
        raise LocatedError(
            f"gives a value of shape {array.shape} and type {array.dtype} where its "
            f"type says {shape} and {dtype}",
            op,
        )
    if state.rounding is not None:
        array = state.rounding(op, array)
    if array.ndim > rank and is_integer(dtype) and 1 < array.size <= _SMALL:
        mesh = state.mesh if state.mesh.rank else state.common_mesh
        array = array if mesh is None else _compressed(mesh, array, rank)
    return array


def _compressed(mesh: DeviceMesh, x: Array, rank: int) -> Array:
    """A small integer value without extents along which it is found equal.

    Device numbers differ along all axes, what is computed from them (offsets, masks)
    often along one only: without this all that follows would be done per device. The
    leading extents of a body's numbers are elements', and may be as many as the mesh's.
    """
    return mesh.compress(x, rank) if mesh.holds(x, rank) else x


def captures_of(interpreter: Interpreter, region: Region) -> tuple[SSAValue, ...]:
    """The values that a region uses but does not define."""
    found = session(interpreter).captures
    if region not in found:
        regions, pending = list[Region](), [region]
        while pending:
            inner = pending.pop()
            regions.append(inner)
            ops = chain.from_iterable(block.ops for block in inner.blocks)
            pending += (one for op in ops for one in op.regions if one not in found)
        for inner in reversed(regions):  # those inside others first
            found[inner] = _captured(inner, found)
    return found[region]


def _captured(
    region: Region, known: Mapping[Region, tuple[SSAValue, ...]]
) -> tuple[SSAValue, ...]:
    """What a region captures, from what is known of the regions in it."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for block in region.blocks:
        inside.update(block.args)
        for op in block.ops:
            inside.update(op.results)
            used.update(dict.fromkeys(op.operands))
            for inner in op.regions:
                used.update(dict.fromkeys(known[inner]))
    return tuple(value for value in used if value not in inside)
