"""Ops that read and write slices at places that index tensors name.

Source: StableHLO specification, sections "gather", "dynamic_gather", "scatter".
"""

from xdsl.dialects.builtin import BoolAttr
from xdsl.irdl import (
    BaseAttr,
    SameVariadicOperandSize,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect

from ttxdsl.dialects.stablehlo import _infer as infer, _shapes as shapes
from ttxdsl.dialects.stablehlo._base import Bool, Integer, Integers, PureOp, StableHLOOp
from ttxdsl.dialects.stablehlo._regions import check_reducer
from ttxdsl.dialects.stablehlo._shapes import require, shapes_fit
from ttxdsl.dialects.stablehlo.attributes import (
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttxdsl.dialects.stablehlo.types import (
    INT_TENSOR,
    TENSOR,
    Kind,
    TensorOf,
    scalar_of,
    shape_of,
    with_element,
)
from ttxdsl.dialects.traits import MovesData
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition

FALSE = BoolAttr.from_bool(False)


@irdl_op_definition
class GatherOp(StableHLOOp):
    """Slices of the operand at the given indices. Spec section "gather"."""

    name = "stablehlo.gather"

    operand = operand_def(TENSOR)
    start_indices = operand_def(INT_TENSOR)
    dimension_numbers = prop_def(BaseAttr(GatherDimensionNumbersAttr))
    slice_sizes = prop_def(Integers)
    indices_are_sorted = opt_prop_def(Bool, FALSE)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), MovesData())

    def verify_(self) -> None:
        """C1 to C21: dimension numbers; C22, C23: the result."""
        operand, result = self.operand.type, self.result.type
        infer.require_equal_elements(operand, result, "C23")
        shape = shapes.gather(
            shape_of(operand),
            shape_of(self.start_indices.type),
            self.dimension_numbers.data,
            self.slice_sizes.get_values(),
        )
        infer.require_sizes(result, shape, "result (C22)")


@irdl_op_definition
class DynamicGatherOp(StableHLOOp):
    """`gather` of slices of computed sizes. Spec section "dynamic_gather"."""

    name = "stablehlo.dynamic_gather"

    operand = operand_def(TENSOR)
    start_indices = operand_def(INT_TENSOR)
    slice_sizes = operand_def(TensorOf(Kind.INT, rank=1, static=True))
    dimension_numbers = prop_def(BaseAttr(GatherDimensionNumbersAttr))
    indices_are_sorted = opt_prop_def(Bool, FALSE)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), MovesData())

    def verify_(self) -> None:
        """C1 to C21: dimension numbers; C22, C23: the result."""
        operand, result = self.operand.type, self.result.type
        infer.require_equal_elements(operand, result, "C23")
        known = infer.constant_ints(self.slice_sizes)
        sizes = known or (None,) * shape_of(self.slice_sizes.type)[0]
        shape = shapes.gather(
            shape_of(operand),
            shape_of(self.start_indices.type),
            self.dimension_numbers.data,
            sizes,
        )
        infer.require_sizes(result, shape, "result (C22)")


@irdl_op_definition
class ScatterOp(StableHLOOp):
    """Inputs with slices updated at the given indices. Spec section "scatter"."""

    name = "stablehlo.scatter"

    inputs = var_operand_def(TENSOR)
    scatter_indices = operand_def(TensorOf(Kind.INT | Kind.INDEX))
    updates = var_operand_def(TENSOR)
    scatter_dimension_numbers = prop_def(BaseAttr(ScatterDimensionNumbersAttr))
    indices_are_sorted = opt_prop_def(Bool, FALSE)
    unique_indices = opt_prop_def(Bool, FALSE)
    update_computation = region_def()
    outputs = var_result_def(TENSOR)

    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())

    def verify_(self) -> None:
        """C1 to C22: shapes and dimension numbers; C23 to C25: computation, results."""
        inputs = infer.tensors_of(self.inputs)
        updates = infer.tensors_of(self.updates)
        require(bool(inputs), "C5: there must be an input")
        for name, group, constraint in (
            ("input", inputs, "C1"),
            ("update", updates, "C3"),
        ):
            for index, type in enumerate(group):
                infer.require_shape(type, group[0], f"{name} {index} ({constraint})")
        results = check_reducer(
            self.update_computation,
            inputs,
            [scalar_of(update) for update in updates],
            (),
            "C6, C23",
            "update_computation",
        )
        indices = shape_of(self.scatter_indices.type)
        for type, update in zip(inputs, updates, strict=True):
            shapes.check_scatter(
                type.get_shape(),
                indices,
                update.get_shape(),
                self.scatter_dimension_numbers.data,
            )
        infer.require_results(
            self,
            [
                with_element(type, result.element_type)
                for type, result in zip(inputs, results, strict=True)
            ],
            "C24, C25",
        )


@irdl_op_definition
class TorchIndexSelectOp(PureOp):
    """Rows chosen by an index tensor. Not in the specification."""

    name = "stablehlo.torch_index_select"

    operand = operand_def(TENSOR)
    index = operand_def(TENSOR)
    dim = prop_def(Integer)
    batch_dims = prop_def(Integer)
    result = result_def(TENSOR)

    def verify_(self) -> None:
        """`dim` behind the batch dimensions, which both have; the result's shape."""
        operand, index = shape_of(self.operand.type), shape_of(self.index.type)
        dim, batch = self.dim.value.data, self.batch_dims.value.data
        require(
            0 <= batch <= dim < len(operand) and batch <= len(index),
            f"batch_dims = {batch} and dim = {dim} are no dimensions of operands of"
            f" ranks {len(operand)} and {len(index)}",
        )
        require(
            shapes_fit(operand[:batch], index[:batch]),
            "the batch dimensions of the operands differ",
        )
        sizes = (*operand[:dim], *index[batch:], *operand[dim + 1 :])
        infer.require_sizes(self.result.type, sizes)
        infer.require_element(self.result.type, self.operand.type)
