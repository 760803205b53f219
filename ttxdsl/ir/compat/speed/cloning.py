"""Mend: xDSL clones a block's arguments one by one, with a list of all for each.

So a function of 20,000 arguments takes seconds. Here blocks get all their arguments at
once. The result is that of xDSL, except that a region may be cloned into a region that
has blocks, where xDSL sets the operands of the wrong ops.
"""

from typing import Any, cast

from xdsl.ir import Block, Region, SSAValue

_Values = dict[SSAValue, SSAValue]
_Blocks = dict[Block, Block]


def mend() -> None:
    """Clone the arguments of a block together."""

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
        values = {} if value_mapper is None else value_mapper
        blocks = {} if block_mapper is None else block_mapper
        copies = [(block, Block(arg_types=block.arg_types)) for block in self.blocks]
        blocks.update(copies)
        index = len(dest.blocks) if insert_index is None else insert_index
        dest.insert_block([copy for _, copy in copies], index)
        for block, copy in copies:
            for argument, copied in zip(block.args, copy.args, strict=True):
                copied.location = argument.location
                values[argument] = copied
                if clone_name_hints:
                    copied.name_hint = argument.name_hint
            for op in block.ops:
                copy.add_op(
                    op.clone(
                        values,
                        blocks,
                        clone_name_hints=clone_name_hints,
                        clone_operands=False,
                    )
                )
        if clone_operands:  # some are defined behind their users
            for block, copy in copies:
                for old, new in zip(block.walk(), copy.walk(), strict=True):
                    new.operands = [values.get(value, value) for value in old.operands]

    Region.clone_into = cast(Any, clone_into)
