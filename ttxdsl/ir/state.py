"""The state of a module: what it says, object by object, to tell whether it changed."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ttxdsl.ir.traversal import all_ops, operands_of


def state_of(module: ModuleOp) -> list[object]:
    """Return all that a module prints: its ops in order with all that they have."""
    state: list[object] = []
    for op in all_ops(module):
        properties, attributes = op.properties, op.attributes
        state += (op, op.parent, *op.results, None, *operands_of(op))
        state += [value.type for value in op.results]
        state += (*properties, *properties.values(), *attributes, *attributes.values())
        for region in op.regions:
            for block in region.blocks:
                state += (block, *block.args, *(value.type for value in block.args))
    return state


def is_same(one: list[object], other: list[object]) -> bool:
    """Return whether states are of the same objects, and of attributes that say the same.

    Zeros of either sign are equal: what was made anew is compared as text, too.
    """
    return len(one) == len(other) and all(
        mine is theirs
        or (isinstance(mine, Attribute) and mine == theirs and str(mine) == str(theirs))
        for mine, theirs in zip(one, other, strict=True)
    )
