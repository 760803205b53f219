"""Loops over elements: the ops that each computes inside, and those that are stored.

XLA for CPUs fuses from the end of a program to its start (`CpuInstructionFusion`):

- a product, a collective, a sort and a call of a library take nothing in; neither does what joins columns;
- functions (exponentials, quotients, …) are computed once: in the one loop that reads them, or stored;
- what costs more to make than to read is stored for several readers, unless all of them make it and
  nothing that they read is made of it on another way, as what a gradient reads is behind a product;
- of the rest, readers make what they can, and it is stored for the others.
"""

from collections.abc import Iterable, Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.libraries.builder import Note, is_copy
from ttxdsl.analysis.libraries.library_calls import LibraryCalls
from ttxdsl.analysis.values.entry import PROGRAMS
from ttxdsl.analysis.values.intervals import is_splat
from ttxdsl.dialects import chlo, sdy, stablehlo
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import operands_in, ops_of

_ONCE = (
    *(stablehlo.ExpOp, stablehlo.LogOp, stablehlo.TanhOp, stablehlo.LogisticOp),
    *(stablehlo.DivOp, stablehlo.RsqrtOp, stablehlo.SqrtOp, stablehlo.PowOp),
    *(stablehlo.Expm1Op, stablehlo.Log1pOp, stablehlo.CbrtOp, stablehlo.RemOp),
    *(stablehlo.GatherOp, stablehlo.ReduceOp),
)
"""Ops that are computed once (`CpuInstructionFusion::IsExpensive`)."""

_FUSIBLE = (
    *(stablehlo.BroadcastInDimOp, stablehlo.BroadcastOp, stablehlo.IotaOp),
    *(stablehlo.ConcatenateOp, stablehlo.DynamicSliceOp, stablehlo.SliceOp),
    *(stablehlo.DynamicUpdateSliceOp, stablehlo.GatherOp, stablehlo.PadOp),
    *(stablehlo.ReshapeOp, stablehlo.ReverseOp, stablehlo.TransposeOp),
    *(stablehlo.ConvertOp, stablehlo.BitcastConvertOp),
)
"""Ops besides elementwise ones that a loop over elements computes (`CanBeLoopFused`)."""

_MOST_JOINED = 8
"""Values that a loop over elements joins at most."""

_WITHOUT_SOURCE = (
    stablehlo.BroadcastInDimOp,
    stablehlo.IotaOp,
    stablehlo.ConstantOp,
)


def _class_is_elementwise(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    is_convert = issubclass(kind, stablehlo.ConvertOp)
    return kind.get_trait(Elementwise) is not None or is_convert


_ELEMENTWISE = ByClass(_class_is_elementwise)


def is_elementwise(op: Operation) -> bool:
    """Whether each element of an op's result is computed of those at its place."""
    return _ELEMENTWISE[type(op)]


def program_blocks(module: ModuleOp) -> list[Block]:
    """Return the blocks whose ops work on buffers, the inner ones first."""
    blocks = [
        block
        for op in module.walk()
        if isinstance(op, (FuncOp, *PROGRAMS))
        for region in op.regions
        for block in region.blocks
    ]
    return blocks[::-1]


class Kernels:
    """The kernels of a program; ops that some make and others read are copied.

    Attributes:
        inside: the ops that are computed in the kernels of others, and are no buffers.
    """

    def __init__(self, module: ModuleOp, note: Note) -> None:
        self.inside: set[Operation] = set()
        for block in program_blocks(module):
            calls = LibraryCalls(block)
            self.inside |= calls.inside | _Loops(block, calls.members, note).inside

    def of(self, op: Operation) -> set[Operation]:
        """Return an op that is stored, with what its kernel computes inside."""
        kernel, pending = {op}, [op]
        while pending:
            makers = {value.owner for value in pending.pop().operands}
            new = {op for op in self.inside.intersection(makers) if op not in kernel}
            kernel |= new
            pending += new
        return kernel

    def read_by(self, op: Operation) -> list[SSAValue]:
        """Return the values that a kernel reads, by the op that it stores."""
        kernel = self.of(op)
        values = (value for each in kernel for value in each.operands)
        return [value for value in dict.fromkeys(values) if value.owner not in kernel]


class _Loops:
    """The loops over elements of a block.

    Attributes:
        inside: the ops that are computed in the loops of others.
    """

    def __init__(self, block: Block, members: set[Operation], note: Note) -> None:
        self.inside: set[Operation] = set()
        self._members, self._note = members, note
        self._roots: dict[Operation, frozenset[Operation]] = {}
        """For an op, the ops whose results are stored by the kernels that compute it."""
        self._made_once: set[Operation] = set()
        self._ways: dict[tuple[Operation, Operation], bool] = {}
        ops = ops_of(block)
        self._number = {op: at for at, op in enumerate(ops)}
        self._ancestors = _ancestors(ops)
        for op in reversed(ops):
            self._decide(op)
        for op in ops_of(block):
            if isinstance(op, stablehlo.ReshapeOp) and op not in self.inside:
                self._store_shaped(op)

    def _decide(self, op: Operation) -> None:
        """Decide about an op, whose users are decided."""
        self._roots[op] = frozenset((op,))
        if op in self._members or not _is_fusible(op):
            return
        uses = [use for result in op.results for use in result.uses]
        making = [use for use in uses if self._makes(use.operation, use.index, op)]
        kernels = self._kernels(use.operation for use in uses)
        if not making:
            return
        is_once = _is_once(op)
        if is_once and (len(kernels) > 1 or any(_repeats(u.operation) for u in making)):
            return
        if not _may_be_made_again(op) and not all(
            self._fuses_on_all_ways(op, use.operation) for use in uses
        ):
            self._made_once.add(op)
        elif len(making) == len(uses):
            self.inside.add(op)
            self._roots[op] = kernels
        elif not is_once:
            twin = self._twin(op)
            for use in making:
                use.operation.operands[use.index] = twin.results[0]
            self.inside.add(twin)
            self._roots[twin] = self._kernels(use.operation for use in making)

    def _kernels(self, ops: Iterable[Operation]) -> frozenset[Operation]:
        own = (self._roots.get(op, frozenset((op,))) for op in ops)
        return frozenset[Operation]().union(*own)

    def _twin(self, op: Operation) -> Operation:
        """Return a copy of an op ahead of it."""
        twin = op.clone()
        Rewriter.insert_op(twin, InsertPoint.before(op))
        self._note(twin, op)
        self._number[twin] = self._number[op]
        self._ancestors[twin] = self._ancestors[op]
        return twin

    def _makes(self, user: Operation, index: int, op: Operation) -> bool:
        """Whether a user makes what an op makes inside its own loop."""
        if user not in self._roots or user in self._members or not _is_fusible(user):
            return False  # one of a region inside is not in the loop
        is_changed = isinstance(user, stablehlo.DynamicUpdateSliceOp) and index == 0
        if is_changed or isinstance(op, stablehlo.DynamicUpdateSliceOp):
            return False
        return not (_joins_columns(user) or _joins_columns(op))

    def _fuses_on_all_ways(self, maker: Operation, user: Operation) -> bool:
        """Whether all that leads from an op to another one is computed in that one's loop."""
        if user is maker:
            return True
        if (maker, user) not in self._ways:
            self._ways[maker, user] = all(
                self._makes(user, index, between)
                and between not in self._made_once
                and not (_is_once(between) and _has_several_users(between))
                and self._fuses_on_all_ways(maker, between)
                for index, value in enumerate(user.operands)
                if isinstance(between := value.owner, Operation)
                and self._ancestors.get(between, 0) >> self._number[maker] & 1
            )
        return self._ways[maker, user]

    def _store_shaped(self, shape: stablehlo.ReshapeOp) -> None:
        """Store what a kernel gives another shape in the end, which is the same bytes."""
        maker = shape.operand.owner
        if not isinstance(maker, Operation) or maker not in self.inside:
            return
        if self._roots[maker] != frozenset((shape,)):
            maker = self._twin(maker)
            shape.operands[0] = maker.results[0]
        self.inside.discard(maker)
        if isinstance(maker, stablehlo.ReshapeOp):
            self._store_shaped(maker)


def _ancestors(ops: Sequence[Operation]) -> dict[Operation, int]:
    """Return what each op of a block depends on, itself among it, as bits by place."""
    ancestors: dict[Operation, int] = {}
    for at, op in enumerate(ops):
        bits = 1 << at
        for value in operands_in(op):
            if isinstance(value.owner, Operation):
                bits |= ancestors.get(value.owner, 0)
        ancestors[op] = bits
    return ancestors


def _is_fusible(op: Operation) -> bool:
    """Whether a loop over elements may compute an op."""
    match op:
        case stablehlo.CompositeOp():  # a slice by the device's number
            return op.composite_name.data == sdy.AllSliceOp.name
        case stablehlo.ReduceOp():
            return len(op.results) == 1
        case stablehlo.ConstantOp():
            return is_splat(op)
        case _:
            is_known = is_elementwise(op) or isinstance(op, _FUSIBLE)
            return is_known and not is_copy(op)


def _is_once(op: Operation) -> bool:
    """Whether an op is computed once."""
    is_function = isinstance(op, chlo.ChloUnaryOp) and op.name != "chlo.square"
    return is_function or isinstance(op, _ONCE)


def _has_several_users(op: Operation) -> bool:
    return len({use.operation for result in op.results for use in result.uses}) > 1


def _joins_columns(op: Operation) -> bool:
    """Whether an op joins values along their last dimension, or many."""
    if not isinstance(op, stablehlo.ConcatenateOp):
        return False
    last = len(shape_of(op.results[0])) - 1
    is_last = op.dimension.value.data == last > 0
    return is_last or len(op.operands) > _MOST_JOINED


def _repeats(op: Operation) -> bool:
    """Whether an op reads elements several times."""
    if isinstance(op, stablehlo.GatherOp):
        return True
    is_broadcast = isinstance(op, stablehlo.BroadcastInDimOp)
    return is_broadcast and _elements(op.operands[0]) < _elements(op.results[0])


def _elements(value: SSAValue) -> int:
    return prod(shape_of(value))


def _may_be_made_again(op: Operation) -> bool:
    """Whether an op has one large operand at most, or reads no more than it gives."""
    (result,) = op.results
    rank = _rank(result)
    large = [
        value
        for value in op.operands
        if not isinstance(value.owner, _WITHOUT_SOURCE) and _rank(value) >= rank
    ]
    return len(large) <= 1 or sum(map(_elements, set(op.operands))) <= _elements(result)


def _rank(value: SSAValue) -> int:
    return sum(size > 1 for size in shape_of(value))
