"""`optimize-collectives`: fewer bytes between devices, the same numbers.

It works on what every device runs, behind stage 11. There every collective is, those too
that stage 11 itself wrote (for lookups, halos and sums that no sharding speaks of), and
why a rewrite is right can be said of one device's values alone, without shardings.

**Why it ends.** Each optimization runs at most `ROUNDS` times on a block, and ends by its
own docstring. None sends more, by its own proof; should the whole of a body send more
bytes all the same, or as many in more time, the body is as it was before.
"""

from collections.abc import Callable
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
    branches,
    collective_cse,
    combine_all_reduces,
    combine_permutes,
    gathered_products,
    hoist_slices,
    joined_collectives,
    loop_collectives,
    move_collectives,
    parts_of_parts,
    read_places,
    scattered_products,
    sink_all_reduces,
    small_permutes,
    small_sums,
    turned_products,
    unused,
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
    branches.KNOWN: branches.take_known,
    unused.NAME: unused.drop_unused,
    collective_cse.NAME: collective_cse.share_same,
    hoist_slices.NAME: hoist_slices.slice_early,
    branches.NAME: branches.move_out,
    loop_collectives.AHEAD: loop_collectives.move_ahead,
    loop_collectives.BEHIND: loop_collectives.move_behind,
    sink_all_reduces.NAME: sink_all_reduces.combine_late,
    small_sums.NAME: small_sums.sum_small,
    turned_products.NAME: turned_products.turn_products,
    scattered_products.NAME: scattered_products.scatter_products,
    move_collectives.GATHERS: move_collectives.gather_cheaply,
    move_collectives.EXCHANGES: move_collectives.exchange_cheaply,
    gathered_products.NAME: gathered_products.gather_operands,
    small_permutes.NAME: small_permutes.permute_small,
    combine_permutes.NAME: combine_permutes.join_permutes,
    combine_all_reduces.NAME: combine_all_reduces.join_sums,
    parts_of_parts.NAME: parts_of_parts.cut_first,
    # others may have a use for all of what is gathered
    read_places.NAME: read_places.gather_read,
    joined_collectives.NAME: joined_collectives.join_collectives,
}
"""In the order in which they run, again and again until nothing changes."""

_AT_LAST = frozenset((joined_collectives.join_collectives,))
"""Those that run once, when the others are done: these look at ops of one operand."""

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
        for name in self.only:
            if name not in OPTIMIZATIONS:
                known = ", ".join(OPTIMIZATIONS)
                raise CompileError(f"no optimization {name!r}: there are {known}")
        chosen = {
            optimization: name
            for name, optimization in OPTIMIZATIONS.items()
            if name in self.only or not self.only
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
            if {str(getattr(one, "data", one)) for one in manual} < set(
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
        one
        for one in module.ops
        if isinstance(one, FuncOp) and one.sym_name.data.startswith(ALL_SLICE)
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
    """The blocks with collectives, and those that such may move to out of loops."""
    depths: dict[Block, int] = {}
    for block in program.nesting.blocks():
        around, inner = [block], block
        while inner is not program.block:
            op = inner.parent_op()
            assert op is not None and op.parent is not None, "in a body that is"
            inner = op.parent
            around.append(inner)
        for depth, one in enumerate(reversed(around)):
            depths[one] = depth
    return sorted(depths, key=lambda one: -depths[one])


def _optimize(program: DeviceProgram, chosen: dict[Optimization, str]) -> None:
    """Run optimizations on a body; it stays as it was if it then sends more."""
    blocks = _innermost_first(program)
    if not blocks:
        return
    before, body = body_sends(program), Snapshot(program.block)
    repeated = [one for one in chosen if one not in _AT_LAST]
    for block in blocks:
        waiting = list(repeated)
        for one in repeated * ROUNDS:
            if one in waiting:
                waiting.remove(one)
                with doing(chosen[one]):
                    changed = one(program, block)
                if changed:  # the others may find something new
                    waiting = [other for other in repeated if other is not one]
    for one in chosen:
        if one in _AT_LAST:
            with doing(chosen[one]):
                for block in program.nesting.blocks():
                    one(program, block)
    program.finish()
    after = body_sends(program)
    if after > before:
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
