"""Ops that are alike are verified once.

Almost every rule of an op speaks of its class, the types of its operands and results,
its properties, and what its regions take and return: its *signature*. A program has
thousands of ops and few signatures, and it is verified after every stage, so a
signature that was found right is remembered. What a rule sees beyond the signature (a
constant that defines an operand, the module's meshes, a symbol) is announced with
`looks_around`; ops of such rules are verified each time, unless it is one object that
can be looked up again: then they are while it is another one.

Attributes never change, so a signature is known by the identities of its attributes:
`_right` keeps the attributes alive that its keys stand for. One of other objects that
are equal is found by their values, which takes longer but less than the rules do.
"""

from abc import ABC
from collections.abc import Callable
from threading import local
from typing import Any

from xdsl.ir import Attribute, ErasedSSAValue, Operation, Region
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator, OpTrait

_MOST_KEPT = 1 << 16

_LookUp = Callable[[Operation], object]
_Seen = tuple[tuple[_LookUp, object], ...]

_right: dict[tuple[Any, ...], tuple[tuple[Attribute, ...], _Seen]] = {}
"""The attributes of each signature, and the answers of the look-ups of its rules."""
_right_by_value: set[tuple[Any, ...]] = set()


class _Running(local):
    """The verification that a thread is in: whether it saw more than a signature."""

    looked_around: bool = False
    op: Operation | None = None
    look_ups: dict[_LookUp, None] | None = None


_running = _Running()


def looks_around(op: Operation | None = None, look_up: _LookUp | None = None) -> None:
    """Say that the rule which is checked now depends on more than the signature.

    Args:
        look_up: finds all that the rule sees there, an object that never changes.
    """
    if look_up is None or op is not _running.op or _running.look_ups is None:
        _running.looked_around = True
    else:
        _running.look_ups[look_up] = None


_Traits = frozenset[OpTrait]

_classes: dict[type[Operation], tuple[_Traits, bool | None]] = {}


def _ends_blocks(op_class: type[IRDLOperation]) -> bool | None:
    """Return whether a class ends blocks; None if more than signatures matters."""
    traits = op_class.traits.traits
    known = _classes.get(op_class)
    if known is not None and known[0] is traits:
        return known[1]
    answer: bool | None = False
    for trait in traits:
        if isinstance(trait, IsTerminator):
            answer = True
        elif type(trait).verify is not OpTrait.verify:
            answer = None
            break
    if op_class.get_irdl_definition().attributes:
        answer = None
    _classes[op_class] = (traits, answer)
    return answer


def _region_signature(region: Region, kept: list[Attribute]) -> object:
    """Return the key of a region: its first block's ends; their types go to `kept`."""
    block = region.blocks.first
    if block is None:
        return 0
    kept.extend(argument.type for argument in block.args)
    last = block.last_op
    if last is None:
        return len(block.args), block.next_block is None
    kept.extend(operand.type for operand in last.operands)
    return (
        len(block.args),
        block.next_block is None,
        type(last),
        len(last.operands),
        last is block.first_op,
    )


class VerifiedOnce(IRDLOperation, ABC):
    """Base of ops that `verify` looks at once a signature, see the module."""

    def verify(self, verify_nested_ops: bool = True) -> None:
        """Check the op, and the ops in its regions.

        Raises:
            VerifyException: a constraint that does not hold.
        """
        op_class = type(self)
        ends_block = _ends_blocks(op_class)
        operands = self._operands
        if (
            ends_block is None
            or self._successors
            # whether an op may stand last, or must, is a rule about its block
            or (self.parent is not None and (self.next_op is None) is not ends_block)
            or ErasedSSAValue in map(type, operands)
        ):
            super().verify(verify_nested_ops)
            return
        kept = [operand.type for operand in operands]
        kept += [result.type for result in self.results]
        properties = self.properties
        kept += properties.values()
        shape: list[object] = [op_class, len(operands), *properties]
        if self.regions:
            if verify_nested_ops:
                for region in self.regions:
                    region.verify()
            shape += [_region_signature(region, kept) for region in self.regions]
        key = (*shape, *map(id, kept))
        known = _right.get(key)
        if known is not None and all(
            look_up(self) is seen for look_up, seen in known[1]
        ):
            return
        by_value = (*shape, *kept)
        seen: _Seen = ()
        if by_value not in _right_by_value:
            _running.looked_around = False
            _running.op, _running.look_ups = self, {}
            super().verify(verify_nested_ops=False)
            look_ups, _running.look_ups = _running.look_ups, None
            if _running.looked_around:
                return
            seen = tuple((look_up, look_up(self)) for look_up in look_ups)
        if len(_right) >= _MOST_KEPT:
            _right.clear()
            _right_by_value.clear()
        _right[key] = tuple(kept), seen
        if not seen:
            _right_by_value.add(by_value)
