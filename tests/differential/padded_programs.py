"""Programs with explicit collectives whose shardings do not divide their values.

They are for passes that make such programs runnable: `sdy-pad-for-divisibility` and
`sdy-resolve-permutation-factors`. Arguments are split by all_slices, results are gathered: in between are ops on values of
all sizes, every one split in a way in which it needs no communication.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

AXES = {"x": 4, "y": 2}
MESH = "sdy.mesh @mesh = <[" + ", ".join(f'"{n}"={s}' for n, s in AXES.items()) + "]>"
SIZES = (3, 5, 6, 7, 8)
ELEMENTS = ("i32", "f32")


@dataclass(frozen=True)
class Value:
    """A value with the axes of each of its dimensions."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[tuple[str, ...], ...]
    element: str

    @property
    def type(self) -> str:
        """Its tensor type."""
        return f"tensor<{'x'.join(map(str, (*self.shape, self.element)))}>"


def dims_text(axes: Sequence[Sequence[str]]) -> str:
    """`[{"x"}, {}]`."""
    lists = ("{" + ", ".join(f'"{axis}"' for axis in dim) + "}" for dim in axes)
    return f"[{', '.join(lists)}]"


def sharding_of(axes: Sequence[Sequence[str]]) -> str:
    """The attribute of an op with one result."""
    return f"sdy.sharding = #sdy.sharding_per_value<[<@mesh, {dims_text(axes)}>]>"


@dataclass
class Program:
    """The lines of a function, and the values that there are."""

    rng: random.Random
    element: str
    lines: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])

    def emit(
        self, text: str, shape: Sequence[int], axes: Sequence[tuple[str, ...]]
    ) -> Value:
        """One op: what stands behind `=`, with `$S` for its sharding attribute."""
        value = Value(f"%{len(self.lines)}", tuple(shape), tuple(axes), self.element)
        text = text.replace("$S", f"{{{sharding_of(axes)}}}")
        self.lines.append(f"{value.name} = {text}{value.type}")
        self.values.append(value)
        return value

    def split(self, x: Value, axes: Sequence[tuple[str, ...]]) -> Value:
        """`x`, which is whole, split."""
        dims = dims_text(axes)
        text = f"sdy.all_slice {dims} {x.name} out_sharding=<@mesh, {dims}> : "
        return self.emit(text, x.shape, axes)

    def gathered(self, x: Value) -> Value:
        """`x` whole."""
        whole = [()] * len(x.shape)
        if not any(x.axes):
            return x
        text = f"sdy.all_gather {dims_text(x.axes)} {x.name} out_sharding=<@mesh, {dims_text(whole)}> : "
        return self.emit(text, x.shape, whole)

    def random_axes(self, rank: int) -> list[tuple[str, ...]]:
        """Axes for the dimensions of a value, none of them twice."""
        free = [*AXES]
        self.rng.shuffle(free)
        axes: list[tuple[str, ...]] = [()] * rank
        for axis in free[: self.rng.randint(1, 2)]:
            dim = self.rng.randrange(rank)
            axes[dim] = (*axes[dim], axis)
        return axes

    def some(self) -> Value:
        """Any value."""
        return self.rng.choice(self.values[-6:])


def unary(p: Program) -> None:
    x = p.some()
    p.emit(
        f"stablehlo.{p.rng.choice(('negate', 'abs'))} {x.name} $S : ", x.shape, x.axes
    )


def binary(p: Program) -> None:
    x = p.some()
    alike = [y for y in p.values if (y.shape, y.axes) == (x.shape, x.axes)]
    y = p.rng.choice(alike)
    p.emit(f"stablehlo.add {x.name}, {y.name} $S : ", x.shape, x.axes)


def transpose(p: Program) -> None:
    x = p.some()
    order = p.rng.sample(range(len(x.shape)), len(x.shape))
    shape, axes = [x.shape[d] for d in order], [x.axes[d] for d in order]
    p.emit(
        f"stablehlo.transpose {x.name}, dims = {order} $S : ({x.type}) -> ", shape, axes
    )


def broadcast(p: Program) -> None:
    x = p.some()
    if len(x.shape) > 2:
        return
    used = {axis for dim in x.axes for axis in dim}
    free = [axis for axis in AXES if axis not in used]
    at = p.rng.randint(0, len(x.shape))
    shape, axes = [*x.shape], [*x.axes]
    shape.insert(at, p.rng.choice(SIZES))
    axes.insert(at, tuple(free[: p.rng.randint(0, 1)]))
    dims = [d for d in range(len(shape)) if d != at]
    text = f"stablehlo.broadcast_in_dim {x.name}, dims = {dims} $S : ({x.type}) -> "
    p.emit(text, shape, axes)


def iota(p: Program) -> None:
    rank = p.rng.randint(1, 2)
    shape = [p.rng.choice(SIZES) for _ in range(rank)]
    text = f"stablehlo.iota dim = {p.rng.randrange(rank)} $S : "
    p.emit(text, shape, p.random_axes(rank))


def constant(p: Program) -> None:
    rank = p.rng.randint(1, 2)
    shape = [p.rng.choice(SIZES) for _ in range(rank)]
    one = "1.0" if p.element == "f32" else "1"
    axes = p.random_axes(rank)
    p.emit(f"stablehlo.constant {{{sharding_of(axes)}}} dense<{one}> : ", shape, axes)


def product(p: Program) -> None:
    x = p.some()
    dim = p.rng.randrange(len(x.shape))
    used = {axis for axes in x.axes for axis in axes}
    free = [axis for axis in AXES if axis not in used]
    width = p.rng.choice(SIZES)
    source = p.emit(
        f"stablehlo.broadcast_in_dim %w{width}, dims = [1] : (tensor<{width}x{p.element}>) -> ",
        (x.shape[dim], width),
        ((), ()),
    )
    theirs = (x.axes[dim], tuple(free[: p.rng.randint(0, 1)]))
    y = p.split(source, theirs) if any(theirs) else source
    shape = [n for d, n in enumerate(x.shape) if d != dim] + [width]
    axes = [a for d, a in enumerate(x.axes) if d != dim] + [theirs[1]]
    text = (
        f"stablehlo.dot_general {x.name}, {y.name}, contracting_dims = [{dim}] x [0] $S "
        f": ({x.type}, {y.type}) -> "
    )
    z = p.emit(text, shape, axes)
    if x.axes[dim] and p.rng.random() < 0.2:
        summed = ", ".join(f'"{axis}"' for axis in sorted(x.axes[dim]))
        p.emit(
            f"sdy.all_reduce {{{summed}}} {z.name} out_sharding=<@mesh, {dims_text(axes)}> : ",
            shape,
            axes,
        )


def reduce(p: Program) -> None:
    x = p.some()
    if len(x.shape) < 2:
        return
    dim = p.rng.randrange(len(x.shape))
    shape = [n for d, n in enumerate(x.shape) if d != dim]
    axes = [a for d, a in enumerate(x.axes) if d != dim]
    zero = f"tensor<{p.element}>"
    text = (
        f"stablehlo.reduce({x.name} init: %zero) applies stablehlo.add across "
        f"dimensions = [{dim}] $S : ({x.type}, {zero}) -> "
    )
    p.emit(text, shape, axes)


def cut(p: Program) -> None:
    x = p.some()
    bounds: list[tuple[int, int]] = []
    for size in x.shape:
        start = p.rng.choice((0, 0, p.rng.randrange(size)))
        bounds.append((start, p.rng.choice((size, p.rng.randint(start + 1, size)))))
    text = ", ".join(f"{start}:{stop}" for start, stop in bounds)
    shape = [stop - start for start, stop in bounds]
    p.emit(f"stablehlo.slice {x.name} [{text}] $S : ({x.type}) -> ", shape, x.axes)


def gather_and_split(p: Program) -> None:
    whole = p.gathered(p.some())
    p.split(whole, p.random_axes(len(whole.shape)))


def reverse(p: Program) -> None:
    x = p.some()
    rank = len(x.shape)
    dims = sorted(p.rng.sample(range(rank), p.rng.randint(1, rank)))
    p.emit(f"stablehlo.reverse {x.name}, dims = {dims} $S : ", x.shape, x.axes)


def surround(p: Program) -> None:
    x = p.some()
    around = [[p.rng.choice((0, 0, 1, n)) for n in (2, 2, 1)] for _ in x.shape]
    low, high, between = map(list, zip(*around, strict=True))
    shape = [
        before + size + (size - 1) * inner + behind
        for size, before, behind, inner in zip(x.shape, low, high, between, strict=True)
    ]
    text = (
        f"stablehlo.pad {x.name}, %zero, low = {low}, high = {high}, "
        f"interior = {between} $S : ({x.type}, tensor<{p.element}>) -> "
    )
    p.emit(text, shape, x.axes)


def pool(p: Program) -> None:
    x = p.some()
    sizes = [p.rng.randint(1, min(2, n)) for n in x.shape]
    shape = [n - size + 1 for n, size in zip(x.shape, sizes, strict=True)]
    scalar = f"tensor<{p.element}>"
    text = (
        f'"stablehlo.reduce_window"({x.name}, %zero) <{{window_dimensions = '
        f"array<i64: {', '.join(map(str, sizes))}>}}> ({{\n"
        f"^bb0(%a: {scalar}, %b: {scalar}):\n  %s = stablehlo.add %a, %b : {scalar}\n"
        f"  stablehlo.return %s : {scalar}\n}}) $S : ({x.type}, {scalar}) -> "
    )
    p.emit(text, shape, x.axes)


MOVING_OPS = (reverse, reverse, surround, pool, cut, unary, transpose, gather_and_split)
"""Ops along whose dimensions elements go to other shards, and some others."""

OPS = (
    *((unary, binary, product, gather_and_split) * 2),
    *(transpose, broadcast, iota, constant, reduce, cut),
)


def padded_program(seed: int, ops: Sequence[Callable[[Program], None]] = OPS) -> str:
    """A function of one argument and one result, both whole."""
    rng = random.Random(f"padded {seed}")
    p = Program(rng, rng.choice(ELEMENTS))
    shape = tuple(rng.choice(SIZES) for _ in range(rng.randint(1, 2)))
    argument = Value("%x", shape, ((),) * len(shape), p.element)
    p.split(argument, p.random_axes(len(shape)))
    for _ in range(rng.randint(1, 6)):
        rng.choice(ops)(p)
    last = p.gathered(p.values[-1])
    weights = [f"%w{n}: tensor<{n}x{p.element}>" for n in SIZES]
    arguments = ", ".join(
        (f"%x: {argument.type}", f"%zero: tensor<{p.element}>", *weights)
    )
    body = "\n  ".join([*p.lines, f"return {last.name} : {last.type}"])
    return f"{MESH}\nfunc.func @main({arguments}) -> {last.type} {{\n  {body}\n}}"
