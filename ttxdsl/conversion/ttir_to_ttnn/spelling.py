"""Additions to ttnn ops for today's tt-mlir: activations, sizes, and layouts.

Every tensor gets a layout: `#ttnn.ttnn_layout`, in row-major order, in the memory
of the host or in that of every device.
"""

from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttxdsl.conversion.vocabulary import require_in_tt_mlir
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import ttnn
from ttxdsl.dialects._tt.attributes import (
    dense_i32,
    ui32,
)
from ttxdsl.dialects._tt.elementwise import ACTIVATIONS
from ttxdsl.dialects._tt.op import TTOp
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.dialects.ttcore import (
    device_mesh_name,
    on_host,
)
from ttxdsl.ir.tensors import Tensor, tensor_type

# --- ops that both have, as tt-mlir writes them -------------------------------


def write_for_tt_mlir(op: Operation) -> None:
    """Add the attributes that tt-mlir requires to a new op.

    Raises:
        UnsupportedError: tt-mlir has no such op.
    """
    require_in_tt_mlir(op)
    if not isinstance(op, TTOp):
        return
    known = op.get_irdl_definition().properties
    if ACTIVATIONS[-1] in known:
        op.properties.update(dict.fromkeys(ACTIVATIONS, ArrayAttr([])))
    if isinstance(op, ttnn.Conv3dOp):
        _say_sizes(op)


_CHANNELS = 32
"""The channels of a conv3d come in tiles of so many."""


def _say_sizes(op: ttnn.Conv3dOp) -> None:
    """The sizes of a convolution, which its tensors have too."""
    batch, *image, channels = tensor_type(op.input).get_shape()
    features, _, *window = tensor_type(op.weight).get_shape()
    if channels % _CHANNELS:
        raise UnsupportedError(
            f"tt-mlir's conv3d takes multiples of {_CHANNELS} channels, not {channels}",
            op,
        )
    names = ("batch_size", "input_depth", "input_height", "input_width", "in_channels")
    sizes = dict(zip(names, (batch, *image, channels), strict=True))
    for name, size in {**sizes, "out_channels": features}.items():
        op.properties[name] = IntegerAttr(size, i32)
    op.properties["kernel_size"] = dense_i32(window)


# --- layouts ------------------------------------------------------------------


def write_layouts(function: FuncOp, block: Block) -> None:
    """Set the layout of every tensor of a function whose new body is `block`."""
    for op in list(block.walk()):
        if isinstance(op, ttnn.WhileOp):
            _decide_on_host(op)
    for value in _values(block):
        if isinstance(value.type, TensorType):
            Rewriter.replace_value_with_new_type(value, _placed(tensor_type(value)))
    end = block.last_op
    assert end is not None
    function.function_type = FunctionType.from_lists(
        list(block.arg_types), [value.type for value in end.operands]
    )


def _decide_on_host(loop: ttnn.WhileOp) -> None:
    """Let the host read a loop's condition."""
    end = loop.cond.block.last_op
    assert end is not None
    condition = tensor_type(end.operands[0])
    number = TensorType(ui32, condition.get_shape(), condition.encoding)
    counted = ttnn.ELEMENTWISE_OPS["typecast"].create(
        operands=end.operands, result_types=[number]
    )
    brought = ttnn.FromDeviceOp.create(
        operands=counted.results, result_types=[on_host(number)]
    )
    loop.cond.block.insert_ops_before([counted, brought], end)
    end.operands[0] = brought.results[0]


def _values(block: Block) -> list[SSAValue]:
    values: list[SSAValue] = list(block.args)
    for op in block.walk():
        values += op.results
        values += (arg for region in op.regions for arg in region.block.args)
    return values


@lru_cache(maxsize=1 << 12)
def _placed(type: Tensor) -> Tensor:
    """Return the type with its layout: row-major, its leading dimensions as rows."""
    shape, host = type.get_shape(), device_mesh_name(type) is None
    rank = len(shape)
    dims = [f"d{dim}" for dim in range(rank)]
    rows = [
        name if (step := prod(shape[dim + 1 : -1])) == 1 else f"{name} * {step}"
        for dim, name in enumerate(dims[:-1])
    ]
    row, column = " + ".join(rows) or "0", dims[-1] if dims else "0"
    memory = "system_memory" if host else "dram"
    sizes = f"{prod(shape[:-1])}x{shape[-1] if shape else 1}"
    text = (
        f"({', '.join(dims)}) -> ({row}, {column}), <1x1>, "
        f"memref<{sizes}x{_stored(type.element_type)}, #ttnn.buffer_type<{memory}>>"
        + ("" if host else ", <interleaved>")
    )
    layout = ttnn.TEXTS["ttnn.ttnn_layout"].new([StringAttr(text)])
    return TensorType(type.element_type, shape, layout)


def _stored(element: Attribute) -> Attribute:
    """Return the type in which memory stores an element."""
    return element.data.storage_type if isinstance(element, QuantizedType) else element
