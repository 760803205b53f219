"""Programs written for today's tt-mlir: `--for tt-mlir`."""

from collections.abc import Sequence

from xdsl.passes import ModulePass

from ttxdsl.conversion.driver import Audience
from ttxdsl.loading.program import Form


def _prepare(form: Form) -> Sequence[ModulePass]:
    if form == "stablehlo":
        from ttxdsl.bridges.tt_mlir.legalize.prepare_for_tt_mlir import (
            PrepareForTTMLIRPass,
        )

        return [PrepareForTTMLIRPass()]
    from ttxdsl.bridges.tt_mlir.legalize.fit_mesh import FitMeshPass
    from ttxdsl.conversion.vocabulary import HARDWARE_AXES

    return [FitMeshPass(most_axes=HARDWARE_AXES)]


TT_MLIR = Audience("tt-mlir", _prepare)
