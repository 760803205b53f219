"""The real tt-mlir for tests; what it answered before is kept (see `stored`).

answer = ask(text)
"""

import os
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import pytest

import ttxdsl.bridges.tt_mlir.compiler
from tests.differential.stored import ANSWERS
from ttxdsl.bridges.tt_mlir import Answer, compile_text, find_library
from ttxdsl.bridges.tt_mlir.library import LLMBOX, VERSION

needs_tt = pytest.mark.skipif(
    find_library() is None and not os.environ.get("TTXDSL_REQUIRE_TT"),
    reason="tt-mlir is not installed (make tt)",
)
"""For tests that ask it; CI, which installs it, does not let them be skipped."""

_MACHINE = sha256(LLMBOX.read_bytes()).hexdigest()


def ask(text: str, *, descriptor: Path = LLMBOX, timeout: float = 300) -> Answer:
    """What tt-mlir makes of a module, for eight chips unless told."""
    if descriptor != LLMBOX:
        return compile_text(text, descriptor=descriptor, timeout=timeout)
    question = {"tt-mlir": VERSION, "machine": _MACHINE, "text": text}
    asker = Path(ttxdsl.bridges.tt_mlir.compiler.__file__)
    return Answer(**ANSWERS.of(asker, question, lambda: asdict(compile_text(text))))
