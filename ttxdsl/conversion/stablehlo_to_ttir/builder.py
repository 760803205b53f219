"""Writes ttir ops one after the other; each method is one op or a short idiom of ops.

A builder stands at the end of a block and in one place: on the host, or on the devices
of a mesh. Every tensor that it makes has that place in its type, and the destination
operand of every op that computes is made here and nowhere else. Steps that change
nothing (a reshape to the same shape, a slice of everything) make no op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import copysign, isfinite
from struct import pack, unpack
from typing import cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    NoneAttr,
    RankedStructure,
    Signedness,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttxdsl.conversion.stablehlo_to_ttir.group_axes import Groups
from ttxdsl.conversion.vocabulary import Vocabulary, require_in_tt_mlir
from ttxdsl.dialects import ttir
from ttxdsl.dialects._tt.attributes import (
    NumberError,
    bool_attr,
    dense_i32,
    dense_i64,
    i32_array,
    si32_attr,
    si64_attr,
    ui32_attr,
)
from ttxdsl.dialects.quant import permuted, repeated, reshaped
from ttxdsl.dialects.ttcore import (
    MeshShardDirection,
    MeshShardDirectionAttr,
    MeshShardType,
    MeshShardTypeAttr,
    ReduceType,
    ReduceTypeAttr,
    TensorMeshAttr,
)
from ttxdsl.ir.tensors import Tensor, element_of, shape_of, tensor_type

Number = int | float | bool


@lru_cache(maxsize=1 << 12)
def _tensor_in(
    mesh_name: str | None, shape: tuple[int, ...], element: Attribute
) -> Tensor:
    """Return a tensor type on the devices of a mesh or, without one, on the host."""
    place = NoneAttr() if mesh_name is None else TensorMeshAttr(mesh_name)
    return TensorType(element, shape, place)


# equal attributes are one object, which the printer and the verifier remember
_reduce_type = lru_cache(ReduceTypeAttr)
_shard_type = lru_cache(MeshShardTypeAttr)
_shard_direction = lru_cache(MeshShardDirectionAttr)


def is_unsigned(type: Attribute) -> bool:
    """Whether elements are unsigned integers."""
    return isinstance(type, IntegerType) and type == IntegerType(
        type.bitwidth, Signedness.UNSIGNED
    )


def value_range(type: Attribute) -> tuple[Number, Number]:
    """Smallest and largest value of an element type; infinite for floats."""
    unsigned = is_unsigned(type)
    if type == i1:
        return 0, 1
    if not isinstance(type, IntegerType):
        return float("-inf"), float("inf")
    bits = type.bitwidth
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _require_one_rank(name: str, *shapes: Sequence[int]) -> None:
    if len({len(shape) for shape in shapes}) > 1:
        ranks = " and ".join(str(len(shape)) for shape in shapes)
        raise NumberError(f"'ttir.{name}' of values of ranks {ranks}: reshape one")


@dataclass
class TTIRBuilder:
    """Appends ttir ops to a block, on the host or on the devices of a mesh.

    Attributes:
        mesh_name: the mesh that tensors live on, None on the host.
        location: what the ops to come say about their origin.
        in_dps: whether ops get destinations, which tt-mlir's have not.
    """

    block: Block
    mesh_name: str | None
    location: LocationAttr = UNKNOWN_LOC
    vocabulary: Vocabulary = Vocabulary.DESIGN
    in_dps: bool = True

    def at(self, block: Block) -> TTIRBuilder:
        """Return a builder in the same place, at the end of another block."""
        return replace(self, block=block)

    def in_place(self, mesh_name: str | None) -> TTIRBuilder:
        """A builder at the same end, on a mesh or on the host."""
        return replace(self, mesh_name=mesh_name)

    def add(self, op: Operation) -> Operation:
        """Append any op.

        Raises:
            UnsupportedError: it is for tt-mlir, which has no such op.
        """
        op.location = self.location
        if self.vocabulary is Vocabulary.TT_MLIR:
            require_in_tt_mlir(op)
            if isinstance(op, ttir.WhileOp):
                op.capture()
        self.block.add_op(op)
        return op

    # --- types and creation -------------------------------------------------

    def type(self, shape: Sequence[int], element: Attribute) -> Tensor:
        """Return the tensor type of that shape in the builder's place."""
        return _tensor_in(self.mesh_name, tuple(shape), element)

    def here(self, type: Attribute) -> Tensor:
        """Return a tensor type of the input program in the builder's place."""
        tensor = cast(Tensor, type)
        return self.type(tensor.get_shape(), tensor.element_type)

    def placed(self, type: Attribute) -> Attribute:
        """Any type of the input program in the builder's place: tokens have none."""
        return self.here(type) if type.name == TensorType.name else type

    def empty(self, type: Tensor) -> SSAValue:
        """`ttir.empty`."""
        return self.add(ttir.EmptyOp.create(result_types=[type])).results[0]

    def destinations(self, types: Iterable[Tensor]) -> list[SSAValue]:
        """Return the destinations for an op's results; none outside of DPS."""
        if not self.in_dps:
            return []
        return [self.empty(type) for type in types]

    def compute(
        self,
        op: type[Operation],
        inputs: Sequence[SSAValue],
        results: Sequence[Tensor],
        properties: Mapping[str, Attribute] | None = None,
    ) -> Sequence[SSAValue]:
        """An op in destination-passing style, its destinations made before it."""
        outputs = self.destinations(results)
        new_op = op.create(
            operands=[*inputs, *outputs],
            result_types=results,
            properties=properties or {},
        )
        return self.add(new_op).results

    def one(
        self,
        op: type[Operation],
        inputs: Sequence[SSAValue],
        result: Tensor,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Return an op in destination-passing style with one result."""
        return self.compute(op, inputs, [result], properties)[0]

    def constant(self, value: DenseIntOrFPElementsAttr) -> SSAValue:
        """`ttir.constant`, or the shorter form when all elements are equal."""
        type = cast(Tensor, value.type)
        splat = splat_of(value)
        if splat is not None:
            return self.full(type.get_shape(), type.element_type, splat)
        return self.add(ttir.ConstantOp(value, self.here(type))).results[0]

    def numbers(
        self, values: Sequence[Number], shape: Sequence[int], element: Attribute
    ) -> SSAValue:
        """Return a constant tensor of Python numbers in row-major order."""
        type = cast(RankedStructure[AnyFloat], TensorType(element, shape))
        dense = DenseIntOrFPElementsAttr.from_list(type, cast(list[float], values))
        return self.constant(cast(DenseIntOrFPElementsAttr, dense))

    def full(self, shape: Sequence[int], element: Attribute, value: Number) -> SSAValue:
        """A tensor of one value: zeros, ones, full, or a constant where full is inexact."""
        type = self.type(shape, element)
        if value == 0 and copysign(1.0, value) > 0:
            return self._filled(ttir.ZerosOp, type, {})
        if value == 1:
            return self._filled(ttir.OnesOp, type, {})
        fill = _fill_value(value, element)
        if fill is None:
            host = cast(RankedStructure[AnyFloat], TensorType(element, shape))
            number = (value, 0.0) if isinstance(element, ComplexType) else value
            dense = DenseIntOrFPElementsAttr.from_list(host, [cast(float, number)])
            exact = cast(DenseIntOrFPElementsAttr, dense)
            return self.add(ttir.ConstantOp(exact, type)).results[0]
        return self._filled(ttir.FullOp, type, {"fill_value": fill})

    def _filled(
        self, op: type[Operation], type: Tensor, properties: Mapping[str, Attribute]
    ) -> SSAValue:
        new_op = op.create(
            result_types=[type],
            properties={"shape": dense_i32(type.get_shape()), **properties},
        )
        return self.add(new_op).results[0]

    def like(self, value: SSAValue, number: Number) -> SSAValue:
        """One number in the shape and element type of a value."""
        return self.full(shape_of(value), element_of(value), number)

    def arange(self, shape: Sequence[int], dim: int, element: Attribute) -> SSAValue:
        """Return the index along a dimension, in every element."""
        new_op = ttir.ArangeOp.create(
            result_types=[self.type(shape, element)],
            properties={
                "start": si64_attr(0),
                "end": si64_attr(shape[dim]),
                "step": si64_attr(1),
                "arange_dimension": IntegerAttr(dim, i64),
            },
        )
        return self.add(new_op).results[0]

    # --- element by element -------------------------------------------------

    def elementwise(
        self, name: str, *operands: SSAValue, element: Attribute | None = None
    ) -> SSAValue:
        """The elementwise op of that mnemonic, operands stretched to a common shape.

        Args:
            name: ttir's mnemonic, such as `add`.
            operands: values of one rank.
            element: the result's element type; the last operand's when None.

        Raises:
            NumberError: their ranks differ.
        """
        _require_one_rank(name, *map(shape_of, operands))
        shape = [
            max(sizes, key=lambda s: s != 1)
            for sizes in zip(*map(shape_of, operands), strict=True)
        ]
        result = self.type(shape, element or element_of(operands[-1]))
        return self.one(ttir.ELEMENTWISE_OPS[name], operands, result)

    def compare(self, name: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Append a comparison (`eq`, `lt`, …), whose result is i1."""
        return self.elementwise(name, lhs, rhs, element=i1)

    def typecast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Convert to another element type; a value of that type is returned itself."""
        if element_of(value) == element:
            return value
        return self.elementwise("typecast", value, element=element)

    def with_number(self, name: str, value: SSAValue, number: Number) -> SSAValue:
        """Return an elementwise op of a value and one number."""
        return self.elementwise(name, value, self.like(value, number))

    # --- data movement ------------------------------------------------------

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`ttir.reshape`."""
        if shape_of(value) == tuple(shape):
            return value
        result = self.type(shape, reshaped(element_of(value), shape_of(value), shape))
        return self.one(ttir.ReshapeOp, [value], result, {"shape": i32_array(shape)})

    def permute(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """`ttir.permute`."""
        if tuple(permutation) == tuple(range(len(permutation))):
            return value
        shape = shape_of(value)
        element = permuted(element_of(value), permutation)
        result = self.type([shape[dim] for dim in permutation], element)
        return self.one(
            ttir.PermuteOp, [value], result, {"permutation": dense_i64(permutation)}
        )

    def move_dim(self, value: SSAValue, source: int, target: int) -> SSAValue:
        """One dimension moved, the others in their order."""
        order = [dim for dim in range(len(shape_of(value))) if dim != source]
        order.insert(target, source)
        return self.permute(value, order)

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Dimensions of size 1 stretched to a shape of the same rank."""
        old = shape_of(value)
        if old == tuple(shape):
            return value
        _require_one_rank("broadcast", old, shape)
        factors = [
            1 if size == wanted else wanted
            for size, wanted in zip(old, shape, strict=True)
        ]
        result = self.type(shape, repeated(element_of(value), factors))
        return self.one(
            ttir.BroadcastOp,
            [value],
            result,
            {"broadcast_dimensions": dense_i64(factors)},
        )

    def broadcast_in_dim(
        self, value: SSAValue, shape: Sequence[int], dims: Sequence[int]
    ) -> SSAValue:
        """StableHLO's broadcast: dimension i of the value becomes `dims[i]`."""
        order = sorted(range(len(dims)), key=lambda i: dims[i])
        value = self.permute(value, order)
        spread = [1] * len(shape)
        for i, size in zip(order, shape_of(value), strict=True):
            spread[dims[i]] = size
        return self.broadcast(self.reshape(value, spread), shape)

    def concat(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        """`ttir.concat`."""
        if len(values) == 1:
            return values[0]
        shape = list(shape_of(values[0]))
        shape[dim] = sum(shape_of(value)[dim] for value in values)
        result = self.type(shape, element_of(values[0]))
        return self.one(ttir.ConcatOp, values, result, {"dim": si32_attr(dim)})

    def slice(
        self,
        value: SSAValue,
        begins: Sequence[int],
        ends: Sequence[int],
        step: Sequence[int] | None = None,
    ) -> SSAValue:
        """`ttir.slice_static`."""
        step = step or [1] * len(begins)
        shape = [-(-(e - b) // s) for b, e, s in zip(begins, ends, step, strict=True)]
        if tuple(shape) == shape_of(value):
            return value
        properties = {
            "begins": i32_array(begins),
            "ends": i32_array(ends),
            "step": i32_array(step),
        }
        result = self.type(shape, element_of(value))
        return self.one(ttir.SliceStaticOp, [value], result, properties)

    def slice_dim(
        self, value: SSAValue, dim: int, begin: int, end: int, step: int = 1
    ) -> SSAValue:
        """Return a static slice of one dimension."""
        shape = shape_of(value)
        begins, ends, steps = [0] * len(shape), list(shape), [1] * len(shape)
        begins[dim], ends[dim], steps[dim] = begin, end, step
        return self.slice(value, begins, ends, steps)

    def slice_dynamic(
        self, value: SSAValue, begins: SSAValue, sizes: Sequence[int]
    ) -> SSAValue:
        """`ttir.slice_dynamic` of fixed size; `begins` has one entry a dimension."""
        ends = self.elementwise(
            "add", begins, self.numbers(sizes, (len(sizes),), element_of(begins))
        )
        result = self.type(sizes, element_of(value))
        return self.one(ttir.SliceDynamicOp, [value, begins, ends], result)

    def pad(
        self,
        value: SSAValue,
        low: Sequence[int],
        high: Sequence[int],
        fill: SSAValue | Number,
    ) -> SSAValue:
        """`ttir.pad` with a number, concatenation with a scalar tensor."""
        if isinstance(fill, SSAValue) or not is_f32(fill):
            return self._pad_by_concat(value, low, high, fill)
        if not any(low) and not any(high):
            return value
        shape = [s + a + b for s, a, b in zip(shape_of(value), low, high, strict=True)]
        amounts = [n for pair in zip(low, high, strict=True) for n in pair]
        properties = {
            "padding": dense_i32(amounts),
            "value": FloatAttr(float(fill), f32),
        }
        result = self.type(shape, element_of(value))
        return self.one(ttir.PadOp, [value], result, properties)

    def _pad_by_concat(
        self,
        value: SSAValue,
        low: Sequence[int],
        high: Sequence[int],
        fill: SSAValue | Number,
    ) -> SSAValue:
        for dim, amounts in enumerate(zip(low, high, strict=True)):
            before, after = (self._border(value, dim, n, fill) for n in amounts)
            value = self.concat([*before, value, *after], dim)
        return value

    def _border(
        self, value: SSAValue, dim: int, size: int, fill: SSAValue | Number
    ) -> list[SSAValue]:
        if not size:
            return []
        shape = list(shape_of(value))
        shape[dim] = size
        if isinstance(fill, SSAValue):
            return [self.broadcast_in_dim(fill, shape, ())]
        return [self.full(shape, element_of(value), fill)]

    def embedding(self, indices: SSAValue, weight: SSAValue) -> SSAValue:
        """`ttir.embedding`: rows of the weight, clamped."""
        shape = (*shape_of(indices), shape_of(weight)[1])
        result = self.type(shape, element_of(weight))
        return self.one(ttir.EmbeddingOp, [indices, weight], result)

    def gather(self, value: SSAValue, index: SSAValue, dim: int) -> SSAValue:
        """`ttir.gather` along one dimension."""
        result = self.type(shape_of(index), element_of(value))
        return self.one(
            ttir.GatherOp, [value, index], result, {"dim": IntegerAttr(dim, i32)}
        )

    def scatter(
        self,
        value: SSAValue,
        index: SSAValue,
        source: SSAValue,
        dim: int,
        kind: ReduceType,
    ) -> SSAValue:
        """`ttir.scatter` along one dimension."""
        properties = {
            "dim": IntegerAttr(dim, i32),
            "scatter_reduce_type": _reduce_type(kind),
        }
        result = tensor_type(value)
        return self.one(ttir.ScatterOp, [value, index, source], result, properties)

    def reverse(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """`ttir.reverse`."""
        if not dims:
            return value
        return self.one(
            ttir.ReverseOp, [value], tensor_type(value), {"dimensions": dense_i64(dims)}
        )

    def sort(
        self, value: SSAValue, dim: int, *, descending: bool, stable: bool
    ) -> tuple[SSAValue, SSAValue]:
        """`ttir.sort`: values and i32 indices."""
        properties = {
            "dim": si32_attr(dim),
            "descending": bool_attr(value=descending),
            "stable": bool_attr(value=stable),
        }
        indices = self.type(shape_of(value), i32)
        types = [tensor_type(value), indices]
        values, places = self.compute(ttir.SortOp, [value], types, properties)
        return values, places

    # --- reductions and products --------------------------------------------

    def reduce(
        self, name: str, value: SSAValue, dims: Sequence[int], *, keep_dim: bool = False
    ) -> SSAValue:
        """Return the reduction of that mnemonic over some dimensions."""
        if not dims:
            return value
        shape = [
            1 if dim in dims else size
            for dim, size in enumerate(shape_of(value))
            if keep_dim or dim not in dims
        ]
        properties = {"keep_dim": bool_attr(value=keep_dim), "dim_arg": i32_array(dims)}
        result = self.type(shape, element_of(value))
        return self.one(ttir.REDUCTION_OPS[name], [value], result, properties)

    def cumulative(self, name: str, value: SSAValue, dim: int) -> SSAValue:
        """`ttir.cumsum` or `ttir.cumprod`."""
        op = {"cumsum": ttir.CumSumOp, "cumprod": ttir.CumProdOp}[name]
        return self.one(op, [value], tensor_type(value), {"dim": IntegerAttr(dim, i64)})

    # --- meshes and collectives ---------------------------------------------

    def mesh_shard(
        self,
        value: SSAValue,
        result: Tensor,
        kind: MeshShardType,
        direction: MeshShardDirection,
        shard_shape: Sequence[int],
        shard_dims: Sequence[int],
        device_parts: Sequence[int] = (),
        device_summands: Sequence[int] = (),
    ) -> SSAValue:
        """Append a `ttir.mesh_shard` whose result type says where the data goes."""
        properties = {
            "shard_type": _shard_type(kind),
            "shard_direction": _shard_direction(direction),
            "shard_shape": dense_i64(shard_shape),
            "shard_dims": dense_i64(shard_dims),
        }
        if device_parts:
            properties["device_parts"] = dense_i64(device_parts)
        if device_summands:
            properties["device_summands"] = dense_i64(device_summands)
        return self.one(ttir.MeshShardOp, [value], result, properties)

    def all_gather(
        self, value: SSAValue, dim: int, axis: int, devices: int
    ) -> SSAValue:
        """`ttir.all_gather` along mesh axis `axis` of that many devices."""
        properties = {"all_gather_dim": si32_attr(dim), "cluster_axis": ui32_attr(axis)}
        result = self._resized(value, {dim: (devices, 1)})
        return self.one(ttir.AllGatherOp, [value], result, properties)

    def all_reduce(self, value: SSAValue, kind: ReduceType, axis: int) -> SSAValue:
        """`ttir.all_reduce` along mesh axis `axis`."""
        properties = {
            "reduce_type": _reduce_type(kind),
            "cluster_axis": ui32_attr(axis),
        }
        return self.one(ttir.AllReduceOp, [value], tensor_type(value), properties)

    def reduce_scatter(
        self, value: SSAValue, kind: ReduceType, dim: int, axis: int, devices: int
    ) -> SSAValue:
        """`ttir.reduce_scatter` along mesh axis `axis` of that many devices."""
        properties = {
            "reduce_type": _reduce_type(kind),
            "scatter_dim": si32_attr(dim),
            "cluster_axis": ui32_attr(axis),
        }
        result = self._resized(value, {dim: (1, devices)})
        return self.one(ttir.ReduceScatterOp, [value], result, properties)

    def mesh_partition(
        self, value: SSAValue, dim: int, axis: int, devices: int
    ) -> SSAValue:
        """`ttir.mesh_partition` along mesh axis `axis` of that many devices."""
        properties = {"dim": si32_attr(dim), "cluster_axis": ui32_attr(axis)}
        result = self._resized(value, {dim: (1, devices)})
        return self.one(ttir.MeshPartitionOp, [value], result, properties)

    def all_to_all(
        self, value: SSAValue, split: int, concat: int, axis: int, groups: Groups
    ) -> SSAValue:
        """`ttir.all_to_all` along mesh axis `axis`, whose groups of devices are these."""
        devices = len(groups[0])
        properties: dict[str, Attribute] = {
            "split_dim": si32_attr(split),
            "concat_dim": si32_attr(concat),
        }
        if self.vocabulary == Vocabulary.TT_MLIR:
            properties["replica_groups"] = integer_rows(groups)
            properties["split_count"] = si32_attr(devices)
        else:
            properties["cluster_axis"] = ui32_attr(axis)
        changes = {split: (1, devices), concat: (devices, 1)} if split != concat else {}
        result = self._resized(value, changes)
        return self.one(ttir.AllToAllOp, [value], result, properties)

    def collective_permute(
        self, value: SSAValue, pairs: Sequence[tuple[int, int]]
    ) -> SSAValue:
        """`ttir.collective_permute`; devices numbered by their place in the mesh."""
        properties = {"source_target_pairs": integer_rows(pairs)}
        result = tensor_type(value)
        return self.one(ttir.CollectivePermuteOp, [value], result, properties)

    def _resized(self, value: SSAValue, changes: dict[int, tuple[int, int]]) -> Tensor:
        shape = [
            size * changes.get(dim, (1, 1))[0] // changes.get(dim, (1, 1))[1]
            for dim, size in enumerate(shape_of(value))
        ]
        return self.type(shape, element_of(value))

    # --- control flow -------------------------------------------------------

    def region(
        self,
        types: Sequence[Attribute],
        fill: Callable[[TTIRBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Region:
        """A region of one block; `fill` writes its ops and answers what it yields."""
        block = Block(arg_types=types)
        inner = self.at(block)
        inner.add(ttir.YieldOp(fill(inner, block.args)))
        return Region(block)


def integer_rows(rows: Sequence[Sequence[int]]) -> Attribute:
    """Rows of as many integers each, as `dense<[[0, 1], [2, 3]]>`."""
    type = TensorType(i64, (len(rows), len(rows[0])))
    flat = [number for row in rows for number in row]
    return cast(Attribute, DenseIntOrFPElementsAttr.from_list(type, flat))


def splat_of(value: DenseIntOrFPElementsAttr) -> Number | None:
    """Return the number that all elements of a constant are, None when they differ."""
    element = value.get_element_type()
    if not value.is_splat() or not isinstance(element, IntegerType | AnyFloat):
        return None
    number = next(iter(value.iter_values()))
    if not isinstance(number, int | float):
        return None
    return int(bool(number)) if element == i1 else number


def is_f32(number: Number) -> bool:
    """Whether an f32 holds the number exactly, and it is finite."""
    value = float(number)
    if not isfinite(value) or value != number:
        return False
    try:
        return unpack("f", pack("f", value))[0] == value
    except OverflowError:
        return False


@lru_cache(maxsize=1 << 12, typed=True)  # the only zero here is -0.0
def _fill_value(value: Number, element: Attribute) -> Attribute | None:
    """Return the attribute that `ttir.full` takes, None when f32 or i32 is inexact."""
    if isinstance(element, IntegerType):
        if element == i1 or not -(2**31) <= value < 2**31:
            return None
        return IntegerAttr(int(value), i32)
    if not is_f32(value) or value == 0:
        return None
    return FloatAttr(float(value), f32)
