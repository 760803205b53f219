"""Answers about a program as HTML, for the page in the browser; `worker.js` asks."""

from collections.abc import Iterator
from contextlib import chdir
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

Answer = tuple[str, str, str]
"""A kind (`doing`, `part`, `error`), the part, and its text or HTML."""


PROGRAM = "program.mlir"
BYTECODE = "ML\N{REPLACEMENT CHARACTER}R"
"""How bytecode begins, as a browser reads it: as text."""


def chips() -> list[str]:
    """Return the names of the chips that a step can be planned for."""
    from ttxdsl.costs.chips import CHIPS

    return [*CHIPS]


def answers(text: str, chip: str) -> Iterator[Answer]:
    """Yield the answers about a program, and what is being done."""
    yield "doing", "", "Loading the compiler"
    from ttxdsl.diagnostics.errors import CompileError

    try:
        with TemporaryDirectory() as folder, chdir(folder):
            yield from _answers(text, chip)
    except CompileError as error:
        yield "error", "", str(error)
    except MemoryError:
        message = "error: the program needs more memory than this tab has"
        yield "error", "", f"{message}\n  hint: ttxdsl on your machine has more"
    except Exception as error:  # a mistake of ours: the page has no other place for it
        yield "error", "", f"internal error: {type(error).__name__}: {error}"


def _answers(text: str, chip: str) -> Iterator[Answer]:
    import ttxdsl
    from ttxdsl.diagnostics.errors import CompileError
    from ttxdsl.diagnostics.remarks import collect_remarks, fold_remarks

    if text.startswith(BYTECODE):
        hint = "ttxdsl on your machine reads it; here, paste what as_text() writes"
        raise CompileError(
            "that is MLIR bytecode, which this page cannot read", hint=hint
        )
    Path(PROGRAM).write_text(text)
    with collect_remarks() as remarks:
        yield "doing", "", "Partitioning"
        program = ttxdsl.load(PROGRAM)
        why = program.why()
        told = "".join(f"<p>{escape(str(one))}</p>" for one in fold_remarks(remarks))
        yield "part", "why", (why._repr_html_() or "") + told
        yield "doing", "", f"Planning a step on {chip}"
        yield "part", "plan", program.plan(chip)._repr_html_() or ""
        yield "doing", "", "Drawing the report"
        program.report("report.html")
        yield "part", "report", Path("report.html").read_text()
