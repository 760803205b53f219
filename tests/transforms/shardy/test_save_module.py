"""Passes that write files write the modules that the C++ passes write."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from ttxdsl.diagnostics.errors import CompileError

PROGRAM = """
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}p2]>})
      -> tensor<8x8xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{"b"}p1, {?}]> : tensor<8x8xf32>
    %1 = stablehlo.add %0, %0 : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }"""
EXPLICIT = "enable-insert-explicit-collectives=true"
PASSES = {
    "user priorities": ("sdy-user-priority-propagate", "module-dump-directory", 2),
    "no rounds": ("sdy-op-priority-propagate", "module-dump-directory", 0),
    "export": ("sdy-export-pipeline", "dump-directory", 2),
    "collectives": ("sdy-export-pipeline", f"{EXPLICIT} dump-directory", 3),
}


@pytest.fixture(scope="module")
def writing() -> Iterator[Oracle]:
    """Who answers anew: a stored answer would have no files."""
    with closing(Oracle()) as oracle:
        yield oracle


@pytest.mark.parametrize("name", PASSES)
def test_files_like_cpp(tmp_path: Path, writing: Oracle, name: str):
    pipeline, option, count = PASSES[name]
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    run_ours(PROGRAM, f'{pipeline}{{{option}="{ours}"}}')
    writing.run(PROGRAM, f"{pipeline}{{{option}={theirs}}}")
    files = sorted(path.name for path in theirs.iterdir())
    assert len(files) == count
    assert sorted(path.name for path in ours.iterdir()) == files
    for file in files:
        expected = writing.run((theirs / file).read_text())
        assert writing.run((ours / file).read_text()) == expected, file


def test_a_folder_that_is_not_there(tmp_path: Path):
    pipeline = f'sdy-export-pipeline{{dump-directory="{tmp_path / "nowhere"}"}}'
    with pytest.raises(CompileError, match=r"00\.after_propagation\.mlir"):
        run_ours(PROGRAM, pipeline)
