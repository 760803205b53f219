"""`ttxdsl run --engine mpi`: processes that mpiexec starts, few of them."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.differential.sharded_models import sharded_models
from tests.interpreters.rank_programs import PROGRAMS
from ttxdsl.api import Program
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.run import Runner

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/mlp_data_tensor_parallel.mlir"
BESIDE_PYTHON = Path(sys.executable).with_name("mpiexec")

MPIEXEC = str(BESIDE_PYTHON) if BESIDE_PYTHON.exists() else shutil.which("mpiexec")

needs_mpi = pytest.mark.skipif(
    MPIEXEC is None or find_spec("mpi4py") is None,
    reason="mpi4py or mpiexec is not installed: pip install 'ttxdsl[mpi]'",
)

LONGEST = 300
"""Seconds after which something hangs."""


def mpiexec(processes: int, *arguments: str, cwd: Path = ROOT):
    """Python with these arguments, as so many processes."""
    assert MPIEXEC is not None
    # root, and more processes than processors
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [MPIEXEC, "-n", str(processes), sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def work(processes: int, *what: str):
    return mpiexec(processes, "-m", "tests.cli.mpi_processes", *what)


COMMAND = ("-c", "import sys; from ttxdsl.cli.main import script; sys.exit(script())")


@needs_mpi
def test_processes() -> None:
    """The virtual mesh's numbers to the bit, and arrays of any size."""
    found = work(4, "programs,large")
    assert found.returncode == 0, found.stderr
    expected = [f"{name}: same bits" for name in (*PROGRAMS, "large")]
    assert found.stdout.splitlines() == expected


@needs_mpi
def test_the_command(tmp_path: Path) -> None:
    """Inputs from a file of which each process maps its parts, results by owners."""
    program = Program.of_text(EXAMPLE.read_text(), str(EXAMPLE))
    runner = Runner(program.module)
    inputs = random_inputs(runner.function, 1)
    np.savez(tmp_path / "in.npz", *inputs)
    found = mpiexec(
        2,
        *COMMAND,
        *("run", str(EXAMPLE), "--engine", "mpi", "--json"),
        *("--inputs", "in.npz", "--results", "out"),
        cwd=tmp_path,
    )
    assert found.returncode == 0, found.stderr
    said = json.loads(found.stdout)
    assert said["ok"] and said["engine"] == "mpi"
    assert [use["process"] for use in said["processes"]] == [0, 1]
    # of process 0, one of two rows of devices: half of the batch, all of the weights
    *weights, batch = (x.nbytes for x in inputs)
    assert said["processes"][0]["shards"] == sum(weights) + batch // 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result0.npy"]
    (expected,) = runner.run(inputs)
    written = np.load(tmp_path / "out/result0.npy")
    # sums of hundreds, in another order; some are near zero
    np.testing.assert_allclose(written, expected, rtol=1e-5, atol=1e-3)


@needs_mpi
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("fails", "process 1 of 2: error: process one cannot do it"),
        ("apart", "the processes wait for each other and none goes on"),
    ],
)
def test_failures_end_all(what: str, said: str) -> None:
    found = work(2, what)
    assert found.returncode == 1
    assert said in found.stderr
    if what == "fails":
        assert found.stderr.count("\n") == 1
    else:
        lines = found.stderr.splitlines()[1:]
        assert [line.split("(")[0].strip() for line in lines] == [
            "process 0: waits in an op",
            "process 1: waits in the end of the program",
        ]


def test_without_mpiexec_or_mpi4py(capfd, monkeypatch) -> None:
    from ttxdsl.cli.main import main

    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert main(["run", str(EXAMPLE), "--engine", "mpi"]) == 1
    assert "pip install 'ttxdsl[mpi]'" in capfd.readouterr().err
    assert main(["run", str(EXAMPLE), "--results", "out"]) == 1
    assert "--results and --no-compare are of --engine mpi" in capfd.readouterr().err


@needs_mpi
@pytest.mark.fuzz
@pytest.mark.parametrize("processes", [2, 4, 8])
def test_models(processes: int, tmp_path: Path) -> None:
    """Models as JAX shards them, the transformer's training step and FSDP among them."""
    names: list[str] = []
    for name, text in sharded_models().items():
        device = Program.of_text(text, name).partition()
        for form, program in (
            ("stablehlo", device),
            ("ttnn", device.lower("ttir").lower("ttnn")),
        ):
            names.append(str(tmp_path / f"{name}.{form}.mlir"))
            Path(names[-1]).write_text(program.text)
    found = work(processes, "files", *names)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [f"{name}: same bits" for name in names]


@needs_mpi
@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("processes", "options", "said"),
    [
        (3, (), "3 processes cannot have even parts of the 8 devices"),
        (2, ("--max-memory", "10KiB"), "the run needs"),
        (2, ("--no-compare", "--results", "/no/such"), "cannot write to '/no/such'"),
        (2, ("--inputs", "no.npz"), "cannot read inputs from 'no.npz'"),
    ],
)
def test_refusals(processes: int, options: tuple[str, ...], said: str) -> None:
    found = mpiexec(
        processes, *COMMAND, "run", str(EXAMPLE), "--engine", "mpi", *options
    )
    assert found.returncode == 1
    assert said in found.stderr
    assert found.stderr.startswith(f"process 0 of {processes}: ")
    assert found.stderr.count("error:") == 1


@needs_mpi
@pytest.mark.fuzz
def test_processes_in_other_collectives() -> None:
    found = work(4, "others")
    assert found.returncode == 1
    assert "process 1 is in a collective with other processes than 0, 1" in found.stderr
