"""The state of a module: what it says, object by object, to tell whether it changed."""

from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DictionaryAttr,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute

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
    """Return whether states are of the same objects, and of attributes that say the same."""
    return len(one) == len(other) and all(
        mine is theirs or (isinstance(mine, Attribute) and _say_same(mine, theirs))
        for mine, theirs in zip(one, other, strict=True)
    )


def _say_same(one: Attribute, other: object) -> bool:
    """Return whether attributes are equal, zeros of either sign apart.

    What was made anew is made of the same parts mostly: only other data are printed.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, ParametrizedAttribute):
        assert isinstance(other, ParametrizedAttribute)
        mine, theirs = one.parameters, other.parameters
    elif isinstance(one, ArrayAttr):
        mine = cast(ArrayAttr[Attribute], one).data
        theirs = cast(ArrayAttr[Attribute], other).data
    elif isinstance(one, DictionaryAttr):
        assert isinstance(other, DictionaryAttr)
        if [*one.data] != [*other.data]:  # they print in their order
            return False
        mine, theirs = one.data.values(), other.data.values()
    else:
        return one == other and (_is_exact(type(one)) or str(one) == str(other))
    return len(mine) == len(theirs) and all(map(_say_same, mine, theirs))


@cache
def _is_exact(kind: type[Attribute]) -> bool:
    """Return whether attributes of a class that are equal print the same."""
    ours = kind.__module__.startswith("ttxdsl.dialects.")
    return ours or issubclass(kind, StringAttr | IntAttr | BytesAttr)
