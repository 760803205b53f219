"""The graph of a report as Google's Model Explorer reads it.

A collection with one graph, and node data that colours it: how each tensor is split,
the bytes of it that a device holds, and the bytes that a device sends. Field names are
those of the data classes of `ai-edge-model-explorer` (`graph_builder.GraphCollection`,
`node_data_builder.ModelNodeData`), whose JSON files these are.
"""

from typing import Any

from ttxdsl.diagnostics.errors import place_text

GRAPH_ID = "program"

_COLORS = (
    *("#bcdcf5", "#e3c8f3", "#f8cdd3", "#f6ecb9", "#c6ebd2", "#fadcbd"),
    *("#c9e9ec", "#d7d4f7", "#eedcd0", "#dbe9bd"),
)
"""Backgrounds for kinds of sharding; used again from the first when they run out."""
_WHOLE = "#eceff4"
_TAG = "__tensor_tag"
"""The key by which Model Explorer knows a tensor."""


def graph_collection(data: dict[str, Any]) -> dict[str, Any]:
    """A `GraphCollection` of a report's data (`ttxdsl.insight.report.trace.data`)."""
    sent = _sent(data)
    namespaces = _namespaces(data)
    reasons: dict[int, list[str]] = {}
    for collective in data["collectives"]:
        reasons.setdefault(collective["node"], []).append(collective["reason"])
    graph: dict[str, Any] = {
        "id": GRAPH_ID,
        "nodes": [
            {
                **_node(data, node, sent.get(at), reasons.get(at, [])),
                "id": str(at),
                "namespace": namespaces[node["scope"]],
            }
            for at, node in enumerate(data["graph"]["nodes"])
        ],
        "groupNodeAttributes": {"": _attributes_of_program(data)},
    }
    return {"label": data["title"], "graphs": [graph]}


def node_data(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Three `ModelNodeData` by name: `bytes`, `sent` and `shardings`."""
    shardings: dict[str, Any] = {}
    held: dict[str, Any] = {}
    colors: dict[str, str] = {}
    for at, node in enumerate(data["graph"]["nodes"]):
        for value in node["outputs"][:1]:
            if value["layout"] is not None:
                layout = data["layouts"][value["layout"]]
                text = layout["text"]
                default = _COLORS[len(colors) % len(_COLORS)]
                color = (
                    colors.setdefault(text, default) if any(layout["dims"]) else _WHOLE
                )
                shardings[str(at)] = {"value": text, "bgColor": color}
        known = [v["bytes"] for v in node["outputs"] if v["bytes"] is not None]
        if known:
            held[str(at)] = {"value": sum(known)}
    sent = {str(at): {"value": bytes_} for at, bytes_ in _sent(data).items()}
    return {
        "bytes": _results(
            "bytes on a device", held, gradient=_gradient("#ffffff", "#5b8def")
        ),
        "sent": _results(
            "bytes sent by a device", sent, gradient=_gradient("#fdeef2", "#d9376e")
        ),
        # the last is the one that is shown first
        "shardings": _results("sharding", shardings, hideInAggregatedStatsTable=True),
    }


def _results(name: str, results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {GRAPH_ID: {"name": name, "results": results, **more}}


def _gradient(low: str, high: str) -> list[dict[str, Any]]:
    return [{"stop": 0, "bgColor": low}, {"stop": 1, "bgColor": high}]


def _sent(data: dict[str, Any]) -> dict[int, int]:
    """The bytes that the collectives of each node send."""
    sent: dict[int, int] = {}
    for collective in data["collectives"]:
        if collective["node"] >= 0:
            sent[collective["node"]] = (
                sent.get(collective["node"], 0) + collective["bytes"]
            )
    return sent


def _key_values(**values: str | None) -> list[dict[str, str]]:
    return [
        {"key": key if key == _TAG else key.replace("_", " "), "value": value}
        for key, value in values.items()
        if value
    ]


def _node(
    data: dict[str, Any], node: dict[str, Any], sent: int | None, reasons: list[str]
) -> dict[str, Any]:
    source = place_text(*reversed(node["frames"][0])) if node["frames"] else None
    return {
        "label": node["name"],
        "attrs": _key_values(
            op=node["op"] if node["kind"] == "op" else node["kind"],
            source=source,
            scope="/".join(node["path"]),
            sent_by_a_device=None if sent is None else f"{sent} B",
            why="; ".join(reasons),
        ),
        "incomingEdges": [
            {
                "sourceNodeId": str(from_node),
                "sourceNodeOutputId": str(result),
                "targetNodeInputId": str(operand),
            }
            for operand, (from_node, result) in enumerate(node["inputs"])
        ],
        "outputsMetadata": [
            {"id": str(index), "attrs": _value(data, value)}
            for index, value in enumerate(node["outputs"])
        ],
    }


def _value(data: dict[str, Any], value: dict[str, Any]) -> list[dict[str, str]]:
    layout = None if value["layout"] is None else data["layouts"][value["layout"]]
    return _key_values(
        **{_TAG: value["name"]},
        shape=value["type"].removeprefix("tensor<").removesuffix(">"),
        sharding=layout and layout["text"],
        on_a_device=value["local"],
        bytes_on_a_device=None if value["bytes"] is None else str(value["bytes"]),
        sums_of_its_own_along=", ".join(value["partial"]),
    )


def _namespaces(data: dict[str, Any]) -> list[str]:
    """For each scope its path; scopes of one name are told apart by a number."""
    paths: list[str] = []
    met: dict[tuple[int, str], int] = {}
    for scope in data["graph"]["scopes"]:
        if scope["parent"] < 0:
            paths.append("")
            continue
        # a slash would make two of it
        name = scope["name"].replace("/", "|")
        again = met[scope["parent"], name] = met.get((scope["parent"], name), 0) + 1
        name = f"{name} ({again})" if again > 1 else name
        # scopes come behind the scope that they are in
        paths.append(f"{paths[scope['parent']]}/{name}".removeprefix("/"))
    return paths


def _attributes_of_program(data: dict[str, Any]) -> dict[str, str]:
    summary = data["summary"]
    meshes = [
        " x ".join(f"{name}={size}" for name, size in mesh["axes"])
        for mesh in data["meshes"]
    ]
    return {
        "mesh": ", ".join(meshes) or "none",
        "ops": str(summary["ops"]),
        "collectives": str(summary["collectives"]),
        "sent by a device": f"{summary['bytes']} B",
        "peak memory of a device": f"{summary['peak_bytes']} B",
    }
