"""Mutants through the commands: one diagnostic, an exit code, and nothing half-written.

outcomes = check_commands(7)
"""

import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from tests.attack.isolation import CPU_SECONDS, Finding
from tests.attack.mutants import mutant_of
from tests.attack.numbers import attack_numbers
from tests.differential.campaign import Outcome
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program

FILE = "mutant.mlir"

_DIAGNOSTIC = re.compile(r"^(?: ?\S.*?[:\s])?error: ", re.MULTILINE)
"""The start of a diagnostic; the lines that it quotes are indented by two spaces.

A file's name may start with one.
"""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys: everything but line ends and tabs."""

VERDICTS = frozenset(("run", "check", "diff", "budget", "doctor", "compare-xla"))
"""Commands whose exit code 1 may be an answer: it differs, it does not fit."""


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    output: str
    errors: str


Runner = Callable[[Sequence[str]], Answer]


def in_process(words: Sequence[str]) -> Answer:
    """Run a command here.

    Raises:
        Exception: what would be a traceback on a terminal.
    """
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            code = main(words)
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
    texts: list[str] = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # pyright: ignore[reportAttributeAccessIssue]
    return Answer(code, *texts)


def as_process(words: Sequence[str]) -> Answer:
    """Run a command as users do.

    Raises:
        Finding: it does not end, or prints what is no text.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ttxdsl.cli.main", *words],
            capture_output=True,
            timeout=10 * CPU_SECONDS,
            check=False,
            env={**os.environ, "PYTHONWARNINGS": "error"},
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
    except subprocess.TimeoutExpired as error:
        raise Finding(f"{words[0]} does not end") from error


def examine(words: Sequence[str], answer: Answer) -> str:
    """What a command did: `done`, `refused`, or `says no`.

    Raises:
        Finding: a traceback, another exit code, no diagnostic or several, something
            that a terminal obeys, a file that is half-written, text that is no JSON.
    """
    command = words[0]

    def require(holds: bool, what: str) -> None:
        if not holds:
            raise Finding(f"{command}: {what}\n{' '.join(words)}\n{answer}")

    printed = answer.output + answer.errors
    require("Traceback" not in answer.errors, "a traceback")
    require(answer.code in (0, 1, 2), f"exit code {answer.code}")
    require(not _CONTROL.search(printed), "prints what a terminal obeys")
    count = len(_DIAGNOSTIC.findall(answer.errors))
    require(count <= 1, "more than one diagnostic")
    if answer.code == 0:
        require(count == 0, "a diagnostic, and exit code 0")
        if "--json" in words:
            try:
                json.loads(answer.output, parse_constant=lambda _: 1 / 0)
            except (ValueError, ZeroDivisionError) as error:
                raise Finding(f"{command}: no JSON\n{answer}") from error
        if command == "compile" and "-o" not in words:
            try:
                parse_program(answer.output)
            except CompileError as error:
                raise Finding(f"{command} prints what cannot be read") from error
        return "done"
    if command == "check" and "FAIL" in answer.output:
        return "says no"
    if count == 0:
        require(command in VERDICTS and answer.code == 1, "fails without a diagnostic")
        return "says no"
    if "-o" in words:
        written = Path(words[words.index("-o") + 1])
        require(not written.exists(), "leaves a file behind an error")
    return "refused"


# What is asked of the commands

LIMITS = ("--max-steps", "2000", "--max-memory", "1GiB")


def _numbers(rng: random.Random) -> str:
    return rng.choice((*"0000111123", "13", "-1", "99999999999999999999", "x", ""))


def _mesh(rng: random.Random) -> str:
    return rng.choice(
        ("1,2", "1,8", "1,4", "2x4", "2,2", "1", "0,2", "-1,2", "3,", "1,1")
    )


def _value(rng: random.Random) -> str:
    return rng.choice(
        (
            *("%0", "%1", "%arg0", "%v1", "%v3", "%v5") * 3,
            "%1#0",
            "@main:%0",
            "%",
            "%é",
            "",
        )
    )


def _compiler_options(rng: random.Random) -> list[str]:
    """Options that most commands take; mostly none."""
    words: list[str] = []
    if rng.random() < 0.15:
        words += ["--mesh-shape", _mesh(rng)]
    if rng.random() < 0.05:
        words += ["--argument-types", rng.choice(("main=input", "", "x=y", "main=,"))]
    if rng.random() < 0.05:
        words += ["--no-automatic-arg-analysis"]
    if rng.random() < 0.05:
        words += ["--result-presharded", rng.choice(("1", "0", "1,1", "2", "x"))]
    if rng.random() < 0.05:
        words += ["--num-links", _numbers(rng)]
    return words


def _words(rng: random.Random, command: str) -> list[str]:
    """A command with its own options."""
    json_ = ["--json"] if rng.random() < 0.5 else []
    some = _compiler_options(rng)
    match command:
        case "run":
            if rng.random() < 0.3:
                form = rng.choice(("sdy", "stablehlo", "ttir", "ttnn"))
                some += ["--emit", form, "-o", "out.mlir"]
            return [*some, *json_, *LIMITS, "--seed", str(rng.randrange(9))]
        case "compile":
            form = rng.choice(("sdy", "stablehlo", "ttir", "ttnn"))
            some += ["-o", "out.mlir"] if rng.random() < 0.5 else []
            some += ["--strict"] if rng.random() < 0.1 else []
            some += ["--verify-each"] if rng.random() < 0.5 else []
            some += ["--dump-dir", "stages"] if rng.random() < 0.1 else []
            return [*some, "--emit", form]
        case "check":
            small = ["--minimize-seconds", "1", "-o", "small.mlir"]
            return [*some, *json_, *LIMITS, *small]
        case "interpret":
            return [*json_, *LIMITS, "--seed", "0"]
        case "report":
            some += ["--format", "model-explorer"] if rng.random() < 0.3 else []
            return [*some, *(json_ or ["-o", "out.html"])]
        case "why":
            asked = rng.choice(("", "value", "--arg", "--result", "--collective"))
            if asked == "value":
                some += [_value(rng)]
            elif asked:
                some += [asked, _numbers(rng)]
            return [*some, *json_, "--tries", "2"]
        case "show":
            asked = rng.choice(("", "value", "--arg", "--result"))
            if asked == "value":
                some += [_value(rng)]
            elif asked:
                some += [asked, _numbers(rng)]
            if rng.random() < 0.5:
                some += ["--after", rng.choice(("6", "8", "13", "inline", "x", "14"))]
            some += ["--devices"] if rng.random() < 0.3 else []
            return [*some, *json_]
        case "diff":
            meshes = ["--mesh-shape", _mesh(rng), "--mesh-shape", _mesh(rng)]
            return [*rng.choice(([FILE], meshes)), *json_]
        case "doctor":
            some = ["--ignore-shardings"] if rng.random() < 0.3 else []
            devices = rng.choice(("1", "2", "4", "8", "3", "0"))
            return [*some, *json_, "--devices", devices, "--candidates", "2", "--jobs", "1"]  # fmt: skip
        case "plan":
            chip = rng.choice(("v5e", "v5p", "h100", "n300", "v5x"))
            some += ["--slices", rng.choice("0123")] if rng.random() < 0.1 else []
            return [*some, *json_, "--chip", chip]
        case _:
            return json_


IN_PROCESS = ("run", "compile", "check", "interpret", "report", "why", "show", "diff", "doctor", "budget", "plan")  # fmt: skip


def words_of(seed: int, commands: Sequence[str] = IN_PROCESS) -> list[str]:
    """The command line that the mutant of a seed is given to."""
    rng = random.Random(f"commands {seed}")
    command = rng.choice(commands)
    return [command, FILE, *_words(rng, command)]


def attack_command(
    text: str, words: Sequence[str], seed: int, run: Runner = in_process
) -> list[Outcome]:
    """What a command did with a program, in an empty folder.

    Raises:
        Exception: see `in_process` and `examine`; a verdict that rounding does not
            explain; files that nobody asked for.
    """
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(FILE).write_text(
            text, encoding="utf-8", errors="surrogatepass", newline=""
        )
        outcome = examine(words, run(words))
        more = {
            path.name
            for path in Path().iterdir()
            if not path.name.startswith(("mutant.", "out.", "small.", "stages"))
        }
        if more:
            raise Finding(f"{words[0]} leaves files that nobody asked for\n{more}")
    if outcome == "says no" and words[0] in ("run", "check"):
        attack_numbers(text, seed)
        outcome = "says no where rounding decides"
    return [(words[0], outcome)]


def check_commands(seed: int) -> list[Outcome]:
    """What a command did with a mutant; see `attack_command`."""
    text = mutant_of(seed).text
    if seed % 5 == 0:
        text = f"// COMM: count<=3, bytes<=1MiB\n{text}"
    return attack_command(text, words_of(seed), seed)


PROCESSES = (*IN_PROCESS, "compare-xla")


def check_processes(seed: int) -> list[Outcome]:
    """The same with every hundredth as a process of its own."""
    if seed % 100:
        return []
    words = words_of(seed, PROCESSES)
    return attack_command(mutant_of(seed).text, words, seed, as_process)


def reproducer(seed: int) -> str:
    """The mutant of a seed with its command line."""
    return f"// RUN: ttxdsl {' '.join(words_of(seed))}\n{mutant_of(seed).text}"
