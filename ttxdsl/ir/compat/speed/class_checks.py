"""Mend: `isinstance` of an op, an attribute or a value goes through the registry of `ABCMeta`.

A compiler asks that more often than anything else, 500 times for each op of a plan, and mostly
to hear that it is of another class. Nobody registers virtual subclasses of these classes, so
that their bases alone answer, as for any other class of Python: a tenth of a compilation.
"""

from abc import ABCMeta
from collections.abc import Iterator

from xdsl.ir import Attribute, Operation, SSAValue


class ClassOfBases(ABCMeta):
    """An abstract class whose instances are those of its subclasses alone."""

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


def mend() -> None:
    """Have the classes of ops, attributes and values, and all to come, answer themselves."""
    for root in (Operation, Attribute, SSAValue):
        for each in _with_subclasses(root):
            if type(each) is ABCMeta:
                each.__class__ = ClassOfBases


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    for subclass in type.__subclasses__(cls):
        yield from _with_subclasses(subclass)
