"""The answers of `prescribe`, as data."""

from dataclasses import dataclass

from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.insight.doctor.jax_code import starred
from ttxdsl.insight.doctor.prescriptions.candidates.changes import Kind
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.why.answers import Figures
from ttxdsl.sharding.devices.mesh import Mesh


@dataclass(frozen=True, slots=True)
class Prescription:
    """Something to write, and what it changes.

    Attributes:
        write: the code; for arguments a line for each.
        after: what it costs with it, compiled.
        on_top_of: numbers, from 1, of the prescriptions that are in both; it does not
            help without them.
        instead: other places where the same line does the same.
    """

    kind: Kind
    write: str
    places: tuple[SourcePlace, ...]
    before: Figures
    after: Figures
    on_top_of: tuple[int, ...] = ()
    instead: tuple[SourcePlace, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The code for people: arguments whose paths differ in numbers only are a line."""
        lines = self.write.split("\n")
        if self.kind != "argument":
            return lines
        texts = {
            path: text for path, _, text in (line.partition(": ") for line in lines)
        }
        return [f"{path}: {text}" for path, text in starred(texts)]


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate that was compiled and is not prescribed; None: it does not compile."""

    kind: Kind
    write: str
    places: tuple[SourcePlace, ...]
    after: Figures | None


@dataclass(frozen=True, slots=True)
class Prescriptions(Displayed):
    """The result of `prescribe`.

    Attributes:
        before: what the program costs as it is.
        prescriptions: what helps, the best first.
        together: numbers, from 1, of those that were compiled together.
        after: what the program costs with those.
        new_mesh: with those, if they change it.
        equal_in_time: numbers of prescriptions that differ in time by less than the
            model's error, and are in the order of bytes and memory.
        tried: what was compiled and does not help, or less than what is prescribed.
        untried: how many candidates there was no time for.
        interrupted: whether the search was ended from outside.
        memory: of a device in bytes, None if any will do.
        is_partitioned: whether all is computed on each device's own part already, as in
            a `shard_map` over the whole mesh.
        is_of_torch: whether torch-xla wrote the program: JAX's code is then an example.
    """

    mesh: Mesh
    machine: Machine
    before: Figures
    prescriptions: tuple[Prescription, ...]
    together: tuple[int, ...]
    after: Figures
    new_mesh: Mesh
    equal_in_time: tuple[tuple[int, ...], ...]
    tried: tuple[Trial, ...]
    untried: int
    interrupted: bool
    memory: int | None
    is_partitioned: bool = False
    is_of_torch: bool = False

    def fits(self, figures: Figures) -> bool:
        """Return True if a device has the memory."""
        peak = figures.peak_bytes
        return self.memory is None or peak is None or peak <= self.memory

    @property
    def least_memory(self) -> int | None:
        """The least peak of all that was compiled."""
        peaks = [
            figures.peak_bytes
            for figures in (
                *(self.before, self.after),
                *(prescription.after for prescription in self.prescriptions),
                *(trial.after for trial in self.tried),
            )
            if figures is not None and figures.peak_bytes is not None
        ]
        return min(peaks, default=None)
