"""StableHLO ops that sum products, and linear algebra on matrices.

Source: StableHLO specification, sections dot_general, convolution, cholesky,
triangular_solve and fft.
"""

from xdsl.interpreter import Interpreter

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.kernels import contraction, linalg
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.ops.registry import (
    implements,
    prepares,
)
from ttxdsl.interpreters.runtime.compiled_op import Prepared
from ttxdsl.interpreters.runtime.regions import Values


@prepares(hlo.DotGeneralOp)
def _dot_general(op: hlo.DotGeneralOp) -> Kernel | Prepared:
    """Any product of two tensors; an algorithm rounds the operands first."""
    dims = op.dot_dimension_numbers.data
    product = contraction.Contraction(
        (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions),
        (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions),
        (rank_of(op.lhs.type), rank_of(op.rhs.type)),
        tensor_of(op.result.type)[1],
    )
    if (how := op.algorithm) is None or how.data.num_primitive_operations != 1:
        return Prepared(product, later=product.later)
    left, right = how.data.lhs_precision_type, how.data.rhs_precision_type

    def run(lhs: Array, rhs: Array) -> Array:
        return product(contraction.rounded(lhs, left), contraction.rounded(rhs, right))

    return run


@implements(hlo.DotOp)
def _dot(_: Interpreter, op: hlo.DotOp, args: Values) -> Values:
    """The last dimension of the left with the first of the right."""
    ranks = (rank_of(op.lhs.type), rank_of(op.rhs.type))
    dtype = tensor_of(op.result.type)[1]
    sums = ([ranks[0] - 1], [0])
    lhs, rhs = args
    return (contraction.dot_general(lhs, rhs, ([], []), sums, ranks, dtype),)


@implements(hlo.EinsumOp)
def _einsum(_: Interpreter, op: hlo.EinsumOp, args: Values) -> Values:
    """A product said in letters."""
    dtype = tensor_of(op.result.type)[1]
    ranks = (rank_of(op.lhs.type), rank_of(op.rhs.type))
    lhs, rhs = args
    return (contraction.einsum(op.einsum_config.data, lhs, rhs, ranks, dtype),)


@implements(hlo.UnaryEinsumOp)
def _unary_einsum(_: Interpreter, op: hlo.UnaryEinsumOp, args: Values) -> Values:
    """A sum, transposition or diagonal said in letters."""
    return (contraction.unary_einsum(op.einsum_config.data, args[0]),)


@implements(hlo.CholeskyOp)
def _cholesky(_: Interpreter, op: hlo.CholeskyOp, args: Values) -> Values:
    """A triangular factor of each matrix."""
    lower = bool(op.lower.value.data)
    return (linalg.cholesky(args[0], lower),)


@implements(hlo.TriangularSolveOp)
def _triangular_solve(
    _: Interpreter, op: hlo.TriangularSolveOp, args: Values
) -> Values:
    """Systems of equations with a triangular matrix."""
    return (
        linalg.triangular_solve(
            *args,
            left_side=bool(op.left_side.value.data),
            lower=bool(op.lower.value.data),
            unit_diagonal=bool(op.unit_diagonal.value.data),
            transpose_a=op.transpose_a.data.value,
        ),
    )


@implements(hlo.FftOp)
def _fft(_: Interpreter, op: hlo.FftOp, args: Values) -> Values:
    """Fourier transforms of the last dimensions."""
    lengths = op.fft_length.get_values()
    return (linalg.fft(args[0], op.fft_type.data.value, lengths),)


@implements(hlo.ConvolutionOp, hlo.DynamicConvOp)
def _convolution(
    _: Interpreter, op: hlo.ConvolutionOp | hlo.DynamicConvOp, args: Values
) -> Values:
    """A kernel moved over the input; of `dynamic_conv`, the padding is computed."""
    lhs, rhs, *computed = args
    dims = op.dimension_numbers.data
    spatial = len(dims.input_spatial_dimensions)
    if isinstance(op, hlo.ConvolutionOp):
        pairs = hlo.padding_pairs(op.padding, spatial)
    else:
        rows = computed[0].reshape(-1, 2)
        pairs = tuple((int(low), int(high)) for low, high in rows)
    window = contraction.ConvWindow(
        hlo.window_values(op.window_strides, spatial),
        pairs,
        hlo.window_values(op.lhs_dilation, spatial),
        hlo.window_values(op.rhs_dilation, spatial),
        hlo.window_flips(op.window_reversal, spatial),
    )
    result = contraction.convolution(
        lhs,
        rhs,
        dims,
        window,
        op.feature_group_count.value.data,
        op.batch_group_count.value.data,
        tensor_of(op.result.type)[1],
    )
    return (result,)
