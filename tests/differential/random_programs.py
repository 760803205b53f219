"""Random programs for differential tests: the same seed always makes the same text.

A program is one function in MLIR's generic form: a random mesh, a random graph of ops
from the families that have sharding rules, and random shardings on arguments, results
and values between them. Ask the oracle for the pretty form.

    text = random_program(7)
    text = random_program(7, Options(ops=30, regions=False))
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from ttxdsl.sharding.axes import Axes, AxisRef, append_merged, sort_and_merge
from ttxdsl.sharding.spec import DimSharding, Mesh, TensorSharding

SIZES = (1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 16, 32)
"""What dimensions may be large; frequent sizes twice."""


@dataclass(frozen=True)
class Options:
    """What a random program may contain."""

    ops: int = 12
    """About how many ops, not counting those in regions."""
    sharded: float = 0.6
    """How likely an argument has a sharding; a result of the function a third of it."""
    sharded_between: float = 0.2
    """How likely the results of an op have shardings."""
    sub_axes: bool = True
    priorities: bool = False
    replicated: bool = True
    unreduced: bool = False
    constraints: bool = True
    groups: bool = False
    overlapping_groups: bool = False
    """Whether a value may be in two groups, which only the import pass takes."""
    barriers: bool = True
    regions: bool = True
    manual: bool = True
    families: tuple[str, ...] = ()
    """Only ops of these families (keys of `FAMILIES`); () for all."""


@dataclass(frozen=True)
class Tensor:
    """A value of the program."""

    name: str
    shape: tuple[int, ...]
    element: str = "f32"

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element)


def tensor_type(shape: Sequence[int], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def array(values: Sequence[int]) -> str:
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def dense(values: object, shape: Sequence[int]) -> str:
    return f"dense<{values}> : {tensor_type(shape, 'i64')}"


def random_mesh(rng: random.Random) -> Mesh:
    """One to four axes, at most 64 devices, now and then of size one or odd."""
    axes: list[tuple[str, int]] = []
    for name in "abcd"[: rng.choice((1, 2, 2, 2, 3, 3, 4))]:
        size = rng.choice((1, 2, 2, 2, 3, 4, 4, 6, 8))
        if prod(size for _, size in axes) * size <= 64:
            axes.append((name, size))
    return Mesh(tuple(axes))


def random_axes(rng: random.Random, mesh: Mesh, sub_axes: bool) -> list[AxisRef]:
    """Some axes and sub-axes of the mesh that do not overlap, in random order."""
    axes: list[AxisRef] = []
    for name, size in mesh.axes:
        if rng.random() < 0.35:
            continue
        divisors = [n for n in range(2, size) if size % n == 0]
        if not sub_axes or not divisors or rng.random() < 0.7:
            axes.append(AxisRef(name))
            continue
        pre_size = rng.choice(divisors)
        parts = [AxisRef(name, 1, pre_size), AxisRef(name, pre_size, size // pre_size)]
        axes.extend(rng.sample(parts, rng.choice((1, 2))))
    rng.shuffle(axes)
    return axes


def random_sharding(
    rng: random.Random,
    mesh: Mesh,
    rank: int,
    options: Options,
    *,
    mesh_name: str = "mesh",
    without: Sequence[str] = (),
) -> TensorSharding:
    """A valid sharding of a tensor of that rank, even or not."""
    axes = [
        axis
        for axis in random_axes(rng, mesh, options.sub_axes)
        if axis.name not in without
    ]
    per_dim: list[Axes] = [()] * rank
    left: list[AxisRef] = []
    for axis in axes:
        if rank and rng.random() < 0.75:
            dim = rng.randrange(rank)
            per_dim[dim] = append_merged(per_dim[dim], axis, mesh)
        else:
            left.append(axis)
    dims: list[DimSharding] = []
    for dim_axes in per_dim:
        closed = rng.random() < 0.4
        priority = None
        if options.priorities and rng.random() < 0.4 and (dim_axes or not closed):
            priority = rng.randrange(4)
        dims.append(DimSharding(dim_axes, closed, priority))
    replicated: list[AxisRef] = []
    unreduced: list[AxisRef] = []
    for axis in left:
        if options.unreduced and rng.random() < 0.2:
            unreduced.append(axis)
        elif options.replicated and rng.random() < 0.4:
            replicated.append(axis)
    return TensorSharding(
        mesh_name,
        tuple(dims),
        sort_and_merge(replicated, mesh),
        sort_and_merge(unreduced, mesh),
    )


@dataclass
class Writer:
    """Writes a program op by op; arguments are added when an op asks for one."""

    rng: random.Random
    options: Options
    mesh: Mesh
    lines: list[str] = field(default_factory=list[str])
    values: list[Tensor] = field(default_factory=list[Tensor])
    arguments: list[Tensor] = field(default_factory=list[Tensor])
    grouped: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The shape of the members of each sharding group."""
    group_of: dict[str, int] = field(default_factory=dict[str, int])
    """The group of each member."""
    count: int = 0
    depth: int = 0
    isolated: bool = False
    """In a body that sees no values from outside: no new function arguments."""
    manual: tuple[str, ...] = ()
    """The axes that a manual computation around here has taken."""

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def emit(
        self,
        op: str,
        operands: Sequence[Tensor],
        results: Sequence[tuple[Sequence[int], str]],
        properties: str = "",
        regions: str = "",
        attributes: str = "",
        *,
        shard: bool = True,
    ) -> list[Tensor]:
        """One op in generic form, perhaps with shardings on its results."""
        made = [
            Tensor(self.fresh(), tuple(shape), element) for shape, element in results
        ]
        entries = [attributes] if attributes else []
        if shard and made and self.rng.random() < self.options.sharded_between:
            shardings = ", ".join(str(self.sharding(t.shape)) for t in made)
            entries.append(f"sdy.sharding = #sdy.sharding_per_value<[{shardings}]>")
        line = "  " * (self.depth + 2)
        if made:
            line += f"{', '.join(t.name for t in made)} = "
        line += f'"{op}"({", ".join(t.name for t in operands)})'
        if properties:
            line += f" <{{{properties}}}>"
        if regions:
            line += f" ({regions})"
        if entries:
            line += f" {{{', '.join(entries)}}}"
        types = ", ".join(t.type for t in operands)
        line += f" : ({types}) -> ({', '.join(t.type for t in made)})"
        self.lines.append(line)
        self.values.extend(made)
        return made

    def sharding(self, shape: Sequence[int]) -> TensorSharding:
        return random_sharding(
            self.rng, self.mesh, len(shape), self.options, without=self.manual
        )

    # Values to work on

    def shape(self, low: int = 1, high: int = 3) -> tuple[int, ...]:
        return tuple(self.rng.choice(SIZES) for _ in range(self.rng.randint(low, high)))

    def some(
        self,
        low: int = 1,
        high: int = 4,
        element: str = "f32",
        accept: Callable[[Tensor], bool] = lambda tensor: True,
    ) -> Tensor:
        """A value of a rank in range, the later the likelier; a new one if need be."""
        fitting = [
            value
            for value in self.values
            if low <= len(value.shape) <= high
            and value.element == element
            and accept(value)
        ]
        if fitting and self.rng.random() < 0.9:
            return fitting[
                min(len(fitting) - 1, int(len(fitting) * self.rng.random() ** 0.5))
            ]
        for _ in range(100):
            candidate = Tensor("", self.shape(low, min(high, 3)), element)
            if accept(candidate):
                return self.new(candidate.shape, element)
        return self.new((4,) * low, element)

    def like(self, shape: Sequence[int], element: str = "f32") -> Tensor:
        """A value of exactly that type."""
        fitting = [
            value
            for value in self.values
            if value.shape == tuple(shape) and value.element == element
        ]
        if fitting and self.rng.random() < 0.8:
            return self.rng.choice(fitting)
        return self.new(shape, element)

    def new(self, shape: Sequence[int], element: str = "f32") -> Tensor:
        """A new argument, or a constant where there are no arguments."""
        if self.isolated or self.rng.random() < 0.15:
            return self.constant(shape, element)
        argument = Tensor(f"%arg{len(self.arguments)}", tuple(shape), element)
        self.arguments.append(argument)
        # usable from everywhere, also from the ops around a region
        self.values.insert(0, argument)
        return argument

    def constant(self, shape: Sequence[int], element: str = "f32") -> Tensor:
        literal = {"f32": "1.0", "i32": "1", "i1": "true"}[element]
        value = f"value = dense<{literal}> : {tensor_type(shape, element)}"
        return self.emit("stablehlo.constant", [], [(shape, element)], value)[0]

    # Regions

    @contextmanager
    def region(
        self, arguments: Sequence[Tensor], isolated: bool = False
    ) -> Generator[list[str]]:
        """Write into a region; afterwards the yielded list holds its text."""
        text: list[str] = []
        lines, values, outer_isolated = self.lines, self.values, self.isolated
        self.lines = []
        self.values = list(arguments) if isolated else [*values, *arguments]
        self.isolated = self.isolated or isolated
        self.depth += 1
        known = len(self.arguments)
        yield text
        self.depth -= 1
        pad = "  " * (self.depth + 2)
        header = ", ".join(f"{t.name}: {t.type}" for t in arguments)
        head = f"^bb0({header}):\n" if arguments else ""
        body = "\n".join(self.lines)
        text.append(f"{{\n{pad}{head}{body}\n{pad}}}")
        self.lines, self.isolated = lines, outer_isolated
        self.values = [*self.arguments[known:], *values]

    def ends(self, op: str, values: Sequence[Tensor]) -> None:
        self.emit(op, values, [])

    def combiner(self, op: str, element: str, pairs: int = 1) -> str:
        """The region of a reduction: `op` on each pair of scalars."""
        scalars = [Tensor(self.fresh(), (), element) for _ in range(2 * pairs)]
        with self.region(scalars) as text:
            made = [
                self.emit(
                    op, [scalars[i], scalars[i + pairs]], [((), element)], shard=False
                )[0]
                for i in range(pairs)
            ]
            self.ends("stablehlo.return", made)
        return text[0]

    def body_ops(self, count: int) -> None:
        """A few ops for the body of a region."""
        for _ in range(count):
            self.rng.choice(BODY_OPS)(self)


# ---- ops, one function an op or kind of op ------------------------------------------

Op = Callable[[Writer], object]

UNARY = ("abs", "cosine", "exponential", "logistic", "negate", "sign", "sqrt", "tanh")
BINARY = ("add", "divide", "maximum", "minimum", "multiply", "power", "subtract")


def unary(w: Writer) -> None:
    x = w.some(0)
    w.emit(f"stablehlo.{w.rng.choice(UNARY)}", [x], [(x.shape, "f32")])


def binary(w: Writer) -> None:
    x = w.some(0)
    y = w.like(x.shape)
    w.emit(f"stablehlo.{w.rng.choice(BINARY)}", [x, y], [(x.shape, "f32")])


def compare_and_select(w: Writer) -> None:
    x = w.some()
    y = w.like(x.shape)
    direction = "comparison_direction = #stablehlo<comparison_direction LT>"
    (less,) = w.emit("stablehlo.compare", [x, y], [(x.shape, "i1")], direction)
    w.emit("stablehlo.select", [less, x, w.like(x.shape)], [(x.shape, "f32")])


def clamp(w: Writer) -> None:
    x = w.some()
    bounds = [w.like(w.rng.choice(((), x.shape))) for _ in range(2)]
    if bounds[0].shape != bounds[1].shape:
        bounds[1] = bounds[0]
    w.emit("stablehlo.clamp", [bounds[0], x, bounds[1]], [(x.shape, "f32")])


def convert(w: Writer) -> None:
    x = w.some()
    (whole,) = w.emit("stablehlo.convert", [x], [(x.shape, "i32")])
    w.emit("stablehlo.convert", [whole], [(x.shape, "f32")])


def iota(w: Writer) -> None:
    shape = w.shape()
    dim = w.rng.randrange(len(shape))
    w.emit("stablehlo.iota", [], [(shape, "f32")], f"iota_dimension = {dim} : i64")


def constant(w: Writer) -> None:
    w.constant(w.shape(0))


def broadcast(w: Writer) -> None:
    x = w.some(0, 3)
    rank = w.rng.randint(max(1, len(x.shape)), 4)
    dims = sorted(w.rng.sample(range(rank), len(x.shape)))
    shape = [w.rng.choice(SIZES) for _ in range(rank)]
    for dim, size in zip(dims, x.shape, strict=True):
        if size != 1 or w.rng.random() < 0.5:
            shape[dim] = size
    w.emit(
        "stablehlo.broadcast_in_dim",
        [x],
        [(shape, "f32")],
        f"broadcast_dimensions = {array(dims)}",
    )


def transpose(w: Writer) -> None:
    x = w.some(2)
    order = w.rng.sample(range(len(x.shape)), len(x.shape))
    shape = [x.shape[dim] for dim in order]
    w.emit(
        "stablehlo.transpose", [x], [(shape, "f32")], f"permutation = {array(order)}"
    )


def reshape(w: Writer) -> None:
    """Merge neighbours and split sizes at random."""
    x = w.some()
    shape: list[int] = []
    for size in x.shape:
        if shape and w.rng.random() < 0.4:
            shape[-1] *= size
        else:
            shape.append(size)
    split: list[int] = []
    for size in shape:
        divisors = [n for n in range(2, size) if size % n == 0]
        if divisors and w.rng.random() < 0.6:
            first = w.rng.choice(divisors)
            split += [first, size // first]
        else:
            split.append(size)
        if w.rng.random() < 0.1:
            split.append(1)
    w.emit("stablehlo.reshape", [x], [(split, "f32")])


def reverse(w: Writer) -> None:
    x = w.some()
    dims = w.rng.sample(range(len(x.shape)), w.rng.randint(1, len(x.shape)))
    w.emit("stablehlo.reverse", [x], [(x.shape, "f32")], f"dimensions = {array(dims)}")


def slice_(w: Writer) -> None:
    x = w.some()
    starts = [w.rng.choice((0, 0, w.rng.randrange(size))) for size in x.shape]
    limits = [
        w.rng.choice((size, w.rng.randint(start + 1, size)))
        for start, size in zip(starts, x.shape, strict=True)
    ]
    strides = [w.rng.choice((1, 1, 2)) for _ in x.shape]
    shape = [
        -(-(limit - start) // stride)
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    w.emit(
        "stablehlo.slice",
        [x],
        [(shape, "f32")],
        f"start_indices = {array(starts)}, limit_indices = {array(limits)}, "
        f"strides = {array(strides)}",
    )


def pad(w: Writer) -> None:
    x = w.some()
    low, high, interior = (
        [w.rng.choice((0, 0, 1, 2)) for _ in x.shape] for _ in range(3)
    )
    shape = [
        size + a + b + max(0, size - 1) * i
        for size, a, b, i in zip(x.shape, low, high, interior, strict=True)
    ]
    w.emit(
        "stablehlo.pad",
        [x, w.like(())],
        [(shape, "f32")],
        f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
        f"interior_padding = {array(interior)}",
    )


def concatenate(w: Writer) -> None:
    x = w.some()
    dim = w.rng.randrange(len(x.shape))
    parts = [x]
    for _ in range(w.rng.randint(1, 2)):
        shape = list(x.shape)
        shape[dim] = w.rng.choice((shape[dim], w.rng.choice(SIZES)))
        parts.append(w.like(shape))
    shape = list(x.shape)
    shape[dim] = sum(part.shape[dim] for part in parts)
    w.emit("stablehlo.concatenate", parts, [(shape, "f32")], f"dimension = {dim} : i64")


def dot(w: Writer) -> None:
    x = w.some(1, 4)
    dims = w.rng.sample(range(len(x.shape)), len(x.shape))
    batch = sorted(dims[: w.rng.choice((0, 0, 1, 2))])
    rest = [dim for dim in dims if dim not in batch]
    contracting = rest[: w.rng.choice((0, 1, 1, 1, 2))]
    kept = sorted(dim for dim in rest if dim not in contracting)
    new = w.shape(0, max(0, min(2, 4 - len(batch) - len(kept))))
    shape = [x.shape[dim] for dim in (*batch, *contracting)] + list(new)
    order = w.rng.sample(range(len(shape)), len(shape))
    y = w.like([shape[dim] for dim in order])
    place = [order.index(dim) for dim in range(len(shape))]
    y_batch = place[: len(batch)]
    y_contracting = place[len(batch) : len(batch) + len(contracting)]
    y_kept = sorted(place[len(batch) + len(contracting) :])
    result = [x.shape[dim] for dim in (*batch, *kept)] + [
        y.shape[dim] for dim in y_kept
    ]
    numbers = (
        f"lhs_batching_dimensions = {batch}, rhs_batching_dimensions = {y_batch}, "
        f"lhs_contracting_dimensions = {contracting}, "
        f"rhs_contracting_dimensions = {y_contracting}"
    )
    w.emit(
        "stablehlo.dot_general",
        [x, y],
        [(result, "f32")],
        f"dot_dimension_numbers = #stablehlo.dot<{numbers}>",
    )


def convolution(w: Writer) -> None:
    batch, height, width, features = (w.rng.choice((2, 4, 8)) for _ in range(4))
    out, window = w.rng.choice((4, 8)), w.rng.choice((1, 2))
    feature_groups = w.rng.choice((1, 1, 2))
    batch_groups = 1 if feature_groups > 1 else w.rng.choice((1, 1, 2))
    x = w.like((batch, height, width, features))
    kernel = w.like((window, window, features // feature_groups, out))
    shape = (batch // batch_groups, height - window + 1, width - window + 1, out)
    w.emit(
        "stablehlo.convolution",
        [x, kernel],
        [(shape, "f32")],
        "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, "
        f"feature_group_count = {feature_groups} : i64, "
        f"batch_group_count = {batch_groups} : i64, "
        f"window_strides = array<i64: 1, 1>, padding = {dense(0, (2, 2))}",
    )


def reduce(w: Writer) -> None:
    x = w.some()
    inputs = [x] + ([w.like(x.shape)] if w.rng.random() < 0.25 else [])
    dims = sorted(w.rng.sample(range(len(x.shape)), w.rng.randint(1, len(x.shape))))
    shape = [size for dim, size in enumerate(x.shape) if dim not in dims]
    initial = [w.like(()) for _ in inputs]
    region = w.combiner("stablehlo.add", "f32", len(inputs))
    w.emit(
        "stablehlo.reduce",
        [*inputs, *initial],
        [(shape, "f32")] * len(inputs),
        f"dimensions = {array(dims)}",
        region,
    )


def reduce_window(w: Writer) -> None:
    x = w.some()
    window = [w.rng.choice((1, 1, min(2, size))) for size in x.shape]
    strides = [w.rng.choice((1, size)) for size in window]
    shape = [
        (size - part) // stride + 1
        for size, part, stride in zip(x.shape, window, strides, strict=True)
    ]
    initial = w.like(())
    w.emit(
        "stablehlo.reduce_window",
        [x, initial],
        [(shape, "f32")],
        f"window_dimensions = {array(window)}, window_strides = {array(strides)}",
        w.combiner("stablehlo.maximum", "f32"),
    )


def sort(w: Writer) -> None:
    x = w.some()
    operands = [x] + ([w.like(x.shape)] if w.rng.random() < 0.5 else [])
    scalars = [Tensor(w.fresh(), (), "f32") for _ in range(2 * len(operands))]
    with w.region(scalars) as region:
        direction = "comparison_direction = #stablehlo<comparison_direction LT>"
        less = w.emit(
            "stablehlo.compare", scalars[:2], [((), "i1")], direction, shard=False
        )
        w.ends("stablehlo.return", less)
    dim = w.rng.randrange(len(x.shape))
    w.emit(
        "stablehlo.sort",
        operands,
        [(x.shape, "f32")] * len(operands),
        f"dimension = {dim} : i64, is_stable = true",
        region[0],
    )


def dynamic_slice(w: Writer) -> None:
    x = w.some()
    shape = [w.rng.choice((size, size, w.rng.randint(1, size))) for size in x.shape]
    starts = [w.like((), "i32") for _ in shape]
    w.emit(
        "stablehlo.dynamic_slice",
        [x, *starts],
        [(shape, "f32")],
        f"slice_sizes = {array(shape)}",
    )


def dynamic_update_slice(w: Writer) -> None:
    x = w.some()
    shape = [w.rng.choice((size, size, w.rng.randint(1, size))) for size in x.shape]
    starts = [w.like((), "i32") for _ in shape]
    w.emit(
        "stablehlo.dynamic_update_slice",
        [x, w.like(shape), *starts],
        [(x.shape, "f32")],
    )


def gather(w: Writer) -> None:
    """Rows of a table, perhaps with a batch dimension that both have."""
    table = w.some(2, 3)
    batched = len(table.shape) == 3 and w.rng.random() < 0.5
    batch = list(table.shape[:1]) if batched else []
    indices = w.like([*batch, *w.shape(1, 2), 1], "i32")
    first = len(batch)
    sizes = [1] * (first + 1) + list(table.shape[first + 1 :])
    many = indices.shape[:-1]
    kept = table.shape[first + 1 :]
    offset = list(range(len(many), len(many) + len(kept)))
    numbers = (
        f"offset_dims = {offset}, collapsed_slice_dims = [{first}], "
        f"operand_batching_dims = {list(range(first))}, "
        f"start_indices_batching_dims = {list(range(first))}, "
        f"start_index_map = [{first}], index_vector_dim = {len(many)}"
    )
    w.emit(
        "stablehlo.gather",
        [table, indices],
        [((*many, *kept), "f32")],
        f"dimension_numbers = #stablehlo.gather<{numbers}>, "
        f"slice_sizes = {array(sizes)}",
    )


def scatter(w: Writer) -> None:
    """Add rows into a table."""
    table = w.some(2, 3)
    indices = w.like([*w.shape(1, 2), 1], "i32")
    many, kept = indices.shape[:-1], table.shape[1:]
    updates = w.like((*many, *kept))
    window = list(range(len(many), len(many) + len(kept)))
    numbers = (
        f"update_window_dims = {window}, inserted_window_dims = [0], "
        f"scatter_dims_to_operand_dims = [0], index_vector_dim = {len(many)}"
    )
    w.emit(
        "stablehlo.scatter",
        [table, indices, updates],
        [(table.shape, "f32")],
        f"scatter_dimension_numbers = #stablehlo.scatter<{numbers}>",
        w.combiner("stablehlo.add", "f32"),
    )


def cholesky(w: Writer) -> None:
    size = w.rng.choice((2, 4, 8))
    x = w.like((*w.shape(0, 2), size, size))
    w.emit("stablehlo.cholesky", [x], [(x.shape, "f32")], "lower = true")


def triangular_solve(w: Writer) -> None:
    size, batch = w.rng.choice((2, 4, 8)), w.shape(0, 1)
    a = w.like((*batch, size, size))
    left = w.rng.random() < 0.5
    shape = (*batch, size, w.rng.choice(SIZES))
    b = w.like(shape if left else (*batch, shape[-1], size))
    w.emit(
        "stablehlo.triangular_solve",
        [a, b],
        [(b.shape, "f32")],
        f"left_side = {str(left).lower()}, lower = true, unit_diagonal = false, "
        "transpose_a = #stablehlo<transpose NO_TRANSPOSE>",
    )


def unknown_call(w: Writer) -> None:
    """A custom call without a rule; a wall for shardings."""
    x = w.some()
    w.emit(
        "stablehlo.custom_call",
        [x],
        [(x.shape, "f32")],
        'call_target_name = "unknown"',
    )


def ruled_call(w: Writer) -> None:
    """A custom call with a rule of the user's."""
    x = w.some(2, 2, accept=lambda tensor: len(tensor.shape) == 2)
    rows, columns = x.shape
    w.emit(
        "stablehlo.custom_call",
        [x],
        [((columns, rows), "f32")],
        'call_target_name = "ruled"',
        attributes="sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) "
        f"{{i={rows}, j={columns}}}, custom>",
    )


def constraint(w: Writer) -> None:
    if not w.options.constraints:
        return
    x = w.some()
    w.emit(
        "sdy.sharding_constraint",
        [x],
        [(x.shape, "f32")],
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
        [(x.shape, "f32")],
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
        "stablehlo.optimization_barrier", operands, [(x.shape, "f32") for x in operands]
    )


def while_loop(w: Writer) -> None:
    if not w.options.regions or w.depth > 1:
        return
    carried = [w.some() for _ in range(w.rng.randint(1, 3))]
    operands = [w.like((), "i32"), *carried]
    names = [Tensor(w.fresh(), x.shape, x.element) for x in operands]
    with w.region(names) as condition:
        limit = w.constant((), "i32")
        direction = "comparison_direction = #stablehlo<comparison_direction LT>"
        less = w.emit(
            "stablehlo.compare",
            [names[0], limit],
            [((), "i1")],
            direction,
            shard=False,
        )
        w.ends("stablehlo.return", less)
    names = [Tensor(w.fresh(), x.shape, x.element) for x in operands]
    with w.region(names) as body:
        w.body_ops(w.rng.randint(1, 4))
        one = w.constant((), "i32")
        (count,) = w.emit("stablehlo.add", [names[0], one], [((), "i32")], shard=False)
        w.ends("stablehlo.return", [count, *(w.like(x.shape) for x in carried)])
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
            w.body_ops(w.rng.randint(1, 3))
            w.ends("stablehlo.return", [w.like(shape) for shape in shapes])
        branches += branch
    w.emit(
        "stablehlo.case",
        [index],
        [(shape, "f32") for shape in shapes],
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
        Tensor(w.fresh(), local_shape(x.shape, sharding, w.mesh, manual))
        for x, sharding in zip(operands, borders, strict=True)
    ]
    outside, w.manual = w.manual, manual
    results: list[tuple[tuple[int, ...], TensorSharding]] = []
    with w.region(inner, isolated=True) as body:
        w.body_ops(w.rng.randint(1, 4))
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
        [(shape, "f32") for shape, _ in results],
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
    return TensorSharding("mesh", dims, sort_and_merge(replicated, w.mesh))


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


FAMILIES: dict[str, tuple[Op, ...]] = {
    "elementwise": (
        unary,
        unary,
        binary,
        binary,
        binary,
        compare_and_select,
        clamp,
        convert,
    ),
    "creation": (constant, iota, broadcast, broadcast),
    "data_movement": (transpose, reshape, reshape, reverse, slice_, pad, concatenate),
    "contraction": (dot, dot, dot, convolution),
    "reduction": (reduce, reduce, reduce_window, sort),
    "indexing": (dynamic_slice, dynamic_update_slice, gather, scatter),
    "linear_algebra": (cholesky, triangular_solve),
    "calls": (unknown_call, ruled_call),
    "sdy": (constraint, constraint, propagation_barrier, group),
    "control_flow": (optimization_barrier, while_loop, case, manual_computation),
}
"""The kinds of ops; one that is named twice is twice as likely."""

BODY_OPS: tuple[Op, ...] = (unary, binary, binary, transpose, reshape, dot, broadcast)


def random_program(seed: int, options: Options | None = None) -> str:
    """The program of a seed, in MLIR's generic form with `@main` and `@mesh`."""
    options = options or Options()
    rng = random.Random(seed)
    mesh = random_mesh(rng)
    w = Writer(rng, options, mesh)
    families = options.families or tuple(FAMILIES)
    for _ in range(rng.randint(max(1, options.ops // 2), options.ops)):
        rng.choice(FAMILIES[rng.choice(families)])(w)
    if not w.values:
        unary(w)
    results = [rng.choice(w.values) for _ in range(rng.randint(1, 3))]

    def with_sharding(tensor: Tensor, likely: float) -> str:
        if rng.random() >= likely:
            return tensor.type
        return (
            f"{tensor.type} {{sdy.sharding = #sdy.sharding{w.sharding(tensor.shape)}}}"
        )

    arguments = ", ".join(
        f"{x.name}: {with_sharding(x, options.sharded)}" for x in w.arguments
    )
    types = ", ".join(with_sharding(x, options.sharded / 3) for x in results)
    names = ", ".join(x.name for x in results)
    returned = ", ".join(x.type for x in results)
    body = "\n".join(w.lines)
    return (
        f"module {{\n  sdy.mesh @mesh = {mesh}\n"
        f"  func.func @main({arguments}) -> ({types}) {{\n{body}\n"
        f"    return {names} : {returned}\n  }}\n}}\n"
    )
