"""Collectives among any groups: ttir and ttnn compute what StableHLO's groups say."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tests.conversion.compare import assert_same_numbers, op_names, to_ttir, to_ttnn
from tests.dialects.tt_text import parse
from tests.sampling import sampled
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

MESH = '"x"=2, "y"=4]'
SPLIT = '[{"x"}, {"y"}]'
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
SUM = """({
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %z = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %z : tensor<f32>
})"""

GROUPS: dict[str, list[list[int]]] = {
    "minor axis": [[0, 1, 2, 3], [4, 5, 6, 7]],
    "major axis": [[0, 4], [1, 5], [2, 6], [3, 7]],
    "both axes": [[0, 1, 2, 3, 4, 5, 6, 7]],
    "both axes, minor first": [[0, 4, 1, 5, 2, 6, 3, 7]],
    "minor half of an axis": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "major half of an axis": [[0, 2], [1, 3], [4, 6], [5, 7]],
    "diagonal": [[0, 5], [1, 6], [2, 7], [3, 4]],
    "backward": [[3, 2, 1, 0], [7, 6, 5, 4]],
    "each by itself": [[device] for device in range(8)],
    "an axis and a half": [[0, 1, 4, 5], [2, 3, 6, 7]],
    "no pattern": [[0, 7, 2, 5], [1, 3, 4, 6]],
}
REGULAR = ("minor axis", "major axis", "both axes", "both axes, minor first")


def tensor(shape: tuple[int, int]) -> str:
    return f"tensor<{shape[0]}x{shape[1]}xf32>"


def program(
    body: str,
    result: tuple[int, int] = (8, 8),
    *,
    mesh: str = MESH,
    sharding: str = SPLIT,
    local: tuple[int, int] = (8, 8),
    parts: tuple[int, int] = (2, 4),
) -> str:
    """A manual computation of `%r` from `%a`; shapes are local ones."""
    whole = tensor((local[0] * parts[0], local[1] * parts[1]))
    answer = tensor((result[0] * parts[0], result[1] * parts[1]))
    return f"""
    module {{
      sdy.mesh @mesh = <[{mesh}>
      func.func @main(%arg: {whole}) -> {answer} {{
        %m = sdy.manual_computation(%arg) in_shardings=[<@mesh, {sharding}>]
            out_shardings=[<@mesh, {sharding}>] manual_axes={{"x", "y"}}
            (%a: {tensor(local)}) {{
          {body}
          sdy.return %r : {tensor(result)}
        }} : ({whole}) -> {answer}
        return %m : {answer}
      }}
    }}
    """


def groups_text(groups: list[list[int]]) -> str:
    return (
        f"replica_groups = dense<{groups}> : tensor<{len(groups)}x{len(groups[0])}xi64>"
    )


def all_gather(groups: list[list[int]], dim: int) -> str:
    result = [8, 8]
    result[dim] *= len(groups[0])
    shape = (result[0], result[1])
    return program(
        f'%r = "stablehlo.all_gather"(%a) <{{all_gather_dim = {dim} : i64, {CHANNEL}, '
        f"{groups_text(groups)}, use_global_device_ids}}> : "
        f"({tensor((8, 8))}) -> {tensor(shape)}",
        shape,
    )


def all_reduce(groups: list[list[int]], body: str = SUM) -> str:
    return program(
        f'%r = "stablehlo.all_reduce"(%a) <{{{CHANNEL}, {groups_text(groups)}, '
        f"use_global_device_ids}}> {body} : ({tensor((8, 8))}) -> {tensor((8, 8))}"
    )


def reduce_scatter(groups: list[list[int]]) -> str:
    shape = (8 // len(groups[0]), 8)
    return program(
        f'%r = "stablehlo.reduce_scatter"(%a) <{{scatter_dimension = 0 : i64, {CHANNEL}, '
        f"{groups_text(groups)}, use_global_device_ids}}> {SUM} : "
        f"({tensor((8, 8))}) -> {tensor(shape)}",
        shape,
    )


def all_to_all(groups: list[list[int]], split: int, concat: int) -> str:
    count, result = len(groups[0]), [8, 8]
    result[split] //= count
    result[concat] *= count
    shape = (result[0], result[1])
    return program(
        f'%r = "stablehlo.all_to_all"(%a) <{{split_dimension = {split} : i64, '
        f"concat_dimension = {concat} : i64, split_count = {count} : i64, {CHANNEL}, "
        f"{groups_text(groups)}}}> : ({tensor((8, 8))}) -> {tensor(shape)}",
        shape,
    )


def collective_broadcast(groups: list[list[int]]) -> str:
    return program(
        f'%r = "stablehlo.collective_broadcast"(%a) <{{{CHANNEL}, '
        f"{groups_text(groups)}}}> : ({tensor((8, 8))}) -> {tensor((8, 8))}"
    )


def programs_of(groups: list[list[int]]) -> list[str]:
    """A program of every collective that takes groups."""
    return [
        *(all_gather(groups, dim) for dim in (0, 1)),
        *(all_to_all(groups, *dims) for dims in ((0, 1), (1, 0), (0, 0))),
        all_reduce(groups),
        reduce_scatter(groups),
        collective_broadcast(groups),
    ]


def collectives(text: str) -> list[str]:
    """The ttnn ops that send data, in order."""
    sending = ("all_gather", "all_reduce", "reduce_scatter", "all_to_all")
    names = (name.removeprefix("ttnn.") for name in op_names(to_ttnn(text)))
    return [name for name in names if name in (*sending, "collective_permute")]


EVERY_GROUP = pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS.keys())


@EVERY_GROUP
@pytest.mark.parametrize(("split", "concat"), sampled([(0, 1), (1, 0), (0, 0)], 1))
def test_all_to_all(groups: list[list[int]], split: int, concat: int):
    assert_same_numbers(all_to_all(groups, split, concat))


@EVERY_GROUP
def test_collective_broadcast(groups: list[list[int]]):
    assert_same_numbers(collective_broadcast(groups))


def test_a_gather_by_a_table_names_its_op():
    with collect_remarks() as remarks:
        convert_stablehlo_to_ttir(parse(all_reduce(GROUPS["diagonal"])))
    told = [remark.message for remark in remarks if "mesh order" in remark.message]
    assert told[0].startswith("'stablehlo.all_reduce' op needs groups that are not")


@pytest.mark.parametrize("name", REGULAR)
def test_whole_axes_are_one_step_an_axis(name: str):
    groups = GROUPS[name]
    steps = 2 if len(groups[0]) == 8 else 1
    assert collectives(all_gather(groups, 0)) == ["all_gather"] * steps
    assert collectives(all_reduce(groups)) == ["all_reduce"] * steps
    assert collectives(reduce_scatter(groups)) == ["reduce_scatter"] * steps
    assert collectives(all_to_all(groups, 0, 1)) == ["all_to_all"] * steps


def test_a_reduction_of_no_kind_is_gathered_and_folded():
    # (p + 1) (q + 1) - 1 is associative
    body = SUM.replace(
        "%z = stablehlo.add %p, %q",
        "%s = stablehlo.add %p, %q : tensor<f32>\n"
        "%t = stablehlo.multiply %p, %q : tensor<f32>\n"
        "%z = stablehlo.add %s, %t",
    )
    text = all_reduce(GROUPS["minor axis"], body)
    assert collectives(text) == ["all_gather"]
    assert_same_numbers(text)


PERMUTE = (
    f'%r = "stablehlo.collective_permute"(%a) <{{{CHANNEL}, source_target_pairs = '
    f"dense<[[0, 3], [3, 7], [7, 1]]> : tensor<3x2xi64>}}> : "
    f"({tensor((8, 8))}) -> {tensor((8, 8))}"
)


@pytest.mark.parametrize(
    ("sharding", "local"),
    [
        ('[{"y", "x"}, {}]', (2, 32)),
        ('[{"x", "y"}, {}]', (2, 32)),
        ('[{"x"}, {"y"}]', (8, 8)),
        ('[{}, {"y"}]', (16, 8)),
        ("[{}, {}]", (16, 32)),
        ('[{"y":(1)2}, {}]', (8, 32)),
        ('[{"y":(2)2}, {"x"}]', (8, 16)),
        ('[{"y":(2)2, "x"}, {"y":(1)2}]', (4, 16)),
    ],
)
def test_every_distribution(sharding: str, local: tuple[int, int]):
    parts = (16 // local[0], 32 // local[1])
    body = f"%r = stablehlo.negate %a : {tensor(local)}"
    text = program(body, local, sharding=sharding, local=local, parts=parts)
    assert_same_numbers(text)


RESHARD = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg: tensor<16x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, {before}>}})
    -> (tensor<16x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, {after}>}}) {{
  %0 = stablehlo.negate %arg : tensor<16x32xf32>
  %1 = sdy.reshard %0 <@mesh, {after}> : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}}
"""


def resharded(before: str, after: str) -> ModuleOp:
    """The program, partitioned."""
    module = parse(RESHARD.format(before=before, after=after))
    TTStableHLOPipelinePass().apply(Context(), module)
    return module


RESHARDS = [
    ("[{}, {}]", '[{"y"}, {}]', "ttnn.mesh_partition"),
    ("[{}, {}]", '[{"y", "x"}, {}]', "ttnn.mesh_partition"),
    ("[{}, {}]", '[{"y":(1)2}, {}]', "ttnn.slice_dynamic"),
    ('[{"x"}, {}]', '[{"x"}, {"y":(2)2}]', "ttnn.slice_dynamic"),
    ('[{"x"}, {}]', '[{}, {"x"}]', "ttnn.all_to_all"),
    ('[{"y"}, {}]', "[{}, {}]", "ttnn.all_gather"),
    ('[{"y":(1)2}, {}]', "[{}, {}]", "ttnn.all_gather"),
]


@pytest.mark.parametrize(("before", "after", "op"), RESHARDS)
def test_reshards_through_the_whole_pipeline(before: str, after: str, op: str):
    text = str(resharded(before, after)).replace("<sharded>", "<unsharded>")
    assert op in op_names(assert_same_numbers(text))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (all_reduce([[0, 1, 2, 3]]), CompileError, "exactly one group"),
        (
            program(PERMUTE.replace("[7, 1]", "[7, 9]")),
            CompileError,
            "name devices .9.",
        ),
    ],
)
def test_refused(text: str, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        to_ttir(text)


@pytest.mark.parametrize(
    ("sharding", "local", "held"),
    [
        ('[{"y", "x"}, {}]', (2, 32), [0, 2, 4, 6, 1, 3, 5, 7]),
        ('[{"y":(2)2}, {"x"}]', (8, 16), [0, 2, 0, 2, 1, 3, 1, 3]),
    ],
)
def test_data_on_the_devices_by_a_table(
    sharding: str, local: tuple[int, int], held: list[int]
):
    parts = (16 // local[0], 32 // local[1])
    text = program(f"%r = stablehlo.negate %a : {tensor(local)}", local,
                   sharding=sharding, local=local, parts=parts)  # fmt: skip
    status = "{ttcore.shard_status = #ttcore.shard_status<sharded>}"
    type = "tensor<16x32xf32>"
    text = text.replace(f"(%arg: {type}) -> {type}",
                        f"(%arg: {type} {status}) -> ({type} {status})")  # fmt: skip
    assert text.count(status) == 2
    ttir = to_ttir(text)
    shards = [op for op in ttir.walk() if op.name == "ttir.mesh_shard"]
    tables = [list(op.properties["device_parts"].get_values()) for op in shards]
    assert tables == [held, held]
    assert "collective_permute" not in str(ttir)
    assert_same_numbers(text)
