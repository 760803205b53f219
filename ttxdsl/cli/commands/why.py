"""`ttxdsl why`: the causes of a sharding or a collective, and changes that remove it."""

import argparse
from pathlib import Path
from typing import Any

from ttxdsl.analysis.usage.device import machine_on
from ttxdsl.cli.console import print_lines_hint, print_remarks
from ttxdsl.cli.options import common as flags, machines
from ttxdsl.cli.programs import read_input
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.display import report_console
from ttxdsl.diagnostics.remarks import doing
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.insight.why import answers
from ttxdsl.insight.why.causes.aligned import aligned_lines
from ttxdsl.insight.why.causes.lines import between
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.insight.why.view import answer_data, print_answer
from ttxdsl.loading.program import parse_program


def _explainer(file: Path, options: argparse.Namespace, machine: Machine) -> Explainer:
    text, source = read_input(file, options)
    module = parse_program(text, source)
    if (chip := machines.chip_of_options(options)) is not None:
        machine = machine_on(chip, devices_of(module), options.slices)
    return Explainer(
        module,
        text,
        source=source,
        pipeline=flags.pipeline_of(options),
        machine=machine,
        tries=options.tries,
        keep=options.show,
        trip_count=options.trip_count,
    )


class _Between(argparse.Action):
    """The other program, and whether it stands before the first: `--between A B`."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None):
        """Note both."""
        setattr(namespace, self.dest, values)
        namespace.between_first = getattr(namespace, "file", None) is None


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    machine = machines.machine_of_options(options)
    asked = options.collective is not None or options.wish is not None
    with doing("compiling changes" if asked else "compiling"):
        file, second = options.file, options.between
        if options.between_first:
            file, second = second, file
        explainer = _explainer(file, options, machine)
        machines.require_axes(options, explainer.axes)
        if second is not None:
            other = _explainer(second, options, machine)
            lines = aligned_lines(explainer.module, other.module)
            answer = between(explainer.program(), other.program(), lines)
        else:
            answer = explainer.answer(
                options.value,
                options.argument,
                options.result,
                options.collective,
                wish=options.wish,
                by=options.by,
                jobs=options.jobs,
            )
    if options.json:
        flags.print_json(answer_data(answer))
        return 0
    if isinstance(answer, answers.WhyProgram):
        print_remarks(answer.remarks, whole=options.all)
    console = report_console()
    print_answer(console, answer, explainer.machine, whole=options.all)
    print_lines_hint(console, explainer.module)
    return 0


def add_command(commands: Any) -> None:
    """Add `why` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "why",
        help="where a sharding or a collective comes from, and what would change it",
        description=(
            "Say why a value is sharded as it is: the annotation that caused it, the"
            " way from there op by op, who won at conflicts, and what kept the other"
            " axes away. Or why a collective is there, what it costs, which annotations it"
            " needs, and which changes would help: each is made to the program and"
            " compiled. Without a"
            " value or number: all collectives with their causes."
        ),
        examples=(
            "  ttxdsl why model.mlir\n"
            "  ttxdsl why model.mlir %42\n"
            "  ttxdsl why model.mlir --arg 3\n"
            "  ttxdsl why model.mlir --not 'x=P(\"data\", None)'\n"
            "  ttxdsl why --between before.mlir after.mlir\n"
            "  ttxdsl why model.mlir --collective 0 --tries 40\n"
            "  ttxdsl why model.mlir --collective 0 --link-gbps 50 --latency-us 2\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    subject = parser.add_mutually_exclusive_group()
    subject.add_argument(
        "value",
        nargs="?",
        metavar="%VALUE",
        help="a value of the file: %%42, %%5#1, @callee:%%3",
    )
    subject.add_argument(
        *("--arg", "--argument"),
        dest="argument",
        type=int,
        metavar="K",
        help="argument",
    )
    subject.add_argument("--result", type=int, metavar="K", help="result")
    subject.add_argument(
        "--collective", type=int, metavar="N", help="collective, from 0 as listed"
    )
    subject.add_argument(
        "--not",
        dest="wish",
        metavar="X=P(…)",
        help="why a value is not sharded so, and what the program would cost if it were",
    )
    subject.add_argument(
        "--between",
        type=Path,
        action=_Between,
        metavar="OTHER",
        help="another program: which lines make the difference in what is sent",
    )
    parser.add_argument(
        "--tries",
        type=flags.from_zero,
        metavar="N",
        help="changes to compile for a collective (16 of a small program, of a large"
        " one up to 3, in 3 s); 0 for none",
    )
    parser.count("--show", "changes to show (3)", 3)
    parser.flag("--all", "each collective in a row, every step of long chains")
    flags.add_by_option(parser)
    machines.add_machine_options(parser)
    machines.add_chip_options(parser)
    parser.shared("--trip-count", "--jobs")
    flags.add_compiler_options(parser)
    parser.shared("--json")
    parser.set_defaults(between_first=False)
