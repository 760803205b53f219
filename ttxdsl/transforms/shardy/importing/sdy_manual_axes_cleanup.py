"""Let the shardings of manual computations say something about each manual axis."""

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import AxisRef, sort_and_merge, subtract
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup


def common_mesh_name(
    shardings: Sequence[TensorSharding], mesh_of: Callable[[TensorSharding], Mesh]
) -> tuple[str | Mesh, Mesh] | None:
    """The mesh that the shardings are over, as they say it and what it is.

    The first that is not an empty mesh speaks for all: the verifier has seen to it
    that they agree. None if there are no shardings.
    """
    found: tuple[str | Mesh, Mesh] | None = None
    for sharding in shardings:
        found = sharding.mesh, mesh_of(sharding)
        if not found[1].is_empty:
            break
    return found


def replicate_unused(
    sharding: TensorSharding, said: str | Mesh, mesh: Mesh, manual: Sequence[str]
) -> TensorSharding:
    """The sharding with the manual axes that it does not use replicated.

    Args:
        sharding: the sharding of an operand or a result.
        said: how a sharding that changes refers to the mesh.
        mesh: the mesh.
        manual: the names of the manual axes.
    """
    whole = tuple(AxisRef(name) for name in manual)
    unused = subtract(whole, sharding.all_axes, mesh)
    if not unused:
        return sharding
    replicated = sort_and_merge((*sharding.replicated, *unused), mesh)
    return sharding.with_mesh(said).with_replicated(replicated)


def clean_up(
    op: sdy.ManualComputationOp, mesh_of: Callable[[TensorSharding], Mesh]
) -> None:
    """Sort the manual axes as the mesh has them, and replicate those not used.

    Raises:
        CompileError: if there are manual axes and something in the body, but no
            operand or result that would tell their mesh.
    """
    common = common_mesh_name((*op.in_shardings.data, *op.out_shardings.data), mesh_of)
    if common is None:
        if op.manual_axes.data and not isinstance(op.body.block.first_op, sdy.ReturnOp):
            raise CompileError(
                "a manual computation with manual axes and a body that is not empty "
                "needs an operand or a result",
                op,
                hint="pass a tensor in or out, so that its sharding names the mesh",
            )
        return
    said, mesh = common
    manual = sorted({*op.manual_axes.data}, key=mesh.axis_index)
    op.manual_axes = sdy.ManualAxesAttr(manual)

    def completed(
        shardings: sdy.TensorShardingPerValueAttr, types: Sequence[Attribute]
    ) -> sdy.TensorShardingPerValueAttr:
        return sdy.TensorShardingPerValueAttr(
            replicate_unused(sharding, said, mesh, manual)
            if isinstance(type, ShapedType)
            else sharding
            for sharding, type in zip(shardings.data, types, strict=True)
        )

    op.in_shardings = completed(op.in_shardings, op.operand_types)
    op.out_shardings = completed(op.out_shardings, op.result_types)


class ManualAxesCleanupPass(ModulePass):
    """Bring the manual axes of every manual computation into their full form.

    Source: Shardy's sdy-manual-axes-cleanup.
    """

    name = "sdy-manual-axes-cleanup"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        mesh_of = mesh_lookup(op)
        for inner in ops_of_type(op, sdy.ManualComputationOp):
            clean_up(inner, mesh_of)
