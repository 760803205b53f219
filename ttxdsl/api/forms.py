"""A program and the forms that it takes: partitioned, lowered, and run in each of them.

Tools that look at programs (`ttxdsl.insight`, `ttxdsl.bridges`) take a `ProgramForm`; what
people hold is a `ttxdsl.api.Program`, which can be asked besides.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.attribution.marking import mark_authored, mark_written
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.conversion.driver import lowerings, run_passes
from ttxdsl.diagnostics.errors import CompileError, memory_errors
from ttxdsl.diagnostics.remarks import Remark, collect_remarks
from ttxdsl.ir.collector import freeing_old_bodies, without_collections
from ttxdsl.loading.program import (
    Form,
    form_of,
    import_foreign_shardings,
    make_context,
    parse_program,
    program_text,
    require_dominance,
    require_stablehlo,
)
from ttxdsl.loading.trees import Calling, call_arguments
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.pipeline import DESIGN, Hooks, Stage, TTStableHLOPipelinePass
from ttxdsl.transforms.stages.verify_stage import LAST_STAGE, verify_stage

# What compiling does not need is imported by the methods that do: it takes as long to
# load as a small program takes to compile.
if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ttxdsl.analysis.usage.collectives import CountedCollective

    Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a program: its source, and the steps taken since."""

    source: str
    origin: ProgramForm | None = None
    """The program that was partitioned, None for one that was loaded as it is."""
    pipeline: TTStableHLOPipelinePass | None = None
    partitioned: ProgramForm | None = None
    """The per-device StableHLO that a ttir or ttnn program was lowered from."""
    num_links: int = 1
    calling: Calling | None = None
    """Of the function that it was made of."""
    stages: tuple[Stage, ...] = ()
    remarks: tuple[Remark, ...] = ()


class ProgramForm:
    """A program in one of its forms: global, per-device, ttir or ttnn.

    It never changes: every method answers with a new one.
    """

    def __init__(self, module: ModuleOp, history: Provenance):
        if history.origin is None and not history.stages:
            mark_authored(module)
            mark_written(module)
        self._module = module
        self._history = history

    @classmethod
    def of_text(cls, text: str, source: str) -> Self:
        """Read MLIR text.

        Raises:
            CompileError: the text is no valid program.
        """
        return cls(parse_program(text, source), Provenance(source))

    @classmethod
    def of_module(
        cls, module: ModuleOp, source: str = "<module>", calling: Calling | None = None
    ) -> Self:
        """Take a copy of an xDSL module.

        Args:
            module: to compile or run; it is verified.
            source: what to call it.
            calling: of the function that it was made of.

        Raises:
            CompileError: an op uses a value that is not defined there.
            VerifyException: the module breaks another rule of its dialects.
        """
        require_dominance(module)
        module.verify()
        copy = module.clone()
        import_foreign_shardings(copy, make_context())
        return cls(copy, Provenance(source, calling=calling))

    # --- what it is ---------------------------------------------------------

    @property
    def module(self) -> ModuleOp:
        """A copy of the xDSL module, to do with as you like."""
        with without_collections():
            return self._module.clone()

    @property
    def shared_module(self) -> ModuleOp:
        """The xDSL module itself, for who only reads it: a copy costs as much as a pass."""
        return self._module

    @property
    def source(self) -> str:
        """The source that the program was read from."""
        return self._history.source

    @property
    def loaded(self) -> Self:
        """The program as it was before it was partitioned."""
        return cast(Self, self._history.origin or self)

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
        """The stages that the program went through since loading, with their times."""
        return self._history.stages

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The remarks of the compiler: choices and costs."""
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
        local_random_bits: bool = False,
        propagation: str | None = None,
        reshards: str | None = None,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> Self:
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
            local_random_bits: draw a part of random bits on each device, see the pipeline.
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
            last_stage=last_stage,
            strict=strict,
            version=version,
            optimize=optimize,
            pad_borders=pad_borders,
            local_random_bits=local_random_bits,
            propagation=propagation,
            reshards=reshards,
        )
        return self._partitioned(pipeline, on_stage)

    @memory_errors()
    @without_collections()
    def _partitioned(
        self,
        pipeline: TTStableHLOPipelinePass,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> Self:
        require_stablehlo(self.form)
        module = self.module
        history = Provenance(
            source=self.source,
            origin=self,
            pipeline=pipeline,
            calling=self._history.calling,
        )
        program = self._taken(module, [pipeline], history, on_stage)
        verify_stage(program._module, pipeline.last_stage)
        return program

    def _taken(
        self,
        module: ModuleOp,
        passes: list[ModulePass],
        history: Provenance,
        on_stage: Callable[[Stage], None] | None = None,
    ) -> Self:
        """Return the program after passes; its history has their stages and remarks."""
        stages: list[Stage] = []
        with collect_remarks() as remarks, freeing_old_bodies():
            hooks = Hooks(looks=on_stage is not None)
            for stage in run_passes(make_context(), module, passes, hooks):
                stages.append(stage)
                if on_stage is not None:
                    on_stage(stage)
            module.verify()
        stages, remarks = [*self.stages, *stages], [*self.remarks, *remarks]
        return type(self)(
            module, replace(history, stages=tuple(stages), remarks=tuple(remarks))
        )

    def after(self, stage: int) -> Self:
        """The program as it was after a stage of its way, which can run like any.

        Raises:
            CompileError: the program has not been partitioned by `partition`.
        """
        history = self._history
        if history.partitioned is not None:
            return cast(Self, history.partitioned.after(stage))
        if history.origin is None or history.pipeline is None:
            raise CompileError(
                "the program has no stages to look at", hint="call partition() first"
            )
        pipeline = replace(history.pipeline, last_stage=stage, dump_dir=None)
        return self.loaded._partitioned(pipeline)

    def per_device(self, mesh: Sequence[int] = (), **options: Any) -> Self:
        """The per-device program in StableHLO; one that is global is partitioned.

        Args:
            mesh: devices for a global one without shardings.
            options: of `partition` for a global one.

        Raises:
            CompileError: it cannot be partitioned, or is ttir or ttnn read from a file.
        """
        if self.form != "stablehlo":
            try:
                return self.after(LAST_STAGE)
            except CompileError as error:
                raise CompileError(
                    f"budgets hold for StableHLO, and '{self.source}' is {self.form}",
                    hint="check the program that it was made of",
                ) from error
        if self.is_partitioned:
            return self
        return self.partition(mesh=tuple(mesh), **options)

    def lower(
        self,
        form: Literal["stablehlo", "ttir", "ttnn"],
        *,
        num_links: int = 1,
        vocabulary: Literal["design", "tt-mlir"] = "design",
    ) -> Self:
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
    def _lowered(self, lowering: ModulePass, num_links: int, *, copy: bool) -> Self:
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
        from ttxdsl.analysis.calls.function_attributes import entry_function
        from ttxdsl.interpreters.inputs import random_inputs
        from ttxdsl.interpreters.runtime.limits import Limits

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
            max_steps: iterations that all loops together may take; by default any number.
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

    @without_collections()
    def collectives(self, trip_count: int | None = None) -> list[CountedCollective]:
        """List the collectives of the per-device program, in program order.

        Each says its mesh axes, local tensor, bytes that a device sends in one run,
        how often it runs, and why it is there. A program that is not partitioned has
        those that are written in it.

        Args:
            trip_count: iterations of loops of which the program does not say it; else
                they count as one, and `times.is_known` is false.

        Raises:
            CompileError: a ttir or ttnn program that was loaded as such.
        """
        module = self._stablehlo("collectives are listed of StableHLO, and")
        from ttxdsl.analysis.usage.collectives import list_collectives

        return list_collectives(module, trip_count)

    @property
    def _is_partitioned_stablehlo(self) -> bool:
        return form_of(self._shardy) == "stablehlo" and self.is_partitioned

    def _stablehlo(self, need: str) -> ModuleOp:
        """Return the StableHLO that this is or was made of."""
        if form_of(self._shardy) != "stablehlo":
            raise CompileError(
                f"{need} '{self.source}' is {self.form}",
                hint="load the program that it was made of",
            )
        return self._shardy
