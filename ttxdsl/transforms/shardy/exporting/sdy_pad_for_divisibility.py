"""`sdy-pad-for-divisibility`: values that their shardings do not divide become larger.

A program with explicit collectives says where values are split: from an all_slice on,
whose operand is padded with zeros, to an all_gather, behind which a slice takes the
surplus away. What lies in it in between is of no matter, but where a product or a
reduction goes over it: there it has to be what changes nothing.

Source: Shardy's pass of that name. The C++ pass lets every StableHLO op grow, and sums
over the surplus; here ops that would let it into the result are refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    ShapedType,
    TensorType,
    i1,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.facts import Elementwise
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
)
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.ir.data_flow import DataFlowTrait
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.combiner import combiner_of
from ttxdsl.transforms.local.creation import splat_of
from ttxdsl.transforms.local.emitter import Emitter, dims_attr
from ttxdsl.transforms.local.reduction import is_constant_number
from ttxdsl.transforms.shardy.edge_sources import passed_on
from ttxdsl.transforms.shardy.exporting.uneven_reshapes import groups_of
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup

Shape = tuple[int, ...]

_GROW_BY_TYPE = (
    stablehlo.BroadcastInDimOp,
    stablehlo.ConcatenateOp,
    stablehlo.DotGeneralOp,
    stablehlo.DynamicSliceOp,
    stablehlo.DynamicUpdateSliceOp,
    stablehlo.GatherOp,
    stablehlo.PadOp,
    stablehlo.ReduceOp,
    stablehlo.ReduceWindowOp,
    stablehlo.ReshapeOp,
    stablehlo.ReverseOp,
    stablehlo.ScatterOp,
    stablehlo.SelectAndScatterOp,
    stablehlo.SortOp,
    stablehlo.TransposeOp,
)
"""Besides elementwise ops those that no attribute tells how large they are, but for the
sizes of slices, which are as large as the dimension where that grows."""


class _Padder:
    """The values of one function that have grown."""

    def __init__(
        self,
        mesh_of: MeshOf,
        rules: Mapping[Operation, OpShardingRule | None],
        *,
        newest: bool,
    ):
        self._newest = newest
        self._mesh_of = mesh_of
        self._rules = rules
        self._grown: dict[SSAValue, Shape] = {}
        """What is larger than it was, with the shape it had."""
        self._zero: set[SSAValue] = set()
        """Those whose surplus is zero."""

    def _even(self, shape: Shape, sharding: TensorSharding | None) -> Shape:
        """The least shape that a sharding divides."""
        if sharding is None:
            return shape
        mesh = self._mesh_of(sharding)
        return shape if mesh.is_maximal else sharding.even_shape(shape, mesh)

    def _even_result(self, value: SSAValue) -> Shape:
        return self._even(shape_of(value), sdy.get_sharding(value))

    def require_even_borders(self, function: FuncOp) -> None:
        """Refuse arguments and results that would have to grow."""
        borders = (
            ("argument", function.function_type.inputs, sdy.func_argument_shardings),
            ("result", function.function_type.outputs, sdy.func_result_shardings),
        )
        for kind, types, shardings_of in borders:
            pairs = zip(types, shardings_of(function), strict=True)
            for index, (type_, sharding) in enumerate(pairs):
                shape = _shape(type_)
                if self._even(shape, sharding) != shape:
                    raise CompileError(
                        f"{kind} #{index} has a non-divisible sharding. Shardy expects "
                        "function IO to be divisible.",
                        function,
                    )

    def pad(self, op: Operation) -> None:
        """Let one op take what its operands have become.

        Raises:
            UnsupportedError: its results would depend on the surplus.
        """
        match op:
            case sdy.AllSliceOp():
                self._pad_all_slice(op)
            case sdy.AllGatherOp():
                self._pad_all_gather(op)
            case stablehlo.SliceOp():
                self._pad_slice(op)
            case stablehlo.DotGeneralOp():
                self._pad_dot_general(op)
            case stablehlo.PadOp():
                self._pad_pad(op)
            case stablehlo.ReduceOp() if len(op.inputs) == 1:
                self._pad_reduce(op)
            case stablehlo.ConstantOp() | sdy.ConstantOp():
                self._pad_constant(op)
            case stablehlo.ReshapeOp() if self._reshapes_shards(op):
                self._grow(op.result, self._even_result(op.result))
            case stablehlo.DynamicSliceOp() | stablehlo.GatherOp():
                self._pad_by_rule(op)
                op.slice_sizes = dims_attr(self._slice_sizes(op))
            case stablehlo.IotaOp():
                self._grow(op.output, self._even_result(op.output))
            case sdy.AllReduceOp() | sdy.CollectivePermuteOp():
                (operand,) = op.operands
                if operand in self._grown:
                    grown = self._grow(op.results[0], shape_of(operand))
                    self._keep_zero(grown, operand)
            case _ if (edges := _edges(op)) is not None:
                self._pad_along_edges(op, edges)
            case _ if op.has_trait(IsTerminator) and _edges(op.parent_op()) is not None:
                pass  # see `require_returned`
            case _:
                self._pad_by_rule(op)

    def require_returned(self, op: Operation) -> None:
        """Hold what regions return to have grown as the results of their op have.

        Raises:
            UnsupportedError: they have not.
        """
        edges = _edges(op)
        for owner in () if edges is None else edges.edge_owners(op):
            assert edges is not None
            for source in edges.edge_sources(op, owner):
                if source.value.type != owner.type:
                    raise _refusal(op, "a value that is returned in another size")

    def _pad_along_edges(self, op: Operation, edges: DataFlowTrait) -> None:
        """Let a value and what becomes of it in regions grow alike."""
        for owner in edges.edge_owners(op):
            if not isinstance(owner.type, TensorType):
                continue
            sources = edges.edge_sources(op, owner)
            given = [source.value for source in sources if source.op is op]
            shape = shape_of(given[0]) if given else self._even_result(owner)
            for target in (*edges.other_targets(op, owner), owner):
                self._grow(target, shape)

    # Collectives

    def _pad_all_slice(self, op: sdy.AllSliceOp) -> None:
        value = op.tensor
        shape = self._even(shape_of(value), op.out_sharding.data)
        if shape != shape_of(value):
            had_zero = value not in self._grown or value in self._zero
            emitter = Emitter(Block(), op.location)
            filler = emitter.number(0, element_of(value))
            high = [new - old for new, old in zip(shape, shape_of(value), strict=True)]
            padded = emitter.pad(value, filler, [0] * len(high), high)
            sharding = sdy.get_sharding(value)
            if sharding is not None:
                sdy.set_sharding(padded, sharding)
            _insert(emitter, op)
            self._grown[padded] = self._grown.get(value, shape_of(value))
            if had_zero:
                self._zero.add(padded)
            op.operands[0] = padded
            self._keep_zero(self._grow(op.result, shape), padded)
        elif value in self._grown:
            # whose surplus may be zero; jaxlib's pass forgets it here
            self._grow(op.result, shape)

    def _pad_all_gather(self, op: sdy.AllGatherOp) -> None:
        value = op.tensor
        if value not in self._grown:
            return
        original, sharding = shape_of(op.result), op.out_sharding.data
        self._keep_zero(self._grow(op.result, shape_of(value)), value)
        needed = self._even(original, sharding)
        limits = tuple(
            min(now, least) if axes else now
            for now, least, axes in zip(
                shape_of(value), needed, op.gathering_axes.data, strict=True
            )
        )
        if limits == shape_of(value):
            return
        emitter = Emitter(Block(), op.location)
        cut = emitter.slice(op.result, [0] * len(limits), limits)
        sdy.set_sharding(cut, sharding)
        op.result.replace_uses_with_if(cut, lambda use: use.operation is not cut.owner)
        Rewriter.inline_block(emitter.block, InsertPoint.after(op))
        if limits != original:
            self._grown[cut] = original
            self._keep_zero(cut, op.result)

    # StableHLO

    def _pad_slice(self, op: stablehlo.SliceOp) -> None:
        shape = shape_of(op.result)
        wanted = self._even_result(op.result)
        if wanted == shape:
            return  # it takes what was there before, and nothing of the surplus
        starts = op.start_indices.get_values()
        strides = op.strides.get_values()
        limits = [*op.limit_indices.get_values()]
        for dim, (old, new) in enumerate(zip(shape, wanted, strict=True)):
            if old == new:
                continue
            limits[dim] = starts[dim] + new
            if strides[dim] != 1 or limits[dim] > shape_of(op.operand)[dim]:
                raise _refusal(op, f"dimension {dim}, of which it has no more to take")
        op.limit_indices = dims_attr(limits)
        self._grow(op.result, wanted)

    def _pad_dot_general(self, op: stablehlo.DotGeneralOp) -> None:
        dims = op.dot_dimension_numbers.data
        contracted = (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions)
        for index, summed in enumerate(contracted):
            value = op.operands[index]
            zero: int | SSAValue = 0
            if self._newest and value in self._grown and value not in self._zero:
                emitter = Emitter(Block(), op.location)
                zero = emitter.number(0, element_of(value))  # were it not needed
                _insert(emitter, op)
            self._fill(op, index, summed, zero)
        self._pad_by_rule(op, summed=True)

    def _reshapes_shards(self, op: stablehlo.ReshapeOp) -> bool:
        """Whether elements stay in order from a grown operand to a grown result."""
        before = self._grown.get(op.operand)
        if not self._newest or before is None or not prod(before):
            return False
        shapes = before, shape_of(op.result)
        larger = shape_of(op.operand), self._even_result(op.result)
        return all(group.grows(shapes, larger) for group in groups_of(*shapes))

    def _pad_pad(self, op: stablehlo.PadOp) -> None:
        interior = [*op.interior_padding.get_values()]
        shape = shape_of(op.operand)
        before = self._grown.get(op.operand, shape)
        low, high = (
            op.edge_padding_low.get_values(),
            [*op.edge_padding_high.get_values()],
        )
        if self._newest:  # what the result has more is padding, too
            made = [*shape_of(op.result)]
            for dim, wanted in enumerate(self._even_result(op.result)):
                moves = low[dim] or high[dim] or interior[dim]
                if wanted > made[dim] and (moves or before[dim] == shape[dim]):
                    high[dim] += wanted - made[dim]
                    made[dim] = wanted
            op.edge_padding_high = dims_attr(high)
            self._grow(op.result, tuple(made))
        # the surplus lies where padding is to be, so that the result has its size
        covered = [
            dim
            for dim, (old, new) in enumerate(zip(before, shape, strict=True))
            if low[dim] >= 0 and not interior[dim] and high[dim] >= new - old > 0
        ]
        if covered:
            self._fill(op, 0, covered, op.padding_value)
            left = list(before)
            for dim in covered:
                high[dim] -= shape[dim] - before[dim]
                left[dim] = shape[dim]
            op.edge_padding_high = dims_attr(high)
            before = tuple(left)
            self._grown[op.operand] = before
        for dim, (old, new) in enumerate(zip(before, shape, strict=True)):
            if old == new:
                continue
            if low[dim] < 0 or (interior[dim] and old > 1):
                raise _refusal(op, f"dimension {dim} of an operand")
            interior[dim] = 0  # between the elements of which there was one at most
        self._pad_by_rule(op)
        op.interior_padding = dims_attr(interior)

    def _pad_reduce(self, op: stablehlo.ReduceOp) -> None:
        combiner = combiner_of(op.body)
        neutral = None if combiner is None else combiner.neutral
        filler = None if neutral is None else int(neutral)  # C++'s zeros are positive
        if self._newest and combiner is not None:
            (initial,) = op.init_values
            if combiner.is_idempotent or is_constant_number(initial, neutral):
                filler = initial  # which is counted once or more often
        if filler is not None:
            self._fill(op, 0, op.dimensions.get_values(), filler)
        self._pad_by_rule(op, summed=filler is not None)

    def _fill(
        self, user: Operation, index: int, dims: Sequence[int], number: int | SSAValue
    ) -> None:
        """Let an op have an operand with a number in its surplus along dimensions."""
        value = user.operands[index]
        before, shape = self._grown.get(value), shape_of(value)
        if before is None or (number == 0 and value in self._zero):
            return
        emitter = Emitter(Block(), user.location)
        whole: SSAValue | None = None
        for dim in sorted(dims):
            if before[dim] == shape[dim]:
                continue
            count = emitter.iota(shape, dim)
            limit = emitter.broadcast(emitter.number(before[dim], i32), shape)
            inside = emitter.one(
                stablehlo.CompareOp,
                [count, limit],
                TensorType(i1, list(shape)),
                {
                    "comparison_direction": ComparisonDirectionAttr(
                        ComparisonDirection.LT
                    )
                },
            )
            whole = inside if whole is None else emitter.both(whole, inside)
        if whole is None:
            return
        filler = (
            emitter.splat(number, element_of(value), shape)
            if isinstance(number, int)
            else emitter.broadcast(number, shape)
        )
        user.operands[index] = chosen = emitter.select(whole, value, filler)
        sharding = sdy.get_sharding(value)
        if self._newest and sharding is not None:
            for made in emitter.block.ops:
                if shape_of(made.results[0]) == shape:
                    known = sharding.with_unreduced(())
                    sdy.set_sharding(made.results[0], known)
            sdy.set_sharding(chosen, sharding)
        _insert(emitter, user)
        self._grown[chosen] = before

    def _pad_by_rule(self, op: Operation, *, summed: bool = False) -> None:
        """Let results grow along the dimensions that operands have grown along.

        Args:
            op: of StableHLO.
            summed: whether the surplus may be reduced, since it changes nothing.
        """
        wanted = [self._even_result(result) for result in op.results]
        if all(
            shape == shape_of(result)
            for shape, result in zip(wanted, op.results, strict=True)
        ) and not any(operand in self._grown for operand in op.operands):
            return
        rule = self._rules.get(op)
        if rule is None:
            raise _refusal(op, "a value of another size")
        sizes: dict[int, int] = {}
        said: set[int] = set()
        for operand, mapping in zip(op.operands, rule.operands, strict=True):
            shape = shape_of(operand)
            before = self._grown.get(operand, shape)
            for dim, factors in enumerate(mapping):
                said.update(factors)
                if shape[dim] == before[dim]:
                    continue
                (factor, *others) = factors
                passes = rule.is_pass_through(factor) or (
                    summed and factor in rule.reduction
                )
                # a reshape drops dimensions of one element only
                kept = any((factor,) in result for result in rule.results)
                passes &= kept or not isinstance(op, stablehlo.ReshapeOp)
                if others or not passes or rule.factor_sizes[factor] != before[dim]:
                    raise _refusal(op, f"dimension {dim} of an operand")
                if sizes.setdefault(factor, shape[dim]) != shape[dim]:
                    raise _refusal(op, "operands of different sizes")
        if isinstance(op, stablehlo.DynamicUpdateSliceOp):
            updated = {factor for (factor,) in rule.operands[1]}
            if not updated.issuperset(sizes):  # where an index ends would change
                raise _refusal(op, "a dimension of which a part is updated")
        for operand, mapping in zip(op.operands, rule.operands, strict=True):
            for dim, factors in enumerate(mapping):
                size = sizes.get(factors[0]) if len(factors) == 1 else None
                if size not in (None, shape_of(operand)[dim]):
                    raise _refusal(op, "operands of different sizes")
        for result, mapping, shape in zip(
            op.results, rule.results, wanted, strict=True
        ):
            grown = list(shape_of(result))
            for dim, factors in enumerate(mapping):
                begins = not said.intersection(factors) and isinstance(
                    op, stablehlo.BroadcastInDimOp
                )
                if len(factors) == 1 and factors[0] in sizes:
                    grown[dim] = sizes[factors[0]]
                elif begins:
                    grown[dim] = shape[dim]
                if grown[dim] < shape[dim]:
                    raise _refusal(op, f"dimension {dim} of a result")
            self._grow(result, tuple(grown))

    def _slice_sizes(
        self, op: stablehlo.DynamicSliceOp | stablehlo.GatherOp
    ) -> list[int]:
        """Those of an op whose operand has grown: of whole dimensions they are whole."""
        shape = shape_of(op.operand)
        before = self._grown.get(op.operand, shape)
        apart: tuple[int, ...] = ()
        if isinstance(op, stablehlo.GatherOp):
            numbers = op.dimension_numbers.data
            apart = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
        return [
            now if size == old and dim not in apart else size
            for dim, (size, old, now) in enumerate(
                zip(op.slice_sizes.get_values(), before, shape, strict=True)
            )
        ]

    def _pad_constant(self, op: stablehlo.ConstantOp | sdy.ConstantOp) -> None:
        """Let a constant of one number grow, others with zero."""
        before, shape = shape_of(op.results[0]), self._even_result(op.results[0])
        if shape == before:
            return
        grow_constant(op, shape)
        self._grown[op.results[0]] = before

    # Bookkeeping

    def _grow(self, value: SSAValue, shape: Shape) -> SSAValue:
        """The value with another shape, which replaces it."""
        before = shape_of(value)
        if shape == before:
            return value
        larger = TensorType(element_of(value), list(shape))
        new = Rewriter.replace_value_with_new_type(value, larger)
        self._grown[new] = before
        return new

    def _keep_zero(self, value: SSAValue, like: SSAValue) -> None:
        if like in self._zero:
            self._zero.add(value)


def _insert(emitter: Emitter, before: Operation) -> None:
    Rewriter.inline_block(emitter.block, InsertPoint.before(before))


def _shape(type_: Attribute) -> Shape:
    return tuple(type_.get_shape()) if isinstance(type_, ShapedType) else ()


def grow_constant(op: stablehlo.ConstantOp | sdy.ConstantOp, shape: Shape) -> None:
    """Let a constant be larger: of its one number, or with zeros behind.

    Raises:
        UnsupportedError: its elements are not written in it.
    """
    value = splat_of(op.value, shape) or _with_zeros(op.value, shape)
    if value is None:
        raise _refusal(op, "a constant that is kept elsewhere")
    op.properties["value"] = value
    (result,) = op.results
    larger = TensorType(element_of(result), list(shape))
    Rewriter.replace_value_with_new_type(result, larger)


def _with_zeros(value: Attribute, shape: Shape) -> Attribute | None:
    """A constant with zeros behind it; None if its elements are not written in it."""
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    known = cast("DenseIntOrFPElementsAttr[IntegerType]", value)
    type_ = cast("TensorType[IntegerType]", known.type)
    before, data = type_.get_shape(), known.data.data
    elements = np.frombuffer(data, f"V{len(data) // prod(before)}").reshape(before)
    larger = np.zeros(shape, elements.dtype)
    larger[tuple(slice(size) for size in before)] = elements
    made = TensorType(type_.element_type, list(shape), type_.encoding)
    return DenseIntOrFPElementsAttr(made, BytesAttr(larger.tobytes()))


def _refusal(op: Operation, what: str) -> UnsupportedError:
    return UnsupportedError(
        f"cannot pad '{op.name}': {what} would let the surplus into the result, or is "
        "not known to keep it out",
        op,
        hint="Shard its operands and results by what divides them.",
    )


def _edges(op: Operation | None) -> DataFlowTrait | None:
    """The edges along which whole values go, as they do not into manual computations."""
    if op is None or isinstance(op, sdy.ManualComputationOp):
        return None
    return passed_on(op)


def _rule(op: Operation) -> OpShardingRule | None:
    """The rule of an op that grows with its types, before any of them has grown."""
    grows = isinstance(op, _GROW_BY_TYPE)
    return sharding_rule(op) if grows or op.has_trait(Elementwise) else None


@dataclass(frozen=True)
class PadForDivisibilityPass(ModulePass):
    """Pad values until their shardings divide them, between all_slices and all_gathers.

    Arguments and results of functions are not padded.

    Options:
        newest: as jaxlib 0.12 does, say of what fills a surplus that it lies as the value
            does; without, `sdy-convert-global-to-local` refuses it.
    """

    name = "sdy-pad-for-divisibility"

    newest: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: an argument or result of a function is split unevenly.
            UnsupportedError: an op would have to take a padded value that cannot.
        """
        mesh_of = mesh_lookup(op)
        for function in ops_of_type(op, FuncOp):
            ops = all_ops(function)[1:]
            padder = _Padder(
                mesh_of,
                {inner: _rule(inner) for inner in ops},
                newest=self.newest,
            )
            padder.require_even_borders(function)
            for inner in ops:
                padder.pad(inner)
            for inner in ops:
                padder.require_returned(inner)
