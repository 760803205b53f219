"""A program an optimization: what it is about, and nothing else moves.

Each is global, with shardings over 2 x 4 devices, and sends less with its optimization
alone than with none.
"""

from __future__ import annotations

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def _t(shape: str, *dims: str) -> str:
    listed = ", ".join("{" + ", ".join(f'"{a}"' for a in dim) + "}" for dim in dims)
    return f"tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{listed}]>}}"


def _function(arguments: list[str], result: str, *lines: str) -> str:
    named = ", ".join(f"%{chr(97 + i)}: {type_}" for i, type_ in enumerate(arguments))
    body = "\n".join(f"  {line}" for line in lines)
    return f"{MESH}func.func @main({named}) -> ({result}) {{\n{body}\n}}\n"


def _dot(name: str, left: str, right: str) -> str:
    return (
        f"%{name} = stablehlo.dot_general %{left}, %{right}, contracting_dims = [1] x [0]"
        " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
    )


S = "tensor<8x8xf32>"
WHOLE = _t("8x8", "", "")

LATE_SUMS = _function(
    [_t("8x8", "", "y"), _t("8x8", "y", ""), _t("8x8", "y", ""), WHOLE],
    WHOLE,
    _dot("0", "a", "b"),
    f"%1 = stablehlo.add %0, %d : {S}",
    _dot("2", "a", "c"),
    f"%3 = stablehlo.add %1, %2 : {S}",
    f"return %3 : {S}",
)

EARLY_SLICES = _function(
    [_t("8x8", "", "y"), _t("8x8", "y", ""), _t("8x8", "", "y")],
    _t("8x8", "", "y"),
    _dot("0", "a", "b"),
    f"%1 = stablehlo.negate %0 : {S}",
    f"%2 = sdy.sharding_constraint %1 <@mesh, [{{}}, {{}}]> : {S}",
    f"%3 = stablehlo.add %2, %c : {S}",
    f"return %3 : {S}",
)

CHEAP_GATHERS = _function(
    [_t("8x8", "y", ""), _t("8x8", "y", "")],
    WHOLE,
    f"%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {S}",
    f"%1 = sdy.sharding_constraint %b <@mesh, [{{}}, {{}}]> : {S}",
    f"%2 = stablehlo.multiply %0, %1 : {S}",
    f"return %2 : {S}",
)

CHEAP_EXCHANGES = _function(
    [_t("8x8", "y", ""), _t("8x8", "y", "")],
    _t("8x8", "", "y"),
    f'%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{"y"}}]> : {S}',
    f'%1 = sdy.sharding_constraint %b <@mesh, [{{}}, {{"y"}}]> : {S}',
    f"%2 = stablehlo.subtract %0, %1 : {S}",
    f"return %2 : {S}",
)

JOINED_SUMS = _function(
    [_t("8x8", "", "xy")],
    "tensor<8xf32>",
    "%i = stablehlo.constant dense<0.0> : tensor<f32>",
    "%0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1]"
    f" : ({S}, tensor<f32>) -> tensor<8xf32>",
    "return %0 : tensor<8xf32>",
)

SMALL_SUMS = _function(
    [_t("8x8", "", "xy"), _t("8", "y")],
    _t("8", "y"),
    "%i = stablehlo.constant dense<0.0> : tensor<f32>",
    "%0 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [1]"
    f" : ({S}, tensor<f32>) -> tensor<8xf32>",
    "%1 = stablehlo.negate %0 : tensor<8xf32>",
    "%2 = sdy.sharding_constraint %1 <@mesh, [{}]> : tensor<8xf32>",
    "%3 = stablehlo.add %2, %b : tensor<8xf32>",
    "return %3 : tensor<8xf32>",
)

TURNED_PRODUCTS = _function(
    [WHOLE, _t("8x8", "", "y")],
    f"{_t('8x8', 'y', '')}, {WHOLE}",
    _dot("0", "a", "b"),
    f'%1 = sdy.sharding_constraint %0 <@mesh, [{{}}, {{"y"}}]> : {S}',
    f"%2 = stablehlo.negate %1 : {S}",
    f"return %2, %b : {S}, {S}",
)

SMALL_PERMUTES = _function(
    [_t("8", "x")],
    _t("8x8", "", "y").replace('"y"', '"y":(1)2'),
    "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> " + S,
    f'%1 = sdy.sharding_constraint %0 <@mesh, [{{}}, {{"x"}}]> : {S}',
    f'%2 = sdy.sharding_constraint %1 <@mesh, [{{}}, {{"y":(1)2}}]> : {S}',
    f"return %2 : {S}",
)

BEFORE = {"small-sums": ("early-slices",)}
"""Optimizations that make what another one is about."""

PROGRAMS = {
    "late-sums": LATE_SUMS,
    "early-slices": EARLY_SLICES,
    "small-sums": SMALL_SUMS,
    "turned-products": TURNED_PRODUCTS,
    "cheap-gathers": CHEAP_GATHERS,
    "cheap-exchanges": CHEAP_EXCHANGES,
    "small-permutes": SMALL_PERMUTES,
    "joined-sums": JOINED_SUMS,
}
