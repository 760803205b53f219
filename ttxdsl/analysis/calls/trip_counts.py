"""The trip counts of loops, where the program states them.

A loop counts if one of its carries starts at a constant, every iteration adds a constant
to it, and the condition compares it with a constant. Constants are followed through
carries that no iteration changes, arguments and results of calls (if all callers pass
the same), computations under a sharding, integer arithmetic, comparisons of integers
and choices by them.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    i1,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.calls.call_graph import callers
from ttxdsl.analysis.calls.symbols import PRIVATE
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo import ComparisonDirection
from ttxdsl.ir.tensors import element_of, is_tensor

_HANDS_ON = (
    *(sdy.ShardingConstraintOp, sdy.ReshardOp, sdy.PropagationBarrierOp),
    *(sdy.DataFlowEdgeOp, stablehlo.OptimizationBarrierOp, stablehlo.ReshapeOp),
    stablehlo.BroadcastInDimOp,
)
"""The result at a place is the operand there, as far as one number goes."""

_ARITHMETIC: Mapping[type[Operation], Callable[[int, int], int]] = {
    stablehlo.AddOp: int.__add__,
    stablehlo.SubtractOp: int.__sub__,
    stablehlo.MulOp: int.__mul__,
    stablehlo.MinOp: min,
    stablehlo.MaxOp: max,
    stablehlo.AndOp: int.__and__,
    stablehlo.OrOp: int.__or__,
    stablehlo.XorOp: int.__xor__,
}

_DECIDES = {stablehlo.MulOp: 0, stablehlo.AndOp: 0, stablehlo.OrOp: -1}
"""An operand that makes the result alone, whatever the other one is."""

_HOLDS: Mapping[ComparisonDirection, Callable[[int, int], bool]] = {
    ComparisonDirection.LT: int.__lt__,
    ComparisonDirection.LE: int.__le__,
    ComparisonDirection.GT: int.__gt__,
    ComparisonDirection.GE: int.__ge__,
    ComparisonDirection.EQ: int.__eq__,
    ComparisonDirection.NE: int.__ne__,
}

_DEEPEST = 64
"""Ops that are followed from a number to its constant."""


class _Sum(NamedTuple):
    """`base + offset`; without a base the constant `offset`."""

    base: SSAValue | None
    offset: int


def _range_of(element: Attribute) -> range | None:
    """Return the numbers of an integer type; None for another."""
    if not isinstance(element, IntegerType):
        return None
    type_ = cast("IntegerType[int, Signedness]", element)
    bits = type_.width.data
    if type_.signedness.data == Signedness.UNSIGNED or bits == 1:
        return range(1 << bits)
    return range(-(1 << bits - 1), 1 << bits - 1)


def _number_of(attribute: Attribute) -> int | None:
    """Return the one integer that a tensor is full of."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr) or not attribute.is_splat():
        return None
    dense = cast("DenseIntOrFPElementsAttr[IntegerType]", attribute)
    if _range_of(dense.get_element_type()) is None:
        return None
    return int(dense.get_values()[0])


def iterations(
    direction: ComparisonDirection, start: int, step: int, limit: int
) -> int | None:
    """Return the iterations of `while start <direction> limit: start += step`.

    Returns:
        None if it has no end, but for numbers that wrap around.
    """
    match direction:
        case ComparisonDirection.EQ:
            return 0 if start != limit else 1 if step else None
        case ComparisonDirection.NE:
            if start == limit:
                return 0
            ends = step != 0 and (limit - start) % step == 0
            return (
                (limit - start) // step
                if ends and (limit - start) // step > 0
                else None
            )
        case ComparisonDirection.GT | ComparisonDirection.GE:
            start, step, limit = -start, -step, -limit
        case _:
            pass
    if direction in (ComparisonDirection.LE, ComparisonDirection.GE):
        limit += 1
    if start >= limit:
        return 0
    return -(-(limit - start) // step) if step > 0 else None


class TripCounts:
    """The loops of a module, and the integers that it says.

    Args:
        module: any program in StableHLO: before, between or behind the stages.
    """

    def __init__(self, module: ModuleOp):
        self._functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)
        }
        self._callers = callers(module)
        self._known: dict[Operation, int | None] = {}
        # None also while it is looked for, so that nothing is followed in a circle
        self._sums: dict[SSAValue, _Sum | None] = {}
        self._numbers: dict[SSAValue, int | None] = {}

    def of(self, loop: stablehlo.WhileOp) -> int | None:
        """Return a loop's iterations each time that it runs; None if not known."""
        if loop not in self._known:
            self._known[loop] = self._count(loop)
        return self._known[loop]

    def constant(self, value: SSAValue) -> int | None:
        """The one integer that every element of a value is, if the program says it."""
        return self._constant(value, _DEEPEST)

    def taken(self, choice: stablehlo.IfOp | stablehlo.CaseOp) -> int | None:
        """Return the index of the branch that is taken, None if it is not known."""
        chosen = self.constant(choice.operands[0])
        if chosen is None:
            return None
        if isinstance(choice, stablehlo.IfOp):
            return 0 if chosen else 1
        last = len(choice.regions) - 1
        return chosen if 0 <= chosen <= last else last

    # loops

    def _count(self, loop: stablehlo.WhileOp) -> int | None:
        condition = loop.cond.block.last_op
        if not loop.cond.blocks or not loop.body.blocks or condition is None:
            return None
        compared = self._compared(condition.operands[0])
        if compared is None:
            return None
        direction, left, right = compared
        if not self._is_carry(left, loop):
            left, right, direction = right, left, _turned(direction)
        if not self._is_carry(left, loop):
            return None
        assert left is not None and isinstance(left.base, BlockArgument)
        index = left.base.index
        after = self._sum(loop.body.block.last_op.operands[index], _DEEPEST)  # pyright: ignore[reportOptionalMemberAccess]
        start = self.constant(loop.operand[index])
        limit = self._number(right, _DEEPEST)
        numbers = _range_of(element_of(left.base))
        if (
            after is None
            or after.base is not loop.body.block.args[index]
            or start is None
            or limit is None
            or numbers is None
        ):
            return None
        compared_first = start + left.offset
        count = iterations(direction, compared_first, after.offset, limit)
        if count is None:
            return None
        # a number that wraps around is another one
        added = count * after.offset
        numbers_used = (limit, compared_first, start + added, compared_first + added)
        return count if all(number in numbers for number in numbers_used) else None

    def _is_carry(self, sum_: _Sum | None, loop: stablehlo.WhileOp) -> bool:
        if sum_ is None or not isinstance(sum_.base, BlockArgument):
            return False
        return sum_.base.block is loop.cond.block and not self._is_kept(
            loop, sum_.base.index
        )

    def _compared(
        self, value: SSAValue
    ) -> tuple[ComparisonDirection, _Sum | None, _Sum | None] | None:
        """Return the comparison of a predicate, in terms of values in its scope."""
        if not isinstance(value, OpResult):
            return None
        op = value.op
        match op:
            case stablehlo.CompareOp():
                left, right = (
                    self._sum(operand, _DEEPEST) for operand in (op.lhs, op.rhs)
                )
                return op.comparison_direction.data, left, right
            case CallOp():
                returned = self._returned(op, value.index)
                if returned is None or isinstance(returned.owner, Block):
                    return None
                inner = returned.owner
                if not isinstance(inner, stablehlo.CompareOp):
                    return None
                left, right = (
                    self._outside(op, self._sum(operand, _DEEPEST))
                    for operand in (inner.lhs, inner.rhs)
                )
                return inner.comparison_direction.data, left, right
            case _:
                return None

    def _is_kept(self, loop: stablehlo.WhileOp, index: int) -> bool:
        """Whether no iteration changes a carry."""
        end = loop.body.block.last_op
        return end is not None and self._sum(end.operands[index], _DEEPEST) == _Sum(
            loop.body.block.args[index], 0
        )

    # numbers

    def _constant(self, value: SSAValue, left: int) -> int | None:
        number = self._number(self._sum(value, left), left - 1)
        wrapped = None if number is None else _wrapped(number, value)
        return None if wrapped is None else wrapped.offset

    def _number(self, sum_: _Sum | None, left: int) -> int | None:
        if sum_ is None or sum_.base is None:
            return None if sum_ is None else sum_.offset
        base = self._handed_in(sum_.base, left)
        return None if base is None else base + sum_.offset

    def _handed_in(self, value: SSAValue, left: int) -> int | None:
        """Return the constant that a block's argument or a loop's result is."""
        if left > 0 and value not in self._numbers:
            self._numbers[value] = None
            self._numbers[value] = self._find_handed_in(value, left)
        return self._numbers.get(value)

    def _find_handed_in(self, value: SSAValue, left: int) -> int | None:
        owner = value.owner
        op = owner if isinstance(owner, Operation) else owner.parent_op()
        assert isinstance(value, OpResult | BlockArgument)
        index = value.index
        match op:
            case stablehlo.WhileOp():
                if self._is_kept(op, index):
                    return self._constant(op.operand[index], left - 1)
            case sdy.ManualComputationOp() | sdy.NamedComputationOp():
                if isinstance(value, BlockArgument):
                    return self._constant(op.operands[index], left - 1)
            case FuncOp() if op.sym_visibility == PRIVATE:
                calls = self._callers.get(op.sym_name.data, ())
                if all(isinstance(call, CallOp) for call in calls):
                    given = {
                        self._constant(call.operands[index], left - 1) for call in calls
                    }
                    return given.pop() if len(given) == 1 else None
            case _:
                pass
        return None

    def _sum(self, value: SSAValue, left: int) -> _Sum | None:
        """Return a value as another one and a constant; None for no integer."""
        if left > 0 and value not in self._sums:
            self._sums[value] = None
            self._sums[value] = self._find_sum(value, left)
        return self._sums.get(value)

    def _find_sum(self, value: SSAValue, left: int) -> _Sum | None:
        if not is_tensor(value) or _range_of(element_of(value)) is None:
            return None
        if isinstance(value, BlockArgument):
            return _Sum(value, 0)
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case stablehlo.ConstantOp() | sdy.ConstantOp():
                number = _number_of(op.value)
                return None if number is None else _wrapped(number, value)
            case stablehlo.ConvertOp():
                number = self._constant(op.operands[0], left - 1)
                if number is not None and element_of(value) == i1:
                    number = int(number != 0)
                return None if number is None else _wrapped(number, value)
            case stablehlo.NotOp():
                number = self._constant(op.operands[0], left - 1)
                return None if number is None else _wrapped(~number, value)
            case stablehlo.CompareOp():
                first, second = (
                    self._constant(operand, left - 1) for operand in op.operands
                )
                if first is None or second is None:
                    return None
                holds = _HOLDS[op.comparison_direction.data]
                return _Sum(None, int(holds(first, second)))
            case stablehlo.SelectOp():
                chosen = self._constant(op.pred, left - 1)
                if chosen is not None:
                    return self._sum(op.operands[1 if chosen else 2], left - 1)
                first, second = (
                    self._sum(operand, left - 1) for operand in op.operands[1:]
                )
                return first if first == second else None
            case CallOp():
                returned = self._returned(op, value.index)
                inner = None if returned is None else self._sum(returned, left - 1)
                outside = self._outside(op, inner)
                if outside is None or outside.base is None:
                    return outside
                around = self._sum(outside.base, left - 1)
                return _added(around, outside.offset)
            case _ if isinstance(op, _HANDS_ON):
                return self._sum(op.operands[value.index], left - 1)
            case _ if type(op) in _ARITHMETIC:
                first, second = (
                    self._sum(operand, left - 1) for operand in op.operands
                )
                return self._combined(op, first, second, left)
            case stablehlo.WhileOp():
                return _Sum(value, 0)
            case _:
                return None

    def _combined(
        self, op: Operation, first: _Sum | None, second: _Sum | None, left: int
    ) -> _Sum | None:
        kind, result = type(op), op.results[0]
        if kind is stablehlo.AddOp and element_of(result) == i1:
            kind = stablehlo.OrOp
        numbers = [self._constant(operand, left - 1) for operand in op.operands]
        if kind in _DECIDES:
            decides = _wrapped(_DECIDES[kind], result)
            if decides is not None and decides.offset in numbers:
                return decides
        if numbers[0] is not None and numbers[1] is not None:
            return _wrapped(_ARITHMETIC[kind](numbers[0], numbers[1]), result)
        if numbers[1] is not None and kind is stablehlo.AddOp:
            return _added(first, numbers[1])
        if numbers[0] is not None and kind is stablehlo.AddOp:
            return _added(second, numbers[0])
        if numbers[1] is not None and kind is stablehlo.SubtractOp:
            return _added(first, -numbers[1])
        return None

    # calls

    def _returned(self, call: CallOp, index: int) -> SSAValue | None:
        """Return the value that a called function returns at an index."""
        function = self._functions.get(call.callee.string_value())
        if function is None or function.is_declaration:
            return None
        end = function.body.block.last_op
        return None if end is None else end.operands[index]

    def _outside(self, call: CallOp, sum_: _Sum | None) -> _Sum | None:
        """A sum in a called function, said in the values where the call stands."""
        if sum_ is None or sum_.base is None:
            return sum_
        base = sum_.base
        if not isinstance(base, BlockArgument) or not isinstance(
            base.block.parent_op(), FuncOp
        ):
            return None
        return _Sum(call.operands[base.index], sum_.offset)


def _added(sum_: _Sum | None, number: int) -> _Sum | None:
    return None if sum_ is None else _Sum(sum_.base, sum_.offset + number)


def _wrapped(number: int, value: SSAValue) -> _Sum | None:
    """Return a constant of a value's type."""
    numbers = _range_of(element_of(value))
    if numbers is None:
        return None
    return _Sum(
        None, numbers.start + (number - numbers.start) % (numbers.stop - numbers.start)
    )


_TURNED = {
    ComparisonDirection.LT: ComparisonDirection.GT,
    ComparisonDirection.LE: ComparisonDirection.GE,
    ComparisonDirection.GT: ComparisonDirection.LT,
    ComparisonDirection.GE: ComparisonDirection.LE,
}


def _turned(direction: ComparisonDirection) -> ComparisonDirection:
    """Return the relation with its sides exchanged."""
    return _TURNED.get(direction, direction)
