"""The nodes of a program's graph, with the tensors that they make."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ttxdsl.diagnostics.errors import Frame


class Value(NamedTuple):
    """A tensor: its name and type, how it is split, and what a device has of it.

    `layout` is a number in the table of layouts, None where nothing says it. `partial`
    names mesh axes along which every device has a sum of its own that is still to be
    added to the others'. `shape` is that of the whole tensor, also where a device's own
    part has the `type` (in somebody's manual computation).
    """

    name: str
    type: str
    shape: tuple[int, ...] | None
    layout: int | None
    local: str | None
    bytes: int | None
    partial: tuple[str, ...] = ()


@dataclass(slots=True)
class TraceNode:
    """An op, an argument or a result.

    `inputs` are pairs of a node and which of its outputs; `op` is the MLIR name.
    """

    kind: str
    op: str
    name: str
    group: int
    inputs: list[tuple[int, int]]
    outputs: list[Value]
    frames: list[Frame] = field(default_factory=list[Frame])
    path: tuple[str, ...] = ()
    """The scopes that the source gives, also those that the graph does not show.

    Of very many, the outermost.
    """
    key: int = -1
    """Of the op in the listings; -1 for arguments and results."""
