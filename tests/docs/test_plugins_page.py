"""`docs/guide/plugins.md` followed word for word, in an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.plugins import load_plugin

PAGE = ROOT / "docs/guide/plugins.md"

_BLOCK = re.compile(r"^```\w+ title='([^\n]*)'\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def install(folder: Path, site: Path) -> None:
    """What `pip install .` puts into an environment, as the folder's pyproject says."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
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
    (tmp_path / "softcap.py").unlink()  # what is installed is what is used
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
