"""`fit-mesh`: the devices as a mesh that tt-mlir takes, and data split along its axes.

tt-mlir takes one mesh of at most two axes and of certain shapes, its devices in order,
and data at the border that is split along whole axes. A program for another mesh runs on
one of those shapes with as many devices: axes become one that follow each other in some
order. Devices are numbered anew by their places, so that a shard lies where the new mesh
says. What is split by a part of an axis comes in whole and is cut by each device.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.graph_state import computes_nothing, is_solved
from ttxdsl.bridges.tt_mlir.legalize.exchanging import groups_matrix
from ttxdsl.bridges.tt_mlir.legalize.renumbering import renumber_devices
from ttxdsl.conversion.writing import Writer
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import ChannelHandleAttr
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import Groups, groups_along
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.partition.devices import source_target_pairs
from ttxdsl.transforms.partition.emitter import int_attr
from ttxdsl.transforms.partition.exchange.collectives import ALL_SLICE, DEVICE_TO_DEVICE
from ttxdsl.transforms.partition.layout import Layout

SHAPES = ((1, 1), (1, 2), (1, 4), (1, 8), (2, 2), (2, 4))
"""Of meshes that tt-mlir takes, of as many devices as its largest test machine has."""


@dataclass(frozen=True)
class _Fit:
    """A way to see the devices of one mesh as those of another.

    Attributes:
        old: the mesh of the program; its device ids are the numbers of the new one.
        groups: the old axes that each of the two new ones consists of.
        new: the mesh for tt-mlir, with names of the old axes.
    """

    old: Mesh
    groups: tuple[tuple[str, ...], tuple[str, ...]]
    new: Mesh

    def dim(self, axes: Axes) -> Axes | None:
        """The new axes for the old ones that split a dimension, if those are whole."""
        names = [axis.name for axis in axes if self.old.axis_size(axis.name) > 1]
        if not names:
            return ()
        whole = all(axis.is_full for axis in axes)
        for which in ((0,), (1,), (0, 1)):
            expected = [
                name
                for i in which
                for name in self.groups[i]
                if self.old.axis_size(name) > 1
            ]
            if whole and expected == names:
                group_axes = [self.new.axes[i] for i in which]
                return tuple(AxisRef(name) for name, size in group_axes if size > 1)
        return None


def _fits(mesh: Mesh) -> Iterator[_Fit]:
    """Yield all ways, those that number devices as they are first."""
    for order in permutations([name for name, _ in mesh.axes]):
        for cut in range(len(order) + 1):
            groups = (order[:cut], order[cut:])
            sizes = [prod(mesh.axis_size(name) for name in group) for group in groups]
            if tuple(sizes) not in SHAPES:
                continue
            names = [_joined(mesh, group) for group in groups]
            if names[0] == names[1]:
                names[0] += "_"
            new = Mesh(tuple(zip(names, sizes, strict=True)))
            yield _Fit(_numbered(mesh, order), groups, new)


def _joined(mesh: Mesh, names: Sequence[str]) -> str:
    """Return a name for several axes joined; axes of one device are left out."""
    several = [name for name in names if mesh.axis_size(name) > 1]
    return "_".join(several or names[:1]) or "_"


def _numbered(mesh: Mesh, order: Sequence[str]) -> Mesh:
    """The mesh whose device at each place is numbered by that place, axes in an order."""
    strides, stride = dict[str, int](), 1
    for name in reversed(order):
        strides[name] = stride
        stride *= mesh.axis_size(name)
    ids = [0]
    for name, size in mesh.axes:
        ids = [id + i * strides[name] for id in ids for i in range(size)]
    natural = ids == list(range(len(ids)))
    return Mesh(mesh.axes, () if natural else tuple(ids))


def _split_values(manuals: Sequence[sdy.ManualComputationOp]) -> list[TensorSharding]:
    return [
        sharding
        for manual in manuals
        for sharding in (*manual.in_shardings.data, *manual.out_shardings.data)
    ]


def _best(mesh: Mesh, manuals: Sequence[sdy.ManualComputationOp]) -> _Fit | None:
    """Return the fit under which most border dimensions are split by whole axes."""
    dims = [
        dim.axes
        for value_sharding in _split_values(manuals)
        for dim in value_sharding.dims
    ]
    return min(
        _fits(mesh),
        key=lambda fit: sum(fit.dim(axes) is None for axes in dims),
        default=None,
    )


class _Fitting:
    """Rewrites one module to a fitting mesh."""

    def __init__(self, mesh: Mesh, fit: _Fit, name: str) -> None:
        self.fit, self.name = fit, name
        places = mesh.devices()
        self.renumbered = dict(zip(places, fit.old.devices(), strict=True))
        """The new number of each device."""

    def name_slice(self, op: stablehlo.CompositeOp) -> None:
        """Rewrite a slice along one whole axis to the form that tt-mlir reads.

        That form has the sharding of the result. Other slices are inlined.
        """
        attributes = op.composite_attributes
        if op.composite_name.data != ALL_SLICE:
            return
        axis, dim = attributes.data.get("axis"), attributes.data.get("dim")
        if not isinstance(axis, StringAttr) or not isinstance(dim, IntegerAttr):
            return
        if "sub_axis_size" in attributes.data:
            return
        axes = self.fit.dim((AxisRef(axis.data),))
        if not axes:
            return
        rank = len(shape_of(op.results[0]))
        dims = [DimSharding(axes if i == dim.value.data else ()) for i in range(rank)]
        sharding = TensorSharding(self.name, tuple(dims))
        op.properties["composite_attributes"] = DictionaryAttr(
            {"out_sharding": sdy.TensorShardingAttr(sharding)}
        )

    # --- the border -----------------------------------------------------------------

    def refit(self, manual: sdy.ManualComputationOp) -> None:
        """Rewrite the shardings of operands and results of a manual computation."""
        block = manual.body.block
        first, last = block.first_op, block.last_op
        assert first is not None and last is not None
        taken = [
            self._take(manual, i, first) for i in range(len(manual.in_shardings.data))
        ]
        given: list[TensorSharding] = []
        for i, value in enumerate(list(last.operands)):
            sharding, replaced = self._give(manual, i, value, last)
            last.operands[i] = replaced
            given.append(sharding)
        manual.properties["in_shardings"] = sdy.TensorShardingPerValueAttr(taken)
        manual.properties["out_shardings"] = sdy.TensorShardingPerValueAttr(given)
        names = [name for name, _ in self.fit.new.axes]
        manual.properties["manual_axes"] = sdy.ManualAxesAttr(names)

    def name_axes(self, function: FuncOp) -> None:
        """Say the shardings that are left on a function in the new axes."""

        def translated(sharding: TensorSharding | None) -> TensorSharding | None:
            return sharding and self._in_new_axes(self._settled(sharding, function))

        sdy.set_func_shardings(
            function,
            [*map(translated, sdy.func_argument_shardings(function))],
            [*map(translated, sdy.func_result_shardings(function))],
        )

    def _settled(self, sharding: TensorSharding, op: Operation) -> TensorSharding:
        """Return the part of a sharding that the new axes can express, in old axes.

        A dimension that is split by whole lines in another order is split in the usual
        order; any other that cannot be expressed is not split.
        """
        if sharding.unreduced:
            raise UnsupportedError("tt-mlir has no unreduced data at the border", op)
        order = [name for group in self.fit.groups for name in group]

        def settled(axes: Axes) -> Axes:
            usual = tuple(sorted(axes, key=lambda axis: order.index(axis.name)))
            for order_of_axes in (axes, usual):
                if self.fit.dim(order_of_axes) is not None:
                    return order_of_axes
            return ()

        return sharding.with_dims(
            [DimSharding(settled(dim.axes)) for dim in sharding.dims]
        )

    def _in_new_axes(self, settled: TensorSharding) -> TensorSharding:
        """Return a settled sharding in new axes."""
        dims = [DimSharding(self.fit.dim(dim.axes) or ()) for dim in settled.dims]
        return TensorSharding(self.name, tuple(dims))

    def _take(
        self, manual: sdy.ManualComputationOp, i: int, first: Operation
    ) -> TensorSharding:
        """Return the new sharding of an argument, which is cut where that says less."""
        given = manual.in_shardings.data[i]
        settled = self._settled(given, manual)
        if settled.axes_per_dim == given.axes_per_dim:
            return self._in_new_axes(settled)
        block, old = manual.body.block, self.fit.old
        argument = block.args[i]
        local = shape_of(argument)
        outer = shape_of(manual.tensors[i])
        came = Layout.of(settled, old, outer)
        partly = given.with_dims(
            [
                own if other.axes else other
                for own, other in zip(given.dims, settled.dims, strict=True)
            ]
        )
        wanted = Layout.of(partly, old, outer)
        wider = block.insert_arg(
            TensorType(element_of(argument), list(came.local_shape)), i
        )
        w = Writer(Block(), manual.location)
        value: SSAValue = wider
        if came.axes != wanted.axes:
            value = _sent(w, value, came, wanted)
        if came.local_shape != local:
            _warn(manual, f"argument {i}", given)
            device = w.partition_id()
            starts = [
                w.scaled(w.index_along(old, dim.axes, device), size)
                if size != whole
                else w.position(0)
                for dim, size, whole in zip(
                    given.dims, local, came.local_shape, strict=True
                )
            ]
            value = w.dynamic_slice(value, starts, local)
        Rewriter.inline_block(w.block, InsertPoint.before(first))
        argument.replace_all_uses_with(value)
        block.erase_arg(argument)
        return self._in_new_axes(settled)

    def _give(
        self,
        manual: sdy.ManualComputationOp,
        i: int,
        value: SSAValue,
        last: Operation,
    ) -> tuple[TensorSharding, SSAValue]:
        """The new sharding of a result, which is gathered where that says less."""
        wanted, old = manual.out_shardings.data[i], self.fit.old
        settled = self._settled(wanted, manual)
        if settled.axes_per_dim == wanted.axes_per_dim:
            return self._in_new_axes(settled), value
        w = Writer(Block(), manual.location)
        for d, (dim, other) in enumerate(zip(wanted.dims, settled.dims, strict=True)):
            if not other.axes and dim.sharded_size(old) > 1:
                value = _gathered(w, value, d, groups_along(old, dim.axes))
                wanted = wanted.with_dim(d, other)
        outer = shape_of(manual.results[i])
        before, after = (
            Layout.of(sharding, old, outer) for sharding in (wanted, settled)
        )
        if before.axes != after.axes:
            value = _sent(w, value, before, after)
        Rewriter.inline_block(w.block, InsertPoint.before(last))
        return self._in_new_axes(settled), value


_CHANNEL = ChannelHandleAttr.of(1, DEVICE_TO_DEVICE)


def _sent(w: Writer, value: SSAValue, before: Layout, after: Layout) -> SSAValue:
    pairs = source_target_pairs(before, after)
    return w.one(
        stablehlo.CollectivePermuteOp,
        [value],
        value.type,
        {"source_target_pairs": groups_matrix(pairs), "channel_handle": _CHANNEL},
    )


def _gathered(w: Writer, value: SSAValue, dim: int, groups: Groups) -> SSAValue:
    shape = list(shape_of(value))
    if not shape[dim]:
        return value
    shape[dim] *= len(groups[0])
    return w.one(
        stablehlo.AllGatherOp,
        [value],
        TensorType(element_of(value), shape),
        {
            "all_gather_dim": int_attr(dim),
            "replica_groups": groups_matrix(groups),
            "use_global_device_ids": UnitAttr(),
            "channel_handle": _CHANNEL,
        },
    )


def _warn(op: Operation, value_name: str, sharding: TensorSharding) -> None:
    emit_warning(
        f"{value_name} is split as {sharding}, along parts of the mesh that tt-mlir takes:"
        " it comes and goes whole along them",
        op,
    )


def _axes_of_several(op: sdy.MeshOp) -> int:
    """Return the number of a mesh's axes that have more than one device."""
    return sum(size > 1 for size in op.mesh.data.axis_sizes)


@dataclass(frozen=True)
class FitMeshPass(ModulePass):
    """Rewrite a program to a mesh that tt-mlir takes.

    Attributes:
        most_axes: meshes of no more axes than that stay, those of one device not counted.
    """

    name = "fit-mesh"

    most_axes: int = -1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: the program is not partitioned.
            UnsupportedError: tt-mlir has no mesh of so many devices.
        """
        meshes = [child for child in op.ops if isinstance(child, sdy.MeshOp)]
        if (
            max((_axes_of_several(mesh_op) for mesh_op in meshes), default=-1)
            <= self.most_axes
        ):
            return
        if not is_solved(op) and not all(map(computes_nothing, entry_functions(op))):
            raise CompileError(
                "the program is not partitioned",
                op,
                hint="run tt-stablehlo-pipeline before this pass",
            )
        manuals = ops_of_type(op, sdy.ManualComputationOp)
        first = meshes[0]
        mesh = first.mesh.data
        if any(mesh_op.mesh.data != mesh for mesh_op in meshes):
            raise UnsupportedError("tt-mlir takes one mesh a program", meshes[-1])
        fit = _best(mesh, manuals)
        if fit is None:
            shapes = ", ".join(f"{rows}x{columns}" for rows, columns in SHAPES)
            raise UnsupportedError(
                f"tt-mlir takes no mesh of {mesh.total_size} devices (but {shapes})",
                first,
            )
        fitting = _Fitting(mesh, fit, first.sym_name.data)
        moved = {a: b for a, b in fitting.renumbered.items() if a != b}
        if moved:
            emit_warning(
                f"devices of {mesh} are numbered anew, by their places in {fit.new}: "
                + ", ".join(f"{a} is {b}" for a, b in moved.items()),
                first,
            )
        renumber_devices(op, fitting.renumbered)
        for composite in ops_of_type(op, stablehlo.CompositeOp):
            fitting.name_slice(composite)
        for manual in manuals:
            fitting.refit(manual)
        for function in ops_of_type(op, FuncOp):
            fitting.name_axes(function)
        for mesh_op in meshes[1:]:
            Rewriter.erase_op(mesh_op)
        first.properties["mesh"] = sdy.MeshAttr(fit.new)
