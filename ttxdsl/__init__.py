"""A pure-Python compiler on xDSL for StableHLO programs sharded with Shardy.

`load` and `Program` are what a script or notebook needs (docs/guide/python.md); they are
imported when first used, so that `import ttxdsl` costs nothing.
"""

from __future__ import annotations

import sys

from ttxdsl.loading.version import __version__

TYPE_CHECKING = False  # `typing` itself would be most of what this costs
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

    from ttxdsl.api import Program, from_jax, load
    from ttxdsl.api.arrays import show
    from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
    from ttxdsl.loading.plugins import load_plugin

__all__ = [
    "CompileError",
    "Program",
    "UnsupportedError",
    "__version__",
    "from_jax",
    "load",
    "load_plugin",
    "show",
]

_HOMES = {
    "CompileError": "ttxdsl.diagnostics.errors",
    "Program": "ttxdsl.api",
    "UnsupportedError": "ttxdsl.diagnostics.errors",
    "from_jax": "ttxdsl.api",
    "load": "ttxdsl.api",
    "load_plugin": "ttxdsl.loading.plugins",
    "show": "ttxdsl.api.arrays",
}
"""The module of each name that is imported when first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ttxdsl' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


class _MovedModules:
    """The last finder that `import` asks: for names that modules had before."""

    @staticmethod
    def find_spec(
        name: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        if not name.startswith("ttxdsl."):
            return None
        from ttxdsl.ir.compat.moved import spec_of

        return spec_of(name)


sys.meta_path.append(_MovedModules)
