"""Mend: xDSL reads a value that is used where it is not defined.

A value may be used before its definition in a text, since the order in which blocks are
written is no order in which they run. Whether the definition then comes first is for a
verifier to say, which xDSL has none of. Of a name that is never defined xDSL says
nothing but the name, at the end of the text.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from ttxdsl.ir.compat.faults.locations import OpError, source_position
from ttxdsl.ir.dominance import find_violation


def verify_dominance(module: ModuleOp) -> None:
    """Check that every value of a module is defined where it is used.

    Raises:
        OpError: naming the op and the value.
    """
    violation = find_violation(module)
    if violation is not None:
        raise OpError(
            f"operand #{violation.index} ({_description(violation.value)}) does not dominate"
            f" this use: {violation.reason()}",
            violation.op,
        )


def _description(value: SSAValue) -> str:
    """Return the name of a value, the op that defines it, and its position."""
    owner = value.owner
    of = owner.parent_op() if isinstance(owner, Block) else owner
    kind = "an argument" if isinstance(value, BlockArgument) else "a result"
    parts = [f"{kind} of '{of.name}'"] if of is not None else [kind]
    if value.name_hint is not None:
        parts.insert(0, f"%{value.name_hint},")
    position = None if of is None else source_position(of.location)
    if position is not None:
        parts.append(f"at {position}")
    return " ".join(parts)


def _raise_undefined(parser: Parser) -> None:
    """Name the first op that uses a name which the text does not define."""
    for name, references in parser.forward_ssa_references.items():
        for value in references.values():
            *_, first = value.uses  # the last one that was added leads
            message = f"operand #{first.index} (%{name}) is not defined"
            raise OpError(message, first.operation)


def mend() -> None:
    """Verify dominance once in every text that is parsed."""
    parse_module = Parser.parse_module

    def parse_and_check(self: Parser, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = parse_module(self, allow_implicit_module)
        except ParseError as error:
            if error.msg.startswith("values used but not defined"):
                _raise_undefined(self)
            raise
        verify_dominance(module)
        return module

    Parser.parse_module = parse_and_check
