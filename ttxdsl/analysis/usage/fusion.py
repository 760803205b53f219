"""What XLA fuses: results that are made inside the ops that read them, and take no memory.

A compiler makes an elementwise value, a slice, a transpose or a converted copy again in
each loop over elements that reads it, rather than store it. So such a result is a buffer
only if some reader cannot take it in: a collective, a sort, a gather's operand, a loop or
a call that it enters, the return of a block. Products and convolutions take in what
makes their operands, reductions as well.

What works in place takes over a buffer that ends with it: a loop's state, the operand
that an update writes into, an operand of an elementwise result of the same bytes.

Source: XLA's instruction fusion and buffer assignment as libtpu's and the CPU's dumps show
them (`--xla_dump_to`); docs/evidence/plan.md has what this model is off by.
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from ttxdsl.analysis.usage.work import operations
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Elementwise, MovesData, SameBytes
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import value_bytes

_MOVES = (
    *(stablehlo.BroadcastInDimOp, stablehlo.BroadcastOp, stablehlo.IotaOp),
    *(stablehlo.SliceOp, stablehlo.DynamicSliceOp, stablehlo.PadOp),
    *(stablehlo.TransposeOp, stablehlo.ReverseOp, stablehlo.ConcatenateOp),
    *(stablehlo.ConvertOp, stablehlo.SelectOp),
)
"""What moves elements by index arithmetic that a loop over elements can do."""

_SLICES = (stablehlo.SliceOp, stablehlo.DynamicSliceOp)

_PRODUCTS = (stablehlo.DotGeneralOp, stablehlo.DotOp, stablehlo.ConvolutionOp)

_TAKES_IN = (stablehlo.ReduceOp, *_PRODUCTS)
"""Not fused themselves, but made of loops that make their operands on the way."""

_UPDATES = (stablehlo.DynamicUpdateSliceOp, stablehlo.ScatterOp)


def _class_fuses(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(Elementwise) is not None or issubclass(kind, _MOVES)


def _class_shares(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(SameBytes) is not None


_FUSES = ByClass(_class_fuses)
_SHARES = ByClass(_class_shares)


def can_fuse(op: Operation) -> bool:
    """Whether a loop over elements can make an op's result wherever it is read."""
    return _FUSES[type(op)]


class Fusion:
    """Which results of a program are made inside their readers; each op is asked once."""

    def __init__(self) -> None:
        self._known: dict[Operation, bool] = {}

    def is_fused(self, op: Operation) -> bool:
        """Whether an op's results are made inside all who read them, and are no buffers."""
        if (known := self._known.get(op)) is None:
            known = self._known[op] = _is_fused(op)
        return known

    def bytes_touched(self, op: Operation) -> int:
        """Return the bytes of memory that an op which is not fused reads and writes.

        Of a value that is read through slices only what these give is read.
        """
        if isinstance(op, stablehlo.GatherOp):
            return 2 * sum(map(value_bytes, op.results)) + value_bytes(op.start_indices)
        match op:
            case stablehlo.DynamicUpdateSliceOp():
                read, written = [op.update], value_bytes(op.update)
            case stablehlo.ScatterOp():
                read = [*op.updates, op.scatter_indices]
                written = 2 * sum(map(value_bytes, op.updates))
            case _:
                read, written = list(op.operands), sum(map(value_bytes, op.results))
        return written + sum(self._read(read).values())

    def _read(self, values: Sequence[SSAValue]) -> dict[SSAValue, int]:
        """Return the buffers that are read for values, each with the bytes read of it."""
        found: dict[SSAValue, int] = {}
        pending = [(value, value_bytes(value)) for value in values]
        while pending:
            value, most = pending.pop()
            owner = value.owner
            if isinstance(owner, Operation) and (
                _SHARES[type(owner)] or self.is_fused(owner)
            ):
                if isinstance(owner, _SLICES):
                    most = min(most, value_bytes(value))
                    pending.append((owner.operands[0], most))
                else:
                    inner = most if _SHARES[type(owner)] else value_bytes(value)
                    pending += [
                        (
                            operand,
                            max(inner, most) if len(owner.operands) == 1 else inner,
                        )
                        for operand in owner.operands
                    ]
                continue
            if isinstance(owner, stablehlo.ConstantOp):
                continue
            size = min(value_bytes(value), most)
            found[value] = max(found.get(value, 0), size)
        return found


def flops(op: Operation) -> int:
    """Return floating-point operations as XLA counts them: two for each multiply-add.

    What only moves elements takes none.
    """
    if isinstance(op, _PRODUCTS):
        return 2 * operations(op)
    if op.get_trait(Elementwise) is not None or isinstance(op, stablehlo.ReduceOp):
        return operations(op) if op.get_trait(MovesData) is None else 0
    return 0


def _is_fused(op: Operation) -> bool:
    if not can_fuse(op):
        return False
    readers = [reader for result in op.results for reader in _readers(result)]
    if _is_computed(op) and len(_products_behind(op)) > 1:
        return False  # made once for all products that read it
    return all(_takes_in(user, index) for user, index in readers)


def _is_computed(op: Operation) -> bool:
    """Whether an op computes, or converts or moves what one has computed on the way."""
    while isinstance(op, _MOVES) or _SHARES[type(op)]:
        operand = op.operands[0] if op.operands else None
        if not isinstance(operand, OpResult) or isinstance(op, _SLICES):
            return False
        op = operand.op
    return can_fuse(op)


def _products_behind(op: Operation) -> set[Operation]:
    """Return the products that read an op's results as they are, or moved."""
    found: set[Operation] = set()
    pending = [op]
    while pending:
        for result in pending.pop().results:
            for user, _ in _readers(result):
                if isinstance(user, _PRODUCTS):
                    found.add(user)
                elif isinstance(user, stablehlo.TransposeOp):
                    pending.append(user)
    return found


def _takes_in(user: Operation, index: int) -> bool:
    if isinstance(user, stablehlo.DynamicUpdateSliceOp):
        return index == 1
    return can_fuse(user) or isinstance(user, _TAKES_IN)


def _readers(value: SSAValue) -> Iterator[tuple[Operation, int]]:
    """Yield who reads a value, through reshapes and the like, with the operand's place."""
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            if _SHARES[type(use.operation)]:
                pending.extend(use.operation.results)
            else:
                yield use.operation, use.index


def written_in_place(op: Operation) -> list[tuple[SSAValue, OpResult]]:
    """Return operands whose buffers results may take over, each with its result."""
    match op:
        case stablehlo.WhileOp():
            return list(zip(op.operands, op.results, strict=True))
        case stablehlo.DynamicUpdateSliceOp() | stablehlo.ScatterOp():
            return list(zip(op.operands, op.results, strict=False))
        case _:
            return []


def writes_part(op: Operation) -> bool:
    """Whether an op changes a part of its first operand and keeps the rest."""
    return isinstance(op, _UPDATES)
