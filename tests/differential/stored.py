"""What C++ and JAX answered before, kept on this machine: a second run need not ask.

answer = ANSWERS.of(Path(__file__), question, lambda: ask(question))

An answer is found by all that it depends on: the question, the file that asks it of
jaxlib, and the versions of jax and jaxlib. Whatever is not found is asked, so that tests
see the same with an empty store; `pytest --ask-oracle` asks everything anew and fails
where an answer is not the one that was kept.

What the whole suite asks is in the repository too, so that a fresh clone need not ask:
a run of all tests with `--ask-oracle` writes it anew.
"""

from __future__ import annotations

import json
import lzma
import platform
import sqlite3
import zlib
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from hypothesis import currently_in_test_context

from ttxdsl.loading.files import write_whole

COMMITTED = Path(__file__).with_name("answers.json.xz")
"""Answers to all that the suite asks, of one pair of versions of jax and jaxlib."""

LARGEST = 200_000_000
"""Bytes of a file that is begun anew: most of it are answers to older programs."""

LARGE = 12_000
"""Bytes of packed answers, most of them numbers, that the repository has none of."""

LONG = 1
"""Seconds after which an answer is written at once."""


def processor() -> str:
    """Return what a question of numbers says of the machine.

    XLA rounds otherwise on another processor, by less than what our numbers may be off:
    the numbers of one serve all of its family. Asked anew they may change.
    """
    return platform.machine()


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
        self._before = 0
        # looking for a version takes longer than most answers
        self._versions = [version("jax"), version("jaxlib")]

    def open(self, folder: Path) -> None:
        """Keep answers in a file of this folder."""
        path = folder / "answers.sqlite"
        if path.exists() and path.stat().st_size > LARGEST:
            path.unlink(missing_ok=True)
        self._file = sqlite3.connect(path, timeout=60)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS answers (question BLOB PRIMARY KEY, answer BLOB)"
        )
        self.keeping = True

    def take(self, path: Path) -> None:
        """Read the answers of a file that `give` wrote, unless they have been read."""
        assert self._file is not None
        packed = path.read_bytes() if path.exists() else b""
        ((known,),) = self._file.execute("PRAGMA user_version")
        if packed and known != (state := zlib.crc32(packed) >> 1):
            with self._file as file:
                file.executemany(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?)",
                    (
                        (bytes.fromhex(key), zlib.compress(text.encode(), 1))
                        for key, text in json.loads(lzma.decompress(packed)).items()
                    ),
                )
                file.execute(f"PRAGMA user_version = {state}")
        ((last,),) = self._file.execute("SELECT max(rowid) FROM answers")
        self._before = last or 0

    def give(self, path: Path) -> None:
        """Write what was asked since `take`, also by other processes."""
        assert self._file is not None
        self.write()
        rows = self._file.execute(
            "SELECT * FROM answers WHERE rowid > ? AND length(answer) < ?",
            (self._before, LARGE),
        )
        answers = {key.hex(): zlib.decompress(text).decode() for key, text in rows}
        if path.exists() and answers == json.loads(lzma.decompress(path.read_bytes())):
            return
        packed = lzma.compress(json.dumps(answers).encode(), preset=9)
        write_whole(path, lambda out: out.write(packed))

    def close(self) -> None:
        """Close the file; what is in it is forgotten here."""
        self.keeping = False
        self.write()
        if self._file is not None:
            self._file.close()
        self._file = None
        self._new.clear()

    def write(self) -> None:
        """Write what was asked into the file, if one is open."""
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
        # examples that are drawn anew are asked once
        if not self.keeping or (self.anew and currently_in_test_context()):
            return ask()
        depends_on = [self._versions, _digest_of_file(asker), question]
        key = sha256(json.dumps(depends_on).encode()).digest()[:10]
        asked = self._new.get(key)
        known = asked or self._found(key)
        if known is not None and (asked or not self.anew):
            return json.loads(zlib.decompress(known))
        begun = perf_counter()
        text = json.dumps(ask())
        before = text if known is None else zlib.decompress(known).decode()
        values = question.values() if isinstance(question, dict) else question
        if text != before and processor() not in values:
            raise ChangedAnswer(f"{question}\nanswered\n{text}\nand before\n{before}")
        self._new[key] = zlib.compress(text.encode(), 1)
        if perf_counter() - begun > LONG:
            self.write()  # the processes beside this one need not ask as well
        return json.loads(text)

    def _found(self, key: bytes) -> bytes | None:
        if self._file is None:
            return None
        query = "SELECT answer FROM answers WHERE question = ?"
        row = self._file.execute(query, (key,)).fetchone()
        return row[0] if row else None


ANSWERS = Answers()
"""Those of this process."""
