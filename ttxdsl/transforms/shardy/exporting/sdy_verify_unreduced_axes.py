"""Refuse ops that gain or lose unreduced axes although they do not combine anything.

Only reshards and constraints may change them at will; other ops may introduce them, dots
those of sums and reductions those of their own body, and all-reduces remove them. What
functions and computations return, and calls pass, must be unreduced as its receiver says.

Source: Shardy's `sdy-verify-unreduced-axes`, which jaxlib has after 0.10.
"""

from collections.abc import Collection, Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import all_ops_inside_out
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.manual import without_manual_axes
from ttxdsl.sharding.spec import ReductionKind, TensorSharding

_BODIES: dict[type[object], ReductionKind] = {
    stablehlo.AddOp: ReductionKind.SUM,
    stablehlo.MaxOp: ReductionKind.MAX,
    stablehlo.MinOp: ReductionKind.MIN,
}

_CHANGING = sdy.ReshardOp | sdy.ShardingConstraintOp
"""May change unreduced axes in any way that their own verifiers allow."""


def _sharding(value: SSAValue) -> TensorSharding | None:
    return sdy.get_sharding(sdy.behind_barriers(value))


def _changed(value: SSAValue) -> bool:
    """Whether an op that changes shardings, such as a reshard, defines the value."""
    return isinstance(sdy.behind_barriers(value).owner, _CHANGING)


def _operands(values: Iterable[SSAValue]) -> list[TensorSharding | None]:
    return [None if _changed(value) else _sharding(value) for value in values]


def _reductions_of(body: Region) -> tuple[ReductionKind, ...]:
    """Return the reductions of a body's returned values; none if they differ."""
    block = body.blocks.first
    end = None if block is None else block.last_op
    if not isinstance(end, stablehlo.ReturnOp):
        return ()
    reductions = {_BODIES.get(type(value.owner)) for value in end.operands}
    return (
        tuple(reduction for reduction in reductions if reduction)
        if len(reductions) == 1
        else ()
    )


def _unreduced(sharding: TensorSharding | None) -> Axes:
    return sharding.unreduced if sharding else ()


def _expect_equal(op: Operation, given: Axes, wanted: Axes, where: str) -> None:
    differing = sorted({axis.name for axis in {*given} ^ {*wanted}})
    if differing:
        raise CompileError(
            f"has unreduced axes mismatch for '{', '.join(differing)}' {where}", op
        )


class _Verifier:
    def __init__(self, module: ModuleOp):
        self.functions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)
        }

    def visit(self, op: Operation) -> None:
        match op:
            case sdy.ReshardOp() | sdy.ShardingConstraintOp():
                return  # as the dialect says
            case sdy.AllReduceOp() | sdy.ReduceScatterOp():
                if _sharding(op.tensor) is None:
                    raise CompileError("operand must be sharded.", op)
            case stablehlo.ReduceOp():
                given = _operands(op.inputs)
                self.transition(op, given, introduced=_reductions_of(op.body))
            case stablehlo.AllReduceOp() | stablehlo.ReduceScatterOp():
                given = [_sharding(op.operands[0])]
                self.transition(op, given, removed=_reductions_of(op.regions[0]))
            case stablehlo.DotOp() | stablehlo.DotGeneralOp():
                self.transition(op, _operands(op.operands), (ReductionKind.SUM,))
            case CallOp():
                self.call(op)
            case _ if op.has_trait(IsTerminator, value_if_unregistered=False):
                self.end(op)
            case _:
                self.transition(op, _operands(op.operands), ReductionKind)

    def transition(
        self,
        op: Operation,
        given: Sequence[TensorSharding | None],
        introduced: Collection[ReductionKind] = (),
        removed: Collection[ReductionKind] = (),
    ) -> None:
        shardings = [_sharding(result) for result in op.results]
        try:
            sdy.verify_transition(op, given, shardings, introduced, removed)
        except VerifyException as error:
            raise CompileError(str(error), op) from error

    def call(self, op: CallOp) -> None:
        """Check that operands and results are unreduced as in the callee."""
        callee = self.functions.get(op.callee.string_value())
        if callee is None:
            return
        expected = sdy.func_argument_shardings(callee)
        for at, (value, sharding) in enumerate(zip(op.operands, expected, strict=True)):
            if not _changed(value):
                given = _unreduced(_sharding(value))
                where = f"at call argument {at}."
                _expect_equal(op, given, _unreduced(sharding), where)
        for at, (value, sharding) in enumerate(
            zip(op.results, sdy.func_result_shardings(callee), strict=True)
        ):
            unreduced = _unreduced(_sharding(value))
            _expect_equal(op, _unreduced(sharding), unreduced, f"at call result {at}.")

    def end(self, op: Operation) -> None:
        """Check that returned values are unreduced as the results around the body."""
        parent = op.parent_op()
        wanted: Sequence[TensorSharding | None] = ()
        if isinstance(parent, FuncOp):
            wanted = sdy.func_result_shardings(parent)
        elif isinstance(op, sdy.ReturnOp) and parent is not None:
            wanted = [_sharding(result) for result in parent.results]
        if isinstance(parent, sdy.ManualComputationOp):
            manual = parent.manual_axes.data
            wanted = [entry and without_manual_axes(entry, manual) for entry in wanted]
        for at, (value, sharding) in enumerate(zip(op.operands, wanted, strict=False)):
            if sharding is not None and not _changed(value):
                given = _unreduced(_sharding(value))
                where = (
                    f"at return value {at} without a blessed operation (e.g., "
                    "sdy.reshard). This is an invalid transition from unreduced to "
                    "reduced."
                )
                _expect_equal(op, given, sharding.unreduced, where)


def verify_unreduced_axes(module: ModuleOp) -> None:
    """Check all functions of a module.

    Raises:
        CompileError: the first op that gains or loses unreduced axes as it may not.
    """
    verifier = _Verifier(module)
    for func in verifier.functions.values():
        for op in all_ops_inside_out(func):
            if op is not func:
                verifier.visit(op)


class VerifyUnreducedAxesPass(ModulePass):
    """Refuses ops that gain or lose unreduced axes as they may not; see the module."""

    name = "sdy-verify-unreduced-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Check the module without changing it."""
        verify_unreduced_axes(op)
