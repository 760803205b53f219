"""Ops that tt-mlir has today and our lowerings do not write: one table.

Their fields are tt-mlir's, by name; what configures a kernel is optional and says
nothing about numbers. Shapes of results are checked by the run, which computes them:
`ttxdsl/interpreters/ops/tt/tt_mlir_ops.py` has their kernels and says what they mean.
"""

from typing import Any, Literal, NamedTuple

from xdsl.dialects.builtin import AnyTensorTypeConstr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from ttxdsl.dialects._tt.op import TTOp, op_of


class Today(NamedTuple):
    """One op: its names, in order.

    Attributes:
        name: the mnemonic.
        operands: their names, in the dialect's order; `?` after one that may be missing,
            `*` after any number.
        properties: their names; `?` after one that may be missing.
        only: the dialect that has it, if it is one.
        on_device: whether ttnn's has the handle of the devices as its last operand.
        pure: whether it may be dropped when nothing uses its results.
    """

    name: str
    operands: str = "input"
    properties: str = ""
    results: str = "result"
    only: Literal["ttir", "ttnn"] | None = None
    on_device: bool = False
    pure: bool = True


_WINDOWS = "in_channels? out_channels? batch_size? kernel_size? conv2d_config? conv2d_slice_config? compute_config?"
_IMAGE = f"{_WINDOWS} batch_dim? height_dim? width_dim? channel_dim? input_height? input_width? flattened_compat_info?"
_POOL = (
    "kernel? kernel_size? stride dilation padding ceil_mode batch_size? input_height? input_width? channels? "
    "flattened_compat_info? applied_shard_scheme? reallocate_halo_output? config_tensors_in_dram? compute_config?"
)
_PREPARED = (
    "input_memory_config input_tensor_layout in_channels out_channels batch_size input_height input_width "
    "kernel_size stride padding dilation groups input_dtype output_dtype? conv2d_config? compute_config? "
    "conv2d_slice_config? weights_format? has_bias? output_padding? mirror_kernel?"
)
_HEADS = "is_causal? scale? sliding_window_size? program_config? compute_config?"
_NORM = "epsilon? compute_config? program_config? memory_config?"

TODAY: tuple[Today, ...] = (
    # where tensors are
    Today("assign", only="ttnn"),
    Today(
        "deallocate", properties="force?", results="", only="ttnn", pure=False
    ),
    Today("to_device", properties="memory_config?", only="ttnn", on_device=True),
    Today(
        "to_layout", properties="layout? dtype? memory_config?", only="ttnn"
    ),
    Today("to_memory_config", properties="memory_config?", only="ttnn"),
    Today("empty", "", "shape dtype? layout? memory_config?", only="ttnn", on_device=True),
    # between devices
    Today("collective_broadcast", properties="replica_groups", only="ttir"),
    # element by element
    Today(
        "bitwise_right_shift",
        "lhs rhs",
        "activations? input_tensor_a_activations? input_tensor_b_activations?",
        only="ttnn",
    ),
    Today("clamp_scalar", properties="min max"),
    Today("exp2", only="ttir"),
    Today("frac", only="ttir"),
    Today("gelu_bw", "lhs rhs", "approximate? activations? input_tensor_a_activations? input_tensor_b_activations?"),
    Today("hardsigmoid"),
    Today("leaky_relu", properties="parameter"),
    Today("mish"),
    Today("pow_scalar", "lhs", "rhs", only="ttnn"),
    Today("relu6"),
    Today("right_shift", "lhs rhs", only="ttir"),
    Today("round"),
    Today("selu", properties="scale? alpha?", only="ttir"),
    Today("signbit", only="ttir"),
    Today("softsign", only="ttir"),
    Today("square", only="ttir"),
    Today("trunc", only="ttir"),
    # along dimensions
    Today("cumulative", properties="dim reduction reverse?"),
    Today("reduce_bitwise_and", properties="dim_arg? keep_dim compute_config?"),
    Today("reduce_bitwise_or", properties="dim_arg? keep_dim compute_config?"),
    Today("reduce_bitwise_xor", properties="dim_arg? keep_dim compute_config?"),
    Today("reduce_precision", properties="exponent_bits mantissa_bits"),
    Today("softmax", properties="dimension numericStable? compute_config?"),
    # other places, shapes and orders
    Today("concatenate_heads"),
    Today("fill_cache", "cache input", "batch_offset", results="", pure=False),
    Today("index_select", properties="dim begin length stride?", only="ttir"),
    Today("nlp_concat_heads", only="ttnn"),
    Today("repeat", properties="repeat_dimensions", only="ttir"),
    Today("repeat_interleave", properties="repeats dim"),
    Today("rows_gather", "input index", "sizes windows column fill_out_of_bounds?"),
    Today("rows_scatter", "input index source", "sizes windows column reduce"),
    Today(
        "split_query_key_value_and_split_heads",
        "input_tensor kv_input_tensor?",
        "num_heads num_kv_heads? transpose_key",
        "query key value",
    ),
    Today("squeeze", properties="dim", only="ttir"),
    Today("transpose", properties="dim0 dim1"),
    Today("unsqueeze", properties="dim", only="ttir"),
    # products
    Today(
        "linear",
        "a b bias?",
        "transpose_a? transpose_b? matmul_program_config? activation? compute_config?",
    ),
    Today(
        "conv1d",
        "input weight bias?",
        f"stride padding dilation groups {_WINDOWS} batch_dim? length_dim? channel_dim? input_length?",
        on_device=True,
    ),
    Today(
        "conv_transpose2d",
        "input weight bias?",
        f"stride padding output_padding dilation groups {_IMAGE}",
        on_device=True,
    ),
    Today("prepare_conv2d_bias", "bias_tensor", _PREPARED, only="ttnn", on_device=True),
    Today("prepare_conv2d_weights", "weight_tensor", _PREPARED, only="ttnn", on_device=True),
    Today("prepare_conv3d_weights", "weight_tensor", "alignment c_in_block groups", only="ttnn", on_device=True),
    Today("prepare_conv_transpose2d_bias", "bias_tensor", _PREPARED, only="ttnn", on_device=True),
    Today("prepare_conv_transpose2d_weights", "weight_tensor", _PREPARED, only="ttnn", on_device=True),
    # windows
    Today("avg_pool2d", properties=f"{_POOL} count_include_pad? divisor_override?"),
    Today("max_pool2d", properties=_POOL),
    Today("max_pool2d_with_indices", "input outputs*", properties=_POOL, results="result result_indices"),
    Today("global_avg_pool2d"),
    # norms
    # in ttir the scale and the offset come first, and inference has all five
    Today("batch_norm_inference", "input weight bias running_mean running_var", f"dimension? {_NORM}", only="ttir"),
    Today("batch_norm_inference", "input running_mean? running_var? weight? bias?", _NORM, only="ttnn"),
    Today(
        "batch_norm_training",
        "input weight bias running_mean? running_var?",
        f"dimension? momentum? {_NORM}",
        "result batch_mean batch_variance",
        only="ttir",
    ),
    Today(
        "batch_norm_training",
        "input running_mean? running_var? weight? bias?",
        f"momentum? {_NORM}",
        "result batch_mean batch_variance",
        only="ttnn",
    ),
    Today("group_norm", "input input_mask? weight? bias?", f"num_groups channel_dim? {_NORM}"),
    Today("layer_norm", "input weight? bias?", f"normalized_shape? {_NORM}"),
    Today("rms_norm", "input weight? bias?", f"normalized_shape? {_NORM}"),
    Today("distributed_layer_norm", "input weight? bias? residual?", f"cluster_axis num_links? topology? sub_device_id? {_NORM}", on_device=True),
    Today("distributed_rms_norm", "input weight? residual?", f"cluster_axis num_links? topology? sub_device_id? {_NORM}", only="ttir"),
    Today("distributed_rms_norm", "input weight? residual? stats? semaphore?", f"cluster_axis num_links? topology? sub_device_id? {_NORM}", only="ttnn", on_device=True),
    # attention
    Today("rotary_embedding", "input cos_cache sin_cache", "token_index? compute_config?", only="ttnn"),
    Today("scaled_dot_product_attention", "query key value attention_mask? attention_sink?", _HEADS),
    Today("scaled_dot_product_attention_decode", "query key value attention_mask? cur_pos_tensor? attention_sink?", _HEADS),
    # ttir's still have a destination
    Today(
        "paged_scaled_dot_product_attention_decode",
        "query key value page_table output attention_mask? cur_pos_tensor? attention_sink?",
        _HEADS,
        only="ttir",
    ),
    Today(
        "paged_scaled_dot_product_attention_decode",
        "query key value page_table attention_mask? cur_pos_tensor? attention_sink?",
        _HEADS,
        only="ttnn",
    ),
    Today("chunked_scaled_dot_product_attention", "query key value page_table chunk_start_idx output", "scale?", only="ttir"),
    Today(
        "chunked_scaled_dot_product_attention",
        "query key value page_table chunk_start_idx",
        "scale? program_config? compute_config?",
        only="ttnn",
    ),
    Today(
        "paged_flash_multi_latent_attention_decode",
        "query key value? page_table attention_mask? cur_pos_tensor? attention_sink?",
        "head_dim_v is_causal? scale? program_config? compute_config?",
    ),
    Today("sampling", "values indices k p temp", "seed?"),
)  # fmt: skip
"""Every such op."""


class TodayOp(TTOp):
    """Base of these ops; the run checks their shapes."""


def op_of_line(line: Today, dialect: type[TTOp], device: Any) -> type[TTOp]:
    """The op that a line is in a dialect, which has `device` as its last operand."""
    fields: dict[str, Any] = {}
    optional = 0
    for word in line.operands.split():
        name = word.rstrip("?*")
        define = {"?": opt_operand_def, "*": var_operand_def}.get(word[-1], operand_def)
        fields[name] = define(AnyTensorTypeConstr)
        optional += word[-1] in "?*"
    if device is not None and line.on_device:
        fields["device"] = device
    for word in line.properties.split():
        define = opt_prop_def if word.endswith("?") else prop_def
        fields[word.rstrip("?")] = define(BaseAttr(Attribute))
    for name in line.results.split():
        fields[name] = result_def(AnyTensorTypeConstr)
    if optional > 1:
        fields["irdl_options"] = (AttrSizedOperandSegments(as_property=True),)
    if line.pure:
        fields["traits"] = traits_def(Pure())
    return op_of(
        TodayOp, dialect, line.name, "See tt-mlir's op of this name.", **fields
    )
