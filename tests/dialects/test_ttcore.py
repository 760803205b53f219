import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.dialects.tt_text import parse
from ttxdsl.dialects import ttcore
from ttxdsl.dialects.ttcore import TensorMeshAttr


def module_with(attribute: str) -> str:
    return f"module attributes {{ttcore.test = {attribute}}} {{}}"


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


def test_places_of_tensors():
    host = TensorType(f32, (2, 3))
    device = TensorType(f32, (2, 3), TensorMeshAttr("mesh"))
    assert ttcore.device_mesh_name(device) == "mesh"
    assert ttcore.device_mesh_name(host) is None
    assert ttcore.on_host(device) == host
    assert ttcore.device_mesh_name(f32) is None
