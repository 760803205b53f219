"""Text of extreme shapes is read and written in time that grows with its length.

Work is counted in calls: what a program of twice the size takes more is not much more
than a program takes. What one call does to a long string is seen by the two largest.
"""

from collections.abc import Callable

import pytest

from tests.sampling import sampled
from tests.work import calls
from ttxdsl.loading.program import parse_program, program_text

TYPE = "tensor<4xf32>"


def _function(body: str, parameters: str = f"%a: {TYPE}") -> str:
    return f"func.func @f({parameters}) -> {TYPE} {{\n{body}\n}}\n"


def _listed(count: int, what: str) -> str:
    return ", ".join(what.format(index) for index in range(count))


def _sums(count: int, between: str = "\n", operand: str = "a", note: str = "") -> str:
    lines = [
        f"%{i} = stablehlo.add %{i - 1 if i else 'a'}, %{operand.format(i)} {note}:"
        f" {TYPE}"
        for i in range(count)
    ]
    return between.join([*lines, f"return %{count - 1} : {TYPE}"])


def functions(count: int) -> str:
    """Functions that each call the one before."""
    first = f"func.func @f(%a: {TYPE}) -> {TYPE} {{ return %a : {TYPE} }}"
    others = [
        f"func.func @f{i}(%a: {TYPE}) -> {TYPE} {{\n"
        f"  %0 = call @{f'f{i - 1}' if i else 'f'}(%a) : ({TYPE}) -> {TYPE}\n"
        f"  return %0 : {TYPE}\n}}"
        for i in range(count)
    ]
    return "\n".join([first, *others])


def arguments(count: int) -> str:
    """One function of many arguments, each with attributes, each used once."""
    parameters = _listed(count, f'%a{{0}}: {TYPE} {{{{x.name = "{{0}}"}}}}')
    body = _sums(count, operand="a{0}").replace("%a,", "%a0,")
    return _function(body, parameters)


def results(count: int) -> str:
    """An op of many operands and results, and a function that returns them."""
    types, values = _listed(count, TYPE), _listed(count, "%0#{0}")
    return (
        f"func.func @f(%a: {TYPE}) -> ({types}) {{\n"
        f'  %0:{count} = "stablehlo.optimization_barrier"({_listed(count, "%a")})'
        f" : ({types}) -> ({types})\n  return {values} : {types}\n}}"
    )


def regions(count: int) -> str:
    """Branches inside each other."""
    give = "stablehlo.return %{} : tensor<i1>\n"
    opened = [f'%r{i} = "stablehlo.if"(%a) ({{\n' for i in range(count)]
    closed = [
        f"}}, {{\n{give.format('a')}}}) : (tensor<i1>) -> tensor<i1>\n"
        + (give.format(f"r{i}") if i else "")
        for i in reversed(range(count))
    ]
    inside = "".join([*opened, give.format("a"), *closed])
    return _function(f"{inside}return %r0 : tensor<i1>", "%a: tensor<i1>").replace(
        f"-> {TYPE}", "-> tensor<i1>"
    )


def _constant(text: str, type_: str) -> str:
    return f"func.func @f() {{\n  %0 = stablehlo.constant dense<{text}> : {type_}\n  return\n}}"


EXTREMES: dict[str, tuple[int, Callable[[int], str]]] = {
    "functions": (40, functions),
    "arguments": (200, arguments),
    "operands and results": (200, results),
    "deep regions": (40, regions),
    "a chain on one line": (200, lambda n: _function(_sums(n, between=" "))),
    "a chain": (200, lambda n: _function(_sums(n))),
    "attributes of ops": (
        200,
        lambda n: _function(_sums(n, note='{x.list = [1, 2], x.text = "a"} ')),
    ),
    "many attributes of one op": (
        200,
        lambda n: _function(_sums(1, note=f"{{{_listed(n, 'x.k{0} = {0}')}}} ")),
    ),
    "a list of numbers": (
        400,
        lambda n: _constant(f"[{_listed(n, '{0}.5')}]", f"tensor<{n}xf32>"),
    ),
    "rows of numbers": (
        200,
        lambda n: _constant(f"[{_listed(n, '[{0}, 1]')}]", f"tensor<{n}x2xi32>"),
    ),
    "an array": (
        400,
        lambda n: f"module attributes {{x.list = [{_listed(n, '{0}')}]}} {{}}",
    ),
    "a dictionary": (
        200,
        lambda n: f"module attributes {{x.all = {{{_listed(n, 'k{0} = {0}')}}}}} {{}}",
    ),
    "aliases": (
        200,
        lambda n: (
            "\n".join(f'#a{i} = "{i}"' for i in range(n))
            + f"\nmodule attributes {{x.list = [{_listed(n, '#a{0}')}]}} {{}}"
        ),
    ),
    "locations": (
        80,
        lambda n: (
            "\n".join(f'#loc{i} = loc("a":{i}:1)' for i in range(n))
            + "\n"
            + _function(
                "\n".join(
                    f"%{i} = stablehlo.negate %a : {TYPE} loc(#loc{i})"
                    for i in range(n)
                )
                + f"\nreturn %a : {TYPE}"
            )
        ),
    ),
    "escapes": (400, lambda n: 'module attributes {x.text = "' + "a\\0A" * n + '"} {}'),
}


@pytest.mark.parametrize("name", sampled(EXTREMES, 6))
def test_the_work_grows_with_the_text(name: str):
    size, text_of = EXTREMES[name]

    def work(count: int) -> int:
        text = text_of(count)
        return calls(lambda: program_text(parse_program(text)))

    parse_program(text_of(1))  # what is imported and remembered at the first time
    once, twice = work(size), work(2 * size)
    assert twice - once < 1.25 * once  # numbers get longer


def test_a_constant_of_a_megabyte():
    data = "0000803F0000A03F" * 65_536
    module = parse_program(_constant(f'"0x{data}"', "tensor<131072xf32>"))
    assert program_text(module).count(data) == 1
