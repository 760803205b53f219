"""`ttxdsl budget`: hold programs to the `COMM:` lines written in them."""

import argparse
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from ttxdsl.api.forms import ProgramForm
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.options.machines import add_chip_options
from ttxdsl.cli.programs import read_as_program, read_input
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.diagnostics.terminal import heading
from ttxdsl.insight.budget.check import Finding, check_budget, no_budget, print_findings
from ttxdsl.insight.budget.directives import (
    KINDS,
    MARK,
    has_budget,
    parse_budget,
    parse_limits,
)
from ttxdsl.insight.budget.markdown import markdown
from ttxdsl.insight.budget.written import (
    above_function,
    baseline_text,
    limits_of,
    read_baseline,
    with_lines,
    with_new_figures,
)
from ttxdsl.loading.files import require_writable, write_whole
from ttxdsl.loading.program import read_text, split_programs

_QUANTITIES = f"quantities: {' '.join(KINDS)} launches bytes KIND.bytes memory peak"


def _json(path: str, finding: Finding) -> dict[str, Any]:
    limit = finding.limit
    return {
        "file": path,
        "line": limit.line,
        "column": limit.column,
        "limit": limit.text,
        "axes": limit.axes,
        "quantity": limit.quantity,
        "comparator": limit.comparator,
        "allowed": limit.value,
        "found": finding.found,
        "ok": finding.ok,
        "collectives": [collective.data() for collective in finding.collectives],
        "values": [
            {"name": v.name, "type": v.type, "bytes": v.bytes, "position": v.position}
            for v in finding.values
        ],
    }


@dataclass(frozen=True, slots=True)
class _Part:
    """A program, and the text that its limits are written in.

    `line` is where lines of limits go if it has none.
    """

    name: str
    limits: str
    line: int
    program: Callable[[], ProgramForm]


def _files(paths: Sequence[Path], *, all_of_them: bool) -> Iterator[Path]:
    """The files of the command line; of folders those with limits, or all."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = [
            file
            for file in sorted(path.rglob("*.mlir"))
            if all_of_them or has_budget(read_text(file))
        ]
        if not files:
            raise CompileError(
                f"'{visible(str(path))}' has no program"
                + ("" if all_of_them else " with a COMM: line")
            )
        yield from files


def _parts(path: Path, options: argparse.Namespace) -> Iterator[_Part]:
    called = flags.function_of(path)
    if called is not None:
        program = read_as_program(path, options)
        limits, line = above_function(read_text(called[0]), called[1])
        yield _Part(str(path), limits, line, lambda: program)
        return
    text, source = read_input(path, options)
    for number, part in enumerate(split_programs(text)):
        name = f"{path}#{number}" if number else str(path)
        line = part.count("\n", 0, len(part) - len(part.lstrip())) + 1
        form = partial(ProgramForm.of_text, part, source)
        yield _Part(name, part, line, form)


def _checked(path: Path, options: argparse.Namespace) -> list[Finding]:
    """Check the limits of a file, or write new ones into it on request.

    Raises:
        CompileError: it has none.
    """
    file = (flags.function_of(path) or (path,))[0]
    findings: list[Finding] = []
    added: dict[int, str] = {}
    for part in _parts(path, options):
        budget = parse_budget(part.limits, str(file))
        if budget.limits:
            program = part.program()
            findings += check_budget(
                program, budget, str(file), options.trip_count, options.chip
            )
        elif options.update:
            mark = f"{'#' if file != path else '//'} {MARK}"
            limits = limits_of(part.program(), options.trip_count, options.chip)
            added[part.line] = f"{mark} {limits}"
    if options.update:
        _write(file, lambda text: with_lines(with_new_figures(text, findings), added))
        return _checked(path, Namespace(**{**vars(options), "update": False}))
    if not findings:
        raise no_budget(str(path))
    return findings


def _write(file: Path, change: Callable[[str], str]) -> None:
    """Change the text of a file."""
    try:
        text = None if str(file) == "-" else file.read_bytes().decode()
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise CompileError(
            f"'{visible(str(file))}' is no text that limits can be written into",
            hint="keep them in a --baseline",
        )
    if (new := change(text)) != text:
        require_writable(file, [])
        write_whole(file, new)


def _beside_baseline(
    files: Sequence[Path], options: argparse.Namespace
) -> list[tuple[str, list[Finding]]]:
    """Each program with its limits in the baseline, which may be written first."""
    baseline: Path = options.baseline
    parts = {
        _from_folder(part.name, baseline): part
        for path in files
        for part in _parts(path, options)
    }
    if options.update:
        table = {
            name: limits_of(part.program(), options.trip_count, options.chip)
            for name, part in parts.items()
        }
        require_writable(baseline, files)
        write_whole(baseline, baseline_text(table))
    else:
        table = read_baseline(baseline)
    hint = "ttxdsl budget ... --baseline FILE --update writes it anew"
    for kind, names in (
        (
            f"'{visible(str(baseline))}' has no limits of",
            [*parts.keys() - table.keys()],
        ),
        ("there is no program, but limits of", [*table.keys() - parts.keys()]),
    ):
        if names:
            shown = ", ".join(f"'{visible(name)}'" for name in sorted(names))
            raise CompileError(f"{kind} {shown}", hint=hint)
    return [
        (
            part.name,
            check_budget(
                part.program(),
                parse_limits(table[name]),
                str(baseline),
                options.trip_count,
                options.chip,
            ),
        )
        for name, part in parts.items()
    ]


def _from_folder(name: str, baseline: Path) -> str:
    """A program's name as a baseline has it, the same on every machine."""
    return Path(os.path.relpath(name, baseline.parent)).as_posix()


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a limit does not hold."""
    files = list(_files(options.files, all_of_them=options.baseline is not None))
    with doing("compiling"):
        if options.baseline is not None:
            checked = _beside_baseline(files, options)
        else:
            checked = [(str(path), _checked(path, options)) for path in files]
    ok = all(finding.ok for _, findings in checked for finding in findings)
    if options.json:
        limits = [
            _json(path, finding) for path, findings in checked for finding in findings
        ]
        flags.print_json({"ok": ok, "limits": limits})
        return 0 if ok else 1
    if options.markdown:
        sys.stdout.write(markdown(checked))
        return 0 if ok else 1
    console = report_console()
    for path, findings in checked:
        console.print(heading(path, ""), soft_wrap=True)
        print_findings(console, findings)
    return 0 if ok else 1


def add_command(commands: Any) -> None:
    """Add `budget` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "budget",
        help="hold programs to the communication that their COMM: lines allow",
        description=(
            "Compile programs and compare the collectives, the bytes that a device"
            " sends and the memory that it needs with the limits written in the files"
            " as comments: `// COMM: all_gather<=2, bytes<=4MiB, axis=model`. What"
            " breaks a limit is listed with its reason."
        ),
        examples=(
            "  ttxdsl budget model.mlir\n"
            "  ttxdsl budget tests/*.mlir --json\n"
            "  ttxdsl budget train.py:step --update    # COMM: lines of the function\n"
            "  ttxdsl budget models --baseline models/budget.json --update\n"
            "  ttxdsl budget models --baseline models/budget.json --markdown\n"
            "  pytest --comm-budget tests\n"
            "\n"
            f"{fill(_QUANTITIES, 72, subsequent_indent='  ')}\n"
            "comparators: <= >= == != < >    options: axis=NAME mesh=2,4 trip_count=N\n"
        ),
        execute=execute,
    )
    parser.path(
        "files",
        "FILE",
        "programs with COMM: lines, or folders of .mlir files",
        nargs="+",
    )
    parser.flag(
        "--update",
        "write what is found: into limits that do not hold, lines where there are"
        " none, or the baseline",
    )
    parser.path(
        "--baseline",
        "JSON",
        "a file of the limits of all programs, instead of lines in them",
    )
    parser.flag("--markdown", "print a summary for a pull request, no tables")
    flags.add_source_options(parser)
    parser.shared("--trip-count")
    add_chip_options(parser, slices=False)
    parser.shared("--json")
