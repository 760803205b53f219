"""Each optimization alone: fewer bytes, the same numbers, and its name in the program."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from ml_dtypes import bfloat16, float8_e5m2

import ttxdsl
from tests.differential.partitioning import EQUAL, partition_and_compare
from tests.sampling import sampled
from tests.transforms.collectives.optimized import (
    computes_the_same,
    launches,
    local,
    optimized,
    sent,
)
from tests.transforms.collectives.programs import CHEAPER, MESH, PROGRAMS, typed
from tests.work import calls
from ttxdsl.analysis.attribution.origins import optimizations
from ttxdsl.costs.machines import GENERIC
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.insight.why.causes.optimized import OPTIMIZED
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives import combine_collectives
from ttxdsl.transforms.collectives.optimize_collectives import (
    OLD_NAMES,
    OPTIMIZATIONS,
    OptimizeCollectivesPass,
)
from ttxdsl.transforms.collectives.program.min_cut import VertexGraph
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

SENT = {
    "sink-all-reduces": (768, 384),
    "hoist-slices": (384, 192),
    "gather-product-operands": (384, 192),
    "reduce-scatter-products": (768, 480),
    "move-all-gathers": (384, 192),
    "move-all-to-alls": (96, 48),
    "combine-collective-permutes": (160, 96),
    # as many bytes, in fewer messages
    "combine-collectives": (528, 528),
    "combine-all-reduces": (80, 56),
    "collective-cse": (96, 48),
    "collective-dce": (576, 0),
    "narrow-all-gathers": (192, 96),
    # once instead of in each of three turns
    "hoist-collectives": (576, 192),
    "sink-collectives": (1152, 384),
}
"""The bytes of each program without its optimization, and with it alone."""


@pytest.mark.parametrize("name", OPTIMIZATIONS)
def test_an_optimization_sends_less_and_changes_no_number(name: str):
    text = PROGRAMS[name]
    module = local(text)
    before = sent(module)
    optimized(module, name)
    assert (before, sent(module)) == SENT[name]
    computes_the_same(module, text)


def test_what_is_joined_is_no_more_than_xla_joins(monkeypatch: pytest.MonkeyPatch):
    few = replace(GENERIC, combine_bytes=63)
    monkeypatch.setattr(combine_collectives, "GENERIC", few)
    module = optimized(local(PROGRAMS["combine-collectives"]), "combine-collectives")
    assert launches(module) == {"all_gather": 2, "all_reduce": 3}


@pytest.mark.parametrize(("rows", "count"), [(64, 1), (4096, 2)])
def test_large_gathers_stay_where_they_are(rows: int, count: int):
    """Their values would be there for long, and latency is little of their time."""
    text = f"""{MESH}func.func @main(
        %a: {typed(f"{rows}x64", "y", "")}, %b: {typed(f"{rows}x64", "y", "")}
    ) -> ({typed(f"{rows}x64", "", "")}) {{
      %0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : tensor<{rows}x64xf32>
      %1 = stablehlo.tanh %0 : tensor<{rows}x64xf32>
      %2 = sdy.sharding_constraint %b <@mesh, [{{}}, {{}}]> : tensor<{rows}x64xf32>
      %3 = stablehlo.add %1, %2 : tensor<{rows}x64xf32>
      return %3 : tensor<{rows}x64xf32>
    }}"""
    module = optimized(local(text), "combine-collectives")
    assert launches(module) == {"all_gather": count}


@pytest.mark.parametrize(
    "name",
    [
        "sink-all-reduces",
        "hoist-slices",
        "combine-all-reduces",
        "collective-cse",
        "sink-collectives",
    ],
)
def test_a_collective_says_what_made_it(name: str):
    module = optimized(local(PROGRAMS[name]), name)
    named = {one for op in module.walk() for one in optimizations(op.location)}
    assert named == {name}


def test_every_optimization_is_explained():
    # what is not sent needs no explanation
    assert set(OPTIMIZED) == set(OPTIMIZATIONS) - {"collective-dce"}


@pytest.mark.parametrize("name", CHEAPER)
def test_what_needs_no_sending_is_not_sent(name: str):
    text, before, after = CHEAPER[name]
    module = local(text)
    assert sent(module) == before
    assert sent(optimized(module)) == after
    computes_the_same(module, text)


@pytest.mark.parametrize("text", sampled(PROGRAMS.values(), 5), ids=PROGRAMS)
def test_all_together_send_no_more_than_one(text: str):
    alone = min(sent(optimized(local(text), name)) for name in OPTIMIZATIONS)
    assert sent(local(text, optimize=True)) <= alone


@pytest.mark.parametrize(("old", "name"), OLD_NAMES.items())
def test_an_optimization_answers_to_its_old_name(old: str, name: str):
    text = PROGRAMS[name]
    alone = (OptimizeCollectivesPass((one,)) for one in (old, name))
    without = (TTStableHLOPipelinePass(without=(one,)) for one in (old, name))
    for program, passes in ((local(text), alone), (parse_program(text), without)):
        found: list[str] = []
        for one in passes:
            module = program.clone()
            with collect_remarks():
                one.apply(make_context(), module)
            found.append(str(module))
        assert found[0] == found[1] != str(program)


def test_an_unknown_name_is_refused():
    with pytest.raises(CompileError, match="no optimization 'faster'"):
        optimized(local(PROGRAMS["sink-all-reduces"]), "faster")


@pytest.mark.parametrize("seed", range(10))
def test_slices_of_what_is_gathered(seed: int):
    """Of some places, in one part or several, along one dimension or both."""
    random = Random(seed)
    lines: list[str] = []
    for at in range(random.randint(1, 3)):
        first, last = random.choice(
            ((0, 1), (2, 4), (4, 7), (1, 6), (7, 8), (0, 8), (3, 3))
        )
        start, end = random.choice(((0, 16), (3, 5), (8, 16)))
        type_ = f"tensor<{last - first}x{end - start}xf32>"
        lines.append(
            f"%{at} = stablehlo.slice %a [{first}:{last}, {start}:{end}]"
            f" : (tensor<8x16xf32>) -> {type_}"
        )
    types = ", ".join(line.rpartition(" -> ")[2] for line in lines)
    names = ", ".join(f"%{at}" for at in range(len(lines)))
    dims = random.choice(('{"y"}, {}', '{"x"}, {"y"}', '{"x", "y"}, {}', '{}, {"y"}'))
    module = parse_program(f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%a: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}})
          -> ({types}) {{
        {(chr(10) + "        ").join(lines)}
        return {names} : {types}
      }}""")
    assert partition_and_compare(module, seed)[0] == EQUAL


@pytest.mark.parametrize(
    "element, dtype",
    [
        ("f32", np.float32),
        ("bf16", bfloat16),
        ("complex<f32>", np.complex64),
        ("i32", np.int32),
        ("i1", np.bool_),
        ("f8E5M2", float8_e5m2),
    ],
)
def test_rows_of_few_devices_are_added_to_nothing(element: str, dtype: type):
    """Rows of the first and of the last of four, to the bit, as types can be added."""
    rows, one = (f"tensor<{n}x4x{element}>" for n in (8, 1))
    text = f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%a: {rows} {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}})
        -> ({one}, {one}) {{
      %0 = stablehlo.slice %a [0:1, 0:4] : ({rows}) -> {one}
      %1 = stablehlo.slice %a [7:8, 0:4] : ({rows}) -> {one}
      return %0, %1 : {one}, {one}
    }}"""
    array = np.arange(-16, 16).reshape(8, 4).astype(dtype)
    if element[0] not in "i":
        array[0], array[7] = (-0.0, np.inf, np.nan, 0.0), (0.0, -0.0, 1.0, -np.inf)
    program = ttxdsl.load(text).partition()
    added = list(ops_of_type(program.module, stablehlo.AllReduceOp))
    assert bool(added) == (element not in ("i1", "f8E5M2"))
    for form in (program, program.lower("ttnn")):
        first, last = form.simulate(array)
        assert first.tobytes() == array[:1].tobytes()
        assert last.tobytes() == array[7:].tobytes()


def _on_merged(random: Random, value: str, rows: str, at: int) -> tuple[list[str], str]:
    """Some op on [2 x 4 x .] rows of 4 numbers in one dimension, and the next value."""
    one, merged = f"%m{at}", f"tensor<{rows}x4xf32>"
    dims = len(rows.split("x"))
    match random.randrange(5):
        case 0:
            return [f"{one} = stablehlo.negate %{value} : {merged}"], one[1:]
        case 1:
            line = f"{one} = stablehlo.add %{value}, %{value} : {merged}"
            return [line], one[1:]
        case 2:
            order = [*range(1, dims + 1)]
            random.shuffle(order)
            sizes = [*rows.split("x"), "4"]
            turned = [0, *order]
            back = [turned.index(dim) for dim in range(dims + 1)]
            type_ = f"tensor<{'x'.join(sizes[dim] for dim in turned)}xf32>"
            return [
                f"%t{at} = stablehlo.transpose %{value}, dims = {turned}"
                f" : ({merged}) -> {type_}",
                f"%n{at} = stablehlo.negate %t{at} : {type_}",
                f"{one} = stablehlo.transpose %n{at}, dims = {back}"
                f" : ({type_}) -> {merged}",
            ], one[1:]
        case 3:
            small = f"tensor<{rows}xf32>"
            return [
                f"%z{at} = stablehlo.constant dense<0.0> : tensor<f32>",
                f"%t{at} = stablehlo.reduce(%{value} init: %z{at}) applies stablehlo.add"
                f" across dimensions = [{dims}] : ({merged}, tensor<f32>) -> {small}",
                f"{one} = stablehlo.broadcast_in_dim %t{at}, dims = {[*range(dims)]}"
                f" : ({small}) -> {merged}",
            ], one[1:]
        case _:
            batch = [*range(dims - 1)]
            square = f"tensor<{rows}x{rows.split('x')[-1]}xf32>"
            return [
                f"%t{at} = stablehlo.dot_general %{value}, %{value}, batching_dims = {batch}"
                f" x {batch}, contracting_dims = [{dims}] x [{dims}]"
                f" : ({merged}, {merged}) -> {square}",
                f"{one} = stablehlo.dot_general %t{at}, %{value}, batching_dims = {batch} x"
                f" {batch}, contracting_dims = [{dims}] x [{dims - 1}]"
                f" : ({square}, {merged}) -> {merged}",
            ], one[1:]


@pytest.mark.parametrize("seed", range(14))
def test_what_is_merged_and_comes_apart_again(seed: int):
    """Whatever works on it in between, and whoever else uses that."""
    random = Random(seed)
    rows = random.choice(("8", "8x3"))
    whole = f"tensor<2x4{rows[1:]}x4xf32>"
    lines = [f"%m = stablehlo.reshape %a : ({whole}) -> tensor<{rows}x4xf32>"]
    values = ["m"]
    for at in range(random.randint(1, 5)):
        more, value = _on_merged(random, random.choice(values[-2:]), rows, at)
        lines += more
        values.append(value)
    ends = random.sample(values, min(len(values), 2))
    for at, value in enumerate(ends):
        lines.append(
            f"%e{at} = stablehlo.reshape %{value} : (tensor<{rows}x4xf32>) -> {whole}"
        )
    types = ", ".join([whole] * len(ends) + [f"tensor<{rows}x4xf32>"])
    names = ", ".join([*(f"%e{at}" for at in range(len(ends))), f"%{values[-1]}"])
    rest = ", {}" * (rows.count("x") + 1)
    shardings = [
        random.choice(('{}, {"y"}', '{"x"}, {"y"}', '{}, {"x"}', '{"x"}, {}')) + rest
        for _ in range(2)
    ]
    split = [f"{{sdy.sharding = #sdy.sharding<@mesh, [{one}]>}}" for one in shardings]
    module = parse_program(f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%a: {whole} {split[0]})
          -> ({types.replace(whole, f"{whole} {split[1]}", 1)}) {{
        {(chr(10) + "        ").join(lines)}
        return {names} : {types}
      }}""")
    assert partition_and_compare(module, seed)[0] == EQUAL


def test_what_repeats_in_parts_that_are_not_equal_is_exchanged():
    """Half of three rows of six is no whole rows: nothing less is repeated."""
    module = parse_program("""
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func public @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x"}]>}) -> (tensor<8x18xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x", ?}]>}) {
        %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<1x4x1x6xf32>
        %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<1x4x1x6xf32>) -> tensor<2x4x3x6xf32>
        %2 = stablehlo.reshape %1 : (tensor<2x4x3x6xf32>) -> tensor<8x18xf32>
        return %2 : tensor<8x18xf32>
      }""")
    assert partition_and_compare(module, 0)[0] == EQUAL


def diamond(middle: int) -> VertexGraph:
    """Two sources of 3 bytes meet in a vertex that somebody needs."""
    graph = VertexGraph()
    left, right, meeting = graph.vertex(3), graph.vertex(3), graph.vertex(middle)
    for source in (left, right):
        graph.source(source)
        graph.edge(source, meeting)
    graph.sink(meeting)
    return graph


@pytest.mark.parametrize(
    ("middle", "near_sources", "price", "vertices"),
    [(5, True, 5, {3}), (7, True, 6, {1, 2}), (6, True, 6, {1, 2}), (6, False, 6, {3})],
)
def test_the_least_cut(middle: int, near_sources: bool, price: int, vertices: set[int]):
    cut = diamond(middle).least_cut(near_sources=near_sources)
    assert (cut.price, cut.vertices) == (price, vertices)


def test_axes_that_do_not_fit_are_not_apart():
    """Devices of one group along `"a":(1)2` take different slices along `"a":(3)2`."""
    text = """sdy.mesh @mesh = <["a"=6]>
      func.func @main(
          %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2}, {}]>}
      ) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a":(3)2}]>}) {
        %0 = stablehlo.negate %x : tensor<8x8xf32>
        return %0 : tensor<8x8xf32>
      }"""
    assert partition_and_compare(parse_program(text), 0)[0] == EQUAL


def test_functions_do_not_wait_for_each_other() -> None:
    """What the module says of its devices is looked up once, not for each function."""

    def work(count: int) -> int:
        functions = [
            f"""func.func @f{number}(%a: tensor<4xf32>) -> tensor<4xf32> {{
              %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{{}}]>]
                  out_shardings=[<@m, [{{}}]>] manual_axes={{"x"}}
                  (%b: tensor<4xf32>) {{ sdy.return %b : tensor<4xf32> }}
                  : (tensor<4xf32>) -> tensor<4xf32>
              return %0 : tensor<4xf32>
            }}"""
            for number in range(count)
        ]
        module = parse_program("\n".join(['sdy.mesh @m = <["x"=2]>', *functions]))
        optimize = OptimizeCollectivesPass()
        return calls(lambda: optimize.apply(make_context(), module))

    work(1)
    once, twice = work(60), work(120)
    assert twice - once < 1.1 * once


def test_collectives_of_a_chain_are_told_apart_at_once() -> None:
    """Each is made of the one before, by the same ops: none is compared with another."""

    def work(count: int) -> int:
        lines = [
            f"""%r{i} = "stablehlo.all_reduce"({f"%s{i - 1}" if i else "%b"}) <{{
              replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
              channel_handle = #stablehlo.channel_handle<handle = {i + 1}, type = 1>,
              use_global_device_ids}}> ({{
              ^bb0(%x: tensor<f32>, %y: tensor<f32>):
                %z = stablehlo.add %x, %y : tensor<f32>
                stablehlo.return %z : tensor<f32>
              }}) : (tensor<4xf32>) -> tensor<4xf32>
            %s{i} = stablehlo.tanh %r{i} : tensor<4xf32>"""
            for i in range(count)
        ]
        text = f"""sdy.mesh @m = <["x"=2]>
          func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{
            %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{{}}]>]
              out_shardings=[<@m, [{{}}]>] manual_axes={{"x"}} (%b: tensor<4xf32>) {{
              {" ".join(lines)}
              sdy.return %s{count - 1} : tensor<4xf32>
            }} : (tensor<4xf32>) -> tensor<4xf32>
            return %0 : tensor<4xf32>
          }}"""
        module = parse_program(text)
        optimize = OptimizeCollectivesPass(only=("collective-cse",))
        return calls(lambda: optimize.apply(make_context(), module))

    work(1)
    once, twice = work(40), work(80)
    assert twice - once < 1.2 * once


def test_what_an_operand_is_made_of_is_looked_at_once():
    """Squares of squares: as many ways lead to the first as it is a power."""

    def work(count: int) -> int:
        value = "tensor<8x8xf32>"
        squares = "\n".join(
            f"%{at + 1} = stablehlo.multiply %{at}, %{at} : {value}"
            for at in range(count)
        )
        text = (
            PROGRAMS["sink-all-reduces"].partition("\n")[0]
            + f"""
          func.func @main(%a: {value} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}},
              %b: {value} {{sdy.sharding = #sdy.sharding<@mesh, [{{"y"}}, {{}}]>}}) -> {value} {{
            %0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{"y"}}]> : {value}
            {squares}
            %c = stablehlo.dot_general %{count}, %b, contracting_dims = [1] x [0]
              : ({value}, {value}) -> {value}
            return %c : {value}
          }}"""
        )
        module = local(text)
        optimize = OptimizeCollectivesPass(only=("gather-product-operands",))
        return calls(lambda: optimize.apply(make_context(), module))

    work(1)
    once, twice = work(8), work(16)
    assert twice < 2.2 * once
