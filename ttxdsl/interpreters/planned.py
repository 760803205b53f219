"""What there is to do in a region, found out once.

Each op's operands, results and what dies with it are places in a list, the frame of a
pass; what follows from constants alone is known from the first pass on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from ttxdsl.interpreters.elements import DType, rank_of
from ttxdsl.interpreters.prepared import Prepared

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


@dataclass(frozen=True, slots=True)
class Together:
    """Elementwise ops that follow each other, or one op of another kind.

    Attributes:
        steps: the ops.
        inputs: places in the frame of what they read and none of them makes; none of
            another kind.
        outputs: those that make what is used after them.
    """

    steps: tuple[PlannedOp, ...]
    inputs: tuple[int, ...] = ()
    outputs: tuple[PlannedOp, ...] = ()


def _is_elementwise(step: PlannedOp) -> bool:
    if step.prepared is None or step.prepared.each is None:
        return False
    _, shape, dtype = step.results[0]
    operands = step.op.operands[: len(step.uses)]
    return dtype is not None and all(rank_of(x.type) == len(shape) for x in operands)


def runs_of(steps: Sequence[PlannedOp]) -> list[Together]:
    """Steps, in their order, those that may be computed together as one."""
    found: list[Together] = []
    run: list[PlannedOp] = []
    for step in steps:
        if _is_elementwise(step):
            if run and step.results[0][1] != run[0].results[0][1]:
                found.append(_together(run))
                run = []
            run.append(step)
            continue
        if run:
            found.append(_together(run))
            run = []
        found.append(Together((step,)))
    return found + ([_together(run)] if run else [])


def _together(steps: list[PlannedOp]) -> Together:
    made = {step.makes[0] for step in steps}
    read = dict.fromkeys(at for step in steps for at in step.uses if at not in made)
    dead = {at for step in steps for at in step.frees}
    outputs = tuple(step for step in steps if step.makes[0] not in dead)
    return Together(tuple(steps), tuple(read), outputs)


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
        first: the steps of the first pass; where many follow all alone, since what follows
            from constants is looked for.
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
        alone = [Together((step,)) for step in self.steps]
        self.first = runs_of(self.steps) if self.once else alone

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
