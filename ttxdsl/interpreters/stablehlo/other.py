"""StableHLO ops that fit no family: calls, tuples, tokens, batch normalisation, rng.

Source: StableHLO specification, one section an op.
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
from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters import linalg, random
from ttxdsl.interpreters.custom_calls import CUSTOM_CALLS
from ttxdsl.interpreters.elements import rank_of, tensor_of
from ttxdsl.interpreters.regions import find_symbol
from ttxdsl.interpreters.stablehlo.data_movement import shape_value


@register_impls
class OtherFunctions(InterpreterFunctions):
    """Calls, tuples, tokens, batch normalisation and random numbers."""

    @impl(stablehlo.CompositeOp)
    def run_composite(
        self, interpreter: Interpreter, op: stablehlo.CompositeOp, args: PythonValues
    ) -> PythonValues:
        """Its decomposition."""
        callee = find_symbol(interpreter, op.decomposition.string_value())
        return interpreter.call_op(callee, args)

    @impl(stablehlo.CustomCallOp)
    def run_custom_call(
        self, interpreter: Interpreter, op: stablehlo.CustomCallOp, args: PythonValues
    ) -> PythonValues:
        """What is known under the target's name.

        Raises:
            UnsupportedError: nothing is.
        """
        target = op.call_target_name.data
        if (known := CUSTOM_CALLS.get(target)) is not None:
            return known(interpreter, op, args)
        raise UnsupportedError(
            f"no implementation of custom call @{target}",
            op,
            hint="add one to ttxdsl.interpreters.custom_calls.CUSTOM_CALLS: a function "
            "of (interpreter, op, values) that returns the results",
        )

    @impl(stablehlo.TupleOp)
    def run_tuple(
        self, interpreter: Interpreter, op: stablehlo.TupleOp, args: PythonValues
    ) -> PythonValues:
        """A Python tuple."""
        return (args,)

    @impl(stablehlo.GetTupleElementOp)
    def run_get_tuple_element(
        self,
        interpreter: Interpreter,
        op: stablehlo.GetTupleElementOp,
        args: PythonValues,
    ) -> PythonValues:
        """One of a tuple."""
        return (args[0][op.index.value.data],)

    @impl(stablehlo.CreateTokenOp)
    def run_create_token(
        self, interpreter: Interpreter, op: stablehlo.CreateTokenOp, args: PythonValues
    ) -> PythonValues:
        """A token: nothing."""
        return (None,)

    @impl(stablehlo.BatchNormInferenceOp)
    def run_batch_norm_inference(
        self,
        interpreter: Interpreter,
        op: stablehlo.BatchNormInferenceOp,
        args: PythonValues,
    ) -> PythonValues:
        """Normalised by given statistics."""
        rank, feature = rank_of(op.operand.type), op.feature_index.value.data
        epsilon = op.epsilon.value.data
        x, scale, offset, mean, variance = args
        return (
            linalg.batch_norm_inference(
                x, scale, offset, mean, variance, epsilon, rank, feature
            ),
        )

    @impl(stablehlo.BatchNormTrainingOp)
    def run_batch_norm_training(
        self,
        interpreter: Interpreter,
        op: stablehlo.BatchNormTrainingOp,
        args: PythonValues,
    ) -> PythonValues:
        """Normalised by its own statistics."""
        rank, feature = rank_of(op.operand.type), op.feature_index.value.data
        epsilon = op.epsilon.value.data
        x, scale, offset = args
        return linalg.batch_norm_training(x, scale, offset, epsilon, rank, feature)

    @impl(stablehlo.BatchNormGradOp)
    def run_batch_norm_grad(
        self,
        interpreter: Interpreter,
        op: stablehlo.BatchNormGradOp,
        args: PythonValues,
    ) -> PythonValues:
        """Gradients of the training form."""
        rank, feature = rank_of(op.operand.type), op.feature_index.value.data
        epsilon = op.epsilon.value.data
        x, scale, mean, variance, grad = args
        return linalg.batch_norm_grad(
            x, scale, mean, variance, grad, epsilon, rank, feature
        )

    @impl(stablehlo.RngBitGeneratorOp)
    def run_rng_bit_generator(
        self,
        interpreter: Interpreter,
        op: stablehlo.RngBitGeneratorOp,
        args: PythonValues,
    ) -> PythonValues:
        """Random bits and the next state, by the algorithm asked for."""
        shape, dtype = tensor_of(op.output.type)
        algorithm = op.rng_algorithm.data.value
        return random.bit_generator(algorithm, args[0], shape, dtype)

    @impl(stablehlo.RngOp)
    def run_rng(
        self, interpreter: Interpreter, op: stablehlo.RngOp, args: PythonValues
    ) -> PythonValues:
        """Numbers of a distribution, the same in every run."""
        low, high, shape = args
        dtype = tensor_of(op.result.type)[1]
        kind = op.rng_distribution.data.value
        return (random.distribution(kind, low, high, shape_value(shape, op), dtype),)
