"""Which devices a collective works among, in every spelling."""

import pytest

import ttxdsl
from tests.dialects.tt_text import parse
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.replica_groups import device_groups
from ttxdsl.sharding.devices.replica_groups import Groups

ROWS = ((0, 1, 2, 3), (4, 5, 6, 7))
CHANNEL = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
GLOBAL = CHANNEL + ", use_global_device_ids"
INLINED = (
    '#stablehlo.mesh<axes = [<name = "x", size = 2>, <name = "y", size = 4>]{ids}>'
)


def dense(groups: str, shape: str) -> str:
    return f"dense<{groups}> : tensor<{shape}xi64>"


def along(*axes: str, mesh: str = "@mesh") -> str:
    """Groups by axes; `y:(1)2` is the major half of y."""
    refs: list[str] = []
    for axis in axes:
        name, _, sub = axis.partition(":")
        part = f", sub_axis_info = {sub}" if sub else ""
        refs.append(f'#stablehlo.axis_ref<name = "{name}"{part}>')
    return (
        f"#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{', '.join(refs)}]>"
    )


def groups_of(groups: str, more: str = GLOBAL, kind: str = "gather") -> Groups:
    body = {
        "gather": f"""%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64,
            replica_groups = {groups}{more}}}> : (tensor<8xf32>) -> tensor<8xf32>""",
        "exchange": f"""%0 = "stablehlo.all_to_all"(%a) <{{concat_dimension = 0 : i64,
            split_count = 1 : i64, split_dimension = 0 : i64,
            replica_groups = {groups}{more}}}> : (tensor<8xf32>) -> tensor<8xf32>""",
    }[kind]
    module = parse(
        f"""
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      sdy.mesh @mixed = <["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
      func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
        {body}
        return %0 : tensor<8xf32>
      }}""",
        verify=False,
    )
    ops = (stablehlo.AllGatherOp, stablehlo.AllToAllOp)
    (op,) = (op for op in module.walk() if isinstance(op, ops))
    return device_groups(op, 8)


@pytest.mark.parametrize(
    ("groups", "more", "found"),
    [
        (dense("[[0, 1, 2, 3], [4, 5, 6, 7]]", "2x4"), GLOBAL, ROWS),
        (dense("[[0, 1, 2, 3], [4, 5, 6, 7]]", "2x4"), CHANNEL, ROWS),
        (dense("[[0, 1, 2, 3], [4, 5, 6, 7]]", "2x4"), "", ROWS),
        (
            dense("[[0, 1, 2, 3, 4], [5, 6, 7, -1, -1]]", "2x5"),
            GLOBAL,
            ((0, 1, 2, 3, 4), (5, 6, 7)),
        ),
        (dense("", "0x0"), GLOBAL, (tuple(range(8)),)),
        (dense("", "0x0"), CHANNEL, (tuple(range(8)),)),
        (dense("0", "1x1"), CHANNEL, (tuple(range(8)),)),
        (dense("0", "1x1"), "", tuple((k,) for k in range(8))),
        (along("y"), GLOBAL, ROWS),
        (along("y"), "", ROWS),
        (along("x", "y"), GLOBAL, (tuple(range(8)),)),
        (along("y", "x"), GLOBAL, ((0, 4, 1, 5, 2, 6, 3, 7),)),
        (along("y:(1)2"), GLOBAL, ((0, 2), (1, 3), (4, 6), (5, 7))),
        (along("y:(2)2"), GLOBAL, ((0, 1), (2, 3), (4, 5), (6, 7))),
        (along(), GLOBAL, tuple((k,) for k in range(8))),
        (along("y", mesh="@mixed"), GLOBAL, ((7, 6, 5, 4), (3, 2, 1, 0))),
        (along("y", mesh=INLINED.format(ids="")), GLOBAL, ROWS),
        (
            along("y", mesh=INLINED.format(
                ids=", device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>"
            )),
            GLOBAL,
            ((7, 6, 5, 4), (3, 2, 1, 0)),
        ),
    ],
)  # fmt: skip
def test_every_spelling(groups: str, more: str, found: Groups):
    assert groups_of(groups, more) == found


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (dense("[[0, 1], [1, 2]]", "2x2"), "named twice"),
        (along("z"), "unknown axis name"),
        (along("y:(2)4"), "no part of an axis of size 4"),
        (along("y", "y:(1)2"), "overlap"),
    ],
)
def test_what_contradicts_itself_is_refused(groups: str, message: str):
    with pytest.raises(ValueError, match=message):
        groups_of(groups)


def test_replicas_of_a_program_that_is_split_are_refused():
    """In ttir devices would be numbered as replicas, and the numbers be wrong."""
    program = ttxdsl.load("""
        module attributes {mhlo.num_replicas = 2 : i32} {
          sdy.mesh @mesh = <["x"=2, "y"=2]>
          func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x6xf32> {
            %0 = stablehlo.iota dim = 0 : tensor<4x6xf32>
            %1 = stablehlo.add %a, %0 : tensor<4x6xf32>
            return %1 : tensor<4x6xf32>
          }
        }""")
    with pytest.raises(UnsupportedError, match="num_replicas is 2"):
        program.partition()
