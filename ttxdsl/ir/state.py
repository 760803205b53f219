"""The state of a module: what it says, object by object, to tell whether it changed."""

from operator import is_

from xdsl.dialects.builtin import ModuleOp

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
    """Return whether states are of the same objects."""
    return len(one) == len(other) and all(map(is_, one, other))
