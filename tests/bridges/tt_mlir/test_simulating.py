"""tt-mlir's own programs on the virtual mesh, stage by stage against the program."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.utils.exceptions import InterpretationError

from tests.bridges.tt_mlir.oracle import ask, needs_tt
from tests.bridges.tt_mlir.programs import program_on_first
from tests.bridges.tt_mlir.sharded_stages import (
    BEGIN,
    END,
    THEIRS,
    WAYS,
    Way,
    all_outcomes,
    counts,
    differs,
    outcome_of,
    theirs,
)
from tests.bridges.tt_mlir.through import PAGE
from tests.differential.corpus import programs
from tests.differential.sharded_models import sharded_models
from tests.sampling import sampled
from ttxdsl.bridges.tt_mlir import Answer, StageCheck, check_stages
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.check.trials import exact_results
from ttxdsl.interpreters.inputs import random_inputs, tagged_inputs
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import parse_program, program_text

EXAMPLES = Path(__file__).parents[3] / "examples"
NEWEST_JAX = Path(__file__).parents[2] / "frontends" / "jax_0_12"

pytestmark = needs_tt

CHEAP = (
    "all_gather", "all_to_all", "ppermute", "sharded_matmul",
    "reduce_scatter", "shard_map_partial", "constraint_open", "pmax", "abs_complex64", "cond", "fori",
    "conv2d_grad", "avg_pool", "max_pool_grad", "take_fill", "sort_descending",
    "cumlogsumexp_reverse", "reduce_any", "select_scalar", "constant_u64",
)  # fmt: skip
"""Programs that between them have every collective, and most of the ops."""

DIFFERENT = {
    # 64-bit unsigned constants lose their upper half
    "bernoulli": "ttir", "randint": "ttir", "uniform": "ttir",
    # the second key of a sort is dropped
    "sort_keys": "ttir",
    # the form with tanh becomes the exact one
    "gelu": "ttnn", "gelu_grad": "ttnn",
    "model_mlp_data_parallel": "ttnn", "model_mlp_tensor_parallel": "ttnn",
    # padding in the order of ttir
    "conv2d_stride_grad": "ttnn", "conv2d_transposed": "ttnn",
    # numbers that i32 cannot hold, or that it can and i8 cannot
    "clz_int64": "ttnn", "constant_i64": "ttnn", "int_pow_int8": "ttnn",
    # division by zero, which StableHLO leaves open
    "divmod_int32": "ttnn", "divmod_int64": "ttnn", "divmod_int8": "ttnn",
    "divmod_uint32": "ttnn", "divmod_uint8": "ttnn",
    # random bits that are the device's choice, and those of ui64 that are made as ui32
    "rng_bits": "ttir", "rng_bits_philox": "ttir",
}  # fmt: skip
"""Programs of which a stage differs, and the first that does; see
`docs/evidence/tt-mlir.md`."""


def checked(text: str) -> list[StageCheck] | None:
    """Every stage with random inputs, and with tagged ones if data is only moved.

    None if tt-mlir made nothing of it, or we cannot run the program itself.
    """
    answer = ask(text)
    if "shlo_compiler" not in answer.stages:
        return None
    try:
        module = parse_program(text)
        function = Runner(module).function
        trials = [random_inputs(function, 0)]
        if all(exact_results(function)):
            trials.append(tagged_inputs(function))
        return [
            check for inputs in trials for check in check_stages(answer, module, inputs)
        ]
    except (CompileError, InterpretationError):
        return None


def first_different(checks: list[StageCheck]) -> str | None:
    """The first stage that differs."""
    stages = ("shlo_compiler", "ttir", "ttnn")
    wrong = {check.stage for check in checks if differs(check)}
    return next((stage for stage in stages if stage in wrong), None)


@pytest.mark.parametrize("name", CHEAP)
def test_what_tt_mlir_makes_computes_the_same(name: str):
    (program,) = programs(name)
    checks = checked(program.pretty)
    assert checks is not None
    assert {check.stage for check in checks} == {"shlo_compiler", "ttir", "ttnn"}
    assert [str(check) for check in checks if not check.ok] == []


@pytest.mark.parametrize("name", ["gelu", "sort_keys", "uniform"])
def test_what_differs_is_found(name: str):
    (program,) = programs(name)
    checks = checked(program.pretty)
    assert checks is not None
    assert first_different(checks) == DIFFERENT[name]


V, X = "tensor<4xf32>", "tensor<2x4x3x3xf32>"
NORM = "<{epsilon = 1.0E-2 : f32, feature_index = 1 : i64}>"
ROWS = """func.func @main(%c: tensor<{all}>, %u: tensor<{part}>, %p: tensor<i32>) -> tensor<{all}> {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %c, %u, {places} : (tensor<{all}>, tensor<{part}>, {types}) -> tensor<{all}>
  return %0 : tensor<{all}>
}}"""  # fmt: skip


def updated(whole: str, part: str, places: str) -> str:
    """A cache of which a part is written at a place of the run."""
    count = places.count("%")
    return ROWS.format(
        all=whole, part=part, places=places, types=", ".join(["tensor<i32>"] * count)
    )


FORMS = {
    "batch_norm_training": f"""func.func @main(%x: {X}, %s: {V}, %o: {V}) -> {X} {{
  %1:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {NORM} : ({X}, {V}, {V}) -> ({X}, {V}, {V})
  return %1#0 : {X}
}}""",
    "batch_norm_inference": f"""func.func @main(%x: {X}, %s: {V}, %o: {V}, %m: {V}, %v: {V}) -> {X} {{
  %w = stablehlo.abs %v : {V}
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %w) {NORM} : ({X}, {V}, {V}, {V}, {V}) -> {X}
  return %1 : {X}
}}""",
    "one row of each batch": updated("3x5x2xf32", "3x1x2xf32", "%z, %p, %z"),
    "two rows of each batch": updated("3x5x2xf32", "3x2x2xf32", "%z, %p, %z"),
    "keys of each head": updated("2x3x8x4xf32", "2x3x1x4xf32", "%z, %z, %p, %z"),
    "keys before heads": updated("2x8x3x4xf32", "2x1x3x4xf32", "%z, %p, %z, %z"),
    "rows of the last dimension": updated("3x8xf32", "3x1xf32", "%z, %p"),
    "the same rows of all batches": """func.func @main(%c: tensor<2x3x5x2xf32>, %p: tensor<4x1xi32>) -> tensor<2x3x4x2xf32> {
  %0 = "stablehlo.gather"(%c, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3],
    collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>,
    slice_sizes = array<i64: 2, 3, 1, 2>}> : (tensor<2x3x5x2xf32>, tensor<4x1xi32>) -> tensor<2x3x4x2xf32>
  return %0 : tensor<2x3x4x2xf32>
}""",
    "conv3d with a bias": """func.func @main(%x: tensor<1x4x4x4x32xf32>, %k: tensor<3x3x3x32x32xf32>, %b: tensor<32xf32>) -> tensor<1x4x4x4x32xf32> {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f],
    window = {stride = [1, 1, 1], pad = [[1, 1], [1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x4x32xf32>, tensor<3x3x3x32x32xf32>) -> tensor<1x4x4x4x32xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [4] : (tensor<32xf32>) -> tensor<1x4x4x4x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x4x4x4x32xf32>
  return %2 : tensor<1x4x4x4x32xf32>
}""",
}  # fmt: skip
"""Programs that tt-mlir writes with ops whose operands we once took for others."""


@pytest.mark.parametrize("name", sampled(FORMS, 4))
def test_operands_are_what_tt_mlir_means(name: str):
    checks = checked(FORMS[name])
    assert checks is not None and len(checks) >= 3
    assert [str(check) for check in checks if not check.ok] == []


@pytest.mark.parametrize("name", ["all_to_all", "sharded_matmul", "cond", "conv2d"])
@pytest.mark.parametrize("stage", ["shlo_compiler", "ttir", "ttnn"])
def test_what_we_print_is_read_by_tt_mlir(name: str, stage: str):
    (program,) = programs(name)
    printed = program_text(parse_program(ask(program.pretty).stages[stage]))
    assert program_text(parse_program(printed)) == printed
    again = ask(printed)
    assert again.parsed, again.error


SHARDED: tuple[tuple[str, Way, str | None], ...] = (
    *((one.alone[0], "alone", one.stage) for one in THEIRS if one.alone),
    *((one.through[0], "through", one.stage) for one in THEIRS if one.through),
    # sums of complex numbers, results that are rounded, counted loops, prepared weights
    ("matmul_complex", "alone", None),
    *(
        (name, "through", None)
        for name in ("reduce_mean_all", "reduce_var_all", "scanned_layers", "conv3d")
    ),
)
"""The smallest of each kind that differs, some that do not, and the stage."""


@pytest.mark.parametrize(("name", "way", "stage"), sampled(SHARDED, 8))
def test_sharded_programs(name: str, way: Way, stage: str | None):
    outcome = outcome_of(program_on_first(name), way)
    assert outcome.why is None
    assert outcome.stage == stage, outcome.checks


def test_what_is_at_fault_inside_a_manual_computation():
    """Not the computation, nor constants that others have the lines of."""
    outcome = outcome_of(program_on_first("gelu_grad"), "through")
    (ops,) = (check.ops for check in outcome.checks if check.ops)
    assert {one.op for one in ops} == {"ttnn.multiply"}
    assert {one.why for one in ops} == {"not what 'stablehlo.multiply' computes there"}


def test_a_program_whose_devices_differ_where_it_says_they_do_not():
    text = program_on_first("psum_groups")
    function = Runner(parse_program(text)).function
    with pytest.raises(CompileError, match=r"on one device: .*replicas differ"):
        check_stages(ask(text), text, random_inputs(function, 0))


@pytest.mark.fuzz
@pytest.mark.parametrize("way", WAYS)
def test_every_sharded_program(way: Way):
    """`THEIRS` is all that differs. The page of both: `python -m tests.bridges.tt_mlir.sharded_stages`."""
    found = all_outcomes(way)
    stages = {name: one.stage for name, one in found.items() if one.stage is not None}
    assert stages == theirs(way)
    column = counts(found)
    at = WAYS.index(way)
    written = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    cells = [line.split("|") for line in written.splitlines() if line.startswith("|")]
    rows = {row[1].strip(): row[2 + at].strip() for row in cells if len(row) == 5}
    assert {name: rows[name] for name in column} == {
        n: str(c) for n, c in column.items()
    }


MATMUL = """
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(
      %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
      %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}
  ) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.negate %0 : tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}
"""


def _matmul_with(stage: str, old: str, new: str) -> tuple[StageCheck, ...]:
    """The stages of a product, one text of which somebody broke."""
    answer = ask(MATMUL)
    assert old in answer.stages[stage]
    stages = answer.stages | {stage: answer.stages[stage].replace(old, new, 1)}
    function = Runner(parse_program(MATMUL)).function
    return check_stages(Answer(stages, None, True), MATMUL, random_inputs(function, 0))


def test_a_wrong_axis_is_blamed_on_its_stage_and_op():
    sound, ttir, ttnn = _matmul_with(
        "ttir",
        "reduce_type = #ttcore.reduce_type<sum>",
        "reduce_type = #ttcore.reduce_type<max>",
    )
    assert sound.ok and ttnn.ok
    assert not ttir.ok and "elements differ" in str(ttir.why)
    assert ttir.ops and ttir.ops[0].op == "ttir.all_reduce"
    assert ttir.ops[0].line == 8


def test_a_use_after_deallocation_is_an_error():
    answer = ask(MATMUL)
    text = answer.stages["ttnn"]
    line = next(one for one in text.splitlines() if '"ttnn.deallocate"' in one)
    with pytest.raises(CompileError, match="uses a tensor that is deallocated before"):
        parse_program(text.replace(line, f"{line}\n{line}", 1))


def _corpus() -> Iterator[tuple[str, str]]:
    for program in programs():
        yield program.name, program.pretty
    for name, text in sharded_models().items():
        yield f"model_{name}", text
    for path in (*sorted(EXAMPLES.glob("*.mlir")), *sorted(NEWEST_JAX.glob("*.mlir"))):
        yield path.name, path.read_text()


@pytest.mark.fuzz
def test_every_program_of_the_corpus():
    """All that tt-mlir makes, and what we print of it: `DIFFERENT` is all there is."""
    different: dict[str, str] = {}
    refused: dict[str, str] = {}
    texts = ran = printed = 0
    reached = dict.fromkeys(("shlo_compiler", "ttir", "ttnn", "ttnn, sharded"), 0)
    for name, text in _corpus():
        texts += 1
        stages = ask(text).stages
        for stage in reached:
            sharded = "sdy.sharding" in text or "sdy.manual" in text
            first, _, more = stage.partition(", ")
            reached[stage] += first in stages and (not more or sharded)
        checks = checked(text)
        if checks is None:
            continue
        ran += 1
        stage = first_different(checks)
        if stage is not None:
            different[name] = stage
        for stage in ("ttir", "ttnn"):
            made = ask(text).stages.get(stage)
            if made is None:
                continue
            printed += 1
            again = ask(program_text(parse_program(made)))
            if not again.parsed:
                refused[f"{name} {stage}"] = str(again.error)
    report = os.environ.get("FUZZ_REPORT")
    if report:
        with Path(report).open("a") as file:
            print(
                json.dumps(
                    {"texts": texts, "reached": reached, "run": ran, "printed": printed}
                    | {"refused": refused, "differ": different}
                ),
                file=file,
            )
    assert refused == {}
    assert different == DIFFERENT
    assert ran > 400
