"""Our compiler and XLA's on one program: results and collectives side by side.

    comparison = compare_with_xla(program)
    print(comparison.agree, comparison.bytes)

Both get the same shardings. XLA's results are held shard by shard against ours and
against the program on one device, so that a difference says who is to blame; what
rounding alone does to that run is no difference. Of the collectives each difference has
a label.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

from numpy.typing import NDArray

from ttxdsl.analysis.calls.function_attributes import entry_function, result_names
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.memory import MemoryParts
from ttxdsl.analysis.values.reductions import summed_numbers
from ttxdsl.api.forms import ProgramForm
from ttxdsl.bridges.export import annotated_module
from ttxdsl.bridges.xla.execute import Shard, run_with_xla
from ttxdsl.bridges.xla.hlo.collectives import HloCollective, list_hlo_collectives
from ttxdsl.costs.compilers import XLA_CPU
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.dialects.sdy import mesh_table
from ttxdsl.insight.check.rounding import RoundedRuns, hold
from ttxdsl.insight.diff.side_by_side import (
    CollectiveRow,
    match_collectives,
    of_both,
)
from ttxdsl.interpreters.compare import Comparison, compare
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits, bytes_of
from ttxdsl.interpreters.runtime.run import Runner, run_module
from ttxdsl.loading.program import program_text
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import axes_of_groups

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One result: ours and XLA's against one device, and XLA's shards against ours.

    `differing` are the devices whose shard in XLA differs from that part of ours;
    `split` says how many different parts XLA's devices hold.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    ours: Comparison
    xla: dict[int, Comparison]
    differing: tuple[int, ...]
    split: int

    @property
    def xla_ok(self) -> bool:
        """Whether each device has in XLA what one device computes."""
        return all(comparison.equal for comparison in self.xla.values())

    @property
    def is_right(self) -> bool:
        """Whether both sides have the numbers that one device computes."""
        return self.ours.ok and self.xla_ok

    @property
    def xla_max_abs(self) -> float:
        """The error of XLA's worst element."""
        return max(
            (comparison.max_abs for comparison in self.xla.values()), default=0.0
        )

    @property
    def xla_pcc(self) -> float:
        """Pearson's correlation of XLA's worst shard with one device."""
        return min((comparison.pcc for comparison in self.xla.values()), default=1.0)

    @property
    def label(self) -> str:
        """The verdict on ours and XLA's result, as far as rounding allows one."""
        if self.ours.equal and self.xla_ok:
            if not self.ours.ok:
                return str(self.ours)
            text = "equal as far as both round" if self.differing else "equal"
            special = self.ours.special
            return f"{text}, {special} elements" if special.is_any else text
        if self.ours.equal:
            wrong = [
                device
                for device, comparison in self.xla.items()
                if not comparison.equal
            ]
            return f"XLA differs from one device on {_devices(wrong)}"
        if self.xla_ok:
            return "ours differs from one device"
        farther = "XLA" if self.xla_max_abs > self.ours.max_abs else "ours"
        return f"both differ from one device, {farther} more"


@dataclass(frozen=True, slots=True)
class XlaComparison(Displayed):
    """A program through both compilers."""

    source: str
    devices: int
    results: tuple[ResultRow, ...]
    collectives: tuple[CollectiveRow[HloCollective], ...]
    memory: tuple[MemoryParts, MemoryParts]
    """Of a device: ours, and as XLA plans it."""
    peak_bytes: int
    """Our peak, where not all of `memory` is there at once."""
    remarks: tuple[Remark, ...] = ()
    """What our compiler said."""
    static: bool = False
    """Whether neither was run: there are no results then."""

    @property
    def agree(self) -> bool:
        """Whether all results are right on both sides."""
        return all(row.is_right for row in self.results)

    @property
    def guessed(self) -> bool:
        """Whether loops of unknown trip count are counted as one iteration."""
        both = ((*row.ours, *row.theirs) for row in self.collectives)
        return not all(collective.times.is_known for row in both for collective in row)

    @property
    def bytes(self) -> tuple[int, int]:
        """The bytes that a device sends in all: ours, XLA's."""
        return of_both(row.bytes for row in self.collectives)

    @property
    def launches(self) -> tuple[int, int]:
        """The number of collectives that run: ours, XLA's."""
        return of_both(row.counts for row in self.collectives)


def _devices(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    more = ", …" if len(numbers) > 8 else ""
    return f"device{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _hlo_axes(collective: HloCollective, meshes: Sequence[Mesh]) -> Axes | None:
    axes_of_meshes = (axes_of_groups(mesh, collective.groups) for mesh in meshes)
    return next((axes for axes in axes_of_meshes if axes is not None), None)


def _parts(
    rounded: Callable[[], Iterable[Array]], index: tuple[slice, ...]
) -> Iterable[Array]:
    return (place[index] for place in rounded())


def _result_row(
    name: str,
    actual: Array,
    expected: Array,
    shards: Sequence[Shard],
    summed: int,
    rounded: Callable[[], Iterable[Array]],
) -> ResultRow:
    xla: dict[int, Comparison] = {}
    differing: list[int] = []
    places: set[tuple[tuple[int, int], ...]] = set()
    for shard in shards:
        wanted = expected[shard.index]
        parts = partial(_parts, rounded, shard.index)
        xla[shard.device] = hold(shard.data, wanted, summed, parts)
        beside = compare(shard.data, actual[shard.index], reduction_length=summed)
        if not beside.equal:
            differing.append(shard.device)
        places.add(tuple((part.start, part.stop) for part in shard.index))
    return ResultRow(
        name=name,
        shape=expected.shape,
        dtype=str(expected.dtype),
        ours=hold(actual, expected, summed, rounded),
        xla=xla,
        differing=tuple(differing),
        split=len(places),
    )


def compare_with_xla(
    program: ProgramForm,
    inputs: Sequence[Array] | None = None,
    *,
    limits: Limits = NO_LIMITS,
    trip_count: int | None = None,
    virtual: int | None = None,
    static: bool = False,
    **partition: Any,
) -> XlaComparison:
    """Compile and run a program with both compilers.

    Args:
        program: as it was loaded, not partitioned.
        inputs: global arrays, one an argument; random ones if not given.
        limits: how far our runs may go; XLA's has none.
        trip_count: iterations of loops whose number a program does not say.
        virtual: how many virtual CPU devices to make, see `run_with_xla`.
        static: whether to compile with both and run neither, so that the program may be of
            any size: collectives and memory are compared, results are not.
        partition: options of `ProgramForm.partition`.

    Raises:
        CompileError: JAX is not installed or has too few devices, or one of the two refuses the program.
    """
    if program.stages:
        raise CompileError(
            f"'{program.source}' is partitioned already: there is nothing to compare",
            hint="compare the program that it was made of",
        )
    arrays: list[Array] | None = None
    original: Runner | None = None
    expected: Sequence[Array] = ()
    if not static:
        original = Runner(program.module, limits=limits)
        original.require_room(bytes_of(inputs or ()))
        arrays = list(program.random_inputs() if inputs is None else inputs)
        # first ours, whose loops may have an end that XLA's have not
        expected = original.run(arrays)
    device = program.partition(**partition)
    lowered = device if static else device.lower("ttnn")
    actuals: Sequence[Array] = ()
    if arrays is not None:
        actuals = run_module(lowered.module, arrays, limits=limits)
    shown = annotated_module(program, partition)
    meshes = list(mesh_table(shown).values())
    devices = max((prod(size for _, size in mesh.axes) for mesh in meshes), default=1)
    (run,) = run_with_xla(
        [program_text(shown, locations=True)],
        entry_function(shown),
        arrays,
        devices,
        virtual=virtual,
    )
    profile = DeviceUsage(device.module, compiler=XLA_CPU).memory
    results: tuple[ResultRow, ...] = ()
    if original is not None and arrays is not None:
        summed = summed_numbers(program.module)
        rounded = RoundedRuns(original, arrays)
        rows = zip(actuals, expected, run.results, strict=True)
        names = result_names(original.function)
        results = tuple(
            _result_row(
                names[at] or str(at),
                *row,
                summed,
                partial(rounded.result, at),
            )
            for at, row in enumerate(rows)
        )
    return XlaComparison(
        source=program.source,
        devices=devices,
        results=results,
        collectives=match_collectives(
            lowered.collectives(trip_count),
            list_hlo_collectives(run.hlo, devices, trip_count),
            lambda collective: _hlo_axes(collective, meshes),
        ),
        memory=(profile.parts, run.memory),
        peak_bytes=profile.peak_bytes,
        remarks=lowered.remarks,
        static=static,
    )
