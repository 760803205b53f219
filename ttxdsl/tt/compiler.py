"""Questions to the real tt-mlir: does it parse this, and what does it make of it?

One process a question, for some programs make the library abort. A question takes
about half a second, most of it for the library to load.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ttxdsl.errors import CompileError
from ttxdsl.tt.library import LLMBOX, require_descriptor, require_library

_WORKER = Path(__file__).with_name("worker.py")

_SHOWN = re.compile(
    r"MLIR Module (\w+):\n(.*?)^-{8,} END OF MLIR MODULE -{8,}$",
    re.DOTALL | re.MULTILINE,
)

_NOT_READ = "Failed to create VHLO module from the input program code"
"""Tt-xla's last word on a text that does not parse or verify."""

_SUMMARY = re.compile(r"; (Failed to [^;]*)$")

_DIAGNOSTIC = re.compile(r"^(?:loc\((.*?)\)|(\S+:\d+:\d+)): error: (.*)$", re.MULTILINE)

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
    """

    stages: dict[str, str]
    error: str | None
    parsed: bool
    crashed: bool = False

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
    library = require_library()
    env = os.environ | {
        "TT_COMPILE_ONLY_SYSTEM_DESC": str(require_descriptor(descriptor)),
        "TTXLA_LOGGER_LEVEL": "DEBUG",
    }
    # -I: Python imports nothing from the folder that it is called in, nor a user's
    command = [sys.executable, "-I", str(_WORKER), str(library)]
    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            env=env,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CompileError(
            f"tt-mlir did not answer within {timeout:g} seconds"
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot run tt-mlir: {reason}") from error
    log = done.stderr.decode(errors="replace")
    stages = dict(_SHOWN.findall(log))
    if done.returncode == 1 and not stages:
        raise CompileError(
            log.strip().splitlines()[-1] if log.strip() else "tt-mlir ended"
        )
    if done.returncode:
        return Answer(
            stages, _end(log, done.returncode), "vhlo" in stages, crashed=True
        )
    message = json.loads(done.stdout.splitlines()[-1])
    if message is None:
        return Answer(stages, None, parsed=True)
    if "system desc schema mismatch" in message.lower():
        raise CompileError(f"tt-mlir does not take the system descriptor: {message}")
    return Answer(stages, _said(message), parsed=_NOT_READ not in message)


def parse_text(text: str, *, timeout: float = 300) -> str | None:
    """What tt-mlir's parser and verifiers say against a module; None if nothing.

    Raises:
        CompileError: the library is missing, or it took too long.
    """
    answer = compile_text(text, timeout=timeout)
    return None if answer.parsed else answer.error
