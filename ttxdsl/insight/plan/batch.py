"""The same program with another batch (`ttxdsl.transforms.shardy.scaled_dimensions`)."""

from fractions import Fraction
from math import prod

from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ttxdsl.analysis.batching.batch import find_batch
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.shardy.scaled_dimensions import ScaledDimensions
from ttxdsl.transforms.stages.inline import InlinePass

Dim = tuple[SSAValue, int]


def batch_dims(function: FuncOp) -> dict[int, int]:
    """Return the dimension of each argument that is its batch.

    Dimension 0 of integer arguments of several dimensions that are no state, as tokens are;
    of several sizes the one with the most arguments counts. Without any, what devices share
    without talking: frozen weights and micro-batches have other dimensions in front. Else
    dimension 0, if all arguments that are no state agree on it.
    """
    state = results_of_arguments(function)
    integers: dict[int, list[int]] = {}
    others: dict[int, list[int]] = {}
    for index, argument in enumerate(function.body.block.args):
        if index not in state and len(shape := shape_of(argument)) > 1:
            is_integer = isinstance(element_of(argument), IntegerType)
            sizes = integers if is_integer else others
            sizes.setdefault(shape[0], []).append(index)
    if state and integers:
        return dict.fromkeys(max(integers.values(), key=len), 0)
    if (batch := find_batch(function, 2)) is not None:
        arguments = function.body.block.args
        return {  # behind a batch of one are positions
            index: dim if prod(shape_of(arguments[index])[:dim]) > 1 else 0
            for index, dim in batch.dims.items()
        }
    if state and len(others) == 1:
        (indices,) = others.values()
        return dict.fromkeys(indices, 0)
    return {}


def scale_batch(module: ModuleOp, factor: Fraction) -> ModuleOp:
    """Return a copy of a global program with its batch times a factor; calls are inlined.

    Raises:
        CompileError: no argument is a batch, or an op counts on the size that it has.
    """
    _, changed = InlinePass().apply_to_clone(make_context(), module)
    function = entry_function(changed)
    dims = batch_dims(function)
    if not dims:
        raise CompileError("no dimension of an argument is a batch", function)
    batch = ScaledDimensions()
    for index, dim in dims.items():
        batch.add((function.body.block.args[index], dim), factor, function)
    batch.follow()
    scaled = {value for value, _ in batch.dims}
    for index in results_of_arguments(function).keys() - dims.keys():
        if function.body.block.args[index] in scaled:
            raise CompileError(
                f"the batch is a dimension of argument {index}, which is state",
                function,
            )
    batch.rewrite(function)
    return changed
