"""Meshes to try: how the devices can be laid out, and what each axis splits.

For a program without shardings an axis splits one family of dimensions
(`ttxdsl.doctoring.groups`) in every argument that it divides; all products of sizes that
give the number of devices are candidates. A program with shardings keeps them, and its
mesh gets other sizes.

The order of the axes of a mesh changes no figure of the ring model, so each set of sizes
is tried in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.doctoring.groups import Analysis, ArgumentDim, divisors
from ttxdsl.errors import CompileError
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import DimSharding, Mesh, TensorSharding
from ttxdsl.transforms.function_attributes import (
    argument_attributes,
    set_argument_attributes,
)

_MESH = "mesh"
_SHARDING = "sdy.sharding"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mesh, and for a program without shardings what its axes split.

    `splits` has for each axis the argument dimensions; None keeps the program's own
    shardings.
    """

    axes: tuple[tuple[str, int], ...]
    splits: tuple[tuple[ArgumentDim, ...], ...] | None = None

    def __str__(self) -> str:
        """`batch=2, heads=4`."""
        return ", ".join(f"{name}={size}" for name, size in self.axes)


def factorizations(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ordered products of that many numbers, from 1 up, that give the number."""
    if parts == 0:
        if number == 1:
            yield ()
        return
    for first in divisors(number):
        for rest in factorizations(number // first, parts - 1):
            yield first, *rest


def assignments(analysis: Analysis, devices: int) -> Iterator[dict[int, int]]:
    """For each candidate the number of parts of every family that is split.

    A family is split only into parts that divide one of its argument's dimensions.
    """
    allowed = [
        [parts for parts in divisors(devices) if family.splits(parts)]
        for family in analysis.families
    ]

    def choose(at: int, left: int) -> Iterator[dict[int, int]]:
        if left == 1:
            yield {}
            return
        if at == len(allowed):
            return
        yield from choose(at + 1, left)
        for parts in allowed[at]:
            if parts > 1 and left % parts == 0:
                for rest in choose(at + 1, left // parts):
                    yield {at: parts, **rest}

    yield from choose(0, devices)


def candidate_of(analysis: Analysis, parts: dict[int, int]) -> Candidate:
    """The candidate that splits these families, in the order of the families."""
    chosen = [(analysis.families[at], size) for at, size in sorted(parts.items())]
    return Candidate(
        tuple((family.name, size) for family, size in chosen),
        tuple(family.splits(size) for family, size in chosen),
    )


def argument_bytes(candidate: Candidate, sizes: Sequence[int]) -> int:
    """The bytes of all arguments on a device, from the candidate alone.

    Args:
        candidate: one with splits.
        sizes: the bytes of each argument, whole.
    """
    parts = [1] * len(sizes)
    for (_, size), dims in zip(candidate.axes, candidate.splits or (), strict=True):
        for dim in dims:
            parts[dim.argument] *= size
    return sum(size // split for size, split in zip(sizes, parts, strict=True))


def written_meshes(module: ModuleOp) -> list[sdy.MeshOp]:
    """The meshes of the module."""
    return [op for op in module.ops if isinstance(op, sdy.MeshOp)]


def resized(module: ModuleOp, devices: int) -> list[Candidate]:
    """The program's own mesh with all other sizes of its axes.

    Raises:
        CompileError: there are several meshes, or the mesh has no axes.
    """
    meshes = [op for op in written_meshes(module) if op.mesh.data.axes]
    shapes = {op.mesh.data.axes for op in meshes}
    if len(shapes) != 1:
        count = f"{len(shapes)} different meshes" if shapes else "no mesh with axes"
        raise CompileError(
            f"the program has {count}: which sizes to change is not clear",
            meshes[0] if meshes else module,
            hint="write all shardings for one mesh",
        )
    names = [name for name, _ in meshes[0].mesh.data.axes]
    return [
        Candidate(tuple(zip(names, sizes, strict=True)))
        for sizes in factorizations(devices, len(names))
    ]


def apply_candidate(module: ModuleOp, function: FuncOp, candidate: Candidate) -> None:
    """Write a candidate's mesh and shardings into a module.

    Args:
        module: the program, which is changed.
        function: its entry function.
        candidate: what to write.

    Raises:
        CompileError: an axis splits something that is no ranked tensor.
    """
    mesh = Mesh(candidate.axes)
    if candidate.splits is None:
        for op in written_meshes(module):
            if op.mesh.data.axes:
                Rewriter.replace_op(op, sdy.MeshOp(op.sym_name.data, mesh))
        return
    op = sdy.MeshOp(_MESH, mesh)
    Rewriter.insert_op(op, InsertPoint.at_start(module.body.block))
    entries = argument_attributes(function)
    refs: list[dict[int, list[AxisRef]]] = [{} for _ in entries]
    for (axis, _), dims in zip(candidate.axes, candidate.splits, strict=True):
        for dim in dims:
            refs[dim.argument].setdefault(dim.dim, []).append(AxisRef(axis))
    for index, (entry, mine) in enumerate(zip(entries, refs, strict=True)):
        type_ = function.function_type.inputs.data[index]
        if isinstance(type_, TensorType):
            dims = tuple(
                DimSharding(tuple(mine.get(dim, ())))
                for dim in range(type_.get_num_dims())
            )
            entry[_SHARDING] = sdy.TensorShardingAttr(TensorSharding(_MESH, dims))
    set_argument_attributes(function, entries)


def size_of(candidate: Candidate) -> int:
    """The number of devices."""
    return prod(size for _, size in candidate.axes)
