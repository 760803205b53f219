"""The real tt-mlir, asked without hardware: `compile_text` and `parse_text`.

It comes with the wheel `jax-tt-plugin`, an unofficial build of tt-xla and tt-mlir
(extra `tt`); see `docs/guide/tt-mlir.md` for how to install it beside JAX.

Its names are imported when first used: the worker needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "compiler": ("Answer", "compile_text", "parse_text"),
    "library": ("find_library",),
    "simulating": ("DifferentOp", "StageCheck", "check_stages"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
