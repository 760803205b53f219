"""The scopes of a graph: functions, regions, and parts of JAX's name stack, as a tree.

A scope with very many ops of its own is cut into segments (`segments.py`), so that a
program without any debug information can be folded too.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

from ttxdsl.analysis.attribution.authored import PHASES
from ttxdsl.analysis.attribution.nodes import TraceNode
from ttxdsl.analysis.attribution.segments import segments_of
from ttxdsl.analysis.attribution.stacks import ScopeName
from ttxdsl.diagnostics.errors import is_of_library, own_frame

_Item = tuple[Literal["node", "scope"], int]
"""What stands directly in a scope, with its number."""

_MOST_ITEMS = 80
_LARGEST_TO_MOVE = 64
"""Nodes of a scope that goes into a segment; a larger one stands for itself."""
_MOST_PIECES = 12
"""Segments beside each other; more are put together, but for those that repeat."""
_DENSE = 0.5
"""The part of its stretch of the program that a scope has to fill to be one."""
_GAP = 4
"""How far apart two nodes of one stretch are at most."""
_FEWEST_IN_A_STRETCH = 4
_FEWEST_OF_LINES = 12
"""Nodes of a scope that are put together by line."""
_FEWEST_OF_A_LINE = 3


@dataclass(slots=True)
class Scope:
    """A scope: its name, the scope that it is in (-1 for the program), and its kind.

    `line` is where a function is called, or what a line's scope is of, `turns` the
    iterations of the loop of which it is a region.
    """

    name: str
    parent: int
    kind: str
    line: str = ""
    turns: int = 1


class Scopes:
    """A tree of scopes; each is numbered, the whole program is 0."""

    def __init__(self):
        self.scopes: list[Scope] = [Scope("program", -1, "program")]
        self._numbers: dict[tuple[int, ScopeName], int] = {}
        self._counted: set[int] = set()
        """One call each, whatever stands between its ops now."""

    def scope(self, path: Sequence[ScopeName], kind: str, at: int = 0) -> int:
        """The scope of a path from another one, made where it is not there yet."""
        for depth, name in enumerate(path):
            last = depth == len(path) - 1
            at = self._child(at, name, kind if last else "scope")
        return at

    def _child(self, parent: int, name: ScopeName, kind: str) -> int:
        number = self._numbers.setdefault((parent, name), len(self.scopes))
        if number == len(self.scopes):
            self.scopes.append(Scope(name.name, parent, kind, name.line, name.turns))
            if name.is_counted:
                self._counted.add(number)
        elif kind != "scope":
            self.scopes[number].kind = kind
        return number

    def ancestors(self, scope: int) -> list[int]:
        """The scope and all that it is in, innermost first."""
        ancestors: list[int] = []
        while scope >= 0:
            ancestors.append(scope)
            scope = self.scopes[scope].parent
        return ancestors

    def settle(self, nodes: Sequence[TraceNode]) -> None:
        """Once all nodes are there: shorten chains, place constants, cut the large."""
        self._place_constants(nodes)
        self._part_scattered(nodes)
        self._place_loose(nodes)
        self._by_line(nodes)
        self._join_chains(nodes)
        self._open_the_only(nodes)
        self._cut(nodes)
        self._number_again(nodes)

    def _place_constants(self, nodes: Sequence[TraceNode]) -> None:
        """A constant that the compiler made without a scope belongs to its users."""
        users: dict[int, list[int]] = defaultdict(list)
        for node in nodes:
            for source, _ in node.inputs:
                users[source].append(node.group)
        for at, node in enumerate(nodes):
            if node.kind != "op" or node.inputs or not users[at]:
                continue
            common = self._common(users[at])
            if node.group in self.ancestors(common):
                node.group = common

    def _place_loose(self, nodes: Sequence[TraceNode]) -> None:
        """Put what the compiler made outside of all scopes into that of its first user.

        Gathers of arguments, and which device this is, belong to no line.
        """
        if not any(scope.line or scope.name in PHASES for scope in self.scopes):
            return
        users: dict[int, list[int]] = defaultdict(list)
        for at, node in enumerate(nodes):
            for source, _ in node.inputs:
                users[source].append(at)
        for at in reversed(range(len(nodes))):
            node = nodes[at]
            if node.kind != "op" or node.path or node.group:
                continue
            near = [nodes[user] for user in users[at]]
            if not any(neighbour.kind == "op" for neighbour in near):
                near = [nodes[source] for source, _ in node.inputs]
            inside: dict[int, list[int]] = defaultdict(list)
            for neighbour in near:
                if neighbour.kind == "op":
                    inside[self._outermost(neighbour.group)].append(neighbour.group)
            if inside:
                node.group = self._common(inside[min(inside, key=self._phase)])

    def _phase(self, scope: int) -> int:
        """Return a number by which scopes are in the order of a step."""
        name = self.scopes[scope].name
        return PHASES.index(name) if name in PHASES else len(PHASES)

    def _outermost(self, scope: int) -> int:
        """Return the scope of the program that a scope is in, if that is no region."""
        top = [0, 0, *reversed(self.ancestors(scope)[:-1])]
        at = top[2] if len(top) > 2 else 0
        return at if self.scopes[at].kind == "scope" else 0

    def _common(self, scopes: Sequence[int]) -> int:
        shared = self.ancestors(scopes[0])
        for scope in scopes[1:]:
            there = set(self.ancestors(scope))
            shared = [scope_around for scope_around in shared if scope_around in there]
        return shared[0]

    def _part_scattered(self, nodes: Sequence[TraceNode]) -> None:
        """Part scopes that are met again and again, as a layer's in a loop over layers.

        Each stretch becomes a scope of its own, short ones a part of what is around. Calls
        that are counted are told apart already: constants of theirs may stand elsewhere.
        Inner scopes go first: parting one changes nothing of what is in outer ones.
        """
        depths = [len(self.ancestors(scope)) for scope in range(len(self.scopes))]
        inside = self._inside(nodes)
        for scope in sorted(
            range(1, len(self.scopes)), key=lambda number: -depths[number]
        ):
            members = inside.get(scope)
            if members is None or self.scopes[scope].kind != "scope":
                continue
            if self.scopes[scope].name in PHASES:
                continue
            if not self._counted.isdisjoint(self.ancestors(scope)):
                continue
            if len(members) < (members[-1] - members[0] + 1) * _DENSE:
                self._part(scope, members, nodes)

    def _inside(self, nodes: Sequence[TraceNode]) -> dict[int, list[int]]:
        """The nodes in each scope that has any, also through others."""
        inside: dict[int, list[int]] = defaultdict(list)
        around: dict[int, list[list[int]]] = {}
        for at, node in enumerate(nodes):
            lists = around.get(node.group)
            if lists is None:
                lists = [inside[scope] for scope in self.ancestors(node.group)]
                around[node.group] = lists
            for each in lists:
                each.append(at)
        return inside

    def _part(
        self, scope: int, inside: Sequence[int], nodes: Sequence[TraceNode]
    ) -> None:
        known = self.scopes[scope]
        stretches: list[list[int]] = []
        for at in inside:
            if stretches and at - stretches[-1][-1] <= _GAP:
                stretches[-1].append(at)
            else:
                stretches.append([at])
        for stretch in stretches:
            short = len(stretch) < _FEWEST_IN_A_STRETCH
            if not short:
                self.scopes.append(replace(known))
            home = known.parent if short else len(self.scopes) - 1
            for at in stretch:
                if nodes[at].group == scope:
                    nodes[at].group = home
                    continue
                # a scope inside goes with the first stretch that it is met in
                child = self._below(scope, nodes[at].group)
                if child is not None:
                    self.scopes[child].parent = home

    def _below(self, scope: int, inner: int) -> int | None:
        """The child of a scope that an inner one is in, None if it is not inside."""
        while inner >= 0:
            if self.scopes[inner].parent == scope:
                return inner
            inner = self.scopes[inner].parent
        return None

    def _by_line(self, nodes: Sequence[TraceNode]) -> None:
        """Give the lines of a function that has many ops a scope each.

        A constant, which JAX moves out of the function, and what the compiler made stand
        with the first op that uses them.
        """
        lines_of = [""] * len(nodes)
        users: dict[int, int] = {}
        for at, node in enumerate(nodes):
            for source, _ in node.inputs:
                users.setdefault(source, at)
        for at in reversed(range(len(nodes))):
            node = nodes[at]
            if node.kind != "op":
                continue
            frame = own_frame(node.frames[:1])
            if frame and not is_of_library(frame.position):
                lines_of[at] = frame.position.rpartition(":")[0]
            user = users.get(at, at)
            if not (node.inputs and node.frames) and nodes[user].group == node.group:
                lines_of[at] = lines_of[user] or lines_of[at]
        own: dict[int, dict[str, list[TraceNode]]] = defaultdict(dict)
        for node, line in zip(nodes, lines_of, strict=True):
            if line:
                own[node.group].setdefault(line, []).append(node)
        around = {self.scopes[node.group].parent for node in nodes}
        for scope, lines in own.items():
            is_only = len(lines) < 2 and scope not in around
            if is_only or sum(map(len, lines.values())) < _FEWEST_OF_LINES:
                continue
            for line, inside in lines.items():
                if len(inside) >= _FEWEST_OF_A_LINE:
                    number = line.rpartition(":")[2]
                    name = ScopeName(f"line {number}", line=line)
                    child = self._child(scope, name, "line")
                    for node in inside:
                        node.group = child

    def _join_chains(self, nodes: Sequence[TraceNode]) -> None:
        """A scope that has nothing but one other scope is one with it."""
        own: dict[int, int] = defaultdict(int)
        for node in nodes:
            own[node.group] += 1
        children: dict[int, list[int]] = defaultdict(list)
        for at, scope in enumerate(self.scopes):
            children[scope.parent].append(at)
        for at in reversed(range(1, len(self.scopes))):
            inside = children[at]
            if len(inside) == 1 and not own[at]:
                (only,) = inside
                child, scope = self.scopes[only], self.scopes[at]
                if scope.kind != "scope" or child.kind != "scope":
                    continue
                if child.name != scope.name:
                    child.name = f"{scope.name}/{child.name}"
                child.parent = scope.parent
                siblings = children[scope.parent]
                siblings[siblings.index(at)] = only
                children[at] = []

    def _open_the_only(self, nodes: Sequence[TraceNode]) -> None:
        """A scope that everything is in, as `jit(train)`, says nothing: it goes."""
        while True:
            used = {scope for node in nodes for scope in self.ancestors(node.group)}
            top = [s for s in used if self.scopes[s].parent == 0]
            top = [
                s for s in top if self.scopes[s].kind not in ("arguments", "results")
            ]
            if any(node.group == 0 for node in nodes) or len(top) != 1:
                return
            (only,) = top
            if self.scopes[only].kind != "scope":
                return
            for scope in self.scopes:
                if scope.parent == only:
                    scope.parent = 0
            for node in nodes:
                if node.group == only:
                    node.group = 0

    def _cut(self, nodes: Sequence[TraceNode]) -> None:
        inside: dict[int, dict[_Item, None]] = defaultdict(dict)
        every = self._inside(nodes)
        for at, node in enumerate(nodes):
            item: _Item = ("node", at)
            for scope in self.ancestors(node.group):
                inside[scope].setdefault(item)
                item = ("scope", scope)

        def may_move(item: _Item) -> bool:
            which, at = item
            if which == "node":
                return nodes[at].kind == "op"
            boundary = self.scopes[at].kind in ("arguments", "results")
            return not boundary and len(every[at]) <= _LARGEST_TO_MOVE

        for scope, items in inside.items():
            loose = [item for item in items if may_move(item)]
            if len(loose) > _MOST_ITEMS:
                self._cut_one(scope, loose, nodes, every[scope])

    def _cut_one(
        self,
        scope: int,
        items: Sequence[_Item],
        nodes: Sequence[TraceNode],
        inside: Sequence[int],
    ) -> None:
        alive = self._alive_between(items, nodes, inside)
        labels = [
            nodes[at].op if which == "node" else self.scopes[at].name
            for which, at in items
        ]
        pieces = segments_of(labels, alive)
        parts = _parts_of(pieces, labels)
        for number, ((start, end), part) in enumerate(
            zip(pieces, parts, strict=True), 1
        ):
            around = scope
            if part is not None:
                around = self._child(scope, ScopeName(f"part {part}"), "segment")
            segment = self._child(around, ScopeName(f"segment {number}"), "segment")
            for which, at in items[start:end]:
                if which == "node":
                    nodes[at].group = segment
                else:
                    self.scopes[at].parent = segment

    def _alive_between(
        self,
        items: Sequence[_Item],
        nodes: Sequence[TraceNode],
        inside: Sequence[int],
    ) -> list[int]:
        """For each position how many items from before are used after it.

        `inside` are the nodes of the scope that is cut.
        """
        scopes = {at: n for n, (which, at) in enumerate(items) if which == "scope"}
        places = {at: n for n, (which, at) in enumerate(items) if which == "node"}
        for node in inside:
            if node not in places:
                for scope in self.ancestors(nodes[node].group):
                    if (place := scopes.get(scope)) is not None:
                        places[node] = place
                        break
        last: dict[int, int] = {}
        for node in inside:
            here = places.get(node)
            if here is None:
                continue
            for source, _ in nodes[node].inputs:
                there = places.get(source)
                if there is not None and here > there:
                    last[there] = max(here, last.get(there, 0))
        change = [0] * (len(items) + 2)
        for there, end in last.items():
            change[there + 1] += 1
            change[end + 1] -= 1
        return list(accumulate(change))

    def _number_again(self, nodes: Sequence[TraceNode]) -> None:
        """Leave out scopes that have nothing inside, and put parents first."""
        used = {0}
        for node in nodes:
            used.update(self.ancestors(node.group))
        order = sorted(used, key=lambda scope: len(self.ancestors(scope)))
        new = {old: at for at, old in enumerate(order)}
        self.scopes = [
            replace(scope, parent=new.get(scope.parent, -1))
            for scope in (self.scopes[old] for old in order)
        ]
        for node in nodes:
            node.group = new[node.group]


def _parts_of(
    pieces: Sequence[tuple[int, int]], labels: Sequence[str]
) -> list[int | None]:
    """Return for each segment the larger part that it is in, None if it is in none."""
    if len(pieces) <= _MOST_PIECES:
        return [None] * len(pieces)
    contents = [tuple(labels[start:end]) for start, end in pieces]
    counts = Counter(contents)
    size = -(-sum(counts[content] == 1 for content in contents) // (_MOST_PIECES - 2))
    parts: list[int | None] = []
    part = inside = 0
    for content in contents:
        if counts[content] > 1:
            parts.append(None)
            part, inside = part + 1, 0
            continue
        if inside == size:
            part, inside = part + 1, 0
        parts.append(part)
        inside += 1
    return parts
