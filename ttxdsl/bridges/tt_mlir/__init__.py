"""The real tt-mlir, asked without hardware: `compile_text` and `parse_text`.

It comes with the wheel `jax-tt-plugin`, an unofficial build of tt-xla and tt-mlir
(extra `tt`); see `docs/guide/tt-mlir.md` for how to install it beside JAX.
"""

from ttxdsl.bridges.tt_mlir.compiler import (
    Answer as Answer,
    compile_text as compile_text,
    parse_text as parse_text,
)
from ttxdsl.bridges.tt_mlir.library import find_library as find_library
from ttxdsl.bridges.tt_mlir.simulating import (
    DifferentOp as DifferentOp,
    StageCheck as StageCheck,
    check_stages as check_stages,
)
