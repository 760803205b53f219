"""`sdy-per-instruction-partitioning` and the stages of the export pipeline."""

import re

import pytest

from tests.differential.oracle import Oracle
from tests.differential.test_padding import same_numbers
from tests.transforms.run_pass import run_passes
from ttxdsl.errors import CompileError

NAME = "sdy-per-instruction-partitioning"
MESH = 'sdy.mesh @m = <["x"=2, "y"=2]>\n'
X = '{sdy.sharding = #sdy.sharding<@m, [{"x"}]>}'
ON_X = '{sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>}'
MATMUL = f"""{MESH}
func.func @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{"y"}}]>}},
                %b: tensor<16x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"y"}}, {{}}]>}})
    -> (tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}, {{}}], unreduced={{"y"}}>]>}} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = sdy.all_reduce {{"y"}} %0 out_sharding=<@m, [{{"x"}}, {{}}]> : tensor<8x4xf32>
  %2 = stablehlo.add %1, %1 {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}, {{}}]>]>}} : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}}"""
UNEVEN = f"""{MESH}
func.func @main(%a: tensor<7xf32> {X}) -> tensor<7xf32> {{
  %0 = stablehlo.negate %a {ON_X} : tensor<7xf32>
  %1 = stablehlo.exponential %0 {ON_X} : tensor<7xf32>
  return %1 : tensor<7xf32>
}}"""
UNEVEN_RESHARD = """sdy.mesh @m = <["x"=2, "y"=3]>
func.func @main(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<7x8xf32> {
  %0 = sdy.reshard %a <@m, [{"y"}, {"x"}]> : tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}"""
CALL = f"""{MESH}
func.func @main(%a: tensor<8xf32> {X}) -> tensor<8xf32> {{
  %0 = call @f(%a) {ON_X} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) {ON_X} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}}
func.func private @f(%a: tensor<8xf32> {X}) -> (tensor<8xf32> {X}) {{
  %0 = stablehlo.negate %a {ON_X} : tensor<8xf32>
  return %0 : tensor<8xf32>
}}"""
LOOP = f"""{MESH}
func.func @main(%a: tensor<8xf32> {X}, %n: tensor<i32>) -> tensor<8xf32> {{
  %0:2 = stablehlo.while(%i = %a, %k = %n) : tensor<8xf32>, tensor<i32>
      attributes {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}]>, <@m, []>]>}}
  cond {{
    %c = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare GT, %k, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %a {ON_X} : tensor<8xf32>
    %m = stablehlo.subtract %k, %k : tensor<i32>
    stablehlo.return %j, %m : tensor<8xf32>, tensor<i32>
  }}
  return %0#0 : tensor<8xf32>
}}"""
INLINED = """func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""
UNEVEN_PARTS = f"""{MESH}
func.func @main(%a: tensor<7x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{"y"}}]>}}) -> tensor<7xf32> {{
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}], unreduced={{"y"}}>]>}} : (tensor<7x4xf32>, tensor<f32>) -> tensor<7xf32>
  %1 = sdy.all_reduce {{"y"}} %0 out_sharding=<@m, [{{"x"}}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}}"""


def _uneven(result: str, lines: str) -> str:
    """A program of `%a` and `%b`, whose `$x` is split unevenly, with result `%r`."""
    rank = result.count("x")
    dims = ", ".join(['{"x"}', *["{}"] * (rank - 1)])
    text = f"""{MESH}
    func.func @main(%a: tensor<7x4xf32>, %b: tensor<2x4xf32>, %i: tensor<i32>,
                    %n: tensor<3x1xi32>) -> tensor<{result}> {{
      %x = sdy.all_slice [{{"x"}}, {{}}] %a out_sharding=<@m, [{{"x"}}, {{}}]> : tensor<7x4xf32>
      %c = sdy.constant dense<0> : tensor<i32>
      %z = sdy.constant dense<0.0> : tensor<f32>
      {lines}
      %w = sdy.all_gather [{dims}] %r out_sharding=<@m, [{", ".join(["{}"] * rank)}]> : tensor<{result}>
      return %w : tensor<{result}>
    }}"""
    for name, axes in (
        ("$X1", '[{"x"}]'),
        ("$X", '[{"x"}, {}]'),
        ("$Y", '[{}, {"x"}]'),
    ):
        text = text.replace(
            name, f"sdy.sharding = #sdy.sharding_per_value<[<@m, {axes}>]>"
        )
    return text


UNEVEN_OPS = {
    "constant": _uneven(
        "5xf32", "%r = sdy.constant {$X1} dense<[1., 2., 3., 4., 5.]> : tensor<5xf32>"
    ),
    "equal constant": _uneven(
        "5xf32", "%r = sdy.constant {$X1} dense<3.0> : tensor<5xf32>"
    ),
    "barrier": _uneven("7x4xf32", "%r = stablehlo.optimization_barrier {$X} %x : tensor<7x4xf32>"),
    "update": _uneven("7x4xf32", "%u = stablehlo.slice %x [0:7, 1:3] {$X} : (tensor<7x4xf32>) -> tensor<7x2xf32>\n %r = stablehlo.dynamic_update_slice %x, %u, %i, %i {$X} : (tensor<7x4xf32>, tensor<7x2xf32>, tensor<i32>, tensor<i32>) -> tensor<7x4xf32>"),
    "gather": _uneven("7x3xf32", """%r = "stablehlo.gather"(%x, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 7, 1>}> {$X} : (tensor<7x4xf32>, tensor<3x1xi32>) -> tensor<7x3xf32>"""),
    "scatter": _uneven("7x4xf32", """%u = stablehlo.slice %x [0:7, 1:4] {$X} : (tensor<7x4xf32>) -> tensor<7x3xf32>
      %r = "stablehlo.scatter"(%x, %n, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {$X} : (tensor<7x4xf32>, tensor<3x1xi32>, tensor<7x3xf32>) -> tensor<7x4xf32>"""),
    "complex": _uneven("7x4xf32", "%k = stablehlo.complex %x, %x {$X} : tensor<7x4xcomplex<f32>>\n %r = stablehlo.imag %k {$X} : (tensor<7x4xcomplex<f32>>) -> tensor<7x4xf32>"),
    "pad": _uneven("9x4xf32", """%s = stablehlo.slice %a [0:6, 0:4] : (tensor<7x4xf32>) -> tensor<6x4xf32>
      %t = sdy.all_slice [{"x"}, {}] %s out_sharding=<@m, [{"x"}, {}]> : tensor<6x4xf32>
      %r = stablehlo.pad %t, %z, low = [2, 0], high = [1, 0], interior = [0, 0] {$X} : (tensor<6x4xf32>, tensor<f32>) -> tensor<9x4xf32>"""),
    "branches": _uneven("7x4xf32", """%y = stablehlo.negate %x {$X} : tensor<7x4xf32>
      %r = "stablehlo.case"(%i) ({ stablehlo.return %x : tensor<7x4xf32>
      }, { stablehlo.return %y : tensor<7x4xf32> }) {$X} : (tensor<i32>) -> tensor<7x4xf32>"""),
    "two branches": _uneven("7x4xf32", """%p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %r = "stablehlo.if"(%p) ({ stablehlo.return %x : tensor<7x4xf32> }, {
        %y = stablehlo.negate %x {$X} : tensor<7x4xf32>
        stablehlo.return %y : tensor<7x4xf32> }) {$X} : (tensor<i1>) -> tensor<7x4xf32>"""),
    "loop": _uneven("7x4xf32", """%y = stablehlo.negate %x {$X} : tensor<7x4xf32>
      %r, %l = stablehlo.while(%p = %x, %q = %c) : tensor<7x4xf32>, tensor<i32>
          attributes {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>, <@m, []>]>}
      cond {
        %t = sdy.constant dense<3> : tensor<i32>
        %g = stablehlo.compare LT, %q, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %g : tensor<i1>
      } do {
        %o = sdy.constant dense<1> : tensor<i32>
        %f = stablehlo.add %p, %y {$X} : tensor<7x4xf32>
        %h = stablehlo.add %q, %o : tensor<i32>
        stablehlo.return %f, %h : tensor<7x4xf32>, tensor<i32>
      }"""),
}  # fmt: skip
UNEVEN_SLICE = _uneven(
    "7x2xf32",
    "%r = stablehlo.dynamic_slice %x, %c, %i, sizes = [7, 2] {$X} : (tensor<7x4xf32>, tensor<i32>, tensor<i32>) -> tensor<7x2xf32>",
)
"""C++ keeps the size of the slice, and fails its own verifier."""
SCATTER = f"""{MESH}
func.func @main(%a: tensor<5x2xf32>, %i: tensor<4x1xi32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}, %u: tensor<4x2xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}) -> tensor<5x2xf32> {{
  %0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{}}, {{}}], unreduced={{"x"}}>]>}} : (tensor<5x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}, {{}}]> : tensor<5x2xf32>
  return %1 : tensor<5x2xf32>
}}"""
SUM = f"""{MESH}
func.func @main(%a: tensor<7x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{}}]>}}) -> tensor<4xf32> {{
  %c = sdy.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{}}], unreduced={{"x"}}>]>}} : (tensor<7x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}}"""
PROGRAMS = {
    **UNEVEN_OPS,
    "sum": SUM,
    "parts of a scatter": SCATTER,
    "product": MATMUL,
    "uneven": UNEVEN,
    "uneven reshard": UNEVEN_RESHARD,
    "calls": CALL,
    "loop": LOOP,
    "inlined mesh": INLINED,
}
OPTIONS = (
    "",
    "{filter=add}",
    '{filter="selectLow=1"}',
    '{filter="selectHigh=0,all_reduce"}',
    "{replica-count=4}",
    "{partition-count=4 enable-halo-exchange=false}",
)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_like_the_newest(newest: Oracle, text: str):
    theirs = newest.run_all([(text, NAME + options) for options in OPTIONS])
    for options, expected in zip(OPTIONS, theirs, strict=True):
        assert newest.run(run_passes(text, NAME + options)) == expected, options


@pytest.mark.parametrize(
    "text",
    [*PROGRAMS.values(), UNEVEN_PARTS, UNEVEN_SLICE],
    ids=[*PROGRAMS, "uneven parts", "uneven slice"],
)
def test_it_computes_the_same(text: str):
    after = run_passes(text, NAME)
    assert after.count("sdy.manual_computation") >= 1
    assert same_numbers(text, after, 0)


def test_the_filter_counts_from_zero_and_looks_at_names():
    def chosen(options: str) -> list[str]:
        after = run_passes(MATMUL, f"{NAME}{{filter={options}}}")
        left = ("stablehlo.dot_general %a,", "sdy.all_reduce", "stablehlo.add %1")
        return [name.split()[0] for name in left if name not in after]

    assert chosen('"selectLow=1,selectHigh=1"') == ["sdy.all_reduce"]
    assert "sdy.all_reduce" not in chosen("dot")
    assert chosen('"selectLow=7"') == []
    # a number that is none says nothing, and neither does an empty word
    assert len(chosen('"selectLow=?, ,"')) == 3


def test_what_is_not_said_to_be_parts_is_not_summed():
    unmarked = MATMUL.replace(', unreduced={"y"}', "")
    with pytest.raises(CompileError, match="does not say that it is parts"):
        run_passes(unmarked, f"{NAME}{{filter=all_reduce}}")


def test_several_meshes_are_refused():
    text = f"""{MESH}sdy.mesh @k = <["z"=4]>
    func.func @main(%a: tensor<8xf32> {X}) -> tensor<8xf32> {{
      %0 = stablehlo.negate %a {{sdy.sharding = #sdy.sharding_per_value<[<@k, [{{"z"}}]>]>}} : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}"""
    with pytest.raises(CompileError, match="are over different meshes"):
        run_passes(text, NAME)


STAGES = (
    "unspecified",
    "resolve-permutation-factors",
    "reshard-to-collectives",
    "optimize-collectives",
    "pad-for-divisibility",
    "resolve-single-device-sharding",
    "convert-global-to-local",
)
BEFORE_RESHARDS = f"""{MESH}
func.func @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"x"}}, {{"y"}}]>}},
                %b: tensor<16x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"y"}}, {{}}]>}})
    -> (tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{"x"}}]>}}) {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}, {{}}]>]>}} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}}"""


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("more", ["", " replica-count=4", " inline-meshes=false"])
def test_stages_like_the_newest(newest: Oracle, stage: str, more: str):
    name = "sdy-export-pipeline"
    expected = newest.run(BEFORE_RESHARDS, f"{name}{{partitioner-stage={stage}{more}}}")
    inlined = "" if "inline" in more else " inline-meshes=true"
    options = f"partitioner-stage={stage}{more}{inlined} newest=true"
    ours = run_passes(BEFORE_RESHARDS, f"{name}{{{options}}}")
    assert newest.run(ours) == expected


@pytest.mark.parametrize("text", [BEFORE_RESHARDS, UNEVEN_OPS["pad"]])
def test_stages_op_by_op_like_the_newest(newest: Oracle, text: str):
    name, stage = "sdy-export-pipeline", "partitioner-stage=convert-global-to-local"
    for chosen in ("", " per-instruction-partitioning-filter=dot"):
        options = f"{stage} enable-per-instruction-partitioning=true{chosen}"
        expected = newest.run(text, f"{name}{{{options}}}")
        ours = run_passes(text, f"{name}{{{options} newest=true inline-meshes=true}}")
        assert newest.run(ours) == expected


def test_constants_are_shared_in_the_end():
    options = "partitioner-stage=convert-global-to-local newest=true"
    after = run_passes(UNEVEN_OPS["pad"], f"sdy-export-pipeline{{{options}}}")
    constants = re.findall(r"stablehlo.constant (dense<[^:]*> : \S+)", after)
    assert len(constants) > 3
    assert len(constants) == len(set(constants))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("partitioner-stage=later", "no partitioner-stage 'later'"),
        ("enable-per-instruction-partitioning=true", "goes with partitioner-stage="),
        (
            "partitioner-stage=convert-global-to-local replica-count=2 partition-count=2",
            "no device id",
        ),
    ],
)
def test_wrong_options(options: str, message: str):
    with pytest.raises(CompileError, match=message):
        run_passes(BEFORE_RESHARDS, f"sdy-export-pipeline{{{options}}}")


RANDOM_BITS = f"""{MESH}
func.func @main(%s: tensor<2xui64>) -> (tensor<8xui32> {X}) {{
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY {{sdy.sharding = #sdy.sharding_per_value<[<@m, [{{}}]>, <@m, [{{"x"}}]>]>}} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return %1 : tensor<8xui32>
}}"""


def test_whole_random_bits():
    with pytest.raises(CompileError, match="each device would draw its shard"):
        run_passes(RANDOM_BITS, NAME)
    after = run_passes(RANDOM_BITS, f"{NAME}{{rng-bit-generator-unsafe=false}}")
    assert "sizes = [4]" in after


def test_whole_random_bits_like_the_newest(newest: Oracle):
    for options in ("", "{rng-bit-generator-unsafe=false}", "{replica-count=4}"):
        passes = f"sdy-resolve-permutation-factors{options}"
        assert newest.run(run_passes(RANDOM_BITS, passes)) == newest.run(
            RANDOM_BITS, passes
        )
