"""Merge sharding groups that share a tensor, number them from 0, refuse bad ones."""

from collections.abc import Iterable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, ShapedType, i64
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.graph_state import computation_around
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.sdy import ManualComputationOp, ShardingGroupOp
from ttxdsl.ir.traversal import ops_of_type


def merged_groups(groups_of_values: Iterable[Sequence[int]]) -> dict[int, int]:
    """New numbers of groups, where values in several groups make those one.

    The first group of a value stands for those merged with it. Numbers follow the
    order in which the groups that stand for others were first seen.

    Args:
        groups_of_values: the groups of each value, in the order of the program.

    Returns:
        For each group the number of the group that it becomes part of.
    """
    stands_for: dict[int, int] = {}

    def leader(group: int) -> int:
        path: list[int] = []
        while stands_for.setdefault(group, group) != group:
            path.append(group)
            group = stands_for[group]
        for passed in path:
            stands_for[passed] = group
        return group

    for first, *others in groups_of_values:
        kept = leader(first)
        for other in others:
            stands_for[leader(other)] = kept
    numbers: dict[int, int] = {}
    for group in stands_for:
        if leader(group) == group:
            numbers[group] = len(numbers)
    return {group: numbers[leader(group)] for group in stands_for}


def _check(ops: Iterable[ShardingGroupOp]) -> None:
    """Refuse groups over the border of a manual computation, or of several shapes."""
    first: dict[int, tuple[ManualComputationOp | None, tuple[int, ...]]] = {}
    for op in ops:
        group = op.group_id.value.data
        computation = computation_around(op)
        assert isinstance(op.input.type, ShapedType)
        shape = tuple(op.input.type.get_shape())
        known_computation, known_shape = first.setdefault(group, (computation, shape))
        if computation is not known_computation:
            raise CompileError(
                f"sharding group {group} has members inside and outside of a manual "
                "computation",
                op,
                hint="use a group of its own inside of each manual computation",
            )
        if shape != known_shape:
            raise CompileError(
                f"the members of sharding group {group} have different shapes: "
                f"{_by(known_shape)} and {_by(shape)}",
                op,
                hint="only tensors of one shape can be sharded alike",
            )


def _by(shape: Iterable[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


class ShardingGroupImportPass(ModulePass):
    """Leave each value in at most one group, the groups numbered 0, 1, ….

    Source: Shardy's sdy-sharding-group-import.
    """

    name = "sdy-sharding-group-import"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if a group has members of different shapes, or some in a
                manual computation and some outside of it.
        """
        ops = ops_of_type(op, ShardingGroupOp)
        _check(ops)
        of_value: dict[SSAValue, list[ShardingGroupOp]] = {}
        for group_op in ops:
            of_value.setdefault(group_op.input, []).append(group_op)
        numbers = merged_groups(
            [member.group_id.value.data for member in members]
            for members in of_value.values()
        )
        for first, *others in of_value.values():
            number = numbers[first.group_id.value.data]
            first.group_id = IntegerAttr(number, i64)
            for other in others:
                Rewriter.erase_op(other)
