"""Bytes of memory: what kernels share, what is stored, what stays on the core, and windows."""

from dataclasses import replace

import pytest

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.moved.traffic import HbmTraffic
from ttxdsl.costs.chips import CHIPS, ChipMachine
from ttxdsl.costs.compilers import TPU, TPU_MEGACORE, Compiler
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program

T = "tensor<64x64xf32>"
SIZE = 64 * 64 * 4
NO_CORE = replace(TPU_MEGACORE, core_bytes=0)


def with_room(size: int) -> Compiler:
    counters = 1024
    return replace(TPU, core_bytes=size + counters, tile=None)


# products at the default precision round what they read of f32, and have it stored so
EXACT = "precision = [HIGHEST, HIGHEST]"
ROWS = f"contracting_dims = [1] x [0], {EXACT}"
BINARY = f"({T}, {T}) -> {T}"


def moved(
    body: str,
    results: str = T,
    arguments: str = f"%x: {T}",
    compiler: Compiler = NO_CORE,
) -> int:
    text = f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"
    module = parse_program(text)
    runs, traffic = Runs(module), HbmTraffic(module, Fusion(compiler))
    return sum(runs.of(op).count * traffic.bytes(op) for op in all_ops(module))


def sums(value: str, name: str, dim: int = 0) -> str:
    return f"""
  %{name} = stablehlo.reduce({value} init: %z) applies stablehlo.add across dimensions = [{dim}] : ({T}, tensor<f32>) -> tensor<64xf32>"""


ZERO = "  %z = stablehlo.constant dense<0.0> : tensor<f32>"


def test_what_products_round_is_stored_as_they_read_it():
    body = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : {BINARY}
  return %1 : {T}"""
    # it is written and read in bf16
    assert moved(body) == SIZE + 2 * SIZE // 2 + SIZE
    assert moved(body.replace("[0] :", f"[0], {EXACT} :")) == 4 * SIZE


def test_products_are_finished_by_several_in_one_kernel():
    body = f"""{ZERO}
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.tanh %0 : {T}{sums("%0", "r")}
  return %1, %r : {T}, tensor<64xf32>"""
    # the product is in no memory
    assert moved(body, f"{T}, tensor<64xf32>") == 2 * SIZE + 64 * 4


def test_a_finished_product_is_read_with_what_its_kernel_stored():
    """What is read by three kernels is stored by the first, and so is what that reads."""
    readers = "".join(
        f"""
  %r{n} = stablehlo.dot_general %a, %b, contracting_dims = {dims}, {EXACT} : {BINARY}"""
        for n, dims in enumerate(("[1] x [0]", "[0] x [0]", "[1] x [1]"))
    )
    body = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %a = stablehlo.multiply %0, %y : {T}
  %b = stablehlo.add %a, %0 : {T}{readers}
  return %r0, %r1, %r2 : {T}, {T}, {T}"""
    # %x and %y are read, %a and %b written, and each reader has both and a result
    assert moved(body, f"{T}, {T}, {T}", f"%x: {T}, %y: {T}") == (4 + 3 * 3) * SIZE


@pytest.mark.parametrize(
    ("room", "expected"),
    (
        (0, 10 * SIZE),
        # %1 and %2 are in no memory, and %x stays beside %1 for its second reader
        (2 * SIZE, 5 * SIZE),
        (1 << 20, 2 * SIZE),
    ),
)
def test_what_has_room_on_the_core_is_read_there(room: int, expected: int):
    body = f"""
  %0 = stablehlo.dot_general %x, %x, {ROWS} : {BINARY}
  %1 = stablehlo.dot_general %0, %x, {ROWS} : {BINARY}
  %2 = stablehlo.dot_general %1, %1, {ROWS} : {BINARY}
  %3 = stablehlo.dot_general %2, %0, {ROWS} : {BINARY}
  return %3 : {T}"""
    assert moved(body, compiler=with_room(room)) == expected


def test_on_several_slices_nothing_is_in_windows():
    one, two = (CHIPS["v6e"].machine(32, slices) for slices in (1, 2))
    assert isinstance(one, ChipMachine) and isinstance(two, ChipMachine)
    assert one.compiler == CHIPS["v6e"].compiler
    assert two.compiler is not None and not two.compiler.windows


def looped(body: str, results: str) -> str:
    """Eight iterations that carry %x as %a, and %s as %p."""
    return f"""
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %l:3 = stablehlo.while(%i = %0, %a = %x, %p = %s) : tensor<i32>, {T}, {STACK}
   cond {{
    %n = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %o = stablehlo.constant dense<1> : tensor<i32>
    %k = stablehlo.constant dense<0> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>{body}
    stablehlo.return %j, {results} : tensor<i32>, {T}, {STACK}
  }}
  return %l#1, %l#2 : {T}, {STACK}"""


STACK = "tensor<8x64x64xf32>"
CARRIED = looped(
    f"""
    %b = stablehlo.dot_general %a, %w, {ROWS} : {BINARY}""",
    "%b, %p",
)


@pytest.mark.parametrize(
    ("room", "expected"),
    # with room for both %a and %w, the loop reads each once and writes its result once
    ((0, 8 * 3 * SIZE), (2 * SIZE, 3 * SIZE)),
)
def test_what_a_loop_carries_and_reads_stays_on_the_core(room: int, expected: int):
    arguments = f"%x: {T}, %w: {T}, %s: {STACK}"
    compiler = with_room(room)
    counted = moved(CARRIED, f"{T}, {STACK}", arguments, compiler)
    assert counted // SIZE * SIZE == expected


LOOP = """
   cond {
    %n = stablehlo.constant dense<8> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %k = stablehlo.constant dense<0> : tensor<i32>
    %j = stablehlo.add %i, %o : tensor<i32>"""
PART = "tensor<1x64x64xf32>"
AT = "tensor<i32>, tensor<i32>, tensor<i32>"
FILLED = f"""{ZERO}
  %e = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> {STACK}
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %l:3 = stablehlo.while(%i = %0, %p = %s, %q = %e) : tensor<i32>, {STACK}, {STACK}{LOOP}
    %a = stablehlo.dynamic_slice %p, %i, %k, %k, sizes = [1, 64, 64] : ({STACK}, {AT}) -> {PART}
    %b = stablehlo.add %a, %a : {PART}
    %u = stablehlo.dynamic_update_slice %q, %b, %i, %k, %k : ({STACK}, {PART}, {AT}) -> {STACK}
    stablehlo.return %j, %p, %u : tensor<i32>, {STACK}, {STACK}
  }}"""


@pytest.mark.parametrize("donated", [True, False])
def test_a_stack_that_a_loop_fills_is_moved_to_the_place_of_one_that_it_reads(
    donated: bool,
):
    given = " {jax.buffer_donor = true}" if donated else ""
    body = f"{FILLED}\n  return %l#2 : {STACK}"
    counted = moved(body, STACK, f"%s: {STACK}{given}")
    # it is copied; else zeros are stored first
    assert counted // SIZE == 8 * (1 + 1) + 8 * (2 if donated else 1)


def test_zeros_are_not_read_for_a_loop_that_fills_a_stack_on_the_core():
    body = f"""{FILLED}
  %m:3 = stablehlo.while(%i = %0, %p = %l#2, %q = %x) : tensor<i32>, {STACK}, {PART}{LOOP}
    %a = stablehlo.dynamic_slice %p, %i, %k, %k, sizes = [1, 64, 64] : ({STACK}, {AT}) -> {PART}
    %b = stablehlo.add %q, %a : {PART}
    stablehlo.return %j, %p, %b : tensor<i32>, {STACK}, {PART}
  }}
  return %m#2 : {PART}"""
    arguments = f"%s: {STACK}, %x: {PART}"
    counted = moved(body, PART, arguments, with_room(64 * SIZE))
    # %s and %x are read once, and the result is written
    assert counted // SIZE == 8 + 1 + 1


def test_an_inner_loop_has_its_room_first():
    """With room for one value, it is what the loop reads and not what waits for its end."""
    body = CARRIED.replace("%l#1, %l#2", "%r, %l#2").replace(
        "  return",
        f"  %r = stablehlo.dot_general %l#1, %y, {ROWS} : {BINARY}\n  return",
    )
    first = f"""
  %y = stablehlo.dot_general %w, %w, {ROWS} : {BINARY}"""
    arguments = f"%x: {T}, %w: {T}, %s: {STACK}"
    counted = [
        moved(
            first + body,
            f"{T}, {STACK}",
            arguments,
            with_room(room * SIZE),
        )
        // SIZE
        for room in (1, 2, 3)
    ]
    # %w or %a of eight iterations are first, then the other, and %y last
    assert counted == sorted(counted, reverse=True)
    assert counted[1] - counted[2] <= 2 < counted[0] - counted[1]


def test_a_scatter_makes_what_is_not_there():
    kind = "tensor<64xf32>, tensor<4x1xi32>, tensor<4xf32>"
    made, there = (
        moved(
            f"""{ZERO}
  %t = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %r = "stablehlo.scatter"({table}, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({kind}) -> tensor<64xf32>
  return %r : tensor<64xf32>""",
            "tensor<64xf32>",
            "%x: tensor<64xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>",
        )
        for table in ("%t", "%x")
    )
    assert made - there == 64 * 4


def test_an_exchange_along_an_inner_dimension_copies_its_parts():
    """Small ones stay on the core."""
    exchange = f"""
  %0 = "stablehlo.all_to_all"(%x) <{{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({T}) -> tensor<256x16xf32>
  return %0 : tensor<256x16xf32>"""
    counted = [
        moved(exchange, "tensor<256x16xf32>", compiler=with_room(room * SIZE))
        for room in (0, 16)
    ]
    assert counted == [2 * SIZE, 0]


@pytest.mark.parametrize(
    ("width", "element", "copied"),
    [
        (512, "bf16", (64 + 32) * 1024),  # rows of what is sent, and of what came
        # of what is sent, is received into, and came
        (300, "bf16", (64 + 2 * 32) * (1024 + (1024 + 600) / 2)),
        (128, "f64", (64 + 32) * 1024),
        (0, "bf16", 0),
    ],
)
def test_a_ragged_exchange_sends_rows_in_whole_tiles(
    width: int, element: str, copied: float
):
    sent, came, numbers = (
        *(f"tensor<{rows}x{width}x{element}>" for rows in (64, 32)),
        "tensor<4xi64>",
    )
    body = f"""
  %r = stablehlo.custom_call @ragged_all_to_all(%x, %y, %i, %i, %i, %i) {{
    api_version = 4 : i32, backend_config = {{
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}
  }} : ({sent}, {came}, {numbers}, {numbers}, {numbers}, {numbers}) -> {came}
  return %r : {came}"""
    counted = moved(body, came, f"%x: {sent}, %y: {came}, %i: {numbers}")
    assert counted == 2 * copied


@pytest.mark.parametrize(
    ("dim", "room", "images", "weights"),
    (
        # of what is summed each pair of four windows adds to the result
        (2, 0, 1 + 4, 1),
        (3, 0, 2 + 1, 1),  # and else reads the whole image
        (2, 1 << 20, 1 + 1, 0),
    ),
)
def test_convolutions_in_windows_move_as_products_do(
    dim: int, room: int, images: int, weights: int
):
    part = ["3", "3", "64", "64"]
    part[dim] = "16"
    part_type, image = f"tensor<{'x'.join(part)}xf32>", "tensor<2x8x8x64xf32>"
    body = f"""
  %0 = "stablehlo.all_gather"(%w) <{{all_gather_dim = {dim} : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({part_type}) -> tensor<3x3x64x64xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}} : ({image}, tensor<3x3x64x64xf32>) -> {image}
  return %1 : {image}"""
    arguments = f"%x: {image}, %w: {part_type}"
    counted = moved(body, image, arguments, with_room(room))
    assert counted == (images * 2 * 8 * 8 + weights * 3 * 3 * 64) * 64 * 4


def gathered_product(size: int, dim: int, compiler: Compiler) -> int:
    """Count a product of %x, with a matrix that 4 devices gather along a dimension."""
    part = [size, size]
    part[dim] //= 4
    whole, part_type = f"tensor<{size}x{size}xf32>", f"tensor<{part[0]}x{part[1]}xf32>"
    body = f"""
  %0 = "stablehlo.all_gather"(%w) <{{all_gather_dim = {dim} : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({part_type}) -> {whole}
  %1 = stablehlo.dot_general %x, %0, {ROWS} : ({whole}, {whole}) -> {whole}
  return %1 : {whole}"""
    return moved(body, whole, f"%x: {whole}, %w: {part_type}", compiler)


@pytest.mark.parametrize(
    ("dim", "room", "values"),
    (
        # of two pairs the first sum is stored, and the second added to it
        (0, 0, 2 + 4),
        # the first stays on the core, and not the sum
        (0, 1.5, 2 + 2),
        (0, 4, 1 + 1),  # nor is what was gathered
        # two pairs read %x, and their parts of the result are copied into zeros
        (1, 0, 2 + 1 + 4),
        # where it has room beside windows they read it once
        (1, 2.5, 1 + 1 + 4),
    ),
)
def test_what_is_not_cut_into_windows_is_moved_again_unless_it_has_room(
    dim: int, room: float, values: int
):
    size = 1024 * 1024 * 4
    compiler = with_room(int(room * size))
    compiler = replace(compiler, flops_while_sent=0)
    assert gathered_product(1024, dim, compiler) == values * size


def test_windows_of_integers_are_added_as_they_are_converted():
    whole, part = "tensor<1024x1024xi8>", "tensor<256x1024xi8>"
    body = f"""
  %0 = "stablehlo.all_gather"(%w) <{{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({part}) -> {whole}
  %1 = stablehlo.dot_general %x, %0, {ROWS} : ({whole}, {whole}) -> tensor<1024x1024xi32>
  %2 = stablehlo.convert %1 : (tensor<1024x1024xi32>) -> tensor<1024x1024xbf16>
  return %2 : tensor<1024x1024xbf16>"""
    compiler = replace(with_room(0), flops_while_sent=0)
    counted = moved(
        body, "tensor<1024x1024xbf16>", f"%x: {whole}, %w: {part}", compiler
    )
    # i8 twice, the sum four times in bf16, which the convert reads as it was made, and its result
    assert counted == 1024 * 1024 * (2 + 4 * 2 + 4 + 2)


@pytest.mark.parametrize(
    ("devices", "room", "result"), ((4, 0, 2), (8, 0, 4), (4, 2, 0))
)
def test_windows_of_a_scattered_result_are_stored_and_added(
    devices: int, room: int, result: int
):
    whole, part = "tensor<1024x1024xf32>", f"tensor<{1024 // devices}x1024xf32>"
    body = f"""
  %0 = stablehlo.dot_general %x, %y, {ROWS} : ({whole}, {whole}) -> {whole}
  %1 = "stablehlo.reduce_scatter"(%0) <{{scatter_dimension = 0 : i64, replica_groups = dense<[{list(range(devices))}]> : tensor<1x{devices}xi64>}}> ({{
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({whole}) -> {part}
  return %1 : {part}"""
    size = 1024 * 1024 * 4
    compiler = replace(with_room(room * size), flops_while_sent=0)
    counted = moved(body, part, f"%x: {whole}, %y: {whole}", compiler)
    # what is scattered is one of rows of %x: each pair reads all of %y
    reads = 1 + (1 if room else devices // 2)
    assert counted == (reads + result) * size


@pytest.mark.parametrize(
    ("rows", "dim", "copies"),
    (
        (64, 1, 0),  # whole tiles of eight rows
        (44, 1, 2),
        (64, 2, 2),  # not 128 columns
        (64, 0, 0),
    ),
)
def test_what_is_gathered_for_a_kernel_is_copied_unless_its_parts_are_whole_tiles(
    rows: int, dim: int, copies: int
):
    part = [2, rows, 64]
    gathered = [*part]
    gathered[dim] *= 4
    part_type, whole = (
        f"tensor<{'x'.join(map(str, shape))}xf32>" for shape in (part, gathered)
    )
    body = f"""
  %0 = "stablehlo.all_gather"(%x) <{{all_gather_dim = {dim} : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({part_type}) -> {whole}
  %1 = stablehlo.custom_call @tpu_custom_call(%0) : ({whole}) -> {whole}
  return %1 : {whole}"""
    counted = moved(body, whole, f"%x: {part_type}")
    # the kernel reads and writes it once
    assert counted == (2 + copies) * 4 * 2 * rows * 64 * 4


def test_what_a_loop_keeps_takes_its_room_once():
    """With room for two, the loop carries what is made on the core and reads it there."""
    body = CARRIED.replace("%a = %x", "%a = %y")
    made = f"""
  %y = stablehlo.dot_general %w, %w, {ROWS} : {BINARY}"""
    arguments = f"%x: {T}, %w: {T}, %s: {STACK}"
    counted = moved(made + body, f"{T}, {STACK}", arguments, with_room(2 * SIZE))
    # %w is read and the result written
    assert counted // SIZE == 2


@pytest.mark.parametrize(
    "made",
    (
        """"stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (TYPE) -> TYPE""",
        f"stablehlo.dot_general %x, %x, {ROWS} : (TYPE, TYPE) -> TYPE",
        """"stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (TYPE) -> TYPE""",
    ),
)
def test_on_v5p_products_and_collectives_make_values_in_memory(made: str):
    body = f"""
  %0 = {made.replace("TYPE", T)}
  %1 = stablehlo.dot_general %0, %0, {ROWS} : {BINARY}
  return %1 : {T}"""
    v5p, v5e = (moved(body, compiler=compiler) for compiler in (TPU_MEGACORE, TPU))
    own = 0 if "all_reduce" in made else SIZE
    # what is read and written of %0, where a collective's own bytes are not counted
    assert v5p - v5e == SIZE + own
