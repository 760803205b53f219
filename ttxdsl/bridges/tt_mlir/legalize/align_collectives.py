"""`align-collectives`: collectives run along whole rows or columns of the mesh.

tt-mlir reads one mesh axis off the first two ids of the replica groups, and of a
reduction the first op of its computation; it scatters nothing but sums. So whatever is
no sum, maximum or minimum along one axis is said otherwise: along both axes as one after
the other, and in any other groups by sending each member what it needs (`all_to_all`,
whose groups may be any) and combining it there.
"""

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
    TensorType,
    UnitAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ttxdsl.bridges.tt_mlir.legalize.exchanging import (
    exchange,
    groups_matrix,
    members,
    reduced_by_exchange,
    scattered_by_exchange,
)
from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import combining_op
from ttxdsl.conversion.writing import Writer, write_instead
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.replica_groups import device_groups
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.devices.replica_groups import Groups
from ttxdsl.transforms.partition.emitter import int_attr

_REDUCED_BY_TTNN = (stablehlo.AddOp, stablehlo.MaxOp, stablehlo.MinOp)
_SCATTERED_BY_TTNN = (stablehlo.AddOp,)


class _Mesh:
    """The lines of a mesh of one or two axes, its devices numbered row by row."""

    def __init__(self, sizes: Sequence[int]) -> None:
        rows, columns = (1, *sizes)[-2:]
        self.count = rows * columns
        self.lines: list[Groups] = []
        """The groups along each axis that has several devices, major first."""
        if rows > 1:
            self.lines.append(
                tuple(tuple(range(c, self.count, columns)) for c in range(columns))
            )
        if columns > 1:
            self.lines.append(
                tuple(tuple(range(r * columns, (r + 1) * columns)) for r in range(rows))
            )

    def axes_of(self, groups: Groups) -> list[Groups] | None:
        """The lines that groups run along, major first; None if they are not lines."""
        if all(len(group) == 1 for group in groups):
            return []
        for lines in self.lines:
            if set(lines) == set(groups):
                return [lines]
        return self.lines if groups == (tuple(range(self.count)),) else None


class _Collectives:
    """Writes collectives in place of the collectives of one module."""

    def __init__(self, mesh: _Mesh) -> None:
        self.mesh = mesh
        self.writers: dict[type[Operation], Callable[..., list[SSAValue]]] = {
            stablehlo.AllGatherOp: self._all_gather,
            stablehlo.AllReduceOp: self._all_reduce,
            stablehlo.ReduceScatterOp: self._reduce_scatter,
            stablehlo.AllToAllOp: self._all_to_all,
            stablehlo.CollectiveBroadcastOp: self._broadcast,
        }

    def align(self, op: Operation) -> None:
        """Replace one collective."""
        try:
            groups = device_groups(op, self.mesh.count)
        except ValueError as error:
            raise CompileError(str(error), op) from error
        if len({len(group) for group in groups}) > 1:
            raise UnsupportedError("tt-mlir has no groups of several sizes", op)
        if sorted(process for group in groups for process in group) != [
            *range(self.mesh.count)
        ]:
            raise UnsupportedError("its groups leave out devices of the mesh", op)
        write_instead(op, partial(self.writers[type(op)], op, groups))

    # --- one each ---------------------------------------------------------------

    def _all_gather(
        self, op: stablehlo.AllGatherOp, groups: Groups, w: Writer
    ) -> list[SSAValue]:
        dim, axes = op.all_gather_dim.value.data, self.mesh.axes_of(groups)
        results: list[SSAValue] = []
        for value in op.inputs:
            if axes is None:
                shape = shape_of(value)
                sent = members(op, groups, w, value, dim)
                whole = (*shape[:dim], shape[dim] * len(groups[0]), *shape[dim + 1 :])
                results.append(w.reshape(sent, whole))
                continue
            for lines in reversed(axes):
                shape = list(shape_of(value))
                shape[dim] *= len(lines[0])
                value = w.one(
                    stablehlo.AllGatherOp,
                    [value],
                    TensorType(element_of(value), shape),
                    _properties(op, lines) | {"all_gather_dim": int_attr(dim)},
                )
            results.append(value)
        return results

    def _all_reduce(
        self, op: stablehlo.AllReduceOp, groups: Groups, w: Writer
    ) -> list[SSAValue]:
        axes = self.mesh.axes_of(tuple(tuple(sorted(group)) for group in groups))
        if axes is None or not _is_one_of(_REDUCED_BY_TTNN, op, op.inputs[0]):
            return reduced_by_exchange(op, groups, w)
        results: list[SSAValue] = []
        for value in op.inputs:
            for lines in axes:
                value = w.one(
                    stablehlo.AllReduceOp,
                    [value],
                    value.type,
                    _properties(op, lines),
                    [op.computation.clone()],
                )
            results.append(value)
        return results

    def _reduce_scatter(
        self, op: stablehlo.ReduceScatterOp, groups: Groups, w: Writer
    ) -> list[SSAValue]:
        dim, axes = op.scatter_dimension.value.data, self.mesh.axes_of(groups)
        value = op.operand
        if axes is None or not _is_one_of(_SCATTERED_BY_TTNN, op, value):
            return scattered_by_exchange(op, groups, w)
        for lines in axes:
            shape = list(shape_of(value))
            shape[dim] //= len(lines[0])
            value = w.one(
                stablehlo.ReduceScatterOp,
                [value],
                TensorType(element_of(value), shape),
                _properties(op, lines) | {"scatter_dimension": int_attr(dim)},
                [op.computation.clone()],
            )
        return [value]

    def _all_to_all(
        self, op: stablehlo.AllToAllOp, groups: Groups, w: Writer
    ) -> list[SSAValue]:
        split, concat = op.split_dimension.value.data, op.concat_dimension.value.data
        return [exchange(op, groups, w, value, split, concat) for value in op.inputs]

    def _broadcast(
        self, op: stablehlo.CollectiveBroadcastOp, groups: Groups, w: Writer
    ) -> list[SSAValue]:
        if op.has_dynamic_root is not None:
            raise UnsupportedError("tt-mlir has no root that is computed", op)
        return [
            w.reshape(
                w.slice_dim(members(op, groups, w, value, 0), 0, 0, 1),
                shape_of(value),
            )
            for value in op.inputs
        ]


def _is_one_of(
    kinds: Sequence[type[Operation]], op: Operation, value: SSAValue
) -> bool:
    block: Block = op.regions[0].block
    # a sum of truth values is none of numbers
    return combining_op(block) in kinds and element_of(value) != i1


def _properties(op: Operation, groups: Groups) -> dict[str, Attribute]:
    kept: dict[str, Attribute] = {"replica_groups": groups_matrix(groups)}
    if "channel_handle" in op.properties:
        kept["channel_handle"] = op.properties["channel_handle"]
        kept["use_global_device_ids"] = UnitAttr()
    return kept


class AlignCollectivesPass(ModulePass):
    """Run collectives along one mesh axis each, or as exchanges in groups."""

    name = "align-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: a collective that cannot be said so.
        """
        meshes = list(sdy.mesh_table(op).values())
        if not meshes:
            return
        collectives = _Collectives(_Mesh([size for _, size in meshes[0].axes]))
        for collective in ops_of_type(op, *collectives.writers):
            collectives.align(collective)
