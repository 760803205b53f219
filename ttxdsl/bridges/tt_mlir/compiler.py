"""Questions to the real tt-mlir: does it parse this, and what does it make of it?

One process a question, for some programs make the library abort (see `worker`). The
first question takes a second, in which the library is loaded; the others what they need.
"""

import atexit
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ttxdsl.bridges.tt_mlir.library import LLMBOX, require_descriptor, require_library
from ttxdsl.diagnostics.errors import CompileError

_WORKER = Path(__file__).with_name("worker.py")

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
    """What tt-mlir made of a program.

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


def _said(message: str) -> str:
    """The reason, without tt-xla's summary behind it."""
    return _SUMMARY.sub("", message) or message


def _end(log: str, code: int) -> str:
    """The last that a crashed process said."""
    found = _CRASH.findall(log) or [said for *_, said in _DIAGNOSTIC.findall(log)]
    how = f"tt-mlir crashed (signal {-code})" if code < 0 else "tt-mlir crashed"
    return f"{how}: {found[-1].strip()}" if found else how


_PATIENCE = 2
"""Seconds for a process that nobody asks any more: it may be at a question still."""


class _Worker:
    """A process that has loaded the library."""

    def __init__(self, library: Path) -> None:
        # as long as the process lives
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        # -I: Python imports nothing from the folder that it is called in, nor a user's
        command = [sys.executable, "-I", str(_WORKER), str(library)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                # a key that is pressed ends us, and we end it and its forks
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise CompileError(f"cannot run tt-mlir: {reason}") from error
        failed = self._read().get("failed")
        if failed is not None:
            self._end()
            raise CompileError(failed)
        atexit.register(self._end)

    def ask(self, **question: Any) -> dict[str, Any]:
        """Put a question and wait for its answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._ended() from error
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        return json.loads(line)

    def _ended(self) -> CompileError:
        code = self._process.wait()
        _worker.cache_clear()  # the next question starts another
        self._log.seek(0)
        return CompileError(_end(self._log.read().decode(errors="replace"), code))

    def _end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        try:
            self._process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._log.close()


_worker = cache(_Worker)


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
    answer = _worker(library).ask(text=text, descriptor=machine, timeout=timeout)
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
    return Answer(stages, _said(message), _NOT_READ not in message, line=line)


def parse_text(text: str, *, timeout: float = 300) -> str | None:
    """What tt-mlir's parser and verifiers say against a module; None if nothing.

    Raises:
        CompileError: the library is missing, or it took too long.
    """
    answer = compile_text(text, timeout=timeout)
    return None if answer.parsed else answer.error
