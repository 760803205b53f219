"""The commands that are methods of a `Program` as well, and print what they print.

What they do stands above of `ttxdsl.api`, and is called by its name.
"""

import os
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from numpy.typing import ArrayLike

from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.diagnostics.display import Printed
from ttxdsl.insight.diff.difference import Difference
from ttxdsl.universe import load

Answer = TypeVar("Answer", bound=Printed)


@dataclass(frozen=True, slots=True)
class Interpretation(Printed):
    """What a program answers, run as it is."""

    results: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Picture(Printed):
    """A program's arguments and results, or one value, as devices hold it."""

    of: str


class Commands:
    """What every program can be asked."""

    def run(
        self,
        *arrays: ArrayLike,
        seed: int = 0,
        by: str | None = None,
        whole: bool = False,
        trip_count: int | None = None,
        max_memory: int | str | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """Compiled, run on a virtual mesh, beside the program as it was loaded on one device.

        The answer (`ttxdsl.cli.commands.run.RunOutcome`) says whether all is `ok`, and has
        `results` with their arrays, the `purposes` of what is sent, and `peak_bytes`.

        Args:
            arrays: one an argument; random ones if there are none.
            seed: of these.
            by: one row for all collectives that share it: `kind`, `axis`, `cause`,
                `line`, `layer`, `scope` or `parameter`.
            whole: print each collective and each result in a row.
            trip_count: how often loops turn of which the program does not say it.
            max_memory: bytes (`8 << 30` or `"8GiB"`) that all values may take at once.
            max_steps: turns that all loops together may take.

        Raises:
            CompileError: the program does not compile, the arrays do not fit, or an op
                cannot be run.
        """
        made = load("ttxdsl.cli.methods:run")
        limits = load("ttxdsl.interpreters.runtime.limits:Limits").of(
            max_memory, max_steps
        )
        return made(self, arrays, seed, by, trip_count, limits, whole=whole)

    def diff(
        self,
        other: Self,
        *,
        names: tuple[str, str] = ("this", "other"),
        trip_count: int | None = None,
    ) -> Difference:
        """What two programs send and hold, and the collectives that differ.

        Args:
            other: what this one is compared with; each is partitioned if it is not yet.
            names: what to call them.
            trip_count: how often loops turn of which the program does not say it.

        Raises:
            CompileError: one of them cannot be compiled.
        """
        made = load("ttxdsl.cli.methods:diff")
        return made(self, other, trip_count, names)

    def budget(self, *limits: str, trip_count: int | None = None) -> Any:
        """Limits, each with what the program has (`ttxdsl.insight.budget.check.Findings`).

        Args:
            limits: each a line as after `// COMM:`, `"all_gather<=2, axis=model"`;
                without any, the lines of the file that the program was loaded from.
            trip_count: how often loops turn of which the program does not say it.

        Raises:
            CompileError: a limit is malformed, there are none, or the program does not
                compile.
        """
        return load("ttxdsl.cli.methods:budget")(self, limits, trip_count)

    def show(
        self,
        value: str | None = None,
        *,
        argument: int | None = None,
        result: int | None = None,
        devices: bool = False,
    ) -> Picture:
        """Which device holds which slice: of arguments and results, or of one value.

        Args:
            value: `%5`, as the program's `text` has it.
            argument: one of the arguments, by its number.
            result: one of the results.
            devices: list every device with its slice.

        Raises:
            CompileError: there is no such value, or it is no tensor.
        """
        made = load("ttxdsl.cli.commands.show:picture_of")
        return made(self, value, argument, result, devices=devices)

    def memory(self) -> MemoryProfile:
        """What a device holds when it holds most, by name.

        Raises:
            CompileError: the program cannot be compiled, or has no static shapes.
        """
        return load("ttxdsl.cli.methods:memory")(self)

    def report(
        self, path: str | os.PathLike[str], *, tries: int = 0, **options: Any
    ) -> None:
        """Write the report: one HTML file that needs no network; see `report_data`.

        Args:
            path: of the file, which is written whole or not at all.
            tries: changes to compile for each collective, to say which would help.
            options: of `report_data`.

        Raises:
            CompileError: the program cannot be partitioned, or the file cannot be
                written, or is the one that the program was loaded from.
        """
        load("ttxdsl.cli.commands.report:write_report")(self, path, tries, options)

    def compare_xla(self, *arrays: ArrayLike, seed: int = 0, **options: Any) -> Any:
        """Results and collectives beside XLA's (`ttxdsl.bridges.xla.comparing.XlaComparison`).

        Args:
            arrays: one an argument; random ones if there are none.
            seed: of these.
            options: of `ttxdsl.bridges.xla.comparing.compare_with_xla`.

        Raises:
            CompileError: JAX is not installed, or one of the two refuses the program.
        """
        made = load("ttxdsl.cli.methods:compare_xla")
        return made(self, arrays, seed, options)

    def interpret(self, *arrays: ArrayLike, seed: int | None = None) -> Interpretation:
        """The program run as it is, its results printed as MLIR has constants.

        Args:
            arrays: one an argument.
            seed: of random ones instead.

        Raises:
            CompileError: the arrays do not fit, or an op cannot be run.
        """
        return load("ttxdsl.cli.methods:interpret")(self, arrays, seed)


def printing(answer: Answer, view: str, *more: object) -> Answer:
    """The answer, printed as a command does it, whose tables are loaded then.

    Args:
        answer: whatever it is.
        view: the function, as `"module:name"`, that draws the answer.
        more: what it wants to know besides.
    """
    return answer.shown_by(lambda as_html: load(view)(answer, *more)(as_html))
