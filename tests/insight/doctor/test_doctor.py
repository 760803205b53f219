"""The first choice is the cheapest of all meshes, each compiled on its own here."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

import ttxdsl
from tests.attack.bombs import meshes
from tests.insight.doctor.jax_models import MODELS, jax, text_of
from tests.insight.why.test_state import step
from tests.sampling import sampled
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.costs.links import Link
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.doctor import Diagnosis, Row, diagnose
from ttxdsl.insight.doctor.groups import Analysis, Family, analyze
from ttxdsl.insight.doctor.jax_code import jax_code
from ttxdsl.insight.doctor.measure import Measurement, compile_candidate, measure
from ttxdsl.insight.doctor.meshes import (
    BATCH_KEPT,
    Candidate,
    Constraint,
    apply_candidate,
    assignments,
    candidate_of,
    factorizations,
    remove_shardings,
)
from ttxdsl.insight.doctor.schemes import FULLY_SHARDED
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.inline import InlinePass

DEVICES = 8
EXAMPLES = Path(__file__).parents[3] / "examples"


def annotated(text: str, axes: list[tuple[list[Family], int]]) -> str:
    """The program with a mesh and shardings written into its text."""
    dims: dict[int, dict[int, list[str]]] = {}
    for number, (chosen, size) in enumerate(axes):
        split: set[int] = set()
        for dim in (dim for family in chosen for dim in family.arguments):
            if dim.size % size == 0 and dim.argument not in split:
                split.add(dim.argument)
                dims.setdefault(dim.argument, {}).setdefault(dim.dim, []).append(
                    f'"a{number}"'
                )
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if "func.func public @main" in line)
    pieces = lines[at].split(": tensor<")
    for argument, piece in enumerate(pieces[1:]):
        shape, rest = piece.split(">", 1)
        rank = len(shape.split("x")) - 1
        mine = dims.get(argument, {})
        entries = ", ".join(
            f"{{{', '.join(mine.get(dim, []))}}}" for dim in range(rank)
        )
        attribute = f"{{sdy.sharding = #sdy.sharding<@mesh, [{entries}]>}}"
        pieces[argument + 1] = f"{shape}> {attribute}{rest}"
    lines[at] = ": tensor<".join(pieces)
    mesh = ", ".join(f'"a{at}"={size}' for at, (_, size) in enumerate(axes))
    lines.insert(at, f"  sdy.mesh @mesh = <[{mesh}]>")
    return "\n".join(lines)


def on_one_axis(analysis: Analysis, size: int) -> list[tuple[int, ...]]:
    """Families alone and the largest sets of which no value has two, by trying all."""
    able = [
        at
        for at, family in enumerate(analysis.families)
        if any(dim.size % size == 0 for dim in family.arguments)
    ]
    fine = [
        chosen
        for count in range(1, len(able) + 1)
        for chosen in combinations(able, count)
        if all(len(together & set(chosen)) < 2 for together in analysis.touched)
    ]
    return [
        chosen
        for chosen in fine
        if len(chosen) == 1 or not any(set(chosen) < set(other) for other in fine)
    ]


def all_meshes(
    analysis: Analysis, devices: int
) -> Iterator[list[tuple[list[Family], int]]]:
    """Every way to share the factors of a number of devices among the families."""
    for count in (1, 2, 3):
        seen: set[frozenset[tuple[tuple[int, ...], int]]] = set()
        for sizes in factorizations(devices, count):
            if 1 in sizes:
                continue
            for chosen in product(*(on_one_axis(analysis, size) for size in sizes)):
                used = [family for families in chosen for family in families]
                mesh = frozenset(zip(chosen, sizes, strict=True))
                if len(set(used)) == len(used) and mesh not in seen:
                    seen.add(mesh)
                    yield [
                        ([analysis.families[at] for at in families], size)
                        for families, size in sorted(mesh)
                    ]


def key(axes: list[tuple[list[Family], int]]) -> frozenset[tuple[str, int]]:
    return frozenset(("+".join(f.name for f in chosen), size) for chosen, size in axes)


def is_sharded(candidate: Candidate) -> bool:
    """Whether an axis splits the batch and parameters, whose dimensions values have.

    Those of the solver may.
    """
    names = {name for name, _ in candidate.axes}
    if names <= {"data", "model"}:
        return True
    return "batch+experts" in names or any(
        name.startswith(FULLY_SHARDED) for name in names
    )


def compiled(text: str) -> Measurement:
    module = parse_program(text)
    TTStableHLOPipelinePass().apply(make_context(), module)
    return measure(module, Machine())


@pytest.mark.parametrize(
    ("name", "devices", "first"),
    sampled(
        [
            ("attention", 8, {"batch": 4, "heads": 2}),
            ("convolutions", 4, {"batch": 4}),
            ("experts", 4, {"down_1": 2, "down_2": 2}),
        ],
        1,
    ),
)
def test_the_first_choice_is_the_cheapest_of_all(
    name: str, devices: int, first: dict[str, int]
):
    text = text_of(name)
    diagnosis = diagnose(parse_program(text), devices, limit=18)
    costs = {
        key(axes): compiled(annotated(text, axes))
        for axes in all_meshes(diagnosis.analysis, devices)
    }
    tried = [one.candidate for one in (*diagnosis.rows, *diagnosis.refused)] + list(
        diagnosis.untried
    )
    assert len([one for one in tried if not is_sharded(one)]) == len(costs)
    cheapest = min(costs.values(), key=lambda found: (found.seconds, found.peak_bytes))
    best = next(row for row in diagnosis.rows if not is_sharded(row.candidate))
    assert best.measurement.seconds == cheapest.seconds
    assert best.measurement.peak_bytes == cheapest.peak_bytes
    assert dict(best.candidate.axes) == first
    # and every row is what compiling it by itself gives
    for row in diagnosis.rows:
        if not is_sharded(row.candidate):
            assert costs[frozenset(row.candidate.axes)] == row.measurement


@pytest.fixture(scope="module")
def attention() -> Diagnosis:
    return diagnose(parse_program(text_of("attention")), DEVICES)


def test_rows_are_ranked_and_the_front_is_marked(attention: Diagnosis):
    times = [row.measurement.seconds for row in attention.rows]
    assert times == sorted(times)
    rows = [row for row in attention.rows if "data" not in dict(row.candidate.axes)]
    assert len(rows) == 19 + 2 and not attention.untried
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
        row.candidate.padding
        for row in attention.rows
        if ("heads", 4) in row.candidate.axes
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


def test_several_meshes_are_made_one_first():
    line = 'sdy.mesh @line = <["line"=8]>\nsdy.mesh @none = <[]>\n'
    two = line + SHARDED.replace('<@mesh, [{"data"}', '<@line, [{"line":(1)2}')
    assert (
        diagnose(parse_program(two), 16).rows
        == diagnose(parse_program(SHARDED), 16).rows
    )


MANUAL = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.negate %b : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.negate %0 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
"""


def test_a_manual_computation_takes_other_sizes_of_its_axes():
    diagnosis = diagnose(parse_program(MANUAL), 8)
    sizes = [tuple(dict(row.candidate.axes).values()) for row in diagnosis.rows]
    assert sorted(sizes) == [(1, 8), (2, 4), (4, 2), (8, 1)]
    assert not diagnosis.refused


def test_megatrons_mesh_is_a_candidate():
    """One axis splits the heads, the hidden layer and the vocabulary together."""
    module = parse_program((EXAMPLES / "transformer_block.mlir").read_text())
    (written,) = [
        row.measurement
        for row in diagnose(module, 8).rows
        if row.candidate.axes == (("data", 2), ("model", 4))
    ]
    remove_shardings(module)
    InlinePass().apply(make_context(), module)
    analysis = analyze(entry_function(module))
    candidates = [candidate_of(analysis, one) for one in assignments(analysis, 8)]
    (megatron,) = [
        one
        for one in candidates
        if len(one.axes) == 2 and str(one) == "batch=2, arg0_0+arg2_0+heads=4"
    ]
    assert compile_candidate(module, megatron, Machine()) == written


def test_other_processes_find_the_same(monkeypatch: pytest.MonkeyPatch):
    module = parse_program(SHARDED)
    alone = diagnose(module, 8)
    monkeypatch.setattr("ttxdsl.loading.processes._WORTH_A_PROCESS", 0.0)
    steps: list[tuple[int, int]] = []
    several = diagnose(
        module, 8, jobs=2, on_step=lambda done, total: steps.append((done, total))
    )
    assert several == alone
    assert steps == [(at, 4) for at in range(1, 5)]


def test_too_many_devices_or_sizes():
    module = parse_program(meshes.on_mesh(meshes.axes([2] + [1] * 200), "[{}, {}]"))
    with pytest.raises(CompileError, match="1073741824 devices: at most 1048576"):
        diagnose(module, 2**30)
    with pytest.raises(
        CompileError, match="201 axes can have 20301 sizes of 4 devices"
    ) as raised:
        diagnose(module, 4, all_axes=True)
    assert raised.value.hint == "leave out --all-axes"


@pytest.mark.parametrize(
    ("text", "devices", "message"),
    [
        (SHARDED, 1, "there is no mesh to choose for 1 device"),
        (
            "func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> { return %a : tensor<7xf32> }",
            8,
            "no argument's dimension can be split over 8 devices",
        ),
        (ttxdsl.load(SHARDED).partition().text, 8, "partitioned for its mesh already"),
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


def _repeated(count: int, element: str = "i32") -> str:
    """A product that is done so often, in a loop."""
    zero, one, most = (
        ("0", "1", str(count)) if element == "i32" else ("0.0", "1.0", f"{count}.0")
    )
    return f"""\
func.func public @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {{
  %zero = stablehlo.constant dense<{zero}> : tensor<{element}>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<{element}>, tensor<64x64xf32>
  cond {{
    %most = stablehlo.constant dense<{most}> : tensor<{element}>
    %p = stablehlo.compare LT, %i, %most : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<{one}> : tensor<{element}>
    %next = stablehlo.add %i, %one : tensor<{element}>
    %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %next, %z : tensor<{element}>, tensor<64x64xf32>
  }}
  return %r#1 : tensor<64x64xf32>
}}
"""


def test_a_loop_costs_all_its_turns():
    once, often = (diagnose(parse_program(_repeated(n)), 4) for n in (1, 40))
    for a, b in zip(once.rows, often.rows, strict=False):
        assert b.measurement.operations == pytest.approx(
            40 * a.measurement.operations, rel=0.01
        )
    known = diagnose(parse_program(_repeated(40, "f32")), 4, trip_count=40)
    unknown = diagnose(parse_program(_repeated(40, "f32")), 4)
    assert {row.measurement.unknown_loops for row in known.rows} == {0}
    assert {row.measurement.unknown_loops for row in unknown.rows} == {1}
    assert known.operations == pytest.approx(40 * unknown.operations, rel=0.01)


# --- what everybody tries ----------------------------------------------------------


@pytest.fixture(scope="module")
def scanned() -> Diagnosis:
    return diagnose(parse_program(text_of("scanned")), DEVICES)


def row_of(diagnosis: Diagnosis, text: str) -> Row:
    return next(row for row in diagnosis.rows if str(row.candidate) == text)


def test_data_tensor_and_fully_sharded_are_always_compiled(scanned: Diagnosis):
    compiled = {str(row.candidate) for row in scanned.rows}
    assert {"batch=8", "fsdp=8", "batch=2, fsdp=4"} <= compiled
    whole = row_of(scanned, "batch=8").measurement.argument_bytes
    assert any(
        len(row.candidate.axes) == 2
        and ("batch", 4) in row.candidate.axes
        and row.measurement.argument_bytes < 0.6 * whole
        for row in scanned.rows
    )
    # and first, where only a few are compiled
    few = diagnose(parse_program(text_of("scanned")), DEVICES, limit=2)
    assert {str(row.candidate) for row in few.rows} <= {"batch=8", "fsdp=8"}


def test_what_a_loop_goes_through_is_not_split(scanned: Diagnosis):
    """Eight layers could be split by eight devices, which then wait for each other."""
    stacked = [one for one in scanned.analysis.families if one.stacked]
    assert {str(dim) for one in stacked for dim in one.arguments} == {
        "p['up'].0",
        "p['down'].0",
    }
    tried = [*(row.candidate for row in scanned.rows), *scanned.untried]
    split = {str(d) for one in tried for dims in one.splits or () for d in dims}
    assert split == {"x.0", "x.1"} | {
        f"p['{name}'].{dim}" for name in ("up", "down") for dim in (1, 2)
    }


def lowered(
    diagnosis: Diagnosis, candidate: Candidate, function: Any
) -> tuple[str, dict[str, Any]]:
    """The program of JAX with the code that is printed, and what that code defines."""
    space: dict[str, Any] = {"jax": jax, "P": jax.sharding.PartitionSpec}
    exec("\n".join(jax_code(candidate, diagnosis.arguments)), space)
    names = dict(zip(("p", "x"), MODELS["scanned"][1], strict=True))

    def annotated_leaf(path: Any, leaf: Any) -> Any:
        key = jax.tree_util.keystr(path).removeprefix("['").replace("']", "", 1)
        spec = space["specs"].get(key, jax.sharding.PartitionSpec())
        sharding = jax.sharding.NamedSharding(space["mesh"], spec)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    given = jax.tree_util.tree_map_with_path(annotated_leaf, names)
    made = partial(function, space)
    return jax.jit(made).lower(given["p"], given["x"]).as_text(), space


@pytest.mark.parametrize("name", ["batch=8", "batch=2, fsdp=4", ""])
def test_the_code_is_what_was_compiled(scanned: Diagnosis, name: str):
    """Run the code that is printed: JAX's program costs what the row says."""
    row = row_of(scanned, name) if name else scanned.rows[0]

    def model(_: dict[str, Any], p: Any, x: Any) -> Any:
        return MODELS["scanned"][0](p, x)

    text, _ = lowered(scanned, row.candidate, model)
    assert compiled(text) == row.measurement


def test_constraints_inside(scanned: Diagnosis):
    """Products that keep their batch, as JAX writes them into the model."""
    # where they change nothing, as for fsdp=8, the row is left out
    kept = [
        str(row.candidate) for row in scanned.rows if row.candidate.note == BATCH_KEPT
    ]
    assert all("down_1=" in name for name in kept)
    candidate = replace(
        row_of(scanned, "fsdp=8").candidate,
        note=BATCH_KEPT,
        constraints=tuple(
            Constraint.of_batch(product, ("fsdp",))
            for product in scanned.analysis.products
        ),
    )
    module = parse_program(text_of("scanned"))
    InlinePass().apply(make_context(), module)
    measurement = compile_candidate(module, candidate, Machine(), None)
    code = "\n".join(jax_code(candidate, scanned.arguments))
    (line,) = {one for one in code.split("\n") if "= keep(" in one}
    assert "jax_models.py:" in code

    def model(space: dict[str, Any], p: Any, x: Any) -> Any:
        def kept(x: Any) -> Any:
            here = {**space, "x": x}
            exec(line.strip("# "), here)
            return here["x"]

        return MODELS["scanned"][0](p, x, kept)

    text, _ = lowered(scanned, candidate, model)
    assert text.count("sdy.sharding_constraint") == 2
    assert compiled(text) == measurement


def test_state_comes_back_as_it_went_in():
    """What an argument becomes is split as it is, in what is compiled and in the code."""
    text = step(results=False)
    diagnosis = diagnose(parse_program(text), DEVICES, limit=8, ignore_shardings=True)
    assert diagnosis.becomes == {0: 0, 1: 1, 2: 2, 3: 3}
    for row in diagnosis.rows:
        module = parse_program(text)
        remove_shardings(module)
        function = entry_function(module)
        apply_candidate(module, function, row.candidate)
        for argument, result in diagnosis.becomes.items():
            given = sdy.get_func_argument_sharding(function, argument)
            assert given == sdy.get_func_result_sharding(function, result)
    best = diagnosis.rows[0].candidate
    code = list(jax_code(best, diagnosis.arguments, becomes=diagnosis.becomes))
    assert "# out_shardings: 4 results that arguments become as these" in code
