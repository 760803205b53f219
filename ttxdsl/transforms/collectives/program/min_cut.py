"""The cheapest vertices that separate sources from sinks.

Where a value may be combined or gathered at any of several places on the way to those who
need it, the places are vertices with prices, and the cheapest choice that serves
everybody is a least vertex cut.

Source: Dinic, "Algorithm for solution of a problem of maximum flow" (1970); the cuts
nearest to the sources and to the sinks are where the residual graph ends for them.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

ENDLESS = 1 << 62
"""More than any price: an edge that no cut goes through."""


V = TypeVar("V", bound=Hashable)


def connected(inputs: Mapping[V, Iterable[V]]) -> list[list[V]]:
    """Return the connected groups of vertices, given with the vertices before each."""
    group = {vertex: [vertex] for vertex in inputs}
    for vertex, sources in inputs.items():
        for source in sources:
            large, small = group[vertex], group[source]
            if large is small:
                continue
            if len(large) < len(small):
                large, small = small, large
            large.extend(small)
            for member in small:
                group[member] = large
    return list({id(members): members for members in group.values()}.values())


def for_each(now: int) -> int:
    """Return the price of one move besides its bytes, where all send so many now.

    It is so small that bytes decide; but one more move has to save some, since each takes
    time to start. Of equal bytes, fewer moves are better. (Without it a gather of 131,072
    bytes became 63 of 2,048; others' ways then stay open, too: docs/evidence/decisions.md,
    2026-11-23.)
    """
    return now // 256


@dataclass
class Cut:
    """A least cut.

    Attributes:
        price: of all vertices in it together.
        vertices: those that are cut.
        behind: those between the cut and the sinks.
    """

    price: int
    vertices: set[int]
    behind: set[int]


@dataclass
class VertexGraph:
    """Vertices with prices, edges between them, and which are sources and sinks.

    Vertex v is two nodes, 2v where edges enter and 2v+1 where they leave.
    """

    _to: list[int] = field(default_factory=list[int])
    _room: list[int] = field(default_factory=list[int])
    _edges: list[list[int]] = field(default_factory=lambda: [[], []])
    _flow: int = 0

    _SOURCE = 0
    _SINK = 1

    def vertex(self, price: int) -> int:
        """Add a vertex, and return its number, from 1."""
        self._edges += [], []
        number = len(self._edges) // 2 - 1
        self._edge(2 * number, 2 * number + 1, price)
        return number

    def edge(self, first: int, second: int) -> None:
        """Add an edge: the second vertex is made of the first."""
        self._edge(2 * first + 1, 2 * second, ENDLESS)

    def source(self, vertex: int) -> None:
        """Make a vertex a source."""
        self._edge(self._SOURCE, 2 * vertex, ENDLESS)

    def sink(self, vertex: int) -> None:
        """Make a vertex a sink."""
        self._edge(2 * vertex + 1, self._SINK, ENDLESS)

    def _edge(self, start: int, end: int, room: int) -> None:
        forth = len(self._to)
        self._edges[start].append(forth)
        self._edges[end].append(forth + 1)
        self._to += end, start
        self._room += room, 0

    def least_cut(self, *, near_sources: bool) -> Cut:
        """Return the cheapest cut; of several the one nearest to the sources, or the sinks.

        Sinks may be added, and the cheapest cut asked for again.
        """
        # the shortest way to the sinks gets longer each time (Dinic), up to all nodes
        while (levels := self._levels()) is not None:
            self._flow += self._blocking_flow(levels)
        count = len(self._edges) // 2
        if near_sources:
            reached = self._reached(self._SOURCE, 0)
            behind = {v for v in range(1, count) if 2 * v not in reached}
            ahead_of_exit = {v for v in range(1, count) if 2 * v + 1 in reached}
        else:
            reaching = self._reached(self._SINK, 1)
            behind = {v for v in range(1, count) if 2 * v in reaching}
            ahead_of_exit = {v for v in range(1, count) if 2 * v + 1 not in reaching}
        cut = {v for v in range(1, count) if v not in behind and v not in ahead_of_exit}
        return Cut(self._flow, cut, behind)

    def _reached(self, start: int, against: int) -> set[int]:
        """Return the nodes that a node reaches through free edges, or `against` them."""
        reached = {start}
        waiting = [start]
        while waiting:
            for edge in self._edges[waiting.pop()]:
                other = self._to[edge]
                if self._room[edge ^ against] > 0 and other not in reached:
                    reached.add(other)
                    waiting.append(other)
        return reached

    def _levels(self) -> list[int] | None:
        levels = [-1] * len(self._edges)
        levels[self._SOURCE] = 0
        waiting = deque([self._SOURCE])
        while waiting:
            node = waiting.popleft()
            for edge in self._edges[node]:
                other = self._to[edge]
                if self._room[edge] > 0 and levels[other] < 0:
                    levels[other] = levels[node] + 1
                    if other == self._SINK:  # what is further lies on no shortest way
                        return levels
                    waiting.append(other)
        return None

    def _blocking_flow(self, levels: list[int]) -> int:
        total = 0
        following = [0] * len(self._edges)
        path: list[int] = []
        node = self._SOURCE
        while True:
            if node == self._SINK:
                pushed = min(self._room[edge] for edge in path)
                for edge in path:
                    self._room[edge] -= pushed
                    self._room[edge ^ 1] += pushed
                total += pushed
                full = next(
                    place for place, edge in enumerate(path) if not self._room[edge]
                )
                node = self._to[path[full] ^ 1]
                del path[full:]
                continue
            while following[node] < len(self._edges[node]):
                edge = self._edges[node][following[node]]
                other = self._to[edge]
                if self._room[edge] > 0 and levels[other] == levels[node] + 1:
                    path.append(edge)
                    node = other
                    break
                following[node] += 1
            else:
                if not path:
                    return total
                edge = path.pop()
                node = self._to[edge ^ 1]
                following[node] += 1
