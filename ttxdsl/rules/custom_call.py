"""Sharding rules of custom calls whose targets are known.

Sources: Shardy's list of targets; `jax.lax.linalg` and `jax.lax` for JAX's targets. The
rules of tt-mlir's targets are in `tenstorrent.py`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.custom import (
    PYTHON_CALLBACKS,
    RAGGED_ALL_TO_ALL,
    Communication,
    communication_of,
)
from ttxdsl.dialects.calls.linalg import ROUTINE_OF, batch_rank
from ttxdsl.dialects.calls.tenstorrent import options
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules import tenstorrent
from ttxdsl.rules.builder import Factor, FactorType, Shape, pointwise, resized
from ttxdsl.rules.table import OpRule, rule


def like_first_result(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Return a factor a dimension of the first result, in all operands and results."""
    shape = shape_of(op.results[0])
    others = (shape_of(value) for value in (*op.operands, *op.results))
    if any(len(other) > len(shape) for other in others):
        return None
    return pointwise(shape)


def eigh(op: stablehlo.CustomCallOp) -> Iterator[Factor]:
    """`[…, n, n] -> […, n, n], [n]`: vectors, and values along their columns."""
    shape = shape_of(op.operands[0])
    *batch, rows, columns = range(len(shape))
    yield from pointwise(shape[: len(batch)])
    yield Factor(shape[rows], (rows,), (rows, None))
    yield Factor(shape[columns], (columns,), (columns, rows))


def qr(op: stablehlo.CustomCallOp) -> Iterator[Factor]:
    """`[…, m, n] -> […, m, n], […, min(m, n)]`: reflectors and their factors."""
    shape, factors = shape_of(op.operands[0]), shape_of(op.results[1])
    *batch, rows, columns = range(len(shape))
    yield from pointwise(shape[: len(batch)])
    for dim in (rows, columns):
        yield Factor(shape[dim], (dim,), (dim, None), FactorType.NEED_REPLICATION)
    yield Factor(factors[rows], None, (None, rows), FactorType.NEED_REPLICATION)


def householder_product(op: stablehlo.CustomCallOp) -> Iterator[Factor]:
    """`[…, m, n], […, k] -> […, m, n]`: reflectors and their factors to a matrix."""
    shape, factors = shape_of(op.operands[0]), shape_of(op.operands[1])
    *batch, rows, columns = range(len(shape))
    yield from pointwise(shape[: len(batch)])
    for dim in (rows, columns):
        yield Factor(shape[dim], (dim, None), (dim,), FactorType.NEED_REPLICATION)
    yield Factor(factors[rows], (None, rows), None, FactorType.NEED_REPLICATION)


def top_k(op: Operation) -> Iterable[Factor]:
    """`[…, n] -> […, k], […, k]`: values and their indices; rows are independent."""
    return resized(op, FactorType.NEED_REPLICATION, blocked=True)


def approximate_top_k(op: stablehlo.CustomCallOp) -> Iterator[Factor]:
    """Operand, its indices and two scalars to the values and indices of each bin."""
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    for dim, (size, bins) in enumerate(zip(before, after, strict=True)):
        if size == bins:
            yield Factor(size, dim, dim)
        else:
            yield Factor(size, dim, None)
            yield Factor(bins, None, dim, FactorType.NEED_REPLICATION, True)


def feeds_random_bits(op: stablehlo.CustomCallOp) -> bool:
    """Whether a result is the state of a random generator."""
    return any(
        isinstance(use.operation, stablehlo.RngBitGeneratorOp)
        for result in op.results
        for use in result.uses
    )


def combine_halves(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Pointwise, but the state of a random generator is replicated and stays so."""
    if not feeds_random_bits(op):
        return like_first_result(op)
    shape = shape_of(op.results[0])
    return (
        Factor(size, dim, dim, FactorType.NEED_REPLICATION, True)
        for dim, size in enumerate(shape)
    )


Factors = Callable[[stablehlo.CustomCallOp], Iterable[Factor] | None]


def every_element(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Return pointwise factors; None if the shapes have different ranks."""
    shapes = [shape_of(value) for value in (*op.operands, *op.results)]
    longest = max(shapes, key=len, default=())
    if any(shape and len(shape) != len(longest) for shape in shapes):
        return None
    return pointwise(longest)


def matrices(op: stablehlo.CustomCallOp) -> Iterable[Factor]:
    """The last two dimensions are a matrix, all before them batches."""
    return pointwise(shape_of(op.operands[0])[:-2])


def batches(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Yield factors of the batch dimensions of linear algebra, without matrices."""
    rank = batch_rank(op, ROUTINE_OF[op.call_target_name.data])
    operands, results = (
        [shape_of(value) for value in values] for values in (op.operands, op.results)
    )
    # a number is the same for all of the batch
    sizes = {shape[:rank] for shape in (*operands, *results) if shape or not rank}
    if len(sizes) != 1:
        return None
    return (*pointwise(sizes.pop()), *_whole(operands, results, rank))


def _whole(
    operands: Sequence[Shape], results: Sequence[Shape], rank: int
) -> Iterator[Factor]:
    """Yield a factor each for the dimensions from `rank` on."""
    for values, of_operands in ((operands, True), (results, False)):
        for index, shape in enumerate(values):
            for dim in range(rank, len(shape)):
                place = tuple(
                    dim if other == index else None for other in range(len(values))
                )
                places = (place, None) if of_operands else (None, place)
                yield Factor(shape[dim], *places, FactorType.NEED_REPLICATION)


def rows(op: stablehlo.CustomCallOp) -> Iterator[Factor]:
    """Yield all but the dimension of which some elements are taken.

    It shows in its size; where it keeps that it may be any.
    """
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    if before != after and len(before) == len(after):
        for dim, (size, taken) in enumerate(zip(before, after, strict=True)):
            if size == taken:
                yield Factor(size, dim, dim)


def rows_elsewhere(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Return factors of what is in a row, of rows that go to other devices; None for another form.

    `[n, …], [m, …], [k], [k], [k], [k] -> [m, …]`
    """
    if communication_of(op) is not Communication.RAGGED:
        return None
    others = (None,) * (len(op.operands) - 2)
    return [
        Factor(size, (dim, dim, *others), (dim,))
        for dim, size in enumerate(shape_of(op.results[0])[1:], 1)
    ]


OPAQUE = (None, None)
"""The rules of a target whose computation is unknown."""

TARGETS: dict[str, tuple[Factors | None, Factors | None]] = {
    **dict.fromkeys(ROUTINE_OF, (None, batches)),  # the lines below replace some
    **tenstorrent.TARGETS,
    "AllocateBuffer": (None, every_element),
    "ApproxTopK": (approximate_top_k, rows),
    "Cholesky": (like_first_result, matrices),
    "CompactWyHelper": (like_first_result, matrices),
    "Eigh": (eigh, matrices),
    "InspectSharding": (like_first_result, None),
    "InvertDiagBlocksLowerTriangular": (like_first_result, matrices),
    "InvertDiagBlocksUpperTriangular": (like_first_result, matrices),
    "LayoutConstraint": (like_first_result, every_element),
    "MoveToDevice": (like_first_result, every_element),
    "MoveToHost": (like_first_result, every_element),
    "PartialReduce": (approximate_top_k, rows),
    "ProductOfElementaryHouseholderReflectors": (householder_product, matrices),
    "Qr": (qr, matrices),
    "QrDecompositionBlock": (qr, matrices),
    RAGGED_ALL_TO_ALL: (None, rows_elsewhere),
    "Sharding": (None, every_element),  # JAX's annotation of a value
    "TopK": (None, rows),
    "X64Combine": (combine_halves, every_element),
    "X64SplitHigh": (like_first_result, every_element),
    "X64SplitLow": (like_first_result, every_element),
    "_SPMDInternalOp_MultiPad": (like_first_result, None),
    "_SPMDInternalOp_MultiRotate": (like_first_result, None),
    "_SPMDInternalOp_MultiSlice": (like_first_result, None),
    "_SPMDInternalOp_RotateRight": (like_first_result, None),
    "_SPMDInternalOp_Wrap": (like_first_result, None),
    "annotate_device_placement": (like_first_result, every_element),
    "mhlo.erf": (like_first_result, every_element),
    "mhlo.topk": (top_k, rows),
    "sdy_testonly": OPAQUE,
    "tpu_custom_call": OPAQUE,
    "xla.debug.Log": OPAQUE,
    "xla.megascale.provide_metadata": (like_first_result, None),
    **dict.fromkeys(PYTHON_CALLBACKS, OPAQUE),
}
"""Known targets: the factors along which shardings travel, None if Shardy has no rule,
and those along which devices share the call out, None if it has to be computed whole.
They differ, for Shardy lets shardings through dimensions that no device can do a part of.
"""


def custom_call(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Return the rule of a call's target; None if the target or its form is unknown."""
    factors, _ = TARGETS.get(op.call_target_name.data, OPAQUE)
    return factors(op) if factors and op.results else None


def unknown_to_shardy(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Return the rule of a routine of linear algebra that Shardy has none for."""
    factors, parts = TARGETS.get(op.call_target_name.data, OPAQUE)
    return batches(op) if parts is batches and factors is None else None


def custom_call_parts(op: stablehlo.CustomCallOp) -> Iterable[Factor] | None:
    """Return the factors that devices can divide a call by, if its target is known."""
    _, parts = TARGETS.get(op.call_target_name.data, OPAQUE)
    return parts(op) if parts else None


def _surroundings(op: stablehlo.CustomCallOp) -> Hashable:
    """Return what a call's rule depends on besides types: its options and its users."""
    return feeds_random_bits(op), tuple(options(op).items())


RULES: tuple[OpRule, ...] = (
    rule(
        stablehlo.CustomCallOp,
        custom_call,
        surroundings=_surroundings,
        parts=custom_call_parts,
    ),
)
