"""The first choice is the cheapest of all meshes, each compiled on its own here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import pytest

import ttxdsl
from tests.doctoring.jax_models import text_of
from ttxdsl.doctoring.doctor import Diagnosis, default_limit, diagnose, mesh_shapes
from ttxdsl.doctoring.groups import Family
from ttxdsl.doctoring.measure import Machine, Measurement, measure
from ttxdsl.doctoring.meshes import factorizations
from ttxdsl.errors import CompileError
from ttxdsl.program import parse_program
from ttxdsl.sharding.links import Link

DEVICES = 8


def annotated(text: str, axes: dict[str, int], chosen: list[Family]) -> str:
    """The program with shardings written into its text, an axis a family."""
    dims: dict[int, dict[int, list[str]]] = {}
    for (axis, size), family in zip(axes.items(), chosen, strict=True):
        split: set[int] = set()
        for dim in family.arguments:
            if dim.size % size == 0 and dim.argument not in split:
                split.add(dim.argument)
                dims.setdefault(dim.argument, {}).setdefault(dim.dim, []).append(axis)
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if "func.func public @main" in line)
    pieces = lines[at].split(": tensor<")
    for argument in range(len(pieces) - 1):
        shape, rest = pieces[argument + 1].split(">", 1)
        rank = len(shape.split("x")) - 1
        mine = dims.get(argument, {})
        entries = ", ".join(
            "{" + ", ".join(f'"{axis}"' for axis in mine.get(dim, [])) + "}"
            for dim in range(rank)
        )
        attribute = f" {{sdy.sharding = #sdy.sharding<@mesh, [{entries}]>}}"
        if argument < len(pieces) - 1 and rank:
            pieces[argument + 1] = f"{shape}>{attribute}{rest}"
    lines[at] = ": tensor<".join(pieces)
    mesh = ", ".join(f'"{axis}"={size}' for axis, size in axes.items())
    lines.insert(at, f"  sdy.mesh @mesh = <[{mesh}]>")
    return "\n".join(lines)


def all_meshes(
    families: tuple[Family, ...],
) -> Iterator[tuple[dict[str, int], list[Family]]]:
    """Every way to give the factors of eight to families whose arguments they divide."""
    for count in (1, 2, 3):
        for sizes in factorizations(DEVICES, count):
            if 1 in sizes:
                continue
            for chosen in combinations(families, count):
                if all(
                    any(dim.size % size == 0 for dim in family.arguments)
                    for family, size in zip(chosen, sizes, strict=True)
                ):
                    axes = {f.name: s for f, s in zip(chosen, sizes, strict=True)}
                    yield axes, list(chosen)


def compiled(text: str) -> Measurement:
    return measure(ttxdsl.load(text).partition().module, Machine())


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("attention", {"batch": 4, "heads": 2}),
        ("convolutions", {"batch": 4, "conv2_3": 2}),
        ("experts", {"batch": 4, "down_2": 2}),
    ],
)
def test_the_first_choice_is_the_cheapest_of_all(name: str, first: dict[str, int]):
    text = text_of(name)
    diagnosis = diagnose(parse_program(text), DEVICES, limit=8)
    costs = {
        tuple(axes.items()): compiled(annotated(text, axes, chosen))
        for axes, chosen in all_meshes(diagnosis.analysis.families)
    }
    tried = len(diagnosis.rows) + len(diagnosis.refused) + len(diagnosis.untried)
    assert tried == len(costs)
    cheapest = min(costs.values(), key=lambda found: (found.seconds, found.peak_bytes))
    best = diagnosis.rows[0]
    assert best.measurement.seconds == cheapest.seconds
    assert best.measurement.peak_bytes == cheapest.peak_bytes
    assert dict(best.candidate.axes) == first
    # and every row is what compiling it by itself gives
    for row in diagnosis.rows:
        assert costs[row.candidate.axes] == row.measurement


@pytest.fixture(scope="module")
def attention() -> Diagnosis:
    return diagnose(parse_program(text_of("attention")), DEVICES)


def test_rows_are_ranked_and_the_front_is_marked(attention: Diagnosis):
    times = [row.measurement.seconds for row in attention.rows]
    assert times == sorted(times)
    assert len(attention.rows) == 19 and not attention.untried
    lowest = None
    for (
        row
    ) in attention.rows:  # by time: on the front is who needs less than all before
        better = lowest is None or row.measurement.peak_bytes < lowest
        assert row.front == better, row.candidate
        if better:
            lowest = row.measurement.peak_bytes
    assert attention.rows[0].front
    assert attention.share(attention.rows[0]) == pytest.approx(8, rel=0.01)
    padded = {
        row.padding for row in attention.rows if ("heads", 4) in row.candidate.axes
    }
    assert padded == {1 - 30 / 32}


def test_what_does_not_fit_is_ranked_last():
    module = parse_program(text_of("experts"))
    limit = 300 * 1024
    diagnosis = diagnose(module, DEVICES, memory=limit, limit=12)
    fits = [row.fits for row in diagnosis.rows]
    assert fits == sorted(fits, reverse=True) and set(fits) == {True, False}
    for row in diagnosis.rows:
        assert row.fits == (row.measurement.peak_bytes <= limit)


def test_a_slow_link_changes_the_choice():
    module = parse_program(text_of("convolutions"))
    slow = Machine(link=Link(latency=1e-3, bytes_per_second=1e6))
    best = diagnose(module, DEVICES, machine=slow, limit=8).rows[0]
    assert best.measurement.bytes_sent == 0
    assert best.measurement.link_seconds == 0


SHARDED = """\
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def test_shardings_are_kept_on_other_sizes():
    diagnosis = diagnose(parse_program(SHARDED), 16)
    assert diagnosis.keeps_shardings
    rows = {row.candidate.axes: row.measurement for row in diagnosis.rows}
    tried = {(("data", 16 // size), ("model", size)) for size in (2, 4, 8, 16)}
    assert set(rows) == tried
    for axes, found in rows.items():
        text = SHARDED
        for (name, size), old in zip(axes, (2, 4), strict=True):
            text = text.replace(f'"{name}"={old}', f'"{name}"={size}')
        assert compiled(text) == found
    (refusal,) = diagnosis.refused
    assert str(refusal.candidate) == "data=16, model=1"
    assert "not divisible by 16" in refusal.reason


def test_other_processes_find_the_same(monkeypatch: pytest.MonkeyPatch):
    module = parse_program(SHARDED)
    alone = diagnose(module, 8)
    monkeypatch.setattr("ttxdsl.doctoring.doctor._WORTH_A_PROCESS", 0.0)
    steps: list[tuple[int, int]] = []
    several = diagnose(
        module, 8, jobs=2, on_step=lambda done, total: steps.append((done, total))
    )
    assert several == alone
    assert steps == [(at, 4) for at in range(1, 5)]


def test_what_is_left_out_is_said():
    diagnosis = diagnose(parse_program(text_of("layers")), 4, limit=2)
    assert len(diagnosis.rows) == 2
    assert len(diagnosis.untried) == 13
    assert not {r.candidate for r in diagnosis.rows} & set(diagnosis.untried)
    assert (default_limit(10), default_limit(4000), default_limit(10**6)) == (64, 10, 8)


def test_shapes():
    assert mesh_shapes(8) == ((8,), (4, 2), (2, 2, 2))
    assert mesh_shapes(6) == ((6,), (3, 2))
    assert all(prod(shape) == 16 for shape in mesh_shapes(16))
    assert mesh_shapes(7) == ((7,),)


@pytest.mark.parametrize(
    ("text", "devices", "message"),
    [
        (SHARDED, 1, "there is no mesh to choose for 1 device"),
        (
            "func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> { return %a : tensor<7xf32> }",
            8,
            "no argument's dimension can be split over 8 devices",
        ),
        (
            ttxdsl.load(SHARDED).partition().text,
            8,
            "partitioned for its mesh already",
        ),
        (
            SHARDED.replace("func.func", 'sdy.mesh @other = <["x"=2]>\nfunc.func'),
            8,
            "2 different meshes",
        ),
    ],
)
def test_what_cannot_be_diagnosed(text: str, devices: int, message: str):
    with pytest.raises(CompileError) as raised:
        diagnose(parse_program(text), devices)
    assert message in str(raised.value)
