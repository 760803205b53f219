"""Programs as Python objects: load, partition, lower, simulate, look.

    import ttxdsl

    program = ttxdsl.load("step.mlir").partition()
    print(program.collectives())
    results = program.lower("ttnn").simulate(x, w)

A `Program` never changes: every method answers with a new one, so that a notebook may
hold the forms of a program beside each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from numpy.typing import ArrayLike, NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.conversion.driver import lowerings, run_passes
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.errors import CompileError, memory_errors
from ttxdsl.diagnostics.remarks import Remark, collect_remarks
from ttxdsl.insight.commands import Commands, printing
from ttxdsl.ir.collector import freeing_old_bodies, without_collections
from ttxdsl.loading.program import (
    Form,
    form_of,
    import_carriers,
    make_context,
    parse_program,
    program_text,
    read_program,
    require_dominance,
    require_no_sizes,
    require_stablehlo,
    text_of,
)
from ttxdsl.loading.trees import Calling, call_arguments
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.pipeline import DESIGN, Hooks, Stage, TTStableHLOPipelinePass
from ttxdsl.transforms.stages.verify_stage import LAST_STAGE
from ttxdsl.universe import load as import_named
from ttxdsl.version import __version__

# What compiling does not need is imported by the methods that do: it takes as long to
# load as a small program takes to compile.
if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ttxdsl.analysis.usage.collectives import CountedCollective
    from ttxdsl.bridges.jax.function import JaxFunction
    from ttxdsl.insight.check.check import CheckReport
    from ttxdsl.insight.doctor.doctor import Diagnosis
    from ttxdsl.insight.why.answers import WhyCollective, WhyProgram, WhySharding
    from ttxdsl.insight.why.explain import Explainer

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _History:
    """How a program came about: what it was loaded as, and what was done to it."""

    source: str
    origin: Program | None = None
    """The program that was partitioned, None for one that was loaded as it is."""
    pipeline: TTStableHLOPipelinePass | None = None
    partitioned: Program | None = None
    """The per-device StableHLO that a ttir or ttnn program was lowered from."""
    num_links: int = 1
    calling: Calling | None = None
    """Of the function that it was made of."""
    stages: tuple[Stage, ...] = ()
    remarks: tuple[Remark, ...] = ()


class Program(Commands):
    """A program in one of its forms: global, per-device, ttir or ttnn.

    Made by `ttxdsl.load` or `ttxdsl.bridges.jax.programs.from_jax`, and by the methods here.
    """

    def __init__(self, module: ModuleOp, history: _History):
        self._module = module
        self._history = history
        self._explainers: dict[tuple[Machine, int, int | None], Explainer] = {}

    # --- what it is ---------------------------------------------------------

    @property
    def module(self) -> ModuleOp:
        """A copy of the xDSL module, to do with as you like."""
        with without_collections():
            return self._module.clone()

    @property
    def source(self) -> str:
        """Where the program was read from."""
        return self._history.source

    @property
    def loaded(self) -> Program:
        """The program as it was before it was partitioned."""
        return self._history.origin or self

    @cached_property
    def form(self) -> Form:
        """The dialect that it computes in."""
        return form_of(self._module)

    @cached_property
    def is_partitioned(self) -> bool:
        """Whether this is the program of one device, with collectives."""
        return self.form != "stablehlo" or is_solved(self._module)

    @cached_property
    def text(self) -> str:
        """The program as MLIR text, which the C++ tools parse too."""
        return program_text(self._module)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What was done to the program since it was loaded, with the time it took."""
        return self._history.stages

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What the compiler said on the way: choices and costs."""
        return self._history.remarks

    @cached_property
    def meshes(self) -> dict[str, Mesh]:
        """The meshes by name; those of a ttir or ttnn file have axes `axis0`, ...."""
        from ttxdsl.dialects.sdy import mesh_table

        return mesh_table(self._shardy)

    @property
    def _shardy(self) -> ModuleOp:
        """The module that still knows shardings: this one, or what it was made of."""
        partitioned = self._history.partitioned
        return self._module if partitioned is None else partitioned._module

    def __repr__(self) -> str:
        from ttxdsl.interpreters.runtime.run import entry_function

        function = entry_function(self._module)
        types = function.function_type
        inputs = ", ".join(str(type_) for type_ in types.inputs)
        outputs = ", ".join(str(type_) for type_ in types.outputs)
        steps = f" after {self.stages[-1].name}" if self.stages else ""
        return (
            f"<Program {self.source} ({self.form}{steps}): ({inputs}) -> ({outputs})>"
        )

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """For notebooks: what comes in and goes out, and which device holds what."""
        from ttxdsl.insight.report.picture import program_html
        from ttxdsl.interpreters.runtime.run import entry_function

        return program_html(
            entry_function(self._shardy), repr(self), self._collectives_or_none()
        )

    # --- compiling ----------------------------------------------------------

    def partition(
        self,
        *,
        mesh: Sequence[int] = (),
        argument_types: str | None = None,
        automatic_arg_analysis: bool = True,
        result_presharded: Sequence[int] = (),
        dump_dir: str | os.PathLike[str] | None = None,
        last_stage: int = LAST_STAGE,
        strict: bool = False,
        version: str = DESIGN,
        optimize: bool = True,
        pad_borders: bool = True,
        propagation: str | None = None,
        reshards: str | None = None,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> Program:
        """The program of one device, by the thirteen stages.

        Args:
            mesh: for a program without shardings, `(1, 8)`: its batch over the last axis.
            argument_types: `main=input,parameter,constant` (stage 2).
            automatic_arg_analysis: find the batch where no argument types say it.
            result_presharded: one 0 or 1 a result; 1 stays on the devices (stage 3).
            dump_dir: write `NN-stage.mlir` after each stage into this folder.
            last_stage: stop after this stage, 1 to 13, to look at what it did.
            strict: refuse what would be computed replicated with a warning.
            version: of tt-mlir's pipeline, `design` or `2026`.
            optimize: let collectives send less than the shardings ask for.
            pad_borders: pad arguments and results that their shardings do not divide;
                callers give and get the shapes of the program all the same.
            propagation, reshards: registered passes that are stages 6 and 8.
            on_stage: called after each stage.

        Raises:
            CompileError: the program cannot be partitioned.
        """
        pipeline = TTStableHLOPipelinePass(
            mesh_shape=tuple(mesh),
            argument_types=argument_types,
            automatic_arg_analysis=automatic_arg_analysis,
            result_presharded=tuple(result_presharded),
            dump_dir=None if dump_dir is None else os.fspath(dump_dir),
            verify_each=True,
            last_stage=last_stage,
            strict=strict,
            version=version,
            optimize=optimize,
            pad_borders=pad_borders,
            propagation=propagation,
            reshards=reshards,
        )
        return self._partitioned(pipeline, on_stage)

    @memory_errors()
    def _partitioned(
        self,
        pipeline: TTStableHLOPipelinePass,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> Program:
        require_stablehlo(self.form)
        module = self.module
        history = _History(
            source=self.source,
            origin=self,
            pipeline=pipeline,
            calling=self._history.calling,
        )
        return self._taken(module, [pipeline], history, on_stage)

    def _taken(
        self,
        module: ModuleOp,
        passes: list[ModulePass],
        history: _History,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> Program:
        """What passes make of a module, with what was done and said in its history."""
        stages: list[Stage] = []
        with collect_remarks() as remarks, freeing_old_bodies():
            for stage in run_passes(make_context(), module, passes):
                stages.append(stage)
                if on_stage is not None:
                    on_stage(stage)
        stages, remarks = [*self.stages, *stages], [*self.remarks, *remarks]
        return Program(
            module, replace(history, stages=tuple(stages), remarks=tuple(remarks))
        )

    def after(self, stage: int) -> Program:
        """The program as it was after a stage of its way, which can run like any.

        Raises:
            CompileError: the program has not been partitioned by `partition`.
        """
        history = self._history
        if history.partitioned is not None:
            return history.partitioned.after(stage)
        if history.origin is None or history.pipeline is None:
            raise CompileError(
                "the program has no stages to look at", hint="call partition() first"
            )
        return history.origin._partitioned(
            replace(history.pipeline, last_stage=stage, dump_dir=None)
        )

    def lower(
        self,
        form: Literal["stablehlo", "ttir", "ttnn"],
        *,
        num_links: int = 1,
        vocabulary: Literal["design", "tt-mlir"] = "design",
    ) -> Program:
        """The program of one device; one that is not partitioned yet is, first.

        Args:
            form: how far to go. StableHLO for tt-mlir is a solved graph that it
                compiles; for the design it is what the stages made.
            num_links: ethernet links that each ttnn collective uses.
            vocabulary: the forms of the design, or those that today's tt-mlir takes.

        Raises:
            CompileError: an op that has no such form, or the program is beyond it.
        """
        if form not in ("stablehlo", "ttir", "ttnn"):
            raise CompileError(f"'{form}' is no form to lower to: say 'ttir' or 'ttnn'")
        program = self if self.is_partitioned else self.partition()
        passes = lowerings(program.form, form, num_links, vocabulary, through=True)
        for lowering in passes:
            # what was loaded or knows the shardings stays as it is
            copy = program is self or program.form == "stablehlo"
            program = program._lowered(lowering, num_links, copy=copy)
        return program

    @memory_errors()
    def _lowered(self, lowering: ModulePass, num_links: int, *, copy: bool) -> Program:
        history = replace(self._history, num_links=num_links)
        if history.partitioned is None and self.form == "stablehlo":
            history = replace(history, partitioned=self)
        with without_collections():
            module = self._module.clone() if copy else self._module
            program = self._taken(module, [lowering], history)
            module.verify()
        return program

    # --- running ------------------------------------------------------------

    @memory_errors()
    def random_inputs(
        self, seed: int = 0, *, max_memory: int | str | None = None
    ) -> list[Array]:
        """One array an argument, of numbers that the program computes numbers with.

        What is under a root is positive, indices are within what they index, scales
        are near one, as the program that was loaded asks for; other floats are normal,
        integers small, booleans fair.

        Args:
            seed: of the random numbers.
            max_memory: see `simulate`.

        Raises:
            CompileError: an argument is no tensor of static shape, or they take more
                memory than they may.
        """
        from ttxdsl.interpreters.inputs import random_inputs
        from ttxdsl.interpreters.runtime.limits import Limits
        from ttxdsl.interpreters.runtime.run import entry_function

        function = entry_function(self.loaded._module)
        Limits.of(max_memory).require_inputs(function)
        return random_inputs(function, seed)

    @memory_errors()
    def simulate(
        self,
        *arrays: ArrayLike | object,
        max_memory: int | str | None = None,
        max_steps: int | None = None,
        **keywords: ArrayLike | object,
    ) -> Any:
        """The results, computed on a virtual mesh with NumPy.

        Arguments and results are global arrays in every form. Arguments may be nested
        in tuples, lists and dictionaries, and in whatever else JAX knows as a tree, in
        the order in which JAX flattens them; a list of numbers is an array.

        Args:
            arrays: one an argument, of the argument's shape and element type; anything
                that NumPy reads, JAX arrays and typed keys too.
            max_memory: bytes (`8 << 30` or `"8GiB"`) that all values may take at once,
                as they are added up before the run starts; by default three quarters
                of what is free.
            max_steps: turns that all loops together may take; by default any number.
            keywords: keyword arguments of the JAX function that the program is of.

        Returns:
            A tuple of arrays; of a program from `from_jax` what the function returns,
            with NumPy's arrays as leaves.

        Raises:
            CompileError: the arrays do not fit, an op cannot be run, or the run needs
                more than it may have.
        """
        from ttxdsl.interpreters.runtime.limits import Limits
        from ttxdsl.interpreters.runtime.run import run_module

        limits = Limits.of(max_memory, max_steps)
        calling = self._history.calling
        inputs = call_arguments(calling, arrays, keywords)
        results = run_module(self._module, inputs, limits=limits)
        return results if calling is None else calling.results(results)

    def to_jax(self, devices: Sequence[Any] | None = None) -> JaxFunction:
        """The per-device program as a JAX function, to run on JAX's devices.

        It is called as `simulate` is, and gives `jax.Array`s with the program's
        shardings; it may stand in other functions that are jitted or exported.
        Arguments that the source donates are donated. One that is not partitioned yet
        is, first; of ttir and ttnn it is what they were made of.

        Args:
            devices: JAX's, in the order of the program's numbers; the first of
                `jax.devices()` by default.

        Raises:
            CompileError: JAX is not installed or has too few devices, or the program
                has something that XLA cannot do.
        """
        from ttxdsl.bridges.jax.function import JaxFunction

        program = self if self.is_partitioned else self.partition()
        module = program._shardy
        if form_of(module) != "stablehlo":
            raise CompileError(
                f"JAX runs StableHLO, and '{self.source}' is {self.form}",
                hint="load the program that it was made of",
            )
        with without_collections():
            return JaxFunction(module.clone(), self._history.calling, devices)

    @memory_errors()
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
        return printing(report, "ttxdsl.cli.methods:check", self.source)

    @memory_errors()
    def report_data(
        self,
        *,
        num_links: int | None = None,
        on_step: Callable[[str], None] | None = None,
        machine: Machine = GENERIC,
        trip_count: int | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """All that a report shows; the keys are those of `ttxdsl.insight.report.trace.data`.

        The program goes through every stage and lowering, from what it was loaded as,
        with the options that it was partitioned with. A lowering that refuses it is
        told in a warning of the report.

        Args:
            num_links: see `lower`; those that it was lowered with by default.
            on_step: called with the name of each step before it starts.
            machine: what it runs on, for times.
            trip_count: how often loops turn of which the program does not say it.
            options: as for `check`.

        Raises:
            CompileError: the program cannot be partitioned.
        """
        from ttxdsl.insight.report.trace.data import Trace

        start, pipeline = self._from_the_start(options)
        module = start.module
        links = self._history.num_links if num_links is None else num_links
        recorder = Trace(module, self.source, machine, trip_count)
        passes = lowerings(start.form, num_links=links)
        if start.form == "stablehlo":
            passes.insert(0, replace(pipeline, dump_dir=None, verify_each=True))

        def before(number: int | None, name: str) -> None:
            if on_step is not None:
                on_step(name if number is None else f"{number} {name}")

        watched = partial(
            run_passes, make_context(), module, hooks=Hooks(before), verify_each=True
        )
        with collect_remarks() as remarks:
            for one in passes:
                try:
                    for step in watched([one]):
                        recorder.step(
                            step.number, step.name, step.seconds, step.skipped
                        )
                except CompileError as error:
                    if one.name == pipeline.name:
                        raise
                    form = one.name.rpartition("-")[2]
                    text = f"it does not lower to {form}: {error.message}"
                    remarks.append(Remark("warning", text, error.position))
                    break
        told = [(one.severity, one.message, one.position) for one in remarks]
        return recorder.data(__version__, told)

    def _from_the_start(
        self, options: dict[str, Any]
    ) -> tuple[Program, TTStableHLOPipelinePass]:
        """What was loaded, and all stages with the options of `partition`."""
        history = self._history
        pipeline = history.pipeline
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
        return history.origin or self, replace(pipeline, last_stage=LAST_STAGE)

    @memory_errors()
    def doctor(self, devices: int, **options: Any) -> Diagnosis:
        """Which mesh of so many devices fits, by compiling the program for several.

        It speaks of the program as it was loaded.

        Args:
            devices: at least 2.
            options: of `ttxdsl.insight.doctor.doctor.diagnose`; with an `executor`, several
                meshes are compiled at once, and what is found is the same.

        Raises:
            CompileError: the program cannot be analyzed, or no mesh can be tried.
        """
        from ttxdsl.insight.doctor.doctor import diagnose

        found = diagnose(self.loaded._module, devices, **options)
        return printing(found, "ttxdsl.cli.methods:doctor", self.source)

    def why(
        self,
        value: str | None = None,
        *,
        argument: int | None = None,
        result: int | None = None,
        collective: int | None = None,
        by: str | None = None,
        machine: Machine = GENERIC,
        tries: int = 16,
        trip_count: int | None = None,
        executor: Executor | None = None,
    ) -> WhySharding | WhyCollective | WhyProgram:
        """Where a sharding or a collective comes from; all collectives by default.

        It speaks of the program as it was loaded, compiled with the options that it
        was partitioned with.

        Args:
            value: why it is sharded so: `%42`, as the loaded program's `text` has it.
            argument: the same of an argument.
            result: the same of a result.
            collective: why `collectives()[K]` is there, and what would help.
            by: what the collectives of a row share, `layer`, `scope`, `parameter`, `axis`,
                `kind`, `cause` or `line`.
            machine: what it runs on, for times.
            tries: how many changes to compile, at most.
            trip_count: how often loops turn of which the program does not say it.
            executor: compiles the changes, several at once; the answer is the same.

        Raises:
            CompileError: there is no such thing, or several are asked for.
        """
        asked = value, argument, result, collective
        if sum(one is not None for one in asked) > 1:
            raise CompileError("why: ask for one thing at a time")
        key = machine, tries, trip_count
        if key not in self._explainers:
            from ttxdsl.insight.why.explain import Explainer

            start = self.loaded
            self._explainers[key] = Explainer(
                start._module,
                source=self.source,
                pipeline=self._history.pipeline,
                machine=machine,
                tries=tries,
                trip_count=trip_count,
            )
        answer = self._explainers[key].answer(*asked, by=by, executor=executor)
        return printing(answer, "ttxdsl.cli.methods:why", machine)

    def collectives(self, trip_count: int | None = None) -> list[CountedCollective]:
        """The collectives of the per-device program, in program order.

        Each says its mesh axes, local tensor, bytes that a device sends in one run,
        how often it runs, and why it is there. A program that is not partitioned has
        those that are written in it.

        Args:
            trip_count: how often loops turn of which the program does not say it; else
                they count as one turn, and `times.is_known` is false.

        Raises:
            CompileError: a ttir or ttnn program that was loaded as such.
        """
        if form_of(self._shardy) != "stablehlo":
            raise CompileError(
                f"collectives are listed of StableHLO, and '{self.source}' is"
                f" {self.form}",
                hint="load the program that it was made of",
            )
        from ttxdsl.analysis.usage.collectives import list_collectives

        return list_collectives(self._shardy, trip_count)

    def _collectives_or_none(self) -> list[CountedCollective] | None:
        known = form_of(self._shardy) == "stablehlo" and self.is_partitioned
        return self.collectives() if known else None


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
            Or what JAX lowered, traced or exported, see `ttxdsl.bridges.jax.programs.from_jax`.
        shapes: sizes of the symbolic dimensions of an exported program, by name.

    Raises:
        CompileError: the file cannot be read, or it is no valid program.
    """
    if isinstance(program, str) and any(c in program for c in "\n{"):
        require_no_sizes("<text>", shapes)
        return program_of_text(program, "<text>")
    if isinstance(program, bytes | bytearray):
        return program_of_text(text_of(bytes(program), "<bytes>", shapes), "<bytes>")
    if not isinstance(program, str | os.PathLike):
        from_jax = import_named("ttxdsl.bridges.jax.programs:from_jax")
        return from_jax(program, shapes=shapes)
    path = Path(cast("str | os.PathLike[str]", program))
    return Program(read_program(path, sizes=shapes), _History(str(path)))


def program_of_text(text: str, source: str) -> Program:
    """A program of MLIR text that came from somewhere.

    Raises:
        CompileError: the text is no valid program.
    """
    return Program(parse_program(text, source), _History(source))


def program_of(
    module: ModuleOp, source: str = "<module>", calling: Calling | None = None
) -> Program:
    """A program of an xDSL module, which is copied.

    Args:
        module: what to compile or run; it is verified.
        source: what to call it.
        calling: how the function is called that it was made of.

    Raises:
        CompileError: an op uses a value that is not defined there.
        VerifyException: the module breaks another rule of its dialects.
    """
    require_dominance(module)
    module.verify()
    copy = module.clone()
    import_carriers(copy, make_context())
    return Program(copy, _History(source, calling=calling))
