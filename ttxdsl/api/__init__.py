"""Programs as Python objects: load, partition, lower, simulate, look.

    import ttxdsl

    program = ttxdsl.load("step.mlir").partition()
    print(program.collectives())
    results = program.lower("ttnn").simulate(x, w)

A `Program` never changes: every method answers with a new one. What can be asked of one is
answered by `ttxdsl.insight` and `ttxdsl.bridges`, imported by the methods that ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast, overload

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.api.forms import Provenance, Stage as Stage
from ttxdsl.api.lists import ListedForm
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.errors import CompileError, memory_errors
from ttxdsl.ir.collector import few_collections, without_collections
from ttxdsl.loading.program import read_program, require_no_sizes, text_of
from ttxdsl.loading.trees import Calling, call_arguments
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.verify_stage import LAST_STAGE

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import ArrayLike

    from ttxdsl.analysis.usage.memory import MemoryProfile
    from ttxdsl.bridges.jax.function import JaxFunction
    from ttxdsl.bridges.xla.comparing import XlaComparison
    from ttxdsl.costs.chips import Chip
    from ttxdsl.insight.budget.check import Findings
    from ttxdsl.insight.check.check import CheckReport
    from ttxdsl.insight.diff.difference import Difference
    from ttxdsl.insight.doctor.doctor import Diagnosis
    from ttxdsl.insight.doctor.prescriptions.answers import Prescriptions
    from ttxdsl.insight.plan.plan import StepPlan
    from ttxdsl.insight.plan.search import Search
    from ttxdsl.insight.run.interpretation import Interpretation
    from ttxdsl.insight.run.outcome import RunOutcome
    from ttxdsl.insight.show.slices import Picture
    from ttxdsl.insight.why.answers import Answer
    from ttxdsl.insight.why.explain import Explainer
    from ttxdsl.loading.processes import Start


@contextmanager
def _asking() -> Generator[None]:
    """Say what part of the package is not there; keep the collector from the program."""
    try:
        with memory_errors(), few_collections():
            yield
    except ModuleNotFoundError as error:
        part = ".".join((error.name or "").split(".")[:2])
        if not part.startswith("ttxdsl."):
            raise
        raise CompileError(f"'{part}' answers this, and it is not installed") from error


class Program(ListedForm):
    """A program in one of its forms: global, per-device, ttir or ttnn.

    Made by `ttxdsl.load` or `ttxdsl.from_jax`, and by the methods here.
    """

    def __init__(self, module: ModuleOp, history: Provenance):
        super().__init__(module, history)
        self._explainers: dict[tuple[Machine, int | None, int | None], Explainer] = {}

    def __repr__(self) -> str:
        from ttxdsl.analysis.calls.function_attributes import entry_function

        types = entry_function(self._module).function_type
        inputs = ", ".join(str(type_) for type_ in types.inputs)
        outputs = ", ".join(str(type_) for type_ in types.outputs)
        steps = f" after {self.stages[-1].name}" if self.stages else ""
        return (
            f"<Program {self.source} ({self.form}{steps}): ({inputs}) -> ({outputs})>"
        )

    def __str__(self) -> str:
        return self.text

    @_asking()
    def _repr_html_(self) -> str:
        """For notebooks: what comes in and goes out, and which device holds what."""
        from ttxdsl.analysis.calls.function_attributes import entry_function
        from ttxdsl.insight.show.picture import program_html

        collectives = self.collectives() if self._is_partitioned_stablehlo else None
        return program_html(entry_function(self._shardy), repr(self), collectives)

    # --- run and checked ----------------------------------------------------

    @_asking()
    def run(
        self,
        *arrays: ArrayLike,
        seed: int = 0,
        by: str | None = None,
        whole: bool = False,
        trip_count: int | None = None,
        max_memory: int | str | None = None,
        max_steps: int | None = None,
        chip: Chip | str | None = None,
        slices: int = 1,
    ) -> RunOutcome:
        """Compile, run on a virtual mesh, and compare with the loaded program on one device.

        The answer says whether all is `ok`, and has `results` with their arrays, the
        `purposes` of what is sent, and `peak_bytes`.

        Args:
            arrays: one an argument; random ones if there are none.
            seed: of these.
            by: one row for all collectives that share it: `kind`, `axis`, `cause`,
                `line`, `layer`, `scope` or `parameter`.
            whole: print each collective and each result in a row.
            trip_count: iterations of loops of which the program does not say it.
            max_memory: bytes (`8 << 30` or `"8GiB"`) that all values may take at once.
            max_steps: iterations that all loops together may take.
            chip: whose memory and time to tell, in `slices`, as in `plan`.

        Raises:
            CompileError: it does not compile, arrays do not fit, or an op cannot be run.
        """
        from ttxdsl.insight.run.outcome import run_program
        from ttxdsl.insight.run.view import print_outcome
        from ttxdsl.interpreters.runtime.limits import Limits

        limits = Limits.of(max_memory, max_steps)
        outcome = run_program(self, arrays, seed, by, trip_count, limits, chip, slices)
        return outcome.shown_by(
            partial(print_outcome, source=self.source, outcome=outcome, whole=whole)
        )

    @_asking()
    def interpret(self, *arrays: ArrayLike, seed: int | None = None) -> Interpretation:
        """Run the program as it is; the results print as MLIR writes constants.

        Args:
            arrays: one an argument.
            seed: of random ones instead.

        Raises:
            CompileError: the arrays do not fit, or an op cannot be run.
        """
        from ttxdsl.insight.run.interpretation import interpret

        return interpret(self, arrays, seed)

    @_asking()
    def to_jax(self, devices: Sequence[Any] | None = None) -> JaxFunction:
        """Return the per-device program as a JAX function, to run on JAX's devices.

        It is called as `simulate` is, and gives `jax.Array`s with the program's
        shardings; it may stand in other functions that are jitted or exported.
        Arguments that the source donates are donated. One that is not partitioned yet
        is, first; of ttir and ttnn it is what they were made of.

        Args:
            devices: JAX's, in the order of the program's numbers; the first of
                `jax.devices()` by default.

        Raises:
            CompileError: JAX is missing or has too few devices, or XLA cannot do it.
        """
        from ttxdsl.bridges.jax.function import JaxFunction

        program = self if self.is_partitioned else self.partition()
        module = program._stablehlo("JAX runs StableHLO, and")
        with without_collections():
            return JaxFunction(module.clone(), self._history.calling, devices)

    @_asking()
    def check(
        self,
        *arrays: ArrayLike | object,
        seeds: Sequence[int] = (0,),
        minimize: bool = True,
        max_memory: int | str | None = None,
        max_steps: int | None = None,
        **options: Any,
    ) -> CheckReport:
        """Run the program after every stage and lowering; stop at the first wrong one.

        It starts from the program as it was loaded, with the options that it was
        partitioned with.

        Args:
            arrays: inputs to try before all others, as `simulate` takes them.
            seeds: of random inputs; inputs tagged with their index are tried besides.
            minimize: whether to look for a small program that shows a failure.
            max_memory: see `simulate`; what the inputs and results that are compared
                take counts as well.
            max_steps: see `simulate`.
            options: of `partition`, for a program that is not partitioned yet: `mesh`,
                `argument_types`, `automatic_arg_analysis`, `result_presharded`.

        Raises:
            CompileError: the program cannot be run or compiled.
        """
        from ttxdsl.insight.check.check import check_steps
        from ttxdsl.insight.check.steps import pipeline_steps
        from ttxdsl.insight.check.view import print_report
        from ttxdsl.interpreters.runtime.limits import Limits

        start, pipeline = self._from_the_start(options)
        steps = pipeline_steps(start._module, pipeline, self._history.num_links)
        limits = Limits.of(max_memory, max_steps)
        inputs = call_arguments(self._history.calling, arrays, {}) if arrays else None
        report = check_steps(
            start._module,
            steps,
            inputs=inputs,
            seeds=seeds,
            minimize=minimize,
            limits=limits,
        )
        return report.shown_by(partial(print_report, source=self.source, report=report))

    # --- asked --------------------------------------------------------------

    @_asking()
    def why(
        self,
        value: str | None = None,
        *,
        argument: int | None = None,
        result: int | None = None,
        collective: int | None = None,
        not_: str | None = None,
        by: str | None = None,
        machine: Machine = GENERIC,
        tries: int | None = None,
        trip_count: int | None = None,
        executor: Executor | None = None,
    ) -> Answer:
        """Explain a sharding or a collective; all collectives by default.

        It speaks of the program as loaded, with the options that it was partitioned with.

        Args:
            value: why it is sharded so: `%42`, as the loaded program's `text` has it.
            argument: the same of an argument.
            result: the same of a result.
            collective: why `collectives()[K]` is there, and what would help.
            not_: `x=P("data")`: what it would cost if x were so, and what is against it.
            by: what the collectives of a row share, `layer`, `scope`, `parameter`, `axis`,
                `kind`, `cause` or `line`.
            machine: what it runs on, for times.
            tries: how many changes to compile, at most; by the program's size if None.
            trip_count: iterations of loops of which the program does not say it.
            executor: compiles the changes, several at once; the answer is the same.

        Raises:
            CompileError: there is no such thing, or several are asked for.
        """
        from ttxdsl.insight.why.explain import Explainer
        from ttxdsl.insight.why.view import print_answer

        asked = value, argument, result, collective
        if sum(part is not None for part in (*asked, not_)) > 1:
            raise CompileError("why: ask for one thing at a time")
        key = machine, tries, trip_count
        if key not in self._explainers:
            start, pipeline = self._from_the_start({})
            self._explainers[key] = Explainer(
                start._module,
                source=self.source,
                pipeline=pipeline,
                machine=machine,
                tries=tries,
                trip_count=trip_count,
            )
        explainer = self._explainers[key]
        answer = explainer.answer(*asked, wish=not_, by=by, executor=executor)
        return answer.shown_by(partial(print_answer, answer=answer, machine=machine))

    @_asking()
    def show(
        self,
        value: str | None = None,
        *,
        argument: int | None = None,
        result: int | None = None,
        devices: bool = False,
    ) -> Picture:
        """Draw which device holds which slice: of arguments and results, or of one value.

        Args:
            value: `%5`, as the program's `text` has it.
            argument: one of the arguments, by its number.
            result: one of the results.
            devices: list every device with its slice.

        Raises:
            CompileError: there is no such value, or it is no tensor.
        """
        from ttxdsl.insight.show.slices import picture_of, print_picture

        after = self.stages[-1].number if self.stages else None
        picture = picture_of(self, value, argument, result, after=after)
        return picture.shown_by(
            partial(print_picture, picture=picture, devices=devices)
        )

    @_asking()
    def diff(
        self,
        other: Self,
        *,
        names: tuple[str, str] = ("this", "other"),
        trip_count: int | None = None,
        chip: Chip | str | None = None,
        slices: int = 1,
    ) -> Difference:
        """Compare what two programs send and hold.

        Args:
            other: what this one is compared with; each is partitioned if it is not yet.
            names: what to call them.
            trip_count: iterations of loops of which the program does not say it.
            chip: whose memory and time to compare, in `slices`, as in `plan`.

        Raises:
            CompileError: one of them cannot be compiled.
        """
        from ttxdsl.insight.diff.difference import difference, side_of
        from ttxdsl.insight.diff.view import print_difference

        sides = (
            side_of(
                *(name, program.per_device().module, trip_count, chip, slices),
                program.loaded.module,
            )
            for name, program in zip(names, (self, other), strict=True)
        )
        answer = difference(*sides)
        return answer.shown_by(partial(print_difference, difference=answer))

    @_asking()
    def budget(
        self,
        *limits: str,
        trip_count: int | None = None,
        chip: Chip | str | None = None,
    ) -> Findings:
        """Compare what the program sends and holds with limits.

        Args:
            limits: each a line as after `// COMM:`; without any, those of its file.
            trip_count: iterations of loops of which the program does not say it.
            chip: whose memory to count, as in `plan`; without one every value is a buffer.

        Raises:
            CompileError: a limit is malformed, there are none, or it does not compile.
        """
        from ttxdsl.insight.budget.check import check_program, print_findings

        findings = check_program(self, limits, trip_count, chip)
        return findings.shown_by(partial(print_findings, findings=findings))

    @_asking()
    def memory(self, chip: Chip | str | None = None) -> MemoryProfile:
        """List what a device holds when it holds most, by name; of a chip as in `plan`."""
        from ttxdsl.analysis.usage.device import usage_on
        from ttxdsl.insight.budget.memory import print_memory

        use = usage_on(self.per_device()._module, chip)
        show = partial(print_memory, profile=use.memory, compiler=use.compiler)
        return use.memory.shown_by(show)

    @_asking()
    def plan(
        self,
        chip: Chip | str,
        *,
        slices: int = 1,
        trip_count: int | None = None,
        tokens: int | None = None,
        variants: bool = True,
        every: bool = False,
        partition: Mapping[str, Any] | None = None,
        on_plan: Callable[[StepPlan], None] | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> StepPlan:
        """Plan a step on chips: whether it fits, how long it takes, what would change it.

        Args:
            chip: what each device is, by name (`ttxdsl.costs.chips.CHIPS`) or described.
            slices: with a network of chips each; consecutive devices are in one.
            trip_count: iterations of loops of which the program does not say it.
            tokens: of all devices in a step; else those of its integer batch.
            variants: whether to plan, some compiled anew, the step with one change each.
            every: all of these, and not what `variants.MOST_OPS` suffices for.
            partition: options of `partition` for a step that is not.
            on_plan, on_step: called with the plan before them, with the name of each.

        Raises:
            CompileError: it cannot be compiled or sliced so, or nobody knows the chip.
        """
        from ttxdsl.insight.plan.variants import Origin, with_variants
        from ttxdsl.insight.plan.view import print_plan
        from ttxdsl.insight.plan.xla import plan_as_xla

        if self.is_partitioned and not partition:
            local = self.per_device()
            module, pipeline = local.module, local._history.pipeline
            origin = Origin(local.loaded._module, pipeline) if pipeline else None
        else:
            start, pipeline = self._from_the_start(dict(partition or {}))
            module, origin = None, Origin(start._module, pipeline)
        given = chip, slices, trip_count, tokens
        plan, usage, origin = plan_as_xla(module, origin, *given)
        if on_plan is not None:
            on_plan(plan)
        if variants:
            plan = with_variants(plan, usage, origin, on_step, every)
        return plan.shown_by(partial(print_plan, source=self.source, plan=plan))

    @_asking()
    def plan_search(
        self,
        chip: Chip | str,
        partition: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Search:
        """Find batch and mesh with which the loaded step fits and is fastest: all compiled.

        Args:
            chip: what each device is, as in `plan`.
            partition: options of `partition`.
            options: of `ttxdsl.insight.plan.search.search`.

        Raises:
            CompileError: it has no mesh, or no candidate compiles; nobody knows the chip.
        """
        from ttxdsl.analysis.usage.device import known_chip
        from ttxdsl.insight.plan.search import search
        from ttxdsl.insight.plan.variants import Origin
        from ttxdsl.insight.plan.view import print_search

        start, pipeline = self._from_the_start(dict(partition or {}))
        answer = search(Origin(start._module, pipeline), known_chip(chip), **options)
        return answer.shown_by(partial(print_search, source=self.source, search=answer))

    @overload
    def doctor(self, devices: None = None, **options: Any) -> Prescriptions: ...

    @overload
    def doctor(self, devices: int, **options: Any) -> Diagnosis: ...

    @_asking()
    def doctor(
        self, devices: int | None = None, **options: Any
    ) -> Prescriptions | Diagnosis:
        """Find which lines would make the program cheaper, or which mesh fits it.

        Each change, and each mesh, is compiled. It speaks of the program as it was loaded.

        Args:
            devices: at least 2, to choose a mesh of so many; without it the program's own
                mesh is kept.
            options: of `prescribe` in `ttxdsl.insight.doctor.prescriptions`; with `devices` of
                `ttxdsl.insight.doctor.doctor.diagnose`: with an `executor`, several
                meshes are compiled at once, and what is found is the same.

        Raises:
            CompileError: the program cannot be analyzed, or no mesh can be tried.
        """
        if devices is None:
            from ttxdsl.insight.doctor.prescriptions.prescribe import prescribe
            from ttxdsl.insight.doctor.prescriptions.view import print_prescriptions

            options.setdefault("pipeline", self._history.pipeline)
            answer = prescribe(self.loaded._module, source=self.source, **options)
            return answer.shown_by(
                partial(print_prescriptions, answer=answer, source=self.source)
            )
        from ttxdsl.insight.doctor.doctor import diagnose
        from ttxdsl.insight.doctor.view import MOST_ROWS, print_diagnosis

        diagnosis = diagnose(self.loaded._module, devices, **options)
        return diagnosis.shown_by(
            partial(
                print_diagnosis,
                diagnosis=diagnosis,
                source=self.source,
                top=MOST_ROWS,
            )
        )

    @_asking()
    def compare_xla(
        self, *arrays: ArrayLike, seed: int = 0, **options: Any
    ) -> XlaComparison:
        """Put results and collectives beside XLA's.

        Args:
            arrays: one an argument; random ones if there are none.
            seed: of these.
            options: of `ttxdsl.bridges.xla.comparing.compare_with_xla`.

        Raises:
            CompileError: JAX is not installed, or one of the two refuses the program.
        """
        import numpy as np

        from ttxdsl.bridges.xla.comparing import compare_with_xla
        from ttxdsl.bridges.xla.view import print_comparison

        inputs = list(map(np.asarray, arrays)) or self.random_inputs(seed)
        comparison = compare_with_xla(self, inputs, **options)
        return comparison.shown_by(partial(print_comparison, comparison=comparison))

    # --- reported -----------------------------------------------------------

    @_asking()
    def report_data(
        self,
        *,
        num_links: int | None = None,
        on_step: Callable[[str], None] | None = None,
        machine: Machine = GENERIC,
        chip: Chip | str | None = None,
        slices: int = 1,
        trip_count: int | None = None,
        tries: int | None = None,
        jobs: int = 1,
        all_axes: bool = False,
        all_stages: bool | None = None,
        seconds: float | None = None,
        count: Start | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """All that a report shows, with the keys of `ttxdsl.insight.report.trace.data`.

        Args:
            num_links: see `lower`; those that it was lowered with by default.
            on_step: called with the name of each step before it starts.
            machine: what it runs on, for times.
            chip: instead of it, in `slices`; memory and times are then those of `plan`.
            trip_count: iterations of loops of which the program does not say it.
            tries: changes to compile for a collective's reason; None: no reasons.
            jobs: processes to compile these in.
            all_axes: whether to show axes of size one, too.
            all_stages: whether to list each; None: not of more than 4,000 ops.
            seconds: how long to look for what to write instead; None: not at all.
            count: begins to count a large program, while it is drawn: `processes.copies`.
            options: as for `check`.

        Raises:
            CompileError: the program cannot be partitioned.
        """
        from ttxdsl.insight.report.trace.data import trace_program

        links = self._history.num_links if num_links is None else num_links
        given = *self._from_the_start(options), links, machine, trip_count, on_step
        return trace_program(
            *given,
            chip=chip,
            slices=slices,
            tries=tries,
            jobs=jobs,
            all_axes=all_axes,
            all_stages=all_stages,
            seconds=seconds,
            count=count,
        )

    @_asking()
    def report(
        self, path: str | os.PathLike[str], *, tries: int = 0, **options: Any
    ) -> None:
        """Write the report: one HTML file that needs no network; see `report_data`.

        Args:
            path: of the file, which is written whole or not at all.
            tries: changes to compile for each collective.
            options: of `report_data`.

        Raises:
            CompileError: it cannot be partitioned, or the file not written (its own).
        """
        from ttxdsl.insight.report.html.page import report_page
        from ttxdsl.loading.files import require_writable, write_whole

        require_writable(Path(path), [Path(self.source)])
        data = self.report_data(tries=tries, **options)
        write_whole(Path(path), report_page(data))

    def _from_the_start(
        self, options: dict[str, Any]
    ) -> tuple[Self, TTStableHLOPipelinePass]:
        """Return what was loaded, and all stages with the options of `partition`."""
        pipeline = self._history.pipeline
        if pipeline is None:
            if "mesh" in options:
                options["mesh_shape"] = tuple(options.pop("mesh"))
            options.setdefault("pad_borders", True)
            pipeline = TTStableHLOPipelinePass(**options)
        elif options:
            raise CompileError(
                f"the program is partitioned already, without {', '.join(options)}",
                hint="start from the program that was loaded",
            )
        return self.loaded, replace(pipeline, last_stage=LAST_STAGE)


@_asking()
def load(
    program: str | bytes | bytearray | os.PathLike[str] | object,
    *,
    shapes: Mapping[str, int] | None = None,
) -> Program:
    """Read a program from a file, or from MLIR text or bytes themselves.

    Args:
        program: a string that has a line break or a brace is text, any other a file
            name, and a `Path` always is a file's. Files and bytes hold text, MLIR
            bytecode, a portable artifact of StableHLO or what
            `jax.export.Exported.serialize` gives; all but text need the `jax` extra.
            Or what JAX lowered, traced or exported, see `from_jax`.
        shapes: sizes of the symbolic dimensions of an exported program, by name.

    Raises:
        CompileError: the file cannot be read, or it is no valid program.
    """
    if isinstance(program, str) and any(c in program for c in "\n{"):
        require_no_sizes("<text>", shapes)
        return Program.of_text(program, "<text>")
    if isinstance(program, bytes | bytearray):
        return Program.of_text(text_of(bytes(program), "<bytes>", shapes), "<bytes>")
    if not isinstance(program, str | os.PathLike):
        return from_jax(program, shapes=shapes)
    path = Path(cast("str | os.PathLike[str]", program))
    return Program(read_program(path, sizes=shapes), Provenance(str(path)))


@_asking()
def from_jax(
    function: Any,
    *args: Any,
    shapes: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> Program:
    """Return the StableHLO program that JAX makes of a function for these arguments.

    The arguments carry the shardings: arrays on a mesh, or `jax.ShapeDtypeStruct`s with a
    `NamedSharding`, which need no memory. Locations are kept, so that errors name the
    lines of the function. The program's arguments are the leaves of `args` and `kwargs` in
    JAX's order, without static ones and those that the function does not use, and its
    results are the leaves of the function's: `program.simulate(*args)` takes what the
    function takes, without static arguments, and returns what it returns.

    Args:
        function: a `jax.jit`ted function; any other callable is jitted. Or what JAX
            made of one with its arguments: traced (`jax.stages.Traced`), lowered
            (`Lowered`) or exported (`jax.export.Exported`).
        args: its arguments, values or `jax.ShapeDtypeStruct`s, with their shardings.
        shapes: sizes of the symbolic dimensions of an exported function, by name; of
            another one, its keyword argument `shapes`.
        kwargs: its keyword arguments.

    Raises:
        CompileError: JAX is not installed; it is no function, or compiled already; an
            exported function has dimensions without a size, or shardings that are not
            in its module.
    """
    from ttxdsl.bridges.jax.programs import traced_module

    return program_of(*traced_module(function, *args, shapes=shapes, **kwargs))


def program_of(
    module: ModuleOp, source: str = "<module>", calling: Calling | None = None
) -> Program:
    """Return a program of an xDSL module, which is copied; see `ProgramForm.of_module`.

    Raises:
        CompileError: an op uses a value that is not defined there.
        VerifyException: the module breaks another rule of its dialects.
    """
    return Program.of_module(module, source, calling)
