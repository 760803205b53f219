"""Buffers of a program's steps: when each is there, the most bytes at once, and the heap.

Plain data and arithmetic on it; what a program's ops make and end is found in
`ttxdsl.analysis.usage.memory`.
"""

from bisect import insort
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.analysis.values.entry import first_alike
from ttxdsl.dialects.calls.kernels import PRODUCTS

Kind = Literal["argument", "constant", "result", "value"]
"""Kinds of buffers; a constant has different elements, a result leaves the program."""


_GAPS_IN_ORDER = 2
"""One of how many bytes in gaps a heap has whose buffers are placed in the compiler's order
instead of the program's: of the eight public models that rules were found on, between a quarter
and three quarters are there, as libtpu's dumps show."""


class Scope:
    """One list of ops with the buffers that they make: a block, or several in a row."""


@dataclass(eq=False, slots=True)
class Allocation:
    """A buffer, named by the value that it is made for."""

    value: SSAValue
    type: Attribute
    """The type of the part that a device holds."""
    bytes: int
    kind: Kind
    scope: Scope
    last: int = -1
    """Index of the op of its scope that uses it last."""
    pinned: bool = False
    """Whether it stays when nobody uses it any more."""
    over: list["Allocation"] = field(default_factory=list["Allocation"])
    """The buffers that the op which makes it may write over."""

    def split_as(self, local: SSAValue, size: int) -> None:
        """A manual computation has the value in this form."""
        if size > self.bytes:
            self.type, self.bytes = local.type, size

    def copied(self, scope: Scope, index: int) -> "Allocation":
        """Return a buffer for a copy, which the op of a scope at an index makes."""
        return Allocation(self.value, self.type, self.bytes, "value", scope, index)


@dataclass(slots=True)
class BufferStep:
    """One op of a block: what it makes, what its regions add, what ends with it."""

    op: Operation
    buffers: list[Allocation]
    inside: "Peak"
    programs: list[list["BufferStep"]]
    """Steps of its regions and of what it calls."""
    exclusive: bool
    """Whether the results are made inside, and are not there beside it."""
    ends: list[Allocation] = field(default_factory=list[Allocation])
    on_core: int = 0
    """The bytes on the core that are taken while it runs."""

    @property
    def made_bytes(self) -> int:
        """Return the bytes of its results."""
        return sum(buffer.bytes for buffer in self.buffers)

    @property
    def bytes(self) -> int:
        """Return the bytes that it adds to those alive before it."""
        if self.exclusive:
            return max(self.made_bytes, self.inside.bytes)
        return self.made_bytes + self.inside.bytes


@dataclass(frozen=True, slots=True)
class Peak:
    """The most that a program adds to what is there before it."""

    bytes: int = 0
    buffers: tuple[Allocation, ...] = ()
    steps: list[BufferStep] = field(default_factory=list[BufferStep])
    """The steps of the program whose peak this is."""
    op: Operation | None = None
    """The op that runs at it, inside loops and calls."""


NOTHING = Peak()


def peak_of(steps: Sequence[BufferStep], there: Iterable[Allocation]) -> Peak:
    """The largest moment of a block and what is there, without what is outside."""
    bytes_at, best = sweep(steps, there)
    if best is None:
        return NOTHING
    live: dict[Allocation, None] = dict.fromkeys(there)
    for index, step in enumerate(steps[: best + 1]):
        live.update(dict.fromkeys(step.buffers))
        if index < best:
            for buffer in step.ends:
                live.pop(buffer, None)
    step = steps[best]
    if step.exclusive and step.inside.bytes > step.made_bytes:
        for buffer in step.buffers:
            live.pop(buffer, None)
        live.update(dict.fromkeys(step.inside.buffers))
    elif not step.exclusive:
        live.update(dict.fromkeys(step.inside.buffers))
    is_inside = bool(step.inside.bytes) and step.inside.op is not None
    op = step.inside.op if is_inside else step.op
    return Peak(bytes_at[best], tuple(live), list(steps), op)


def own_outputs(
    steps: Sequence[BufferStep],
    arguments: Sequence[Allocation],
    returned: Collection[Allocation],
    *,
    lends: bool = False,
) -> list[Allocation]:
    """Return the buffers of outputs, which XLA keeps apart from temporary memory.

    Arguments are there throughout, and so are outputs; one that takes the place of a
    donated argument has no bytes of its own, but for one that is begun while the argument is
    read: it is copied into its place. The first output of a type takes that of the first
    argument, and so on, others any of their size.

    Args:
        steps: of the program.
        arguments: of it.
        returned: buffers of results.
        lends: whether other values have the places of outputs until these are begun.
    """
    # of an argument that is returned an output has the place
    free = [b for b in arguments if not b.pinned and b not in returned]
    for buffer in arguments:
        buffer.pinned = True
    results = [buffer for buffer in returned if buffer.kind == "result"]
    given = first_alike(results, free, lambda buffer: (buffer.type, buffer.bytes))
    results = [buffer for buffer in results if buffer not in given]
    free = [buffer for buffer in free if buffer not in given.values()]
    given |= first_alike(results, free, lambda buffer: buffer.bytes)
    begins = {buffer: at for at, step in enumerate(steps) for buffer in step.buffers}
    outputs: list[Allocation] = []
    copied: set[Allocation] = set()
    lent: list[_Place] = []
    for buffer in returned:
        if buffer.kind != "result":
            continue
        buffer.pinned = True
        start = begins.get(buffer, len(steps))
        lent.append(_Place(buffer, buffer.bytes, [range(start, len(steps) + 1)]))
        if (argument := given.get(buffer)) is not None:
            lent[-1].taken.append(range(argument.last + 1))
            if argument.last > start:
                buffer.kind = "value"
                copied.add(buffer)
                continue
            buffer.bytes = 0
        outputs.append(buffer)
    gone = {*returned} - copied
    for step in steps:
        step.buffers = [buffer for buffer in step.buffers if buffer not in gone]
    if lends:
        _lend(steps, [place for place in lent if place.output not in copied])
    return outputs


@dataclass(slots=True)
class _Place:
    """The memory of an output, and when it is taken."""

    output: Allocation
    bytes: int
    taken: list[range]

    def has_room(self, buffer: Allocation, life: range) -> bool:
        """Whether nothing is there while a buffer is; what the output is made over ends with it."""
        if buffer in self.output.over:
            life = range(life.start, life.stop - 1)
        return all(
            life.stop <= taken.start or taken.stop <= life.start for taken in self.taken
        )


def _lend(steps: Sequence[BufferStep], places: list[_Place]) -> None:
    """Put values into the places of outputs that are not there yet, the largest values first.

    So XLA does before it has a heap for the rest (`BufferAssigner`), and looks for the smallest place.
    """
    places.sort(key=lambda place: place.bytes)
    lives = [
        (buffer, range(at, max(at, buffer.last) + 1))
        for at, step in enumerate(steps)
        for buffer in step.buffers
        if buffer.kind == "value" and not buffer.pinned
    ]
    for buffer, life in sorted(lives, key=lambda of: -of[0].bytes):
        for place in places:
            if place.bytes >= buffer.bytes and place.has_room(buffer, life):
                place.taken.append(life)
                buffer.bytes = 0
                break


_MOST_MADE = 8
"""The bytes that other values begin, as a multiple of its own, up to which a value stays on the core."""

_SHARE = 3
"""The part of the room on the core that one value has at most: a third."""


def without_values_on_core(steps: list[BufferStep], room: int) -> list[BufferStep]:
    """Return the steps of a block, with no bytes for values that stay on the core.

    libtpu puts a value there from where it is made to its last reader, if there is room throughout
    and that is not long (XLA's memory space assignment, which measures it by the time of a copy to
    the core; here by the bytes that begin in between, and the shortest have their room first). Beside
    a loop, or what is called, there is the room that is left by what its own steps make.
    """
    begun = [0]
    for step in steps:
        begun.append(begun[-1] + step.made_bytes + step.inside.bytes)
    lives: list[tuple[float, int, Allocation]] = []
    for start, step in enumerate(steps if room else ()):
        for buffer in step.buffers:
            is_inner = buffer.kind == "value" and buffer.last < len(steps) - 1
            if is_inner and not buffer.pinned and 0 < buffer.bytes <= room / _SHARE:
                between = begun[max(start, buffer.last) + 1] - begun[start + 1]
                lives.append((between / buffer.bytes, start, buffer))
    used = [_taken_inside(step, room) for step in steps]
    for length, start, buffer in sorted(lives, key=lambda life: life[:2]):
        life = range(start, max(start, buffer.last) + 1)
        if length <= _MOST_MADE and all(used[at] + buffer.bytes <= room for at in life):
            for at in life:
                used[at] += buffer.bytes
            buffer.bytes = 0
    for step, taken in zip(steps, used, strict=True):
        step.on_core = taken
    return steps


def _taken_inside(step: BufferStep, room: int) -> int:
    """Return the bytes on the core that the programs in a step take, or would if there was room.

    A product with buffers of its own, as those of windows are, has the core to itself.
    """
    if step.programs and isinstance(step.op, PRODUCTS):
        return room
    most = max((s.on_core for program in step.programs for s in program), default=0)
    return min(room, most + step.inside.bytes)


_MOST_PLACED = 200_000
"""Steps that are placed one by one; a call is a program each time."""


class Heap:
    """Offsets of live buffers, and how far the heap ever reached.

    Buffers are placed in the order of the program, each in the smallest gap between live ones
    that holds it, else on top. What lives long in the middle splits the space below it, so the
    heap gets larger than the most that is alive at once.

    Source: libtpu's buffer assignments (`--xla_dump_to`): placing their live ranges in this way
    gives their heap within 0.5%, in order of size (XLA's `GlobalDecreasingSizeBestFitHeap`) up
    to 15% less.
    """

    def __init__(self) -> None:
        self._gaps: list[tuple[int, int]] = []
        """Start and end of each gap below the top, in order; no two touch."""
        self._top = 0
        self.bytes = 0
        """The largest end of a buffer so far."""

    def allocate(self, size: int) -> int:
        """Return the offset of a new buffer."""
        fitting = [gap for gap in self._gaps if gap[1] - gap[0] >= size]
        if not fitting:
            start = self._top
            self._top += size
            self.bytes = max(self.bytes, self._top)
            return start
        start, end = min(fitting, key=lambda gap: (gap[1] - gap[0], gap[0]))
        self._gaps.remove((start, end))
        if start + size < end:
            insort(self._gaps, (start + size, end))
        return start

    def free(self, start: int, size: int) -> None:
        """End a buffer; a gap at the top lowers the top."""
        end = start + size
        touching = [gap for gap in self._gaps if gap[1] == start or gap[0] == end]
        for gap in touching:
            self._gaps.remove(gap)
            start, end = min(start, gap[0]), max(end, gap[1])
        if end == self._top:
            self._top = start
        elif start < end:
            insort(self._gaps, (start, end))


class HeapPlacement:
    """The heap of a program: its buffers placed one after the other."""

    def __init__(self, steps: Sequence[BufferStep]):
        self._heap = Heap()
        self._offsets: dict[Allocation, int] = {}
        self._left = _MOST_PLACED
        for step in steps:
            self._place(step)

    @property
    def bytes(self) -> int:
        """The size of the heap."""
        return self._heap.bytes

    def _place(self, step: BufferStep) -> None:
        if not step.exclusive:
            self._allocate(step.buffers)
        if self._left > 0:
            for program in step.programs:
                for inner in program:
                    self._left -= 1
                    self._place(inner)
        else:  # what is inside as a whole
            self._allocate(step.inside.buffers)
            self._free(step.inside.buffers)
        if step.exclusive:
            self._allocate(step.buffers)
        self._free(step.ends)

    def _allocate(self, buffers: Iterable[Allocation]) -> None:
        for buffer in sorted(buffers, key=lambda buffer: -buffer.bytes):
            if buffer.bytes and buffer not in self._offsets:
                self._offsets[buffer] = self._heap.allocate(buffer.bytes)

    def _free(self, buffers: Iterable[Allocation]) -> None:
        for buffer in buffers:
            if (start := self._offsets.pop(buffer, None)) is not None:
                self._heap.free(start, buffer.bytes)


def bytes_in_gaps(
    steps: Sequence[BufferStep], there: Iterable[Allocation], live: int
) -> int:
    """Return the bytes that a heap in the order of the program needs beside the live ones."""
    heap = HeapPlacement(steps).bytes + sum(buffer.bytes for buffer in there)
    return max(0, heap - live) // _GAPS_IN_ORDER


def sweep(
    steps: Sequence[BufferStep], there: Iterable[Allocation]
) -> tuple[list[int], int | None]:
    """Return the bytes at each op, and the first op with the most."""
    start = list(there)
    for step in steps:
        step.ends = []
    for buffer in (*start, *(b for step in steps for b in step.buffers)):
        if not buffer.pinned and buffer.last >= 0:
            steps[buffer.last].ends.append(buffer)
    now = sum(buffer.bytes for buffer in start)
    bytes_at: list[int] = []
    for step in steps:
        bytes_at.append(now + step.bytes)
        now += step.made_bytes - sum(buffer.bytes for buffer in step.ends)
    if not bytes_at:
        return bytes_at, None
    return bytes_at, max(range(len(bytes_at)), key=lambda at: (bytes_at[at], -at))
