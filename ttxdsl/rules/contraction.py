"""Sharding rules of matrix products, decompositions and triangular solves."""

from collections.abc import Iterable, Iterator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType, pointwise
from ttxdsl.rules.table import OpRule, rule


def dot_general(op: stablehlo.DotGeneralOp) -> Iterator[Factor]:
    """Yield the factors of a product.

    In the order of the result's dimensions: batch, free ones of the left side, of the
    right side; then the contracted ones, over which partial products are summed.
    """
    lhs, rhs = shape_of(op.lhs), shape_of(op.rhs)
    numbers = op.dot_dimension_numbers.data
    batch = (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)
    contracted = (
        numbers.lhs_contracting_dimensions,
        numbers.rhs_contracting_dimensions,
    )

    out = 0
    for left, right in zip(*batch, strict=True):
        yield Factor(lhs[left], (left, right), (out,))
        out += 1
    for left, size in enumerate(lhs):
        if left not in batch[0] and left not in contracted[0]:
            yield Factor(size, (left, None), (out,))
            out += 1
    for right, size in enumerate(rhs):
        if right not in batch[1] and right not in contracted[1]:
            yield Factor(size, (None, right), (out,))
            out += 1
    for left, right in zip(*contracted, strict=True):
        yield Factor(lhs[left], (left, right), None, FactorType.REDUCTION)


def dot(op: stablehlo.DotOp) -> Iterator[Factor]:
    """Yield the last dimension of the left with the first of the right."""
    lhs, rhs = shape_of(op.lhs), shape_of(op.rhs)
    last = len(lhs) - 1
    for left in range(last):
        yield Factor(lhs[left], (left, None), (left,))
    for right in range(1, len(rhs)):
        yield Factor(rhs[right], (None, right), (last + right - 1,))
    yield Factor(rhs[0], (last, 0), None, FactorType.REDUCTION)


def cholesky(op: stablehlo.CholeskyOp) -> Iterable[Factor]:
    """Batch dimensions are independent; each matrix is decomposed on one device."""
    shape = shape_of(op.a)
    batch = len(shape) - 2
    return pointwise(
        shape,
        lambda dim: (
            FactorType.PASS_THROUGH if dim < batch else FactorType.NEED_REPLICATION
        ),
    )


def triangular_solve(op: stablehlo.TriangularSolveOp) -> Iterator[Factor]:
    """Batches and the sides of `b` are independent; a solve itself runs on one device.

    With T for `a`, transposed where asked, the op solves `T @ x = b`, where b has T's
    rows and x T's columns, or `x @ T = b`, where it is the other way round.
    """
    a, b = shape_of(op.a), shape_of(op.b)
    *_, rows, columns = range(len(a))
    yield from pointwise(a[:-2])

    def sides(dim: int) -> Factor:
        kind = FactorType.NEED_REPLICATION  # as in Shardy
        return Factor(b[dim], (None, dim), (dim,), kind, local=True)

    transposed = op.transpose_a.data in (
        stablehlo.Transpose.TRANSPOSE,
        stablehlo.Transpose.ADJOINT,
    )
    of_a = (columns, rows) if transposed else (rows, columns)
    if op.left_side.value.data:
        with_b, with_x = of_a
        yield Factor(a[with_b], (with_b, rows), None, FactorType.NEED_REPLICATION)
        yield sides(columns)
        yield Factor(a[with_x], (with_x, None), (rows,), FactorType.NEED_REPLICATION)
    else:
        with_x, with_b = of_a
        yield sides(rows)
        yield Factor(a[with_b], (with_b, columns), None, FactorType.NEED_REPLICATION)
        yield Factor(a[with_x], (with_x, None), (columns,), FactorType.NEED_REPLICATION)


RULES: tuple[OpRule, ...] = (
    rule(stablehlo.CholeskyOp, cholesky),
    rule(stablehlo.DotGeneralOp, dot_general),
    rule(stablehlo.DotOp, dot),
    rule(stablehlo.TriangularSolveOp, triangular_solve),
)
