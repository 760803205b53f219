"""Calls of a library that computes several ops at once, around reductions.

XLA for CPUs has one (YNNPACK; `LibraryRewriter`). A call grows from a reduction up to values that others
read, too, and down to the first that several read or that the library does not compute: functions of
numbers, broadcasts, products and further reductions. What is in it is in no memory of XLA's.
"""

from collections import deque
from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
)
from xdsl.ir import Block, Operation, SSAValue

from ttxdsl.analysis.values.intervals import is_splat
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.reduction import single_op_of
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.ir.traversal import ops_of

_FUNCTIONS = (
    *(stablehlo.AbsOp, stablehlo.ExpOp, stablehlo.LogOp, stablehlo.NegOp),
    *(stablehlo.TanhOp, stablehlo.RsqrtOp, stablehlo.SqrtOp, stablehlo.LogisticOp),
    *(stablehlo.Expm1Op, stablehlo.Log1pOp, stablehlo.FloorOp, stablehlo.CeilOp),
    *(stablehlo.SignOp, stablehlo.SineOp, stablehlo.CosineOp),
    *(stablehlo.AddOp, stablehlo.DivOp, stablehlo.MaxOp, stablehlo.MinOp),
    *(stablehlo.MulOp, stablehlo.PowOp, stablehlo.SubtractOp),
)
"""Functions of numbers that the library computes (`GetYnnUnaryOpMap`, `GetYnnBinaryOpMap`)."""

_CHLO_FUNCTIONS = ("chlo.square", "chlo.erf")

_REDUCED_BY = (stablehlo.AddOp, stablehlo.MaxOp, stablehlo.MinOp)

_FEWEST = 4096
"""Elements that an op has at least, or an operand of it (`IsInstructionPreferredByYnn`)."""

_FEWEST_FEATURES = 16
"""Features of a convolution that are too few, in and out (`IsConvolutionOpSupportedByYnn`)."""


class LibraryCalls:
    """The calls of a block.

    Attributes:
        members: the ops that calls compute.
        inside: those of them that are no results of calls.
    """

    def __init__(self, block: Block) -> None:
        self.members: set[Operation] = set()
        self.inside: set[Operation] = set()
        for op in reversed(ops_of(block)):
            is_start = isinstance(op, stablehlo.ReduceOp) and _is_computed(op)
            if is_start and op not in self.members:
                self._grow(op)

    def _grow(self, start: Operation) -> None:
        """Make a call around a reduction; what it takes in may let it take in more."""
        call, last, size = {start}, start, 0
        while len(call) > size:
            size = len(call)
            last = self._spread(call, last)
        while isinstance(last, stablehlo.ReshapeOp):  # the same bytes
            call.discard(last)
            maker = last.operand.owner
            assert isinstance(maker, Operation), "a call has a reduction"
            last = maker
        self.members |= call
        self.inside |= call - {last}

    def _spread(self, call: set[Operation], last: Operation) -> Operation:
        """Add the neighbours of a call to it; return the op that is its result then."""
        pending = deque((value.owner, False) for op in call for value in op.operands)
        pending += ((user, True) for user in _only_user(last))
        while pending:
            op, is_behind = pending.popleft()
            if not isinstance(op, Operation) or op in call or op in self.members:
                continue
            if not _is_computed(op) or not (is_behind or _users(op) <= call):
                continue
            call.add(op)
            if is_behind:
                last = op
                pending += ((user, True) for user in _only_user(op))
            else:
                pending += ((value.owner, False) for value in op.operands)
        return last


def _users(op: Operation) -> set[Operation]:
    return {use.operation for result in op.results for use in result.uses}


def _only_user(op: Operation) -> Iterator[Operation]:
    users = _users(op)
    if len(users) == 1:
        yield from users


def _is_computed(op: Operation) -> bool:
    """Whether the library computes an op."""
    values = (*op.operands, *op.results)
    if len(op.results) != 1 or not all(map(_is_of_numbers, values)):
        return False
    match op:
        case stablehlo.ReshapeOp():
            return True
        case stablehlo.ConstantOp():
            return is_splat(op)
        case stablehlo.BroadcastInDimOp():
            dims = list(op.broadcast_dimensions.get_values())
            return dims == sorted(dims)
        case stablehlo.ReduceOp():
            return isinstance(single_op_of(op.body), _REDUCED_BY) and _is_large(op)
        case stablehlo.DotGeneralOp():
            sums = op.dot_dimension_numbers.data.lhs_contracting_dimensions
            return (
                sums == (len(shape_of(op.lhs)) - 1,)
                and 1 not in shape_of(op.result)[-2:]
            )
        case stablehlo.ConvolutionOp():
            return _is_plain(op)
        case _:
            is_function = isinstance(op, _FUNCTIONS) or op.name in _CHLO_FUNCTIONS
            return is_function and _is_large(op)


def _is_of_numbers(value: SSAValue) -> bool:
    return is_tensor(value) and isinstance(element_of(value), Float32Type | Float64Type)


def _is_large(op: Operation) -> bool:
    return max(prod(shape_of(v)) for v in (*op.operands, *op.results)) >= _FEWEST


def _is_plain(op: stablehlo.ConvolutionOp) -> bool:
    """Whether a convolution of images has no holes in them and gives no larger ones."""
    before, after = shape_of(op.lhs), shape_of(op.result)
    holes = op.lhs_dilation
    return (
        len(before) == 4
        and op.batch_group_count.value.data == 1
        and (holes is None or set(holes.get_values()) == {1})
        and max(before[-1], after[-1]) > _FEWEST_FEATURES
        and all(b >= a for b, a in zip(before[1:3], after[1:3], strict=True))
    )
