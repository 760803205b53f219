"""Arguments and results whose types are not those of the whole tensors.

Programs for tt-mlir have local types for data on the devices; `ttxdsl.shards` places
the whole tensor in the terms of `mesh_shard`. Values that `pad-borders` padded have
their old shape in `ttxdsl.unpadded_shape`. A run takes and returns whole tensors in
both cases.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects._tt.attributes import DenseInts, ints
from ttxdsl.dialects.boundary import UNPADDED_SHAPE, unpadded_shape
from ttxdsl.dialects.ttcore import SHARDS_ATTRIBUTE, meshes_of, only_mesh
from ttxdsl.interpreters.mesh.axes import Dims
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.runtime.engine import Devices
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.sharding.axes import AxisRef

Array = NDArray[Any]
Shards = Mapping[str, tuple[int, ...]]
"""The fields of `mesh_shard` that place a whole tensor on the devices."""
Entries = ArrayAttr[DictionaryAttr] | None


_whole = IdentityMemo[bool]()
"""By the identity of the entries of all arguments or results of a function."""
_MOST_KEPT = 1 << 6


def _all_whole(entries: Entries) -> bool:
    """Return whether all arguments (or results) are the whole tensors of their types."""
    if entries is None:
        return True
    known = _whole.get(id(entries))
    if known is None:
        if len(_whole) >= _MOST_KEPT:
            _whole.clear()
        marks = {SHARDS_ATTRIBUTE, UNPADDED_SHAPE}
        known = all(marks.isdisjoint(entry.data) for entry in entries.data)
        _whole.keep(id(entries), known, entries)
    return known


def _shards(entries: Entries, at: int) -> Shards | None:
    """Return how a whole tensor lies on the devices, None if it does not."""
    shards = entries.data[at].data.get(SHARDS_ATTRIBUTE) if entries else None
    return shards_of(shards.data) if isinstance(shards, DictionaryAttr) else None


def shards_of(attributes: Mapping[str, Attribute]) -> Shards:
    """Return how a whole tensor lies on the devices, in the fields of `mesh_shard`."""
    return {
        name: ints(cast(DenseInts, attributes[name]))
        for name in ("shard_shape", "shard_dims", "device_parts", "device_summands")
        if name in attributes
    }


def whole_type(type: Attribute, entries: Entries, at: int) -> Attribute:
    """Return the type of the whole tensor that an argument or result is a part of."""
    if _all_whole(entries) or not isinstance(type, TensorType):
        return type
    tensor = _placed_type(cast("TensorType[Attribute]", type), entries, at)
    shape = unpadded_shape(entries, at, tensor.get_shape())
    return tensor if shape is None else TensorType(tensor.element_type, list(shape))


def _placed_type(
    tensor: TensorType[Attribute], entries: Entries, at: int
) -> TensorType[Attribute]:
    """Return the type of what is placed or taken as an argument or result."""
    shards = _shards(entries, at)
    if shards is None:
        return tensor
    parts = zip(tensor.get_shape(), shards["shard_shape"], strict=True)
    return TensorType(tensor.element_type, [size * count for size, count in parts])


def _mesh(devices: Devices, function: FuncOp) -> DeviceMesh:
    meshes, name = meshes_of(function), only_mesh(function)
    if meshes is None or name is None:
        raise CompileError("data on the devices needs a module of one mesh", function)
    mesh = meshes.get_mesh(name)
    assert mesh is not None
    sizes = mesh.get_shape()
    return devices.mesh(tuple((f"axis{at}", size) for at, size in enumerate(sizes)))


def axes_by_dim(mesh: DeviceMesh, rank: int, dims: Sequence[int | None]) -> Dims:
    """Return the axes that split each dimension, of the one that each axis splits."""
    return _axes_by_dim(mesh.names, rank, tuple(dims))


@lru_cache
def _axes_by_dim(
    names: tuple[str, ...], rank: int, dims: tuple[int | None, ...]
) -> Dims:
    split: list[list[AxisRef]] = [[] for _ in range(rank)]
    for axis, dim in enumerate(dims):
        if dim is not None and dim >= 0:
            split[dim].append(AxisRef(names[axis]))
    return tuple(map(tuple, split))


def distribute(mesh: DeviceMesh, shards: Shards, value: Array, rank: int) -> Array:
    """Return the devices' parts of a whole tensor."""
    if (parts := shards.get("device_parts")) is not None:
        local = mesh.place(value, shards["shard_shape"], parts)
    else:
        local = mesh.shard(value, axes_by_dim(mesh, rank, shards["shard_dims"]))
    summands = shards.get("device_summands")
    return local if summands is None else mesh.first_summands(local, rank, summands)


def assemble(
    mesh: DeviceMesh, shards: Shards, value: Array, rank: int
) -> Array | Scattered:
    """Return the whole tensor of which the devices have parts.

    Raises:
        ReplicaMismatchError: devices differ that should hold the same part.
    """
    dims = axes_by_dim(mesh, rank, shards["shard_dims"])
    parts, summands = shards.get("device_parts"), shards.get("device_summands")
    if parts is None and summands is None:
        return mesh.whole(value, dims)
    held = mesh.parts_of(dims) if parts is None else parts
    return mesh.collect(value, shards["shard_shape"], held, summands or ())


def padded(function: FuncOp, at: int, value: Array) -> Array:
    """Return a whole tensor for argument `at` with the zeros that it lacks."""
    type_ = function.function_type.inputs.data[at]
    if not isinstance(type_, TensorType):
        return value
    tensor = cast("TensorType[Attribute]", type_)
    sizes = _placed_type(tensor, function.arg_attrs, at).get_shape()
    if unpadded_shape(function.arg_attrs, at, sizes) is None:
        return value
    pairs = zip(sizes, value.shape, strict=True)
    return np.pad(value, [(0, new - old) for new, old in pairs])


def unpadded(function: FuncOp, at: int, value: Array | Scattered) -> Array | Scattered:
    """Return the whole tensor of what was collected as result `at`."""
    shape = unpadded_shape(function.res_attrs, at, value.shape)
    if shape is None:
        return value
    if isinstance(value, Scattered):
        return value.first(shape)
    return value[tuple(map(slice, shape))]


def to_devices(devices: Devices, function: FuncOp, at: int, value: Array) -> Array:
    """Return the devices' shards of the whole tensor given for argument `at`."""
    if _all_whole(function.arg_attrs):
        return value
    value, shards = padded(function, at, value), _shards(function.arg_attrs, at)
    if shards is None:
        return value
    return distribute(_mesh(devices, function), shards, value, value.ndim)


def to_whole(
    devices: Devices, function: FuncOp, at: int, value: Array
) -> Array | Scattered:
    """Return the whole tensor of which the devices have parts as result `at`.

    Raises:
        ReplicaMismatchError: devices differ that should hold the same part.
    """
    if _all_whole(function.res_attrs):
        return value
    whole: Array | Scattered = value
    if (shards := _shards(function.res_attrs, at)) is not None:
        rank = len(shards["shard_shape"])
        try:
            whole = assemble(_mesh(devices, function), shards, value, rank)
        except ReplicaMismatchError as error:
            error.locate(function, f"result {at}", "'ttxdsl.shards' calls them alike")
            raise
    return unpadded(function, at, whole)
