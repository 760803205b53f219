"""A copy of the package, with the bytecode that is there: to compile it takes seconds."""

import shutil
from collections.abc import Callable, Iterable
from importlib.util import cache_from_source
from pathlib import Path

import ttxdsl

PACKAGE = Path(ttxdsl.__file__).parent


def copy_package(
    folder: Path, ignore: Callable[[str, list[str]], Iterable[str]] | None = None
) -> Path:
    """Copy the package into a folder; the copy may leave out what `ignore` returns."""
    copy = shutil.copytree(PACKAGE, folder / "ttxdsl", ignore=ignore)
    for source in copy.rglob("*.py"):
        known = Path(cache_from_source(str(PACKAGE / source.relative_to(copy))))
        target = Path(cache_from_source(str(source)))
        if known.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(known, target)
    return copy
