"""Give tensors the shardings that constraints and manual computations ask for.

A constraint applies to its input itself, not only to the uses behind it, when the
input has no sharding yet, nothing asks for another one, and the constraint is closed
in all dimensions (an open one says too little to be the tensor's own sharding).

Two refinements, both Shardy's:

- An input on a data flow edge (of a loop, for example) shares its sharding with the
  edge's other values, which the constraint does not speak for. There the constraint
  moves directly behind the input and takes over all its uses.
- In a chain of constraints `a -> b -> c` on a tensor nothing else constrains, later
  uses of the tensor mean the end of the chain, and are made to use it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.ir.rewriting import point_behind
from ttxdsl.ir.traversal import ops_of_type_inside_out
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.step import PropagationDirection, StepSignature, Strategy
from ttxdsl.transforms.shardy.propagation.history import History


def _asks_for_another(value: SSAValue, sharding: TensorSharding) -> bool:
    """Whether a constraint or manual computation wants `value` sharded differently."""
    for use in value.uses:
        match use.operation:
            case sdy.ShardingConstraintOp() as constraint:
                wanted = constraint.sharding.data
            case sdy.ManualComputationOp() as computation:
                wanted = computation.in_shardings.data[use.index]
            case _:
                continue
        if wanted != sharding:
            return True
    return False


def _is_constrained(value: SSAValue, besides: Operation | None = None) -> bool:
    """Whether a constraint or manual computation uses `value`, other than `besides`."""
    return any(
        use.operation is not besides
        and isinstance(
            use.operation, sdy.ShardingConstraintOp | sdy.ManualComputationOp
        )
        for use in value.uses
    )


def should_apply(value: SSAValue, sharding: TensorSharding) -> bool:
    """Whether a constraint's sharding becomes that of its input `value`."""
    return (
        sharding.is_fully_closed
        and sdy.shardable_value(value) is not None
        and sdy.get_sharding(value) is None
        and not _asks_for_another(value, sharding)
    )


def _on_data_flow_edge(value: SSAValue) -> bool:
    return (
        isinstance(value.owner, sdy.DataFlowEdgeOp)
        or sdy.find_data_flow_edge(value) is not None
    )


def _apply(
    value: SSAValue,
    sharding: TensorSharding,
    constraint_behind: Callable[[], sdy.ShardingConstraintOp],
) -> bool:
    """Set the sharding of `value` if the rules allow it; return whether it has it."""
    if not should_apply(value, sharding):
        return False
    if not _on_data_flow_edge(value):
        sdy.set_sharding(value, sharding)
        return True
    constraint = constraint_behind()
    value.replace_uses_with_if(
        constraint.result, lambda use: use.operation is not constraint
    )
    if sharding.unreduced:
        # Unreduced axes do not propagate, so the edge has to know them.
        edge = TensorSharding.fully_open(sharding.mesh, sdy.tensor_rank(value.type))
        sdy.set_sharding(
            value, edge.with_unreduced(sharding.unreduced, sharding.reduction)
        )
    return False


# Chains of constraints


def _end_of_chain(head: sdy.ShardingConstraintOp) -> sdy.ShardingConstraintOp | None:
    """Return the last of a chain of at least two constraints that starts with `head`.

    None if `head` does not start the chain, if its input has a sharding or other
    constraints, or if a constraint before the last has other uses.
    """
    if (
        isinstance(head.input.owner, sdy.ShardingConstraintOp)
        or sdy.get_sharding(head.input) is not None
        or _is_constrained(head.input, besides=head)
    ):
        return None
    end = head
    while isinstance(
        user := end.result.get_user_of_unique_use(), sdy.ShardingConstraintOp
    ):
        end = user
    if end is head or _is_constrained(end.result):
        return None
    return end


def _use_end_of_chain(head: sdy.ShardingConstraintOp) -> None:
    """Let later uses of the chain's tensor in the block, but returns, use its end."""
    end = _end_of_chain(head)
    if end is None:
        return
    candidates = {
        use.operation
        for use in head.input.uses
        if use.operation is not head
        and use.operation.parent is end.parent
        and not isinstance(use.operation, ReturnOp)
    }
    if not candidates:
        return
    later: set[Operation] = set()
    behind = end.next_op
    while behind is not None:
        if behind in candidates:
            later.add(behind)
        behind = behind.next_op
    head.input.replace_uses_with_if(end.result, lambda use: use.operation in later)


# The pass


def _apply_constraint(op: sdy.ShardingConstraintOp, history: History | None) -> None:
    _use_end_of_chain(op)

    def moved_behind_input() -> sdy.ShardingConstraintOp:
        op.detach()
        Rewriter.insert_op(op, point_behind(op.input))
        return op

    if _apply(op.input, op.sharding.data, moved_behind_input):
        rule = _remember_rule(op)
        if history is not None and rule is not None:
            _record(op, rule, history)


def _remember_rule(op: sdy.ShardingConstraintOp) -> OpShardingRule | None:
    """Put the rule of an identity on a constraint, as Shardy's pass leaves it behind."""
    type = op.input.type
    if not isinstance(type, ShapedType) or not type.has_static_shape():
        return None
    rule = OpShardingRule.identity(type.get_shape())
    op.attributes.setdefault(sdy.SHARDING_RULE, sdy.OpShardingRuleAttr(rule))
    return rule


def _record(
    op: sdy.ShardingConstraintOp, rule: OpShardingRule, history: History
) -> None:
    """Record that the input of a constraint got the constraint's axes.

    The sharding of a scalar without axes is no step.
    """
    sharding = op.sharding.data
    if sharding == TensorSharding.fully_open(sharding.mesh, sharding.rank):
        return
    signature = StepSignature(
        sharding.mesh,
        sdy.get_mesh(op, sharding),
        rule,
        (PropagationDirection.BACKWARD,) * len(rule.factor_sizes),
        Strategy.BASIC,
    )
    values = sdy.shardable_value(op.input), op.result
    history.record(op, values, signature, (None, sharding))


def _apply_in_shardings(op: sdy.ManualComputationOp) -> None:
    for index, sharding in enumerate(op.in_shardings.data):
        # Read now: a constraint made for an earlier operand may have replaced it.
        value = op.operands[index]

        def new_behind_operand(
            value: SSAValue = value, sharding: TensorSharding = sharding
        ) -> sdy.ShardingConstraintOp:
            constraint = sdy.ShardingConstraintOp(value, sharding)
            constraint.location = op.location
            Rewriter.insert_op(constraint, point_behind(value))
            return constraint

        _apply(value, sharding, new_behind_operand)


@dataclass(frozen=True)
class ApplyShardingConstraintsPass(ModulePass):
    """Set the shardings of constrained tensors, where nothing speaks against it.

    Options:
        debug_sharding_origins: write for every axis of every value which argument,
            result, constraint or manual computation it came from.
        debug_propagation_edge_sharding: write on every constraint which axes its input
            has from it.

    Source: Shardy's sdy-apply-sharding-constraints.
    """

    name = "sdy-apply-sharding-constraints"

    debug_sharding_origins: bool = False
    debug_propagation_edge_sharding: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        records = self.debug_sharding_origins or self.debug_propagation_edge_sharding
        history = History(op, of_ops=False) if records else None
        # Bodies before the ops around them. Constraints move and appear only in
        # front of where the walk is, so a list made before sees each of them once.
        kinds = sdy.ShardingConstraintOp, sdy.ManualComputationOp
        for inner in ops_of_type_inside_out(op, *kinds):
            if isinstance(inner, sdy.ShardingConstraintOp):
                _apply_constraint(inner, history)
            else:
                _apply_in_shardings(inner)
        if history is not None:
            history.write(
                op,
                origins=self.debug_sharding_origins,
                edges=self.debug_propagation_edge_sharding,
            )
