"""A body as it was, to go back to, at a tenth of the cost of a clone.

Optimizations replace and erase ops, and change operands, locations and block arguments;
other fields never change in place. So the ops themselves with these suffice to write
the body again.
"""

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from ttxdsl.ir.traversal import operands_of, ops_of
from ttxdsl.transforms.collectives.program.nesting import PROGRAMS


class Snapshot:
    """A block with all that is inside, whatever becomes of it later."""

    __slots__ = (
        "_arguments",
        "_locations",
        "_operands",
        "_ops",
        "_regions",
        "_results",
    )

    def __init__(self, block: Block):
        self._arguments = block.args
        self._ops = ops = ops_of(block)
        self._operands = [*map(operands_of, ops)]
        self._results = [op.results for op in ops]
        self._locations = [op.location for op in ops]
        self._regions = {op: _regions_of(op) for op in ops if type(op) in PROGRAMS}

    def write(self, values: dict[SSAValue, SSAValue] | None = None) -> Block:
        """Write the block anew, with `values` for those from outside, if given."""
        values = {} if values is None else values
        block = Block(arg_types=[argument.type for argument in self._arguments])
        for old, new in zip(self._arguments, block.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
            values[old] = new
        for op, operands, results, location in zip(
            self._ops, self._operands, self._results, self._locations, strict=True
        ):
            copy = type(op).create(
                operands=[values.get(operand, operand) for operand in operands],
                result_types=[result.type for result in results],
                properties=op.properties,
                attributes=op.attributes,
                location=location,
                regions=[
                    Region([inner.write(values) for inner in blocks])
                    for blocks in self._regions.get(op) or _regions_of(op)
                ],
            )
            for old, new in zip(results, copy.results, strict=True):
                new.name_hint = old.name_hint
                values[old] = new
            block.add_op(copy)
        return block


def _regions_of(op: Operation) -> Sequence[Sequence[Snapshot]]:
    return [[*map(Snapshot, region.blocks)] for region in op.regions]
