"""Plug-ins of other packages: dialects, passes, rules, lowerings, kernels, custom calls.

A plug-in is a module that says what it brings while it is imported
(`docs/guide/plugins.md`): it registers rules, lowerings and kernels, and its
`UNIVERSE`, if it has one, has dialects and passes. Modules are found by entry points of
the group `ttxdsl.plugins`, or named; the universes that xDSL finds are taken as well.
All are imported where the first dialect or pass is asked for, none before.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from xdsl.universe import Universe

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "ttxdsl.plugins"
"""The group of entry points whose values are modules."""

XDSL_GROUP = "xdsl.universe"
"""Entry points of xDSL, whose values are universes."""

_GROUPS = (GROUP, XDSL_GROUP)

_named: dict[str, ModuleType] = {}
_universes: dict[str, Universe] = {}


def load_plugin(name: str) -> None:
    """Import a plug-in, unless it is imported already.

    Args:
        name: of a module, or of a file that ends with `.py`.

    Raises:
        CompileError: it cannot be imported.
    """
    if name in _named:
        return
    try:
        module = (
            import_file(Path(name)) if name.endswith(".py") else import_module(name)
        )
    except CompileError:
        raise
    except Exception as error:
        raise CompileError(
            f"cannot load the plug-in '{visible(name)}': {type(error).__name__}: {error}"
        ) from error
    _named[name] = module
    universe = getattr(module, "UNIVERSE", None)
    if isinstance(universe, Universe) and universe not in _universes.values():
        _universes[name] = universe


def load_plugins(names: tuple[str, ...]) -> None:
    """Import several plug-ins, for a worker that needs those of its parent process."""
    for name in names:
        load_plugin(name)


def named_plugins() -> tuple[str, ...]:
    """Return all that were loaded by their names."""
    return tuple(_named)


def import_file(path: Path) -> ModuleType:
    """Import a Python file; it can import modules from its own folder.

    Raises:
        CompileError: there is no such file. What the file raises is its own.
    """
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CompileError(f"cannot read '{visible(str(path))}': it is no Python file")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))
    sys.modules.setdefault(path.stem, module)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


@cache
def installed_universes() -> dict[str, Universe]:
    """Those that xDSL finds besides ours, by the names of their entry points.

    One that cannot be imported is xDSL's to report.
    """
    universes_by_name: dict[str, Universe] = {}
    for plugin in _entries(XDSL_GROUP):
        if plugin.name == "ttxdsl":
            continue
        try:
            universe = plugin.load()
        except Exception:
            continue
        if isinstance(universe, Universe):
            universes_by_name[plugin.name] = universe
    return universes_by_name


@cache
def load_installed() -> None:
    """Import the plug-ins that are installed.

    Raises:
        CompileError: one cannot be imported.
    """
    for plugin in _entries(GROUP) if are_installed() else ():
        load_plugin(plugin.value)


def universes() -> dict[str, Universe]:
    """Return all universes besides ours and xDSL's, after importing what is installed.

    Raises:
        CompileError: one that is made for this package cannot be imported.
    """
    installed: dict[str, Universe] = {}
    if are_installed():
        installed = installed_universes()
        load_installed()
    known = {id(universe) for universe in installed.values()}
    named = {
        name: universe
        for name, universe in _universes.items()
        if id(universe) not in known
    }
    return {**installed, **named}


def _entries(group: str) -> "list[EntryPoint]":
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


@cache
def are_installed() -> bool:
    """Whether an installed distribution may have plug-ins.

    `importlib.metadata` would tell, but importing and asking it takes a twentieth of a
    small compilation. Reading the `entry_points.txt` of installed packages is usually
    enough to say no.
    """
    finders = [
        finder for finder in sys.meta_path if hasattr(finder, "find_distributions")
    ]
    if finders != [PathFinder]:
        return True
    for name in sys.path:
        folder = Path(name)
        if folder.is_file():
            return True  # an archive
        for file in folder.glob("*/entry_points.txt"):
            if file.parent.name.startswith(("xdsl-", "ttxdsl-")):
                continue
            try:
                text = file.read_text("utf-8")
            except (OSError, UnicodeDecodeError):
                return True  # not readable here: leave it to importlib
            if any(f"[{group}]" in text for group in _GROUPS):
                return True
    return False
