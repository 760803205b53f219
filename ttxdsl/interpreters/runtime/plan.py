"""The plan of a region: operands and results as places in a frame, and groups of ops.

Each op's operands, results and what dies with it are places in a list, the frame of a
pass. A planned run computes values that follow from constants once, and lets ops that
work row by row run as a group (`fusion.py`).
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
from ttxdsl.interpreters.runtime.compiled_op import COMBINES, PLAIN, CompiledOp
from ttxdsl.interpreters.runtime.threads import SIZE

Array = NDArray[Any]


_KEPT = 1 << 22
"""Bytes that a region keeps of values that follow from its constants."""


@dataclass(slots=True)
class PlannedOp:
    """An op of a region, the types of its results, and its places in the frame."""

    op: Operation
    results: tuple[tuple[SSAValue, tuple[int, ...], DType | None], ...]
    dead: tuple[SSAValue, ...]
    """Values without uses after the op."""
    shadow: Operation | None
    """The op on floats that computes an op on quantized tensors."""
    returns: bool
    """Whether the op ends the region."""
    last_use: tuple[int, ...]
    """Operands that die here and are of the type of the only result."""
    leaves: bool
    """Whether only the function's return uses the results."""
    uses: tuple[int, ...]
    makes: tuple[int, ...]
    frees: tuple[int, ...]
    """Places of operands, of results, and of what dies here."""
    captured: tuple[tuple[SSAValue, int], ...]
    """Values that the regions of the op use, and their places."""
    compiled: CompiledOp | None = None
    """The kernels of the op in a planned run, if it has any."""
    deferred: bool = False
    """Whether the op is a product that only a collective reads, which combines it."""


@dataclass(frozen=True, slots=True)
class RowStep:
    """An op of a group, computed for some of the rows.

    Attributes:
        uses, makes, frees: places of operands, of the result, and of what dies here.
        dtype: of the result.
        ufunc: the ufunc that the kernel is on these types, if it is one.
        over: the operand that this may write over: another step made it, it dies here, and
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
class OpGroup:
    """Ops that work row by row on the same rows, or one op of another kind.

    Attributes:
        row_steps: what they do with some of the rows; none of another kind.
        keeps: leading dimensions that all their tensors have in common: what is computed
            at one place of them follows from what is there.
        inputs: places in the frame, and ranks, of what they read and none of them makes;
            none of another kind.
        outputs: those that make what is used after them.
    """

    steps: tuple[PlannedOp, ...]
    row_steps: tuple[RowStep, ...] = ()
    keeps: int = 0
    inputs: tuple[tuple[int, int], ...] = ()
    outputs: tuple[PlannedOp, ...] = ()


class _Run:
    """A run of ops being grouped."""

    def __init__(self) -> None:
        self.steps: list[PlannedOp] = []
        self.keeps = 0
        self.makes: set[int] = set()
        self.used: set[int] = set()
        self.read: set[int] = set()
        """Values that are used and are no constants."""
        self.waiting: list[int] = []
        """Values that die with an op that was moved ahead, and are read here, too."""

    def add(self, step: PlannedOp) -> bool:
        """Add an op if it works on the group's rows; return whether it was added.

        A view must be of a value of the group. An unrelated op may be replicated over
        other devices than the group, and would not be computed with it.
        """
        keeps = _keeps(step)
        if keeps is None or (self.steps and not self._fits(step, keeps)):
            return False
        is_view = _is_view(step)
        related = not self.makes.isdisjoint(step.uses) or not (
            is_view or self.read.isdisjoint(step.uses)
        )
        if (self.steps or is_view) and not related:
            return False
        self.keeps = min(keeps, self.keeps) if self.steps else keeps
        self.steps.append(step)
        self.makes.update(step.makes)
        self.used.update(step.uses)
        pairs = zip(step.uses, step.op.operands, strict=True)
        self.read.update(at for at, value in pairs if not _is_constant(value))
        return True

    def _fits(self, step: PlannedOp, keeps: int) -> bool:
        common = min(keeps, self.keeps)
        # where fewer dimensions are common the rows of all are longer
        longer = [step] if common == self.keeps else [*self.steps, step]
        shapes = [member.results[0][1] for member in longer]
        first, last = self.steps[0].results[0][1], shapes[-1]
        if not common and (first or last):
            return False
        return first[:common] == last[:common] and all(
            prod(shape[common:]) <= SIZE for shape in shapes
        )

    def moved_ahead(self, step: PlannedOp) -> PlannedOp | None:
        """Return the op in its place ahead of the run, if it needs nothing from here."""
        if step.compiled is None or step.compiled.rows is None:
            return None
        if self.makes & {*step.uses}:
            return None
        staying = [at for at in step.frees if at in self.used]
        if not staying:
            return step
        self.waiting += staying
        frees = tuple(at for at in step.frees if at not in staying)
        return replace(step, frees=frees, last_use=())

    def finish(self) -> list[OpGroup]:
        """Return the groups of the run, and start again.

        Views that nobody here looks at come after it: here they would be copies.
        """
        if not self.steps:
            return []
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
                frees = tuple(place for place in step.frees if place not in early)
                inside[at] = replace(step, frees=frees, last_use=())
                waiting += early
        ordered = [*reversed(inside), *reversed(after)]
        if waiting:
            last = ordered[-1]
            ordered[-1] = replace(last, frees=(*last.frees, *waiting), last_use=())
        count = 0 if all(map(_is_view, inside)) else len(inside)
        single = [OpGroup((step,)) for step in ordered[count:]]
        return [_group(ordered[:count], keeps), *single] if count else single


def _group(steps: Sequence[PlannedOp], keeps: int) -> OpGroup:
    results = {step.makes[0] for step in steps}
    read = {
        at: rank_of(value.type)
        for step in steps
        for at, value in zip(step.uses, step.op.operands, strict=True)
        if at not in results
    }
    dead = {at for step in steps for at in step.frees}
    outputs = tuple(step for step in steps if step.makes[0] not in dead)
    return OpGroup(
        tuple(steps), tuple(_row_steps(steps)), keeps, tuple(read.items()), outputs
    )


def _row_steps(steps: Sequence[PlannedOp]) -> Iterator[RowStep]:
    shapes: dict[int, tuple[int, ...]] = {}
    """Shapes of values that may be written over."""
    short: set[int] = set()
    """Values that are to be repeated, and are not."""
    readers: dict[int, list[PlannedOp]] = {}
    for step in steps:
        for at in step.uses:
            readers.setdefault(at, []).append(step)
    for step in steps:
        _, shape, dtype = step.results[0]
        assert step.compiled is not None and step.compiled.rows is not None
        kernel = step.compiled.rows.kernel
        if _is_repeated_anyway(step, readers.get(step.makes[0], ()), short):
            short.update(step.makes)
            kernel = _itself
        row_step = RowStep(step.op, step.uses, step.makes[0], step.frees, kernel, dtype)
        ufunc = _ufunc_of(step)
        if ufunc is None:
            for at in step.uses:
                shapes.pop(at, None)
            yield row_step
            continue
        dying = (at for at in step.uses if at in step.frees and shapes.get(at) == shape)
        yield replace(row_step, ufunc=ufunc, over=next(dying, None))
        shapes[row_step.makes] = shape


def _itself(x: Array) -> Array:
    return x


def _is_repeated_anyway(
    step: PlannedOp, readers: Sequence[PlannedOp], short: Set[int]
) -> bool:
    """Whether an op repeats its operand only for ufuncs that also read a whole one.

    They do so by themselves, and a view of each stretch takes NumPy as long as what a
    ufunc does before it starts.
    """
    (result,), (_, shape, _) = step.makes, step.results[0]
    if not _is_view(step):
        return False
    before, _ = tensor_of(step.op.operands[0].type)
    if len(before) != len(shape) or not all(
        n in (1, size) for n, size in zip(before, shape, strict=True)
    ):
        return False  # another shape

    def is_whole(at: int, value: SSAValue) -> bool:
        return at not in short and at != result and tensor_of(value.type)[0] == shape

    return any(result in reader.frees for reader in readers) and all(
        _ufunc_of(reader) is not None
        and any(map(is_whole, reader.uses, reader.op.operands))
        for reader in readers
    )


def _ufunc_of(step: PlannedOp) -> np.ufunc | None:
    """Return the ufunc that an op is on arrays of its type, if it is one."""
    rows = None if step.compiled is None else step.compiled.rows
    return UFUNCS.get(rows.kernel) if rows is not None and _is_plain(step) else None


def _is_plain(step: PlannedOp) -> bool:
    """Whether operands and result are of one type, which ufuncs compute in."""
    dtype = step.results[0][2]
    operands = step.op.operands
    return dtype in PLAIN and all(tensor_of(x.type)[1] == dtype for x in operands)


def _is_view(step: PlannedOp) -> bool:
    rows = None if step.compiled is None else step.compiled.rows
    return rows is not None and rows.view


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and not value.owner.operands


def _keeps(step: PlannedOp) -> int | None:
    """Return the dimensions that an op works along row by row; None if it does not."""
    if step.compiled is None or step.compiled.rows is None:
        return None
    _, shape, dtype = step.results[0]
    ranks = {rank_of(value.type) for value in step.op.operands}
    if dtype is None or (len(step.uses) > 1 and ranks != {len(shape)}):
        return None
    keeps = step.compiled.rows.keeps
    return keeps if keeps or not shape else None


def grouped(steps: Sequence[PlannedOp]) -> list[OpGroup]:
    """Return the steps in groups of those that are computed together.

    Others that work row by row, come between them and need none of them go ahead: views
    alone, what is computed as a run of its own.
    """
    groups: list[OpGroup] = []
    run, before = _Run(), _Run()
    for step in steps:
        if run.add(step):
            continue
        ahead = run.moved_ahead(step)
        if ahead is None:
            groups += (*before.finish(), *run.finish())
            if not run.add(step):
                groups.append(OpGroup((step,)))
        elif not before.add(ahead):
            first = before.moved_ahead(ahead) if _is_view(ahead) else None
            if first is not None:
                groups.append(OpGroup((first,)))
                continue
            groups += before.finish()
            if not before.add(ahead):
                groups.append(OpGroup((ahead,)))
    return [*groups, *before.finish(), *run.finish()]


def _mark_deferred(steps: Sequence[PlannedOp]) -> None:
    """Mark the products that only a collective reads, if need be in another shape."""
    readers: dict[int, list[PlannedOp]] = {}
    for step in steps:
        for at in (*step.uses, *(at for _, at in step.captured)):
            readers.setdefault(at, []).append(step)

    def only_reader(step: PlannedOp) -> PlannedOp | None:
        known = readers.get(step.makes[0], ())
        return known[0] if len(known) == 1 else None

    for step in steps:
        if step.compiled is None or step.compiled.deferred is None:
            continue
        reader = only_reader(step)
        while reader is not None and _is_view(reader):
            reader = only_reader(reader)
        step.deferred = (
            reader is not None and reader.shadow is None and type(reader.op) in COMBINES
        )


@dataclass(slots=True)
class RegionPlan:
    """The plan of the one block of a region.

    Attributes:
        captured: values from outside that it uses; in the frame they are before its
            arguments.
        arguments: how many it takes.
        unused: places in the frame of arguments that nobody uses.
        frame: values that are known before a pass.
        repeats: whether values that follow from constants are kept for other passes.
        groups: what a planned run does; empty until there is one.
    """

    steps: list[PlannedOp]
    captured: tuple[SSAValue, ...]
    arguments: int
    unused: tuple[int, ...]
    frame: list[Any]
    repeats: bool
    groups: list[OpGroup] = field(default_factory=list[OpGroup])

    def compile(
        self,
        compiled_op_of: Callable[[Operation], CompiledOp | None],
        evaluate: Callable[[PlannedOp, Sequence[Any]], Array | None],
    ) -> None:
        """Compile the ops, compute what follows from constants, and group the others.

        Args:
            compiled_op_of: compiles an op; None where it has to be run.
            evaluate: computes a step of operands; None where that fails.
        """
        for step in self.steps:
            if step.shadow is None and not step.captured:
                step.compiled = compiled_op_of(step.op)
        _mark_deferred(self.steps)
        known: dict[int, Array] = {}
        kept = 0
        rest: list[PlannedOp] = []
        for step in self.steps:
            value = None
            if (
                step.compiled is not None
                and not step.deferred
                and (
                    not step.uses
                    or (self.repeats and all(at in known for at in step.uses))
                )
            ):
                value = evaluate(step, [known[at] for at in step.uses])
            size = _held_bytes(value) if step.uses and value is not None else 0
            if value is None or kept + size > _KEPT:
                rest.append(step)
            else:
                kept += size
                known[step.makes[0]] = value
        self.groups = grouped(rest)
        for step in rest:
            for at in (*step.uses, *(at for _, at in step.captured)):
                if at in known:
                    self.frame[at] = known[at]


def _held_bytes(value: Array) -> int:
    """Return the memory of an array, repeated elements counted once."""
    distinct = (n for n, step in zip(value.shape, value.strides, strict=True) if step)
    return prod(distinct) * value.itemsize
