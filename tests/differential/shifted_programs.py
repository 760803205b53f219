"""Random programs of shifts along one split dimension, in many spellings.

Slices, pads, concatenations, reversals, rolls, updates and slices at constant places,
scatters of one window, differences, masks, products and sums of values along one dimension
that is split by one axis or by several. Sizes between are even and uneven.

    text = shifted_program(7)
"""

from dataclasses import dataclass, field
from math import prod
from random import Random

MESHES = ("d=8", "a=2 b=4", "a=4 b=2", "a=2 b=2 c=2")


@dataclass
class _Writer:
    """A program that is written op by op.

    Values have `width` places of the dimension that is not split.
    """

    rng: Random
    dim: int
    width: int
    lines: list[str] = field(default_factory=list[str])
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def pair(self, along: object, other: object) -> str:
        """Two things in the order of the dimensions."""
        first, second = (along, other) if self.dim == 0 else (other, along)
        return f"{first}, {second}"

    def type(self, size: int, element: str = "f32") -> str:
        first, second = (size, self.width)[:: 1 if self.dim == 0 else -1]
        return f"tensor<{first}x{second}x{element}>"

    def value(self, size: int, op: str) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = {op}")
        self.sizes[name] = size
        return name

    def any(self, *, least: int = 1) -> str:
        """One of the last values."""
        names = [name for name, size in self.sizes.items() if size >= least]
        return self.rng.choice(names[-4:])

    # Ops

    def slice(self, x: str, start: int, end: int, step: int = 1) -> str:
        places = f"{start}:{end}" + (f":{step}" if step > 1 else "")
        size = -(-(end - start) // step)
        types = f"({self.type(self.sizes[x])}) -> {self.type(size)}"
        cut = self.pair(places, f"0:{self.width}")
        return self.value(size, f"stablehlo.slice {x} [{cut}] : {types}")

    def pad(self, x: str, low: int, high: int, interior: int = 0) -> str:
        before = self.sizes[x]
        size = before + low + high + max(0, before - 1) * interior
        amounts = (
            f"{name} = [{self.pair(amount, 0)}]"
            for name, amount in (("low", low), ("high", high), ("interior", interior))
        )
        filler = self.rng.choice(("%zero", "%one"))
        types = f"({self.type(before)}, tensor<f32>) -> {self.type(size)}"
        op = f"stablehlo.pad {x}, {filler}, {', '.join(amounts)} : {types}"
        return self.value(size, op)

    def concatenate(self, parts: list[str]) -> str:
        size = sum(self.sizes[x] for x in parts)
        types = ", ".join(self.type(self.sizes[x]) for x in parts)
        op = f"stablehlo.concatenate {', '.join(parts)}, dim = {self.dim}"
        return self.value(size, f"{op} : ({types}) -> {self.type(size)}")

    def binary(self, x: str, y: str) -> str:
        kind = self.rng.choice(("add", "subtract", "maximum"))
        size = self.sizes[x]
        return self.value(size, f"stablehlo.{kind} {x}, {y} : {self.type(size)}")

    def unary(self, x: str) -> str:
        size = self.sizes[x]
        if self.rng.random() < 0.3:
            turned = f"stablehlo.reverse {x}, dims = [{self.dim}]"
            return self.value(size, f"{turned} : {self.type(size)}")
        return self.value(size, f"stablehlo.negate {x} : {self.type(size)}")

    def starts(self, start: int) -> str:
        name = f"%i{len(self.lines)}"
        self.lines.append(f"{name} = stablehlo.constant dense<{start}> : tensor<i32>")
        return self.pair(name, "%first")

    def update(self, x: str, u: str, start: int) -> str:
        size, part = self.sizes[x], self.sizes[u]
        whole, update = self.type(size), self.type(part)
        if self.rng.random() < 0.5:
            op = f"stablehlo.dynamic_update_slice {x}, {u}, {self.starts(start)}"
            types = f"({whole}, {update}, tensor<i32>, tensor<i32>) -> {whole}"
            return self.value(size, f"{op} : {types}")
        name, added = f"%i{len(self.lines)}", self.rng.random() < 0.5
        self.lines.append(f"{name} = stablehlo.constant dense<{start}> : tensor<1xi32>")
        body = "%c = stablehlo.add %p, %q : tensor<f32>\n      " if added else ""
        dims = (
            f"update_window_dims = [0, 1], scatter_dims_to_operand_dims = [{self.dim}]"
        )
        op = f"""\"stablehlo.scatter"({x}, {name}, {u}) <{{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<{dims}>, unique_indices = true}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      {body}stablehlo.return {"%c" if added else "%q"} : tensor<f32>
    }})"""
        return self.value(size, f"{op} : ({whole}, tensor<1xi32>, {update}) -> {whole}")

    def dynamic_slice(self, x: str, start: int, size: int) -> str:
        whole, part = self.type(self.sizes[x]), self.type(size)
        op = f"stablehlo.dynamic_slice {x}, {self.starts(start)}"
        sizes = f"sizes = [{self.pair(size, self.width)}]"
        types = f"({whole}, tensor<i32>, tensor<i32>) -> {part}"
        return self.value(size, f"{op}, {sizes} : {types}")

    # Steps

    def step(self) -> None:
        """One more value or several, as people write them."""
        rng = self.rng
        kind = rng.randrange(10)
        x = self.any(least=2)
        size = self.sizes[x]
        by = rng.choice((1, 1, 2, 3, rng.randint(1, size - 1)))
        by = min(by, size - 1)
        match kind:
            case 0:
                start = rng.randint(0, size - 1)
                self.slice(
                    x, start, rng.randint(start + 1, size), rng.choice((1, 1, 2))
                )
            case 1:
                low, high = rng.randint(-1, 4), rng.randint(-1, 4)
                if 1 <= size + low + high <= 80:
                    self.pad(x, low, high, int(size < 16 and rng.random() < 0.1))
            case 2:  # a shift
                kept = self.slice(x, 0, size - by)
                self.pad(kept, by, 0)
            case 3:  # a roll
                parts = [self.slice(x, by, size), self.slice(x, 0, by)]
                self.concatenate(parts)
            case 4:  # differences of neighbours
                self.binary(self.slice(x, by, size), self.slice(x, 0, size - by))
            case 5:  # the rows but some, behind new ones
                new = self.slice(self.any(least=by), 0, by)
                parts = [new, self.slice(x, 0, size - by)]
                self.concatenate(parts if rng.random() < 0.7 else parts[::-1])
            case 6:
                u = self.any()
                if self.sizes[u] <= size:
                    self.update(x, u, rng.randint(0, size - self.sizes[u]))
            case 7:
                part = rng.randint(1, size)
                self.dynamic_slice(x, rng.randint(-1, size), part)
            case 8:
                alike = [y for y, other in self.sizes.items() if other == size]
                self.binary(x, rng.choice(alike))
            case _:
                self.unary(x)

    def total(self, x: str) -> str:
        """The sum over the dimension."""
        name, size = f"%{len(self.lines)}", self.sizes[x]
        types = f"({self.type(size)}, tensor<f32>) -> tensor<{self.width}xf32>"
        op = "applies stablehlo.add across dimensions"
        self.lines.append(
            f"{name} = stablehlo.reduce({x} init: %zero) {op} = [{self.dim}] : {types}"
        )
        return name


def shifted_program(seed: int) -> str:
    """A program for eight devices, the same for the same seed."""
    rng = Random(seed)
    axes = [axis.split("=") for axis in rng.choice(MESHES).split()]
    mesh = ", ".join(f'"{name}"={size}' for name, size in axes)
    count = rng.randint(1, len(axes))
    chosen = rng.sample(axes, count)
    shards = prod(int(size) for _, size in chosen)
    w = _Writer(rng, rng.randrange(2), rng.choice((3, 4)))
    split = w.pair("{" + ", ".join(f'"{name}"' for name, _ in chosen) + "}", "{}")
    whole = "{}, {}"

    def sharded(dims: str) -> str:
        return f"{{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}"

    arguments: list[str] = []
    for at in range(rng.randint(1, 2)):
        size = shards * rng.choice((1, 2, 3, 4))
        name, dims = f"%x{at}", split
        if at and rng.random() < 0.4:
            size, dims = rng.randint(1, 5), whole
        w.sizes[name] = size
        arguments.append(f"{name}: {w.type(size)} {sharded(dims)}")
    for _ in range(rng.randint(2, 8)):
        w.step()
    named = list(w.sizes)[len(arguments) :] or list(w.sizes)
    returned = dict.fromkeys([named[-1], *(rng.sample(named, 1))])
    results = [(x, w.type(w.sizes[x]), w.sizes[x]) for x in returned]
    if rng.random() < 0.25:
        last = results.pop(0)[0]
        results.append((w.total(last), f"tensor<{w.width}xf32>", 0))
    types = ", ".join(
        f"{type_} {sharded('{}' if not size else split if size % shards == 0 else whole)}"
        for _, type_, size in results
    )
    body = "\n    ".join(w.lines)
    names = ", ".join(name for name, _, _ in results)
    plain = ", ".join(type_ for _, type_, _ in results)
    return f"""module {{
  sdy.mesh @mesh = <[{mesh}]>
  func.func @main({", ".join(arguments)}) -> ({types}) {{
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %first = stablehlo.constant dense<0> : tensor<i32>
    {body}
    return {names} : {plain}
  }}
}}"""
