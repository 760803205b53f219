"""Every StableHLO and CHLO op in both forms, and what a use that breaks a constraint says."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from tests.dialects import chlo_cases, stablehlo_cases, stablehlo_refusals
from tests.dialects.stablehlo_cases import Use
from tests.dialects.stablehlo_refusals import Broken
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.chlo import Chlo
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.loading.program import make_context, parse_program

USES = stablehlo_cases.USES | chlo_cases.USES
BROKEN = stablehlo_refusals.BROKEN + chlo_cases.BROKEN
NOT_IN_TABLE = {"stablehlo.return"}
"""It is in the regions of others."""


@pytest.fixture(scope="module")
def context() -> Context:
    return make_context()


def printed(module: ModuleOp, *, generic: bool = False) -> str:
    text = StringIO()
    Printer(text, print_generic_format=generic).print_op(module)
    return text.getvalue()


def test_the_table_has_every_op():
    defined = {op.name for one in (StableHLO, Chlo) for op in one.operations}
    assert defined - {use.name for use in USES.values()} == NOT_IN_TABLE


def test_every_op_says_where_it_is_specified():
    for op in StableHLO.operations:
        assert op.__doc__ and op.__doc__.strip().endswith((".", '".')), op.name


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
def test_what_is_printed_reads_back_the_same(context: Context, use: Use, generic: bool):
    module = parse_program(use.text(), context=context)
    text = printed(module, generic=generic)
    again = parse_program(text, context=context)
    assert again.is_structurally_equivalent(module)
    assert printed(again, generic=generic) == text


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_discardable_attributes_are_kept(context: Context, use: Use):
    module = parse_program(use.text(), context=context)
    (op,) = (op for op in module.walk() if op.name == use.name)
    note = '{mhlo.frontend_attributes = {a = "b"}, mhlo.note}'
    op.attributes.update(
        parse_program(f"module attributes {note} {{}}", context=context).attributes
    )
    for generic in (False, True):
        text = printed(module, generic=generic)
        again = parse_program(text, context=context)
        assert again.is_structurally_equivalent(module), text


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.id)
def test_a_broken_constraint_is_named(context: Context, broken: Broken):
    with pytest.raises(CompileError) as refused:
        parse_program(broken.wrong.text(), context=context)
    assert broken.constraint in str(refused.value)
