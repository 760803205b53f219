"""Asking a program why: one object that compiles it once and answers.

explainer = Explainer(module, text)
explainer.answer("%42")
explainer.collective(3)
explainer.program()
"""

from collections import Counter
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property
from time import process_time

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.attribution.locations import row_names
from ttxdsl.analysis.attribution.marking import mark_authored, mark_written
from ttxdsl.analysis.attribution.purposes import purposes
from ttxdsl.analysis.usage.collectives import sub_axes_texts
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.dialects.sdy import mesh_table
from ttxdsl.insight.why.answers import (
    Answer,
    Counterfactual,
    Necessity,
    WhyCollective,
    WhyProgram,
)
from ttxdsl.insight.why.causes.collectives import TracedCollective, WhyCollectives
from ttxdsl.insight.why.causes.lines import line_costs
from ttxdsl.insight.why.causes.shardings import Shardings
from ttxdsl.insight.why.layers import fold_collectives
from ttxdsl.insight.why.names import Names
from ttxdsl.insight.why.places import Places
from ttxdsl.insight.why.trials.budget import TimeBudget
from ttxdsl.insight.why.trials.compiling import (
    Watch,
    as_stage_4_annotates,
    compile_and_record,
)
from ttxdsl.insight.why.trials.counterfactuals import (
    FEWEST,
    Counterfactuals,
    best,
)
from ttxdsl.insight.why.trials.necessity import Necessities
from ttxdsl.insight.why.trials.wishes import why_not
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.devices.mesh import mesh_titles
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


class Explainer:
    """Answers why shardings and collectives of a program are there.

    Args:
        module: the program before stage 1; it is not changed.
        text: what it was read from, for the names of values; None: as it prints.
        tries: how many changes to compile for one collective, 0 for none; by the
            program's size, and of a large one its time, if None.
        keep: how many of those that help to tell.

    Raises:
        CompileError: the program cannot be compiled.
    """

    def __init__(
        self,
        module: ModuleOp,
        text: str | None = None,
        *,
        source: str = "<module>",
        pipeline: TTStableHLOPipelinePass | None = None,
        machine: Machine = GENERIC,
        tries: int | None = None,
        keep: int = 3,
        trip_count: int | None = None,
        watch: Watch | None = None,
    ):
        self._source = source
        self._pipeline = pipeline or TTStableHLOPipelinePass()
        self.machine = machine
        self._keep = keep
        self._trip_count = trip_count
        kinds: Counter[type[Operation]] = Counter(map(type, all_ops(module)))
        if any(kind.name.partition(".")[0] in ("ttir", "ttnn") for kind in kinds):
            raise CompileError(
                f"'{source}' is lowered already: its shardings are gone",
                hint="ask the StableHLO program that it was made of",
            )
        ops = kinds.total()
        self._tries = _tries(ops, _CHANGES) if tries is None else tries
        # `collective` looks at one, the list at all
        self._list_tries = _tries(ops, _TRIALS) if tries is None else 2 * tries
        mark_authored(module)
        mark_written(module)
        annotated = as_stage_4_annotates(module, self._pipeline)
        module = module if annotated is None else annotated
        self._names = Names(module, text, source)
        start = process_time()
        self._recorded = compile_and_record(
            module, self._pipeline, invented=annotated is not None, watch=watch
        )
        self._budget = None
        if tries is None and ops >= _LARGE:
            taken = process_time() - start
            seconds = _SECONDS - _NOTES * taken
            self._budget = TimeBudget(seconds, _TRIAL * taken)
        self._places = Places(self._recorded, self._names)
        self._shardings = Shardings(self._recorded, self._places)
        self._collectives = WhyCollectives(
            self._recorded, self._shardings, machine, trip_count
        )

    @property
    def remarks(self) -> list[Remark]:
        """The remarks of the compiler."""
        return self._recorded.remarks

    @property
    def axes(self) -> list[tuple[str, int]]:
        """Name and size of the axes of all meshes of the compiled program."""
        meshes = mesh_table(self._recorded.compiled).values()
        return [axis for mesh in meshes for axis in mesh.axes]

    @cached_property
    def _counterfactuals(self) -> Counterfactuals:
        return Counterfactuals(
            self._collectives,
            self._pipeline,
            self._tries,
            self._trip_count,
            self._budget,
        )

    @cached_property
    def _necessities(self) -> Necessities:
        tries = 2 * self._tries if self._tries > FEWEST else FEWEST
        return Necessities(self._counterfactuals, tries)

    def _necessary(
        self, traced: TracedCollective, *, measured: bool = False, others: bool = True
    ) -> WhyCollective:
        """The answer with what it hangs on, and what the program costs without that."""
        sets = self._necessities.of(traced, others=others)
        if sets is None:
            return traced.answer
        edits = [tuple(each.edit for each in annotations) for annotations in sets]
        ask = self._counterfactuals
        # a large program is compiled with few changes: those that may help
        measured = measured and self._tries > FEWEST
        figures = ask.figures_of(edits) if measured else [None] * len(edits)
        necessary: list[Necessity] = []
        for annotations, edits_of_set, known in zip(sets, edits, figures, strict=True):
            changes = tuple(edit.change for edit in edits_of_set)
            outcome = known and Counterfactual(changes, ask.base, known)
            axes = ", ".join(dict.fromkeys(each.axis for each in annotations))
            names = tuple(each.name for each in annotations)
            necessary.append(Necessity(axes, names, changes, outcome))
        return replace(traced.answer, necessary=tuple(necessary))

    def answer(
        self,
        value: str | None = None,
        argument: int | None = None,
        result: int | None = None,
        collective: int | None = None,
        *,
        wish: str | None = None,
        by: str | None = None,
        jobs: int = 1,
        executor: Executor | None = None,
    ) -> Answer:
        """Return the answer to the one question asked, else on all collectives.

        Args:
            value: `%42`, `%5#1`, or `@callee:%42` of a function that is inlined.
            wish: `x=P("data", None)`; x is an argument's path, or a value.
            by: that of `program`; `jobs` and `executor` are those of `collective`.

        Raises:
            CompileError: there is no such thing, or none when shardings are decided.
        """
        asked = value, argument, result, collective, wish
        if by is not None and any(subject is not None for subject in asked):
            raise CompileError(
                f"by='{by}' is of all collectives: ask for no single thing"
            )
        if wish is not None:
            return why_not(wish, self._places, self._shardings, self._counterfactuals)
        if value is not None:
            return self._shardings.of(self._names.find(value))
        if argument is not None:
            return self._shardings.argument(argument)
        if result is not None:
            return self._shardings.result(result)
        if collective is None:
            return self.program(by)
        return self.collective(collective, jobs=jobs, executor=executor)

    def collective(
        self, number: int, *, jobs: int = 1, executor: Executor | None = None
    ) -> WhyCollective:
        """Why a collective is there, and which single changes would help.

        Args:
            number: in the order of `Program.collectives()`, from 0.
            executor: compiles them instead; the answer is the same.

        Raises:
            CompileError: there is no such collective.
        """
        count = len(self._collectives.listed)
        if not 0 <= number < count:
            raise CompileError(
                f"there is no collective {number}",
                hint=f"the program has {count}, numbered from 0"
                if count
                else "the program has none: nothing has to be sent",
            )
        traced = self._collectives.of(number)
        listed, _ = self._collectives.listed[number]
        if parts := sub_axes_texts(
            [listed], mesh_table(self._recorded.compiled).values()
        ):
            details = (*traced.answer.details, *parts)
            traced = replace(traced, answer=replace(traced.answer, details=details))
        if self._tries <= 0 or traced.answer.cause == "written":
            return traced.answer
        tried = self._counterfactuals.of(traced, jobs=jobs, executor=executor)
        removal = min(
            (change for change in tried.helping if change.removes(traced.answer.kind)),
            key=lambda change: (change.figures.program_seconds, change.figures.bytes),
            default=None,
        )
        return replace(
            self._necessary(traced, measured=True),
            tried=tried.compiled,
            failed=tried.failed,
            untried=tried.left,
            counterfactuals=best(tried.helping, self._keep),
            removal=removal,
            needed=_needed_text(traced.answer)
            if not tried.helping and tried.compiled
            else None,
        )

    @property
    def module(self) -> ModuleOp:
        """The program as it was read."""
        return self._recorded.original

    def collectives(self) -> list[WhyCollective]:
        """The reasons of all collectives, without what they hang on."""
        return [traced.answer for traced in self._collectives.all()]

    def program(self, by: str | None = None) -> WhyProgram:
        """All collectives with their reasons and the annotations that caused them.

        Of collectives that are alike the first is told what it hangs on, as far as
        `tries` allows; chains, obstacles and changes are in the answers of `collective`.

        Args:
            by: what those of a row share, one of `reporting.homes.WAYS`; without it they
                are alike but for the layer.

        Raises:
            CompileError: `by` is none of these.
        """
        listed = [collective for collective, _ in self._collectives.listed]
        rows: tuple[str, ...] = ()
        if by is not None:
            rows = row_names(self._recorded.compiled, listed, by)
        collectives = self._collectives.all()
        if self._tries > 0 and not self._recorded.skipped:
            self._necessities.left = self._list_tries
            numbers = [
                group[0].number
                for group in fold_collectives(
                    [collective.answer for collective in collectives], rows
                ).groups
            ]
            for number in numbers:
                traced = collectives[number]
                answer = self._necessary(traced, others=False)
                collectives[number] = replace(traced, answer=answer)
        notes: list[str] = []
        if self._recorded.skipped:
            notes.append("the program came partitioned: stages 5 to 12 were skipped")
        if (guessed := self._counterfactuals.base.guessed) is not None:
            notes.append(guessed)
        meshes = mesh_table(self._recorded.compiled)
        notes += sub_axes_texts(listed, meshes.values())
        return WhyProgram(
            source=self._source,
            meshes=tuple(mesh_titles(meshes)),
            figures=self._counterfactuals.base,
            collectives=tuple(_brief(traced.answer) for traced in collectives),
            summary=purposes(self._recorded.compiled, listed),
            machine=self.machine,
            notes=tuple(notes),
            remarks=tuple(self._recorded.remarks),
            by=by,
            rows=rows,
            causes=line_costs([traced.answer for traced in collectives])[:MOST_CAUSES],
        )


MOST_CAUSES = 5
"""Lines of the program that are told first."""

_CHANGES, _TRIALS = (FEWEST, 16), (0, 32)
"""Compilations for one collective and for the list: of a large program, of a small one."""

_TRIED_OPS = 8_000_000
"""Compilations times the square of a program's ops, if nobody says how many: those of a
program of a few hundred ops take less than starting."""


def _tries(ops: int, limits: tuple[int, int]) -> int:
    """Return the number of times to compile a program of so many ops."""
    least, most = limits
    return max(least, min(most, _TRIED_OPS // max(1, ops**2)))


_LARGE = 2_000
"""Ops from which on time limits the changes that are compiled, if nobody says how many."""

_SECONDS = 3.0
"""The seconds that one collective may take beyond compiling such a program."""

_NOTES, _TRIAL = 0.6, 0.75
"""Of the seconds in which a program is compiled with notes: those that the notes and what
the program costs take, and those of compiling it once more without."""

_MOVES = {
    "all_reduce": "a sum over {count} devices that all of them read",
    "reduce_scatter": "a sum over {count} devices of which each keeps a part",
    "all_gather": "a value of {count} parts that {count} devices read whole",
    "all_to_all": "a value that {count} devices hold split one way and read another",
    "collective_permute": "a part that another device reads",
    "collective_broadcast": "a value that {count} devices read",
}
"""What collectives do, by what is known to move at least as much as a ring does."""


def _needed_text(answer: WhyCollective) -> str:
    """Return why a collective stays: nothing does the same by moving less."""
    does = _MOVES.get(answer.kind, "what it does").format(count=answer.group_size)
    return (
        f"{does} moves at least {bytes_text(answer.bytes)} a device, and no change that"
        " was compiled does without it in less time"
    )


def _brief(answer: WhyCollective) -> WhyCollective:
    """An answer with the origins of its sides, but not the chains from there."""
    return replace(
        answer,
        sides=tuple(
            replace(
                side,
                causes=tuple(replace(cause, steps=()) for cause in side.causes),
                obstacles=(),
            )
            for side in answer.sides
        ),
    )
