"""`order-sorts`: sorts by one key each, which is the first operand.

tt-mlir sorts the first operand and looks at a comparator for the direction alone. A sort
by several keys is one sort a key, the last key first, each keeping what is equal in
order.
"""

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import ComparisonDirection
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.transforms.solved.writing import Writer, write_instead

_ORDERS = (
    ComparisonDirection.LT, ComparisonDirection.GT, ComparisonDirection.LE,
    ComparisonDirection.GE,
)  # fmt: skip

Key = tuple[int, stablehlo.CompareOp]
"""An operand, and the comparison of its elements."""


def _needed(value: SSAValue, block: Block) -> tuple[set[SSAValue], list[Operation]]:
    """The arguments of a block that a value in it comes from, and the ops between."""
    arguments: set[SSAValue] = set()
    ops: dict[Operation, None] = {}
    todo = [value]
    while todo:
        one = todo.pop()
        owner = one.owner
        if isinstance(owner, Operation) and owner.parent is block:
            if owner not in ops:
                ops[owner] = None
                todo.extend(owner.operands)
        elif owner is block:
            arguments.add(one)
    return arguments, [op for op in block.ops if op in ops]


def _key(value: SSAValue, block: Block) -> Key | None:
    compare = value.owner
    if not isinstance(compare, stablehlo.CompareOp):
        return None
    if compare.comparison_direction.data not in _ORDERS:
        return None
    first, _ = _needed(compare.lhs, block)
    second, _ = _needed(compare.rhs, block)
    if len(first) != 1 or len(second) != 1:
        return None
    places = [block.args.index(one) for one in (*first, *second)]  # pyright: ignore[reportArgumentType]
    if places[0] % 2 or places[1] != places[0] + 1:
        return None
    return places[0] // 2, compare


def _keys(value: SSAValue, block: Block) -> list[Key] | None:
    """The keys of a comparator, the most important first.

    One key, or `first or (equal and others)`, as JAX writes it.
    """
    if (one := _key(value, block)) is not None:
        return [one]
    either = value.owner
    if not isinstance(either, stablehlo.OrOp):
        return None
    first, both = _key(either.lhs, block), either.rhs.owner
    if first is None or not isinstance(both, stablehlo.AndOp):
        return None
    equal = both.lhs.owner
    if not isinstance(equal, stablehlo.CompareOp):
        return None
    same = {equal.lhs, equal.rhs} == {first[1].lhs, first[1].rhs}
    if not same or equal.comparison_direction.data is not ComparisonDirection.EQ:
        return None
    others = _keys(both.rhs, block)
    return None if others is None else [first, *others]


class OrderSort(RewritePattern):
    """Sorts by the keys of one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.SortOp, rewriter: PatternRewriter, /
    ) -> None:
        """Replace the sort, if it has to be.

        Raises:
            UnsupportedError: its comparator is no order by keys.
        """
        del rewriter
        block = op.comparator.block
        last = block.last_op
        assert last is not None
        keys = _keys(last.operands[0], block)
        if keys is None:
            raise UnsupportedError(
                "its comparator is no order by operands one after another, and tt-mlir"
                " looks only at the direction",
                op,
            )
        if len(keys) > 1 or keys[0][0]:
            write_instead(op, partial(_sorted, op, keys))


def _sorted(op: stablehlo.SortOp, keys: list[Key], w: Writer) -> list[SSAValue]:
    values = list(op.inputs)
    stable = op.properties.get("is_stable", BoolAttr.from_bool(False))
    if len(keys) > 1:
        stable = BoolAttr.from_bool(True)
    for place, compare in reversed(keys):
        order = [place, *(i for i in range(len(values)) if i != place)]
        types = [op.comparator.block.args[2 * i].type for i in order for _ in (0, 1)]
        block = Block(arg_types=types)
        given = op.comparator.block.args
        known: dict[SSAValue, SSAValue] = {}
        for new, old in enumerate(order):
            known[given[2 * old]] = block.args[2 * new]
            known[given[2 * old + 1]] = block.args[2 * new + 1]
        _, ops = _needed(compare.result, op.comparator.block)
        for one in ops:
            block.add_op(one.clone(known))
        block.add_op(stablehlo.ReturnOp.create(operands=[known[compare.result]]))
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


class OrderSortsPass(ModulePass):
    """Sort by one key at a time, the first operand."""

    name = "order-sorts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        rewrite_type(op, stablehlo.SortOp, OrderSort())
