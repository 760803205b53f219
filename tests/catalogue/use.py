"""How a use of an op is written.

Ops are written in generic form by `Use`, so that a wrong use differs from the right
one only in what it changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

F4 = "tensor<4xf32>"
F46 = "tensor<4x6xf32>"
I4 = "tensor<4xi32>"
C4 = "tensor<4xcomplex<f32>>"
S = "tensor<f32>"
SI = "tensor<i32>"
SB = "tensor<i1>"
TOKEN = "!stablehlo.token"


@dataclass(frozen=True)
class Use:
    """An op applied to the arguments of a function.

    Attributes:
        op: its name, without the dialect's unless it is another dialect's.
        operands, results: types.
        props: the text of its properties.
        regions: the texts of its regions.
        before: ops of the function before it, that may use the arguments `%0`, `%1`, ….
        values: the operands, if they are not the arguments in order.
        outside: what else the module holds.
    """

    op: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    props: str = ""
    regions: tuple[str, ...] = ()
    before: str = ""
    values: str | None = None
    outside: str = ""

    @property
    def name(self) -> str:
        """The op's full name."""
        return self.op if "." in self.op else f"stablehlo.{self.op}"

    def text(self, *, function: str = "f", returns: bool = False) -> str:
        """A module with the op in a function, which may return its results."""
        arguments = ", ".join(f"%{i}: {one}" for i, one in enumerate(self.operands))
        values = self.values
        types = self.operands
        if values is None:
            values = ", ".join(f"%{i}" for i in range(len(self.operands)))
        else:
            types = tuple(one.split(": ")[1] for one in values.split("; ") if one)
            values = ", ".join(one.split(": ")[0] for one in values.split("; ") if one)
        results = f"%r:{len(self.results)} = " if self.results else ""
        props = f" <{{{self.props}}}>" if self.props else ""
        regions = f" ({', '.join(self.regions)})" if self.regions else ""
        outputs = ", ".join(self.results)
        end, answers = "return", ""
        if returns and self.results:
            each = ", ".join(f"%r#{i}" for i in range(len(self.results)))
            end, answers = f"return {each} : {outputs}", f" -> ({outputs})"
        return (
            f"module {{\n{self.outside}\nfunc.func @{function}({arguments}){answers} {{\n"
            f'{self.before}\n{results}"{self.name}"({values}){props}{regions} : '
            f"({', '.join(types)}) -> ({outputs})\n{end}\n}}\n}}\n"
        )

    def but(self, **changes: Any) -> Use:
        """The same with other fields."""
        if "regions" in changes and isinstance(changes["regions"], str):
            changes["regions"] = (changes["regions"],)
        return replace(self, **changes)

    def prop(self, **changes: str) -> Use:
        """The same with other values of properties; None takes one out."""
        parts = dict(
            part.split(" = ", 1) if " = " in part else (part, "unit")
            for part in _split(self.props)
            if part
        )
        for name, value in changes.items():
            parts[name] = value
        text = ", ".join(f"{k} = {v}" for k, v in sorted(parts.items()) if v)
        return replace(self, props=text)


def _split(text: str) -> list[str]:
    """Split at the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for place, one in enumerate(text):
        if one == ">" and text[place - 1] == "-":
            continue
        depth += (one in "<[({") - (one in ">])}")
        if one == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


def body(op: str, scalar: str = S, result: str | None = None) -> str:
    """A region that combines two scalars with an op."""
    result = result or scalar
    return (
        f"{{\n^bb0(%a: {scalar}, %b: {scalar}):\n"
        f'  %c = "stablehlo.{op}"(%a, %b) : ({scalar}, {scalar}) -> {result}\n'
        f"  stablehlo.return %c : {result}\n}}"
    )


def compare_body(scalar: str = S) -> str:
    """A region that compares two scalars."""
    return (
        f"{{\n^bb0(%a: {scalar}, %b: {scalar}):\n"
        f"  %c = stablehlo.compare GT, %a, %b : ({scalar}, {scalar}) -> tensor<i1>\n"
        "  stablehlo.return %c : tensor<i1>\n}"
    )


def array(*values: int) -> str:
    """An `array<i64: …>`."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def groups(*rows: list[int]) -> str:
    """Replica groups."""
    width = len(rows[0]) if rows else 0
    return f"dense<{list(rows)}> : tensor<{len(rows)}x{width}xi64>"


def pads(*rows: list[int]) -> str:
    """Padding."""
    return f"dense<{list(rows)}> : tensor<{len(rows)}x2xi64>"


def ints(values: list[int], name: str = "%k") -> str:
    """An op before: a constant of 64-bit integers."""
    text = f"dense<{values}> : tensor<{len(values)}xi64>"
    return f"{name} = stablehlo.constant {text}"


class Uses(dict[str, Use]):
    """The valid uses of a dialect's ops, by name."""

    def add(self, op: str, *args: Any, key: str = "", **kwargs: Any) -> None:
        """Register a use, under another key where its op has one already."""
        valid = Use(op, *args, **kwargs)
        self[key or valid.name] = valid
