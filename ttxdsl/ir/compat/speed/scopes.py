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
