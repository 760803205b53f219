"""Arguments and results whose types are not those of the whole tensors.

Those that are on the devices, of programs written for tt-mlir, have local types;
`ttxdsl.shards` says how the whole tensor lies, in the words of `mesh_shard`. Those that
`pad-borders` let grow say what they were in `ttxdsl.unpadded_shape`. A run takes and gives
whole tensors all the same.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects._tt.attributes import DenseInts, ints
from ttxdsl.dialects.boundary import unpadded_shape
from ttxdsl.dialects.ttcore import SHARDS_ATTRIBUTE, meshes_of, only_mesh
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.runtime.engine import Devices
from ttxdsl.sharding.axes import AxisRef

Array = NDArray[Any]
Entries = ArrayAttr[DictionaryAttr] | None


def _shards(entries: Entries, at: int) -> dict[str, tuple[int, ...]] | None:
    """What is said of an end, None if it is not on the devices."""
    said = entries.data[at].data.get(SHARDS_ATTRIBUTE) if entries else None
    if not isinstance(said, DictionaryAttr):
        return None
    return {name: ints(cast(DenseInts, one)) for name, one in said.data.items()}


def whole_type(type: Attribute, entries: Entries, at: int) -> Attribute:
    """The type of the whole tensor that an argument or result is a part of."""
    if not isinstance(type, TensorType):
        return type
    tensor = _placed_type(cast("TensorType[Attribute]", type), entries, at)
    shape = unpadded_shape(entries, at, tensor.get_shape())
    return tensor if shape is None else TensorType(tensor.element_type, list(shape))


def _placed_type(
    tensor: TensorType[Attribute], entries: Entries, at: int
) -> TensorType[Attribute]:
    """The type of what is placed or taken as an argument or result."""
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


def _dims(mesh: DeviceMesh, shards: dict[str, tuple[int, ...]]) -> list[list[AxisRef]]:
    dims: list[list[AxisRef]] = [[] for _ in shards["shard_shape"]]
    for axis, dim in enumerate(shards["shard_dims"]):
        if dim >= 0:
            dims[dim].append(AxisRef(mesh.names[axis]))
    return dims


def padded(function: FuncOp, at: int, value: Array) -> Array:
    """A whole tensor for argument `at` as it is placed: with what it lacks, zeros."""
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
    """Of what was collected as result `at` the whole tensor."""
    shape = unpadded_shape(function.res_attrs, at, value.shape)
    if shape is None:
        return value
    if isinstance(value, Scattered):
        return value.first(shape)
    return value[tuple(map(slice, shape))]


def to_devices(devices: Devices, function: FuncOp, at: int, value: Array) -> Array:
    """What the devices have of the whole tensor given for argument `at`."""
    value = padded(function, at, value)
    shards = _shards(function.arg_attrs, at)
    if shards is None:
        return value
    mesh, counts = _mesh(devices, function), shards["shard_shape"]
    parts = shards.get("device_parts")
    if parts is None:
        local = mesh.shard(value, _dims(mesh, shards))
    else:
        local = mesh.place(value, counts, parts)
    summands = shards.get("device_summands")
    return (
        local if summands is None else mesh.first_summands(local, len(counts), summands)
    )


def to_whole(
    devices: Devices, function: FuncOp, at: int, value: Array
) -> Array | Scattered:
    """The whole tensor of which the devices have parts as result `at`.

    Raises:
        ReplicaMismatchError: devices differ that should hold the same part.
    """
    try:
        whole = _collected(devices, function, at, value)
    except ReplicaMismatchError as error:
        error.locate(function, f"result {at}", "'ttxdsl.shards' calls them alike")
        raise
    return unpadded(function, at, whole)


def _collected(
    devices: Devices, function: FuncOp, at: int, value: Array
) -> Array | Scattered:
    shards = _shards(function.res_attrs, at)
    if shards is None:
        return value
    mesh, counts = _mesh(devices, function), shards["shard_shape"]
    parts, summands = shards.get("device_parts"), shards.get("device_summands")
    dims = _dims(mesh, shards)
    if parts is None and summands is None:
        return mesh.whole(value, dims)
    held = mesh.parts_of(dims) if parts is None else parts
    return mesh.collect(value, counts, held, summands or ())
