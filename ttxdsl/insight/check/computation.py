"""The part of a module that a run reads: modules that agree in it compute the same.

Stages that write shardings, or what arguments are to the model, change nothing else. Of
the shardings a run reads those of manual computations alone, and of these the axes.
"""

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from ttxdsl.dialects import sdy
from ttxdsl.dialects.ttcore import ARGUMENT_TYPE_ATTRIBUTE, SHARD_STATUS_ATTRIBUTE
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.state import state_of


class Computation:
    """The states of a module that changes, whose attributes are mostly the same."""

    def __init__(self) -> None:
        self._parts = IdentityMemo[Attribute | None]()

    def of(self, module: ModuleOp) -> list[object]:
        """Return the state of what a run reads; see `state.is_same`."""
        return state_of(module, self._part)

    def _part(self, name: str, attribute: Attribute) -> Attribute | None:
        """Return what a run reads of an attribute or property of an op."""
        if is_unread(name):
            return None
        is_boundary = name in ("arg_attrs", "res_attrs")
        if not is_boundary and type(attribute) is not sdy.TensorShardingPerValueAttr:
            return attribute
        key = id(attribute)
        if key not in self._parts:
            part = _boundary(attribute) if is_boundary else _closed(attribute)
            self._parts.keep(key, part, attribute)
        return self._parts[key]


def is_unread(name: str) -> bool:
    """Return whether no run reads attributes of this name."""
    return sdy.is_of_sdy(name) or name in (
        ARGUMENT_TYPE_ATTRIBUTE,
        SHARD_STATUS_ATTRIBUTE,
    )


def _boundary(attribute: Attribute) -> Attribute | None:
    """Return what a run reads of the arguments or results of a function."""
    entries = [
        {name: value for name, value in entry.data.items() if not is_unread(name)}
        for entry in cast("ArrayAttr[DictionaryAttr]", attribute).data
    ]
    return ArrayAttr(map(DictionaryAttr, entries)) if any(entries) else None


def _closed(attribute: Attribute) -> Attribute:
    shardings = cast(sdy.TensorShardingPerValueAttr, attribute).data
    distinct = {id(sharding): sharding for sharding in shardings}
    closed = {
        key: sharding.closed_like().without_priorities()
        for key, sharding in distinct.items()
    }
    return sdy.TensorShardingPerValueAttr(closed[id(one)] for one in shardings)
