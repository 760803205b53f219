"""Definitions of ops that are made when first asked for.

xDSL reads a class's fields and makes accessors of them when the class is written down,
a quarter of a millisecond each. A program uses twenty ops of six hundred, so that the
start of a command would be mostly this. Here it happens when the first op of the class
is made or parsed, or when the class is asked for its definition.
"""

from typing import Any, TypeVar, cast

from xdsl.ir import Operation, OpTraits
from xdsl.irdl import IRDLOperation, irdl_op_definition as define

_OpT = TypeVar("_OpT", bound=IRDLOperation)

_waiting: dict[type[Operation], dict[str, Any]] = {}
"""Classes that are not defined yet, with what stood in the place of what asks for it."""

_MISSING = object()

_BASES = frozenset(IRDLOperation.mro())
"""Classes whose traits a definition does not look at."""


class _Asked:
    """What of a class is not there before it is defined."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[IRDLOperation]) -> Any:
        define_waiting(owner)
        return getattr(owner if instance is None else instance, self.name)


class _DeclaredTraits:
    """The traits of a class, as its definition will have them: they need none."""

    def __get__(self, instance: object, owner: type[IRDLOperation]) -> OpTraits:
        declared = [
            traits
            for one in owner.mro()
            if one not in _BASES
            and (traits := _waiting.get(one, vars(one)).get("traits", _MISSING))
            is not _MISSING
        ]
        return OpTraits(lambda: tuple(trait for one in declared for trait in one))


def irdl_op_definition(op_class: type[_OpT]) -> type[_OpT]:
    """Decorator: the class is that of an op, whose definition is made when asked for.

    A definition that is wrong raises then, not here.
    """
    asked: dict[str, Any] = {"get_irdl_definition": _Asked("get_irdl_definition")}
    if op_class.assembly_format is not None:
        asked |= {name: _Asked(name) for name in ("parse", "print")}
    asked["traits"] = _DeclaredTraits()
    _waiting[op_class] = {name: vars(op_class).get(name, _MISSING) for name in asked}
    for name, stand_in in asked.items():
        setattr(op_class, name, stand_in)
    return op_class


def waiting() -> tuple[type[Operation], ...]:
    """The classes that are not defined yet."""
    return tuple(_waiting)


def define_waiting(op_class: type[IRDLOperation]) -> None:
    """Make the definitions of a class and of those that it is derived from."""
    for one in reversed(op_class.mro()):
        before = _waiting.pop(cast(type[Operation], one), None)
        for name, value in (before or {}).items():
            if value is _MISSING:
                delattr(one, name)
            else:
                setattr(one, name, value)
        if before is not None:
            define(cast(type[IRDLOperation], one))
