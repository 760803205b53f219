"""`sdy-optimize-collectives`: all_to_alls in place of a collective_permute.

A reshard that takes axes off a dimension in another order than they split it by becomes a
collective_permute, which brings them into that order, and all_to_alls. With a dimension
for each axis they need no order: the value is reshaped, each axis goes where it is to be
by itself, those that stay move up, and another reshape puts the dimension together.

Source: Shardy's pass of that name, of jaxlib 0.12. The C++ pass also moves axes into
dimensions that they do not divide, and fails its own verifier where several come to one
dimension at once; here such chains stay as they are. It also leaves parts of an axis
apart that become neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import region_dce

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef, concatenate_merged
from ttxdsl.sharding.collectives import AllToAllParam
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.reshard import cut_alike
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.shardy.canonicalize import share_constants
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup


@dataclass(frozen=True, slots=True)
class _Permuted:
    """The one dimension whose axes a collective_permute puts into another order."""

    dim: int
    axes: Axes
    """Those of the operand, in parts where the result has parts of them."""
    moved: Axes
    """Those of them that are in another place afterwards."""


def _permuted(
    source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> _Permuted | None:
    before, after = source.axes_per_dim, target.axes_per_dim
    old = cut_alike(before, (axis for axes in after for axis in axes), mesh)
    new = cut_alike(after, (axis for axes in before for axis in axes), mesh)
    changed = [dim for dim in range(len(old)) if old[dim] != new[dim]]
    same_ends = [one.closed for one in source.dims] == [
        one.closed for one in target.dims
    ]
    if len(changed) != 1 or not same_ends:
        return None
    (dim,) = changed
    if len(old[dim]) != len(new[dim]) or set(old[dim]) != set(new[dim]):
        return None
    pairs = zip(old[dim], new[dim], strict=True)
    return _Permuted(
        dim, tuple(old[dim]), tuple(one for one, other in pairs if one != other)
    )


def _chain_behind(permute: sdy.CollectivePermuteOp, dim: int) -> list[sdy.AllToAllOp]:
    """The all_to_alls that take axes off `dim`, each the only user of the one before."""
    chain: list[sdy.AllToAllOp] = []
    value: SSAValue = permute.result
    while isinstance(user := value.get_user_of_unique_use(), sdy.AllToAllOp):
        if any(param.src_dim != dim for param in user.params.data):
            break
        chain.append(user)
        value = user.result
    return chain


def _strides(
    shape: Sequence[int], sharding: TensorSharding, mesh: Mesh
) -> list[tuple[AxisRef, int]]:
    """How many elements lie between the shards of neighbours along each axis.

    Neighbouring parts of an axis that go on where the other ends are one.
    """
    found: list[tuple[AxisRef, int]] = []
    inner = 1
    for size, dim in zip(reversed(shape), reversed(sharding.dims), strict=True):
        stride = inner * -(-size // dim.sharded_size(mesh))
        for axis in reversed(dim.axes):
            found.append((axis, stride))
            stride *= axis.size_in(mesh)
        inner *= size
    found.sort(key=lambda one: one[1])
    merged: list[tuple[AxisRef, int]] = []
    for axis, stride in found:
        if merged:
            minor, least = merged[-1]
            joined = axis.merge(minor, mesh) if axis.can_merge(minor) else None
            if joined is not None and stride == least * minor.size_in(mesh):
                merged[-1] = joined, least
                continue
        merged.append((axis, stride))
    return merged


class _Steps:
    """What comes in place of a chain: a dimension for each axis, and all_to_alls.

    Attributes:
        divides: whether the axes divide the dimension that they split.
        shape: of the value in between.
        first: its sharding before the all_to_alls.
        taken: each with its sharding afterwards.
        sharding: behind the last one.
    """

    def __init__(
        self,
        shape: Sequence[int],
        source: TensorSharding,
        found: _Permuted,
        mesh: Mesh,
    ) -> None:
        self.mesh, self.dim, self.axes = mesh, found.dim, found.axes
        counts = [axis.size_in(mesh) for axis in found.axes]
        rest, surplus = divmod(shape[found.dim], prod(counts))
        self.divides = rest > 0 and not surplus
        own = [*counts, rest] if rest > 1 else counts
        self.splits = len(own)
        before, behind = slice(found.dim), slice(found.dim + 1, None)
        self.shape = (*shape[before], *own, *shape[behind])
        dims = [DimSharding((axis,)) for axis in found.axes]
        dims += [DimSharding()] * (self.splits - len(dims))
        self.first = replace(
            source, dims=(*source.dims[before], *dims, *source.dims[behind])
        )
        self.sharding = self.first
        self.taken: list[tuple[Sequence[AllToAllParam], TensorSharding]] = []

    def move(self, params: Sequence[AllToAllParam]) -> bool:
        """Take a step; whether there is such a one: no dimension may be in two moves."""
        touched = [dim for one in params for dim in (one.src_dim, one.tgt_dim)]
        if len(set(touched)) < len(touched):
            return False
        dims = list(self.sharding.dims)
        for param in params:
            dims[param.src_dim] = DimSharding()
            target = dims[param.tgt_dim]
            axes = concatenate_merged(target.axes, param.axes, self.mesh)
            dims[param.tgt_dim] = DimSharding(axes, target.closed)
        self.sharding = self.sharding.with_dims(dims)
        self.taken.append((params, self.sharding))
        return True

    def moves_of(self, op: sdy.AllToAllOp) -> list[AllToAllParam]:
        """What an all_to_all of the chain becomes, a part of an axis at a time."""
        return sorted(
            (
                AllToAllParam(
                    (part,),
                    self.dim + at,
                    param.tgt_dim + (param.tgt_dim > self.dim) * (self.splits - 1),
                )
                for param in op.params.data
                for axis in param.axes
                for at, part in enumerate(self.axes)
                if axis.contains(part)
            ),
            key=lambda param: param.src_dim,
        )

    def move_up(self, wanted: Axes) -> bool:
        """Bring the axes that stay to the front, in order; whether that is possible."""
        own = slice(self.dim, self.dim + self.splits)
        while [dim.axes for dim in self.sharding.dims[own]][: len(wanted)] != [
            (axis,) for axis in wanted
        ]:
            there = [dim.axes for dim in self.sharding.dims[own]]
            free = [at for at, axes in enumerate(there[: len(wanted)]) if not axes]
            if not free or (wanted[free[0]],) not in there:
                return False
            axis, target = wanted[free[0]], self.dim + free[0]
            if self.shape[target] % axis.size_in(self.mesh):
                return False
            source = self.dim + there.index((axis,))
            self.move([AllToAllParam((axis,), source, target)])
        return True


def _optimize(permute: sdy.CollectivePermuteOp, mesh_of: MeshOf) -> None:
    """Rewrite one collective_permute and what follows it, if that saves it."""
    source, target = sdy.get_sharding(permute.tensor), permute.out_sharding.data
    shape = shape_of(permute.tensor)
    if source is None or source.mesh != target.mesh or min(shape, default=-1) < 0:
        return
    mesh = mesh_of(source)
    found = _permuted(source, target, mesh)
    if found is None:
        return
    chain = _chain_behind(permute, found.dim)
    leaving = [a for op in chain for param in op.params.data for a in param.axes]
    if not any(axis.contains(moved) for axis in leaving for moved in found.moved):
        return
    last, wanted = chain[-1], chain[-1].out_sharding.data
    steps = _Steps(shape, source, found, mesh)
    if not (
        steps.divides
        and all(steps.move(steps.moves_of(op)) for op in chain)
        and steps.move_up(wanted.dims[found.dim].axes)
        and source.replicated == wanted.replicated
        and _strides(steps.shape, steps.sharding, mesh) == _strides(shape, wanted, mesh)
    ):
        return
    ops: list[Operation] = [_reshape(permute.tensor, steps.shape, steps.first)]
    for params, sharding in steps.taken:
        ops.append(sdy.AllToAllOp(ops[-1], params, sharding))
    ops.append(_reshape(ops[-1].results[0], shape, wanted))
    for op in ops:
        op.location = permute.location
    Rewriter.insert_op(ops, InsertPoint.before(permute))
    Rewriter.replace_op(last, [], ops[-1].results)
    for op in (*reversed(chain[:-1]), permute):
        Rewriter.erase_op(op)


def _reshape(
    value: SSAValue, shape: Sequence[int], sharding: TensorSharding
) -> Operation:
    type_ = TensorType(element_of(value), list(shape))
    made = stablehlo.ReshapeOp.create(operands=[value], result_types=[type_])
    sdy.set_sharding(made.result, sharding)
    return made


class SdyOptimizeCollectivesPass(ModulePass):
    """Save collective_permutes in front of all_to_alls.

    As in C++, dead ops go, and each StableHLO constant is there once.
    """

    name = "sdy-optimize-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        share_constants(op)
        for function in ops_of_type(op, FuncOp):
            region_dce(function.body)
        mesh_of = mesh_lookup(op)
        for permute in ops_of_type(op, sdy.CollectivePermuteOp):
            _optimize(permute, mesh_of)
