"""Programs of shifts and pieces of a split dimension, a kind each."""

ROWS = 'sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>'
COLUMNS = 'sdy.sharding = #sdy.sharding<@mesh, [{}, {"d"}]>'
WHOLE = "sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>"


def _program(arguments: str, results: str, *lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return (
        'sdy.mesh @mesh = <["d"=8]>\n'
        f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}\n"
    )


_T = "tensor<64x4xf32>"
_X = f"%x: {_T} {{{ROWS}}}"
_R = f"{_T} {{{ROWS}}}"
_ZERO = "%z = stablehlo.constant dense<0.0> : tensor<f32>"


def _slice(name: str, start: int, end: int) -> str:
    size = end - start
    cut = f"stablehlo.slice %x [{start}:{end}, 0:4]"
    return f"%{name} = {cut} : ({_T}) -> tensor<{size}x4xf32>"


SHIFT = _program(
    _X,
    _R,
    _ZERO,
    _slice("0", 0, 63),
    "%1 = stablehlo.pad %0, %z, low = [1, 0], high = [0, 0], interior = [0, 0]"
    f" : (tensor<63x4xf32>, tensor<f32>) -> {_T}",
    f"return %1 : {_T}",
)

SHIFT_CONCATENATED = _program(
    f"%i: tensor<1x4xf32>, {_X}",
    _R,
    _slice("0", 0, 63),
    "%1 = stablehlo.concatenate %i, %0, dim = 0"
    f" : (tensor<1x4xf32>, tensor<63x4xf32>) -> {_T}",
    f"return %1 : {_T}",
)

SMOOTHNESS = _program(
    _X,
    "tensor<4xf32>",
    _ZERO,
    _slice("0", 1, 64),
    _slice("1", 0, 63),
    "%2 = stablehlo.subtract %0, %1 : tensor<63x4xf32>",
    "%3 = stablehlo.exponential %2 : tensor<63x4xf32>",
    "%4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0]"
    " : (tensor<63x4xf32>, tensor<f32>) -> tensor<4xf32>",
    "return %4 : tensor<4xf32>",
)
"""A sum over 63 rows, one fewer than there are places."""

UPDATE = _program(
    f"{_X}, %u: tensor<3x4xf32>",
    _R,
    "%c = stablehlo.constant dense<13> : tensor<i32>",
    "%i = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1xi32>",
    '%0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers ='
    " #stablehlo.scatter<update_window_dims = [0, 1],"
    " scatter_dims_to_operand_dims = [0]>}> ({",
    "^bb0(%a: tensor<f32>, %b: tensor<f32>):",
    "  %s = stablehlo.add %a, %b : tensor<f32>",
    "  stablehlo.return %s : tensor<f32>",
    f"}}) : ({_T}, tensor<1xi32>, tensor<3x4xf32>) -> {_T}",
    f"return %0 : {_T}",
)

READ = _program(
    _X,
    f"tensor<2x4xf32> {{{WHOLE}}}",
    "%c = stablehlo.constant dense<70> : tensor<i32>",
    "%0 = stablehlo.constant dense<0> : tensor<i32>",
    "%1 = stablehlo.dynamic_slice %x, %c, %0, sizes = [2, 4]"
    f" : ({_T}, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>",
    "return %1 : tensor<2x4xf32>",
)
"""The last two rows: the place that is asked for is behind them."""

COMPUTED_START = _program(
    f"{_X}, %i: tensor<i32>",
    f"tensor<2x4xf32> {{{WHOLE}}}",
    "%c = stablehlo.constant dense<5> : tensor<i32>",
    "%0 = stablehlo.constant dense<0> : tensor<i32>",
    "%1 = stablehlo.maximum %i, %c : tensor<i32>",
    "%2 = stablehlo.dynamic_slice %x, %1, %0, sizes = [2, 4]"
    f" : ({_T}, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>",
    "return %2 : tensor<2x4xf32>",
)
"""Two rows, none of them of the first five."""

SLICES = _program(
    _X,
    ", ".join([f"tensor<16x4xf32> {{{WHOLE}}}"] * 4),
    *(_slice(str(at), 16 * at, 16 * at + 16) for at in range(4)),
    f"return %0, %1, %2, %3 : {', '.join(['tensor<16x4xf32>'] * 4)}",
)

HALVES = _program(
    f"%x: tensor<4x128xf32> {{{COLUMNS}}}",
    f"tensor<4x64xf32> {{{COLUMNS}}}",
    "%0 = stablehlo.slice %x [0:4, 0:64] : (tensor<4x128xf32>) -> tensor<4x64xf32>",
    "%1 = stablehlo.slice %x [0:4, 64:128] : (tensor<4x128xf32>) -> tensor<4x64xf32>",
    "%2 = stablehlo.multiply %0, %1 : tensor<4x64xf32>",
    "return %2 : tensor<4x64xf32>",
)

WINDOWS = _program(
    f"{_X}, %k: tensor<3x1x1xf32>",
    "tensor<4xf32>",
    _ZERO,
    "%0 = stablehlo.reshape %x : (tensor<64x4xf32>) -> tensor<64x4x1xf32>",
    "%1 = stablehlo.convolution(%0, %k) dim_numbers = [0, b, f]x[0, i, o]->[0, b, f],"
    " window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    " : (tensor<64x4x1xf32>, tensor<3x1x1xf32>) -> tensor<62x4x1xf32>",
    "%2 = stablehlo.exponential %1 : tensor<62x4x1xf32>",
    "%3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0, 2]"
    " : (tensor<62x4x1xf32>, tensor<f32>) -> tensor<4xf32>",
    "return %3 : tensor<4xf32>",
)
"""A sum over what a convolution without padding makes, two rows fewer than it reads."""

_CONVOLUTION = (
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    " : (tensor<64x4x1xf32>, "
)
KERNEL_GRADIENT = _program(
    f"{_X}, %k: tensor<3x1x1xf32>",
    "tensor<3x1x1xf32>",
    "%0 = stablehlo.reshape %x : (tensor<64x4xf32>) -> tensor<64x4x1xf32>",
    "%1 = stablehlo.convolution(%0, %k) dim_numbers = [0, b, f]x[0, i, o]->[0, b, f],"
    f" window = {{}} {_CONVOLUTION}tensor<3x1x1xf32>) -> tensor<62x4x1xf32>",
    "%2 = stablehlo.tanh %1 : tensor<62x4x1xf32>",
    "%3 = stablehlo.convolution(%0, %2) dim_numbers = [0, f, b]x[0, i, o]->[0, b, f],"
    f" window = {{}} {_CONVOLUTION}tensor<62x4x1xf32>) -> tensor<3x1x1xf32>",
    "return %3 : tensor<3x1x1xf32>",
)
"""The gradient of a kernel: 62 rows are its window, three windows its places."""

WHOLE_UPDATE = _program(
    _X,
    f"tensor<64x4xf32> {{{ROWS}}}",
    "%i = stablehlo.constant dense<0> : tensor<i32>",
    "%0 = stablehlo.slice %x [0:63, 0:4] : (tensor<64x4xf32>) -> tensor<63x4xf32>",
    _ZERO,
    "%1 = stablehlo.slice %x [1:64, 0:4] : (tensor<64x4xf32>) -> tensor<63x4xf32>",
    "%d = stablehlo.reverse %1, dims = [0] : tensor<63x4xf32>",
    "%2 = stablehlo.dynamic_update_slice %d, %0, %i, %i"
    " : (tensor<63x4xf32>, tensor<63x4xf32>, tensor<i32>, tensor<i32>)"
    " -> tensor<63x4xf32>",
    "%3 = stablehlo.pad %2, %z, low = [1, 0], high = [0, 0], interior = [0, 0]"
    " : (tensor<63x4xf32>, tensor<f32>) -> tensor<64x4xf32>",
    "return %3 : tensor<64x4xf32>",
)
"""A shift whose value was put over all of another."""

_C = "tensor<62x4xf32>"
CARRY = _program(
    f"%x: {_C}",
    f"{_C}",
    _ZERO,
    "%c0 = stablehlo.constant dense<0> : tensor<i32>",
    "%c1 = stablehlo.constant dense<1> : tensor<i32>",
    "%c9 = stablehlo.constant dense<9> : tensor<i32>",
    f'%s = sdy.sharding_constraint %x <@mesh, [{{"d"}}, {{}}]> : {_C}',
    f"%0:2 = stablehlo.while(%i = %c0, %v = %s) : tensor<i32>, {_C}",
    "cond {",
    "  %c = stablehlo.compare LT, %i, %c9, SIGNED"
    " : (tensor<i32>, tensor<i32>) -> tensor<i1>",
    "  stablehlo.return %c : tensor<i1>",
    "} do {",
    f"  %1 = stablehlo.slice %v [0:56, 0:4] : ({_C}) -> tensor<56x4xf32>",
    "  %e = stablehlo.tanh %1 : tensor<56x4xf32>",
    "  %2 = stablehlo.pad %e, %z, low = [6, 0], high = [0, 0], interior = [0, 0]"
    f" : (tensor<56x4xf32>, tensor<f32>) -> {_C}",
    f"  %3 = stablehlo.add %2, %v : {_C}",
    "  %n = stablehlo.add %i, %c1 : tensor<i32>",
    f"  stablehlo.return %n, %3 : tensor<i32>, {_C}",
    "}",
    f"return %0#1 : {_C}",
)
"""A carry of 62 rows; each is added to what is made of the sixth ahead of it."""

CUT_AND_SUMMED = """
sdy.mesh @mesh = <["z"=2, "y"=3, "x"=2]>
func.func @main(
    %a: tensor<18x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {"y", "x"}]>},
    %b: tensor<2x4x18xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>},
    %c: tensor<4xf32>) -> (tensor<18x2xf32>, tensor<18xf32>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [1] x [1]
    : (tensor<18x4xf32>, tensor<2x4x18xf32>) -> tensor<18x2xf32>
  %1 = stablehlo.dot_general %c, %a, contracting_dims = [0] x [1]
    : (tensor<4xf32>, tensor<18x4xf32>) -> tensor<18xf32>
  return %0, %1 : tensor<18x2xf32>, tensor<18xf32>
}"""
"""Four columns over six devices, cut of six, and sums of them: all become frames."""
