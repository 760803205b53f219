"""The way down, in one loop: the thirteen stages, then the lowerings.

Whoever compiles a program runs its steps here and looks on: `ttxdsl.api`, `compile`,
`check` and `report`; `why`, which lowers nothing, runs the stages alone.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.loading.doors import VOCABULARIES
from ttxdsl.loading.program import Form, require_not_beyond
from ttxdsl.transforms.pipeline import NO_HOOKS, Hooks, Stage, TTStableHLOPipelinePass


@dataclass(frozen=True, slots=True)
class Audience:
    """The audience of `--for NAME`.

    Attributes:
        spelling: whose forms of ttir and ttnn the lowerings write, one of
            `ttxdsl.conversion.vocabulary.Vocabulary`.
        prepare: the passes on the per-device StableHLO, by the form to go to.
        finish: the passes on what the lowerings made, by the same.
    """

    spelling: str = "design"
    prepare: Callable[[Form], Sequence[ModulePass]] = lambda form: ()
    finish: Callable[[Form], Sequence[ModulePass]] = lambda form: ()


DESIGN = Audience()


def lowerings(
    form: Form,
    wanted: Form = "ttnn",
    num_links: int = 1,
    vocabulary: str = "design",
    *,
    through: bool = False,
) -> list[ModulePass]:
    """Return the lowerings from one form to another, without those that are behind it.

    Args:
        num_links: ethernet links that each ttnn collective uses.
        vocabulary: whose StableHLO, ttir and ttnn they write, see
            `ttxdsl.loading.doors.VOCABULARIES`.
        through: nobody looks at a form on the way; its ttir then has no destinations.

    Raises:
        CompileError: the program is further down.
    """
    require_not_beyond(form, wanted)
    if vocabulary not in VOCABULARIES:
        names = " or ".join(VOCABULARIES)
        raise CompileError(f"for is '{vocabulary}', expected {names}")
    audience: Audience = VOCABULARIES[vocabulary]
    spelling = audience.spelling
    passes: list[ModulePass] = []
    if form == "stablehlo":
        passes += audience.prepare(wanted)
    if form == "stablehlo" and wanted != "stablehlo":
        from ttxdsl.conversion.stablehlo_to_ttir.convert import (
            ConvertStableHLOToTTIRPass,
        )

        shown = not through or wanted == "ttir"
        passes.append(ConvertStableHLOToTTIRPass(for_=spelling, destinations=shown))
    if form != "ttnn" and wanted == "ttnn":
        from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass

        passes.append(ConvertTTIRToTTNNPass(for_=spelling, num_links=num_links))
    passes += audience.finish(wanted)
    return passes


def run_passes(
    ctx: Context,
    module: ModuleOp,
    passes: Iterable[ModulePass],
    hooks: Hooks = NO_HOOKS,
    *,
    verify_each: bool = False,
) -> Iterator[Stage]:
    """Run passes one a step, the pipeline stage by stage, changing the module in place.

    Whoever iterates may look at the module between the steps.

    Args:
        verify_each: check the module after each pass; the pipeline's stages are as its
            own option says.

    Raises:
        CompileError: a step refuses the program or its options.
    """
    for pass_ in passes:
        if isinstance(pass_, TTStableHLOPipelinePass):
            yield from pass_.run(ctx, module, hooks)
            continue
        if hooks.before is not None:
            hooks.before(None, pass_.name)
        start = time.perf_counter()
        with doing(pass_.name):
            pass_.apply(ctx, module)
        seconds = time.perf_counter() - start
        if verify_each:
            module.verify()
        yield Stage(None, pass_.name, seconds)
