"""Random programs on quantized tensors, with what they compute by the specification.

program = quantized_program(7)

All scales are powers of two and all sums are short, so that every order of adding gives
the same numbers: results are compared exactly.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.differential.random_writer import Options, random_sharding
from ttxdsl.sharding.devices.mesh import Mesh

Array = NDArray[Any]

MESHES = (
    Mesh((("x", 2), ("y", 2))),
    Mesh((("x", 2), ("y", 4))),
    Mesh((("x", 2), ("y", 2), ("z", 2))),
)
SIZES = (2, 4, 4, 8, 8)
LARGEST = 512
"""Tensors of more elements are not used again."""


@dataclass(frozen=True)
class Scales:
    """How int8 stands for real numbers; several scales are those along `dim`."""

    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    dim: int | None = None

    @property
    def element(self) -> str:
        pairs = ", ".join(
            f"{scale}:{zero}"
            for scale, zero in zip(self.scales, self.zeros, strict=True)
        )
        if self.dim is None:
            return f"!quant.uniform<i8:f32, {pairs}>"
        return f"!quant.uniform<i8:f32:{self.dim}, {{{pairs}}}>"

    def along(self, dim: int) -> Scales:
        return self if self.dim is None else replace(self, dim=dim)

    def rounded(self, real: Array) -> Array:
        """The real numbers that are left when such integers store them."""
        shape = [1] * real.ndim
        if self.dim is not None:
            shape[self.dim] = -1
        scales = np.reshape(self.scales, shape if shape else ())
        zeros = np.reshape(self.zeros, shape if shape else ())
        stored = np.rint(np.clip(real / scales + zeros, -128, 127))
        return (stored - zeros) * scales


@dataclass(frozen=True)
class Value:
    """A value: its name, its numbers, and how they are stored if not as f32."""

    name: str
    real: Array
    stored: Scales | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.real.shape

    @property
    def dim(self) -> int | None:
        return None if self.stored is None else self.stored.dim

    @property
    def type(self) -> str:
        element = "f32" if self.stored is None else self.stored.element
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{element}>"


@dataclass(frozen=True)
class Program:
    """A program, its arguments, and its results as the specification has them."""

    text: str
    arguments: list[Array]
    wanted: list[Array]


@dataclass
class _Writer:
    rng: random.Random
    mesh: Mesh
    arguments: list[Value] = field(default_factory=list[Value])
    values: list[Value] = field(default_factory=list[Value])
    lines: list[str] = field(default_factory=list[str])

    # What ops work on

    def sharding(self, shape: Sequence[int]) -> str:
        return str(random_sharding(self.rng, self.mesh, len(shape), Options()))

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self.rng.choice(SIZES) for _ in range(rank))

    def argument(self, shape: Sequence[int]) -> Value:
        numbers = [self.rng.randrange(-200, 201) / 16 for _ in range(prod(shape))]
        value = Value(f"%arg{len(self.arguments)}", np.reshape(numbers, shape))
        self.arguments.append(value)
        return value

    def scales(self, shape: Sequence[int], *, zero: bool = False) -> Scales:
        """Some scales for a tensor, one for all or one for each slice."""
        dim = (
            self.rng.randrange(len(shape))
            if shape and self.rng.random() < 0.5
            else None
        )
        return self.some_scales(1 if dim is None else shape[dim], dim, zero=zero)

    def some_scales(self, count: int, dim: int | None, *, zero: bool = False) -> Scales:
        return Scales(
            tuple(2.0 ** -self.rng.randrange(4) for _ in range(count)),
            tuple(0 if zero else self.rng.randrange(-9, 10) for _ in range(count)),
            dim,
        )

    def quantized(
        self, accept: Callable[[Value], bool] = lambda value: True
    ) -> Value | None:
        """A value that is stored as integers, the later the likelier."""
        fitting = [
            one
            for one in self.values
            if one.stored and one.real.size <= LARGEST and accept(one)
        ]
        return (
            fitting[int(len(fitting) * self.rng.random() ** 0.5)] if fitting else None
        )

    # Writing

    def op(
        self, text: str, operands: Sequence[Value], real: Array, stored: Scales | None
    ) -> Value:
        """One op in generic form: `name`, and what follows its operands."""
        name, _, rest = text.partition(" ")
        real = real if stored is None else stored.rounded(real)
        made = Value(f"%v{len(self.values)}", real, stored)
        said = ""
        if self.rng.random() < 0.4:
            sharding = self.sharding(made.shape)
            said = f" {{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}"
        types = ", ".join(one.type for one in operands)
        names = ", ".join(one.name for one in operands)
        self.lines.append(
            f'{made.name} = "stablehlo.{name}"({names}) {rest}{said} '
            f": ({types}) -> {made.type}"
        )
        self.values.append(made)
        return made


def _alike(value: Value) -> bool:
    """Whether all elements have one scale, and it has a dimension."""
    return value.dim is None and bool(value.shape)


def _ints(values: Sequence[int]) -> str:
    return f"array<i64{': ' if values else ''}{', '.join(map(str, values))}>"


def _quantize(make: _Writer) -> None:
    """Floats, or integers of other scales, become integers."""
    given = make.quantized() if make.rng.random() < 0.3 else None
    given = given or make.argument(make.shape(make.rng.choice((1, 2, 2, 3))))
    make.op("uniform_quantize", [given], given.real, make.scales(given.shape))


def _transpose(make: _Writer) -> None:
    if (given := make.quantized(lambda one: len(one.shape) > 1)) is None:
        return
    assert given.stored is not None
    order = make.rng.sample(range(len(given.shape)), len(given.shape))
    scales = (
        given.stored
        if given.dim is None
        else given.stored.along(order.index(given.dim))
    )
    said = f"transpose <{{permutation = {_ints(order)}}}>"
    make.op(said, [given], given.real.transpose(order), scales)


def _reshape(make: _Writer) -> None:
    """Neighbouring dimensions become one, or one becomes two; not the one of scales."""
    if (given := make.quantized()) is None:
        return
    assert given.stored is not None
    dim, groups = 0, list[list[int]]()
    scaled = -1
    while dim < len(given.shape):
        size = given.shape[dim]
        if dim == given.dim:
            scaled = sum(map(len, groups))
            groups.append([size])
        elif size > 2 and size % 2 == 0 and make.rng.random() < 0.5:
            groups.append([2, size // 2])
        elif dim + 1 < len(given.shape) and dim + 1 != given.dim:
            dim += 1
            groups.append([size * given.shape[dim]])
        else:
            groups.append([size])
        dim += 1
    shape = [size for group in groups for size in group]
    if len(shape) <= 4:
        scales = given.stored.along(scaled)
        make.op("reshape", [given], given.real.reshape(shape), scales)


def _broadcast(make: _Writer) -> None:
    if (given := make.quantized(lambda one: len(one.shape) < 3)) is None:
        return
    assert given.stored is not None
    rank = len(given.shape) + 1
    new = make.rng.randrange(rank)
    dims = [dim for dim in range(rank) if dim != new]
    shape = [2 if dim == new else given.shape[dim - (dim > new)] for dim in range(rank)]
    scales = given.stored if given.dim is None else given.stored.along(dims[given.dim])
    real = np.broadcast_to(np.expand_dims(given.real, new), shape)
    said = f"broadcast_in_dim <{{broadcast_dimensions = {_ints(dims)}}}>"
    make.op(said, [given], real, scales)


def _slice(make: _Writer) -> None:
    if (given := make.quantized(_alike)) is None:
        return
    dim = make.rng.randrange(len(given.shape))
    if given.shape[dim] % 2:
        return
    start = make.rng.choice((0, given.shape[dim] // 2))
    low, high = [0] * len(given.shape), list(given.shape)
    low[dim], high[dim] = start, start + given.shape[dim] // 2
    cut = tuple(slice(one, other) for one, other in zip(low, high, strict=True))
    said = f"slice <{{start_indices = {_ints(low)}, limit_indices = {_ints(high)}, "
    said += f"strides = {_ints([1] * len(low))}}}>"
    make.op(said, [given], given.real[cut], given.stored)


def _concatenate(make: _Writer) -> None:
    if (given := make.quantized(_alike)) is None:
        return
    dim = make.rng.randrange(len(given.shape))
    said = f"concatenate <{{dimension = {dim} : i64}}>"
    make.op(said, [given, given], np.concatenate([given.real] * 2, dim), given.stored)


def _unary(make: _Writer) -> None:
    if (given := make.quantized(lambda one: one.dim is None)) is None:
        return
    name = make.rng.choice(("abs", "negate"))
    real = abs(given.real) if name == "abs" else -given.real
    make.op(name, [given], real, make.some_scales(1, None))


def _binary(make: _Writer) -> None:
    """An op of two tensors of one shape; scales of slices only where `add` has them."""
    if (given := make.quantized()) is None:
        return
    other = make.quantized(
        lambda one: one.shape == given.shape and one.dim == given.dim
    )
    assert other is not None
    name = make.rng.choice(("add", "multiply", "maximum", "subtract"))
    if given.dim is not None:
        name = "add"
    work: dict[str, Callable[[Array, Array], Array]] = {
        "add": np.add, "multiply": np.multiply, "maximum": np.maximum,
        "subtract": np.subtract,
    }  # fmt: skip
    count = 1 if given.dim is None else given.shape[given.dim]
    scales = make.some_scales(count, given.dim)
    make.op(name, [given, other], work[name](given.real, other.real), scales)


def _weights(make: _Writer, rank: int, contracted: int) -> Value:
    """An operand of a product: its last dimension is kept, scales may be along that."""

    def fits(one: Value) -> bool:
        return (
            len(one.shape) == rank
            and one.dim in (None, rank - 1)
            and one.stored is not None
            and not any(one.stored.zeros)
            and one.shape[contracted] > 1
        )

    if (found := make.quantized(fits)) is not None and make.rng.random() < 0.7:
        return found
    given = make.argument(make.shape(rank))
    dim = make.rng.choice((None, rank - 1))
    count = 1 if dim is None else given.shape[-1]
    scales = make.some_scales(count, dim, zero=True)
    return make.op("uniform_quantize", [given], given.real, scales)


def _multiplied(make: _Writer, right: Value, rank: int) -> Scales | None:
    """How a product of integers is stored: as its weights are, or all alike."""
    dim = rank - 1 if right.dim is not None and make.rng.random() < 0.5 else None
    return make.some_scales(1 if dim is None else right.shape[-1], dim)


def _dot(make: _Writer) -> None:
    """A product: of integers, or of floats and integers."""
    right = _weights(make, 2, 0)
    left = make.quantized(
        lambda one: (
            one.dim is None and len(one.shape) == 2 and one.shape[1] == right.shape[0]
        )
    )
    if left is None or make.rng.random() < 0.3:
        left = make.argument((make.rng.choice(SIZES), right.shape[0]))
    said = "dot_general <{dot_dimension_numbers = #stablehlo.dot<"
    said += "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>"
    out = None if left.stored is None else _multiplied(make, right, 2)
    make.op(said, [left, right], left.real @ right.real, out)


def _convolution(make: _Writer) -> None:
    """One spatial dimension, all of the kernel inside: integers, or floats and integers."""
    right = _weights(make, 3, 1)
    width, features, made = right.shape
    left = make.argument((make.rng.choice(SIZES), width + 3, features))
    if make.rng.random() < 0.6:
        left = make.op("uniform_quantize", [left], left.real, make.some_scales(1, None))
    said = (
        "convolution <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, "
        "dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>"
    )
    out = None if left.stored is None else _multiplied(make, right, 3)
    real = np.zeros((left.shape[0], 4, made))
    for at in range(width):
        real += left.real[:, at : at + 4] @ right.real[at]
    make.op(said, [left, right], real, out)


def _largest(make: _Writer) -> None:
    """The largest along a dimension: a reduction whose steps round nothing."""
    if (given := make.quantized(_alike)) is None:
        return
    assert given.stored is not None
    dim = make.rng.randrange(len(given.shape))
    scales = given.stored
    lowest = (-128 - scales.zeros[0]) * scales.scales[0]
    start = Value(f"%start{len(make.values)}", np.array(lowest), scales)
    make.lines.append(
        f'{start.name} = "stablehlo.constant"() <{{value = dense<-128> : tensor<i8>}}> '
        f": () -> {start.type}"
    )
    scalar = f"tensor<{scales.element}>"
    body = (
        f"({{ ^bb0(%a: {scalar}, %b: {scalar}): %c = stablehlo.maximum %a, %b : {scalar} "
        f'"stablehlo.return"(%c) : ({scalar}) -> () }})'
    )
    said = f"reduce <{{dimensions = array<i64: {dim}>}}> {body}"
    make.op(said, [given, start], given.real.max(dim), scales)


def _dequantize(make: _Writer) -> None:
    if (given := make.quantized()) is not None:
        make.op("uniform_dequantize", [given], given.real, None)


OPS = (
    _quantize, _quantize, _transpose, _reshape, _broadcast, _slice, _concatenate,
    _unary, _binary, _binary, _dot, _dot, _dot, _convolution, _largest, _dequantize,
)  # fmt: skip


def quantized_program(seed: int) -> Program:
    """About ten ops on quantized tensors, with shardings here and there."""
    rng = random.Random(f"quantized {seed}")
    make = _Writer(rng, rng.choice(MESHES))
    _quantize(make)
    for _ in range(10):
        rng.choice(OPS)(make)
    results: list[Value] = []
    for value in make.values[-4:]:
        if value.stored is not None:
            value = make.op("uniform_dequantize", [value], value.real, None)
        results.append(value)

    def listed(values: Sequence[Value], *, names: bool) -> str:
        return ", ".join(
            f"{one.name + ': ' if names else ''}{one.type} "
            f"{{sdy.sharding = #sdy.sharding{make.sharding(one.shape)}}}"
            for one in values
        )

    lines = [
        f"sdy.mesh @mesh = {make.mesh}",
        f"func.func @main({listed(make.arguments, names=True)}) -> "
        f"({listed(results, names=False)}) {{",
        *make.lines,
        f'"func.return"({", ".join(one.name for one in results)}) : '
        f"({', '.join(one.type for one in results)}) -> ()",
        "}",
    ]
    return Program(
        "\n".join(lines),
        [one.real.astype(np.float32) for one in make.arguments],
        [one.real.astype(np.float32) for one in results],
    )
