"""Mend: xDSL makes a new op by way of setters that are meant for ops that exist.

A compiler that lowers twice makes every op of a program five times or more. For each,
xDSL 0.74 looks for old operands to let go, and goes through the definition for default
values. Here an op is filled in directly, and the defaults of a class are found once.
What comes of it is the same, field by field (`tests/ir/compat/speed/test_operations.py`).

Ops and values are what they are: equal to themselves alone, and hashed by where they
are. xDSL says that in Python, for which every look-up in a dictionary of them waits;
`object` says it too. Two more calls are left out where an op is asked for its operands
or for one result. A value that nobody uses is erased by doing nothing: xDSL makes another
value first, to put in the place of no use. An op without regions is added to a block that
has ops by four assignments, where xDSL makes four calls.

The operands of an op are a tuple, which is copied when one is set. A value that is
replaced is replaced in all operands of a user at once, with one copy.

The type and the owner of a value, asked for more often than anything else, are read by
properties in C.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, cast

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
    Use,
)
from xdsl.ir.core import OpOperands, SSAValues
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import OptionalDef

_Given = tuple[tuple[str, Attribute], ...]

_NONE: Mapping[str, Attribute] = {}

# private fields are set below; a `cast` at each place would be a call at each place
_new_use: Any = Use
_new_values: Any = SSAValues


def _initialize(
    op: Any,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = _NONE,
    attributes: Mapping[str, Attribute] = _NONE,
    location: Any = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Do what `Operation.__init__` does; `op` is new and has no field yet."""
    op._operands = values = _new_values(operands)
    uses: list[Use] = []
    for at, value in enumerate(values):
        use = _new_use(op, at)
        uses.append(use)
        # what `add_use` does
        first = value.first_use
        if first is not None:
            use._next_use = first
            first._prev_use = use
        value.first_use = use
    op._operand_uses = tuple(uses)
    results: list[OpResult] = []
    for at, type_ in enumerate(result_types):  # a comprehension is one call more
        results.append(OpResult(type_, op, at))
    op.results = SSAValues(results)
    op.properties = dict(properties)
    op.attributes = dict(attributes)
    op.location = UNKNOWN_LOC if location is None else location
    if successors:
        op.successors = list(successors)
    else:
        op._successors = op._successor_uses = ()
    op.regions = ()
    for region in regions:
        op.add_region(region)
    op.__post_init__()


def _create(cls: type[Operation], **fields: Any) -> Operation:
    op = cls.__new__(cls)
    _initialize(op, **fields)
    return op


def _defaults_of(op_class: type[IRDLOperation]) -> tuple[_Given, _Given]:
    """Properties, then attributes, that a definition gives to ops without them."""
    definition = op_class.get_irdl_definition()

    def given(fields: Mapping[str, Any]) -> _Given:
        return tuple(
            (name, field.default_value)
            for name, field in fields.items()
            if not isinstance(field, OptionalDef) and field.default_value is not None
        )

    return given(definition.properties), given(definition.attributes)


_defaults: dict[type[IRDLOperation], tuple[_Given, _Given]] = {}


def _fill_defaults(op: IRDLOperation) -> None:
    """Do what `IRDLOperation.__post_init__` does."""
    op_class = type(op)
    known = _defaults.get(op_class)
    if known is None:
        known = _defaults[op_class] = _defaults_of(op_class)
    properties, attributes = known
    for name, value in properties:
        op.properties.setdefault(name, value)
    for name, value in attributes:
        op.attributes.setdefault(name, value)
    super(IRDLOperation, op).__post_init__()  # xDSL's implicit builders listen there


_item_of_tuple = cast(Any, tuple).__getitem__


def _item(values: Any, place: Any) -> Any:
    """Do what `SSAValues.__getitem__` does."""
    item = _item_of_tuple(values, place)
    return SSAValues(item) if type(place) is slice else item


def _operand(view: Any, place: Any) -> Any:
    """Do what `OpOperands.__getitem__` does."""
    item = _item_of_tuple(view._op._operands, place)
    return SSAValues(item) if type(place) is slice else item


def replace_operands(op: Operation, new: Mapping[int, SSAValue]) -> None:
    """Replace operands by position, with one copy of the tuple that they are."""
    ours: Any = op
    operands = list(ours._operands)
    for place, value in new.items():
        use = ours._operand_uses[place]
        operands[place].remove_use(use)
        value.add_use(use)
        operands[place] = value
    ours._operands = _new_values(operands)


def _set_operand(view: Any, place: int, value: SSAValue) -> None:
    """Do what `OpOperands.__setitem__` does."""
    replace_operands(view._op, {place: value})


def _replace_uses(self: SSAValue, value: SSAValue, uses: Iterable[Use]) -> None:
    """Use another value in some places, each user's operands set at once."""
    places: dict[Operation, dict[int, SSAValue]] = {}
    for use in uses:
        places.setdefault(use.operation, {})[use.index] = value
    for user, new in places.items():
        replace_operands(user, new)
    if value.name_hint is None:
        value.name_hint = self.name_hint


def _replace_all_uses(self: SSAValue, value: SSAValue) -> None:
    """Do what `SSAValue.replace_all_uses_with` does."""
    if value is not self:
        _replace_uses(self, value, tuple(self.uses))


def _replace_uses_if(
    self: SSAValue, value: SSAValue, predicate: Callable[[Use], bool]
) -> None:
    """Do what `SSAValue.replace_uses_with_if` does."""
    _replace_uses(self, value, [use for use in tuple(self.uses) if predicate(use)])


def mend() -> None:
    """Replace the slow methods of `Operation`, `SSAValue` and `Block`."""
    erase = SSAValue.erase

    def erase_used(self: SSAValue, safe_erase: bool = True) -> None:
        if self.first_use is not None:
            erase(self, safe_erase)

    add_op = Block.add_op

    def add_behind(self: Any, operation: Any) -> None:
        last = self._last_op
        if last is None or operation.regions or operation.parent is not None:
            add_op(self, operation)
            return
        operation.parent = self
        operation._prev_op = last
        operation._next_op = None
        last._next_op = self._last_op = operation

    SSAValue.erase = erase_used
    Block.add_op = add_behind
    Operation.__init__ = cast(Any, _initialize)
    Operation.create = cast(Any, classmethod(_create))
    IRDLOperation.__post_init__ = cast(Any, _fill_defaults)
    for identical in (Operation, Block, Region, SSAValue, IRDLOperation):
        identical.__hash__ = cast(Any, object.__hash__)
        identical.__eq__ = cast(Any, object.__eq__)
    SSAValues.__getitem__ = cast(Any, _item)
    OpOperands.__getitem__ = cast(Any, _operand)
    OpOperands.__setitem__ = cast(Any, _set_operand)
    SSAValue.replace_all_uses_with = cast(Any, _replace_all_uses)
    SSAValue.replace_uses_with_if = cast(Any, _replace_uses_if)
    cast(Any, SSAValue).type = property(attrgetter("_type"))
    cast(Any, OpResult).owner = property(attrgetter("op"))
    cast(Any, BlockArgument).owner = property(attrgetter("block"))
    set_operands = cast(Any, Operation.operands).fset
    Operation.operands = cast(Any, property(OpOperands, set_operands))
