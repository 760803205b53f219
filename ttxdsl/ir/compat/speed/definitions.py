"""Definitions of ops and attributes that are made when first asked for.

xDSL reads a class's fields and makes accessors of them when the class is written down,
a quarter to half a millisecond each. A program uses twenty ops of six hundred and ten
attributes of a hundred, so that the start of a command would be mostly this. Here it
happens when the first op or attribute of the class is made or parsed, or when the class
is asked for its definition.
"""

from typing import Any, TypeVar, cast

from typing_extensions import dataclass_transform
from xdsl import irdl
from xdsl.ir import Attribute, Operation, OpTraits, ParametrizedAttribute
from xdsl.irdl import IRDLOperation
from xdsl.utils.runtime_final import runtime_final

_OpT = TypeVar("_OpT", bound=IRDLOperation)
_AttributeT = TypeVar("_AttributeT", bound=type[Attribute])

_waiting: dict[type[object], dict[str, Any]] = {}
"""Classes that are not defined yet, and the attributes that their accessors replace."""

_MISSING = object()

_BASES = frozenset(IRDLOperation.mro())
"""Base classes whose traits a definition ignores."""


class _Asked:
    """A descriptor of an attribute that a class has only once it is defined."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type[object]) -> Any:
        define_waiting(owner)
        return getattr(owner if instance is None else instance, self.name)


class _DeclaredTraits:
    """The traits of a class, as its definition will have them: they need none."""

    def __get__(self, instance: object, owner: type[IRDLOperation]) -> OpTraits:
        declared = [
            traits
            for base in owner.mro()
            if base not in _BASES
            and (traits := _waiting.get(base, vars(base)).get("traits", _MISSING))
            is not _MISSING
        ]
        return OpTraits(lambda: tuple(trait for base in declared for trait in base))


def irdl_op_definition(op_class: type[_OpT]) -> type[_OpT]:
    """Decorator: the class is that of an op, whose definition is made when asked for.

    A definition that is wrong raises then, not here. Fields that take long to find out
    are what a class method `later_fields` answers with, by name.
    """
    asked: dict[str, Any] = {"get_irdl_definition": _Asked("get_irdl_definition")}
    if op_class.assembly_format is not None:
        asked |= {name: _Asked(name) for name in ("parse", "print")}
    asked["traits"] = _DeclaredTraits()
    _wait(op_class, asked)
    return op_class


@dataclass_transform(frozen_default=True, field_specifiers=(irdl.param_def,))
def irdl_attr_definition(attribute: _AttributeT) -> _AttributeT:
    """Define an attribute class when its definition is first needed.

    Comparisons of instances come with the definition, which making an instance asks
    for.
    """
    if issubclass(attribute, ParametrizedAttribute):
        _wait(attribute, {"get_irdl_definition": _Asked("get_irdl_definition")})
        # constraints ask whether there may be others of its kind
        return cast(_AttributeT, runtime_final(cast(Any, attribute)))
    return cast(_AttributeT, irdl.irdl_attr_definition(cast(Any, attribute)))


def _wait(owner: type[object], asked: dict[str, Any]) -> None:
    _waiting[owner] = {name: vars(owner).get(name, _MISSING) for name in asked}
    for name, stand_in in asked.items():
        setattr(owner, name, stand_in)


def waiting() -> tuple[type[Operation], ...]:
    """Return the classes of ops that are not defined yet."""
    return tuple(owner for owner in _waiting if issubclass(owner, Operation))


def define_waiting(wanted: type[object]) -> None:
    """Make the definitions of a class and of those that it is derived from."""
    for base in reversed(wanted.mro()):
        before = _waiting.pop(base, None)
        if before is None:
            continue
        for name, value in before.items():
            if value is _MISSING:
                delattr(base, name)
            else:
                setattr(base, name, value)
        if issubclass(base, IRDLOperation):
            fields = getattr(base, "later_fields", dict[str, Any])
            for name, field in fields().items():
                setattr(base, name, field)
            irdl.irdl_op_definition(base)
        else:
            irdl.irdl_attr_definition(cast(type[Attribute], base))
