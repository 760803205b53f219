"""docs/python.md: every block runs, and prints what the page says."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str, str | None]]:
    """Line, code, and printed text (if the page has it) of each Python block."""
    text = page.read_text()
    found: list[tuple[int, str, str | None]] = []
    for match in _BLOCK.finditer(text):
        language, body = match.groups()
        if language == "python":
            found.append((text.count("\n", 0, match.start()) + 2, body, None))
        elif language == "text" and found and found[-1][2] is None:
            line, code, _ = found[-1]
            found[-1] = line, code, body
    return found


def test_code_runs_and_prints_what_the_page_says(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    namespace: dict[str, Any] = {"__name__": PAGE.stem}
    found = blocks(PAGE)
    assert found
    for line, code, printed in found:
        output = StringIO()
        with redirect_stdout(output):
            exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), namespace)
        assert output.getvalue() == (printed or ""), f"{PAGE.name}:{line}"
