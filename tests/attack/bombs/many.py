"""Very many of one thing, and very long names and lines."""

from tests.attack.bombs.registry import (
    MANY,
    MESH,
    SHARDED,
    TYPE,
    bomb,
    program,
    sharded,
)

# Many


@bomb("a long chain", cheap=False)
def _chain() -> str:
    lines = [
        f"%v{n} = stablehlo.tanh {f'%v{n - 1}' if n else '%a'} : {TYPE}"
        for n in range(20_000)
    ]
    return sharded(*lines, f"return %v19999 : {TYPE}")


@bomb("a long chain, the last op first", cheap=False)
def _backwards() -> str:
    lines = [
        f"%v{n} = stablehlo.tanh {f'%v{n - 1}' if n else '%a'} : {TYPE}"
        for n in reversed(range(20_000))
    ]
    return sharded(*lines, f"return %v0 : {TYPE}")


@bomb("a value of 20,000 uses", cheap=False)
def _uses() -> str:
    lines = [f"%v{n} = stablehlo.add %a, %a : {TYPE}" for n in range(20_000)]
    return sharded(*lines, f"return %v0 : {TYPE}")


@bomb("20,000 functions", cheap=False)
def _functions() -> str:
    functions = "\n".join(
        f"func.func private @f{n}(%a: {TYPE}) -> {TYPE} {{\nreturn %a : {TYPE}\n}}"
        for n in range(20_000)
    )
    return sharded(f"return %a : {TYPE}", behind=functions)


@bomb("10,000 calls of one function", cheap=False)
def _calls() -> str:
    call = f"({TYPE}) -> {TYPE}"
    lines = [f"%v{n} = func.call @f(%a) : {call}" for n in range(10_000)]
    function = (
        f"func.func private @f(%a: {TYPE}) -> {TYPE} {{\n"
        f"%r = stablehlo.tanh %a : {TYPE}\nreturn %r : {TYPE}\n}}"
    )
    return sharded(*lines, f"return %v0 : {TYPE}", behind=function)


@bomb("20,000 arguments and results", cheap=False)
def _arguments() -> str:
    count = 20_000
    arguments = ", ".join(
        f'%a{n}: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}'
        for n in range(count)
    )
    types = ", ".join([TYPE] * count)
    names = ", ".join(f"%a{n}" for n in range(count))
    return program([f"return {names} : {types}"], arguments, types, MESH)


@bomb("20,000 operands", cheap=False)
def _operands() -> str:
    count = 20_000
    types = ", ".join([TYPE] * count)
    names = ", ".join(["%a"] * count)
    result = f"tensor<{8 * count}x8xf32>"
    return program(
        [
            f"%r = stablehlo.concatenate {names}, dim = 0 : ({types}) -> {result}",
            f"return %r : {result}",
        ],
        SHARDED,
        result,
        MESH,
    )


@bomb("a tuple of 20,000", cheap=False)
def _tuple() -> str:
    count = 20_000
    types = ", ".join([TYPE] * count)
    names = ", ".join(["%a"] * count)
    return sharded(
        f"%t = stablehlo.tuple {names} : tuple<{types}>",
        f"%r = stablehlo.get_tuple_element %t[19999] : (tuple<{types}>) -> {TYPE}",
        f"return %r : {TYPE}",
    )


@bomb("a loop of 2,000 values", cheap=False)
def _wide_loop() -> str:
    count = 2_000
    given = ", ".join(f"%x{n} = %a" for n in range(count))
    types = ", ".join([TYPE] * count)
    turned = ", ".join(f"%x{(n + 1) % count}" for n in range(count))
    return sharded(
        f"%r:{count} = stablehlo.while({given}) : {types}",
        "cond {",
        "%c = stablehlo.constant dense<false> : tensor<i1>",
        "stablehlo.return %c : tensor<i1>",
        "} do {",
        f"stablehlo.return {turned} : {types}",
        "}",
        f"return %r#0 : {TYPE}",
    )


@bomb("a case of 2,000 branches", cheap=False)
def _branches() -> str:
    branch = f"{{\nstablehlo.return %a : {TYPE}\n}}"
    branches = ", ".join([branch] * 2_000)
    return sharded(
        "%i = stablehlo.constant dense<7> : tensor<i32>",
        f'%r = "stablehlo.case"(%i) ({branches}) : (tensor<i32>) -> {TYPE}',
        f"return %r : {TYPE}",
    )


@bomb("2,000 sharding groups", cheap=False)
def _groups() -> str:
    lines = [f"sdy.sharding_group %a group_id={n} : {TYPE}" for n in range(2_000)]
    return sharded(*lines, f"return %a : {TYPE}")


@bomb("2,000 priorities", cheap=False)
def _priorities() -> str:
    lines = [
        f'%v{n} = sdy.sharding_constraint %a <@mesh, [{{"x", ?}}p{n}, {{?}}]> : {TYPE}'
        for n in range(2_000)
    ]
    return sharded(*lines, f"return %a : {TYPE}")


@bomb("10,000 constraints on one value", cheap=False)
def _constraints() -> str:
    lines = [
        f'%v{n} = sdy.sharding_constraint %a <@mesh, [{{}}, {{"{"xy"[n % 2]}"}}]> : {TYPE}'
        for n in range(10_000)
    ]
    return sharded(*lines, f"return %a : {TYPE}")


@bomb("a sharding of 10,000 dimensions", cheap=False)
def _dimensions() -> str:
    dims = ", ".join(["{}"] * 10_000)
    return program(
        [f"return %a : {TYPE}"],
        f"%a: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}}",
        before=MESH,
    )


@bomb("a sharding of 10,000 axes", cheap=False)
def _sharding_axes() -> str:
    axes = ", ".join('"x"' for _ in range(10_000))
    return program(
        [f"return %a : {TYPE}"],
        f"%a: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{{{axes}}}, {{}}]>}}",
        before=MESH,
    )


@bomb("a sharding over 10,000 axes of size 1", cheap=False)
def _many_axes() -> str:
    names = [f'"x{n}"' for n in range(10_000)]
    mesh = f"sdy.mesh @mesh = <[{', '.join(f'{name}=1' for name in names)}]>"
    return program(
        [f"%r = stablehlo.tanh %a : {TYPE}", f"return %r : {TYPE}"],
        f"%a: {TYPE} {{sdy.sharding ="
        f" #sdy.sharding<@mesh, [{{{', '.join(names)}}}, {{}}]>}}",
        before=mesh,
    )


@bomb("a sharding rule of 10,000 factors", cheap=False)
def _factors() -> str:
    factors = ["i", "j", *(f"z_{n}" for n in range(1, 10_000))]
    sizes = ", ".join(f"{factor}=1" for factor in factors)
    dims = "".join(factors[:4])
    return sharded(
        f"%r = stablehlo.custom_call @f(%a) {{sdy.sharding_rule ="
        f" #sdy.op_sharding_rule<([{dims}, j])->([{dims}, j]) {{{sizes}}}, custom>}}"
        f" : ({TYPE}) -> {TYPE}",
        f"return %r : {TYPE}",
    )


@bomb("a dimension of 10,000 factors", cheap=False)
def _dim_factors() -> str:
    factors = [f"z_{n}" for n in range(1, 10_000)]
    sizes = ", ".join(f"{factor}=1" for factor in factors)
    dims = "".join(factors)
    return sharded(
        f"%r = stablehlo.custom_call @f(%a) {{sdy.sharding_rule ="
        f" #sdy.op_sharding_rule<([i{dims}, j])->([i{dims}, j])"
        f" {{i=8, j=8, {sizes}}}, custom>}} : ({TYPE}) -> {TYPE}",
        f"return %r : {TYPE}",
    )


@bomb("replica groups of 10^6", cheap=False)
def _replica_groups() -> str:
    ids = ", ".join(map(str, range(10**6)))
    return program(
        [
            '%r = "stablehlo.all_reduce"(%a) <{replica_groups ='
            f" dense<[[{ids}]]> : tensor<1x1000000xi64>}}> ({{",
            "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
            "%s = stablehlo.add %p, %q : tensor<f32>",
            "stablehlo.return %s : tensor<f32>",
            f"}}) : ({TYPE}) -> {TYPE}",
            f"return %r : {TYPE}",
        ]
    )


@bomb("10^5 attributes on one op", cheap=False)
def _attributes() -> str:
    entries = ", ".join(f"x{n} = {n}" for n in range(MANY))
    return program(
        [f"%r = stablehlo.tanh %a {{{entries}}} : {TYPE}", f"return %r : {TYPE}"]
    )


@bomb("10^5 aliases", cheap=False)
def _aliases() -> str:
    lines = [f"#a{n} = {n} : i64" for n in range(MANY)]
    return program(
        [f"%r = stablehlo.tanh %a {{x = #a99999}} : {TYPE}", f"return %r : {TYPE}"],
        before="\n".join(lines),
    )


@bomb("10^5 locations", cheap=False)
def _many_locations() -> str:
    lines = [f'#a{n} = loc("f":{n}:1)' for n in range(MANY)]
    parts = ", ".join(f"#a{n}" for n in range(MANY))
    return program(
        [
            f"%q = stablehlo.custom_call @unknown(%a) : ({TYPE}) -> {TYPE}"
            f" loc(fused[{parts}])",
            f"return %q : {TYPE}",
        ],
        SHARDED,
        before="\n".join([MESH, *lines]),
    )


@bomb("many undefined names", cheap=False)
def _undefined() -> str:
    lines = [f"%v{n} = stablehlo.tanh %u{n} : {TYPE}" for n in range(20_000)]
    return program([*lines, f"return %a : {TYPE}"])


@bomb("many programs in one file", cheap=False)
def _programs() -> str:
    return "\n// -----\n".join([program([f"return %a : {TYPE}"])] * 1_000)


# Long

_LONG = "n" * 1_000_000
for _name, _make in {
    "a long name of a value": lambda: program(
        [f"%{_LONG} = stablehlo.tanh %a : {TYPE}", f"return %{_LONG} : {TYPE}"]
    ),
    "a long name of a function": lambda: program(
        [f"return %a : {TYPE}"],
        behind=f"func.func private @{_LONG}(%a: {TYPE}) -> {TYPE} {{\nreturn %a : {TYPE}\n}}",
    ),
    "a long name of an axis": lambda: program(
        [f"%r = stablehlo.tanh %a : {TYPE}", f"return %r : {TYPE}"],
        f'%a: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"{_LONG}"}}, {{}}]>}}',
        before=f'sdy.mesh @mesh = <["{_LONG}"=2]>',
    ),
    "a long name of an unknown axis": lambda: program(
        [f"return %a : {TYPE}"],
        f'%a: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"{_LONG}"}}, {{}}]>}}',
        before=MESH,
    ),
    "a long name of an op": lambda: program([f'"stablehlo.{_LONG}"() : () -> ()']),
    "a long name of an attribute": lambda: program(
        [f"%r = stablehlo.tanh %a {{{_LONG} = 1}} : {TYPE}", f"return %r : {TYPE}"]
    ),
    "a long custom call": lambda: sharded(
        f"%r = stablehlo.custom_call @{_LONG}(%a) : ({TYPE}) -> {TYPE}",
        f"return %r : {TYPE}",
    ),
    "a long file name in a location": lambda: sharded(
        f'%r = stablehlo.custom_call @f(%a) : ({TYPE}) -> {TYPE} loc("{_LONG}":1:1)',
        f"return %r : {TYPE}",
    ),
    "a long comment": lambda: f"// {_LONG}\n" + program([f"return %a : {TYPE}"]),
    "a long string that does not end": lambda: program([f'%r = "{_LONG}']),
    "a long line of quotes": lambda: program(['"' * 200_000]),
    "a long line of backslashes": lambda: program(['"' + "\\\\" * 200_000 + "\\"]),
    "a long line of blanks": lambda: program([" " * 1_000_000 + f"return %a : {TYPE}"]),
    "long garbage": lambda: "\x00" * 1_000_000,
    "blank lines": lambda: "\n" * 1_000_000,
    "dashes": lambda: "// -----\n" * 100_000,
    "percent signs": lambda: program(["%" * 200_000]),
    "slashes": lambda: program(["/" * 200_000]),
    "digits and x": lambda: program(
        [f"%r = stablehlo.tanh %a : tensor<{'1x' * 100_000}f32>"]
    ),
}.items():
    bomb(_name, cheap=False)(_make)
