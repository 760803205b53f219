"""Running what the documentation shows: commands in a console, and Python.

A page is executed from its top in one folder and one namespace:

- a `console` block is a command after `$ ` and what it prints. The line `...` stands
  for any lines, and `...` within a line for any text. A command that is meant to fail
  says so by a `|| true` or by what follows in the page.
- a `python` block is executed; a `text` block right after it is what it prints.

Blocks of other languages, and indented ones, are not executed.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from tests.run_lines import xdsl_opt
from ttxdsl.cli.main import main

ROOT = Path(__file__).parents[2]
ANYTHING = "..."

_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LOOP = re.compile(r"for (\w+) in ([\w ]+); do (.*); done")
_OURS = re.compile(
    r"(?P<own>(?:ttxdsl|xdsl-opt|python examples/\S+) (?:[^|&;<>()$*'\"]|'[^']*')*)"
    r"(?:\|(?P<reader>.*)|>(?P<file>[^|&;<>$]*))?"
)
"""A command of ours, and what may read its output: other commands, or a file."""


@dataclass(frozen=True)
class Block:
    """A block of a page: where it starts, what to run, and what that prints."""

    line: int
    language: str
    code: str
    printed: str


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that are executed, in order."""
    text = page.read_text()
    found: list[Block] = []
    pending = False
    for match in _BLOCK.finditer(text):
        language, body = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        if language == "python":
            found.append(Block(line, language, body, ""))
        elif language == "console":
            # several commands may follow each other in one block
            for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE)[1:]:
                command, _, printed = part[2:].partition("\n")
                while command.endswith("\\"):
                    more, _, printed = printed.partition("\n")
                    command = command[:-1] + more
                found.append(Block(line, language, command, printed))
        elif language == "text" and pending:
            last = found[-1]
            found[-1] = Block(last.line, last.language, last.code, body)
        pending = language == "python"
    return found


def _line_matches(expected: str, actual: str) -> bool:
    if ANYTHING not in expected:
        return expected == actual.rstrip()
    pattern = ".*".join(re.escape(part) for part in expected.split(ANYTHING))
    return re.fullmatch(pattern, actual.rstrip()) is not None


def matches(expected: list[str], actual: list[str]) -> bool:
    """Whether the lines are what the page shows; see the module for `...`."""
    if not expected:
        return not actual
    if expected[0] == ANYTHING:
        rest = expected[1:]
        return any(matches(rest, actual[start:]) for start in range(len(actual) + 1))
    return (
        bool(actual)
        and _line_matches(expected[0], actual[0])
        and matches(expected[1:], actual[1:])
    )


def _in_a_shell(command: str, read: str = "") -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # pytest writes longer lines where it sees that it runs in CI
    env = {k: v for k, v in os.environ.items() if k not in ("CI", "BUILD_NUMBER")}
    # found by its entry point, our plug-in has pytest rewrite the asserts of all of ttxdsl
    env |= {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "ttxdsl.insight.budget.pytest_plugin",
    }
    done = subprocess.run(
        command,
        shell=True,
        env={**env, "PATH": path},
        input=read,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


# JAX reads its settings once in a process; what it exports here is always the same
_exported = cache(_in_a_shell)


def run_command(command: str) -> str:
    """What a command prints, errors too. Our own runs here: a process costs a second."""
    if loop := _LOOP.fullmatch(command):
        name, values, body = loop.groups()
        each = (body.replace(f"${name}", value) for value in values.split())
        return "".join(map(run_command, each))
    ours = _OURS.fullmatch(command)
    if ours is None:
        return _in_a_shell(command)
    own, reader, file = ours.groups()
    tool, *options = shlex.split(own)
    output, errors = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(errors if reader or file else output):
        match tool:
            case "ttxdsl":
                main(options)
            case "xdsl-opt":
                print(xdsl_opt(options), end="")
            case _:
                print(_exported(own), end="")
    printed = output.getvalue()
    if reader:
        printed = _in_a_shell(reader, printed)
    elif file:
        Path(file.strip()).write_text(printed)
        printed = ""
    return errors.getvalue() + printed


def _shown_path(page: Path) -> str:
    """Return the page's path as any clone has it: programs name their source lines."""
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else str(page)


def _outputs(page: Path) -> Iterator[tuple[Block, str]]:
    """Each block of a page with what it really prints, run in the current folder."""
    namespace: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.language == "console":
            yield block, run_command(block.code.strip())
            continue
        output = StringIO()
        with redirect_stdout(output):
            code = "\n" * (block.line - 1) + block.code
            exec(compile(code, _shown_path(page), "exec"), namespace)
        yield block, output.getvalue()


def as_shown(shown: str, printed: str) -> bool:
    """Whether what was printed is what the page shows."""
    return matches(shown.rstrip("\n").split("\n"), printed.rstrip("\n").split("\n"))


def run_page(page: Path) -> None:
    """Execute a page in the current folder.

    Raises:
        AssertionError: something is printed that the page does not show.
    """
    for block, printed in _outputs(page):
        where = f"{page.name}:{block.line}: {block.code}"
        assert as_shown(block.printed, printed), f"{where}\nprinted:\n{printed}"


def update_page(page: Path) -> None:
    """Write what the commands of a page print now where it shows something else."""
    text, at = page.read_text(), 0
    for block, printed in _outputs(page):
        old = f"{block.code.rstrip()}\n"
        if block.language == "console" and "\n" not in block.code:
            old += block.printed
            lines = [line.rstrip() for line in printed.rstrip("\n").split("\n")]
            new = "\n".join([block.code.rstrip(), *lines, ""])
        else:
            new = old
        found = text.find(old, at)
        if found < 0:
            continue
        if not as_shown(block.printed, printed):
            text = text[:found] + new + text[found + len(old) :]
            at = found + len(new)
        else:
            at = found + len(old)
    page.write_text(text)


def in_folder_of_its_own(folder: Path) -> None:
    """Put what pages read into a folder."""
    for name in ("examples", "docs", "tests"):
        (folder / name).symlink_to(ROOT / name)


if __name__ == "__main__":
    # python -m tests.docs.pages docs/PAGE.md: the page shows what is printed now
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    for argument in sys.argv[1:]:
        path = Path(argument).resolve()
        with tempfile.TemporaryDirectory() as made:
            in_folder_of_its_own(Path(made))
            os.chdir(made)
            update_page(path)
