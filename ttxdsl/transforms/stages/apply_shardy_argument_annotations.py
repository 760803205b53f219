"""Stage 4: the shardings that propagation starts from.

- Solved: arguments and results lose their `sdy.sharding`; the manual computation says
  all.
- Some sharding is written anywhere: nothing changes.
- Nothing is written: a single-chip program, made data parallel over `mesh-shape`
  devices. Declared inputs (`ttcore.argument_type`) are split along their first
  dimension; without declarations `batch_analysis` finds the batch.

Source: section 1.2.4 of the design request.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
    set_argument_attributes,
)
from ttxdsl.analysis.graph_state import is_function_solved
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import emit_remark, emit_warning
from ttxdsl.dialects import sdy, ttcore
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import MOST_DEVICES, Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup

_SHARDING = "sdy.sharding"
_MESH = "mesh"
_BATCH = "batch"


def _splits(module: ModuleOp, shardings: Iterable[TensorSharding | None]) -> bool:
    """Whether one of some shardings has an axis of more than one device."""
    mesh_of = mesh_lookup(module)
    return any(
        axis.size_in(mesh_of(sharding)) > 1
        for sharding in shardings
        if sharding is not None
        for axis in (*sharding.sharding_axes, *sharding.unreduced)
    )


def _tell_of_nothing_sharded(module: ModuleOp) -> None:
    """Say that no sharding splits a value: nothing was distributed then."""
    devices = max((op.mesh.data.total_size for op in _meshes(module)), default=1)
    if any(isinstance(op, sdy.ManualComputationOp) for op in module.walk()):
        return  # its devices may differ in what they compute
    annotate = "annotate arguments (in_shardings of jax.jit, sdy.sharding in MLIR)"
    if devices > 1:
        emit_warning(
            f"nothing is sharded: each of the {devices} devices of the mesh computes"
            f" all of the program; {annotate}, as ttxdsl doctor --devices {devices}"
            " --ignore-shardings proposes"
        )
    else:
        emit_remark(
            "nothing is sharded: one device computes all of the program; split its batch"
            f" (mesh-shape 1,8), or {annotate}, as ttxdsl doctor --devices 8 proposes"
        )


def _meshes(module: ModuleOp) -> list[sdy.MeshOp]:
    return [op for op in module.ops if isinstance(op, sdy.MeshOp)]


def _check_mesh_shape(module: ModuleOp, mesh_shape: tuple[int, ...]) -> None:
    """Refuse a `mesh-shape` that contradicts the meshes of the program."""
    for op in _meshes(module):
        sizes = tuple(size for _, size in op.mesh.data.axes)
        if sizes and sizes != mesh_shape and prod(sizes) > 1:
            given, fits = ("x".join(map(str, s)) for s in (mesh_shape, sizes))
            raise CompileError(
                f"mesh-shape {given} does not fit the program, whose shardings are"
                f" written for mesh '@{op.sym_name.data}' of shape {fits}",
                op,
                hint=f"leave mesh-shape out, or say {fits.replace('x', ',')}",
            )


def _device_count(mesh_shape: tuple[int, ...]) -> int:
    """Return the n of `n`, `1,n` or an absent shape."""
    if any(size < 1 for size in mesh_shape):
        raise CompileError(f"mesh-shape: sizes are at least 1, got {mesh_shape}")
    if prod(mesh_shape) > MOST_DEVICES:
        raise CompileError(
            f"mesh-shape: {prod(mesh_shape)} devices: at most {MOST_DEVICES} are supported"
        )
    *outer, count = mesh_shape or (1,)
    if len(mesh_shape) > 2 or prod(outer) != 1:
        given = "x".join(map(str, mesh_shape))
        raise CompileError(
            f"mesh-shape {given}: a program without shardings can only be split along"
            " its batch, over one axis",
            hint=f"say 1,{prod(mesh_shape)}, or annotate the program with shardings",
        )
    return count


def _sharding(rank: int, batch_dim: int | None, axis: str) -> sdy.TensorShardingAttr:
    dims = [DimSharding()] * rank
    if batch_dim is not None:
        dims[batch_dim] = DimSharding((AxisRef(axis),))
    return sdy.TensorShardingAttr(TensorSharding(_MESH, tuple(dims)))


def _declared_batch(
    function: FuncOp, entries: list[dict[str, Attribute]], count: int
) -> dict[int, int]:
    """Dimension 0 of every declared input that `count` devices can share evenly."""
    batch: dict[int, int] = {}
    for index, entry in enumerate(entries):
        kind = entry.get(ttcore.ARGUMENT_TYPE_ATTRIBUTE)
        if kind != ttcore.ArgumentTypeAttr(ttcore.ArgumentType.INPUT):
            continue
        type = function.function_type.inputs.data[index]
        shape = type.get_shape() if isinstance(type, TensorType) else ()
        if shape and shape[0] > 0 and shape[0] % count == 0:
            batch[index] = 0
        else:
            size = f"dimension 0 of size {shape[0]}" if shape else "no dimension"
            emit_remark(
                f"input {index} of '@{function.sym_name.data}' stays whole on every"
                f" device: it has {size}, which {count} devices cannot share evenly",
                function,
            )
    return batch


def _found_batch(function: FuncOp, count: int) -> Mapping[int, int]:
    """Return the dimension to split of each argument, found from the program."""
    # programs that have shardings start faster without
    from ttxdsl.analysis.batching.batch import (
        find_batch,
        fitting_device_counts,
        name_dimensions,
    )

    name = f"'@{function.sym_name.data}'"
    batch = find_batch(function, count)
    if batch is not None:
        emit_remark(f"batch of {name}: {batch.reason}", function)
        return batch.dims
    dims, fitting = fitting_device_counts(function)
    if fitting:
        shapes = ", ".join(f"1,{n}" for n in fitting)
        raise CompileError(
            f"mesh-shape 1,{count}: {count} devices cannot share the batch of {name}"
            f" evenly, which is {name_dimensions(dims)} of size {fitting[-1]}",
            function,
            hint=f"these fit: {shapes}; with automatic-arg-analysis=false every"
            " device computes all of it",
        )
    emit_remark(
        f"every one of the {count} devices computes all of {name}: no argument"
        " dimension that they can share evenly runs through the program without"
        " communication that costs more than it spares",
        function,
    )
    return {}


@dataclass(frozen=True)
class ApplyShardyArgumentAnnotationsPass(ModulePass):
    """Drop, keep or invent the shardings of arguments, see the module's docstring."""

    name = "apply-shardy-argument-annotations"

    mesh_shape: tuple[int, ...] = ()
    automatic_arg_analysis: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: `mesh-shape` does not fit the program.
        """
        arguments = (
            sharding
            for function in entry_functions(op)
            for sharding in sdy.func_argument_shardings(function)
        )
        if not _splits(op, arguments):  # most programs do, and nobody has to walk
            shardings = sdy.written_shardings(op)
            if not shardings and not _meshes(op):
                self._make_data_parallel(op)
                return
            if not _splits(op, shardings):
                _tell_of_nothing_sharded(op)
        if self.mesh_shape:
            _check_mesh_shape(op, self.mesh_shape)
        for function in entry_functions(op):
            if is_function_solved(function):
                sdy.drop_func_shardings(function)

    def _make_data_parallel(self, module: ModuleOp) -> None:
        count = _device_count(self.mesh_shape)
        mesh = sdy.MeshOp(_MESH, Mesh((("model", 1), (_BATCH, count))))
        Rewriter.insert_op(mesh, InsertPoint.at_start(module.body.block))
        if count == 1:
            _tell_of_nothing_sharded(module)
            return
        for function in entry_functions(module):
            entries = argument_attributes(function)
            batch: Mapping[int, int]
            if any(ttcore.ARGUMENT_TYPE_ATTRIBUTE in entry for entry in entries):
                batch = _declared_batch(function, entries, count)
            elif self.automatic_arg_analysis:
                batch = _found_batch(function, count)
            else:
                batch = {}
            for index, entry in enumerate(entries):
                type = function.function_type.inputs.data[index]
                if isinstance(type, TensorType):
                    rank = type.get_num_dims()
                    entry[_SHARDING] = _sharding(rank, batch.get(index), _BATCH)
            set_argument_attributes(function, entries)
