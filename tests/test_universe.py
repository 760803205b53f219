"""What `xdsl-opt` sees of the package, alone and beside a plug-in with the same names."""

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe

from ttxdsl import universe


@pytest.mark.parametrize("name", universe.DIALECTS)
def test_every_dialect_line_resolves(name: str):
    dialect = universe.UNIVERSE.all_dialects[name]()
    assert isinstance(dialect, Dialect)
    assert dialect.name == name


@pytest.mark.parametrize("name", universe.PASSES)
def test_every_pass_line_resolves(name: str):
    found = universe.UNIVERSE.all_passes[name]()
    assert issubclass(found, ModulePass)
    assert found.name == name
    assert found.__doc__


def test_names_are_found_through_the_entry_point():
    multiverse = Universe.get_multiverse()
    assert universe.DIALECTS.keys() <= multiverse.all_dialects.keys()
    assert universe.PASSES.keys() <= multiverse.all_passes.keys()


OTHER = """
from xdsl.ir import Dialect
from xdsl.universe import Universe
OTHER = Universe(all_dialects={
    "stablehlo": lambda: Dialect("stablehlo"), "other": lambda: Dialect("other")})
"""


@pytest.mark.parametrize("plugin", ["aaa", "zzz"])
def test_lives_beside_another_stablehlo(tmp_path: Path, plugin: str):
    """xdsl-jax also brings a `stablehlo`; whichever loads first, ours is used."""
    (tmp_path / "other_universe.py").write_text(OTHER)
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[xdsl.universe]\n{plugin} = other_universe:OTHER\n"
    )
    program = tmp_path / "in.mlir"
    program.write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.abs %x : tensor<2xf32>\n"
        "  return %0 : tensor<2xf32>\n}\n"
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from xdsl.universe import Universe\n"
        "names = Universe.get_multiverse().all_dialects\n"
        "assert 'other' in names\n"
        "from xdsl.tools.xdsl_opt import main\n"
        f"sys.argv = ['xdsl-opt', {str(program)!r}, '-p', 'inline']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "stablehlo.abs %x" in done.stdout
