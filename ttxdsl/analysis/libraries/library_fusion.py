"""Fusion of a compiler that calls libraries: what is stored, and what is written over in place."""

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.analysis.libraries.breadth_first import breadth_first
from ttxdsl.analysis.libraries.loops import Kernels, is_elementwise
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.layouts import written_in_place
from ttxdsl.analysis.values.entry import is_argument
from ttxdsl.costs.compilers import Compiler
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import SameBytes
from ttxdsl.ir.tensors import Tensor, element_of, tensor_type


class LibraryFusion(Fusion):
    """The fused results of a program whose kernels are known."""

    def __init__(self, compiler: Compiler, kernels: Kernels) -> None:
        super().__init__(compiler)
        self.kernels = kernels

    def is_fused(self, op: Operation) -> bool:
        """Whether an op's results are made in the kernels of others."""
        return op in self.kernels.inside

    def is_streamed(self, op: Operation) -> bool:
        """Whether results exist a part at a time: none do."""
        return False

    def shares_bytes(self, op: Operation) -> bool:
        """Whether an op's results are its operands' bytes."""
        return op.get_trait(SameBytes) is not None

    def stored_element(self, value: SSAValue) -> Attribute:
        """Return the element type that a value is stored as, which is its own."""
        return element_of(value)

    def buffers_read(self, op: Operation) -> list[SSAValue]:
        """Return the values that a kernel reads."""
        return self.kernels.read_by(op)

    def in_order(self, ops: Sequence[Operation]) -> Sequence[Operation]:
        """Return the ops of a block in the order in which their kernels run."""
        return breadth_first(ops, self.kernels.inside)

    def beside(self, op: Operation) -> list[Tensor]:
        """Return what there is for an op while it runs: the parts of an exchange, sent and received."""
        is_exchange = isinstance(op, stablehlo.AllToAllOp)
        return (
            [tensor_type(v) for v in op.operands for _ in range(2)]
            if is_exchange
            else []
        )

    def written_in_place(self, op: Operation) -> list[tuple[SSAValue, OpResult]]:
        """Return values whose buffers results may take over, each with its result.

        A kernel writes over a value of its shape that it reads element by element, and a sort
        over what nobody else reads (`HloDataflowAnalysis::CanShareOperandBufferWithUser`).
        """
        match op:
            case stablehlo.AllReduceOp():
                return []
            case stablehlo.SortOp():
                pairs = zip(op.operands, op.results, strict=True)
                return [
                    (value, result) for value, result in pairs if value.has_one_use()
                ]
            case _ if is_elementwise(op):
                values = self.kernels.read_by(op)
                return [(v, op.results[0]) for v in values if self._is_replaced(v, op)]
            case _:
                return written_in_place(op)

    def _is_replaced(self, value: SSAValue, op: Operation) -> bool:
        """Whether a kernel reads a value element by element, at the place of what it stores."""
        if self._shaped(op.results[0]).type != value.type or self._is_reshaped(value):
            return False
        is_carried = False
        if isinstance(value, BlockArgument) and not is_argument(value):
            is_carried = True
            if not _is_carried_on(value, op):
                return False
        kernel = self.kernels.of(op)
        pending, seen = [value], {value}
        while pending:
            for use in pending.pop().uses:
                user = use.operation
                if user not in kernel:
                    if is_carried:
                        return False
                    continue
                if not is_elementwise(user):
                    return False
                if user is not op and user.results[0] not in seen:
                    seen.add(user.results[0])
                    pending.append(user.results[0])
        return True

    def _shaped(self, value: SSAValue) -> SSAValue:
        """Return a value in the shape in which its kernel stores it."""
        while (user := value.get_user_of_unique_use()) and self.shares_bytes(user):
            value = user.results[0]
        return value

    def _is_reshaped(self, value: SSAValue) -> bool:
        """Whether a value is another one's bytes, and not in the shape in which a loop stores them."""
        maker = value.owner
        if isinstance(maker, Block) or not self.shares_bytes(maker):
            return False
        while isinstance(maker, Operation) and self.shares_bytes(maker):
            source = maker.operands[0]
            maker = source.owner
            if not source.has_one_use():
                return True
        return isinstance(maker, Block) or not is_elementwise(maker)


def _is_carried_on(value: BlockArgument, op: Operation) -> bool:
    """Whether what an op makes of a value that a loop carries is carried in its place.

    A loop's condition carries nothing on: it returns one value, the predicate.
    """
    loop, last = value.block.parent_op(), value.block.last_op
    if not isinstance(loop, stablehlo.WhileOp) or value.block is not loop.body.block:
        return False
    return last is not None and last.operands[value.index] in op.results
