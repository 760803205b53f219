"""Mend: xDSL copies all names of values for each region that it parses.

A module with n ops before each of its m regions (every `stablehlo.reduce` in generic
form has one) takes n times m steps. Names are only added while a region is parsed, so
its end is reached by forgetting those that came last: the copy is a mark of how many
there were.
"""

from dataclasses import dataclass
from typing import Any, cast

from xdsl.ir import SSAValue
from xdsl.parser import Parser

_Values = tuple[SSAValue, ...]


@dataclass(frozen=True, slots=True)
class _Mark:
    """The names that were known at some time, in place of a copy."""

    names: "_Names"
    count: int


class _Names(dict[str, _Values]):
    """Values by name, in the order in which the text defines them."""

    def copy(self) -> Any:
        """A mark to come back to, which costs nothing."""
        return _Mark(self, len(self))


class _Recorded(_Names):
    """Names that are also kept, by the values that have them, when they are forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.by_value: dict[SSAValue, str] = {}

    def __setitem__(self, name: str, values: _Values) -> None:
        super().__setitem__(name, values)
        for index, value in enumerate(values):
            text = f"%{name}" if len(values) == 1 else f"%{name}#{index}"
            self.by_value[value] = text


def record_names(parser: Parser) -> dict[SSAValue, str]:
    """Return what a parser that has not begun will call values: `%42`, `%5#1`."""
    names = _Recorded()
    parser.__dict__["ssa_values"] = names
    return names.by_value


def _get(parser: Parser) -> _Names:
    return parser.__dict__["ssa_values"]


def _set(parser: Parser, values: dict[str, _Values] | _Mark) -> None:
    if isinstance(values, _Mark):
        names = values.names
        while len(names) > values.count:
            names.popitem()
    else:
        names = _Names(values)
    parser.__dict__["ssa_values"] = names


def mend() -> None:
    """Make the scope of a region cost what the region defines."""
    cast(Any, Parser).ssa_values = property(_get, _set)
