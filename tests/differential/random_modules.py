"""Random modules of several functions, for the passes around propagation.

`random_programs` covers every op in one function; here are few ops and few types, but
calls of calls, named and manual computations, loops, groups of values, constants of
constants and dead code, on meshes with axes of size one.

    text = random_module(7)
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.differential.random_writer import Options, random_sharding
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (8,), (8, 8), (8, 8), (6, 4))
MESHES = (
    Mesh((("a", 2), ("b", 2))),
    Mesh((("a", 4), ("b", 2))),
    Mesh((("a", 2), ("one", 1), ("b", 4))),
    Mesh((("one", 1), ("a", 8))),
)


@dataclass(frozen=True)
class Features:
    """What a random module may contain."""

    functions: int = 4
    ops: int = 8
    named_computations: bool = True
    manual_computations: bool = True
    priorities: bool = True
    groups: bool = True
    numbers: bool = False
    """For running: no loops that never end, no calls of what nobody knows."""


@dataclass(frozen=True)
class Value:
    name: str
    shape: Shape

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}f32>"


@dataclass(frozen=True)
class Signature:
    """A function that can be called."""

    name: str
    arguments: tuple[Shape, ...]
    results: tuple[Shape, ...]


@dataclass
class FunctionWriter:
    """Writes the body of one function."""

    rng: random.Random
    mesh: Mesh
    features: Features
    callees: list[Signature]
    lines: list[str] = field(default_factory=list[str])
    values: list[Value] = field(default_factory=list[Value])
    groups: dict[Shape, list[int]] = field(default_factory=dict[Shape, list[int]])
    count: int = 0
    depth: int = 0
    manual: tuple[str, ...] = ()

    # Text

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 2) + text)

    def sharding(self, shape: Shape) -> TensorSharding:
        options = Options(
            priorities=self.features.priorities and self.rng.random() < 0.3
        )
        return random_sharding(
            self.rng, self.mesh, len(shape), options, without=self.manual
        )

    def attribute(self, *shapes: Shape) -> str:
        """`{sdy.sharding = …}` for an op with such results, now and then."""
        if self.rng.random() > 0.2:
            return ""
        shardings = ", ".join(str(self.sharding(shape)) for shape in shapes)
        return f" {{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}}"

    def op(
        self, name: str, operands: list[Value], shape: Shape, more: str = ""
    ) -> None:
        """An op with one result, in generic form."""
        result = Value(self.fresh(), shape)
        names = ", ".join(value.name for value in operands)
        types = ", ".join(value.type for value in operands)
        self.line(
            f'{result.name} = "{name}"({names}){more}{self.attribute(shape)} '
            f": ({types}) -> {result.type}"
        )
        self.values.append(result)

    # Values

    def some(self, shape: Shape | None = None) -> Value:
        """A value of that shape, a new constant if there is none."""
        fitting = [v for v in self.values if shape is None or v.shape == shape]
        if fitting and self.rng.random() < 0.95:
            return self.rng.choice(fitting)
        self.constant(self.rng.choice(SHAPES) if shape is None else shape)
        return self.values[-1]

    def constant(self, shape: Shape | None = None) -> None:
        shape = self.rng.choice(SHAPES) if shape is None else shape
        number = self.rng.choice(("1.0", "2.0"))
        type = Value("", shape).type
        self.op(
            "stablehlo.constant", [], shape, f" <{{value = dense<{number}> : {type}}}>"
        )

    def iota(self) -> None:
        shape = self.rng.choice(((8,), (8, 8)))
        self.op("stablehlo.iota", [], shape, " <{iota_dimension = 0 : i64}>")

    def unary(self) -> None:
        x = self.some()
        name = self.rng.choice(("negate", "tanh", "abs"))
        self.op(f"stablehlo.{name}", [x], x.shape)

    def binary(self) -> None:
        x = self.some()
        name = self.rng.choice(("add", "multiply", "maximum"))
        self.op(f"stablehlo.{name}", [x, self.some(x.shape)], x.shape)

    def broadcast(self) -> None:
        x = self.some(self.rng.choice(((), (8,))))
        dims = "array<i64: 1>" if x.shape else "array<i64>"
        more = f" <{{broadcast_dimensions = {dims}}}>"
        self.op("stablehlo.broadcast_in_dim", [x], (8, 8), more)

    def slice(self) -> None:
        x = self.some((8, 8))
        more = (
            " <{start_indices = array<i64: 0, 4>, limit_indices = array<i64: 6, 8>, "
            "strides = array<i64: 1, 1>}>"
        )
        self.op("stablehlo.slice", [x], (6, 4), more)

    def dot(self) -> None:
        more = (
            " <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],"
            " rhs_contracting_dimensions = [0]>}>"
        )
        x, y = self.some((8, 8)), self.some((8, 8))
        self.op("stablehlo.dot_general", [x, y], (8, 8), more)

    def custom_call(self) -> None:
        if self.features.numbers:
            return
        x = self.some()
        self.op("stablehlo.custom_call", [x], x.shape, ' <{call_target_name = "f"}>')

    # Shardings

    def constraint(self) -> None:
        x = self.some()
        sharding = self.sharding(x.shape)
        result = Value(self.fresh(), x.shape)
        self.line(
            f"{result.name} = sdy.sharding_constraint {x.name} {sharding} : {x.type}"
        )
        if self.rng.random() < 0.8:
            self.values.append(result)

    def group(self) -> None:
        """A new group, or one that has members of this shape at this depth."""
        if not self.features.groups or self.depth:
            return
        x = self.some()
        known = self.groups.setdefault(x.shape, [])
        if not known or self.rng.random() < 0.4:
            # far apart for each function, so that groups do not join by chance
            known.append(self.rng.randrange(1000))
        self.line(
            f"sdy.sharding_group {x.name} group_id={self.rng.choice(known)} : {x.type}"
        )

    # Regions and calls

    def _body(self, arguments: list[Value], results: list[Shape], end: str) -> str:
        """The text of a region that sees nothing from outside."""
        outer = self.lines, self.values
        self.lines, self.values = [], list(arguments)
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice(INNER)(self)
        returned = [self.some(shape) for shape in results]
        names = ", ".join(value.name for value in returned)
        types = ", ".join(value.type for value in returned)
        self.line(f"{end} {names} : {types}")
        self.depth -= 1
        text = "\n".join(self.lines)
        self.lines, self.values = outer
        return text

    def call(self) -> None:
        if not self.callees:
            return
        callee = self.rng.choice(self.callees)
        operands = [self.some(shape) for shape in callee.arguments]
        results = [Value(self.fresh(), shape) for shape in callee.results]
        left = f"{', '.join(value.name for value in results)} = "
        right = ", ".join(value.type for value in results)
        self.line(
            f'{left}"func.call"({", ".join(v.name for v in operands)}) '
            f"<{{callee = @{callee.name}}}>{self.attribute(*callee.results)} : "
            f"({', '.join(v.type for v in operands)}) -> ({right})"
        )
        self.values.extend(results)

    def named_computation(self) -> None:
        if not self.features.named_computations:
            return
        operands = [self.some() for _ in range(self.rng.randint(0, 2))]
        arguments = [replace(value, name=self.fresh()) for value in operands]
        shapes = [self.rng.choice(SHAPES) for _ in range(self.rng.randint(1, 2))]
        body = self._body(arguments, shapes, "sdy.return")
        said = ""
        for keyword, of in (("in", [v.shape for v in operands]), ("out", shapes)):
            if of and self.rng.random() < 0.3:
                text = ", ".join(str(self.sharding(shape)) for shape in of)
                said += f" {keyword}_shardings=[{text}]"
        self._region(
            "sdy.named_computation" + f'<"f{self.rng.randrange(3)}">',
            operands,
            arguments,
            shapes,
            said,
            body,
        )

    def manual_computation(self) -> None:
        """Manual along one whole axis that splits nothing, free along the others."""
        if self.manual or not self.features.manual_computations:
            return
        name = self.rng.choice(self.mesh.axis_names)
        operands = [self.some() for _ in range(self.rng.randint(1, 2))]
        arguments = [replace(value, name=self.fresh()) for value in operands]
        shapes = [self.rng.choice(SHAPES) for _ in range(self.rng.randint(1, 2))]
        self.manual = (name,)
        body = self._body(arguments, shapes, "sdy.return")

        def free(shape: Shape) -> TensorSharding:
            sharding = self.sharding(shape)
            return sharding.with_dims(
                [
                    dim
                    if size % dim.sharded_size(self.mesh) == 0
                    else DimSharding((), dim.closed)
                    for dim, size in zip(sharding.dims, shape, strict=True)
                ]
            ).without_priorities()

        said = (
            f" in_shardings=[{', '.join(str(free(v.shape)) for v in operands)}]"
            f" out_shardings=[{', '.join(str(free(shape)) for shape in shapes)}]"
            f' manual_axes={{"{name}"}}'
        )
        self.manual = ()
        self._region("sdy.manual_computation", operands, arguments, shapes, said, body)

    def _region(
        self,
        op: str,
        operands: list[Value],
        arguments: list[Value],
        shapes: list[Shape],
        said: str,
        body: str,
    ) -> None:
        results = [Value(self.fresh(), shape) for shape in shapes]
        pad = "  " * (self.depth + 2)
        self.line(
            f"{results[0].name}{f':{len(results)}' if len(results) > 1 else ''} = "
            f"{op}({', '.join(v.name for v in operands)}){said} "
            f"({', '.join(f'{v.name}: {v.type}' for v in arguments)}) {{\n{body}\n{pad}}} : "
            f"({', '.join(v.type for v in operands)}) -> "
            f"({', '.join(v.type for v in results)})"
        )
        if len(results) > 1:
            first = results[0].name
            results = [
                replace(value, name=f"{first}#{index}")
                for index, value in enumerate(results)
            ]
        self.values.extend(results)

    def loop(self) -> None:
        """A while that carries some values and uses others from outside."""
        if self.features.numbers:
            return
        carried = [self.some() for _ in range(self.rng.randint(1, 2))]
        inner = [[replace(v, name=self.fresh()) for v in carried] for _ in range(2)]
        pad = "  " * (self.depth + 2)
        outer = self.lines, self.values
        self.lines, self.values = [], [*self.values, *inner[1]]
        self.depth += 1
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice(INNER)(self)
        next_values = [self.some(value.shape) for value in carried]
        self.depth -= 1
        body = "\n".join(self.lines)
        self.lines, self.values = outer
        types = ", ".join(v.type for v in carried)
        heads = [", ".join(f"{v.name}: {v.type}" for v in values) for values in inner]
        go = self.fresh()
        results = [replace(v, name=self.fresh()) for v in carried]
        self.line(
            f'{", ".join(v.name for v in results)} = "stablehlo.while"'
            f"({', '.join(v.name for v in carried)}) ({{\n{pad}^bb0({heads[0]}):\n"
            f'{pad}  {go} = "stablehlo.constant"() <{{value = dense<true> : tensor<i1>}}>'
            f" : () -> tensor<i1>\n"
            f'{pad}  "stablehlo.return"({go}) : (tensor<i1>) -> ()\n{pad}}}, {{\n'
            f"{pad}^bb0({heads[1]}):\n{body}\n"
            f'{pad}  "stablehlo.return"({", ".join(v.name for v in next_values)}) : '
            f"({types}) -> ()\n{pad}}}){self.attribute(*(v.shape for v in carried))} : "
            f"({types}) -> ({types})"
        )
        self.values.extend(results)


Step = Callable[[FunctionWriter], None]

PLAIN: tuple[Step, ...] = (
    FunctionWriter.unary,
    FunctionWriter.binary,
    FunctionWriter.binary,
    FunctionWriter.constant,
    FunctionWriter.constant,
    FunctionWriter.iota,
    FunctionWriter.broadcast,
    FunctionWriter.broadcast,
    FunctionWriter.slice,
    FunctionWriter.dot,
)
INNER: tuple[Step, ...] = (
    *PLAIN,
    FunctionWriter.call,
    FunctionWriter.constraint,
    FunctionWriter.custom_call,
)
OUTER: tuple[Step, ...] = (
    *INNER,
    FunctionWriter.call,
    FunctionWriter.call,
    FunctionWriter.call,
    FunctionWriter.group,
    FunctionWriter.named_computation,
    FunctionWriter.manual_computation,
    FunctionWriter.loop,
)


def _function(
    rng: random.Random,
    mesh: Mesh,
    features: Features,
    signature: Signature,
    callees: list[Signature],
) -> str:
    writer = FunctionWriter(rng, mesh, features, callees)

    def typed(value: Value, likely: float) -> str:
        if rng.random() > likely:
            return value.type
        return f"{value.type} {{sdy.sharding = #sdy.sharding{writer.sharding(value.shape)}}}"

    arguments = [Value(f"%x{n}", shape) for n, shape in enumerate(signature.arguments)]
    writer.values = list(arguments)
    for _ in range(rng.randint(1, features.ops)):
        rng.choice(OUTER)(writer)
    results = [writer.some(shape) for shape in signature.results]
    is_main = signature.name == "main"
    head = ", ".join(
        f"{v.name}: {typed(v, 0.6 if is_main else 0.2)}" for v in arguments
    )
    types = ", ".join(typed(v, 0.2) for v in results)
    body = "\n".join(writer.lines)
    return (
        f"  func.func {'public' if is_main else 'private'} @{signature.name}({head}) -> "
        f"({types}) {{\n{body}\n    return {', '.join(v.name for v in results)} : "
        f"{', '.join(v.type for v in results)}\n  }}"
    )


def random_module(seed: int, features: Features | None = None) -> str:
    """The module of a seed: `@main`, private functions, and the mesh `@mesh`."""
    features = features or Features()
    rng = random.Random(f"module {seed}")
    mesh = rng.choice(MESHES)
    signatures = [
        Signature(
            "main" if n == 0 else f"f{n}",
            tuple(rng.choice(SHAPES) for _ in range(rng.randint(1, 3))),
            tuple(rng.choice(SHAPES) for _ in range(rng.randint(1, 2))),
        )
        for n in range(rng.randint(1, features.functions))
    ]
    functions = [
        _function(rng, mesh, features, signature, signatures[n + 1 :])
        for n, signature in enumerate(signatures)
    ]
    if rng.random() < 0.5:
        rng.shuffle(functions)
    return f"module {{\n  sdy.mesh @mesh = {mesh}\n" + "\n".join(functions) + "\n}\n"
