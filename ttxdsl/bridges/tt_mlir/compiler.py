"""Compilation by the real tt-mlir: whether it parses a program, and its output.

Each request runs in its own process, because some programs make the library abort (see
`worker`). The first request takes a second, in which the library is loaded.
"""

import atexit
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ttxdsl.bridges.tt_mlir.library import LLMBOX, require_descriptor, require_library
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.worker import Worker, WorkerEndedError

_WORKER = "ttxdsl.bridges.tt_mlir.worker:answer"

_SHOWN = re.compile(
    r"MLIR Module (\w+):\n(.*?)^-{8,} END OF MLIR MODULE -{8,}$",
    re.DOTALL | re.MULTILINE,
)

_NOT_READ = "Failed to create VHLO module from the input program code"
"""Tt-xla's last word on a text that does not parse or verify."""

_SUMMARY = re.compile(r"; (Failed to [^;]*)$")

_DIAGNOSTIC = re.compile(r"^(?:loc\((.*?)\)|(\S+:\d+:\d+)): error: (.*)$", re.MULTILINE)

_LINE = re.compile(r'^loc\(.*?"-":(\d+):\d+.*: error: ', re.MULTILINE)

_CRASH = re.compile(
    r"(Assertion .* failed|TT_FATAL.*|TT_THROW.*|LLVM ERROR.*|what\(\):.*|.*FATAL\| .*)"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The stages or the error that tt-mlir gave for a program.

    Attributes:
        stages: the text of each module that it showed, in order: `vhlo`, `shlo`,
            `shlo_frontend`, `shlo_compiler` (local StableHLO), `shlo_set_mesh_attr`,
            `shlo_compiler_cleaned`, `ttir`, `ttnn`, `ttnn_runtime`.
        error: why it did not compile the program, in its own words; None if it did.
        parsed: whether it read and verified the text at all.
        crashed: whether its process ended before it answered.
        line: of the text, of the op that its first complaint names.
    """

    stages: dict[str, str]
    error: str | None
    parsed: bool
    crashed: bool = False
    line: int | None = None

    @property
    def ok(self) -> bool:
        """Whether it compiled the program."""
        return self.error is None

    @property
    def last_stage(self) -> str | None:
        """The last module that it made."""
        return next(reversed(self.stages), None)


def _reason(message: str) -> str:
    """Return an error message without tt-xla's summary."""
    return _SUMMARY.sub("", message) or message


def _end(log: str, code: int) -> str:
    """Return the last message of a crashed process."""
    crashes = _CRASH.findall(log) or [text for *_, text in _DIAGNOSTIC.findall(log)]
    how = f"tt-mlir crashed (signal {-code})" if code < 0 else "tt-mlir crashed"
    return f"{how}: {crashes[-1].strip()}" if crashes else how


@cache
def _worker(library: Path) -> Worker:
    """Return a process that has loaded the library.

    Raises:
        CompileError: it cannot.
    """
    try:
        # the library reads the variable while it loads: show all modules
        worker = Worker(_WORKER, {"TTXLA_LOGGER_LEVEL": "DEBUG"}, isolated=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot run tt-mlir: {reason}") from error
    atexit.register(worker.close)
    return worker


def _asked(library: Path, text: str, **question: Any) -> dict[str, Any]:
    worker = _worker(library)
    try:
        answer = worker.ask({"library": str(library), **question}, text.encode())
    except WorkerEndedError as error:
        _worker.cache_clear()  # the next request starts another worker
        raise CompileError(_end(error.log, error.code)) from error
    if "failed" in answer:
        _worker.cache_clear()
        worker.close()
        raise CompileError(answer["failed"])
    return answer


def compile_text(
    text: str, *, descriptor: Path = LLMBOX, timeout: float = 300
) -> Answer:
    """Let tt-mlir compile a module, in a process of its own.

    Args:
        text: a module of StableHLO and Shardy (or of ttir or ttnn, which it parses and
            verifies before it refuses them).
        descriptor: the machine to compile for, eight chips by default.
        timeout: seconds after which the process is ended.

    Raises:
        CompileError: the library or the descriptor is missing, or it took too long.
    """
    library, machine = require_library(), str(require_descriptor(descriptor))
    answer = _asked(library, text, descriptor=machine, timeout=timeout)
    log, code, message = answer["log"], answer["code"], answer["message"]
    if code is None:
        raise CompileError(f"tt-mlir did not answer within {timeout:g} seconds")
    stages = dict(_SHOWN.findall(log))
    named = _LINE.search(log)
    line = int(named.group(1)) if named else None
    if code:
        parsed = "vhlo" in stages
        return Answer(stages, _end(log, code), parsed, crashed=True, line=line)
    if message is None:
        return Answer(stages, None, parsed=True)
    if "system desc schema mismatch" in message.lower():
        raise CompileError(f"tt-mlir does not take the system descriptor: {message}")
    return Answer(stages, _reason(message), _NOT_READ not in message, line=line)


def parse_text(text: str, *, timeout: float = 300) -> str | None:
    """Return the complaint of tt-mlir's parser and verifiers on a module, or None.

    Raises:
        CompileError: the library is missing, or it took too long.
    """
    answer = compile_text(text, timeout=timeout)
    return None if answer.parsed else answer.error
