from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.ir import Operation

from ttxdsl.conversion.catalog import lowering_page, lowering_table
from ttxdsl.conversion.stablehlo_to_ttir import TABLE as TO_TTIR
from ttxdsl.conversion.ttir_to_ttnn import TABLE as TO_TTNN
from ttxdsl.conversion.unsupported import UNSUPPORTED
from ttxdsl.dialects.chlo import Chlo
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.ttir import TTIR
from ttxdsl.dialects.ttnn import TTNN

PAGE = Path(__file__).parents[2] / "docs" / "lowering.md"
INPUT_OPS = [*StableHLO.operations, *Chlo.operations]


@pytest.mark.parametrize("op", INPUT_OPS, ids=lambda op: op.name)
def test_every_op_has_a_rule_or_a_reason(op: type[Operation]):
    if op.name == "stablehlo.return":
        return  # the end of a region, read with the region
    assert (op.name in TO_TTIR) != (op.name in UNSUPPORTED)


@pytest.mark.parametrize("op", list(TTIR.operations), ids=lambda op: op.name)
def test_every_ttir_op_has_a_ttnn_form(op: type[Operation]):
    assert op.name in TO_TTNN


def test_names_in_the_tables_exist():
    known = {op.name for op in INPUT_OPS} | {"func.call", "sdy.constant"}
    assert set(TO_TTIR) | set(UNSUPPORTED) <= known
    ttir, ttnn = ({op.name for op in d.operations} for d in (TTIR, TTNN))
    for row in lowering_table():
        assert {f"ttir.{name}" for name in row.ttir} <= ttir
        assert {f"ttnn.{name}" for name in row.ttnn} <= ttnn


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == lowering_page(), (
        "run python -m ttxdsl.conversion.catalog > docs/lowering.md"
    )
