"""What optimizations may do to one op."""

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Block, Operation, Region

from ttxdsl.transforms.collectives.program.single_ops import erase_unused
from ttxdsl.transforms.partition.emitter import Emitter


def test_what_devices_know_of_their_place_waits_for_the_next():
    """It is written ahead of the program at the end; a search of mctx wanted it again."""
    block = Block()
    place = Emitter(block, UnknownLoc()).partition_id()
    erase_unused([place])
    assert isinstance(place.owner, Operation) and place.owner.parent is block
    Region(block)
    erase_unused([place])
    assert place.owner.parent is None
