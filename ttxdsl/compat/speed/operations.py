"""Mend: xDSL makes a new op by way of setters that are meant for ops that exist.

A compiler that lowers twice makes every op of a program five times or more. For each,
xDSL 0.74 looks for old operands to let go, and goes through the definition for default
values. Here an op is filled in directly, and the defaults of a class are found once.

What comes of it is the same, field by field (`tests/compat/test_operations.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import OptionalDef

_Defaults = tuple[tuple[tuple[str, Attribute], ...], tuple[tuple[str, Attribute], ...]]
"""Properties, then attributes, that a definition gives to ops without them."""

_NONE: Mapping[str, Attribute] = {}


def _fill(
    op: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = _NONE,
    attributes: Mapping[str, Attribute] = _NONE,
    location: Any = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """What `Operation.__init__` does; `op` is new and has no field yet."""
    fields = cast(Any, op)
    fields._operands = values = SSAValues(operands)
    fields._operand_uses = uses = tuple([Use(op, at) for at in range(len(values))])
    for value, use in zip(values, uses, strict=True):
        value.add_use(use)
    op.results = SSAValues(
        [OpResult(type_, op, at) for at, type_ in enumerate(result_types)]
    )
    op.properties = dict(properties)
    op.attributes = dict(attributes)
    op.location = UNKNOWN_LOC if location is None else location
    if successors:
        op.successors = list(successors)
    else:
        fields._successors = fields._successor_uses = ()
    op.regions = ()
    for region in regions:
        op.add_region(region)
    op.__post_init__()


def _defaults_of(op_class: type[IRDLOperation]) -> _Defaults:
    definition = op_class.get_irdl_definition()

    def given(fields: Mapping[str, Any]) -> tuple[tuple[str, Attribute], ...]:
        return tuple(
            (name, field.default_value)
            for name, field in fields.items()
            if not isinstance(field, OptionalDef) and field.default_value is not None
        )

    return given(definition.properties), given(definition.attributes)


_defaults: dict[type[IRDLOperation], _Defaults] = {}


def _fill_defaults(op: IRDLOperation) -> None:
    """What `IRDLOperation.__post_init__` does."""
    op_class = type(op)
    known = _defaults.get(op_class)
    if known is None:
        known = _defaults[op_class] = _defaults_of(op_class)
    properties, attributes = known
    for name, value in properties:
        op.properties.setdefault(name, value)
    for name, value in attributes:
        op.attributes.setdefault(name, value)
    super(IRDLOperation, op).__post_init__()


def mend() -> None:
    """Make ops without detours."""

    def create(cls: type[Operation], **fields: Any) -> Operation:
        op = cls.__new__(cls)
        _fill(op, **fields)
        return op

    Operation.__init__ = cast(Any, _fill)
    Operation.create = cast(Any, classmethod(create))
    IRDLOperation.__post_init__ = cast(Any, _fill_defaults)
