"""The names of ops, values and factors in answers."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.attribution.pytree_names import leaf_name
from ttxdsl.analysis.attribution.words import Words, path_of
from ttxdsl.diagnostics.errors import (
    Frame,
    author_frames,
    line_text,
    source_frame,
)
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.why.answers import Site
from ttxdsl.insight.why.names import Names
from ttxdsl.insight.why.trials.recording import Recorded
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.factors import OpShardingRule, factor_symbol
from ttxdsl.sharding.spec import TensorSharding


def axis_text(axis: AxisRef) -> str:
    """An axis without quotes: `model`, `model:(1)2`."""
    return str(axis).replace('"', "")


def axes_text(axes: tuple[AxisRef, ...]) -> str:
    """Axes in braces: `{data, model}`."""
    return "{" + ", ".join(axis_text(axis) for axis in axes) + "}"


def sharding_text(sharding: TensorSharding | None) -> str | None:
    """`[{"data"}, {}]`, with what is replicated or unreduced, without the mesh."""
    if sharding is None:
        return None
    text = f"[{', '.join(str(dim) for dim in sharding.dims)}]"
    for label, axes in (
        ("replicated", sharding.replicated),
        ("unreduced", sharding.unreduced),
    ):
        if axes:
            text += f", {label}={{{', '.join(str(axis) for axis in axes)}}}"
    return text


def spec_text(sharding: TensorSharding, unsaid: str = "P.UNCONSTRAINED") -> str:
    """Return a `PartitionSpec`: `P("data", None, P.UNCONSTRAINED)`.

    Args:
        sharding: of a tensor.
        unsaid: stands for a dimension without axes that may get some.
    """
    parts: list[str] = []
    for dim in sharding.dims:
        names = [f'"{axis_text(axis)}"' for axis in dim.axes]
        if not names:
            parts.append("None" if dim.closed else unsaid)
        else:
            parts.append(names[0] if len(names) == 1 else f"({', '.join(names)})")
    while parts and parts[-1] == "None":
        parts.pop()
    return f"P({', '.join(parts)})"


def split_text(sharding: TensorSharding) -> str:
    """Return where a value is wanted: `whole`, `as P("data")`."""
    text = "whole"
    if any(dim.axes for dim in sharding.dims):
        text = f"as {spec_text(sharding, 'None')}"
    if sharding.unreduced:
        text += f" with sums of its own along {axes_text(tuple(sharding.unreduced))}"
    return text


def factor_text(rule: OpShardingRule, factor: int) -> str:
    """A factor and its size: `k=128`."""
    return f"{factor_symbol(factor)}={rule.factor_sizes[factor]}"


def factor_kind(rule: OpShardingRule, factor: int) -> str:
    """Return the effect of sharding the factor on the op, as a word."""
    if factor in rule.reduction:
        return "reduction"
    if factor in rule.need_replication:
        return "need-replication"
    return "permutation" if factor in rule.permutation else "pass-through"


def dimension_of(rule: OpShardingRule, tensor: int, factor: int) -> int | None:
    """The dimension of an operand or result that a factor is a part of."""
    for index, dim in enumerate(rule.tensors[tensor]):
        if factor in dim:
            return index
    return None


def _site(op: str, value: str | None, frame: Frame | None, scope: str | None) -> Site:
    if frame is None:
        return Site(op, value, None, scope)
    return Site(op, value, frame.position, scope, frame.function or None)


def _lines(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Return frames as `file:line`: which of its columns calls is not told."""
    return tuple(frame.position.rpartition(":")[0] for frame in frames)


class Places:
    """Names ops and values of any stage as the program that was given does."""

    def __init__(self, recorded: Recorded, names: Names):
        self.recorded = recorded
        self.names = names
        self.words = Words(of_text=True)
        self._ops: dict[Operation, Site] = {}

    def op(self, op: Operation) -> Site:
        """An op."""
        known = self._ops.get(op)
        if known is None:  # counting lines takes time
            known = self._ops[op] = self._place(op)
        return known

    def _place(self, op: Operation) -> Site:
        if isinstance(op, sdy.DataFlowEdgeOp):
            return self.value(op.result)
        original = self.recorded.original_op(op)
        shown = original if original is not None else op
        name = op.name
        if isinstance(op, UnregisteredOp):
            name = op.op_name.data
        elif original is not None and isinstance(op, sdy.ReshardOp):
            name = original.name
        value = None
        if shown.results and shown.name == name:
            value = self.names.name(shown.results[0])
            if value is not None and len(shown.results) > 1:
                value = value.partition("#")[0]
        if isinstance(shown, stablehlo.WhileOp):
            loop = op if self.words.knows(op) else shown
            return Site(name, value, None, words=self.words.loop(loop))
        location = unmarked(shown.location)
        # an op of a library may only know who called it
        frame = source_frame(location) or source_frame(unmarked(op.location))
        if isinstance(shown, sdy.ManualComputationOp) and frame and frame.function:
            words = f"the shard_map at {line_text(frame)}"
            return Site(name, value, frame.position, None, frame.function, words)
        site = _site(name, value, frame, path_of(location))
        if isinstance(shown, sdy.ShardingConstraintOp):
            return replace(site, words=self._constraint(shown))
        return site

    def _constraint(self, constraint: sdy.ShardingConstraintOp) -> str | None:
        """Name a constraint of a helper by its line and the calls that tell it from others."""
        frames = author_frames(unmarked(constraint.location))
        stack = _lines(frames)
        names = [
            line_text(frame)
            for depth, frame in enumerate(frames)
            if depth == 0 or len(self._calls[stack[:depth]]) > 1
        ]
        return f"constraint at {' called at '.join(names)}" if len(names) > 1 else None

    @cached_property
    def _calls(self) -> defaultdict[tuple[str, ...], set[str]]:
        """The lines that call a stack of calls with a constraint in it, innermost first."""
        stacks = {
            _lines(author_frames(unmarked(op.location)))
            for op in ops_of_type(self.recorded.original, sdy.ShardingConstraintOp)
        }
        calls: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        for stack in stacks:
            for depth in range(1, len(stack)):
                calls[stack[:depth]].add(stack[depth])
        return calls

    def value(self, value: SSAValue) -> Site:
        """A value, by the op that makes it."""
        value = self.recorded.edges.get(value, value)
        name = self.name(value)
        if isinstance(value, OpResult):
            place = self.op(value.op)
            return replace(place, value=name)
        original = self.recorded.original_value(value) or value
        owner = sdy.owning_op(original)
        assert isinstance(original, BlockArgument)
        location = unmarked(original.location)
        frame = source_frame(location)
        if frame is None and owner is not None:
            frame = source_frame(unmarked(owner.location))
        op = "func.func" if owner is None else owner.name
        scope = path_of(location)
        return _site(op, name, frame, scope and leaf_name(scope))

    def argument(self, argument: BlockArgument) -> str:
        """The name of an argument of the program, by its path if JAX says it."""
        path = path_of(unmarked(argument.location))
        known = leaf_name(path) if path else self.names.name(argument)
        return known or f"argument {argument.index}"

    def name(self, value: SSAValue) -> str | None:
        """The name of a value in the text that was given."""
        original = self.recorded.original_value(value)
        return None if original is None else self.names.name(original)

    def called(self, value: SSAValue) -> str:
        """A value by what its author knows, its name in the text, or the op that makes it."""
        name = self.known(value)
        if name is not None:
            return name
        if isinstance(value, OpResult):
            return f"the result of {self.op(value.op)}"
        return "a block argument"

    def known(self, value: SSAValue) -> str | None:
        """A value by what its author knows, or by its name in the text that was given.

        In a function that the entry calls names say little: it is called by op and place.
        """
        name = self._authored(value) or self.name(value)
        if name is None or not name.startswith("@"):
            return name
        function = name.partition(":")[0]
        if not isinstance(value, OpResult):
            index = cast(BlockArgument, value).index
            return f"input {index} of {function}"
        place = self.op(value.op)
        op = place.op.rpartition(".")[2]
        return f"{op} at {place.shown}" if place.shown else f"{op} of {function}"

    def _authored(self, value: SSAValue) -> str | None:
        value = self.recorded.edges.get(value, value)
        # where calls are inlined the ways from arguments are known
        owner = sdy.owning_op(value)
        if owner is not None and self.words.knows(owner):
            name = self.words.value(value)
            if name is not None:
                return name
        original = self.recorded.original_value(value)
        if original is None:
            return self._at_line(value)
        calls = () if owner is None else self.recorded.numbered.callers(owner)
        return self.words.value(original, tuple(calls))

    def _at_line(self, value: SSAValue) -> str | None:
        """Name a value that a stage made by its op and line: `select at line 15 of attend`."""
        if not isinstance(value, OpResult):
            return None
        place = self.op(value.op)
        if place.words or not (place.function and place.position):
            return place.words
        name = place.op.rpartition(".")[2]
        return f"{name} at {line_text(Frame(place.function, place.position))}"

    def tensor(self, op: Operation, count: int, index: int, value: SSAValue) -> str:
        """An operand or result of an op, by number and name.

        Args:
            count: how many operands its rule has.
            index: into operands, then results.
            value: which holds the sharding.
        """
        name = self.called(value)
        if isinstance(op, FuncOp):
            return name if index < count else f"the result of the function ({name})"
        if isinstance(op, sdy.DataFlowEdgeOp):
            return f"source {index} ({name})" if index < count else f"the edge ({name})"
        if index < count:
            return f"operand {index} ({name})"
        return f"result {index - count} ({name})"
