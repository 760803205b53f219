"""The per-device program of stage 13 as a global one that XLA partitions no further.

Its manual computations stay: they say which part of a tensor each device has, and XLA
leaves alone what is inside. What XLA has no words for at their borders is said otherwise:

- devices are numbered by their places in the mesh; whoever runs it puts them there;
- an axis that is split in parts becomes several axes, which JAX's shardings can name;
- what is unreduced comes in whole, and is on one device and zero on the others; what is
  unreduced as it goes out is summed;
- a tensor of no elements is whole on every device.

Inside, what XLA does not compile, or compiles wrongly, is said otherwise: see `_open`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.boundary import BoundaryValue, arguments_of, results_of
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
)
from ttxdsl.analysis.graph_state import computes_nothing, is_solved
from ttxdsl.analysis.values.state import DONATED
from ttxdsl.bridges.tt_mlir.legalize.exchanging import (
    reduced_by_exchange,
    scattered_by_exchange,
)
from ttxdsl.bridges.tt_mlir.legalize.join_collectives import join_collectives
from ttxdsl.bridges.tt_mlir.legalize.open_chlo import mulhi
from ttxdsl.bridges.tt_mlir.legalize.renumbering import renumber_devices
from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import combining_op
from ttxdsl.conversion.writing import Writer, integer_width, write_instead
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import emit_remark
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.boundary import unpadded_shape
from ttxdsl.dialects.calls.custom import PYTHON_CALLBACKS
from ttxdsl.dialects.replica_groups import device_groups
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    DotDimensionNumbersAttr,
)
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.tensors import element_of, shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter, int_attr, is_unsigned
from ttxdsl.transforms.partition.exchange.collectives import (
    CollectiveWriter,
    SliceFunctions,
)
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.stages.drop_idle_shardings import inline_computation


@dataclass(frozen=True, slots=True)
class ForXla:
    """A program for XLA: its entry is `@main`, with shardings and no other attributes.

    The device that the program called `numbers[i]` is at place `i` of the mesh, row by
    row. A program on one device has a mesh without axes.
    """

    module: ModuleOp
    mesh: Mesh
    numbers: Sequence[int]
    arguments: Sequence[BoundaryValue]
    results: Sequence[BoundaryValue]
    donated: Sequence[int]
    """The donated arguments."""


def export_manual_sharding(module: ModuleOp) -> ForXla:
    """Return a per-device program, changed in place, as XLA takes it.

    Raises:
        CompileError: it is not partitioned.
        UnsupportedError: it has something that XLA cannot do.
    """
    function = entry_function(module)
    if not computes_nothing(function) and not is_solved(module):
        raise CompileError("the program is not partitioned", module)
    _leave_callbacks(module)
    donated = [
        at
        for at, entry in enumerate(argument_attributes(function))
        if any(name in entry for name in DONATED)
    ]
    _leave_surplus_inside(function)
    function.arg_attrs = function.res_attrs = None
    meshes = [
        mesh_op for mesh_op in ops_of_type(module, sdy.MeshOp) if mesh_op.mesh.data.axes
    ]
    mesh = meshes[0].mesh.data if meshes else Mesh(())
    numbers = mesh.devices() if meshes else (0,)
    if any(mesh_op.mesh.data != mesh for mesh_op in meshes):
        raise UnsupportedError("the program has several meshes", meshes[-1])
    if meshes:
        renumber_devices(
            module, {number: place for place, number in enumerate(numbers)}
        )
        border = _Border(Mesh(mesh.axes), ops_of_type(module, sdy.ManualComputationOp))
        mesh = border.mesh
        border.write()
        _open(module, mesh.total_size)
        join_collectives(module)
        for mesh_op in meshes:
            mesh_op.properties["mesh"] = sdy.MeshAttr(mesh)
            mesh_op.attributes.clear()
    if mesh.total_size == 1:
        # XLA partitions for several devices only, and has no shards on one
        for computation in ops_of_type(module, sdy.ManualComputationOp):
            inline_computation(computation)
        for mesh_op in meshes:
            Rewriter.erase_op(mesh_op)
        mesh, meshes = Mesh(()), []
    arguments, results = arguments_of(function), results_of(function)
    if meshes:
        # XLA looks at the shardings of the function, not at who uses an argument
        name = meshes[0].sym_name.data
        sdy.set_func_shardings(
            function, _shardings_of(name, arguments), _shardings_of(name, results)
        )
    function.sym_name = StringAttr("main")
    module.attributes.clear()
    return ForXla(module, mesh, numbers, arguments, results, donated)


def _leave_surplus_inside(function: FuncOp) -> None:
    """Pad arguments and cut results inside the program: callers have JAX's shapes."""
    block = function.body.block
    end = block.last_op
    assert end is not None
    before, behind = (Emitter(Block(), function.location) for _ in range(2))
    for at, argument in enumerate(list(block.args)):
        shape = unpadded_shape(function.arg_attrs, at, shape_of(argument))
        if shape is None:
            continue
        element, grown = element_of(argument), shape_of(argument)
        own = block.insert_arg(TensorType(element, list(shape)), at)
        own.name_hint = argument.name_hint
        high = [new - old for new, old in zip(grown, shape, strict=True)]
        padded = before.pad(own, before.number(0, element), [0] * len(high), high)
        argument.replace_all_uses_with(padded)
        block.erase_arg(argument)
    for at, value in enumerate(list(end.operands)):
        shape = unpadded_shape(function.res_attrs, at, shape_of(value))
        if shape is not None:
            end.operands[at] = behind.slice(value, [0] * len(shape), shape)
    Rewriter.inline_block(before.block, InsertPoint.at_start(block))
    Rewriter.inline_block(behind.block, InsertPoint.before(end))
    function.update_function_type()


def _shardings_of(
    mesh: str, values: Sequence[BoundaryValue]
) -> list[TensorSharding | None]:
    return [
        None if value.layout is None else replace(value.layout.sharding, mesh=mesh)
        for value in values
    ]


def _leave_callbacks(module: ModuleOp) -> None:
    """Remove calls of Python functions, as the virtual mesh does."""
    for op in ops_of_type(module, stablehlo.CustomCallOp):
        if op.call_target_name.data not in PYTHON_CALLBACKS:
            continue
        if not all(isinstance(result.type, TokenType) for result in op.results):
            raise UnsupportedError(
                "calls back a Python function, which is not in the program, for its"
                " results",
                op,
            )
        emit_remark(
            "calls back a Python function, which is not in the program: not called", op
        )
        tokens = [
            stablehlo.AfterAllOp.create(result_types=[result.type])
            for result in op.results
        ]
        Rewriter.replace_op(op, tokens, [token.results[0] for token in tokens])


def _open(module: ModuleOp, devices: int) -> None:
    """Replace ops that XLA does not compile, or compiles to something else."""
    for op in ops_of_type(module, stablehlo.AllReduceOp, stablehlo.ReduceScatterOp):
        if not _is_reduced_by_xla(op):
            groups = device_groups(op, devices)
            by_exchange = _OPENED[type(op)]
            write_instead(op, partial(by_exchange, op, groups))
        elif len(op.operands) > 1:
            write_instead(op, partial(_one_by_one, op))
    for op in ops_of_type(module, stablehlo.ReduceScatterOp):
        _scatter_first(op)
    for op in ops_of_type(module, stablehlo.DynamicSliceOp):
        _clamp(op)
    for op in all_ops(module):
        if op.name == "chlo.mulhi" and integer_width(element_of(op.results[0])) == 32:
            write_instead(op, partial(_mulhi, op))


def _one_by_one(op: Operation, w: Writer) -> list[SSAValue]:
    """Return an all_reduce of each of several tensors."""
    return [
        w.one(
            stablehlo.AllReduceOp,
            [value],
            result.type,
            op.properties,
            [region.clone() for region in op.regions],
        )
        for value, result in zip(op.operands, op.results, strict=True)
    ]


def _scatter_first(op: stablehlo.ReduceScatterOp) -> None:
    """Swap the sides of a product scattered along its right side's first dimension."""
    product, dim = op.operand.owner, op.scatter_dimension.value.data
    shape = shape_of(op.operand)
    if (
        not isinstance(product, stablehlo.DotGeneralOp)
        or not op.operand.has_one_use()
        or product.algorithm is not None
        or element_of(op.operand) != element_of(op.result)
    ):
        return
    dims = product.dot_dimension_numbers.data
    left = len(shape_of(product.lhs)) - len(dims.lhs_contracting_dimensions)
    if dims.lhs_batching_dimensions or dim != left or dim == 0 or 0 in shape:
        return
    as_it_is = _turned(product.lhs, dims.lhs_contracting_dimensions) + prod(shape)
    if _turned(product.rhs, dims.rhs_contracting_dimensions) > as_it_is:
        return
    order = (*range(left, len(shape)), *range(left))
    back = sorted(range(len(shape)), key=order.__getitem__)
    w = Writer(Block(), op.location)
    turned = w.one(
        stablehlo.DotGeneralOp,
        [product.rhs, product.lhs],
        TensorType(element_of(op.operand), [shape[place] for place in order]),
        _with_sides_changed(product),
    )
    part = [shape_of(op.result)[place] for place in order]
    scattered = w.one(
        stablehlo.ReduceScatterOp,
        [turned],
        TensorType(element_of(op.result), part),
        {**op.properties, "scatter_dimension": int_attr(0)},
        [op.computation.clone()],
    )
    op.result.replace_all_uses_with(w.transpose(scattered, back))
    Rewriter.inline_block(w.block, InsertPoint.before(op))
    Rewriter.erase_op(op)
    Rewriter.erase_op(product)


_NEAR_BYTES, _FAR_BYTES = 512, 4096
"""Of rows that are read by columns: from the first on it costs more, from the last no more.

XLA for CPUs turns an array that is in memory in blocks, but joins an elementwise op with the
turning, and reads by columns what it is computed of: the longer the rows, the fewer lines of
a column the cache keeps, until it keeps none. Measured against copying a product, an element
takes 1.4 times as long with rows of 1 KiB, 2.4 times with 2 KiB and 7 times with 4 KiB.
"""


def _turned(side: SSAValue, summed: Sequence[int]) -> int:
    """Return the elements copied to have a side of a product on the left.

    XLA multiplies rows: the summed dimensions have to come last.
    """
    shape = shape_of(side)
    if sorted(summed) == list(range(len(shape) - len(summed), len(shape))):
        return 0
    size = prod(shape)
    row = value_bytes(side) // prod(shape[place] for place in summed)
    while isinstance(side, OpResult) and isinstance(side.op, stablehlo.ReshapeOp):
        side = side.op.operand
    is_computed = isinstance(side, OpResult) and side.op.has_trait(Elementwise)
    far = max(1, min(row, _FAR_BYTES) // _NEAR_BYTES)
    return size * far if is_computed else size


def _with_sides_changed(op: stablehlo.DotGeneralOp) -> dict[str, Attribute]:
    dims = op.dot_dimension_numbers.data
    properties = dict(op.properties)
    properties["dot_dimension_numbers"] = DotDimensionNumbersAttr(
        dims._replace(
            lhs_contracting_dimensions=dims.rhs_contracting_dimensions,
            rhs_contracting_dimensions=dims.lhs_contracting_dimensions,
        )
    )
    if isinstance(op.precision_config, ArrayAttr):
        properties["precision_config"] = ArrayAttr(op.precision_config.data[::-1])
    return properties


def _clamp(op: stablehlo.DynamicSliceOp) -> None:
    w = Writer(Block(), op.location)
    clamped = [
        w.clamp(
            w.full(0, index),
            index,
            w.full(min(size - part, _largest(element_of(index))), index),
        )
        for index, size, part in zip(
            op.start_indices, shape_of(op.operand), shape_of(op.result), strict=True
        )
    ]
    Rewriter.inline_block(w.block, InsertPoint.before(op))
    for at, index in enumerate(clamped, 1):
        op.operands[at] = index


def _largest(element: Attribute) -> int:
    """Of the numbers of an integer type."""
    bits = integer_width(element) or 0
    return 2 ** (bits if is_unsigned(element) else bits - 1) - 1


def _mulhi(op: Operation, w: Writer) -> list[SSAValue]:
    return [mulhi(w, *op.operands)]


_OPENED: dict[type[Operation], Callable[..., list[SSAValue]]] = {
    stablehlo.AllReduceOp: reduced_by_exchange,
    stablehlo.ReduceScatterOp: scattered_by_exchange,
}
"""Collectives whose computation may be one that XLA does not reduce with."""


def _is_reduced_by_xla(op: Operation) -> bool:
    block: Block = op.regions[0].block
    kind = combining_op(block)
    logic = kind in (stablehlo.AndOp, stablehlo.OrOp)
    return kind is not None and (not logic or element_of(op.operands[0]) == i1)


class _Border:
    """The borders of the manual computations of one module, in XLA's form."""

    def __init__(self, mesh: Mesh, manuals: Sequence[sdy.ManualComputationOp]) -> None:
        self.manuals = manuals
        self.parts = _parts(mesh, _axes_named(manuals))
        self.mesh = Mesh(
            tuple(
                (_name(part), part.size_in(mesh))
                for parts in self.parts.values()
                for part in parts
            )
        )

    def _renamed(self, axes: Axes) -> Axes:
        return tuple(
            AxisRef(_name(part))
            for axis in axes
            for part in self.parts[axis.name]
            if axis.contains(part)
        )

    def _for_jax(self, sharding: TensorSharding, whole: SSAValue) -> TensorSharding:
        """A sharding of a whole tensor; JAX cannot split one of no elements."""
        dims = sharding.axes_per_dim
        if _is_empty(whole):
            dims = [()] * len(dims)
        return TensorSharding.closed(sharding.mesh, map(self._renamed, dims))

    def write(self) -> None:
        """Rewrite all borders."""
        for manual in self.manuals:
            self._write(manual)

    def _write(self, manual: sdy.ManualComputationOp) -> None:
        block = manual.body.block
        first, last = block.first_op, block.last_op
        assert first is not None and last is not None
        ins, outs = manual.in_shardings.data, manual.out_shardings.data
        before, after = (_Writing(manual, self.mesh) for _ in range(2))
        for at, argument in enumerate(list(block.args)):
            whole, sharding = manual.tensors[at], ins[at]
            if _is_empty(whole):
                local = before.emitter.splat(0, element_of(whole), shape_of(argument))
                block.insert_arg(whole.type, at)
                argument.replace_all_uses_with(local)
                block.erase_arg(argument)
            elif axes := self._renamed(sharding.unreduced):
                uses = list(argument.uses)
                local = before.on_first(argument, axes)
                for use in uses:
                    use.operation.operands[use.index] = local
        for at, (whole, sharding) in enumerate(zip(manual.results, outs, strict=True)):
            if _is_empty(whole):
                last.operands[at] = after.emitter.splat(
                    0, element_of(whole), shape_of(whole)
                )
            elif axes := self._renamed(sharding.unreduced):
                last.operands[at] = after.summed(last.operands[at], axes)
        Rewriter.inline_block(before.emitter.block, InsertPoint.before(first))
        Rewriter.inline_block(after.emitter.block, InsertPoint.before(last))
        names = [name for name, _ in self.mesh.axes]
        manual.properties |= {
            "in_shardings": sdy.TensorShardingPerValueAttr(
                map(self._for_jax, ins, manual.tensors)
            ),
            "out_shardings": sdy.TensorShardingPerValueAttr(
                map(self._for_jax, outs, manual.results)
            ),
            "manual_axes": sdy.ManualAxesAttr(names),
        }


def _is_empty(value: SSAValue) -> bool:
    return 0 in shape_of(value)


def _name(part: AxisRef) -> str:
    """An axis of the new mesh: a whole one keeps its name."""
    return part.name if part.is_full else f"{part.name}:({part.pre_size}){part.size}"


def _axes_named(manuals: Sequence[sdy.ManualComputationOp]) -> Iterable[AxisRef]:
    for manual in manuals:
        for sharding in (*manual.in_shardings.data, *manual.out_shardings.data):
            for axes in (*sharding.axes_per_dim, sharding.unreduced):
                yield from axes


def _parts(mesh: Mesh, named: Iterable[AxisRef]) -> dict[str, list[AxisRef]]:
    """Each axis in the largest parts of which all parts that are named consist."""
    ends = {name: {1, size} for name, size in mesh.axes}
    for axis in named:
        ends[axis.name] |= {axis.pre_size, axis.next_pre_size_in(mesh)}
    parts: dict[str, list[AxisRef]] = {}
    for name, size in mesh.axes:
        bounds = sorted(ends[name])
        if len(bounds) <= 2:
            parts[name] = [AxisRef(name)]
            continue
        if any(end % start for start, end in pairwise(bounds)):
            raise UnsupportedError(
                f"parts of the axis {name}={size} overlap: JAX has no mesh for them"
            )
        parts[name] = [
            AxisRef(name, start, end // start) for start, end in pairwise(bounds)
        ]
    return parts


class _Writing:
    """Ops to come at one place in a manual computation."""

    def __init__(self, manual: sdy.ManualComputationOp, mesh: Mesh) -> None:
        self.mesh = mesh
        self.emitter = Emitter(Block(), manual.location)
        self.collectives = CollectiveWriter(
            self.emitter, self.emitter, SliceFunctions(set()), first_channel=1
        )

    def on_first(self, value: SSAValue, axes: Axes) -> SSAValue:
        """Return the value on the first device along axes, and zero on the others."""
        index = self.collectives.index_along(self.mesh, axes)
        first = self.emitter.compare(
            index, self.emitter.position(0), ComparisonDirection.EQ
        )
        zero = self.emitter.splat(0, element_of(value), shape_of(value))
        return self.emitter.select(first, value, zero)

    def summed(self, value: SSAValue, axes: Axes) -> SSAValue:
        """Return the sum of a value over the devices along axes."""
        return self.collectives.all_reduce_at_once(value, self.mesh, axes, SUM)
