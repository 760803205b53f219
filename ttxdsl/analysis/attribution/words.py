"""The names of values and loops in answers: in the words of the program's author.

An argument is called by its path, another value by the variable that it is assigned to,
by the layer that it goes into, or by the line that computes it; a loop by what it goes
over and where it is written.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FusedLoc, ModuleOp, NameLoc
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from ttxdsl.analysis.attribution.authored import (
    BACKWARD,
    AuthorPath,
    AuthorScope,
    author_path,
)
from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.attribution.pytree_names import leaf_name
from ttxdsl.analysis.attribution.variables import called_at, variable_at
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.diagnostics.errors import (
    Frame,
    author_frames,
    line_text,
    place_text,
    source_frame,
)
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import ops_of_type

_MOVING = (
    stablehlo.BroadcastInDimOp,
    stablehlo.ConvertOp,
    stablehlo.ReshapeOp,
    stablehlo.SliceOp,
    stablehlo.TransposeOp,
)
_SPLITTING = (sdy.ShardingConstraintOp, sdy.ReshardOp)
_MOST_STEPS = 40
"""Ops and calls between an argument and what is told of it."""


def path_of(location: Attribute) -> str | None:
    """Return the outermost name in a location, as JAX writes them."""
    match location:
        case NameLoc():
            return location.desc.data
        case CallSiteLoc():
            return path_of(location.callee)
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            return next((name for part in parts if (name := path_of(part))), None)
        case _:
            return None


Calls = tuple[Operation, ...]


class _Module:
    """The facts of a module that are looked up again and again."""

    def __init__(self, module: ModuleOp, trip_count: int | None):
        self._module, self._trip_count = module, trip_count
        self.functions = {op.sym_name.data: op for op in ops_of_type(module, FuncOp)}
        self.calls: defaultdict[str, list[CallOp]] = defaultdict(list)
        for op in ops_of_type(module, CallOp):
            self.calls[op.callee.string_value()].append(op)

    @cached_property
    def runs(self) -> Runs:
        """The iterations of its ops, which few are asked for."""
        return Runs(self._module, self._trip_count)


class Words:
    """Names for values and loops, of any stage of a program.

    Args:
        trip_count: of loops of which the program does not say it.
        of_text: whether an argument without a path is called as in the text, `%arg8[i]`.
    """

    def __init__(self, trip_count: int | None = None, *, of_text: bool = False):
        self._trip_count = trip_count
        self._of_text = of_text
        self._modules: dict[ModuleOp, _Module] = {}
        self._values: dict[tuple[SSAValue, Calls], str | None] = {}
        self._loops: dict[Operation, str] = {}

    def knows(self, op: Operation) -> bool:
        """Return whether an op is still in a program: stages leave some behind."""
        return self._module(op) is not None

    def _module(self, op: Operation) -> _Module | None:
        module = op
        while (around := module.parent_op()) is not None:
            module = around
        if not isinstance(module, ModuleOp):
            return None
        known = self._modules.get(module)
        if known is None:
            known = self._modules[module] = _Module(module, self._trip_count)
        return known

    # --- values ---------------------------------------------------------------------

    def value(self, value: SSAValue, calls: Calls = ()) -> str | None:
        """Return what its author knows a value as, None if nobody knows.

        `p['w2']`, `p['w2'] after transpose`, `h at line 12 of block`, `block 3's input`,
        `add at line 12 of block`, `the result of the scan over …`.

        Args:
            calls: of the function that it stands in, if that is called, the outermost first.
        """
        key = value, calls
        if key not in self._values:
            known = self._argument(value, calls) or self._computed(value, calls)
            self._values[key] = known
        return self._values[key]

    def argument(self, value: SSAValue) -> str | None:
        """Return the path of the program's argument that a value is, None of another."""
        return self._argument(value)

    def _argument(self, value: SSAValue, around: Calls = ()) -> str | None:
        """Name an argument of the program by its path, also one that was moved or handed on.

        What a loop takes of a stacked argument is `p['w'][i]`, what is gathered
        `p['w'] gathered`; of what another loop
        stacked up, that loop is told.
        """
        moved, index = "", ""
        calls = list(around)
        for _ in range(_MOST_STEPS):
            if isinstance(value, OpResult):
                op = value.op
                if isinstance(op, stablehlo.DynamicSliceOp) and takes_one(op):
                    value, index = op.operands[0], "[i]"
                elif isinstance(op, CallOp) and (inner := self._returned(op, value)):
                    calls.append(op)
                    value = inner
                elif isinstance(op, _SPLITTING):
                    value = op.operands[0]
                elif isinstance(op, stablehlo.OptimizationBarrierOp):
                    value = op.operands[value.index]
                elif isinstance(op, stablehlo.AllGatherOp):
                    moved, value = moved or " gathered", op.operands[value.index]
                elif len(op.operands) == 1 and isinstance(op, _MOVING):
                    # what a loop takes of a stacked value is no other value for that
                    if not (index or _takes_a_slice(op)):
                        moved = moved or f" after {_short(op)}"
                    value = op.operands[0]
                elif isinstance(op, stablehlo.WhileOp) and index:
                    return f"what {self.loop(op)} stacked{',' if moved else ''}{moved}"
                else:
                    return None
                continue
            argument = cast(BlockArgument, value)
            owner = sdy.owning_op(argument)
            if calls and isinstance(owner, FuncOp):
                value = calls.pop().operands[argument.index]
                continue
            outer = self._outer(argument)
            if outer is None:
                path = path_of(unmarked(argument.location))
                is_entry = isinstance(owner, FuncOp)
                if path is None and self._of_text and (index or moved):
                    path = f"%{argument.name_hint or f'arg{argument.index}'}"
                return f"{leaf_name(path)}{index}{moved}" if path and is_entry else None
            value = outer
        return None

    def _outer(self, argument: BlockArgument) -> SSAValue | None:
        """Return what a block's argument is outside, if it is always the same there."""
        owner, at = sdy.owning_op(argument), argument.index
        if isinstance(owner, FuncOp):
            known = self._module(owner)
            calls = known.calls[owner.sym_name.data] if known else []
            return calls[0].operands[at] if len(calls) == 1 else None
        if owner is None or at >= len(owner.operands):
            return None
        if isinstance(owner, stablehlo.WhileOp):
            last = owner.body.block.last_op
            same = last is not None and last.operands[at] is owner.body.block.args[at]
            return owner.operands[at] if same else None
        if isinstance(owner, sdy.ManualComputationOp | sdy.NamedComputationOp):
            return owner.operands[at]
        return None

    def _returned(self, call: CallOp, result: OpResult) -> SSAValue | None:
        """Return what a call's result is in the function that is called."""
        known, name = self._module(call), call.callee.string_value()
        callee = known.functions.get(name) if known else None
        if callee is None or callee.is_declaration:
            return None
        last = callee.body.block.last_op
        return None if last is None else last.operands[result.index]

    def _computed(self, value: SSAValue, calls: Calls) -> str | None:
        if isinstance(value, BlockArgument):
            owner = sdy.owning_op(value)
            if isinstance(owner, stablehlo.WhileOp):
                carried = self.carried(value)
                return f"{carried or 'the carry'} of {self.loop(owner)}"
            if calls and isinstance(owner, FuncOp):
                return self.value(calls[-1].operands[value.index], calls[:-1])
            return None
        op = cast(OpResult, value).op
        if isinstance(op, stablehlo.WhileOp):
            index = cast(OpResult, value).index
            return self._stacked(op, index) or f"the result of {self.loop(op)}"
        if isinstance(op, stablehlo.OptimizationBarrierOp):
            return self.value(op.operands[cast(OpResult, value).index], calls)
        if not op.operands or isinstance(op, stablehlo.BroadcastInDimOp):
            use = next(iter(value.uses), None)
            if use is not None and isinstance(loop := use.operation, stablehlo.WhileOp):
                stacked = self._stacked(loop, use.index)
                return stacked or f"stacked by {self.loop(loop)}"
        frame = source_frame(unmarked(op.location))
        if frame is None or not frame.function:
            return _in_call(value, calls)
        if named := _variable(op, value):
            return named
        return _handed_on(op, value) or f"{_short(op)} at {line_text(frame)}"

    def _stacked(self, loop: stablehlo.WhileOp, index: int) -> str | None:
        """Name a value by what each iteration writes to its part: `h at line 4 of f, stacked`."""
        last = loop.body.block.last_op
        value = None if last is None else last.operands[index]
        if not isinstance(value, OpResult) or not isinstance(
            value.op, stablehlo.DynamicUpdateSliceOp
        ):
            return None
        value = value.op.update
        while isinstance(value, OpResult) and isinstance(value.op, _MOVING):
            value = value.op.operands[0]
        if isinstance(value, BlockArgument):
            name = self.carried(value)
        else:
            name = self.value(value)
        if name is None:
            return None
        count = self._count(loop)
        return f"{name}, stacked {count} times" if count else f"{name}, stacked"

    def carried(self, argument: BlockArgument) -> str | None:
        """Return the variable that a loop begins with in place of an argument: `h`."""
        loop = sdy.owning_op(argument)
        if not isinstance(loop, stablehlo.WhileOp):
            return None
        first = loop.operands[argument.index]
        if not isinstance(first, OpResult):
            return None
        named = _variable(first.op, first)
        return named.partition(" at ")[0] if named else None

    # --- loops ----------------------------------------------------------------------

    def loop(self, op: Operation) -> str:
        """Return what a loop is: `the scan over p['layers'], 24 times, line 88 of forward`."""
        if op not in self._loops:
            frame = source_frame(unmarked(op.location))
            parts = [f"the {self._kind(op, frame)}"]
            if count := self._count(op):
                parts.append("once" if count == 1 else f"{count} times")
            if frame is not None:
                place = place_text(frame.position)
                parts.append(line_text(frame) if frame.function else place)
            self._loops[op] = ", ".join(parts)
        return self._loops[op]

    def region(self, op: Operation) -> tuple[str, str]:
        """Return what to call an op with a program inside, and its line: `scan over p['w']`."""
        frame = source_frame(unmarked(op.location))
        line = frame.position.rpartition(":")[0] if frame and frame.function else ""
        if isinstance(op, stablehlo.WhileOp):
            return self._kind(op, frame), line
        number = f" at line {line.rpartition(':')[2]}" if line else ""
        return f"{_short(op)}{number}", line

    def _kind(self, op: Operation, frame: Frame | None) -> str:
        called = called_at(frame) if frame else None
        kind = called.rpartition(".")[2] if called else "loop"
        if kind not in ("scan", "fori_loop", "while_loop", "map"):
            kind = "loop"
        over = self._scanned(op)
        return f"{kind} over {over}" if over else kind

    def iterations(self, op: Operation) -> int:
        """Return how many iterations a loop has, 1 if nobody knows."""
        return self._count(op) or 1

    def _count(self, op: Operation) -> int | None:
        known, body = self._module(op), op.regions[-1].block.first_op
        if body is None or known is None:
            return None
        inner, outer = known.runs.of(body), known.runs.of(op)
        if inner.unknown > outer.unknown:
            return None
        return inner.count // outer.count if inner.count and outer.count else None

    def _scanned(self, op: Operation) -> str:
        """Name what the iterations take slices of, if that is of one argument's tree.

        Loops inside take their own.
        """
        names: list[str] = []
        blocks = [*op.regions[-1].blocks]
        while blocks:
            for inner in blocks.pop().ops:
                if isinstance(inner, stablehlo.DynamicSliceOp | CallOp):
                    sliced = filter(None, map(self._argument, inner.results))
                    names += [
                        name.removesuffix("[i]")
                        for name in sliced
                        if name.endswith("[i]")
                    ]
                elif inner.regions and not isinstance(inner, stablehlo.WhileOp):
                    blocks += [
                        block for region in inner.regions for block in region.blocks
                    ]
        if not names:
            return ""
        shared = _common(names)
        return shared or names[0]


def _common(names: list[str]) -> str:
    """Return what paths have in common up to the border of a part: `p['layers']`."""
    first, last = min(names), max(names)
    length = next(
        (
            at
            for at, (left, right) in enumerate(zip(first, last, strict=False))
            if left != right
        ),
        min(len(first), len(last)),
    )
    if first == last:
        return first
    cut = max(first.rfind("[", 0, length), first.rfind(".", 0, length))
    return first[:cut] if cut > 0 else ""


def _short(op: Operation) -> str:
    return op.name.rpartition(".")[2]


def takes_one(op: stablehlo.DynamicSliceOp) -> bool:
    """Return whether a slice is one of a stacked value: one long, along the first dimension."""
    sizes = op.slice_sizes.get_values()
    return bool(sizes) and sizes[0] == 1


def _takes_a_slice(op: Operation) -> bool:
    """Return whether an op only takes away the dimension of one that a slice has left."""
    inner = op.operands[0]
    return isinstance(op, stablehlo.ReshapeOp) and (
        isinstance(inner, OpResult) and isinstance(inner.op, stablehlo.DynamicSliceOp)
    )


def _users(value: SSAValue) -> Iterator[Operation]:
    for use in value.uses:
        if not use.operation.has_trait(IsTerminator, value_if_unregistered=False):
            yield use.operation


def _variable(op: Operation, value: SSAValue) -> str | None:
    """Name a value by the variable that it is assigned to, if that is all of it."""
    path = author_path(op.location)
    if path and path[0].name == BACKWARD:
        return None  # what is assigned there is of the forward pass
    frames = author_frames(unmarked(op.location))
    named = variable_at(frames)
    if named is None:
        return None
    name, frame = named
    for user in _users(value):
        # one of several ops that the expression became, and not the last
        if frame in author_frames(unmarked(user.location)):
            return None
    return f"{name} at {line_text(frame)}"


_REMATERIALIZED = frozenset({"checkpoint", "closed_call", "core_call", "remat"})
"""Functions that JAX made, whose names no author knows."""


def _in_call(value: SSAValue, calls: Calls) -> str | None:
    """Name what a library computes by the call of it: `relu at line 7 of mlp`."""
    is_result = any(
        use.operation.has_trait(IsTerminator, value_if_unregistered=False)
        for use in value.uses
    )
    for call in reversed(calls):
        frame = source_frame(unmarked(call.location))
        if not isinstance(call, CallOp) or frame is None or not frame.function:
            is_result = False
            continue
        if is_result and (named := _variable(call, call.results[0])):
            return named
        name = re.sub(r"_\d+$", "", call.callee.string_value())
        called = "a value" if name in _REMATERIALIZED else name
        return f"{called} at {line_text(frame)}"
    return None


def _handed_on(op: Operation, value: SSAValue) -> str | None:
    """Name what one layer hands to the next: `block 3's input`."""
    own = _layer(author_path(op.location))
    if own is None:
        return None
    for user in _users(value):
        other = _layer(author_path(user.location))
        if other and other.name == own.name and other.number == own.number + 1:
            return f"{other.text}'s input"
    return None


def _layer(path: AuthorPath) -> AuthorScope | None:
    """Return the outermost repeated scope of the forward pass."""
    if path and path[0].name == BACKWARD:
        return None
    return next((scope for scope in path if scope.calls > 1), None)
