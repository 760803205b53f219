"""StableHLO's control flow in ttir, region by region."""

from collections.abc import Sequence

from xdsl.dialects.func import CallOp
from xdsl.ir import Region, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.lowering import (
    Lowering,
    Rule,
    as_results,
    lowering_of_call,
)
from ttxdsl.conversion.stablehlo_to_ttir.ops.collective import ragged_all_to_all
from ttxdsl.conversion.stablehlo_to_ttir.ops.extension_ops import add_same
from ttxdsl.conversion.stablehlo_to_ttir.ops.sort import first_of_call
from ttxdsl.conversion.stablehlo_to_ttir.ops.tenstorrent_calls import (
    is_op_of_ttir,
    lower_tenstorrent_call,
)
from ttxdsl.conversion.vocabulary import Vocabulary
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import stablehlo, ttir
from ttxdsl.dialects.calls.custom import (
    FIRST_BY_COMPARATOR,
    Communication,
    communication_of,
)


def _region(low: Lowering, region: Region, types: Sequence[SSAValue]) -> Region:
    """The region with its ops lowered; it takes values of the types of `types`."""

    def fill(builder: TTIRBuilder, arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
        inner = low.inside(builder)
        inner.values.update(zip(region.block.args, arguments, strict=True))
        return inner.lower_ops(region.block)

    return low.builder.region([value.type for value in types], fill)


def _while(low: Lowering, op: stablehlo.WhileOp) -> Sequence[SSAValue]:
    carried = low.all(op.operand)
    cond, body = (_region(low, region, carried) for region in (op.cond, op.body))
    return low.builder.add(ttir.WhileOp(carried, cond, body)).results


def _if(low: Lowering, op: stablehlo.IfOp) -> Sequence[SSAValue]:
    branches = [_region(low, r, ()) for r in (op.true_branch, op.false_branch)]
    types = [low.builder.placed(result.type) for result in op.results]
    new_op = ttir.IfOp(low[op.pred], branches[0], branches[1], types)
    return low.builder.add(new_op).results


def _case(low: Lowering, op: stablehlo.CaseOp) -> Sequence[SSAValue]:
    branches = [_region(low, region, ()) for region in op.branches]
    types = [low.builder.placed(result.type) for result in op.results]
    return low.builder.add(ttir.CaseOp(low[op.index], branches, types)).results


def _call(low: Lowering, op: CallOp) -> Sequence[SSAValue]:
    name = op.callee.root_reference.data
    function = low.functions.get(name)
    if function is None:
        raise CompileError(f"there is no function @{name}", op)
    return low.lower_call(function, low.all(op.arguments))


def _custom_call(low: Lowering, op: stablehlo.CustomCallOp) -> Sequence[SSAValue]:
    """Annotations pass their operand through; one that nobody lowers stays as it is."""
    target = op.call_target_name.data
    if (rule := lowering_of_call(target)) is not None:
        return as_results(rule(low, op))
    if target in _TRANSPARENT and len(op.inputs) == len(op.outputs) == 1:
        return [low[op.inputs[0]]]
    if target in FIRST_BY_COMPARATOR and (first := first_of_call(low, op)) is not None:
        return first
    if low.builder.vocabulary == Vocabulary.TT_MLIR:
        if is_op_of_ttir(op):
            return [lower_tenstorrent_call(low, op)]
        raise UnsupportedError(
            f"nothing of tt-mlir's ttir is written for custom call @{target}",
            op,
            hint="compile --for tt-mlir --emit stablehlo hands tt-mlir's own calls on",
        )
    if communication_of(op) is Communication.RAGGED:
        return ragged_all_to_all(low, op)
    return add_same(low, op.name, op)


_TRANSPARENT = ("Sharding", "annotate_device_placement", "LayoutConstraint")
"""Custom calls that only annotate the value that they hand on."""

TABLE: dict[str, Rule] = {
    "func.call": _call,
    "stablehlo.case": _case,
    "stablehlo.custom_call": _custom_call,
    "stablehlo.if": _if,
    "stablehlo.while": _while,
}
"""The rules of this family, by name."""
