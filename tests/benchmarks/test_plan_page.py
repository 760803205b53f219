"""docs/evidence/plan.md is what the data of benchmarks/tpu/evidence say."""

import json
import re
import shutil
import sys
from pathlib import Path

import plan
import pytest
from tpu.evidence import page
from tpu.evidence.page import Row, Step


def test_page_is_rendered_from_the_data():
    """If this fails: `python benchmarks/plan.py --write`."""
    assert page.PAGE.read_text() == page.rendered()


def test_rows_are_of_known_sets_and_have_programs():
    rows = page.read(Row, "rows.csv")
    keys = [(row.program, row.set) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {row.set for row in rows} == set(page.sets())
    sources = "".join(map(Path.read_text, plan.PROGRAMS.rglob("*.py")))
    programs = set(re.findall(r"^def (\w+)\(\):", sources, re.M))
    families = set(re.findall(r"^@family\ndef (\w+)\(s\):", sources, re.M))
    lost = {row.program for row in rows if row.set == "blind 6"}
    by_hand = {row.program for row in rows if row.written == "hand"}
    drawn = {row.program for row in rows if row.set.startswith("drawn")}
    assert {name.split("_")[0] for name in drawn} <= families | {"decoder"}
    by_hand -= drawn
    assert by_hand <= programs | lost
    assert not programs & {row.program for row in rows if row.written == "MaxText"}


def test_steps_are_of_a_list():
    published = {
        line[0] for name in ("recipes.txt", "pods.txt") for line in page.published(name)
    }
    assert {step.step for step in page.read(Step, "seconds.csv")} <= published


TEXT = """\
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %y = stablehlo.tanh %x : tensor<1024x1024xf32>
    return %y : tensor<1024x1024xf32>
  }
}
"""


def test_a_program_of_the_folder_replaces_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    evidence = tmp_path / "evidence"
    shutil.copytree(page.HERE, evidence)
    monkeypatch.setattr(page, "HERE", evidence)
    monkeypatch.setattr(page, "PAGE", tmp_path / "plan.md")
    before = page.read(Row, "rows.csv")
    asked = tmp_path / "asked"
    asked.mkdir()
    (asked / "mlp_forward.mlir").write_text(TEXT)
    memory = {"argument": 4 << 20, "output": 4 << 20, "alias": 0, "temp": 0}
    answer = {"topology": "v5e-2x2", "devices": 1, "slices": 1, "memory": memory}
    (asked / "mlp_forward.json").write_text(json.dumps(answer))
    monkeypatch.setattr(sys, "argv", ["plan.py", str(asked), "--write"])
    plan.main()
    after = {(row.program, row.set): row for row in page.read(Row, "rows.csv")}
    row = after["mlp_forward", "fit"]
    assert (row.libtpu_gib, row.plan_gib, row.written) == ("0.0078", "0.0078", "hand")
    # there was nothing to count FLOPs and bytes of
    assert (row.flops, row.bytes) == ("1.000", "0.96")
    assert [
        after[old.program, old.set] for old in before if old.program != row.program
    ] == [old for old in before if old.program != row.program]
    assert (
        "| `mlp_forward` | fit | 1 v5e | 0.01 | 0.01 | 1.00 |" in page.PAGE.read_text()
    )
