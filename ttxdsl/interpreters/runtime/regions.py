"""Running regions: the state of a run, liveness, and the plain and the planned pass.

A region is run op by op with every value dropped after its last use, so that the memory
that a program needs is what is alive at once. The plain pass calls the function of each op
through xDSL's interpreter: that is the meaning. The planned pass calls kernels of compiled
ops, computes constants once, writes over operands that die, and runs groups of ops.
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
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
from ttxdsl.interpreters.kernels import quantized
from ttxdsl.interpreters.kernels.elements import DType, is_integer, tensor_of
from ttxdsl.interpreters.kernels.matrices import Summands
from ttxdsl.interpreters.mesh.collectives import DeviceMesh, Groups
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.runtime.compiled_op import (
    COMPILERS,
    COMPUTE_ERRORS,
    CompiledOp,
)
from ttxdsl.interpreters.runtime.engine import Devices, VirtualDevices
from ttxdsl.interpreters.runtime.fusion import compute_group, free
from ttxdsl.interpreters.runtime.plan import OpGroup, PlannedOp, RegionPlan
from ttxdsl.ir.captures import Captures
from ttxdsl.ir.traversal import operands_of

Array = NDArray[Any]
Values = tuple[Any, ...]
Rounding = Callable[[Operation, Array], Array]
"""A function that rounds a result as another implementation may."""


_SMALL = 1 << 12
"""Elements of values for which equality of devices is looked for."""


class LocatedError(CompileError, InterpretationError):
    """A run that failed in one op, which the message names."""


class LimitError(LocatedError):
    """A run that needs more memory or more iterations of loops than it may have."""


class ChannelEmptyError(LocatedError):
    """A process receives from a channel to which nothing was sent (yet)."""


@dataclass
class Session:
    """The state of one interpreter."""

    planned: bool = False
    """Whether regions are run by plan: all functions of ops are this package's."""
    devices: Devices = field(default_factory=VirtualDevices)
    """The devices of the program's meshes."""
    mesh: DeviceMesh = field(default_factory=DeviceMesh)
    """The devices of the code that runs now; no axes outside of a mesh."""
    plans: dict[Region, RegionPlan] = field(default_factory=dict[Region, RegionPlan])
    captures: Captures = field(default_factory=Captures)
    symbols: dict[str, Operation] = field(default_factory=dict[str, Operation])
    groups: dict[Operation, Groups] = field(default_factory=dict[Operation, Groups])
    """Positions of the devices in the groups of each collective."""
    meshes: dict[Operation, DeviceMesh] = field(
        default_factory=dict[Operation, DeviceMesh]
    )
    """The devices of each op whose tensors name their mesh."""
    common_mesh: DeviceMesh | None = None
    """The devices of all such ops, if equal."""
    compiled: dict[Operation, CompiledOp | None] = field(
        default_factory=dict[Operation, CompiledOp | None]
    )
    """The kernels of ops that are functions of arrays alone; None of others."""
    stands_for: dict[Operation, Operation] = field(
        default_factory=dict[Operation, Operation]
    )
    """For an op of ttir or ttnn the StableHLO op that computes for it."""
    channels: dict[int, list[Values]] = field(default_factory=dict[int, list[Values]])
    """Values that were sent and not received yet, by channel."""
    infeed: list[str] = field(default_factory=list[str])
    """Functions that return the data of coming infeeds."""
    probes: dict[str, list[Array]] = field(default_factory=dict[str, list[Array]])
    """The values that each probe recorded."""
    warned: set[Operation] = field(default_factory=set[Operation])
    """Ops that a remark was already made about."""
    rounding: Rounding | None = None
    """Rounds every result of a run in another way."""
    max_steps: int | None = None
    """Iterations that all loops together may take."""
    steps: int = 0
    """Iterations that they have taken."""
    running: OpGroup | None = None
    """The ops that run now."""
    loops: list["Loop"] = field(default_factory=list["Loop"])
    """The loops that run now, the outermost first."""
    active: Array | None = None
    """Where the loop or branch that runs now does, if not everywhere."""

    def progress_text(self) -> str:
        """Name the loop or op that runs now, and its place in the user's program."""
        if self.loops:
            shown = (self.loops[0], self.loops[-1])
            return ", ".join(map(str, dict.fromkeys(shown)))
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
    """The key of the session in the interpreter's data."""


def session(interpreter: Interpreter) -> Session:
    """Return the session of an interpreter, which is made at the first call."""
    return cast(Session, interpreter.get_data(_SessionKey, "session", Session))


@contextmanager
def running_on(interpreter: Interpreter, active: Array | None) -> Generator[None]:
    """Run what is inside where `active` is true; None: on all devices."""
    state = session(interpreter)
    outer, state.active = state.active, active
    try:
        yield
    finally:
        state.active = outer


@contextmanager
def on_mesh(interpreter: Interpreter, mesh: DeviceMesh) -> Generator[DeviceMesh]:
    """Run what is inside on the devices of `mesh`."""
    state = session(interpreter)
    outer, state.mesh = state.mesh, mesh
    try:
        yield mesh
    finally:
        state.mesh = outer


def compiled_op_of(state: Session, op: Operation) -> CompiledOp | None:
    """Return the kernels of an op that is a function of arrays alone; compiled once."""
    if op not in state.compiled:
        compiler = COMPILERS.get(type(op))
        compiled = None if compiler is None else compiler(op)
        state.compiled[op] = CompiledOp(compiled) if callable(compiled) else compiled
    return state.compiled[op]


def find_symbol(interpreter: Interpreter, name: str) -> Operation:
    """Return the op of the module with that symbol name."""
    symbols = session(interpreter).symbols
    if name not in symbols:
        symbol = SymbolTable.lookup_symbol(interpreter.module, name)
        if symbol is None:
            raise InterpretationError(f"the module has no symbol @{name}")
        symbols[name] = symbol
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
        if op.regions:
            captured = (captures_of(interpreter, region) for region in op.regions)
            inner[op] = tuple(dict.fromkeys(chain.from_iterable(captured)))
        for value in (*operands_of(op), *inner.get(op, ())):
            last[value] = op
    dying: dict[Operation, list[SSAValue]] = {}
    for value, op in last.items():
        dying.setdefault(op, []).append(value)
    steps: list[PlannedOp] = []
    end, repeats = block.last_op, not isinstance(region.parent, FuncOp)
    for op in block.ops:
        dead = dying.get(op, [])
        dead += [result for result in op.results if result not in last]
        results = tuple([(result, *expected(result.type)) for result in op.results])
        leaves = not repeats and all(
            last.get(result, end) is end and result.has_one_use()
            for result in op.results
        )
        steps.append(
            PlannedOp(
                op,
                results,
                tuple(dead),
                shadow=on_floats(op),
                returns=op.has_trait(IsTerminator),
                last_use=_last_used(op, dead),
                leaves=leaves,
                uses=tuple([places[value] for value in operands_of(op)]),
                makes=tuple([places[value] for value in op.results]),
                frees=tuple([places[value] for value in dead]),
                captured=tuple([(value, places[value]) for value in inner.get(op, ())]),
            )
        )
    unused = tuple(places[arg] for arg in block.args if arg not in last)
    return RegionPlan(
        steps,
        outside,
        len(block.args),
        unused,
        frame=[None] * len(places),
        repeats=repeats,
    )


def plan_of(interpreter: Interpreter, region: Region) -> RegionPlan:
    """Return the plan of the one block of a region, which is made once."""
    plans = session(interpreter).plans
    if (plan := plans.get(region)) is None:
        plan = plans[region] = _plan(interpreter, region)
    return plan


def _last_used(op: Operation, dead: Sequence[SSAValue]) -> tuple[int, ...]:
    if len(op.results) != 1 or not dead or not all(map(_takes_scalars, op.regions)):
        return ()
    dying = set(dead)
    wanted = op.results[0].type
    return tuple(
        at
        for at, operand in enumerate(op.operands)
        if operand in dying and operand.type == wanted
    )


def _takes_scalars(region: Region) -> bool:
    """Whether a region is a body on scalars, as of a reduction, not of control flow."""
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
    """Return the values that the one block of `region` returns for `args`.

    Every result is held against its type: what an op computes can be wrong, but not
    silently of a wrong shape.

    Args:
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
    if len(args) != plan.arguments:
        raise InterpretationError(
            f"{name} takes {plan.arguments} values, {len(args)} were given"
        )
    with np.errstate(all="ignore"):
        # a listener sees every op, and other roundings make other constants
        planned = state.planned and not interpreter.listeners and state.rounding is None
        if planned and not plan.groups:
            plan.compile(
                partial(_compiled_or_none, state), partial(_value_or_none, state)
            )
        frame = plan.frame.copy()
        first = len(plan.captured)
        if first:
            frame[:first] = interpreter.get_values(plan.captured)
        frame[first : first + len(args)] = args
        for at in plan.unused:
            frame[at] = None
        if handed:
            cast(list[Any], args).clear()
        del args
        single = (OpGroup((step,)) for step in plan.steps)
        for group in plan.groups if planned else single:
            state.running = group
            if group.inputs and compute_group(group, frame, _located):
                continue
            for step in group.steps:
                if step.returns:
                    return tuple(frame[at] for at in step.uses)
                if planned and step.compiled is not None:
                    frame[step.makes[0]] = _compiled_result(
                        state, step, [frame[at] for at in step.uses]
                    )
                else:
                    _run_step(interpreter, step, frame)
                for at in step.frees:
                    frame[at] = None
    raise InterpretationError(f"the region of {name} does not return")


def _compiled_or_none(state: Session, op: Operation) -> CompiledOp | None:
    """Compile an op ahead of its turn, which says why if that fails."""
    try:
        return compiled_op_of(state, op)
    except (CompileError, *COMPUTE_ERRORS):
        return None


def _value_or_none(
    state: Session, step: PlannedOp, inputs: Sequence[Any]
) -> Array | None:
    """Compute an op ahead of its turn, which says why if that fails.

    Operands keep their memory: what has its turn before may read them yet.
    """
    try:
        return _compiled_result(state, step, inputs, in_place=False)
    except CompileError:
        return None


def _compiled_result(
    state: Session, step: PlannedOp, inputs: Sequence[Any], *, in_place: bool = True
) -> Any:
    """Return the result of a compiled op, in the memory of an operand if that dies."""
    compiled = step.compiled
    assert compiled is not None
    value: Array | None = None
    try:
        if in_place and step.last_use and compiled.in_place is not None:
            room = free(inputs, step.last_use)
            if room:
                value = compiled.in_place(room, *inputs)
            del room
        if value is None:
            deferred = compiled.deferred if step.deferred else None
            value = (deferred or compiled.kernel)(*inputs)
    except CompileError:
        raise
    except (*COMPUTE_ERRORS, RuntimeError) as error:
        raise _located(error, step.op, inputs) from error
    _, shape, dtype = step.results[0]
    return _typed(state, step.op, value, shape, dtype)


def _run_step(interpreter: Interpreter, step: PlannedOp, frame: list[Any]) -> None:
    """Put the results of an op into the frame, by the function registered for it."""
    state, op = session(interpreter), step.op
    inputs = tuple(frame[at] for at in step.uses)
    if step.shadow is not None:
        floats = quantized.to_floats(op, inputs)
        floats = _run_op(interpreter, step.shadow, floats)
        values = quantized.from_floats(op, floats)
    elif step.captured:
        # its regions read captured values there
        interpreter.push_scope(op.name)
        try:
            interpreter.set_values((value, frame[at]) for value, at in step.captured)
            values = _run_op(interpreter, op, inputs)
        finally:
            interpreter.pop_scope()
    else:
        values = _run_op(interpreter, op, inputs)
    for at, (_, shape, dtype), value in zip(
        step.makes, step.results, values, strict=True
    ):
        # results that only leave the region stay scattered
        scattered = step.leaves and isinstance(value, Scattered)
        frame[at] = value if scattered else _typed(state, op, value, shape, dtype)


_TOO_MANY_DIMENSIONS = re.compile(
    r"maximum supported dimension|too many dimensions|only supports up to \d+ dim"
)


def _run_op(interpreter: Interpreter, op: Operation, inputs: Values) -> Values:
    try:
        return interpreter.run_op(op, inputs)
    except CompileError:
        raise
    except (*COMPUTE_ERRORS, RuntimeError) as error:
        raise _located(error, op, inputs) from error


def _located(error: Exception, op: Operation, inputs: Sequence[Any]) -> Exception:
    """Return the error that names the op in which another one happened.

    Raises:
        RuntimeError: the error is one, and not that of NumPy's iterators.
    """
    too_many = _TOO_MANY_DIMENSIONS.search(str(error)) is not None
    if isinstance(error, RuntimeError) and not too_many:
        raise error
    if isinstance(error, InterpretationError):
        return LocatedError(str(error), op)
    if isinstance(error, MemoryError):
        reason = str(error).rstrip(".") or "no more is left"
        return LimitError(f"needs more memory than there is: {reason}", op)
    if too_many:
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
    """Return a result of the type that the op says, rounded as the run rounds."""
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
        # The numbers of devices differ along all axes, what is computed from them
        # (offsets, masks) often along one only. The leading extents of a body's numbers
        # are elements', and may be as many as the mesh's.
        if mesh is not None and mesh.holds(array, rank):
            array = mesh.compress(array, rank)
    return array


def captures_of(interpreter: Interpreter, region: Region) -> tuple[SSAValue, ...]:
    """Return the values that a region uses but does not define."""
    return session(interpreter).captures.of(region)
