"""The real tt-mlir as it is asked: what it makes, refuses, and how it fails."""

from pathlib import Path

import pytest

from tests.bridges.tt_mlir.oracle import ask, needs_tt
from ttxdsl.bridges.tt_mlir import compile_text, parse_text
from ttxdsl.bridges.tt_mlir.library import LIBRARY_VARIABLE
from ttxdsl.diagnostics.errors import CompileError

SHARDED = """
module @product {{
  sdy.mesh @mesh = <[{mesh}]>
  func.func public @main(
      %arg0: tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}},
      %arg1: tensor<32x64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}
  ) -> tensor<64x64xf32> {{
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }}
}}
"""

TTIR_ADD = """
module {{
  func.func public @main(%a: tensor<4x4xf32>) -> tensor<{result}xf32> {{
    %0 = "ttir.add"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<{result}xf32>
    return %0 : tensor<{result}xf32>
  }}
}}
"""


@needs_tt
def test_every_stage_of_a_program_is_shown():
    answer = ask(SHARDED.format(mesh='"x"=2, "y"=4'))
    assert answer.ok and not answer.crashed
    assert " ".join(answer.stages) == (
        "vhlo shlo shlo_frontend shlo_compiler shlo_set_mesh_attr shlo_compiler_cleaned "
        "ttir ttnn ttnn_runtime"
    )
    assert '"stablehlo.all_reduce"' in answer.stages["shlo_compiler"]
    assert '"ttir.all_reduce"' in answer.stages["ttir"]
    assert '"ttnn.matmul"' in answer.stages["ttnn"]


@needs_tt
def test_a_refusal_is_in_its_own_words():
    answer = ask(SHARDED.format(mesh='"x"=2, "y"=2, "z"=2'))
    assert answer.error == "Pass expects a 0D, 1D, or 2D mesh, got 3D"
    assert answer.parsed and not answer.crashed


@needs_tt
def test_a_crash_is_an_answer():
    """More devices than the machine has; later calls are not hurt."""
    answer = ask(SHARDED.format(mesh='"x"=4, "y"=4'))
    assert answer.crashed and "crashed" in str(answer.error)
    assert answer.last_stage == "ttir"
    assert not answer.ok


@needs_tt
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("module { func.func", "expected"),
        (TTIR_ADD.format(result="4x5"), "'ttir.add' op"),
        (TTIR_ADD.format(result="4x4"), None),
    ],
)
def test_a_text_of_another_dialect_is_parsed_and_verified(text: str, said: str | None):
    answer = ask(text)
    assert not answer.ok
    assert answer.parsed == (said is None)
    assert said is None or said in str(answer.error)


def test_a_missing_library_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv(LIBRARY_VARIABLE, str(tmp_path))
    with pytest.raises(
        CompileError, match=f"no libtt.so where {LIBRARY_VARIABLE} says"
    ):
        parse_text(TTIR_ADD)
    monkeypatch.delenv(LIBRARY_VARIABLE)
    monkeypatch.setattr("ttxdsl.bridges.tt_mlir.library._installed", tuple)
    with pytest.raises(CompileError, match="tt-mlir is not installed") as raised:
        parse_text(TTIR_ADD)
    assert "--target DIR jax-tt-plugin==" in str(raised.value)


def test_what_is_no_library_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    library = tmp_path / "libtt.so"
    library.write_text("not one")
    monkeypatch.setenv(LIBRARY_VARIABLE, str(library))
    with pytest.raises(CompileError, match=r"cannot load .*libtt\.so"):
        parse_text(TTIR_ADD)


@needs_tt
def test_a_descriptor_is_looked_at(tmp_path: Path):
    with pytest.raises(CompileError, match=r"cannot read the system descriptor .*none"):
        compile_text(TTIR_ADD, descriptor=tmp_path / "none")
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"something else")
    with pytest.raises(CompileError, match="is no system descriptor"):
        compile_text(TTIR_ADD, descriptor=wrong)


@needs_tt
def test_an_end_to_waiting():
    many = "\n".join(
        f"%v{at + 1} = stablehlo.add %v{at}, %v{at} : tensor<4xf32>"
        for at in range(3000)
    )
    text = f"""func.func public @main(%v0: tensor<4xf32>) -> tensor<4xf32> {{
      {many}
      return %v3000 : tensor<4xf32>
    }}"""
    with pytest.raises(CompileError, match=r"did not answer within 0\.001 seconds"):
        compile_text(text, timeout=0.001)
