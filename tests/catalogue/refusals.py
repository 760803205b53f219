"""For constraints of StableHLO's and CHLO's ops a use that breaks each."""

from dataclasses import dataclass
from typing import Any

from tests.catalogue.stablehlo import COND, F6, F33, IMAGE, KERNEL, LOOP, SLICE, branch
from tests.catalogue.use import (
    C4,
    F4,
    F46,
    I4,
    SB,
    SI,
    TOKEN,
    S,
    Use,
    array,
    body,
    compare_body,
    groups,
    ints,
    pads,
)
from tests.catalogue.uses import USES


@dataclass(frozen=True)
class Broken:
    """A use that breaks a constraint, and what a message must name."""

    constraint: str
    wrong: Use

    @property
    def id(self) -> str:
        """A name for the test."""
        return f"{self.wrong.op}-{self.constraint}"


BROKEN: list[Broken] = []


def breaks(key: str, constraint: str, **changes: Any) -> None:
    """Register a wrong use: fields of `Use`, or properties under `props_`."""
    one = USES[key if key in USES else f"stablehlo.{key}"]
    props = {n[6:]: v for n, v in changes.items() if n.startswith("props_")}
    fields = {n: v for n, v in changes.items() if not n.startswith("props_")}
    BROKEN.append(Broken(constraint, one.but(**fields).prop(**props)))


B43, BF, H4 = "tensor<4x3xf32>", "tensor<4xbf16>", "tensor<4xf16>"

# elementwise
breaks("abs", "result", results=(B43,))
breaks("abs", "operand", operands=(SB,), results=(SB,))
breaks("sine", "operand", operands=(I4,), results=(I4,))
breaks("ceil", "operand", operands=(C4,), results=(C4,))
breaks("not", "operand", operands=(F4,), results=(F4,))
breaks("popcnt", "operand", operands=("tensor<4xi1>",), results=("tensor<4xi1>",))
breaks("convert", "result", results=("tensor<5xi32>",))
breaks("is_finite", "result", results=(I4,))
breaks("real", "result", results=("tensor<4xf64>",))
breaks("add", "C1", operands=(F46, B43))
breaks("add", "C1", results=(B43,))
breaks("add", "C1", operands=(F4, BF), results=(F4,))
breaks("divide", "operand", operands=(SB, SB), results=(SB,))
breaks("shift_left", "operand", operands=(F4, F4), results=(F4,))
breaks("and", "operand", operands=(F4, F4), results=(F4,))
breaks("complex", "C1", operands=(F4, "tensor<4xf64>"))
breaks("complex", "C1", operands=(H4, H4))
breaks("compare", "C1", operands=(F4, I4))
breaks("compare", "C2", results=("tensor<5xi1>",))
breaks("select", "C1", operands=("tensor<3xi1>", F4, F4))
breaks("select", "C2", operands=(SB, F4, "tensor<5xf32>"))
breaks("select", "result", results=(I4,))
breaks("clamp", "C1", operands=("tensor<3xf32>", F4, F4))
breaks("clamp", "C2", operands=(S, F4, "tensor<2xf32>"))
breaks("clamp", "C1", operands=("tensor<f16>", F4, F4))
breaks("reduce_precision", "0 or more", props_mantissa_bits="-1 : i32")
breaks("reduce_precision", "1 or more", props_exponent_bits="0 : i32")
breaks("uniform_quantize", "C2", operands=("tensor<4xf64>",))
breaks("uniform_dequantize", "result", results=("tensor<4xf64>",))

# data movement
breaks("constant", "value", results=("tensor<3xi32>",))
breaks("iota", "C1", props_iota_dimension="2 : i64")
breaks("iota", "0 or more", props_iota_dimension="-1 : i64")
breaks("iota", "C1", results=(S,), props_iota_dimension="0 : i64")
breaks("dynamic_iota", "C1", props_iota_dimension="2 : i64")
breaks("dynamic_iota", "C2", results=(B43,))
breaks("broadcast_in_dim", "C1", results=("tensor<4x6xi32>",))
breaks("broadcast_in_dim", "C2", props_broadcast_dimensions=array(0, 1))
breaks("broadcast_in_dim", "C3", props_broadcast_dimensions=array(2))
breaks(
    "broadcast_in_dim", "C4", operands=(F46,), props_broadcast_dimensions=array(0, 0)
)
breaks("broadcast_in_dim", "C5", props_broadcast_dimensions=array(1))
breaks("dynamic_broadcast_in_dim", "C2", props_broadcast_dimensions=array(0, 1))
breaks("dynamic_broadcast_in_dim", "C5", props_broadcast_dimensions=array(1))
breaks("dynamic_broadcast_in_dim", "C7", before=ints([4, 5]))
breaks("dynamic_broadcast_in_dim", "C8", props_known_expanding_dimensions=array(0))
breaks("dynamic_broadcast_in_dim", "C9", props_known_expanding_dimensions=array(3))
breaks("reshape", "C1", results=("tensor<24xi32>",))
breaks("reshape", "C2", results=("tensor<23xf32>",))
breaks("dynamic_reshape", "C2", results=("tensor<23xf32>",), before=ints([23]))
breaks("dynamic_reshape", "C4", before=ints([23]))
breaks("transpose", "C1", results=("tensor<6x4xi32>",))
breaks("transpose", "C2", props_permutation=array(0, 0))
breaks("transpose", "C2", props_permutation=array(0))
breaks("transpose", "C3", results=(F46,))
breaks("reverse", "C1", results=("tensor<4x5xf32>",))
breaks("reverse", "C2", props_dimensions=array(0, 0))
breaks("reverse", "C3", props_dimensions=array(2))
breaks("slice", "C1", results=("tensor<2x3xi32>",))
breaks("slice", "C2", props_start_indices=array(1))
breaks("slice", "C3", props_start_indices=array(-1, 0))
breaks("slice", "C3", props_limit_indices=array(5, 6))
breaks("slice", "C3", props_start_indices=array(1, 7))
breaks("slice", "C4", props_strides=array(2, 0))
breaks("slice", "C5", results=("tensor<2x4xf32>",))
breaks("dynamic_slice", "C1", results=("tensor<2x3xi32>",))
breaks("dynamic_slice", "C2", props_slice_sizes=array(2))
breaks("dynamic_slice", "C2", operands=(F46, SI))
breaks("dynamic_slice", "C3", operands=(F46, SI, "tensor<i64>"))
breaks(
    "dynamic_slice", "C4", props_slice_sizes=array(2, 7), results=("tensor<2x7xf32>",)
)
breaks("dynamic_slice", "C5", results=("tensor<2x4xf32>",))
breaks("dynamic_update_slice", "C2", operands=(F46, "tensor<2x3xi32>", SI, SI))
breaks("dynamic_update_slice", "C3", operands=(F46, "tensor<2xf32>", SI, SI))
breaks("dynamic_update_slice", "C4", operands=(F46, "tensor<2x3xf32>", SI))
breaks(
    "dynamic_update_slice", "C5", operands=(F46, "tensor<2x3xf32>", SI, "tensor<i64>")
)
breaks("dynamic_update_slice", "C6", operands=(F46, "tensor<5x3xf32>", SI, SI))
breaks("dynamic_update_slice", "C1", results=(B43,))
breaks("concatenate", "C1", operands=(F46, "tensor<4x2xi32>"))
breaks("concatenate", "C2", operands=(F46, "tensor<3x2xf32>"))
breaks("concatenate", "C2", operands=(F46, F4))
breaks("concatenate", "C4", props_dimension="2 : i64")
breaks("concatenate", "C6", results=("tensor<4x9xf32>",))
breaks("pad", "C1", operands=(F46, SI))
breaks(
    "pad",
    "C2",
    props_edge_padding_low=array(1),
    props_edge_padding_high=array(1),
    props_interior_padding=array(0),
)
breaks("pad", "C3", props_interior_padding=array(0, -1))
breaks("pad", "C4", results=("tensor<6x14xf32>",))
breaks("pad", "C4", props_edge_padding_low=array(-6, 2))
breaks("dynamic_pad", "C4", results=("tensor<8xf32>",))
breaks("bitcast_convert", "C1", results=("tensor<4x3xui8>",))
breaks("bitcast_convert", "C1", results=("tensor<5xi32>",))
breaks("bitcast_convert", "C2", results=("tensor<2xcomplex<f32>>",))
breaks("get_dimension_size", "C1", props_dimension="2 : i64")

# indexing
GA, GS = "tensor<3x4x6xf32>", "tensor<3x5x1xi32>"


def _gather(**changes: str) -> str:
    fields = {
        "offset_dims": "[2]",
        "collapsed_slice_dims": "[1]",
        "operand_batching_dims": "[0]",
        "start_indices_batching_dims": "[0]",
        "start_index_map": "[1]",
        "index_vector_dim": "2",
    } | changes
    inner = ", ".join(f"{name} = {value}" for name, value in fields.items() if value)
    return f"#stablehlo.gather<{inner}>"


def _scatter(**changes: str) -> str:
    fields = {
        "update_window_dims": "[2]",
        "inserted_window_dims": "[1]",
        "input_batching_dims": "[0]",
        "scatter_indices_batching_dims": "[0]",
        "scatter_dims_to_operand_dims": "[1]",
        "index_vector_dim": "2",
    } | changes
    inner = ", ".join(f"{name} = {value}" for name, value in fields.items() if value)
    return f"#stablehlo.scatter<{inner}>"


for _constraint, _changes in (
    ("C1", {"collapsed_slice_dims": ""}),
    ("C2", {"index_vector_dim": "4"}),
    ("C3", {"start_index_map": "[1, 2]"}),
    ("C4", {"offset_dims": "[2, 2]", "collapsed_slice_dims": ""}),
    ("C5", {"offset_dims": "[3]"}),
    ("C6", {"collapsed_slice_dims": "[0]"}),
    ("C8", {"collapsed_slice_dims": "[3]"}),
    ("C11", {"operand_batching_dims": "[3]"}),
    ("C14", {"start_indices_batching_dims": "[3]"}),
    ("C15", {"start_indices_batching_dims": "[2]"}),
    ("C16", {"start_indices_batching_dims": "[0, 1]"}),
    ("C17", {"start_indices_batching_dims": "[1]"}),
    ("C18", {"start_index_map": "[0]"}),
    ("C19", {"start_index_map": "[3]"}),
):
    breaks("gather", _constraint, props_dimension_numbers=_gather(**_changes))
breaks("gather", "C9", props_slice_sizes=array(1, 2, 6))
breaks("gather", "C12", props_slice_sizes=array(2, 1, 6))
breaks("gather", "C20", props_slice_sizes=array(1, 1))
breaks("gather", "C21", props_slice_sizes=array(1, 1, 7))
breaks("gather", "C22", results=("tensor<3x5x5xf32>",))
breaks("gather", "C23", results=("tensor<3x5x6xi32>",))
breaks("dynamic_gather", "C21", before=ints([1, 1, 7]))
for _constraint, _changes in (
    ("C2", {"inserted_window_dims": ""}),
    ("C8", {"update_window_dims": "[3]"}),
    ("C9", {"inserted_window_dims": "[0]"}),
    ("C11", {"inserted_window_dims": "[3]"}),
    ("C13", {"input_batching_dims": "[3]"}),
    ("C15", {"scatter_indices_batching_dims": "[3]"}),
    ("C16", {"scatter_indices_batching_dims": "[2]"}),
    ("C17", {"scatter_indices_batching_dims": "[0, 1]"}),
    ("C18", {"scatter_indices_batching_dims": "[1]"}),
    ("C19", {"scatter_dims_to_operand_dims": "[1, 2]"}),
    ("C20", {"scatter_dims_to_operand_dims": "[0]"}),
    ("C21", {"scatter_dims_to_operand_dims": "[3]"}),
    ("C22", {"index_vector_dim": "4"}),
):
    breaks("scatter", _constraint, props_scatter_dimension_numbers=_scatter(**_changes))
breaks("scatter", "C4", operands=(GA, GS, "tensor<3x5x7xf32>"))
breaks("scatter", "C4", operands=(GA, GS, "tensor<3x4x6xf32>"))
breaks("scatter", "C4", operands=(GA, GS, "tensor<3x5xf32>"))
breaks("scatter", "C23", regions=body("add", SI))
breaks("scatter", "C24", results=("tensor<3x4x5xf32>",))
NO_DIMENSION = "no dimensions of operands"
for _dims in ({"props_dim": "2 : i64"}, {"props_dim": "-1 : i64"},
              {"props_batch_dims": "2 : i64"}, {"props_batch_dims": "4294967296 : i64"}):  # fmt: skip
    breaks("torch_index_select", NO_DIMENSION, **_dims)
breaks("torch_index_select", "batch dimensions", props_batch_dims="1 : i64")
breaks("torch_index_select", "result", results=("tensor<4x3xf32>",))
breaks("torch_index_select", "result", results=("tensor<4x2xi32>",))


# products
def _dot(lb: str = "[0]", rb: str = "[0]", lc: str = "[2]", rc: str = "[1]") -> str:
    return (
        f"#stablehlo.dot<lhs_batching_dimensions = {lb}, rhs_batching_dimensions = {rb}, "
        f"lhs_contracting_dimensions = {lc}, rhs_contracting_dimensions = {rc}>"
    )


for _constraint, _changes in (
    ("C1", {"lb": "[0, 1]"}),
    ("C2", {"lc": "[2, 1]"}),
    ("C3", {"lc": "[0]"}),
    ("C4", {"rc": "[0]"}),
    ("C5", {"lb": "[3]"}),
    ("C6", {"lc": "[3]"}),
    ("C7", {"rb": "[3]"}),
    ("C8", {"rc": "[3]"}),
    ("C9", {"lb": "[1]"}),
    ("C10", {"rc": "[2]"}),
):
    breaks("dot_general", _constraint, props_dot_dimension_numbers=_dot(**_changes))
breaks(
    "dot_general",
    "C11",
    props_precision_config="[" + ", ".join(["#stablehlo<precision HIGH>"] * 3) + "]",
)
breaks("dot_general", "C12", results=("tensor<2x4x4xf32>",))
BF16X3 = (
    "#stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, "
    "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
    "num_primitive_operations = 3, allow_imprecise_accumulation = false>"
)
breaks("dot_general", "C21", props_algorithm=BF16X3)
breaks("dot", "inner sizes", operands=(F46, F46))
breaks("cholesky", "C2", operands=(F4,), results=(F4,))
breaks("cholesky", "C3", operands=(F46,), results=(F46,))
breaks(
    "triangular_solve",
    "C1",
    operands=(F33, "tensor<3x2xf64>"),
    results=("tensor<3x2xf64>",),
)
breaks(
    "triangular_solve",
    "C2",
    operands=(F33, "tensor<3xf32>"),
    results=("tensor<3xf32>",),
)
breaks("triangular_solve", "C3", operands=("tensor<2x3xf32>", "tensor<3x2xf32>"))
breaks(
    "triangular_solve",
    "C3",
    operands=(F33, "tensor<4x2xf32>"),
    results=("tensor<4x2xf32>",),
)
breaks(
    "triangular_solve",
    "transpose_a",
    props_transpose_a="#stablehlo<transpose TRANSPOSE_INVALID>",
)
breaks("fft", "C1", props_fft_length=array(6, 6, 6))
breaks("fft", "C2", operands=(F46,))
breaks("fft", "C3", props_fft_length=array(1, 1, 1, 1))
breaks("rfft", "C5", props_fft_length=array(5))
breaks("rfft", "C4", results=("tensor<4x3xcomplex<f32>>",))
breaks("irfft", "C5", props_fft_length=array(9))

# reductions and windows
breaks("reduce", "C1", operands=(F46, B43, S, S), results=(F4, F4))
breaks("reduce", "C4", props_dimensions=array(2))
breaks("reduce", "C5", props_dimensions=array(1, 1))
breaks("reduce", "C6", regions=body("add", SI))
breaks("reduce", "C6", regions=compare_body())
breaks("reduce", "C7", results=(F6,))
breaks("reduce", "C6", operands=(F46, F4))
breaks("map", "C1", operands=(F4, F6))
breaks("map", "C3", props_dimensions=array(1))
breaks("map", "C4", regions=body("add", SI))
breaks("sort", "C2", results=(B43,))
breaks("sort", "C3", operands=(F46, B43), results=(F46, B43))
breaks("sort", "C4", props_dimension="2 : i64")
breaks("sort", "C5", regions=body("add"))
breaks("sort", "C5", regions=compare_body(SI))
CV = "#stablehlo.conv"
breaks("convolution", "C1", operands=(IMAGE, "tensor<3x3x4xf32>"))
breaks("convolution", "C2", props_window_strides=array(1))
breaks("convolution", "C3", props_window_strides=array(1, 0))
breaks("convolution", "C4", props_padding=pads([1, 1]))
breaks("convolution", "C5", props_lhs_dilation=array(1))
breaks("convolution", "C6", props_lhs_dilation=array(1, 0))
breaks("convolution", "C7", props_rhs_dilation=array(1))
breaks("convolution", "C8", props_rhs_dilation=array(1, 0))
breaks("convolution", "C9", props_window_reversal="array<i1: true>")
breaks("convolution", "C10", props_batch_group_count="3 : i64")
breaks("convolution", "C11", props_feature_group_count="3 : i64")
breaks("convolution", "C14", props_feature_group_count="2 : i64")
breaks(
    "convolution",
    "C15",
    operands=("tensor<4x8x8x4xf32>", KERNEL),
    props_batch_group_count="4 : i64",
)
breaks(
    "convolution",
    "C16",
    operands=("tensor<2x8x8x16xf32>", KERNEL),
    props_feature_group_count="4 : i64",
)
breaks(
    "convolution",
    "C13",
    props_dimension_numbers=f"{CV}<raw input_batch_dimension = 0, input_feature_dimension = 0, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>",
)
breaks("convolution", "1 or more", props_feature_group_count="0 : i64")
breaks(
    "convolution",
    "C23",
    operands=("tensor<2x8x8x8xf32>", KERNEL),
    props_feature_group_count="2 : i64",
    props_batch_group_count="2 : i64",
)
breaks(
    "convolution",
    "C24",
    props_precision_config="[" + ", ".join(["#stablehlo<precision HIGH>"] * 3) + "]",
)
breaks("convolution", "C25", results=("tensor<2x8x4x6xf32>",))
breaks("convolution", "C27", operands=(IMAGE, "tensor<3x3x4x6xf64>"))
breaks(
    "dynamic_conv",
    "C4",
    before="%k = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>",
    values=f"%0: {IMAGE}; %1: {KERNEL}; %k: tensor<1x2xi64>",
)
breaks(
    "reduce_window", "C2", operands=(F46, B43, S, S), results=("tensor<3x3xf32>",) * 2
)
breaks("reduce_window", "C4", props_window_dimensions=array(2))
breaks("reduce_window", "C5", props_window_dimensions=array(2, 0))
breaks("reduce_window", "C6", props_window_strides=array(1))
breaks("reduce_window", "C7", props_window_strides=array(1, 0))
breaks("reduce_window", "C8", props_base_dilations=array(1))
breaks("reduce_window", "C9", props_base_dilations=array(1, 0))
breaks("reduce_window", "C10", props_window_dilations=array(1))
breaks("reduce_window", "C11", props_window_dilations=array(1, 0))
breaks("reduce_window", "C12", props_padding=pads([0, 0]))
breaks("reduce_window", "C13", regions=body("add", SI))
breaks("reduce_window", "C15", results=("tensor<4x3xf32>",))
breaks("select_and_scatter", "C1", operands=(F46, "tensor<2x2xf32>", S))
breaks("select_and_scatter", "C4", props_window_dimensions=array(2))
breaks("select_and_scatter", "C5", props_window_dimensions=array(2, 0))
breaks("select_and_scatter", "C6", props_window_strides=array(2))
breaks("select_and_scatter", "C7", props_window_strides=array(2, 0))
breaks("select_and_scatter", "C8", props_padding=pads([0, 0]))
breaks("select_and_scatter", "C9", regions=(body("add"), body("add")))
breaks("select_and_scatter", "C9", regions=(compare_body(SI), body("add")))
breaks("select_and_scatter", "C10", regions=(compare_body(), body("add", SI)))
breaks("select_and_scatter", "C11", results=(B43,))

# control flow
breaks("if", "C1", regions=(branch(arguments=f"%x: {S}"), branch()))
breaks("if", "C2", regions=(branch(), branch("%1", SB)))
breaks("if", "C3", results=(F6,))
breaks("if", "pred", operands=(F4, "tensor<1xi1>"), values="%1: tensor<1xi1>")
breaks("case", "C2", regions=(branch(), branch(arguments=f"%x: {S}")))
breaks("case", "C3", regions=(branch(), branch("%1", SI)))
breaks("case", "C4", results=(F6,))
breaks("while", "C1", regions=(LOOP, LOOP))
breaks("while", "C1", regions=(COND.replace("i32", "i64"), LOOP))
breaks("while", "C2", regions=(COND, LOOP.replace("i32", "i64")))
breaks("while", "C3", results=("tensor<i64>",))
breaks("optimization_barrier", "C1", results=(I4, F4))

# collectives
breaks("all_gather", "C1", props_all_gather_dim="2 : i64")
breaks("all_gather", "C2", props_replica_groups=groups([0, 1], [1, 2]))
breaks("all_gather", "C4", props_replica_groups=groups([0, 1], [2, 4]))
breaks("all_gather", "C4", props_replica_groups=groups([0, 1], [2, -1]))
breaks("all_gather", "C6", results=("tensor<4x13xf32>",))
breaks("all_gather", "C6", results=("tensor<5x12xf32>",))
breaks("all_gather", "C6", results=("tensor<4x12xi32>",))
breaks("all_reduce", "C1", props_replica_groups=groups([0, 1], [1, 2]))
breaks("all_reduce", "C3", props_replica_groups=groups([0, 1], [2, 4]))
breaks("all_reduce", "C5", regions=body("add", SI))
breaks("all_reduce", "C6", results=(B43,))
breaks("reduce_scatter", "C1", props_replica_groups=groups([0, 1], [1, 2]))
breaks("reduce_scatter", "C2", props_scatter_dimension="2 : i64")
breaks("reduce_scatter", "C4", props_replica_groups=groups([0, 1], [2, -1]))
breaks("reduce_scatter", "C7", regions=body("add", SI))
breaks("reduce_scatter", "C8", results=("tensor<4x4xf32>",))
breaks("reduce_scatter", "C8", results=("tensor<2x3xf32>",))
breaks("reduce_scatter", "C9", results=("tensor<4x3xf16>",))
breaks("all_to_all", "C1", props_split_dimension="2 : i64")
breaks("all_to_all", "C2", operands=("tensor<5x6xf32>",))
breaks("all_to_all", "C3", props_concat_dimension="2 : i64")
breaks("all_to_all", "1 or more", props_split_count="0 : i64")
breaks("all_to_all", "C5", props_replica_groups=groups([0, 1], [1, 2]))
breaks("all_to_all", "C8", props_replica_groups=groups([0, 1, 2, 3]))
breaks("all_to_all", "C9", results=(F46,))
breaks("collective_broadcast", "C1", props_replica_groups=groups([0, 1], [1, 2]))
breaks("collective_broadcast", "C2", props_replica_groups=groups([0, 1], [2, -1]))
breaks("collective_broadcast", "C3", results=(B43,))
breaks("collective_permute", "C1", props_source_target_pairs=groups([0, 1, 2]))
breaks("collective_permute", "C2", props_source_target_pairs=groups([0, 1], [0, 2]))
breaks("collective_permute", "C3", props_source_target_pairs=groups([0, 1], [2, 1]))
breaks("collective_permute", "C4", props_source_target_pairs=groups([0, -1]))
breaks("collective_permute", "C5", results=(B43,))
breaks("partition_id", "result", results=(SI,))
breaks("infeed", "C2", results=(TOKEN, TOKEN))
breaks("infeed", "C3", results=(F4, F4))
breaks("infeed", "layout", props_layout="[[0], [0]]")
breaks("send", "C1", props_is_host_transfer="true")
breaks("recv", "C1", props_is_host_transfer="true")
breaks("recv", "C4", results=(F4, F4))

breaks("async_start", "C1", regions=branch("%a", F4, f"%a: {F4}"))
breaks(
    "async_start",
    "C2",
    regions=SLICE.replace("slice %a [0:2]", "reshape %a").replace("2xf32", "2x2xf32"),
)
breaks("async_start", "C3", operands=("tensor<5xf32>",))
breaks("async_start", "C4", results=("!stablehlo.future<tensor<4xf32>>",))
breaks("async_done", "C1", results=(F4,))
breaks("collective_reduce", "C1", props_replica_groups=groups([0, 1], [1, 2]))
breaks("collective_reduce", "C4", regions=body("add", SI))
breaks("collective_reduce", "C3", results=(B43,))

# others
breaks(
    "custom_call", "layout", props_operand_layouts="[dense<[0, 0]> : tensor<2xindex>]"
)
breaks("custom_call", "layout", props_operand_layouts="")
breaks("custom_call", "backend_config", props_backend_config='"text"')
breaks(
    "custom_call",
    "operand_index",
    props_output_operand_aliases="[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]",
)
breaks(
    "custom_call",
    "tuple",
    props_output_operand_aliases="[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]",
)
breaks("composite", "C1", props_name='"plain"')
breaks("composite", "C2", props_decomposition="@h")
breaks("composite", "C3", operands=(F6,))
breaks("composite", "C4", results=(F6,))
breaks("tuple", "C1", results=(f"tuple<{F4}>",))
breaks("get_tuple_element", "C1", props_index="2 : i32")
breaks("get_tuple_element", "C2", results=(F4,))
breaks("batch_norm_inference", "C1", props_feature_index="2 : i64")
breaks("batch_norm_inference", "C3", operands=(F46, F4, F4, F4, F4))
breaks("batch_norm_training", "C2", operands=(F46, "tensor<6xf64>", F6))
breaks("batch_norm_training", "C5", results=(F46, F4, F6))
breaks("batch_norm_grad", "C3", operands=(F46, F6, F6, F6, B43))
breaks("batch_norm_grad", "f32", props_epsilon="1.0 : f64")
breaks(
    "rng",
    "C1",
    operands=(S, "tensor<f64>"),
    values="%0: tensor<f32>; %1: tensor<f64>; %k: tensor<2xi64>",
)
breaks(
    "rng",
    "C2",
    operands=(SI, SI),
    values=f"%0: {SI}; %1: {SI}; %k: tensor<2xi64>",
    results=("tensor<4x6xi32>",),
)
breaks("rng", "C3", results=(B43,))
breaks("rng_bit_generator", "C1", results=("tensor<3xui64>", "tensor<4xui32>"))

# CHLO
breaks("chlo.acos", "result", results=("tensor<4x5xf32>",))
breaks("chlo.erf", "operand", operands=(C4,), results=(C4,))
breaks("chlo.is_inf", "result", results=(I4,))
breaks("chlo.zeta", "rhs", operands=(F4, F46))
breaks("chlo.mulhi", "operand", operands=(F4, F4), results=(F4,))
breaks("chlo.broadcast_add", "operands are", operands=(F46, "tensor<6xi32>"))
breaks("chlo.broadcast_add", "expected the sizes", results=(F4,))
breaks("chlo.broadcast_complex", "result", results=(F4,))
breaks("chlo.constant", "result", results=(I4,))
breaks("chlo.broadcast_select", "expected the sizes", results=(F46,))
breaks("chlo.broadcast_select", "on_true", operands=(SB, F4, "tensor<i32>"))
breaks("chlo.constant_like", "the value is", props_value="3.0 : f32")
breaks("chlo.constant_like", "expected the shape", results=("tensor<5xi32>",))
breaks(
    "chlo.top_k",
    "fewer than k",
    props_k="7 : i64",
    results=("tensor<4x7xf32>", "tensor<4x7xi32>"),
)
breaks("chlo.top_k", "result", results=("tensor<4x2xf32>", "tensor<4x2xi64>"))
breaks(
    "chlo.top_k", "rank 1", operands=(S,), results=("tensor<2xf32>", "tensor<2xi32>")
)
_RAGGED = (
    "#chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = "
    "[1], lhs_ragged_dimensions = {}, rhs_group_dimensions = {}>"
)
for _ragged, _group, _words in (
    ("[]", "[0]", "one ragged"),
    ("[2]", "[0]", "ragged"),
    ("[0]", "[]", "one group"),
    ("[0]", "[3]", "rhs_group_dimensions"),
    ("[0]", "[1]", "must not repeat"),
    ("[1]", "[0]", "no group"),
    ("[0]", "[2]", "groups"),
):
    breaks(
        "chlo.ragged_dot", _words,
        props_ragged_dot_dimension_numbers=_RAGGED.format(_ragged, _group),
    )  # fmt: skip
breaks("chlo.ragged_dot", "expected the sizes", results=("tensor<8x6xf32>",))
breaks("chlo.scan", "no dimension", props_dimension="2 : i64")
breaks("chlo.scan", "result", results=("tensor<4x5xf32>", F4))
breaks("chlo.scan", "arguments", operands=(F46, "tensor<5xf32>"))
