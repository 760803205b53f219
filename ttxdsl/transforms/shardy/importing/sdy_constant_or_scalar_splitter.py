"""Give each use of a constant its own copy, so that uses can be sharded differently.

That two ops use the same constant says nothing about how they should be sharded. So
each use of a *constant expression* from outside of it gets a copy of all ops that it
is made from: constants and iotas, and broadcasts, reshapes, slices and elementwise
ops of constant expressions only. A *scalar expansion*, the broadcast of any scalar, is
copied for each of its uses, too. Scalars themselves are not copied: they have no
dimension to shard.
"""

from collections.abc import Iterable, Iterator
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    ModuleOp,
    ShapedType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator, is_side_effect_free

from ttxdsl.analysis.calls.call_graph import (
    callees_first,
    copy_function,
    original_name,
    set_callee,
)
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.sdy import NamedComputationOp, ShardingGroupOp
from ttxdsl.ir.traversal import enclosing
from ttxdsl.transforms.shardy.propagation.op_properties import is_elementwise


def _is_scalar(value: SSAValue) -> bool:
    return isinstance(value.type, ShapedType) and not value.type.get_shape()


def is_scalar_expansion(op: Operation) -> bool:
    """Whether the op broadcasts a scalar."""
    return isinstance(op, stablehlo.BroadcastInDimOp) and _is_scalar(op.operand)


def use_sdy_constants(module: ModuleOp) -> None:
    """Replace each `stablehlo.constant` by an `sdy.constant`, which nothing merges.

    Quantized ones stay: the sdy op has the type of its value.
    """
    for op in list(module.walk()):
        if not isinstance(op, stablehlo.ConstantOp):
            continue
        value = cast("DenseIntOrFPElementsAttr | DenseResourceAttr", op.value)
        if value.get_type() == op.output.type:  # not so for quantized constants
            constant = sdy.ConstantOp(value)
            constant.attributes = dict(op.attributes)
            constant.location = op.location
            constant.output.name_hint = op.output.name_hint
            Rewriter.replace_op(op, constant)


def _without_named_bodies(region: Region) -> Iterator[Operation]:
    """The ops of a region, outer before inner, but not those in named computations."""
    for block in region.blocks:
        for op in block.ops:
            yield op
            if not isinstance(op, NamedComputationOp):
                for inner in op.regions:
                    yield from _without_named_bodies(inner)


class Splitter:
    """Splits constants in the functions of a module, callees before callers.

    A call or a named computation of constants is a constant expression itself if all
    ops in it keep constants constant; what was learnt of callees tells.
    """

    def __init__(self, module: ModuleOp):
        self.symbols = Symbols(module)
        self._impure_functions: set[str] = set()
        self._impure_computations: set[str] = set()

    def split_in(self, function: FuncOp) -> None:
        """Split constants in a function, each named computation for itself."""
        named = [
            op
            for op in function.walk(region_first=True)
            if isinstance(op, NamedComputationOp)
        ]
        for computation in named:
            _RegionSplitter(self, function, computation).split(computation.body)
        _RegionSplitter(self, function, None).split(function.body)

    def keeps_constant(self, op: Operation) -> bool:
        """Whether the results are constant when the operands are."""
        match op:
            case CallOp():
                callee = self.symbols.callee(op)
                return (
                    not callee.is_declaration
                    and original_name(callee) not in self._impure_functions
                )
            case NamedComputationOp():
                return op.computation_name.data not in self._impure_computations
            case (
                stablehlo.BroadcastInDimOp()
                | stablehlo.ReshapeOp()
                | stablehlo.SliceOp()
            ):
                return True
            case _:
                return is_elementwise(op) and is_side_effect_free(op)

    def found_impure(
        self, op: Operation, function: FuncOp, computation: NamedComputationOp | None
    ) -> None:
        """Note that the ops around `op` compute more than constants."""
        self._impure_functions.add(original_name(function))
        if (parent := enclosing(op, NamedComputationOp)) is not None:
            self._impure_computations.add(parent.computation_name.data)


class _RegionSplitter:
    """Splits the constants of one region."""

    def __init__(
        self,
        splitter: Splitter,
        function: FuncOp,
        computation: NamedComputationOp | None,
    ):
        self._splitter = splitter
        self._function = function
        self._computation = computation
        self._constants: dict[Operation, None] = {}
        self._expansions: dict[Operation, None] = {}

    def split(self, region: Region) -> None:
        """Copy constant expressions for their uses, and erase the originals."""
        for op in list(_without_named_bodies(region)):
            self._process(op)
        _erase_unused(self._expansions)
        _erase_unused(reversed(self._constants))

    def _process(self, op: Operation) -> None:
        if isinstance(op, ShardingGroupOp):
            return
        if isinstance(op, sdy.ConstantOp | stablehlo.ConstantOp | stablehlo.IotaOp):
            self._constants[op] = None
            return
        if self._splitter.keeps_constant(op):
            if all(operand.owner in self._constants for operand in op.operands):
                self._constants[op] = None
                return
        elif not op.has_trait(IsTerminator, value_if_unregistered=False):
            self._splitter.found_impure(op, self._function, self._computation)
        if is_scalar_expansion(op):
            self._expansions[op] = None
            return
        for index, operand in enumerate(op.operands):
            if operand.owner in self._constants or operand.owner in self._expansions:
                assert isinstance(operand, OpResult)
                op.operands[index] = self._copied(operand, {})

    def _copied(self, value: OpResult, copies: dict[SSAValue, SSAValue]) -> SSAValue:
        """A copy of a value and, with `copies`, of all it is made from; not of scalars.

        Each op's copy goes right before it, so that it can be used wherever it could.
        """
        if _is_scalar(value):
            return value
        # an explicit stack: chains of constant ops may be long
        pending: list[tuple[OpResult, bool]] = [(value, False)]
        while pending:
            current, operands_done = pending.pop()
            if current in copies or _is_scalar(current):
                continue
            if operands_done:
                self._copy_op(current, copies)
                continue
            pending.append((current, True))
            pending.extend(
                (operand, False)
                for operand in reversed(current.op.operands)
                if isinstance(operand, OpResult)
            )
        return copies[value]

    def _copy_op(self, value: OpResult, copies: dict[SSAValue, SSAValue]) -> None:
        op = value.op
        groups = [
            use.operation
            for use in value.uses
            if isinstance(use.operation, ShardingGroupOp)
        ]
        copy = op.clone(copies)
        Rewriter.insert_op(copy, InsertPoint.before(op))
        if isinstance(copy, CallOp):
            symbols = self._splitter.symbols
            set_callee(copy, copy_function(symbols.callee(copy), symbols))
        for group in groups:
            Rewriter.insert_op(group.clone(copies), InsertPoint.before(op))


def _erase_unused(ops: Iterable[Operation]) -> None:
    """Erase the ops that only sharding groups use, and those uses."""
    for op in ops:
        users = {use.operation for result in op.results for use in result.uses}
        if all(isinstance(user, ShardingGroupOp) for user in users):
            for user in users:
                Rewriter.erase_op(user)
            Rewriter.erase_op(op)


class ConstantOrScalarSplitterPass(ModulePass):
    """Copy constant expressions and scalar expansions, so that each has one use.

    Constants become `sdy.constant`s.

    Source: Shardy's sdy-constant-or-scalar-splitter.
    """

    name = "sdy-constant-or-scalar-splitter"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: if a function calls itself.
        """
        use_sdy_constants(op)
        splitter = Splitter(op)
        for function in callees_first(op):
            splitter.split_in(function)
