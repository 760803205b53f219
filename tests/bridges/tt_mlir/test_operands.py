"""How many operands an op takes, as tt-mlir and as we have it."""

import re

from xdsl.irdl import OperandDef, OptOperandDef, VarOperandDef

from tests.bridges.tt_mlir.oracle import ask, needs_tt
from ttxdsl.dialects import ttir, ttnn
from ttxdsl.dialects._tt.op import TTOp

pytestmark = needs_tt

DESTINATIONS = ("output", "destinations")
"""Of the request's ttir; tt-mlir's ops that have one must have it."""

OPS = [
    op
    for dialect in (ttir.TTIR, ttnn.TTNN)
    for op in dialect.operations
    if op.IN_TT_MLIR and op.mnemonic() not in ("yield",)
]


def counted_by_tt_mlir(op: type[TTOp]) -> tuple[int, bool] | None:
    """The least number of operands, and whether there may be more.

    None if tt-mlir has no such op, or does not count.
    """
    results = len(op.get_irdl_definition().results)
    types = ", ".join(["tensor<4x4xf32>"] * results)
    said = ask(
        f'module {{ func.func @f() {{ "{op.name}"() : () -> ({types}) return }} }}'
    )
    found = re.search(r"expected (\d+)( or more)? operands", said.error or "")
    if found is None and "requires zero operands" in (said.error or ""):
        return 0, False
    if found is None and "requires a single operand" in (said.error or ""):
        return 1, False
    return found and (int(found[1]), bool(found[2]))


def test_the_number_of_operands():
    for op in OPS:
        check_number_of_operands(op)


def check_number_of_operands(op: type[TTOp]):
    theirs = counted_by_tt_mlir(op)
    if theirs is None:
        return
    least, more = theirs
    operands = [
        (name, operand)
        for name, operand in op.get_irdl_definition().operands
        if type(operand) is OperandDef or name not in DESTINATIONS
    ]
    required = [
        n for n, o in operands if not isinstance(o, OptOperandDef | VarOperandDef)
    ]
    # the design's forms have no device where tt-mlir's have
    optional = [n for n, o in operands if isinstance(o, OptOperandDef)]
    many = any(type(o) is VarOperandDef for _, o in operands)
    assert len(required) <= least
    assert many or least <= len(required) + len(optional)
    if more:
        assert many or least < len(required) + len(optional)
