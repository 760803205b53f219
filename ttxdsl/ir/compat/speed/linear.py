"""Mends: where xDSL takes time with the square of a program.

- A symbol is looked up by going through all ops of the module, for every call that is
  verified. Here the ops are known by their names once they were gone through; what was
  found is checked against the module as it is now.
- An error in an op is noted on the exception with the text of the whole module, again
  by every op around it that the exception passes through. Here by the first.
- What is dead is found by asking what effects each op has, with those of all that is
  inside it. Here an op that is used is not asked, which is every one but a few. Then
  all is gone through again, to see that nothing changes; here only if something is
  neither needed nor without users, as in a chain of dead ops.
- An op that is put into a block is looked for around that block, on all levels. Here
  only one with regions is, since nothing is inside the others.
- That a function uses nothing from outside is found by going up from each operand to
  the function. Here not from those that are made in the block of their user.
"""

from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import IRNode, Operation, Region
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface, SymbolTable
from xdsl.transforms.dead_code_elimination import LiveSet
from xdsl.utils.exceptions import VerifyException

from ttxdsl.ir.traversal import operands_of

_KNOWN = "ttxdsl_symbols"
"""Where an op that declares symbols keeps them."""


def _name_of(op: Operation) -> str | None:
    trait = op.get_trait(SymbolOpInterface)
    name = None if trait is None else trait.get_sym_attr_name(op)
    return None if name is None else name.data


def _table_around(op: Operation) -> Operation | None:
    current: Operation | None = op
    while current is not None and not current.has_trait(SymbolTable):
        current = current.parent_op()
    return current


def _known_symbol(table: Operation, name: str) -> Operation | None:
    """Return the op of that name; None is not known, there may be one."""
    block = table.regions[0].blocks.first
    known = cast(dict[str, Operation], vars(table).get(_KNOWN, {}))
    symbol = known.get(name)
    if symbol is not None and symbol.parent is block and _name_of(symbol) == name:
        return symbol
    fresh: dict[str, Operation] = {}
    for op in () if block is None else block.ops:
        if (declared := _name_of(op)) is not None:
            fresh.setdefault(declared, op)
    vars(table)[_KNOWN] = fresh
    return fresh.get(name)


def _is_used(op: Operation) -> bool:
    return any(result.first_use is not None for result in op.results)


def _feeds(op: Operation, users: set[Operation]) -> bool:
    """Whether one of some ops uses a result of this op."""
    for result in op.results:
        for use in result.uses:
            if use.operation in users:
                return True
    return False


def _verify_isolated(self: IsolatedFromAbove, op: Operation) -> None:
    """Do what `IsolatedFromAbove.verify` does."""
    regions = [*op.regions]
    while regions:
        for block in regions.pop().blocks:
            for inner in block.ops:
                for operand in operands_of(inner):
                    owner = operand.owner
                    if owner is block or owner.parent is block:
                        continue
                    if owner is op or not op.is_ancestor(owner):
                        raise VerifyException(
                            "Operation using value defined out of its "
                            f"IsolatedFromAbove parent: {inner}"
                        )
                if inner.regions and not inner.has_trait(IsolatedFromAbove):
                    regions += inner.regions


_OPEN = "ttxdsl_open"
"""Where a `LiveSet` keeps whether another look may find more, while it looks."""


def mend() -> None:
    """Look up, report and look for what is dead in linear time."""
    look_up = SymbolTable.lookup_symbol
    emit_error = Operation.emit_error
    propagate = LiveSet.propagate_op_liveness
    propagate_region = LiveSet.propagate_region_liveness
    is_ancestor = Operation.is_ancestor

    def look_up_known(
        op: Operation, name: str | StringAttr | SymbolRefAttr
    ) -> Operation | None:
        if isinstance(name, SymbolRefAttr):
            text = None if name.nested_references else name.root_reference.data
        else:
            text = name if isinstance(name, str) else name.data
        table = _table_around(op)
        if text is None or table is None:
            return look_up(op, name)
        return _known_symbol(table, text)

    def emit_error_once(
        self: Operation, message: str, underlying_error: Exception
    ) -> NoReturn:
        if getattr(underlying_error, "__notes__", None):
            raise underlying_error
        emit_error(self, message, underlying_error)

    def propagate_uses_first(self: LiveSet, op: Operation) -> None:
        live = self._live_ops  # pyright: ignore[reportPrivateUsage]  # no calls
        if op not in live and _feeds(op, live):
            self.set_live(op)
        if op.regions or op not in live:
            propagate(self, op)
            if op not in live and _OPEN in vars(self) and _is_used(op):
                vars(self)[_OPEN] = True

    def propagate_once(self: LiveSet, region: Region) -> None:
        state = vars(self)
        if _OPEN in state:  # a region inside
            propagate_region(self, region)
            return
        state[_OPEN] = False
        propagate_region(self, region)
        if not state.pop(_OPEN):
            self.changed = False

    def is_ancestor_with_regions(self: Operation, op: IRNode) -> bool:
        return is_ancestor(self, op) if self.regions else op is self

    Operation.is_ancestor = is_ancestor_with_regions
    IsolatedFromAbove.verify = _verify_isolated
    SymbolTable.lookup_symbol = cast(Any, staticmethod(look_up_known))
    Operation.emit_error = emit_error_once
    LiveSet.propagate_op_liveness = propagate_uses_first
    LiveSet.propagate_region_liveness = propagate_once
