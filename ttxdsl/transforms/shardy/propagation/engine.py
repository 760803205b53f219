"""The engine: visit ops until no sharding changes any more.

A run sweeps over the nodes in the order of their ops. A visit makes one step; whoever
is concerned by a changed sharding and was passed already goes on a stack, which is
emptied before the sweep goes on. So the order in which ops decide conflicts is that of
the C++ passes, whose stack holds all ops at first, the first one on top.

A node that changed nothing under a strategy and directions changes nothing under the
same again while its places stay as they are: `Unsettled` leaves it out of the sweep. So
the work is proportional to the ops and to the changes, however many runs there are.

Dead ops are erased when their turn comes, as the C++ driver does.

Source: Shardy's `BasicPropagationPass`; MLIR's greedy pattern driver for the order.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, ShapedType, TupleType, UnrankedTensorType
from xdsl.dialects.func import FuncOp, ReturnOp as FuncReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.transforms.dead_code_elimination import would_be_trivially_dead

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import rounds
from ttxdsl.dialects.boundary import require_structured
from ttxdsl.dialects.sdy import SHARDING_RULE, OpShardingRuleAttr
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.step import (
    Directions,
    OpBehaviour,
    PropagationDirection,
    StepMemo,
    Strategy,
    Updates,
)
from ttxdsl.transforms.shardy.propagation.data_flow import Border
from ttxdsl.transforms.shardy.propagation.graph import (
    NO_PLACE,
    Node,
    PropagationGraph,
    static_shape,
)
from ttxdsl.transforms.shardy.propagation.history import History
from ttxdsl.transforms.shardy.propagation.sharding_groups import ShardingGroups
from ttxdsl.transforms.shardy.propagation.unsettled import Unsettled

_UPDATES = 64
"""More updates of a value than the number of its devices has prime factors."""


@dataclass(frozen=True, slots=True)
class Ways:
    """The directions in which shardings may travel through a node, one a factor.

    Attributes:
        of_kind: from a node to directions that all nodes of its kind have in common.
        unless: whether an op propagates nowhere all the same, as things stand.
    """

    of_kind: Callable[[Node], Directions]
    unless: Callable[[Operation], bool] | None = None

    def __call__(self, node: Node) -> Directions:
        """Return the directions of one node now."""
        directions = self.of_kind(node)
        if any(directions) and self.unless is not None and self.unless(node.op):
            return (PropagationDirection.NONE,) * len(directions)
        return directions


class Propagation:
    """Shardings of a module on their way to a fixed point.

    Sharding groups are brought into line at once. `run` may be called many times, with
    other strategies and directions; `finish` puts the outcome into the IR.

    Args:
        conservative: forbid sub-axes and uneven shardings that are not there yet.
        history: takes note of where each axis comes from. Without it nothing is
            recorded and nothing is slower.

    Raises:
        CompileError: if a result has a dynamic shape or is a tuple, or a function has
            several blocks.
    """

    def __init__(
        self,
        module: ModuleOp,
        *,
        conservative: bool = False,
        history: History | None = None,
    ):
        require_structured(module)
        check_types(module)
        self.module = module
        self.history = history
        self.groups = ShardingGroups(module)
        self.groups.align(module, history)
        self._begin(PropagationGraph(module, conservative=conservative))

    def restarted(self) -> "Propagation":
        """Return a propagation from the shardings that the IR has now, without history.

        Since this one began, only shardings may have changed, and ops been erased by it.
        """
        new = copy(self)
        new.history = None
        new._begin(self.graph.restarted())
        return new

    def _begin(self, graph: PropagationGraph) -> None:
        self.graph = graph
        self._known_returned: list[_Returned] | None = None
        self._unsettled = Unsettled(self.graph.changes)
        self._unsettled_returned = Unsettled(self.graph.changes)
        self._stack: list[int] = []
        # one byte a node: whether it is to be visited, by the sweep or from the stack
        self._waiting = bytearray()
        self._swept = -1
        for index, node in enumerate(graph.nodes):
            if node.prepared:
                self._unsettled.reads(index, node.places)

    def run(self, strategy: Strategy, ways: Ways | None = None) -> None:
        """Propagate to a fixed point.

        It ends, for an update only ever splits a value by more axes, or greater parts of
        one, and no value is split more often than the devices' number has factors.

        Args:
            ways: where shardings may travel; everywhere if None.
        """
        self._propagate_function_results(strategy)
        graph = self.graph
        nodes, numbers, step = graph.nodes, graph.numbers, graph.memo.step
        stack = self._stack
        waiting, restless = self._unsettled.begin((strategy, ways), len(nodes))
        self._waiting, self._swept = waiting, -1
        signatures: dict[int, int] = {}
        unless = None if ways is None else ways.unless
        # places of ops are made when these are visited
        values = len(nodes) + len(graph.places)
        updates_left = rounds(_UPDATES * values, "propagation")
        while True:
            if stack:
                index = stack.pop()
            else:
                index = self._swept = waiting.find(1, self._swept + 1)
                if index < 0:
                    break
            waiting[index] = 0
            node = nodes[index]
            if not node.alive:
                if node.erased:
                    continue
                if self._is_dead(node.op):
                    self._erase(node.op)
                    continue
                node.alive = True
            if not node.prepared:
                graph.prepare(node)
                self._unsettled.reads(index, node.places)
            kind = node.kind
            if kind is None:
                continue
            signature = signatures.get(kind)
            if signature is None:
                signature = signatures[kind] = self._signature(node, strategy, ways)
            if signature == StepMemo.INERT or (
                unless is not None and node.allowed is None and unless(node.op)
            ):
                continue
            present = [numbers[place] for place in node.places]
            if node.border is not None:
                present[-1] = self._at_sources(node.border, present[-1])
            updates = step(signature, tuple(present))
            if updates:
                if next(updates_left, None) is None:
                    self._forget_settled()
                    break
                restless.append(index)
                if self.history is not None:
                    self._record(node.op, node.places, signature, tuple(present))
                self._apply(index, node, updates)
        self._propagate_function_results(strategy)

    def _signature(self, node: Node, strategy: Strategy, ways: Ways | None) -> int:
        """Return the signature of steps of all nodes of a kind."""
        assert node.behaviour is not None, "asked of nodes that propagate"
        if ways is None or node.allowed is not None:
            directions = node.both
        else:
            directions = ways.of_kind(node)
        return self.graph.memo.signature(node.behaviour, strategy, directions)

    def finish(self, *, keep_rules: bool = False) -> None:
        """Write all shardings, and with `keep_rules` the rules of visited ops.

        Without it, rules that are not a user's are removed from the module.
        """
        self.graph.write_back()
        if not keep_rules:
            for op in self.graph.all_ops():
                if op.attributes:
                    remove_sharding_rule(op)
            return
        for node in self.graph.nodes:
            if not node.erased and node.rule is not None:
                node.op.attributes[SHARDING_RULE] = OpShardingRuleAttr(node.rule)

    # Visits

    def _apply(self, index: int, node: Node, updates: Updates) -> None:
        graph = self.graph
        last = len(node.places) - 1
        for tensor, number in updates:
            place = node.places[tensor]
            if place == NO_PLACE:
                continue
            if node.border is not None and tensor == last:
                number = self._at_edge(node.border, number)
            graph.assign(place, number)
            value = graph.places[place].value
            if value is not None:
                self._revisit(value, except_for=index)
                self._update_group(value, number, except_for=index)

    def _update_group(
        self, value: SSAValue, number: int, except_for: int | None
    ) -> None:
        for member in self.groups.others_like(value):
            place = self.graph.place_of(member)
            if place != NO_PLACE:
                self._record_group(value, member, place, number)
                self.graph.assign(place, number)
            if except_for is not None:
                self._revisit(member, except_for)

    def _revisit(self, value: SSAValue, except_for: int) -> None:
        """Put the nodes that a value concerns on the stack, but for one."""
        for concerned in self.graph.concerned_by(value):
            if concerned != except_for:
                self._push(concerned)

    def _push(self, index: int) -> None:
        if not self._waiting[index] and not self.graph.nodes[index].erased:
            self._waiting[index] = 1
            if index <= self._swept:  # else the sweep comes to it
                self._stack.append(index)

    def _forget_settled(self) -> None:
        self._stack.clear()
        self._unsettled.forget()
        self._unsettled_returned.forget()

    def _record(
        self,
        op: Operation,
        places: Sequence[int],
        signature: int,
        present: tuple[int, ...],
    ) -> None:
        full = self.graph.memo.in_full(signature, present)
        if self.history is not None and full is not None:
            values = [self.graph.places[place].value for place in places]
            self.history.record(op, values, *full)

    def _record_group(
        self, value: SSAValue, member: SSAValue, place: int, number: int
    ) -> None:
        holder = self.graph.places[place].value
        if self.history is not None and holder is not None:
            before = self.graph.sharding_of(place)
            after = self.graph.memo.sharding(number)
            op = self.groups.op_of(member)
            self.history.record_group(op, value, holder, before, after)

    # Borders of manual computations

    def _at_sources(self, border: Border, number: int) -> int:
        sharding = self.graph.memo.sharding(number)
        if sharding is None:
            return number
        return self.graph.memo.number(border.at_sources(sharding))

    def _at_edge(self, border: Border, number: int) -> int:
        sharding = self.graph.memo.sharding(number)
        if sharding is None:
            return number
        return self.graph.memo.number(border.at_edge(sharding))

    # Results of functions

    def _propagate_function_results(self, strategy: Strategy) -> None:
        """Propagate between what entry functions return and their results' shardings.

        Nobody is told: this happens before and after all visits.
        """
        graph = self.graph
        returned = self._returned()
        unsettled = self._unsettled_returned
        waiting, restless = unsettled.begin(strategy, len(returned))
        index = waiting.find(1)
        while index >= 0:
            pair = returned[index]
            directions = (PropagationDirection.BOTH,) * pair.rank
            signature = graph.memo.signature(pair.behaviour, strategy, directions)
            value, result = pair.places
            present = (graph.numbers[value], graph.numbers[result])
            updates = graph.memo.step(signature, present)
            if updates:
                restless.append(index)
                if self.history is not None:
                    # what is returned stands for the function's result
                    self._record(pair.function, (value,) * 2, signature, present)
            before = len(graph.changes)
            for tensor, number in updates:
                place = pair.places[tensor]
                if place == NO_PLACE:
                    continue
                graph.assign(place, number)
                holder = graph.places[place].value
                if holder is not None:
                    self._update_group(holder, number, except_for=None)
            unsettled.mark(waiting, before)
            index = waiting.find(1, index + 1)

    def _returned(self) -> "list[_Returned]":
        """Return the values that entry functions return, looked up once."""
        if self._known_returned is None:
            graph = self.graph
            self._known_returned = [
                _Returned(
                    function,
                    (graph.place_of(value), graph.place_of_func_result(function, at)),
                    graph.memo.behaviour(OpBehaviour(OpShardingRule.identity(shape))),
                    len(shape),
                )
                for function in graph.entry_functions()
                for at, value in enumerate(_returned_values(function))
                if (shape := static_shape(value.type)) is not None
            ]
            for index, pair in enumerate(self._known_returned):
                self._unsettled_returned.reads(index, pair.places)
        return self._known_returned

    # Dead ops

    def _is_dead(self, op: Operation) -> bool:
        for result in op.results:
            if result.first_use is not None:
                return False
        return would_be_trivially_dead(op)

    def _erase(self, op: Operation) -> None:
        """Erase an op; what its operands came from may be dead now and is visited.

        Directions may depend on how often a value is used: nothing is settled any more.
        """
        self._unsettled.forget()
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                for inner in reversed(list(block.ops)):
                    self._erase(inner)
        for operand in op.operands:
            if not isinstance(operand.owner, Operation):
                continue
            others = {use.operation for use in operand.uses if use.operation is not op}
            if len(others) <= 1:
                for index in self.graph.ancestors_and_self(operand.owner):
                    self.graph.nodes[index].alive = False
                    self._push(index)
        index = self.graph.node_of(op)
        if index is not None:
            self.graph.nodes[index].erased = True
            self.graph.nodes[index].alive = False
        op.detach()
        op.erase()


@dataclass(frozen=True, slots=True)
class _Returned:
    """A value that an entry function returns.

    `places` are those of the value and of the function's result, which share its
    behaviour, the number of one with a factor for each of `rank` dimensions.
    """

    function: FuncOp
    places: tuple[int, int]
    behaviour: int
    rank: int


def _returned_values(function: FuncOp) -> tuple[SSAValue, ...]:
    if function.is_declaration:
        return ()
    end = function.body.block.last_op
    return tuple(end.operands) if isinstance(end, FuncReturnOp) else ()


def check_types(module: ModuleOp) -> None:
    """Refuse what has no sharding.

    Raises:
        CompileError: naming the first op with a dynamic shape or a tuple.
    """
    known: set[int] = set()
    for op in all_ops(module):
        for result in op.results:
            type = result.type
            if id(type) in known:
                continue
            known.add(id(type))
            if isinstance(type, TupleType):
                raise CompileError(
                    f"propagation does not support tuples: {type}",
                    op,
                    hint="return the elements as results of their own",
                )
            if isinstance(type, UnrankedTensorType) or (
                isinstance(type, ShapedType) and not type.has_static_shape()
            ):
                raise CompileError(
                    "propagation only supports ranked tensors with a static shape, "
                    f"not {type}",
                    op,
                    hint="export the program for fixed sizes",
                )


def remove_sharding_rule(op: Operation) -> None:
    """Remove `sdy.sharding_rule` from an op, unless a user wrote it."""
    rule = op.attributes.get(SHARDING_RULE)
    if rule is None:
        return
    if isinstance(rule, OpShardingRuleAttr) and not rule.data.is_custom:
        del op.attributes[SHARDING_RULE]
