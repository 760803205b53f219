"""Dimensions that become several throughout a program, as heads that a weight merges.

`(x @ w).reshape(…, d, heads)` splits what the product made whole: where `w` is sharded,
its heads lie across the shards. A weight stored as `(…, d, heads)` needs no such reshape,
and can be sharded by heads. All that shares the dimension becomes so: the weight, its
gradient and its optimizer state, through loops. Elements stay in their
order, so that ops that cannot follow get the old shape by a reshape.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from ttxdsl.analysis.batching.disjoint import DisjointSets
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.partition.emitter import dims_attr

_T = TypeVar("_T")

Dim = tuple[SSAValue, int]
"""One dimension of one value."""

_HANDS_ON = (
    stablehlo.WhileOp,
    stablehlo.CaseOp,
    stablehlo.IfOp,
    stablehlo.OptimizationBarrierOp,
)


class SharedDimensions:
    """The dimensions of a program, all inlined, that become several together."""

    def __init__(self, module: ModuleOp, entry: FuncOp):
        self._module, self._entry = module, entry
        self._groups: DisjointSets[Dim] = DisjointSets()
        self._loose: defaultdict[Operation, set[Dim]] = defaultdict(set)
        """Dimensions that an op which follows cannot have as several."""
        self._members: defaultdict[Dim, list[Dim]] = defaultdict(list)
        for op in all_ops(module):
            self._join(op)
        for dim in self._groups.members():
            self._members[self._groups.find(dim)].append(dim)

    def _join(self, op: Operation) -> None:
        if isinstance(op, _HANDS_ON):
            flow = data_flow_of(type(op))
            assert flow is not None
            for owner in flow.edge_owners(op):
                sources = [source.value for source in flow.edge_sources(op, owner)]
                self._join_whole(owner, *sources, *flow.other_targets(op, owner))
        elif isinstance(op, sdy.ShardingConstraintOp):
            self._join_whole(op.input, op.result)
        elif op.operands and self._follows(op) and not op.has_trait(IsTerminator):
            self._join_by_rule(op)

    def _join_whole(self, first: SSAValue, *others: SSAValue) -> None:
        for dim in range(len(shape_of(first)) if is_tensor(first) else 0):
            for other in others:
                self._groups.join((first, dim), (other, dim))

    def _join_by_rule(self, op: Operation) -> None:
        rule = sharding_rule(op)
        values = (*op.operands, *op.results)
        of_factor: defaultdict[int, list[Dim]] = defaultdict(list)
        tensors = rule.tensors if rule is not None else [()] * len(values)
        for value, mapping in zip(values, tensors, strict=True):
            for dim in range(len(shape_of(value)) if is_tensor(value) else 0):
                factors = mapping[dim] if mapping else ()
                if len(factors) == 1:
                    of_factor[factors[0]].append((value, dim))
                elif not isinstance(op, stablehlo.ReshapeOp):
                    self._loose[op].add((value, dim))
        for dims in of_factor.values():
            sizes = {shape_of(value)[dim] for value, dim in dims}
            if len(sizes) > 1 or _is_written_in_part(op, dims):
                self._loose[op] |= set(dims)
            else:
                for dim in dims[1:]:
                    self._groups.join(dims[0], dim)

    def _follows(self, op: Operation) -> bool:
        """Return True for an op whose values may get other dimensions."""
        match op:
            case ReturnOp() | stablehlo.ReturnOp():
                return self.changes(op.parent_op())
            case stablehlo.ConstantOp():
                return isinstance(op.value, DenseIntOrFPElementsAttr)
            case _:
                return not {
                    sdy.SHARDING,
                    sdy.SHARDING_RULE,
                } & op.attributes.keys() and (
                    isinstance(op, (*_HANDS_ON, stablehlo.ReshapeOp))
                    or type(op) in _ADJUSTED
                    or op.has_trait(Elementwise)
                )

    # What splits a dimension

    def parts(self, dim: Dim) -> tuple[int, ...]:
        """Return the sizes that reshapes split a dimension into, or merge it from.

        Empty if no reshape does, or not all do alike.
        """
        splits: set[tuple[int, ...]] = set()
        for value, at in self._members[self._groups.find(dim)]:
            ops = [use.operation for use in value.uses]
            if isinstance(value, OpResult):
                ops.append(value.op)
            for op in ops:
                if isinstance(op, stablehlo.ReshapeOp):
                    other = op.result if value is op.operand else op.operand
                    if parts := _parts(shape_of(value), at, shape_of(other)):
                        splits.add(parts)
        return splits.pop() if len(splits) == 1 else ()

    def arguments(self, dim: Dim) -> tuple[tuple[int, int], ...]:
        """Return the arguments that share a dimension, by number, each with its own."""
        chosen = self.members([dim])
        return tuple(
            (index, own)
            for index, argument in enumerate(self._entry.body.block.args)
            for own in sorted(chosen.get(argument, ()))
        )

    # Splitting

    def split(self, starts: Iterable[Dim], parts: Sequence[int], at: int) -> None:
        """Make dimensions several, in place; `self` is of the old program afterwards.

        Args:
            starts: dimensions of one size.
            parts: its factors.
            at: the number of the factor that gets the dimension's axes.

        Raises:
            UnsupportedError: the axes of an argument or result do not divide that factor.
        """
        _Splitting(self, self._module, self._entry, starts, parts, at).run()

    def members(self, starts: Iterable[Dim]) -> dict[SSAValue, set[int]]:
        """Return the dimensions that go with some, by value."""
        chosen: dict[SSAValue, set[int]] = {}
        for root in dict.fromkeys(self._groups.find(dim) for dim in starts):
            for value, dim in self._members[root]:
                chosen.setdefault(value, set()).add(dim)
        return chosen

    def follows(self, op: Operation, chosen: Mapping[SSAValue, set[int]]) -> bool:
        """Return True if an op can have all of some dimensions as several."""
        return self._follows(op) and not any(
            dim in chosen.get(value, ()) for value, dim in self._loose.get(op, ())
        )

    def changes(self, op: Operation | None) -> bool:
        """Return True for an op whose region's values may get other dimensions."""
        return op is self._entry or isinstance(op, _HANDS_ON)


def _is_written_in_part(op: Operation, dims: Iterable[Dim]) -> bool:
    """Return True if an op writes to a piece of the dimensions of one of its factors."""
    return isinstance(op, stablehlo.DynamicUpdateSliceOp) and (
        op.update not in (value for value, _ in dims)
    )


class _Splitting:
    """A change of dimensions to several."""

    def __init__(
        self,
        shared: SharedDimensions,
        module: ModuleOp,
        entry: FuncOp,
        starts: Iterable[Dim],
        parts: Sequence[int],
        at: int,
    ):
        self._shared, self.parts, self._at = shared, tuple(parts), at
        self._meshes = sdy.mesh_table(module)
        self._entry = entry
        self.dims = shared.members(starts)

    def run(self) -> None:
        """Change the program."""
        ops = dict.fromkeys(
            op
            for value in self.dims
            for op in (value.owner, *(use.operation for use in value.uses))
            if isinstance(op, Operation)
        )
        follow = {
            op for op in ops if self._shared.follows(op, self.dims) and self._fits(op)
        }
        annotate = list(self._function_shardings())
        for op in ops:
            if op in follow and (adjust := _ADJUSTED.get(type(op))) is not None:
                adjust(op, self)
        for value in self.dims:
            self._split_value(value, follow)
        block = self._entry.body.block
        assert block.last_op is not None
        self._entry.function_type = FunctionType.from_lists(
            [argument.type for argument in block.args],
            [result.type for result in block.last_op.operands],
        )
        for set_sharding in annotate:
            set_sharding()
        for op in ops:
            if (
                isinstance(op, stablehlo.ReshapeOp)
                and op.operand.type == op.result.type
            ):
                Rewriter.replace_op(op, [], [op.operand])

    def _fits(self, op: Operation) -> bool:
        """Return True unless a constraint's axes do not divide the part that gets them."""
        if not isinstance(op, sdy.ShardingConstraintOp):
            return True
        return self.sharding(op.input, op.sharding.data) is not None

    def _split_value(self, value: SSAValue, follow: set[Operation]) -> None:
        """Change a value's type where its op follows, with reshapes for all that do not."""
        owner = value.owner
        if isinstance(owner, Operation):
            follows, point = owner in follow, InsertPoint.after(owner)
        else:
            follows = self._shared.changes(owner.parent_op())
            point = InsertPoint.at_start(owner)
        old, new = value.type, self.type(value)
        others = [use for use in value.uses if (use.operation in follow) != follows]
        if follows:
            value = Rewriter.replace_value_with_new_type(value, new)
        if others:
            reshape = stablehlo.ReshapeOp.create(
                operands=[value],
                result_types=[old if follows else new],
                location=owner.location if isinstance(owner, Operation) else None,
            )
            Rewriter.insert_op(reshape, point)
            for use in others:
                use.operation.operands[use.index] = reshape.result

    def _function_shardings(self) -> Iterator[Callable[[], None]]:
        """Yield what sets the shardings of arguments and results that change."""
        block, function = self._entry.body.block, self._entry
        assert block.last_op is not None
        arguments = block.args, sdy.func_argument_shardings(function)
        results = block.last_op.operands, sdy.func_result_shardings(function)
        for (values, shardings), set_sharding in (
            (arguments, sdy.set_func_argument_sharding),
            (results, sdy.set_func_result_sharding),
        ):
            for index, (value, sharding) in enumerate(
                zip(values, shardings, strict=True)
            ):
                if value not in self.dims or sharding is None:
                    continue
                if (new := self.sharding(value, sharding)) is None:
                    raise UnsupportedError(
                        f"{sharding} does not divide {self.parts}", function
                    )
                yield partial(set_sharding, function, index, new)

    def sharding(self, value: SSAValue, given: TensorSharding) -> TensorSharding | None:
        """Return a value's sharding with its new dimensions; None if it has none."""
        dims = self.dims[value]
        return split_sharding(given, dims, self.parts, self._at, self._meshes)

    # For the ops that name dimensions

    def type(self, value: SSAValue) -> TensorType[Attribute]:
        """Return the type that a value gets."""
        shape = self.spread(value, shape_of(value), self.parts)
        return TensorType(element_of(value), shape)

    def index(self, value: SSAValue, dim: int) -> list[int]:
        """Return the dimensions that a dimension becomes."""
        chosen = self.dims.get(value, ())
        start = dim + (len(self.parts) - 1) * sum(other < dim for other in chosen)
        return [*range(start, start + (len(self.parts) if dim in chosen else 1))]

    def indices(self, value: SSAValue, dims: Iterable[int]) -> list[int]:
        """Return the dimensions that some become, in their order."""
        return [new for dim in dims for new in self.index(value, dim)]

    def spread(
        self,
        value: SSAValue,
        entries: Iterable[_T],
        filler: Sequence[_T] | None = None,
    ) -> list[_T]:
        """Return an entry for each new dimension.

        Args:
            value: whose dimensions the entries are of.
            entries: one for each old dimension.
            filler: for the parts of a dimension; without it they repeat its entry.
        """
        chosen, count = self.dims.get(value, ()), len(self.parts)
        return [
            new
            for dim, entry in enumerate(entries)
            for new in ((filler or (entry,) * count) if dim in chosen else (entry,))
        ]


# What an op says of dimensions


def _adjust_broadcast(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.BroadcastInDimOp)
    dims: list[int] = []
    for dim, of_result in enumerate(op.broadcast_dimensions.get_values()):
        dims += new.index(op.result, of_result)[: len(new.index(op.operand, dim))]
    op.broadcast_dimensions = dims_attr(dims)


def _adjust_transpose(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.TransposeOp)
    permutation = new.indices(op.operand, op.permutation.get_values())
    op.permutation = dims_attr(permutation)


def _adjust_dot(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.DotGeneralOp)
    dims = op.dot_dimension_numbers.data
    op.dot_dimension_numbers = stablehlo.DotDimensionNumbersAttr(
        type(dims)(
            tuple(new.indices(op.lhs, dims.lhs_batching_dimensions)),
            tuple(new.indices(op.rhs, dims.rhs_batching_dimensions)),
            tuple(new.indices(op.lhs, dims.lhs_contracting_dimensions)),
            tuple(new.indices(op.rhs, dims.rhs_contracting_dimensions)),
        )
    )


def _adjust_reduce(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.ReduceOp)
    dims = new.indices(op.inputs[0], op.dimensions.get_values())
    op.dimensions = dims_attr(dims)


def _adjust_concatenate(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.ConcatenateOp)
    (dim,) = new.index(op.result, op.dimension.value.data)
    op.dimension = IntegerAttr(dim, op.dimension.type)


def _adjust_slice(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.SliceOp)
    zeros, ones = (0,) * len(new.parts), (1,) * len(new.parts)
    starts = new.spread(op.operand, op.start_indices.get_values(), zeros)
    limits = new.spread(op.operand, op.limit_indices.get_values(), new.parts)
    strides = new.spread(op.operand, op.strides.get_values(), ones)
    op.start_indices = dims_attr(starts)
    op.limit_indices = dims_attr(limits)
    op.strides = dims_attr(strides)


def _adjust_dynamic_slice(op: Operation, new: _Splitting) -> None:
    """Repeat the start of a whole dimension, which is clamped to zero."""
    assert isinstance(op, stablehlo.DynamicSliceOp)
    starts = new.spread(op.operand, op.start_indices)
    op.slice_sizes = dims_attr(
        new.spread(op.operand, op.slice_sizes.get_values(), new.parts)
    )
    op.operands = [op.operand, *starts]


def _adjust_dynamic_update_slice(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.DynamicUpdateSliceOp)
    starts = new.spread(op.operand, op.start_indices)
    op.operands = [op.operand, op.update, *starts]


def _adjust_constraint(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, sdy.ShardingConstraintOp)
    if op.input in new.dims and (changed := new.sharding(op.input, op.sharding.data)):
        op.sharding = sdy.TensorShardingAttr(changed)


def _adjust_constant(op: Operation, new: _Splitting) -> None:
    assert isinstance(op, stablehlo.ConstantOp)
    value = op.value
    assert isinstance(value, DenseIntOrFPElementsAttr)
    op.value = DenseIntOrFPElementsAttr.new([new.type(op.output), value.data])


_ADJUSTED: dict[type[Operation], Callable[[Operation, _Splitting], None]] = {
    stablehlo.BroadcastInDimOp: _adjust_broadcast,
    stablehlo.ConcatenateOp: _adjust_concatenate,
    stablehlo.ConstantOp: _adjust_constant,
    stablehlo.DotGeneralOp: _adjust_dot,
    stablehlo.DynamicSliceOp: _adjust_dynamic_slice,
    stablehlo.DynamicUpdateSliceOp: _adjust_dynamic_update_slice,
    stablehlo.ReduceOp: _adjust_reduce,
    stablehlo.SliceOp: _adjust_slice,
    stablehlo.TransposeOp: _adjust_transpose,
    sdy.ShardingConstraintOp: _adjust_constraint,
}


def _parts(shape: Sequence[int], dim: int, other: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes that a reshape makes of a dimension; empty if not several."""
    before, size = prod(shape[:dim]), shape[dim]
    for start in range(len(other)):
        for stop in range(start + 2, len(other) + 1):
            parts = tuple(part for part in other[start:stop] if part != 1)
            if prod(other[:start]) == before and prod(parts) == size:
                return parts if len(parts) > 1 else ()
    return ()


def split_sharding(
    given: TensorSharding,
    dims: Collection[int],
    parts: Sequence[int],
    at: int,
    meshes: Mapping[str, Mesh],
) -> TensorSharding | None:
    """Return a sharding of a value whose dimensions become several.

    Args:
        given: the sharding of the value as it is.
        at: the part that gets the axes of a dimension.

    Returns:
        The sharding; None if axes do not divide that part.
    """
    mesh = given.mesh if isinstance(given.mesh, Mesh) else meshes[given.mesh]
    new: list[DimSharding] = []
    for dim, sharding in enumerate(given.dims):
        if dim not in dims:
            new.append(sharding)
        elif parts[at] % sharding.sharded_size(mesh):
            return None
        else:
            whole = DimSharding((), sharding.closed)
            new += [sharding if n == at else whole for n in range(len(parts))]
    return replace(given, dims=tuple(new))
