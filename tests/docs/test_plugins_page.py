"""`docs/guide/plugins.md` followed word for word, in an environment of its own."""

import dataclasses
import inspect
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from ttxdsl.cli.main import main
from ttxdsl.conversion.stablehlo_to_ttir.builder import TTIRBuilder
from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering
from ttxdsl.conversion.ttir_to_ttnn.lowering import TTNNLowering
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.doors import ENGINES
from ttxdsl.loading.plugins import load_plugin

PAGE = ROOT / "docs/guide/plugins.md"

_BLOCK = re.compile(r"^```\w+ title='([^\n]*)'\n(.*?)^```$", re.MULTILINE | re.DOTALL)


OTHERS = ("byhand", "latecap", "opcount", "serving", "twice")
"""Packages whose `pyproject.toml` is the first one's, with another name."""


def install(folder: Path, site: Path, own_name: str | None = None) -> None:
    """What `pip install .` puts into an environment, as the folder's pyproject says.

    `latecap` replaces a rule of the page's first package: it is named on the command line.
    """
    written = (folder / "pyproject.toml").read_text()
    if own_name is not None:
        written = re.sub(r"\[[^\n]*xdsl.universe.*?\n\n", "", written, flags=re.DOTALL)
        written = written.replace("softcap", own_name)
    project = tomllib.loads(written)["project"]
    if own_name == "latecap":
        project["entry-points"] = {}
    name, version = project["name"], project["version"]
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    )
    lines: list[str] = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (site / f"{name}.py").write_bytes((folder / f"{name}.py").read_bytes())


def written(folder: Path) -> None:
    """The files of the page; blocks of one name are one file."""
    files: dict[str, list[str]] = {}
    for name, block in _BLOCK.findall(PAGE.read_text()):
        files.setdefault(name, []).append(block)
    for name, blocks in files.items():
        (folder / name).write_text("\n\n".join(blocks))


def test_the_page_builds_a_plugin(tmp_path: Path):
    written(tmp_path)
    install(tmp_path, tmp_path / "site")
    for name in OTHERS:
        install(tmp_path, tmp_path / "site", name)
    for name in ("softcap", *OTHERS):  # what is installed is what is used
        (tmp_path / f"{name}.py").unlink()
    script = (
        "from pathlib import Path; from tests.docs.pages import run_page;"
        f"run_page(Path({str(PAGE)!r})); import softcap; print(softcap.__file__)"
    )
    path = os.pathsep.join([str(tmp_path / "site"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.strip() == str(tmp_path / "site/softcap.py")


def test_a_plugin_that_cannot_be_loaded_is_one_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    program = tmp_path / "in.mlir"
    program.write_text("func.func @main() { return }")
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name")
    assert main(["compile", str(program), "--plugin", str(broken)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: cannot load the plug-in '{broken}': ModuleNotFound")
    with pytest.raises(CompileError, match="it is no Python file"):
        load_plugin(str(tmp_path / "nowhere.py"))


def test_two_plugins_with_one_name_are_an_error(tmp_path: Path):
    """As `xdsl-opt` has it; whichever came last would be used."""
    for name in ("first", "second"):
        (tmp_path / f"{name}_universe.py").write_text(
            "from xdsl.ir import Dialect\nfrom xdsl.universe import Universe\n"
            "UNIVERSE = Universe(all_dialects={'extra': lambda: Dialect('extra')})\n"
        )
    script = (
        "import ttxdsl; ttxdsl.load_plugin('first_universe.py');"
        "ttxdsl.load_plugin('second_universe.py'); ttxdsl.load('func.func @f() {return}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "'second_universe.py' both bring 'extra'" in done.stderr


def names_in(page: str) -> set[str]:
    return set(
        re.findall(r"(?<![\w.])[a-z_]+", " ".join(re.findall(r"`([^`]*)`", page)))
    )


@pytest.mark.parametrize("given", [Lowering, TTIRBuilder, TTNNLowering])
def test_the_page_names_all_that_a_rule_is_given(given: type):
    fields = {one.name for one in dataclasses.fields(given)}
    methods = {n for n, one in vars(given).items() if inspect.isfunction(one)}
    public = {name for name in fields | methods if not name.startswith("_")}
    assert public - names_in(PAGE.read_text()) == set()


def test_a_name_that_is_taken_is_an_error():
    with pytest.raises(CompileError, match="the engine 'mpi' is there already"):
        ENGINES.register("mpi", None)
    with pytest.raises(CompileError, match="there is no engine 'mpl'"):
        ENGINES["mpl"]


RULE = """
import numpy as np
from xdsl.context import Context

from tests.docs.test_plugins_page import PROGRAM
from ttxdsl import api
from ttxdsl.conversion.stablehlo_to_ttir.lowering import lowers


@lowers("lib.odd")
def odd(low, op):
    {body}


api.Program.of_text(PROGRAM, "odd.mlir").lower("ttir")
"""

PROGRAM = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @lib.odd(%x, %y)
    : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "return low.builder.elementwise('add', low[op.inputs[0]], low[op.inputs[1]])",
            "'ttir.add' of values of ranks 2 and 1: reshape one",
        ),
        ("return []", "its rule gives 0 values for 1 results"),
    ],
)
def test_a_rule_that_does_not_fit_is_a_diagnostic(body: str, message: str):
    done = subprocess.run(
        [sys.executable, "-c", RULE.format(body=body)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ttxdsl.diagnostics.errors.UnsupportedError" in done.stderr
    assert message in done.stderr
