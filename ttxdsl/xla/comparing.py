"""Our compiler and XLA's on one program: results and collectives side by side.

    comparison = compare_with_xla(program)
    print(comparison.agree, comparison.bytes)

Both get the same shardings. XLA's results are held shard by shard against ours and
against the program on one device, so that a difference says who is to blame. Of the
collectives each difference has a label.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from io import StringIO
from math import prod
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.printer import Printer

from ttxdsl.api import Program
from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import mesh_table
from ttxdsl.errors import CompileError
from ttxdsl.interpreters.compare import Comparison, compare
from ttxdsl.interpreters.limits import NO_LIMITS, Limits, bytes_of
from ttxdsl.interpreters.run import Runner, entry_function, run_module
from ttxdsl.reporting.collectives import CountedCollective
from ttxdsl.reporting.reductions import summed_numbers
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.replica_groups import axes_of_groups
from ttxdsl.xla.execute import Shard, run_with_xla
from ttxdsl.xla.hlo import HloCollective, list_hlo_collectives

Array = NDArray[Any]

_ANNOTATED = 4
"""The stage after which every program has its shardings."""


class Label(StrEnum):
    """What there is to say of a row of the table of collectives."""

    SAME = "same"
    JOINED = "same bytes, joined by XLA"
    SPLIT = "same bytes, split up by XLA"
    LESS = "ours move less"
    MORE = "ours move more"
    OURS_ONLY = "only ours"
    XLA_ONLY = "only XLA's"


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """Collectives of one kind among the same devices, on both sides."""

    kind: str
    among: str
    ours: tuple[CountedCollective, ...]
    xla: tuple[HloCollective, ...]

    @property
    def our_bytes(self) -> int:
        """What a device sends in ours."""
        return sum(one.bytes_per_device for one in self.ours)

    @property
    def xla_bytes(self) -> int:
        """What a device sends in XLA's."""
        return sum(one.bytes_per_device for one in self.xla)

    @property
    def label(self) -> Label:
        """How the two sides differ."""
        if not self.xla:
            return Label.OURS_ONLY
        if not self.ours:
            return Label.XLA_ONLY
        if self.our_bytes != self.xla_bytes:
            return Label.LESS if self.our_bytes < self.xla_bytes else Label.MORE
        if len(self.ours) == len(self.xla):
            return Label.SAME
        return Label.JOINED if len(self.ours) > len(self.xla) else Label.SPLIT


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One result: ours and XLA's against one device, and XLA's shards against ours.

    `differing` are the devices whose shard in XLA differs from that part of ours;
    `split` says how many different parts XLA's devices hold.
    """

    shape: tuple[int, ...]
    dtype: str
    ours: Comparison
    xla: dict[int, Comparison]
    differing: tuple[int, ...]
    split: int

    @property
    def xla_ok(self) -> bool:
        """Whether each device has in XLA what one device computes."""
        return all(one.ok for one in self.xla.values())

    @property
    def label(self) -> str:
        """Who is right."""
        if self.ours.ok and self.xla_ok:
            return "equal" if not self.differing else "equal within tolerance"
        if self.ours.ok:
            wrong = [device for device, one in self.xla.items() if not one.ok]
            return f"XLA differs from one device on {_devices(wrong)}"
        if self.xla_ok:
            return "ours differs from one device"
        return "both differ from one device"


@dataclass(frozen=True, slots=True)
class XlaComparison:
    """A program through both compilers."""

    source: str
    devices: int
    results: tuple[ResultRow, ...]
    collectives: tuple[CollectiveRow, ...]

    @property
    def agree(self) -> bool:
        """Whether all results are right on both sides."""
        return all(row.ours.ok and row.xla_ok for row in self.results)

    @property
    def bytes(self) -> tuple[int, int]:
        """What a device sends in all: ours, XLA's."""
        rows = self.collectives
        return sum(row.our_bytes for row in rows), sum(row.xla_bytes for row in rows)


def _devices(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    more = ", …" if len(numbers) > 8 else ""
    return f"device{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _among(axes: Axes | None, size: int) -> str:
    if axes:
        return ", ".join(str(axis).replace('"', "") for axis in axes)
    return f"groups of {size}"


def _hlo_axes(collective: HloCollective, meshes: Sequence[Mesh]) -> Axes | None:
    if collective.kind == "collective_permute":
        return None
    found = (axes_of_groups(mesh, collective.groups) for mesh in meshes)
    return next((axes for axes in found if axes is not None), None)


def match_collectives(
    ours: Sequence[CountedCollective],
    xla: Sequence[HloCollective],
    meshes: Sequence[Mesh],
) -> tuple[CollectiveRow, ...]:
    """Both sides' collectives by kind and by the devices among which they run.

    Those that move nothing are left out. A permutation is matched by kind alone: which
    axes it stays within says little.
    """
    left: defaultdict[tuple[str, str], list[CountedCollective]] = defaultdict(list)
    right: defaultdict[tuple[str, str], list[HloCollective]] = defaultdict(list)
    for one in ours:
        permutes = one.kind == "collective_permute"
        among = "pairs" if permutes else _among(one.axes, one.group_size)
        if one.bytes_per_device:
            left[one.kind, among].append(one)
    for other in xla:
        permutes = other.kind == "collective_permute"
        axes = _hlo_axes(other, meshes)
        among = "pairs" if permutes else _among(axes, other.group_size)
        if other.bytes_per_device:
            right[other.kind, among].append(other)
    keys = [*left, *(key for key in right if key not in left)]
    return tuple(
        CollectiveRow(
            *key,
            ours=tuple(left[key]) if key in left else (),
            xla=tuple(right[key]) if key in right else (),
        )
        for key in keys
    )


def _result_row(
    found: Array, expected: Array, shards: Sequence[Shard], summed: int
) -> ResultRow:
    xla: dict[int, Comparison] = {}
    differing: list[int] = []
    places: set[tuple[tuple[int, int], ...]] = set()
    for shard in shards:
        wanted = expected[shard.index]
        xla[shard.device] = compare(shard.data, wanted, reduction_length=summed)
        beside = compare(shard.data, found[shard.index], reduction_length=summed)
        if not beside.ok:
            differing.append(shard.device)
        places.add(tuple((one.start, one.stop) for one in shard.index))
    return ResultRow(
        shape=expected.shape,
        dtype=str(expected.dtype),
        ours=compare(found, expected, reduction_length=summed),
        xla=xla,
        differing=tuple(differing),
        split=len(places),
    )


def _shown_to_xla(program: Program, partition: dict[str, Any]) -> ModuleOp:
    """The program with the shardings that both sides get, without our own marks."""
    module = program.module
    if not any(isinstance(op, sdy.MeshOp) for op in module.ops):
        module = program.partition(**partition, last_stage=_ANNOTATED).module
    for function in module.ops:
        if isinstance(function, FuncOp):
            _without_marks(function)
    # XLA starts with @main; nobody calls an entry function
    entry_function(module).sym_name = StringAttr("main")
    for name in [name for name in module.attributes if name.startswith("ttcore.")]:
        del module.attributes[name]
    return module


def _without_marks(function: FuncOp) -> None:
    """Take the `ttcore` attributes off arguments and results: XLA has no such dialect."""

    def cleaned(attributes: ArrayAttr[DictionaryAttr]) -> ArrayAttr[DictionaryAttr]:
        return ArrayAttr(
            DictionaryAttr(
                {k: v for k, v in one.data.items() if not k.startswith("ttcore.")}
            )
            for one in attributes
        )

    if function.arg_attrs is not None:
        function.arg_attrs = cleaned(function.arg_attrs)
    if function.res_attrs is not None:
        function.res_attrs = cleaned(function.res_attrs)


def _text(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream=stream, print_debuginfo=True).print_op(module)
    return stream.getvalue()


def compare_with_xla(
    program: Program,
    inputs: Sequence[Array] | None = None,
    *,
    limits: Limits = NO_LIMITS,
    **partition: Any,
) -> XlaComparison:
    """Compile and run a program with both compilers.

    Args:
        program: as it was loaded, not partitioned.
        inputs: global arrays, one an argument; random ones if not given.
        limits: how far our runs may go; XLA's has none.
        partition: options of `Program.partition`.

    Raises:
        CompileError: JAX is not installed, or one of the two refuses the program.
    """
    if program.stages:
        raise CompileError(
            f"'{program.source}' is partitioned already: there is nothing to compare",
            hint="compare the program that it was made of",
        )
    original = Runner(program.module, limits=limits)
    original.require_room(bytes_of(inputs or ()))
    arrays = list(program.random_inputs() if inputs is None else inputs)
    # first ours, whose loops may have an end that XLA's have not
    expected = original.run(arrays)
    lowered = program.partition(**partition).lower("ttnn")
    found = run_module(lowered.module, arrays, limits=limits)
    shown = _shown_to_xla(program, partition)
    meshes = list(mesh_table(shown).values())
    devices = max((prod(size for _, size in mesh.axes) for mesh in meshes), default=1)
    run = run_with_xla(_text(shown), entry_function(shown), arrays, devices)
    summed = summed_numbers(program.module)
    rows = zip(found, expected, run.results, strict=True)
    return XlaComparison(
        source=program.source,
        devices=devices,
        results=tuple(_result_row(*row, summed) for row in rows),
        collectives=match_collectives(
            lowered.collectives(), list_hlo_collectives(run.hlo, devices), meshes
        ),
    )
