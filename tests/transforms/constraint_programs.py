"""Random functions dense in sharding constraints, chains of them, edges and regions."""

import random

T = "tensor<8x8xf32>"
MESHES = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\nsdy.mesh @other = <["a"=2]>\n'

SHARDINGS = (
    *('<@mesh, [{"x"}, {}]>',) * 4,
    '<@mesh, [{}, {"y"}]>',
    '<@mesh, [{"y":(1)2}, {"x"}]>',
    '<@mesh, [{"x", ?}, {}]>',
    '<@mesh, [{"x"}p1, {"y"}]>',
    '<@mesh, [{}, {}], replicated={"x"}>',
    '<@mesh, [{"x"}, {}], unreduced={"y"}>',
    "<@mesh, [{}, {}]>",
    '<@other, [{"a"}, {}]>',
)
"""Closed ones mostly, one of them often: constraints have to agree to apply.

No inlined meshes: on the block argument of a named computation the C++ pass crashes.
"""


class _Function:
    """Lines of a function body, and the values that may be used next."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def sharding(self) -> str:
        return self.random.choice(SHARDINGS)

    def attribute(self) -> str:
        if self.random.random() < 0.8:
            return ""
        return f" {{sdy.sharding = #sdy.sharding_per_value<[{self.sharding()}]>}}"

    def value(self, values: list[str]) -> str:
        """Any value, late ones more often."""
        return values[-min(int(self.random.expovariate(0.6)) + 1, len(values))]

    def op(self, values: list[str], depth: int) -> None:
        """Add one op, or a few that belong together, and its result to `values`."""
        kinds = ["compute"] * 3 + ["constraint"] * 3 + ["chain", "dangling", "edge"]
        if depth:
            kinds += ["manual", "case", "named"]
        getattr(self, self.random.choice(kinds))(values, depth)

    def compute(self, values: list[str], _: int) -> None:
        a, b, result = self.value(values), self.value(values), self.name()
        op = f"stablehlo.add {a}, {b}{self.attribute()}"
        self.lines.append(f"{result} = {op} : {T}")
        values.append(result)

    def constrain(self, value: str, sharding: str) -> str:
        result = self.name()
        op = f"{result} = sdy.sharding_constraint {value} {sharding} : {T}"
        self.lines.append(op)
        return result

    def constraint(self, values: list[str], _: int) -> None:
        values.append(self.constrain(self.value(values), self.sharding()))

    def dangling(self, values: list[str], _: int) -> None:
        self.constrain(self.value(values), self.sharding())

    def chain(self, values: list[str], depth: int) -> None:
        """Constraints on each other, with other uses of the first one's input after."""
        start = value = self.value(values)
        for _ in range(self.random.randint(2, 3)):
            value = self.constrain(value, self.sharding())
        values += [value, start]
        self.compute(values, depth)

    def edge(self, values: list[str], depth: int) -> None:
        """A barrier with a data flow edge, used and then perhaps constrained."""
        barrier, edge = self.name(), self.name()
        operand = self.value(values)
        sharding = f" sharding={self.sharding()}" if self.random.random() < 0.2 else ""
        self.lines += [
            f"{barrier} = stablehlo.optimization_barrier {operand} : {T}",
            f"{edge} = sdy.data_flow_edge {barrier}{sharding} : {T}",
        ]
        values.append(edge)
        self.compute(values, depth)
        if self.random.random() < 0.7:
            self.constrain(edge, self.sharding())

    def manual(self, values: list[str], depth: int) -> None:
        a, b = self.value(values), self.value(values)
        x, y, result = self.name(), self.name(), self.name()
        sharding = '<@mesh, [{"x"}, {}]>'
        others = (sharding, '<@mesh, [{}, {"y"}]>')
        ins = [self.random.choice(others) for _ in range(2)]
        self.lines.append(
            f"{result} = sdy.manual_computation({a}, {b}) in_shardings=[{', '.join(ins)}] "
            f"out_shardings=[{sharding}] manual_axes={{}} ({x}: {T}, {y}: {T}) {{"
        )
        returned = self.body([x, y], depth)
        self.lines.append(f"sdy.return {returned} : {T} }} : ({T}, {T}) -> {T}")
        values.append(result)

    def named(self, values: list[str], depth: int) -> None:
        operand, argument, result = self.value(values), self.name(), self.name()
        self.lines.append(
            f'{result} = sdy.named_computation<"f">({operand}) ({argument}: {T}) {{'
        )
        returned = self.body([argument], depth)
        self.lines.append(f"sdy.return {returned} : {T} }} : ({T}) -> {T}")
        values.append(result)

    def case(self, values: list[str], depth: int) -> None:
        index, result = self.name(), self.name()
        self.lines += [
            f"{index} = sdy.constant dense<0> : tensor<i32>",
            f'{result} = "stablehlo.case"({index}) ({{',
        ]
        returned = self.body(list(values), depth)
        self.lines.append(
            f"stablehlo.return {returned} : {T} }}) : (tensor<i32>) -> {T}"
        )
        values.append(result)

    def body(self, values: list[str], depth: int) -> str:
        for _ in range(self.random.randint(1, 4)):
            self.op(values, depth - 1)
        return self.value(values)


def constraint_program(seed: int) -> str:
    """A module; the same seed always makes the same."""
    function = _Function(seed)
    arguments = ["%a0", "%a1"]
    attributes = [
        f" {{sdy.sharding = #sdy.sharding{function.sharding()}}}"
        if function.random.random() < 0.3
        else ""
        for _ in arguments
    ]
    values = list(arguments)
    for _ in range(function.random.randint(4, 14)):
        function.op(values, depth=2)
    returned = function.value(values)
    listed = ", ".join(
        f"{name}: {T}{attribute}"
        for name, attribute in zip(arguments, attributes, strict=True)
    )
    lines = "\n".join(function.lines)
    return (
        f"{MESHES}func.func @main({listed}) -> {T} {{\n{lines}\n"
        f"return {returned} : {T}\n}}\n"
    )
