"""Random programs of values of which devices hold parts of sums, maxima and minima."""

from random import Random

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
TYPE = "tensor<8x8xf32>"
SCALAR = "tensor<f32>"

BODIES = ("add", "maximum", "minimum", "multiply")


def _sharding(random: Random, unreduced: str | None = None) -> str:
    if unreduced is None:
        unreduced = random.choice(
            (
                "",
                "",
                '={"x"}',
                '={"y"}',
                '={"x", "y"}',
                '=max{"x"}',
                '=min{"x"}',
                '=max{"y"}',
            )
        )
    free = [axis for axis in ('"x"', '"y"') if axis not in unreduced]
    dims = ["{}", "{}"]
    if free and random.random() < 0.4:
        dims[random.randrange(2)] = f"{{{random.choice(free)}}}"
    said = f", unreduced{unreduced}" if unreduced else ""
    return f"<@mesh, [{', '.join(dims)}]{said}>"


def _attribute(sharding: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding{sharding}}}"


def _results(*shardings: str) -> str:
    return f"sdy.sharding = #sdy.sharding_per_value<[{', '.join(shardings)}]>"


def _reduced(name: str, first: str, body: str, sharding: str) -> list[str]:
    """A reduction of a dimension of one element by a body, and the shape it had."""
    return [
        f"%{name}z = stablehlo.constant dense<0.0> : {SCALAR}",
        f"%{name}r = stablehlo.reshape %{first} : ({TYPE}) -> tensor<1x8x8xf32>",
        f"%{name} = stablehlo.reduce(%{name}r init: %{name}z) applies stablehlo.{body} "
        f"across dimensions = [0] {{{_results(sharding)}}} : "
        f"(tensor<1x8x8xf32>, {SCALAR}) -> {TYPE}",
    ]


def _all_reduced(name: str, first: str, body: str, sharding: str) -> list[str]:
    return [
        f'%{name} = "stablehlo.all_reduce"(%{first}) <{{replica_groups = '
        "dense<[[0, 1]]> : tensor<1x2xi64>}> ({",
        f"^bb0(%{name}a: {SCALAR}, %{name}b: {SCALAR}):",
        f"%{name}c = stablehlo.{body} %{name}a, %{name}b : {SCALAR}",
        f"stablehlo.return %{name}c : {SCALAR}",
        f"}}) {{{_results(sharding)}}} : ({TYPE}) -> {TYPE}",
    ]


def _line(random: Random, name: str, values: dict[str, str]) -> list[str]:
    """The lines of one more value, entered in `values` with its sharding's text."""
    first, second = random.choices(list(values), k=2)
    # mostly what passes on what there is, so that programs get long
    old = values[first].partition("unreduced")[2].rstrip(">")
    keeps = random.random() < 0.7
    sharding = _sharding(random, old if keeps else None)
    values[name] = sharding
    plain = f"{{{_results(sharding)}}}"
    match random.randrange(10):
        case 0:
            return [f"%{name} = stablehlo.negate %{first} {plain} : {TYPE}"]
        case 1:
            return [f"%{name} = stablehlo.add %{first}, %{second} {plain} : {TYPE}"]
        case 2:
            return [
                f"%{name} = stablehlo.dot %{first}, %{second} {plain} : ({TYPE}, {TYPE}) -> {TYPE}"
            ]
        case 3:
            return _reduced(name, first, random.choice(BODIES), sharding)
        case 4:
            return _all_reduced(name, first, random.choice(BODIES), sharding)
        case 5 | 6:
            return [f"%{name} = sdy.reshard %{first} {sharding} : {TYPE}"]
        case 7:
            function = random.choice(("", "", "max ", "min "))
            reduced = values[name] = (
                values[first].partition(", unreduced")[0].rstrip(">") + ">"
            )
            axes = ", ".join(axis for axis in ('"x"', '"y"') if axis in old) or '"x"'
            return [
                f"%{name} = sdy.all_reduce {function}{{{axes}}} %{first} "
                f"out_sharding={reduced} : {TYPE}"
            ]
        case 8:
            values[name] = values[first]
            return [
                f"%{name} = sdy.propagation_barrier %{first} "
                f"allowed_direction=NONE : {TYPE}"
            ]
        case _:
            return [f"%{name} = call @callee(%{first}) {plain} : ({TYPE}) -> {TYPE}"]


def unreduced_program(seed: int) -> str:
    """A module of up to six ops on two arguments; often one that is to be refused."""
    random = Random(seed)
    values = {"a": _sharding(random), "b": _sharding(random)}
    arguments = ", ".join(
        f"%{name}: {TYPE} {_attribute(one)}" for name, one in values.items()
    )
    lines = [
        line
        for at in range(random.randint(1, 6))
        for line in _line(random, f"v{at}", values)
    ]
    last = list(values)[-1]
    returned = values[last] if random.random() < 0.7 else _sharding(random)
    result = _attribute(returned) if random.random() < 0.8 else ""
    crossing = random.choice(list(values.values()))
    body = "\n  ".join(lines)
    return (
        f"{MESH}func.func @main({arguments}) -> ({TYPE} {result}) {{\n  {body}\n"
        f"  return %{last} : {TYPE}\n}}\n"
        f"func.func private @callee(%a: {TYPE} {_attribute(crossing)}) -> "
        f"({TYPE} {_attribute(crossing)}) {{\n  return %a : {TYPE}\n}}\n"
    )
