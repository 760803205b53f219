"""ttir without destinations: half the ops, and the same ttnn."""

from collections.abc import Callable, Iterator

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tests.conversion.lowering_page import CASES, cases
from tests.dialects.tt_text import parse
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.ir.traversal import all_ops


def lowered(module: ModuleOp, *, destinations: bool) -> tuple[bool, str]:
    """Whether the ttir of a copy is valid, and its ttnn."""
    copy = module.clone()
    convert_stablehlo_to_ttir(copy, destinations=destinations)
    names = {op.name for op in all_ops(copy)}
    assert destinations or "ttir.empty" not in names
    try:
        copy.verify()
        valid = True
    except VerifyException:
        valid = False
    convert_ttir_to_ttnn(copy)
    return valid, str(copy)


def some_cases() -> Iterator[ModuleOp]:
    """Without those that are an op by itself."""
    return map(parse, CASES)


@pytest.mark.parametrize(
    ("made", "least"),
    [(some_cases, 20), pytest.param(cases, 300, marks=pytest.mark.fuzz)],
)
def test_the_same_ttnn_comes_of_it(made: Callable[[], Iterator[ModuleOp]], least: int):
    compared = 0
    with collect_remarks():
        for module in made():
            try:
                wanted = lowered(module, destinations=True)
            except CompileError:
                continue
            assert lowered(module, destinations=False) == wanted
            compared += 1
    assert compared > least
