"""Let copies of a function that were sharded alike be one function again."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls import call_graph
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.transforms.shardy.meshes import mesh_lookup

FUNC_MANUAL_AXES = "sdy.func_manual_axes"
"""Attribute of a function that is called inside of a manual computation: its axes."""


@dataclass(frozen=True)
class UnflattenCallGraphPass(ModulePass):
    """Let calls of copies of a function call one of them.

    Copies must agree in manual axes and, by default, in the shardings of arguments and
    results. The copies that nobody calls any more stay, for `symbol-dce` to remove.

    Options:
        dedup_functions_fully: whatever the shardings, keep one copy for all: the one
            whose shardings most calls have.
    """

    name = "sdy-unflatten-call-graph"

    dedup_functions_fully: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        symbols = Symbols(op)
        mesh_of = mesh_lookup(op)

        def origin(function: FuncOp) -> Hashable:
            manual = function.attributes.get(FUNC_MANUAL_AXES)
            return call_graph.original_name(function), manual

        def with_shardings(function: FuncOp) -> Hashable:
            return (
                origin(function),
                call_graph.argument_shardings(function, mesh_of),
                call_graph.result_shardings(function, mesh_of),
            )

        key = origin if self.dedup_functions_fully else with_shardings
        calls = [(call, symbols.callee(call)) for call in call_graph.calls_in(op)]
        kept: dict[Hashable, FuncOp] = {}
        for _, callee in calls:
            kept.setdefault(key(callee), callee)
        if self.dedup_functions_fully:
            count: Counter[Hashable] = Counter()
            for _, callee in calls:
                same = with_shardings(callee)
                count[same] += 1
                if count[same] > count[with_shardings(kept[key(callee)])]:
                    kept[key(callee)] = callee
        for call, callee in calls:
            call_graph.set_callee(call, kept[key(callee)].sym_name.data)
        for function in symbols.functions.values():
            function.attributes.pop(call_graph.ORIGINAL_NAME, None)
            function.attributes.pop(FUNC_MANUAL_AXES, None)
