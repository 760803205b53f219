"""The graph for Model Explorer: its structure, and its own package's word on it."""

import dataclasses
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import ttxdsl
from ttxdsl.insight.report.model_explorer import GRAPH_ID, graph_collection, node_data

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return ttxdsl.load(EXAMPLES / "mlp_train_step.mlir").report_data()


@pytest.fixture(scope="module")
def graph(data: dict[str, Any]) -> dict[str, Any]:
    (found,) = graph_collection(data)["graphs"]
    return found


def attributes(entries: list[dict[str, str]]) -> dict[str, str]:
    return {entry["key"]: entry["value"] for entry in entries}


def test_nodes_and_edges(data: dict[str, Any], graph: dict[str, Any]):
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert len(nodes) == len(graph["nodes"]) == len(data["graph"]["nodes"])
    for node in graph["nodes"]:
        for at, edge in enumerate(node["incomingEdges"]):
            source = nodes[edge["sourceNodeId"]]
            outputs = [output["id"] for output in source["outputsMetadata"]]
            assert edge["sourceNodeOutputId"] in outputs
            assert edge["targetNodeInputId"] == str(at)


def test_what_is_said_of_a_node(graph: dict[str, Any]):
    reduce = next(n for n in graph["nodes"] if n["label"] == "all_reduce")
    said = attributes(reduce["attrs"])
    assert said["op"] == "stablehlo.all_reduce"
    assert said["sent by a device"] == "1536 B"
    assert said["why"] == "combines what each device has of dot_general"
    assert said["source"].endswith("mlp_train_step.mlir:12:5")
    value = attributes(reduce["outputsMetadata"][0]["attrs"])
    assert value["__tensor_tag"] == "%47"
    assert value["sharding"] == "[data, -]"
    assert value["shape"] == "32x16xf32"
    assert value["on a device"] == "16x16xf32"
    assert {n["namespace"] for n in graph["nodes"]} >= {"arguments", "@relu", ""}


def test_scopes_of_one_name_stay_apart(data: dict[str, Any]):
    changed = json.loads(json.dumps(data))
    scopes = changed["graph"]["scopes"]
    scopes[1]["name"] = scopes[2]["name"] = "a/b"
    (graph,) = graph_collection(changed)["graphs"]
    assert {n["namespace"] for n in graph["nodes"]} >= {"a|b", "a|b (2)"}


def test_overlays(data: dict[str, Any], graph: dict[str, Any]):
    overlays = node_data(data)
    assert list(overlays) == ["bytes", "sent", "shardings"]
    ids = {node["id"] for node in graph["nodes"]}
    for overlay in overlays.values():
        assert list(overlay) == [GRAPH_ID]
        assert set(overlay[GRAPH_ID]["results"]) <= ids
    sent = overlays["sent"][GRAPH_ID]["results"]
    assert sum(r["value"] for r in sent.values()) == data["summary"]["bytes"]
    shown = overlays["shardings"][GRAPH_ID]["results"]
    colors = {result["value"]: result["bgColor"] for result in shown.values()}
    assert colors["whole on every device"] == "#eceff4"
    assert len(set(colors.values())) == len(colors)


def as_class(kind: Any, value: Any, module: Any) -> Any:
    """Build a data class of Model Explorer from JSON; unknown fields are refused."""
    dacite = importlib.import_module("dacite")
    names = {n: v for n, v in vars(module).items() if n[0].isupper()}
    config = dacite.Config(strict=True, forward_references=names)
    return dacite.from_dict(kind, value, config)


def test_the_package_takes_it(data: dict[str, Any]):
    pytest.importorskip("dacite")
    builder = pytest.importorskip(
        "model_explorer.graph_builder", reason="ai-edge-model-explorer is not installed"
    )
    collection = graph_collection(data)
    built = as_class(builder.GraphCollection, collection, builder)
    assert len(built.graphs[0].nodes) == len(data["graph"]["nodes"])
    again = json.loads(json.dumps(dataclasses.asdict(built)))
    assert (
        again["graphs"][0]["nodes"][5]["label"]
        == (collection["graphs"][0]["nodes"][5]["label"])
    )
    overlays = pytest.importorskip("model_explorer.node_data_builder")
    for overlay in node_data(data).values():
        for one in overlay.values():
            plain = {**one, "results": {}}
            graph_data = as_class(overlays.GraphNodeData, plain, overlays)
            results = {
                key: overlays.NodeDataResult(**result)
                for key, result in one["results"].items()
            }
            filled = dataclasses.replace(graph_data, results=results)
            assert json.loads(filled.to_json_string())["results"] == one["results"]
