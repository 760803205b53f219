"""The memory on the core: what kernels of a block leave there for others, by what that saves."""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.ir import Operation, SSAValue


@dataclass(slots=True)
class Kernel:
    """The reads and writes of an op, or of several that are one kernel, in one run.

    Attributes:
        op: the first of them.
        written: the bytes written of each result.
        ahead: the numbers of the kernels that it waits for, as bits.
        again: the bytes that it moves further of what it reads and writes if that is not on the core.
        inside: bytes on the core that it needs for itself, as a loop does.
        held: what it reads and writes that is among those.
    """

    op: Operation
    read: dict[SSAValue, int]
    written: dict[SSAValue, int]
    ahead: int = 0
    again: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    inside: int = 0
    held: Collection[SSAValue] = ()


@dataclass(frozen=True, slots=True)
class OnCore:
    """The values that stay on the core in a block.

    Attributes:
        moved: the bytes that each kernel moves beside it.
        most: the most bytes there at once.
        throughout: values that are there in all iterations, in a fixed order.
    """

    moved: list[int]
    most: int
    throughout: Collection[SSAValue]


@dataclass(frozen=True, slots=True)
class _Touch:
    """One kernel's use of a value, `again` if that is not on the core."""

    at: int
    is_written: bool
    size: int
    again: int


@dataclass(frozen=True, slots=True)
class _Stay:
    """A value that may be on the core from a kernel to another, or in all (`returned`)."""

    price: float
    value: SSAValue
    bytes: int
    kernels: range
    returned: SSAValue | None = None


def kept_on_core(
    kernels: Sequence[Kernel],
    leaving: AbstractSet[SSAValue],
    made_in_memory: AbstractSet[SSAValue],
    carried: Sequence[tuple[SSAValue, SSAValue]],
    room: int,
    size: Callable[[SSAValue], int],
) -> OnCore:
    """Return what stays on the core in a block, as far as it saves bytes.

    A value is there from a kernel that reads or writes it to the next that reads it, or, in a loop, in
    all kernels of all iterations: then the loop reads it once before its first iteration, and what it
    carries is written once behind its last. Those have their room first that save most for the room
    and time they take. An inner loop has its room before what is around it.

    Source: XLA's memory space assignment, as programs of libtpu 0.0.52 show it (docs/evidence/plan.md).

    Args:
        leaving: values that are needed in memory behind the block.
        made_in_memory: values that are written there and first read from there.
        carried: of a loop's body each value that an iteration begins with, and what the next has
            in its place, both the same if it is not changed.
        room: bytes on the core.
        size: the bytes that a value takes there.
    """
    touches: defaultdict[SSAValue, list[_Touch]] = defaultdict(list)
    for at, kernel in enumerate(kernels):
        for value, moved in kernel.written.items():
            again = kernel.again.get(value, 0)
            touches[value].append(_Touch(at, True, moved, again))
        for value, moved in kernel.read.items():
            if moved:
                again = kernel.again.get(value, 0)
                touches[value].append(_Touch(at, False, moved, again))
    stays: list[_Stay] = []
    sizes = {value: size(value) for value in touches}
    for value, touched in touches.items():
        if sizes[value] > room:
            continue
        is_last = len(touched) == 2 and value not in leaving
        for first, second in pairwise(touched):
            begins = first.is_written and value in made_in_memory
            if not (second.is_written or begins):
                saved = second.size + first.size * (first.is_written and is_last)
                saved += first.again + second.again
                life = range(first.at, second.at + 1)
                price = sizes[value] * len(life) / saved
                stays.append(_Stay(price, value, sizes[value], life))
        for touch in touched:
            if touch.again and not (touch.is_written and value in made_in_memory):
                life = range(touch.at, touch.at + 1)
                price = sizes[value] / touch.again
                stays.append(_Stay(price, value, sizes[value], life))
    for value, returned in carried:
        members = {value, returned} & touches.keys()
        if members & made_in_memory or (taken := size(value)) > room:
            continue
        if saved := sum(touch.size for v in members for touch in touches[v]):
            price, life = taken * len(kernels) / saved, range(len(kernels))
            stays.append(_Stay(price, value, taken, life, returned))

    used = [min(kernel.inside, room) for kernel in kernels]
    held: defaultdict[SSAValue, set[int]] = defaultdict(set)
    read_there: set[tuple[SSAValue, int]] = set()
    throughout: dict[SSAValue, None] = {}
    for stay in sorted(stays, key=lambda stay: stay.price):
        value, returned = stay.value, stay.returned
        if value in throughout:
            continue
        # where two stays of a value meet, it is there once
        there = held[value] if returned is None else held[value] | held[returned]
        new = [
            at
            for at in stay.kernels
            if at not in there and value not in kernels[at].held
        ]
        most = room - stay.bytes
        if any(used[at] > most for at in new):
            continue
        held[value].update(new)
        for at in new:
            used[at] += stay.bytes
        if returned is None:
            if len(stay.kernels) > 1:
                read_there.add((value, stay.kernels[-1]))
        else:
            throughout |= {value: None, returned: None}

    moved = [0] * len(kernels)
    for value, touched in touches.items():
        if value in throughout:
            continue
        in_memory = (
            value in leaving
            or value in made_in_memory
            or any(
                not touch.is_written and (value, touch.at) not in read_there
                for touch in touched
            )
        )
        for touch in touched:
            if in_memory if touch.is_written else (value, touch.at) not in read_there:
                moved[touch.at] += touch.size
            if touch.at not in held[value]:
                moved[touch.at] += touch.again
    return OnCore(moved, max(used, default=0), throughout)
