"""Kernels that XLA makes of several ops, and the space that it needs beside results.

- A softmax behind a product whose rows fit a kernel is one with it. What it stores are the
  exponentials, in the type that they have, and everybody behind reads those; a product in
  bf16 whose scores are f32 so takes twice the bytes. Of longer rows the product is stored,
  and the exponentials are made again by whoever reads them. libtpu 0.0.52, v5e, v5p and
  v6e: rows of 1024 to 3584 f32 are kept, rows of 4096 to 8192 are for several sequences, by a kernel
  that reads the stored scores, and not for a single one. Nor are those of grouped
  queries (grouped or multi-query attention written with a dimension of groups) where their
  gradient is made, or rows are long: the product stores scores, in bf16 half of that (eight of
  eight programs; of long rows without a gradient one).
- A scatter of one element for each row into one value is a comparison with the indices.
- A stable sort sorts numbers of elements along, and a large top_k is such a sort.
- An all_to_all sends and receives parts that are contiguous: what it splits or joins along
  another dimension than the first is copied first, or afterwards.
- What is padded between elements is a copy of its own (libtpu 0.0.52: an associative scan, whose
  levels it joins so).
- A running sum is made in two levels, whose first has the size of the result.
"""

from collections.abc import Callable, Container, Iterator
from itertools import islice
from math import inf, prod
from typing import cast

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.analysis.usage.buffers.layouts import (
    UNROLLED,
    is_of_tables,
    reads_repeated,
    scattered_dim,
    shares_bytes,
    uses,
)
from ttxdsl.costs.compilers import Compiler
from ttxdsl.dialects import chlo, sdy, stablehlo
from ttxdsl.dialects.calls.kernels import PRODUCTS
from ttxdsl.dialects.replica_groups import device_groups, devices_of, listed_groups
from ttxdsl.dialects.stablehlo.reduction import single_op_of
from ttxdsl.dialects.traits import Elementwise, SameBytes
from ttxdsl.ir.tensors import Tensor, element_bits, element_of, shape_of, value_bytes
from ttxdsl.sharding.devices.replica_groups import groups_along

_LONGEST_ROW = 3584
"""Elements of the longest row whose softmax is one kernel."""

_MOST_OPS = 64
"""Ops that a look back from one passes at most."""

RUN = 128
"""Elements of a running sum's first level."""

REARRANGES = (stablehlo.TransposeOp, stablehlo.ConvertOp)
"""Ops after which a value has the same elements in another order or type."""

FUNCTIONS = (
    *(stablehlo.ExpOp, stablehlo.LogOp, stablehlo.TanhOp, stablehlo.LogisticOp),
    *(stablehlo.DivOp, stablehlo.RsqrtOp, stablehlo.SqrtOp, stablehlo.PowOp),
)
"""Ops that are not made twice where they are stored anyway."""


def _owner(value: SSAValue) -> Operation | None:
    return value.owner if isinstance(value, OpResult) else None


def _behind_shapes(value: SSAValue) -> SSAValue:
    """Return what a value is broadcast or reshaped of."""
    while (owner := _owner(value)) is not None:
        if isinstance(owner, stablehlo.MaxOp):  # with -inf, as JAX writes it
            sides = [_behind_shapes(side) for side in owner.operands]
            reduced = [s for s in sides if isinstance(s.owner, stablehlo.ReduceOp)]
            return reduced[0] if len(reduced) == 1 else value
        is_shape = isinstance(owner, stablehlo.BroadcastInDimOp)
        if not is_shape and owner.get_trait(SameBytes) is None:
            return value
        value = owner.operands[0]
    return value


def _reduces_rows(op: Operation | None, applied: type[Operation]) -> bool:
    if not isinstance(op, stablehlo.ReduceOp) or len(op.inputs) != 1:
        return False
    last = len(shape_of(op.inputs[0])) - 1
    dims = tuple(op.dimensions.get_values())
    return dims == (last,) and isinstance(op.applied_op(), applied)


def way_to_product(value: SSAValue) -> list[Operation]:
    """Return the ops that lead back to a product, one after the other, and that.

    None of them if a convert ends them: it changes places with a maximum, which then reads what is
    converted, stored.
    """
    count = prod(shape_of(value))
    way: list[Operation] = []
    computes = False
    while (owner := _owner(value)) is not None:
        way.append(owner)
        if isinstance(owner, PRODUCTS[:2]):
            return way if computes else []
        is_moved = isinstance(owner, stablehlo.ConvertOp | stablehlo.TransposeOp)
        if owner.get_trait(Elementwise) is None and not is_moved:
            return []
        if isinstance(owner, stablehlo.ConvertOp) and not computes:
            return []
        computes |= not is_moved
        large = [
            operand
            for operand in owner.operands
            if operand.has_one_use()
            and prod(shape_of(operand)) == count
            and not isinstance(operand.owner, stablehlo.BroadcastInDimOp)
        ]
        if len(large) != 1:
            return []
        value = large[0]
    return []


def softmax_product(op: Operation) -> Operation | None:
    """Return the product of which exponentials are the softmax, in one kernel."""
    product = _product_of_softmax(op)
    if product is None or _is_grouped(product, op):
        return None
    is_long = shape_of(op.results[0])[-1] > _LONGEST_ROW
    return None if is_long and has_groups(product) else product


def is_made_of_stored(powers: Operation, product: Operation) -> bool:
    """Whether the exponentials of a softmax are a kernel that reads scores, stored by a product.

    Long rows of several sequences are, whose mask the product's kernel puts in.
    """
    return shape_of(powers.results[0])[-1] > _LONGEST_ROW and _has_sequences(product)


def _has_sequences(product: Operation) -> bool:
    """Whether scores are of several sequences, which are what a product has first."""
    if not isinstance(product, stablehlo.DotGeneralOp):
        return False
    batch = product.dot_dimension_numbers.data.lhs_batching_dimensions
    return bool(batch) and shape_of(product.result)[0] > 1


def mask_types(op: Operation, longest: int) -> list[Tensor]:
    """Return what is stored for exponentials of masked scores whose mask is no part of a kernel.

    The scores, the mask, and as large as they what it puts in their place and what they are
    multiplied by (libtpu 0.0.52 for v6e: six of six layers with rows of 3,072 and 4,096; none of
    2,560, none without a mask and none of a single sequence).

    Args:
        op: any; other ops than exponentials of masked scores store nothing.
        longest: elements of a row whose mask is part of a kernel; 0: any.
    """
    powers = (
        op.operands[0].owner if longest and isinstance(op, stablehlo.ExpOp) else None
    )
    masked = powers.lhs.owner if isinstance(powers, stablehlo.SubtractOp) else None
    if not isinstance(masked, stablehlo.SelectOp):
        return []
    if max(shape_of(masked.result)[-1:], default=0) <= longest:
        return []
    scores, count = behind_moves(masked.on_true).owner, 2
    if isinstance(scores, stablehlo.MulOp | stablehlo.DivOp):
        scores, count = behind_moves(scores.lhs).owner, 3
    if not isinstance(scores, PRODUCTS) or not _has_sequences(scores):
        return []
    return [cast(Tensor, masked.pred.type), *[cast(Tensor, op.results[0].type)] * count]


def is_probabilities(value: SSAValue) -> bool:
    """Whether a value is exponentials divided by something, converted or not."""
    while isinstance(value.owner, stablehlo.ConvertOp) or (
        isinstance(value.owner, Operation)
        and value.owner.get_trait(SameBytes) is not None
    ):
        value = value.owner.operands[0]
    divided = value.owner
    return isinstance(divided, stablehlo.DivOp) and isinstance(
        divided.lhs.owner, stablehlo.ExpOp
    )


def makes_powers(op: Operation, hidden: Container[Operation]) -> bool:
    """Whether exponentials are among the hidden ops that an op's kernel makes."""
    pending, seen = [op], {op}
    while pending and len(seen) < _MOST_OPS:
        makers = {_owner(value) for value in pending.pop().operands} - seen
        pending += [maker for maker in makers if maker is not None and maker in hidden]
        seen.update(pending)
    return any(isinstance(maker, stablehlo.ExpOp) for maker in seen)


def divides_exponentials(op: Operation) -> bool:
    """Whether elementwise ops make an op of exponentials and of quotients of its own shape."""
    shape = shape_of(op.results[0])
    pending, seen = [op], {op}
    while pending and len(seen) < _MOST_OPS:
        for value in pending.pop().operands:
            owner = _owner(value)
            if owner is None or owner in seen or shape_of(value) != shape:
                continue
            if owner.get_trait(Elementwise) or isinstance(owner, stablehlo.ConvertOp):
                seen.add(owner)
                pending.append(owner)
    return {stablehlo.ExpOp, stablehlo.DivOp} <= set(map(type, seen))


def ends_grouped_softmax(op: Operation) -> bool:
    """Whether an op converts probabilities of grouped scores, which are stored themselves."""
    if not isinstance(op, stablehlo.ConvertOp):
        return False
    divided = _owner(op.operand)
    if not isinstance(divided, stablehlo.DivOp):
        return False
    powers = _owner(divided.lhs)
    product = None if powers is None else _product_of_softmax(powers)
    return product is not None and _is_grouped(product, powers)


def _is_grouped(product: Operation, powers: Operation | None) -> bool:
    """Whether scores have a dimension of groups, and exponentials of them a gradient."""
    if powers is None:
        return False
    readers = (use.operation for use in powers.results[0].uses)
    has_gradient = any(isinstance(reader, stablehlo.MulOp) for reader in readers)
    return has_gradient and has_groups(product)


def has_groups(product: Operation) -> bool:
    """Whether a product gives more than rows and columns of each batch."""
    if not isinstance(product, stablehlo.DotGeneralOp):
        return False
    batch = product.dot_dimension_numbers.data.lhs_batching_dimensions
    return sum(size > 1 for size in shape_of(product.result)[len(batch) :]) > 2


def _product_of_softmax(op: Operation) -> Operation | None:
    """Return the product that elementwise ops lead from to the exponentials of a softmax."""
    if not isinstance(op, stablehlo.ExpOp):
        return None
    shape, element = shape_of(op.result), element_of(op.result)
    if not shape or element_bits(element) != 32:
        return None
    difference = _owner(op.operand)
    if not isinstance(difference, stablehlo.SubtractOp):
        return None
    scores, most = difference.operands
    largest = _behind_shapes(most).owner
    if not isinstance(largest, Operation):
        return None
    if not _reduces_rows(largest, stablehlo.MaxOp):
        return None
    if largest.operands[0] is not scores:
        return None
    readers = [use.operation for use in op.result.uses]
    if not any(_reduces_rows(reader, stablehlo.AddOp) for reader in readers):
        return None
    product = next(reversed(way_to_product(scores)), None)
    if product is None or shape[-1] <= _LONGEST_ROW or is_made_of_stored(op, product):
        return product
    return None


def is_row_wise(op: Operation) -> bool:
    """Whether an op is one of a softmax over rows that one kernel holds: maximum, exponential, sum."""
    value = op.operands[0]
    shape = shape_of(value)
    if not shape or shape[-1] > _LONGEST_ROW:
        return False
    if isinstance(op, stablehlo.ExpOp):
        return True
    return _reduces_rows(op, stablehlo.MaxOp) or (
        _reduces_rows(op, stablehlo.AddOp) and isinstance(value.owner, stablehlo.ExpOp)
    )


def is_one_hot(op: Operation) -> bool:
    """Whether a scatter puts one element into each row of one repeated value."""
    if not isinstance(op, stablehlo.ScatterOp) or len(op.inputs) != 1:
        return False
    dims = op.scatter_dimension_numbers.data
    shape = shape_of(op.inputs[0])
    single = len(dims.inserted_window_dims) == 1 and not dims.update_window_dims
    if not single or len(dims.input_batching_dims) != len(shape) - 1:
        return False
    rows = prod(shape) // max(1, shape[dims.inserted_window_dims[0]])
    filled = op.inputs[0].owner
    return (
        prod(shape_of(op.updates[0])) == rows
        and isinstance(filled, stablehlo.BroadcastInDimOp)
        and not shape_of(filled.operands[0])
    )


def is_added(op: Operation) -> bool:
    """Whether a scatter adds to one repeated value, and its one reader adds that to another one.

    XLA scatters into the other one then, in its place (its algebraic simplifier; libtpu 0.0.52: the
    momentum of tables, 391 MiB less).
    """
    if not isinstance(op, stablehlo.ScatterOp) or len(op.inputs) != 1:
        return False
    user, zeros = op.results[0].get_user_of_unique_use(), op.inputs[0].owner
    return (
        isinstance(user, stablehlo.AddOp)
        and isinstance(single_op_of(op.update_computation), stablehlo.AddOp)
        and isinstance(zeros, stablehlo.BroadcastInDimOp)
        and not shape_of(zeros.operand)
    )


def adds_scattered(op: Operation, *, is_stored: bool) -> bool:
    """Whether an op adds what is scattered to a product, which is stored for that: it begins with it.

    The sum is stored, or something that is there before is added to both: the product's kernel adds that.
    """
    if not isinstance(op, stablehlo.AddOp):
        return False
    scattered = [isinstance(v.owner, stablehlo.ScatterOp) for v in op.operands]
    user = op.result.get_user_of_unique_use()
    return any(scattered) and (is_stored or isinstance(user, stablehlo.AddOp))


def scratch_types(op: Operation) -> list[Tensor]:
    """Return the buffers that an op needs beside operands and results while it runs."""
    match op:
        case stablehlo.SortOp() if bool(op.is_stable and op.is_stable.value.data):
            return [TensorType(i32, shape_of(op.operands[0]))] * 2
        case stablehlo.AllToAllOp() if len(op.operands) == 1:
            # parts go out and come in one behind the other
            shapes = (
                (op.operands[0], op.split_dimension),
                (op.results[0], op.concat_dimension),
            )
            return [
                TensorType(element_of(value), shape_of(value))
                for value, dim in shapes
                if prod(shape_of(value)[: dim.value.data]) > 1
            ]
        case stablehlo.ReduceScatterOp() if op.scatter_dimension.value.data:
            # parts are no run of what is summed: it is summed whole, and cut
            of_tables = is_of_tables(op.operand)
            return [cast(Tensor, op.operand.type)] if of_tables else []
        case chlo.TopKOp():
            return [TensorType(i32, shape_of(op.operand))] * 2
        case stablehlo.ReduceWindowOp() if len(op.inputs) == 1:
            shape = shape_of(op.inputs[0])
            windows = zip(op.window_dimensions.get_values(), shape, strict=True)
            runs = [size for window, size in windows if window == size > 1]
            is_running = len(runs) == 1 and runs[0] > RUN
            return [TensorType(element_of(op.inputs[0]), shape)] if is_running else []
        case _:
            return []


def window_types(whole: SSAValue, count: int, *, is_sum: bool) -> list[Tensor]:
    """Return the types of the windows of a value that are on their way, in HBM.

    A product in four windows has no loop, and they go both ways round: two parts of what is
    gathered, or four partial sums. In a loop of more there is one sum beside the result; the
    rest has room on the core. (libtpu 0.0.52, products of 8192 x 8192 among 4, 8 and 16 v5e.)
    """
    number = (4 if is_sum else 2) if count <= UNROLLED else int(is_sum)
    part = TensorType(element_of(whole), (prod(shape_of(whole)) // count,))
    return [part] * number


class KernelsMaking:
    """The kernels that would make values if each reader made them itself.

    Args:
        may_hide: whether an op's result may be made inside its readers.
        takes_in: whether an op makes the operand of an index itself.
    """

    def __init__(
        self,
        may_hide: Callable[[Operation], bool],
        takes_in: Callable[[Operation, int], bool],
    ) -> None:
        self._may_hide, self._takes_in = may_hide, takes_in
        self._of: dict[Operation, frozenset[Operation]] = {}

    def of(self, op: Operation) -> frozenset[Operation]:
        """Return two at most of the kernels; the op itself if it is stored."""
        pending = [op]
        while pending:
            current = pending[-1]
            readers = [use for result in current.results for use in uses(result)]
            is_hidden = self._may_hide(current) and all(
                self._takes_in(*use) for use in readers
            )
            users = [user for user, _ in readers if is_hidden]
            unknown = [user for user in users if user not in self._of]
            if unknown and current not in self._of:
                pending += unknown
                continue
            pending.pop()
            kernels = frozenset[Operation]().union(*(self._of[user] for user in users))
            is_stored = isinstance(current, FUNCTIONS) and len(kernels) > 1
            if is_stored or not kernels:
                kernels = frozenset((current,))
            self._of[current] = frozenset([*kernels][:2])
        return self._of[op]


def summed(value: SSAValue) -> SSAValue:
    """Return what an all_reduce or a reduce_scatter sums, or the value itself."""
    while isinstance(value.owner, stablehlo.AllReduceOp | stablehlo.ReduceScatterOp):
        value = value.owner.operands[0]
    return value


def sources_of(value: SSAValue, block: Block | None) -> set[SSAValue]:
    """Return what a value is made of in a block, as far as a look back tells."""
    pending, seen = [value], {value}
    sources = set[SSAValue]()
    while pending and len(seen) < _MOST_OPS:
        current = pending.pop()
        sources.add(current)
        if isinstance(current, OpResult) and current.op.parent is block:
            new = [operand for operand in current.op.operands if operand not in seen]
            seen.update(new)
            pending += new
    return sources - {value}


def products_behind(op: Operation) -> set[Operation]:
    """Return the products that read an op's results as they are, or transposed once."""
    products: set[Operation] = set()
    for result in op.results:
        for user, _ in uses(result):
            if isinstance(user, stablehlo.TransposeOp):
                products.update(
                    behind
                    for behind, _ in uses(user.results[0])
                    if isinstance(behind, PRODUCTS)
                )
            elif isinstance(user, PRODUCTS):
                products.add(user)
    return products


def puts_apart(op: Operation) -> bool:
    """Whether an op pads between elements."""
    return isinstance(op, stablehlo.PadOp) and any(op.interior_padding.get_values())


def behind_moves(value: SSAValue) -> SSAValue:
    """Return what a value is, transposed, reshaped or converted or not."""
    while isinstance(owner := value.owner, Operation) and (
        isinstance(owner, REARRANGES) or shares_bytes(owner)
    ):
        value = owner.operands[0]
    return value


def behind_converts(value: SSAValue) -> SSAValue:
    """Return what a value that one op reads is converted or reshaped of."""
    while value.has_one_use() and isinstance(value.owner, Operation):
        owner = value.owner
        if not (shares_bytes(owner) or isinstance(owner, stablehlo.ConvertOp)):
            break
        value = owner.operands[0]
    return value


def scales(op: Operation) -> bool:
    """Whether an op multiplies by something broadcast."""
    factors = op.operands if isinstance(op, stablehlo.MulOp) else ()
    return any(isinstance(v.owner, stablehlo.BroadcastInDimOp) for v in factors)


def product_flops(op: Operation) -> float:
    """Return the floating-point operations of a product; of a convolution more than any message."""
    if not isinstance(op, stablehlo.DotGeneralOp):
        return inf
    summed = op.dot_dimension_numbers.data.lhs_contracting_dimensions
    sizes = shape_of(op.lhs)
    return 2 * prod(shape_of(op.result)) * prod(sizes[dim] for dim in summed)


def sent_among(op: Operation) -> int:
    """Return among how many devices an all_gather, or a sum with all that scatter it, works."""
    if isinstance(op, stablehlo.ReduceScatterOp):
        return summed_among(op)
    assert isinstance(op, stablehlo.AllGatherOp), "products have no other messages"
    return _group_size(op.outputs[0], op.inputs[0], op.all_gather_dim.value.data)


def _group_size(whole: SSAValue, part: SSAValue, dim: int) -> int:
    return shape_of(whole)[dim] // max(1, shape_of(part)[dim])


def summed_among(op: stablehlo.ReduceScatterOp) -> int:
    """Return among how many devices a value is summed, by those that scatter it further, too.

    libtpu has one collective of all of them: 16 by 4 are 64, which are no windows.
    """
    size = _group_size(op.operand, op.result, op.scatter_dimension.value.data)
    user = op.result.get_user_of_unique_use()
    while user is not None and shares_bytes(user):
        user = user.results[0].get_user_of_unique_use()
    if isinstance(user, stablehlo.ReduceScatterOp):
        size *= summed_among(user)
    return size


def uses_through_moves(value: SSAValue) -> Iterator[tuple[Operation, int]]:
    """Yield each reader of a value, through reshapes, transposes and converts."""
    for user, index in uses(value):
        if isinstance(user, REARRANGES):
            yield from uses_through_moves(user.results[0])
        else:
            yield user, index


class Windows:
    """The products that are one loop with a collective, a part ("window") of it each iteration.

    The collective gathers an operand or scatters the result. XLA's partitioner makes none where
    it first splits the product into groups that need the operand whole. libtpu 0.0.52 makes none

    - where further axes split the batch along the dimension that the collective's axes split: data
      beside FSDP (all of 9 meshes of one slice, and steps of two slices);
    - of an operand whose product sums over other devices, or has its other operand gathered:
      weights beside a tensor axis (of some 150 products of 15 steps);
    - of a convolution, where the collective has a group for each of several parts of the mesh (three
      of three ResNets and U-Nets with a second axis, and none of five without).
    """

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._batches: dict[Operation, list[frozenset[int]]] = {}

    def of(self, op: Operation) -> int:
        """Return how many windows a product has in a loop with its collective, or 1."""
        if not self._compiler.windows or not isinstance(op, PRODUCTS):
            return 1
        return max(self.scattered(op), *(self.gathered(v, op) for v in op.operands))

    def scattered(self, product: Operation) -> int:
        """Return among how many a product's result is reduce-scattered in windows, or 1."""
        users = [user for user, _ in uses_through_moves(product.results[0])]
        if len(users) != 1 or not isinstance(users[0], stablehlo.ReduceScatterOp):
            return 1
        return self._windows_of(users[0], product)

    def gathered(self, value: SSAValue, product: Operation) -> int:
        """Return among how many a value was gathered for a product in windows, or 1."""
        gather = _gather_of(value)
        if gather is None or _has_several_readers(gather):
            return 1
        others = (other for other in product.operands if other is not value)
        if any(map(_gather_of, others)) or _is_summed(product):
            return 1
        return self._windows_of(gather, product)

    def takes_in(self, product: Operation, index: int) -> bool:
        """Whether a product in no windows makes an operand itself.

        It does not what is repeated for a single row each, nor what devices cut for its result.

        Those that compute the same gradient of a convolution each compute a part, if the groups that
        scatter it are as many as each has devices, sum these and permute them (libtpu 0.0.52 for v5e, v5p
        and v6e: of meshes of 4 by 4 whose second axis splits no weights, not of 4 by 2, 8 by 2, 8 by 4).
        """
        takes_in = self._compiler.products_take_in
        if not isinstance(product, stablehlo.ConvolutionOp):
            return takes_in and not reads_repeated(product, index)
        users = [user for user, _ in uses_through_moves(product.result)]
        if len(users) == 1 and isinstance(users[0], stablehlo.ReduceScatterOp):
            groups, size = len(listed_groups(users[0])[0]), summed_among(users[0])
            is_alike = not self._splits_part_of_batch(users[0], size)
            if is_alike and 1 < size == groups:
                return operand_with(product, scattered_dim(product)) != index
        return takes_in

    def _windows_of(self, message: Operation, product: Operation) -> int:
        size, least = sent_among(message), self._compiler.flops_while_sent
        part = max(map(value_bytes, (*message.operands, *message.results))) / size
        is_hidden = product_flops(product) >= least * part
        if not is_hidden or size not in self._compiler.windows:
            return 1
        is_image = isinstance(product, stablehlo.ConvolutionOp)
        if is_image and len(listed_groups(message)[0]) > 1:
            return 1
        return 1 if self._splits_part_of_batch(message, size) else size

    def _splits_part_of_batch(self, message: Operation, size: int) -> bool:
        """Whether more devices than the `size` of a message hold one dimension of the batch."""
        program = message.parent_op()
        while program is not None and not isinstance(program, sdy.ManualComputationOp):
            program = program.parent_op()
        if program is None:
            return False
        if program not in self._batches:
            self._batches[program] = list(_batch_groups(program))
        module = sdy.enclosing_module(program)
        assert module is not None, "a computation is in a module"
        first, *_ = device_groups(message, devices_of(module))
        batches = self._batches[program]
        return any(set(first) < batch and len(batch) > size for batch in batches)


def _gather_of(value: SSAValue) -> Operation | None:
    """Return the all_gather whose result a value is, moved or not."""
    owner = behind_moves(value).owner
    return owner if isinstance(owner, stablehlo.AllGatherOp) else None


def _has_several_readers(gather: Operation) -> bool:
    """Whether more than one op reads what is gathered, moved or not."""
    return len([*islice(uses_through_moves(gather.results[0]), 2)]) > 1


def _is_summed(product: Operation) -> bool:
    """Whether devices sum a product's result, alone or with others that are added before."""
    pending, seen = [product.results[0]], set[Operation]()
    while pending and len(seen) < _MOST_OPS:
        for user, _ in uses_through_moves(pending.pop()):
            if isinstance(user, stablehlo.AllReduceOp | stablehlo.ReduceScatterOp):
                return True
            if isinstance(user, stablehlo.AddOp) and user not in seen:
                seen.add(user)
                pending.append(user.result)
    return False


def _batch_groups(program: sdy.ManualComputationOp) -> Iterator[frozenset[int]]:
    """Yield the devices of a dimension that several axes split, of what a step reads alone.

    What a step returns as it is read, as weights are, is no batch.
    """
    returned = set(zip(program.result_types, program.out_shardings.data, strict=True))
    for operand, sharding in zip(
        program.operands, program.in_shardings.data, strict=True
    ):
        mesh = sdy.find_mesh(program, sharding.mesh)
        if mesh is None or (operand.type, sharding) in returned:
            continue
        for dim in sharding.dims:
            yield frozenset(groups_along(mesh, dim.axes)[0])


def sums_along(
    op: stablehlo.DotGeneralOp | stablehlo.ConvolutionOp, at: int, dim: int | None
) -> bool:
    """Whether a product sums along a dimension of one of its operands."""
    if isinstance(op, stablehlo.ConvolutionOp):
        dims = op.dimension_numbers.data
        kept = dims.input_batch_dimension, dims.kernel_output_feature_dimension
        return dim != kept[at]
    dims = op.dot_dimension_numbers.data
    summed = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    return dim in summed[at]


def operand_with(
    op: stablehlo.DotGeneralOp | stablehlo.ConvolutionOp, dim: int | None
) -> int:
    """Return which operand a dimension of a product's result is one of."""
    if isinstance(op, stablehlo.ConvolutionOp):
        return int(dim == op.dimension_numbers.data.output_feature_dimension)
    dims = op.dot_dimension_numbers.data
    of_lhs = len(shape_of(op.lhs)) - len(dims.lhs_contracting_dimensions)
    return int(dim is not None and dim >= of_lhs)
