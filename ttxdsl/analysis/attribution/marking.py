"""Reading the scopes of an author's program once, off name stacks and tracebacks.

JAX writes both into the location of each op. Of these a path is made: forward or
backward, then the author's own named scopes, or else the functions of the traceback. A
function that is called again and again from one line, as a layer is in a loop, is told
apart by the number of the call.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation

from ttxdsl.analysis.attribution.authored import (
    BACKWARD,
    FORWARD,
    ITERATION,
    OPTIMIZER,
    PHASES,
    RECOMPUTED,
    AuthorPath,
    AuthorScope,
    is_authored,
    shared_names,
)
from ttxdsl.analysis.attribution.origins import AUTHORED, is_written, written
from ttxdsl.analysis.attribution.stacks import MAX_DEPTH, name_stack
from ttxdsl.diagnostics.errors import Frame, is_of_library, source_frames
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.traits import Collective, ops_with
from ttxdsl.ir.compat.faults.locations import FileLineColRange
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops, are_of, chosen_ops, parent_of

_OF_JAX = re.compile(
    r"(jit|pjit|jvp|transpose|vmap|linearize|custom_[jv]+p_call\w*)(\(.*\))?|while|body|cond|scan"
    r"|closed_call|core_call|core_closed_call|checkpoint|remat\d*|rematted_computation"
    r"|eval_jaxpr|shard_map|run_scoped|branch_\d+_fun|.*->.*",
    re.DOTALL,
)
"""Parts of name stacks that JAX writes; the others are scopes that the author named."""

_SHARED = 0.8
"""The part of the ops that are in a function which is the program itself, no scope of it."""

_REGULAR = 0.8
"""The part of the ops of a function that each of its calls has to have."""

_MOST_TRACES = 20
"""Tracebacks inside each other that are read."""

_MOST_CALLS = 40
"""Functions inside each other that become scopes, the outermost."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The scopes and functions that the location of one op names.

    Attributes:
        stack: the parts of the name stack, without the primitive.
        named: those that the author named.
        calls: functions, outermost first, each with the line that calls it.
        library: the function of a library that the last of them calls.
        line: in the last of them.
        label: the same for ops that are written in the same place.
    """

    stack: tuple[str, ...]
    named: tuple[str, ...]
    calls: AuthorPath
    library: AuthorPath = ()
    line: str = ""
    label: int = -1

    @property
    def is_backward(self) -> bool:
        return any(part.startswith("transpose(") for part in self.stack)

    @property
    def is_differentiated(self) -> bool:
        return any(part.startswith("jvp") for part in self.stack)


def mark_authored(module: ModuleOp) -> None:
    """Mark the ops of a module with their paths, once; without debug info it stays as it is."""
    # names and calls come with debug info alone, which most texts are without
    kinds = {type(op.location) for op in all_ops(module)}
    if not any(issubclass(kind, NameLoc | CallSiteLoc | FusedLoc) for kind in kinds):
        return
    if not is_authored(module):
        _Marking(module).mark()


_COMMUNICATION = are_of(
    (*ops_with(Collective, stablehlo.StableHLO), sdy.CollectiveOp, sdy.ReshardOp)
)


def mark_written(module: ModuleOp) -> None:
    """Mark the collectives of a program that was read: no stage chooses them."""
    for op in chosen_ops(module, _COMMUNICATION):
        if not is_written(op.location):
            op.location = written(op.location)


class _Marking:
    def __init__(self, module: ModuleOp):
        self.functions = [op for op in module.ops if isinstance(op, FuncOp)]
        self._places = IdentityMemo[_Place]()
        self._lines: dict[str, str] = {}
        self._labels: dict[tuple[str, ...], int] = {}

    def mark(self) -> None:
        bodies = [(function, self._placed(function)) for function in self.functions]
        placed = [pair for _, pairs in bodies for pair in pairs]
        if not any(place.named or place.calls for _, place in placed):
            return
        is_training = any(place.is_backward for _, place in placed)
        deeper = {function.sym_name.data: _deeper(pairs) for function, pairs in bodies}
        # what is called in a loop stands in the text as if nothing were around it
        of_program = {
            name
            for function, pairs in bodies
            if _is_main(function)
            for name in _traced(place for _, place in pairs)
        }
        paths: list[AuthorPath] = []
        of_main: list[AuthorPath] = []
        for function, pairs in bodies:
            is_main = _is_main(function)
            read = _paths(pairs, deeper, of_program, is_training, is_main)
            paths += read
            if is_main:
                of_main += (
                    path
                    for (_, place), path in zip(pairs, read, strict=True)
                    if not place.named
                )
        outer = _shared_functions(of_main)
        if not any(_without(path, outer) for path in paths):
            outer = outer[:-1]  # one function in which all else is has a name at least
        kept: dict[tuple[int, AuthorPath], Any] = {}
        texts: dict[AuthorPath, StringAttr] = {}
        for (op, _), whole in zip(placed, paths, strict=True):
            path = _without(whole, outer)
            if not path:
                continue
            key = id(op.location), path
            if key not in kept:
                if path not in texts:
                    texts[path] = StringAttr(f"{AUTHORED}{json.dumps(path)}")
                kept[key] = NameLoc(texts[path], cast(Any, op.location))
            op.location = kept[key]

    def _placed(self, function: FuncOp) -> list[tuple[Operation, _Place]]:
        """Return the ops of a function with their places.

        JAX begins the name stack anew in a shard_map: the pass is that of the shard_map.
        """
        placed: list[tuple[Operation, _Place]] = []
        around: dict[Block | None, tuple[str, ...]] = {}
        for op in all_ops(function):
            if op is function:
                continue
            if op.parent not in around:
                outer = parent_of(op)
                stack = around.get(outer.parent, ()) if outer else ()
                if isinstance(outer, sdy.ManualComputationOp):
                    stack = (*stack, *self.place(outer.location).stack)
                around[op.parent] = stack
            place = (
                self._read(op.location)
                if type(op) is CallOp
                else self.place(op.location)
            )
            if outer_stack := around[op.parent]:
                place = replace(place, stack=(*outer_stack, *place.stack))
            placed.append((op, place))
        return placed

    def place(self, location: Attribute) -> _Place:
        """Return what the location of an op names that is no call."""
        known = self._places.get(id(location))
        if known is None:
            is_moved = len(parts := name_stack(location)) == 1 and (
                parts[0].startswith("jit(")
            )
            # a constant that JAX moved out belongs to nobody
            place = _Place((), (), ()) if is_moved else self._read(location)
            known = self._places.keep(id(location), place, location)
        return known

    def _read(self, location: Attribute) -> _Place:
        parts = name_stack(location)
        stack = parts[:-1]
        named = tuple(part for part in stack if not _OF_JAX.fullmatch(part))
        calls: list[AuthorScope] = []
        line = ""
        frames = _traceback(location)
        own = [
            at for at, frame in enumerate(frames) if not is_of_library(frame.position)
        ]
        for frame in (frames[at] for at in own):
            if name := _function_name(frame):
                calls.append(AuthorScope(name, line))
            line = self._line(frame)
        behind = frames[own[-1] + 1 :][:1] if own else []
        library = tuple(AuthorScope(_function_name(frame), line) for frame in behind)
        written = (*parts, *(frame.position for frame in frames))
        label = self._labels.setdefault(written, len(self._labels))
        functions = tuple(calls[:_MOST_CALLS])
        return _Place(stack, named, functions, library, line, label)

    def _line(self, frame: Frame) -> str:
        text = frame.position
        if text not in self._lines:
            self._lines[text] = text.rpartition(":")[0]
        return self._lines[text]


_Placed = Sequence[tuple[Operation, _Place]]


def _is_main(function: FuncOp) -> bool:
    """Return whether a function is the program, not a part that others call."""
    visibility = function.sym_visibility
    return visibility is None or visibility.data != "private"


def _traced(places: Iterable[_Place]) -> set[str]:
    """Return the names of the functions that JAX traced to get some ops."""
    return {
        place.stack[0].removeprefix("jit(").removesuffix(")")
        for place in places
        if place.stack
    }


def _deeper(placed: _Placed) -> AuthorPath:
    """Return the functions that most of a function's body is in."""
    return max(
        Counter(place.calls for _, place in placed).items(),
        key=lambda item: (len(item[0]) > 0, item[1]),
        default=((), 0),
    )[0]


def _paths(
    placed: _Placed,
    deeper: dict[str, AuthorPath],
    of_program: set[str],
    is_training: bool,
    is_main: bool,
) -> list[AuthorPath]:
    """Return the paths of the ops of a function, in their order.

    Args:
        placed: the ops, with the scopes and functions that each names.
        deeper: of each function that is called, the functions that its body is in.
        of_program: the names of the functions that JAX traced to get the program.
        is_training: whether the program has a backward pass.
        is_main: whether the function is the program, not a part that others call.
    """
    places = [place for _, place in placed]
    phases: list[str] = []
    behind = False
    for place in places:
        behind |= place.is_backward
        if not is_training or not place.stack:
            phases.append("")
        elif place.is_backward:
            phases.append(BACKWARD)
        elif place.is_differentiated or (is_main and not behind):
            # what does not depend on parameters, as a mask, has no gradient
            phases.append(FORWARD)
        else:
            phases.append(OPTIMIZER if is_main else "")
    calls: list[AuthorPath] = []
    for op, place in placed:
        known = place.calls
        if type(op) is CallOp:
            # what is called belongs to the call: a layer that JAX made a function of
            inner = deeper.get(op.callee.string_value(), ())
            known = (*known, *_next(known, inner, place.line))
        calls.append(known)
    labels = [(place.label, op.name) for op, place in placed]
    numbered = [list[AuthorScope]() for _ in placed]
    traced = _traced(places) | of_program
    # JAX begins tracebacks anew in what it traces for shards
    once = traced | {
        place.calls[0].name
        for op, place in placed
        if place.calls and isinstance(parent_of(op), sdy.ManualComputationOp)
    }
    callers = {
        scope.name
        for place in {id(place): place for place in places}.values()
        for scope in place.calls[: _first_of(place.calls, traced)]
    }
    kinds = [
        (phase, "rematted_computation" in place.stack)
        for phase, place in zip(phases, places, strict=True)
    ]
    for (phase, _), group in _grouped(range(len(placed)), lambda at: kinds[at]):
        _number(group, 0, calls, labels, numbered, once, phase == BACKWARD)
    return [
        _path(phase, place, _behind(functions, traced, callers), is_again)
        for (phase, is_again), place, functions in zip(
            kinds, places, numbered, strict=True
        )
    ]


def _path(
    phase: str, place: _Place, functions: Sequence[AuthorScope], is_again: bool
) -> AuthorPath:
    scopes = [AuthorScope(name) for name in place.named]
    if not scopes:
        scopes = [
            scope
            for scope in (*functions, *place.library)
            if not scope.name.startswith("<")
        ]
    if is_again:
        repeated = [at for at, scope in enumerate(scopes, 1) if scope.calls > 1]
        scopes.insert(max(repeated, default=0), AuthorScope(RECOMPUTED))
    return (*((AuthorScope(phase),) if phase else ()), *scopes)


def _traceback(location: Attribute, depth: int = 0) -> list[Frame]:
    """Return the frames of a location, outermost first, of fused ones those of the first.

    A callee that has callers of its own was traced in another call, as JAX does once for
    all calls of a jitted function: of it only what the caller does not have is told.
    """
    callees: list[Attribute] = []
    is_inside = depth > 0
    while (
        not isinstance(location, FileLineColLoc | FileLineColRange)
        and len(callees) < MAX_DEPTH
    ):
        match location:
            case NameLoc():
                if isinstance(location.location, FileLineColLoc | FileLineColRange):
                    break
                location, is_inside = location.location, True
            case FusedLoc():
                parts = cast(ArrayAttr[Attribute], location.locations).data
                location = parts[0] if parts else UnknownLoc()
            case CallSiteLoc():
                callees.append(location.callee)
                location, is_inside = location.caller, True
            case _:
                break
    frames = list(islice(source_frames(location), 1))
    if frames and isinstance(location, NameLoc):
        name = location.desc.data
        frames = [Frame(name if is_inside else "", frames[0].position)]
    for callee in reversed(callees):
        inner = _traceback(callee, depth + 1) if depth < _MOST_TRACES else []
        frames += _beyond(frames, inner)
    return frames


def _beyond(outer: Sequence[Frame], inner: list[Frame]) -> list[Frame]:
    """Return the frames of a callee behind those that are in functions of the caller."""
    if len(inner) < 2:
        return inner
    known = tuple(AuthorScope(frame.function) for frame in inner)
    return inner[shared_names([frame.function for frame in outer], known) :]


def _function_name(frame: Frame) -> str:
    """The function of a frame as its author calls it: `block`, of a module its class."""
    name = frame.function.rpartition("<locals>.")[2]
    return name.removesuffix(".__call__").rpartition(".")[2] or name


def _first_of(calls: AuthorPath, names: set[str]) -> int:
    """Return where the first function of some names stands, 0 if none does."""
    return next((at for at, scope in enumerate(calls) if scope.name in names), 0)


def _behind(
    functions: Sequence[AuthorScope], traced: set[str], callers: set[str]
) -> AuthorPath:
    """Return functions without what JAX traced, which is the program, and its callers."""
    ends = [at for at, scope in enumerate(functions, 1) if scope.name in traced]
    start = max(ends, default=0)
    while start < len(functions) and not ends and functions[start].name in callers:
        start += 1  # a trace that JAX begins anew leaves the traced function out
    return tuple(functions[start:])


def _next(outer: AuthorPath, inner: AuthorPath, line: str) -> AuthorPath:
    """Return the function that a callee's ops are in behind those that its call is in."""
    names = [scope.name for scope in outer]
    shared = shared_names(names, inner)
    if not shared and inner:
        return (inner[0]._replace(line=line),)
    return inner[shared : shared + 1]


def _shared_functions(paths: Iterable[AuthorPath]) -> list[str]:
    """Return the outermost functions that nearly all ops are in: the program itself."""
    called = [rest for path in paths if (rest := _functions(path))]
    outer: list[str] = []
    total = len(called)
    while True:
        tops = Counter(calls[0] for calls in called if calls[0].calls == 1)
        ((scope, count),) = tops.most_common(1) or [(None, 0)]
        if scope is None or count < _SHARED * total:
            return outer
        outer.append(scope.name)
        called = [calls[1:] for calls in called if calls[0] == scope and calls[1:]]


def _functions(path: AuthorPath) -> AuthorPath:
    """Return a path without what is told before the first function."""
    while path and path[0].name in (*PHASES, RECOMPUTED):
        path = path[1:]
    return path


def _without(path: AuthorPath, outer: Sequence[str]) -> AuthorPath:
    """Return a path without the functions that all ops are in."""
    functions = _functions(path)
    phase = path[: len(path) - len(functions)]
    while functions and functions[0].name in outer and functions[0].calls == 1:
        functions = functions[1:]
    return (*phase, *functions)


def _grouped(
    items: Iterable[int], key: Callable[[int], Any]
) -> Iterator[tuple[Any, list[int]]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    yield from groups.items()


def _number(
    items: Sequence[int],
    depth: int,
    calls: Sequence[AuthorPath],
    labels: Sequence[Hashable],
    numbered: Sequence[list[AuthorScope]],
    traced: set[str],
    is_backward: bool,
) -> None:
    """Give ops the functions that they are in from a depth on, repeated calls numbered.

    `traced` are the names of functions that are called once, as JAX traced them.
    """
    inner = [at for at in items if len(calls[at]) > depth]
    for scope, group in _grouped(inner, lambda at: calls[at][depth]):
        own = [at for at in group if len(calls[at]) == depth + 1]
        called = 0 if own else len({calls[at][depth + 1] for at in group})
        if called > 1:
            # a layer whose ops are all in functions that it calls, as its sums' gradients
            own = group
        pieces = _repeats(group, own, labels)
        # what is around layers calls some functions once
        if called > 1 and called * len(pieces) * _REGULAR > sum(
            len({calls[at][depth + 1] for at in piece}) for piece in pieces
        ):
            pieces = [group]
        for number, piece in enumerate(pieces):
            # layers are counted as the forward pass meets them
            call = len(pieces) - 1 - number if is_backward else number
            known = [scope._replace(number=call, calls=len(pieces))]
            if scope.name in traced and len(pieces) > 1:
                # what JAX traced is called once: these are iterations of a loop in it
                known = [scope, AuthorScope(ITERATION, "", call, len(pieces))]
            for at in piece:
                numbered[at].extend(known)
            _number(piece, depth + 1, calls, labels, numbered, traced, is_backward)


def _repeats(
    items: Sequence[int], own: Sequence[int], labels: Sequence[Hashable]
) -> list[Sequence[int]]:
    """Cut the ops of a call site into those of each call.

    Args:
        items: in the function and in what it calls, in order.
        own: those of the function itself, most of which a call has once; of a function
            that has none and calls several, all.
        labels: of all ops; equal ones are written in the same place.
    """
    counts = Counter(labels[at] for at in own)
    sizes = Counter(counts.values())
    for times, kinds in sizes.most_common():
        # the first layer has no gradients of what comes in
        fits = [size for size in sizes if size % times == 0 or size == times - 1 > 1]
        whole = sum(sizes[size] for size in fits)
        if times == 1 or whole < _REGULAR * len(counts):
            continue
        once = {label for label, count in counts.items() if count == times}
        pieces = _cut(items, once, labels)
        regular = sum(len({labels[at] for at in piece} & once) for piece in pieces)
        if len(pieces) == times and regular >= _REGULAR * times * kinds:
            return pieces
    return [items]


def _cut(
    items: Sequence[int], once: set[Hashable], labels: Sequence[Hashable]
) -> list[Sequence[int]]:
    """Cut ops before each occurrence of the first op of those that a call has once."""
    first = next(at for at, item in enumerate(items) if labels[item] in once)
    anchor = labels[items[first]]
    starts = [at for at, item in enumerate(items) if labels[item] == anchor]
    cuts = [0]
    for start in starts[1:]:
        # what stands before the first one belongs to each call
        back = 0
        while back < first and (
            labels[items[start - 1 - back]] == labels[items[first - 1 - back]]
        ):
            back += 1
        cuts.append(start - back)
    return [
        items[start:end]
        for start, end in zip(cuts, [*cuts[1:], len(items)], strict=True)
    ]
