"""What C++ and JAX answered before, kept on this machine: a second run need not ask.

answer = ANSWERS.of(Path(__file__), question, lambda: ask(question))

An answer is found by all that it depends on: the question, the file that asks it of
jaxlib, and the versions of jax and jaxlib. Whatever is not found is asked, so that tests
see the same with an empty store; `pytest --ask-oracle` asks everything anew and fails
where an answer is not the one that was kept.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

LARGEST = 200_000_000
"""Bytes of a file that is begun anew: most of it are answers to older programs."""

LONG = 1
"""Seconds after which an answer is written at once."""


class ChangedAnswer(AssertionError):
    """Asked anew, the other side did not answer what it had."""


@cache
def _digest_of_file(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


class Answers:
    """Answers by question, in memory only until a file is opened."""

    def __init__(self) -> None:
        self.keeping = False
        """Whether questions are looked up and answers kept; campaigns ask too many."""
        self.anew = False
        """Whether to ask what is known too."""
        self._file: sqlite3.Connection | None = None
        self._new: dict[bytes, bytes] = {}
        # looking for a version takes longer than most answers
        self._versions = [version("jax"), version("jaxlib")]

    def open(self, folder: Path) -> None:
        """Keep answers in a file of this folder."""
        path = folder / "answers.sqlite"
        if path.exists() and path.stat().st_size > LARGEST:
            path.unlink(missing_ok=True)
        self._file = sqlite3.connect(path, timeout=60)
        with self._file as file:
            file.execute(
                "CREATE TABLE IF NOT EXISTS answers (question BLOB PRIMARY KEY, answer BLOB)"
            )
        self.keeping = True

    def close(self) -> None:
        """Write what was asked into the file, if one is open, and forget it."""
        self.keeping = False
        self._write()
        if self._file is not None:
            self._file.close()
        self._file = None
        self._new.clear()

    def _write(self) -> None:
        if self._file is not None:
            with self._file as file:
                file.executemany(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?)", self._new.items()
                )

    def of(self, asker: Path, question: Any, ask: Callable[[], Any]) -> Any:
        """The answer to a question; both are what JSON can write.

        Args:
            asker: the file whose code asks jaxlib.
            question: all else that the answer depends on.
            ask: asks it.

        Raises:
            ChangedAnswer: asked anew, the answer is another than the one kept.
        """
        if not self.keeping:
            return ask()
        depends_on = [self._versions, _digest_of_file(asker), question]
        key = sha256(json.dumps(depends_on).encode()).digest()
        asked = self._new.get(key)
        known = asked or self._found(key)
        if known is not None and (asked or not self.anew):
            return json.loads(zlib.decompress(known))
        begun = perf_counter()
        text = json.dumps(ask())
        if known is not None and text != (before := zlib.decompress(known).decode()):
            raise ChangedAnswer(f"{question}\nanswered\n{text}\nand before\n{before}")
        self._new[key] = zlib.compress(text.encode(), 1)
        if perf_counter() - begun > LONG:
            self._write()  # the processes beside this one need not ask as well
        return json.loads(text)

    def _found(self, key: bytes) -> bytes | None:
        if self._file is None:
            return None
        query = "SELECT answer FROM answers WHERE question = ?"
        row = self._file.execute(query, (key,)).fetchone()
        return row[0] if row else None


ANSWERS = Answers()
"""Those of this process."""
