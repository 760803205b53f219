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
    """Return the mesh of some shardings as they name it, and the mesh itself.

    The first sharding on a mesh that is not empty decides: the verifier made sure that
    they agree. None if there are no shardings.
    """
    common: tuple[str | Mesh, Mesh] | None = None
    for sharding in shardings:
        common = sharding.mesh, mesh_of(sharding)
        if not common[1].is_empty:
            break
    return common


def replicate_unused(
    sharding: TensorSharding, mesh_ref: str | Mesh, mesh: Mesh, manual: Sequence[str]
) -> TensorSharding:
    """Return the sharding with the manual axes that it does not use replicated.

    Args:
        sharding: the sharding of an operand or a result.
        said: how a sharding that changes refers to the mesh.
    """
    whole = tuple(AxisRef(name) for name in manual)
    unused = subtract(whole, sharding.all_axes, mesh)
    if not unused:
        return sharding
    replicated = sort_and_merge((*sharding.replicated, *unused), mesh)
    return sharding.with_mesh(mesh_ref).with_replicated(replicated)


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
    name, mesh = common
    manual = sorted({*op.manual_axes.data}, key=mesh.axis_index)
    op.manual_axes = sdy.ManualAxesAttr(manual)

    def completed(
        shardings: sdy.TensorShardingPerValueAttr, types: Sequence[Attribute]
    ) -> sdy.TensorShardingPerValueAttr:
        return sdy.TensorShardingPerValueAttr(
            replicate_unused(sharding, name, mesh, manual)
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
        mesh_of = mesh_lookup(op)
        for inner in ops_of_type(op, sdy.ManualComputationOp):
            clean_up(inner, mesh_of)
