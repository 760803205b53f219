"""Draws the pictures of docs/guide/sharding.md: `python docs/scripts/pictures.py`.

Each is made by the code that draws shardings in notebooks, so that a picture cannot say
something else than the compiler does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ttxdsl.analysis.boundary import TensorLayout
from ttxdsl.insight.show.picture import sharding_svg
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh

IMAGES = Path(__file__).parents[1] / "images"

MESH = Mesh((("data", 2), ("model", 4)))
DATA, MODEL = AxisRef("data"), AxisRef("model")

Dims = tuple[tuple[AxisRef, ...], ...]

SHARDINGS: dict[str, Dims] = {
    "whole": ((), ()),
    "rows": ((DATA,), ()),
    "columns": ((), (MODEL,)),
    "both": ((DATA,), (MODEL,)),
    "rows-by-both": ((DATA, MODEL), ()),
    "rows-by-half-an-axis": ((AxisRef("model", 1, 2),), ()),
}
"""An 8x8 tensor in several ways."""

COLLECTIVES: dict[str, tuple[Dims, Dims]] = {
    "all_gather": (((DATA,), (MODEL,)), ((DATA,), ())),
    "all_slice": (((DATA,), ()), ((DATA,), (MODEL,))),
    "all_to_all": (((MODEL,), ()), ((), (MODEL,))),
    "collective_permute": (((DATA, AxisRef("model", 1, 2)), ()), ((MODEL,), ())),
}
"""What changes: before, after."""

_SIZE = re.compile(r'width="(\d+)" height="(\d+)"')
_ARROW = 170
_LINE = 22


def picture(dims: Dims) -> str:
    """The grid of one sharding."""
    return sharding_svg(TensorLayout(MESH, dims))


def _size(svg: str) -> tuple[int, int]:
    match = _SIZE.search(svg)
    assert match is not None
    return int(match[1]), int(match[2])


def arrow(name: str, before: str, after: str) -> str:
    """Two grids with an arrow between them that names the collective."""
    left, right = _size(before), _size(after)
    height = max(left[1], right[1], 2 * _LINE)
    width = left[0] + _ARROW + right[0]
    middle = height / 2
    start, end = left[0] + 12, left[0] + _ARROW - 12
    placed = [
        before.replace("<svg ", f'<svg x="0" y="{middle - left[1] / 2:g}" ', 1),
        after.replace(
            "<svg ", f'<svg x="{left[0] + _ARROW}" y="{middle - right[1] / 2:g}" ', 1
        ),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="monospace" font-size="12">'
        f'{"".join(placed)}<g stroke="#888" fill="#888">'
        f'<line x1="{start}" y1="{middle:g}" x2="{end - 8}" y2="{middle:g}"/>'
        f'<path d="M{end} {middle:g} l-9 -4 v8 z"/></g>'
        f'<text x="{(start + end) / 2:g}" y="{middle - 7:g}" text-anchor="middle"'
        f' fill="#888">{name}</text></svg>'
    )


def pictures() -> dict[Path, str]:
    """Every picture by its path."""
    made = {
        IMAGES / f"sharding-{name}.svg": picture(dims)
        for name, dims in SHARDINGS.items()
    }
    for name, (before, after) in COLLECTIVES.items():
        path = IMAGES / f"collective-{name.replace('_', '-')}.svg"
        made[path] = arrow(name, picture(before), picture(after))
    return made


def main() -> int:
    """Write them."""
    IMAGES.mkdir(exist_ok=True)
    for path, text in pictures().items():
        path.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
