"""The communication of custom calls, by their target.

Code that prices, runs or splits calls asks `communication_of`. A target is in
`LOCAL_TARGETS` if each device computes its call by itself; plug-ins add theirs:

    LOCAL_TARGETS.add("gemma.center")

An unknown target may send anything, so it has an answer of its own.

Source: JAX's lowering rules and its list of stable targets; XLA's names of cuDNN's,
cuBLAS's and oneDNN's calls.
"""

from enum import Enum, auto
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.dialects.calls.linalg import ROUTINE_OF
from ttxdsl.dialects.calls.tenstorrent import FRONTEND_ATTRIBUTES, Target
from ttxdsl.dialects.stablehlo import CustomCallOp
from ttxdsl.ir.tensors import element_of, shape_of


class Communication(Enum):
    """The data that devices exchange in a call."""

    NONE = auto()
    """Nothing."""
    RAGGED = auto()
    """Rows of the first operand, as in `jax.lax.ragged_all_to_all`."""
    UNPRICED = auto()
    """An amount that the program does not determine."""
    UNKNOWN = auto()
    """The target is not known here."""


RAGGED_ALL_TO_ALL = "ragged_all_to_all"

PYTHON_CALLBACKS = (
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_ffi_partitioned_python_gpu_callback",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
)
"""What `jax.debug.print`, `jax.debug.callback`, `pure_callback` and `io_callback` are."""

_DISPATCHES = frozenset({Target.DISPATCH, Target.COMBINE})
"""Calls of tt-mlir's that send tokens to the devices of their experts."""

_ANNOTATIONS = {
    *("AllocateBuffer", "InspectSharding", "LayoutConstraint", "MoveToDevice"),
    *("MoveToHost", "Sharding", "annotate_device_placement", "shape_assertion"),
    *("SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.FuncResultSharding"),
    *("tt.mark_argument", "tt.sharding_constraint", "tt.weight_dtype_override"),
    *("sdy_testonly", "xla.debug.Log", "xla.megascale.provide_metadata"),
}
"""Targets that say something about a value or place it, and compute nothing."""

LOCAL_TARGETS: set[str] = {
    *ROUTINE_OF,
    *(set(Target) - _DISPATCHES),
    *PYTHON_CALLBACKS,
    *_ANNOTATIONS,
    # of whole values, or of what a device has of them
    *("ApproxTopK", "PartialReduce", "TopK", "__gpu$TopK", "mhlo.erf", "mhlo.topk"),
    *("Cholesky", "CompactWyHelper", "QrDecompositionBlock"),
    *("InvertDiagBlocksLowerTriangular", "InvertDiagBlocksUpperTriangular"),
    *("X64Combine", "X64SplitHigh", "X64SplitLow"),
    *("_SPMDInternalOp_MultiPad", "_SPMDInternalOp_MultiRotate"),
    *("_SPMDInternalOp_MultiSlice", "_SPMDInternalOp_RotateRight"),
    "_SPMDInternalOp_Wrap",
    *("cu_threefry2x32_ffi", "hip_threefry2x32_ffi"),
    *("cu_cholesky_update_ffi", "hip_cholesky_update_ffi"),
    *("stablehlo.dynamic_approx_top_k", "stablehlo.dynamic_reduce_window"),
    *("stablehlo.dynamic_rng_bit_generator", "stablehlo.dynamic_top_k"),
    # JAX's custom_partitioning: on its parts the call is the function itself
    "CustomSPMDPartitioning",
    # kernels of Triton's
    *("__gpu$xla.gpu.triton", "triton_kernel_call", "triton_kernel_call_ffi"),
    # StableHLO's assertions
    *("check.eq", "check.expect_almost_eq", "check.expect_close", "check.expect_eq"),
}
"""Targets in whose calls devices do not send each other anything."""

_LOCAL_LIBRARIES = ("__cublas$", "__cudnn$", "__onednn$")
"""Libraries whose calls do not communicate; attention is cuDNN's `__cudnn$fmha…`."""


def communication_of(call: CustomCallOp) -> Communication:
    """Return what devices send each other in a call of code for one device."""
    target = call.call_target_name.data
    if target in LOCAL_TARGETS or target.startswith(_LOCAL_LIBRARIES):
        return Communication.NONE
    if target == RAGGED_ALL_TO_ALL and _is_ragged(call):
        return Communication.RAGGED
    if target in _DISPATCHES or target == RAGGED_ALL_TO_ALL:
        return Communication.UNPRICED
    if target in _KERNELS_OF_PALLAS:
        sends = _KERNELS_OF_PALLAS[target](call.backend_config)
        return Communication.UNPRICED if sends else Communication.NONE
    return Communication.UNKNOWN


def computes_unknown(call: CustomCallOp) -> bool:
    """Whether a call may compute something, and nothing here says how much."""
    target = call.call_target_name.data
    return target not in _ANNOTATIONS and target not in {*Target, RAGGED_ALL_TO_ALL}


def _is_ragged(call: CustomCallOp) -> bool:
    """Whether a call has the operands and the groups of `jax.lax.ragged_all_to_all`."""
    if len(call.inputs) != 6 or len(call.outputs) != 1:
        return False
    operand, output, *lists = (shape_of(value) for value in call.inputs)
    return (
        call.inputs[1].type == call.outputs[0].type
        and len(operand) > 0
        and operand[1:] == output[1:]
        and element_of(call.inputs[0]) == element_of(call.outputs[0])
        and len({*lists}) == len(lists[0]) == 1
        and "replica_groups" in config_of(call)
    )


def config_of(call: CustomCallOp) -> dict[str, Attribute]:
    """Return the backend's configuration of a call, empty if it is no dictionary.

    With an `api_version` that has text only, JAX writes it as an attribute.
    """
    for config in (call.backend_config, call.attributes.get("mhlo.backend_config")):
        if isinstance(config, DictionaryAttr):
            return dict(config.data)
    return {}


FIRST_BY_COMPARATOR = ("ApproxTopK", "PartialReduce")
"""Calls for the first elements of each operand in the order of a comparator."""


def first_by_comparator(call: CustomCallOp) -> tuple[int, str] | None:
    """Return the dimension and the comparator of a call for the first elements.

    Its operands are tensors of one shape, then as many scalars. An approximation may
    miss some of those elements, and XLA's scalars fill up its bins.

    Returns:
        None if the call is not one as JAX writes it.
    """
    count = len(call.outputs)
    operands = [shape_of(value) for value in call.inputs]
    results = [shape_of(value) for value in call.outputs]
    names = cast("ArrayAttr[SymbolRefAttr]", call.called_computations).data
    if len(operands) != 2 * count or not count or len(names) != 1:
        return None
    before, after = operands[0], results[0]
    if {*operands[:count]} != {before} or {*results} != {after}:
        return None
    rank, told = len(before), config_of(call).get("reduction_dim")
    if len(after) != rank:
        return None
    less = [dim for dim in range(rank) if after[dim] != before[dim]]
    if not less:
        less = [told.value.data if isinstance(told, IntegerAttr) else rank - 1]
    (dim, *others) = less
    if others or not 0 <= dim < rank or after[dim] > before[dim]:
        return None
    return dim, names[0].string_value()


def _mosaic_tpu_sends(config: Attribute | None) -> bool:
    """Whether a kernel for TPUs says so; JAX leaves the flag out where it is false."""
    text = config.data if isinstance(config, StringAttr) else ""
    return '"has_communication": true' in text


def _mosaic_gpu_sends(config: Attribute | None) -> bool:
    """Whether a kernel for GPUs reaches other devices, by XLA's metadata or NVSHMEM."""
    if not isinstance(config, DictionaryAttr):
        return False
    metadata = config.data.get("uses_xla_collective_metadata")
    asks = isinstance(metadata, IntegerAttr) and bool(metadata.value.data)
    module = config.data.get("module")
    code = module.data if isinstance(module, BytesAttr | StringAttr) else b""
    reaches = "nvshmem" in code if isinstance(code, str) else b"nvshmem" in code
    return asks or reaches or "xla_replica_ids" in config.data


_KERNELS_OF_PALLAS = {
    "mosaic_gpu_v2": _mosaic_gpu_sends,
    "tpu_custom_call": _mosaic_tpu_sends,
}
"""Kernels that say themselves whether they communicate."""


def frontend_attribute(op: Operation, name: str) -> str | None:
    """Return what a frontend tells XLA about an op under a name."""
    entries = op.attributes.get(FRONTEND_ATTRIBUTES)
    value = entries.data.get(name) if isinstance(entries, DictionaryAttr) else None
    return value.data if isinstance(value, StringAttr) else None
