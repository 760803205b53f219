"""A program an optimization: what it is about, and nothing else moves.

Each is global, with shardings over 2 x 4 devices, and sends less with its optimization
alone than with none.
"""

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def typed(shape: str, *dims: str) -> str:
    """A tensor of f32 with the axes of each dimension, a letter each."""
    listed = ", ".join("{" + ", ".join(f'"{a}"' for a in dim) + "}" for dim in dims)
    return f"tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{listed}]>}}"


_t = typed


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

SUMS_ALONG_TWO_AXES = _function(
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

_SUM = (
    "stablehlo.reduce({} init: %i) applies stablehlo.add across dimensions = [1]"
    f" : ({S}, tensor<f32>) -> tensor<8xf32>"
)

SAME_VALUES = _function(
    [_t("8x8", "", "y")],
    "tensor<8xf32>",
    "%i = stablehlo.constant dense<0.0> : tensor<f32>",
    "%0 = stablehlo.negate %a : " + S,
    "%1 = " + _SUM.format("%0"),
    "%2 = stablehlo.negate %a : " + S,
    "%3 = " + _SUM.format("%2"),
    "%4 = stablehlo.multiply %1, %3 : tensor<8xf32>",
    "return %4 : tensor<8xf32>",
)


def _loop(*body: str) -> list[str]:
    """A loop that turns three times and carries a tensor on."""
    return [
        "%zero = stablehlo.constant dense<0> : tensor<i32>",
        f"%r:2 = stablehlo.while(%n = %zero, %c = %b) : tensor<i32>, {S} cond {{",
        "  %three = stablehlo.constant dense<3> : tensor<i32>",
        "  %more = stablehlo.compare LT, %n, %three, SIGNED"
        " : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        "  stablehlo.return %more : tensor<i1>",
        "} do {",
        "  %one = stablehlo.constant dense<1> : tensor<i32>",
        "  %next = stablehlo.add %n, %one : tensor<i32>",
        *(f"  {line}" for line in body),
        f"  stablehlo.return %next, %sum : tensor<i32>, {S}",
        "}",
        f"return %r#1 : {S}",
    ]


AHEAD_OF_LOOPS = _function(
    [_t("8x8", "y", ""), WHOLE],
    WHOLE,
    *_loop(
        f"%whole = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {S}",
        f"%factor = stablehlo.maximum %whole, %c : {S}",
        f"%sum = stablehlo.add %factor, %c : {S}",
    ),
)

TURN = [
    "%turn = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>",
    f"%turns = stablehlo.broadcast_in_dim %turn, dims = [] : (tensor<f32>) -> {S}",
    f"%now = stablehlo.multiply %a, %turns : {S}",
]
"""Lines of a loop: an argument that is another in each turn."""

BEHIND_LOOPS = _function(
    [_t("8x8", "", "y"), WHOLE, _t("8x8", "y", "")],
    WHOLE,
    *_loop(
        *TURN,
        "%two = stablehlo.constant dense<2.0> : tensor<8x8xf32>",
        "%product = stablehlo.dot_general %now, %f, contracting_dims = [1] x [0]"
        f" : ({S}, {S}) -> {S}",
        f"%twice = stablehlo.multiply %product, %two : {S}",
        f"%sum = stablehlo.add %c, %twice : {S}",
    ),
)

SMALL_IN_LOOPS = _function(
    [_t("8x8", "", "y"), WHOLE],
    WHOLE,
    *_loop(
        *TURN,
        "%i = stablehlo.constant dense<0.0> : tensor<f32>",
        "%row = stablehlo.reduce(%now init: %i) applies stablehlo.add across"
        f" dimensions = [1] : ({S}, tensor<f32>) -> tensor<8xf32>",
        f"%rows = stablehlo.broadcast_in_dim %row, dims = [0] : (tensor<8xf32>) -> {S}",
        f"%sum = stablehlo.add %c, %rows : {S}",
    ),
)
"""What a turn sends is an eighth of what the loop carries on."""

REDUCED_IN_LOOPS = _function(
    [_t("8x8", "y", ""), WHOLE],
    WHOLE,
    *_loop(
        "%i = stablehlo.constant dense<0.0> : tensor<f32>",
        "%row = stablehlo.reduce(%a init: %i) applies stablehlo.add across"
        f" dimensions = [1] : ({S}, tensor<f32>) -> tensor<8xf32>",
        "%whole = sdy.sharding_constraint %row <@mesh, [{}]> : tensor<8xf32>",
        f"%rows = stablehlo.broadcast_in_dim %whole, dims = [1] : (tensor<8xf32>) -> {S}",
        f"%sum = stablehlo.add %c, %rows : {S}",
    ),
)
"""What a turn sends is made by an op that has a region."""

READ_PLACES = _function(
    [_t("8x8", "y", "")],
    "tensor<1x8xf32>",
    f"%0 = stablehlo.slice %a [0:1, 0:8] : ({S}) -> tensor<1x8xf32>",
    f"%1 = stablehlo.slice %a [4:5, 0:8] : ({S}) -> tensor<1x8xf32>",
    "%2 = stablehlo.subtract %0, %1 : tensor<1x8xf32>",
    "return %2 : tensor<1x8xf32>",
)

UNUSED = _function(
    [_t("8x8", "y", ""), WHOLE],
    WHOLE,
    *_loop(
        *TURN,
        f"%whole = sdy.sharding_constraint %now <@mesh, [{{}}, {{}}]> : {S}",
        f"%sum = stablehlo.add %whole, %c : {S}",
    )[:-1],
    f"%0 = stablehlo.negate %r#1 : {S}",
    f"return %b : {S}",
)

_ROWS = "tensor<16x8xf32>"
SCATTERED_PRODUCTS = _function(
    [_t("16x8", "y", ""), _t("16x8", "y", ""), _t("16x8", "", "y")],
    f"{_t('8x8', '', 'y')}, {_t('8x8', 'y', '')}",
    f"%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {_ROWS}",
    f"%1 = stablehlo.dot_general %0, %c, contracting_dims = [0] x [0] : ({_ROWS}, {_ROWS}) -> {S}",
    f"%2 = sdy.sharding_constraint %b <@mesh, [{{}}, {{}}]> : {_ROWS}",
    f"%3 = stablehlo.dot_general %c, %2, contracting_dims = [0] x [0] : ({_ROWS}, {_ROWS}) -> {S}",
    f"return %1, %3 : {S}, {S}",
)
"""Gradients of samples that are split, by what was saved split along its features."""


def gradient(samples: int, features: int, *split: str) -> str:
    """x^T g of samples that are split: as many features of each."""
    rows, whole = f"{samples}x{features}", f"{features}x{features}"
    return _function(
        [_t(rows, "y", ""), _t(rows, "y", "")],
        _t(whole, *split),
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]"
        f" : (tensor<{rows}xf32>, tensor<{rows}xf32>) -> tensor<{whole}xf32>",
        f"%1 = sdy.sharding_constraint %0 <@mesh, [{{}}, {{}}]> : tensor<{whole}xf32>",
        f"%2 = stablehlo.negate %1 : tensor<{whole}xf32>",
        f"return %2 : tensor<{whole}xf32>",
    )


PRODUCT_OF_PRODUCT = _function(
    [_t("4x8", "y", "x"), _t("4x8", "y", ""), _t("64x8", "", "x")],
    "tensor<64x8xf32>",
    "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]"
    f" : (tensor<4x8xf32>, tensor<4x8xf32>) -> {S}",
    "%1 = stablehlo.dot_general %c, %0, contracting_dims = [1] x [0]"
    f" : (tensor<64x8xf32>, {S}) -> tensor<64x8xf32>",
    "return %1 : tensor<64x8xf32>",
)
"""A sum of products is itself what products are made of that are summed."""


JOINED_PERMUTES = _function(
    [_t("8x8", "y", "")],
    _t("8x8", "y", ""),
    "%z = stablehlo.constant dense<0.0> : tensor<f32>",
    *(
        f"%{at} = stablehlo.pad %a, %z, low = [{by}, 0], high = [{-by}, 0],"
        f" interior = [0, 0] : ({S}, tensor<f32>) -> {S}"
        for at, by in enumerate((1, 2, 7, -7))
    ),
    f"%4 = stablehlo.subtract %0, %1 : {S}",
    f"%5 = stablehlo.subtract %2, %3 : {S}",
    f"%6 = stablehlo.add %4, %5 : {S}",
    f"return %6 : {S}",
)
"""Shifts by one row and two, which go to the same devices, and to the other end and back."""

_ROW = "tensor<8xf32>"


def _sum(name: str, of: str) -> str:
    return (
        f"%{name} = stablehlo.reduce(%{of} init: %i) applies stablehlo.add across"
        f" dimensions = [0] : ({S}, tensor<f32>) -> {_ROW}"
    )


COMBINED_COLLECTIVES = _function(
    [_t("8x8", "y", ""), _t("8x8", "y", "")],
    f"{_ROW}, {_ROW}, {_ROW}, {S}, {S}",
    "%i = stablehlo.constant dense<0.0> : tensor<f32>",
    _sum("0", "a"),
    f"%1 = stablehlo.negate %0 : {_ROW}",
    f"%2 = stablehlo.broadcast_in_dim %1, dims = [1] : ({_ROW}) -> {S}",
    f"%3 = stablehlo.multiply %2, %b : {S}",
    _sum("4", "b"),
    f"%5 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {S}",
    f"%6 = stablehlo.negate %5 : {S}",
    f"%7 = stablehlo.maximum %3, %b : {S}",
    _sum("8", "7"),
    f"%9 = sdy.sharding_constraint %b <@mesh, [{{}}, {{}}]> : {S}",
    f"return %0, %4, %8, %6, %9 : {_ROW}, {_ROW}, {_ROW}, {S}, {S}",
)
"""Three sums, of which the last needs the first, and two gathers."""

GATHERED_ALONG_TWO_AXES = _function(
    [_t("8x8", "yx", "")],
    S,
    f"%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {S}",
    f"return %0 : {S}",
)

PROGRAMS = {
    "collective-dce": UNUSED,
    "narrow-all-gathers": READ_PLACES,
    "collective-cse": SAME_VALUES,
    "hoist-collectives": AHEAD_OF_LOOPS,
    "sink-collectives": BEHIND_LOOPS.replace("%c: ", "%f: ", 1),
    "sink-all-reduces": LATE_SUMS,
    "hoist-slices": EARLY_SLICES,
    "gather-product-operands": gradient(4, 8, "", ""),
    "reduce-scatter-products": SCATTERED_PRODUCTS,
    "move-all-gathers": CHEAP_GATHERS,
    "move-all-to-alls": CHEAP_EXCHANGES,
    "combine-collective-permutes": JOINED_PERMUTES,
    "combine-collectives": COMBINED_COLLECTIVES,
    "combine-all-reduces": JOINED_SUMS,
}

POSITIONS = _function(
    [_t("8x8", "y", "")],
    WHOLE,
    f"%0 = stablehlo.iota dim = 0 : {S}",
    f'%1 = sdy.sharding_constraint %0 <@mesh, [{{"y", "x"}}, {{}}]> : {S}',
    f"%2 = stablehlo.negate %1 : {S}",
    f'%3 = sdy.sharding_constraint %2 <@mesh, [{{"y"}}, {{}}]> : {S}',
    f"%4 = stablehlo.multiply %3, %a : {S}",
    f"%5 = sdy.sharding_constraint %3 <@mesh, [{{}}, {{}}]> : {S}",
    f"%6 = sdy.sharding_constraint %4 <@mesh, [{{}}, {{}}]> : {S}",
    f"%7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0] : ({S}, {S}) -> {S}",
    f"return %7 : {S}",
)

CORNER = _function(
    [_t("8x8", "", "y"), "tensor<i32>"],
    "tensor<4x6xf32>",
    f"%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {S}",
    "%1 = stablehlo.constant dense<2> : tensor<i32>",
    "%2 = stablehlo.dynamic_slice %0, %1, %b, sizes = [4, 6]"
    f" : ({S}, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>",
    "return %2 : tensor<4x6xf32>",
)

_WINDOWS = (
    "window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>,"
    " padding = dense<0> : tensor<2x2xi64>"
)
POOLED = _function(
    [_t("8x8", "y", "")],
    _t("8x8", "y", ""),
    "%i = stablehlo.constant dense<0.0> : tensor<f32>",
    f'%0 = "stablehlo.reduce_window"(%a, %i) <{{{_WINDOWS}}}> ({{',
    "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
    "  %1 = stablehlo.maximum %p, %q : tensor<f32>",
    "  stablehlo.return %1 : tensor<f32>",
    f"}}) : ({S}, tensor<f32>) -> tensor<4x8xf32>",
    "%2 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<4x8xf32>",
    f"%3 = sdy.sharding_constraint %a <@mesh, [{{}}, {{}}]> : {S}",
    f'%4 = "stablehlo.select_and_scatter"(%3, %2, %i) <{{{_WINDOWS}}}> ({{',
    "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
    "  %5 = stablehlo.compare GE, %p, %q, FLOAT"
    " : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    "  stablehlo.return %5 : tensor<i1>",
    "}, {",
    "^bb0(%p: tensor<f32>, %q: tensor<f32>):",
    "  %6 = stablehlo.add %p, %q : tensor<f32>",
    "  stablehlo.return %6 : tensor<f32>",
    f"}}) : ({S}, tensor<4x8xf32>, tensor<f32>) -> {S}",
    f"return %4 : {S}",
)

_BRANCH = [
    "  %0 = stablehlo.dot_general %a, %{}, contracting_dims = [1] x [0]"
    f" : ({S}, {S}) -> {S}",
    f"  stablehlo.return %0 : {S}",
]
ENDS = _function(
    [_t("8x8", "", "y"), _t("8x8", "y", ""), _t("8x8", "y", ""), "tensor<i1>"],
    _t("8x8", "y", ""),
    '%r = "stablehlo.if"(%d) ({',
    *(line.format("b") for line in _BRANCH),
    "}, {",
    *(line.format("c") for line in _BRANCH),
    f"}}) : (tensor<i1>) -> {S}",
    f"return %r : {S}",
)

COMBINED_BEFORE = _function(
    [_t("8x8", "", "y"), _t("8x8", "", "y"), _t("8x8", "y", "")],
    "tensor<8x8xf32>, tensor<8xf32>",
    "%i = stablehlo.constant dense<0.0> : tensor<f32>",
    "%0 = " + _SUM.format("%a"),
    "%6 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xf32>) -> " + S,
    f"%1 = stablehlo.maximum %6, %6 : {S}",
    "%2 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> " + S,
    _dot("3", "b", "c"),
    f"%4 = stablehlo.add %2, %3 : {S}",
    "%5 = " + _SUM.format("%4"),
    f"return %1, %5 : {S}, tensor<8xf32>",
)
"""A sum that is needed whole behind a broadcast, and is a term of one that is combined later."""

BIAS = _function(
    [_t("8x8", "y", ""), _t("8", "y")],
    _t("8x8", "y", ""),
    "%0 = stablehlo.negate %b : tensor<8xf32>",
    "%1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<8xf32>) -> " + S,
    f"%2 = stablehlo.exponential %1 : {S}",
    f"%3 = stablehlo.maximum %2, %1 : {S}",
    f"%4 = stablehlo.add %a, %3 : {S}",
    f"return %4 : {S}",
)
"""A vector that is split as the rows of what it is added to are."""

PART_OF_WHOLE = _function(
    [WHOLE, _t("8x8", "y", "")],
    WHOLE,
    f'%0 = sdy.sharding_constraint %a <@mesh, [{{}}, {{"y"}}]> : {S}',
    f"%1 = stablehlo.negate %0 : {S}",
    _dot("2", "1", "b"),
    f"return %2 : {S}",
)
"""A product of what devices have all of, and take their part of."""

_HEADS, _MERGED = "tensor<4x4x8x8xf32>", "tensor<16x8x8xf32>"
_BATCHED = (
    "batching_dims = [0] x [0], contracting_dims = [2] x [{}]"
    f" : ({_MERGED}, {_MERGED}) -> {_MERGED}"
)
HEADS = _function(
    [_t("4x4x8x8", "", "y", "", "")] * 3,
    _t("4x4x8x8", "", "y", "", ""),
    *(
        f"%{at} = stablehlo.reshape %{name} : ({_HEADS}) -> {_MERGED}"
        for at, name in enumerate("abc")
    ),
    f"%3 = stablehlo.dot_general %0, %1, {_BATCHED.format(2)}",
    f"%4 = stablehlo.reshape %3 : ({_MERGED}) -> {_HEADS}",
    f"%5 = stablehlo.negate %4 : {_HEADS}",
    f"%6 = stablehlo.reshape %5 : ({_HEADS}) -> {_MERGED}",
    f"%7 = stablehlo.dot_general %6, %2, {_BATCHED.format(1)}",
    f"%8 = stablehlo.reshape %7 : ({_MERGED}) -> {_HEADS}",
    f"return %8 : {_HEADS}",
)
"""Heads that are split, and merged with the batch for both products of an attention."""

_LONG, _LONG_MERGED = "tensor<2x4x2x8xf32>", "tensor<8x2x8xf32>"
_FEW, _FEW_MERGED = "tensor<2x4x2x2xf32>", "tensor<8x2x2xf32>"
SUMMED_HEADS = _function(
    [_t("2x4x2x8", "", "y", "", "x")] * 2,
    _t("2x4x2x2", "", "y", "", ""),
    f"%0 = stablehlo.reshape %a : ({_LONG}) -> {_LONG_MERGED}",
    f"%1 = stablehlo.reshape %b : ({_LONG}) -> {_LONG_MERGED}",
    "%2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0],"
    f" contracting_dims = [2] x [2] : ({_LONG_MERGED}, {_LONG_MERGED}) -> {_FEW_MERGED}",
    f"%3 = stablehlo.abs %2 : {_FEW_MERGED}",
    f"%4 = stablehlo.reshape %3 : ({_FEW_MERGED}) -> {_FEW}",
    f"return %4 : {_FEW}",
)
"""The same where the product is a sum over devices."""

_WAVES = "tensor<8x9xcomplex<f32>>"
ROWS_TRANSFORMED = _function(
    [_t("8x16", "", "y")],
    _t("8x16", "", ""),
    f"%0 = stablehlo.fft %a, type = RFFT, length = [16] : (tensor<8x16xf32>) -> {_WAVES}",
    f"%1 = stablehlo.negate %0 : {_WAVES}",
    f"%2 = stablehlo.fft %1, type = IRFFT, length = [16] : ({_WAVES}) -> tensor<8x16xf32>",
    "return %2 : tensor<8x16xf32>",
)
"""Waves are more than what they are made of, and than what is made of them."""


SUM_OF_TWO_AXES = _function(
    [_t("16x8", "xy", ""), _t("8x8", "x", "y")],
    _t("8x8", "x", "y"),
    '%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>]'
    ' out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"}'
    " (%part: tensor<2x8xf32>) {",
    "%rows = stablehlo.concatenate %part, %part, %part, %part, dim = 0"
    f" : ({', '.join(4 * ['tensor<2x8xf32>'])}) -> {S}",
    '%sum = "stablehlo.all_reduce"(%rows) <{channel_handle = #stablehlo.channel_handle'
    "<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]>"
    " : tensor<1x8xi64>, use_global_device_ids}> ({",
    "^bb0(%l: tensor<f32>, %r: tensor<f32>):",
    "%add = stablehlo.add %l, %r : tensor<f32>",
    "stablehlo.return %add : tensor<f32>",
    f"}}) : ({S}) -> {S}",
    f"sdy.return %sum : {S}",
    f"}} : (tensor<16x8xf32>) -> {S}",
    f"%1 = stablehlo.add %0, %b : {S}",
    f"return %1 : {S}",
)
"""Gradients that a shard_map sums over both axes, and that are stored in parts along each."""

CHEAPER = {
    "a sum of two axes": (SUM_OF_TWO_AXES, 448, 224),
    "a product of a product": (PRODUCT_OF_PRODUCT, 2240, 1296),
    "an operand that is a part of a whole": (PART_OF_WHOLE, 384, 192),
    "heads merged with the batch": (HEADS, 9216, 0),
    "the same with a sum": (SUMMED_HEADS, 512, 32),
    "rows of a transform": (ROWS_TRANSFORMED, 528, 480),
    "a scattered gradient": (gradient(4, 8, "y", ""), 384, 120),
    "the same along the other side": (gradient(4, 8, "", "y"), 384, 120),
    "a bias": (BIAS, 48, 24),
    "a term is combined before": (COMBINED_BEFORE, 432, 96),
    "ends of branches": (ENDS, 384, 192),
    "positions": (POSITIONS, 416, 192),
    "corner": (CORNER, 192, 96),
    "pooled": (POOLED, 192, 0),
}
"""Programs with what is sent without the optimizations and with all of them."""
