"""The work of Pallas kernels, by their own estimate or by their shapes.

A kernel says its operations in `cost_estimate` if its author gave them. Of others two kinds
are known by their shapes: attention (queries, keys and values in, as splash and flash
attention have them) and grouped products (rows of one matrix, each with one of several
matrices, as megablox has them). Any other counts as an op that reads its operands once and
writes its results.

A kernel's scratch is on the core, so that a device's memory holds operands and results.

Source: JAX's lowering of `pallas_call` and `jax.experimental.pallas.ops.tpu`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, TypeGuard, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects.calls.custom import frontend_attribute
from ttxdsl.ir.tensors import element_of, shape_of, value_bytes

_BYTE = IntegerType(8)

_GRADIENT = re.compile(r"_(fwd|dq|dkv)(?![a-z])")
"""What of attention a kernel computes, by its name in splash attention."""

KERNELS = ("tpu_custom_call", "mosaic_gpu_v2")
"""Targets of Pallas's calls."""
PRODUCTS = (stablehlo.DotGeneralOp, stablehlo.DotOp, stablehlo.ConvolutionOp)
"""Ops that are computed as products of matrices."""


@dataclass(frozen=True, slots=True)
class KernelWork:
    """The work of one run of a kernel, at the shapes that it is called with.

    Attributes:
        operations: multiply-adds; None if nothing says it.
        bytes_touched: what it reads and writes of a device's memory.
    """

    name: str
    operations: int | None
    bytes_touched: int


def kernel_work(op: Operation) -> KernelWork | None:
    """Return the work of a call of a kernel; None of any other op."""
    if not is_kernel(op):
        return None
    flops = kernel_flops(op)
    touched = _estimated(op, "bytes_accessed")
    if touched is None:
        touched = sum(map(value_bytes, (*op.operands, *op.results)))
    return KernelWork(kernel_name(op), None if flops is None else flops // 2, touched)


def is_kernel(op: Operation | Block) -> TypeGuard[stablehlo.CustomCallOp]:
    """Tell a call of a Pallas kernel from other ops; a value's owner may be asked."""
    return (
        isinstance(op, stablehlo.CustomCallOp) and op.call_target_name.data in KERNELS
    )


def is_product(op: Operation) -> bool:
    """Return True of a product, of groups or not, and of a kernel, which is made of products."""
    return isinstance(op, (*PRODUCTS, chlo.RaggedDotOp)) or is_kernel(op)


def kernel_name(op: stablehlo.CustomCallOp) -> str:
    """Return the name of the kernel, or the call's target."""
    name = op.attributes.get("kernel_name")
    return name.data if isinstance(name, StringAttr) else op.call_target_name.data


def kernel_flops(op: stablehlo.CustomCallOp) -> int | None:
    """Return the floating-point operations of a kernel, two for a multiply-add.

    None if it does not say them and its shapes imply none.
    """
    if (flops := _estimated(op, "flops")) is not None:
        return flops
    operands = [shape_of(value) for value in op.operands if _is_float(value)]
    results = [shape_of(value) for value in op.results if _is_float(value)]
    attention = _attention_flops(op, operands, results)
    return attention if attention is not None else _grouped_flops(operands, results)


def _estimated(op: stablehlo.CustomCallOp, figure: str) -> int | None:
    """Return a figure of the estimate that a kernel's author gave, if it says one."""
    estimate = _config(op).get("cost_estimate")
    if not isinstance(estimate, Mapping):
        return None
    try:
        value = int(cast("Mapping[str, Any]", estimate).get(figure, 0))
    except (TypeError, ValueError):
        return None
    return value if value > 0 else None


def scale_estimate(op: stablehlo.CustomCallOp, factor: Fraction) -> None:
    """Let a kernel's estimate be so many times what its author gave, if it has one."""
    text = op.backend_config
    if not isinstance(text, StringAttr) or "cost_estimate" not in _config(op):
        return
    config = json.loads(text.data)
    estimate = config["custom_call_config"]["cost_estimate"]
    for figure, value in estimate.items():
        estimate[figure] = int(value * factor)
    op.backend_config = StringAttr(json.dumps(config))


def _config(op: stablehlo.CustomCallOp) -> Mapping[str, Any]:
    text = op.backend_config
    if not isinstance(text, StringAttr):
        return {}
    try:
        config = json.loads(text.data or "{}")
    except ValueError:
        return {}
    if not isinstance(config, dict):
        return {}
    kernel = cast("dict[str, Any]", config).get("custom_call_config")
    return cast("dict[str, Any]", kernel) if isinstance(kernel, dict) else {}


def _is_float(value: SSAValue) -> bool:
    return isinstance(element_of(value), AnyFloat)


def _attention_flops(
    op: stablehlo.CustomCallOp,
    operands: Sequence[tuple[int, ...]],
    results: Sequence[tuple[int, ...]],
) -> int | None:
    """Return the operations of attention: two products forward, four or five backward.

    Blocks of scores that the mask leaves out are none of them. Gradients of keys and values
    take four, with that of queries five; that of queries alone takes three.
    """
    if len(operands) < 3 or not 3 <= len(operands[0]) == len(operands[1]):
        return None
    query, key, value = operands[:3]
    if query[-1] != key[-1] or key[:-1] != value[:-1] or not results:
        return None
    named = _GRADIENT.search(kernel_name(op))
    if named is None:
        of_keys = any(shape == key for shape in results)
        kind = "fwd" if len(operands) == 3 else "dkv" if of_keys else "dq"
    else:
        kind = named[1]
    # products along the width of keys, and along that of values
    by_keys, by_values = {"fwd": (1, 1), "dq": (2, 1), "dkv": (2, 2)}[kind]
    by_keys += kind == "dkv" and len(results) > 2
    width = by_keys * query[-1] + by_values * value[-1]
    scores = prod(query[:-2]) * _scores_of_head(op, query[-2], key[-2])
    return int(2 * scores * width)


def _scores_of_head(op: stablehlo.CustomCallOp, queries: int, keys: int) -> float:
    """Return how many scores of a head are computed: those in blocks that the mask keeps.

    Splash attention's second table says of each block, [heads, queries, keys], whether it
    is; blocks that no head needs are not in it. Where the table is not a constant, half of
    a square one is taken to be.
    """
    table = next((value for value in op.operands[1:2] if _is_table(value)), None)
    blocks = _block_sizes(op)
    if table is None or blocks is None:
        return queries * keys
    heads, rows, columns = shape_of(table)
    kept: float = rows * columns
    values = _constant(table)
    if values is not None:
        kept = sum(value != 0 for value in values) / heads
    elif rows == columns:
        kept = rows * (rows + 1) / 2
    return min(float(queries * keys), kept * blocks[0] * blocks[1])


def _is_table(value: SSAValue) -> bool:
    return element_of(value) == _BYTE and len(shape_of(value)) == 3


def _constant(value: SSAValue) -> Sequence[int] | None:
    """Return the elements of a constant, which loops may hand on."""
    while isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if not isinstance(loop, stablehlo.WhileOp):
            return None
        value = loop.operands[value.index]
    owner = value.owner
    if not isinstance(owner, stablehlo.ConstantOp):
        return None
    dense = owner.value
    if not isinstance(dense, DenseIntOrFPElementsAttr):
        return None
    return cast("DenseIntOrFPElementsAttr[IntegerType]", dense).get_values()


def _block_sizes(op: stablehlo.CustomCallOp) -> tuple[int, int] | None:
    """Return how many queries and keys a block has, as splash attention notes them."""
    text = frontend_attribute(op, "kernel_metadata")
    if text is None:
        return None
    try:
        sizes = json.loads(json.loads(text)["xprof_metadata"])
        name = kernel_name(op)
        suffix = next((f"_{part}" for part in ("dkv", "dq") if part in name), "")
        return int(sizes[f"block_q{suffix}"]), int(sizes[f"block_kv{suffix}"])
    except (ValueError, KeyError, TypeError):
        return None


def _grouped_flops(
    operands: Sequence[tuple[int, ...]], results: Sequence[tuple[int, ...]]
) -> int | None:
    """Return the operations of rows times one matrix of a group each, or of its gradient."""
    if len(operands) < 2 or len(results) != 1:
        return None
    left, right = operands[:2]
    (result,) = results
    match len(left), len(right), len(result):
        case 2, 3, 2 if left[0] == result[0] and result[1] in right:
            return 2 * prod(left) * result[1]
        case 2, 2, 3 if set(result[1:]) <= {*left, *right}:
            rows = set(left) & set(right)
            return 2 * max(rows) * prod(result[1:]) if rows else None
        case _:
            return None
