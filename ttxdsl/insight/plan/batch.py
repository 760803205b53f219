"""The same program with another batch: its dimension rewritten wherever it goes.

Sharding rules say which
dimensions of an op belong together, data flow edges what loops hand on; types, and the sizes
that slices and windows are written with, follow. What counts on the old size (a
concatenation along the batch, a slice of a part) is an error, so a rewritten program is the
one that would have been exported with the other batch, but for constants (the mean's
divisor), which cost nothing.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from xdsl.dialects.builtin import (
    FunctionType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ttxdsl.analysis.batching.batch import find_batch
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.stablehlo._syntax import i64_array
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.tensors import element_of, shape_of, tensor_type
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.rules.supplement import supplementary_rule
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.partition.ops.creation import splat_of
from ttxdsl.transforms.stages.inline import InlinePass

Dim = tuple[SSAValue, int]


def batch_dims(function: FuncOp) -> dict[int, int]:
    """Return the dimension of each argument that is its batch.

    Dimension 0 of the arguments that are no state; of several sizes the one with the most
    arguments counts. Without state, what devices could share without talking.
    """
    state = results_of_arguments(function)
    sizes: dict[int, list[int]] = {}
    for index, argument in enumerate(function.body.block.args):
        if index not in state and len(shape := shape_of(argument)) > 1:
            sizes.setdefault(shape[0], []).append(index)
    if state and sizes:
        return dict.fromkeys(max(sizes.values(), key=len), 0)
    batch = find_batch(function, 2)
    return dict(batch.dims) if batch is not None else {}


def scale_batch(module: ModuleOp, factor: Fraction) -> ModuleOp:
    """Return a copy of a global program with its batch times a factor; calls are inlined.

    Raises:
        CompileError: no argument is a batch, or an op counts on the size that it has.
    """
    changed = module.clone()
    InlinePass().apply(make_context(), changed)
    function = entry_function(changed)
    dims = batch_dims(function)
    if not dims:
        raise CompileError("no dimension of an argument is a batch", function)
    batch = _Batch(factor)
    for index, dim in dims.items():
        batch.add((function.body.block.args[index], dim), function)
    batch.follow()
    for index in results_of_arguments(function):
        if any(value is function.body.block.args[index] for value, _ in batch.dims):
            raise CompileError(
                f"the batch is a dimension of argument {index}, which is state",
                function,
            )
    batch.rewrite(function)
    try:
        changed.verify()
    except VerifyException as error:  # what drops a batch of one, say
        raise CompileError(
            f"an op counts on the size of the batch that it has: {error}", function
        ) from error
    return changed


class _Batch:
    """The dimensions that grow with the batch."""

    def __init__(self, factor: Fraction):
        self._factor = factor
        self.dims: dict[Dim, None] = {}
        self._factors: dict[Operation, set[int]] = {}
        self._rules: dict[Operation, OpShardingRule | None] = {}
        self._pending: list[Dim] = []

    def add(self, dim: Dim, where: Operation) -> None:
        """Let a dimension grow.

        Raises:
            CompileError: its size would be no whole number.
        """
        if dim in self.dims:
            return
        value, at = dim
        if (shape_of(value)[at] * self._factor).denominator > 1:
            raise CompileError(
                f"{shape_of(value)[at]} of the batch cannot be taken times {self._factor}",
                where,
            )
        self.dims[dim] = None
        self._pending.append(dim)

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
        if op.has_trait(IsTerminator):
            parent = op.parent_op()
            if parent is not None and not isinstance(parent, FuncOp):
                self._along(parent, dim)
            return
        if data_flow_of(type(op)) is not None:
            self._along(op, dim)
            return
        if op not in self._rules:
            self._rules[op] = sharding_rule(op) or supplementary_rule(op)
        rule = self._rules[op]
        if rule is None:
            if not op.regions or dim[0] in (*op.operands, *op.results):
                raise CompileError(
                    f"how {op.name} goes on with the batch is not known", op
                )
            return
        self._by_rule(op, rule, dim)

    def _along(self, op: Operation, dim: Dim) -> None:
        """Values on one edge have one shape."""
        flow = data_flow_of(type(op))
        for owner in flow.edge_owners(op) if flow is not None else ():
            assert flow is not None
            sources = [source.value for source in flow.edge_sources(op, owner)]
            edge = [owner, *sources, *flow.other_targets(op, owner)]
            if any(value is dim[0] for value in edge):
                for value in edge:
                    self.add((value, dim[1]), op)

    def _by_rule(self, op: Operation, rule: OpShardingRule, dim: Dim) -> None:
        values = (*op.operands, *op.results)
        grown = self._factors.setdefault(op, set())
        for value, mapping in zip(values, rule.tensors, strict=True):
            if value is not dim[0]:
                continue
            factors = mapping[dim[1]]
            if not factors:
                raise CompileError(
                    f"{op.name} counts on the size of the batch that it has", op
                )
            if grown.isdisjoint(factors):
                grown.add(factors[0])
        stiff = {*rule.permutation, *rule.need_replication, *rule.blocked}
        if not grown.isdisjoint(stiff) and not isinstance(op, stablehlo.SortOp):
            raise CompileError(f"{op.name} works along the batch", op)
        for value, mapping in zip(values, rule.tensors, strict=True):
            for at, factors in enumerate(mapping):
                if len(grown.intersection(factors)) > 1:
                    raise CompileError(f"{op.name} meets the batch twice", op)
                if not grown.isdisjoint(factors):
                    self.add((value, at), op)

    # --- writing it down ----------------------------------------------------

    def rewrite(self, function: FuncOp) -> None:
        """Give values, and what ops are written with, their new sizes."""
        shapes: dict[SSAValue, list[int]] = {}
        for value, at in self.dims:
            size = shapes.setdefault(value, list(shape_of(value)))
            size[at] = int(size[at] * self._factor)
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

    def _resize(self, op: Operation, shapes: dict[SSAValue, list[int]]) -> None:
        match op:
            case stablehlo.ConstantOp() if op.results[0] in shapes:
                value = splat_of(op.value, tuple(shapes[op.results[0]]))
                if value is None:
                    raise CompileError(
                        "a constant has as many elements as the batch", op
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
            case _:
                pass

    def _grown(self, value: SSAValue) -> Iterator[tuple[int, int]]:
        for at, size in enumerate(shape_of(value)):
            if (value, at) in self.dims:
                yield at, int(size * self._factor)

    def _whole(
        self, op: Operation, value: SSAValue, ends: Sequence[int]
    ) -> Iterator[tuple[int, int]]:
        for at, size in self._grown(value):
            if ends[at] != shape_of(value)[at]:
                raise CompileError(f"{op.name} takes a part of the batch", op)
            yield at, size
