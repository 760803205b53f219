"""What there is to do in a region, found out once.

Each op's operands, results and what dies with it are places in a list, the frame of a
pass; what follows from constants alone is known from the first pass on.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ttxdsl.interpreters.kernels.elements import DType, rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import UFUNCS, Kernel
from ttxdsl.interpreters.runtime.compiled_op import COMBINES, PLAIN, Prepared
from ttxdsl.interpreters.runtime.threads import SIZE

Array = NDArray[Any]


_KEPT = 1 << 22
"""Bytes that a region keeps of what follows from its constants."""


@dataclass(slots=True)
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
    uses: tuple[int, ...]
    makes: tuple[int, ...]
    frees: tuple[int, ...]
    """Where in the frame operands, results and what dies are."""
    captured: tuple[tuple[SSAValue, int], ...]
    """What the regions of the op use, and where that is."""
    prepared: Prepared | None = None
    """How arrays become the only result, once it is known that nothing else matters."""
    later: bool = False
    """Whether only a collective reads the product that this is, which combines it."""


@dataclass(frozen=True, slots=True)
class Move:
    """What is done for an op with some of the rows.

    Attributes:
        op: the op.
        uses, makes, frees: places of operands, of the result, and of what dies here.
        kernel: what it does.
        dtype: of the result.
        ufunc: what the kernel is on these types, if it is one ufunc.
        over: the operand that this may write over: another one made it, it dies here, and
            no view looks at it.
    """

    op: Operation
    uses: tuple[int, ...]
    makes: int
    frees: tuple[int, ...]
    kernel: Kernel
    dtype: DType | None
    ufunc: np.ufunc | None = None
    over: int | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """Ops that work row by row on the same rows, or one op of another kind.

    Attributes:
        steps: the ops.
        moves: what they do with some of the rows; none of another kind.
        keeps: leading dimensions that all their tensors have in common: what is computed
            at one place of them follows from what is there.
        inputs: places in the frame, and ranks, of what they read and none of them makes;
            none of another kind.
        outputs: those that make what is used after them.
    """

    steps: tuple[PlannedOp, ...]
    moves: tuple[Move, ...] = ()
    keeps: int = 0
    inputs: tuple[tuple[int, int], ...] = ()
    outputs: tuple[PlannedOp, ...] = ()


class _Run:
    """Ops that may be computed together, as they are found."""

    def __init__(self) -> None:
        self.steps: list[PlannedOp] = []
        self.keeps = 0
        self.made: set[int] = set()
        self.used: set[int] = set()
        self.read: set[int] = set()
        """What is used and is no constant."""
        self.waiting: list[int] = []
        """What is to die with an op that was moved ahead, and is read here, too."""

    def joins(self, step: PlannedOp) -> bool:
        """Add an op, if it works on the same rows of what is made or read here.

        A view only of what is made. What has nothing to do with the others may be the
        same on other devices than they are, and would not be computed with them.
        """
        keeps = _keeps(step)
        if keeps is None or (self.steps and not self._fits(step, keeps)):
            return False
        is_view = _is_view(step)
        related = not self.made.isdisjoint(step.uses) or not (
            is_view or self.read.isdisjoint(step.uses)
        )
        if (self.steps or is_view) and not related:
            return False
        self.keeps = min(keeps, self.keeps) if self.steps else keeps
        self.steps.append(step)
        self.made.update(step.makes)
        self.used.update(step.uses)
        pairs = zip(step.uses, step.op.operands, strict=True)
        self.read.update(at for at, value in pairs if not _is_constant(value))
        return True

    def _fits(self, step: PlannedOp, keeps: int) -> bool:
        common = min(keeps, self.keeps)
        # where fewer dimensions are common the rows of all are longer
        longer = [step] if common == self.keeps else [*self.steps, step]
        shapes = [one.results[0][1] for one in longer]
        first, last = self.steps[0].results[0][1], shapes[-1]
        if not common and (first or last):
            return False
        return first[:common] == last[:common] and all(
            prod(shape[common:]) <= SIZE for shape in shapes
        )

    def moves_ahead(self, step: PlannedOp) -> PlannedOp | None:
        """An op that needs nothing from here, as it is ahead of the run."""
        prepared = step.prepared
        if prepared is None or prepared.rows is None or self.made & {*step.uses}:
            return None
        staying = [at for at in step.frees if at in self.used]
        if not staying:
            return step
        self.waiting += staying
        frees = tuple(at for at in step.frees if at not in staying)
        return replace(step, frees=frees, last_use=())

    def done(self) -> list[Together]:
        """What was found, and start again.

        Views that nobody here looks at come after it: here they would be copies.
        """
        steps, keeps, waiting = self.steps, self.keeps, self.waiting
        self.__init__()
        inside, after = list[PlannedOp](), list[PlannedOp]()
        needed: set[int] = set()
        for step in reversed(steps):
            (at,) = step.makes
            if _is_view(step) and at not in needed and at not in step.frees:
                after.append(step)
            else:
                inside.append(step)
                needed.update(step.uses)
        looked_at = {at for step in after for at in step.uses}
        for at, step in enumerate(inside):
            if early := looked_at & {*step.frees}:
                frees = tuple(one for one in step.frees if one not in early)
                inside[at] = replace(step, frees=frees, last_use=())
                waiting += early
        ordered = [*reversed(inside), *reversed(after)]
        if waiting:
            last = ordered[-1]
            ordered[-1] = replace(last, frees=(*last.frees, *waiting), last_use=())
        together = 0 if all(map(_is_view, inside)) else len(inside)
        found = [Together((step,)) for step in ordered[together:]]
        return [_together(ordered[:together], keeps), *found] if together else found


def _together(steps: Sequence[PlannedOp], keeps: int) -> Together:
    made = {step.makes[0] for step in steps}
    read = {
        at: rank_of(value.type)
        for step in steps
        for at, value in zip(step.uses, step.op.operands, strict=True)
        if at not in made
    }
    dead = {at for step in steps for at in step.frees}
    outputs = tuple(step for step in steps if step.makes[0] not in dead)
    return Together(
        tuple(steps), tuple(_moves_of(steps)), keeps, tuple(read.items()), outputs
    )


def _moves_of(steps: Sequence[PlannedOp]) -> Iterator[Move]:
    shapes: dict[int, tuple[int, ...]] = {}
    """Of what may be written over."""
    short: set[int] = set()
    """What is to be repeated, and is not."""
    readers: dict[int, list[PlannedOp]] = {}
    for step in steps:
        for at in step.uses:
            readers.setdefault(at, []).append(step)
    for step in steps:
        _, shape, dtype = step.results[0]
        assert step.prepared is not None and step.prepared.rows is not None
        kernel = step.prepared.rows.kernel
        if _is_repeated_anyway(step, readers.get(step.makes[0], ()), short):
            short.update(step.makes)
            kernel = _itself
        move = Move(step.op, step.uses, step.makes[0], step.frees, kernel, dtype)
        ufunc = _ufunc_of(step)
        if ufunc is None:
            for at in step.uses:
                shapes.pop(at, None)
            yield move
            continue
        dying = (at for at in step.uses if at in step.frees and shapes.get(at) == shape)
        yield replace(move, ufunc=ufunc, over=next(dying, None))
        shapes[move.makes] = shape


def _itself(x: Array) -> Array:
    return x


def _is_repeated_anyway(
    step: PlannedOp, readers: Sequence[PlannedOp], short: Set[int]
) -> bool:
    """Whether an op repeats its operand for ufuncs alone, beside what is whole.

    They do so by themselves, and a view of each stretch takes NumPy as long as what a
    ufunc does before it starts.

    Args:
        step: the op.
        readers: those in the run that read its result.
        short: places of results that are not repeated.
    """
    (made,), (_, shape, _) = step.makes, step.results[0]
    if not _is_view(step):
        return False
    before, _ = tensor_of(step.op.operands[0].type)
    if len(before) != len(shape) or not all(
        n in (1, size) for n, size in zip(before, shape, strict=True)
    ):
        return False  # another shape

    def is_whole(at: int, value: SSAValue) -> bool:
        return at not in short and at != made and tensor_of(value.type)[0] == shape

    return any(made in one.frees for one in readers) and all(
        _ufunc_of(one) is not None and any(map(is_whole, one.uses, one.op.operands))
        for one in readers
    )


def _ufunc_of(step: PlannedOp) -> np.ufunc | None:
    """What an op is on arrays of its type, if it is one ufunc."""
    rows = None if step.prepared is None else step.prepared.rows
    return UFUNCS.get(rows.kernel) if rows is not None and _is_plain(step) else None


def _is_plain(step: PlannedOp) -> bool:
    """Whether operands and result are of one type, which ufuncs compute in."""
    dtype = step.results[0][2]
    operands = step.op.operands
    return dtype in PLAIN and all(tensor_of(x.type)[1] == dtype for x in operands)


def _is_view(step: PlannedOp) -> bool:
    rows = None if step.prepared is None else step.prepared.rows
    return rows is not None and rows.view


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and not value.owner.operands


def _keeps(step: PlannedOp) -> int | None:
    """Dimensions that an op works along row by row; None of one that does not."""
    if step.prepared is None or step.prepared.rows is None:
        return None
    _, shape, dtype = step.results[0]
    ranks = {rank_of(value.type) for value in step.op.operands}
    if dtype is None or (len(step.uses) > 1 and ranks != {len(shape)}):
        return None
    keeps = step.prepared.rows.keeps
    return keeps if keeps or not shape else None


def runs_of(steps: Sequence[PlannedOp]) -> list[Together]:
    """Steps, those that may be computed together as one.

    Others that work row by row, come between them and need none of them go ahead: views
    alone, what is computed as a run of its own.
    """
    found: list[Together] = []
    run, before = _Run(), _Run()
    for step in steps:
        if run.joins(step):
            continue
        ahead = run.moves_ahead(step)
        if ahead is None:
            found += (*before.done(), *run.done())
            if not run.joins(step):
                found.append(Together((step,)))
        elif not before.joins(ahead):
            first = before.moves_ahead(ahead) if _is_view(ahead) else None
            if first is not None:
                found.append(Together((first,)))
                continue
            found += before.done()
            if not before.joins(ahead):
                found.append(Together((ahead,)))
    return [*found, *before.done(), *run.done()]


def _find_summands(steps: Sequence[PlannedOp]) -> None:
    """Mark the products that only a collective reads, if need be in another shape."""
    readers: dict[int, list[PlannedOp]] = {}
    for step in steps:
        for at in (*step.uses, *(at for _, at in step.captured)):
            readers.setdefault(at, []).append(step)

    def only_reader(step: PlannedOp) -> PlannedOp | None:
        found = readers.get(step.makes[0], ())
        return found[0] if len(found) == 1 else None

    for step in steps:
        if step.prepared is None or step.prepared.later is None:
            continue
        reader = only_reader(step)
        while reader is not None and _is_view(reader):
            reader = only_reader(reader)
        step.later = (
            reader is not None and reader.shadow is None and type(reader.op) in COMBINES
        )


@dataclass(slots=True)
class RegionPlan:
    """What there is to do in the one block of a region.

    Attributes:
        steps: its ops.
        captured: values from outside that it uses; in the frame they are before its
            arguments.
        arguments: how many it takes.
        unused: places in the frame of arguments that nobody uses.
        frame: what is known of its values before it starts.
        fixed: values that follow from constants, by their place, as the first pass finds
            them.
        alone: the steps one by one.
        first: those of the first pass; `alone` where many follow, since what follows from
            constants is looked for.
        rest: what is left of them once that is known.
        loops: whether what follows from constants is kept for other passes.
        once: whether a run takes one pass.
    """

    steps: list[PlannedOp]
    captured: tuple[SSAValue, ...]
    arguments: int
    unused: tuple[int, ...]
    frame: list[Any]
    loops: bool
    once: bool
    fixed: dict[int, Any] = field(default_factory=dict[int, Any])
    kept: int = 0
    alone: list[Together] = field(default_factory=list[Together])
    first: list[Together] | None = None
    rest: list[Together] | None = None

    def begin(self, prepared_of: Callable[[Operation], Prepared | None] | None) -> None:
        """Before the first pass: which ops are computed together.

        Args:
            prepared_of: says how ops are computed, if that is known before they run.
        """
        if prepared_of is not None:
            for step in self.steps:
                if step.shadow is None and not step.captured:
                    step.prepared = prepared_of(step.op)
            _find_summands(self.steps)
        self.alone = [Together((step,)) for step in self.steps]
        self.first = runs_of(self.steps) if self.once else self.alone

    def fix(self, step: PlannedOp, value: Array) -> None:
        """Keep the result of a step that has it from constants alone."""
        if step.uses and not (self.loops and all(at in self.fixed for at in step.uses)):
            return
        size = _held_bytes(value) if step.uses else 0
        if self.kept + size <= _KEPT:
            self.kept += size
            self.fixed[step.makes[0]] = value

    def settle(self) -> None:
        """After the first pass: the next ones start with what is known by then."""
        rest = [
            step
            for step in self.steps
            if len(step.makes) != 1 or step.makes[0] not in self.fixed
        ]
        self.rest = runs_of(rest)
        for step in rest:
            for at in (*step.uses, *(at for _, at in step.captured)):
                if at in self.fixed:
                    self.frame[at] = self.fixed[at]
        self.fixed.clear()


def _held_bytes(value: Array) -> int:
    """Memory of an array, repeated elements counted once."""
    distinct = (n for n, step in zip(value.shape, value.strides, strict=True) if step)
    return prod(distinct) * value.itemsize
