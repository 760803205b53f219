from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.dialects.tt_text import parse, printed
from tests.differential.oracle import Oracle
from ttxdsl.dialects import ttcore
from ttxdsl.dialects.ttcore import (
    ArgumentType,
    MeshAttr,
    MeshesAttr,
    MeshShardDirection,
    MeshShardType,
    ReduceType,
    ShardStatus,
    TensorMeshAttr,
)

ATTRIBUTES = [
    *(f"#ttcore.argument_type<{member.value}>" for member in ArgumentType),
    *(f"#ttcore.shard_status<{member.value}>" for member in ShardStatus),
    *(f"#ttcore.shard_type<{member.value}>" for member in MeshShardType),
    *(f"#ttcore.shard_direction<{member.value}>" for member in MeshShardDirection),
    *(f"#ttcore.reduce_type<{member.value}>" for member in ReduceType),
    '#ttcore.mesh<"mesh" = 2x4>',
    '#ttcore.mesh<"line" = 8>',
    '#ttcore.mesh<"cube" = 2x2x2>',
    '#ttcore.meshes<[<"mesh" = 2x4>]>',
    '#ttcore.meshes<[<"mesh" = 2x4>, <"other" = 1x1>]>',
    '#ttcore.tensor_mesh<"mesh">',
]


def module_with(attribute: str) -> str:
    return f"module attributes {{ttcore.test = {attribute}}} {{}}"


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_round_trip(oracle: Oracle, attribute: str):
    text = printed(parse(module_with(attribute)))
    assert f"ttcore.test = {attribute}" in text
    assert attribute in oracle.run(text.replace("builtin.module", "module"))


def test_presharded_stays():
    text = printed(parse(module_with("#ttcore.shard_status<presharded>")))
    assert "#ttcore.shard_status<presharded>" in text


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("#ttcore.argument_type<weight>", "input, parameter, constant, default"),
        (
            "#ttcore.shard_status<split>",
            "expected one of sharded, presharded, unsharded",
        ),
        ("#ttcore.shard_type<maximal>", "identity, replicate, devices"),
        ("#ttcore.shard_direction<in>", "full_to_shard, shard_to_full"),
        ("#ttcore.reduce_type<xor>", "sum, mean, max, min, std, var, prod"),
    ],
)
def test_unknown_member(attribute: str, message: str):
    with pytest.raises(ParseError, match=message):
        parse(module_with(attribute))


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('#ttcore.mesh<"" = 2x4>', "needs a name"),
        ('#ttcore.mesh<"m" = >', "has no axes"),
        ('#ttcore.mesh<"m" = 2x0>', "axis 1 has size 0"),
        ("#ttcore.meshes<[]>", "list of meshes is empty"),
        ('#ttcore.meshes<[<"m" = 1>, <"m" = 2>]>', '"m" is listed twice'),
        ('#ttcore.tensor_mesh<"">', "needs the name of a mesh"),
    ],
)
def test_refused(attribute: str, message: str):
    with pytest.raises((VerifyException, ParseError), match=message):
        parse(module_with(attribute))


def test_meshes_are_found_by_name():
    meshes = MeshesAttr([MeshAttr("a", (2, 4)), MeshAttr("b", (8,))])
    found = meshes.get_mesh("b")
    assert found is not None
    assert found.get_shape() == (8,)
    assert meshes.get_mesh("c") is None


def test_places_of_tensors():
    host = TensorType(f32, (2, 3))
    device = TensorType(f32, (2, 3), TensorMeshAttr("mesh"))
    assert ttcore.device_mesh_name(device) == "mesh"
    assert ttcore.device_mesh_name(host) is None
    assert ttcore.on_host(device) == host
    assert ttcore.device_mesh_name(f32) is None


def test_meshes_of_the_module_around():
    module = parse(
        'module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>} '
        "{ func.func @f() { return } }"
    )
    inner = next(iter(module.ops))
    meshes = ttcore.meshes_of(inner)
    assert meshes is not None
    assert meshes.get_mesh("mesh") is not None
    assert ttcore.meshes_of(parse("module {}")) is None
