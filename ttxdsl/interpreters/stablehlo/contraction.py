"""StableHLO ops that sum products, and linear algebra on matrices.

Source: StableHLO specification, sections dot_general, convolution, cholesky,
triangular_solve and fft.
"""

from __future__ import annotations

from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters import contraction, linalg
from ttxdsl.interpreters.elements import rank_of, tensor_of
from ttxdsl.interpreters.kernels import Array


@register_impls
class ContractionFunctions(InterpreterFunctions):
    """Products and decompositions."""

    @impl(stablehlo.DotGeneralOp)
    def run_dot_general(
        self, interpreter: Interpreter, op: stablehlo.DotGeneralOp, args: PythonValues
    ) -> PythonValues:
        """Any product of two tensors; an algorithm rounds the operands first."""
        dims = op.dot_dimension_numbers.data
        lhs: Array = args[0]
        rhs: Array = args[1]
        if (how := op.algorithm) is not None and how.data.num_primitive_operations == 1:
            lhs = contraction.rounded(lhs, how.data.lhs_precision_type)
            rhs = contraction.rounded(rhs, how.data.rhs_precision_type)
        return (
            contraction.dot_general(
                lhs,
                rhs,
                (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions),
                (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions),
                (rank_of(op.lhs.type), rank_of(op.rhs.type)),
                tensor_of(op.result.type)[1],
            ),
        )

    @impl(stablehlo.DotOp)
    def run_dot(
        self, interpreter: Interpreter, op: stablehlo.DotOp, args: PythonValues
    ) -> PythonValues:
        """The last dimension of the left with the first of the right."""
        ranks = (rank_of(op.lhs.type), rank_of(op.rhs.type))
        dtype = tensor_of(op.result.type)[1]
        sums = ([ranks[0] - 1], [0])
        lhs, rhs = args
        return (contraction.dot_general(lhs, rhs, ([], []), sums, ranks, dtype),)

    @impl(stablehlo.EinsumOp)
    def run_einsum(
        self, interpreter: Interpreter, op: stablehlo.EinsumOp, args: PythonValues
    ) -> PythonValues:
        """A product said in letters."""
        dtype = tensor_of(op.result.type)[1]
        ranks = (rank_of(op.lhs.type), rank_of(op.rhs.type))
        lhs, rhs = args
        return (contraction.einsum(op.einsum_config.data, lhs, rhs, ranks, dtype),)

    @impl(stablehlo.UnaryEinsumOp)
    def run_unary_einsum(
        self, interpreter: Interpreter, op: stablehlo.UnaryEinsumOp, args: PythonValues
    ) -> PythonValues:
        """A sum, transposition or diagonal said in letters."""
        return (contraction.unary_einsum(op.einsum_config.data, args[0]),)

    @impl(stablehlo.CholeskyOp)
    def run_cholesky(
        self, interpreter: Interpreter, op: stablehlo.CholeskyOp, args: PythonValues
    ) -> PythonValues:
        """A triangular factor of each matrix."""
        lower = bool(op.lower.value.data)
        return (linalg.cholesky(args[0], lower),)

    @impl(stablehlo.TriangularSolveOp)
    def run_triangular_solve(
        self,
        interpreter: Interpreter,
        op: stablehlo.TriangularSolveOp,
        args: PythonValues,
    ) -> PythonValues:
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

    @impl(stablehlo.FftOp)
    def run_fft(
        self, interpreter: Interpreter, op: stablehlo.FftOp, args: PythonValues
    ) -> PythonValues:
        """Fourier transforms of the last dimensions."""
        lengths = op.fft_length.get_values()
        return (linalg.fft(args[0], op.fft_type.data.value, lengths),)

    @impl(stablehlo.ConvolutionOp)
    def run_convolution(
        self, interpreter: Interpreter, op: stablehlo.ConvolutionOp, args: PythonValues
    ) -> PythonValues:
        """A kernel moved over the input."""
        return (_convolution(op, *args),)

    @impl(stablehlo.DynamicConvOp)
    def run_dynamic_conv(
        self, interpreter: Interpreter, op: stablehlo.DynamicConvOp, args: PythonValues
    ) -> PythonValues:
        """The same with computed padding."""
        return (_convolution(op, *args),)


def _convolution(
    op: stablehlo.ConvolutionOp | stablehlo.DynamicConvOp,
    lhs: Array,
    rhs: Array,
    padding: Array | None = None,
) -> Array:
    dims = op.dimension_numbers.data
    spatial = len(dims.input_spatial_dimensions)
    if padding is not None:
        pairs = tuple((int(low), int(high)) for low, high in padding.reshape(-1, 2))
    else:
        assert isinstance(op, stablehlo.ConvolutionOp)
        pairs = stablehlo.padding_pairs(op.padding, spatial)
    window = contraction.Window(
        stablehlo.window_values(op.window_strides, spatial),
        pairs,
        stablehlo.window_values(op.lhs_dilation, spatial),
        stablehlo.window_values(op.rhs_dilation, spatial),
        stablehlo.window_flips(op.window_reversal, spatial),
    )
    return contraction.convolution(
        lhs,
        rhs,
        contraction.ConvDims(
            dims.input_batch_dimension,
            dims.input_feature_dimension,
            dims.input_spatial_dimensions,
            dims.kernel_input_feature_dimension,
            dims.kernel_output_feature_dimension,
            dims.kernel_spatial_dimensions,
            dims.output_batch_dimension,
            dims.output_feature_dimension,
            dims.output_spatial_dimensions,
        ),
        window,
        op.feature_group_count.value.data,
        op.batch_group_count.value.data,
        tensor_of(op.result.type)[1],
    )
