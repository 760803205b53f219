"""One valid use of every StableHLO op that is not in `elementwise`, by family."""

from tests.catalogue.use import (
    F4,
    F46,
    I4,
    SB,
    SI,
    TOKEN,
    S,
    Uses,
    array,
    body,
    compare_body,
    groups,
    ints,
    pads,
)

USES = Uses()
use = USES.add

use("convert", (F4,), (I4,))
EQ = "comparison_direction = #stablehlo<comparison_direction EQ>"
use("compare", (F4, F4), ("tensor<4xi1>",), EQ)
use("select", ("tensor<4xi1>", F4, F4), (F4,))
use("clamp", (S, F4, F4), (F4,))
use(
    "reduce_precision", (F4,), (F4,), "exponent_bits = 5 : i32, mantissa_bits = 2 : i32"
)
QF = "tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>"
use("uniform_quantize", (F4,), (QF,))
use("uniform_dequantize", (QF,), (F4,))

use("constant", (), ("tensor<2xi32>",), "value = dense<[1, 2]> : tensor<2xi32>")
use("iota", (), (F46,), "iota_dimension = 1 : i64")
use(
    "dynamic_iota", (), (F46,), "iota_dimension = 1 : i64",
    before=ints([4, 6]), values="%k: tensor<2xi64>",
)  # fmt: skip
use("broadcast", (F4,), ("tensor<2x4xf32>",), f"broadcast_sizes = {array(2)}")
use("broadcast_in_dim", (F4,), (F46,), f"broadcast_dimensions = {array(0)}")
use(
    "dynamic_broadcast_in_dim", (F4,), (F46,),
    f"broadcast_dimensions = {array(0)}, known_nonexpanding_dimensions = {array(0)}",
    before=ints([4, 6]), values=f"%0: {F4}; %k: tensor<2xi64>",
)  # fmt: skip
use("reshape", (F46,), ("tensor<24xf32>",))
use(
    "dynamic_reshape", (F46,), ("tensor<24xf32>",),
    before=ints([24]), values=f"%0: {F46}; %k: tensor<1xi64>",
)  # fmt: skip
use("transpose", (F46,), ("tensor<6x4xf32>",), f"permutation = {array(1, 0)}")
use("reverse", (F46,), (F46,), f"dimensions = {array(0)}")
use(
    "slice", (F46,), ("tensor<2x3xf32>",),
    f"limit_indices = {array(4, 6)}, start_indices = {array(1, 0)}, "
    f"strides = {array(2, 2)}",
)  # fmt: skip
use(
    "dynamic_slice", (F46, SI, SI), ("tensor<2x3xf32>",), f"slice_sizes = {array(2, 3)}"
)
use("dynamic_update_slice", (F46, "tensor<2x3xf32>", SI, SI), (F46,))
I2 = "tensor<2xi64>"
use("real_dynamic_slice", (F46, I2, I2, I2), ("tensor<?x?xf32>",))
use(
    "concatenate", (F46, "tensor<4x2xf32>"), ("tensor<4x8xf32>",), "dimension = 1 : i64"
)
use(
    "pad", (F46, S), ("tensor<6x15xf32>",),
    f"edge_padding_high = {array(1, 2)}, edge_padding_low = {array(1, 2)}, "
    f"interior_padding = {array(0, 1)}",
)  # fmt: skip
use(
    "dynamic_pad", (F4, S), ("tensor<9xf32>",),
    before="\n".join((ints([1], "%l"), ints([1], "%h"), ints([1], "%i"))),
    values=f"%0: {F4}; %1: {S}; %l: tensor<1xi64>; %h: tensor<1xi64>; %i: tensor<1xi64>",
)  # fmt: skip
use("bitcast_convert", (F4,), ("tensor<4x4xui8>",))
use("get_dimension_size", (F46,), (SI,), "dimension = 1 : i64")
use(
    "set_dimension_size", (F46, SI),
    ("tensor<4x?xf32, #stablehlo.bounds<?, 6>>",), "dimension = 1 : i64",
)  # fmt: skip

GATHER = (
    "dimension_numbers = #stablehlo.gather<offset_dims = [2], "
    "collapsed_slice_dims = [1], operand_batching_dims = [0], "
    "start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>"
)
use(
    "gather", ("tensor<3x4x6xf32>", "tensor<3x5x1xi32>"), ("tensor<3x5x6xf32>",),
    f"{GATHER}, indices_are_sorted = false, slice_sizes = {array(1, 1, 6)}",
)  # fmt: skip
use(
    "dynamic_gather", ("tensor<3x4x6xf32>", "tensor<3x5x1xi32>"), ("tensor<3x5x6xf32>",),
    GATHER, before=ints([1, 1, 6]),
    values="%0: tensor<3x4x6xf32>; %1: tensor<3x5x1xi32>; %k: tensor<3xi64>",
)  # fmt: skip
use(
    "scatter", ("tensor<3x4x6xf32>", "tensor<3x5x1xi32>", "tensor<3x5x6xf32>"),
    ("tensor<3x4x6xf32>",),
    "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<"
    "update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], "
    "scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], "
    "index_vector_dim = 2>, unique_indices = false",
    (body("add"),),
)  # fmt: skip
use(
    "torch_index_select", (F46, "tensor<2xi32>"), ("tensor<4x2xf32>",),
    "batch_dims = 0 : i64, dim = 1 : i64",
)  # fmt: skip

DOT = (
    "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], "
    "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], "
    "rhs_contracting_dimensions = [1]>"
)
use(
    "dot_general", ("tensor<2x4x6xf32>", "tensor<2x6x3xf32>"), ("tensor<2x4x3xf32>",),
    f"{DOT}, precision_config = [#stablehlo<precision DEFAULT>, "
    "#stablehlo<precision HIGH>]",
)  # fmt: skip
use("dot", (F46, "tensor<6x3xf32>"), ("tensor<4x3xf32>",))
use(
    "einsum",
    (F46, "tensor<6x3xf32>"),
    ("tensor<4x3xf32>",),
    'einsum_config = "ab,bc->ac"',
)
use("unary_einsum", (F46,), (F4,), 'einsum_config = "ab->a"')
F33 = "tensor<3x3xf32>"
use("cholesky", (F33,), (F33,), "lower = true")
use(
    "triangular_solve", (F33, "tensor<3x2xf32>"), ("tensor<3x2xf32>",),
    "left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, "
    "unit_diagonal = false",
)  # fmt: skip
use(
    "fft", ("tensor<4x6xcomplex<f32>>",), ("tensor<4x6xcomplex<f32>>",),
    f"fft_length = {array(6)}, fft_type = #stablehlo<fft_type FFT>",
)  # fmt: skip
use(
    "fft", (F46,), ("tensor<4x4xcomplex<f32>>",),
    f"fft_length = {array(6)}, fft_type = #stablehlo<fft_type RFFT>", key="rfft",
)  # fmt: skip
use(
    "fft", ("tensor<4x4xcomplex<f32>>",), (F46,),
    f"fft_length = {array(6)}, fft_type = #stablehlo<fft_type IRFFT>", key="irfft",
)  # fmt: skip

use("reduce", (F46, S), (F4,), f"dimensions = {array(1)}", (body("add"),))
use("map", (F4, F4), (F4,), f"dimensions = {array(0)}", (body("add"),))
use("sort", (F46,), (F46,), "dimension = 1 : i64, is_stable = true", (compare_body(),))

CONV = (
    "batch_group_count = 1 : i64, "
    "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, "
    f"feature_group_count = 1 : i64, lhs_dilation = {array(1, 1)}, "
    f"padding = {pads([1, 1], [0, 0])}, rhs_dilation = {array(1, 1)}, "
    f"window_reversal = array<i1: false, false>, window_strides = {array(1, 2)}"
)
IMAGE, KERNEL = "tensor<2x8x8x4xf32>", "tensor<3x3x4x6xf32>"
use("convolution", (IMAGE, KERNEL), ("tensor<2x8x3x6xf32>",), CONV)
use(
    "dynamic_conv", (IMAGE, KERNEL), ("tensor<2x8x3x6xf32>",),
    CONV.replace(f"padding = {pads([1, 1], [0, 0])}, ", ""),
    before="%k = stablehlo.constant dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>",
    values=f"%0: {IMAGE}; %1: {KERNEL}; %k: tensor<2x2xi64>",
)  # fmt: skip
use(
    "reduce_window", (F46, S), ("tensor<3x3xf32>",),
    f"base_dilations = {array(1, 1)}, padding = {pads([0, 0], [0, 0])}, "
    f"window_dilations = {array(1, 1)}, window_dimensions = {array(2, 2)}, "
    f"window_strides = {array(1, 2)}",
    (body("maximum"),),
)  # fmt: skip
use(
    "select_and_scatter", (F46, "tensor<2x3xf32>", S), (F46,),
    f"padding = {pads([0, 0], [0, 0])}, window_dimensions = {array(2, 2)}, "
    f"window_strides = {array(2, 2)}",
    (compare_body(), body("add")),
)  # fmt: skip


def branch(values: str = "%0", types: str = F4, arguments: str = "") -> str:
    """A region of `if` or `case`."""
    head = f"\n^bb0({arguments}):" if arguments else ""
    return f"{{{head}\n  stablehlo.return {values} : {types}\n}}"


use("if", (F4, SB), (F4,), regions=(branch(), branch()), values=f"%1: {SB}")
use("case", (F4, SI), (F4,), regions=(branch(), branch()), values=f"%1: {SI}")
COND = (
    "{\n^bb0(%a: tensor<i32>):\n"
    "  %c = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "  stablehlo.return %c : tensor<i1>\n}"
)
LOOP = "{\n^bb0(%a: tensor<i32>):\n  stablehlo.return %a : tensor<i32>\n}"
use("while", (SI,), (SI,), regions=(COND, LOOP))
use("optimization_barrier", (F4, I4), (F4, I4))
use("after_all", (TOKEN, TOKEN), (TOKEN,))
use("create_token", (), (TOKEN,))

CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
TWO = f"replica_groups = {groups([0, 1], [2, 3])}"
use(
    "all_gather", (F46,), ("tensor<4x12xf32>",),
    f"all_gather_dim = 1 : i64, {CHANNEL}, {TWO}, use_global_device_ids",
)  # fmt: skip
use("all_reduce", (F46,), (F46,), f"{CHANNEL}, {TWO}", (body("add"),))
use(
    "reduce_scatter", (F46,), ("tensor<4x3xf32>",),
    f"{CHANNEL}, {TWO}, scatter_dimension = 1 : i64", (body("add"),),
)  # fmt: skip
use(
    "all_to_all", (F46,), ("tensor<2x12xf32>",),
    f"{CHANNEL}, concat_dimension = 1 : i64, {TWO}, split_count = 2 : i64, "
    "split_dimension = 0 : i64",
)  # fmt: skip
use("collective_broadcast", (F46,), (F46,), f"{CHANNEL}, {TWO}")
use(
    "collective_permute", (F46,), (F46,),
    f"{CHANNEL}, source_target_pairs = {groups([0, 1], [1, 0])}",
)  # fmt: skip
use("cross-replica-sum", (F46,), (F46,), TWO)
use("partition_id", (), ("tensor<ui32>",))
use("replica_id", (), ("tensor<ui32>",))
use("infeed", (TOKEN,), (F4, TOKEN), 'infeed_config = "", layout = [[0]]')
use("outfeed", (F4, TOKEN), (TOKEN,), 'outfeed_config = ""')
use("send", (F4, TOKEN), (TOKEN,), f"{CHANNEL}, is_host_transfer = false")
use("recv", (TOKEN,), (F4, TOKEN), f"{CHANNEL}, is_host_transfer = false")

use(
    "custom_call", (F46,), (F46,),
    'api_version = 4 : i32, backend_config = {a = 1 : i32}, call_target_name = "f", '
    "has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], "
    "output_operand_aliases = [#stablehlo.output_operand_alias<"
    "output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], "
    "result_layouts = [dense<[0, 1]> : tensor<2xindex>]",
)  # fmt: skip
G = f"func.func private @g(%x: {F4}) -> {F4} {{\n  return %x : {F4}\n}}"
use(
    "composite", (F4,), (F4,),
    'composite_attributes = {n = 1 : i64}, decomposition = @g, name = "my.op", '
    "version = 1 : i32",
    outside=G,
)  # fmt: skip
TUPLE = f"tuple<{F4}, {I4}>"
use("tuple", (F4, I4), (TUPLE,))
use("get_tuple_element", (TUPLE,), (I4,), "index = 1 : i32")
F6 = "tensor<6xf32>"
NORM = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
use("batch_norm_inference", (F46, F6, F6, F6, F6), (F46,), NORM)
use("batch_norm_training", (F46, F6, F6), (F46, F6, F6), NORM)
use("batch_norm_grad", (F46, F6, F6, F6, F46), (F46, F6, F6), NORM)
use(
    "rng", (S, S), (F46,), "rng_distribution = #stablehlo<rng_distribution NORMAL>",
    before=ints([4, 6]), values=f"%0: {S}; %1: {S}; %k: tensor<2xi64>",
)  # fmt: skip
use(
    "rng_bit_generator", ("tensor<2xui64>",), ("tensor<2xui64>", "tensor<4xui32>"),
    "rng_algorithm = #stablehlo<rng_algorithm PHILOX>",
)  # fmt: skip

SLICE = (
    "{\n^bb0(%a: tensor<4xf32>):\n"
    "  %c = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>\n"
    "  stablehlo.return %c : tensor<2xf32>\n}"
)
FUTURE = "!stablehlo.future<tensor<2xf32>>"
use("async_start", (F4,), (FUTURE,), regions=(SLICE,))
use("async_done", (FUTURE,), ("tensor<2xf32>",))
use("collective_reduce", (F46,), (F46,), f"{CHANNEL}, {TWO}", (body("add"),))
