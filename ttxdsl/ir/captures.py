"""Captures: the values that regions use and do not define."""

from collections.abc import Iterable
from itertools import chain

from xdsl.ir import Operation, Region, SSAValue

from ttxdsl.ir.traversal import operands_of


class Captures:
    """The captures of regions, each region of a nest walked once.

    They are remembered: the regions must not change meanwhile.
    """

    def __init__(self) -> None:
        self._known: dict[Region, tuple[SSAValue, ...]] = {}

    def of(self, region: Region) -> tuple[SSAValue, ...]:
        """Return the values that a region uses but does not define, by first use."""
        known = self._known
        if region not in known:
            regions, pending = list[Region](), [region]
            while pending:
                inner = pending.pop()
                regions.append(inner)
                pending += (
                    nested
                    for block in inner.blocks
                    for op in block.ops
                    for nested in op.regions
                    if nested not in known
                )
            for inner in reversed(regions):  # those inside others first
                known[inner] = self._captured(inner)
        return known[region]

    def used_by(self, op: Operation) -> Iterable[SSAValue]:
        """Return the operands of an op, then what its regions capture."""
        if not op.regions:
            return operands_of(op)
        return chain(operands_of(op), *map(self.of, op.regions))

    def _captured(self, region: Region) -> tuple[SSAValue, ...]:
        inside: set[SSAValue] = set()
        used: list[SSAValue] = []
        for block in region.blocks:
            inside.update(block.args)
            for op in block.ops:
                inside.update(op.results)
                used += self.used_by(op) if op.regions else operands_of(op)
        if inside.issuperset(used):
            return ()
        return tuple(dict.fromkeys([value for value in used if value not in inside]))
