"""Stage 11: from global shapes to what one device computes.

The wrapping computation becomes manual on all axes of the mesh: every value in it gets
the shape of its shard, `sdy` collectives become StableHLO's, and whatever speaks of
positions is made right for the device it runs on. After it no sharding is left but
those of the wrapping computation.

Source: the design request, section 1.2.11; DESIGN sections 5 and 6.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import (
    change_attributes,
    entry_functions,
)
from ttxdsl.analysis.graph_state import is_function_solved
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.collector import discard_block
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.collectives import (
    CollectiveWriter,
    SliceFunctions,
    first_free_channel,
)
from ttxdsl.transforms.partition.exchange.summands import bring, unreduced_parts
from ttxdsl.transforms.partition.localizer import (
    Local,
    Localizer,
    is_barrier,
)
from ttxdsl.transforms.partition.table import localizer_of
from ttxdsl.transforms.stages.wrap_under_manual_computation import wrapper_of


def drop_boundary_shardings(function: FuncOp) -> None:
    """Remove sdy's attributes from a function's arguments and results."""
    change_attributes(function, lambda entry, _: sdy.without_sdy(entry))


def _forget_shardings(function: FuncOp) -> None:
    """Every device runs the body of a call as it is: shardings mean nothing there."""
    drop_boundary_shardings(function)
    for op in list(function.body.walk()):
        op.attributes = sdy.without_sdy(op.attributes)
        moves = op.name.startswith("sdy.") and not op.regions
        if moves and op.operand_types == op.result_types:
            Rewriter.replace_op(op, (), op.operands)


def _mesh_of_wrapper(wrapper: sdy.ManualComputationOp, meshes: dict[str, Mesh]) -> Mesh:
    """Return the mesh that the wrapper's shardings name; they all name one.

    One of a single device is left to where its value is looked at.

    Raises:
        CompileError: if they name one that the module does not have.
        UnsupportedError: if they name several.
    """
    named = {s.mesh for s in (*wrapper.in_shardings.data, *wrapper.out_shardings.data)}
    meshes_of_op = {
        mesh if isinstance(mesh, Mesh) else sdy.get_mesh(wrapper, mesh)
        for mesh in named
    }
    if len(meshes_of_op) > 1:
        meshes_of_op = {mesh for mesh in meshes_of_op if not mesh.is_maximal}
    if len(meshes_of_op) > 1:
        listed = " and ".join(sorted(map(str, meshes_of_op)))
        raise UnsupportedError(
            f"its arguments and results are on several meshes, {listed}: Shardy's"
            " manual computation knows one",
            wrapper,
            hint="shard arguments and results over one mesh; values inside may be on"
            " others",
        )
    # a function without arguments and results: any mesh will do
    return next(iter(meshes_of_op), None) or next(iter(meshes.values()), Mesh(()))


def localize_wrapper(
    wrapper: sdy.ManualComputationOp,
    meshes: dict[str, Mesh],
    slices: SliceFunctions,
    *,
    first_channel: int,
    strict: bool = False,
    local_random_bits: bool = False,
) -> int:
    """Make the body of a wrapping computation local, in place.

    Args:
        slices: collects the functions that are needed to slice by device.
        first_channel: the number of the first channel to use.
        strict: whether computing an op replicated, for want of knowledge, is an error.
        local_random_bits: whether a device draws the bits of its part alone.

    Returns:
        The number of the next free channel.
    """
    mesh = _mesh_of_wrapper(wrapper, meshes)
    old = wrapper.body.block
    prefix = Block()
    emitter = Emitter(Block(), wrapper.location)
    writer = CollectiveWriter(
        emitter, Emitter(prefix, UNKNOWN_LOC), slices, first_channel
    )
    # as long as the old body is there, memory is scarce
    writer.write_bodies_later()
    ctx = Localizer(
        *(localizer_of, meshes, mesh, emitter, writer),
        strict=strict,
        local_random_bits=local_random_bits,
    )

    shardings = wrapper.in_shardings.data
    layouts = [
        ctx.layout_of(argument.type, sharding, wrapper, f"argument {argument.index}")
        for argument, sharding in zip(old.args, shardings, strict=True)
    ]
    new = Block(arg_types=map(ctx.local_type, old.arg_types, layouts))
    emitter.block = new
    for argument, value, layout, sharding in zip(
        old.args, new.args, layouts, shardings, strict=True
    ):
        value.location = argument.location
        ctx.define(argument, Local(value, layout, unreduced_parts(sharding, mesh)))

    end = old.last_op
    if not isinstance(end, sdy.ReturnOp):
        raise CompileError("its body does not end in sdy.return", wrapper)
    ctx.localize_ops(op for op in old.ops if op is not end)
    emitter.location = end.location
    returned: list[Local] = []
    for index, (value, sharding) in enumerate(
        zip(end.operands, wrapper.out_shardings.data, strict=True)
    ):
        local = ctx.local(value)
        layout = ctx.layout_of(value.type, sharding, wrapper, f"result {index}")
        # its own sharding was not checked, since the check looks through barriers
        moves = layout is not None and not local.placed.same_placement(layout)
        if moves and not is_barrier(value):
            raise CompileError(
                f"result {index} is split as {local.placed}, "
                f"its out_sharding says {layout}",
                end,
                hint="run sdy-insert-explicit-reshards before this pass",
            )
        returned.append(bring(ctx, value, layout, sharding, end))
    emitter.emit(sdy.ReturnOp, [local.value for local in returned], [])

    ctx.erase_unused_moves()
    Rewriter.inline_block(prefix, InsertPoint.at_start(new))
    wrapper.body.detach_block(old)
    discard_block(old)
    writer.write_bodies()
    wrapper.body.add_block(new)
    wrapper.properties["manual_axes"] = sdy.ManualAxesAttr(mesh.axis_names)
    return writer.next_channel


@dataclass(frozen=True)
class UpdateGlobalToLocalShapesPass(ModulePass):
    """Make every wrapped function local.

    Attributes:
        strict: whether computing an op replicated, for want of knowledge, is an error
            and not a warning.
        local_random_bits: whether a device draws the bits of its part alone, see the
            pipeline.
    """

    name = "update-global-to-local-shapes"

    strict: bool = False
    local_random_bits: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if a function is neither solved nor wrapped, or what an op
                asks for contradicts the shardings.
            UnsupportedError: if axes do not divide a dimension.
        """
        for child in (op, *op.ops):
            child.attributes = sdy.without_sdy(child.attributes)
        meshes = sdy.mesh_table(op)
        names = {f.sym_name.data for f in op.ops if isinstance(f, FuncOp)}
        slices = SliceFunctions(names)
        channel = first_free_channel(op)
        entries = dict.fromkeys(entry_functions(op))
        for function in op.ops:
            if (
                isinstance(function, FuncOp)
                and not function.is_declaration
                and function not in entries
            ):
                _forget_shardings(function)
        for function in entries:
            wrapper = wrapper_of(function)
            if wrapper is not None:
                channel = localize_wrapper(
                    *(wrapper, meshes, slices),
                    first_channel=channel,
                    strict=self.strict,
                    local_random_bits=self.local_random_bits,
                )
            elif not is_function_solved(function):
                raise CompileError(
                    f"function '@{function.sym_name.data}' is not under one manual "
                    "computation",
                    function,
                    hint="run wrap-under-manual-computation before this pass",
                )
            drop_boundary_shardings(function)
        used = {
            inner.decomposition.string_value()
            for inner in ops_of_type(op, stablehlo.CompositeOp)
        }
        for function in slices.functions:
            if function.sym_name.data in used:
                op.body.block.add_op(function)
