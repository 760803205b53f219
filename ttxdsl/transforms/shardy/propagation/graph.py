"""A module as propagation sees it: places that hold shardings, and ops between them.

A *place* is where one sharding is kept: a function's argument or result, a result of
an op, a data flow edge, a border of a manual computation. Several values can share a
place (a loop's operands, block arguments and results do, once they have an edge). A
*node* is an op with the places of its operands and results.

The graph also answers which nodes a changed sharding concerns, in the order in which
the C++ driver would be told: it decides who propagates first, and with conflicts the
first one wins.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue, Use
from xdsl.traits import IsTerminator

from ttxdsl.dialects import sdy
from ttxdsl.dialects.stablehlo import CustomCallOp
from ttxdsl.ir.data_flow import ByClass, data_flow_of
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import operands_of
from ttxdsl.rules.registry import Signatures, has_no_rule
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.step import Directions, OpBehaviour, PropagationDirection, StepMemo
from ttxdsl.transforms.shardy.propagation import data_flow
from ttxdsl.transforms.shardy.propagation.op_properties import is_elementwise

NO_PLACE = 0
"""Of values that cannot hold a sharding, such as the scalars of a reduction's body."""

_NO_NODE = -1


def static_shape(type: Attribute) -> tuple[int, ...] | None:
    """Return the shape of a ranked type of known sizes, None for everything else."""
    if not isinstance(type, ShapedType):
        return None
    shape = type.get_shape()
    return None if any(size < 0 for size in shape) else tuple(shape)


@dataclass(slots=True, eq=False)
class Place:
    """A place that keeps a sharding; the present one is in the graph's `numbers`."""

    original: int
    """The sharding that the IR holds, by its number in the graph's `StepMemo`."""
    value: SSAValue | None = None
    """The value that holds it; None for a function's result."""
    func: FuncOp | None = None
    """For a function's result, the function."""
    index: int = 0
    """For a function's result, which one."""


@dataclass(slots=True, eq=False)
class Node:
    """An op, or the data flow edge or barrier it is, with the places it links."""

    op: Operation
    erased: bool = False
    alive: bool = False
    """Whether the op is known to be needed; it has to be looked at again if not."""
    prepared: bool = False
    """Whether the fields below are known; they are found out at the first visit."""
    behaviour: int | None = None
    """The number of its behaviour in the memo; None if it does not propagate."""
    kind: int | None = None
    """The same for nodes of one behaviour and class of ops; None as above."""
    rule: OpShardingRule | None = None
    """The op's own rule; None for edges and barriers, which need none."""
    places: tuple[int, ...] = ()
    """Of operands (sources of an edge), then of results."""
    border: data_flow.Border | None = None
    """Set for edges of manual computations, whose two sides name different axes."""
    both: Directions = ()
    """Both directions for every factor."""
    allowed: PropagationDirection | None = None
    """Set for a barrier: the one direction, whatever the strategy says."""

    def copied(self) -> "Node":
        """Return a copy; `copy` takes a multiple of the time."""
        return Node(
            *(self.op, self.erased, self.alive, self.prepared, self.behaviour),
            *(self.kind, self.rule, self.places, self.border, self.both, self.allowed),
        )


def _ends_block(op_class: type[object]) -> bool:
    return issubclass(op_class, Operation) and op_class.has_trait(
        IsTerminator, value_if_unregistered=False
    )


_IS_TERMINATOR = ByClass(_ends_block)


def _is_node(op_class: type[object]) -> bool:
    containers = (FuncOp, CallOp, ModuleOp, sdy.MeshOp)
    return op_class not in containers and not _IS_TERMINATOR[op_class]


_IS_NODE = ByClass(_is_node)


def _only_computes(op_class: type[object]) -> bool:
    return not (
        issubclass(op_class, CallOp)
        or _IS_TERMINATOR[op_class]
        or (issubclass(op_class, Operation) and data_flow_of(op_class) is not None)
    )


_IS_SIMPLE_USER = ByClass(_only_computes)
"""Whether who is concerned by a use in such an op is the op and those around it."""


class PropagationGraph:
    """The places and nodes of a module.

    Args:
        conservative: whether rules must only offer factors that divide evenly.
    """

    def __init__(self, module: ModuleOp, *, conservative: bool = False):
        self.module = module
        self.conservative = conservative
        self.meshes = sdy.mesh_table(module)
        self._signatures = Signatures(conservative=conservative)
        self.memo = StepMemo(self.meshes)
        self.places: list[Place] = [Place(StepMemo.NO_SHARDING)]
        self.numbers: list[int] = [StepMemo.NO_SHARDING]
        """The present sharding at each place."""
        self.changes: list[int] = []
        """The places whose shardings changed so far, the latest last."""
        self.nodes: list[Node] = []
        # the node of an op, or else that of the nearest op around it, up to the function
        self._nearest: dict[Operation, int] = {}
        # of each node the nearest one around it
        self._around: list[int] = []
        self._place_of_value: dict[SSAValue, int] = {}
        self._place_of_func_result: dict[tuple[FuncOp, int], int] = {}
        self._siblings: dict[int, tuple[int, ...]] = {}
        self._concerned: dict[SSAValue, tuple[int, ...]] = {}
        self._behaviours = IdentityMemo[int]()
        self.functions: dict[str, FuncOp] = {}
        self.calls: dict[str, list[CallOp]] = {}
        self._kinds: dict[object, int] = {}
        # A number for each op such that an op comes behind the ops of its regions, as
        # the parser creates them. MLIR tells the users of a value last created first.
        self._creation: dict[Operation, int] = {}
        self._read(module)

    # Reading and writing the IR

    def restarted(self) -> "PropagationGraph":
        """Return a graph of the same ops with the shardings that the IR has now.

        What is known of ops, and all steps that were computed, serve both.
        """
        new = copy(self)
        new.nodes = [node.copied() for node in self.nodes]
        for node in new.nodes:
            if node.border is not None and not node.erased:  # has axes of shardings
                assert isinstance(node.op, sdy.DataFlowEdgeOp)
                node.border = data_flow.border_of(node.op.input)
        new.places, new.numbers = [self.places[NO_PLACE]], [StepMemo.NO_SHARDING]
        new.changes = []
        for place in self.places[1:]:
            if place.value is not None:
                sharding = (
                    None if _is_erased(place.value) else sdy.get_sharding(place.value)
                )
            else:
                assert place.func is not None
                sharding = sdy.get_func_result_sharding(place.func, place.index)
            new._add_place(sharding, place.value, place.func, place.index)
        new._place_of_value = {**self._place_of_value}
        new._place_of_func_result = {**self._place_of_func_result}
        new._siblings = {**self._siblings}
        return new

    def _read(self, op: Operation, around: int = _NO_NODE) -> None:
        """Number an op and the ops inside: nodes from outside, creation from inside.

        `around` is the nearest node around it, up to the function.
        """
        op_class = type(op)
        if _IS_NODE[op_class]:
            self._around.append(around)
            around = len(self.nodes)
            self.nodes.append(Node(op))
        elif op_class is FuncOp:
            self.functions[cast(FuncOp, op).sym_name.data] = cast(FuncOp, op)
            around = _NO_NODE
        elif op_class is CallOp:
            callee = cast(CallOp, op).callee.string_value()
            self.calls.setdefault(callee, []).append(cast(CallOp, op))
        self._nearest[op] = around
        for region in op.regions:
            for block in region.blocks:
                inner = block.first_op
                while inner is not None:
                    self._read(inner, around)
                    inner = inner.next_op
        self._creation[op] = len(self._creation)

    def all_ops(self) -> Iterator[Operation]:
        """Return the ops of the module that were not erased."""
        return (op for op in self._creation if op.parent is not None)

    def entry_functions(self) -> Iterator[FuncOp]:
        """Yield the functions whose results carry shardings of their own.

        The only function with that name or the one called `main`; in a module with
        neither, every function that nobody calls.
        """
        if len(self.functions) == 1:
            yield from self.functions.values()
        elif "main" in self.functions:
            yield self.functions["main"]
        else:
            for name, function in self.functions.items():
                if name not in self.calls:
                    yield function

    def write_back(self) -> None:
        """Put every changed sharding into the IR."""
        arguments: dict[FuncOp, list[TensorSharding | None]] = {}
        results: dict[FuncOp, list[TensorSharding | None]] = {}
        attributes: dict[int, sdy.TensorShardingPerValueAttr] = {}
        for place, number in zip(self.places, self.numbers, strict=True):
            if number == place.original:
                continue
            place.original = number
            sharding = self.memo.sharding(number)
            value = place.value
            if value is None:
                assert place.func is not None
                if place.func not in results:
                    results[place.func] = sdy.func_result_shardings(place.func)
                results[place.func][place.index] = sharding
            elif not isinstance(value, OpResult) and isinstance(
                function := sdy.owning_op(value), FuncOp
            ):
                if function not in arguments:
                    arguments[function] = sdy.func_argument_shardings(function)
                arguments[function][cast(BlockArgument, value).index] = sharding
            elif sharding is not None and not _is_erased(value):
                owner = cast(Operation, value.owner)
                if not sdy.IS_PLAIN[type(owner)] or len(owner.results) != 1:
                    sdy.set_sharding(value, sharding)
                    continue
                attribute = attributes.get(number)
                if attribute is None:
                    attribute = sdy.TensorShardingPerValueAttr((sharding,))
                    attributes[number] = attribute
                owner.attributes[sdy.SHARDING] = attribute
        for function in {**arguments, **results}:
            sdy.set_func_shardings(
                function, arguments.get(function), results.get(function)
            )

    # Places

    def place_of(self, value: SSAValue) -> int:
        """Return the place that holds the sharding of a value, or `NO_PLACE`."""
        place = self._place_of_value.get(value)
        if place is not None:
            return place
        owner = cast(Operation, value.owner)
        if not sdy.IS_PLAIN[type(owner)]:  # perhaps a block
            holder = sdy.shardable_value(value)
            if holder is None:
                place = NO_PLACE
            elif holder is not value:
                place = self.place_of(holder)
            else:
                place = self._add_place(sdy.get_sharding(value), value)
        elif sdy.SHARDING in owner.attributes:
            place = self._add_place(sdy.get_sharding(value), value)
        else:
            place = self._add_place(None, value)
        self._place_of_value[value] = place
        return place

    def place_of_func_result(self, function: FuncOp, index: int) -> int:
        """Return the place of the sharding of a function's result."""
        key = (function, index)
        place = self._place_of_func_result.get(key)
        if place is None:
            sharding = sdy.get_func_result_sharding(function, index)
            place = self._add_place(sharding, None, function, index)
            self._place_of_func_result[key] = place
        return place

    def places_with_shardings(self) -> list[int]:
        """Every place of the module that holds a sharding, linked by a node or not."""
        for op in self._creation:
            if op.regions and isinstance(op, FuncOp):
                for index in range(len(op.function_type.outputs.data)):
                    self.place_of_func_result(op, index)
            if sdy.SHARDING in op.attributes or not sdy.IS_PLAIN[type(op)]:
                for value in op.results:
                    self.place_of(value)
            for region in op.regions:
                for block in region.blocks:
                    for value in block.args:
                        self.place_of(value)
        return [
            place
            for place, number in enumerate(self.numbers)
            if number != StepMemo.NO_SHARDING
        ]

    def _add_place(
        self,
        sharding: TensorSharding | None,
        value: SSAValue | None,
        function: FuncOp | None = None,
        index: int = 0,
    ) -> int:
        number = StepMemo.NO_SHARDING
        if sharding is not None:
            number = self.memo.number(sharding)
        self.places.append(Place(number, value, function, index))
        self.numbers.append(number)
        return len(self.places) - 1

    def sharding_of(self, place: int) -> TensorSharding | None:
        """Return the sharding at a place."""
        return self.memo.sharding(self.numbers[place])

    def mesh_of(self, sharding: TensorSharding) -> Mesh:
        """Return the mesh that a sharding names."""
        mesh = sharding.mesh
        return self.meshes[mesh] if isinstance(mesh, str) else mesh

    def replace(self, place: int, sharding: TensorSharding) -> None:
        """Put another sharding at a place that has one."""
        self._set_number(place, self.memo.number(sharding))

    def assign(self, place: int, number: int) -> None:
        """Change the sharding at a place.

        An op holds the shardings of its results in one attribute. When the first of
        them gets one, the others become fully open, which names the mesh.
        """
        if self.numbers[place] == StepMemo.NO_SHARDING:
            self._open_siblings(place, number)
        self._set_number(place, number)

    def _set_number(self, place: int, number: int) -> None:
        if self.numbers[place] != number:
            self.numbers[place] = number
            self.changes.append(place)

    def _open_siblings(self, place: int, number: int) -> None:
        sharding = self.memo.sharding(number)
        for sibling in self._siblings_of(place):
            if self.numbers[sibling] == StepMemo.NO_SHARDING and sharding is not None:
                value = self.places[sibling].value
                assert value is not None
                rank = sdy.tensor_rank(value.type)
                opened = TensorSharding.fully_open(sharding.mesh, rank)
                # writing the first one back will write this one, too
                self._set_number(sibling, self.memo.number(opened))
                self.places[sibling].original = self.numbers[sibling]

    def _siblings_of(self, place: int) -> tuple[int, ...]:
        """Return the other places that share an attribute with this one."""
        value = self.places[place].value
        together: Sequence[SSAValue] = ()
        if isinstance(value, OpResult):
            together = value.op.results
        elif value is not None and not isinstance(sdy.owning_op(value), FuncOp):
            together = cast(BlockArgument, value).block.args
        if len(together) < 2:
            return ()
        if place not in self._siblings:
            places = (self.place_of(other) for other in together if other is not value)
            self._siblings[place] = tuple(
                p for p in places if p not in (place, NO_PLACE)
            )
        return self._siblings[place]

    # Nodes

    def node_of(self, op: Operation) -> int | None:
        """The index of an op's node; None for terminators, calls and containers."""
        if not _IS_NODE[type(op)]:
            return None
        return self._nearest.get(op)

    def prepare(self, node: Node) -> None:
        """Find out how a node propagates; asked for when it is first visited."""
        node.prepared = True
        op = node.op
        rule: OpShardingRule | None
        elementwise = conservative = False
        operands: Sequence[SSAValue] = operands_of(op)
        match _SPECIAL_NODES.get(type(op)):
            case "edge":
                assert isinstance(op, sdy.DataFlowEdgeOp)
                operands = data_flow.edge_sources(op.input)
                rule = _identity_rule(op.result, len(operands))
                node.border = data_flow.border_of(op.input)
            case "call edge":
                assert isinstance(op, sdy.FuncDataFlowEdgeOp)
                operands = self._call_sources(op)
                rule = _identity_rule(op.result, len(operands)) if operands else None
            case "barrier":
                assert isinstance(op, sdy.PropagationBarrierOp)
                rule = _identity_rule(op.result, 1)
                node.allowed = PropagationDirection(op.direction)
                elementwise = True
            case _ if has_no_rule(op):
                return
            case _:
                rule = node.rule = self._signatures.of(op).rule
                elementwise = is_elementwise(op)
                conservative = self.conservative
        if rule is None:
            return
        node.places = tuple(map(self.place_of, (*operands, *op.results)))
        direction = PropagationDirection.BOTH if node.allowed is None else node.allowed
        node.both = (direction,) * len(rule.factor_sizes)
        # most ops share their rule with others, the same object
        key = (id(rule), elementwise)
        behaviour = self._behaviours.get(key)
        if behaviour is None:
            behaviour = self.memo.behaviour(
                OpBehaviour(rule, elementwise, conservative)
            )
            if node.rule is rule:
                self._behaviours.keep(key, behaviour, rule)
        node.behaviour = behaviour
        # what a custom call does is not known by its class
        identity = op if type(op) is CustomCallOp else type(op)
        key = (identity, behaviour, node.allowed)
        node.kind = self._kinds.setdefault(key, len(self._kinds))

    def _call_sources(self, edge: sdy.FuncDataFlowEdgeOp) -> list[SSAValue]:
        """Return the values that flow into a function's argument or a call's result."""
        value = edge.operand
        if isinstance(value, BlockArgument):
            function = sdy.owning_op(value)
            assert isinstance(function, FuncOp)
            calls = self.calls.get(function.sym_name.data, ())
            return [call.operands[value.index] for call in calls]
        if not isinstance(value, OpResult) or not isinstance(value.op, CallOp):
            return []
        function = self.functions.get(value.op.callee.string_value())
        if function is None or function.is_declaration:
            return []
        end = function.body.block.last_op
        return [end.operands[value.index]] if isinstance(end, FuncReturnOp) else []

    # Who is concerned

    def concerned_by(self, value: SSAValue) -> tuple[int, ...]:
        """Return the nodes to visit again when the sharding of a value changed.

        In the order in which they are put on the worklist, a stack: its last one is
        visited first. An op that stands in the region of another also brings the
        latter, behind itself.
        """
        known = self._concerned.get(value)
        if known is None:
            nodes: list[int] = []
            owner = sdy.owning_op(value)
            if owner is not None and type(owner) is sdy.DataFlowEdgeOp:
                for target in data_flow.other_targets(owner.input):
                    self._add_users(target, nodes)
            if owner is not None:
                self._add_with_ancestors(owner, nodes)
            self._add_users(value, nodes)
            known = self._concerned[value] = tuple(nodes)
        return known

    def _add_users(self, value: SSAValue, nodes: list[int]) -> None:
        for use in self.ordered_uses(value):
            user = use.operation
            if _IS_SIMPLE_USER[type(user)]:
                self._add_with_ancestors(user, nodes)
                continue
            edge = data_flow.edge_of_use(use, ends_region=_IS_TERMINATOR[type(user)])
            if edge is not None:
                self._add_with_ancestors(edge, nodes)
            elif isinstance(user, FuncReturnOp):
                function = user.parent_op()
                assert isinstance(function, FuncOp)
                for call in self.calls.get(function.sym_name.data, ()):
                    self._add_users(call.results[use.index], nodes)
            elif isinstance(user, CallOp):
                callee = self.functions.get(user.callee.string_value())
                if callee is not None and not callee.is_declaration:
                    self._add_users(callee.body.block.args[use.index], nodes)
            elif _IS_TERMINATOR[type(user)]:
                parent = user.parent_op()
                if parent is not None:
                    self._add_with_ancestors(parent, nodes)
            else:
                self._add_with_ancestors(user, nodes)

    def ordered_uses(self, value: SSAValue) -> list[Use]:
        """Return the uses of a value, of the op created last first."""
        first = value.first_use
        if first is None or value.has_one_use():
            return [] if first is None else [first]
        order = self._creation
        return sorted(
            value.uses,
            key=lambda use: (-order.get(use.operation, -1), -use.index),
        )

    def _add_with_ancestors(self, op: Operation, nodes: list[int]) -> None:
        """Add the nodes of an op and of those around it, up to the function."""
        node = self._nearest.get(op, _NO_NODE)
        while node != _NO_NODE:
            nodes.append(node)
            node = self._around[node]

    def ancestors_and_self(self, op: Operation) -> list[int]:
        """The nodes of an op and of the ops around it, in the order of the worklist."""
        nodes: list[int] = []
        self._add_with_ancestors(op, nodes)
        return nodes


def _identity_rule(result: SSAValue, operands: int) -> OpShardingRule | None:
    """The rule of values that are sharded alike; None for tokens and the like."""
    shape = static_shape(result.type)
    return None if shape is None else OpShardingRule.identity(shape, operands)


def _is_erased(value: SSAValue) -> bool:
    return isinstance(value, OpResult) and value.op.parent is None


_SPECIAL_NODES: dict[type[Operation], str] = {
    sdy.DataFlowEdgeOp: "edge",
    sdy.FuncDataFlowEdgeOp: "call edge",
    sdy.PropagationBarrierOp: "barrier",
}
