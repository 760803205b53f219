"""Running regions: the state of a run, liveness, and bodies as array operations.

A region is run op by op with every value dropped after its last use, so that the
memory that a program needs is what is alive at once. Bodies of reductions, sorts and
scatters are tensors of rank 0 in the program; here they run once on whole arrays,
whose dimensions are leading ones to them.
"""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from sys import getrefcount
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, InterpreterFunctions
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, SymbolTable
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.interpreters import quantized
from ttxdsl.interpreters.elements import DType, constant, is_integer, tensor_of
from ttxdsl.interpreters.engine import Devices, VirtualDevices
from ttxdsl.interpreters.kernels import BINARY, convert
from ttxdsl.interpreters.mesh import DeviceMesh, Groups
from ttxdsl.interpreters.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.reduction import UFUNCS, Arrays, Reducer
from ttxdsl.interpreters.scattered import Scattered

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


@dataclass(frozen=True, slots=True)
class PlannedOp:
    """An op of a region, what its results must look like, and what dies with it."""

    op: Operation
    results: tuple[tuple[SSAValue, tuple[int, ...], DType | None], ...]
    dead: tuple[SSAValue, ...]
    shadow: Operation | None
    """For an op on quantized tensors the same on floats."""
    returns: bool
    """Whether the op ends the region."""
    last_use: tuple[int, ...]
    """Operands that die here and are of the type of the only result."""
    leaves: bool
    """Whether the function only hands the results out."""


@dataclass
class Session:
    """What one interpreter remembers between ops."""

    devices: Devices = field(default_factory=VirtualDevices)
    """Where the meshes of the program are."""
    mesh: DeviceMesh = field(default_factory=DeviceMesh)
    """The devices of the code that runs now; no axes outside of a mesh."""
    plans: dict[Region, list[PlannedOp]] = field(
        default_factory=dict[Region, list[PlannedOp]]
    )
    captures: dict[Region, tuple[SSAValue, ...]] = field(
        default_factory=dict[Region, tuple[SSAValue, ...]]
    )
    room: list[Array] = field(default_factory=list[Array])
    """Arrays that the op which runs now may write its result into."""
    symbols: dict[str, Operation] = field(default_factory=dict[str, Operation])
    groups: dict[Operation, Groups] = field(default_factory=dict[Operation, Groups])
    """Positions of the devices in the groups of each collective."""
    constants: dict[Operation, Array] = field(default_factory=dict[Operation, Array])
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
    max_steps: int | None = None
    """Turns that all loops together may take."""
    steps: int = 0
    """Turns that they have taken."""


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


def find_symbol(interpreter: Interpreter, name: str) -> Operation:
    """The op of the module with that symbol name."""
    symbols = session(interpreter).symbols
    if name not in symbols:
        found = SymbolTable.lookup_symbol(interpreter.module, name)
        if found is None:
            raise InterpretationError(f"the module has no symbol @{name}")
        symbols[name] = found
    return symbols[name]


def _plan(interpreter: Interpreter, region: Region) -> list[PlannedOp]:
    block = region.block
    last: dict[SSAValue, Operation] = {}
    mine: set[SSAValue] = set(block.args)
    for op in block.ops:
        mine.update(op.results)
        captured = (captures_of(interpreter, inner) for inner in op.regions)
        for value in (*op.operands, *chain.from_iterable(captured)):
            if value in mine:
                last[value] = op
    dying: dict[Operation, list[SSAValue]] = {}
    for value, op in last.items():
        dying.setdefault(op, []).append(value)
    steps: list[PlannedOp] = []
    for op in block.ops:
        dead = dying.get(op, [])
        dead += [result for result in op.results if result not in last]
        results = tuple((result, *expected(result.type)) for result in op.results)
        shadow = quantized.on_floats(op)
        returns = op.has_trait(IsTerminator)
        last_use = _last_used(op, set(dead))
        leaves = isinstance(region.parent, FuncOp) and all(
            last.get(result, block.last_op) is block.last_op and result.has_one_use()
            for result in op.results
        )
        steps.append(
            PlannedOp(op, results, tuple(dead), shadow, returns, last_use, leaves)
        )
    return steps


def plan_of(interpreter: Interpreter, region: Region) -> list[PlannedOp]:
    """What there is to do in the one block of a region, found out once."""
    plans = session(interpreter).plans
    if (steps := plans.get(region)) is None:
        steps = plans[region] = _plan(interpreter, region)
    return steps


def _last_used(op: Operation, dead: set[SSAValue]) -> tuple[int, ...]:
    if len(op.results) != 1 or op.regions:
        return ()
    wanted = op.results[0].type
    return tuple(
        at
        for at, operand in enumerate(op.operands)
        if operand in dead and operand.type == wanted
    )


_REFERENCES = 4
"""To an array that only a scope holds: the scope, the operands, a name, a question."""


def _free(inputs: Values, at: Sequence[int]) -> list[Array]:
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


def expected(type: Attribute) -> tuple[tuple[int, ...], DType | None]:
    """Shape and dtype that a value must have; no dtype where that cannot be said."""
    try:
        shape, dtype = tensor_of(type)
    except UnsupportedError:
        return (), None
    return (shape, dtype) if -1 not in shape else ((), None)


def run_region(
    interpreter: Interpreter, region: Region, args: Sequence[Any], name: str
) -> Values:
    """The values that the one block of `region` returns for `args`.

    Every result is held against its type: what an op computes can be wrong, but not
    silently of a wrong shape. Values die after their last use.

    Raises:
        LocatedError: an op that cannot be computed, or computes another type.
    """
    if len(region.blocks) != 1:
        return interpreter.run_ssacfg_region(region, tuple(args), name)
    steps = plan_of(interpreter, region)
    state = session(interpreter)
    rounding = state.rounding
    interpreter.push_scope(name)
    try:
        interpreter.set_values(zip(region.block.args, args, strict=True))
        del args
        with np.errstate(all="ignore"):
            for step in steps:
                op = step.op
                inputs = interpreter.get_values(op.operands)
                if step.returns:
                    return inputs
                if step.shadow is None:
                    if step.last_use:
                        state.room = _free(inputs, step.last_use)
                    values = _run_op(interpreter, op, inputs)
                    state.room = []
                else:
                    floats = quantized.to_floats(op, inputs)
                    floats = _run_op(interpreter, step.shadow, floats)
                    values = quantized.from_floats(op, floats)
                del inputs
                for (result, shape, dtype), value in zip(
                    step.results, values, strict=True
                ):
                    if step.leaves and isinstance(value, Scattered):
                        pass  # nobody needs it whole here
                    elif dtype is not None:
                        value = _checked(op, value, shape, dtype)
                        if rounding is not None:
                            value = rounding(op, value)
                        if is_integer(dtype) and 1 < value.size <= _SMALL:
                            value = _compressed(interpreter, value, len(shape))
                    interpreter.set_values(((result, value),))
                # a name would keep the last one alive
                del values
                value = None
                interpreter.set_values((value, None) for value in step.dead)
    finally:
        interpreter.pop_scope()
    raise InterpretationError(f"the region of {name} does not return")


_TOO_MANY_DIMENSIONS = re.compile(r"maximum supported dimension|too many dimensions")


def _run_op(interpreter: Interpreter, op: Operation, inputs: Values) -> Values:
    try:
        return interpreter.run_op(op, inputs)
    except (CompileError, ReplicaMismatchError):
        raise
    except InterpretationError as error:
        raise LocatedError(str(error), op) from error
    except (ValueError, TypeError, IndexError, KeyError, np.exceptions.AxisError) as e:
        if _TOO_MANY_DIMENSIONS.search(str(e)):
            raise LimitError(
                f"needs more dimensions than NumPy's arrays have, with those of the mesh:"
                f" {e}",
                op,
            ) from e
        shapes = ", ".join(f"{getattr(x, 'shape', x)}" for x in inputs)
        raise LocatedError(f"cannot be computed of {shapes}: {e}", op) from e
    except MemoryError as e:
        reason = str(e).rstrip(".") or "no more is left"
        raise LimitError(f"needs more memory than there is: {reason}", op) from e


def _compressed(interpreter: Interpreter, x: Array, rank: int) -> Array:
    """A small integer value without extents along which it is found equal.

    Device numbers differ along all axes, what is computed from them (offsets, masks)
    often along one only: without this all that follows would be done per device. The
    leading extents of a body's numbers are elements', and may be as many as the mesh's.
    """
    mesh = session(interpreter).mesh
    if x.ndim != mesh.rank + rank or x.ndim == rank:
        return x
    if any(n not in (1, size) for n, size in zip(x.shape, mesh.extents, strict=False)):
        return x
    return mesh.compress(x, rank)


def _checked(op: Operation, value: Any, shape: tuple[int, ...], dtype: DType) -> Array:
    array = np.asarray(value)
    local = array.shape[array.ndim - len(shape) :] if shape else ()
    if local != shape or array.dtype != dtype:
        raise LocatedError(
            f"gives a value of shape {array.shape} and type {array.dtype} where its "
            f"type says {shape} and {dtype}",
            op,
        )
    return array


def constant_value(interpreter: Interpreter, op: Operation, value: object) -> Array:
    """The array of a constant op, read from its attribute once."""
    known = session(interpreter).constants
    if op not in known:
        if not isinstance(value, DenseIntOrFPElementsAttr):
            raise UnsupportedError(
                "the value is not in the module, only a reference to a resource",
                op,
                hint="print the module with its constants (dense<…>)",
            )
        known[op] = constant(cast(Any, value))
    return known[op]


# bodies


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


def body_names(region: Region) -> tuple[str, ...] | None:
    """The named reductions that a body applies to each operand alone, if it does."""
    block = region.blocks.first
    if block is None or block.next_block is not None or block.last_op is None:
        return None
    returned = block.last_op.operands
    count = len(returned)
    if len(block.args) != 2 * count or sum(1 for _ in block.ops) != count + 1:
        return None
    names: list[str] = []
    for at, value in enumerate(returned):
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not block:
            return None
        dialect, _, name = op.name.partition(".")
        pair = {block.args[at], block.args[count + at]}
        if dialect != "stablehlo" or name not in UFUNCS or set(op.operands) != pair:
            return None
        names.append(name)
    return tuple(names)


def run_body(
    interpreter: Interpreter, region: Region, arrays: Sequence[Array], lead: int
) -> Arrays:
    """A body of scalars on whole arrays of one shape.

    Args:
        interpreter: runs it.
        region: the body.
        arrays: its arguments, with `lead` leading (mesh) dimensions.
        lead: their number. They are put last, so that values from outside of the
            body, which have just these, line up.
    """
    captured = [
        np.asarray(value).ndim
        for value in interpreter.get_values(captures_of(interpreter, region))
        if value is not None
    ]
    turn = lead if any(captured) else 0
    if any(captured) and not lead and max(captured) > 0:
        raise UnsupportedError(
            "the body uses a value from outside that differs by device",
            region.parent_op(),
            hint="make that value an operand",
        )
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    if turn:
        arrays = [
            np.moveaxis(np.broadcast_to(x, shape), range(turn), range(-turn, 0))
            for x in arrays
        ]
    results = run_region(interpreter, region, arrays, "body")
    turned = (*shape[turn:], *shape[:turn])
    full = [np.broadcast_to(x, turned) for x in results]
    if turn:
        full = [np.moveaxis(x, range(-turn, 0), range(turn)) for x in full]
    return tuple(full)


def body_reducer(interpreter: Interpreter, region: Region, lead: int = 0) -> Reducer:
    """A body as a reducer of arrays with `lead` leading dimensions."""
    names = body_names(region)
    if names is not None:
        kernels = [BINARY[name] for name in names]
        return Reducer(
            lambda a, b: tuple(k(x, y) for k, x, y in zip(kernels, a, b, strict=True)),
            names,
        )
    return Reducer(lambda a, b: run_body(interpreter, region, (*a, *b), lead))


def promoted(region: Region, arrays: Sequence[Array]) -> list[Array]:
    """Operands in the element types of a body's first arguments (the same or wider)."""
    types = [tensor_of(arg.type)[1] for arg in region.block.args]
    return [convert(x, dtype) for x, dtype in zip(arrays, types, strict=False)]


def body_dtype(region: Region) -> DType:
    """The element type of a body's first argument."""
    return tensor_of(region.block.args[0].type)[1]
