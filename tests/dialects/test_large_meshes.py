"""Meshes of up to 2^20 devices; larger ones are refused with the figure."""

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.attack.bombs.meshes import axes, on_mesh
from tests.work import calls
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.sdy import MeshAttr
from ttxdsl.dialects.ttcore import MeshAttr as TTMeshAttr
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import MOST_DEVICES, Mesh
from ttxdsl.sharding.devices.replica_groups import groups_along, indices_along
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


@pytest.mark.parametrize("sizes", [[2**20 + 1], [2**11, 2**10], [2] * 40, [10**18]])
def test_more(sizes: list[int]):
    with pytest.raises(CompileError, match="devices: at most 1048576 are supported"):
        parse_program(on_mesh(axes(sizes), "[{}, {}]"))


def test_more_axes():
    with pytest.raises(CompileError, match="a mesh of 1025 axes: at most 1024"):
        parse_program(on_mesh(axes([1] * 1025), "[{}, {}]"))


def test_more_wherever_a_mesh_is_written():
    with pytest.raises(VerifyException, match="a mesh of 10000000000 devices"):
        MeshAttr(Mesh((("x", 10**5), ("y", 10**5))))
    with pytest.raises(VerifyException, match="has 10000000000 devices"):
        TTMeshAttr("mesh", (10**5, 10**5))
    module = parse_program("func.func @main() { return }")
    with pytest.raises(CompileError, match="mesh-shape: 2000000000 devices"):
        TTStableHLOPipelinePass(mesh_shape=(2, 10**9)).apply(make_context(), module)


def test_device_ids_are_read_and_told_briefly():
    ids = [1, 0, *range(2, 1000)]
    text = on_mesh(f'["x"=1000], device_ids={ids}', "[{}, {}]")
    assert str(ids[:50])[:-1] in str(parse_program(text))
    with pytest.raises(CompileError, match=r"got: \[1, 2, .*\.\.\.\]") as raised:
        parse_program(text.replace("[1, 0,", "[1, 1001,"))
    assert len(str(raised.value)) < 1000


def test_lists_of_devices_take_one_call_a_group():
    mesh = Mesh((("x", 2**14),))
    assert calls(lambda: indices_along.__wrapped__(mesh, (AxisRef("x"),))) < 100
    assert len(groups_along(mesh, (AxisRef("x"),))[0]) == 2**14
    assert MOST_DEVICES == 2**20
