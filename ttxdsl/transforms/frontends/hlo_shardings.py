"""XLA's own shardings in `mhlo.sharding`, as GSPMD's users write them, as sdy's.

    %a: tensor<8x4xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}

They name devices and no mesh. If the module has a mesh, they are over that; otherwise
it gets the one that fits all of them (see `sharding/devices/tilings.py`).

Source: XLA's `xla-sdy-import-shardings`, which names the mesh `mesh` and its axes
`_axis_0`, `_axis_1`, … too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import BytesAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import (
    change_attributes,
)
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.hlo import (
    HloKind,
    HloSharding,
    parse_hlo_sharding,
    parse_op_sharding,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.mixed_radix import axes_of
from ttxdsl.sharding.devices.tilings import digits_of, mesh_of_tilings
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.frontends.signs import HLO_SHARDING

NUM_PARTITIONS = "mhlo.num_partitions"


@dataclass(frozen=True, slots=True)
class Imported:
    """A sharding of XLA in terms of a mesh.

    Attributes:
        sharding: of the tensor, closed (open if XLA says that it does not know it).
        manual: the axes along which the devices are on their own, whose tiles are what
            the program computes on; none of them is in `sharding`.
        group: the group of tensors that are sharded alike.
    """

    sharding: TensorSharding
    manual: tuple[AxisRef, ...] = ()
    group: int | None = None


class HloShardings:
    """All of a module, read; the mesh that they are over.

    Raises:
        CompileError: one cannot be read, or no mesh describes it.
    """

    def __init__(self, module: ModuleOp):
        self._module = module
        self._known: dict[Attribute, tuple[HloSharding, ...]] = {}
        self._text: dict[HloSharding, str] = {}
        for where, sharding in _places(module):
            self._read(where, sharding)
        meshes = sdy.mesh_table(module)
        self.named = bool(meshes)
        self._mesh = next(
            ((name, mesh) for name, mesh in meshes.items() if mesh.axes), None
        )
        if self._mesh is None and self._text:
            self._mesh = self._declare(self._recover())
        self._maximal: dict[int, str] = {
            mesh.device_ids[0]: name for name, mesh in meshes.items() if mesh.is_maximal
        }

    def _read(self, where: Operation, attribute: Attribute) -> None:
        if attribute in self._known:
            return
        try:
            match attribute:
                case StringAttr() if attribute.data.lstrip().startswith("{"):
                    read = parse_hlo_sharding(attribute.data)
                case StringAttr():
                    read = parse_op_sharding(attribute.data.encode())
                case BytesAttr():
                    read = parse_op_sharding(attribute.data)
                case _:
                    raise ValueError("it is no string")
        except ValueError as error:
            raise CompileError(
                f"{HLO_SHARDING} cannot be read: {error}: {_shown(attribute)}", where
            ) from error
        self._known[attribute] = read
        for sharding in read:
            self._text.setdefault(sharding, _shown(attribute))

    # the mesh

    def _recover(self) -> Mesh | None:
        """The mesh of all tilings; None if nothing is split and nobody counts devices."""
        tilings = [tiling for tiling in self._text if tiling.kind is HloKind.TILED]
        count = self._module.attributes.get(NUM_PARTITIONS)
        size = count.value.data if isinstance(count, IntegerAttr) else 1
        for tiling in tilings:
            if size > 1 and len(tiling.devices) != size:
                raise CompileError(
                    f"{HLO_SHARDING} is over {len(tiling.devices)} devices, and the others "
                    f"are over {size}: {self._text[tiling]}",
                    self._module,
                )
            size = len(tiling.devices)
        if not tilings:
            return Mesh((("_axis_0", size),)) if size > 1 else None
        try:
            return mesh_of_tilings(tilings)
        except ValueError as error:
            quoted = ", ".join(sorted({self._text[tiling] for tiling in tilings}))
            raise UnsupportedError(
                f"{error} describes all of {HLO_SHARDING}: {quoted}", self._module
            ) from error

    def _declare(self, mesh: Mesh | None) -> tuple[str, Mesh] | None:
        if mesh is None:
            return None
        name = Symbols(self._module).take("mesh")
        self._insert(name, mesh)
        return name, mesh

    def _insert(self, name: str, mesh: Mesh) -> None:
        point = InsertPoint.at_start(self._module.body.block)
        Rewriter.insert_op(sdy.MeshOp(name, mesh), point)

    def _maximal_mesh(self, device: int) -> str:
        if device not in self._maximal:
            name = Symbols(self._module).take(f"maximal_mesh_{device}")
            self._insert(name, Mesh((), (device,)))
            self._maximal[device] = name
        return self._maximal[device]

    # one sharding

    def of(
        self, attribute: Attribute, ranks: Sequence[int], where: Operation
    ) -> list[Imported]:
        """Return the shardings of values of those ranks that an attribute gives.

        Raises:
            CompileError: it is of other values, or no axes of the mesh describe it.
        """
        shardings = self._known[attribute]
        if len(shardings) == 1 and len(ranks) != 1:
            shardings *= len(ranks) or 1
        if len(shardings) != (len(ranks) or 1):
            raise CompileError(
                f"{HLO_SHARDING} is of {len(shardings)} values, not of {len(ranks)}: "
                f"{_shown(attribute)}",
                where,
            )
        return [
            self._import(sharding, rank, where)
            for sharding, rank in zip(shardings, ranks or (0,), strict=True)
        ]

    def _import(self, sharding: HloSharding, rank: int, where: Operation) -> Imported:
        if sharding.kind is HloKind.MAXIMAL:
            mesh = self._maximal_mesh(sharding.devices[0])
            return Imported(TensorSharding.fully_closed(mesh, 0))
        if self._mesh is None:
            # one device: nothing can be split
            return Imported(
                TensorSharding.fully_closed(Mesh(()), rank), (), sharding.group
            )
        name, mesh = self._mesh
        everywhere = tuple(AxisRef(axis) for axis in mesh.axis_names)
        closed = TensorSharding.fully_closed(name, rank)
        match sharding.kind:
            case HloKind.MANUAL:
                return Imported(closed, everywhere)
            case HloKind.UNREDUCED:
                return Imported(closed.with_unreduced(everywhere))
            case HloKind.UNKNOWN:
                opened = TensorSharding.fully_open(name, rank)
                return Imported(opened, group=sharding.group)
            case HloKind.TILED:
                return self._import_tiles(sharding, rank, where)
            case _:
                return Imported(closed, group=sharding.group)

    def _import_tiles(
        self, tiling: HloSharding, rank: int, where: Operation
    ) -> Imported:
        assert self._mesh is not None
        name, mesh = self._mesh
        if tiling.rank != rank:
            raise CompileError(
                f"{HLO_SHARDING} is of {tiling.rank} dimensions, and the tensor has {rank}:"
                f" {self._text[tiling]}",
                where,
            )
        digits = digits_of(tiling, mesh.devices())
        axes = [axes_of(dim, mesh) for dim in digits] if digits is not None else [None]
        if any(dim is None for dim in axes):
            raise CompileError(
                f"no axes of {name} = {mesh.title} describe {HLO_SHARDING}: {self._text[tiling]}",
                where,
            )
        axes_per_dim = [dim or () for dim in axes]
        dims = tuple(DimSharding(dim) for dim in axes_per_dim[:rank])
        of_kind = {
            kind: tuple(
                axis
                for group, axes in zip(
                    tiling.subgroups, axes_per_dim[rank:], strict=True
                )
                if group is kind
                for axis in axes
            )
            for kind in (HloKind.UNREDUCED, HloKind.MANUAL)
        }
        unreduced = of_kind[HloKind.UNREDUCED]
        return Imported(
            TensorSharding(name, dims, (), unreduced),
            of_kind[HloKind.MANUAL],
            tiling.group,
        )


def _shown(attribute: Attribute) -> str:
    return attribute.data if isinstance(attribute, StringAttr) else str(attribute)


def _places(module: ModuleOp) -> Iterator[tuple[Operation, Attribute]]:
    """Yield the place and attribute of every sharding of XLA."""
    for op in all_ops(module):
        if HLO_SHARDING in op.attributes:
            yield op, op.attributes[HLO_SHARDING]
        if isinstance(op, FuncOp):
            for entries in (op.arg_attrs, op.res_attrs):
                for entry in entries or ():
                    if HLO_SHARDING in entry.data:
                        yield op, entry.data[HLO_SHARDING]


def import_borders(module: ModuleOp, shardings: HloShardings) -> None:
    """Replace XLA's shardings of arguments and results of functions by sdy's.

    Where sdy has a sharding already, XLA's was derived from it. So were those of
    functions that are called in a program that has a mesh, see `FuncResultSharding`.

    Raises:
        CompileError: see `HloShardings.of`.
    """
    for function in module.ops:
        if not isinstance(function, FuncOp):
            continue
        visibility = function.sym_visibility
        is_called = visibility is not None and visibility.data == "private"
        is_copy = shardings.named and is_called

        def imported(
            entry: dict[str, Attribute],
            type: Attribute,
            function: FuncOp = function,
            is_copy: bool = is_copy,
        ) -> dict[str, Attribute]:
            attribute = entry.pop(HLO_SHARDING, None)
            if attribute is not None and sdy.SHARDING not in entry and not is_copy:
                (imported_sharding,) = shardings.of(
                    attribute, [sdy.tensor_rank(type)], function
                )
                if not imported_sharding.manual and not is_of_nothing(
                    imported_sharding.sharding
                ):
                    entry[sdy.SHARDING] = sdy.TensorShardingAttr(
                        imported_sharding.sharding
                    )
            return entry

        change_attributes(function, imported)


def is_of_nothing(sharding: TensorSharding) -> bool:
    """Whether it is over no devices, as nothing in the module is split."""
    return isinstance(sharding.mesh, Mesh) and sharding.mesh.is_empty


def import_of_op(op: Operation, shardings: HloShardings) -> list[Imported]:
    """Return XLA's shardings of an op's results; nothing if the attribute is absent.

    The attribute is removed; an op without `sdy.sharding` gets these as its own.
    """
    attribute = op.attributes.pop(HLO_SHARDING, None)
    if attribute is None:
        return []
    imports = shardings.of(attribute, [sdy.tensor_rank(t) for t in op.result_types], op)
    kept = [imported_sharding.sharding for imported_sharding in imports]
    if not any(
        imported_sharding.manual or is_of_nothing(imported_sharding.sharding)
        for imported_sharding in imports
    ):
        op.attributes.setdefault(sdy.SHARDING, sdy.TensorShardingPerValueAttr(kept))
    return imports
