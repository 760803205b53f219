"""Huge numbers in types and attributes."""

from tests.attack.bombs.meshes import on_mesh
from tests.attack.bombs.registry import HUGE, INT64, TYPE, add, one_op, program

# Types of very many elements

for _dims in (
    "1000000x1000000",
    "4611686018427387904x2",
    f"{INT64}",
    f"{INT64}x{INT64}",
    f"{2**64}",
    "9" * 400,
    "9" * 5_000,
):
    _label = _dims if len(_dims) < 50 else f"{len(_dims)} digits"
    _type = f"tensor<{_dims}xf32>"
    add(
        f"elements: {_label}",
        program(
            [
                f"%r = stablehlo.add %a, %a : {_type}",
                f"%t = stablehlo.tanh %r : {_type}",
                f"return %t : {_type}",
            ],
            f"%a: {_type}",
            _type,
        ),
    )
    add(
        f"elements of a splat: {_label}",
        program(
            [
                f"%c = stablehlo.constant dense<2.0> : {_type}",
                f"%t = stablehlo.tanh %c : {_type}",
                f"return %t : {_type}",
            ],
            "",
            _type,
        ),
    )
    add(
        f"elements of an iota: {_label}",
        one_op(f"stablehlo.iota dim = 0 : {_type}", "", _type),
    )

add("10^12 elements, split", on_mesh('["x"=4]', type_="tensor<1000000x1000000xf32>"))
add(
    "10^12 elements, split over 2^20 devices",
    on_mesh('["x"=1048576]', type_="tensor<1048576x1048576xf32>"),
)
add(
    "a product of 10^18 elements",
    one_op(
        "stablehlo.dot_general %a, %a, contracting_dims = [1] x [1]"
        " : (tensor<1000000000x1xf32>, tensor<1000000000x1xf32>)"
        " -> tensor<1000000000x1000000000xf32>",
        "%a: tensor<1000000000x1xf32>"
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}',
        "tensor<1000000000x1000000000xf32>",
        'sdy.mesh @mesh = <["x"=4]>',
    ),
)
add(
    "a prime of elements, split", on_mesh('["x"=4]', type_="tensor<999999999989x8xf32>")
)
add(
    "a reshape of many factors",
    one_op(
        "stablehlo.reshape %a : (tensor<9223372036854775783x1xf32>)"
        " -> tensor<1x9223372036854775783xf32>",
        "%a: tensor<9223372036854775783x1xf32>"
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}',
        "tensor<1x9223372036854775783xf32>",
        'sdy.mesh @mesh = <["x"=4]>',
    ),
)

# Numbers in attributes

_V = "tensor<8xf32>"
_SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
_MESH = 'sdy.mesh @mesh = <["x"=2]>'


def _numbers(name: str, text: str, result: str, arguments: str = f"%a: {_V}") -> None:
    add(name, one_op(text, arguments, result))
    split = arguments.replace(f"%a: {_V}", f"%a: {_V} {_SPLIT}")
    if split != arguments:
        add(f"{name}, split", one_op(text, split, result, _MESH))


_numbers(
    "padding of 10^12",
    f"stablehlo.pad %a, %z, low = [{HUGE}], high = [0], interior = [0]"
    f" : ({_V}, tensor<f32>) -> tensor<{HUGE + 8}xf32>",
    f"tensor<{HUGE + 8}xf32>",
    f"%a: {_V}, %z: tensor<f32>",
)
_numbers(
    "padding of 10^12 inside",
    f"stablehlo.pad %a, %z, low = [0], high = [0], interior = [{HUGE}]"
    f" : ({_V}, tensor<f32>) -> tensor<{7 * HUGE + 8}xf32>",
    f"tensor<{7 * HUGE + 8}xf32>",
    f"%a: {_V}, %z: tensor<f32>",
)
_numbers(
    "padding that cancels",
    f"stablehlo.pad %a, %z, low = [{HUGE}], high = [-{HUGE}], interior = [0]"
    f" : ({_V}, tensor<f32>) -> {_V}",
    _V,
    f"%a: {_V}, %z: tensor<f32>",
)
_numbers(
    "a slice with a huge stride",
    f"stablehlo.slice %a [0:8:{INT64}] : ({_V}) -> tensor<1xf32>",
    "tensor<1xf32>",
)
_numbers(
    "a slice from a huge place",
    f"stablehlo.slice %a [{INT64}:{INT64}] : ({_V}) -> tensor<0xf32>",
    "tensor<0xf32>",
)
_numbers("an iota along dimension 10^12", f"stablehlo.iota dim = {HUGE} : {_V}", _V)
_numbers(
    "a broadcast along dimension 10^12",
    f"stablehlo.broadcast_in_dim %a, dims = [{HUGE}] : ({_V}) -> {_V}",
    _V,
)
_numbers(
    "a broadcast to 10^12",
    f"stablehlo.broadcast_in_dim %a, dims = [1] : ({_V}) -> tensor<{HUGE}x8xf32>",
    f"tensor<{HUGE}x8xf32>",
)
_numbers(
    "a concatenation along dimension 10^12",
    f"stablehlo.concatenate %a, %a, dim = {HUGE} : ({_V}, {_V}) -> {_V}",
    _V,
)


def _window(
    size: int, stride: int, pad: tuple[int, int], base: int, dilation: int
) -> str:
    return (
        '"stablehlo.reduce_window"(%a, %z) <{'
        f"window_dimensions = array<i64: {size}>, window_strides = array<i64: {stride}>,"
        f" base_dilations = array<i64: {base}>,"
        f" window_dilations = array<i64: {dilation}>,"
        f" padding = dense<[[{pad[0]}, {pad[1]}]]> : tensor<1x2xi64>}}> ({{\n"
        "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "%s = stablehlo.add %p, %q : tensor<f32>\n"
        "stablehlo.return %s : tensor<f32>\n"
        f"}}) : ({_V}, tensor<f32>) -> "
    )


_WINDOWED = f"%a: {_V}, %z: tensor<f32>"
for _name, _arguments in {
    "a window of 10^9": (10**9, 1, (10**9 - 8, 0), 1, 1),
    "a window of 10^9 with a padding on both sides": (
        10**9,
        1,
        (10**9, 10**9 - 9),
        1,
        1,
    ),
    "a window stride of 10^18": (1, 10**18, (0, 0), 1, 1),
    "a base dilation of 10^9": (1, 1, (0, 0), 10**9, 1),
    "a window dilation of 10^18": (8, 1, (0, 7 * 10**18), 1, 10**18),
}.items():
    _size, _stride, (_low, _high), _base, _dilated = _arguments
    _all = (8 - 1) * _base + 1 + _low + _high
    _n = (_all - ((_size - 1) * _dilated + 1)) // _stride + 1
    _result = f"tensor<{max(_n, 0)}xf32>"
    _numbers(_name, _window(*_arguments) + _result, _result, _WINDOWED)

_CONVOLUTION = (
    "stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],"
    " window = {{{window}}} {{batch_group_count = {batch} : i64,"
    " feature_group_count = {features} : i64}}"
    " : (tensor<1x8x4xf32>, tensor<3x4x4xf32>) -> tensor<1x{out}x4xf32>"
)
for _name, _window_text, _out, _batch, _features in (
    ("padding", f"pad = [[{HUGE}, 0]]", HUGE + 6, 1, 1),
    ("stride", f"stride = [{INT64}]", 1, 1, 1),
    ("lhs dilation", f"lhs_dilate = [{10**9}]", 7 * 10**9 + 1 - 2, 1, 1),
    ("rhs dilation", f"rhs_dilate = [{HUGE}], pad = [[{2 * HUGE}, 0]]", 8, 1, 1),
    ("batch groups", "", 6, HUGE, 1),
    ("feature groups", "", 6, 1, HUGE),
):
    _result = f"tensor<1x{_out}x4xf32>"
    add(
        f"a convolution with huge {_name}",
        one_op(
            _CONVOLUTION.format(
                window=_window_text, batch=_batch, features=_features, out=_out
            ),
            "%a: tensor<1x8x4xf32>"
            ' {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>},'
            " %k: tensor<3x4x4xf32>",
            _result,
            _MESH,
        ),
    )

# Groups, loops, and other ops with numbers

_SUM = (
    "({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
    "%s = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n})"
)
for _name, _groups, _shape in (
    ("a replica group of 10^12", "dense<0>", f"1x{HUGE}"),
    ("replica groups of nothing", "dense<[]>", f"0x{HUGE}"),
    ("10^12 replica groups", "dense<0>", f"{HUGE}x1"),
    ("a replica far away", f"dense<{INT64}>", "1x1"),
    ("a replica before the first", "dense<-2>", "1x1"),
):
    add(
        f"an all_reduce of {_name}",
        one_op(
            f'"stablehlo.all_reduce"(%a) <{{replica_groups = {_groups}'
            f" : tensor<{_shape}xi64>}}> {_SUM} : ({_V}) -> {_V}",
            f"%a: {_V}",
            _V,
        ),
    )
add(
    "an all_reduce on a channel of 10^12",
    one_op(
        '"stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>,'
        f" channel_handle = #stablehlo.channel_handle<handle = {HUGE}, type = 1>}}>"
        f" {_SUM} : ({_V}) -> {_V}",
        f"%a: {_V}",
        _V,
    ),
)
add(
    "an all_gather of 10^12",
    one_op(
        '"stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,'
        " replica_groups = dense<[[0]]> : tensor<1x1xi64>}>"
        f" : ({_V}) -> tensor<{8 * HUGE}xf32>",
        f"%a: {_V}",
        f"tensor<{8 * HUGE}xf32>",
    ),
)
add(
    "an all_to_all of 10^12 parts",
    one_op(
        '"stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64,'
        f" concat_dimension = 0 : i64, split_count = {HUGE} : i64,"
        " replica_groups = dense<[[0]]> : tensor<1x1xi64>}>"
        f" : ({_V}) -> {_V}",
        f"%a: {_V}",
        _V,
    ),
)
add(
    "a collective_permute of 10^12 pairs",
    one_op(
        '"stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0>'
        f" : tensor<{HUGE}x2xi64>}}> : ({_V}) -> {_V}",
        f"%a: {_V}",
        _V,
    ),
)


def _loop(first: int, limit: int, step: int) -> str:
    values = f"%a: {_V} {_SPLIT}"
    return program(
        [
            f"%i = stablehlo.constant dense<{first}> : tensor<i64>",
            f"%n = stablehlo.constant dense<{limit}> : tensor<i64>",
            f"%s = stablehlo.constant dense<{step}> : tensor<i64>",
            f"%r:2 = stablehlo.while(%j = %i, %x = %a) : tensor<i64>, {_V}",
            "cond {",
            "%c = stablehlo.compare LT, %j, %n : (tensor<i64>, tensor<i64>)"
            " -> tensor<i1>",
            "stablehlo.return %c : tensor<i1>",
            "} do {",
            "%k = stablehlo.add %j, %s : tensor<i64>",
            f"%y = stablehlo.add %x, %x : {_V}",
            f"stablehlo.return %k, %y : tensor<i64>, {_V}",
            "}",
            f"return %r#1 : {_V}",
        ],
        values,
        _V,
        _MESH,
    )


add("a loop of no iterations", _loop(0, 0, 1))
add("a loop of a few long steps", _loop(-(2**63), 2**62, 2**62))

add(
    "an op of a million dimensions to sum",
    one_op(
        f"stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions ="
        f" {list(range(10_000))} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>",
        f"{_WINDOWED}",
        "tensor<f32>",
    ),
)
_numbers(
    "a gather of slices of 10^12",
    '"stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims ='
    " [1], start_index_map = [0], index_vector_dim = 1>,"
    f" slice_sizes = array<i64: {HUGE}>, indices_are_sorted = false}}>"
    f" : ({_V}, tensor<2x1xi64>) -> tensor<2x{HUGE}xf32>",
    f"tensor<2x{HUGE}xf32>",
    f"%a: {_V}, %i: tensor<2x1xi64>",
)
_numbers(
    "a gather along dimension 10^12",
    '"stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims ='
    f" [{HUGE}], start_index_map = [{HUGE}], index_vector_dim = {HUGE}>,"
    " slice_sizes = array<i64: 1>, indices_are_sorted = false}>"
    f" : ({_V}, tensor<2x1xi64>) -> tensor<2x1xf32>",
    "tensor<2x1xf32>",
    f"%a: {_V}, %i: tensor<2x1xi64>",
)
_numbers(
    "a dynamic slice of 10^12",
    f"stablehlo.dynamic_slice %a, %i, sizes = [{HUGE}] : ({_V}, tensor<i64>)"
    f" -> tensor<{HUGE}xf32>",
    f"tensor<{HUGE}xf32>",
    f"%a: {_V}, %i: tensor<i64>",
)
_numbers(
    "a sort along dimension 10^12",
    f'"stablehlo.sort"(%a) <{{dimension = {HUGE} : i64, is_stable = true}}> ({{\n'
    "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
    "%s = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    f"stablehlo.return %s : tensor<i1>\n}}) : ({_V}) -> {_V}",
    _V,
)
_numbers(
    "a Fourier transform of 10^12",
    f"stablehlo.fft %a, type = RFFT, length = [{HUGE}]"
    f" : ({_V}) -> tensor<{HUGE // 2 + 1}xcomplex<f32>>",
    f"tensor<{HUGE // 2 + 1}xcomplex<f32>>",
)
_numbers(
    "the 10^12 largest",
    f"chlo.top_k(%a, k = {HUGE}) : {_V} -> (tensor<{HUGE}xf32>, tensor<{HUGE}xi32>)",
    f"tensor<{HUGE}xf32>",
)
_numbers(
    "a precision of 10^12 bits",
    f"stablehlo.reduce_precision %a, format = e{HUGE}m{HUGE} : {_V}",
    _V,
)
_numbers(
    "random bits of 10^12",
    "stablehlo.rng_bit_generator %k, algorithm = DEFAULT"
    f" : (tensor<2xui64>) -> (tensor<2xui64>, tensor<{HUGE}xui64>)",
    "tensor<2xui64>",
    "%k: tensor<2xui64>",
)
add(
    "an integer of 10^12 bits",
    one_op(f"stablehlo.not %a : tensor<8xi{HUGE}>", f"%a: tensor<8xi{HUGE}>", "i1"),
)
add(
    "an integer of 10^6 bits",
    one_op(
        "stablehlo.not %a : tensor<8xi1000000>",
        "%a: tensor<8xi1000000>",
        "tensor<8xi1000000>",
    ),
)
add(
    "a number of 10^4 digits",
    one_op(f"stablehlo.constant dense<{'9' * 10_000}> : {_V}", "", _V),
)
add(
    "an integer of 10^4 digits",
    one_op(
        f"stablehlo.constant dense<{'9' * 10_000}> : tensor<8xi32>", "", "tensor<8xi32>"
    ),
)
add(
    "a float of a huge exponent",
    one_op(f"stablehlo.constant dense<1.0e{'9' * 100}> : {_V}", "", _V),
)
add(
    "an attribute of 10^4 digits",
    program(
        [
            f"%r = stablehlo.tanh %a {{x = {'9' * 10_000} : i64}} : {TYPE}",
            f"return %r : {TYPE}",
        ]
    ),
)
add(
    "hexadecimal digits, very many",
    one_op(f"stablehlo.constant dense<0x{'F' * 10_000}> : {_V}", "", _V),
)
add(
    "a result number of 10^12",
    program([f"%r:{HUGE} = stablehlo.tanh %a : {TYPE}", f"return %r#0 : {TYPE}"]),
)
add(
    "a use of result 10^12",
    program([f"%r = stablehlo.tanh %a : {TYPE}", f"return %r#{HUGE} : {TYPE}"]),
)
add(
    "a use of result 10^12 before its definition",
    program(
        [
            f"%q = stablehlo.tanh %r#{HUGE} : {TYPE}",
            f"%r = stablehlo.tanh %a : {TYPE}",
            f"return %r : {TYPE}",
        ]
    ),
)
add(
    "a location far away",
    program(
        [
            f'%r = stablehlo.tanh %a : {TYPE} loc("f.py":{10**30}:{10**30})',
            f"%q = stablehlo.custom_call @unknown(%r) : ({TYPE}) -> {TYPE}"
            f' loc("f.py":{10**30}:{10**30})',
            f"return %q : {TYPE}",
        ]
    ),
)
add(
    "a quantized type of 10^12 scales",
    one_op(
        "stablehlo.uniform_dequantize %a : (tensor<8x!quant.uniform<i8:f32,"
        f" {1.5e300}:{HUGE}>>) -> {_V}",
        f"%a: tensor<8x!quant.uniform<i8:f32, {1.5e300}:{HUGE}>>",
        _V,
    ),
)
add(
    "a sharding group of 10^18",
    program(
        [f"sdy.sharding_group %a group_id = {10**18} : {TYPE}", f"return %a : {TYPE}"]
    ),
)
for _priority in (10**9, 10**18):
    add(
        f"a priority of {_priority}", on_mesh('["x"=2]', f'[{{"x"}}p{_priority}, {{}}]')
    )
add(
    "a sharding rule of a huge factor",
    program(
        [
            f"%r = stablehlo.custom_call @f(%a) {{sdy.sharding_rule ="
            f" #sdy.op_sharding_rule<([i, j])->([i, j]) {{i={HUGE}, j=8}}, custom>}}"
            f" : ({TYPE}) -> {TYPE}",
            f"return %r : {TYPE}",
        ]
    ),
)
add(
    "a sharding rule of factor z_(10^12)",
    program(
        [
            f"%r = stablehlo.custom_call @f(%a) {{sdy.sharding_rule ="
            f" #sdy.op_sharding_rule<([z_{HUGE}, j])->([z_{HUGE}, j])"
            f" {{z_{HUGE}=8, j=8}}, custom>}} : ({TYPE}) -> {TYPE}",
            f"return %r : {TYPE}",
        ]
    ),
)
