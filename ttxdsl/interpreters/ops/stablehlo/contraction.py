"""StableHLO ops that sum products, linear algebra, and batch normalization.

Source: StableHLO specification, one section an op.
"""

from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.interpreters.kernels import contraction, linalg
from ttxdsl.interpreters.kernels.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels.elementwise import Array, Kernel
from ttxdsl.interpreters.ops.registry import compiles, computes
from ttxdsl.interpreters.runtime.compiled_op import CompiledOp


@compiles(hlo.DotGeneralOp)
def _dot_general(op: hlo.DotGeneralOp) -> Kernel | CompiledOp:
    """Any product of two tensors; an algorithm rounds the operands first."""
    dims = op.dot_dimension_numbers.data
    product = contraction.Contraction(
        (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions),
        (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions),
        (rank_of(op.lhs.type), rank_of(op.rhs.type)),
        tensor_of(op.result.type)[1],
    )
    if (how := op.algorithm) is None or how.data.num_primitive_operations != 1:
        return CompiledOp(product, deferred=product.deferred)
    left, right = how.data.lhs_precision_type, how.data.rhs_precision_type

    def run(lhs: Array, rhs: Array) -> Array:
        return product(contraction.rounded(lhs, left), contraction.rounded(rhs, right))

    return run


@compiles(hlo.DotOp)
def _dot(op: hlo.DotOp) -> Kernel:
    ranks = (rank_of(op.lhs.type), rank_of(op.rhs.type))
    sums = ([ranks[0] - 1], [0])
    return contraction.Contraction(([], []), sums, ranks, tensor_of(op.result.type)[1])


@computes(hlo.EinsumOp, hlo.UnaryEinsumOp)
def _einsum(op: hlo.EinsumOp | hlo.UnaryEinsumOp, *args: Array) -> Array:
    dtype = tensor_of(op.result.type)[1]
    return contraction.einsum(op.einsum_config.data, dtype, *args)


@computes(hlo.CholeskyOp)
def _cholesky(op: hlo.CholeskyOp, a: Array) -> Array:
    return linalg.cholesky(a, bool(op.lower.value.data))


@computes(hlo.TriangularSolveOp)
def _triangular_solve(op: hlo.TriangularSolveOp, a: Array, b: Array) -> Array:
    return linalg.triangular_solve(
        a,
        b,
        left_side=bool(op.left_side.value.data),
        lower=bool(op.lower.value.data),
        unit_diagonal=bool(op.unit_diagonal.value.data),
        transpose_a=op.transpose_a.data.value,
    )


@computes(hlo.FftOp)
def _fft(op: hlo.FftOp, x: Array) -> Array:
    return linalg.fft(x, op.fft_type.data.value, op.fft_length.get_values())


@computes(hlo.ConvolutionOp, hlo.DynamicConvOp)
def _convolution(
    op: hlo.ConvolutionOp | hlo.DynamicConvOp, lhs: Array, rhs: Array, *padding: Array
) -> Array:
    """A kernel moved over the input; the padding of `dynamic_conv` is an operand."""
    dims = op.dimension_numbers.data
    spatial = len(dims.input_spatial_dimensions)
    if isinstance(op, hlo.ConvolutionOp):
        pairs = hlo.padding_pairs(op.padding, spatial)
    else:
        rows = padding[0].reshape(-1, 2)
        pairs = tuple((int(low), int(high)) for low, high in rows)
    window = contraction.ConvWindow(
        hlo.window_values(op.window_strides, spatial),
        pairs,
        hlo.window_values(op.lhs_dilation, spatial),
        hlo.window_values(op.rhs_dilation, spatial),
        hlo.window_flips(op.window_reversal, spatial),
    )
    return contraction.convolution(
        lhs,
        rhs,
        dims,
        window,
        op.feature_group_count.value.data,
        op.batch_group_count.value.data,
        tensor_of(op.result.type)[1],
    )


@computes(hlo.BatchNormInferenceOp)
def _batch_norm_inference(op: hlo.BatchNormInferenceOp, *args: Array) -> Array:
    rank, feature = rank_of(op.operand.type), op.feature_index.value.data
    x, scale, offset, mean, variance = args
    return linalg.batch_norm_inference(
        x, scale, offset, mean, variance, op.epsilon.value.data, rank, feature
    )


@computes(hlo.BatchNormTrainingOp)
def _batch_norm_training(
    op: hlo.BatchNormTrainingOp, x: Array, scale: Array, offset: Array
) -> tuple[Array, ...]:
    rank, feature = rank_of(op.operand.type), op.feature_index.value.data
    epsilon = op.epsilon.value.data
    return linalg.batch_norm_training(x, scale, offset, epsilon, rank, feature)


@computes(hlo.BatchNormGradOp)
def _batch_norm_grad(op: hlo.BatchNormGradOp, *args: Array) -> tuple[Array, ...]:
    rank, feature = rank_of(op.operand.type), op.feature_index.value.data
    x, scale, mean, variance, grad = args
    return linalg.batch_norm_grad(
        x, scale, mean, variance, grad, op.epsilon.value.data, rank, feature
    )
