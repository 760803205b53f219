"""The demands of a program on its arguments, so that its results are numbers.

A demand starts at an op that asks something of an operand: a root wants it not negative,
a gather an index within what it indexes, a Cholesky decomposition a definite matrix, a
product of matrices numbers that its sums do not make large. From there it goes backward,
through whatever hands the value on or does arithmetic with it, up to the arguments:
`sqrt((0.9 * v + 0.1 * g * g) / (1 - 0.9 ** t))` asks that `v` is not negative and `t` at
least 1. It ends where bounds of the value show that it holds anyway.

Calls are followed one by one: what one caller asks of a function is not asked of another.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.calls.call_graph import called_by
from ttxdsl.analysis.values.intervals import (
    ANY,
    NOT_NEGATIVE,
    SIGNED_UNIT,
    Interval,
    bounds_of,
    function_name,
    moved_operands,
    of_type,
)
from ttxdsl.analysis.values.sufficient_bounds import operand_bounds
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.linalg import ROUTINE_OF
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.ir.traversal import all_ops


@dataclass(frozen=True, slots=True)
class ValueDemand:
    """The demands on a value.

    Attributes:
        within: the numbers that it may hold.
        is_open: whether the ends of `within` are not among them.
        not_zero: whether something is divided by it.
        is_scale: whether it scales a larger value, as the weights of a norm do.
        is_definite: whether its matrices are to be positive definite.
        summed: of how many products a sum is that it is in; 0 for none.
    """

    within: Interval = ANY
    is_open: bool = False
    not_zero: bool = False
    is_scale: bool = False
    is_definite: bool = False
    summed: int = 0

    def joined(self, other: "ValueDemand") -> "ValueDemand":
        """Both demands; of two that exclude each other the first."""
        within = self.within.meet(other.within)
        is_open = self.is_open or other.is_open
        if within.is_empty or (is_open and within.point is not None):
            within, is_open = self.within, self.is_open
        return ValueDemand(
            within,
            is_open,
            self.not_zero or other.not_zero,
            self.is_scale or other.is_scale,
            self.is_definite or other.is_definite,
            max(self.summed, other.summed),
        )


NOTHING = ValueDemand()
_NOT_ZERO = ValueDemand(not_zero=True)

_DOMAINS: dict[str, tuple[Interval, ...]] = {
    "sqrt": (NOT_NEGATIVE,),
    "rsqrt": (NOT_NEGATIVE,),
    "log": (NOT_NEGATIVE,),
    "log_plus_one": (Interval(-1),),
    "acos": (SIGNED_UNIT,),
    "acosh": (Interval(1),),
    "asin": (SIGNED_UNIT,),
    "atanh": (SIGNED_UNIT,),
    "digamma": (NOT_NEGATIVE,),
    "erf_inv": (SIGNED_UNIT,),
    "lgamma": (NOT_NEGATIVE,),
    "polygamma": (Interval(1, 1), NOT_NEGATIVE),
    "zeta": (Interval(1), NOT_NEGATIVE),
    "batch_norm_inference": (ANY, ANY, ANY, ANY, NOT_NEGATIVE),
    "batch_norm_grad": (ANY, ANY, ANY, NOT_NEGATIVE, ANY),
}
"""Where functions of real numbers are numbers, or smooth, an interval an operand."""

_DIVIDES = {"divide": 1, "remainder": 1, "rsqrt": 0, "log": 0}
"""The operand that must not be 0."""

_KEEPS_ZERO = frozenset(
    ("multiply", "negate", "abs", "sqrt", "cbrt", "square", "tanh", "sine")
)
"""Functions that are 0 only where an operand is."""

_DEFINITE = {"cholesky", "triangular_solve"}
_DEFINITE_ROUTINES = {"potrf", "trsm"}
_SCALES = {"batch_norm_inference", "batch_norm_training", "batch_norm_grad"}

_MOST_OPS = 100_000
"""That are looked at, those of functions once a call."""

_MOST_CHANGES = 8
"""Of the demand on a value: in a loop it could become narrower for ever."""


@dataclass(eq=False, slots=True)
class _Frame:
    """A function in one of its calls, and the bounds of the values in it."""

    function: FuncOp
    caller: "_Frame | None" = None
    call: Operation | None = None
    bounds: dict[SSAValue, Interval] = field(default_factory=dict[SSAValue, Interval])
    calls: "dict[Operation, _Frame]" = field(default_factory=dict[Operation, "_Frame"])

    def of(self, value: SSAValue) -> Interval:
        """Return the bounds of a value."""
        known = self.bounds.get(value)
        if known is None:
            return of_type(element_of(value)) if is_tensor(value) else ANY
        return known


_Asked = tuple[SSAValue, ValueDemand]


class _Reading:
    """Demands on the values of a program, from ops backward."""

    def __init__(self, function: FuncOp):
        self._functions: dict[str, FuncOp] = {}
        if isinstance(module := function.parent_op(), ModuleOp):
            self._functions = {
                op.sym_name.data: op
                for op in module.ops
                if isinstance(op, FuncOp) and not op.is_declaration
            }
        self._function = function
        self._demands: dict[tuple[_Frame, SSAValue], ValueDemand] = {}
        self._changes: Counter[tuple[_Frame, SSAValue]] = Counter()
        self._changed: list[tuple[_Frame, SSAValue]] = []

    def read(self) -> list[ValueDemand]:
        """Return the demands on each argument."""
        main = _Frame(self._function)
        self._look(main)
        while self._changed:
            frame, value = self._changed.pop()
            for where, source, demand in self._sources(frame, value):
                self._ask(where, source, demand)
        return [
            self._demands.get((main, argument), NOTHING)
            for argument in self._function.body.block.args
        ]

    def _ask(self, frame: _Frame, value: SSAValue, demand: ValueDemand) -> None:
        if frame.of(value).within(demand.within) and not demand.is_open:
            demand = replace(demand, within=ANY)
        key = frame, value
        known = self._demands.get(key, NOTHING)
        joined = known.joined(demand)
        if joined != known and self._changes[key] < _MOST_CHANGES:
            self._changes[key] += 1
            self._demands[key] = joined
            self._changed.append(key)

    # --- forward: bounds, and ops that ask something ---------------------------

    def _look(self, main: _Frame) -> None:
        left, frames = _MOST_OPS, [main]
        asked: list[tuple[_Frame, SSAValue, ValueDemand]] = []
        while frames and left > 0:
            frame = frames.pop()
            ops = all_ops(frame.function)
            left -= len(ops)
            for op in ops:
                self._look_at(frame, op)
                asked.extend((frame, *request) for request in self._asked_by(frame, op))
                for name in called_by(op):
                    callee = self._functions.get(name)
                    if callee is not None and not isinstance(
                        op, stablehlo.CustomCallOp
                    ):
                        frames.append(self._enter(frame, op, callee))
        # the last ones first: what is asked at the start of the program has the last say
        for request in reversed(asked):
            self._ask(*request)

    def _enter(self, frame: _Frame, call: Operation, callee: FuncOp) -> _Frame:
        inner = _Frame(callee, frame, call)
        for value, given in zip(callee.body.block.args, call.operands, strict=True):
            inner.bounds[value] = frame.of(given)
        frame.calls[call] = inner
        return inner

    def _look_at(self, frame: _Frame, op: Operation) -> None:
        if len(op.results) == 1 and not data_flow_of(type(op)):
            bounds = bounds_of(op, frame.of)
            if bounds != ANY:
                frame.bounds[op.results[0]] = bounds
        if isinstance(op, stablehlo.WhileOp):
            block = op.body.block
            end = block.last_op
            returned = () if end is None else end.operands
            for argument, value, start in zip(
                block.args, returned, op.operands, strict=False
            ):
                if value is argument:
                    frame.bounds[argument] = frame.of(start)

    def _asked_by(self, frame: _Frame, op: Operation) -> Iterator[_Asked]:
        """Yield the demands of an op on its operands that hold for any use."""
        name = function_name(op)
        if name in _DIVIDES:
            yield op.operands[_DIVIDES[name]], _NOT_ZERO
        for value, domain in zip(op.operands, _DOMAINS.get(name, ()), strict=False):
            yield value, ValueDemand(domain)
        match op:
            case stablehlo.PowOp():
                if not _is_integral(op.rhs, frame):
                    yield op.lhs, ValueDemand(NOT_NEGATIVE)
                if frame.of(op.rhs).high < 0:
                    yield op.lhs, _NOT_ZERO
            case stablehlo.MulOp():
                for value in op.operands:
                    if (small := _broadcast(value)) is not None:
                        yield small, ValueDemand(is_scale=True)
            case stablehlo.DotGeneralOp():
                dims = op.dot_dimension_numbers.data.lhs_contracting_dimensions
                summed = math.prod(shape_of(op.lhs)[dim] for dim in dims)
                yield from (
                    (value, ValueDemand(summed=summed)) for value in op.operands
                )
            case stablehlo.ConvolutionOp():
                out = op.dimension_numbers.data.kernel_output_feature_dimension
                sizes = [*shape_of(op.rhs)]
                summed = math.prod(sizes) // max(sizes[out], 1)
                yield from (
                    (value, ValueDemand(summed=summed)) for value in op.operands
                )
            case stablehlo.CustomCallOp():
                routine = ROUTINE_OF.get(op.call_target_name.data)
                if routine in _DEFINITE_ROUTINES:
                    yield op.operands[0], ValueDemand(is_definite=True)
            case _ if name in _DEFINITE:
                yield op.operands[0], ValueDemand(is_definite=True)
            case _ if name in _SCALES:
                yield op.operands[1], ValueDemand(is_scale=True)
            case _:
                yield from _indices(op, frame)

    # --- backward ---------------------------------------------------------------

    def _sources(
        self, frame: _Frame, value: SSAValue
    ) -> Iterator[tuple[_Frame, SSAValue, ValueDemand]]:
        """Yield the demands on the sources of a value that follow from its own."""
        demand = self._demands[frame, value]
        owner = value.owner
        op = owner if isinstance(owner, Operation) else owner.parent_op()
        assert isinstance(value, OpResult | BlockArgument)
        if op is None:
            return
        if isinstance(op, FuncOp):
            if frame.caller is not None and frame.call is not None:
                yield frame.caller, frame.call.operands[value.index], demand
            return
        if (inner := frame.calls.get(op)) is not None:
            end = inner.function.body.block.last_op
            if isinstance(end, ReturnOp):
                yield inner, end.operands[value.index], demand
            return
        if (flow := data_flow_of(type(op))) is not None:
            edge = flow.edge_owner(op, value)
            if edge is not None:
                for source in flow.edge_sources(op, edge):
                    yield frame, source.value, demand
            return
        if isinstance(owner, Block):
            return
        for source, asked in self._through(frame, op, value.index, demand):
            yield frame, source, asked

    def _through(
        self, frame: _Frame, op: Operation, index: int, demand: ValueDemand
    ) -> Iterator[_Asked]:
        if isinstance(op, stablehlo.SelectOp):
            yield from _chosen(op, frame, demand)
        elif moved := moved_operands(op):
            yield from _moved(op, moved, demand)
        elif isinstance(op, stablehlo.SortOp):
            yield op.operands[index], demand
        elif len(op.results) == 1:
            yield from _role(frame, op, demand)
            for value, within in operand_bounds(op, demand.within, frame.of):
                if not within.is_empty and within != ANY:
                    yield value, ValueDemand(within, demand.is_open)
            if demand.not_zero:
                yield from _nonzero(frame, op)


def _is_integral(value: SSAValue, frame: _Frame) -> bool:
    """Whether a value is plainly an integer, whatever type holds it."""
    while isinstance(op := value.owner, Operation):
        if isinstance(op, stablehlo.ConvertOp):
            value = op.operand
        elif len(moved := moved_operands(op)) == 1:
            (value,) = moved
        else:
            break
        if isinstance(element_of(value), IntegerType):
            return True
    point = frame.of(value).point
    is_integer = isinstance(element_of(value), IntegerType)
    return is_integer or (point is not None and point.is_integer())


def _broadcast(value: SSAValue) -> SSAValue | None:
    """Return the value that is broadcast to this one, if it is smaller."""
    op = value.owner
    while isinstance(op, stablehlo.ReshapeOp | stablehlo.ConvertOp):
        op = op.operands[0].owner
    if not isinstance(op, stablehlo.BroadcastInDimOp):
        return None
    source = op.operand
    return (
        source
        if math.prod(shape_of(source)) < math.prod(shape_of(op.results[0]))
        else None
    )


# --- ops that hand a value on ---------------------------------------------------------


def _moved(
    op: Operation, moved: Sequence[SSAValue], demand: ValueDemand
) -> Iterator[_Asked]:
    """Every element of a result is one of these operands', under the same demand."""
    if demand.is_definite and not isinstance(
        op, stablehlo.BroadcastInDimOp | stablehlo.TransposeOp | stablehlo.ReshapeOp
    ):
        demand = replace(demand, is_definite=len(op.operands) == 1)
    for value in moved:
        yield value, demand


def _chosen(
    op: stablehlo.SelectOp, frame: _Frame, demand: ValueDemand
) -> Iterator[_Asked]:
    """A choice; one that depends on the sign of a branch asks less of that branch.

    `i < 0 ? i + 8 : i` is within 0 and 7 where `i` is within -8 and 7.
    """
    compared = op.pred.owner
    for value, other in (op.operands[1:], reversed(op.operands[1:])):
        if not (
            isinstance(compared, stablehlo.CompareOp) and value in compared.operands
        ):
            continue
        within, shift = demand.within, other.owner
        if isinstance(shift, stablehlo.AddOp) and value in shift.operands:
            (by,) = [operand for operand in shift.operands if operand is not value] or [
                value
            ]
            if (point := frame.of(by).point) is not None:
                shifted = within.shifted(-point)
                low, high = min(within.low, shifted.low), max(within.high, shifted.high)
                yield value, replace(demand, within=Interval(low, high))
                return
        yield other, demand
        return
    for value in op.operands[1:]:
        yield value, demand


def _role(frame: _Frame, op: Operation, demand: ValueDemand) -> Iterator[_Asked]:
    """Yield demands that follow from the role of the result, not from its numbers."""
    role = replace(demand, within=ANY, is_open=False, not_zero=False)
    if role == NOTHING:
        return
    if isinstance(op, stablehlo.ConvertOp):
        yield op.operand, role
    elif role.is_definite and isinstance(
        op, stablehlo.AddOp | stablehlo.SubtractOp | stablehlo.MulOp | stablehlo.DivOp
    ):
        # (a + transpose(a)) / 2, a + 0.1 * identity
        for value in op.operands:
            yield value, ValueDemand(is_definite=True)


def _nonzero(frame: _Frame, op: Operation) -> Iterator[_Asked]:
    """Yield demands that suffice for a result that is not 0."""
    name = function_name(op)
    known = [frame.of(value) for value in op.operands]
    if name in _KEEPS_ZERO or isinstance(op, stablehlo.ConvertOp):
        yield from ((value, _NOT_ZERO) for value in op.operands)
    elif name in ("divide", "power"):
        yield op.operands[0], _NOT_ZERO
    elif name == "add":
        for value, other in zip(op.operands, reversed(known), strict=True):
            if other.low >= 0:
                yield value, ValueDemand(NOT_NEGATIVE)
    elif name == "subtract" and known[0].point is not None:
        yield op.operands[1], ValueDemand(Interval(high=known[0].point), is_open=True)


# --- indices ----------------------------------------------------------------------------


def _indices(op: Operation, frame: _Frame) -> Iterator[_Asked]:
    """Operands that are places in something, within its sizes."""
    match op:
        case stablehlo.GatherOp():
            numbers, sizes = op.dimension_numbers.data, op.slice_sizes.get_values()
            room = [n - m for n, m in zip(shape_of(op.operand), sizes, strict=True)]
            yield from _index_vectors(
                op.start_indices,
                numbers.index_vector_dim,
                [room[dim] for dim in numbers.start_index_map],
            )
        case stablehlo.ScatterOp():
            numbers = op.scatter_dimension_numbers.data
            update = shape_of(op.updates[0])
            windows = iter(update[dim] for dim in numbers.update_window_dims)
            apart = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
            room = [
                size - (1 if dim in apart else next(windows))
                for dim, size in enumerate(shape_of(op.inputs[0]))
            ]
            yield from _index_vectors(
                op.scatter_indices,
                numbers.index_vector_dim,
                [room[dim] for dim in numbers.scatter_dims_to_operand_dims],
            )
        case stablehlo.DynamicSliceOp():
            sizes = op.slice_sizes.get_values()
            for value, size, part in zip(
                op.start_indices, shape_of(op.operand), sizes, strict=True
            ):
                yield value, _places(size - part)
        case stablehlo.DynamicUpdateSliceOp():
            sizes = zip(shape_of(op.operand), shape_of(op.update), strict=True)
            for value, (size, part) in zip(op.start_indices, sizes, strict=True):
                yield value, _places(size - part)
        case stablehlo.TorchIndexSelectOp():
            size = shape_of(op.operand)[op.dim.value.data]
            yield op.index, _places(size - 1)
        case stablehlo.CaseOp():
            yield op.index, _places(len(op.branches) - 1)
        case stablehlo.CompareOp() if isinstance(element_of(op.lhs), IntegerType):
            for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                bounds = frame.of(other)
                if _counts(other) and math.isfinite(bounds.high):
                    yield value, ValueDemand(bounds)
        case _:
            pass


def _places(last: int) -> ValueDemand:
    return ValueDemand(Interval(0, max(last, 0)))


def _index_vectors(
    indices: SSAValue, vector_dim: int, room: Sequence[int]
) -> Iterator[_Asked]:
    """Index vectors: each of their entries by itself, where they are put together."""
    joined = indices.owner
    if (
        isinstance(joined, stablehlo.ConcatenateOp)
        and joined.dimension.value.data == vector_dim
        and len(joined.inputs) == len(room)
    ):
        yield from (
            (value, _places(last))
            for value, last in zip(joined.inputs, room, strict=True)
        )
    elif room:
        yield indices, _places(min(room))


def _counts(value: SSAValue) -> bool:
    """Whether a value holds the places along a dimension: an iota, moved about."""
    while isinstance(op := value.owner, Operation):
        if isinstance(op, stablehlo.IotaOp):
            return True
        moved = moved_operands(op)
        if isinstance(op, stablehlo.ConvertOp):
            moved = op.operands
        if len(moved) != 1:
            return False
        (value,) = moved
    return False


def argument_demands(function: FuncOp) -> list[ValueDemand]:
    """Return the demands of a function and its callees on each of its arguments."""
    if function.is_declaration:
        return [NOTHING] * len(function.function_type.inputs.data)
    return _Reading(function).read()
