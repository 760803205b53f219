"""`import-xla-sdy`: sdy's own ops and attributes for what XLA's exporters write.

torch-xla, XLA's own dumps and older JAX carry shardings in attributes and custom calls
that sdy does not know. They are read before the first stage, and nothing of them is
left: what is not understood is an error that quotes it. tt-xla's constraints name the
axes of a mesh by number, and the program may leave the mesh to who compiles it
(`mesh-shape`); until then they stay what they are.

Source: XLA's import pipelines `xla-sdy-round-trip-import-pipeline` and
`xla-sdy-stablehlo-import-pipeline`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.ir.collector import without_collections
from ttxdsl.transforms.frontends.signs import says_something


@dataclass(frozen=True)
class ImportXlaSdyPass(ModulePass):
    """Turn what XLA's exporters say of shardings into sdy.

    Attributes:
        mesh_shape: of the mesh that constraints of tt-xla's are over where the program
            has none; None if that is still to be said.
    """

    name = "import-xla-sdy"

    mesh_shape: tuple[int, ...] | None = None

    @without_collections()
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if says_something(op):
            _import(ctx, op, self.mesh_shape)


def _import(ctx: Context, op: ModuleOp, mesh_shape: tuple[int, ...] | None) -> None:
    from ttxdsl.dialects import sdy, stablehlo
    from ttxdsl.dialects.calls.tenstorrent import SHARDING_CONSTRAINT
    from ttxdsl.ir.rewriting import rewrite_type
    from ttxdsl.ir.traversal import ops_of_type
    from ttxdsl.transforms.frontends.argument_marks import import_argument_marks
    from ttxdsl.transforms.frontends.chlo_ops import OpOfComposite, OpOfMhlo
    from ttxdsl.transforms.frontends.custom_calls import (
        CustomCalls,
        declare_mesh,
        drop_inspections,
    )
    from ttxdsl.transforms.frontends.frontend_attributes import (
        import_frontend_attributes,
    )
    from ttxdsl.transforms.frontends.hlo_shardings import HloShardings, import_borders
    from ttxdsl.transforms.frontends.manual_computations import (
        import_manual_computations,
    )
    from ttxdsl.transforms.frontends.signs import is_carrier, target_of
    from ttxdsl.transforms.stages.fold_tuples import FoldTuplesPass

    FoldTuplesPass().apply(ctx, op)
    drop_inspections(op)
    rewrite_type(op, stablehlo.CustomCallOp, OpOfMhlo())
    rewrite_type(op, stablehlo.CompositeOp, OpOfComposite())
    calls = [*filter(is_carrier, ops_of_type(op, stablehlo.CustomCallOp))]
    constraints = {
        call: dict(call.attributes)
        for call in calls
        if target_of(call) == SHARDING_CONSTRAINT
    }
    carried = import_frontend_attributes(ctx, op)
    shardings = HloShardings(op)
    if constraints and not sdy.mesh_table(op):
        if mesh_shape is None:
            for call, attributes in constraints.items():
                call.attributes = attributes
            calls = [call for call in calls if call not in constraints]
        elif mesh_shape:
            declare_mesh(op, mesh_shape)
    imported = CustomCalls(op, calls, carried, shardings)
    import_manual_computations(op, imported.borders())
    imported.import_all()
    import_borders(op, shardings)
    import_argument_marks(op)
