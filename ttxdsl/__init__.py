"""A pure-Python compiler on xDSL for StableHLO programs sharded with Shardy.

`load` and `Program` are what a script or notebook needs (docs/guide/python.md); they are
imported when first used, so that `import ttxdsl` costs nothing.
"""

from __future__ import annotations

from ttxdsl.version import __version__

TYPE_CHECKING = False  # `typing` itself would be most of what this costs
if TYPE_CHECKING:
    from typing import Any

    from ttxdsl.api import Program, load
    from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
    from ttxdsl.loading.plugins import load_plugin

__all__ = [
    "CompileError",
    "Program",
    "UnsupportedError",
    "__version__",
    "load",
    "load_plugin",
]

_HOMES = {
    "CompileError": "ttxdsl.diagnostics.errors",
    "Program": "ttxdsl.api",
    "UnsupportedError": "ttxdsl.diagnostics.errors",
    "load": "ttxdsl.api",
    "load_plugin": "ttxdsl.loading.plugins",
}
"""The module of each name that is imported when first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ttxdsl' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
