"""Layouts that ops ask for: which dimensions of a value may lie along a tile's columns.

Most values are laid out with the least padding. What a convolution reads and writes has its
features or its batch along the columns, the other one or a window's dimension along the rows,
and elementwise ops around it work in the same layout. A product is stored as the matrices that it
is computed as, and one of batches with a dimension of its matrices along the columns. A Pallas
kernel reads and writes its dimensions in their order (queries of heads of 64 twice their bytes). An
argument that is laid out with less is copied before its first convolution: libtpu's
`bf16[16,256,256,64]{3,0,2,1:T(8,128)}` of an argument `{2,3,1,0}` takes twice its bytes. A gather and
a scatter move whole rows, which lie along the columns: `bf16[262144,4,64]{2,1,0:T(4,128)}`, and
what is computed of four scores a row takes 32 times its bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.costs.compilers import Compiler
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import is_kernel
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.dialects.traits import Elementwise, SameBytes
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import (
    Tensor,
    element_of,
    is_tensor,
    ordered_bytes,
    shape_of,
    tiled_bytes,
    tiled_order,
    value_bytes,
)
from ttxdsl.ir.traversal import ops_of_type

_Copied = dict[SSAValue, Sequence[SSAValue]]

_MOST_VALUES = 256
"""Values around one that are looked at for a convolution."""

_MOST_PADDING = 1.7
"""Between the 1.6 of tables that are copied row by row for their update, and 1.78."""

_FEW_MOMENTS = 2
"""Arguments that an update reads and replaces: weights and one moment."""

_FEW_TABLES = 5
"""Times the bytes of an embedding and its moments that all arguments have at least."""

_COLUMNS = 128
"""Columns of a tile."""

_TILE = (8, _COLUMNS)

UNROLLED = 4
"""Windows of a product that are no loop."""

_BEFORE_UPDATES = (stablehlo.ConvertOp, stablehlo.AllGatherOp)
"""Ops that begin to look a table up, other than the lookup itself."""

_MOVED = (
    stablehlo.TransposeOp,
    stablehlo.ConvertOp,
    stablehlo.AllReduceOp,
    stablehlo.ReduceScatterOp,
)
"""Ops that lead from a product to its sum as weights are stored."""

_REORDERED = (stablehlo.TransposeOp, stablehlo.ConvertOp, stablehlo.ReverseOp)
"""Ops that leave a value its dimensions, in an order."""

_ASKING = (
    stablehlo.ConvolutionOp,
    stablehlo.DotGeneralOp,
    stablehlo.GatherOp,
    stablehlo.ScatterOp,
)
"""Ops whose operands or results may have to lie along the columns."""


def _class_shares(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(SameBytes) is not None


_SHARES = ByClass(_class_shares)


def shares_bytes(op: Operation) -> bool:
    """Whether an op's results are its operands' bytes under another shape or type."""
    return _SHARES[type(op)] and not splits_features(op)


def uses(value: SSAValue) -> Iterator[tuple[Operation, int]]:
    """Yield each reader of a value, through reshapes and barriers, with the operand's index."""
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if not shares_bytes(op):
                yield op, use.index
            elif len(op.results) == len(op.operands):
                pending.append(op.results[use.index])
            else:
                pending.extend(op.results)


class Layouts:
    """The dimensions that may lie along the columns of tiles, by value."""

    def __init__(
        self,
        module: ModuleOp,
        compiler: Compiler,
        windows: Callable[[Operation], int] | None = None,
    ) -> None:
        self._windows, self._compiler = windows, compiler
        # values that ask for columns pass that on to values of the same shape alone
        self._asking = {
            shape_of(value)
            for op in ops_of_type(module, *_ASKING)
            for value in (*op.operands, *op.results)
            if is_tensor(value) and _asked_for(value)
        }
        self._columns: dict[SSAValue, frozenset[int] | None] = {}
        heads, self._tables = _Copied(), _Copied()
        if compiler.orders_arguments:
            heads, self._tables = _updated_in_rows(module)
        self._in_rows = self._tables | (heads if compiler.updates_rows else {})
        self._turned = _updated_in_columns(module, windows) if windows else {}

    def scattered_types(self, op: Operation) -> list[Tensor]:
        """Return what a scatter writes row by row, if what reads it has it in columns."""
        orders = self._compiler.orders_arguments
        if not isinstance(op, stablehlo.ScatterOp) or not orders:
            return []
        chain = op.results[0], *_moved(op.results[0])
        if chain[0] in self._in_rows or not _is_narrow(op):
            return []
        if any(map(_is_product, _computed_with(chain[-1]))):
            return []
        *front, last = shape_of(op.results[0])
        padded = -(-last // _COLUMNS) * _COLUMNS
        return [TensorType(element_of(op.results[0]), (*front, padded))]

    def copied_with(self, argument: SSAValue, op: Operation) -> Sequence[SSAValue]:
        """Return an argument, and those that are copied when an op reads it; none before an update."""
        is_early = isinstance(op, _BEFORE_UPDATES) and argument in self._tables
        return () if is_early else self._in_rows.get(argument, (argument,))

    def turned_first(self, op: Operation) -> Iterable[SSAValue]:
        """Return, once a block, the arguments that are copied for updates in columns ahead of an op."""
        return self._turned.pop(op.parent, ()) if op.parent else ()

    def stored_bytes(
        self, value: SSAValue, element: Attribute, tile: tuple[int, int]
    ) -> int:
        """Return the bytes of a value in whole tiles, as its readers want it or its op makes it."""
        if _is_of_kernel(value):
            shape = shape_of(value)
            return ordered_bytes(shape, element, tile, range(len(shape)))
        if value in self._in_rows:
            return tiled_bytes(shape_of(value), element, tile, _last(value))
        value = self._joined(value)
        columns = self.columns(value)
        shape = stored_shape(value) if columns is None else shape_of(value)
        return tiled_bytes(shape, element, tile, columns)

    def _joined(self, value: SSAValue) -> SSAValue:
        """Return what a value is read as, if that is features that were split for their groups.

        XLA moves the reshape ahead of what is computed (libtpu 0.0.52: a ResNet with group norms and a
        checkpoint, whose sums are `f32[32,56,56,512]` and not `[32,56,56,32,16]`).
        """
        reader = value.get_user_of_unique_use()
        if not isinstance(reader, stablehlo.ReshapeOp):
            return value
        is_split = len(shape_of(value)) == len(shape_of(reader.result)) + 1
        return reader.result if is_split and self.columns(reader.result) else value

    def columns(self, value: SSAValue) -> frozenset[int] | None:
        """Return the dimensions one of which lies along the columns; None: any may."""
        if not self._asking or shape_of(value) not in self._asking:
            return None
        if value not in self._columns:
            self._find(value)
        return self._columns[value]

    def _of_windows(self, value: SSAValue) -> frozenset[int]:
        """Return what a convolution in windows of its features wants along the columns.

        It slices them, or writes them so: what is laid out best is a window (libtpu 0.0.52:
        `bf16[64,56,56,256]{0,3,2,1}`, twice its bytes, of 64 images with 16 features a window).
        """
        if self._windows is None:
            return frozenset()
        own = [(value.op, None)] if isinstance(value, OpResult) else []
        ops = [*((use.operation, use.index) for use in value.uses), *own]
        for op, index in ops:
            if not isinstance(op, stablehlo.ConvolutionOp):
                continue
            dims = _windowed_dims(op, index) if (count := self._windows(op)) > 1 else ()
            if dims:
                batch, features = dims
                window = shape_of(value)[batch], shape_of(value)[features] // count
                by_batch, by_features = (
                    tiled_bytes(window, element_of(value), _TILE, [at]) for at in (0, 1)
                )
                return frozenset([batch if by_batch < by_features else features])
        return frozenset()

    def _find(self, value: SSAValue) -> None:
        """Look for who asks among what elementwise ops make of a value, or it of."""
        group = _computed_with(value)
        asked = (self._of_windows(member) or _asked_for(member) for member in group)
        columns = next(filter(None, asked), None)
        for member in group:
            self._columns.setdefault(member, columns)


def _windowed_dims(
    op: stablehlo.ConvolutionOp, index: int | None
) -> tuple[int, int] | tuple[()]:
    """Return the batch and the features of an operand or the result, if windows cut these.

    Args:
        op: a convolution, whose kernel is gathered or whose result is scattered.
        index: of the operand; None: the result.
    """
    dims = op.dimension_numbers.data
    gathered, scattered = gathered_dim(op.rhs), scattered_dim(op)
    if index is None and gathered == dims.kernel_output_feature_dimension:
        return dims.output_batch_dimension, dims.output_feature_dimension
    if index == 0 and gathered == dims.kernel_input_feature_dimension:
        return dims.input_batch_dimension, dims.input_feature_dimension
    if index == 0 and scattered == dims.output_batch_dimension:
        return dims.input_feature_dimension, dims.input_batch_dimension
    if index == 1 and scattered == dims.output_feature_dimension:
        return dims.kernel_input_feature_dimension, dims.kernel_output_feature_dimension
    return ()


def scattered_dim(op: Operation) -> int | None:
    """Return the dimension of a product's result along which it is scattered."""
    value: SSAValue = op.results[0]
    moves: list[Operation] = []
    while (user := value.get_user_of_unique_use()) is not None:
        if isinstance(user, stablehlo.ReduceScatterOp):
            dim = user.scatter_dimension.value.data
            for move in reversed(moves):
                dim = _dim_before(move, dim)
            return dim
        if not (isinstance(user, _REORDERED) or shares_bytes(user)):
            return None
        moves.append(user)
        value = user.results[0]
    return None


def gathered_dim(value: SSAValue) -> int | None:
    """Return the dimension along which a value was gathered, through what moves it."""
    moves: list[Operation] = []
    while isinstance(owner := value.owner, Operation):
        if isinstance(owner, stablehlo.AllGatherOp):
            dim = owner.all_gather_dim.value.data
            for move in reversed(moves):
                dim = _dim_behind(move, dim)
            return dim
        if not (isinstance(owner, _REORDERED) or shares_bytes(owner)):
            return None
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


def _is_of_kernel(value: SSAValue) -> bool:
    """Whether a Pallas kernel reads or makes a value."""
    ops = [use.operation for use in value.uses]
    if isinstance(value, OpResult):
        ops.append(value.op)
    return any(map(is_kernel, ops))


def stored_shape(value: SSAValue) -> tuple[int, ...]:
    """Return the shape that a value is stored in: of a product a matrix for each batch."""
    shape = shape_of(value)
    if not isinstance(value, OpResult) or not isinstance(
        op := value.op, stablehlo.DotGeneralOp
    ):
        return shape
    numbers = op.dot_dimension_numbers.data
    batch = len(numbers.lhs_batching_dimensions)
    summed = len(numbers.lhs_contracting_dimensions)
    rows = len(shape_of(op.lhs)) - summed
    return *shape[:batch], prod(shape[batch:rows]), prod(shape[rows:])


def splits_features(op: Operation) -> bool:
    """Whether a reshape splits features that a convolution laid along the columns of tiles.

    XLA moves the split behind the sums of a group normalization, but not if what they are divided
    by is no constant, as in `jnp.var`, which subtracts from a count: then it is a copy, laid out anew,
    and what is computed again for its gradient is made of it (libtpu 0.0.52, v5e and v6e, batches of 8
    and 64: `f32[8,64,64,128]{2,1,3,0}` of a convolution's `{3,0,2,1}` in three of eight ways to write
    one; a U-Net).
    """
    if not isinstance(op, stablehlo.ReshapeOp):
        return False
    before, after = shape_of(op.operand), shape_of(op.result)
    if len(before) < 4 or len(after) != len(before) + 1:
        return False
    split = next((d for d, size in enumerate(before) if size != after[d]), -1)
    if after[split] * after[split + 1] != before[split]:
        return False
    return split in _features(op.operand) and _is_divided_by_count(op.result)


def _is_divided_by_count(value: SSAValue) -> bool:
    """Whether sums of a value, or of what it is computed with, are divided by no constant."""
    return any(
        _is_quotient(op.results[0])
        for member in _computed_with(value)
        for op, _ in uses(member)
        if isinstance(op, stablehlo.ReduceOp)
    )


def _is_quotient(total: SSAValue) -> bool:
    """Whether a sum is divided by a number that the program computes."""
    for op, index in uses(total):
        if isinstance(op, stablehlo.BroadcastInDimOp) and _is_quotient(op.result):
            return True
        if isinstance(op, stablehlo.DivOp) and not index:
            count = op.rhs.owner
            if isinstance(count, stablehlo.BroadcastInDimOp):
                count = count.operand.owner
            is_number = isinstance(count, Operation) and not shape_of(count.results[0])
            if is_number and not isinstance(count, stablehlo.ConstantOp):
                return True
    return False


def read_joined(op: Operation, buffer: SSAValue) -> SSAValue:
    """Return what an op reads in place of a buffer: features before they were split, joined again.

    XLA moves reshapes ahead of elementwise ops, so that what is normalized is made of what the
    convolution stored.
    """
    split = buffer.owner
    if not isinstance(op, stablehlo.ReshapeOp) or not isinstance(
        split, stablehlo.ReshapeOp
    ):
        return buffer
    is_joined = shape_of(op.result) == shape_of(split.operand)
    return split.operand if is_joined and splits_features(split) else buffer


def reads_repeated(product: Operation, index: int) -> bool:
    """Whether a product of a single row each reads what is broadcast and joined: it is no product of matrices.

    Keys and values that are repeated for the heads of one token's query are stored, one after the other
    (libtpu 0.0.52: four of four steps, v5e, v5p and v6e, heads of 64 and 128).
    """
    joined = product.operands[index].owner
    if not isinstance(product, stablehlo.DotGeneralOp) or not isinstance(
        joined, stablehlo.ReshapeOp
    ):
        return False
    repeated, other = joined.operand.owner, product.operands[1 - index]
    if not isinstance(repeated, stablehlo.BroadcastInDimOp):
        return False
    dims = product.dot_dimension_numbers.data
    taken = (
        (*dims.lhs_batching_dimensions, *dims.lhs_contracting_dimensions),
        (*dims.rhs_batching_dimensions, *dims.rhs_contracting_dimensions),
    )[1 - index]
    alone = (size for at, size in enumerate(shape_of(other)) if at not in taken)
    return bool(shape_of(repeated.operand)) and prod(alone) == 1


def _features(value: SSAValue) -> frozenset[int]:
    """Return the dimensions along the columns of convolutions that a value is computed of."""
    pending, seen = [value], {value}
    while pending and len(seen) < _MOST_VALUES:
        owner = pending.pop().owner
        if isinstance(owner, stablehlo.ConvolutionOp):
            return frozenset((owner.dimension_numbers.data.output_feature_dimension,))
        if isinstance(owner, Operation) and _KEEPS_LAYOUT[type(owner)]:
            shape = shape_of(value)
            new = {v for v in owner.operands if shape_of(v) == shape} - seen
            seen |= new
            pending += new
    return frozenset()


def rows_read(op: Operation, table: SSAValue, tile: tuple[int, int] | None) -> int:
    """Return the bytes of a gather's table row by row, 0 if it is stored so already."""
    shape = shape_of(table)
    if not isinstance(op, stablehlo.GatherOp) or op.operand is not table or not tile:
        return 0
    if tiled_order(shape, tile) == tuple(range(len(shape))):
        return 0
    return tiled_bytes(shape, element_of(table), tile, [len(shape) - 1])


def _updated_in_rows(module: ModuleOp) -> tuple[_Copied, _Copied]:
    """Return heads and tables that are updated row by row, each with all that are copied with it.

    The gradient is scattered row by row, and what the update computes lies in rows, too: of weights
    with one moment at most in any case, with two if the rows take up to 1.7 times the bytes (libtpu
    0.0.52, v5e, v5p and v6e, split and not: 17 of 17 tables of 16 to 192 columns). Weights are copied
    when they are looked up, else for the update (seven of seven steps whose parts of an embedding are
    gathered for the lookup), moments together. Else the gradient is copied into columns.

    The gradient of an embedding that is the head, too, is added to that of the other: in rows with
    two moments (17 of 17 language models, 1.07 to 1.6 times; not four of 1.78 and 2). v5e copies the
    arguments at the start (seven of eight; not Gemma 2 2B among 8, a fifth of whose arguments these
    are: the copies hide its gradient's last message), v5p for the update alone, v6e now so, now so.
    """
    heads: _Copied = {}
    tables: _Copied = {}
    for scatter in ops_of_type(module, stablehlo.ScatterOp):
        if not _is_narrow(scatter):
            continue
        gradient = scatter.results[0]
        shape, element = shape_of(gradient), element_of(gradient)
        least = tiled_bytes(shape, element, _TILE)
        in_rows = tiled_bytes(shape, element, _TILE, _last(gradient))
        chain = (*scatter.inputs, gradient, *_moved(gradient))
        group = _computed_with(chain[-1])
        arguments = [value for value in group if isinstance(value.owner, Block)]
        is_head = any(map(_is_product, group))
        is_few = len(arguments) <= _FEW_MOMENTS and not is_head
        if not arguments or not (is_few or in_rows < least * _MOST_PADDING):
            continue
        if not is_head:
            tables |= {value: (value,) for value in chain}
            for v in arguments:
                readers = (use.operation for use in v.uses)
                looked_up = any(isinstance(r, stablehlo.GatherOp) for r in readers)
                tables[v] = (v,) if looked_up else arguments
        else:
            block = cast(Block, arguments[0].owner)
            of_block = sum(map(_bytes, block.args))
            if of_block > _FEW_TABLES * sum(map(_bytes, arguments)):
                heads.update((argument, arguments) for argument in arguments)
    return heads, tables


def turned(product: Operation) -> SSAValue | None:
    """Return a product's sum as weights are stored, if it is transposed on the way."""
    value, is_turned = product.results[0], False
    while isinstance(user := value.get_user_of_unique_use(), _MOVED):
        is_turned ^= isinstance(user, stablehlo.TransposeOp)
        value = user.results[0]
    return value if is_turned else None


def _updated_in_columns(
    module: ModuleOp, windows: Callable[[Operation], int]
) -> dict[Block, dict[SSAValue, None]]:
    """Return arguments whose update computes in the layout of their gradient, by their block.

    A gradient that all devices scatter in windows, unrolled, is laid out as its product. Where types
    have shardings JAX transposes that (XLA does not fold it): weights and moments are copied first
    (libtpu 0.0.52: 18 of 18 steps of four v5e and v6e; late in four for v6e without a checkpoint), but
    not where a norm reads the gradient, nor on meshes of two axes (none of four).
    """
    copied: dict[Block, dict[SSAValue, None]] = {}
    is_unrolled = 1 < (devices := devices_of(module)) <= UNROLLED
    for op in ops_of_type(module, stablehlo.DotGeneralOp) if is_unrolled else ():
        value = turned(op) if windows(op) == devices else None
        if value is None or scattered_dim(op) is None:
            continue
        group = _computed_with(value)
        own = (v for v in group if isinstance(v, OpResult))
        readers = (use.operation for v in own for use in v.uses)
        if any(isinstance(reader, stablehlo.ReduceOp) for reader in readers):
            continue
        for argument in (v for v in group if isinstance(v, BlockArgument)):
            if not isinstance(argument.block.parent_op(), stablehlo.WhileOp):
                copied.setdefault(argument.block, {})[argument] = None
    return copied


def _is_narrow(scatter: stablehlo.ScatterOp) -> bool:
    """Whether a scatter writes rows of a matrix that is stored with less along its columns."""
    value = scatter.results[0]
    shape, element = shape_of(value), element_of(value)
    if len(scatter.inputs) != 1 or len(shape) != 2 or shape[-1] == 1:
        return False
    if tuple(scatter.scatter_dimension_numbers.data.inserted_window_dims) != (0,):
        return False
    return tiled_bytes(shape, element, _TILE) < tiled_bytes(
        shape, element, _TILE, _last(value)
    )


def _moved(value: SSAValue) -> Iterator[SSAValue]:
    """Yield what a value that is read once becomes on its way to its sum among devices."""
    while isinstance(op := value.get_user_of_unique_use(), _MOVED[1:]):
        value = op.results[0]
        yield value


def _bytes(value: SSAValue) -> int:
    return value_bytes(value) if is_tensor(value) else 0


def _last(value: SSAValue) -> tuple[int]:
    return (len(shape_of(value)) - 1,)


def _is_product(value: SSAValue) -> bool:
    """Whether a value is a product's, summed among devices or transposed."""
    op = value.owner
    while isinstance(op, _MOVED):
        op = op.operands[0].owner
    return isinstance(op, stablehlo.DotGeneralOp)


def _computed_with(value: SSAValue) -> list[SSAValue]:
    """Return a value and those of its shape that elementwise ops lead to or from."""
    group, seen = [value], {value}
    for member in group:  # it grows
        if len(group) < _MOST_VALUES:
            new = [other for other in _alike(member) if other not in seen]
            seen.update(new)
            group += new
    return group


def _asked_for(value: SSAValue) -> frozenset[int] | None:
    """Return the dimensions that a convolution, a gather or a scatter wants along the columns."""
    if isinstance(value, OpResult) and isinstance(value.op, stablehlo.ConvolutionOp):
        dims = value.op.dimension_numbers.data
        return frozenset((dims.output_batch_dimension, dims.output_feature_dimension))
    if isinstance(value, OpResult) and (matrix := _matrix(value.op)):
        return matrix
    if isinstance(value.owner, stablehlo.GatherOp) and (
        rows := moved_rows(value.owner)
    ):
        return rows
    for use in value.uses:
        if use.index == 2 and (rows := moved_rows(use.operation)):
            return rows  # the updates of a scatter
        if isinstance(use.operation, stablehlo.ConvolutionOp):
            dims = use.operation.dimension_numbers.data
            if use.index == 0:
                return frozenset(
                    (dims.input_batch_dimension, dims.input_feature_dimension)
                )
            return frozenset(
                (
                    dims.kernel_input_feature_dimension,
                    dims.kernel_output_feature_dimension,
                )
            )
    return None


def _matrix(op: Operation) -> frozenset[int]:
    """Return the dimensions of each batch's matrix that a product gives, if tiles do not fit them.

    One of them lies along the columns, as in the scores of 196 patches, which libtpu 0.0.52
    stores as `f32[128,12,196,196]{2,3,1,0:T(8,128)}`, a third more than their bytes.
    """
    if not isinstance(op, stablehlo.DotGeneralOp):
        return frozenset()
    batch = len(op.dot_dimension_numbers.data.lhs_batching_dimensions)
    matrix = shape_of(op.result)[batch:]
    fits = any(size % _COLUMNS == 0 for size in matrix)
    return frozenset(
        (batch, batch + 1) if batch and len(matrix) == 2 and not fits else ()
    )


def moved_rows(op: Operation) -> frozenset[int]:
    """Return the dimension along which the rows lie that a gather or a scatter moves whole.

    A multiple of a tile's columns needs no padding, and nobody asks for it.
    """
    match op:
        case stablehlo.GatherOp():
            rows, moved = op.dimension_numbers.data.offset_dims, op.result
        case stablehlo.ScatterOp() if len(op.updates) == 1:
            rows = op.scatter_dimension_numbers.data.update_window_dims
            moved = op.updates[0]
        case _:
            return frozenset()
    is_narrow = bool(rows) and 1 < shape_of(moved)[rows[-1]] < _COLUMNS
    return frozenset(rows[-1:]) if is_narrow else frozenset()


def is_held_back(op: Operation) -> bool:
    """Whether a checkpoint's barrier reads what an op makes, which is a buffer then."""
    pending = list(op.results)
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, stablehlo.OptimizationBarrierOp):
                return True
            if isinstance(user, stablehlo.ReshapeOp):
                pending += user.results
    return False


def _alike(value: SSAValue) -> list[SSAValue]:
    """Return the values of the same shape that elementwise ops lead to or from."""
    ops: list[Operation] = [use.operation for use in value.uses]
    if isinstance(value, OpResult):
        ops.append(value.op)
    shape = shape_of(value)
    return [
        other
        for op in ops
        if _KEEPS_LAYOUT[type(op)]
        for other in (*op.operands, *op.results)
        if is_tensor(other) and shape_of(other) == shape
    ]


def _class_keeps_layout(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(Elementwise) is not None or issubclass(
        kind, stablehlo.ConvertOp | stablehlo.OptimizationBarrierOp
    )


_KEEPS_LAYOUT = ByClass(_class_keeps_layout)


def written_in_place(op: Operation) -> list[tuple[SSAValue, OpResult]]:
    """Return operands whose buffers results may take over, each with its result."""
    match op:
        case stablehlo.WhileOp():
            return list(zip(op.operands, op.results, strict=True))
        case stablehlo.DynamicUpdateSliceOp() | stablehlo.ScatterOp():
            return list(zip(op.operands, op.results, strict=False))
        case stablehlo.AllReduceOp():
            pairs = zip(op.operands, op.results, strict=True)
            return [(value, result) for value, result in pairs if not _is_lent(value)]
        case _:
            return []


def _is_lent(value: SSAValue) -> bool:
    """Whether a value is another one's buffer: a loop's state, or rows that are scattered by batches.

    XLA's heap lets an op write over an operand only if the op that begins its buffer is the operand
    itself (`HeapSimulator`; libtpu 0.0.52: sums of 5 of 5 loops' results have another buffer). A
    scatter into each of several tables is one into a table of all their rows, reshaped afterwards
    (two of two recommenders).
    """
    owner = _maker(value)
    return isinstance(owner, stablehlo.WhileOp) or is_of_tables(value)


def is_of_tables(value: SSAValue) -> bool:
    """Whether a value is what a scatter into each of several tables makes."""
    owner = _maker(value)
    return isinstance(owner, stablehlo.ScatterOp) and bool(
        owner.scatter_dimension_numbers.data.input_batching_dims
    )


def _maker(value: SSAValue) -> Operation | Block:
    """Return what makes a value, reshaped or not."""
    while isinstance(owner := value.owner, Operation) and shares_bytes(owner):
        value = owner.operands[0]
    return owner


def writes_part(op: Operation) -> bool:
    """Whether an op changes a part of its first operand and keeps the rest."""
    return isinstance(op, stablehlo.DynamicUpdateSliceOp | stablehlo.ScatterOp)
