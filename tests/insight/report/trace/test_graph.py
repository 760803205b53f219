"""The graph: edges, shardings of values, partial sums, regions, and scopes."""

from pathlib import Path
from typing import Any

import pytest

import ttxdsl
from tests.analysis.attribution.scanned_step import checkpointed
from ttxdsl.analysis.attribution.nodes import TraceNode
from ttxdsl.analysis.attribution.scopes import Scopes
from ttxdsl.analysis.attribution.stacks import ScopeName
from ttxdsl.insight.report.trace.layouts import LayoutTable
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.spec import DimSharding, TensorSharding

ROOT = Path(__file__).parents[4]
CASES = ROOT / "tests" / "pipeline" / "seed_cases"


def nodes_by_op(data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for node in data["graph"]["nodes"]:
        found.setdefault(node["name"], []).append(node)
    return found


@pytest.fixture(scope="module")
def mlp() -> dict[str, Any]:
    return ttxdsl.load(ROOT / "examples" / "mlp_train_step.mlir").report_data()


def test_every_tensor_has_the_layout_that_the_program_says(mlp: dict[str, Any]):
    unknown = 0
    for node in mlp["graph"]["nodes"]:
        for value in node["outputs"]:
            if value["layout"] is None:
                # of what an optimization made nobody says how it is split
                assert node["name"] == "all_gather"
                unknown += 1
                continue
            layout = mlp["layouts"][value["layout"]]
            local = [
                -(-size // parts)
                for size, parts in zip(value["shape"], layout["parts"], strict=True)
            ]
            assert value["local"].startswith("x".join(map(str, local)))
    assert unknown == 2
    dot = nodes_by_op(mlp)["dot_general"][1]
    assert mlp["layouts"][dot["outputs"][0]["layout"]]["text"] == "[data, -]"


def test_partial_sums_are_told(mlp: dict[str, Any]):
    partial = [
        (node["name"], value["partial"])
        for node in mlp["graph"]["nodes"]
        for value in node["outputs"]
        if value["partial"]
    ]
    assert ("dot_general", ("model",)) in partial
    assert ("reduce", ("data",)) in partial


def test_ops_of_later_stages_belong_to_nodes(mlp: dict[str, Any]):
    nodes = mlp["graph"]["nodes"]
    last = mlp["stages"][-1]["rows"]
    lines = [(mlp["keys"][row[0]], mlp["texts"][row[1]]) for row in last]
    matmuls = [node for node, text in lines if "ttnn.matmul" in text]
    assert matmuls
    assert {nodes[node]["name"] for node in matmuls} == {"dot_general"}


@pytest.mark.parametrize("case", range(1, 7))
def test_seed_cases(case: int):
    data = ttxdsl.load(CASES / f"case{case}" / "00-input.mlir").report_data()
    nodes = data["graph"]["nodes"]
    for node in nodes:
        for source, result in node["inputs"]:
            assert result < len(nodes[source]["outputs"])
        assert 0 <= node["scope"] < len(data["graph"]["scopes"])
    assert {key for key in data["keys"] if key >= 0} <= set(range(len(nodes)))
    # case 5 has a collective that does not fit its groups
    warned = [one["message"] for one in data["remarks"] if one["severity"] == "warning"]
    assert [text.partition(":")[0] for text in warned] == (
        ["it does not lower to ttir"] if case == 5 else []
    )


def test_a_program_in_ttir(tmp_path: Path):
    path = tmp_path / "p.mlir"
    source = ttxdsl.load(ROOT / "examples" / "mlp_data_tensor_parallel.mlir")
    path.write_text(source.lower("ttir").text)
    data = ttxdsl.load(path).report_data()
    assert [stage["name"] for stage in data["stages"]] == [
        *("as read", "convert-ttir-to-ttnn")
    ]
    assert data["memory"] is None
    assert data["no_memory"]
    assert data["collectives"] == []
    first = data["graph"]["nodes"][0]["outputs"][0]
    assert data["layouts"][first["layout"]]["dims"] == [["axis1"]]


WHILE = """\
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.exponential %x : tensor<8xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
"""


def test_loops_are_scopes():
    data = ttxdsl.load(WHILE).report_data(mesh=(1, 2))
    scopes = data["graph"]["scopes"]
    # a loop is one scope: what it carries is the same in its condition and its body
    (region,) = (at for at, scope in enumerate(scopes) if scope["kind"] == "region")
    by_op = nodes_by_op(data)
    (loop,) = by_op["while"]
    (compare,) = by_op["compare"]
    assert compare["scope"] == region
    carried = [node for node in data["graph"]["nodes"] if node["scope"] == region]
    assert sum(node["kind"] == "argument" for node in carried) == 2
    (exponential,) = by_op["exponential"]
    nodes = data["graph"]["nodes"]
    assert exponential["scope"] != loop["scope"]
    # what the body returns is what the loop has
    assert (nodes.index(exponential), 0) in loop["inputs"]
    # and the function returns the second of that
    assert nodes[-1]["inputs"] == [(nodes.index(loop), 1)]


def test_what_a_scan_carries_is_apart_from_its_layers():
    """As are the slices of its line; each has its gathers with it."""
    graph = ttxdsl.load(checkpointed()).report_data()["graph"]
    scopes, nodes = graph["scopes"], graph["nodes"]
    loops = [at for at, scope in enumerate(scopes) if scope["kind"] == "region"]
    assert [scopes[scopes[at]["parent"]]["name"] for at in loops] == [
        "forward",
        "backward/forward",
    ]
    for loop in loops:
        inside = [scope for scope in scopes if scope["parent"] == loop]
        kinds = {scope["name"]: scope["kind"] for scope in inside}
        line = scopes[loop]["line"].rpartition(":")[2]
        assert kinds["gated"] == "scope" and kinds[f"line {line}"] == "line"
        assert not any(node["scope"] == loop for node in nodes)
        assert "update" not in kinds
    backward = {scope["name"]: scope for scope in scopes if scope["parent"] == loops[1]}
    assert backward["arguments"]["kind"] == "arguments"


def test_a_layout_of_any_rank_on_any_mesh():
    mesh = Mesh((("a", 2), ("b", 4), ("c", 3)), tuple(reversed(range(24))))
    sharding = TensorSharding(
        "m",
        (
            DimSharding((AxisRef("c"),)),
            DimSharding(),
            DimSharding((AxisRef("b", 1, 2),)),
            DimSharding((AxisRef("b", 2, 2), AxisRef("a"))),
        ),
    )
    table = LayoutTable()
    number = table.layout(mesh, sharding)
    assert (
        table.layout(
            mesh, sharding.with_dims([DimSharding(dim.axes) for dim in sharding.dims])
        )
        == number
    )
    layout = table.layouts[number]
    assert layout["parts"] == [3, 1, 2, 4]
    assert layout["dims"] == [["c"], [], ["b:(1)2"], ["b:(2)2", "a"]]
    shape = (6, 5, 4, 8)
    for position, shard in zip(mesh_positions(mesh), layout["shards"], strict=True):
        slices = sharding.shard_slices(position, shape, mesh)
        assert [s.start for s in slices] == [
            at * size // parts
            for at, size, parts in zip(shard, shape, layout["parts"], strict=True)
        ]
    assert table.meshes_data()[0]["devices"][0] == 23


# scopes


def node(scope: int, *inputs: int, kind: str = "op") -> TraceNode:
    return TraceNode(kind, "stablehlo.x", "x", scope, [(at, 0) for at in inputs], [])


def path(*names: str) -> tuple[ScopeName, ...]:
    return tuple(map(ScopeName, names))


def test_a_scope_in_a_loop_over_layers_is_one_each():
    scopes = Scopes()
    layer = scopes.scope(path("norm"), "scope")
    nodes: list[TraceNode] = []
    for _ in range(3):
        nodes += [node(layer, *range(len(nodes))[-1:]) for _ in range(5)]
        nodes += [node(0, len(nodes) - 1) for _ in range(20)]
    scopes.settle(nodes)
    first, second = nodes[0].group, nodes[25].group
    assert scopes.scopes[first].name == scopes.scopes[second].name == "norm"
    assert first != second


def test_large_scopes_are_cut_where_little_is_alive():
    scopes = Scopes()
    nodes: list[TraceNode] = []
    for _ in range(10):
        start = len(nodes)
        nodes += [node(0, *((start - 1,) if start else ())) for _ in range(20)]
        # one op that takes all of them: the waist
        nodes.append(node(0, *range(start, start + 20)))
    for at, one in enumerate(nodes):
        one.op = f"stablehlo.x{at}"  # nothing repeats
    scopes.settle(nodes)
    ends = [at for at in range(1, len(nodes)) if nodes[at].group != nodes[at - 1].group]
    assert ends
    assert all(at % 21 == 0 for at in ends)
    assert {scope.kind for scope in scopes.scopes} == {"program", "segment"}


def test_a_mesh_is_compared_with_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[object] = []
    equal = Mesh.__eq__

    def counted(self: Mesh, other: object) -> bool:
        compared.append(other)
        return equal(self, other)

    meshes = [Mesh((("x", 2), ("y", 4))) for _ in range(200)]
    table = LayoutTable()
    monkeypatch.setattr(Mesh, "__eq__", counted)
    numbers = [table.mesh(f"m{at}", mesh) for at, mesh in enumerate(meshes)]
    assert numbers == list(range(200))
    assert table.mesh("m7", Mesh((("x", 2), ("y", 4)))) == 7
    assert table.mesh("", meshes[9]) == 0
    assert len(compared) < 1_000


def test_of_very_deep_regions_the_outermost_scopes_are_told() -> None:
    from tests.attack.bombs.deep import nested_regions

    data = ttxdsl.load(nested_regions("if", 130)).report_data()
    paths = [node["path"] for node in data["graph"]["nodes"]]
    assert max(map(len, paths)) == 100
    depth, deepest = 0, max(node["scope"] for node in data["graph"]["nodes"])
    while deepest > 0:
        depth, deepest = depth + 1, data["graph"]["scopes"][deepest]["parent"]
    assert depth > 100
