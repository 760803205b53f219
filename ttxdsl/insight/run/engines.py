"""Engines: what `ttxdsl run --engine NAME` runs a compiled program on.

`ttxdsl.loading.doors.ENGINES` has them by name; a plug-in registers an `EngineKind`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.api.forms import ProgramForm
from ttxdsl.interpreters.runtime.engine import Engine
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import Form

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run for its engine.

    Attributes:
        devices: how many virtual devices to make, if the engine can.
        inputs: an archive or a folder of input arrays; None for random ones.
        results: the folder where processes write their parts of the results.
        compare: whether the results are gathered and compared.
        explain: gives the text of an error in a process that no other reports on.
    """

    source: str
    limits: Limits = NO_LIMITS
    devices: int | None = None
    inputs: Path | None = None
    seed: int = 0
    results: Path | None = None
    compare: bool = True
    explain: Callable[[DiagnosticException | ParseError], str] = str


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """The bytes and the time that one process took.

    Attributes:
        shards: bytes of its parts of the inputs and of whatever else was split.
        results: bytes of the parts of the results that it answers for.
        peak: bytes of memory that the run added at most, mapped files included.
        waited: how many of these it waited.
    """

    process: int
    shards: int
    results: int
    peak: int
    sent: int
    seconds: float
    waited: float


class Team(Protocol):
    """The processes of an engine, as the first of them sees them."""

    uses: list[ProcessUse]
    """What each took, after `run`."""

    def inputs(self, function: FuncOp) -> list[Array]:
        """The inputs, where every process finds them."""
        ...

    def run(self, text: str, inputs: Sequence[Array]) -> Sequence[Array]:
        """The results of a per-device program; none unless they are to be compared."""
        ...


class EngineKind:
    """A kind of engine: how it is called and made.

    Attributes:
        forms: the forms of a per-device program that it runs, the default first.
        has_devices: whether it takes `RunSettings.devices`.
        has_processes: whether several processes run the command together.
    """

    label: str
    forms: tuple[Form, ...] = ("ttnn", "ttir", "stablehlo")
    has_devices = False
    has_processes = False

    def make(self, program: ProgramForm, settings: RunSettings) -> Engine:
        """Return an engine for a program in one of `forms`."""
        raise NotImplementedError

    def lead(self, settings: RunSettings, work: Callable[[Team | None], int]) -> int:
        """Do the work of the command and return its exit code.

        Where there are several processes, the first does it with the others.
        """
        return work(None)


class _Virtual(EngineKind):
    label = "virtual mesh"

    def make(self, program: ProgramForm, settings: RunSettings) -> Engine:
        return Runner(program.module, limits=settings.limits)


VIRTUAL = _Virtual()
"""NumPy on a mesh in this process."""
