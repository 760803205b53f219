"""The steps of a compilation, each a pass that can be run and named alone."""

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import ArgSpecParseError

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.conversion.driver import lowerings
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.boundary import require_structured, require_tensors
from ttxdsl.loading.program import form_of
from ttxdsl.transforms.pipeline import (
    FIRST_SHARDING_STAGE,
    LAST_SHARDING_STAGE,
    TTStableHLOPipelinePass,
)
from ttxdsl.transforms.stages.verify_stage import LAST_STAGE, verify_stage
from ttxdsl.universe import passes


def pass_text(compiler_pass: ModulePass) -> str:
    """A pass with its options as MLIR writes them, `name{first-stage=3}`."""
    spec = compiler_pass.spec()
    options = {key.replace("_", "-"): value for key, value in spec.parameters.items()}
    return str(ArgSpec(spec.name, options))


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of the way down.

    `number` is that of the stage, None for lowerings and passes by name.
    """

    number: int | None
    name: str
    compiler_pass: ModulePass

    @property
    def spec(self) -> str:
        """The pass as `-p` takes it."""
        return pass_text(self.compiler_pass)

    def verify(self, module: ModuleOp) -> None:
        """Check what has to hold after the step.

        Raises:
            VerifyException: an op breaks a rule of its dialect.
            CompileError: something is left that the stage removes, or missing.
        """
        module.verify()
        if self.number is not None:
            verify_stage(module, self.number)

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.number} {self.name}"


def pipeline_steps(
    module: ModuleOp, pipeline: TTStableHLOPipelinePass, num_links: int = 1
) -> list[Step]:
    """The thirteen stages (those that a solved program skips left out) and lowerings.

    Args:
        module: the program, in any form; a ttir program only has the last lowering.
        pipeline: options of the stages; all stages up to `last_stage` are taken, and
            the lowerings if that is the last.
        num_links: of the collectives in ttnn.

    Raises:
        UnsupportedError: it takes or returns what is no tensor.
    """
    form = form_of(module)
    steps = _stages(module, pipeline) if form == "stablehlo" else []
    if steps and pipeline.last_stage < LAST_STAGE:
        return steps
    passes = lowerings(form, num_links=num_links)
    return [*steps, *(Step(None, lowering.name, lowering) for lowering in passes)]


def _stages(module: ModuleOp, pipeline: TTStableHLOPipelinePass) -> list[Step]:
    require_structured(module)
    require_tensors(entry_functions(module))
    names = [stage.name for stage in pipeline.stages()]
    # on its way a program may look solved; that is asked at the start only
    early = pipeline.first_stage <= FIRST_SHARDING_STAGE
    solved = early and is_solved(module)
    steps: list[Step] = []
    for number in range(pipeline.first_stage, pipeline.last_stage + 1):
        if solved and FIRST_SHARDING_STAGE <= number <= LAST_SHARDING_STAGE:
            continue
        only = replace(
            pipeline,
            first_stage=number,
            last_stage=number,
            verify_each=False,
            dump_dir=None,
        )
        steps.append(Step(number, names[number - 1], only))
    return steps


def steps_of(text: str, module: ModuleOp) -> list[Step]:
    """The passes of a pipeline as `xdsl-opt -p` takes it, one step a pass.

    `tt-stablehlo-pipeline` is taken stage by stage.

    Args:
        module: the program, which tells the stages that it can skip.

    Raises:
        CompileError: a pass or an option that is not known.
    """
    try:
        named = PassPipeline.parse_spec(passes(), text).passes
    except (ArgSpecParseError, ValueError, TypeError) as error:
        raise CompileError(f"cannot read the passes '{text}': {error}") from error
    steps: list[Step] = []
    for compiler_pass in named:
        if isinstance(compiler_pass, TTStableHLOPipelinePass):
            steps.extend(_stages(module, compiler_pass))
        else:
            steps.append(Step(None, compiler_pass.name, compiler_pass))
    return steps
