"""`ttxdsl budget`: hold programs to the `COMM:` lines written in them."""

import argparse
from pathlib import Path
from textwrap import fill
from typing import Any

from ttxdsl.budgets.check import Finding, check_text, print_findings
from ttxdsl.budgets.directives import KINDS
from ttxdsl.terminal import heading
from ttxdsl.tools.console import report_console, working
from ttxdsl.tools.options import (
    add_json_option,
    add_source_options,
    add_trip_count_option,
    print_json,
)
from ttxdsl.tools.programs import read_input

_QUANTITIES = f"quantities: {' '.join(KINDS)} count bytes KIND.bytes memory peak"


def _json(path: Path, finding: Finding) -> dict[str, Any]:
    limit = finding.limit
    return {
        "file": str(path),
        "line": limit.line,
        "column": limit.column,
        "limit": limit.text,
        "axes": limit.axes,
        "quantity": limit.quantity,
        "comparator": limit.comparator,
        "allowed": limit.value,
        "found": finding.found,
        "ok": finding.ok,
        "collectives": [one.data() for one in finding.collectives],
        "values": [
            {"name": v.name, "type": v.type, "bytes": v.bytes, "position": v.position}
            for v in finding.values
        ],
    }


def execute(options: argparse.Namespace) -> int:
    """Run the command; 1 if a limit does not hold."""
    checked: list[tuple[Path, list[Finding]]] = []
    for path in options.files:
        with working(f"compiling {path}"):
            text, source = read_input(path, options)
            checked.append((path, check_text(text, source, options.trip_count)))
    ok = all(finding.ok for _, findings in checked for finding in findings)
    if options.json:
        limits = [_json(path, one) for path, findings in checked for one in findings]
        print_json({"ok": ok, "limits": limits})
        return 0 if ok else 1
    console = report_console()
    for path, findings in checked:
        console.print(heading(str(path), ""), soft_wrap=True)
        print_findings(console, findings)
    return 0 if ok else 1


def add_command(commands: Any) -> None:
    """Add `budget` and its options to the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "budget",
        help="hold programs to the communication that their COMM: lines allow",
        description=(
            "Compile programs and compare the collectives, the bytes that a device"
            " sends and the memory that it needs with the limits written in the files"
            " as comments: `// COMM: all_gather<=2, bytes<=4MiB, axis=model`. What"
            " breaks a limit is listed with its reason."
        ),
        epilog=(
            "examples:\n"
            "  ttxdsl budget model.mlir\n"
            "  ttxdsl budget tests/*.mlir --json\n"
            "  pytest --comm-budget tests\n"
            "\n"
            f"{fill(_QUANTITIES, 72, subsequent_indent='  ')}\n"
            "comparators: <= >= == != < >    options: axis=NAME mesh=2,4 trip_count=N\n"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="programs with COMM: lines"
    )
    add_source_options(parser)
    add_trip_count_option(parser)
    add_json_option(parser)
    parser.set_defaults(execute=execute)
