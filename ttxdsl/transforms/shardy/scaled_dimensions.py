"""Dimensions of another size: rewritten wherever values have them.

Sharding rules say which dimensions of an op belong together, data flow edges what loops
hand on; types, and the sizes that slices and windows are written with, follow. What counts
on the old size (a concatenation along the dimension, a slice of a part) is an error, so that
a rewritten program is the one that would have been traced with the other size, but for
constants (the mean's divisor), which cost nothing, and the insides of Pallas kernels, which
are taken to do as much more as there is.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.kernels import is_kernel, scale_estimate
from ttxdsl.dialects.stablehlo._syntax import i64_array
from ttxdsl.dialects.traits import Collective
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.rules.supplement import supplementary_rule
from ttxdsl.sharding.axes import total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.partition.ops.creation import splat_of

Dim = tuple[SSAValue, int]
"""One dimension of one value."""

_NEW = -1
"""The dimension in front that a value has not, as a reshape dropped its batch of one."""


class ScaledDimensions:
    """The dimensions that get other sizes.

    Args:
        called: the name of the dimensions in errors.
        meshes: the program's mesh and what it becomes, on which shards have other sizes.
    """

    def __init__(
        self, called: str = "the batch", meshes: tuple[Mesh, Mesh] | None = None
    ):
        self._called, self._meshes = called, meshes
        self.dims: dict[Dim, Fraction] = {}
        """The new size of each by the old."""
        self._factors: dict[tuple[Operation, Fraction], set[int]] = {}
        self._rules: dict[Operation, OpShardingRule | None] = {}
        self._pending: list[Dim] = []

    def add(self, dim: Dim, scale: Fraction, where: Operation) -> None:
        """Let a dimension get so many times its size.

        Raises:
            CompileError: its size would be no whole number, or two.
        """
        value, at = dim
        if (known := self.dims.get(dim)) is not None:
            if known != scale:
                raise CompileError(f"{self._called} would get two sizes", where)
            return
        size = 1 if at == _NEW else shape_of(value)[at]
        if (size * scale).denominator > 1:
            raise CompileError(
                f"{size} of {self._called} cannot be taken times {scale}", where
            )
        self.dims[dim] = scale
        self._pending.append(dim)

    def _tie(self, other: Dim, dim: Dim, where: Operation) -> None:
        """Scale a dimension as another is."""
        self.add(other, self.dims[dim], where)

    def follow(self) -> None:
        """Add what the dimensions so far belong together with."""
        while self._pending:
            dim = self._pending.pop()
            value, _ = dim
            owner = value.owner
            maker = owner if isinstance(owner, Operation) else owner.parent_op()
            for op in dict.fromkeys((maker, *(use.operation for use in value.uses))):
                if op is not None and not isinstance(op, FuncOp | ModuleOp):
                    self._through(op, dim)

    def _through(self, op: Operation, dim: Dim) -> None:
        if is_kernel(op):
            self._through_kernel(op, dim)
            return
        if isinstance(op, stablehlo.ReshapeOp) and self._through_reshape(op, dim):
            return
        if (
            dim[1] == _NEW
            and isinstance(op, stablehlo.BroadcastInDimOp)
            and shape_of(op.result) == (1, *shape_of(op.operand))
        ):
            self._tie((op.result, 0), dim, op)
            return
        if dim[1] == _NEW:
            raise CompileError(f"{op.name} has no {self._called} of one", op)
        if op.has_trait(IsTerminator):
            parent = op.parent_op()
            if parent is not None and not isinstance(parent, FuncOp):
                self._through(parent, dim)
            return
        if isinstance(op, sdy.ManualComputationOp):
            self._through_manual(op, dim)
            return
        if data_flow_of(type(op)) is not None:
            self._along(op, dim)
            return
        if op.has_trait(Collective):
            self._through_collective(op, dim)
            return
        if op not in self._rules:
            self._rules[op] = sharding_rule(op) or supplementary_rule(op)
        rule = self._rules[op]
        if rule is not None:
            self._by_rule(op, rule, dim)
        elif isinstance(op, stablehlo.ConstantOp | stablehlo.IotaOp):
            return  # `_resized` says whether a constant can be; an iota counts further
        elif not op.regions or dim[0] in (*op.operands, *op.results):
            raise CompileError(
                f"how {op.name} goes on with {self._called} is not known", op
            )

    def add_shards(self, op: sdy.ManualComputationOp) -> None:
        """Let shards get the sizes that they have on the other mesh.

        Where a shard cannot be smaller the whole grows, as a table of one entry a device.
        """
        for whole, shard, at, scale in self._shards(op):
            if scale == 1:
                continue
            if (shape_of(shard)[at] * scale).denominator == 1:
                self.add((shard, at), scale, op)
            else:
                self.add((whole, at), 1 / scale, op)

    def _shards(
        self, op: sdy.ManualComputationOp
    ) -> Iterator[tuple[SSAValue, SSAValue, int, Fraction]]:
        """Yield wholes and shards, by dimension, with what the meshes do to the shard's size."""
        block, manual = op.body.block, set(op.manual_axes.data)
        assert block.last_op is not None
        wholes = (*op.operands, *op.results)
        shards = (*block.args, *block.last_op.operands)
        shardings = (*op.in_shardings.data, *op.out_shardings.data)
        for whole, shard, sharding in zip(wholes, shards, shardings, strict=True):
            for at, dim in enumerate(sharding.dims):
                axes = tuple(axis for axis in dim.axes if axis.name in manual)
                sizes = [total_size(axes, mesh) for mesh in self._meshes or ()]
                yield whole, shard, at, Fraction(*sizes) if sizes else Fraction(1)

    def _through_manual(self, op: sdy.ManualComputationOp, dim: Dim) -> None:
        for whole, shard, at, scale in self._shards(op):
            if (whole, at) == dim:
                self._add_other((shard, at), self.dims[dim] * scale, op)
            if (shard, at) == dim:
                self._add_other((whole, at), self.dims[dim] / scale, op)

    def _add_other(self, dim: Dim, scale: Fraction, where: Operation) -> None:
        if scale != 1 or dim in self.dims:
            self.add(dim, scale, where)

    def _through_kernel(self, op: stablehlo.CustomCallOp, dim: Dim) -> None:
        """Let results grow where a kernel's floating-point operand does.

        Batches and heads lie at the same place in both.
        """
        value, at = dim
        if value not in op.operands or not isinstance(element_of(value), AnyFloat):
            return
        for result in op.results:
            shape = shape_of(result)
            if at == _NEW or shape[at : at + 1] == shape_of(value)[at : at + 1]:
                self._tie((result, at), dim, op)

    def _through_reshape(self, op: stablehlo.ReshapeOp, dim: Dim) -> bool:
        """Drop a batch of one in front, or give it back; False of other reshapes.

        Pallas does so around a kernel that has no batch then.

        Raises:
            CompileError: a dimension of one is dropped elsewhere, where nobody can tell
                whether it would be one of several, or a part of the next.
        """
        value, at = dim
        other = op.result if value is op.operand else op.operand
        shape, reshaped = shape_of(value), shape_of(other)
        if at == _NEW and reshaped == (1, *shape):
            self._tie((other, 0), dim, op)
            return True
        if at == 0 and reshaped == (1, *shape) and (other, 0) in self.dims:
            return True  # it is longer for that
        if at == _NEW or shape[at] != 1:
            return False
        if reshaped[: at + 1] == shape[: at + 1]:
            self._tie((other, at), dim, op)
            return True
        if at or shape[1:] != reshaped or not _is_of_kernels(other):
            raise CompileError(f"{op.name} drops {self._called} of one", op)
        # tables that a shard keeps for the backward kernel become longer
        is_kept = any(use.operation.has_trait(IsTerminator) for use in other.uses)
        self._tie((other, 0 if is_kept else _NEW), dim, op)
        return True

    def _through_collective(self, op: Operation, dim: Dim) -> None:
        for pair in zip(op.operands, op.results, strict=False):
            if dim[0] not in pair:
                continue
            if len({shape_of(value)[dim[1]] for value in pair}) > 1:
                raise CompileError(
                    f"{op.name} works along {self._called}, whose size changes", op
                )
            for value in pair:
                self._tie((value, dim[1]), dim, op)

    def _along(self, op: Operation, dim: Dim) -> None:
        """Values on one edge have one shape."""
        flow = data_flow_of(type(op))
        for owner in flow.edge_owners(op) if flow is not None else ():
            assert flow is not None
            sources = [source.value for source in flow.edge_sources(op, owner)]
            edge = [owner, *sources, *flow.other_targets(op, owner)]
            if any(value is dim[0] for value in edge):
                for value in edge:
                    self._tie((value, dim[1]), dim, op)

    def _by_rule(self, op: Operation, rule: OpShardingRule, dim: Dim) -> None:
        values = (*op.operands, *op.results)
        grown = self._factors.setdefault((op, self.dims[dim]), set())
        for value, mapping in zip(values, rule.tensors, strict=True):
            if value is not dim[0]:
                continue
            factors = mapping[dim[1]]
            if not factors:
                raise CompileError(
                    f"{op.name} counts on the size of {self._called} that it has", op
                )
            if grown.isdisjoint(factors):
                grown.add(factors[0])
        stiff = {*rule.permutation, *rule.need_replication, *rule.blocked}
        if not grown.isdisjoint(stiff) and not isinstance(op, stablehlo.SortOp):
            raise CompileError(
                f"{op.name} works along {self._called}, whose size changes", op
            )
        for value, mapping in zip(values, rule.tensors, strict=True):
            for at, factors in enumerate(mapping):
                if len(grown.intersection(factors)) > 1:
                    raise CompileError(f"{op.name} meets {self._called} twice", op)
                if not grown.isdisjoint(factors):
                    self._tie((value, at), dim, op)

    # --- writing it down ----------------------------------------------------

    def rewrite(self, function: FuncOp) -> None:
        """Give values, and what ops are written with, their new sizes.

        Raises:
            CompileError: an op counts on a size, as one that drops a batch of one.
        """
        shapes: dict[SSAValue, list[int]] = {}
        for (value, at), scale in sorted(self.dims.items(), key=lambda dim: -dim[0][1]):
            size = shapes.setdefault(value, list(shape_of(value)))
            if at == _NEW:  # after the others
                size.insert(0, int(scale))
            else:
                size[at] = int(size[at] * scale)
        for op in list(all_ops(function)):
            self._resize(op, shapes)
        for value, shape in shapes.items():
            Rewriter.replace_value_with_new_type(
                value, TensorType(element_of(value), shape, tensor_type(value).encoding)
            )
        last = function.body.block.last_op
        function.function_type = FunctionType.from_lists(
            [argument.type for argument in function.body.block.args],
            [value.type for value in last.operands] if last is not None else [],
        )
        try:
            function.verify()
        except VerifyException as error:
            raise CompileError(
                f"an op counts on the size of {self._called} that it has: {error}",
                function,
            ) from error

    def _resize(self, op: Operation, shapes: dict[SSAValue, list[int]]) -> None:
        match op:
            case stablehlo.ConstantOp() if op.results[0] in shapes:
                value = _resized(op.value, shapes[op.results[0]])
                if value is None:
                    raise CompileError(
                        f"a constant has as many elements as {self._called}", op
                    )
                op.properties["value"] = value
            case stablehlo.SliceOp() if op.operand in shapes:
                limits = list(op.limit_indices.get_values())
                for at, size in self._whole(op, op.operand, limits):
                    limits[at] = size
                op.limit_indices = i64_array(limits)
            case stablehlo.DynamicSliceOp() if op.operand in shapes:
                sizes = list(op.slice_sizes.get_values())
                for at, size in self._whole(op, op.operand, sizes):
                    sizes[at] = size
                op.slice_sizes = i64_array(sizes)
            case stablehlo.GatherOp() if op.operand in shapes:
                sizes = list(op.slice_sizes.get_values())
                for at, size in self._grown(op.operand):
                    if sizes[at] == shape_of(op.operand)[at]:
                        sizes[at] = size
                op.slice_sizes = i64_array(sizes)
            case stablehlo.BroadcastInDimOp() if (op.operand, _NEW) in self.dims:
                op.broadcast_dimensions = i64_array(range(len(shape_of(op.result))))
            case stablehlo.CustomCallOp() if is_kernel(op):
                scales = (self.dims.get(dim, Fraction(1)) for dim in _queries(op))
                scale_estimate(op, prod(scales, start=Fraction(1)))
                self._add_to_layouts(op)
            case _:
                pass

    def _add_to_layouts(self, op: stablehlo.CustomCallOp) -> None:
        """Let a new dimension in front be the major one."""
        for name, values in (
            ("operand_layouts", op.operands),
            ("result_layouts", op.results),
        ):
            layouts = op.properties.get(name)
            if not isinstance(layouts, ArrayAttr):
                continue
            new: list[Attribute] = []
            pairs = zip(cast("ArrayAttr[Attribute]", layouts), values, strict=True)
            for layout, value in pairs:
                if (value, _NEW) in self.dims:
                    rank = len(shape_of(value))
                    dims = [*(dim + 1 for dim in range(rank - 1, -1, -1)), 0]
                    type_ = TensorType(IndexType(), [rank + 1])
                    layout = DenseIntOrFPElementsAttr.from_list(type_, dims)
                new.append(layout)
            op.properties[name] = ArrayAttr(new)

    def _grown(self, value: SSAValue) -> Iterator[tuple[int, int]]:
        for at, size in enumerate(shape_of(value)):
            if (scale := self.dims.get((value, at))) is not None:
                yield at, int(size * scale)

    def _whole(
        self, op: Operation, value: SSAValue, ends: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        for at, size in self._grown(value):
            if ends[at] != shape_of(value)[at]:
                raise CompileError(f"{op.name} takes a part of {self._called}", op)
            yield at, size


def _queries(op: Operation) -> list[Dim]:
    """Return the dimensions of an op's first floating-point operand."""
    for value in op.operands:
        if isinstance(element_of(value), AnyFloat):
            return [(value, at) for at in range(_NEW, len(shape_of(value)))]
    return []


def _is_of_kernels(value: SSAValue) -> bool:
    """Return True if a kernel makes a value, or only kernels read it.

    Integers may be returned, too: a kernel gets them in another computation.
    """
    ops = [
        use.operation
        for use in value.uses
        if isinstance(element_of(value), AnyFloat)
        or not use.operation.has_trait(IsTerminator)
    ]
    if isinstance(owner := value.owner, Operation) and not isinstance(
        owner, stablehlo.ReshapeOp
    ):
        ops = [owner]
    return all(map(is_kernel, ops))


def _resized(value: Attribute, shape: Sequence[int]) -> Attribute | None:
    """Return a constant of another shape; None if it differs along what changes size."""
    if (splat := splat_of(value, tuple(shape))) is not None:
        return splat
    if not isinstance(value, DenseIntOrFPElementsAttr) or 0 in (*shape,):
        return None
    value = cast("DenseIntOrFPElementsAttr[AnyDenseElement]", value)
    old, data = value.get_shape(), value.data.data
    item = len(data) // prod(old)
    for at in range(len(shape) - 1, -1, -1):
        if old[at] == shape[at]:
            continue
        # along the dimension all slices have to be the same
        row = item * prod(shape[at + 1 :])
        blocks = [
            data[start : start + row * old[at]]
            for start in range(0, len(data), row * old[at])
        ]
        if any(block != block[:row] * old[at] for block in blocks):
            return None
        data = b"".join(block[:row] * shape[at] for block in blocks)
    element = cast(Attribute, value.get_element_type())
    type_ = TensorType(element, shape)
    return DenseIntOrFPElementsAttr.new([type_, BytesAttr(data)])
