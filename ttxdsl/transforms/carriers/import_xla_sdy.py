"""`import-xla-sdy`: sdy's own ops and attributes for what XLA's exporters write.

torch-xla, XLA's own dumps and older JAX carry shardings in attributes and custom calls
that sdy does not know. They are read before the first stage, and nothing of them is
left: what is not understood is an error that quotes it.

Source: XLA's import pipelines `xla-sdy-round-trip-import-pipeline` and
`xla-sdy-stablehlo-import-pipeline`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.ir.collector import without_collections
from ttxdsl.transforms.carriers.signs import says_something


class ImportXlaSdyPass(ModulePass):
    """Turn what XLA's exporters say of shardings into sdy."""

    name = "import-xla-sdy"

    @without_collections()
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        if says_something(op):
            _import(ctx, op)


def _import(ctx: Context, op: ModuleOp) -> None:
    from ttxdsl.dialects import stablehlo
    from ttxdsl.ir.rewriting import rewrite_type
    from ttxdsl.ir.traversal import ops_of_type
    from ttxdsl.transforms.carriers.custom_calls import CustomCalls
    from ttxdsl.transforms.carriers.frontend_attributes import (
        import_frontend_attributes,
    )
    from ttxdsl.transforms.carriers.hlo_shardings import HloShardings, import_borders
    from ttxdsl.transforms.carriers.manual_computations import (
        import_manual_computations,
    )
    from ttxdsl.transforms.carriers.mhlo_calls import OpOfMhlo
    from ttxdsl.transforms.carriers.signs import is_carrier
    from ttxdsl.transforms.stages.fold_tuples import FoldTuplesPass

    FoldTuplesPass().apply(ctx, op)
    rewrite_type(op, stablehlo.CustomCallOp, OpOfMhlo())
    calls = [*filter(is_carrier, ops_of_type(op, stablehlo.CustomCallOp))]
    carried = import_frontend_attributes(ctx, op)
    shardings = HloShardings(op)
    imported = CustomCalls(op, calls, carried, shardings)
    import_manual_computations(op, imported.borders())
    imported.import_all()
    import_borders(op, shardings)
