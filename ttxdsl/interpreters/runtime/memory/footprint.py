"""The memory that a run will hold, added up from the types before it starts.

The account follows `regions.run_region`: a value is held from the op that makes it to the
last one that uses it. What counts:

- arguments and results of the entry function, from the beginning and to the end;
- on a mesh, a value counts once for each different shard that the devices must hold: an
  argument as often as it was split, a result as often as the operand that is split
  most. That is less than all devices hold where two operands are split along different
  axes: the figure is what the run needs at least;
- what only shows other memory differently (reshapes, slices, broadcasts, one number
  repeated, positions) takes nothing, but no value may be larger than the limit: whoever
  reads it whole would need that much;
- an op writes into an operand of the same type that nobody needs any more;
- every branch is taken, every loop has one iteration, functions of scalars (bodies of reductions
  and sorts) count nothing, nor does what a kernel needs on the way.

Values of dynamic shape count nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import cast

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import InterpretationError

from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Collective, ops_with
from ttxdsl.interpreters.runtime.regions import (
    PlannedOp,
    expected,
    find_symbol,
    plan_of,
)

_VIEWS = frozenset(
    [
        "arange",
        "async_done",
        "bitcast_convert",
        "broadcast",
        "broadcast_in_dim",
        "constant",
        "empty",
        "from_device",
        "full",
        "get_device",
        "get_tuple_element",
        "iota",
        "mesh_partition",
        "mesh_shard",
        "ones",
        "optimization_barrier",
        "permute",
        "repeat",
        "reshape",
        "reverse",
        "slice",
        "slice_static",
        "to_device",
        "transpose",
        "tuple",
        "zeros",
    ]
)
"""Ops of StableHLO, ttir and ttnn whose results need no memory of their own."""

_SUMS = {"collective_broadcast"} | {
    op.name.partition(".")[2]
    for op in ops_with(Collective, stablehlo.StableHLO)
    if (fact := op.get_trait(Collective)) is not None and fact.ring is Ring.ALL_REDUCE
}
"""Ops after which devices hold the same; how many groups there are is not looked at."""

_PARTS = frozenset(("mesh_partition", "mesh_shard", "reduce_scatter"))
"""Ops from whose operand each device gets its own part (or all of it)."""


@dataclass(eq=False, slots=True)
class _Buffer:
    bytes: int
    holders: int = 1


@dataclass(frozen=True, slots=True)
class _Held:
    """A value: how many different shards there are, and the memory that it shows."""

    copies: int = 1
    buffers: tuple[_Buffer, ...] = ()


_NOTHING = _Held()


@dataclass(frozen=True, slots=True)
class _Call:
    """The memory that a call of a function adds.

    A result is its copies, its own bytes, and the arguments whose memory it shows.
    """

    peak: int
    results: tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Footprint:
    """The memory that a run holds at least.

    `bytes` is the most at any time, or the largest value if that is more; `at` is the op
    that is run then; `largest` is that value, which takes `largest_bytes` as a whole.
    """

    bytes: int
    at: Operation
    largest: SSAValue | None
    largest_bytes: int

    def shared(self, processes: int) -> "Footprint":
        """Return the least share of one of several processes."""
        return replace(
            self,
            bytes=self.bytes // processes,
            largest_bytes=self.largest_bytes // processes,
        )


@dataclass
class _Account:
    interpreter: Interpreter
    at: Operation
    now: int = 0
    peak: int = 0
    largest: SSAValue | None = None
    largest_bytes: int = 0
    values: dict[SSAValue, _Held] = field(default_factory=dict[SSAValue, _Held])
    calls: dict[tuple[FuncOp, int], _Call | None] = field(
        default_factory=dict[tuple[FuncOp, int], "_Call | None"]
    )

    # --- what is held ---------------------------------------------------------

    def new(self, value: SSAValue, size: int, copies: int) -> _Held:
        """Return a value in new memory."""
        buffer = _Buffer(size * copies)
        self.now += buffer.bytes
        self.note(value, size * copies)
        return _Held(copies, (buffer,))

    def view(
        self, value: SSAValue, size: int, copies: int, of: Sequence[_Held]
    ) -> _Held:
        """Return a value in the memory of others."""
        self.note(value, size * copies)
        buffers = tuple(dict.fromkeys(b for held in of for b in held.buffers))
        return self.hold(_Held(copies, buffers))

    def note(self, value: SSAValue, size: int) -> None:
        if size > self.largest_bytes:
            self.largest, self.largest_bytes = value, size

    def hold(self, held: _Held) -> _Held:
        for buffer in held.buffers:
            buffer.holders += 1
        return held

    def release(self, held: _Held) -> None:
        for buffer in held.buffers:
            buffer.holders -= 1
            if not buffer.holders:
                self.now -= buffer.bytes

    def reach(self, op: Operation, total: int) -> None:
        """Record the bytes that are held while `op` runs."""
        if total > self.peak:
            self.peak, self.at = total, op

    # --- what runs --------------------------------------------------------------

    def region(self, region: Region, args: Iterable[_Held]) -> list[_Held]:
        """Return the values that a region returns, held; none of several blocks."""
        if len(region.blocks) != 1:
            return []
        for arg, held in zip(region.block.args, args, strict=False):
            self.values[arg] = self.hold(held)
        returned: list[_Held] = []
        for step in plan_of(self.interpreter, region).steps:
            operands = [self.values.get(value, _NOTHING) for value in step.op.operands]
            if step.returns:
                returned = [self.hold(held) for held in operands]
            else:
                buffers = self.run(step, operands)
                for (result, *_), held in zip(step.results, buffers, strict=True):
                    self.values[result] = held
            for value in step.dead:
                self.release(self.values.pop(value, _NOTHING))
        for arg in region.block.args:
            if arg.first_use is None:
                self.release(self.values.pop(arg, _NOTHING))
        return returned

    def run(self, step: PlannedOp, operands: list[_Held]) -> list[_Held]:
        """Account for an op; return its results."""
        op = step.op
        held_inside = self.inside(op, operands)
        if held_inside is not None and len(held_inside) == len(step.results):
            return held_inside
        before = self.now
        dialect, _, name = op.name.partition(".")
        most = max((held.copies for held in operands), default=1)
        is_view = name in _VIEWS or dialect == "sdy"
        results: list[_Held] = []
        for value, shape, dtype in step.results:
            size = 0 if dtype is None else prod(shape) * dtype.itemsize
            copies = most
            if name in _SUMS:
                copies = 1
            elif name == "all_gather":
                copies = max(1, most // _ratio(value, op.operands[0]))
            elif name in _PARTS:
                copies = max(most, _ratio(op.operands[0], value))
                if size and _ratio(value, op.operands[0]) > 1:
                    copies = 1  # put together again
            if is_view:
                results.append(self.view(value, size, copies, operands))
            else:
                results.append(self.new(value, size, copies))
        reused = self.reused(step, operands, self.now - before)
        self.reach(op, self.now - reused)
        return results

    def reused(self, step: PlannedOp, operands: Sequence[_Held], size: int) -> int:
        """Of the bytes that an op makes those that it writes into an operand."""
        for at in step.last_use:
            buffers = operands[at].buffers
            if (
                len(buffers) == 1
                and buffers[0].holders == 1
                and buffers[0].bytes == size
            ):
                return size
        return 0

    def inside(self, op: Operation, operands: list[_Held]) -> list[_Held] | None:
        """Return the results of an op that runs regions or functions, None of others."""
        match op.name.rpartition(".")[2]:
            case "while":
                for held in self.region(op.regions[0], operands):
                    self.release(held)
                return self.region(op.regions[1], operands)
            case "if" | "case":
                held_by_regions = [self.region(region, ()) for region in op.regions]
                for other in held_by_regions[1:]:
                    for held in other:
                        self.release(held)
                return held_by_regions[0] if held_by_regions else []
            case "async_start" | "named_computation":
                return self.region(op.regions[0], operands)
            case "manual_computation":
                return self.manual(op, operands)
            case _:
                pass
        match op:
            case CallOp():
                return self.call(op.callee.string_value(), operands)
            case stablehlo.CompositeOp():
                return self.call(op.decomposition.string_value(), operands)
            case _:
                return None

    def manual(self, op: Operation, operands: list[_Held]) -> list[_Held]:
        """Shards are views of the whole; results show the memory of their shards."""
        block = op.regions[0].block
        shards = [
            _Held(held.copies * max(1, _ratio(outer, inner)), held.buffers)
            for held, outer, inner in zip(
                operands, op.operands, block.args, strict=True
            )
        ]
        around = min((held.copies for held in operands), default=1)
        returned = self.region(op.regions[0], shards)
        for result in op.results:
            self.note(result, _size(result) * around)
        return [_Held(around, held.buffers) for held in returned]

    def call(self, name: str, operands: list[_Held]) -> list[_Held]:
        """Return a function is looked into once, for each least number of copies."""
        try:
            function = find_symbol(self.interpreter, name)
        except InterpretationError:
            return []  # the run raises the error
        if not isinstance(function, FuncOp) or function.is_declaration:
            return []
        copies = min((held.copies for held in operands), default=1)
        key = function, copies
        if key not in self.calls:
            self.calls[key] = None  # it may call itself
            args = [_Held(copies, held.buffers) for held in operands]
            self.calls[key] = self.called(function, args)
        known = self.calls[key]
        if known is None:
            return []
        self.reach(self.at, self.now + known.peak)
        results: list[_Held] = []
        for number, own, shown in known.results:
            buffers = dict.fromkeys(b for at in shown for b in operands[at].buffers)
            held = self.hold(_Held(number, tuple(buffers)))
            if own:
                held = _Held(number, (*held.buffers, _Buffer(own)))
                self.now += own
            results.append(held)
        return results

    def called(self, function: FuncOp, args: list[_Held]) -> _Call:
        before, peak = self.now, self.peak
        self.peak = before
        returned = self.region(function.body, args)
        added, self.peak = self.peak - before, max(peak, self.peak)
        results: list[tuple[int, int, tuple[int, ...]]] = []
        given = [frozenset(held.buffers) for held in args]
        for held in returned:
            shown = tuple(
                at for at, buffers in enumerate(given) if buffers & {*held.buffers}
            )
            of_others = frozenset[_Buffer]().union(*(given[at] for at in shown))
            own = sum(b.bytes for b in held.buffers if b not in of_others)
            results.append((held.copies, own, shown))
            self.release(held)
        return _Call(added, tuple(results))


def types_bytes(types: Iterable[Attribute]) -> int:
    """Return the memory of values of these types; none without a static shape."""
    return sum(map(_type_bytes, types))


def _type_bytes(type: Attribute) -> int:
    shape, dtype = expected(type)
    return 0 if dtype is None else prod(shape) * dtype.itemsize


def _size(value: SSAValue) -> int:
    return _type_bytes(value.type)


def _ratio(whole: SSAValue, part: SSAValue) -> int:
    """Return how many parts a value has, by their sizes."""
    size = _size(part)
    return max(1, _size(whole) // size) if size else 1


def most_held(module: Operation) -> int:
    """Return bytes that no run of a program exceeds: all values, on as many devices.

    It looks at types alone, in a part of the time that `footprint` takes.
    """
    sizes: dict[int, int] = {}  # types are shared by many values
    total, copies = 0, 1

    def size_of(value: SSAValue) -> int:
        known = sizes.get(id(value.type))
        if known is None:
            known = sizes[id(value.type)] = _size(value)
        return known

    for op in module.walk():
        for result in op.results:
            total += size_of(result)
        for region in op.regions:
            for block in region.blocks:
                total += sum(map(size_of, block.args))
        if op.results and op.operands and op.name.rpartition(".")[2] in _PARTS:
            part = size_of(op.results[0])
            copies = max(copies, size_of(op.operands[0]) // part if part else 1)
    return 2 * copies * total


def footprint(interpreter: Interpreter, function: FuncOp) -> Footprint:
    """Return the footprint of a run of a function; see the module.

    It takes time linear in the program, and its plans serve the run.
    """
    account = _Account(interpreter, function)
    if function.is_declaration:
        return Footprint(0, function, None, 0)
    args = [account.new(arg, _size(arg), 1) for arg in function.body.block.args]
    account.reach(function, account.now)
    account.region(function.body, args)
    largest, size = account.largest, account.largest_bytes
    if largest is None or account.peak >= size:
        return Footprint(account.peak, account.at, largest, size)
    at = function if isinstance(largest, BlockArgument) else largest.owner
    return Footprint(size, cast(Operation, at), largest, size)
