"""From bytes to the text of a program, by jaxlib in a process of its own.

MLIR bytecode, StableHLO's portable artifacts, and what `jax.export.Exported.serialize`
gives. There is no reader of ours: the `jax` extra brings one.
"""

from collections.abc import Mapping

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible

_WORKER = "ttxdsl.loading.artifacts.worker:answer"

_BYTECODE = b"ML\xefR"
"""The first bytes of MLIR's bytecode."""


def _kind(data: bytes) -> str | None:
    """Return the kind of a binary file's bytes; None for what may be text."""
    if data.startswith(_BYTECODE):
        return "MLIR bytecode"
    # a flatbuffer begins with the place of its root, which is near: text has no zeros
    if len(data) > 8 and data[2:4] == b"\0\0":
        return "what jax.export writes"
    return None


def artifact_text(data: bytes, source: str, sizes: Mapping[str, int]) -> str | None:
    """Return the text of a program that is bytes; None for other files.

    Args:
        sizes: of the symbolic dimensions of an exported program, by name.

    Raises:
        CompileError: what reads it is not installed, or it cannot be read.
    """
    kind = _kind(data)
    if kind is None:
        return None
    # text, which nearly all programs are, starts faster without
    from importlib.util import find_spec

    from ttxdsl.loading.worker import Worker, WorkerEndedError

    needed = ["jax"] if data.startswith(_BYTECODE) else ["jax", "flatbuffers"]
    if missing := [name for name in needed if find_spec(name) is None]:
        raise CompileError(
            f"'{visible(source)}' is {kind}, and {', '.join(missing)}, which reads it,"
            " is not installed",
            hint="pip install 'ttxdsl[jax]'",
        )
    try:
        with Worker(_WORKER, {"JAX_PLATFORMS": "cpu"}) as worker:
            answer = worker.ask(dict(sizes), data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot run jaxlib: {reason}") from error
    except WorkerEndedError as error:
        # jaxlib aborts on some malformed input
        raise not_readable(source, "jaxlib fails on it") from error
    if "error" in answer:
        raise not_readable(source, answer["error"], answer["hint"])
    return answer["text"]


def not_readable(source: str, reason: str, hint: str | None = None) -> CompileError:
    """Return the error for a program that cannot be read."""
    return CompileError(f"cannot read '{visible(source)}': {reason}", hint=hint)
