"""Writes random programs op by op, in MLIR's generic form; see `random_programs`."""

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from ttxdsl.sharding.axes import Axes, AxisRef, append_merged, sort_and_merge
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding

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
    elements: tuple[str, ...] = ("f32",)
    """Element types of the ops that work on any; named twice, twice as likely."""
    sizes: tuple[int, ...] = SIZES
    devices: int = 64
    """At most so many."""
    device_ids: bool = False
    """Whether a mesh may say the order of its devices."""
    numbers: bool = False
    """For running: no op whose result the specification leaves open, loops that run,
    constants that are not one number."""


@dataclass(frozen=True)
class Tensor:
    """A value of the program."""

    name: str
    shape: tuple[int, ...]
    element: str = "f32"

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element)


def kind_of(element: str) -> str:
    """`f` for floats, `i` and `u` for integers, `b` for i1, `c` for complex numbers."""
    if element == "i1":
        return "b"
    return {"b": "f", "f": "f", "u": "u", "c": "c"}.get(element[0], "i")


def tensor_type(shape: Sequence[int], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def array(values: Sequence[int]) -> str:
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def nested(flat: Sequence[object], shape: Sequence[int]) -> str:
    """Elements in row-major order as the brackets of a tensor of that shape."""
    parts = [str(one) for one in flat]
    for size in reversed(shape):
        starts = range(0, len(parts), size)
        parts = [f"[{', '.join(parts[at : at + size])}]" for at in starts]
    return parts[0]


def dense(values: object, shape: Sequence[int]) -> str:
    return f"dense<{values}> : {tensor_type(shape, 'i64')}"


def random_mesh(
    rng: random.Random, devices: int = 64, *, device_ids: bool = False
) -> Mesh:
    """One to four axes, now and then of size one or odd."""
    axes: list[tuple[str, int]] = []
    for name in "abcd"[: rng.choice((1, 2, 2, 2, 3, 3, 4))]:
        size = rng.choice((1, 2, 2, 2, 3, 4, 4, 6, 8))
        if prod(size for _, size in axes) * size <= devices:
            axes.append((name, size))
    if device_ids and rng.random() < 0.3:
        count = prod(size for _, size in axes)
        order = tuple(rng.sample(range(count), count))
        if order != tuple(range(count)):
            return Mesh(tuple(axes), order)
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
    element: str = "f32"
    """The element type of what the next op works on, if it takes any."""
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
        return tuple(
            self.rng.choice(self.options.sizes)
            for _ in range(self.rng.randint(low, high))
        )

    def some(
        self,
        low: int = 1,
        high: int = 4,
        element: str | None = None,
        accept: Callable[[Tensor], bool] = lambda tensor: True,
    ) -> Tensor:
        """A value of a rank in range, the later the likelier; a new one if need be."""
        element = element or self.element
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

    def like(self, shape: Sequence[int], element: str | None = None) -> Tensor:
        """A value of exactly that type."""
        element = element or self.element
        fitting = [
            value
            for value in self.values
            if value.shape == tuple(shape) and value.element == element
        ]
        if fitting and self.rng.random() < 0.8:
            return self.rng.choice(fitting)
        return self.new(shape, element)

    def new(self, shape: Sequence[int], element: str | None = None) -> Tensor:
        """A new argument, or a constant where there are no arguments."""
        element = element or self.element
        if self.isolated or self.rng.random() < 0.15:
            return self.constant(shape, element)
        argument = Tensor(f"%arg{len(self.arguments)}", tuple(shape), element)
        self.arguments.append(argument)
        # usable from everywhere, also from the ops around a region
        self.values.insert(0, argument)
        return argument

    def constant(
        self, shape: Sequence[int], element: str | None = None, literal: str = ""
    ) -> Tensor:
        element = element or self.element
        value = f"value = dense<{literal or self._literal(shape, element)}>"
        value += f" : {tensor_type(shape, element)}"
        return self.emit("stablehlo.constant", [], [(shape, element)], value)[0]

    def _literal(self, shape: Sequence[int], element: str) -> str:
        if self.options.numbers and 0 < prod(shape) <= 512:
            return nested([self._number(element) for _ in range(prod(shape))], shape)
        one = {"i1": "true"}.get(element, "1.0" if "f" in element else "1")
        return f"({one}, {one})" if element.startswith("complex") else one

    def _number(self, element: str) -> str:
        if element == "i1":
            return self.rng.choice(("true", "false"))
        if element.startswith("complex"):
            return f"({self._number('f32')}, {self._number('f32')})"
        if "f" in element:
            return repr(self.rng.randrange(-8, 9) / 4)
        return str(self.rng.randrange(0 if element.startswith("u") else -4, 5))

    @property
    def kind(self) -> str:
        """`f`, `i`, `u`, `b` or `c`: what the element type is."""
        return kind_of(self.element)

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
