"""Ops of random programs that tell propagation something, or hold a region."""

from collections.abc import Sequence
from math import prod

from tests.differential.random_ops import body_ops
from tests.differential.random_writer import Tensor, Writer, random_sharding
from ttxdsl.sharding.axes import Axes, AxisRef, sort_and_merge
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding


def constraint(w: Writer) -> None:
    if not w.options.constraints:
        return
    x = w.some()
    w.emit(
        "sdy.sharding_constraint",
        [x],
        [(x.shape, x.element)],
        f"sharding = #sdy.sharding{w.sharding(x.shape)}",
        shard=False,
    )


def propagation_barrier(w: Writer) -> None:
    if not w.options.barriers:
        return
    x = w.some()
    direction = w.rng.randrange(3)  # a barrier that lets everything through is refused
    w.emit(
        "sdy.propagation_barrier",
        [x],
        [(x.shape, x.element)],
        f"allowed_direction = {direction} : i32",
    )


def group(w: Writer) -> None:
    if not w.options.groups or w.depth:
        return
    if w.grouped and w.rng.random() < 0.5:
        number = w.rng.randrange(len(w.grouped))
    else:
        number = len(w.grouped)
        w.grouped.append(w.some().shape)
    for _ in range(2):
        member = w.like(w.grouped[number])
        if (
            w.options.overlapping_groups
            or w.group_of.setdefault(member.name, number) == number
        ):
            w.emit("sdy.sharding_group", [member], [], f"group_id = {number} : i64")


def optimization_barrier(w: Writer) -> None:
    operands = [w.some() for _ in range(w.rng.randint(1, 3))]
    w.emit(
        "stablehlo.optimization_barrier",
        operands,
        [(x.shape, x.element) for x in operands],
    )


def while_loop(w: Writer) -> None:
    if not w.options.regions or w.depth > 1:
        return
    carried = [w.some() for _ in range(w.rng.randint(1, 3))]
    start = w.constant((), "i32") if w.options.numbers else w.like((), "i32")
    operands = [start, *carried]
    names = [Tensor(w.fresh(), x.shape, x.element) for x in operands]
    with w.region(names) as condition:
        limit = w.constant((), "i32")
        if w.options.numbers:  # at most four times, and not forever
            (limit,) = w.emit("stablehlo.abs", [limit], [((), "i32")], shard=False)
        direction = "comparison_direction = #stablehlo<comparison_direction LT>"
        less = w.emit(
            "stablehlo.compare", [names[0], limit], [((), "i1")], direction, shard=False
        )
        w.ends("stablehlo.return", less)
    names = [Tensor(w.fresh(), x.shape, x.element) for x in operands]
    with w.region(names) as body:
        body_ops(w, w.rng.randint(1, 4))
        one = w.constant((), "i32", "1")
        (count,) = w.emit("stablehlo.add", [names[0], one], [((), "i32")], shard=False)
        w.ends(
            "stablehlo.return", [count, *(w.like(x.shape, x.element) for x in carried)]
        )
    w.emit(
        "stablehlo.while",
        operands,
        [(x.shape, x.element) for x in operands],
        regions=f"{condition[0]}, {body[0]}",
    )


def case(w: Writer) -> None:
    if not w.options.regions or w.depth > 1:
        return
    index = w.like((), "i32")
    shapes = [w.some().shape for _ in range(w.rng.randint(1, 2))]
    branches: list[str] = []
    for _ in range(w.rng.randint(1, 3)):
        with w.region([]) as branch:
            body_ops(w, w.rng.randint(1, 3))
            w.ends("stablehlo.return", [w.like(shape) for shape in shapes])
        branches += branch
    w.emit(
        "stablehlo.case",
        [index],
        [(shape, w.element) for shape in shapes],
        regions=", ".join(branches),
    )


def manual_computation(w: Writer) -> None:
    """A body that is local along some axes; the others stay free."""
    if not w.options.manual or w.depth or len(w.mesh.axes) < 2:
        return
    count = w.rng.randint(1, len(w.mesh.axes) - 1)
    manual = tuple(
        name
        for name in w.mesh.axis_names
        if name in w.rng.sample(w.mesh.axis_names, count)
    )
    if not manual:
        return
    operands = [w.some() for _ in range(w.rng.randint(1, 3))]
    borders = [manual_sharding(w, x.shape, manual) for x in operands]
    inner = [
        Tensor(w.fresh(), local_shape(x.shape, sharding, w.mesh, manual), x.element)
        for x, sharding in zip(operands, borders, strict=True)
    ]
    outside, w.manual = w.manual, manual
    results: list[tuple[tuple[int, ...], TensorSharding]] = []
    with w.region(inner, isolated=True) as body:
        body_ops(w, w.rng.randint(1, 4))
        returned = [w.some() for _ in range(w.rng.randint(1, 2))]
        w.ends("sdy.return", returned)
        for x in returned:
            sharding = manual_sharding(w, None, manual, rank=len(x.shape))
            shape = global_shape(x.shape, sharding, w.mesh, manual)
            results.append((shape, sharding))
    w.manual = outside
    per_value = (
        f"#sdy.sharding_per_value<[{', '.join(map(str, shardings))}]>"
        for shardings in (borders, [sharding for _, sharding in results])
    )
    names = ", ".join(f'"{name}"' for name in manual)
    w.emit(
        "sdy.manual_computation",
        operands,
        [(shape, w.element) for shape, _ in results],
        f"in_shardings = {next(per_value)}, out_shardings = {next(per_value)}, "
        f"manual_axes = #sdy<manual_axes{{{names}}}>",
        body[0],
        shard=False,
    )


def manual_sharding(
    w: Writer, shape: Sequence[int] | None, manual: Sequence[str], rank: int = 0
) -> TensorSharding:
    """All manual axes shard a dimension that they divide or are replicated, free behind."""
    rank = rank if shape is None else len(shape)
    sizes = list(shape) if shape is not None else [0] * rank
    axes: list[Axes] = [()] * rank
    replicated: list[AxisRef] = []
    for name in manual:
        size = w.mesh.axis_size(name)
        fitting = [dim for dim in range(rank) if sizes[dim] % size == 0]
        if fitting and w.rng.random() < 0.8:
            dim = w.rng.choice(fitting)
            sizes[dim] //= size
            axes[dim] = (*axes[dim], AxisRef(name))
        else:
            replicated.append(AxisRef(name))
    free = random_sharding(w.rng, w.mesh, rank, w.options, without=manual)
    dims = tuple(
        DimSharding(first + dim.axes, dim.closed, None)
        for first, dim in zip(axes, free.dims, strict=True)
    )
    if shape is not None:
        # the body must be even along free axes, too
        dims = tuple(
            dim if size % dim.sharded_size(w.mesh) == 0 else dim.with_axes(first)
            for dim, size, first in zip(dims, shape, axes, strict=True)
        )
    return TensorSharding(
        "mesh", dims, sort_and_merge(replicated, w.mesh), free.unreduced
    )


def local_shape(
    shape: Sequence[int], sharding: TensorSharding, mesh: Mesh, manual: Sequence[str]
) -> tuple[int, ...]:
    return tuple(
        size
        // prod(mesh.axis_size(axis.name) for axis in dim.axes if axis.name in manual)
        for size, dim in zip(shape, sharding.dims, strict=True)
    )


def global_shape(
    shape: Sequence[int], sharding: TensorSharding, mesh: Mesh, manual: Sequence[str]
) -> tuple[int, ...]:
    return tuple(
        size
        * prod(mesh.axis_size(axis.name) for axis in dim.axes if axis.name in manual)
        for size, dim in zip(shape, sharding.dims, strict=True)
    )
