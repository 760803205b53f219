"""Programs as JAX 0.12 writes them are run and counted as what JAX 0.10 writes.

Their groups are said by mesh axes, where 0.10 lists devices.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import ttxdsl
from tests.bridges.jax.shard_map_programs import FOLDER, PROGRAMS
from tests.sampling import sampled
from ttxdsl.cli.main import main
from ttxdsl.costs.machines import GENERIC
from ttxdsl.insight.doctor.measure import measure
from ttxdsl.insight.why.costs import measure as figures
from ttxdsl.loading.program import parse_program

BY_AXES = "stablehlo.replica_group_mesh_axes"


def counted(program: ttxdsl.Program) -> list[tuple[object, ...]]:
    return [
        (one.kind, one.axes_text, one.group_size, one.tensor, one.bytes_per_device)
        for one in program.collectives()
    ]


@pytest.mark.parametrize("name", sampled(PROGRAMS, 6))
def test_numbers_and_bytes(name: str):
    """JAX's numbers in every form, and the bytes of the groups that are listed."""
    given = PROGRAMS[name]
    listed = given.text()
    assert BY_AXES not in listed
    program = ttxdsl.load(FOLDER / f"{name}.mlir").partition()
    arguments = given.arguments()
    wanted = np.asarray(given.function(*arguments))
    for form in (program, program.lower("ttir"), program.lower("ttnn")):
        (found,) = form.simulate(*arguments)
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)
    sent = counted(program)
    assert sent == counted(ttxdsl.load(listed).partition())
    assert all(bytes_ for *_, bytes_ in sent) and sent


def test_axes_say_the_groups_of_most():
    texts = [(FOLDER / f"{name}.mlir").read_text() for name in PROGRAMS]
    assert sum(BY_AXES in text for text in texts) > 10


@pytest.fixture
def both(tmp_path: Path) -> tuple[str, str]:
    """The same program with groups by axes, and listed."""
    listed = tmp_path / "listed.mlir"
    listed.write_text(PROGRAMS["matmul"].text())
    return str(FOLDER / "matmul.mlir"), str(listed)


BYTES = 6 * 8 * 16 * 4 // 4


def collectives_in(answer: object) -> list[tuple[object, ...]]:
    """Every collective of an answer, wherever it is: its kind, axes and bytes."""
    if isinstance(answer, list):
        return [one for item in answer for one in collectives_in(item)]
    if not isinstance(answer, dict):
        return []
    found = [one for item in answer.values() for one in collectives_in(item)]
    bytes_ = answer.get("bytes", answer.get("bytes_per_device"))
    if {"kind", "axes"} <= answer.keys() and isinstance(bytes_, int):
        found.append((answer["kind"], answer["axes"], bytes_))
    return found


@pytest.mark.parametrize("command", ["run", "why", "report"])
def test_commands_count_the_same(
    command: str,
    both: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    more = ["-o", str(tmp_path / "r.html")] if command == "report" else []
    for path in both:
        assert main([command, path, "--json", *more]) == 0
        found = collectives_in(json.loads(capsys.readouterr().out))
        assert set(found) == {("all_reduce", "y", BYTES)}


def test_diff_finds_no_difference(
    both: tuple[str, str], capsys: pytest.CaptureFixture[str]
):
    assert main(["diff", *both, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equal"]
    assert found["a"]["bytes_sent"] == found["b"]["bytes_sent"] == BYTES


def test_doctor_and_why_measure_the_same(both: tuple[str, str]):
    """The doctor tries no other mesh for what is partitioned; this is what it weighs."""
    for path in both:
        module = parse_program(ttxdsl.load(path).partition().text)
        assert measure(module, GENERIC).bytes_sent == BYTES
        assert figures(module, module, GENERIC).bytes == BYTES


def test_a_budget_that_does_not_hold(
    both: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for number, path in enumerate(both):
        for limit, code in ((BYTES, 0), (BYTES - 1, 1)):
            copy = tmp_path / f"{number}.mlir"
            copy.write_text(f"{Path(path).read_text()}\n// COMM: bytes<={limit}\n")
            assert main(["budget", str(copy)]) == code
            capsys.readouterr()
