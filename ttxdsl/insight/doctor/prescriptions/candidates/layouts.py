"""Other meshes of the same devices: axes of other sizes, and in another order.

Sizes move between axes by prime factors, to axes of size one that shardings name, too.
The order of axes says which devices are a group, which matters where links differ: the
last axis has neighbours, the first may lie between slices or hosts. Where links are said
by axis (`Machine.axes`), a link stays at its place in the mesh and axes of one size change
theirs.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.costs.chips import ChipMachine
from ttxdsl.costs.links import Link
from ttxdsl.costs.machines import Machine
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.prescriptions.candidates.changes import Candidate
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.sharding.devices.mesh import Mesh

_MOST_ORDERED = 4
"""Axes of several devices; the orders of more are too many."""


def layouts(
    module: ModuleOp, name: str, mesh: Mesh, machine: Machine
) -> Iterator[Candidate]:
    """Yield the candidates of one mesh, those of small changes first.

    Args:
        machine: whose links may differ along axes.
    """
    if mesh.device_ids:
        return  # the user placed each device
    axes = tuple(mesh.axes)
    orders = list(_orders(axes)) if links_differ(machine, mesh) else []
    if machine.axes:
        moved = [order for order in _orders(axes) if links_moved(machine, axes, order)]
        orders = list(dict.fromkeys((*moved, *orders)))
    written = sdy.written_shardings(module)
    named = {axis.name for sharding in written for axis in sharding.sharding_axes}
    sizes = list(_sizes(axes, named))
    for other in (*orders, *sizes):
        yield _candidate(name, mesh, Mesh(other), machine)
    for order in orders:
        for other in _sizes(order, named):
            yield _candidate(name, mesh, Mesh(other), machine)


def links_moved(
    machine: Machine,
    axes: Sequence[tuple[str, int]],
    order: Sequence[tuple[str, int]],
) -> tuple[tuple[str, Link], ...]:
    """Return the links along axes if these change places with axes of their sizes.

    Empty where no such axis has a link of its own, or sizes change: then nobody knows.
    """
    several = [[axis for axis in mesh if axis[1] > 1] for mesh in (axes, order)]
    if len(several[0]) != len(several[1]):
        return ()
    places = list(zip(*several, strict=True))
    renamed = {old: new for (old, _), (new, _) in places if old != new}
    if any(a != b for (_, a), (_, b) in places):
        return ()
    if not any(name in renamed for name, _ in machine.axes):
        return ()
    return tuple((renamed.get(name, name), link) for name, link in machine.axes)


def _candidate(name: str, mesh: Mesh, other: Mesh, machine: Machine) -> Candidate:
    change = Change("lay out mesh", name, str(other))
    moved = ", ".join(
        f"{new} has the link of {old}"
        for (new, _), (old, _) in zip(
            links_moved(machine, mesh.axes, other.axes), machine.axes, strict=False
        )
        if new != old
    )
    return Candidate(
        "mesh",
        f"{mesh_code(other)}  # was {_short_text(mesh)}{moved and '; '}{moved}",
        (SourcePlace(f"mesh @{name}"),),
        (Edit(change, mesh=other),),
        (("mesh",),),
    )


def mesh_code(mesh: Mesh) -> str:
    """Return the JAX code of a mesh."""
    comma = "," if len(mesh.axes) == 1 else ""
    sizes = ", ".join(map(str, mesh.axis_sizes))
    names = ", ".join(f'"{axis}"' for axis in mesh.axis_names)
    auto = f"(jax.sharding.AxisType.Auto,) * {len(mesh.axes)}"
    return (
        f"mesh = jax.make_mesh(({sizes}{comma}), ({names}{comma}), axis_types={auto})"
    )


def _short_text(mesh: Mesh) -> str:
    axes = mesh.without_size_one_axes().axes
    return ", ".join(f"{name}={size}" for name, size in axes)


def links_differ(machine: Machine, mesh: Mesh) -> bool:
    """Return True if links between devices differ by where these stand in the mesh."""
    if isinstance(machine, ChipMachine):
        return machine.block_devices < mesh.total_size
    return bool(machine.levels)


def _sizes(
    axes: tuple[tuple[str, int], ...], named: set[str]
) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield the axes with a prime factor of one axis moved to another, then all of it."""
    seen = {axes}
    sizes = dict(axes)
    whole: list[tuple[tuple[str, int], ...]] = []
    for source, size in axes:
        for target, other in axes:
            if source == target or size == 1 or target not in named:
                continue
            factors = [p for p in _primes(size) if p != size]
            for factor in (*factors, size):
                changed = {**sizes, source: size // factor, target: other * factor}
                new = tuple(changed.items())
                if new in seen:
                    continue
                seen.add(new)
                if factor == size:
                    whole.append(new)
                else:
                    yield new
    yield from whole


def _primes(number: int) -> list[int]:
    return [
        p
        for p in range(2, number + 1)
        if number % p == 0 and all(p % smaller for smaller in range(2, p))
    ]


def _orders(
    axes: tuple[tuple[str, int], ...],
) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield other orders of the axes of several devices; axes of one device come last."""
    several = [axis for axis in axes if axis[1] > 1]
    others = [axis for axis in axes if axis[1] == 1]
    if 1 < len(several) <= _MOST_ORDERED:
        for order in permutations(several):
            if list(order) != several:
                yield (*order, *others)
