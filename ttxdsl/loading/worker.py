"""Worker processes: they start clean, answer questions, and may abort.

    with Worker("ttxdsl.loading.artifacts.worker:answer") as worker:
        text = worker.ask({}, bytecode)["text"]

A library that aborts, or that reads its settings when it is first imported, is asked in a
process of its own. Its target is a function from a question (JSON) and bytes to an answer
(JSON). Both sides are in this file, which a worker runs as a script: it imports nothing
but the standard library. A frame is its length in eight bytes and as many bytes; a
question is two frames, an answer one. What a worker prints goes to its log.
"""

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Self

_LENGTH = struct.Struct(">Q")

_PATIENCE = 2
"""Seconds after which an idle worker is ended; it may still serve a request."""


class WorkerEndedError(Exception):
    """A worker has ended before it answered; `log` is what it printed."""

    def __init__(self, log: str, code: int) -> None:
        super().__init__(log)
        self.log, self.code = log, code


def _write(stream: IO[bytes], *frames: bytes) -> None:
    for frame in frames:
        stream.write(_LENGTH.pack(len(frame)) + frame)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes | None:
    """Return the next frame, None at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    frame = stream.read(length)
    return frame if len(frame) == length else None


class Worker:
    """A process that answers questions until it is closed.

    Args:
        target: the function, `"module:name"`.
        env: variables that it has besides.
        isolated: whether it also ignores the user's packages and `PYTHON*` variables.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        target: str,
        env: Mapping[str, str] | None = None,
        *,
        isolated: bool = False,
    ) -> None:
        # as long as the process lives
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        # either way Python imports nothing from the folder that it is called in
        flag = "-I" if isolated else "-P"
        root = str(Path(__file__).parents[2])
        self._process = subprocess.Popen(
            [sys.executable, flag, __file__, root, target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | (env or {}),
            # a key that is pressed ends us, and we end it and its forks
            start_new_session=True,
        )

    def ask(self, question: Any, data: bytes = b"") -> Any:
        """Put a question and wait for its answer.

        Raises:
            WorkerEndedError: there is none.
        """
        to, back = self._process.stdin, self._process.stdout
        assert to is not None and back is not None
        try:
            _write(to, json.dumps(question).encode(), data)
        except OSError as error:
            raise self._ended() from error
        answer = _read(back)
        if answer is None:
            raise self._ended()
        return json.loads(answer)

    def _ended(self) -> WorkerEndedError:
        code = self._process.wait()
        self._log.seek(0)
        return WorkerEndedError(self._log.read().decode(errors="replace"), code)

    def close(self, patience: float = _PATIENCE) -> None:
        """End the process, which has some seconds to do it itself."""
        if self._log.closed:
            return
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):  # it has ended, and a question is lost
                stream.close()
        try:
            self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(_PATIENCE if kind is None else 0)


def _serve(target: str) -> None:
    """Answer questions on standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, name = target.partition(":")
    answer = getattr(import_module(module), name)
    while (question := _read(sys.stdin.buffer)) is not None:
        data = _read(sys.stdin.buffer)
        _write(answers, json.dumps(answer(json.loads(question), data or b"")).encode())


if __name__ == "__main__":
    sys.path.append(sys.argv[1])
    _serve(sys.argv[2])
