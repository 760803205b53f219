"""Things very deep inside each other: calls, regions, attributes, locations."""

from tests.attack.bombs.registry import DEEP, MANY, MESH, SHARDED, TYPE, bomb, program

# Deep


def nested_calls(
    depth: int, last: str = "stablehlo.negate %a", debug: bool = False
) -> str:
    """`main` calls `f0`, which calls `f1`, …; the innermost has one op, `last`.

    Args:
        depth: how many functions there are besides `main`.
        last: the op of the innermost function on `%a`, without its type.
        debug: whether every op says where it is from, as JAX writes it.
    """

    def at(line: int) -> str:
        return f' loc("step.py":{line}:1)' if debug else ""

    call = f"({TYPE}) -> {TYPE}"
    functions = [
        f"func.func private @f{n}(%a: {TYPE}) -> {TYPE} {{\n"
        + (
            f"%b = stablehlo.tanh %a : {TYPE}{at(n)}\n"
            f"%r = func.call @f{n + 1}(%b) : {call}{at(n)}\n"
            if n + 1 < depth
            else f"%r = {last} : {call if 'custom' in last else TYPE}{at(n)}\n"
        )
        + f"return %r : {TYPE}{at(n)}\n}}{at(n)}"
        for n in range(depth)
    ]
    body = [f"%r = func.call @f0(%a) : {call}{at(0)}", f"return %r : {TYPE}{at(0)}"]
    return program(body, SHARDED, TYPE, MESH, "\n".join(functions))


for _n in (400, 2_000):
    bomb(f"{_n} nested calls", cheap=False)(lambda n=_n: nested_calls(n))
    bomb(f"{_n} nested calls with places", cheap=False)(
        lambda n=_n: nested_calls(n, debug=True)
    )
    bomb(f"an error in {_n} nested calls", cheap=False)(
        lambda n=_n: nested_calls(n, "stablehlo.custom_call @unknown(%a)", debug=True)
    )

_REGIONS = {
    "while": (
        f"%w{{n}}:2 = stablehlo.while(%j{{n}} = %i, %x{{n}} = %x{{o}})"
        f" : tensor<i32>, {TYPE}\ncond {{{{\n"
        "%c{n} = stablehlo.compare LT, %j{n}, %one : (tensor<i32>, tensor<i32>)"
        " -> tensor<i1>\n"
        "stablehlo.return %c{n} : tensor<i1>\n}} do {{\n",
        "%k{n} = stablehlo.add %j{n}, %one : tensor<i32>\n"
        f"stablehlo.return %k{{n}}, %r{{n}} : tensor<i32>, {TYPE}\n}}}}\n"
        f"%r{{o}} = stablehlo.negate %w{{n}}#1 : {TYPE}\n",
    ),
    "case": (
        f'%r{{o}} = "stablehlo.case"(%i) ({{{{\n%x{{n}} = stablehlo.tanh %x{{o}}'
        f" : {TYPE}\n",
        f"stablehlo.return %r{{n}} : {TYPE}\n}}}}) : (tensor<i32>) -> {TYPE}\n",
    ),
    "if": (
        "%p{n} = stablehlo.constant dense<true> : tensor<i1>\n"
        f'%r{{o}} = "stablehlo.if"(%p{{n}}) ({{{{\n%x{{n}} = stablehlo.tanh %x{{o}}'
        f" : {TYPE}\n",
        f"stablehlo.return %r{{n}} : {TYPE}\n}}}}, {{{{\n"
        f"stablehlo.return %x{{o}} : {TYPE}\n}}}}) : (tensor<i1>) -> {TYPE}\n",
    ),
    "manual computation": (
        "%r{o} = sdy.manual_computation(%x{o}) in_shardings=[<@mesh, [{{}}, {{}}]>]"
        " out_shardings=[<@mesh, [{{}}, {{}}]>] manual_axes={{}}"
        f" (%x{{n}}: {TYPE}) {{{{\n",
        f"sdy.return %r{{n}} : {TYPE}\n}}}} : ({TYPE}) -> {TYPE}\n",
    ),
    "named computation": (
        f'%r{{o}} = sdy.named_computation<"f{{n}}">(%x{{o}}) (%x{{n}}: {TYPE}) {{{{\n',
        f"sdy.return %r{{n}} : {TYPE}\n}}}} : ({TYPE}) -> {TYPE}\n",
    ),
}
"""What opens and closes a level of each kind: level `n` inside level `o`."""


def nested_regions(kind: str, depth: int, sharded: bool = True) -> str:
    """Regions inside each other, each of which computes something."""
    before, after = _REGIONS[kind]
    levels = range(1, depth + 1)
    return program(
        [
            "%i = stablehlo.constant dense<0> : tensor<i32>",
            "%one = stablehlo.constant dense<1> : tensor<i32>",
            f"%x0 = stablehlo.tanh %a : {TYPE}",
            "".join(before.format(n=n, o=n - 1) for n in levels),
            f"%r{depth} = stablehlo.negate %x{depth} : {TYPE}",
            "".join(after.format(n=n, o=n - 1) for n in reversed(levels)),
            f"return %r0 : {TYPE}",
        ],
        SHARDED if sharded else f"%a: {TYPE}",
        TYPE,
        MESH,
    )


for _kind in _REGIONS:
    for _n in (DEEP, 10_000):
        bomb(f"{_n} levels of {_kind}", cheap=False)(
            lambda kind=_kind, n=_n: nested_regions(kind, n)
        )


def _nested(name: str, open_: str, middle: str, close: str) -> None:
    for depth in (DEEP, MANY):

        def make(depth: int = depth) -> str:
            text = open_ * depth + middle + close * depth
            return program(
                [
                    f"%r = stablehlo.tanh %a {{x = {text}}} : {TYPE}",
                    f"return %r : {TYPE}",
                ]
            )

        bomb(f"{depth} levels of {name}", cheap=False)(make)


_nested("arrays", "[", "", "]")
_nested("dictionaries", "{a = ", "1", "}")
_nested("tuples", "tuple<", "i32", ">")
_nested("function types", "() -> (", "i32", ")")
_nested("complex types", "complex<", "f32", ">")
_nested("tensors", "tensor<8x", "f32", ">")
_nested("dense lists", "dense<" + "[", "1", "]" + "> : tensor<1xi32>")
_nested("parentheses of affine maps", "affine_map<(d0) -> (", "d0", ")>")
_nested("locations", 'loc("f"(', '"g"', "))")
_nested("vectors of signs", "-", "1", "")


@bomb("dense lists inside each other", cheap=False)
def _dense_lists() -> str:
    text = "[" * MANY + "1" + "]" * MANY
    return program(
        [
            f"%c = stablehlo.constant dense<{text}> : tensor<1xi32>",
            f"return %a : {TYPE}",
        ]
    )


@bomb("affine parentheses inside each other", cheap=False)
def _affine() -> str:
    text = "(" * MANY + "d0" + ")" * MANY
    return program(
        [
            f"%r = stablehlo.tanh %a {{x = affine_map<(d0) -> ({text})>}} : {TYPE}",
            f"return %a : {TYPE}",
        ]
    )


@bomb("named locations inside each other", cheap=False)
def _locations() -> str:
    text = '"f"(' * MANY + '"g"' + ")" * MANY
    return program(
        [f"%r = stablehlo.tanh %a : {TYPE} loc({text})", f"return %r : {TYPE}"]
    )


@bomb("call sites inside each other", cheap=False)
def _call_sites() -> str:
    lines = ['#l0 = loc("f":1:1)']
    lines += [f'#l{n} = loc(callsite("f":{n}:1 at #l{n - 1}))' for n in range(1, 5_000)]
    return program(
        [
            f"%q = stablehlo.custom_call @unknown(%a) : ({TYPE}) -> {TYPE} loc(#l4999)",
            f"return %q : {TYPE}",
        ],
        SHARDED,
        before="\n".join([MESH, *lines]),
    )


@bomb("aliases of each other in a long chain", cheap=False)
def _alias_chain() -> str:
    lines = ["#l0 = 1"]
    lines += [f"#l{n} = [#l{n - 1}]" for n in range(1, 20_000)]
    return program(
        [f"%r = stablehlo.tanh %a {{x = #l19999}} : {TYPE}", f"return %r : {TYPE}"],
        before="\n".join(lines),
    )


@bomb("modules inside each other", cheap=False)
def _modules() -> str:
    return "module {\n" * DEEP + program([f"return %a : {TYPE}"]) + "}\n" * DEEP


@bomb("open brackets", cheap=False)
def _open() -> str:
    return program(["[" * MANY])


@bomb("open regions", cheap=False)
def _open_regions() -> str:
    return program(['"stablehlo.case"(%i) ({\n' * MANY])
