"""Layouts that convolutions and products ask for, and what copies they take."""

from dataclasses import replace
from pathlib import Path

import pytest
from xdsl.dialects.builtin import bf16
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import ttxdsl
from tests.analysis.usage.compilers import TPU
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.kernels import scratch_types
from ttxdsl.analysis.usage.buffers.layouts import (
    Layouts,
    splits_features,
    uses,
    written_in_place,
)
from ttxdsl.analysis.usage.memory import MemoryProfile, memory_profile
from ttxdsl.costs.compilers import Compiler
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

IMAGES = "tensor<16x256x256x64xbf16>"
KERNEL = "tensor<3x3x64x64xbf16>"

CONVOLUTION = f"""
func.func @main(%x: {IMAGES}, %w: {KERNEL}) -> {IMAGES} {{
  %0 = stablehlo.negate %x : {IMAGES}
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({IMAGES}, {KERNEL}) -> {IMAGES}
  return %1 : {IMAGES}
}}
"""

EXCHANGE = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<2x64xf32> {
  %0 = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<8x16xf32>) -> tensor<2x64xf32>
  return %0 : tensor<2x64xf32>
}
"""

CACHE = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%x: tensor<64x128x8x128xi8> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{"x"}}, {{}}]>, {donated}}})
    -> tensor<64x128x8x128xi8> {{
  %0 = stablehlo.add %x, %x : tensor<64x128x8x128xi8>
  return %0 : tensor<64x128x8x128xi8>
}}
"""


def profile_of(text: str) -> MemoryProfile:
    return memory_profile(parse_program(text, make_context()), compiler=TPU)


@pytest.mark.parametrize(("others", "is_stored"), [(1, True), (0, False)])
def test_what_convolutions_read_is_stored_if_it_takes_two_reads(
    others: int, is_stored: bool
):
    """A residual sum of two buffers is, what is made of one is made again by both."""
    line = next(line for line in CONVOLUTION.splitlines() if "%1 =" in line)
    text = CONVOLUTION.replace(f"%x: {IMAGES},", f"%x: {IMAGES}, %y: {IMAGES},")
    text = text.replace("negate %x", "add %x, " + ("%x", "%y")[others])
    text = text.replace(line, f"{line}\n{line.replace('%1', '%2')}")
    module = parse_program(text, make_context())
    (maker,) = (op for op in all_ops(module) if isinstance(op, stablehlo.AddOp))
    assert Fusion(TPU).is_stored(maker) == is_stored


@pytest.mark.parametrize(("readers", "is_fused"), [(1, True), (2, False)])
def test_the_parts_of_what_is_joined_for_several_convolutions_are_stored(
    readers: int, is_fused: bool
):
    """The gradient of the weights is another one; no part needs to fit tiles."""
    wide = of_convolutions("concatenate %c, %y, dim = 3", readers)
    narrow = wide.replace("128x", "64x").replace("256x", "128x")
    for is_wide, text in ((True, wide), (False, narrow)):
        module = parse_program(text, make_context())
        fused = {op.name: Fusion(TPU).is_fused(op) for op in all_ops(module)}
        assert fused["stablehlo.cbrt"] is is_fused
        assert fused["stablehlo.concatenate"] is (is_wide or not is_fused)


def test_what_is_converted_for_several_convolutions_is_read_wide():
    """It is one value to read, of twice its bytes."""
    module = parse_program(of_convolutions("convert %c"), make_context())
    (narrow,) = (op for op in all_ops(module) if "convert" in op.name)
    assert Fusion(TPU).is_fused(narrow)


def of_convolutions(made: str, readers: int = 2) -> str:
    """Return a program whose convolutions read what one op makes."""
    half, wide = (f"tensor<8x64x64x{size}xbf16>" for size in (128, 256))
    single = wide.replace("bf16", "f32")
    kernel = "tensor<3x3x256x256xbf16>"
    types, read = f"({half}, {half})", f"%x : {half}"
    if made.startswith("convert"):
        types, read = f"({single})", f"%z : {single}"
    convolutions = "".join(
        f"%{n} = stablehlo.convolution(%0, %w) dim_numbers ="
        " [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        f" : ({wide}, {kernel}) -> {wide}\n"
        for n in range(1, readers + 1)
    )
    return f"""
func.func @main(%x: {half}, %y: {half}, %z: {single}, %w: {kernel}) -> ({wide}, {wide}) {{
  %c = stablehlo.cbrt {read}
  %0 = stablehlo.{made} : {types} -> {wide}
  {convolutions}
  return %1, %{readers} : {wide}, {wide}
}}"""


@pytest.mark.parametrize("groups", [16, 128])
def test_features_that_are_split_for_groups_are_stored_as_they_are_read(groups: int):
    """16 columns would be padded to 128."""
    parts = f"tensor<8x64x64x{256 // groups}x{groups}xbf16>"
    text = of_convolutions("reshape %a").replace("%z:", f"%p: {parts}, %z:")
    text = text.replace(
        "  %c = stablehlo.cbrt",
        f"  %a = stablehlo.add %p, %p : {parts}\n  %c = stablehlo.cbrt",
    ).replace("(tensor<8x64x64x128xbf16>, tensor<8x64x64x128xbf16>)", f"({parts})")
    module = parse_program(text, make_context())
    (total,) = (op for op in all_ops(module) if isinstance(op, stablehlo.AddOp))
    stored = Layouts(module, TPU).stored_bytes(total.result, bf16, (8, 128))
    assert stored == 8 * 64 * 64 * 256 * 2


def test_convolutions_have_features_or_the_batch_along_columns():
    module = parse_program(CONVOLUTION, make_context())
    (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.ConvolutionOp))
    columns = Layouts(module, TPU).columns
    assert columns(op.result) == columns(op.lhs) == {0, 3}
    # through the negation, too
    assert columns(op.lhs.owner.operands[0]) == {0, 3}


def test_an_argument_is_copied_to_the_layout_of_its_convolution():
    compact = 16 * 256 * 256 * 64 * 2
    profile = profile_of(CONVOLUTION)
    copies = [v for v in profile.peak_values if v.bytes == 2 * compact]
    # the copy of the argument; the result has a layout of its own
    assert "value" in {copy.kind for copy in copies}


@pytest.mark.parametrize(
    ("groups", "windows", "columns"),
    [([range(8)], 8, {0}), ([range(8), range(8, 16)], 1, {0, 3})],
)
def test_convolutions_whose_weights_are_gathered_are_windows_of_features(
    groups: list[range], windows: int, columns: set[int]
):
    """Eight features a window take the columns of a tile, and 64 images are less."""
    images, part = IMAGES.replace("16x", "64x", 1), KERNEL.replace("64", "8", 1)
    module = parse_program(
        f"""
func.func @main(%x: {images}, %p: {part}) -> {images} {{
  %w = "stablehlo.all_gather"(%p) <{{all_gather_dim = 2 : i64, replica_groups = dense<{[*map(list, groups)]}> : tensor<{len(groups)}x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> : ({part}) -> {KERNEL}
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({images}, {KERNEL}) -> {images}
  return %1 : {images}
}}
""",
        make_context(),
    )
    (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.ConvolutionOp))
    fusion = Fusion(TPU)
    assert fusion.windows(op) == windows
    assert Layouts(module, TPU, fusion.windows).columns(op.lhs) == columns


@pytest.mark.parametrize(
    ("groups", "size", "columns", "is_stored"),
    [
        *((1, 8, {0}, True), (4, 4, {0, 3}, True)),
        *((2, 4, {0, 3}, False), (4, 8, {0, 3}, False)),
    ],
)
def test_gradients_of_convolutions_are_scattered_by_features(
    groups: int, size: int, columns: set[int], is_stored: bool
):
    """In windows, or by as many groups as each has devices, of which each cuts the images."""
    images, part = IMAGES.replace("16x", "64x", 1), f"tensor<3x3x{64 // size}x64xbf16>"
    devices = [[*range(n * size, (n + 1) * size)] for n in range(groups)]
    module = parse_program(
        f"""
sdy.mesh @mesh = <["other"={groups}, "fsdp"={size}]>
func.func @main(%x: {images}, %g: {images}) -> {part} {{
  %c = stablehlo.cbrt %x : {images}
  %e = stablehlo.exponential %g : {images}
  %0 = stablehlo.convolution(%c, %e) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({images}, {images}) -> {KERNEL}
  %1 = "stablehlo.reduce_scatter"(%0) <{{scatter_dimension = 2 : i64, replica_groups = dense<{devices}> : tensor<{groups}x{size}xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> ({{
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }}) : ({KERNEL}) -> {part}
  return %1 : {part}
}}
""",
        make_context(),
    )
    (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.ConvolutionOp))
    fusion = Fusion(TPU)
    assert fusion.windows(op) == (8 if groups == 1 else 1)
    layouts = Layouts(module, TPU, fusion.windows)
    assert layouts.columns(op.lhs) == columns
    # whole features are laid out as nobody cuts them
    assert layouts.columns(op.rhs) == {0, 3}
    images_maker, gradients_maker = op.lhs.owner, op.rhs.owner
    assert isinstance(images_maker, Operation)
    assert isinstance(gradients_maker, Operation)
    assert fusion.is_fused(images_maker) is not is_stored
    assert fusion.is_fused(gradients_maker) is (groups > 1)


@pytest.mark.parametrize("patches", [196, 256])
def test_scores_have_a_dimension_of_their_matrix_along_columns(patches: int):
    # 128 images would fit the columns without padding
    x = f"tensor<128x{patches}x64xf32>"
    scores = f"tensor<128x{patches}x{patches}xf32>"
    profile = profile_of(
        f"""
        func.func @main(%a: {x}) -> {scores} {{
          %s = stablehlo.dot_general %a, %a, batching_dims = [0] x [0],
            contracting_dims = [2] x [2] : ({x}, {x}) -> {scores}
          %e = stablehlo.exponential %s : {scores}
          return %e : {scores}
        }}
        """
    )
    assert profile.parts.outputs == 128 * patches * 256 * 4


def test_parts_of_an_all_to_all_are_contiguous():
    module = parse_program(EXCHANGE, make_context())
    (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.AllToAllOp))
    # it splits the first dimension, and joins the second
    assert [kind.get_shape() for kind in scratch_types(op)] == [(2, 64)]


@pytest.mark.parametrize(
    "donated", ["jax.buffer_donor = true", "tf.aliasing_output = 0 : i32"]
)
def test_a_result_is_laid_out_as_its_part_on_a_device(tmp_path: Path, donated: str):
    # one head of eight a device is not padded to the rows that eight of them fill
    (tmp_path / "step.mlir").write_text(CACHE.format(donated=donated))
    module = ttxdsl.load(tmp_path / "step.mlir").partition().module
    parts = memory_profile(module, compiler=TPU).parts
    part = 64 * 128 * 128
    assert (parts.arguments, parts.outputs, parts.aliased) == (part, part, part)


WHOLE = "tensor<8x32x32x64xf32>"
GROUPS = "tensor<8x32x32x16x4xf32>"
STATISTICS = "tensor<8x16xf32>"
NORMALIZED = f"""
func.func @main(%x: {WHOLE}, %w: tensor<3x3x64x64xf32>) -> {WHOLE} {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({WHOLE}, tensor<3x3x64x64xf32>) -> {WHOLE}
  %1 = stablehlo.negate %0 : {WHOLE}
  %2 = stablehlo.reshape %1 : ({WHOLE}) -> {GROUPS}
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1, 2, 4] : ({GROUPS}, tensor<f32>) -> {STATISTICS}
  %k = stablehlo.constant dense<4096.0> : tensor<f32>
  %n = stablehlo.subtract %k, %z : tensor<f32>
  %c = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<f32>) -> {STATISTICS}
  %m = stablehlo.divide %3, %c : {STATISTICS}
  %4 = stablehlo.broadcast_in_dim %m, dims = [0, 3] : ({STATISTICS}) -> {GROUPS}
  %5 = stablehlo.subtract %2, %4 : {GROUPS}
  %6 = stablehlo.reshape %5 : ({GROUPS}) -> {WHOLE}
  %7 = stablehlo.cbrt %6 : {WHOLE}
  return %7 : {WHOLE}
}}
"""


def test_features_of_a_convolution_that_are_split_are_a_copy():
    """What joins them again is made of what the convolution stored."""
    module = parse_program(NORMALIZED, make_context())
    split, join = (op for op in all_ops(module) if isinstance(op, stablehlo.ReshapeOp))
    assert splits_features(split)
    assert not splits_features(join)
    (convolution,) = (
        op for op in all_ops(module) if isinstance(op, stablehlo.ConvolutionOp)
    )
    profile = memory_profile(module, compiler=TPU)
    values = {live.value: live.bytes for live in profile.peak_values}
    # 16 groups of 4: the 32 columns of an image are wider than either
    assert values[split.results[0]] == 8 * 32 * 64 * 128 * 4
    *_, last = (point for point in profile.points if point.op.name.endswith("cbrt"))
    (stored,) = (point for point in profile.points if point.op is convolution)
    assert 0 <= last.bytes - stored.bytes < 1 << 14  # the statistics


def test_split_features_end_with_their_statistics():
    """What joins them again, far away, reads what the convolution stored."""
    between = f"  %8 = stablehlo.custom_call @f(%x) : ({WHOLE}) -> {WHOLE}\n  %5 = "
    text = NORMALIZED.replace("  %5 = ", between).replace("cbrt %6", "add %6, %8")
    module = parse_program(text, make_context())
    profile = memory_profile(module, compiler=TPU)
    bytes_at = {point.op.name: point.bytes for point in profile.points}
    other = bytes_at["stablehlo.custom_call"] - bytes_at["stablehlo.convolution"]
    result = 8 * 32 * 32 * 128 * 4  # 64 features take the columns of a tile
    assert 0 <= other - result < 1 << 14


def test_features_that_are_split_for_means_are_no_copy():
    """What sums are divided by is a constant; `jnp.var` subtracts from a count."""
    text = NORMALIZED.replace("dim %n,", "dim %k,")
    module = parse_program(text, make_context())
    split, _ = (op for op in all_ops(module) if isinstance(op, stablehlo.ReshapeOp))
    assert not splits_features(split)


def test_rows_of_a_table_are_a_copy_for_gathers_alone():
    table, rows = "tensor<65536x64xf32>", "tensor<1024x64xf32>"
    text = f"""
func.func @main(%t: {table}, %i: tensor<1024x1xi32>) -> ({rows}, {table}) {{
  %0 = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}}> : ({table}, tensor<1024x1xi32>) -> {rows}
  %1 = stablehlo.cbrt %t : {table}
  return %0, %1 : {rows}, {table}
}}
"""
    gather, update, _ = profile_of(text).points
    assert gather.bytes - update.bytes == 65536 * 128 * 4  # 64 of 128 columns


TABLES = "tensor<2x64x64xf32>"
BATCHES = "input_batching_dims = [0], scatter_indices_batching_dims = [0],"


def scattered(dims: str) -> str:
    return f"""
      %s = "stablehlo.scatter"(%t, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{dims}>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %r = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %r : tensor<f32>
      }}) : ({TABLES}, tensor<2x8x1xi32>, tensor<2x8x64xf32>) -> {TABLES}"""


@pytest.mark.parametrize(
    ("maker", "is_written_over"),
    [
        (f"%s = stablehlo.cbrt %t : {TABLES}", True),
        (
            scattered(
                "update_window_dims = [2], inserted_window_dims = [1],"
                f"{BATCHES} scatter_dims_to_operand_dims = [1], index_vector_dim = 2"
            ),
            False,
        ),
        (
            f"""
            %zero = stablehlo.constant dense<0> : tensor<i32>
            %n, %s = stablehlo.while(%at = %zero, %v = %t) : tensor<i32>, {TABLES}
            cond {{
              %p = stablehlo.compare LT, %at, %at : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %p : tensor<i1>
            }} do {{
              %w = stablehlo.cbrt %v : {TABLES}
              stablehlo.return %at, %w : tensor<i32>, {TABLES}
            }}""",
            False,
        ),
    ],
    ids=["elementwise", "tables", "loop"],
)
def test_a_sum_writes_over_what_its_operand_alone_is(maker: str, is_written_over: bool):
    module = parse_program(
        f"""
        func.func @main(%t: {TABLES}, %i: tensor<2x8x1xi32>, %u: tensor<2x8x64xf32>) -> {TABLES} {{
          {maker}
          %sum = "stablehlo.all_reduce"(%s) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %r = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %r : tensor<f32>
          }}) : ({TABLES}) -> {TABLES}
          return %sum : {TABLES}
        }}
        """,
        make_context(),
    )
    (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.AllReduceOp))
    assert bool(written_in_place(op)) == is_written_over


@pytest.mark.parametrize("dim", [0, 1])
def test_what_is_added_to_tables_is_summed_whole_before_their_rows_are_cut(dim: int):
    dims = (
        "update_window_dims = [2], inserted_window_dims = [1],"
        f"{BATCHES} scatter_dims_to_operand_dims = [1], index_vector_dim = 2"
    )
    part = f"tensor<{2 // (2 - dim)}x{64 // (1 + dim)}x64xf32>"
    module = parse_program(
        f"""
        func.func @main(%t: {TABLES}, %i: tensor<2x8x1xi32>, %u: tensor<2x8x64xf32>) -> {part} {{
          {scattered(dims)}
          %sum = "stablehlo.reduce_scatter"(%s) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = {dim} : i64}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %r = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %r : tensor<f32>
          }}) : ({TABLES}) -> {part}
          return %sum : {part}
        }}
        """,
        make_context(),
    )
    (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.ReduceScatterOp))
    assert [str(kind) for kind in Fusion(TPU).beside(op)] == [TABLES] * dim


ROWS = """
func.func @main(%t: tensor<1024x4xf32>, %i: tensor<64x64xi32>) -> {result} {{
  %0 = stablehlo.negate %t : tensor<1024x4xf32>
  %1 = "stablehlo.gather"(%0, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}}> : (tensor<1024x4xf32>, tensor<64x64xi32>) -> tensor<64x64x4xf32>
  %2 = {op} : {result}
  %3 = "stablehlo.sort"(%2) <{{dimension = 0 : i64, is_stable = false}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }}) : ({result}) -> {result}
  return %3 : {result}
}}
"""


def test_narrow_rows_that_a_gather_moves_lie_along_columns():
    result = "tensor<64x64x4xf32>"
    profile = profile_of(ROWS.format(op="stablehlo.cbrt %1", result=result))
    assert 64 * 64 * 128 * 4 in [value.bytes for value in profile.peak_values]


def test_rows_that_are_transposed_are_a_copy_in_a_layout_of_its_own():
    """Columns of whole tiles stay as they are, and who reads them takes the transpose in."""
    for width, is_copy in ((4, True), (256, False)):
        rows, columns = f"tensor<64x{width}xf32>", f"tensor<{width}x64xf32>"
        module = parse_program(
            f"""
            func.func @main(%t: tensor<1024x{width}xf32>, %i: tensor<64xi32>) -> {columns} {{
              %0 = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<
                  offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
                  index_vector_dim = 1>, slice_sizes = array<i64: 1, {width}>,
                  indices_are_sorted = false}}>
                : (tensor<1024x{width}xf32>, tensor<64xi32>) -> {rows}
              %1 = stablehlo.transpose %0, dims = [1, 0] : ({rows}) -> {columns}
              %2 = stablehlo.cbrt %1 : {columns}
              return %2 : {columns}
            }}
            """,
            make_context(),
        )
        (op,) = (op for op in all_ops(module) if isinstance(op, stablehlo.TransposeOp))
        assert Fusion(TPU).is_fused(op) is not is_copy


def test_kernels_read_and_write_their_dimensions_in_order():
    """Heads of 64 take the columns of a tile; another op stores the positions along them."""
    heads = "tensor<2x16x1024x64xbf16>"
    text = """
func.func @main(%x: {heads}) -> {heads} {{
  %0 = stablehlo.negate %x : {heads}
  %1 = {call}(%0) : ({heads}) -> {heads}
  return %1 : {heads}
}}
"""
    for target, padding in (("tpu_custom_call", 2), ("another", 1)):
        call = f"stablehlo.custom_call @{target}"
        module = parse_program(text.format(heads=heads, call=call), make_context())
        (negate,) = (op for op in all_ops(module) if op.name == "stablehlo.negate")
        stored = Layouts(module, TPU).stored_bytes(negate.results[0], bf16, (8, 128))
        assert stored == padding * 2 * 16 * 1024 * 64 * 2


def test_a_barrier_gives_each_value_to_its_own_readers():
    text = """
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<4xf32>
  %1 = stablehlo.negate %0#0 : tensor<4xf32>
  %2 = stablehlo.cosine %0#1 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}"""
    function = parse_program(text, make_context()).body.block.first_op
    assert isinstance(function, FuncOp)
    readers = [[op.name for op, _ in uses(v)] for v in function.body.block.args]
    assert readers == [["stablehlo.negate"], ["stablehlo.cosine"]]


def tied(columns: int, vocab: int = 4096) -> str:
    """An embedding that is the head, too: both gradients, added, and its update beside others."""
    table, narrow = f"tensor<{vocab}x{columns}xf32>", f"tensor<{vocab}x{columns}xbf16>"
    rows = f"tensor<64x{columns}xbf16>"
    return f"""
func.func @main(%w: {table}, %m: {table}, %rest: tensor<4096x4096xf32>, %i: tensor<64x1xi32>,
    %l: tensor<64x{vocab}xbf16>, %h: {rows}) -> ({table}, {table}, {rows}) {{
  %b = stablehlo.convert %w : ({table}) -> {narrow}
  %x = "stablehlo.gather"(%b, %i) <{{dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, {columns}>}}>
      : ({narrow}, tensor<64x1xi32>) -> {rows}
  %y = stablehlo.cbrt %x : {rows}
  %d = stablehlo.dot_general %l, %h, contracting_dims = [0] x [0]
      : (tensor<64x{vocab}xbf16>, {rows}) -> {narrow}
  %z = stablehlo.constant dense<0.0> : {narrow}
  %s = "stablehlo.scatter"(%z, %i, %y) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
    ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
      %t = stablehlo.add %p, %q : tensor<bf16>
      stablehlo.return %t : tensor<bf16>
  }}) : ({narrow}, tensor<64x1xi32>, {rows}) -> {narrow}
  %g = stablehlo.add %s, %d : {narrow}
  %f = stablehlo.convert %g : ({narrow}) -> {table}
  %n = stablehlo.add %m, %f : {table}
  %u = stablehlo.subtract %w, %n : {table}
  return %u, %n, %y : {table}, {table}, {rows}
}}"""


@pytest.mark.parametrize(
    ("columns", "copied"),
    [(128, False), (80, True), (64, False)],
    ids=["no padding", "1.6 times", "twice"],
)
def test_a_tied_embedding_and_its_moments_are_copied_row_by_row(
    columns: int, copied: bool
):
    """With few columns its arguments have them along the rows of tiles, where they need no padding."""
    module = parse_program(tied(columns), make_context())
    middle = next(op for op in all_ops(module) if isinstance(op, stablehlo.CbrtOp))

    def bytes_at_middle(compiler: Compiler) -> int:
        points = memory_profile(module, compiler=compiler).points
        return next(point.bytes for point in points if point.op is middle)

    before = replace(TPU, updates_rows=False)
    copies = 2 * 4096 * 128 * 4 if copied else 0
    assert bytes_at_middle(TPU) - bytes_at_middle(before) == copies


def looked_up(columns: int, moments: int, made: str = "") -> str:
    """A table, its gradient and its update; each moment is a sum with that."""
    table, rows = f"tensor<4096x{columns}xf32>", f"tensor<64x{columns}xf32>"
    names = [f"%m{i}" for i in range(moments)]
    given = "".join(
        f", {name}: {table} {{tf.aliasing_output = {i} : i32}}"
        for i, name in enumerate(names, 1)
    )
    updates = "\n  ".join(
        f"%n{i} = stablehlo.add {name}, %g : {table}" for i, name in enumerate(names)
    )
    new = [f"%n{i}" for i in range(moments)]
    total = "\n  ".join(
        f"%u{i + 1} = stablehlo.subtract %u{i}, {value} : {table}"
        for i, value in enumerate(new or ["%g"])
    )
    results = [f"%u{max(1, moments)}", *new]
    types = ", ".join([table] * len(results))
    return f"""
func.func @main(%u0: {table} {{tf.aliasing_output = 0 : i32}}{given}, %i: tensor<64x1xi32>) -> ({types}) {{
  %z = stablehlo.constant dense<0.0> : {table}
  {made}
  %x = "stablehlo.gather"({"%b" if made else "%u0"}, %i) <{{dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, {columns}>}}>
      : ({table}, tensor<64x1xi32>) -> {rows}
  %g = "stablehlo.scatter"(%z, %i, %x) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %t = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %t : tensor<f32>
  }}) : ({table}, tensor<64x1xi32>, {rows}) -> {table}
  {updates}
  {total}
  return {", ".join(results)} : {types}
}}"""


@pytest.mark.parametrize(
    ("columns", "moments", "rows"),
    [(128, 2, 0), (96, 2, 4), (64, 0, 2), (64, 1, 3), (64, 2, 1)],
    ids=["no padding", "4/3 with two moments", "weights alone", "one moment", "two"],
)
def test_a_table_is_updated_row_by_row(columns: int, moments: int, rows: int):
    """Arguments and gradient have rows of 128 then; else the gradient alone, until it is copied."""
    module = parse_program(looked_up(columns, moments), make_context())
    dense, padded = 4096 * columns * 4, 4096 * 128 * 4
    compiler = replace(TPU, core_bytes=0, places_in_order=False)
    peak = memory_profile(module, compiler=compiler).peak_bytes
    in_columns = (1 + moments) * dense + (dense if rows == 1 else 0)
    made = rows * padded if rows else dense
    assert abs(peak - in_columns - made) < 64 * 128 * 4 * 2


def test_a_table_is_copied_for_its_update_if_another_value_is_looked_up():
    """What is converted or gathered of it is looked up then, as of weights that FSDP splits."""
    compiler = replace(TPU, core_bytes=0, places_in_order=False)
    table = "tensor<4096x64xf32>"
    converted = f"%b = stablehlo.convert %u0 : ({table}) -> {table}"
    itself, other = (
        next(
            point.bytes
            for point in memory_profile(module, compiler=compiler).points
            if isinstance(point.op, stablehlo.GatherOp)
        )
        for made in ("", converted)
        for module in [parse_program(looked_up(64, 0, made), make_context())]
    )
    assert itself - other == 4096 * (128 - 64) * 4


def updated(scattered: int, devices: int = 4, norm: str = "") -> str:
    """Weights, a moment and their gradient, which four devices scatter along a dimension.

    It is transposed if that is its last one.
    """
    weights, raw = "tensor<128x1024xf32>", ("512x1024", "1024x512")[scattered]
    part = ("128x1024", "1024x128")[scattered]
    operands = ("%x, %g", "%g, %x")[scattered]
    groups = [list(range(i, i + 4)) for i in range(0, devices, 4)]
    types = "tensor<2048x512xbf16>", "tensor<2048x1024xbf16>"
    moved = ("reshape %1", "transpose %1, dims = [1, 0]")[scattered]
    return f"""
sdy.mesh @mesh = <["x"={devices}]>
func.func @main(%w: {weights} {{tf.aliasing_output = 0 : i32}}, %m: {weights} {{tf.aliasing_output = 1 : i32}},
    %x: {types[0]}, %g: {types[1]}) -> ({weights}, {weights}) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general {operands}, contracting_dims = [0] x [0]
      : ({types[scattered]}, {types[1 - scattered]}) -> tensor<{raw}xbf16>
  %1 = "stablehlo.reduce_scatter"(%0) <{{scatter_dimension = {scattered} : i64,
      replica_groups = dense<{groups}> : tensor<{len(groups)}x4xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> ({{
    ^bb0(%p: tensor<bf16>, %q: tensor<bf16>):
      %t = stablehlo.add %p, %q : tensor<bf16>
      stablehlo.return %t : tensor<bf16>
  }}) : (tensor<{raw}xbf16>) -> tensor<{part}xbf16>
  %d = stablehlo.{moved} : (tensor<{part}xbf16>) -> tensor<128x1024xbf16>
  %c = stablehlo.convert %d : (tensor<128x1024xbf16>) -> {weights}
  {norm}
  %n = stablehlo.add %m, %c : {weights}
  %u = stablehlo.subtract %w, %n : {weights}
  return %u, %n : {weights}, {weights}
}}"""


NORM = """%s = stablehlo.reduce(%c init: %z) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<128x1024xf32>, tensor<f32>) -> tensor<f32>"""


@pytest.mark.parametrize(
    ("text", "copies"),
    [
        (updated(1), 2),
        (updated(0), 0),
        (updated(1, devices=8), 0),
        (updated(1, norm=NORM), 0),
    ],
    ids=["transposed", "as stored", "of two axes", "read by a norm"],
)
def test_weights_and_moments_are_copied_into_the_layout_of_their_gradient(
    text: str, copies: int
):
    """Ahead of all: of a gradient in four windows, which no loop holds, and that is transposed."""
    first, *_ = profile_of(text).points
    arguments = 2 * 128 * 1024 * 4 + 2048 * (512 + 1024) * 2
    assert (first.bytes - arguments) // (128 * 1024 * 4) == copies


def test_what_a_product_of_gathered_rows_is_added_to_is_no_copy():
    """It is in windows, too, and transposed, but none of them scatters it."""
    weights = "tensor<512x4096xf32>"
    first, *_ = profile_of(f"""
sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: {weights} {{tf.aliasing_output = 0 : i32}}, %x: tensor<512x512xbf16>,
    %g: tensor<2048x4096xbf16>) -> {weights} {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = "stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64,
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}>
      : (tensor<512x512xbf16>) -> tensor<2048x512xbf16>
  %0 = stablehlo.dot_general %g, %a, contracting_dims = [0] x [0]
      : (tensor<2048x4096xbf16>, tensor<2048x512xbf16>) -> tensor<4096x512xbf16>
  %d = stablehlo.transpose %0, dims = [1, 0] : (tensor<4096x512xbf16>) -> tensor<512x4096xbf16>
  %c = stablehlo.convert %d : (tensor<512x4096xbf16>) -> {weights}
  %u = stablehlo.subtract %w, %c : {weights}
  return %u : {weights}
}}""").points
    arguments = 512 * 4096 * 4 + (512 * 512 + 2048 * 4096) * 2
    assert first.bytes - arguments < 512 * 4096 * 4
