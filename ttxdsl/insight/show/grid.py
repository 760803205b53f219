"""Pictures of shardings for terminals: which device holds which slice of a tensor.

A grid has a dimension down and a dimension across, those that are split; every cell is
a shard and names the devices that hold it. A tensor that is split along more dimensions
has a grid for each slice of the others. Cells with the same colour are held by the same
first device; without colours nothing is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from rich.box import SQUARE
from rich.color import Color
from rich.console import Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from ttxdsl.analysis.boundary import TensorLayout
from ttxdsl.costs.units import number_ranges
from ttxdsl.sharding.devices.mesh import mesh_positions

MOST_COLUMNS, MOST_ROWS, MOST_GRIDS = 12, 24, 8
"""What is drawn; the rest is counted."""

_LIGHT = 0.82
_HUES = 6


@dataclass(frozen=True, slots=True)
class TensorPart:
    """One part of a tensor: where it lies, and the ids of the devices that hold it.

    `slices` has a pair a dimension, from and to; a shard that lies wholly in the
    padding of an uneven dimension is empty.
    """

    index: tuple[int, ...]
    slices: tuple[tuple[int, int], ...]
    devices: tuple[int, ...]

    @property
    def text(self) -> str:
        """`[0:4, 8:16]`."""
        return f"[{', '.join(f'{low}:{high}' for low, high in self.slices)}]"


def _slice(size: int, parts: int, at: int) -> tuple[int, int]:
    """The elements of a part; parts are as large as the largest, the last is short."""
    step = -(-size // parts)
    return min(at * step, size), min((at + 1) * step, size)


def shards_of(layout: TensorLayout, shape: Sequence[int]) -> list[TensorPart]:
    """The shards of a tensor in order.

    Raises:
        ValueError: if the ranks differ.
    """
    parts = layout.parts
    if len(parts) != len(shape):
        raise ValueError(f"a layout of rank {len(parts)} for a tensor of {len(shape)}")
    ids = dict(zip(mesh_positions(layout.mesh), layout.mesh.devices(), strict=True))
    held = layout.devices()
    return [
        TensorPart(
            index,
            tuple(map(_slice, shape, parts, index)),
            tuple(ids[position] for position in held.get(index, [])),
        )
        for index in product(*map(range, parts))
    ]


def local_shape(layout: TensorLayout, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a shard; uneven dimensions are rounded up."""
    return tuple(
        -(-size // parts) for size, parts in zip(shape, layout.parts, strict=True)
    )


def axes_text(layout: TensorLayout) -> str:
    """The axes of each dimension: `[data, -, model+x]`."""
    dims = ("+".join(map(str, axes)).replace('"', "") or "-" for axes in layout.dims)
    return f"[{', '.join(dims)}]"


def _drawn(layout: TensorLayout) -> tuple[list[int], int | None, int | None]:
    """The dimensions that get a grid each, that go down, and that go across."""
    split = [dim for dim, parts in enumerate(layout.parts) if parts > 1]
    if len(split) < 2:
        return [], None, split[0] if split else None
    *outer, down, across = split
    return outer, down, across


def _style(device: int, total: int) -> Style:
    """A light background whose hue goes around with the device's number."""
    hue = _HUES * device / max(1, total)
    x = 1 - abs(hue % 2 - 1)
    red, green, blue = (
        *((1, x, 0), (x, 1, 0), (0, 1, x)),
        *((0, x, 1), (x, 0, 1), (1, 0, x)),
    )[int(hue) % _HUES]
    mixed = (255 * (_LIGHT + (1 - _LIGHT) * part) for part in (red, green, blue))
    return Style(color="black", bgcolor=Color.from_rgb(*mixed))


def _header(dim: int | None, slices: tuple[int, int]) -> str:
    return "" if dim is None else f"{slices[0]}:{slices[1]}"


def _grid(
    shards: Sequence[TensorPart], down: int | None, across: int | None, total: int
) -> Table:
    rows: dict[int, dict[int, TensorPart]] = {}
    for shard in shards:
        row = 0 if down is None else shard.index[down]
        column = 0 if across is None else shard.index[across]
        rows.setdefault(row, {})[column] = shard
    first = rows[0]
    table = Table(box=SQUARE, show_header=across is not None, show_lines=True)
    if across is not None:
        corner = f"dim {across}" if down is None else f"dim {down} \\ {across}"
        table.add_column(corner, justify="right", no_wrap=True)
    shown = list(first)[:MOST_COLUMNS]
    for column in shown:
        slices = first[column].slices[across] if across is not None else (0, 0)
        table.add_column(_header(across, slices), justify="center")
    if len(shown) < len(first):
        table.add_column(f"… {len(first) - len(shown)} more", no_wrap=True)
    for row in list(rows)[:MOST_ROWS]:
        cells: list[Text] = []
        if across is not None:
            low = rows[row][0].slices[down] if down is not None else (0, 0)
            cells.append(Text(_header(down, low), "bold"))
        for column in shown:
            devices = rows[row][column].devices
            label = number_ranges(devices) if devices else "none"
            cells.append(Text(f" {label} ", _style(min(devices, default=0), total)))
        if len(shown) < len(first):
            cells.append(Text("…"))
        table.add_row(*cells)
    if len(rows) > MOST_ROWS:
        table.add_row(
            f"… {len(rows) - MOST_ROWS} more", *[""] * (len(table.columns) - 1)
        )
    return table


def _grids(layout: TensorLayout, shape: Sequence[int]) -> Iterator[RenderableType]:
    outer, down, across = _drawn(layout)
    total = layout.mesh.total_size
    by_outer: dict[tuple[int, ...], list[TensorPart]] = {}
    for shard in shards_of(layout, shape):
        by_outer.setdefault(tuple(shard.index[dim] for dim in outer), []).append(shard)
    for shards in list(by_outer.values())[:MOST_GRIDS]:
        if outer:
            slices = (f"dim {d} {_header(d, shards[0].slices[d])}" for d in outer)
            yield Text(", ".join(slices))
        yield _grid(shards, down, across, total)
    if len(by_outer) > MOST_GRIDS:
        yield Text(f"… {len(by_outer) - MOST_GRIDS} more grids like these")


def sharding_grid(layout: TensorLayout, shape: Sequence[int]) -> RenderableType:
    """The picture of a tensor's shards for a `rich` console."""
    return Group(*_grids(layout, shape))


def summary(layout: TensorLayout, shape: Sequence[int]) -> str:
    """One sentence: `8 shards of 4x16, each on 1 device`."""
    count = prod(layout.parts)
    local = "x".join(map(str, local_shape(layout, shape))) or "one element"
    copies = layout.mesh.total_size // max(1, count)
    if count == 1:
        return f"whole on each of {copies} device{'s' * (copies != 1)}"
    uneven = any(size % parts for size, parts in zip(shape, layout.parts, strict=True))
    padded = ", the last ones shorter" if uneven else ""
    on = f"each on {copies} device{'s' * (copies != 1)}"
    return f"{count} shards of {local}{padded}, {on}"
