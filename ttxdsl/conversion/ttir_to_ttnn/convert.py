"""From ttir to ttnn: each op to the library call of the same meaning.

Destinations and `ttir.empty` vanish. Each function gets the handle of its mesh from
`ttnn.get_device`; `mesh_shard` and the collectives take it, the collectives with the
number of ethernet links to use. An op that both dialects have of one declaration is
rebuilt; the few that ttnn lacks are spelled with others, exactly.

A ttnn mesh has one or two axes in hardware. A module with more is lowered all the same,
as the virtual mesh can run it, with a warning (`ttxdsl.diagnostics.remarks`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    RankedStructure,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    InferenceContext,
    ParamAttrConstraint,
)

from ttxdsl.conversion.ttir_to_ttnn.for_tt_mlir import IN_TT_MLIR
from ttxdsl.conversion.ttir_to_ttnn.lowering import TTNNLowering, TTNNRule, with_shape
from ttxdsl.conversion.ttir_to_ttnn.spelling import write_layouts
from ttxdsl.conversion.vocabulary import (
    HARDWARE_AXES,
    LoweringPass,
    Vocabulary,
    require_hardware_axes,
)
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import ttir, ttnn
from ttxdsl.dialects._tt.attributes import (
    bool_attr,
    dense_i32,
    ints,
    si32_attr,
    si64_attr,
    ui32_attr,
)
from ttxdsl.dialects._tt.control_flow import While
from ttxdsl.dialects._tt.op import TTOp
from ttxdsl.dialects._tt.quantization import QuantizationOp
from ttxdsl.dialects._tt.reduction import DimsReductionOp
from ttxdsl.dialects._tt.tt_mlir_ops import TodayOp
from ttxdsl.dialects.boundary import require_structured
from ttxdsl.dialects.quant import Quantization, QuantizedType
from ttxdsl.dialects.ttcore import device_mesh_name, meshes_of
from ttxdsl.ir.collector import discard_block, without_collections
from ttxdsl.ir.tensors import Tensor, tensor_type


def convert_ttir_to_ttnn(
    module: ModuleOp,
    num_links: int = 1,
    vocabulary: Vocabulary = Vocabulary.DESIGN,
) -> None:
    """Replace the ttir of a module by ttnn, in place.

    Args:
        module: functions of ttir ops, with `ttcore.meshes`.
        num_links: ethernet links that each collective uses, at least 1.

    Raises:
        CompileError: `num_links` is not positive, or the module has no meshes.
        UnsupportedError: an op that is not ttir's, or a mesh that tt-mlir has not.
    """
    if num_links < 1:
        raise CompileError(f"num-links is {num_links}, expected at least 1")
    meshes = meshes_of(module)
    for mesh in meshes.meshes if meshes else ():
        if vocabulary == Vocabulary.TT_MLIR:
            require_hardware_axes(mesh.get_shape(), module)
        several = sum(size > 1 for size in mesh.get_shape())
        if several > HARDWARE_AXES:
            emit_warning(
                f'mesh "{mesh.mesh_name.data}" has {several} axes; devices have '
                f"at most {HARDWARE_AXES}: this runs on the virtual mesh only",
                module,
            )
    for op in module.ops:
        if not isinstance(op, FuncOp) or op.is_declaration:
            continue
        # a private one is what a custom call names: no ttir, and left as it is
        if op.sym_visibility != StringAttr("private"):
            _convert_function(op, num_links, vocabulary)


@dataclass(frozen=True)
class ConvertTTIRToTTNNPass(LoweringPass):
    """Lower ttir to ttnn.

    `num-links` is the number of ethernet links that each collective uses; `for=tt-mlir`
    writes what tt-mlir takes instead of the design's forms.
    """

    name = "convert-ttir-to-ttnn"

    num_links: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        require_structured(op)
        with without_collections():
            convert_ttir_to_ttnn(op, self.num_links, self.vocabulary)


def _convert_function(function: FuncOp, num_links: int, vocabulary: Vocabulary) -> None:
    old = function.body.block
    block = Block(arg_types=old.arg_types)
    low = TTNNLowering(block, num_links, vocabulary, rule_of)
    for name, shape in _meshes_used(function):
        low.devices[name] = low.add(ttnn.GetDeviceOp(shape)).results[0]
    low.values.update(zip(old.args, block.args, strict=True))
    low.lower_block(old)
    if vocabulary == Vocabulary.TT_MLIR:
        write_layouts(function, block)
    region = function.body
    region.detach_block(old)
    region.add_block(block)
    discard_block(old)


def _meshes_used(function: FuncOp) -> Sequence[tuple[str, tuple[int, ...]]]:
    """Names and shapes of the meshes that a function's tensors live on."""
    meshes = meshes_of(function)
    # a program has few different types, and these are the same objects
    types = {id(value.type): value.type for value in function.body.block.args}
    types |= {
        id(result.type): result.type for op in function.walk() for result in op.results
    }
    names = {
        name: None
        for type in types.values()
        if (name := device_mesh_name(type)) is not None
    }
    used: list[tuple[str, tuple[int, ...]]] = []
    for name in names:
        mesh = meshes.get_mesh(name) if meshes else None
        if mesh is None:
            raise CompileError(
                f'tensors live on mesh "{name}", which the module does not list',
                function,
                hint='add ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]> to the module',
            )
        used.append((name, mesh.get_shape()))
    return used


@lru_cache(maxsize=4096)
def _shape_attr(sizes: tuple[int, ...]) -> ttnn.ShapeAttr:
    return ttnn.ShapeAttr(sizes)


# --- rules ------------------------------------------------------------------


def _rebuilt(source: type[TTOp], target: type[TTOp]) -> TTNNRule:
    """ttnn's op of the same declaration, with device and links if it takes them."""

    @cache
    def written() -> dict[str, Callable[[Any], Attribute]]:
        """Return the writers of properties that ttnn writes differently, by name."""
        ours, theirs = (
            op.get_irdl_definition().properties.items() for op in (source, target)
        )
        constraints = {name: definition.constr for name, definition in ours}
        return {
            name: _writer(definition.constr)
            for name, definition in theirs
            if constraints.get(name, definition.constr) != definition.constr
        }

    @cache  # called for the few classes that a program has
    def kind() -> tuple[bool, bool, bool]:
        """Return whether it has operand lists, links, and a device operand."""
        handed = issubclass(target, ttnn.OnDevice)
        return (
            issubclass(target, While),
            issubclass(target, ttnn.Linked),
            handed and not issubclass(target, ttnn.ConstantOp),
        )

    def lower(low: TTNNLowering, op: TTOp) -> Sequence[SSAValue]:
        segmented, linked, handed = kind()
        properties = dict(op.properties)
        if not segmented:
            properties.pop("operandSegmentSizes", None)
        for name, write in written().items():
            if name in properties:
                properties[name] = write(properties[name])
        if linked:
            properties["num_links"] = ui32_attr(low.num_links)
        operands = low.all(op.reads)
        # tt-mlir's collectives take no handle
        if handed and not (linked and low.vocabulary == Vocabulary.TT_MLIR):
            operands.append(low.device_of(op))
        new_op = target.create(
            operands=operands,
            result_types=[result.type for result in op.results],
            properties=properties,
            attributes=op.attributes,
            regions=[low.region(region) for region in op.regions],
        )
        return low.add(new_op).results

    return lower


@cache
def _rebuilt_by_name(target: type[TTOp]) -> TTNNRule:
    """tt-mlir's op of the same name: its operands may be others, in another order."""
    definition = target.get_irdl_definition()
    segmented = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)

    def lower(low: TTNNLowering, op: TTOp) -> Sequence[SSAValue]:
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for name, _ in definition.operands:
            if name == "device":
                operands.append(low.device_of(op))
                sizes.append(1)
                continue
            given: Any = getattr(op, name)
            several: list[SSAValue] = [*given] if isinstance(given, tuple) else [given]
            values = [low.values[operand] for operand in several if given is not None]
            operands += values
            sizes.append(len(values))
        properties = dict(op.properties)
        properties.pop("operandSegmentSizes", None)
        has_channels = op.mnemonic().startswith("batch_norm")
        axis = properties.pop("dimension", None) if has_channels else None
        if isinstance(axis, IntegerAttr) and axis.value.data != 1:
            raise UnsupportedError("ttnn has the channels in dimension 1", op)
        if segmented:
            properties["operandSegmentSizes"] = dense_i32(sizes)
        new_op = target.create(
            operands=operands,
            result_types=[result.type for result in op.results],
            properties=properties,
            attributes=op.attributes,
        )
        return low.add(new_op).results

    return lower


def _twin(source: type[TTOp]) -> type[TTOp] | None:
    """Return the op that ttnn has of the same declaration."""
    for ours, theirs in zip(ttir.TTIR.tables, ttnn.TTNN.tables, strict=True):
        if (line := ours.key_of(source)) is not None:
            return theirs.get(line)
    same = source.mnemonic(), source.__bases__[0]
    twins = (op for op in ttnn.TTNNOp.OPS if (op.mnemonic(), op.__bases__[0]) == same)
    return next(twins, None)


@cache
def rule_of(source: type[Operation], vocabulary: Vocabulary) -> "TTNNRule | None":
    """Return the lowering rule of an op class: the table's, or that of its twin."""
    rule = TABLE.get(source.name)
    if vocabulary == Vocabulary.TT_MLIR:
        rule = IN_TT_MLIR.get(source.name, rule)
    if rule is None and issubclass(source, ttir.TTIROp):
        twin = _twin(source)
        if twin is not None and issubclass(twin, TodayOp):
            return _rebuilt_by_name(twin)
        rule = None if twin is None else _rebuilt(source, twin)
    return rule


def _writer(constraint: AttrConstraint) -> Callable[[Any], Attribute]:
    """Return the writer of a property in ttnn: a shape, or a typed integer."""
    if isinstance(constraint, ParamAttrConstraint):
        type = constraint.param_constrs[1].infer(InferenceContext())
        return lambda attr: IntegerAttr(attr.value.data, cast(IntegerType, type))
    return lambda attr: _shape_attr(ints(attr))


def _is_destination(use: Use) -> bool:
    """Whether a result is written there, and nothing is read."""
    user = use.operation
    if isinstance(user, TodayOp):
        return getattr(user, "output", None) is user.operands[use.index]
    return isinstance(user, ttir.DPSOp) and use.index >= len(user.reads)


def _empty(low: TTNNLowering, op: ttir.EmptyOp) -> Sequence[SSAValue]:
    """Lower to zeros; a destination, which ttnn does not have, to nothing."""
    if all(map(_is_destination, op.result.uses)):
        # destinations are never looked up; the op stands for itself
        return op.results
    shape = {"shape": _shape_attr(tensor_type(op.result).get_shape())}
    return [low.one(ttnn.ZerosOp, [], op.result.type, shape)]


def _broadcast(low: TTNNLowering, op: ttir.BroadcastOp) -> SSAValue:
    repeat = {"repeat_dims": _shape_attr(ints(op.broadcast_dimensions))}
    return low.one(ttnn.RepeatOp, low.all(op.reads), op.result.type, repeat)


def _pad(low: TTNNLowering, op: ttir.PadOp) -> SSAValue:
    properties = {**op.properties, "use_multicore": bool_attr(value=True)}
    return low.one(ttnn.PadOp, low.all(op.reads), op.result.type, properties)


def _arange(low: TTNNLowering, op: ttir.ArangeOp) -> SSAValue:
    """One dimension, reshaped to its place and repeated along the others."""
    type = tensor_type(op.result)
    shape, dim = type.get_shape(), op.dim
    numbers = {"start": op.start, "end": op.end, "step": op.step}
    value = low.one(ttnn.ArangeOp, [], with_shape(type, [shape[dim]]), numbers)
    value = low.reshape(
        value, [size if d == dim else 1 for d, size in enumerate(shape)]
    )
    factors = [1 if d == dim else size for d, size in enumerate(shape)]
    if all(factor == 1 for factor in factors):
        return value
    repeat = {"repeat_dims": _shape_attr(tuple(factors))}
    return low.one(ttnn.RepeatOp, [value], type, repeat)


def _prod(low: TTNNLowering, op: DimsReductionOp) -> SSAValue:
    """One dimension after the other, the last first so that the others keep theirs."""
    value = low.values[op.input]
    for dim in sorted(op.reduced_dims(), reverse=True):
        shape = list(tensor_type(value).get_shape())
        shape[dim : dim + 1] = [1] if op.keep_dim else []
        properties = {"dim_arg": si64_attr(dim), "keep_dim": op.keep_dim}
        result = with_shape(tensor_type(value), shape)
        value = low.one(ttnn.ProdOp, [value], result, properties)
    return value


def _truth_reduction(name: str) -> TTNNRule:
    """Truth values as integers: the largest says whether any, the smallest whether all."""

    def lower(low: TTNNLowering, op: DimsReductionOp) -> SSAValue:
        type = tensor_type(op.result)
        number = low.typecast(low.values[op.input], i32)
        result = TensorType(i32, type.get_shape(), type.encoding)
        target = ttnn.REDUCTION_OPS[name]
        reduced = low.one(target, [number], result, op.properties)
        return low.typecast(reduced, type.element_type)

    return lower


def _argmax(low: TTNNLowering, op: ttir.ArgMaxOp) -> SSAValue:
    properties = {"dim": si32_attr(op.reduced_dims()[0]), "keep_dim": op.keep_dim}
    return low.one(ttnn.ArgMaxOp, low.all(op.reads), op.result.type, properties)


def _reverse(low: TTNNLowering, op: ttir.ReverseOp) -> SSAValue:
    """Rows looked up in reverse order, one dimension after the other."""
    value = low.values[op.input]
    for dim in ints(op.dimensions):
        value = _reverse_dim(low, value, dim)
    return value


def _reverse_dim(low: TTNNLowering, value: SSAValue, dim: int) -> SSAValue:
    shape = tensor_type(value).get_shape()
    size, rest = shape[dim], [*shape[:dim], *shape[dim + 1 :]]
    if size < 2 or not prod(shape):
        return value
    front = [dim, *(d for d in range(len(shape)) if d != dim)]
    rows = low.reshape(low.permute(value, front), [size, prod(rest)])
    encoding = tensor_type(value).encoding
    order = DenseIntOrFPElementsAttr.from_list(
        TensorType(i32, [size]), list(range(size - 1, -1, -1))
    )
    constant = ttnn.ConstantOp(order, TensorType(i32, [size], encoding))
    index = low.add(constant).results[0]
    picked = low.one(ttnn.EmbeddingOp, [index, rows], rows.type, {})
    back = [*range(1, dim + 1), 0, *range(dim + 1, len(shape))]
    return low.permute(low.reshape(picked, [size, *rest]), back)


def _dot_general(low: TTNNLowering, op: ttir.DotGeneralOp) -> SSAValue:
    """A matmul of `[batch…, m, k]` and `[batch…, k, n]`, shaped before and after.

    An operand that has its dimensions as the other one would need them is transposed
    by the matmul itself.
    """
    batch = ints(op.batch_dims_lhs), ints(op.batch_dims_rhs)
    contract = ints(op.contract_dims_lhs), ints(op.contract_dims_rhs)
    a, transpose_a = _matrix(low, low.values[op.lhs], batch[0], contract[0], last=True)
    b, transpose_b = _matrix(low, low.values[op.rhs], batch[1], contract[1], last=False)
    rows = tensor_type(a).get_shape()[-1 if transpose_a else -2]
    columns = tensor_type(b).get_shape()[-2 if transpose_b else -1]
    type = tensor_type(op.result)
    shape = [*tensor_type(a).get_shape()[:-2], rows, columns]
    transposed = {
        "transpose_a": bool_attr(value=transpose_a),
        "transpose_b": bool_attr(value=transpose_b),
    }
    product = low.one(ttnn.MatmulOp, [a, b], with_shape(type, shape), transposed)
    return low.reshape(product, type.get_shape())


def _matrix(
    low: TTNNLowering,
    value: SSAValue,
    batch: Sequence[int],
    contract: Sequence[int],
    *,
    last: bool,
) -> tuple[SSAValue, bool]:
    """Return an operand as `[batch…, free, contracted]`; whether the last two are swapped."""
    shape = tensor_type(value).get_shape()
    free = [dim for dim in range(len(shape)) if dim not in (*batch, *contract)]
    sizes = {
        True: prod(shape[dim] for dim in contract),
        False: prod(shape[dim] for dim in free),
    }
    leading = [shape[dim] for dim in batch]
    wanted = [*batch, *free, *contract] if last else [*batch, *contract, *free]
    other = [*batch, *contract, *free] if last else [*batch, *free, *contract]
    in_place = list(range(len(shape)))
    swapped = other == in_place and wanted != in_place
    value = low.permute(value, other if swapped else wanted)
    contracted_last = last != swapped
    matrix = [*leading, sizes[not contracted_last], sizes[contracted_last]]
    return low.reshape(value, matrix), swapped


def _conv2d(low: TTNNLowering, op: ttir.Conv2dOp) -> SSAValue:
    """Return the image flattened to one row of pixels, and back."""
    image, kernel = low.all(op.reads)
    batch, height, width, channels = tensor_type(image).get_shape()
    features, _, *window = tensor_type(kernel).get_shape()
    type = tensor_type(op.result)
    top, left, bottom, right = ints(op.padding)

    def number(value: int) -> Attribute:
        return IntegerAttr(value, i32)

    properties = {
        "in_channels": number(channels),
        "out_channels": number(features),
        "batch_size": number(batch),
        "input_height": number(height),
        "input_width": number(width),
        "kernel_size": dense_i32(window),
        "stride": op.stride,
        "padding": dense_i32([top, bottom, left, right]),
        "dilation": op.dilation,
        "groups": op.groups,
    }
    flat = low.reshape(image, [1, 1, batch * height * width, channels])
    pixels = prod(type.get_shape()[:-1])
    result = with_shape(type, [1, 1, pixels, features])
    operands = [flat, kernel, low.device_of(op)]
    convolved = low.one(ttnn.Conv2dOp, operands, result, properties)
    return low.reshape(convolved, type.get_shape())


def _quantization(target: type[QuantizationOp]) -> TTNNRule:
    """Scales and zero points of the quantized types as constants."""

    def lower(low: TTNNLowering, op: QuantizationOp) -> SSAValue:
        properties: dict[str, Attribute] = {}
        operands = low.all(op.reads)
        for type, stored in zip(op.types, op.STORED, strict=True):
            if stored:
                how = cast(QuantizedType, type.element_type).data
                operands += _parameters(low, how, type)
                if how.axis is not None:
                    properties["axis"] = IntegerAttr(how.axis, i32)
        return low.one(target, operands, op.result.type, properties)

    return lower


def _parameters(low: TTNNLowering, how: Quantization, like: Tensor) -> list[SSAValue]:
    """The scales and zero points, one number each or one for each slice of the axis."""
    shape = [] if how.axis is None else [len(how.scales)]
    parameters: list[SSAValue] = []
    for element, numbers in ((how.expressed_type, how.scales), (i32, how.zero_points)):
        host = cast(RankedStructure[AnyFloat], TensorType(element, shape))
        dense = DenseIntOrFPElementsAttr.from_list(host, cast(list[float], numbers))
        type = TensorType(element, shape, like.encoding)
        constant = ttnn.ConstantOp(cast(DenseIntOrFPElementsAttr, dense), type)
        parameters.append(low.add(constant).results[0])
    return parameters


TABLE: dict[str, TTNNRule] = {
    "ttir.arange": _arange,
    "ttir.argmax": _argmax,
    "ttir.broadcast": _broadcast,
    "ttir.conv2d": _conv2d,
    "ttir.dequantize": _quantization(ttnn.DequantizeOp),
    "ttir.dot_general": _dot_general,
    "ttir.empty": _empty,
    "ttir.pad": _pad,
    "ttir.prod": _prod,
    "ttir.quantize": _quantization(ttnn.QuantizeOp),
    "ttir.reduce_and": _truth_reduction("min"),
    "ttir.reduce_or": _truth_reduction("max"),
    "ttir.requantize": _quantization(ttnn.RequantizeOp),
    "ttir.reverse": _reverse,
}
"""How ttir ops are lowered that are no twins of ttnn's, by their names."""
