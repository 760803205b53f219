"""The constraints of ttir and ttnn ops: one function a constraint family.

The two dialects have the same ops with the same shapes, so both call these. Every
function takes the op (to find the meshes of its module), the tensor types and plain
integers, and raises `VerifyException` with a message that names the constraint and
the numbers that break it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt_elementwise import Typing
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.stablehlo import id_pairs
from ttxdsl.dialects.ttcore import (
    MeshAttr,
    MeshShardDirection,
    MeshShardType,
    ReduceType,
    device_mesh_name,
    meshes_of,
)

Tensor = TensorType[Attribute]

COLLECTIVE_REDUCTIONS = tuple(kind for kind in ReduceType if kind != ReduceType.INVALID)
"""What a reducing collective can compute: all but `invalid`, which only replaces."""


def tensor_type(value: SSAValue) -> Tensor:
    """The type of a value that the op's definition already says is a tensor."""
    return cast(Tensor, value.type)


def _shape(type: Tensor) -> str:
    return "x".join(str(dim) for dim in type.get_shape()) or "scalar"


def _expect_shape(found: Tensor, wanted: Sequence[int], what: str) -> None:
    if found.get_shape() != tuple(wanted):
        text = "x".join(str(dim) for dim in wanted) or "scalar"
        raise VerifyException(
            f"the result has shape {_shape(found)}, expected {text}: {what}"
        )


def _expect_element_type(found: Tensor, wanted: Tensor) -> None:
    if found.element_type != wanted.element_type:
        raise VerifyException(
            f"the result has elements of {found.element_type}, "
            f"the operand of {wanted.element_type}: they must be the same"
        )


def _expect_dim(type: Tensor, dim: int, name: str) -> None:
    rank = len(type.get_shape())
    if not 0 <= dim < rank:
        raise VerifyException(
            f"{name} is {dim}, expected 0 to {rank - 1} for a tensor of rank {rank}"
        )


def _is_i1(type: Attribute) -> bool:
    return type == i1


def bit_width(type: Attribute) -> int | None:
    """Bits of one element, None when that is not a plain number type."""
    return type.bitwidth if isinstance(type, IntegerType | AnyFloat) else None


# --- meshes -----------------------------------------------------------------


def one_mesh(op: Operation) -> str | None:
    """Check that all tensors of an op live on one mesh (or all on the host).

    Returns:
        The name of the mesh, or None on the host.
    """
    names = {
        device_mesh_name(value.type)
        for value in (*op.operands, *op.results)
        if value.type.name == TensorType.name
    }
    if len(names) > 1:
        places = ", ".join(
            sorted("the host" if n is None else f'mesh "{n}"' for n in names)
        )
        raise VerifyException(
            f"operands and results live in different places: {places}"
        )
    return next(iter(names), None)


def mesh_of(op: Operation, name: str | None) -> MeshAttr | None:
    """The mesh of that name in the module, None if the module lists no meshes.

    Raises:
        VerifyException: the module lists meshes, but none of that name.
    """
    meshes = meshes_of(op)
    if meshes is None or name is None:
        return None
    mesh = meshes.get_mesh(name)
    if mesh is None:
        raise VerifyException(f'no mesh "{name}" in the module\'s ttcore.meshes')
    return mesh


def axis_size(op: Operation, name: str | None, cluster_axis: int) -> int | None:
    """Devices along a mesh axis, None if the module lists no meshes.

    Raises:
        VerifyException: the tensors are not on a mesh, or the mesh has no such axis.
    """
    if name is None:
        raise VerifyException("a collective works on tensors that live on a mesh")
    mesh = mesh_of(op, name)
    if mesh is None:
        return None
    shape = mesh.get_shape()
    if not 0 <= cluster_axis < len(shape):
        raise VerifyException(
            f'cluster_axis is {cluster_axis}, but mesh "{name}" has {len(shape)} axes'
        )
    return shape[cluster_axis]


def mesh_shard(
    op: Operation,
    input: Tensor,
    result: Tensor,
    shard_type: MeshShardType,
    direction: MeshShardDirection,
    shard_shape: Sequence[int],
    shard_dims: Sequence[int],
    device_parts: Sequence[int] | None = None,
    device_summands: Sequence[int] | None = None,
) -> None:
    """Shapes, places and the arrays of a mesh_shard fit together."""
    _expect_element_type(result, input)
    to_shard = direction == MeshShardDirection.FULL_TO_SHARD
    full, shard = (input, result) if to_shard else (result, input)
    if device_mesh_name(full) is not None:
        raise VerifyException("the full tensor of a mesh_shard lives on the host")
    name = device_mesh_name(shard)
    if name is None:
        raise VerifyException("the shard of a mesh_shard lives on a mesh")
    rank = len(full.get_shape())
    if len(shard_shape) != rank:
        raise VerifyException(
            f"shard_shape has {len(shard_shape)} entries for a tensor of rank {rank}"
        )
    for dim in shard_dims:
        if not -1 <= dim < rank:
            raise VerifyException(
                f"shard_dims names dimension {dim} of a tensor of rank {rank}, "
                "expected -1 for none"
            )
    if shard_type == MeshShardType.REPLICATE and any(d != -1 for d in shard_dims):
        raise VerifyException("a replicated tensor is split along no mesh axis")
    mesh = mesh_of(op, name)
    if mesh is not None:
        sizes = mesh.get_shape()
        if len(shard_dims) != len(sizes):
            raise VerifyException(
                f'shard_dims has {len(shard_dims)} entries, mesh "{name}" has '
                f"{len(sizes)} axes"
            )
        if device_parts is not None:
            _device_parts(shard_type, shard_shape, shard_dims, device_parts, sizes)
        if device_summands is not None:
            _device_summands(shard_type, device_summands, sizes)
        for dim, parts in enumerate(shard_shape if device_parts is None else ()):
            devices = prod(
                size for size, d in zip(sizes, shard_dims, strict=True) if d == dim
            )
            if parts != devices:
                raise VerifyException(
                    f"shard_shape splits dimension {dim} in {parts}, but the mesh axes "
                    f"that shard_dims gives it have {devices} devices"
                )
    if len(shard.get_shape()) != rank:
        raise VerifyException(
            f"the full tensor has rank {rank}, the shard {len(shard.get_shape())}"
        )
    for dim, (whole, part, parts) in enumerate(
        zip(full.get_shape(), shard.get_shape(), shard_shape, strict=True)
    ):
        if whole != part * parts:
            raise VerifyException(
                f"dimension {dim}: {parts} shards of {part} do not make {whole}"
            )


def _device_parts(
    shard_type: MeshShardType,
    shard_shape: Sequence[int],
    shard_dims: Sequence[int],
    device_parts: Sequence[int],
    sizes: Sequence[int],
) -> None:
    """A table of parts: a number for each device, and a device for each part."""
    if shard_type != MeshShardType.IDENTITY or any(dim != -1 for dim in shard_dims):
        raise VerifyException(
            "device_parts is for data that lies on the devices already, and whose "
            "shard_dims are all -1"
        )
    if len(device_parts) != prod(sizes):
        raise VerifyException(
            f"device_parts has {len(device_parts)} entries for {prod(sizes)} devices"
        )
    if set(device_parts) != set(range(prod(shard_shape))):
        raise VerifyException(
            f"device_parts must name each of the {prod(shard_shape)} parts"
        )


def _device_summands(
    shard_type: MeshShardType, device_summands: Sequence[int], sizes: Sequence[int]
) -> None:
    """A table of summands: a number for each device, each number equally often."""
    if shard_type != MeshShardType.IDENTITY:
        raise VerifyException(
            "device_summands is for data that lies on the devices already"
        )
    if len(device_summands) != prod(sizes):
        raise VerifyException(
            f"device_summands has {len(device_summands)} entries for {prod(sizes)} "
            "devices"
        )
    often = Counter(device_summands)
    if set(often) != set(range(len(often))) or len(set(often.values())) > 1:
        raise VerifyException(
            "device_summands must number the summands from 0, each equally often"
        )


def all_gather(
    op: Operation, input: Tensor, result: Tensor, dim: int, axis: int
) -> None:
    """The gathered dimension grows by the number of devices along the axis."""
    _expect_element_type(result, input)
    _expect_dim(input, dim, "all_gather_dim")
    devices = axis_size(op, one_mesh(op), axis)
    if devices is not None:
        _resized(input, result, {dim: (devices, 1)}, f"{devices} devices on the axis")


def reduce_scatter(
    op: Operation, input: Tensor, result: Tensor, kind: ReduceType, dim: int, axis: int
) -> None:
    """The scattered dimension shrinks by the number of devices along the axis."""
    _expect_reduction(kind)
    _expect_element_type(result, input)
    _expect_dim(input, dim, "scatter_dim")
    devices = axis_size(op, one_mesh(op), axis)
    if devices is not None:
        _resized(input, result, {dim: (1, devices)}, f"{devices} devices on the axis")


def all_reduce(
    op: Operation, input: Tensor, result: Tensor, kind: ReduceType, axis: int
) -> None:
    """The result has the operand's shape."""
    _expect_reduction(kind)
    _expect_element_type(result, input)
    axis_size(op, one_mesh(op), axis)
    _expect_shape(result, input.get_shape(), "an all_reduce keeps the shape")


def mesh_partition(
    op: Operation, input: Tensor, result: Tensor, dim: int, axis: int
) -> None:
    """The partitioned dimension shrinks by the number of devices along the axis."""
    _expect_element_type(result, input)
    _expect_dim(input, dim, "dim")
    devices = axis_size(op, one_mesh(op), axis)
    if devices is not None:
        _resized(input, result, {dim: (1, devices)}, f"{devices} devices on the axis")


def all_to_all(
    op: Operation, input: Tensor, result: Tensor, split: int, concat: int, axis: int
) -> None:
    """One dimension shrinks, one grows, by the number of devices along the axis."""
    _expect_element_type(result, input)
    _expect_dim(input, split, "split_dim")
    _expect_dim(input, concat, "concat_dim")
    devices = axis_size(op, one_mesh(op), axis)
    if devices is None:
        return
    if input.get_shape()[split] % devices:
        raise VerifyException(
            f"dimension {split} of size {input.get_shape()[split]} does not split "
            f"among {devices} devices"
        )
    changes = {split: (1, devices), concat: (devices, 1)} if split != concat else {}
    _resized(input, result, changes, f"{devices} devices on the axis")


def collective_permute(
    op: Operation, input: Tensor, result: Tensor, pairs: DenseIntOrFPElementsAttr
) -> None:
    """Pairs name devices of the mesh, no source and no target twice."""
    _expect_element_type(result, input)
    _expect_shape(result, input.get_shape(), "a collective_permute keeps the shape")
    shape = pairs.get_shape()
    if len(shape) != 2 or shape[1] != 2:
        raise VerifyException(
            "source_target_pairs has shape "
            f"{'x'.join(map(str, shape))}, expected one [source, target] a row"
        )
    name = one_mesh(op)
    if name is None:
        raise VerifyException("a collective works on tensors that live on a mesh")
    mesh = mesh_of(op, name)
    rows = id_pairs(pairs)
    for position, what in enumerate(("source", "target")):
        ids = [row[position] for row in rows]
        if len(set(ids)) != len(ids):
            raise VerifyException(f"a {what} device appears in two pairs")
        if mesh is not None:
            devices = prod(mesh.get_shape())
            for device in ids:
                if not 0 <= device < devices:
                    raise VerifyException(
                        f'{what} device {device}: mesh "{name}" has devices 0 to '
                        f"{devices - 1}"
                    )


def _expect_reduction(kind: ReduceType) -> None:
    if kind not in COLLECTIVE_REDUCTIONS:
        raise VerifyException(f"a collective cannot reduce with {kind.value}")


def _resized(
    input: Tensor, result: Tensor, changes: dict[int, tuple[int, int]], why: str
) -> None:
    """Check result shape: dimension d times `changes[d][0]` divided by `[d][1]`."""
    wanted: list[int] = []
    for dim, size in enumerate(input.get_shape()):
        times, parts = changes.get(dim, (1, 1))
        if size * times % parts:
            raise VerifyException(
                f"dimension {dim} of size {size} does not split in {parts}: {why}"
            )
        wanted.append(size * times // parts)
    _expect_shape(result, wanted, why)


# --- element by element -----------------------------------------------------


def elementwise(operands: Sequence[Tensor], result: Tensor, typing: Typing) -> None:
    """Operands of one rank stretch to the result; element types as `typing` says."""
    wanted = result.get_shape()
    for number, operand in enumerate(operands):
        shape = operand.get_shape()
        if len(shape) != len(wanted) or any(
            size not in (1, full) for size, full in zip(shape, wanted, strict=True)
        ):
            raise VerifyException(
                f"operand {number} of shape {_shape(operand)} does not stretch to the "
                f"result of shape {_shape(result)}: same rank, each dimension 1 or equal"
            )
    _elementwise_types([t.element_type for t in operands], result.element_type, typing)


def _elementwise_types(
    operands: Sequence[Attribute], result: Attribute, typing: Typing
) -> None:
    same = operands
    match typing:
        case Typing.CONVERT:
            return
        case Typing.BITCAST:
            if bit_width(operands[0]) != bit_width(result):
                raise VerifyException(
                    f"{operands[0]} and {result} have different bit widths"
                )
            return
        case Typing.COMPARE:
            if not _is_i1(result):
                raise VerifyException(
                    f"the result has elements of {result}, expected i1"
                )
        case Typing.LOGICAL:
            same = (*operands, result)
            if not _is_i1(result):
                raise VerifyException(
                    f"the result has elements of {result}, expected i1"
                )
        case Typing.SELECT:
            if not _is_i1(operands[0]):
                raise VerifyException(
                    f"the condition has elements of {operands[0]}, expected i1"
                )
            same = (*operands[1:], result)
        case Typing.SAME:
            same = (*operands, result)
        case Typing.MAGNITUDE:
            same = (*(_magnitude(one) for one in operands), result)
    if len(set(same)) > 1:
        names = ", ".join(str(type) for type in same)
        raise VerifyException(f"element types must be the same, got {names}")


def _magnitude(type: Attribute) -> Attribute:
    """The type of a number's size: of a complex number that of its parts."""
    if isinstance(type, ComplexType):
        return cast("ComplexType[Any]", type).element_type
    return type


# --- shapes -----------------------------------------------------------------


def reduction(
    input: Tensor, result: Tensor, dims: Sequence[int] | None, keep_dim: bool
) -> None:
    """Reduced dimensions vanish, or have size 1 with `keep_dim`."""
    reduced = range(len(input.get_shape())) if dims is None else dims
    for dim in reduced:
        _expect_dim(input, dim, "dim_arg")
    if len(set(reduced)) != len(reduced):
        raise VerifyException("dim_arg names a dimension twice")
    wanted = [
        1 if dim in reduced else size
        for dim, size in enumerate(input.get_shape())
        if keep_dim or dim not in reduced
    ]
    _expect_shape(result, wanted, "the operand without dim_arg")


def reshape(input: Tensor, result: Tensor, shape: Sequence[int]) -> None:
    """As many elements as before, in the shape that the attribute says."""
    _expect_element_type(result, input)
    _expect_shape(result, shape, "the attribute shape")
    if prod(input.get_shape()) != prod(shape):
        raise VerifyException(
            f"{_shape(input)} and {_shape(result)} have different numbers of elements"
        )


def permute(input: Tensor, result: Tensor, permutation: Sequence[int]) -> None:
    """Result dimension i is operand dimension `permutation[i]`."""
    _expect_element_type(result, input)
    shape = input.get_shape()
    if sorted(permutation) != list(range(len(shape))):
        raise VerifyException(
            f"{list(permutation)} is no permutation of {len(shape)} dimensions"
        )
    _expect_shape(result, [shape[dim] for dim in permutation], "the permutation")


def broadcast(input: Tensor, result: Tensor, factors: Sequence[int]) -> None:
    """Each dimension repeats `factors[dim]` times; only size 1 may repeat in ttir."""
    _expect_element_type(result, input)
    if len(factors) != len(input.get_shape()):
        raise VerifyException(
            f"{len(factors)} factors for a tensor of rank {len(input.get_shape())}"
        )
    wanted = [s * f for s, f in zip(input.get_shape(), factors, strict=True)]
    _expect_shape(result, wanted, "each dimension times its factor")


def concat(inputs: Iterable[Tensor], result: Tensor, dim: int) -> None:
    """Operands agree but in `dim`, which adds up."""
    types = tuple(inputs)
    if not types:
        raise VerifyException("nothing to concatenate")
    first = types[0]
    _expect_dim(first, dim, "dim")
    total = 0
    for type in types:
        _expect_element_type(type, first)
        shape = type.get_shape()
        if (
            len(shape) != len(first.get_shape())
            or shape[:dim] != first.get_shape()[:dim]
            or shape[dim + 1 :] != first.get_shape()[dim + 1 :]
        ):
            raise VerifyException(
                f"{_shape(first)} and {_shape(type)} differ not only in dimension {dim}"
            )
        total += shape[dim]
    _expect_element_type(result, first)
    wanted = (*first.get_shape()[:dim], total, *first.get_shape()[dim + 1 :])
    _expect_shape(result, wanted, "the sizes of the operands added up")


def slice_static(
    input: Tensor,
    result: Tensor,
    begins: Sequence[int],
    ends: Sequence[int],
    step: Sequence[int],
) -> None:
    """`begins <= ends <= size`, positive steps, and the result they give."""
    _expect_element_type(result, input)
    shape = input.get_shape()
    if not len(begins) == len(ends) == len(step) == len(shape):
        raise VerifyException(
            f"begins, ends and step need {len(shape)} entries, one a dimension"
        )
    for dim, (size, low, high, by) in enumerate(
        zip(shape, begins, ends, step, strict=True)
    ):
        if not (0 <= low <= high <= size and by >= 1):
            raise VerifyException(
                f"dimension {dim} of size {size}: [{low}:{high}:{by}] is no slice of it"
            )
    wanted = [-(-(h - b) // s) for b, h, s in zip(begins, ends, step, strict=True)]
    _expect_shape(result, wanted, "begins, ends and step")


def slice_dynamic(input: Tensor, begins: Tensor, ends: Tensor, result: Tensor) -> None:
    """`begins` and `ends` have one integer a dimension; the result fits in the operand."""
    _expect_element_type(result, input)
    rank = len(input.get_shape())
    for name, type in (("begins", begins), ("ends", ends)):
        if type.get_shape() != (rank,) or not isinstance(
            type.element_type, IntegerType
        ):
            raise VerifyException(f"{name} must be a tensor of {rank} integers")
    if len(result.get_shape()) != rank or any(
        part > size
        for part, size in zip(result.get_shape(), input.get_shape(), strict=True)
    ):
        raise VerifyException(
            f"a slice of {_shape(input)} cannot have shape {_shape(result)}"
        )


def pad(input: Tensor, result: Tensor, padding: Sequence[int]) -> None:
    """`padding` is [low0, high0, low1, high1, …], none negative."""
    _expect_element_type(result, input)
    shape = input.get_shape()
    if len(padding) != 2 * len(shape):
        raise VerifyException(
            f"padding has {len(padding)} entries, expected a low and a high for each "
            f"of {len(shape)} dimensions"
        )
    if any(amount < 0 for amount in padding):
        raise VerifyException("padding is negative; a slice does that")
    wanted = [
        size + padding[2 * d] + padding[2 * d + 1] for d, size in enumerate(shape)
    ]
    _expect_shape(result, wanted, "the operand with its padding")


def embedding(indices: Tensor, weight: Tensor, result: Tensor) -> None:
    """A row of the weight for every index."""
    _expect_element_type(result, weight)
    if not isinstance(indices.element_type, IntegerType):
        raise VerifyException(f"indices have elements of {indices.element_type}")
    if len(weight.get_shape()) != 2:
        raise VerifyException(
            f"the weight has shape {_shape(weight)}, expected rows and columns"
        )
    wanted = (*indices.get_shape(), weight.get_shape()[1])
    _expect_shape(result, wanted, "the indices, then a row of the weight")


def gather(input: Tensor, index: Tensor, result: Tensor, dim: int) -> None:
    """The index has the result's shape, and the operand's but in `dim`."""
    _expect_element_type(result, input)
    _expect_dim(input, dim, "dim")
    _expect_shape(result, index.get_shape(), "the index")
    _same_but(input, index, dim, "the index")


def scatter(
    input: Tensor, index: Tensor, source: Tensor, result: Tensor, dim: int
) -> None:
    """Index and source have one shape, the operand's but in `dim`."""
    _expect_element_type(result, input)
    _expect_element_type(source, input)
    _expect_dim(input, dim, "dim")
    _expect_shape(result, input.get_shape(), "a scatter keeps the shape")
    if source.get_shape() != index.get_shape():
        raise VerifyException(
            f"index of {_shape(index)} and source of {_shape(source)} must agree"
        )
    _same_but(input, index, dim, "the index")


def _same_but(input: Tensor, other: Tensor, dim: int, name: str) -> None:
    mine, theirs = input.get_shape(), other.get_shape()
    if (
        len(mine) != len(theirs)
        or mine[:dim] != theirs[:dim]
        or mine[dim + 1 :] != theirs[dim + 1 :]
    ):
        raise VerifyException(
            f"the operand of {_shape(input)} and {name} of {_shape(other)} may differ "
            f"in dimension {dim} only"
        )


def same_shape(input: Tensor, result: Tensor) -> None:
    """The result has the operand's type."""
    _expect_element_type(result, input)
    _expect_shape(result, input.get_shape(), "the operand's shape")


def along(input: Tensor, result: Tensor, dim: int) -> None:
    """The result has the operand's type, and the op works along a dimension of it."""
    _expect_dim(input, dim, "dim")
    same_shape(input, result)


def sort(input: Tensor, values: Tensor, indices: Tensor, dim: int) -> None:
    """Values as the operand; indices of its shape."""
    along(input, values, dim)
    _expect_shape(indices, input.get_shape(), "one index a value")
    _expect_indices(indices)


def topk(input: Tensor, values: Tensor, indices: Tensor, k: int, dim: int) -> None:
    """Values and indices as the operand, but `k` along `dim`."""
    _expect_dim(input, dim, "dim")
    _expect_element_type(values, input)
    shape = input.get_shape()
    if not 0 <= k <= shape[dim]:
        raise VerifyException(f"k is {k} of {shape[dim]} elements")
    for type in (values, indices):
        _expect_shape(type, (*shape[:dim], k, *shape[dim + 1 :]), "k along dim")
    _expect_indices(indices)


def _expect_indices(type: Tensor) -> None:
    if not isinstance(type.element_type, IntegerType):
        raise VerifyException(f"indices have elements of {type.element_type}")


def dot_general(
    lhs: Tensor,
    rhs: Tensor,
    result: Tensor,
    batch: tuple[Sequence[int], Sequence[int]],
    contract: tuple[Sequence[int], Sequence[int]],
) -> None:
    """Batch dimensions, then lhs's free ones, then rhs's; sizes agree in pairs."""
    left, right = lhs.get_shape(), rhs.get_shape()
    for name, (mine, theirs) in (("batch", batch), ("contract", contract)):
        if len(mine) != len(theirs):
            raise VerifyException(f"{name} dimensions come in pairs")
        for a, b in zip(mine, theirs, strict=True):
            _expect_dim(lhs, a, f"{name}_dims_lhs")
            _expect_dim(rhs, b, f"{name}_dims_rhs")
            if left[a] != right[b]:
                raise VerifyException(
                    f"{name} dimensions {a} and {b} have sizes {left[a]} and {right[b]}"
                )
    used = [(*batch[side], *contract[side]) for side in (0, 1)]
    if any(len(set(dims)) != len(dims) for dims in used):
        raise VerifyException("a dimension is named twice")
    wanted = [left[dim] for dim in batch[0]]
    for shape, dims in ((left, used[0]), (right, used[1])):
        wanted += [size for dim, size in enumerate(shape) if dim not in dims]
    _expect_shape(result, wanted, "batch, lhs and rhs dimensions")


def matmul(
    a: Tensor, b: Tensor, result: Tensor, transpose_a: bool, transpose_b: bool
) -> None:
    """`[…, m, k] @ […, k, n]` with equal leading dimensions."""
    left, right = a.get_shape(), b.get_shape()
    if len(left) < 2 or len(left) != len(right):
        raise VerifyException(
            f"{_shape(a)} @ {_shape(b)}: both need the same rank, at least 2"
        )
    if transpose_a:
        left = (*left[:-2], left[-1], left[-2])
    if transpose_b:
        right = (*right[:-2], right[-1], right[-2])
    if left[:-2] != right[:-2] or left[-1] != right[-2]:
        raise VerifyException(
            f"{_shape(a)} @ {_shape(b)}: batch or contracted dimensions differ"
        )
    _expect_shape(result, (*left[:-1], right[-1]), "the matrix product")


def has_shape(name: str, found: Tensor, wanted: Sequence[int]) -> None:
    """An operand or result has the shape that the attributes say."""
    if found.get_shape() != tuple(wanted):
        text = "x".join(str(size) for size in wanted)
        raise VerifyException(
            f"the {name} has shape {_shape(found)}, the attributes say {text}"
        )


def exactly(count: int, name: str, values: Sequence[int]) -> Sequence[int]:
    """The values, if there are that many."""
    if len(values) != count:
        raise VerifyException(f"{name} has {len(values)} entries, expected {count}")
    return values


def convolution(
    input: Tensor,
    weight: Tensor,
    result: Tensor,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
) -> None:
    """Input `[n, spatial…, c]`, weight `[o, c / groups, kernel…]`, one entry a dimension."""
    image, kernel = input.get_shape(), weight.get_shape()
    spatial = len(stride)
    if len(image) != spatial + 2 or len(kernel) != spatial + 2:
        raise VerifyException(
            f"input of {_shape(input)} and weight of {_shape(weight)}: both need rank "
            f"{spatial + 2}"
        )
    if groups < 1 or image[-1] != kernel[1] * groups or kernel[0] % groups:
        raise VerifyException(
            f"{image[-1]} input channels and {kernel[0]} output channels do not fit "
            f"{groups} groups of {kernel[1]} input channels"
        )
    wanted = [image[0]]
    for size, window, by, (low, high), gap in zip(
        image[1:-1], kernel[2:], stride, padding, dilation, strict=True
    ):
        room = size + low + high - gap * (window - 1) - 1
        wanted.append(room // by + 1 if room >= 0 else 0)
    _expect_shape(result, [*wanted, kernel[0]], "windows in the padded input")


# --- creation ---------------------------------------------------------------


def filled(result: Tensor, shape: Sequence[int]) -> None:
    """The result has the shape of the attribute."""
    _expect_shape(result, shape, "the attribute shape")


def constant(result: Tensor, value: Tensor) -> None:
    """The result has the shape and element type of the value.

    The value of a quantized tensor holds the stored integers.
    """
    element = result.element_type
    if isinstance(element, QuantizedType) and (
        element.data.storage_type.bitwidth == bit_width(value.element_type)
    ):
        result = TensorType(value.element_type, result.get_shape())
    _expect_element_type(result, value)
    _expect_shape(result, value.get_shape(), "the value")


def arange(result: Tensor, start: int, end: int, step: int, dim: int) -> None:
    """`start`, `start + step`, … below `end` fill the dimension exactly."""
    _expect_dim(result, dim, "arange_dimension")
    if step == 0:
        raise VerifyException("step is 0")
    steps = -(-(end - start) // step)
    if steps != result.get_shape()[dim]:
        raise VerifyException(
            f"{start} to {end} by {step} gives {steps} values for dimension {dim} of "
            f"size {result.get_shape()[dim]}"
        )


# --- quantization -----------------------------------------------------------


def quantization(input: Tensor, result: Tensor, stored: tuple[bool, bool]) -> None:
    """The shape stays; input and result are quantized where `stored` says so.

    The floats that a quantized tensor stands for have its expressed type.
    """
    _expect_shape(result, input.get_shape(), "the input's")
    for type, quantized, name in zip(
        (input, result), stored, ("input", "result"), strict=True
    ):
        if isinstance(type.element_type, QuantizedType) != quantized:
            wanted = "quantized" if quantized else "plain"
            raise VerifyException(
                f"the {name} has {type.element_type} elements, expected {wanted} ones"
            )
    expressed = {_expressed(input.element_type), _expressed(result.element_type)}
    if len(expressed) > 1:
        names = ", ".join(sorted(str(type) for type in expressed))
        raise VerifyException(f"input and result stand for different floats: {names}")


def _expressed(type: Attribute) -> Attribute:
    return type.expressed_type if isinstance(type, QuantizedType) else type


def quantization_parameter(input: Tensor, parameter: Tensor, axis: int | None) -> None:
    """One number, or one for each slice along the axis."""
    if axis is not None:
        _expect_dim(input, axis, "axis")
    size = 1 if axis is None else input.get_shape()[axis]
    if parameter.get_shape() not in ((), (size,)):
        raise VerifyException(
            f"a scale or zero point has shape {_shape(parameter)}, expected one number"
            f" or {size}"
        )


# --- control flow -----------------------------------------------------------


def _yielded(region: Region) -> Sequence[SSAValue]:
    last = region.block.last_op
    if last is None or not last.name.endswith(".yield"):
        raise VerifyException("a region ends with a yield")
    return last.operands


def _is_scalar(value: SSAValue, element_type: Attribute) -> bool:
    type = tensor_type(value)
    return not type.get_shape() and type.element_type == element_type


def while_loop(
    op: Operation, carried: Sequence[SSAValue], cond: Region, body: Region
) -> None:
    """Regions take the carried values; one yields an i1 scalar, one new values."""
    types = [value.type for value in carried]
    if [value.type for value in op.results] != types:
        raise VerifyException("results have the types of the carried values")
    for region in (cond, body):
        if list(region.block.arg_types) != types:
            raise VerifyException("regions take the carried values")
    condition = _yielded(cond)
    if len(condition) != 1 or not _is_scalar(condition[0], i1):
        raise VerifyException("the condition yields one i1 scalar")
    if [value.type for value in _yielded(body)] != types:
        raise VerifyException("the body yields the carried types")


def branches(op: Operation, selector: SSAValue, element_type: Attribute) -> None:
    """The selector is a scalar; every branch takes nothing and yields the results."""
    if not _is_scalar(selector, element_type):
        raise VerifyException(f"the selector is one {element_type} scalar")
    if not op.regions:
        raise VerifyException("there is no branch")
    wanted = [result.type for result in op.results]
    for number, region in enumerate(op.regions):
        if region.block.args:
            raise VerifyException(f"branch {number} takes arguments, expected none")
        if [value.type for value in _yielded(region)] != wanted:
            raise VerifyException(f"branch {number} does not yield the result types")
