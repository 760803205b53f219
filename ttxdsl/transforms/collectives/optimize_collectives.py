"""`optimize-collectives`: fewer bytes between devices, the same numbers.

It runs behind stage 11, where all collectives are there, those of lookups and halos
too, and where a rewrite can be proved on one device's values, without shardings.

**Why it ends.** Each optimization runs at most `ROUNDS` times on a block, and ends by
its own docstring. None sends more by its own proof; a body that would all the same is
restored.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import doing, emit_warning
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.collector import discard_block
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.collectives import (
    collective_cse,
    collective_dce,
    combine_all_reduces,
    combine_collectives,
    combine_permutes,
    gather_product_operands,
    hoist_slices,
    loop_collectives,
    move_collectives,
    narrow_all_gathers,
    reduce_scatter_products,
    sink_all_reduces,
)
from ttxdsl.transforms.collectives.program.bytes_sent import body_sends
from ttxdsl.transforms.collectives.program.device_program import (
    DeviceProgram,
    NumberedDevices,
)
from ttxdsl.transforms.collectives.program.snapshot import Snapshot
from ttxdsl.transforms.partition.exchange.collectives import (
    ALL_SLICE,
    SliceFunctions,
    first_free_channel,
)

Optimization = Callable[[DeviceProgram, Block], bool]
"""Changes a block of the per-device program; whether it did."""

OPTIMIZATIONS: dict[str, Optimization] = {
    collective_dce.NAME: collective_dce.eliminate_dead_collectives,
    collective_cse.NAME: collective_cse.eliminate_common_collectives,
    hoist_slices.NAME: hoist_slices.hoist_slices,
    loop_collectives.HOIST: loop_collectives.hoist_collectives,
    loop_collectives.SINK: loop_collectives.sink_collectives,
    sink_all_reduces.NAME: sink_all_reduces.sink_all_reduces,
    reduce_scatter_products.NAME: reduce_scatter_products.reduce_scatter_products,
    move_collectives.ALL_GATHERS: move_collectives.move_all_gathers,
    move_collectives.ALL_TO_ALLS: move_collectives.move_all_to_alls,
    gather_product_operands.NAME: gather_product_operands.gather_product_operands,
    combine_permutes.NAME: combine_permutes.combine_permutes,
    combine_all_reduces.NAME: combine_all_reduces.combine_all_reduces,
    # others may have a use for all of what is gathered
    narrow_all_gathers.NAME: narrow_all_gathers.narrow_all_gathers,
    combine_collectives.NAME: combine_collectives.combine_collectives,
}
"""In the order in which they run, again and again until nothing changes."""

_AT_LAST = frozenset((combine_collectives.combine_collectives,))
"""Those that run once, when the others are done: these look at ops of one operand."""

OLD_NAMES = {
    "unused": collective_dce.NAME,
    "same-values": collective_cse.NAME,
    "early-slices": hoist_slices.NAME,
    "ahead-of-loops": loop_collectives.HOIST,
    "behind-loops": loop_collectives.SINK,
    "late-sums": sink_all_reduces.NAME,
    "scattered-products": reduce_scatter_products.NAME,
    "cheap-gathers": move_collectives.ALL_GATHERS,
    "cheap-exchanges": move_collectives.ALL_TO_ALLS,
    "gathered-products": gather_product_operands.NAME,
    "joined-permutes": combine_permutes.NAME,
    "joined-sums": combine_all_reduces.NAME,
    "read-places": narrow_all_gathers.NAME,
}
"""Earlier names of optimizations, understood for one more release."""


def remaining_optimizations(without: Collection[str]) -> tuple[str, ...]:
    """Return the names of all optimizations but some, which may have their old names."""
    left_out = {OLD_NAMES.get(name, name) for name in without}
    return tuple(name for name in OPTIMIZATIONS if name not in left_out)


_ROUNDING = 1e-9
"""By how much sums of the same times in another order may differ."""

ROUNDS = 4
"""How often at most: each round can only send less, by ever smaller steps."""


@dataclass(frozen=True)
class OptimizeCollectivesPass(ModulePass):
    """Make collectives send less.

    Attributes:
        only: the optimizations to run; all if it names none.
    """

    name = "optimize-collectives"

    only: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: no optimization is called so.
        """
        only = {OLD_NAMES.get(name, name) for name in self.only}
        for name in self.only:
            if name not in OPTIMIZATIONS and name not in OLD_NAMES:
                known = ", ".join(OPTIMIZATIONS)
                raise CompileError(f"no optimization {name!r}: there are {known}")
        chosen = {
            optimization: name
            for name, optimization in OPTIMIZATIONS.items()
            if name in only or not only
        }
        meshes = {m for m in sdy.mesh_table(op).values() if not m.is_maximal}
        wrappers = [
            first
            for function in op.ops
            if isinstance(function, FuncOp)
            and function.body.blocks
            and isinstance(
                first := function.body.block.first_op, sdy.ManualComputationOp
            )
        ]
        if len(meshes) != 1 or not wrappers:
            return
        (mesh,) = meshes
        names = {f.sym_name.data for f in op.ops if isinstance(f, FuncOp)}
        slices = SliceFunctions(names)
        channel = first_free_channel(op)
        devices = NumberedDevices.of(op)
        for wrapper in wrappers:
            manual = set(wrapper.manual_axes.data)
            if {str(getattr(axis, "data", axis)) for axis in manual} < set(
                mesh.axis_names
            ):
                continue
            program = DeviceProgram(op, wrapper, mesh, slices, channel, devices)
            _optimize(program, chosen)
            channel = program.next_channel
        _keep_used_slices(op, slices)


def _keep_used_slices(module: ModuleOp, slices: SliceFunctions) -> None:
    """Add the functions of new slices, and remove those of slices that are gone."""
    of_slices = [
        function
        for function in module.ops
        if isinstance(function, FuncOp) and function.sym_name.data.startswith(ALL_SLICE)
    ]
    if not of_slices and not slices.functions:
        return
    used = {
        inner.decomposition.string_value()
        for inner in ops_of_type(module, stablehlo.CompositeOp)
    }
    for function in slices.functions:
        if function.sym_name.data in used:
            module.body.block.add_op(function)
    for function in of_slices:
        if function.sym_name.data not in used:
            function.detach()
            function.erase()


def _innermost_first(program: DeviceProgram) -> list[Block]:
    """Return the blocks with collectives and the blocks around them, innermost first."""
    depths: dict[Block, int] = {}
    for block in program.nesting.blocks():
        around, inner = [block], block
        while inner is not program.block:
            op = inner.parent_op()
            assert op is not None and op.parent is not None, "in a body that is"
            inner = op.parent
            around.append(inner)
        for depth, enclosing in enumerate(reversed(around)):
            depths[enclosing] = depth
    return sorted(depths, key=lambda block: -depths[block])


def _optimize(program: DeviceProgram, chosen: dict[Optimization, str]) -> None:
    """Run optimizations on a body; it stays as it was if it then sends more."""
    blocks = _innermost_first(program)
    if not blocks:
        return
    before, body = body_sends(program), Snapshot(program.block)
    repeated = [optimization for optimization in chosen if optimization not in _AT_LAST]
    for block in blocks:
        waiting = list(repeated)
        for optimization in repeated * ROUNDS:
            if optimization in waiting:
                waiting.remove(optimization)
                with doing(chosen[optimization]):
                    changed = optimization(program, block)
                if changed:  # the others may find something new
                    waiting = [other for other in repeated if other is not optimization]
    for optimization in chosen:
        if optimization in _AT_LAST:
            with doing(chosen[optimization]):
                for block in program.nesting.blocks():
                    optimization(program, block)
    program.finish()
    after = body_sends(program)
    if after[0] > before[0] or (
        after[0] == before[0] and after[1] > before[1] * (1 + _ROUNDING)
    ):
        emit_warning(
            f"what optimize-collectives made would send {after[0]:,} bytes, and the"
            f" program sends {before[0]:,}: it is left as it was. That is a mistake of"
            " the compiler's",
            program.block.parent_op(),
        )
        region, written = program.block.parent, body.write()
        assert region is not None
        region.detach_block(program.block)
        discard_block(program.block)
        region.add_block(written)
