"""Data flow edges: which values an op merely hands on, so that they are sharded alike.

The i-th value of a loop is the operand it starts with, a block argument in its regions,
what its body returns, and its result. The values on such an *edge* are *sources*, from
which data flows in, and *targets*, which are that data; one target, the *owner*, stands
for all of them. An op says what its edges are by a `DataFlowTrait`; ops whose class
somebody else wrote get theirs by `register_data_flow`:

    register_data_flow(scf.ForOp, PositionalDataFlow(first_operand=3, first_argument=1))

Source: Shardy's propagation document ("Data flow ops") and its
`ShardableDataFlowOpInterface`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.ir import BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import OpTrait

from ttxdsl.ir.traversal import chosen_ops


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of one op, to read and replace."""

    op: Operation
    index: int

    @property
    def value(self) -> SSAValue:
        """The value used here."""
        return self.op.operands[self.index]

    def replace(self, value: SSAValue) -> None:
        """Use another value here."""
        self.op.operands[self.index] = value


class DataFlowTrait(OpTrait, ABC):
    """An op through which data flows along edges.

    Owners are results of the op and block arguments of one of its blocks. While
    `sdy.data_flow_edge` ops stand behind the owners, these hold the shardings; without
    them the op does, in `sdy.sharding` for its results and in
    `sdy.block_argument_sharding` for the block arguments.
    """

    def edge_owners(self, op: Operation) -> Sequence[SSAValue]:
        """Return the owners of all edges, those among the results first."""
        return op.results

    @abstractmethod
    def edge_owner(
        self, op: Operation, target: OpResult | BlockArgument
    ) -> SSAValue | None:
        """The owner of the edge that a result or block argument of `op` is on, if any."""

    @abstractmethod
    def edge_sources(self, op: Operation, owner: SSAValue) -> Sequence[Operand]:
        """The uses from which data flows in: operands of `op` or of its terminators."""

    def other_targets(self, op: Operation, owner: SSAValue) -> Sequence[SSAValue]:
        """Return the targets besides the owner."""
        return ()

    @abstractmethod
    def owner_of_source(self, op: Operation, source: Operand) -> SSAValue | None:
        """The owner of the edge that an operand of `op` or of a terminator feeds.

        If the operand's sharding changes, propagation visits the edge again.
        """


@dataclass(frozen=True)
class PositionalDataFlow(DataFlowTrait):
    """The i-th result is one value with an operand, block arguments and what returns.

    Fits loops with carried values, choices between regions, and barriers.
    """

    first_operand: int | None = None
    """The operand that is the first result; None if none flows into the results."""
    first_argument: int | None = None
    """The argument of every region that is the first result; None if none is."""
    first_returned: int = 0
    """The operand of the regions' terminators that is the first result."""
    returning: tuple[int, ...] | None = None
    """The regions that return the results; None for all."""

    def edge_owner(
        self, op: Operation, target: OpResult | BlockArgument
    ) -> SSAValue | None:
        """Return the result at the target's position."""
        if isinstance(target, OpResult):
            return target
        return _at(op, self.first_argument, target.index)

    def edge_sources(self, op: Operation, owner: SSAValue) -> list[Operand]:
        """The operand at the owner's position, then what each region returns there."""
        assert isinstance(owner, OpResult)
        sources: list[Operand] = []
        if self.first_operand is not None:
            sources.append(Operand(op, self.first_operand + owner.index))
        for region in self._returning(op):
            if region.blocks:
                sources.append(returned(region, self.first_returned + owner.index))
        return sources

    def other_targets(self, op: Operation, owner: SSAValue) -> list[SSAValue]:
        """Return the arguments of every region at the owner's position."""
        if self.first_argument is None:
            return []
        assert isinstance(owner, OpResult)
        index = self.first_argument + owner.index
        return [region.block.args[index] for region in op.regions if region.blocks]

    def owner_of_source(self, op: Operation, source: Operand) -> SSAValue | None:
        """Return the result at the source's position."""
        if source.op is op:
            return _at(op, self.first_operand, source.index)
        if source.op.parent_region() not in self._returning(op):
            return None
        return _at(op, self.first_returned, source.index)

    def _returning(self, op: Operation) -> Sequence[Region]:
        if self.returning is None:
            return op.regions
        return [op.regions[index] for index in self.returning]


def _at(op: Operation, first: int | None, index: int) -> OpResult | None:
    """The result that the value at `index` is, if the one at `first` is the first."""
    if first is None or not first <= index < first + len(op.results):
        return None
    return op.results[index - first]


def returned(region: Region, index: int) -> Operand:
    """Return the operand that a region of one block returns at an index."""
    end = region.block.last_op
    assert end is not None
    return Operand(end, index)


_AnswerT = TypeVar("_AnswerT")


class ByClass(dict[type[object], _AnswerT]):
    """A memo of a function of classes (of ops and blocks).

    A known answer costs one look-up, for questions about every value of a module. The
    memo is cleared when data flow is registered.
    """

    def __init__(self, ask: Callable[[type[object]], _AnswerT]):
        super().__init__()
        self._ask = ask
        _all_answers.append(self)

    def __missing__(self, op_class: type[object]) -> _AnswerT:
        answer = self[op_class] = self._ask(op_class)
        return answer


_all_answers: list[ByClass[Any]] = []
_registered: dict[type[Operation], DataFlowTrait] = {}


def _find_data_flow(op_class: type[object]) -> DataFlowTrait | None:
    if not issubclass(op_class, Operation):
        return None
    for base in op_class.__mro__:
        if base in _registered:
            return _registered[base]
    return op_class.get_trait(DataFlowTrait)


_known = ByClass(_find_data_flow)


def data_flow_of(op_class: type[Operation]) -> DataFlowTrait | None:
    """Return the edges of the ops of a class; None for nearly all, which have none."""
    return _known[op_class]


def data_flow_ops(root: Operation) -> list[Operation]:
    """`root` and the ops inside it that have edges, outer ones first."""
    return chosen_ops(root, _known)


def register_data_flow(op_class: type[Operation], edges: DataFlowTrait) -> None:
    """Tell what the edges of all ops of a class, and of those derived from it, are."""
    _registered[op_class] = edges
    _forget_answers()


def unregister_data_flow(op_class: type[Operation]) -> None:
    """Forget what was registered for `op_class`; its own trait is back if it has one."""
    _registered.pop(op_class, None)
    _forget_answers()


def _forget_answers() -> None:
    for answers in _all_answers:
        answers.clear()
