from pathlib import Path

import ttxdsl
from ttxdsl.bridges.export import annotated_module
from ttxdsl.loading.program import program_text

SCANNED = Path(__file__).parents[2] / "docs" / "programs" / "scanned.mlir"


def test_other_compilers_see_none_of_our_marks_in_locations():
    program = ttxdsl.load(SCANNED)
    assert "ttxdsl.in=" in program_text(program.module, locations=True)
    text = program_text(annotated_module(program, {}), locations=True)
    assert "ttxdsl." not in text and "scan" in text
