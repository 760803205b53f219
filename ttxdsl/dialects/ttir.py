"""The ttir dialect: device code, and how tensors come to the devices and back.

Names and attributes follow tt-mlir (`TTIROps.td`); the five collectives and
`mesh_shard` follow the design request. Two conventions hold for every op:

- *Destination-passing style.* An op that computes takes its inputs and then one
  `output` for each result, made by `ttir.empty` and of the result's type; the result
  replaces it, its contents are never read. Creation ops and control flow have none. As
  tt-mlir of today writes it, no op has any: an op has all its destinations or none.
- *Places.* A tensor type with the encoding `#ttcore.tensor_mesh<"mesh">` is one local
  tensor on every device of that mesh, its shape the local one. Without an encoding it
  is one tensor on the host. All tensors of an op live in one place; only `mesh_shard`
  moves data between host and mesh.

Ops that ttnn has too are declared in `_tt/`, each in its family's file, which says what
it means; here they get their destinations.

Ops print in MLIR's generic form with their attributes as properties.
"""

# an op that says no more than its bases has its declaration's docstring
# ruff: noqa: D101

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, ClassVar

from xdsl.dialects.builtin import I32, I64, AnyTensorTypeConstr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    VariadicDef,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt import (
    collective,
    contraction,
    control_flow,
    creation,
    data_movement,
    elementwise,
    extension_ops,
    indexing,
    quantization,
    reduction,
    tt_mlir_ops,
)
from ttxdsl.dialects._tt.attributes import SI32, DenseInts, I32Array, ints
from ttxdsl.dialects._tt.data_movement import verify_repetition
from ttxdsl.dialects._tt.extension_ops import AdditionOp, sources
from ttxdsl.dialects._tt.op import (
    ComputeOp,
    LineOps,
    OneInputOp,
    TTDialect,
    TTOp,
    op_of,
)
from ttxdsl.dialects._tt.tensors import (
    exactly,
    expect_dim,
    expect_shape,
    expect_type,
    tensor_types,
)
from ttxdsl.ir.traversal import operands_of


class TTIROp(TTOp):
    """Base of all ops of the dialect."""

    DIALECT: ClassVar[str] = "ttir"
    OPS: ClassVar[list[type[TTOp]]] = []


class DPSOp(TTIROp):
    """Base of ops in destination-passing style: the last operands are the outputs.

    Constraints: there are all outputs or none; each has its result's type; all tensors
    live in one place.
    """

    @property
    def in_place(self) -> bool:
        """Whether it names its destinations."""
        raise NotImplementedError

    @property
    def dps_results(self) -> Sequence[SSAValue]:
        """The results that have a destination: all tensors."""
        return [
            result for result in self.results if result.type.name == TensorType.name
        ]

    @property
    def dps_outputs(self) -> Sequence[SSAValue]:
        """The destinations, one a result that is a tensor, if it names them."""
        return self.operands[len(self.reads) :]

    @property
    def reads(self) -> Sequence[SSAValue]:
        """The operands before the destinations."""
        operands = operands_of(self)
        if not self.in_place:
            return operands
        return operands[: len(operands) - len(self.dps_results)]

    def verify_(self) -> None:
        """Check the destinations, then the constraints of every op."""
        outputs, results = self.dps_outputs, self.dps_results
        if outputs and len(outputs) != len(results):
            raise VerifyException(
                f"{len(results)} results have {len(outputs)} outputs: all or none"
            )
        for output, result in zip(outputs, results, strict=False):
            if output.type != result.type:
                raise VerifyException(
                    f"the output has type {output.type}, the result {result.type}: "
                    "they must be the same"
                )
        super().verify_()


class Destination(DPSOp):
    """Base of ops with one result, whose destination is the last operand."""

    output = opt_operand_def(AnyTensorTypeConstr)

    @property
    def in_place(self) -> bool:
        """Whether it has one operand more than it needs."""
        return len(operands_of(self)) > self._inputs()

    @classmethod
    @cache
    def _inputs(cls) -> int:
        """Return the number of operands read; cached, since every step asks."""
        return len(cls.get_irdl_definition().operands) - 1


class Destinations(DPSOp):
    """Base of ops with several results, whose destinations are the last operands."""

    destinations = var_operand_def()

    @property
    def in_place(self) -> bool:
        """Whether it names any."""
        return bool(self.destinations)


# --- element by element, and reductions ---------------------------------------


ELEMENTWISE_OPS = LineOps(
    {
        line.ttir: partial(elementwise.op_of_line, line, Destination, line.ttir)
        for line in elementwise.ELEMENTWISE
    }
)
"""The elementwise op classes by mnemonic: `ELEMENTWISE_OPS["add"]` is `ttir.add`."""

REDUCTION_OPS = LineOps(
    {
        line.ttir: partial(
            op_of, reduction.DimsReductionOp, Destination, line.ttir, line.summary
        )
        for line in reduction.REDUCTIONS
    }
)
"""The reduction op classes by mnemonic: `REDUCTION_OPS["sum"]` is `ttir.sum`."""


# --- ops of both dialects, one a line: the declaration and what is added to it --


# fmt: off
class ArgMaxOp(reduction.ArgMax, reduction.DimsReductionOp, Destination): ...

class ReshapeOp(data_movement.Reshape, Destination): ...
class PermuteOp(data_movement.Permute, Destination): ...
class SliceStaticOp(data_movement.SliceStatic, Destination): ...
class SliceDynamicOp(data_movement.SliceDynamic, Destination): ...
class PadOp(data_movement.Pad, Destination): ...

class EmbeddingOp(indexing.Embedding, Destination): ...
class GatherOp(indexing.Gather[IntegerAttr[I32]], Destination): ...
class ScatterOp(indexing.Scatter[IntegerAttr[I32]], Destination): ...
class SortOp(indexing.Sort[IntegerAttr[SI32]], Destinations): ...
class TopKOp(indexing.TopK[IntegerAttr[I32]], Destinations): ...
class CumSumOp(indexing.CumSum[IntegerAttr[I64]], Destination): ...
class CumProdOp(indexing.CumProd[IntegerAttr[I64]], Destination): ...

class MatmulOp(contraction.Matmul, Destination): ...
class ConstantOp(creation.Constant, TTIROp): ...
class ZerosOp(creation.Zeros[DenseInts], TTIROp): ...
class OnesOp(creation.Ones[DenseInts], TTIROp): ...
class FullOp(creation.Full[DenseInts], TTIROp): ...
class RandOp(creation.Rand[I32Array], TTIROp): ...

class QuantizeOp(quantization.Quantize, Destination): ...
class DequantizeOp(quantization.Dequantize, Destination): ...
class RequantizeOp(quantization.Requantize, Destination): ...

class AllGatherOp(collective.AllGather, Destination): ...
class AllReduceOp(collective.AllReduce, Destination): ...
class ReduceScatterOp(collective.ReduceScatter, Destination): ...
class CollectivePermuteOp(collective.CollectivePermute, Destination): ...
class AllToAllOp(collective.AllToAll, Destination): ...
class MeshPartitionOp(collective.MeshPartition, Destination): ...

class WhileOp(control_flow.While, TTIROp): ...
class IfOp(control_flow.If, TTIROp): ...
class CaseOp(control_flow.Case, TTIROp): ...
class YieldOp(control_flow.Yield, TTIROp): ...
# fmt: on


# --- data movement ----------------------------------------------------------


class ConcatOp(data_movement.Concat, DPSOp):
    """The tensors one after the other along dimension `dim`.

    The last operand is the destination unless the sizes of all add up to the result's.
    """

    @property
    def in_place(self) -> bool:
        """Whether the last operand is the destination: one too many for the result."""
        dim, (result, *types) = (
            self.dim.value.data,
            tensor_types(self.result, *self.operands),
        )
        ranks = {len(type.get_shape()) for type in (result, *types)}
        if len(types) < 2 or len(ranks) > 1 or not 0 <= dim < max(ranks):
            return False
        total = sum(type.get_shape()[dim] for type in types)
        return total != result.get_shape()[dim] and types[-1] == result


class BroadcastOp(OneInputOp, Destination):
    """The input repeated `broadcast_dimensions[i]` times along each dimension i.

    Constraint: only dimensions of size 1 repeat.
    """

    name = "broadcast"
    broadcast_dimensions = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """Check the result's shape; only dimensions of size 1 repeat."""
        input, result = self.types
        factors = ints(self.broadcast_dimensions)
        verify_repetition(input, result, factors)
        for dim, (size, factor) in enumerate(
            zip(input.get_shape(), factors, strict=True)
        ):
            if size != 1 and factor != 1:
                raise VerifyException(
                    f"dimension {dim} of size {size} cannot stretch, only size 1 can"
                )


class ReverseOp(OneInputOp, Destination):
    """The elements in reverse order along each of `dimensions`."""

    name = "reverse"
    dimensions = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """The result has the input's shape; the dimensions exist."""
        input, result = self.types
        expect_type(result, input, "the operand's shape")
        for dim in ints(self.dimensions):
            expect_dim(input, dim, "dim")


# --- contraction ------------------------------------------------------------


class DotGeneralOp(ComputeOp, Destination):
    """Products summed over the contracted dimensions, as stablehlo.dot_general.

    Result dimensions: batch, then lhs's free ones, then rhs's free ones. The sum
    accumulates in the result's element type, at least in f32 for floats.
    """

    name = "dot_general"
    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    batch_dims_lhs = prop_def(DenseInts)
    contract_dims_lhs = prop_def(DenseInts)
    batch_dims_rhs = prop_def(DenseInts)
    contract_dims_rhs = prop_def(DenseInts)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Check the sizes of paired dimensions, and the result's shape."""
        lhs, rhs, result = tensor_types(self.lhs, self.rhs, self.result)
        batch = ints(self.batch_dims_lhs), ints(self.batch_dims_rhs)
        contract = ints(self.contract_dims_lhs), ints(self.contract_dims_rhs)
        left, right = lhs.get_shape(), rhs.get_shape()
        for name, (mine, theirs) in (("batch", batch), ("contract", contract)):
            if len(mine) != len(theirs):
                raise VerifyException(f"{name} dimensions come in pairs")
            for a, b in zip(mine, theirs, strict=True):
                expect_dim(lhs, a, f"{name}_dims_lhs")
                expect_dim(rhs, b, f"{name}_dims_rhs")
                if left[a] != right[b]:
                    raise VerifyException(
                        f"{name} dimensions {a} and {b} have sizes {left[a]} and "
                        f"{right[b]}"
                    )
        used = [(*batch[side], *contract[side]) for side in (0, 1)]
        if any(len(set(dims)) != len(dims) for dims in used):
            raise VerifyException("a dimension is named twice")
        wanted = [left[dim] for dim in batch[0]]
        for shape, dims in ((left, used[0]), (right, used[1])):
            wanted += [size for dim, size in enumerate(shape) if dim not in dims]
        expect_shape(result, wanted, "batch, lhs and rhs dimensions")


class Biased(DPSOp):
    """Base of ops that end with perhaps a bias, and perhaps a destination."""

    rest = var_operand_def(AnyTensorTypeConstr)

    @property
    def bias(self) -> SSAValue | None:
        """The value that is added to each window."""
        return self.reads[2] if len(self.reads) > 2 else None

    @property
    def in_place(self) -> bool:
        """Whether the last operand is the destination, not the bias."""
        return bool(self.rest) and self.rest[-1].type == self.results[0].type


class Conv3dOp(contraction.Conv3d, Biased):
    batch_dim = opt_prop_def(IntegerAttr[I64])
    depth_dim = opt_prop_def(IntegerAttr[I64])
    height_dim = opt_prop_def(IntegerAttr[I64])
    width_dim = opt_prop_def(IntegerAttr[I64])
    channel_dim = opt_prop_def(IntegerAttr[I64])

    def image_dims(self) -> tuple[int, ...]:
        """Return the dimensions of batch, depth, height, width and channels."""
        return self._named_dims("batch", "depth", "height", "width", "channel")


class Conv2dOp(contraction.Conv2d, Biased):
    """Windows of an image times a kernel, summed: no kernel is flipped.

    Input `[n, h, w, c]`, weight `[o, c / groups, kh, kw]`, result `[n, h', w', o]`.
    `padding` is [top, left, bottom, right] of zeros; `dilation` spreads the kernel.
    The sum accumulates at least in f32 for floats. tt-mlir may add a bias
    `[1, 1, 1, o]`, and says where batch, height, width and channels are.
    """

    batch_dim = opt_prop_def(IntegerAttr[I64])
    height_dim = opt_prop_def(IntegerAttr[I64])
    width_dim = opt_prop_def(IntegerAttr[I64])
    channel_dim = opt_prop_def(IntegerAttr[I64])
    flattened_compat_info = opt_prop_def(Attribute)

    def image_dims(self) -> tuple[int, ...]:
        """Return the dimensions of batch, height, width and channels."""
        return self._named_dims("batch", "height", "width", "channel")

    def verify_shapes(self) -> None:
        """Check the groups, and the result's shape against the windows."""
        if sorted(self.image_dims()) != [0, 1, 2, 3]:
            raise VerifyException(
                "batch, height, width and channels are all dimensions"
            )
        top, left, bottom, right = exactly(4, "padding", ints(self.padding))
        self.verify_windows(((top, bottom), (left, right)), ints(self.dilation))


# --- creation ---------------------------------------------------------------


class EmptyOp(creation.CreationOp, TTIROp):
    """Room for a result; its contents are never read. tt-mlir writes it pretty."""

    name = "empty"

    @classmethod
    def parse(cls, parser: Parser) -> "EmptyOp":
        """Read `ttir.empty() : tensor<4x8xf32>`."""
        parser.parse_punctuation("(")
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(result_types=[parser.parse_type()], attributes=attributes)


class ArangeOp(creation.Arange, TTIROp):
    """`start`, `start + step`, … below `end` along `arange_dimension`.

    The values repeat along all other dimensions.
    """

    arange_dimension = prop_def(IntegerAttr[I64])

    @property
    def dim(self) -> int:
        """The dimension that the values run along."""
        return self.arange_dimension.value.data


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
            and {**first.properties, "shard_direction": op.shard_direction}
            == op.properties
        ):
            rewriter.replace(op, [], [first.input])


class _MeshShardCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """Return the patterns of mesh_shard."""
        return (_FoldMeshShards(),)


class MeshShardOp(collective.MeshShard, Destination):
    traits = traits_def(_MeshShardCanonicalization())


# --- what tt-mlir has no op for ------------------------------------------------


class _AdditionDestinations(Destinations):
    """Base of additions with a destination for each result."""

    @classmethod
    def later_fields(cls) -> dict[str, Any]:
        """Return the option for segment sizes if the operands are a list."""
        assert issubclass(cls, AdditionOp)
        source = sources()[cls.ADDITION.source].get_irdl_definition()
        if not any(isinstance(operand, VariadicDef) for _, operand in source.operands):
            return {}
        return {"irdl_options": (AttrSizedOperandSegments(as_property=True),)}


TODAY_OPS = LineOps(
    {
        op.name: partial(tt_mlir_ops.op_of_line, op, TTIROp, None)
        for op in tt_mlir_ops.TODAY
        if op.only != "ttnn"
    }
)
"""The classes of tt-mlir's other ops, by mnemonic."""


ADDITION_OPS = LineOps(
    {
        addition.source: partial(
            extension_ops.op_of_line,
            addition,
            TTIROp if addition.token else _AdditionDestinations,
        )
        for addition in extension_ops.ADDITIONS
    }
)
"""Their classes by the name of the op that they stand for."""


TTIR = TTDialect(
    "ttir", TTIROp, [ELEMENTWISE_OPS, REDUCTION_OPS, TODAY_OPS, ADDITION_OPS]
)
"""The dialect object that a context registers."""
