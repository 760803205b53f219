"""Pictures of shardings for notebooks: HTML with inline SVG, no library needed.

A tensor is drawn as a grid of its shards; each cell names the devices that hold it and
has the colour of the first of them. Two dimensions can be drawn; a tensor that is split
along more has cells that name the devices of several shards.
"""

from collections.abc import Sequence
from html import escape
from itertools import product

from xdsl.dialects.func import FuncOp

from ttxdsl.analysis import boundary
from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.costs.units import number_ranges
from ttxdsl.insight.show.grid import axes_text, shards_of
from ttxdsl.sharding.devices.mesh import mesh_words

_CELL_WIDTH, _CELL_HEIGHT = 66, 26
_MOST_CELLS = 16
"""Cells along one side; more would be too small to read."""
_MOST_VALUES = 24
"""Arguments and results that are drawn; the others are counted."""


def _drawn(parts: Sequence[int]) -> tuple[int | None, int | None]:
    """The dimensions for rows and columns: split ones first, else the last two."""
    split = [dim for dim, count in enumerate(parts) if count > 1][:2]
    for dim in reversed(range(len(parts))):
        if len(split) < 2 and dim not in split:
            split.append(dim)
    ordered = sorted(split)
    if not ordered:
        return None, None
    return (None, ordered[0]) if len(ordered) == 1 else (ordered[0], ordered[1])


def _cells(
    layout: boundary.TensorLayout, rows: int | None, columns: int | None
) -> dict[tuple[int, int], list[int]]:
    """The device ids of each cell, by row and column."""
    cells: dict[tuple[int, int], list[int]] = {}
    for part in shards_of(layout, layout.parts):
        row = 0 if rows is None else part.index[rows]
        column = 0 if columns is None else part.index[columns]
        cells.setdefault((row, column), []).extend(part.devices)
    return cells


def sharding_svg(layout: boundary.TensorLayout) -> str:
    """The grid of a tensor's shards with the devices that hold them, as SVG text.

    A grid of more than 16 cells a side is not drawn; the answer is then empty.
    """
    parts = layout.parts
    rows, columns = _drawn(parts)
    high = 1 if rows is None else parts[rows]
    wide = 1 if columns is None else parts[columns]
    if max(high, wide) > _MOST_CELLS:
        return ""
    cells = _cells(layout, rows, columns)
    total = max(1, layout.mesh.total_size)
    width, height = wide * _CELL_WIDTH + 2, high * _CELL_HEIGHT + 2
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="monospace" font-size="11">'
    ]
    for row, column in product(range(high), range(wide)):
        held = cells.get((row, column), [])
        hue = round(360 * min(held, default=0) / total)
        x, y = 1 + column * _CELL_WIDTH, 1 + row * _CELL_HEIGHT
        label = number_ranges(held)
        shown = label if len(label) <= 9 else f"{label[:8]}…"
        lines.append(
            f"<g><title>{escape(f'devices {label}')}</title>"
            f'<rect x="{x}" y="{y}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}"'
            f' fill="hsl({hue},65%,82%)" stroke="#666"/>'
            f'<text x="{x + _CELL_WIDTH / 2:g}" y="{y + _CELL_HEIGHT / 2 + 4:g}"'
            f' text-anchor="middle" fill="#222">{escape(shown)}</text></g>'
        )
    lines.append("</svg>")
    return "".join(lines)


def _axes_text(layout: boundary.TensorLayout | None) -> str:
    if layout is None:
        return "not decided"
    return axes_text(layout) if any(layout.dims) else "whole on every device"


def _row(value: boundary.BoundaryValue) -> str:
    layout = value.layout
    picture = sharding_svg(layout) if layout is not None else ""
    cells = (
        f"<td><code>{escape(value.name)}</code></td>",
        f"<td><code>{escape(str(value.type))}</code></td>",
        f"<td>{escape(_axes_text(layout))}</td>",
        f"<td>{picture}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _mesh_text(values: Sequence[boundary.BoundaryValue]) -> str:
    for value in values:
        if value.layout is not None:
            return f"mesh {mesh_words(value.layout.mesh)}"
    return "no mesh"


def _collective_lines(collectives: Sequence[CountedCollective]) -> str:
    if not collectives:
        return "<p>no collectives</p>"
    rows = "".join(
        f"<tr><td>{escape(collective.title)}</td><td>{escape(collective.axes_text)}</td>"
        f"<td><code>{escape(collective.tensor)}</code></td>"
        f"<td>{collective.bytes_per_device} B</td><td>{escape(collective.reason)}</td></tr>"
        for collective in collectives
    )
    head = "<tr><th>collective</th><th>axes</th><th>local tensor</th>"
    return f"<table>{head}<th>sent by a device</th><th>why</th></tr>{rows}</table>"


def program_html(
    function: FuncOp, title: str, collectives: Sequence[CountedCollective] | None
) -> str:
    """A program's boundary with its shardings, and its collectives if they are known."""
    values = [*boundary.arguments_of(function), *boundary.results_of(function)]
    rows = "".join(_row(value) for value in values[:_MOST_VALUES])
    more = len(values) - _MOST_VALUES
    rest = f"<p>… and {more} more values</p>" if more > 0 else ""
    listed = "" if collectives is None else _collective_lines(collectives)
    head = "<tr><th>value</th><th>global type</th><th>split along</th>"
    return (
        f'<div class="ttxdsl-program"><p><code>{escape(title)}</code><br/>'
        f"{escape(_mesh_text(values))}</p>"
        f"<table>{head}<th>devices of each shard</th></tr>{rows}</table>"
        f"{rest}{listed}</div>"
    )
