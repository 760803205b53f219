"""What a kernel for TPUs computes and reads, as its call says it.

Pallas writes an estimate into the configuration of a call whose author gave one (`gmm`,
the grouped matmul, has one); JAX's splash attention gives none, but its names and shapes
say what it multiplies. Of another kernel no work is known: it counts as an op that makes
its results and reads its operands once.

A kernel's scratch is on the core, so that a device's memory holds operands and results.

Source: JAX's lowering of `pallas_call` and `jax.experimental.pallas.ops.tpu`.
"""

import re
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import AnyFloat, StringAttr
from xdsl.ir import Operation

from ttxdsl.dialects.stablehlo import CustomCallOp
from ttxdsl.ir.tensors import element_of, shape_of, value_bytes

KERNEL_TARGET = "tpu_custom_call"

_ESTIMATE = re.compile(r'"cost_estimate":\s*\{([^{}]*)\}')
_FIGURE = re.compile(r'"(flops|bytes_accessed)":\s*"?(\d+)')
_SPLASH = re.compile(r"splash_m[hq]a_(fwd|dq|dkv)")


@dataclass(frozen=True, slots=True)
class KernelWork:
    """The work of one run of a kernel, at the shapes that it is called with.

    Attributes:
        name: what the program calls it.
        operations: multiply-adds; None if nothing says it.
        bytes_touched: what it reads and writes of a device's memory.
    """

    name: str
    operations: int | None
    bytes_touched: int


def kernel_work(op: Operation) -> KernelWork | None:
    """Return the work of a call of a kernel; None of any other op."""
    if not isinstance(op, CustomCallOp) or op.call_target_name.data != KERNEL_TARGET:
        return None
    name = op.attributes.get("kernel_name")
    text = name.data if isinstance(name, StringAttr) else KERNEL_TARGET
    touched = sum(map(value_bytes, (*op.operands, *op.results)))
    config = op.backend_config
    estimate = _ESTIMATE.search(config.data) if isinstance(config, StringAttr) else None
    figures = dict(_FIGURE.findall(estimate[1])) if estimate is not None else {}
    flops = figures.get("flops")
    operations = _attention(op, text) if flops is None else int(flops) // 2
    return KernelWork(text, operations, int(figures.get("bytes_accessed", touched)))


def _attention(op: CustomCallOp, name: str) -> int | None:
    """Return the multiply-adds of splash attention, as if its mask left out no block."""
    found = _SPLASH.search(name)
    arrays = [
        shape_of(value)
        for value in op.operands
        if isinstance(element_of(value), AnyFloat)
    ]
    if found is None or len(arrays) < 3 or any(len(one) < 2 for one in arrays[:3]):
        return None
    queries, keys, values = arrays[:3]
    # products along the width of keys, and along that of values
    by_keys, by_values = {"fwd": (1, 1), "dq": (2, 1), "dkv": (2, 2)}[found[1]]
    if found[1] == "dkv" and len(op.results) > 2:
        by_keys += 1  # it makes the queries' gradient, too
    width = by_keys * queries[-1] + by_values * values[-1]
    return prod(queries[:-1]) * keys[-2] * width
