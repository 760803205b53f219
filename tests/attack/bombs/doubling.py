"""What doubles with every line: calls, composites, aliases, types, locations."""

from collections.abc import Callable

from tests.attack.bombs.registry import TYPE, add, bomb, program


def doubling_calls(levels: int) -> str:
    """`main` calls `f{levels - 1}`, and each function calls the one below twice."""
    call = f"({TYPE}) -> {TYPE}"
    functions = [
        f"func.func private @f0(%a: {TYPE}) -> {TYPE} {{\n"
        f"%r = stablehlo.negate %a : {TYPE}\nreturn %r : {TYPE}\n}}"
    ]
    functions += [
        f"func.func private @f{n}(%a: {TYPE}) -> {TYPE} {{\n"
        f"%b = func.call @f{n - 1}(%a) : {call}\n"
        f"%c = func.call @f{n - 1}(%b) : {call}\nreturn %c : {TYPE}\n}}"
        for n in range(1, levels)
    ]
    body = [f"%r = func.call @f{levels - 1}(%a) : {call}", f"return %r : {TYPE}"]
    argument = f'%a: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}'
    return program(
        body, argument, TYPE, 'sdy.mesh @mesh = <["x"=2]>', "\n".join(functions)
    )


add("calls that double", doubling_calls(30))
add("calls that double far beyond int64", doubling_calls(100))


@bomb("composites that double")
def _composites() -> str:
    text = doubling_calls(30)
    for n in range(30):
        text = text.replace(
            f"func.call @f{n}(%a)",
            f'stablehlo.composite "my.f" %a {{decomposition = @f{n}}}',
        ).replace(
            f"func.call @f{n}(%b)",
            f'stablehlo.composite "my.f" %b {{decomposition = @f{n}}}',
        )
    return text


@bomb("calls inside regions that double")
def _regions_that_double() -> str:
    text = doubling_calls(30)
    for n in range(30):
        text = text.replace(
            f"%c = func.call @f{n}(%b) : ({TYPE}) -> {TYPE}",
            f"%i = stablehlo.constant dense<0> : tensor<i32>\n"
            f'%c = "stablehlo.case"(%i) ({{\n'
            f"%q = func.call @f{n}(%b) : ({TYPE}) -> {TYPE}\n"
            f"stablehlo.return %q : {TYPE}\n}}) : (tensor<i32>) -> {TYPE}",
        )
    return text


def _doubled(first: str, make: Callable[[str], str], levels: int, sign: str) -> str:
    lines = [f"{sign}t0 = {first}"]
    lines += [f"{sign}t{n} = {make(f'{sign}t{n - 1}')}" for n in range(1, levels)]
    return "\n".join(lines)


for _levels in (14, 100):
    _aliases = _doubled("1 : i32", lambda t: f"[{t}, {t}]", _levels, "#")
    _last = f"#t{_levels - 1}"
    add(
        f"aliases that double {_levels} times, on an op",
        program(
            [f"%r = stablehlo.tanh %a {{x = {_last}}} : {TYPE}", f"return %r : {TYPE}"],
            before=_aliases,
        ),
    )
    add(
        f"aliases that double {_levels} times, on the module",
        f"{_aliases}\nmodule attributes {{x = {_last}}} {{\n"
        + program([f"return %a : {TYPE}"])
        + "}",
    )
    add(
        f"aliases of dictionaries that double {_levels} times",
        program(
            [f"%r = stablehlo.tanh %a {{x = {_last}}} : {TYPE}", f"return %r : {TYPE}"],
            before=_doubled("1 : i32", lambda t: f"{{a = {t}, b = {t}}}", _levels, "#"),
        ),
    )
    _types = _doubled(TYPE, lambda t: f"tuple<{t}, {t}>", _levels, "!")
    add(
        f"types that double {_levels} times",
        program(
            [f"return %a : !t{_levels - 1}"],
            f"%a: !t{_levels - 1}",
            f"!t{_levels - 1}",
            _types,
        ),
    )
    add(
        f"function types that double {_levels} times",
        program(
            [
                f"%r = stablehlo.tanh %a {{x = !t{_levels - 1}}} : {TYPE}",
                f"return %r : {TYPE}",
            ],
            before=_doubled("i32", lambda t: f"({t}) -> {t}", _levels, "!"),
        ),
    )
    add(
        f"locations that double {_levels} times",
        program(
            [
                f"%r = stablehlo.tanh %a : {TYPE} loc(#t{_levels - 1})",
                f"return %r : {TYPE}",
            ],
            before=_doubled(
                'loc("f":1:1)', lambda t: f"loc(callsite({t} at {t}))", _levels, "#"
            ),
        ),
    )
    add(
        f"fused locations that double {_levels} times, without a place",
        program(
            [
                f"%r = stablehlo.add %a, %a : {TYPE} loc(#t{_levels - 1})",
                f"%q = stablehlo.custom_call @unknown(%r) : ({TYPE}) -> {TYPE}"
                f" loc(#t{_levels - 1})",
                f"return %q : {TYPE}",
            ],
            before=_doubled(
                "loc(unknown)", lambda t: f"loc(fused[{t}, {t}])", _levels, "#"
            ),
        ),
    )

add("an alias of itself", program([f"return %a : {TYPE}"], before="#a = [#a]"))
add(
    "a location of itself",
    program(
        [f"%r = stablehlo.tanh %a : {TYPE} loc(#l)", f"return %r : {TYPE}"],
        before='#l = loc("f"(#l))',
    ),
)
add(
    "locations of each other",
    program(
        [f"%r = stablehlo.tanh %a : {TYPE} loc(#l)", f"return %r : {TYPE}"],
        before="#l = loc(fused[#k, #k])\n#k = loc(fused[#l, #l])",
    ),
)
add("a type of itself", program(["return %a : !a"], "%a: !a", "!a", "!a = tuple<!a>"))
