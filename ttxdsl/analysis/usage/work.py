"""The work of an op on the device that runs it: operations, and bytes of memory.

An op does the product of its rule's factors: multiply-adds of a product, elements of
everything else. It reads its operands and writes its results, but

- a slice, a gather and the like read what they give, and an update of a part writes that
  part: a loop over layers does not read all layers in every iteration;
- what one elementwise op makes for another one alone is in no memory: every back end
  joins them.

A convolution multiplies the whole window for each element of its result. A kernel says
itself what it does, see `ttxdsl.dialects.calls.kernels`.

Collectives, constants, reshapes and control flow do nothing here.
"""

from collections.abc import Callable
from itertools import combinations
from math import gcd, prod
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.buffers.kernels import RUN
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects.calls.custom import RAGGED_ALL_TO_ALL
from ttxdsl.dialects.calls.kernels import is_kernel, kernel_flops, kernel_work
from ttxdsl.dialects.stablehlo.attributes import Precision, PrecisionAttr
from ttxdsl.dialects.stablehlo.windowed import padding_pairs, window_values
from ttxdsl.dialects.traits import Collective, Elementwise, MovesData, SameBytes
from ttxdsl.ir.data_flow import ByClass
from ttxdsl.ir.tensors import element_of, shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules.registry import Signatures, sharding_rule

_FREE = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("constant", "partition_id", "replica_id", "return"),
        *("case", "if", "while", "composite", "async_start"),
        *("after_all", "create_token"),
    )
)
_FUNCTIONS = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log"),
        *("log_plus_one", "logistic", "power", "sine", "tan", "tanh"),
    )
)
_TAKES_PARTS = (
    *(stablehlo.SliceOp, stablehlo.DynamicSliceOp, stablehlo.GatherOp),
    stablehlo.RealDynamicSliceOp,
)
_JOINED = (stablehlo.BroadcastInDimOp, stablehlo.IotaOp)
"""Made on the way where an elementwise op wants it, as elementwise ops are."""


_DOTS = (stablehlo.DotGeneralOp, stablehlo.DotOp)
_PRODUCTS = (*_DOTS, stablehlo.ConvolutionOp, chlo.RaggedDotOp)

_COMBINES = (stablehlo.ReduceOp, stablehlo.ScatterOp)

_ROOTS = (stablehlo.SqrtOp, stablehlo.RsqrtOp)
"""XLA counts them as functions, and they take no longer than a division."""


def _class_computes(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    name = kind.name
    return (
        name.startswith(("stablehlo.", "chlo."))
        and name not in _FREE
        and kind.get_trait(Collective) is None
        and kind.get_trait(SameBytes) is None
    )


_COMPUTES = ByClass(_class_computes)


def _class_joins(kind: object) -> bool:
    assert isinstance(kind, type) and issubclass(kind, Operation)
    return kind.get_trait(Elementwise) is not None or issubclass(kind, _JOINED)


_JOINS = ByClass(_class_joins)


_IDLE_TARGETS = (RAGGED_ALL_TO_ALL, "AllocateBuffer", "Sharding")
"""Custom calls that compute nothing."""


def computes(op: Operation) -> bool:
    """Whether an op does something that takes a device time."""
    if isinstance(op, stablehlo.CustomCallOp):
        return op.call_target_name.data not in _IDLE_TARGETS
    return _COMPUTES[type(op)]


def operations(op: Operation, signatures: Signatures | None = None) -> int:
    """Multiply-adds of a product, and elements of everything else that computes.

    Args:
        signatures: of the module, for who asks for many ops.
    """
    if isinstance(op, _TAKES_PARTS):
        return sum(prod(shape_of(result)) for result in op.results)
    kernel = kernel_work(op)
    if kernel is not None and kernel.operations is not None:
        return kernel.operations
    updates = _updates(op)
    if updates is not None:
        return sum(prod(shape_of(update)) for update in updates)
    window = _window(op)
    if window is not None:
        return window * prod(shape_of(op.results[0]))
    if isinstance(op, chlo.RaggedDotOp):
        return _ragged_multiply_adds(op)
    rule = sharding_rule(op) if signatures is None else signatures.of(op).rule
    if rule is not None:
        return prod(rule.factor_sizes)
    return sum(prod(shape_of(result)) for result in op.results)


def multiply_adds(op: stablehlo.ConvolutionOp) -> int:
    """Return the multiply-adds of a convolution, without those with padding and gaps."""
    numbers = op.dimension_numbers.data
    lhs, rhs, out = (shape_of(value) for value in (op.lhs, op.rhs, op.result))
    rank = len(numbers.input_spatial_dimensions)
    dims = zip(
        numbers.input_spatial_dimensions,
        numbers.kernel_spatial_dimensions,
        numbers.output_spatial_dimensions,
        strict=True,
    )
    windows = zip(
        window_values(op.window_strides, rank),
        padding_pairs(op.padding, rank),
        window_values(op.lhs_dilation, rank),
        window_values(op.rhs_dilation, rank),
        strict=True,
    )
    total = rhs[numbers.kernel_input_feature_dimension]
    total *= rhs[numbers.kernel_output_feature_dimension]
    total *= lhs[numbers.input_batch_dimension] // op.batch_group_count.value.data
    for (dim, kernel, result), window in zip(dims, windows, strict=True):
        stride, (low, _), gap, spread = window
        last = (lhs[dim] - 1) * gap
        total *= sum(
            _hits(tap * spread - low, stride, out[result], last, gap)
            for tap in range(rhs[kernel])
        )
    return total


def _hits(start: int, stride: int, places: int, last: int, gap: int) -> int:
    """Return at how many places, a stride apart, an element of the input is."""
    first = max(0, -(start // stride))
    behind = min(places, (last - start) // stride + 1)
    common = gcd(stride, gap)
    if start % common:
        return 0
    # every `apart`-th place is a multiple of the gap: the first one is `-start / stride`
    apart = gap // common
    place = (-start // common) * pow(stride // common, -1, apart) % apart
    earliest = first + (place - first) % apart
    return max(0, (behind - earliest + apart - 1) // apart)


def _ragged_multiply_adds(op: chlo.RaggedDotOp) -> int:
    """Return the multiply-adds of a product of groups: each row is in one of them."""
    dims = op.ragged_dot_dimension_numbers.data
    shared = (
        *dims.rhs_batching_dimensions,
        *dims.rhs_contracting_dimensions,
        *dims.rhs_group_dimensions,
    )
    columns = (size for dim, size in enumerate(shape_of(op.rhs)) if dim not in shared)
    return prod(shape_of(op.lhs)) * prod(columns)


def bytes_touched(op: Operation) -> int:
    """Return the bytes that an op reads and writes."""
    if isinstance(op, _TAKES_PARTS):
        return 2 * sum(map(value_bytes, op.results))
    kernel = kernel_work(op)
    if kernel is not None:
        return kernel.bytes_touched
    updates = _updates(op)
    if updates is not None:
        return 2 * sum(map(value_bytes, updates))
    read = sum(
        value_bytes(operand) for operand in op.operands if not _is_joined(operand, op)
    )
    return read + sum(map(value_bytes, _written(op)))


def is_joined(op: Operation) -> bool:
    """Whether an op is a part of the one that uses it: nothing that is started."""
    return bool(op.results) and not _written(op)


def _window(op: Operation) -> int | None:
    """Return the elements in a window of the result; no factor of a rule states it."""
    match op:
        case stablehlo.ConvolutionOp():
            kernel = shape_of(op.rhs)
            out = op.dimension_numbers.data.kernel_output_feature_dimension
            return prod(size for dim, size in enumerate(kernel) if dim != out)
        case stablehlo.ReduceWindowOp():
            return len(op.results) * prod(op.window_dimensions.get_values())
        case _:
            return None


def _updates(op: Operation) -> list[SSAValue] | None:
    """Return the parts that an op writes in place of others."""
    match op:
        case stablehlo.DynamicUpdateSliceOp():
            return [op.update]
        case stablehlo.ScatterOp():
            return list(op.updates)
        case _:
            return None


def _written(op: Operation) -> list[SSAValue]:
    """Return the results that go to memory."""
    if len(op.results) == 1 and _JOINS[type(op)]:
        result = op.results[0]
        user = result.get_user_of_unique_use()
        if user is not None and _is_joined(result, user):
            return []
    return list(op.results)


def _is_joined(value: SSAValue, user: Operation) -> bool:
    """Whether what makes a value is done inside the one op that uses it."""
    return (
        isinstance(value, OpResult)
        and _JOINS[type(value.op)]
        and (_JOINS[type(user)] or isinstance(user, stablehlo.ReduceOp))
        and user.parent is value.op.parent
        and value.has_one_use()
    )


def features(op: Operation) -> tuple[int, int] | None:
    """Of how many input features a convolution makes how many, in each of its groups.

    Kernels are made for many: few leave vectors idle, and a depthwise convolution is one of
    a feature for each feature. None for anything else.
    """
    if not isinstance(op, stablehlo.ConvolutionOp):
        return None
    kernel, numbers = shape_of(op.rhs), op.dimension_numbers.data
    groups = op.feature_group_count.value.data * op.batch_group_count.value.data
    return (
        kernel[numbers.kernel_input_feature_dimension],
        kernel[numbers.kernel_output_feature_dimension] // groups,
    )


def product_numbers(op: Operation) -> tuple[str, ...]:
    """Return what numbers a product multiplies, of each operand; () for anything else.

    They are element types, as `bf16`, `i8` and `f8E5M2`; those of 32 bits and a precision above
    the default end with it: `f32_high`, `f32_highest`. An algorithm that is asked for counts,
    and has the precision of its number of products.
    """
    if not isinstance(op, _PRODUCTS):
        return ()
    algorithm = op.algorithm if isinstance(op, stablehlo.DotGeneralOp) else None
    if algorithm is not None:
        data = algorithm.data
        types = data.lhs_precision_type, data.rhs_precision_type
        count = data.num_primitive_operations
        ending = "" if count == 1 else "_high" if count <= 3 else "_highest"
        return tuple("f32" + ending if ending else str(kind) for kind in types)
    config = op.precision_config
    precisions = config.data if isinstance(config, ArrayAttr) else ()
    asked = {kind.data for kind in precisions if isinstance(kind, PrecisionAttr)}
    ending = ""
    if asked - {Precision.DEFAULT}:
        ending = "_highest" if Precision.HIGHEST in asked else "_high"
    kinds = (str(element_of(value)) for value in op.operands[:2])
    return tuple(kind + ending if kind == "f32" else kind for kind in kinds)


def is_function(op: Operation) -> bool:
    """Whether an op computes exponentials and the like, each of many operations."""
    return _is_function(op.name)


def _is_function(name: str) -> bool:
    return name in _FUNCTIONS or name.startswith("chlo.")


def flops(op: Operation, signatures: Signatures | None = None) -> int:
    """Return floating-point operations as XLA counts them: two for each multiply-add.

    What only moves elements takes none, and neither do functions, which XLA counts by
    themselves; a logistic function is three operations beside its exponential.

    Args:
        signatures: of the module, for who asks for many ops.
    """
    return _FLOPS[type(op)](op, signatures)


_Count = Callable[[Operation, Signatures | None], int]


def _flops_of_class(kind: object) -> _Count:
    """Return how the floating-point operations of a class of ops are counted."""
    assert isinstance(kind, type) and issubclass(kind, Operation)
    if issubclass(kind, stablehlo.ConvolutionOp):
        return lambda op, _: 2 * multiply_adds(cast(stablehlo.ConvolutionOp, op))
    if issubclass(kind, (*_DOTS, chlo.RaggedDotOp)):
        return lambda op, signatures: 2 * operations(op, signatures)
    if issubclass(kind, stablehlo.CustomCallOp):
        return _flops_of_call
    if kind.__module__.partition(".")[0] != __name__.partition(".")[0]:
        return _flops_of_rule
    if issubclass(kind, stablehlo.LogisticOp):
        return lambda op, signatures: 3 * operations(op, signatures)
    if issubclass(kind, stablehlo.ReduceWindowOp):
        return _flops_of_windows
    if issubclass(kind, stablehlo.AllReduceOp):  # an addition, among however many
        return lambda op, _: sum(prod(shape_of(result)) for result in op.results)
    is_counted = kind.get_trait(Elementwise) is not None or issubclass(kind, _COMBINES)
    if (
        not is_counted
        or kind.get_trait(MovesData) is not None
        or issubclass(kind, _ROOTS)
        or _is_function(kind.name)
    ):
        return lambda op, signatures: 0
    return operations


def _flops_of_call(op: Operation, signatures: Signatures | None) -> int:
    """Count a kernel by what is known of it, another call by its rule."""
    assert isinstance(op, stablehlo.CustomCallOp)
    if is_kernel(op):
        return kernel_flops(op) or 0
    return _flops_of_rule(op, signatures)


def _flops_of_rule(op: Operation, signatures: Signatures | None) -> int:
    """Count an op of a plug-in: a contraction two for each multiply-add, elementwise ops one.

    A contraction has a factor in several operands and in no result.
    """
    if op.get_trait(Elementwise) is not None:
        return operations(op, signatures)
    rule = sharding_rule(op) if signatures is None else signatures.of(op).rule
    if rule is None:
        return 0
    operands = [
        {factor for dim in mapping for factor in dim} for mapping in rule.operands
    ]
    shared = set[int]().union(*(a & b for a, b in combinations(operands, 2)))
    kept = {factor for mapping in rule.results for dim in mapping for factor in dim}
    return 2 * prod(rule.factor_sizes) if shared - kept else 0


def _flops_of_windows(op: Operation, signatures: Signatures | None) -> int:
    """Count windows one by one, or short ones that a running sum is made of."""
    results = sum(prod(shape_of(result)) for result in op.results)
    return min(operations(op, signatures), RUN * results)


_FLOPS = ByClass(_flops_of_class)


def operations_of(module: ModuleOp, runs: Runs) -> int:
    """Return the operations of one run of a program."""
    total = 0
    for op in all_ops(module):
        if computes(op) and (count := runs.of(op).count):
            total += count * operations(op)
    return total
