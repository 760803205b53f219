"""Our compiler and the real tt-mlir on one program: verdicts, numbers, bytes.

    comparison = compare_with_tt(program)
    print(comparison.alone.answer.error, comparison.agree)

tt-mlir compiles the program twice: as it is, and after our thirteen stages. The result
is run stage by stage on the virtual mesh and compared with the program on one device;
its local StableHLO has the collectives that it inserted and the memory it takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.usage.collectives import CountedCollective, list_collectives
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.api.forms import ProgramForm
from ttxdsl.bridges.export import annotated_module
from ttxdsl.bridges.tt_mlir.compiler import Answer, compile_text
from ttxdsl.bridges.tt_mlir.legalize.prepare_for_tt_mlir import PrepareForTTMLIRPass
from ttxdsl.bridges.tt_mlir.library import LLMBOX
from ttxdsl.bridges.tt_mlir.simulating import StageCheck, check_stages
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.ttcore import MARKS
from ttxdsl.insight.diff.side_by_side import (
    CollectiveRow,
    match_collectives,
    of_both,
)
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits, bytes_of
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.ir.compat.faults.locations import ParsedLoc, source_position
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program, program_text

Array = NDArray[Any]

LOCAL = "shlo_compiler"
"""tt-mlir's module of local StableHLO."""


@dataclass(frozen=True, slots=True)
class Way:
    """The result of one way of compiling the program with tt-mlir.

    Attributes:
        answer: tt-mlir's; None if our compiler refused the program before.
        refusal: what our compiler says against it.
        stopped_by: the op that tt-mlir names, and its place in the user's file.
        checks: how each stage that it made computes.
        not_run: why there is no verdict: the program cannot be run on one device.
    """

    answer: Answer | None
    refusal: str | None = None
    stopped_by: tuple[str, str | None] | None = None
    checks: tuple[StageCheck, ...] = ()
    not_run: str | None = None

    @property
    def ok(self) -> bool:
        """Whether tt-mlir compiles it, and each stage computes what the program does."""
        compiled = self.answer is not None and self.answer.ok
        return compiled and all(check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """One line: compiled, wrong, refused by whom and why."""
        if self.answer is None:
            return f"refused before tt-mlir is asked: {self.refusal}"
        if not self.answer.ok:
            return f"refused: {self.answer.error}"
        wrong = next((check for check in self.checks if check.is_wrong), None)
        if wrong is not None:
            return f"compiles, and {wrong.stage} is wrong"
        unknown = [check.stage for check in self.checks if not check.compared]
        if not unknown:
            return "compiles"
        return f"compiles; not compared: {', '.join(unknown)}"


@dataclass(frozen=True, slots=True)
class TtComparison:
    """A program through both compilers.

    Attributes:
        alone: tt-mlir on the program itself.
        through: tt-mlir on what our stages make of it.
        collectives: ours beside those that it puts in alone; None if it did not get
            so far.
        memory: the largest number of bytes that a device holds: ours, and its own.
    """

    source: str
    alone: Way
    through: Way
    collectives: tuple[CollectiveRow[CountedCollective], ...] | None
    memory: tuple[int | None, int | None]

    @property
    def agree(self) -> bool:
        """Whether tt-mlir takes our program and its result is right."""
        right = self.through.ok and all(check.ok for check in self.alone.checks)
        return right and self.through.not_run is None

    @property
    def unknown(self) -> bool:
        """Whether nothing is refused or wrong, but something cannot be read or run here."""
        compiled = self.through.answer is not None and self.through.answer.ok
        checks = (*self.through.checks, *self.alone.checks)
        wrong = any(check.is_wrong for check in checks)
        return compiled and not wrong and not self.agree

    @property
    def bytes(self) -> tuple[int, int] | None:
        """The bytes that a device sends in all: ours, tt-mlir's own."""
        if self.collectives is None:
            return None
        return of_both(row.bytes for row in self.collectives)


def _op_of_line(text: str, module: ModuleOp, line: int) -> Operation | None:
    """Return the op of a module whose text (without locations) begins at a line."""
    for read, op in zip(all_ops(parse_program(text)), all_ops(module), strict=True):
        place = read.location
        if isinstance(place, ParsedLoc) and place.position.split(":")[-2] == str(line):
            return op
    return None


def _read(local: str) -> ModuleOp | None:
    """The module of a text of tt-mlir's; None if it cannot be read, as its check says."""
    try:
        return parse_program(local, LOCAL)
    except CompileError:
        return None


def _peak(module: ModuleOp) -> int | None:
    try:
        return memory_profile(module).peak_bytes
    except CompileError:
        return None


def _way(
    module: ModuleOp, inputs: Sequence[Array], descriptor: Path, timeout: float
) -> Way:
    """Compile a module with tt-mlir and run the result."""
    text = program_text(module, locations=False)
    answer = compile_text(text, descriptor=descriptor, timeout=timeout)
    stopped_by = None
    if answer.line is not None:
        op = _op_of_line(text, module, answer.line)
        if op is not None:
            stopped_by = op.name, source_position(op.location)
    try:
        return Way(answer, None, stopped_by, check_stages(answer, text, inputs))
    except CompileError as error:
        return Way(answer, None, stopped_by, not_run=error.message)


def _through(
    program: ProgramForm,
    partition: dict[str, Any],
    inputs: Sequence[Array],
    descriptor: Path,
    timeout: float,
) -> Way:
    try:
        partitioned = program.partition(**partition).module
        PrepareForTTMLIRPass().apply(make_context(), partitioned)
    except CompileError as error:
        return Way(None, error.message)
    return _way(partitioned, inputs, descriptor, timeout)


def compare_with_tt(
    program: ProgramForm,
    inputs: Sequence[Array] | None = None,
    *,
    descriptor: Path = LLMBOX,
    timeout: float = 300,
    limits: Limits = NO_LIMITS,
    **partition: Any,
) -> TtComparison:
    """Compile a program with tt-mlir, alone and through our stages, and run what it makes.

    Args:
        program: as it was loaded, not partitioned.
        inputs: global arrays, one an argument; random ones if not given.
        descriptor: the machine that tt-mlir compiles for.
        timeout: seconds that it may take for one question.
        limits: how much the program on one device may take.
        partition: options of `ProgramForm.partition`.

    Raises:
        CompileError: tt-mlir is not installed, or our stages refuse the program.
    """
    if program.stages:
        raise CompileError(
            f"'{program.source}' is partitioned already: there is nothing to compare",
            hint="compare the program that it was made of",
        )
    arrays = list(program.random_inputs() if inputs is None else inputs)
    Runner(program.module, limits=limits).require_room(bytes_of(arrays))
    ours = program.partition(**partition)
    module = annotated_module(program, partition, kept=MARKS)
    alone = _way(module, arrays, descriptor, timeout)
    through = _through(program, partition, arrays, descriptor, timeout)
    theirs = alone.answer.stages.get(LOCAL) if alone.answer is not None else None
    local = None if theirs is None else _read(theirs)
    return TtComparison(
        source=program.source,
        alone=alone,
        through=through,
        collectives=None
        if local is None
        else match_collectives(
            ours.collectives(),
            list_collectives(local),
            lambda collective: collective.axes,
        ),
        memory=(_peak(ours.module), None if local is None else _peak(local)),
    )
