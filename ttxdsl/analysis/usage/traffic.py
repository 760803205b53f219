"""Bytes of a device's memory that the ops of a program read and write, as a compiler fuses them.

A kernel reads the buffers that its operands are made of, and writes its results: of a value that
is read through a slice only what the slice gives, of an update its part. Beside what `Fusion`
says of buffers, which the peak of memory is of,

- what several kernels would make of more bytes than it has is stored by the first of them;
- reductions and elementwise ops that read what a product makes, or what others of them read, are
  one kernel with it unless they wait for it, and a softmax over short rows is one kernel, with its
  product if that stores no scores;
- values that have room on the core from one kernel to the next that reads them are read there,
  those first that save most for the room and time they take, and are in no memory if that holds
  for all of them;
- a product in windows, which is one loop with the gather ahead of it or the scatter behind it,
  computes two windows in a kernel, one from either side, and moves what is not cut again for
  each pair: the whole result if the sum is gathered, the whole of the other operand else.

Source: the programs that libtpu 0.0.52 makes (`benchmarks/tpu/bytes.py`; docs/evidence/plan.md
has the errors).
"""

from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.kernels import is_row_wise, softmax_product
from ttxdsl.analysis.usage.buffers.layouts import shares_bytes
from ttxdsl.analysis.usage.buffers.narrow import is_filled_by_loop, keeps_operand
from ttxdsl.analysis.usage.work import computes
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import PRODUCTS
from ttxdsl.dialects.traits import Collective, Elementwise
from ttxdsl.ir.tensors import is_tensor, shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops

_PAIR = 2
"""Windows that one kernel computes: of both ways round."""

_SLICES = (stablehlo.SliceOp, stablehlo.DynamicSliceOp)


@dataclass(slots=True)
class _Kernel:
    """The reads and writes of an op, or of several that are one kernel, in one run.

    Attributes:
        op: the first of them.
        written: the bytes written of each result.
        ahead: the numbers of the kernels that it waits for, as bits.
    """

    op: Operation
    read: dict[SSAValue, int]
    written: dict[SSAValue, int]
    ahead: int = 0


class HbmTraffic:
    """The bytes of memory that the ops of a program move, but for collectives.

    Attributes:
        times: in how many kernels each op is computed.
    """

    def __init__(self, module: ModuleOp, fusion: Fusion) -> None:
        self.fusion = fusion
        self.times = times_computed(module, fusion)
        self._reads: dict[SSAValue, dict[SSAValue, int]] = {}
        self._stored: set[Operation] = set()
        self._bytes: dict[Operation, int] = {}
        self._blocks: set[Block] = set()

    def bytes(self, op: Operation) -> int:
        """Return the bytes that an op moves in one run; of a kernel's ops the first has all."""
        block = op.parent
        if block is not None and block not in self._blocks:
            self._blocks.add(block)
            self._count(block)
        return self._bytes.get(op, 0)

    def _count(self, block: Block) -> None:
        kernels = _Kernels(self)
        leaving: set[SSAValue] = set()
        for op in block.ops:
            kernel = self._kernel(op)
            if kernel is not None:
                kernels.add(op, kernel)
            elif op.regions or op is block.last_op:
                leaving.update(op.operands)
        kernels.drop_inner(leaving)
        moved = _moved_bytes(kernels.all, leaving, self.fusion.compiler.core_bytes)
        for kernel, size in zip(kernels.all, moved, strict=True):
            if not _is_collective(kernel.op):
                self._bytes[kernel.op] = size

    def _kernel(self, op: Operation) -> _Kernel | None:
        """Return what an op moves; None if it is no kernel."""
        if _is_collective(op):
            read = _whole(filter(is_tensor, op.operands))
            return _Kernel(op, read, _whole(op.results))
        if self.fusion.is_fused(op) or shares_bytes(op):
            return self._hide(op)
        return self._moved(op) if computes(op) else None

    def _hide(self, op: Operation) -> _Kernel | None:
        """Note what is read for a fused op, or store it if that moves less."""
        if len(op.results) != 1:
            for operand, result in zip(op.operands, op.results, strict=False):
                self._reads[result] = self._read([operand])
            return None
        (result,) = op.results
        read, own = self._read(op.operands), value_bytes(result)
        if isinstance(op, _SLICES):
            read = {value: min(size, own) for value, size in read.items()}
        times, again = self.times.get(op, 1), sum(read.values())
        finished = [size for value, size in read.items() if self.finishes(op, value)]
        # stored, it is written once and read `times` times, and what it is made of once, but
        # for a product that it finishes
        stored = again - max(finished, default=0) + (1 + times) * own
        if op.get_trait(Elementwise) is not None and times * again > stored:
            self._stored.add(op)
            return _Kernel(op, read, {result: own})
        self._reads[result] = read
        return None

    def finishes(self, op: Operation, value: SSAValue) -> bool:
        """Whether an op may be computed where a product's result is made."""
        product = value.owner
        return (
            self.fusion.compiler.products_finish
            and isinstance(product, PRODUCTS)
            and product.parent is op.parent
            and self.fusion.windows(product) == 1
        )

    def is_made_by(self, value: SSAValue) -> bool:
        """Whether the first reader of a value makes it, and stores it for the others."""
        return value.owner in self._stored

    def may_join(self, op: Operation) -> bool:
        """Whether an op may be one kernel with others."""
        is_elementwise = self.fusion.is_stored(op) or op in self._stored
        return is_elementwise or isinstance(op, stablehlo.ReduceOp)

    def is_softmax(self, op: Operation) -> bool:
        """Whether an op is one kernel with those of a softmax that it waits for.

        Exponentials of scores that their product stores read those.
        """
        if not (self.fusion.compiler.products_take_in and is_row_wise(op)):
            return False
        product = softmax_product(op)
        return product is None or self.fusion.is_streamed(product)

    def _read(self, values: Sequence[SSAValue]) -> dict[SSAValue, int]:
        """Return the buffers that are read for values, each with the bytes read of it."""
        reads: dict[SSAValue, int] = {}
        for value in values:
            if isinstance(value.owner, stablehlo.ConstantOp) or not is_tensor(value):
                continue
            if value in self._reads:
                hidden = self._reads[value]
            else:
                hidden = {} if self._is_sunk(value) else {value: value_bytes(value)}
            for buffer, size in hidden.items():
                reads[buffer] = max(reads.get(buffer, 0), size)
        return reads

    def _is_sunk(self, value: SSAValue) -> bool:
        """Whether a loop makes what it is given of constants."""
        if not isinstance(value, BlockArgument):
            return False
        loop = value.owner.parent_op()
        if not isinstance(loop, stablehlo.WhileOp):
            return False
        maker = loop.operands[value.index].owner
        return (
            isinstance(maker, Operation)
            and keeps_operand(loop, value.index)
            and self.fusion.is_fused(maker)
        )

    def _moved(self, op: Operation) -> _Kernel:
        """Return what an op moves that is not fused into others."""
        written = _whole(op.results)
        match op:
            case stablehlo.GatherOp():
                indices = value_bytes(op.start_indices)
                read = {op.operand: value_bytes(op.result), op.start_indices: indices}
                return _Kernel(op, read, written)
            case stablehlo.SliceOp() | stablehlo.DynamicSliceOp():
                return _Kernel(op, {op.operand: value_bytes(op.result)}, written)
            case stablehlo.DynamicUpdateSliceOp():
                part = value_bytes(op.update)
                return _Kernel(op, self._read([op.update]), {op.result: part})
            case stablehlo.ScatterOp():
                read = self._read([*op.updates, op.scatter_indices])
                parts = zip(op.results, op.updates, strict=True)
                # what is there is read, too
                written: dict[SSAValue, int] = {
                    result: 2 * value_bytes(update) for result, update in parts
                }
                return _Kernel(op, read, written)
            case stablehlo.BroadcastInDimOp() if is_filled_by_loop(op.results[0]):
                return _Kernel(op, {}, {})
            case _:
                pass
        read = self._read(op.operands)
        finished = self.fusion.finished_product(op, read)
        for value in read:
            maker = value.owner
            is_streamed = isinstance(maker, PRODUCTS) and self.fusion.is_streamed(maker)
            if value is finished or is_streamed:
                read[value] = 0
        if isinstance(op, PRODUCTS) and self.fusion.is_streamed(op):
            written = {}
        if isinstance(op, stablehlo.DotGeneralOp):
            self._repeat(op, read, written)
        return _Kernel(op, read, written)

    def _repeat(
        self,
        op: stablehlo.DotGeneralOp,
        read: dict[SSAValue, int],
        written: dict[SSAValue, int],
    ) -> None:
        """Count what a product in windows moves again for each pair of them."""
        windows = self.fusion.windows(op)
        if windows == 1:
            return
        if self.fusion.is_scattered(op):
            whole = 1 - _operand_with(op, _scattered_dim(op))
        else:
            gathered = [_gathered_dim(operand) for operand in op.operands]
            at = 0 if gathered[0] is not None else 1
            dims = op.dot_dimension_numbers.data
            summed = (
                dims.lhs_contracting_dimensions,
                dims.rhs_contracting_dimensions,
            )[at]
            if gathered[at] in summed:
                # each pair is added to the sum, and of two pairs the first is stored
                written[op.result] = windows * value_bytes(op.result)
                return
            whole = 1 - at
        for value in self._read([op.operands[whole]]):
            read[value] *= windows // _PAIR


class _Kernels:
    """The kernels of a block, in the order of their first ops."""

    def __init__(self, traffic: HbmTraffic) -> None:
        self.all: list[_Kernel] = []
        self._traffic = traffic
        self._maker: dict[SSAValue, int] = {}
        self._readers: dict[SSAValue, list[int]] = {}
        """Kernels that others may join, by what they read."""

    def add(self, op: Operation, kernel: _Kernel) -> None:
        """Add what an op moves, to a kernel that is there or as one of its own."""
        may_join = self._traffic.may_join(op)
        number = self._joined(op, kernel) if may_join else None
        if number is None:
            number = len(self.all)
            kernel.ahead = self._ahead(kernel, set())
            self.all.append(kernel)
        else:
            joined = self.all[number]
            joined.ahead |= self._ahead(kernel, {number})
            for value, size in kernel.read.items():
                size = 0 if self._maker.get(value) == number else size
                joined.read[value] = max(size, joined.read.get(value, 0))
            joined.written |= kernel.written
        for value in kernel.written:
            self._maker[value] = number
        if may_join:
            for value in kernel.read:
                self._readers.setdefault(value, []).append(number)

    def _ahead(self, kernel: _Kernel, without: AbstractSet[int]) -> int:
        """Return the kernels that one waits for, as bits."""
        bits = 0
        for value in kernel.read:
            maker = self._maker.get(value)
            if maker is not None and maker not in without:
                bits |= self.all[maker].ahead | 1 << maker
        return bits

    def _joined(self, op: Operation, kernel: _Kernel) -> int | None:
        """Return the kernel that an op is part of: which reads the most that it reads."""
        is_softmax = self._traffic.is_softmax(op)
        waits_for = self._ahead(kernel, set())
        for value in sorted(kernel.read, key=lambda value: -kernel.read[value]):
            for number in self._candidates(op, value, is_softmax=is_softmax):
                inner = {
                    other
                    for other in kernel.read
                    if self._maker.get(other) == number
                    and (other is value or is_softmax or self._is_inside(op, other))
                }
                ahead = waits_for
                if inner:
                    apart = {other: 0 for other in kernel.read if other not in inner}
                    ahead = self._ahead(_Kernel(op, apart, {}), set())
                if not ahead >> number & 1:
                    return number
        return None

    def _candidates(
        self, op: Operation, value: SSAValue, *, is_softmax: bool
    ) -> Iterator[int]:
        """Yield the kernels that make or read a value and that an op may join."""
        maker = self._maker.get(value)
        if maker is not None and (is_softmax or self._is_inside(op, value)):
            yield maker
        yield from self._readers.get(value, ())

    def _is_inside(self, op: Operation, value: SSAValue) -> bool:
        """Whether the kernel that makes a value may compute an op of it."""
        return self._traffic.finishes(op, value) or self._traffic.is_made_by(value)

    def drop_inner(self, leaving: AbstractSet[SSAValue]) -> None:
        """Have no kernel write what it alone reads."""
        readers: dict[SSAValue, set[int]] = {}
        for number, kernel in enumerate(self.all):
            for value in kernel.read:
                readers.setdefault(value, set()).add(number)
        for number, kernel in enumerate(self.all):
            kernel.written = {
                value: size
                for value, size in kernel.written.items()
                if value in leaving or readers.get(value) != {number}
            }


def _whole(values: Iterable[SSAValue]) -> dict[SSAValue, int]:
    return {value: value_bytes(value) for value in values}


def _is_collective(op: Operation) -> bool:
    return op.get_trait(Collective) is not None


def _moved_bytes(
    kernels: Sequence[_Kernel], leaving: AbstractSet[SSAValue], room: int
) -> list[int]:
    """Return the bytes that each kernel moves beside what stays on the core until it is read.

    A value is there from a kernel that reads or writes it to the next that reads it; if it is to
    the last, it is in no memory.
    """
    touched: dict[SSAValue, list[tuple[int, bool, int]]] = {}
    for at, kernel in enumerate(kernels):
        for value, size in kernel.written.items():
            touched.setdefault(value, []).append((at, True, size))
        for value, size in kernel.read.items():
            if size:
                touched.setdefault(value, []).append((at, False, size))

    ways: list[tuple[float, SSAValue, int, int]] = []
    for value, kernels_of in touched.items():
        if value_bytes(value) > room:
            continue
        is_last = len(kernels_of) == 2 and value not in leaving
        for (start, is_made, written), (end, is_written, read) in pairwise(kernels_of):
            if not is_written:
                saved = read + written * (is_made and is_last)
                price = value_bytes(value) * (end - start + 1) / saved
                ways.append((price, value, start, end))

    used = [0] * len(kernels)
    here: set[tuple[SSAValue, int]] = set()
    kept: set[tuple[SSAValue, int]] = set()
    for _, value, start, end in sorted(ways, key=lambda way: way[0]):
        size = value_bytes(value)
        # where two ways of a value meet, it is there once
        life = range(start + ((value, start) in here), end + ((value, end) not in here))
        if all(used[at] + size <= room for at in life):
            kept.add((value, end))
            here.update(((value, start), (value, end)))
            for at in life:
                used[at] += size

    moved = [0] * len(kernels)
    for value, kernels_of in touched.items():
        stays = value not in leaving and all(
            is_written or (value, at) in kept for at, is_written, _ in kernels_of
        )
        for at, is_written, size in kernels_of:
            if not stays if is_written else (value, at) not in kept:
                moved[at] += size
    return moved


def _operand_with(op: stablehlo.DotGeneralOp, dim: int | None) -> int:
    """Return which operand a dimension of a product's result is one of."""
    dims = op.dot_dimension_numbers.data
    of_lhs = len(shape_of(op.lhs)) - len(dims.lhs_contracting_dimensions)
    return int(dim is not None and dim >= of_lhs)


def _scattered_dim(op: stablehlo.DotGeneralOp) -> int | None:
    """Return the dimension of a product's result along which it is scattered."""
    value: SSAValue = op.result
    moves: list[Operation] = []
    while (user := value.get_user_of_unique_use()) is not None and user.results:
        if isinstance(user, stablehlo.ReduceScatterOp):
            dim = user.scatter_dimension.value.data
            for move in reversed(moves):
                dim = _dim_before(move, dim)
            return dim
        moves.append(user)
        value = user.results[0]
    return None


def _gathered_dim(value: SSAValue) -> int | None:
    """Return the dimension along which a value was gathered, through what moves it."""
    moves: list[Operation] = []
    while isinstance(value.owner, Operation) and value.owner.operands:
        owner = value.owner
        if isinstance(owner, stablehlo.AllGatherOp):
            dim = owner.all_gather_dim.value.data
            for move in reversed(moves):
                dim = _dim_behind(move, dim)
            return dim
        moves.append(owner)
        value = owner.operands[0]
    return None


def _dim_behind(op: Operation, dim: int) -> int:
    """Return where a dimension of an operand begins in a result."""
    if isinstance(op, stablehlo.TransposeOp):
        return list(op.permutation.get_values()).index(dim)
    return _dim_at_start(shape_of(op.operands[0]), shape_of(op.results[0]), dim)


def _dim_before(op: Operation, dim: int) -> int:
    """Return where a dimension of a result begins in the operand."""
    if isinstance(op, stablehlo.TransposeOp):
        return op.permutation.get_values()[dim]
    return _dim_at_start(shape_of(op.results[0]), shape_of(op.operands[0]), dim)


def _dim_at_start(before: Sequence[int], after: Sequence[int], dim: int) -> int:
    """Return the dimension of another shape of the same elements in which one begins."""
    ahead = prod(before[:dim])
    starts = (prod(after[:other]) for other in range(len(after)))
    return max((at for at, start in enumerate(starts) if start <= ahead), default=0)


def times_computed(module: ModuleOp, fusion: Fusion) -> dict[Operation, int]:
    """Return in how many kernels each op is computed.

    A fused op is made again in each kernel that reads it, and XLA's cost analysis counts it in
    each.
    """
    kernels: dict[Operation, frozenset[Operation]] = {}
    for op in reversed(list(all_ops(module))):
        if not (fusion.is_fused(op) or shares_bytes(op)):
            kernels[op] = frozenset((op,))
            continue
        users = {use.operation for result in op.results for use in result.uses}
        (first, *others) = [kernels[user] for user in users] or [frozenset[Operation]()]
        kernels[op] = first.union(*others) if others else first
    return {op: max(1, len(of)) for op, of in kernels.items()}
