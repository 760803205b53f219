"""Payloads of sdy attributes that the sharding theory itself does not need."""

from dataclasses import dataclass

from xdsl.utils.str_enum import StrEnum

from ttxdsl.sharding.axes import AxisRef


class EdgeNodeType(StrEnum):
    """The side of its op that an edge value is on."""

    OPERAND = "operand"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class EdgeValueRef:
    """The operand or result number `index` of the op that carries the attribute."""

    type: EdgeNodeType
    index: int


@dataclass(frozen=True, slots=True)
class AxisPropagation:
    """In one step, `axis` went from the source value to the target values."""

    axis: AxisRef
    source: EdgeValueRef
    targets: tuple[EdgeValueRef, ...]


@dataclass(frozen=True, slots=True)
class PropagationStep:
    """Everything that moved in propagation step number `index`."""

    index: int
    entries: tuple[AxisPropagation, ...]
