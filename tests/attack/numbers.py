"""Mutants through the API: load, partition, lower, simulate; numbers as on one device.

outcomes = check_numbers(7)
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from math import prod
from typing import TypeVar
from unittest import mock

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import VerifyException

import ttxdsl
from tests.attack.isolation import Finding
from tests.attack.mutants import Mutant, jax_mutant_of, mutant_of
from tests.differential.campaign import Outcome
from tests.differential.forms import (
    ROUNDED_REPLICAS,
    Array,
    close,
    hold_against,
    spread,
)
from tests.differential.partitioning import REFUSED, arguments_of, only_moves
from ttxdsl.api import Program
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.interpreters.kernels import indexing, reduction
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.runtime.regions import LimitError
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.stages.inline import InlinePass

MAX_ELEMENTS = 1 << 22
"""Programs whose values have more are compiled and not run: tests of sizes do that."""

_WITH_BODIES = {
    "stablehlo.scatter",
    "stablehlo.sort",
    "stablehlo.reduce",
    "stablehlo.reduce_window",
    "stablehlo.all_reduce",
    "stablehlo.reduce_scatter",
    "stablehlo.collective_reduce",
}

BETWEEN = "a stage before 13"

MAX_STEPS = 2_000
MAX_MEMORY = 1 << 30

T = TypeVar("T")


def refusal(error: CompileError, *, all_stages: bool = False) -> None:
    """See that a refusal says what is wrong and is not the compiler's own fault.

    Args:
        error: the refusal.
        all_stages: every stage has seen the program, so that what `verify-stage` finds
            is the fault of one.

    Raises:
        Finding: it does not, or it is.
    """
    text = str(error)
    if not error.message.strip():
        raise Finding("a refusal without a message") from error
    if all_stages and "should have seen to that" in text:
        kind = text.split("error: ", 1)[-1].partition(" after stage")
        raise Finding(f"a stage left what it removes: {kind[0][-60:]}") from error


def _attempt(step: str, work: Callable[[], T]) -> T | Outcome:
    """What the work makes, or the outcome if the program is refused.

    Every other exception is a finding, also VerifyException: the input was verified, so
    it is a step that made something invalid.
    """
    try:
        return work()
    except ReplicaMismatchError:
        raise
    except CompileError as error:
        refusal(error, all_stages=True)
        return step, REFUSED


def has_edges(module: ModuleOp) -> bool:
    """Whether the program is half-way through propagation.

    What its data flow edges say may contradict the ops that they are of: no verifier
    looks at that, neither in C++, before the edges are sunk.
    """
    return any(isinstance(op, sdy.DataFlowEdgeOp) for op in module.walk())


def is_invalid_inlined(module: ModuleOp) -> bool:
    """Whether a constant that goes through a call breaks a rule of who uses it.

    The module is changed.
    """
    try:
        InlinePass().apply(make_context(), module)
        module.verify()
    except CompileError:
        return False
    except VerifyException:
        return True
    return False


def _runs_on_one_device(program: Program, seed: int) -> _Numbers | Outcome:
    """The numbers that all forms are held against, or why there are none."""
    where = "one device"
    if not 0 <= _elements(program.module) <= MAX_ELEMENTS:
        return where, "too large, or of no size"
    try:
        return _attempt(where, lambda: _Numbers(program, seed))
    except ReplicaMismatchError:
        return where, "calls values replicas that differ"


def _elements(module: ModuleOp) -> int:
    """Of the largest value; -1 if an argument has no size."""
    types = [result.type for op in module.walk() for result in op.results]
    arguments = [
        type_
        for op in module.ops
        if isinstance(op, FuncOp)
        for type_ in op.function_type.inputs
    ]
    shapes = [t.get_shape() for t in (*types, *arguments) if isinstance(t, TensorType)]
    if any(isinstance(t, TensorType) and not t.has_static_shape() for t in arguments):
        return -1
    return max((prod(shape) for shape in shapes if -1 not in shape), default=0)


def _neighbours(size: int) -> Iterator[tuple[Array, Array]]:
    """Rounds that sort by exchanging neighbours only, see `indexing.merge_exchange`."""
    for turn in range(size):
        low = np.arange(turn % 2, size - 1, 2)
        yield low, low + 1


def _all_pairs(size: int) -> Iterator[tuple[Array, Array]]:
    """Rounds that sort by exchanging each element with every later one."""
    for low in range(size):
        for high in range(low + 1, size):
            yield np.array([low]), np.array([high])


_reduce_named = reduction.reduce_named


def _axis_by_axis(name: str, x: Array, axes: tuple[int, ...]) -> Array:
    """The same as `reduction.reduce_named`, in another order."""
    for axis in sorted(axes, reverse=True):
        x = _reduce_named(name, np.flip(x, axis), (axis,))
    return x


def _in_turn(
    arrays: reduction.Arrays, axis: int, combine: reduction.Combine
) -> reduction.Arrays:
    """One element after the other, where `reduction.fold` combines neighbours."""
    total, *others = (
        tuple(np.take(x, [i], axis) for x in arrays)
        for i in range(arrays[0].shape[axis])
    )
    return functools.reduce(combine, others, total)


_write = indexing._write  # pyright: ignore[reportPrivateUsage]


def _last_first(
    results: reduction.Arrays,
    places: Array,
    values: reduction.Arrays,
    update: reduction.Reducer | None,
) -> reduction.Arrays:
    """Updates of one element in the other order than those of `indexing.scatter`."""
    return _write(results, places[::-1], tuple(x[::-1] for x in values), update)


class _Numbers:
    """One program in all its forms."""

    def __init__(self, program: Program, seed: int) -> None:
        self.program = program
        self.module = program.module
        self.tagged = only_moves(self.module)
        names = {op.name for op in self.module.walk()}
        self.bits = "stablehlo.bitcast_convert" in names
        self.has_bodies = bool(names & _WITH_BODIES)
        self.arguments = arguments_of(self.module, seed, tagged=self.tagged)
        self.wanted = self.run(program)
        self._noise: list[Array] | None = None

    def noise(self) -> list[Array]:
        if self._noise is None:
            self._noise = spread(self.module, self.arguments)
        return self._noise

    def run(self, program: Program) -> tuple[Array, ...]:
        return program.simulate(
            self.arguments, max_steps=MAX_STEPS, max_memory=MAX_MEMORY
        )

    def is_defined(self) -> bool:
        """Whether another order of sorting, combining and writing gives the same.

        A comparator that is no order, a reducer that is not associative and updates of
        one element may give anything: the specification leaves their order open.
        """
        for rounds in (_neighbours, _all_pairs):
            with (
                mock.patch.object(indexing, "merge_exchange", rounds),
                mock.patch.object(indexing, "_write", _last_first),
                mock.patch.object(reduction, "fold", _in_turn),
                mock.patch.object(reduction, "reduce_named", _axis_by_axis),
            ):
                again = self.run(self.program)
            if not all(map(close, again, self.wanted)):
                return False
        return True

    def hold(self, form: str, program: Program) -> Outcome:
        """Run a form of the program and hold it against one device.

        Raises:
            Finding: a number differs by more than rounding.
        """
        try:
            found = self.run(program)
        except ReplicaMismatchError as error:
            # the same sum, done in another order by NumPy for another device
            if not close(error.found, error.expected):
                raise Finding(f"{form}: replicas differ") from error
            return form, ROUNDED_REPLICAS
        except LimitError:
            return form, "too much to run here"
        except CompileError as error:
            if form == BETWEEN and "several meshes" in error.message:
                return form, REFUSED  # as a later stage would
            raise Finding(f"{form} cannot be run: {error.message[:60]}") from error
        try:
            outcome = hold_against(
                form,
                found,
                self.wanted,
                self.noise,
                exactly=self.tagged,
                bits=self.bits,
            )
        except AssertionError as error:
            if self.has_bodies and not self.is_defined():
                return form, "what it gives is left open"
            raise Finding(f"{form}: a number is wrong") from error
        return form, outcome


def attack_numbers(text: str, seed: int) -> list[Outcome]:
    """What came of a program on each form of its way down.

    Raises:
        Exception: a wrong number, an exception that is no refusal, something invalid.
    """
    rng = random.Random(f"numbers {seed}")
    with collect_remarks():
        program = _attempt("reading", lambda: ttxdsl.load(f"{text}\n"))
        if isinstance(program, tuple):
            return [program]
        outcomes: list[Outcome] = [("reading", "valid")]
        if has_edges(program.module):
            return [*outcomes, ("stage 13", "has data flow edges")]
        if is_invalid_inlined(program.module):
            return [*outcomes, ("inlined", "invalid")]
        numbers = _runs_on_one_device(program, seed)
        outcomes.append(
            numbers if isinstance(numbers, tuple) else ("one device", "runs")
        )

        def go(form: str, work: Callable[[], Program]) -> Program | None:
            made = _attempt(form, work)
            if isinstance(made, tuple):
                outcomes.append(made)
                return None
            if isinstance(numbers, _Numbers):
                outcomes.append(numbers.hold(form, made))
            else:
                outcomes.append((form, "compiled"))
            return made

        if program.is_partitioned:
            outcomes.append(("stage 13", "partitioned already"))
            partitioned: Program | None = program
        else:
            if rng.random() < 0.25:
                stage = rng.randrange(1, 13)
                go(BETWEEN, lambda: program.partition(last_stage=stage))
            partitioned = go("stage 13", program.partition)
        if partitioned is not None:
            ttir = go("ttir", lambda: partitioned.lower("ttir"))
            if ttir is not None:
                go("ttnn", lambda: ttir.lower("ttnn"))
    return outcomes


def _check(mutant: Mutant, seed: int) -> list[Outcome]:
    return attack_numbers(mutant.text, seed)


def check_numbers(seed: int) -> list[Outcome]:
    """What came of a mutant; see `attack_numbers`."""
    return _check(mutant_of(seed), seed)


def check_jax_numbers(seed: int) -> list[Outcome]:
    """What came of a mutant of the JAX corpus."""
    return _check(jax_mutant_of(seed), seed)
