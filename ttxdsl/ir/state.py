"""The state of a module as a list, to tell whether a pass changed it."""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias, cast

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

Part: TypeAlias = Callable[[str, Attribute], Attribute | None]


def _whole(name: str, attribute: Attribute) -> Attribute:
    return attribute


def state_of(module: ModuleOp, part: Part = _whole) -> list[object]:
    """Return all that a module prints: its ops in order with all that they have.

    Args:
        part: returns what counts of an attribute or property, by its name; None if
            nothing does.
    """
    state: list[object] = []
    for op in all_ops(module):
        state += (op, op.parent, *op.results, None, *operands_of(op))
        state += [value.type for value in op.results]
        for fields in (op.properties, op.attributes):
            for name, attribute in fields.items():
                if (counted := part(name, attribute)) is not None:
                    state += (name, counted)
        for region in op.regions:
            for block in region.blocks:
                state += (block, *block.args, *(value.type for value in block.args))
    return state


def is_same(fields: list[object], other: list[object]) -> bool:
    """Return whether states are of the same objects, and of attributes that say the same."""
    return len(fields) == len(other) and all(
        mine is theirs or (isinstance(mine, Attribute) and _say_same(mine, theirs))
        for mine, theirs in zip(fields, other, strict=True)
    )


def _say_same(attribute: Attribute, other: object) -> bool:
    """Return whether attributes are equal, with -0.0 and 0.0 told apart.

    Most parts of two equal attributes are the same objects; only the rest is printed.
    """
    if attribute is other:
        return True
    if type(attribute) is not type(other):
        return False
    if isinstance(attribute, ParametrizedAttribute):
        assert isinstance(other, ParametrizedAttribute)
        mine, theirs = attribute.parameters, other.parameters
    elif isinstance(attribute, ArrayAttr):
        mine = cast(ArrayAttr[Attribute], attribute).data
        theirs = cast(ArrayAttr[Attribute], other).data
    elif isinstance(attribute, DictionaryAttr):
        assert isinstance(other, DictionaryAttr)
        if [*attribute.data] != [*other.data]:  # they print in their order
            return False
        mine, theirs = attribute.data.values(), other.data.values()
    else:
        return attribute == other and (
            _is_exact(type(attribute)) or str(attribute) == str(other)
        )
    return len(mine) == len(theirs) and all(map(_say_same, mine, theirs))


@cache
def _is_exact(kind: type[Attribute]) -> bool:
    """Return whether attributes of a class that are equal print the same."""
    ours = kind.__module__.startswith("ttxdsl.dialects.")
    return ours or issubclass(kind, StringAttr | IntAttr | BytesAttr)
