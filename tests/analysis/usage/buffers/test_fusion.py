"""What is fused takes no memory; what several products read is made once."""

from dataclasses import replace

import pytest
from xdsl.dialects.builtin import IntegerAttr

from tests.analysis.usage.compilers import TPU, TPU_MEGACORE, TPU_V6E
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.device import usage_on
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.analysis.usage.moved.traffic import HbmTraffic, times_computed
from ttxdsl.costs.compilers import Compiler
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

COMPILER = replace(TPU_MEGACORE, tile=None, stores_shared=32)

T = "tensor<64x64xf32>"
SIZE = 64 * 64 * 4


def module_of(body: str, results: str = "tensor<f32>", arguments: str = f"%x: {T}"):
    return parse_program(
        f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}", make_context()
    )


def reduce(value: str) -> str:
    return f"""
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce({value} init: %z) applies stablehlo.add across dimensions = [0, 1] : ({T}, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>"""


ROWS = "contracting_dims = [1] x [0]"
BINARY = f"({T}, {T}) -> {T}"

MEETS = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.multiply %0, %x : {T}
  %2 = stablehlo.negate %0 : {T}
  %3 = stablehlo.add %1, %2 : {T}
  %4 = stablehlo.dot_general %3, %x, {ROWS} : {BINARY}
  %5 = stablehlo.dot_general %3, %4, {ROWS} : {BINARY}"""

KERNEL = f"""
  %0 = stablehlo.custom_call @tpu_custom_call(%x) : ({T}) -> {T}
  %1 = stablehlo.custom_call @tpu_custom_call(%y) : ({T}) -> {T}
  %2 = stablehlo.add %0, %1 : {T}
  %3 = stablehlo.custom_call @tpu_custom_call(%2) : ({T}) -> {T}"""

CHAIN = f"""
  %0 = stablehlo.exponential %x : {T}
  %1 = stablehlo.multiply %0, %x : {T}
  %t = stablehlo.transpose %1, dims = [1, 0] : ({T}) -> {T}
  %2 = stablehlo.add %t, %0 : {T}"""

PRODUCTS = f"""
  %0 = stablehlo.exponential %x : {T}
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %2 = stablehlo.dot_general %0, %x, contracting_dims = [0] x [0] : ({T}, {T}) -> {T}
  %3 = stablehlo.add %1, %2 : {T}"""

TWO_READ = PRODUCTS.replace("stablehlo.exponential %x :", "stablehlo.multiply %x, %y :")

FINISHED = f"""
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %1 = stablehlo.negate %0 : {T}
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] : ({T}, {T}) -> {T}"""

BIASED = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.add %0, %y : {T}
  %i = stablehlo.constant dense<0> : tensor<64xi32>
  %2 = "stablehlo.gather"(%1, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>, indices_are_sorted = false}}> : ({T}, tensor<64xi32>) -> {T}
  %3 = stablehlo.add %1, %2 : {T}"""

ONE_PRODUCT = f"""
  %0 = stablehlo.exponential %x : {T}
  %3 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"""

LOOP = f"""
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<64> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<0.0> : {T}
  %u = stablehlo.constant dense<2.0> : tensor<1x64xf32>
  %0:2 = stablehlo.while(%j = %i, %v = %c) : tensor<i32>, {T}
  cond {{
    %p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %w = stablehlo.dynamic_update_slice %v, %u, %j, %i : ({T}, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> {T}
    %k = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %k, %w : tensor<i32>, {T}
  }}"""


@pytest.mark.parametrize(
    ("body", "value", "buffers"),
    [
        (CHAIN, "%2", 0),
        # a reduction finishes the product that it reads alone
        (ONE_PRODUCT, "%3", 0),
        # it is read as bf16, and is half of what it is made of; their sum is stored for both
        (PRODUCTS, "%3", 1.5),
        # it reads two: once is cheaper, as bf16
        (TWO_READ, "%3", 1.5),
        # a product that somebody else reads is stored beside the sum
        (
            PRODUCTS + f"\n  %4 = stablehlo.dot_general %1, %3, {ROWS} : {BINARY}",
            "%4",
            2.5,
        ),
        # what finishes a product is stored instead of it, two of them as bf16
        (FINISHED, "%3", 1),
        # for a gather, too
        (BIASED, "%3", 2),
        # the state is written where it is
        (LOOP, "%0#1", 1),
        # a sum takes the place of what a kernel made
        (KERNEL, "%3", 2),
        (KERNEL.replace("tpu_custom_call", "another"), "%3", 3),
    ],
)
def test_temporary_memory(body: str, value: str, buffers: float):
    module = module_of(body + reduce(value), arguments=f"%x: {T}, %y: {T}")
    profile = memory_profile(module, compiler=COMPILER)
    temporary = profile.peak_bytes - profile.argument_bytes
    assert buffers * SIZE <= temporary < (buffers + 0.1) * SIZE
    bound = memory_profile(module)
    assert profile.peak_bytes <= bound.peak_bytes + bound.result_bytes


@pytest.mark.parametrize(
    ("compiler", "is_fused"), [(TPU, True), (TPU_MEGACORE, False), (TPU_V6E, True)]
)
def test_probabilities_for_two_products(compiler: Compiler, is_fused: bool):
    half = T.replace("f32", "bf16")
    dot = f"contracting_dims = [1] x [0] : ({half}, {half}) -> {half}"
    module = module_of(
        f"""
        %e = stablehlo.exponential %x : {T}
        %s = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<64xf32>) -> {T}
        %p = stablehlo.divide %e, %s : {T}
        %c = stablehlo.convert %p : ({T}) -> {half}
        %0 = stablehlo.dot_general %c, %v, {dot}
        %1 = stablehlo.dot_general %v, %c, {dot}
        return %e, %0, %1 : {T}, {half}, {half}""",
        f"{T}, {half}, {half}",
        f"%x: {T}, %y: tensor<64xf32>, %v: {half}",
    )
    (convert,) = (op for op in all_ops(module) if op.name == "stablehlo.convert")
    assert Fusion(compiler).is_fused(convert) == is_fused


@pytest.mark.parametrize(
    ("compiler", "sequences", "is_fused"),
    [
        (TPU, 1, True),
        (TPU_MEGACORE, 1, False),
        (TPU_MEGACORE, 2, False),
        (TPU_V6E, 1, False),
        (TPU_V6E, 2, True),
    ],
)
@pytest.mark.parametrize("has_loss", [True, False])
def test_the_gradient_of_logits_beside_their_loss(
    compiler: Compiler, sequences: int, is_fused: bool, has_loss: bool
):
    wide, half = (f"tensor<{sequences}x64x64x{kind}>" for kind in ("f32", "bf16"))
    rows = f"tensor<{sequences}x64xf32>"
    summed = f"({wide}, tensor<f32>) -> {rows}"
    columns = f"contracting_dims = [2] x [0] : ({half}, tensor<64x8xbf16>)"
    tokens = f"contracting_dims = [0, 1] x [0, 1] : ({half}, {half})"
    loss = f"%l = stablehlo.reduce(%f init: %z) applies stablehlo.add across dimensions = [2] : {summed}"
    if not has_loss:
        loss = f"%l = stablehlo.negate %n : {rows}"
    module = module_of(
        f"""
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %f = stablehlo.convert %logits : ({half}) -> {wide}
        %e = stablehlo.exponential %f : {wide}
        %n = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [2] : {summed}
        %s = stablehlo.broadcast_in_dim %n, dims = [0, 1] : ({rows}) -> {wide}
        %p = stablehlo.divide %e, %s : {wide}
        %d = stablehlo.subtract %p, %f : {wide}
        %c = stablehlo.convert %d : ({wide}) -> {half}
        {loss}
        %0 = stablehlo.dot_general %c, %w, {columns} -> tensor<{sequences}x64x8xbf16>
        %1 = stablehlo.dot_general %c, %logits, {tokens} -> tensor<64x64xbf16>
        return %l, %0, %1 : {rows}, tensor<{sequences}x64x8xbf16>, tensor<64x64xbf16>""",
        f"{rows}, tensor<{sequences}x64x8xbf16>, tensor<64x64xbf16>",
        f"%logits: {half}, %w: tensor<64x8xbf16>",
    )
    *_, convert = (op for op in all_ops(module) if op.name == "stablehlo.convert")
    assert Fusion(compiler).is_fused(convert) == (is_fused or not has_loss)


GATHERED = """
  %0 = "stablehlo.all_gather"(%w) <{{all_gather_dim = 0 : i64, replica_groups = dense<[{group}]> : tensor<1x{size}xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> : (tensor<8x64xf32>) -> tensor<{rows}x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<64x{rows}xf32>, tensor<{rows}x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>"""


@pytest.mark.parametrize(("chip", "is_loop"), [("v5e", True), ("v5p", False)])
def test_four_chips_are_a_ring_if_the_mesh_goes_around(chip: str, is_loop: bool):
    body = GATHERED.format(group=[0, 1, 2, 3], size=4, rows=32)
    module = module_of(
        body, "tensor<64x64xf32>", "%w: tensor<8x64xf32>, %x: tensor<64x32xf32>"
    )
    module.attributes["mhlo.num_partitions"] = IntegerAttr(4, 32)
    (gather,) = (op for op in all_ops(module) if op.name == "stablehlo.all_gather")
    compiler = usage_on(module, chip).compiler
    assert compiler is not None
    assert not Fusion(compiler).is_streamed(gather)  # it computes too little
    compiler = replace(compiler, flops_while_sent=0)
    assert Fusion(compiler).is_streamed(gather) == is_loop


STEP = """
sdy.mesh @mesh = <["data"={data}, "fsdp"=4, "tensor"={tensor}]>
func.func @main(%x: tensor<64x64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data", "fsdp"}}, {{{columns}}}]>}},
    %w: tensor<64x128xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{rows}}}, {{"fsdp"}}]>}})
    -> (tensor<64x128xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data", "fsdp"}}, {{}}]>}},
        tensor<64x128xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{rows}}}, {{"fsdp"}}]>}}) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.negate %w : tensor<64x128xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<64x128xf32>
}}"""


@pytest.mark.parametrize(
    ("data", "tensor", "windows"), [(1, 1, 4), (2, 1, 1), (1, 2, 1)]
)
def test_weights_are_gathered_whole_beside_data_and_for_partial_sums(
    data: int, tensor: int, windows: int
):
    axis = '"tensor"' if tensor > 1 else ""
    text = STEP.format(data=data, tensor=tensor, columns=axis, rows=axis)
    module = parse_program(text, make_context())
    TTStableHLOPipelinePass().apply(make_context(), module)
    (product,) = (op for op in all_ops(module) if op.name == "stablehlo.dot_general")
    compiler = replace(TPU, flops_while_sent=0)
    assert Fusion(compiler).windows(product) == windows


def test_products_are_finished_along_all_ways_that_meet_again():
    module = module_of(MEETS + reduce("%5"))
    product = next(op for op in all_ops(module) if op.name == "stablehlo.dot_general")
    assert Fusion(COMPILER).is_streamed(product)


@pytest.mark.parametrize(
    ("interior", "rows", "is_fused"), [(0, 32, True), (1, 63, False)]
)
def test_what_is_put_apart_is_a_copy(interior: int, rows: int, is_fused: bool):
    """As an associative scan does with each of its levels."""
    body = f"""
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<32x64xf32>
  %1 = stablehlo.pad %0, %c, low = [0, 0], high = [{64 - rows}, 0], interior = [{interior}, 0]
      : (tensor<32x64xf32>, tensor<f32>) -> {T}
  %2 = stablehlo.add %1, %1 : {T}"""
    module = module_of(body + reduce("%2"), arguments="%x: tensor<32x64xf32>")
    (pad,) = (op for op in all_ops(module) if op.name == "stablehlo.pad")
    assert Fusion(TPU).is_fused(pad) is is_fused


@pytest.mark.parametrize("is_held_back", [False, True])
@pytest.mark.parametrize("shape", ["64x64", "4096"])
def test_what_a_checkpoint_saves_is_a_buffer(is_held_back: bool, shape: str):
    """In another shape, too, as a slice of what a loop stacked is."""
    saved = "stablehlo.optimization_barrier" if is_held_back else "stablehlo.cbrt"
    body = f"""
  %0 = stablehlo.add %x, %x : {T}
  %s = stablehlo.reshape %0 : ({T}) -> tensor<{shape}xf32>
  %b = {saved} %s : tensor<{shape}xf32>
  %1 = stablehlo.reshape %b : (tensor<{shape}xf32>) -> {T}
  %2 = stablehlo.multiply %0, %1 : {T}"""
    module = module_of(body + reduce("%2"))
    add = next(op for op in all_ops(module) if op.name == "stablehlo.add")
    assert Fusion(COMPILER).is_stored(add) is is_held_back


def test_what_several_kernels_make_is_computed_in_each():
    module = module_of(PRODUCTS + reduce("%3"))
    computed = times_computed(module, Fusion(replace(COMPILER, stores_shared=0)))
    times = {op.name.rpartition(".")[2]: count for op, count in computed.items()}
    assert times["exponential"] == 2  # in both products
    assert times["dot_general"] == times["return"] == 1


def scores(row: int, bits: str, *, scaled_first: bool = False) -> str:
    """Return a softmax of scaled scores of rows of a length, behind a product.

    They are converted before they are scaled, or `scaled_first`.
    """
    q, k, s = (
        f"tensor<8x{row}xbf16>",
        f"tensor<{row}x{row}xbf16>",
        f"tensor<8x{row}x{bits}>",
    )
    m, z = f"tensor<8x{bits}>", f"tensor<{bits}>"
    scale = f"""
  %1 = stablehlo.convert %0 : ({q}) -> {s}
  %h = stablehlo.constant dense<0.5> : {z}
  %c = stablehlo.broadcast_in_dim %h, dims = [] : ({z}) -> {s}
  %2 = stablehlo.multiply %1, %c : {s}"""
    if scaled_first:
        scale = f"""
  %h = stablehlo.constant dense<0.5> : tensor<bf16>
  %c = stablehlo.broadcast_in_dim %h, dims = [] : (tensor<bf16>) -> {q}
  %1 = stablehlo.multiply %0, %c : {q}
  %2 = stablehlo.convert %1 : ({q}) -> {s}"""
    return f"""
  %0 = stablehlo.dot_general %q, %k, {ROWS} : ({q}, {k}) -> {q}{scale}
  %i = stablehlo.constant dense<0xFF800000> : {z}
  %3 = stablehlo.reduce(%2 init: %i) applies stablehlo.maximum across dimensions = [1] : ({s}, {z}) -> {m}
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : ({m}) -> {s}
  %5 = stablehlo.subtract %2, %4 : {s}
  %6 = stablehlo.exponential %5 : {s}
  %n = stablehlo.constant dense<0.0> : {z}
  %7 = stablehlo.reduce(%6 init: %n) applies stablehlo.add across dimensions = [1] : ({s}, {z}) -> {m}
  %8 = stablehlo.broadcast_in_dim %7, dims = [0] : ({m}) -> {s}
  %9 = stablehlo.divide %6, %8 : {s}
  %10 = stablehlo.convert %9 : ({s}) -> {q}
  %11 = stablehlo.dot_general %10, %k, {ROWS} : ({q}, {k}) -> {q}
  %12 = stablehlo.reduce(%11 init: %b) applies stablehlo.add across dimensions = [0, 1] : ({q}, tensor<bf16>) -> tensor<bf16>
  return %12 : tensor<bf16>"""


@pytest.mark.parametrize(
    ("row", "scaled_first", "element_bytes"),
    [(2048, False, 4), (2048, True, 2), (4096, False, 2)],
)
def test_softmax_of_short_rows_is_one_kernel_with_its_product(
    row: int, scaled_first: bool, element_bytes: int
):
    """Its f32 exponentials are stored; of long rows, and scaled before, bf16 scores."""
    arguments = (
        f"%q: tensor<8x{row}xbf16>, %k: tensor<{row}x{row}xbf16>, %b: tensor<bf16>"
    )
    module = module_of(
        scores(row, "f32", scaled_first=scaled_first), "tensor<bf16>", arguments
    )
    profile = memory_profile(module, compiler=COMPILER)
    largest = max(v.bytes for v in profile.peak_values if v.kind == "value")
    assert largest == 8 * row * element_bytes


@pytest.mark.parametrize(
    ("row", "compiler", "is_stored"),
    [(2048, TPU, True), (1024, TPU, False), (2048, TPU_V6E, False)],
)
def test_scores_of_rotated_queries_are_stored_ahead_of_their_softmax(
    row: int, compiler: Compiler, is_stored: bool
):
    """A kernel that makes what its product reads holds 1024 elements of a row at most.

    Of bytes that move, those of twice as many that are multiplied are in no memory, either.
    """
    q, body = f"tensor<8x{row}xbf16>", scores(row, "f32")
    rotated = f"%r = stablehlo.multiply %q, %q : {q}" + body.replace("%q,", "%r,")
    arguments = f"%q: {q}, %k: tensor<{row}x{row}xbf16>, %b: tensor<bf16>"
    divided = rotated.replace("multiply %1, %c", "divide %1, %c")
    for text, expected in ((rotated, is_stored), (divided, is_stored), (body, False)):
        module = module_of(text, "tensor<bf16>", arguments)
        first = next(op for op in all_ops(module) if "dot_general" in op.name)
        fusion = Fusion(replace(compiler, core_bytes=0))
        assert fusion.is_streamed(first) is not expected
        # exponentials of stored scores are a kernel of their own, which reads those
        powers = next(op for op in all_ops(module) if "exponential" in op.name)
        is_moved = expected and text is divided
        assert bool(HbmTraffic(module, fusion).bytes(powers)) is is_moved


@pytest.mark.parametrize(
    ("row", "sequences", "group", "compiler", "is_stored"),
    [
        *((4096, 2, 1, TPU, True), (4096, 1, 1, TPU, False), (2048, 2, 1, TPU, True)),
        *((2048, 2, 1, TPU_V6E, True), (4096, 2, 4, TPU, False)),
    ],
)
def test_exponentials_of_long_rows_are_stored_beside_the_scores_of_several_sequences(
    row: int, sequences: int, group: int, compiler: Compiler, is_stored: bool
):
    """Of a single sequence the product is stored alone, as of grouped queries; of short rows they alone."""
    q, k = (f"tensor<{sequences}x2x{n}x64xf32>" for n in (f"8x{group}", row))
    s, m, z = (
        f"tensor<{sequences}x2x8x{group}{n}xf32>" for n in (f"x{row}", "", "x64")
    )
    module = module_of(
        f"""
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1],
      contracting_dims = [4] x [3] : ({q}, {k}) -> {s}
  %h = stablehlo.constant dense<0.5> : tensor<f32>
  %f = stablehlo.broadcast_in_dim %h, dims = [] : (tensor<f32>) -> {s}
  %1 = stablehlo.multiply %0, %f : {s}
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %i) applies stablehlo.maximum across dimensions = [4] : ({s}, tensor<f32>) -> {m}
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : ({m}) -> {s}
  %4 = stablehlo.subtract %1, %3 : {s}
  %5 = stablehlo.exponential %4 : {s}
  %n = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.reduce(%5 init: %n) applies stablehlo.add across dimensions = [4] : ({s}, tensor<f32>) -> {m}
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3] : ({m}) -> {s}
  %8 = stablehlo.divide %5, %7 : {s}
  %9 = stablehlo.dot_general %8, %k, batching_dims = [0, 1] x [0, 1],
      contracting_dims = [4] x [2] : ({s}, {k}) -> {z}
  return %9 : {z}""",
        z,
        f"%q: {q}, %k: {k}",
    )
    fusion = Fusion(compiler)
    first = next(op for op in all_ops(module) if "dot_general" in op.name)
    powers = next(op for op in all_ops(module) if "exponential" in op.name)
    assert fusion.is_fused(powers) is not is_stored
    assert fusion.is_streamed(first) is (row == 2048)


@pytest.mark.parametrize("value", ["%y", "%relu", "%joined"])
@pytest.mark.parametrize("added", ["%p", "%scaled", "%g", "%x"])
def test_a_product_and_what_is_added_to_it_are_one_buffer_for_several_kernels(
    value: str, added: str
):
    """As a residual sum is; what no product finishes is made by each of them."""
    body = f"""
  %p = stablehlo.dot_general %x, %y, {ROWS} : {BINARY}
  %g = stablehlo.tanh %p : {T}
  %row = stablehlo.slice %x [0:1, 0:64] : ({T}) -> tensor<1x64xf32>
  %factor = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x64xf32>) -> {T}
  %scaled = stablehlo.multiply %p, %factor : {T}
  %relu = stablehlo.maximum %y, %factor : {T}
  %rest = stablehlo.slice %x [1:64, 0:64] : ({T}) -> tensor<63x64xf32>
  %joined = stablehlo.concatenate %row, %rest, dim = 0 : (tensor<1x64xf32>, tensor<63x64xf32>) -> {T}
  %s = stablehlo.add {value}, {added} : {T}
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1] : ({T}, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> {T}
  %3 = stablehlo.multiply %s, %2 : {T}
  %4 = stablehlo.dot_general %3, %x, {ROWS} : {BINARY}
  %5 = stablehlo.add %s, %4 : {T}
  return %5 : {T}"""
    module = module_of(body, T, f"%x: {T}, %y: {T}")
    total = next(op for op in all_ops(module) if "add" in op.name)
    assert Fusion(TPU).is_fused(total) is (added not in ("%p", "%scaled"))


@pytest.mark.parametrize(
    ("row", "sequences", "compiler", "is_spread"),
    [
        *((4096, 2, TPU_V6E, True), (4096, 1, TPU_V6E, False)),
        *((2048, 2, TPU_V6E, False), (4096, 2, TPU, False)),
    ],
)
def test_masks_of_long_rows_are_stored_as_large_as_their_scores(
    row: int, sequences: int, compiler: Compiler, is_spread: bool
):
    """Beside the exponentials are scores, their factor and what the mask puts in their place."""
    q, k = f"tensor<{sequences}x8x64xf32>", f"tensor<{sequences}x{row}x64xf32>"
    wide, mask = (f"tensor<{sequences}x8x{row}x{t}>" for t in ("f32", "i1"))
    moved = f"stablehlo.transpose %p, dims = [0, 1, 2] : ({wide}) -> {wide}"
    for scaled, count in (
        ("stablehlo.multiply %t, %f", 3),
        ("stablehlo.multiply %p, %f", 3),
        ("stablehlo.abs %p", 0),
    ):
        module = module_of(
            f"""
  %p = stablehlo.dot_general %q, %k, batching_dims = [0] x [0],
      contracting_dims = [2] x [2] : ({q}, {k}) -> {wide}
  %t = {moved}
  %s = {scaled} : {wide}
  %n = stablehlo.select %m, %s, %f : {mask}, {wide}
  %d = stablehlo.subtract %n, %b : {wide}
  %0 = stablehlo.exponential %d : {wide}
  return %0 : {wide}""",
            wide,
            f"%q: {q}, %k: {k}, %m: {mask}, %f: {wide}, %b: {wide}",
        )
        (power,) = (op for op in all_ops(module) if "exponential" in op.name)
        types = [str(type_) for type_ in Fusion(compiler).beside(power)]
        assert types == ([mask, *[wide] * count] if is_spread and count else [])


def test_numbers_that_are_chosen_have_no_mask():
    number, choice = "tensor<f32>", "tensor<i1>"
    module = module_of(
        f"""
  %n = stablehlo.select %m, %x, %y : {choice}, {number}
  %d = stablehlo.subtract %n, %y : {number}
  %0 = stablehlo.exponential %d : {number}
  return %0 : {number}""",
        arguments=f"%m: {choice}, %x: {number}, %y: {number}",
    )
    (power,) = (op for op in all_ops(module) if "exponential" in op.name)
    assert Fusion(TPU_V6E).beside(power) == []


def test_scatter_of_one_element_a_row_is_a_comparison():
    rows, index = "tensor<64x1xf32>", "tensor<64x1x1xi32>"
    dims = (
        "#stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],"
        " scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],"
        " index_vector_dim = 2>"
    )
    body = f"""
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> {T}
  %1 = "stablehlo.scatter"(%0, %at, %u) <{{indices_are_sorted = false, scatter_dimension_numbers = {dims}, unique_indices = false}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({T}, {index}, {rows}) -> {T}
  %2 = stablehlo.multiply %1, %x : {T}"""
    module = module_of(
        body + reduce("%2"), arguments=f"%x: {T}, %at: {index}, %u: {rows}"
    )
    profile = memory_profile(module, compiler=COMPILER)
    assert profile.peak_bytes - profile.argument_bytes < 0.1 * SIZE


def loop(body: str, end: str) -> str:
    """A loop that carries `%acc` and reads `%s`, a layer of `%w`."""
    stack = "tensor<4x64x64xf32>"
    return f"""
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %out:3 = stablehlo.while(%i = %zero, %acc = %start, %w = %stack)
    : tensor<i32>, {T}, {stack}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %part = "stablehlo.dynamic_slice"(%w, %i, %zero, %zero)
      <{{slice_sizes = array<i64: 1, 64, 64>}}>
      : ({stack}, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %s = stablehlo.reshape %part : (tensor<1x64x64xf32>) -> {T}
    {body}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, {end}, %w : tensor<i32>, {T}, {stack}
  }}
  return %out#1 : {T}"""


def loop_buffers(body: str, end: str) -> int:
    """Return the buffers as large as a layer at the peak of a loop, beside its arguments."""
    arguments = f"%x: {T}, %stack: tensor<4x64x64xf32>"
    module = module_of(loop(body, end), T, arguments)
    return memory_profile(module, compiler=COMPILER).peak_bytes // SIZE - 5


def test_an_accumulator_is_written_in_place():
    """Two reads of it are one too many: the sum is then a buffer of its own."""
    added = loop_buffers(f"%a = stablehlo.add %acc, %s : {T}", "%a")
    twice = loop_buffers(
        f"""%a = stablehlo.add %acc, %s : {T}
    %b = stablehlo.dot_general %acc, %a, {ROWS} : {BINARY}""",
        "%a",
    )
    assert added == 1
    assert twice > added


def test_a_layer_that_several_products_read_is_stored():
    once = loop_buffers(f"%a = stablehlo.dot_general %acc, %s, {ROWS} : {BINARY}", "%a")
    twice = loop_buffers(
        f"""%b = stablehlo.dot_general %acc, %s, {ROWS} : {BINARY}
    %a = stablehlo.dot_general %b, %s, {ROWS} : {BINARY}""",
        "%a",
    )
    assert (once, twice) == (2, 3)  # of bf16


TABLE = f"""
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %zero = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> {T}
  %i = stablehlo.constant dense<0> : tensor<64x1xi32>
  %1 = "stablehlo.scatter"(%zero, %i, %x) <{{scatter_dimension_numbers =
      #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }}) : ({T}, tensor<64x1xi32>, {T}) -> {T}"""


def test_the_gradient_of_a_table_is_added_in_the_place_of_its_momentum():
    """XLA scatters into the momentum; if another op reads the gradient, it is a buffer."""
    added = f"""{TABLE}
  %m = stablehlo.multiply %y, %y : {T}
  %2 = stablehlo.add %m, %1 : {T}
  return %2 : {T}"""
    twice = added.replace("return %2", f"%3 = stablehlo.add %2, %1 : {T}\n  return %3")
    product = f"stablehlo.dot_general %y, %y, {ROWS} : {BINARY}"
    to_product = added.replace(f"stablehlo.multiply %y, %y : {T}", product).replace(
        "return %2",
        f"%3 = stablehlo.custom_call @tpu_custom_call(%2) : ({T}) -> {T}\n  return %3",
    )
    temporary = [
        memory_profile(
            module_of(body, T, f"%x: {T}, %y: {T}"), compiler=COMPILER
        ).parts.temporary
        // SIZE
        for body in (added, twice, to_product)
    ]
    assert temporary == [0, 1, 1]


def test_the_gradient_of_a_head_is_stored_for_that_of_the_embedding():
    """XLA scatters into what the product made; an addition of anything else finishes it."""
    start = f"  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}\n"
    converted = f"""{TABLE.replace("%1", "%t")}
  %h = stablehlo.convert %t : ({T}) -> {T.replace("f32", "bf16")}
  %1 = stablehlo.convert %h : ({T.replace("f32", "bf16")}) -> {T}"""
    other = f"  %1 = stablehlo.cbrt %x : {T}"
    end = f"\n  %2 = stablehlo.add %0, %1 : {T}\n  return %2 : {T}"
    streamed: list[bool] = []
    for addend in (TABLE, converted, other):
        module = module_of(start + addend + end, results=T)
        product = next(op for op in all_ops(module) if "dot_general" in op.name)
        streamed.append(Fusion(COMPILER).is_streamed(product))
    for other in ("add", "multiply"):  # to what is there, the product is added first
        behind = f"%3 = stablehlo.{other} %2, %x : {T}\n  return %3"
        module = module_of(start + TABLE + end.replace("return %2", behind), results=T)
        product = next(op for op in all_ops(module) if "dot_general" in op.name)
        streamed.append(Fusion(COMPILER).is_streamed(product))
    assert streamed == [False, True, True, False, True]


@pytest.mark.parametrize(
    ("groups", "has_gradient"), [(4, True), (4, False), (1, True), (0, True)]
)
def test_grouped_scores_are_stored_where_their_gradient_is_made(
    groups: int, has_gradient: bool
):
    """Others are one kernel with their exponentials; so are they in a forward pass."""
    group = f"{groups}x" if groups else ""
    last = 2 if groups else 1
    order, dims = ("[1, 2, 0]", "[0, 1]") if groups else ("[1, 0]", "[0]")
    q, k, s, m = (
        f"tensor<256x{group}128xbf16>",
        "tensor<2048x128xbf16>",
        f"tensor<256x{group}2048x",
        f"tensor<256x{group}f32>",
    )
    raw = f"tensor<2048x256x{group}bf16>"
    attend = f"contracting_dims = [{last}] x [0] : ({s}bf16>, {k}) -> {q}"
    body = f"""
  %0 = stablehlo.dot_general %k, %q, contracting_dims = [1] x [{last}] : ({k}, {q}) -> {raw}
  %t = stablehlo.transpose %0, dims = {order} : ({raw}) -> {s}bf16>
  %1 = stablehlo.convert %t : ({s}bf16>) -> {s}f32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %h = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> {s}f32>
  %2 = stablehlo.multiply %1, %h : {s}f32>
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %i) applies stablehlo.maximum across dimensions = [{last}] : ({s}f32>, tensor<f32>) -> {m}
  %4 = stablehlo.broadcast_in_dim %3, dims = {dims} : ({m}) -> {s}f32>
  %5 = stablehlo.subtract %2, %4 : {s}f32>
  %6 = stablehlo.exponential %5 : {s}f32>
  %n = stablehlo.constant dense<0.0> : tensor<f32>
  %7 = stablehlo.reduce(%6 init: %n) applies stablehlo.add across dimensions = [{last}] : ({s}f32>, tensor<f32>) -> {m}
  %8 = stablehlo.broadcast_in_dim %7, dims = {dims} : ({m}) -> {s}f32>
  %9 = stablehlo.divide %6, %8 : {s}f32>
  %10 = stablehlo.convert %9 : ({s}f32>) -> {s}bf16>
  %11 = stablehlo.dot_general %10, %k, {attend}
  %12 = stablehlo.dot_general %10, %v, {attend}
  %13 = stablehlo.add %11, %12 : {q}"""
    gradient = f"""
  %14 = stablehlo.multiply %6, %g : {s}f32>
  %15 = stablehlo.reduce(%14 init: %n) applies stablehlo.add across dimensions = [{last}] : ({s}f32>, tensor<f32>) -> {m}
  return %13, %15 : {q}, {m}"""
    end = gradient if has_gradient else f"\n  return %13, %7 : {q}, {m}"
    arguments = f"%k: {k}, %q: {q}, %v: {k}, %g: {s}f32>"
    module = module_of(body + end, f"{q}, {m}", arguments)
    fusion = Fusion(TPU_MEGACORE)
    stored = [op.name for op in all_ops(module) if not fusion.is_fused(op)]
    keeps_scores = groups > 1 and has_gradient
    assert ("stablehlo.exponential" in stored) is not keeps_scores
    # the probabilities of both products, never the scores in f32
    assert stored.count("stablehlo.convert") == 1
