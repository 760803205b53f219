"""`import-xla-sdy`: sdy's own ops and attributes for what XLA's exporters write.

torch-xla, XLA's own dumps and older JAX carry shardings in attributes and custom calls
that sdy does not know. They are read before the first stage, and nothing of them is
left: what is not understood is an error that quotes it.

Source: XLA's import pipelines `xla-sdy-round-trip-import-pipeline` and
`xla-sdy-stablehlo-import-pipeline`.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.collector import without_collections
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.transforms.carriers.custom_calls import CustomCalls, is_carrier
from ttxdsl.transforms.carriers.frontend_attributes import (
    HLO_SHARDING,
    carries,
    import_frontend_attributes,
)
from ttxdsl.transforms.carriers.hlo_shardings import (
    HloShardings,
    import_borders,
)
from ttxdsl.transforms.carriers.manual_computations import import_manual_computations
from ttxdsl.transforms.carriers.mhlo_calls import MHLO, OpOfMhlo
from ttxdsl.transforms.stages.fold_tuples import FoldTuplesPass


def _says_something(module: ModuleOp) -> bool:
    """Whether something in a module is said of shardings that sdy does not know.

    Most modules have nothing of it, and each is asked when it is read and once more
    before it is partitioned.
    """
    for op in all_ops(module):
        attributes = op.attributes
        if attributes and (HLO_SHARDING in attributes or carries(attributes)):
            return True
        if type(op) not in (stablehlo.CustomCallOp, FuncOp):
            continue  # asked of every op: no isinstance
        if isinstance(op, stablehlo.CustomCallOp):
            if is_carrier(op) or op.call_target_name.data.startswith(MHLO):
                return True
        elif isinstance(op, FuncOp):
            entries = (*(op.arg_attrs or ()), *(op.res_attrs or ()))
            if any(HLO_SHARDING in e.data or carries(e.data) for e in entries):
                return True
    return False


class ImportXlaSdyPass(ModulePass):
    """Turn what XLA's exporters say of shardings into sdy."""

    name = "import-xla-sdy"

    @without_collections()
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        if not _says_something(op):
            return
        FoldTuplesPass().apply(ctx, op)
        rewrite_type(op, stablehlo.CustomCallOp, OpOfMhlo())
        calls = [*filter(is_carrier, ops_of_type(op, stablehlo.CustomCallOp))]
        carried = import_frontend_attributes(ctx, op)
        shardings = HloShardings(op)
        imported = CustomCalls(op, calls, carried, shardings)
        import_manual_computations(op, imported.borders())
        imported.import_all()
        import_borders(op, shardings)
