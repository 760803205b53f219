"""Turn every `sdy.reshard` into the collectives that move the data.

Which ones is decided by `ttxdsl.sharding.reshard.plan` from the two shardings alone. A
reshard between meshes with different axes has no collectives and stays, as does one
from or to a single device.

Source: Shardy's `sdy-reshard-to-collectives`. Where the C++ pass stops half-way (sizes
without a common divisor) or loses unreduced axes, this one goes on or keeps them.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import VerifyException

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.ir.rewriting import rewrite
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.reshard import collectives
from ttxdsl.sharding.reshard.cheapest import cheapest_reshard
from ttxdsl.sharding.reshard.plan import plan_reshard, reaches
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup


def collective_op(
    step: collectives.Collective, tensor: SSAValue, out_sharding: TensorSharding
) -> sdy.CollectiveOp:
    """Return the `sdy` op that does a step to a tensor."""
    match step:
        case collectives.AllGather(axes):
            return sdy.AllGatherOp(tensor, axes, out_sharding)
        case collectives.AllSlice(axes):
            return sdy.AllSliceOp(tensor, axes, out_sharding)
        case collectives.AllToAll(moves):
            return sdy.AllToAllOp(tensor, moves, out_sharding)
        case collectives.CollectivePermute():
            return sdy.CollectivePermuteOp(tensor, out_sharding)
        case collectives.AllReduce(axes):
            return sdy.AllReduceOp(tensor, axes, out_sharding)
        case collectives.ReduceScatter(axes):
            return sdy.ReduceScatterOp(tensor, axes, out_sharding)


def is_redundant(op: sdy.ReshardOp) -> bool:
    """Whether a reshard asks for the layout that its operand has."""
    return op.sharding.data.same_layout(sdy.get_sharding(sdy.behind_barriers(op.input)))


@dataclass(frozen=True)
class ReshardToCollectives(RewritePattern):
    """The collectives of a reshard, or its operand if none is needed.

    Attributes:
        cheapest: whether to take those that send least, where Shardy has others.
    """

    mesh_of: MeshOf
    cheapest: bool = False

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: sdy.ReshardOp, rewriter: PatternRewriter, /
    ) -> None:
        """Replace one reshard.

        Raises:
            UnsupportedError: if the reshard would change unreduced axes.
        """
        target = op.sharding.data
        tensor = sdy.behind_barriers(op.input)
        given = sdy.get_sharding(tensor)
        source = given or TensorSharding.fully_open(target.mesh, target.rank)
        if not source.same_unreduced(target):
            raise UnsupportedError(
                f"reshard from {source} to {target} changes unreduced axes",
                op,
                hint="run sdy-insert-explicit-reshards first: it inserts the all_reduce",
            )
        source_mesh, target_mesh = self.mesh_of(source), self.mesh_of(target)
        if source_mesh.is_maximal or target_mesh.is_maximal:
            if source_mesh == target_mesh:
                self.replace(op, [], op.input, rewriter)
            return
        if not target.sharding_axes:
            if not source.sharding_axes:
                self.replace(op, [], op.input, rewriter)
                return
            # gathered data is the same on any mesh
            target, target_mesh = target.with_mesh(source.mesh), source_mesh
        if not source_mesh.same_axes(target_mesh):
            return
        if source_mesh == target_mesh:
            source = source.with_mesh(target.mesh)  # the meshes may differ by name only
        shape = shape_of(op.result)
        value, sharding, new_ops = tensor, source, list[Operation]()
        plan = cheapest_reshard if self.cheapest else plan_reshard
        for step in plan(source, target, (source_mesh, target_mesh), shape):
            sharding = step.after(sharding, source_mesh)
            new_op = collective_op(step, value, sharding)
            new_op.location = op.location
            new_ops.append(new_op)
            value = new_op.result
        self.replace(op, new_ops, value, rewriter)

    def replace(
        self,
        op: sdy.ReshardOp,
        new_ops: list[Operation],
        value: SSAValue,
        rewriter: PatternRewriter,
    ) -> None:
        """Put new ops, and a value that they make, in place of a reshard."""
        users = [use.operation for use in op.result.uses]
        rewriter.insert(new_ops, InsertPoint.before(op))
        rewriter.replace_all_uses_with(op.result, value)
        for user in users:
            self.take_over_dims(user)
        rewriter.erase(op)

    def take_over_dims(self, user: Operation) -> None:
        """Let a user that only changes unreduced axes say the dimensions of its operand.

        Its verifier wants them alike, and collectives close dimensions and leave axes
        of size one out.
        """
        if not isinstance(user, sdy.ReplicatedToUnreducedOp | sdy.AllReduceOp):
            return
        operand, result = sdy.get_sharding(user.tensor), user.out_sharding.data
        if operand is None or not reaches(operand, result, self.mesh_of(result)):
            return
        if operand.axes_per_dim == result.axes_per_dim and isinstance(
            user, sdy.AllReduceOp
        ):
            return
        user.out_sharding = sdy.TensorShardingAttr(result.with_dims(operand.dims))
        for use in user.result.uses:
            self.take_over_dims(use.operation)


def reshards_to_collectives(
    module: ModuleOp, *, keep_redundant_reshards: bool = False, cheapest: bool = False
) -> None:
    """Rewrite all reshards in the functions of a module, in program order."""
    reshards = [
        op
        for func in module.ops
        if isinstance(func, FuncOp)
        for op in ops_of_type(func, sdy.ReshardOp)
    ]
    if keep_redundant_reshards:
        # before any is rewritten: collectives leave axes of size one out
        reshards = [op for op in reshards if not is_redundant(op)]
    rewrite(reshards, ReshardToCollectives(mesh_lookup(module), cheapest))


def check_collectives(module: ModuleOp) -> None:
    """Refuse collectives whose operands are not laid out as they were written for.

    A program may come with collectives, whose operands are then propagated to; and a
    reshard to an axis of size one leaves nothing for a collective behind it.

    Raises:
        UnsupportedError: naming the collective and what is wrong.
    """
    checked: set[tuple[object, ...]] = set()
    for op in ops_of_type(module, sdy.CollectiveOp):
        # layers repeat their reshards
        given, result = sdy.get_sharding(op.tensor), op.result.type
        key = type(op), op.parent, given, result, *op.properties.items()
        if key in checked:
            continue
        try:
            sdy.verify_op(op)
        except VerifyException as error:
            raise UnsupportedError(
                f"{error}; its operand is now {sdy.get_sharding(op.operands[0])}",
                op,
                hint="shard what the collective takes, or leave the collective out and"
                " let the reshards make it",
            ) from error
        checked.add(key)


def check_reshards(module: ModuleOp) -> None:
    """Refuse reshards that did not become collectives.

    Raises:
        UnsupportedError: one goes to a mesh of other axes.
    """
    for op in ops_of_type(module, sdy.ReshardOp):
        source = sdy.get_sharding(sdy.behind_barriers(op.input))
        raise UnsupportedError(
            f"no collective moves a value from {source or 'nothing'} to"
            f" {op.sharding.data}, whose mesh has other axes",
            op,
            hint="shard it over one mesh, or gather it before (all dimensions {})",
        )


@dataclass(frozen=True)
class ReshardToCollectivesPass(ModulePass):
    """Turns `sdy.reshard` into collectives; see the module.

    `keep-redundant-reshards` keeps those that do not change the layout, for programs
    in which explicit reshards have not been inserted. `cheapest` takes the collectives
    that send least (`ttxdsl.sharding.reshard.cheapest`), where Shardy has others.
    """

    name = "sdy-reshard-to-collectives"

    keep_redundant_reshards: bool = False
    cheapest: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        reshards_to_collectives(
            op,
            keep_redundant_reshards=self.keep_redundant_reshards,
            cheapest=self.cheapest,
        )
