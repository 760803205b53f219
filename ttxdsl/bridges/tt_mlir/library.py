"""Find tt-mlir's library and the description of its machine."""

import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from ttxdsl.diagnostics.errors import CompileError

VERSION = "0.1.3"
"""Of the wheel `jax-tt-plugin` that this was held against (October 2026)."""

LIBRARY_VARIABLE = "TTXDSL_TT_LIBRARY"
"""Names libtt.so, or the folder that `pip install --target` put the wheel into."""

LLMBOX = Path(__file__).with_name("n300-llmbox.ttsys")
"""Eight Wormhole chips, 2 x 4: tt-xla's own file for tests without hardware.

Apache License 2.0, The Tenstorrent AI ULC; the hash of the schema is that of the
wheel's library.
"""

_IN_WHEEL = Path("jax_plugins", "libtt", "libtt.so")


def _installed() -> Iterable[Path]:
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        yield Path(named)
        yield Path(named) / _IN_WHEEL
        return
    # a namespace package: found, not imported, for importing it registers it with JAX
    spec = find_spec("jax_plugins")
    for folder in (spec and spec.submodule_search_locations) or ():
        yield Path(folder).parent / _IN_WHEEL


def find_library() -> Path | None:
    """Tt-mlir's library: that of `TTXDSL_TT_LIBRARY`, or of the installed wheel."""
    return next((path for path in _installed() if path.is_file()), None)


def require_library() -> Path:
    """Return the path of tt-mlir's library.

    Raises:
        CompileError: there is none.
    """
    library = find_library()
    if library is not None:
        return library
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        raise CompileError(
            f"there is no libtt.so where {LIBRARY_VARIABLE} says: {named}"
        )
    raise CompileError(
        "tt-mlir is not installed",
        hint=f"pip install --no-deps --target DIR jax-tt-plugin=={VERSION}, then "
        f"{LIBRARY_VARIABLE}=DIR (beside JAX, the wheel makes Tenstorrent devices its default)",
    )


def require_descriptor(path: Path) -> Path:
    """Return the absolute path of a valid system descriptor.

    Raises:
        CompileError: it is not there, or is no system descriptor.
    """
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(
            f"cannot read the system descriptor {path}: {reason}"
        ) from error
    if head[8:] != b"TTSY":
        raise CompileError(f"{path} is no system descriptor of tt-mlir")
    return path.resolve()
