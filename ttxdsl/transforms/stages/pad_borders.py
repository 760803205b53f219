"""`pad-borders`: grow arguments and results that their shardings do not divide.

Shards have one size, so a dimension of 6 split four ways comes in as one of 8. The
program slices its 6 elements off at once and pads its results at the end, so that
nothing in between sees the others. `ttxdsl.unpadded_shape` on the argument or result
says what it was; whoever runs the program pads and cuts
(`ttxdsl.interpreters.mesh.local_boundary`).
"""

from collections.abc import Sequence
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import UNPADDED_SHAPE
from ttxdsl.dialects.stablehlo.types import Kind, element_kind
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup

Tensor = TensorType[Attribute]


def even_type(
    type_: Attribute, sharding: TensorSharding | None, mesh_of: MeshOf
) -> Tensor | None:
    """Return the least type of which all shards are alike, None if it is the same."""
    if sharding is None or not isinstance(type_, TensorType):
        return None
    tensor = cast(Tensor, type_)
    mesh, element = mesh_of(sharding), tensor.element_type
    if mesh.is_maximal or not tensor.has_static_shape():
        return None
    if (
        sharding.rank != tensor.get_num_dims()
        or element_kind(element) not in Kind.ANY ^ Kind.QUANT
    ):
        return None
    shape = sharding.even_shape(tensor.get_shape(), mesh)
    return None if shape == tensor.get_shape() else TensorType(element, list(shape))


def has_uneven_borders(module: ModuleOp) -> bool:
    """Return whether an argument or result of the program comes in uneven shards."""
    mesh_of = mesh_lookup(module)
    return any(
        even_type(type_, sharding, mesh_of) is not None
        for function in entry_functions(module)
        for types, shardings in (
            (function.function_type.inputs, sdy.func_argument_shardings(function)),
            (function.function_type.outputs, sdy.func_result_shardings(function)),
        )
        for type_, sharding in zip(types, shardings, strict=True)
    )


def _is_moved(value: SSAValue) -> bool:
    """Whether an explicit collective says how the value itself is split."""
    return any(isinstance(use.operation, sdy.CollectiveOp) for use in value.uses)


def _add_unpadded_shape(
    entries: list[dict[str, Attribute]], types: Sequence[Attribute], at: int
) -> None:
    tensor = cast(Tensor, types[at])
    entries[at][UNPADDED_SHAPE] = dims_attr(tensor.get_shape())


def _warn(function: FuncOp, name: str, old: Attribute, new: Tensor) -> None:
    emit_warning(
        f"'{function.name}' op {name} of type {old} comes in shards of {new}, which is"
        " what its axes divide; the program itself works on what they divide of it",
        function,
    )


def pad_function(function: FuncOp, mesh_of: MeshOf) -> None:
    """Let arguments and results of one function grow, in place."""
    block = function.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    types = function.function_type
    inputs, outputs = list(types.inputs), list(types.outputs)

    entries, shardings = (
        argument_attributes(function),
        sdy.func_argument_shardings(function),
    )
    head = Emitter(Block(), function.location)
    for at, sharding in enumerate(shardings):
        new = even_type(inputs[at], sharding, mesh_of)
        if new is None or _is_moved(block.args[at]):
            continue
        _warn(function, f"argument {at}", inputs[at], new)
        _add_unpadded_shape(entries, inputs, at)
        shape = shape_of(block.args[at])
        argument = Rewriter.replace_value_with_new_type(block.args[at], new)
        uses = list(argument.uses)
        cut = head.slice(argument, [0] * len(shape), shape)
        for use in uses:
            use.operation.operands[use.index] = cut
        inputs[at] = new
    if head.block.first_op is not None:
        Rewriter.inline_block(head.block, InsertPoint.at_start(block))
        set_argument_attributes(function, entries)

    entries, shardings = (
        result_attributes(function),
        sdy.func_result_shardings(function),
    )
    tail = Emitter(Block(), end.location)
    for at, sharding in enumerate(shardings):
        new = even_type(outputs[at], sharding, mesh_of)
        if new is None:
            continue
        _warn(function, f"result {at}", outputs[at], new)
        _add_unpadded_shape(entries, outputs, at)
        value = end.operands[at]
        sizes = zip(new.get_shape(), shape_of(value), strict=True)
        high = [now - before for now, before in sizes]
        filler = tail.number(0, element_of(value))
        end.operands[at] = tail.pad(value, filler, [0] * len(high), high)
        outputs[at] = new
    if tail.block.first_op is not None:
        Rewriter.inline_block(tail.block, InsertPoint.before(end))
        set_result_attributes(function, entries)
    function.function_type = FunctionType.from_lists(inputs, outputs)


class PadBordersPass(ModulePass):
    """Pad arguments and results of the program to sizes that their axes divide.

    Values that cannot be padded keep their size: quantized elements, and operands of
    explicit collectives.
    """

    name = "pad-borders"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place, and warn of each value."""
        mesh_of = mesh_lookup(op)
        for function in entry_functions(op):
            pad_function(function, mesh_of)
