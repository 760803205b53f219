"""Meshes to try: how the devices can be laid out, and what each axis splits.

For a program without shardings an axis splits one family of dimensions
(`ttxdsl.insight.doctor.groups`), or several that no value has two of, in every argument that
it divides; all products of up to three sizes that give the number of devices are
candidates. A program with shardings keeps them, and its mesh gets other sizes.

The order of the axes of a mesh changes no figure of the ring model, so each set of sizes
is tried in one order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import comb, log2

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.groups import Analysis, ArgumentDim, Product, divisors
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.shardy.other_meshes import replace_meshes

MOST_AXES = 3
"""Of a mesh for a program without shardings."""
MOST_MESHES = 20_000
"""To estimate; with more, meshes have fewer axes."""

_MESH = "mesh"

_MOST_SIZES = 20_000
"""The most candidates of a mesh whose axes are given; few are compiled."""
_SHARDING = "sdy.sharding"


BATCH_KEPT = "batch kept"
"""The note of candidates whose products keep their part of the batch."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """The sharding of an op's first result, open for further axes.

    Its fields are the op's number in a walk through the function, the axes of each
    dimension, and the op's position and function.
    """

    op: int
    dims: tuple[tuple[str, ...], ...]
    position: str | None = field(compare=False)
    function: str | None = field(compare=False, default=None)

    @staticmethod
    def of_batch(product: Product, axes: tuple[str, ...]) -> "Constraint":
        """Return the constraint by which a product keeps its batch on axes."""
        dims = tuple(axes if at == product.dim else () for at in range(product.rank))
        return Constraint(product.op, dims, product.position, product.function)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mesh, and for a program without shardings what its axes split.

    `splits` has for each axis the argument dimensions; None keeps the program's own
    shardings, and its axes that `axes` does not name have size one. `padding` is the part of memory that would be padding if the group that
    divides worst were filled up; the compiler computes it whole instead.
    """

    axes: tuple[tuple[str, int], ...]
    splits: tuple[tuple[ArgumentDim, ...], ...] | None = None
    padding: float = 0.0
    note: str = ""
    """How its shardings inside were chosen: `BATCH_KEPT`, or `solved`."""
    constraints: tuple["Constraint", ...] = ()
    """Shardings of results inside."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes from the largest on, without ones."""
        return tuple(sorted((size for _, size in self.axes if size > 1), reverse=True))

    @property
    def parts(self) -> dict[tuple[int, int], int]:
        """In how many parts each dimension of an argument is split."""
        parts: dict[tuple[int, int], int] = {}
        for (_, size), dims in zip(self.axes, self.splits or (), strict=False):
            for dim in dims:
                key = dim.argument, dim.dim
                parts[key] = parts.get(key, 1) * size
        return parts

    def __str__(self) -> str:
        """`batch=2, heads=4, batch kept`."""
        text = ", ".join(f"{name}={size}" for name, size in self.axes)
        return f"{text}, {self.note}" if self.note else text


def factorizations(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ordered products of that many numbers, from 1 up, that give the number."""
    if parts == 0:
        if number == 1:
            yield ()
        return
    for first in divisors(number):
        for rest in factorizations(number // first, parts - 1):
            yield first, *rest


def count_factorizations(number: int, parts: int) -> int:
    """Return the number of `factorizations`: those of each prime are independent."""
    count, prime = 1, 2
    while number > 1:
        power = 0
        while number % prime == 0:
            number, power = number // prime, power + 1
        count *= comb(power + parts - 1, power)
        prime += 1
    return count


def bundles(analysis: Analysis, size: int) -> list[tuple[int, ...]]:
    """Return the sets of families that one axis of this size can split.

    Families go together if no value has a dimension of both, as the heads and the
    hidden layer of a transformer, which Megatron splits by one axis. Of those, the sets
    that cannot be made larger are tried.
    """
    divided = [at for at, family in enumerate(analysis.families) if family.splits(size)]
    # the dimension that a loop iterates over is sharded only if no other can be
    able = [at for at in divided if not analysis.families[at].stacked] or divided
    apart: dict[int, set[int]] = {at: {at} for at in able}
    for together in analysis.touched:
        for at in together.intersection(able):
            apart[at] |= together
    single = [(at,) for at in able]
    largest = sorted(_largest_sets(able, apart))
    return [*single, *(bundle for bundle in largest if len(bundle) > 1)]


def _largest_sets(
    nodes: Sequence[int], apart: dict[int, set[int]]
) -> Iterator[tuple[int, ...]]:
    """The sets without two that are apart, to which none can be added."""

    def extend(
        chosen: tuple[int, ...], open_: list[int], closed: list[int]
    ) -> Iterator[tuple[int, ...]]:
        if not open_ and not closed:
            yield tuple(sorted(chosen))
        while open_:
            at = open_.pop(0)
            yield from extend(
                (*chosen, at),
                [other for other in open_ if other not in apart[at]],
                [other for other in closed if other not in apart[at]],
            )
            closed.append(at)

    return extend((), list(nodes), [])


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a candidate mesh: how long it is and which families it splits."""

    families: tuple[int, ...]
    size: int


def assignments(
    analysis: Analysis, devices: int, most_axes: int = MOST_AXES
) -> Iterator[tuple[Axis, ...]]:
    """All meshes to try: what each axis splits, no family by two axes.

    An axis splits a family only if it divides one of its argument's dimensions.
    """
    choices = [
        Axis(families, size)
        for size in divisors(devices)
        if size > 1
        for families in bundles(analysis, size)
    ]
    choices.sort(key=lambda axis: (axis.families, axis.size))

    def choose(start: int, left: int, taken: set[int]) -> Iterator[tuple[Axis, ...]]:
        if left == 1:
            yield ()
            return
        if len(taken_axes) == most_axes:
            return
        for at in range(start, len(choices)):
            axis = choices[at]
            if left % axis.size or taken.intersection(axis.families):
                continue
            taken_axes.append(axis)
            for rest in choose(at + 1, left // axis.size, taken | {*axis.families}):
                yield axis, *rest
            taken_axes.pop()

    taken_axes: list[Axis] = []
    yield from choose(0, devices, set())


def all_assignments(
    analysis: Analysis, devices: int
) -> tuple[list[tuple[Axis, ...]], int]:
    """The meshes of as many axes as can be looked through, and how many axes that is."""
    for most_axes in range(MOST_AXES, 1, -1):
        meshes = list(
            islice(assignments(analysis, devices, most_axes), MOST_MESHES + 1)
        )
        if len(meshes) <= MOST_MESHES:
            return meshes, most_axes
    return list(assignments(analysis, devices, 1)), 1


def parts_of(axes: Sequence[Axis]) -> dict[int, int]:
    """For each family that is split into how many parts."""
    return {family: axis.size for axis in axes for family in axis.families}


def candidate_of(analysis: Analysis, axes: Sequence[Axis]) -> Candidate:
    """The candidate with these axes; each has the names of what it splits."""
    families = analysis.families
    return Candidate(
        tuple(("+".join(families[f].name for f in a.families), a.size) for a in axes),
        tuple(
            tuple(
                dim
                for family in axis.families
                for dim in families[family].splits(axis.size)
            )
            for axis in axes
        ),
        max(
            (families[f].padding(a.size) for a in axes for f in a.families), default=0.0
        ),
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


def remove_shardings(module: ModuleOp) -> None:
    """Remove all meshes, shardings and sharding constraints of a program.

    Raises:
        CompileError: it has a manual computation, whose shapes hold for its own mesh.
    """
    for op in list(module.walk()):
        op.attributes.pop(_SHARDING, None)
        match op:
            case sdy.ManualComputationOp():
                raise CompileError(
                    "a manual computation holds for its own mesh: it cannot take another",
                    op,
                    hint="give the program before that part was made manual",
                )
            case sdy.ShardingConstraintOp() | sdy.ReshardOp():
                Rewriter.replace_op(op, [], [op.input])
            case sdy.ShardingGroupOp() | sdy.MeshOp():
                Rewriter.erase_op(op)
            case FuncOp():
                sdy.drop_func_shardings(op)
            case _:
                pass


def resized(
    module: ModuleOp, devices: int, *, all_axes: bool = False
) -> list[Candidate]:
    """Return the program's own mesh with other sizes, those nearest to its own first.

    Args:
        all_axes: whether axes of size one get other sizes, too.

    Raises:
        CompileError: there are several meshes, or the mesh has no axes, or so many that
            their sizes can be chosen in too many ways.
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
    mesh = meshes[0].mesh.data
    names = mesh.axis_names if all_axes else mesh.without_size_one_axes().axis_names
    if (count := count_factorizations(devices, len(names))) > _MOST_SIZES:
        raise CompileError(
            f"{len(names)} axes can have {count} sizes of {devices} devices: more than"
            f" {_MOST_SIZES}, too many to choose from",
            meshes[0],
            hint="leave out --all-axes" if all_axes else None,
        )
    return nearest_first(mesh, names, devices)


def nearest_first(mesh: Mesh, names: Sequence[str], devices: int) -> list[Candidate]:
    """Return a mesh with other sizes of some axes, those nearest to its own first."""
    own = [mesh.axis_size(name) for name in names]

    def distance(sizes: tuple[int, ...]) -> float:
        pairs = zip(sizes, own, strict=True)
        return sum(abs(log2(size / written)) for size, written in pairs)

    return [
        Candidate(tuple(zip(names, sizes, strict=True)))
        for sizes in sorted(factorizations(devices, len(names)), key=distance)
    ]


def apply_candidate(module: ModuleOp, function: FuncOp, candidate: Candidate) -> None:
    """Write a candidate's mesh and shardings into a module.

    Raises:
        CompileError: an axis splits something that is no ranked tensor.
        UnsupportedError: the program lists devices that hold for its own mesh only.
    """
    if candidate.splits is None:
        sizes = dict(candidate.axes)
        replaced: dict[sdy.MeshOp, Mesh] = {}
        for op in written_meshes(module):
            if names := op.mesh.data.axis_names:
                axes = tuple((name, sizes.get(name, 1)) for name in names)
                replaced[op] = Mesh(axes)
        replace_meshes(module, replaced)
        return
    op = sdy.MeshOp(_MESH, Mesh(candidate.axes))
    Rewriter.insert_op(op, InsertPoint.at_start(module.body.block))
    types = function.function_type.inputs.data
    refs: list[dict[int, list[AxisRef]]] = [{} for _ in types]
    for (axis, _), dims in zip(candidate.axes, candidate.splits, strict=True):
        for dim in dims:
            refs[dim.argument].setdefault(dim.dim, []).append(AxisRef(axis))
    arguments = sdy.func_argument_shardings(function)
    for index, (type_, mine) in enumerate(zip(types, refs, strict=True)):
        if isinstance(type_, TensorType):
            rank = type_.get_num_dims()
            dims = tuple(DimSharding(tuple(mine.get(dim, ()))) for dim in range(rank))
            arguments[index] = TensorSharding(_MESH, dims)
    # state is returned with the sharding of its argument
    results = sdy.func_result_shardings(function)
    for argument, result in results_of_arguments(function).items():
        results[result] = arguments[argument] or results[result]
    sdy.set_func_shardings(function, arguments, results)
    ops = list(function.body.walk()) if candidate.constraints else []
    for constraint in candidate.constraints:
        _constrain(ops[constraint.op], constraint.dims)


def _constrain(op: Operation, dims: Sequence[Sequence[str]]) -> None:
    result = op.results[0]
    shardings = tuple(
        DimSharding(tuple(map(AxisRef, axes)), closed=False) for axes in dims
    )
    constraint = sdy.ShardingConstraintOp(result, TensorSharding(_MESH, shardings))
    Rewriter.insert_op(constraint, InsertPoint.after(op))
    result.replace_uses_with_if(
        constraint.result, lambda use: use.operation is not constraint
    )
