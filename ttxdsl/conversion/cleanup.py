"""Removal of ops that a lowering leaves without users."""

from xdsl.ir import Block
from xdsl.traits import is_side_effect_free


def drop_unused(block: Block) -> None:
    """Erase ops of a block, and of its regions, that nothing uses.

    One walk from the last op to the first, so that whatever only fed a dropped op is
    dropped too.
    """
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        for region in op.regions:
            for inner in region.blocks:
                drop_unused(inner)
        for result in op.results:
            if result.first_use is not None:
                break
        else:
            if op.results and is_side_effect_free(op):
                op.detach()
                op.erase()
        op = previous
