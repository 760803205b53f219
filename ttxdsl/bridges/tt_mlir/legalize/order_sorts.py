"""`order-sorts`: sorts by one key each, which is the first operand.

tt-mlir sorts the first operand and looks at a comparator for the direction alone. A sort
by several keys is one sort a key, the last key first, each keeping what is equal in
order.
"""

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, BoolAttr, ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from ttxdsl.conversion.writing import Writer, write_instead
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sort_keys import SortKey, sort_keys
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
)
from ttxdsl.ir.rewriting import for_each
from ttxdsl.ir.tensors import element_of


def _needed(value: SSAValue, block: Block) -> list[Operation]:
    """Return the ops of a block that a value depends on."""
    ops: dict[Operation, None] = {}
    todo = [value]
    while todo:
        owner = todo.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in ops:
            ops[owner] = None
            todo.extend(owner.operands)
    return [op for op in block.ops if op in ops]


def _keeps_order(key: SortKey) -> bool:
    """Whether a key is ordered as its operand is, but for zeros and NaNs made one."""
    value = key.value
    while isinstance(value, OpResult):
        match value.op:
            case stablehlo.SelectOp() as op:
                either = op.on_true, op.on_false
                computed = [branch for branch in either if not _is_constant(branch)]
                if len(computed) != 1:
                    return False
                value = computed[0]
            case stablehlo.ConvertOp() as op if _is_wider(op):
                value = op.operands[0]
            case _:
                return False
    return len(key.operands) == 1


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, stablehlo.ConstantOp)


def _is_wider(op: stablehlo.ConvertOp) -> bool:
    before, after = (element_of(value) for value in (op.operands[0], op.results[0]))
    if not (isinstance(before, AnyFloat) and isinstance(after, AnyFloat)):
        return False
    return before.bitwidth < after.bitwidth


def _order_sort(op: stablehlo.SortOp) -> None:
    """Write a sort as sorts by one key each, if it has to be."""
    keys = sort_keys(op.comparator)
    if keys is None or not all(map(_keeps_order, keys)):
        raise UnsupportedError(
            "its comparator is no order by operands one after another, and tt-mlir"
            " looks only at the direction",
            op,
        )
    as_written = keys[0].value is keys[0].compare.lhs
    if len(keys) > 1 or keys[0].operands != (0,) or not as_written:
        write_instead(op, partial(_sorted, op, keys))


def _sorted(op: stablehlo.SortOp, keys: list[SortKey], w: Writer) -> list[SSAValue]:
    values = list(op.inputs)
    stable = op.properties.get("is_stable", BoolAttr.from_bool(False))
    if len(keys) > 1:
        stable = BoolAttr.from_bool(True)
    for key in reversed(keys):
        (place,) = key.operands
        order = [place, *(i for i in range(len(values)) if i != place)]
        types = [op.comparator.block.args[2 * i].type for i in order for _ in (0, 1)]
        block = Block(arg_types=types)
        given = op.comparator.block.args
        known: dict[SSAValue, SSAValue] = {}
        for new, old in enumerate(order):
            known[given[2 * old]] = block.args[2 * new]
            known[given[2 * old + 1]] = block.args[2 * new + 1]
        for inner in _needed(key.compare.result, op.comparator.block):
            block.add_op(inner.clone(known))
        result = known[key.compare.result]
        assert isinstance(result.owner, stablehlo.CompareOp)
        _compare_in_order(result.owner, known[key.value], descending=key.descending)
        block.add_op(stablehlo.ReturnOp.create(operands=[result]))
        ordered = w.emit(
            stablehlo.SortOp,
            [values[i] for i in order],
            [values[i].type for i in order],
            {"dimension": op.properties["dimension"], "is_stable": stable},
            regions=[Region(block)],
        )
        for new, old in enumerate(order):
            values[old] = ordered.results[new]
    return values


def _compare_in_order(
    compare: stablehlo.CompareOp, first: SSAValue, *, descending: bool
) -> None:
    """Compare the first element with the second, and not the other way around."""
    second = compare.rhs if first is compare.lhs else compare.lhs
    compare.operands[0], compare.operands[1] = first, second
    direction = ComparisonDirection.GT if descending else ComparisonDirection.LT
    compare.properties["comparison_direction"] = ComparisonDirectionAttr(direction)


class OrderSortsPass(ModulePass):
    """Sort by one key at a time, the first operand."""

    name = "order-sorts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for_each(op, stablehlo.SortOp, _order_sort)
