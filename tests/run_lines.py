"""The RUN lines of a `.mlir` test, run in this process: a process costs half a second.

A line is what lit makes of it: `%s` is the file, a command reads what the one before it
printed, and the test fails where any command fails. Commands are `xdsl-opt` and
`filecheck` with their options; anything else (files, other shells' words, lit's other
keywords) is refused, so that no line is passed over.
"""

import io
import re
import shlex
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest import mock

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser
from xdsl.universe import Universe
from xdsl.xdsl_opt_main import xDSLOptMain

_RUN = re.compile(r"\bRUN:(.*)")
_OTHER_KEYWORDS = re.compile(
    r"\b(?:(?:XFAIL|REQUIRES|UNSUPPORTED|ALLOW_RETRIES|DEFINE|REDEFINE):|END\.)"
)
_SHELL = frozenset("|&;<>()")
"""What shlex makes words of their own; of these only a pipe is known here."""

# xDSL looks for installed universes three times a command, which takes longer than
# most programs here
_universe = cache(Universe.get_multiverse)


def run_lines(text: str) -> list[str]:
    """The commands of a test's RUN lines, those joined that end in a backslash.

    Raises:
        ValueError: there are none, or the text has others of lit's keywords.
    """
    if other := _OTHER_KEYWORDS.search(text):
        raise ValueError(f"only RUN: is known here, not {other.group()}")
    found: list[str] = _RUN.findall(text)
    joined = "\n".join(line.strip() for line in found)
    if not joined:
        raise ValueError("no RUN line")
    return joined.replace("\\\n", " ").split("\n")


def commands(line: str, file: Path) -> list[list[str]]:
    """The words of each command of a RUN line.

    Raises:
        ValueError: something else than commands and pipes between them.
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars="".join(_SHELL))
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            found.append([])
        elif _SHELL.issuperset(word):
            raise ValueError(f"only pipes are known here, not {word}")
        elif "%" in word.replace("%s", ""):
            raise ValueError(f"only %s is known here, not {word}")
        else:
            found[-1].append(word.replace("%s", str(file)))
    return found


class Failed(Exception):
    """A command failed; holds the line and what was written to stderr."""


def xdsl_opt(options: list[str], read: str = "") -> str:
    """What `xdsl-opt` prints; `read` is its standard input.

    Raises:
        Exception: what the command would show as a traceback.
        SystemExit: options that it does not have.
    """
    printed = io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(read.encode()))
    with (
        mock.patch("sys.stdin", stdin),
        mock.patch.object(Universe, "get_multiverse", _universe),
        redirect_stdout(printed),
    ):
        xDSLOptMain(args=options).run()
    return printed.getvalue()


def _filecheck(options: list[str], read: str) -> tuple[int, str]:
    chosen = parse_argv_options(["filecheck", *options])
    text = FInput("-", FInput.canonicalize_line_ends(read))
    printed = io.StringIO()
    with redirect_stdout(printed):
        code = Matcher(chosen, text, Parser.from_opts(chosen)).run()
    return code, printed.getvalue()


_TOOLS: dict[str, Callable[[list[str], str], tuple[int, str]]] = {
    "xdsl-opt": lambda options, read: (0, xdsl_opt(options, read)),
    "filecheck": _filecheck,
}


def run_line(line: str, file: Path) -> None:
    """Run the commands of one RUN line.

    Raises:
        Failed: a command fails.
        ValueError: the line has something that is not known here.
    """
    text, errors = "", io.StringIO()
    for tool, *options in commands(line, file):
        if tool not in _TOOLS:
            raise ValueError(f"only {', '.join(_TOOLS)} are known here, not {tool}")
        with redirect_stderr(errors):
            try:
                code, text = _TOOLS[tool](options, text)
            except SystemExit as error:
                code = error.code
            except Exception:
                traceback.print_exc()
                code = 1
        if code:
            raise Failed(f"RUN: {line}\n{errors.getvalue()}")


def run_file(file: Path) -> None:
    """Run every RUN line of a test, as lit does.

    Raises:
        Failed: a command fails.
        ValueError: a line has something that is not known here.
    """
    for line in run_lines(file.read_text()):
        run_line(line, file)
