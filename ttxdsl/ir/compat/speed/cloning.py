"""Mend: xDSL clones ops without operands, then walks over both modules to set them.

Nearly every operand is defined before its op, and is set at once here; the others are
set at the end. Blocks get all their arguments at once: xDSL makes a list of all of them
for each argument. The result is that of xDSL, except that a region may be cloned into a
region that has blocks, where xDSL sets the operands of the wrong ops.
"""

from typing import Any, cast

from xdsl.ir import Block, Operation, Region, SSAValue

from ttxdsl.ir.traversal import operands_of

_Values = dict[SSAValue, SSAValue]
_Blocks = dict[Block, Block]


class _Cloning:
    """One clone being made.

    Attributes:
        values: the new value of each old one that has one.
        blocks: the same of blocks.
        hints: whether values keep their names.
        operands: whether ops have any.
    """

    def __init__(self, values: _Values, blocks: _Blocks, hints: bool, operands: bool):
        self.values = values
        self.blocks = blocks
        self.hints = hints
        self.operands = operands
        self._unknown: list[tuple[Operation, int, SSAValue]] = []

    def op(self, old: Operation) -> Operation:
        """Return an op with all that is inside."""
        values, blocks = self.values, self.blocks
        operands = [*operands_of(old)] if self.operands else []
        unknown: list[int] = []
        for index, operand in enumerate(operands):
            known = values.get(operand)
            if known is None:
                unknown.append(index)
            else:
                operands[index] = known
        new = old.create(
            operands=operands,
            result_types=[result.type for result in old.results],
            properties=old.properties,
            attributes=old.attributes,
            location=old.location,
            successors=[blocks.get(block, block) for block in old.successors],
            regions=[Region() for _ in old.regions],
        )
        for index in unknown:
            self._unknown.append((new, index, operands[index]))
        for before, after in zip(old.results, new.results, strict=True):
            values[before] = after
            self._name(before, after)
        for region, copy in zip(old.regions, new.regions, strict=True):
            self.region(region, copy, 0)
        return new

    def region(self, old: Region, new: Region, index: int) -> None:
        """Clone the blocks of a region into another one."""
        copies: list[tuple[Block, Block]] = []
        for block in old.blocks:
            copy = Block(arg_types=block.arg_types)
            copies.append((block, copy))
            self.blocks[block] = copy
        new.insert_block([copy for _, copy in copies], index)
        for block, copy in copies:
            for argument, copied in zip(block.args, copy.args, strict=True):
                copied.location = argument.location
                self.values[argument] = copied
                self._name(argument, copied)
            for op in block.ops:
                copy.add_op(self.op(op))

    def _name(self, old: SSAValue, new: SSAValue) -> None:
        if self.hints and old.name_hint is not None:
            new.name_hint = old.name_hint

    def finish(self) -> None:
        """Set the operands that were defined after their users."""
        for op, index, operand in self._unknown:
            known = self.values.get(operand)
            if known is not None:
                op.operands[index] = known


def mend() -> None:
    """Clone ops with their operands."""

    def clone(
        self: Operation,
        value_mapper: _Values | None = None,
        block_mapper: _Blocks | None = None,
        *,
        clone_name_hints: bool = True,
        clone_operands: bool = True,
    ) -> Operation:
        cloning = _Cloning(
            {} if value_mapper is None else value_mapper,
            {} if block_mapper is None else block_mapper,
            clone_name_hints,
            clone_operands,
        )
        new = cloning.op(self)
        cloning.finish()
        return new

    def clone_into(
        self: Region,
        dest: Region,
        insert_index: int | None = None,
        value_mapper: _Values | None = None,
        block_mapper: _Blocks | None = None,
        *,
        clone_name_hints: bool = True,
        clone_operands: bool = True,
    ) -> None:
        assert dest is not self
        cloning = _Cloning(
            {} if value_mapper is None else value_mapper,
            {} if block_mapper is None else block_mapper,
            clone_name_hints,
            clone_operands,
        )
        index = len(dest.blocks) if insert_index is None else insert_index
        cloning.region(self, dest, index)
        cloning.finish()

    Operation.clone = cast(Any, clone)
    Region.clone_into = cast(Any, clone_into)
