"""The execution counts of the computations of a compiled XLA program.

XLA writes the trip count of a loop where it knows it:

    %while.11 = (…) while(%tuple), condition=%region_1, body=%region_2,
        backend_config={"known_trip_count":{"n":"5"}}

and where it does not write it down, `trips.py` counts.

Computations come in the text behind those that they call, the entry last. Branches count
as in `ttxdsl.analysis.calls.execution_counts`: the dearest one.

Source: XLA's HLO text format.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ttxdsl.analysis.calls.execution_counts import NEVER, ONCE, Times
from ttxdsl.bridges.xla.hlo.trips import HloLines, trips_of

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?(?P<name>[^\s(]+) \(.*\{$")
_END = re.compile(r"\}(?:, execution_thread=.*)?$")
"""Other lines begin so too, where a kernel's metadata takes several."""
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TWO_BRANCHES = re.compile(r"(?:true|false)_computation=%?([^\s,]+)")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_LATER = re.compile(r" async-(?:update|done)\(")
_NAMED = re.compile(r"(?P<role>condition|body|calls|to_apply)=%?(?P<name>[^\s,})]+)")
_CALLED = re.compile(r"called_computations=\{([^}]*)\}")
"""Computations that a custom call runs; libtpu for v7x has collectives of sparse cores there."""


@dataclass(slots=True)
class _Use:
    """One line that runs computations."""

    role: str
    names: tuple[str, ...]
    trips: int | None = None


@dataclass(slots=True)
class Computation:
    """A computation: its lines that run other computations."""

    name: str
    uses: list[_Use] = field(default_factory=list[_Use])


def _names(listed: str) -> list[str]:
    """Return the names of a list of computations, as in `%a, %b`."""
    return [name.strip().lstrip("%") for name in listed.split(",")]


def _uses(line: str) -> list[_Use]:
    uses: list[_Use] = []
    branches = _TWO_BRANCHES.findall(line)
    if listed := _BRANCHES.search(line):
        branches = _names(listed[1])
    if branches:
        uses.append(_Use("branch", tuple(branches)))
    if called := _CALLED.search(line):
        uses += [_Use("calls", (name,)) for name in _names(called[1])]
    trips = _TRIPS.search(line)
    # one that has begun runs no further time
    named_once = () if _LATER.search(line) else _NAMED.finditer(line)
    for named in named_once:
        count = int(trips[1]) if trips else None
        uses.append(_Use(named["role"], (named["name"],), count))
    return uses


def computations_of(hlo: str) -> tuple[list[Computation], list[str | None]]:
    """Return the computations in order, and for each line the one that it stands in."""
    computations: list[Computation] = []
    places: list[str | None] = []
    bodies: dict[str, HloLines] = {}
    loops: list[tuple[str, str, list[_Use]]] = []
    inside: Computation | None = None
    for line in hlo.splitlines():
        head = _COMPUTATION.match(line)
        if head is not None:
            inside = Computation(head["name"])
            computations.append(inside)
            bodies[inside.name] = HloLines()
        elif _END.match(line):
            inside = None
        elif inside is not None and "=" in line:
            bodies[inside.name].texts.append(line)
            uses = _uses(line)
            inside.uses.extend(uses)
            if any(use.role == "body" and use.trips is None for use in uses):
                loops.append((inside.name, line, uses))
        places.append(None if inside is None else inside.name)
    for place, line, uses in loops:
        trips = trips_of(bodies, place, line)
        for use in uses:
            use.trips = trips
    return computations, places


def times_of(
    computations: list[Computation],
    sent: Mapping[str, int],
    trip_count: int | None = None,
) -> dict[str, Times]:
    """Return the execution count of each computation in one run of the program.

    Args:
        computations: as `computations_of` gives them, the entry last.
        sent: the bytes that each sends itself, for branches.
    """
    weights: dict[str, int] = {}
    for computation in computations:
        weight = sent.get(computation.name, 0)
        for use in computation.uses:
            inner = [weights.get(name, 0) for name in use.names]
            trips = use.trips if use.trips is not None else trip_count
            iterations = 1 if trips is None or use.role != "body" else trips
            weight += iterations * max(inner, default=0)
        weights[computation.name] = weight
    times: dict[str, Times] = {}
    for computation in reversed(computations):
        here = times.setdefault(
            computation.name, ONCE if computation is computations[-1] else NEVER
        )
        for use in computation.uses:
            dearest = max(use.names, key=lambda name: weights.get(name, 0))
            for name in use.names:
                inner = here if name == dearest else NEVER
                if use.role in ("condition", "body"):
                    more = int(use.role == "condition")
                    inner = here.inside(use.trips, trip_count, more)
                known = times.get(name)
                times[name] = inner if known is None else known.joined(inner)
    return times
