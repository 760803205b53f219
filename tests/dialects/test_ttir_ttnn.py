"""ttir and ttnn: the same ops, with and without destinations, under one set of checks."""

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.dialects.tt_text import parse, program
from ttxdsl.dialects import ttir, ttnn

FULL = "shard_direction = #ttcore.shard_direction<full_to_shard>"
BACK = "shard_direction = #ttcore.shard_direction<shard_to_full>"
DEVICES = "shard_type = #ttcore.shard_type<devices>"
SUM = "reduce_type = #ttcore.reduce_type<sum>"
NONE = "reduce_type = #ttcore.reduce_type<invalid>"
ALONG = "cluster_axis = 1 : ui32"
GATHER = "all_gather_dim = 0 : si32"
EXCHANGE = f"split_dim = 0 : si32, concat_dim = 0 : si32, {ALONG}"
PAIRS = "source_target_pairs = dense<{}> : tensor<{}xi64>".format
SUMMING = "keep_dim = false, dim_arg ="
AS_IT_IS = "transpose_a = false, transpose_b = false"

# op, properties, inputs (without destination), results, message; for both dialects
REFUSED: list[tuple[str, str, str, str, str]] = [
    ("reshape", "shape = [7 : i32]", "2x3xf32", "7xf32", "different numbers"),
    ("reshape", "shape = [6 : i32]", "2x3xf32", "3x2xf32", "expected 6"),
    ("permute", "permutation = array<i64: 0, 0>", "2x3xf32", "2x3xf32", "no permut"),
    ("concat", "dim = 2 : si32", "2x3xf32 1x3xf32", "3x3xf32", "dim is 2"),
    ("concat", "dim = 0 : si32", "2x3xf32 1x4xf32", "3x3xf32", "not only in dimension"),
    (
        "slice_static",
        "begins = [2 : i32], ends = [9 : i32], step = [1 : i32]",
        "6xf32",
        "7xf32",
        r"\[2:9:1\] is no slice",
    ),
    ("slice_dynamic", "", "4xf32 2xi32 1xi32", "2xf32", "begins must be"),
    ("slice_dynamic", "", "4xf32 1xi32 1xi32", "5xf32", "cannot have shape"),
    ("embedding", "", "5xf32 9x3xf32", "5x3xf32", "indices have elements of"),
    ("embedding", "", "5xi32 9xf32", "5xf32", "expected rows and columns"),
    ("sum", f"{SUMMING} [2 : i32]", "2x3xf32", "2xf32", "dim_arg is 2"),
    ("sum", f"{SUMMING} [0 : i32, 0 : i32]", "2x3xf32", "3xf32", "a dimension twice"),
    ("sum", f"{SUMMING} [0 : i32]", "2xf32", "f64", "must stay"),
    ("matmul", AS_IT_IS, "2x3xf32 4x3xf32", "2x3xf32", "contracted dimensions differ"),
    ("constant", "value = dense<1> : tensor<2xi32>", "", "3xi32", "the value"),
    ("where", "", "2x3xf32 2x3xf32 2x3xf32", "2x3xf32", "condition has elements"),
    ("add", "", "2x3xf32 2xf32", "2x3xf32", "does not stretch"),
    ("add", "", "1x2x3xf32 2x3xf32", "2x3xf32", "does not stretch"),
    ("add", "", "2x3xf32 2x2xf32", "2x3xf32", "does not stretch"),
    ("add", "", "2x3xf32 2x3xf64", "2x3xf32", "must be the same"),
    ("lt", "", "2xf32 2xf32", "2xf32", "expected i1"),
    ("logical_and", "", "2xi8 2xi8", "2xi1", "must be the same"),
    ("bitcast_convert", "", "2xf32", "2xi8", "different bit widths"),
    ("abs", "", "@2xf32", "2xf32", "different places: mesh"),
    ("cumsum", "dim = 1 : {dim}", "2xf32", "2xf32", "dim is 1"),
    (
        "sort",
        "dim = 0 : {sort}, descending = false, stable = true",
        "3xf32",
        "3xf32 3xf32",
        "indices have elements",
    ),
]

# (collective, properties, operand, result); the operand is on the mesh 2x4
COLLECTIVES = [
    ("all_gather", f"all_gather_dim = 0 : si32, {ALONG}", 2, 8),
    ("all_gather", "all_gather_dim = 0 : si32, cluster_axis = 0 : ui32", 2, 4),
    ("all_reduce", f"{SUM}, cluster_axis = 1 : ui32", 8, 8),
    ("reduce_scatter", f"{SUM}, scatter_dim = 0 : si32, cluster_axis = 1 : ui32", 8, 2),
    ("mesh_partition", "dim = 0 : si32, cluster_axis = 1 : ui32", 8, 2),
    ("all_to_all", EXCHANGE, 8, 8),
    ("collective_permute", PAIRS("[[0, 1], [1, 0]]", "2x2"), 8, 8),
]

REFUSED_COLLECTIVES = [
    ("all_gather", "all_gather_dim = 0 : si32, cluster_axis = 1 : ui32", 2, 4, "4 dev"),
    ("all_gather", f"all_gather_dim = 1 : si32, {ALONG}", 2, 8, "is 1"),
    ("all_gather", f"{GATHER}, cluster_axis = 2 : ui32", 2, 8, "2 axes"),
    ("all_reduce", f"{SUM}, cluster_axis = 1 : ui32", 8, 4, "keeps the shape"),
    ("all_reduce", f"{NONE}, {ALONG}", 8, 8, "cannot reduce with invalid"),
    ("reduce_scatter", f"{SUM}, scatter_dim = 0 : si32, {ALONG}", 6, 1, "split in 4"),
    ("mesh_partition", "dim = 0 : si32, cluster_axis = 1 : ui32", 8, 4, "4 devices"),
    ("all_to_all", EXCHANGE, 6, 6, "does not split among 4"),
    ("collective_permute", PAIRS("[[0, 1], [1, 1]]", "2x2"), 8, 8, "appears in two"),
    ("collective_permute", PAIRS("[[0, 8]]", "1x2"), 8, 8, "has devices 0 to 7"),
    ("collective_permute", PAIRS("[0, 1]", "2"), 8, 8, "expected one"),
]

SUMMED = (
    "shard_type = #ttcore.shard_type<identity>, shard_shape = array<i64: 1>, "
    "shard_dims = array<i64: -1, -1>"
)

# (properties, full, shard, message or None); mesh 2x4
MESH_SHARDS = [
    (f"{DEVICES}, shard_shape = array<i64: 2, 4>, shard_dims = array<i64: 0, 1>",
     "8x8xf32", "@4x2xf32", None),
    (f"{DEVICES}, shard_shape = array<i64: 8, 1>, shard_dims = array<i64: 0, 0>",
     "8x8xf32", "@1x8xf32", None),
    (f"{DEVICES}, shard_shape = array<i64: 1, 4>, shard_dims = array<i64: -1, 1>",
     "8x8xf32", "@8x2xf32", None),
    ("shard_type = #ttcore.shard_type<replicate>, shard_shape = array<i64>, "
     "shard_dims = array<i64: -1, -1>", "f32", "@f32", None),
    (f"{DEVICES}, shard_shape = array<i64: 2>, shard_dims = array<i64: 0, -1>",
     "8x8xf32", "@4x8xf32", "1 entries for a tensor of rank 2"),
    (f"{DEVICES}, shard_shape = array<i64: 2, 1>, shard_dims = array<i64: 0>",
     "8x8xf32", "@4x8xf32", "1 entries, mesh"),
    (f"{DEVICES}, shard_shape = array<i64: 4, 1>, shard_dims = array<i64: 0, -1>",
     "8x8xf32", "@2x8xf32", "have 2 devices"),
    (f"{DEVICES}, shard_shape = array<i64: 2, 1>, shard_dims = array<i64: 0, -1>",
     "9x8xf32", "@4x8xf32", "2 shards of 4 do not make 9"),
    (f"{DEVICES}, shard_shape = array<i64: 2, 1>, shard_dims = array<i64: 2, -1>",
     "8x8xf32", "@4x8xf32", "names dimension 2"),
    ("shard_type = #ttcore.shard_type<replicate>, shard_shape = array<i64: 2, 1>, "
     "shard_dims = array<i64: 0, -1>", "8x8xf32", "@4x8xf32", "along no mesh axis"),
    (f"{DEVICES}, shard_shape = array<i64: 1>, shard_dims = array<i64: -1, -1>",
     "@8xf32", "@8xf32", "lives on the host"),
    (f"{DEVICES}, shard_shape = array<i64: 1>, shard_dims = array<i64: -1, -1>",
     "8xf32", "@8xf64", "must be the same"),
    (f"{SUMMED}, device_summands = array<i64: 0, 0, 0, 0, 1, 1, 1, 1>",
     "8xf32", "@8xf32", None),
    (f"{SUMMED}, device_summands = array<i64: 0, 1>",
     "8xf32", "@8xf32", "2 entries for 8 devices"),
    (f"{SUMMED}, device_summands = array<i64: 0, 0, 0, 0, 0, 1, 1, 1>",
     "8xf32", "@8xf32", "each equally often"),
    (f"{DEVICES}, shard_shape = array<i64: 1>, shard_dims = array<i64: -1, -1>, "
     "device_summands = array<i64: 0, 0, 0, 0, 1, 1, 1, 1>",
     "8xf32", "@8xf32", "on the devices already"),
]  # fmt: skip

CREATORS = ("constant", "full", "zeros", "ones", "arange")


def ttir_program(op: str, properties: str, inputs: str, results: str) -> str:
    outputs = "" if op in CREATORS else results
    said = properties.format(dim="i64", sort="si32")
    return program(f"ttir.{op}", said, f"{inputs} {outputs}", results)


def ttnn_program(op: str, properties: str, inputs: str, results: str) -> str:
    said = properties.format(dim="si32", sort="si8")
    return program(f"ttnn.{op}", said, inputs, results)


WRITERS = pytest.mark.parametrize(
    "write", [ttir_program, ttnn_program], ids=["ttir", "ttnn"]
)


@WRITERS
@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case[0]}: {case[4]}")
def test_refused(write, case: tuple[str, str, str, str, str]):
    *said, message = case
    with pytest.raises(VerifyException, match=message):
        parse(write(*said))


def sizes(type: int) -> str:
    return f"@{type}x3xf32" if type == -1 else f"@{type}xf32"


def collective(
    dialect: str, op: str, properties: str, operand: int, result: int
) -> str:
    given, answer = sizes(operand), sizes(result)
    if dialect == "ttir":
        return program(f"ttir.{op}", properties, f"{given} {answer}", answer)
    if op not in ("collective_permute", "mesh_partition"):
        properties += ", num_links = 1 : ui32"
    device = "" if op == "mesh_partition" else " !ttnn.device"
    return program(f"ttnn.{op}", properties, given + device, answer)


@pytest.mark.parametrize("dialect", ["ttir", "ttnn"])
@pytest.mark.parametrize(
    "case", REFUSED_COLLECTIVES, ids=lambda case: f"{case[0]}: {case[4]}"
)
def test_refused_collectives(dialect: str, case: tuple[str, str, int, int, str]):
    *said, message = case
    with pytest.raises(VerifyException, match=message):
        parse(collective(dialect, *said))


@pytest.mark.parametrize("op", ["all_gather", "mesh_partition"])
def test_a_collective_needs_a_mesh(op: str):
    dims, size = ("all_gather_dim", 8) if op == "all_gather" else ("dim", 2)
    text = program(
        f"ttir.{op}",
        f"{dims} = 0 : si32, cluster_axis = 0 : ui32",
        f"4xf32 {size}xf32",
        f"{size}xf32",
    )
    one, two = '<"mesh" = 2x4>', '<"mesh" = 2x4>, <"other" = 8>'
    parse(text)  # of one mesh it works on that, as in tt-mlir
    with pytest.raises(VerifyException, match="live on a mesh"):
        parse(text.replace(one, two))


def test_a_mesh_that_the_module_does_not_list():
    text = collective("ttir", *COLLECTIVES[0])
    with pytest.raises(VerifyException, match='no mesh "mesh"'):
        parse(text.replace('<"mesh" = 2x4>', '<"other" = 2x4>'))


def test_links_are_positive():
    text = collective("ttnn", *COLLECTIVES[0]).replace("num_links = 1", "num_links = 0")
    with pytest.raises(VerifyException, match="at least 1"):
        parse(text)


@pytest.mark.parametrize("dialect", ["ttir", "ttnn"])
@pytest.mark.parametrize("direction", [FULL, BACK])
@pytest.mark.parametrize("case", MESH_SHARDS, ids=lambda case: str(case[3]))
def test_mesh_shard(
    dialect: str, direction: str, case: tuple[str, str, str, str | None]
):
    properties, full, shard, message = case
    given, answer = (full, shard) if direction == FULL else (shard, full)
    extra = answer if dialect == "ttir" else "!ttnn.device"
    text = program(
        f"{dialect}.mesh_shard",
        f"{properties}, {direction}",
        f"{given} {extra}",
        answer,
    )
    if message is None:
        assert parse(str(parse(text))).is_structurally_equivalent(parse(text))
    else:
        with pytest.raises(VerifyException, match=message):
            parse(text)


def test_destinations_have_the_results_type():
    text = program("ttir.abs", "", "2xf32 3xf32", "2xf32")
    with pytest.raises(VerifyException, match="output has type"):
        parse(text)


def test_every_op_says_what_it_is():
    ops = [*ttir.TTIR.operations, *ttnn.TTNN.operations]
    assert not [op.name for op in ops if not op.__doc__]


def test_arange_fills_its_dimension():
    said = (
        "start = 0 : si64, end = 6 : si64, step = 2 : si64, arange_dimension = 1 : i64"
    )
    parse(program("ttir.arange", said, "", "2x3xi32"))
    with pytest.raises(VerifyException, match="gives 3 values for dimension 1"):
        parse(program("ttir.arange", said, "", "2x4xi32"))


def test_broadcast_stretches_size_one_only():
    said = "broadcast_dimensions = array<i64: 1, 4>"
    parse(program("ttir.broadcast", said, "3x1xf32 3x4xf32", "3x4xf32"))
    with pytest.raises(VerifyException, match="only size 1 can"):
        parse(program("ttir.broadcast", said, "3x2xf32 3x8xf32", "3x8xf32"))
    parse(
        program("ttnn.repeat", "repeat_dims = #ttnn.shape<1x4>", "3x2xf32", "3x8xf32")
    )


CONV = (
    "stride = array<i32: 2, 2>, padding = array<i32: 1, 1, 0, 0>, "
    "dilation = array<i32: 1, 1>, groups = 1 : i32"
)


def test_conv2d():
    parse(
        program(
            "ttir.conv2d", CONV, "1x8x8x3xf32 5x3x3x3xf32 1x4x4x5xf32", "1x4x4x5xf32"
        )
    )
    with pytest.raises(VerifyException, match="do not fit"):
        parse(
            program(
                "ttir.conv2d",
                CONV,
                "1x8x8x4xf32 5x3x3x3xf32 1x4x4x5xf32",
                "1x4x4x5xf32",
            )
        )
    with pytest.raises(VerifyException, match="expected 1x4x4x5"):
        parse(
            program(
                "ttir.conv2d",
                CONV,
                "1x8x8x3xf32 5x3x3x3xf32 1x8x8x5xf32",
                "1x8x8x5xf32",
            )
        )


WHILE = """
func.func @f(%n: tensor<i32>, %x: tensor<4xf32>) {{
  %r:2 = "ttir.while"(%n, %x) ({{
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %e = "ttir.empty"() : () -> tensor<i1>
    %c = "ttir.lt"(%i, %n, %e) : (tensor<i32>, tensor<i32>, tensor<i1>) -> tensor<i1>
    "ttir.yield"({condition}) : ({type}) -> ()
  }}, {{
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    "ttir.yield"({carried}) : ({types}) -> ()
  }}) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return
}}
"""


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, None),
        ({"condition": "%i", "type": "tensor<i32>"}, "one i1 scalar"),
        ({"carried": "%i", "types": "tensor<i32>"}, "yields the carried types"),
    ],
)
def test_while(said: dict[str, str], message: str | None):
    defaults = {
        "condition": "%c",
        "type": "tensor<i1>",
        "carried": "%i, %v",
        "types": "tensor<i32>, tensor<4xf32>",
    }
    text = WHILE.format(**(defaults | said))
    if message is None:
        parse(text)
    else:
        with pytest.raises(VerifyException, match=message):
            parse(text)
