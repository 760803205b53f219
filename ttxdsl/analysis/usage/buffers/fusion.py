"""Fusion: values that are made inside the ops that read them, and take no memory.

XLA makes an elementwise value, a slice, a transpose or a converted copy again in each loop
over elements that reads it, rather than store it. So such a result is a buffer only if

- some reader cannot take it in: a collective, a sort, a gather's operand, a loop or a call
  that it enters, the return of a block. Products and reductions take in their operands;
- it is computed, and several products read it: those would each compute it;
- it adds to a product, and several kernels read it: it is stored in the product's place;
- it would read more buffers than a fusion may have operands.

Loops and updates work in place: they take over buffers that end with them.

Source: libtpu's dumps (`--xla_dump_to`); docs/evidence/plan.md has the model's errors.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ttxdsl.analysis.usage.buffers.kernels import (
    FUNCTIONS,
    REARRANGES,
    KernelsMaking,
    Windows,
    adds_scattered,
    behind_converts,
    behind_moves,
    divides_exponentials,
    ends_grouped_softmax,
    has_groups,
    is_added,
    is_made_of_stored,
    is_one_hot,
    is_probabilities,
    makes_powers,
    mask_types,
    products_behind,
    puts_apart,
    scales,
    scratch_types,
    softmax_product,
    sources_of,
    summed,
    summed_among,
    uses_through_moves,
    window_types,
)
from ttxdsl.analysis.usage.buffers.layouts import (
    UNROLLED,
    is_held_back,
    moved_rows,
    read_joined,
    shares_bytes,
    uses,
    written_in_place,
)
from ttxdsl.analysis.usage.buffers.narrow import is_sunk, stored_element
from ttxdsl.analysis.values.entry import is_argument
from ttxdsl.costs.compilers import Compiler
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.kernels import PRODUCTS, is_kernel
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import (
    Tensor,
    element_bits,
    element_of,
    ordered_bytes,
    shape_of,
    tiled_order,
    value_bytes,
)
from ttxdsl.ir.traversal import OpOrder

_MOVES = (
    *(stablehlo.BroadcastInDimOp, stablehlo.BroadcastOp, stablehlo.IotaOp),
    *(stablehlo.SliceOp, stablehlo.DynamicSliceOp, stablehlo.PadOp),
    *(stablehlo.TransposeOp, stablehlo.ReverseOp, stablehlo.ConcatenateOp),
    stablehlo.ConvertOp,
)
"""Ops that move or convert elements, by index arithmetic that a loop can do."""

_CUTS = (stablehlo.SliceOp, stablehlo.ConcatenateOp, stablehlo.PadOp)
_SLICES = (stablehlo.SliceOp, stablehlo.DynamicSliceOp)
_SUMMANDS = (stablehlo.AddOp, *REARRANGES)

_MOST_OPERANDS = 64
"""Buffers that a fusion reads at most, as on XLA's GPUs; a bound of walks, too."""
_STORED_ONCE = 3
"""A value for two products is stored if making it reads so many times its bytes: it is then
written once and read twice, and its inputs are read once instead of twice. Convolutions read an
element in several windows, and it is two values of its elements, of any type (libtpu 0.0.52: residual
sums of a ResNet, and not the f32 means of images that are half as large, of four U-Nets)."""

TOGETHER = 4
"""Microbatches whose loops run together: of 5 to 12 that Python adds libtpu 0.0.52 runs four first."""


def _class_fuses(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(Elementwise) is not None or issubclass(kind, _MOVES)


_FUSES = ByClass(_class_fuses)
_ELEMENTWISE = ByClass(lambda kind: _FUSES[kind] and not issubclass(kind, _MOVES[:-1]))


class Fusion:
    """The fused results of a program; each op is settled once, after its operands.

    Args:
        saves_memory: whether it takes the order of ops that needs least, as compilers do
            when the order that hides most messages does not fit.
        together: microbatches at most whose loops run together.
        waiting: part of the gradients of layers in Python that wait for all (`gradients_last`).
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        saves_memory: bool = False,
        together: int = TOGETHER,
        waiting: float = 1.0,
    ) -> None:
        self.compiler = compiler
        self.saves_memory, self.together, self.waiting = saves_memory, together, waiting
        self.depends_on = set[str]()
        """The names of `together` and `waiting`, if the order of the ops depends on them."""
        self._is_fused: dict[Operation, bool] = {}
        self._is_computed: dict[Operation, bool] = {}
        self._stored: dict[SSAValue, Attribute] = {}
        self._epilogues: dict[Operation, bool] = {}
        self._order = OpOrder()
        self._windows = Windows(compiler)
        self._kernels_making = KernelsMaking(_may_hide, self._takes_in)
        self._reads: dict[Operation, dict[SSAValue, int]] = {}
        """Buffers read for the result of an op that may be hidden, with the bytes of each."""

    def is_fused(self, op: Operation) -> bool:
        """Whether an op's results are made inside all who read them, and are no buffers."""
        if op not in self._is_fused:
            self._settle(op)
        return self._is_fused[op]

    def is_stored(self, op: Operation) -> bool:
        """Whether a loop over elements stores what an op computes."""
        return _ELEMENTWISE[type(op)] and not self.is_fused(op)

    def is_streamed(self, op: Operation) -> bool:
        """Whether results exist a part at a time, in the loop of a product and a collective.

        An all_gather for one product, and a product that is only reduce-scattered; what
        else the product reads enters the loop, and is a buffer. And a product that only
        elementwise ops read, one after the other, up to one that is stored: not of one that is
        a loop with a gather, which puts the windows of its result into a buffer. A
        reduce_scatter among many is an all_reduce, and its part is a slice.
        """
        if isinstance(op, stablehlo.AllGatherOp):
            users = [user for user, _ in uses_through_moves(op.results[0])]
            return len(users) == 1 and self._is_windowed(users[0])
        if isinstance(op, stablehlo.ReduceScatterOp):
            windows = self.compiler.windows
            is_product = isinstance(op.operands[0].owner, PRODUCTS)
            is_slice = summed_among(op) >= windows.stop > 0
            return is_product and is_slice and not self.saves_memory
        return isinstance(op, PRODUCTS) and (
            self.is_scattered(op)
            or (not self._is_windowed(op) and self._has_epilogue(op))
        )

    def _softmax_product(self, op: Operation) -> Operation | None:
        """Return the product with which exponentials are one kernel that stores them."""
        return softmax_product(op) if self.compiler.products_take_in else None

    def is_scattered(self, product: Operation) -> bool:
        """Whether a product's result is only reduce-scattered, a window at a time."""
        return self._windows.scattered(product) > 1

    def is_transposed_behind(self, product: Operation) -> bool:
        """Whether a product that is scattered in windows has its result transposed in the end.

        It is scattered along rows, where that pads nothing that columns would not (libtpu 0.0.52: of
        16 heads of 128 it is transposed, of 20 and 32 heads of 64 not).
        """
        tile = self.compiler.tile
        if not self.compiler.scatters_rows or tile is None:
            return False
        (user, _), *_ = uses_through_moves(product.results[0])
        assert isinstance(user, stablehlo.ReduceScatterOp)
        value, dim = user.results[0], user.scatter_dimension.value.data
        while value.has_one_use():
            (use,) = value.uses
            if isinstance(use.operation, stablehlo.TransposeOp):
                dim = use.operation.permutation.get_values().index(dim)
            elif not isinstance(use.operation, stablehlo.ConvertOp):
                break
            value = use.operation.results[0]
        shape, element = shape_of(value), element_of(value)
        order = tiled_order(shape, tile)
        by_rows = ordered_bytes(shape, element, tile, (*order[:-2], *order[:-3:-1]))
        in_columns = ordered_bytes(shape, element, tile, order)
        return dim == order[-1] and by_rows <= in_columns

    def windows(self, op: Operation) -> int:
        """Return how many windows a product has in a loop with its collective, or 1."""
        return self._windows.of(op)

    def _is_windowed(self, op: Operation) -> bool:
        return self.windows(op) > 1

    def _takes_in(self, user: Operation, index: int) -> bool:
        """Whether an op makes its operand of an index inside its own loop."""
        if isinstance(user, stablehlo.DynamicUpdateSliceOp):
            return index == 1
        if _is_joined(user):
            return False
        if isinstance(user, stablehlo.CompositeOp):  # a slice by the device's number
            return user.composite_name.data == sdy.AllSliceOp.name
        if isinstance(user, stablehlo.ScatterOp):
            return is_one_hot(user) or (index == 0 and is_added(user))
        if isinstance(user, stablehlo.PadOp) and products_behind(user):
            # products take in the pad, and read what is computed before it
            maker = user.operand.owner
            return not (isinstance(maker, Operation) and self._is_computed.get(maker))
        if isinstance(user, PRODUCTS):
            if self._is_windowed(user):
                return self._windows.gathered(user.operands[index], user) > 1
            return self._windows.takes_in(user, index)
        return _FUSES[type(user)] or isinstance(
            user, stablehlo.ReduceOp | stablehlo.ReshapeOp
        )

    def buffers_read(self, op: Operation) -> list[SSAValue]:
        """Return the buffers that an op reads, itself or for what it makes inside."""
        self._settle(op)
        return list(self._read(op.operands))

    def stored_for(self, op: Operation) -> list[Operation]:
        """Return the products that need a value stored that others make themselves, or is repeated.

        The others, not in windows, have it inside. A value that finishes a product is written by that product; where
        others read the product, too, only for a loop of windows (libtpu 0.0.52: `silu` and `gelu` of
        what is kept for their gradient, made late for four windows of three steps, early for eight).
        """
        if self.is_fused(op) or not _may_hide(op):
            return []
        readers = [use for result in op.results for use in uses(result)]
        storing = [user for user, index in readers if not self._takes_in(user, index)]
        windowed = all(
            isinstance(user, PRODUCTS) and user.parent is op.parent for user in storing
        )
        is_repeated = isinstance(op, stablehlo.BroadcastInDimOp)
        if not windowed or (len(storing) == len(readers) and not is_repeated):
            return []
        is_loop = any(self.windows(product) > UNROLLED for product in storing)
        is_written = _finishes_product(op, is_alone=not is_loop)
        return [] if is_written else storing

    def _has_epilogue(self, product: Operation) -> bool:
        """Whether elementwise ops finish each part of a product before it is stored.

        All ways from it must lead to one that is stored. The exponentials of a softmax
        that is one kernel with the product are, too.
        """
        if product not in self._epilogues:
            self._epilogues[product] = self._find_epilogue(product)
        return self._epilogues[product]

    def _find_epilogue(self, product: Operation) -> bool:
        if not self.compiler.products_finish:
            return False
        stored: set[Operation] = set()
        pending, seen = [product], {product}
        while pending:
            for user, _ in uses(pending.pop().results[0]):
                if user in seen:
                    continue
                seen.add(user)
                if self._softmax_product(user) is product:
                    masks_first = not self.compiler.longest_masked_row
                    if masks_first and is_made_of_stored(user, product):
                        return False
                    longest = self.compiler.longest_made_row
                    is_short = shape_of(user.results[0])[-1] <= longest
                    is_read = all(map(_is_read, product.operands))
                    return is_short or is_read or has_groups(product)
                is_far = user.parent is not product.parent or len(seen) > _MOST_OPERANDS
                if is_far or adds_scattered(user, is_stored=not self.is_fused(user)):
                    return False
                is_passed = _ELEMENTWISE[type(user)] or isinstance(user, REARRANGES)
                if is_passed and self.is_fused(user):
                    pending.append(user)
                else:
                    stored.add(user)
        if len(stored) != 1:
            return False
        (last,) = stored
        if isinstance(last, stablehlo.ReduceOp):
            reads = self._read(last.operands)
            return self.finished_product(last, reads) is product.results[0]
        return _ELEMENTWISE[type(last)] and self._is_last_product(product, last)

    def _is_last_product(self, product: Operation, op: Operation) -> bool:
        """Whether no product behind one is finished by the same op: a kernel has one of them."""
        makers = {value.owner for value in self._read(op.operands)}
        return not any(
            isinstance(maker, PRODUCTS) and self._order.is_behind(maker, product)
            for maker in makers
        )

    def written_in_place(self, op: Operation) -> list[tuple[SSAValue, OpResult]]:
        """Return values whose buffers results may take over, each with its result.

        XLA lets the last elementwise op behind a product write over what it reads element
        by element, and one behind Pallas kernels over what they made. It does not do so in
        other loops over elements.
        """
        if not _ELEMENTWISE[type(op)] or self.is_fused(op):
            return written_in_place(op)
        added = {v for v in op.operands if isinstance(v, OpResult) and is_added(v.op)}
        if added:
            return [(v, op.results[0]) for v in op.operands if v not in added]
        reads = self._read(op.operands)
        streamed = {
            value
            for value in reads
            if isinstance(value.owner, PRODUCTS) and self.is_streamed(value.owner)
        }
        if not streamed:
            kernels = [(v, op.results[0]) for v in reads if is_kernel(v.owner)]
            return kernels or self._accumulated(op, reads)
        return [(value, op.results[0]) for value in reads if value not in streamed]

    def _accumulated(
        self, op: Operation, reads: Mapping[SSAValue, int]
    ) -> list[tuple[SSAValue, OpResult]]:
        """Return what a loop carries and an op's result replaces: they are one buffer."""
        block, result = op.parent, op.results[0]
        if block is None or not isinstance(block.parent_op(), stablehlo.WhileOp):
            return []
        carried = [
            block.args[index] for user, index in uses(result) if user is block.last_op
        ]
        return [
            (value, result)
            for value in carried
            if value in reads and value.has_one_use()
        ]

    def finished_product(
        self, op: Operation, reads: Mapping[SSAValue, int]
    ) -> SSAValue | None:
        """Return the product that a reduction is part of.

        What else it reads must not be made of that product, as a maximum is that a softmax
        subtracts.
        """
        if not self.compiler.products_finish or not isinstance(op, stablehlo.ReduceOp):
            return None
        products = [
            value
            for value in reads
            if isinstance(value.owner, PRODUCTS) and value.owner.parent is op.parent
        ]
        if not products:
            return None
        sources = set[SSAValue]().union(*(sources_of(v, op.parent) for v in reads))
        return next((value for value in products if value not in sources), None)

    def stored_element(self, value: SSAValue) -> Attribute:
        """Return the element type that a value is stored as."""
        if not self.compiler.converts_before_loops:
            return element_of(value)
        if value not in self._stored:
            self._stored[value] = stored_element(value, self._makes)
        return self._stored[value]

    def _makes(self, value: SSAValue, user: Operation, index: int) -> bool:
        """Whether a reader makes a value inside its own loop."""
        is_hidden = isinstance(value, OpResult) and _may_hide(value.op)
        return is_hidden and self._takes_in(user, index)

    def _settle(self, op: Operation) -> None:
        """Decide about an op, after all that it depends on (no recursion: chains are long)."""
        pending = [op]
        while pending:
            current = pending[-1]
            if current in self._is_fused:
                pending.pop()
                continue
            ahead = [
                value.owner
                for value in current.operands
                if isinstance(value.owner, Operation)
                and _may_hide(value.owner)
                and value.owner not in self._is_fused
            ]
            if ahead:
                pending += ahead
                continue
            pending.pop()
            self._decide(current)

    def _decide(self, op: Operation) -> None:
        if not _may_hide(op):
            self._is_fused[op] = False
            return
        reads = self._read(op.operands)
        for value in list(reads):
            if (source := read_joined(op, value)) is not value:
                del reads[value]
                reads |= self._read([source])
        if isinstance(op, _SLICES):
            given = value_bytes(op.results[0])
            reads = {value: min(size, given) for value, size in reads.items()}
        if self._is_realigned(op) or self._is_shared_slice(op):
            self._is_fused[op] = False
            return
        self._is_computed[op] = computed = self._computes(op)
        self._is_fused[op] = self._is_view(op) or (
            (_FUSES[type(op)] or is_one_hot(op) or is_added(op))
            and self._softmax_product(op) is None
            and len(reads) <= _MOST_OPERANDS
            and not (computed and self._is_stored_for_products(op, reads))
            and not self._joins_products(op, reads)
            and not (self._is_shared_sum(op) or self._is_mask(op, reads))
            and self._is_taken_in(op, reads)
        )
        if self._is_fused[op] or shares_bytes(op):
            self._reads[op] = reads

    def _is_taken_in(self, op: Operation, reads: Mapping[SSAValue, int]) -> bool:
        """Whether all readers of an op make its results themselves.

        Loops make what takes little to read: what is made of constants, and one of a
        product and its collective also what is made of small values, as a one-hot is.
        """
        size = sum(map(value_bytes, op.results))
        is_small = 8 * sum(reads.values()) <= size
        readers = [use for result in op.results for use in uses(result)]
        if is_held_back(op):
            return False
        apart = [use for use in readers if self._is_made_again(op, *use)]
        if readers and len(apart) == len(readers):
            return False
        return all(
            self._takes_in(*use)
            or (not reads and is_sunk(*use))
            or (is_small and self._is_windowed(use[0]))
            or use in apart
            for use in readers
        )

    def _is_made_again(self, op: Operation, user: Operation, index: int) -> bool:
        """Whether a gather has what is computed of its operand stored for itself alone.

        Labels' logits are read in f32, and their product is stored as it is for all others (ten of ten
        steps). Not what finishes a product in its type, as a bias does, which is stored in its place.
        """
        is_converted = isinstance(op, stablehlo.ConvertOp)
        if not isinstance(user, stablehlo.GatherOp) or index:
            return False
        if is_converted and isinstance(behind_moves(op.operand).owner, PRODUCTS):
            return True
        if isinstance(op, FUNCTIONS) or not self._is_computed[op]:
            return False
        finishes = self.compiler.products_finish and _finishes_product(op)
        return not finishes or is_converted

    def beside(self, op: Operation) -> list[Tensor]:
        """Return the types of the buffers that are there for an op alone, while it runs."""
        if isinstance(op, PRODUCTS) and self._is_windowed(op):
            if (count := self._windows.scattered(op)) > 1:
                return window_types(op.results[0], count, is_sum=True)
            count, whole = max(
                ((self._windows.gathered(v, op), v) for v in op.operands),
                key=lambda pair: pair[0],
            )
            return window_types(whole, count, is_sum=False)
        if masked := mask_types(op, self.compiler.longest_masked_row):
            return masked
        table = op.operand.owner if isinstance(op, stablehlo.GatherOp) else None
        if not isinstance(table, Operation) or not self.is_fused(table):
            return scratch_types(op)
        return (
            [cast(Tensor, table.results[0].type)] if _ELEMENTWISE[type(table)] else []
        )

    def _is_view(self, op: Operation) -> bool:
        """Whether an op transposes an argument: its readers take the order that it has."""
        if not self.compiler.orders_arguments or not isinstance(
            op, stablehlo.TransposeOp
        ):
            return False
        is_as_stored = self.stored_element(op.result) == element_of(op.result)
        return is_as_stored and is_argument(op.operand)

    def _is_shared_slice(self, op: Operation) -> bool:
        """Whether an op slices a loop's stack for several products, which read the slice."""
        takes_in = self.compiler.products_take_in
        is_read = takes_in and isinstance(op, stablehlo.DynamicSliceOp)
        return is_read and len(products_behind(op)) > 1

    def _is_realigned(self, op: Operation) -> bool:
        """Whether an op moves elements of a tile apart or to other columns: a copy of its own."""
        tile = self.compiler.tile
        if tile is not None and isinstance(op, stablehlo.TransposeOp):
            gather = op.operand.owner
            rows = moved_rows(gather) if isinstance(gather, stablehlo.GatherOp) else ()
            return bool(rows) and op.permutation.get_values()[-1] not in rows
        if tile is None or not isinstance(op, _CUTS) or _is_joined(op):
            return False
        last = [shape_of(value)[-1] for value in (*op.operands[:1], *op.results)]
        cut = len(set(last)) > 1 and any(size % tile[1] for size in last)
        return cut or puts_apart(op)

    def _is_stored_for_products(
        self, op: Operation, reads: Mapping[SSAValue, int]
    ) -> bool:
        """Whether several products read a value that is stored for them.

        One that finishes a product is, and one for which two read too much (`_STORED_ONCE`); if the
        compiler thinks so, one that combines two such (if it is made in f32 and of exponentials, as the
        gradients of bf16 scores are: libtpu 0.0.52 for v5p), or less than half, or probabilities.
        """
        if len(products := products_behind(op)) < 2:
            return False
        if self.compiler.products_finish and _finishes_product(op):
            return True
        own = value_bytes(op.results[0])
        if all(isinstance(p, stablehlo.ConvolutionOp) for p in products):
            return sum(map(_elements, reads)) >= 2 * _elements(op.results[0])
        if sum(reads.values()) >= _STORED_ONCE * own:
            return True
        bits = element_bits(self.stored_element(op.results[0]))
        if bits > self.compiler.stores_shared:
            return False
        stored = own * bits // element_bits(element_of(op.results[0]))
        if stored < own or isinstance(op, stablehlo.ConvertOp):
            if is_probabilities(op.results[0]):
                return self.compiler.stores_probabilities
            is_large = max(reads.values(), default=0) >= 2 * stored
            if is_large or ends_grouped_softmax(op) or self._joins_sum(op, reads):
                return True
            keeps = stored == own and self.compiler.stores_probabilities
            if not (keeps and makes_powers(op, self._reads)):
                return False
        return sum(_elements(v) >= _elements(op.results[0]) for v in reads) > 1

    def _joins_sum(self, op: Operation, reads: Mapping[SSAValue, int]) -> bool:
        """Whether one loop makes an op's quotients of exponentials and a sum that it does not need.

        Both read the same buffer: a custom gradient of logits and their loss do.
        """
        most = self.compiler.sequences_beside_sum
        if prod(shape_of(op.results[0])[:-2]) > most or not divides_exponentials(op):
            return False
        pending, seen = [max(reads, key=reads.__getitem__)], {op}
        while pending and len(seen) < _MOST_OPERANDS:
            users = [user for user, _ in uses(pending.pop()) if user not in seen]
            seen.update(users)
            sums = [user for user in users if isinstance(user, stablehlo.ReduceOp)]
            if any(total.results[0] not in reads for total in sums):
                return True
            pending += [user.results[0] for user in users if _may_hide(user)]
        return False

    def _joins_products(self, op: Operation, reads: Mapping[SSAValue, int]) -> bool:
        """Whether an op joins products that nobody else reads into fewer bytes.

        It finishes one of them and is stored in place of the others.
        """
        if not self.compiler.products_finish or not _ELEMENTWISE[type(op)]:
            return False
        products = [
            value
            for value in map(behind_converts, op.operands)
            if isinstance(value.owner, PRODUCTS) and value.has_one_use()
        ]
        return len(products) > 1 and sum(reads.values()) > value_bytes(op.results[0])

    def _is_shared_sum(self, op: Operation) -> bool:
        """Whether several kernels read what a product and values of its size, scaled or not, add up to.

        It is computed once, and stored in place of the product. A class token and patches are a value.
        """
        if not self.compiler.products_finish or not isinstance(op, stablehlo.AddOp):
            return False
        values, large = list(dict.fromkeys(op.operands)), list[SSAValue]()
        for value in values:  # it grows
            owner = value.owner
            if not isinstance(owner, Operation) or owner not in self._reads:
                large += [value] if _elements(value) == _elements(op.result) else []
            elif isinstance(owner, _SUMMANDS) or shares_bytes(owner) or scales(owner):
                values += [v for v in dict.fromkeys(owner.operands) if v not in values]
            elif _ELEMENTWISE[type(owner)] or type(owner) is stablehlo.ConcatenateOp:
                large += [value] if _elements(value) == _elements(op.result) else []
            elif not isinstance(owner, stablehlo.BroadcastInDimOp):
                return False
            if len(values) > _MOST_OPERANDS:
                return False
        has_product = any(isinstance(summed(value).owner, PRODUCTS) for value in large)
        return has_product and len(large) > 1 < len(self._kernels_making.of(op))

    def _is_mask(self, op: Operation, reads: Mapping[SSAValue, int]) -> bool:
        """Whether several kernels ask how integers of eight times the bytes compare: it is stored.

        So are numbers of rows, for a scatter and its gradient (libtpu 0.0.52).
        """
        least = 8 * value_bytes(op.results[0])
        if not isinstance(op, stablehlo.CompareOp) or sum(reads.values()) < least:
            return False
        users = (user for user, _ in uses(op.lhs) if type(user) is type(op))
        equal = (user for user in users if op.rhs in user.operands)
        kernels = {k for user in equal for k in self._kernels_making.of(user)}
        return isinstance(element_of(op.lhs), IntegerType) and len(kernels) > 1

    def _computes(self, op: Operation) -> bool:
        """Whether an op computes, or moves what was computed on the way."""
        if not (isinstance(op, _MOVES) or shares_bytes(op)):
            return True
        if isinstance(op, _SLICES) or not op.operands:
            return False
        owner = op.operands[0].owner
        return isinstance(owner, Operation) and self._is_computed.get(owner, False)

    def _read(self, values: Sequence[SSAValue]) -> dict[SSAValue, int]:
        """Return the buffers that are read for values, each with the bytes read of it."""
        reads: dict[SSAValue, int] = {}
        for value in values:
            owner = value.owner
            if isinstance(owner, stablehlo.ConstantOp):
                continue
            hidden = self._reads.get(owner) if isinstance(owner, Operation) else None
            if hidden is None:
                hidden = {value: value_bytes(value)}
            for buffer, size in hidden.items():
                reads[buffer] = max(reads.get(buffer, 0), size)
        return reads


def _elements(value: SSAValue) -> int:
    return prod(shape_of(value))


def _is_joined(op: Operation) -> bool:
    """Whether several convolutions read what an op joins, each from the buffers of its parts.

    So the upper half of a U-Net does (libtpu 0.0.52: five of five without a checkpoint, whose images
    that are repeated and features that are kept are buffers; one of a checkpoint is one itself).
    """
    products = products_behind(op) if isinstance(op, stablehlo.ConcatenateOp) else ()
    are_images = all(isinstance(p, stablehlo.ConvolutionOp) for p in products)
    return len(products) > 1 and are_images and not is_held_back(op)


def _may_hide(op: Operation) -> bool:
    """Whether an op may be fused, or gives its one operand another shape."""
    return (
        _FUSES[type(op)]
        or (shares_bytes(op) and len(op.operands) == 1 and len(op.results) == 1)
        or is_one_hot(op)
        or is_added(op)
    )


def _is_read(value: SSAValue) -> bool:
    """Whether a value is a buffer with its elements in some order, not computed on the way."""
    while isinstance(value.owner, Operation) and _may_hide(value.owner):
        owner = value.owner
        if not (isinstance(owner, REARRANGES) or shares_bytes(owner)):
            return False
        value = owner.operands[0]
    return True


def _finishes_product(op: Operation, *, is_alone: bool = True) -> bool:
    """Whether elementwise ops lead from a product to an op, each the only reader if `is_alone`.

    Else others may read on the way, and the product has as many elements as the op.
    """
    count = _elements(op.results[0])
    pending, seen = [op], {op}
    while pending and (is_alone or len(seen) < _MOST_OPERANDS):
        for value in pending.pop().operands:
            owner = value.owner if not is_alone or value.has_one_use() else None
            if not isinstance(owner, Operation) or owner in seen:
                continue
            seen.add(owner)
            if isinstance(owner, PRODUCTS) and (is_alone or _elements(value) == count):
                return True
            if shares_bytes(owner) or _ELEMENTWISE[type(owner)]:
                pending.append(owner)
    return False
