"""Bytes of a device's memory that the ops of a program read and write, as a compiler fuses them.

A kernel reads the buffers that its operands are made of, and writes its results: of a value that
is read through a slice only what the slice gives, of an update its part. Beside what `Fusion`
says of buffers, which the peak of memory is of,

- what several kernels would make of more bytes than it has is stored by the first of them;
- reductions and elementwise ops that read what a product makes, or what others of them read, are
  one kernel with it unless they wait for it, and a softmax over short rows is one kernel, with its
  product if that stores no scores;
- values that stay on the core (`kept_on_core`) are read there;
- an exchange copies what it sends and receives, where parts are not one behind the other, and a
  gather what a kernel reads row by row;
- a product in windows, which is one loop with the gather ahead of it or the scatter behind it,
  computes two windows in a kernel, one from either side, and moves again for each pair what is
  not cut and not on the core: the whole result if the sum is gathered, else the whole of the
  other operand; a pair of a scattered result that has no room there is stored, added and stored.

Source: the programs that libtpu 0.0.52 makes (`benchmarks/tpu/bytes.py`; docs/evidence/plan.md
has the errors).
"""

from collections.abc import (
    Iterable,
    Iterator,
    Sequence,
    Set as AbstractSet,
)
from math import prod

from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.kernels import (
    is_row_wise,
    operand_with,
    scratch_types,
    softmax_product,
    sums_along,
    uses_through_moves,
    way_to_product,
)
from ttxdsl.analysis.usage.buffers.layouts import (
    UNROLLED,
    gathered_dim,
    scattered_dim,
    shares_bytes,
)
from ttxdsl.analysis.usage.buffers.narrow import is_filled_by_loop, keeps_operand
from ttxdsl.analysis.usage.moved.on_core import Kernel, OnCore, kept_on_core
from ttxdsl.analysis.usage.work import computes
from ttxdsl.analysis.values.entry import replaced_arguments
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.custom import Communication, communication_of
from ttxdsl.dialects.calls.kernels import PRODUCTS, is_kernel, is_product
from ttxdsl.dialects.traits import Collective, Elementwise
from ttxdsl.ir.tensors import (
    element_bits,
    element_of,
    is_tensor,
    shape_of,
    tensor_bytes,
    tiled_bytes,
)
from ttxdsl.ir.traversal import all_ops

_PAIR = 2
"""Windows that one kernel computes: of both ways round."""

_IN_FLIGHT = 4
"""Pairs of windows that are on the core at once: of two kernels, and what is on its way."""

_WINDOW = 2.7
"""Beside windows at most such a part of the room is on the core for all of them: what is not cut, and a pair
of what is scattered (libtpu 0.0.52: 35 MiB of 112, and 40 now so, now so)."""

_COPY = 8
"""Copies for an exchange of at most such a part of the room stay on the core."""

_ROW = 2048
"""Elements of the longest row of a softmax that is one kernel with a product of operands that it makes
itself, if it multiplies scores (libtpu 0.0.52: 25 of 28 kernels of six steps) and does not divide them
(none of 70 of four steps)."""

_SLICES = (stablehlo.SliceOp, stablehlo.DynamicSliceOp)

_UPDATES = (stablehlo.DynamicUpdateSliceOp, stablehlo.ScatterOp)
"""Ops that write parts of their first operand in its place."""


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
        self._on_core: dict[Block, OnCore] = {}
        self._replaced: dict[Block, dict[SSAValue, SSAValue]] = {}
        self._room = fusion.compiler.core_bytes
        self._is_split = fusion.compiler.makes_in_memory
        self._softmax = {
            product: op
            for op in self.times
            if self.fusion.compiler.products_take_in
            and (product := softmax_product(op)) is not None
        }

    def bytes(self, op: Operation) -> int:
        """Return the bytes that an op moves in one run; of a kernel's ops the first has all."""
        block = op.parent
        while block and isinstance(loop := block.parent_op(), stablehlo.WhileOp):
            block = loop.parent
        if block is not None and block not in self._on_core:
            self._count(block)
        return self._bytes.get(op, 0)

    def _count(self, block: Block) -> OnCore:
        """Note what each op of a block moves, and return what stays on the core there."""
        kernels, leaving = _Kernels(self), set[SSAValue]()
        for op in block.ops:
            if isinstance(op, stablehlo.WhileOp):
                kernels.all.append(self._loop(op, leaving))
            elif (kernel := self._kernel(op)) is not None:
                kernels.add(op, kernel)
                if isinstance(op, _UPDATES):  # what it keeps of it is not read
                    leaving.add(op.operands[0])
            elif op.regions or op is block.last_op:
                leaving.update(op.operands)
                if op.regions:  # it has the core to itself
                    kernels.all.append(Kernel(op, {}, {}, inside=self._room))
                else:
                    kernels.all.append(self._replacing(op, leaving))
        carried = _carried(block, kernels.all)
        kernels.drop_inner(leaving)
        in_memory = set[SSAValue]()
        if self._is_split:
            in_memory = {v for k in kernels.all if _is_shared(k) for v in k.written}
        there = kept_on_core(
            kernels.all, leaving, in_memory, carried, self._room, self._space
        )
        self._on_core[block] = there
        for kernel, size in zip(kernels.all, there.moved, strict=True):
            if _is_collective(kernel.op):
                size = self._copied(kernel.op)
            self._bytes[kernel.op] = size
        return there

    def _replacing(self, end: Operation, leaving: set[SSAValue]) -> Kernel:
        """Return what moves stacks that a loop fills to the places of arguments that it reads.

        Args:
            end: the last op of a block.
            leaving: these arguments are added.
        """
        block = end.parent
        assert block is not None, "an op is in a block"
        moved = {
            value: argument
            for value, argument in self._replaced_in(block).items()
            if _takes_from(value, argument)
        }
        leaving.update(moved.values())
        return Kernel(end, self._whole(moved), self._whole(moved.values()))

    def _replaced_in(self, block: Block) -> dict[SSAValue, SSAValue]:
        """Return `replaced_arguments` of a block, which is asked of each stack."""
        if block not in self._replaced:
            self._replaced[block] = replaced_arguments(block)
        return self._replaced[block]

    def _is_filled(self, value: SSAValue) -> bool:
        """Return whether nothing makes a value that a loop is given: it fills all of it."""
        if not isinstance(value.owner, stablehlo.BroadcastInDimOp):
            return False
        if is_filled_by_loop(value):
            return True
        block, user = value.owner.parent, value.get_user_of_unique_use()
        if block is None or not isinstance(user, stablehlo.WhileOp):
            return False
        result = user.results[user.operands.index(value)]
        argument = self._replaced_in(block).get(result)
        return argument is not None and _takes_from(result, argument)

    def _loop(self, op: stablehlo.WhileOp, leaving: set[SSAValue]) -> Kernel:
        """Return what a loop reads before its first iteration and writes behind its last.

        Args:
            leaving: what it needs in memory is added.
        """
        body = op.body.block
        self._count(op.cond.block)
        there = self._count(body)
        kept = there.throughout
        read = {v: self.size(v) for v in kept if _is_outside(v, body)}
        written: dict[SSAValue, int] = {}
        for index, (operand, result) in enumerate(
            zip(op.operands, op.results, strict=True)
        ):
            if body.args[index] not in kept:
                leaving.add(operand)
                continue
            if not self._is_filled(operand):
                read |= self._read([operand])
            if not keeps_operand(op, index):
                written[result] = self.size(result)
        return Kernel(op, read, written, inside=there.most, held={*read, *written})

    def _copied(self, op: Operation) -> int:
        """Return the bytes that a collective moves to have its parts one behind the other.

        An all_gather gives them so if they are no whole tiles, and a kernel reads rows.
        """
        match op:
            case stablehlo.AllToAllOp():
                copies = [
                    tensor_bytes(kind.get_shape(), kind.element_type)
                    for kind in scratch_types(op)
                ]
            case stablehlo.AllGatherOp():
                dim = op.all_gather_dim.value.data
                copies = [
                    self.size(result)
                    for part, result in zip(op.operands, op.results, strict=True)
                    if prod(shape_of(result)[:dim]) > 1
                    and not self._is_in_tiles(part, dim)
                    and any(_reads_rows(*use) for use in uses_through_moves(result))
                ]
            case stablehlo.CustomCallOp():
                copies = self._in_parts_of_rows(op)
            case _:
                return 0
        return 2 * sum(size for size in copies if _COPY * size > self._room)

    def _in_parts_of_rows(self, op: stablehlo.CustomCallOp) -> list[int]:
        """Return the bytes of what a ragged exchange rearranges: it sends rows as tiles of two parts.

        What is sent gets that layout, and what came loses it, each by a copy. Rows that are no
        whole tiles are padded before, with what they are received into, and cut behind (libtpu
        0.0.52, six steps with experts among 4 and 8: `[rows, 2, width / 2]` for bf16).
        """
        if self.fusion.compiler.tile is None:
            return []
        copies: list[int] = []
        packed = max(1, 32 // element_bits(element_of(op.operands[0])))
        parts = self.fusion.compiler.tile[1] * packed
        for value in (*op.operands[:2], op.results[0]):
            own, width = self.size(value), max(1, prod(shape_of(value)[1:]))
            padded = own // width * (-(-width // parts) * parts)
            if padded != own:
                copies += padded, (own + padded) // 2
            elif value is not op.operands[1]:
                copies.append(own)
        return copies

    def _is_in_tiles(self, value: SSAValue, dim: int) -> bool:
        """Whether whole tiles lie along a dimension of a value, or it has no part in them."""
        tile, shape = self.fusion.compiler.tile or (), shape_of(value)
        behind = len(shape) - 1 - dim
        return behind >= len(tile) or not shape[dim] % tile[-1 - behind]

    def size(self, value: SSAValue) -> int:
        """Return the bytes of a value as it is stored."""
        return self._part(value, value) if is_tensor(value) else 0

    def _converted(self, value: SSAValue) -> int:
        """Return the bytes of a product's result, of integers as its reader converts them."""
        user = value.get_user_of_unique_use()
        if isinstance(element_of(value), IntegerType):
            value = user.result if isinstance(user, stablehlo.ConvertOp) else value
        return self.size(value)

    def _space(self, value: SSAValue) -> int:
        """Return the bytes that a value takes on the core."""
        tile, element = self.fusion.compiler.tile, element_of(value)
        if tile is None:
            return self.size(value)
        return tiled_bytes(shape_of(value), element, tile)

    def _part(self, value: SSAValue, part: SSAValue) -> int:
        """Return the bytes of a part of a value as it is stored."""
        if isinstance(value, BlockArgument) and isinstance(
            loop := value.owner.parent_op(), stablehlo.WhileOp
        ):
            value = loop.results[value.index]
        return tensor_bytes(shape_of(part), self.fusion.stored_element(value))

    def _whole(self, values: Iterable[SSAValue]) -> dict[SSAValue, int]:
        return {value: self.size(value) for value in values}

    def _kernel(self, op: Operation) -> Kernel | None:
        """Return what an op moves; None if it is no kernel."""
        if _is_collective(op):
            read = self._whole(filter(is_tensor, op.operands))
            return Kernel(op, read, self._whole(op.results))
        if self.fusion.is_fused(op) or shares_bytes(op):
            return self._hide(op)
        return self._moved(op) if computes(op) else None

    def _hide(self, op: Operation) -> Kernel | None:
        """Note what is read for a fused op, or store it if that moves less."""
        if len(op.results) != 1:
            for operand, result in zip(op.operands, op.results, strict=False):
                self._reads[result] = self._read([operand])
            return None
        (result,) = op.results
        read, own = self._read(op.operands), self.size(result)
        if isinstance(op, _SLICES):
            read = {v: min(size, self._part(v, result)) for v, size in read.items()}
        times, again = self.times.get(op, 1), sum(read.values())
        finished = [size for value, size in read.items() if self.finishes(op, value)]
        # stored, it is written once and read `times` times, and what it is made of once, but
        # for a product that it finishes
        stored = again - max(finished, default=0) + (1 + times) * own
        if op.get_trait(Elementwise) is not None and times * again > stored:
            self._stored.add(op)
            return Kernel(op, read, {result: own})
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
        return product is None or self.is_streamed(product)

    def is_streamed(self, product: Operation) -> bool:
        """Whether a product's result is stored nowhere: each part is finished by its kernel."""
        if self.fusion.is_streamed(product):
            return True
        powers = self._softmax.get(product)
        if powers is None or _divides_scores(powers):
            return False
        return shape_of(powers.results[0])[-1] <= _ROW

    def _read(self, values: Sequence[SSAValue]) -> dict[SSAValue, int]:
        """Return the buffers that are read for values, each with the bytes read of it."""
        reads: dict[SSAValue, int] = {}
        for value in values:
            if isinstance(value.owner, stablehlo.ConstantOp) or not is_tensor(value):
                continue
            if value in self._reads:
                hidden = self._reads[value]
            else:
                hidden = {} if self._is_sunk(value) else {value: self.size(value)}
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

    def _moved(self, op: Operation) -> Kernel:
        """Return what an op moves that is not fused into others."""
        written = self._whole(op.results)
        match op:
            case stablehlo.GatherOp():
                read = {
                    op.operand: self._part(op.operand, op.result),
                    op.start_indices: self.size(op.start_indices),
                }
                return Kernel(op, read, written)
            case stablehlo.SliceOp() | stablehlo.DynamicSliceOp():
                return Kernel(
                    op, {op.operand: self._part(op.operand, op.result)}, written
                )
            case stablehlo.DynamicUpdateSliceOp():
                part = self._part(op.result, op.update)
                return Kernel(op, self._read([op.update]), {op.result: part})
            case stablehlo.ScatterOp():
                read = self._read([*op.updates, op.scatter_indices])
                parts = zip(op.results, op.updates, strict=True)
                # what is there is read, too
                written: dict[SSAValue, int] = {
                    result: 2 * self._part(result, update) for result, update in parts
                }
                return Kernel(op, read, written)
            case stablehlo.BroadcastInDimOp() if self._is_filled(op.results[0]):
                return Kernel(op, {}, {})
            case _:
                pass
        read = self._read(op.operands)
        finished = self.fusion.finished_product(op, read)
        for value in read:
            maker = value.owner
            is_streamed = isinstance(maker, PRODUCTS) and self.is_streamed(maker)
            if value is finished or is_streamed:
                read[value] = 0
        if isinstance(op, PRODUCTS) and self.is_streamed(op):
            written = {}
        kernel = Kernel(op, read, written)
        if isinstance(op, stablehlo.DotGeneralOp | stablehlo.ConvolutionOp):
            self._repeat(op, kernel)
        return kernel

    def _repeat(
        self, op: stablehlo.DotGeneralOp | stablehlo.ConvolutionOp, kernel: Kernel
    ) -> None:
        """Count what a product in windows moves again for each pair of them."""
        windows = self.fusion.windows(op)
        pairs, result, in_memory = windows // _PAIR, op.results[0], self._is_split
        if not pairs:
            return
        own = self._converted(result)
        if self.fusion.is_scattered(op):
            whole, cut = 1 - operand_with(op, scattered_dim(op)), result
            if in_memory or _WINDOW * own // pairs > self._room:
                # each pair is stored, and added to what comes from both sides
                kernel.written[result] = (4 if windows > UNROLLED else 2) * own
        else:
            gathered = [gathered_dim(operand) for operand in op.operands]
            at = 0 if gathered[0] is not None else 1
            if sums_along(op, at, gathered[at]):
                # each pair is added to the sum, and of two pairs the first is stored
                if in_memory or own > self._room:
                    kernel.written[result] = windows * own
                else:
                    kernel.again[result] = (pairs - 1) * own
                    kernel.inside = own
                return
            whole, cut = 1 - at, op.operands[at]
            if isinstance(op, stablehlo.DotGeneralOp):
                # what two kernels give is copied into the whole, four into zeros
                again = 3 if windows <= UNROLLED else 2 * in_memory
                kernel.again[result] = again * own
        kernel.inside = self._room - int(self._room / _WINDOW)
        beside = self._room - min(_IN_FLIGHT, pairs) * self.size(cut) // pairs
        for value in self._read([op.operands[whole]]):
            size = kernel.read[value]
            # what has room is read once for two pairs, which are an iteration
            times = pairs if size > beside else max(1, pairs // _PAIR)
            kernel.again[value] = (times - 1) * size


class _Kernels:
    """The kernels of a block, in the order of their first ops."""

    def __init__(self, traffic: HbmTraffic) -> None:
        self.all: list[Kernel] = []
        self._traffic = traffic
        self._maker: dict[SSAValue, int] = {}
        self._readers: dict[SSAValue, list[int]] = {}
        """Kernels that others may join, by what they read."""

    def add(self, op: Operation, kernel: Kernel) -> None:
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
            joined.again |= kernel.again
            joined.inside = max(joined.inside, kernel.inside)
        for value in kernel.written:
            self._maker[value] = number
        if may_join:
            for value in kernel.read:
                self._readers.setdefault(value, []).append(number)

    def _ahead(self, kernel: Kernel, without: AbstractSet[int]) -> int:
        """Return the kernels that one waits for, as bits."""
        bits = 0
        for value in kernel.read:
            maker = self._maker.get(value)
            if maker is not None and maker not in without:
                bits |= self.all[maker].ahead | 1 << maker
        return bits

    def _joined(self, op: Operation, kernel: Kernel) -> int | None:
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
                    ahead = self._ahead(Kernel(op, apart, {}), set())
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


def _carried(
    block: Block, kernels: Sequence[Kernel]
) -> list[tuple[SSAValue, SSAValue]]:
    """Return what iterations of a loop begin with, each with what the next has in its place."""
    loop, last = block.parent_op(), block.last_op
    if last is None or not isinstance(loop, stablehlo.WhileOp):
        return []
    pairs = zip(block.args, last.operands, strict=False)
    read = dict.fromkeys(value for kernel in kernels for value in kernel.read)
    return [
        *((argument, value) for argument, value in pairs if is_tensor(argument)),
        *((value, value) for value in read if _is_outside(value, block)),
    ]


def _takes_from(value: SSAValue, argument: SSAValue) -> bool:
    """Whether a loop fills a stack part by part, and only reads an argument as large."""
    loop = value.owner
    if not isinstance(loop, stablehlo.WhileOp) or argument not in loop.operands:
        return False
    last, at = loop.body.block.last_op, loop.operands.index(argument)
    assert last is not None, "a loop's body returns"
    end = last.operands[loop.results.index(value)].owner
    is_filled = isinstance(end, stablehlo.DynamicUpdateSliceOp)
    return is_filled and keeps_operand(loop, at)


def _is_outside(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return (owner if isinstance(owner, Block) else owner.parent) is not block


def _is_collective(op: Operation) -> bool:
    if isinstance(op, stablehlo.CustomCallOp):
        return communication_of(op) is Communication.RAGGED
    return op.get_trait(Collective) is not None


def _reads_rows(op: Operation, index: int) -> bool:
    """Whether an op reads an operand row by row."""
    return is_kernel(op) or (isinstance(op, stablehlo.GatherOp) and not index)


def _is_shared(kernel: Kernel) -> bool:
    """Whether cores that work as one share a kernel, or devices do."""
    op, inside = kernel.op, (v.owner for v, size in kernel.read.items() if not size)
    return (
        _is_collective(op)
        or isinstance(op, stablehlo.GatherOp | stablehlo.ScatterOp | stablehlo.SortOp)
        or is_product(op)
        or any(isinstance(owner, PRODUCTS) for owner in inside)
    )


def _divides_scores(powers: Operation) -> bool:
    """Whether the exponentials of a softmax are of scores that are divided, not multiplied."""
    difference = powers.operands[0].owner
    assert isinstance(difference, stablehlo.SubtractOp), "its maximum is subtracted"
    way = way_to_product(difference.lhs)
    return any(isinstance(op, stablehlo.DivOp) for op in way)


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
