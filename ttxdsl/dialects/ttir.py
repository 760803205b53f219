"""The ttir dialect: device code, and how tensors come to the devices and back.

Names and attributes follow tt-mlir (`TTIROps.td`); the five collectives and
`mesh_shard` follow the design request. Two conventions hold for every op:

- *Destination-passing style.* An op that computes takes its inputs and then one
  `output` for each result, made by `ttir.empty` and of the result's type; the result
  replaces it, its contents are never read. Creation ops and control flow have none.
- *Places.* A tensor type with the encoding `#ttcore.tensor_mesh<"mesh">` is one local
  tensor on every device of that mesh, its shape the local one. Without an encoding it
  is one tensor on the host. All tensors of an op live in one place; only `mesh_shard`
  moves data between host and mesh.

"Along a mesh axis" means: among the devices that differ only in their coordinate on
the mesh axis `cluster_axis` (0 is the major one), in the order of that coordinate.

Ops print in MLIR's generic form with their attributes as properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    I32,
    I64,
    AnyTensorTypeConstr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import (
    ConstantLike,
    HasCanonicalizationPatternsTrait,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects import _tt_verify as check
from ttxdsl.dialects._tt_additions import ADDITIONS, Addition, as_source, fields_of
from ttxdsl.dialects._tt_attrs import (
    SI32,
    SI64,
    UI32,
    DenseInts,
    I32Array,
    ints,
)
from ttxdsl.dialects._tt_elementwise import (
    ELEMENTWISE,
    REDUCTIONS,
    Elementwise,
    class_name,
)
from ttxdsl.dialects._tt_verify import Tensor, tensor_type
from ttxdsl.dialects._verify_once import VerifiedOnce
from ttxdsl.dialects.ttcore import (
    MeshShardDirectionAttr,
    MeshShardTypeAttr,
    ReduceTypeAttr,
)

_PLACE_FREE = ("ttir.mesh_shard",)
"""Ops whose operands and results live in different places by their nature."""


class DPSOp(VerifiedOnce):
    """Base of ops in destination-passing style: the last operands are the outputs.

    Constraints: each output has its result's type; all tensors live in one place.
    """

    @property
    def dps_results(self) -> Sequence[SSAValue]:
        """The results that have a destination: all tensors."""
        return [one for one in self.results if one.type.name == TensorType.name]

    @property
    def dps_inputs(self) -> Sequence[SSAValue]:
        """The operands that the op reads."""
        return self.operands[: len(self.operands) - len(self.dps_results)]

    @property
    def dps_outputs(self) -> Sequence[SSAValue]:
        """The destinations, one a result that is a tensor."""
        return self.operands[len(self.operands) - len(self.dps_results) :]

    def verify_(self) -> None:
        """Check what holds for all ops, then the op's own shapes."""
        for output, result in zip(self.dps_outputs, self.dps_results, strict=True):
            if output.type != result.type:
                raise VerifyException(
                    f"the output has type {output.type}, the result {result.type}: "
                    "they must be the same"
                )
        if self.name not in _PLACE_FREE:
            check.one_mesh(self)
        self.verify_shapes()

    def verify_shapes(self) -> None:
        """The constraints of the op itself."""


class ComputeOp(DPSOp):
    """Base of ops that do nothing but compute their results."""

    traits = traits_def(Pure())


class OneInputOp(ComputeOp):
    """Base of ops with one input, one output and one result."""

    input = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    @property
    def types(self) -> tuple[Tensor, Tensor]:
        """The types of input and result."""
        return tensor_type(self.input), tensor_type(self.result)


# --- element by element -----------------------------------------------------


class ElementwiseOp(ComputeOp):
    """Base of the elementwise ops; what each computes is in `_tt_elementwise.py`."""

    SPEC: ClassVar[Elementwise]

    def verify_shapes(self) -> None:
        """Shapes stretch, element types as the table's typing says."""
        check.elementwise(
            [tensor_type(value) for value in self.dps_inputs],
            tensor_type(self.results[0]),
            self.SPEC.typing,
        )


class UnaryOp(ElementwiseOp):
    """Base of elementwise ops of one operand."""

    input = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)


class BinaryOp(ElementwiseOp):
    """Base of elementwise ops of two operands."""

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)


class TernaryOp(ElementwiseOp):
    """Base of elementwise ops of three operands."""

    first = operand_def(AnyTensorTypeConstr)
    second = operand_def(AnyTensorTypeConstr)
    third = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)


def _define_elementwise(spec: Elementwise) -> type[ElementwiseOp]:
    base = (UnaryOp, BinaryOp, TernaryOp)[spec.arity - 1]
    fields = {
        "name": f"ttir.{spec.ttir}",
        "__doc__": spec.summary,
        "__module__": __name__,
    }
    made = type(class_name(spec.ttir), (base,), fields)
    defined = irdl_op_definition(cast(type[ElementwiseOp], made))
    defined.SPEC = spec
    return defined


ELEMENTWISE_OPS: dict[str, type[ElementwiseOp]] = {
    spec.ttir: _define_elementwise(spec) for spec in ELEMENTWISE
}
"""The elementwise op classes by mnemonic: `ELEMENTWISE_OPS["add"]` is `ttir.add`."""


# --- reductions -------------------------------------------------------------


class ReductionOp(ComputeOp):
    """Base of reductions over the dimensions `dim_arg` (all, when it is absent).

    With `keep_dim` reduced dimensions stay with size 1, else they vanish.
    """

    input = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    keep_dim = prop_def(BoolAttr)
    dim_arg = opt_prop_def(I32Array)
    result = result_def(AnyTensorTypeConstr)

    def reduced_dims(self) -> tuple[int, ...]:
        """The dimensions that are reduced."""
        if self.dim_arg is None:
            return tuple(range(len(tensor_type(self.input).get_shape())))
        return ints(self.dim_arg)

    def verify_shapes(self) -> None:
        """Reduced dimensions vanish or have size 1; the element type stays."""
        input, result = tensor_type(self.input), tensor_type(self.result)
        check.reduction(input, result, self.reduced_dims(), bool(self.keep_dim))
        if self.name != "ttir.argmax" and input.element_type != result.element_type:
            raise VerifyException(
                f"reduces {input.element_type} to {result.element_type}: "
                "the element type must stay"
            )


def _define_reduction(mnemonic: str, summary: str) -> type[ReductionOp]:
    fields = {
        "name": f"ttir.{mnemonic}",
        "__doc__": summary,
        "__module__": __name__,
    }
    made = type(class_name(mnemonic), (ReductionOp,), fields)
    return irdl_op_definition(cast(type[ReductionOp], made))


REDUCTION_OPS: dict[str, type[ReductionOp]] = {
    entry.ttir: _define_reduction(entry.ttir, entry.summary) for entry in REDUCTIONS
}
"""The reduction op classes by mnemonic: `REDUCTION_OPS["sum"]` is `ttir.sum`."""


@irdl_op_definition
class ArgMaxOp(ReductionOp):
    """Index of the largest element along one dimension, the first of equals.

    A NaN is larger than every number. The result holds integers.
    Constraint: `dim_arg` names exactly one dimension.
    """

    name = "ttir.argmax"

    def verify_shapes(self) -> None:
        """One dimension, integer result."""
        super().verify_shapes()
        if len(self.reduced_dims()) != 1:
            raise VerifyException("argmax works along exactly one dimension")
        if not isinstance(tensor_type(self.result).element_type, IntegerType):
            raise VerifyException("argmax answers with integers")


# --- data movement ----------------------------------------------------------


@irdl_op_definition
class ReshapeOp(OneInputOp):
    """The same elements in row-major order, in another shape."""

    name = "ttir.reshape"
    shape = prop_def(I32Array)

    def verify_shapes(self) -> None:
        """The result has the shape of the attribute and as many elements."""
        check.reshape(*self.types, ints(self.shape))


@irdl_op_definition
class PermuteOp(OneInputOp):
    """Dimensions reordered: result dimension i is input dimension `permutation[i]`."""

    name = "ttir.permute"
    permutation = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """A permutation, and the shape it gives."""
        check.permute(*self.types, ints(self.permutation))


@irdl_op_definition
class BroadcastOp(OneInputOp):
    """The input repeated `broadcast_dimensions[i]` times along each dimension i.

    Constraint: only dimensions of size 1 repeat.
    """

    name = "ttir.broadcast"
    broadcast_dimensions = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """Factors give the result; only size 1 stretches."""
        input, result = self.types
        factors = ints(self.broadcast_dimensions)
        check.broadcast(input, result, factors)
        for dim, (size, factor) in enumerate(
            zip(input.get_shape(), factors, strict=True)
        ):
            if size != 1 and factor != 1:
                raise VerifyException(
                    f"dimension {dim} of size {size} cannot stretch, only size 1 can"
                )


@irdl_op_definition
class ConcatOp(ComputeOp):
    """The inputs one after the other along dimension `dim`."""

    name = "ttir.concat"
    inputs = var_operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Inputs agree but in `dim`, which adds up."""
        check.concat(
            [tensor_type(value) for value in self.inputs],
            tensor_type(self.result),
            self.dim.value.data,
        )


@irdl_op_definition
class SliceStaticOp(OneInputOp):
    """Elements `begins[i]`, `begins[i] + step[i]`, … below `ends[i]` of dimension i."""

    name = "ttir.slice_static"
    begins = prop_def(I32Array)
    ends = prop_def(I32Array)
    step = prop_def(I32Array)

    def verify_shapes(self) -> None:
        """Bounds inside the input and the result they give."""
        check.slice_static(
            *self.types, ints(self.begins), ints(self.ends), ints(self.step)
        )


@irdl_op_definition
class SliceDynamicOp(ComputeOp):
    """A slice whose place is computed: dimension i from `begins[i]`, by step 1.

    `begins` and `ends` are integer tensors with one entry a dimension; `ends` is
    `begins` plus the result's shape, which is what the size of the slice comes from.
    A begin that would leave the input is undefined; the lowering clamps before.
    """

    name = "ttir.slice_dynamic"
    input = operand_def(AnyTensorTypeConstr)
    begins = operand_def(AnyTensorTypeConstr)
    ends = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """One integer a dimension; the result fits in the input."""
        input, begins, ends = map(tensor_type, (self.input, self.begins, self.ends))
        check.slice_dynamic(input, begins, ends, tensor_type(self.result))


@irdl_op_definition
class PadOp(OneInputOp):
    """The input with `value` around: `padding` is [low0, high0, low1, high1, …].

    `value` is converted to the element type; padding is never negative.
    """

    name = "ttir.pad"
    padding = prop_def(DenseInts)
    value = prop_def(FloatAttr)

    def verify_shapes(self) -> None:
        """Two amounts a dimension and the shape they give."""
        check.pad(*self.types, ints(self.padding))


@irdl_op_definition
class ReverseOp(OneInputOp):
    """The elements in reverse order along each of `dimensions`."""

    name = "ttir.reverse"
    dimensions = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """The shape stays; dimensions exist."""
        input, result = self.types
        check.same_shape(input, result)
        for dim in ints(self.dimensions):
            check.along(input, result, dim)


@irdl_op_definition
class EmbeddingOp(ComputeOp):
    """Row `input[i…]` of `weight` for every index: shape of input, then of a row.

    An index is clamped into 0 to rows - 1, as stablehlo.gather clamps.
    """

    name = "ttir.embedding"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Integer indices, a weight of rank 2, a row an index."""
        input, weight = tensor_type(self.input), tensor_type(self.weight)
        check.embedding(input, weight, tensor_type(self.result))


@irdl_op_definition
class GatherOp(ComputeOp):
    """`result[…, j, …] = input[…, index[…, j, …], …]` along dimension `dim`.

    Other dimensions of index and input agree. An index outside the input is
    undefined; the lowering makes none.
    """

    name = "ttir.gather"
    input = operand_def(AnyTensorTypeConstr)
    index = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """The index has the result's shape, and the input's but in `dim`."""
        input, index = tensor_type(self.input), tensor_type(self.index)
        check.gather(input, index, tensor_type(self.result), self.dim.value.data)


@irdl_op_definition
class ScatterOp(ComputeOp):
    """The input with `source[…, j, …]` put at `index[…, j, …]` along dimension `dim`.

    Where several indices are equal, values combine by `scatter_reduce_type` (sum, prod,
    max, min) with each other and with the input's value; with `invalid` the last in
    row-major order replaces it. An index outside the input is undefined.
    """

    name = "ttir.scatter"
    input = operand_def(AnyTensorTypeConstr)
    index = operand_def(AnyTensorTypeConstr)
    source = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[I32])
    scatter_reduce_type = prop_def(ReduceTypeAttr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Index and source of one shape, the input's but in `dim`."""
        input, index, source = map(tensor_type, (self.input, self.index, self.source))
        result = tensor_type(self.result)
        check.scatter(input, index, source, result, self.dim.value.data)


@irdl_op_definition
class SortOp(ComputeOp):
    """Values sorted along `dim`, and the places they came from (integers).

    With `stable` equals keep their order. NaN sorts as the largest.
    """

    name = "ttir.sort"
    input = operand_def(AnyTensorTypeConstr)
    values_output = operand_def(AnyTensorTypeConstr)
    indices_output = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI32])
    descending = prop_def(BoolAttr)
    stable = prop_def(BoolAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Values as the input, one integer index a value."""
        input, values = tensor_type(self.input), tensor_type(self.values)
        check.sort(input, values, tensor_type(self.indices), self.dim.value.data)


@irdl_op_definition
class TopKOp(ComputeOp):
    """The `k` largest (or smallest) along `dim`, best first, and their places.

    Of equals the one that comes first wins. NaN is larger than every number.
    """

    name = "ttir.topk"
    input_tensor = operand_def(AnyTensorTypeConstr)
    values_output = operand_def(AnyTensorTypeConstr)
    indices_output = operand_def(AnyTensorTypeConstr)
    k = prop_def(IntegerAttr[I32])
    dim = prop_def(IntegerAttr[I32])
    largest = prop_def(BoolAttr)
    sorted = prop_def(BoolAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """`k` values and integer indices along `dim`."""
        input, values = tensor_type(self.input_tensor), tensor_type(self.values)
        indices = tensor_type(self.indices)
        check.topk(input, values, indices, self.k.value.data, self.dim.value.data)


@irdl_op_definition
class CumSumOp(OneInputOp):
    """Sum of all elements up to and with each one along `dim`."""

    name = "ttir.cumsum"
    dim = prop_def(IntegerAttr[I64])

    def verify_shapes(self) -> None:
        """The shape stays."""
        check.along(*self.types, self.dim.value.data)


@irdl_op_definition
class CumProdOp(OneInputOp):
    """Product of all elements up to and with each one along `dim`."""

    name = "ttir.cumprod"
    dim = prop_def(IntegerAttr[I64])

    def verify_shapes(self) -> None:
        """The shape stays."""
        check.along(*self.types, self.dim.value.data)


# --- contraction ------------------------------------------------------------


@irdl_op_definition
class DotGeneralOp(ComputeOp):
    """Products summed over the contracted dimensions, as stablehlo.dot_general.

    Result dimensions: batch, then lhs's free ones, then rhs's free ones. The sum
    accumulates in the result's element type, at least in f32 for floats.
    """

    name = "ttir.dot_general"
    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    batch_dims_lhs = prop_def(DenseInts)
    contract_dims_lhs = prop_def(DenseInts)
    batch_dims_rhs = prop_def(DenseInts)
    contract_dims_rhs = prop_def(DenseInts)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Sizes agree in pairs and give the result."""
        lhs, rhs = tensor_type(self.lhs), tensor_type(self.rhs)
        check.dot_general(
            lhs,
            rhs,
            tensor_type(self.result),
            (ints(self.batch_dims_lhs), ints(self.batch_dims_rhs)),
            (ints(self.contract_dims_lhs), ints(self.contract_dims_rhs)),
        )


@irdl_op_definition
class MatmulOp(ComputeOp):
    """`a @ b` over the last two dimensions, leading dimensions equal.

    `transpose_a` and `transpose_b` swap the last two dimensions of an operand first.
    The sum accumulates in the result's element type, at least in f32 for floats.
    """

    name = "ttir.matmul"
    a = operand_def(AnyTensorTypeConstr)
    b = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    transpose_a = prop_def(BoolAttr)
    transpose_b = prop_def(BoolAttr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Inner sizes and leading dimensions agree."""
        a, b = tensor_type(self.a), tensor_type(self.b)
        flags = bool(self.transpose_a), bool(self.transpose_b)
        check.matmul(a, b, tensor_type(self.result), *flags)


@irdl_op_definition
class Conv2dOp(ComputeOp):
    """Windows of an image times a kernel, summed: no kernel is flipped.

    Input `[n, h, w, c]`, weight `[o, c / groups, kh, kw]`, result `[n, h', w', o]`.
    `padding` is [top, left, bottom, right] of zeros; `dilation` spreads the kernel.
    The sum accumulates at least in f32 for floats.
    """

    name = "ttir.conv2d"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    stride = prop_def(DenseInts)
    padding = prop_def(DenseInts)
    dilation = prop_def(DenseInts)
    groups = prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Channels fit the groups; windows give the result."""
        input, weight = tensor_type(self.input), tensor_type(self.weight)
        top, left, bottom, right = check.exactly(4, "padding", ints(self.padding))
        check.convolution(
            input,
            weight,
            tensor_type(self.result),
            check.exactly(2, "stride", ints(self.stride)),
            ((top, bottom), (left, right)),
            check.exactly(2, "dilation", ints(self.dilation)),
            self.groups.value.data,
        )


@irdl_op_definition
class Conv3dOp(ComputeOp):
    """As conv2d with a depth: `[n, d, h, w, c]` and `[o, c / groups, kd, kh, kw]`.

    `padding` is one number a dimension, the same on both sides.
    """

    name = "ttir.conv3d"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    output = operand_def(AnyTensorTypeConstr)
    stride = prop_def(DenseInts)
    padding = prop_def(DenseInts)
    groups = prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Channels fit the groups; windows give the result."""
        padding = check.exactly(3, "padding", ints(self.padding))
        check.convolution(
            tensor_type(self.input),
            tensor_type(self.weight),
            tensor_type(self.result),
            check.exactly(3, "stride", ints(self.stride)),
            [(amount, amount) for amount in padding],
            (1, 1, 1),
            self.groups.value.data,
        )


# --- creation ---------------------------------------------------------------


class CreationOp(VerifiedOnce):
    """Base of ops that make a tensor from nothing, the same on every device."""

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure())


@irdl_op_definition
class EmptyOp(CreationOp):
    """Room for a result; its contents are never read."""

    name = "ttir.empty"

    def __init__(self, type: Tensor):
        super().__init__(result_types=[type])


@irdl_op_definition
class ConstantOp(CreationOp):
    """The tensor `value`."""

    name = "ttir.constant"
    value = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(ConstantLike())

    def __init__(self, value: DenseIntOrFPElementsAttr, type: Tensor):
        super().__init__(properties={"value": value}, result_types=[type])

    def verify_(self) -> None:
        """Shape and element type are the value's."""
        check.constant(tensor_type(self.result), cast(Tensor, self.value.type))


class NamedFullOp(CreationOp):
    """Base of tensors of one value that the op's name says."""

    shape = prop_def(DenseInts)

    def verify_(self) -> None:
        """The shape is the attribute's."""
        check.filled(tensor_type(self.result), ints(self.shape))


@irdl_op_definition
class ZerosOp(NamedFullOp):
    """A tensor of zeros (false)."""

    name = "ttir.zeros"


@irdl_op_definition
class OnesOp(NamedFullOp):
    """A tensor of ones (true)."""

    name = "ttir.ones"


@irdl_op_definition
class FullOp(CreationOp):
    """A tensor of one value, an f32 or i32 that is converted to the element type."""

    name = "ttir.full"
    shape = prop_def(DenseInts)
    fill_value = prop_def(Attribute)

    def verify_(self) -> None:
        """The shape is the attribute's; the value is a number."""
        check.filled(tensor_type(self.result), ints(self.shape))
        if not isinstance(self.fill_value, FloatAttr | IntegerAttr):
            raise VerifyException(f"fill_value is {self.fill_value}, expected a number")


@irdl_op_definition
class ArangeOp(CreationOp):
    """`start`, `start + step`, … below `end` along `arange_dimension`.

    The values repeat along all other dimensions.
    """

    name = "ttir.arange"
    start = prop_def(IntegerAttr[SI64])
    end = prop_def(IntegerAttr[SI64])
    step = prop_def(IntegerAttr[SI64])
    arange_dimension = prop_def(IntegerAttr[I64])

    def verify_(self) -> None:
        """The range fills the dimension exactly."""
        check.arange(
            tensor_type(self.result),
            self.start.value.data,
            self.end.value.data,
            self.step.value.data,
            self.arange_dimension.value.data,
        )


@irdl_op_definition
class RandOp(CreationOp):
    """Random numbers, uniform from `low` up to but not including `high`.

    Which ones is up to who runs it; the same seed gives the same ones again.
    """

    name = "ttir.rand"
    size = prop_def(I32Array)
    low = prop_def(FloatAttr)
    high = prop_def(FloatAttr)
    seed = prop_def(IntegerAttr[UI32])

    def verify_(self) -> None:
        """The shape is `size`."""
        check.filled(tensor_type(self.result), ints(self.size))


# --- quantization -----------------------------------------------------------


@irdl_op_definition
class QuantizeOp(OneInputOp):
    """Real numbers to the stored integers of the result's `quant.uniform` type."""

    name = "ttir.quantize"

    def verify_shapes(self) -> None:
        """From floats to a quantized type of the same shape."""
        check.quantization(*self.types, stored=(False, True))


@irdl_op_definition
class DequantizeOp(OneInputOp):
    """Stored integers of the input's `quant.uniform` type to real numbers."""

    name = "ttir.dequantize"

    def verify_shapes(self) -> None:
        """From a quantized type to its floats, of the same shape."""
        check.quantization(*self.types, stored=(True, False))


@irdl_op_definition
class RequantizeOp(OneInputOp):
    """Stored integers of one `quant.uniform` type to those of another."""

    name = "ttir.requantize"

    def verify_shapes(self) -> None:
        """From one quantized type to another of the same shape."""
        check.quantization(*self.types, stored=(True, True))


# --- meshes and collectives -------------------------------------------------


class _FoldMeshShards(RewritePattern):
    """A tensor taken to the devices and straight back, or the other way round."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Replace the second move by the first's input if both say the same."""
        if not isinstance(op, MeshShardOp):
            return
        first = op.input.owner
        if (
            isinstance(first, MeshShardOp)
            and first.input.type == op.result.type
            and first.shard_direction != op.shard_direction
            and first.shard_type == op.shard_type
            and first.shard_shape == op.shard_shape
            and first.shard_dims == op.shard_dims
            and first.device_parts == op.device_parts
            and first.device_summands == op.device_summands
        ):
            rewriter.replace(op, [], [first.input])


class _MeshShardCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """The patterns of mesh_shard."""
        return (_FoldMeshShards(),)


@irdl_op_definition
class MeshShardOp(OneInputOp):
    """Moves a tensor between the host and the devices of a mesh.

    `full_to_shard` takes a host tensor to the mesh named by the result's encoding,
    `shard_to_full` the other way round. `shard_shape` says for each tensor dimension in
    how many parts it is split, `shard_dims` for each mesh axis which tensor dimension
    it splits (-1: none). A dimension that several axes split is split by the major axis
    first. Along an axis that splits nothing every device has the same data.

    `device_parts` (an addition, for data that lies on the devices already) says instead
    of `shard_dims`, device by device, which part it holds: a number in row-major order
    over `shard_shape`. It stands for sub-axes and for axes out of mesh order.

    `device_summands` (an addition, for such data too) says that devices hold summands of
    their part: device by device the number of its summand, from 0. The full tensor is
    their sum; where its numbers are given, summand 0 is the part and the others zero.

    `shard_type`: `devices` splits as above; `replicate` splits nothing; `identity`
    means that the data already lies (or stays) on the devices in this way, and that
    nothing moves: the full tensor is then only the name of what the devices hold.
    """

    name = "ttir.mesh_shard"
    shard_type = prop_def(MeshShardTypeAttr)
    shard_direction = prop_def(MeshShardDirectionAttr)
    shard_shape = prop_def(DenseInts)
    shard_dims = prop_def(DenseInts)
    device_parts = opt_prop_def(DenseInts)
    device_summands = opt_prop_def(DenseInts)

    traits = traits_def(Pure(), _MeshShardCanonicalization())

    def verify_shapes(self) -> None:
        """Shapes, places and the arrays fit together."""
        check.mesh_shard(
            self,
            *self.types,
            self.shard_type.data,
            self.shard_direction.data,
            ints(self.shard_shape),
            ints(self.shard_dims),
            None if self.device_parts is None else ints(self.device_parts),
            None if self.device_summands is None else ints(self.device_summands),
        )


@irdl_op_definition
class AllGatherOp(OneInputOp):
    """The inputs of all devices along a mesh axis, concatenated along a dimension."""

    name = "ttir.all_gather"
    all_gather_dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The dimension grows by the number of devices along the axis."""
        dim, axis = self.all_gather_dim.value.data, self.cluster_axis.value.data
        check.all_gather(self, *self.types, dim, axis)


@irdl_op_definition
class AllReduceOp(OneInputOp):
    """The inputs of all devices along a mesh axis, combined element by element."""

    name = "ttir.all_reduce"
    reduce_type = prop_def(ReduceTypeAttr)
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The shape stays."""
        kind, axis = self.reduce_type.data, self.cluster_axis.value.data
        check.all_reduce(self, *self.types, kind, axis)


@irdl_op_definition
class ReduceScatterOp(OneInputOp):
    """As all_reduce, then each device keeps its part of dimension `scatter_dim`.

    The device with coordinate c along the axis keeps part c of equal parts.
    """

    name = "ttir.reduce_scatter"
    reduce_type = prop_def(ReduceTypeAttr)
    scatter_dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The dimension shrinks by the number of devices along the axis."""
        kind, dim = self.reduce_type.data, self.scatter_dim.value.data
        check.reduce_scatter(self, *self.types, kind, dim, self.cluster_axis.value.data)


@irdl_op_definition
class CollectivePermuteOp(OneInputOp):
    """Each target device gets its source's input; no source: zeros.

    `source_target_pairs` has a row [source, target] a transfer. A device is numbered by
    its place in the mesh, row-major over the mesh axes.
    """

    name = "ttir.collective_permute"
    source_target_pairs = prop_def(DenseIntOrFPElementsAttr)

    def verify_shapes(self) -> None:
        """Devices of the mesh, no source and no target twice."""
        check.collective_permute(self, *self.types, self.source_target_pairs)


@irdl_op_definition
class AllToAllOp(OneInputOp):
    """Parts of `split_dim` sent to the devices along an axis, joined in `concat_dim`.

    The device with coordinate c gets part c of every device along the axis and
    concatenates them in their order. (tt-mlir writes replica groups instead of the
    axis.)
    """

    name = "ttir.all_to_all"
    split_dim = prop_def(IntegerAttr[SI32])
    concat_dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """One dimension shrinks, one grows, by the devices along the axis."""
        split, concat = self.split_dim.value.data, self.concat_dim.value.data
        axis = self.cluster_axis.value.data
        check.all_to_all(self, *self.types, split, concat, axis)


@irdl_op_definition
class MeshPartitionOp(OneInputOp):
    """Each device keeps its part of dimension `dim`; nothing is sent.

    The device with coordinate c along the axis keeps part c of equal parts.
    """

    name = "ttir.mesh_partition"
    dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The dimension shrinks by the number of devices along the axis."""
        dim, axis = self.dim.value.data, self.cluster_axis.value.data
        check.mesh_partition(self, *self.types, dim, axis)


# --- control flow (additions: tt-mlir leaves it to the host) ------------------


class RegionOp(VerifiedOnce):
    """Base of ops with regions, whose ops may use the values around them."""

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class WhileOp(RegionOp):
    """While `cond` of the carried values is true, `body` replaces them.

    Both regions take the carried values; `cond` yields one i1 scalar, `body` new values.
    """

    name = "ttir.while"
    operand = var_operand_def()
    cond = region_def("single_block")
    body = region_def("single_block")
    res = var_result_def()

    def __init__(self, operand: Sequence[SSAValue], cond: Region, body: Region):
        types = [value.type for value in operand]
        super().__init__(operands=[operand], result_types=[types], regions=[cond, body])

    def verify_(self) -> None:
        """Carried types stay; the condition is one truth value."""
        check.while_loop(self, self.operand, self.cond, self.body)


@irdl_op_definition
class IfOp(RegionOp):
    """The values of `true_branch` if the i1 scalar is true, else of `false_branch`."""

    name = "ttir.if"
    pred = operand_def(AnyTensorTypeConstr)
    true_branch = region_def("single_block")
    false_branch = region_def("single_block")
    res = var_result_def()

    def __init__(
        self,
        pred: SSAValue,
        true_branch: Region,
        false_branch: Region,
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[pred],
            result_types=[result_types],
            regions=[true_branch, false_branch],
        )

    def verify_(self) -> None:
        """A scalar condition; both branches yield the results."""
        check.branches(self, self.pred, i1)


@irdl_op_definition
class CaseOp(RegionOp):
    """The values of branch number `index`; of the last when there is no such branch."""

    name = "ttir.case"
    index = operand_def(AnyTensorTypeConstr)
    branches = var_region_def("single_block")
    res = var_result_def()

    def __init__(
        self,
        index: SSAValue,
        branches: Sequence[Region],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[index], result_types=[result_types], regions=[branches]
        )

    def verify_(self) -> None:
        """A scalar i32 index; all branches yield the results."""
        check.branches(self, self.index, i32)


@irdl_op_definition
class YieldOp(VerifiedOnce):
    """The values that a region answers with."""

    name = "ttir.yield"
    operand = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, operand: Sequence[SSAValue]):
        super().__init__(operands=[operand])


# --- what tt-mlir has no op for ------------------------------------------------


class AdditionOp(DPSOp):
    """Base of StableHLO's and chlo's ops that tt-mlir has no form of.

    Fields, constraints and meaning are the op's that `ADDITION` names. Tokens and
    what is not a tensor have no destination.
    """

    ADDITION: ClassVar[Addition]

    def as_source(self) -> Operation:
        """The op that this one stands for, on operands of its own."""
        return as_source(self, self.ADDITION.source, self.dps_inputs)

    def verify_shapes(self) -> None:
        """What the op that this one stands for demands."""
        self.as_source().verify()


def _define_addition(addition: Addition) -> type[AdditionOp]:
    fields = fields_of(addition, destinations=True)
    fields |= {
        "name": f"ttir.{addition.mnemonic}",
        "__doc__": f"As `{addition.source}`.",
        "__module__": __name__,
    }
    made = type(class_name(addition.mnemonic), (AdditionOp,), fields)
    defined = irdl_op_definition(cast(type[AdditionOp], made))
    defined.ADDITION = addition
    return defined


ADDITION_OPS: dict[str, type[AdditionOp]] = {
    addition.source: _define_addition(addition) for addition in ADDITIONS
}
"""Their classes by the name of the op that they stand for."""


TTIR = Dialect(
    "ttir",
    [
        *ADDITION_OPS.values(),
        *ELEMENTWISE_OPS.values(),
        *REDUCTION_OPS.values(),
        AllGatherOp,
        AllReduceOp,
        AllToAllOp,
        ArangeOp,
        ArgMaxOp,
        BroadcastOp,
        CaseOp,
        CollectivePermuteOp,
        ConcatOp,
        ConstantOp,
        Conv2dOp,
        Conv3dOp,
        CumProdOp,
        CumSumOp,
        DequantizeOp,
        DotGeneralOp,
        EmbeddingOp,
        EmptyOp,
        FullOp,
        GatherOp,
        IfOp,
        MatmulOp,
        MeshPartitionOp,
        MeshShardOp,
        OnesOp,
        PadOp,
        PermuteOp,
        QuantizeOp,
        RandOp,
        ReduceScatterOp,
        RequantizeOp,
        ReshapeOp,
        ReverseOp,
        ScatterOp,
        SliceDynamicOp,
        SliceStaticOp,
        SortOp,
        TopKOp,
        WhileOp,
        YieldOp,
        ZerosOp,
    ],
    [],
)
"""The dialect object that a context registers."""
