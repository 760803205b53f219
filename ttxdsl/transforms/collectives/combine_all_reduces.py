"""`combine-all-reduces`: reduce once along two axes instead of along one after the other.

**Why it is right.** The devices that differ along both axes are groups of groups, and
combinations are associative and commutative (floating-point sums round in another
order). A ring of m x n devices sends 2 (1 - 1/mn) of the bytes, rings of m and n one
after the other 2 (1 - 1/m) + 2 (1 - 1/n), which is more. The lowering splits it again
for hardware that knows single axes only.
"""

from xdsl.ir import Block, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.sharding.axes import Axes, sort_by_mesh
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import erase_unused, sum_of

NAME = "combine-all-reduces"


def combine_all_reduces(program: DeviceProgram, block: Block) -> bool:
    """Join all_reduces of all_reduces in a block, and return True if there are any."""
    changed = False
    for op in program.sending(block):
        if not isinstance(op, stablehlo.AllReduceOp) or sum_of(op) is None:
            continue
        source = op.operands[0]
        inner = source.owner
        if (
            not isinstance(inner, stablehlo.AllReduceOp)
            or not source.has_one_use()
            or sum_of(inner) != sum_of(op)
        ):
            continue
        axes = _both(program, op, inner)
        if axes is not None:
            combined = program.all_reduce(inner.operands[0], op, axes, NAME)
            op.results[0].replace_all_uses_with(combined)
            erase_unused(op.results)
            changed = True
    return changed


def _both(program: DeviceProgram, op: Operation, inner: Operation) -> Axes | None:
    """Return the axes of both; None unless they are distinct whole axes."""
    first, second = program.axes(op), program.axes(inner)
    if first is None or second is None:
        return None
    axes = (*first, *second)
    names = {axis.name for axis in axes}
    if len(names) < len(axes) or any(axis.size is not None for axis in axes):
        return None
    return sort_by_mesh(axes, program.mesh)
