"""Turn calls into named computations, through which propagation can see."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.calls import call_graph
from ttxdsl.analysis.calls.bound_axes import require_free_axes
from ttxdsl.analysis.calls.copies import require_few_copies
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import require_one_block
from ttxdsl.dialects.sdy import NamedComputationOp, ReturnOp
from ttxdsl.ir.rewriting import take_body
from ttxdsl.transforms.shardy.data_flow_edges import add_edges_of
from ttxdsl.transforms.shardy.meshes import mesh_lookup

EXECUTION_THREAD = "execution_thread"
"""Attribute of a function whose calls run elsewhere; XLA's."""


class _Importer:
    """Replaces calls; the first call of a function takes its body, others copy it."""

    def __init__(self, module: ModuleOp):
        self.symbols = Symbols(module)
        self.taken: dict[str, NamedComputationOp] = {}
        self._mesh_of = mesh_lookup(module)
        self._warned = False

    def replace(self, call: CallOp) -> None:
        """Replace a call by a named computation, unless only others know its body."""
        function = self.symbols.callee(call)
        name = function.sym_name.data
        first = self.taken.get(name)
        if first is None:
            if function.is_declaration:
                return
            require_one_block(function, call)
        if first is None:
            body = take_body(function, ReturnOp)
        else:
            self._warn_of_copies(call, name)
            body = first.body.clone()
        computation = NamedComputationOp(
            call_graph.original_name(function),
            call.operands,
            body,
            call.result_types,
            call_graph.argument_shardings(function, self._mesh_of),
            call_graph.call_shardings(call),
        )
        computation.location = call.location
        computation.attributes = {
            key: value for key, value in call.attributes.items() if key != sdy.SHARDING
        }
        thread = function.attributes.get(EXECUTION_THREAD)
        if thread is not None:
            computation.attributes[EXECUTION_THREAD] = thread
        if first is None:
            self.taken[name] = computation
        Rewriter.replace_op(call, computation)

    def _warn_of_copies(self, call: CallOp, name: str) -> None:
        if not self._warned:
            self._warned = True
            emit_warning(
                f"function @{name} has several calls; its body is copied for each",
                call,
            )


@dataclass(frozen=True)
class ImportFuncCallsPass(ModulePass):
    """Replace each `func.call` by an `sdy.named_computation` with the callee's body.

    Calls of functions that are only declared stay calls.

    Options:
        add_data_flow_edges_on_named_computations: put data flow edges at the borders
            of all named computations that have none (true).

    Source: Shardy's sdy-import-func-calls.
    """

    name = "sdy-import-func-calls"

    add_data_flow_edges_on_named_computations: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: if a function calls itself, or has several blocks, or there
                would be too many ops.
            CompileError: if a called function does not exist, or shards by axes that
                are bound where it is called.
        """
        require_few_copies(op)
        require_free_axes(op, results=False)
        importer = _Importer(op)
        for function in call_graph.callees_first(op):
            for call in call_graph.calls_in(function):
                importer.replace(call)
        for name in importer.taken:
            importer.symbols.remove_function(name)
        if self.add_data_flow_edges_on_named_computations:
            for inner in list(op.walk()):
                if isinstance(inner, NamedComputationOp):
                    add_edges_of(inner)
