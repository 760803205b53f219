"""Keep two dimensions apart that are merged behind a gather and split again later.

PyTorch merges batch and heads ahead of a batched product and takes them apart behind
it. If heads are split, a device's part of the merged dimension is not consecutive, so
that both operands are gathered. On two dimensions instead, `move-all-gathers` can
gather behind the product, if at all.

**Why it is right.** Place i b + j of a dimension of a b elements is place (i, j) of two
of a and b. An op that keeps the dimension apart (`held_in` of `dims.py`) computes a
place from the same places of its operands, also where all have two dimensions for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo.attributes import DotDims
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.dims import held_in, led_to
from ttxdsl.transforms.collectives.program.in_order import InOrder, places_in
from ttxdsl.transforms.collectives.program.single_ops import (
    erase_unused,
    is_elementwise,
)
from ttxdsl.transforms.partition.emitter import dims_attr


@dataclass(frozen=True, slots=True)
class _Merged:
    """A dimension that is two in one.

    Attributes:
        outer: the elements of the first.
        inner: the elements of the second.
    """

    dim: int
    outer: int
    inner: int

    def apart(self, shape: Sequence[int]) -> list[int]:
        """Return a shape with both dimensions instead of the merged one."""
        return [*shape[: self.dim], self.outer, self.inner, *shape[self.dim + 1 :]]

    def dims(self, dims: Sequence[int]) -> list[int]:
        """Return dimensions as they are counted where this one is two."""
        places: list[int] = []
        for dim in dims:
            places += [dim, dim + 1] if dim == self.dim else [dim + (dim > self.dim)]
        return places


def keep_apart(program: DeviceProgram, block: Block) -> None:
    """Leave apart what ops of one block merge of gathered dimensions for a while."""
    reshapes = [op for op in block.ops if type(op) is stablehlo.ReshapeOp]
    # many a program never merges, or never takes apart
    if not any(map(_splits, reshapes)):
        return
    known: dict[_Place, bool] = {}
    merges = [
        (op, merged)
        for op in reshapes
        for dim in range(1, len(shape_of(op.operand)))
        if (merged := _merged(op, dim)) is not None
        and _is_gathered(block, (op.operand, dim), known)
    ]
    order = places_in(block) if merges else {}
    for op, merged in merges:
        if op.parent is block:
            _Ops(program, order, op, merged).take_apart()


_Place = tuple[SSAValue, int]
"""A value and one of its dimensions."""


def _splits(op: stablehlo.ReshapeOp) -> bool:
    """Whether a reshape splits a dimension."""
    before, after = (
        [n for n in shape_of(value) if n > 1] for value in (op.operand, op.result)
    )
    return len(after) > len(before) or any(n not in before for n in after)


def _merged(op: stablehlo.ReshapeOp, dim: int) -> _Merged | None:
    """Return the merged dimension whose inner part a dimension becomes, or None."""
    before, after = shape_of(op.operand), shape_of(op.result)
    if 0 in before or before[dim] == 1:
        return None
    ahead, start = prod(before[:dim]), 1
    for place, size in enumerate(after):
        if start < ahead < start * size and ahead % start == 0:
            outer = ahead // start
            inner, left = divmod(size, outer)
            if left == 0 and inner % before[dim] == 0:
                return _Merged(place, outer, inner)
        start *= size
    return None


def _is_gathered(block: Block, start: _Place, known: dict[_Place, bool]) -> bool:
    """Whether a dimension of a value comes from a gathered dimension."""
    waiting, seen = [start], set[_Place]()
    gathered = False
    while waiting and not gathered:
        value, dim = place = waiting.pop()
        op = value.owner
        if place in seen or not isinstance(op, Operation) or op.parent is not block:
            continue
        seen.add(place)
        if place in known:
            gathered = known[place]
        elif (
            isinstance(op, stablehlo.AllGatherOp)
            and dim == op.all_gather_dim.value.data
        ):
            gathered = True
        else:
            held = held_in(op, dim) or ()
            waiting += (
                (operand, at)
                for operand, at in zip(op.operands, held, strict=False)
                if at is not None
            )
    if not gathered:
        known.update((place, False) for place in seen)
    known[start] = gathered
    return gathered


class _Ops:
    """The ops that may work on two dimensions behind one reshape."""

    def __init__(
        self,
        program: DeviceProgram,
        order: dict[Operation, int],
        start: stablehlo.ReshapeOp,
        merged: _Merged,
    ) -> None:
        self.program, self.start = program, start
        self.merged: dict[SSAValue, _Merged] = {start.result: merged}
        """The values that have both dimensions in one."""
        self.ends: list[stablehlo.ReshapeOp] = []
        """What takes them apart again."""
        self._apart: dict[SSAValue, SSAValue] = {}
        users = InOrder(order, [start.result])
        for op in users:
            if len(op.results) != 1 or not is_tensor(op.results[0]):
                continue
            if any(self._ends(op, operand) for operand in op.operands):
                assert isinstance(op, stablehlo.ReshapeOp)
                self.ends.append(op)
            elif (both := self._merged_result(op)) is not None:
                self.merged[op.results[0]] = both
                users.follow(op.results[0])

    def _ends(self, op: Operation, operand: SSAValue) -> bool:
        merged = self.merged.get(operand)
        if not isinstance(op, stablehlo.ReshapeOp) or merged is None:
            return False
        ahead, shape = prod(shape_of(operand)[: merged.dim]), shape_of(op.result)
        return ahead * merged.outer in (prod(shape[:at]) for at in range(len(shape)))

    def _merged_result(self, op: Operation) -> _Merged | None:
        """Return the two dimensions of an op's result; None if it cannot keep them apart."""
        if not is_elementwise(op) and not isinstance(op, _ABLE):
            return None
        for index, operand in enumerate(op.operands):
            merged = self.merged.get(operand)
            if merged is None:
                continue
            dim = led_to(op, index, merged.dim)
            if (
                dim is None
                or shape_of(op.results[0])[dim] != merged.outer * merged.inner
            ):
                return None
            result = _Merged(dim, merged.outer, merged.inner)
            for other, place in zip(op.operands, held_in(op, dim) or (), strict=False):
                known = self.merged.get(other)
                if known is not None and place != known.dim:
                    return None
                if known is not None and known.outer != merged.outer:
                    return None
            return result
        return None

    def take_apart(self) -> None:
        """Do what leads to ends on two dimensions."""
        wanted: list[Operation] = []
        leading = {op.operand for op in self.ends}
        for value in reversed(self.merged):
            op = value.owner
            assert isinstance(op, Operation)
            if value in leading and op is not self.start:
                wanted.append(op)
                leading.update(
                    operand for operand in op.operands if operand in self.merged
                )
        if self.start.result not in leading:
            return
        first = self.start
        self._apart[first.result] = self.program.reshape(
            first.operand,
            self.merged[first.result].apart(shape_of(first.result)),
            first,
        )
        for op in reversed(wanted):
            self._apart[op.results[0]] = self._copy(op)
        for op in self.ends:
            if op.operand in self._apart:
                apart = self._apart[op.operand]
                joined = self.program.reshape(apart, shape_of(op.result), op)
                op.result.replace_all_uses_with(joined)
                erase_unused([op.result])
        for op in wanted:
            (result,) = op.results
            if result.uses:
                following = op.next_op
                assert following is not None
                apart = self._apart[result]
                merged = self.program.reshape(apart, shape_of(result), following)
                result.replace_all_uses_with(merged)
            erase_unused([result])

    def _copy(self, op: Operation) -> SSAValue:
        """Copy an op onto operands that have both dimensions."""
        (result,) = op.results
        both = self.merged[result]
        places = held_in(op, both.dim)
        assert places is not None, "asked before"
        held = [
            None if place is None else _Merged(place, both.outer, both.inner)
            for place in places
        ]
        operands = [
            operand
            if pair is None
            else self._apart.get(operand)
            or self.program.reshape(operand, pair.apart(shape_of(operand)), op)
            for operand, pair in zip(op.operands, held, strict=True)
        ]
        shape = both.apart(shape_of(result))
        new = type(op).create(
            operands=operands,
            result_types=[TensorType(element_of(result), shape)],
            properties={**op.properties, **_properties(op, both, held)},
            attributes=op.attributes,
            regions=[region.clone() for region in op.regions],
            location=op.location,
        )
        new.results[0].name_hint = result.name_hint
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        if isinstance(new, stablehlo.AllReduceOp):
            self.program.has_new_ops(op.parent)
        return new.results[0]


_ABLE = (
    stablehlo.AllReduceOp,
    stablehlo.TransposeOp,
    stablehlo.BroadcastInDimOp,
    stablehlo.ReshapeOp,
    stablehlo.ReduceOp,
    stablehlo.DotGeneralOp,
)
"""Ops beside elementwise ones that are known to work on more dimensions."""


def _properties(
    op: Operation, both: _Merged, held: Sequence[_Merged | None]
) -> dict[str, Attribute]:
    """Return an op's properties on dimensions, where one of its result's is two."""
    first = held[0] if held else None
    match op:
        case stablehlo.TransposeOp() if first is not None:
            return {"permutation": dims_attr(first.dims(op.permutation.get_values()))}
        case stablehlo.BroadcastInDimOp():
            dims = both.dims(op.broadcast_dimensions.get_values())
            return {"broadcast_dimensions": dims_attr(dims)}
        case stablehlo.ReduceOp() if first is not None:
            return {"dimensions": dims_attr(first.dims(op.dimensions.get_values()))}
        case stablehlo.DotGeneralOp():
            numbers = op.dot_dimension_numbers.data
            left, right = held
            numbers = DotDims(
                _dims(left, numbers.lhs_batching_dimensions),
                _dims(right, numbers.rhs_batching_dimensions),
                _dims(left, numbers.lhs_contracting_dimensions),
                _dims(right, numbers.rhs_contracting_dimensions),
            )
            return {"dot_dimension_numbers": type(op.dot_dimension_numbers)(numbers)}
        case _:
            return {}


def _dims(merged: _Merged | None, dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(dims if merged is None else merged.dims(dims))
