"""Sharding groups: values that are to be sharded alike.

Source: Shardy's compiler API document, "Shard As", and its `ShardingGroupMap`.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy
from ttxdsl.dialects.sdy import ShardingConstraintOp, ShardingGroupOp
from ttxdsl.ir.rewriting import point_behind
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.propagation.history import History


class ShardingGroups:
    """The members of each group of a module.

    Raises:
        CompileError: if a value is in two groups (the import pass merges those).
    """

    def __init__(self, module: ModuleOp):
        self._members: dict[int, list[SSAValue]] = {}
        self._group_of: dict[SSAValue, int] = {}
        self._op_of: dict[SSAValue, ShardingGroupOp] = {}
        for op in ops_of_type(module, ShardingGroupOp):
            group = op.group_id.value.data
            if self._group_of.setdefault(op.input, group) != group:
                raise CompileError(
                    "a value can only be in one sharding group",
                    op,
                    hint="run sdy-sharding-group-import first, which merges groups",
                )
            self._op_of[op.input] = op
            self._members.setdefault(group, []).append(op.input)

    def op_of(self, member: SSAValue) -> ShardingGroupOp:
        """Return the op that says that a value is in its group."""
        return self._op_of[member]

    def others_like(self, value: SSAValue) -> list[SSAValue]:
        """Return the other members of the group that a value is in."""
        group = self._group_of.get(value)
        if group is None:
            return []
        return [member for member in self._members[group] if member is not value]

    def align(self, module: ModuleOp, history: History | None = None) -> None:
        """Give all members of a group the sharding that some of them have.

        Where they have different ones, each member gets an open sharding constraint
        behind it that takes its place in the group, and a warning says so.
        """
        for group in sorted(self._members):
            members = self._members[group]
            shardings = _different_shardings(members)
            if len(shardings) == 1:
                if history is not None:
                    self._record(members, shardings[0], history)
                for member in members:
                    sdy.set_sharding(member, shardings[0])
            elif shardings:
                emit_warning(
                    f"the shardings of the members of sharding group {group} do not "
                    "match; inserting an open sharding constraint on each member",
                    sdy.owning_op(members[0]),
                )
                for index, member in enumerate(members):
                    constraint = _constrain(member, shardings[0])
                    self._group_of.pop(member, None)
                    self._group_of[constraint] = group
                    self._op_of[constraint] = self._op_of[member]
                    members[index] = constraint

    def _record(
        self, members: Sequence[SSAValue], sharding: TensorSharding, history: History
    ) -> None:
        """Tell the history that all members get the sharding of the one that has it."""
        by_sharding = [(sdy.get_sharding(member), member) for member in members]
        source = next(member for own, member in by_sharding if own == sharding)
        for own, member in by_sharding:
            came_from, went_to = map(sdy.shardable_value, (source, member))
            if came_from is not None and went_to is not None:
                op = self._op_of[member]
                history.record_group(op, came_from, went_to, own, sharding)


def _different_shardings(members: Sequence[SSAValue]) -> list[TensorSharding]:
    """Return the shardings of the members that say something, without repetition."""
    if len(members) == 1:
        only = sdy.get_sharding(members[0])
        return [] if only is None else [only]
    different: list[TensorSharding] = []
    for member in members:
        sharding = sdy.get_sharding(member)
        if sharding is None or all(
            not dim.axes and not dim.closed for dim in sharding.dims
        ):
            continue
        if sharding not in different:
            different.append(sharding)
    return different


def _constrain(member: SSAValue, like: TensorSharding) -> SSAValue:
    """Put an open sharding constraint behind a value, for all its other uses."""
    opened = TensorSharding.fully_open(like.mesh, like.rank)
    constraint = ShardingConstraintOp(member, opened)
    Rewriter.insert_op(constraint, point_behind(member))
    member.replace_uses_with_if(
        constraint.result, lambda use: use.operation is not constraint
    )
    return constraint.result
