"""What a compiled program costs one device: collectives, bytes, time, memory.

Collectives are counted as they stand in the program: one inside a loop counts once,
however often the loop runs.
"""

from collections import Counter

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.errors import CompileError
from ttxdsl.explaining.answers import Figures
from ttxdsl.reporting.collectives import CountedCollective, list_collectives
from ttxdsl.reporting.memory import memory_profile
from ttxdsl.sharding.links import Link


def collective_seconds(collective: CountedCollective, link: Link) -> float:
    """The time of one collective by the alpha-beta model."""
    return link.seconds_of_bytes(
        collective.ring, collective.bytes_per_device, collective.group_size
    )


def measure(module: ModuleOp, link: Link) -> Figures:
    """The figures of a program of one device, as stage 13 leaves it."""
    collectives = list_collectives(module)
    counts = Counter(collective.kind for collective in collectives)
    try:
        peak = memory_profile(module).peak_bytes
    except CompileError:
        peak = None  # a value without a size, which other commands tell of
    return Figures(
        collectives=tuple(sorted(counts.items())),
        bytes=sum(collective.bytes_per_device for collective in collectives),
        seconds=sum(collective_seconds(one, link) for one in collectives),
        peak_bytes=peak,
    )
