"""Programs of one call of tt-mlir's, or one composite, sharded."""

from collections.abc import Mapping, Sequence

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'

Argument = tuple[str, str]
"""A shape with its element type, and for each dimension the axes that split it:
`("8x4xf32", "x|")`; nothing if it is whole."""


def _sharding(axes: str) -> str:
    if not axes:
        return ""
    dims = (
        "{" + ", ".join(f'"{axis}"' for axis in dim) + "}" for dim in axes.split("|")
    )
    return f" {{sdy.sharding = #sdy.sharding<@mesh, [{', '.join(dims)}]>}}"


def _program(
    op: str, arguments: Sequence[Argument], results: Sequence[str], body: str = ""
) -> str:
    """An op of all arguments whose results the function returns."""
    types = ", ".join(f"tensor<{shape}>" for shape, _ in arguments)
    made = ", ".join(f"tensor<{shape}>" for shape in results)
    names = ", ".join(f"%arg{index}" for index in range(len(arguments)))
    parameters = ", ".join(
        f"%arg{index}: tensor<{shape}>{_sharding(axes)}"
        for index, (shape, axes) in enumerate(arguments)
    )
    several = f":{len(results)}" if len(results) > 1 else ""
    returned = ", ".join(f"%r#{n}" for n in range(len(results))) if several else "%r"
    function = ""
    if body:
        inner = ", ".join(
            f"%arg{index}: tensor<{shape}>"
            for index, (shape, _) in enumerate(arguments)
        )
        function = f"func.func private @body({inner}) -> ({made}) {{\n{body}\n}}"
    return f"""module @m {{
  {MESH}
  func.func public @main({parameters}) -> ({made}) {{
    %r{several} = {op.replace("NAMES", names)} : ({types}) -> ({made})
    return {returned} : {made}
  }}
  {function}
}}
"""


_IN_PLACE = """, output_operand_aliases = [#stablehlo.output_operand_alias<
  output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]"""


def call(
    target: str,
    options: Mapping[str, str],
    arguments: Sequence[Argument],
    *results: str,
) -> str:
    """A program that calls a target with options; a cache is written in place."""
    said = ", ".join(f'"{key}" = "{value}"' for key, value in options.items())
    alias = _IN_PLACE if target.endswith("_cache") else ""
    attributes = (
        f"{{api_version = 0 : i32{alias}, mhlo.frontend_attributes = {{{said}}}}}"
    )
    op = f"stablehlo.custom_call @{target}(NAMES) {attributes}"
    return _program(op, arguments, results)


def composite(
    name: str, attributes: str, arguments: Sequence[Argument], *results: str, body: str
) -> str:
    """A program of a composite with attributes, and what it is made of."""
    said = f"{{composite_attributes = {{{attributes}}}, decomposition = @body}}"
    op = f'stablehlo.composite "{name}" NAMES {said}'
    return _program(op, arguments, results, body)


_CAUSAL = {"is_causal": "True"}
_OPEN = {"is_causal": "False", "scale": "0.3"}
_DECODE = {
    "has_attention_mask": "False",
    "has_attention_sink": "False",
    "has_cur_pos_tensor": "True",
    "is_causal": "True",
}
_LATENT = {**_DECODE, "has_value": "False", "head_dim_v": "8"}
_PREFILL = {
    "has_value": "True",
    "head_dim_v": "8",
    "has_attention_mask": "False",
    "is_causal": "True",
}
_UP = {"is_input_a_sparse": "False", "is_input_b_sparse": "True", "nnz": "0"}
_DOWN = {"is_input_a_sparse": "True", "is_input_b_sparse": "False", "nnz": "0"}
_ATTENTION = "tt.scaled_dot_product_attention"
_PAGED = "tt.paged_scaled_dot_product_attention_decode"
_Q, _K, _MQA = "4x8x32x16xf32", "4x4x32x16xf32", "4x1x32x16xf32"
_CACHE = "16x8x32x16xf32"

CALLS = {
    "attention, users and heads": call(
        _ATTENTION, _CAUSAL, [(_Q, "x|y||"), (_Q, "x|y||"), (_Q, "x|y||")], _Q
    ),
    "attention, groups of heads": call(
        _ATTENTION, _OPEN, [(_Q, "x|y||"), (_K, "x|y||"), (_K, "x|y||")], _Q
    ),
    "attention, more devices than heads of keys": call(
        _ATTENTION,
        _OPEN,
        [(_Q, "|y||"), ("4x2x32x16xf32", ""), ("4x2x32x16xf32", "")],
        _Q,
    ),
    "attention, one head of keys": call(
        _ATTENTION, _OPEN, [(_Q, "x|y||"), (_MQA, "x|||"), (_MQA, "x|||")], _Q
    ),
    "attention, sequences": call(
        _ATTENTION, _CAUSAL, [(_Q, "||y|"), (_Q, "||y|"), (_Q, "||y|")], _Q
    ),
    "attention, a mask of each user": call(
        _ATTENTION,
        _OPEN,
        [(_Q, "x|y||"), (_Q, "x|y||"), (_Q, "x|y||"), ("4x1x32x32xf32", "")],
        _Q,
    ),
    "decode, users and heads": call(
        _PAGED,
        _DECODE,
        [
            ("1x8x8x16xf32", "|x|y|"),
            (_CACHE, "|y||"),
            (_CACHE, "|y||"),
            ("8x2xi32", "x|"),
            ("8xi32", "x"),
        ],
        "1x8x8x16xf32",
    ),
    "chunked, users and heads": call(
        "tt.chunked_scaled_dot_product_attention",
        {"scale": "0.25"},
        [
            ("8x8x32x16xf32", "x|y||"),
            (_CACHE, "|y||"),
            (_CACHE, "|y||"),
            ("8x2xi32", "x|"),
            ("1xi32", ""),
        ],
        "8x8x32x16xf32",
    ),
    "update cache, heads": call(
        "tt.paged_update_cache",
        {"share_cache": "False"},
        [(_CACHE, "|y||"), ("1x8x8x16xf32", "||y|"), ("8xi32", ""), ("8x2xi32", "")],
        _CACHE,
    ),
    "update cache, users": call(
        "tt.paged_update_cache",
        {"share_cache": "False"},
        [
            (_CACHE, "|y||"),
            ("1x8x8x16xf32", "|x|y|"),
            ("8xi32", "x"),
            ("8x2xi32", "x|"),
        ],
        _CACHE,
    ),
    "fill cache, heads": call(
        "tt.paged_fill_cache",
        {},
        [(_CACHE, "|y||"), ("1x8x40x16xf32", "|y||"), ("2x2xi32", ""), ("1xi32", "")],
        _CACHE,
    ),
    "latent decode, users and heads": call(
        "tt.paged_flash_mla_decode",
        _LATENT,
        [
            ("1x8x8x16xf32", "|x|y|"),
            ("16x1x32x16xf32", ""),
            ("8x2xi32", "x|"),
            ("8xi32", "x"),
        ],
        "1x8x8x8xf32",
    ),
    "latent prefill, users and heads": call(
        "tt.flash_mla_prefill",
        _PREFILL,
        [(_Q, "x|y||"), (_MQA, "x|||"), ("4x1x32x8xf32", "x|||")],
        "4x8x32x8xf32",
    ),
    "sparse product, experts and columns": call(
        "tt.sparse_matmul",
        _UP,
        [("2x4x32x64xf32", ""), ("1x8x64x32xf32", "|x||y"), ("2x4x1x8xf32", "|||x")],
        "2x4x1x8x32x32xf32",
    ),
    "sparse product, experts and depth": call(
        "tt.sparse_matmul",
        _UP,
        [
            ("2x4x32x64xf32", "|||y"),
            ("1x8x64x32xf32", "|x|y|"),
            ("2x4x1x8xf32", "|||x"),
        ],
        "2x4x1x8x32x32xf32",
    ),
    "sparse product back, experts and depth": call(
        "tt.sparse_matmul",
        _DOWN,
        [
            ("8x8x32x64xf32", "|x||y"),
            ("1x8x64x32xf32", "|x|y|"),
            ("1x1x8x8xf32", "|||x"),
        ],
        "8x8x32x32xf32",
    ),
    "indexer, users and heads": call(
        "tt.indexer_score_dsa",
        {"chunk_start_idx": "4"},
        [
            ("4x8x32x16xf32", "x|y||"),
            ("4x1x64x16xf32", "x|||"),
            ("4x8x32x1xf32", "x|y||"),
        ],
        "4x1x32x64xf32",
    ),
    "indexer, queries": call(
        "tt.indexer_score_dsa",
        {"chunk_start_idx": "4"},
        [
            ("4x8x32x16xf32", "x||y|"),
            ("4x1x64x16xf32", "x|||"),
            ("4x8x32x1xf32", "x||y|"),
        ],
        "4x1x32x64xf32",
    ),
    "sampling, rows": call(
        "tt.sampling",
        {},
        [
            ("32x64xf32", "xy|"),
            ("32x64xi32", "xy|"),
            ("32xi32", ""),
            ("32xf32", ""),
            ("32xf32", ""),
        ],
        "32xi32",
    ),
    "dispatch": call(
        "tt.all_to_all_dispatch",
        {"num_devices": "4", "cluster_axis": "1"},
        [("4x32x1x64xf32", "y|||"), ("4x32x1x4xi64", "y|||"), ("1x1x8x8xi64", "")],
        "1x16x32x64xf32",
        "1x16x32x4xi64",
    ),
    "combine, experts": call(
        "tt.all_to_all_combine",
        {
            "num_devices": "4",
            "cluster_axis": "1",
            "num_experts_per_tok": "4",
            "output_shard_dim": "1",
        },
        [("8x16x32x64xf32", "xy|||"), ("1x16x32x4xi64", ""), ("1x1x8x8xi64", "")],
        "4x4x32x64xf32",
    ),
}
"""What is called of tt-mlir, each with several devices."""

_T = "tensor<8x64xf32>"
_GELU = f"""
  %c = stablehlo.constant dense<0.5> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> {_T}
  %1 = stablehlo.tanh %arg0 : {_T}
  %2 = stablehlo.multiply %1, %0 : {_T}
  %3 = stablehlo.multiply %2, %arg0 : {_T}
  return %3 : {_T}"""
_SOFTMAX = f"""
  %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%arg0 init: %m) applies stablehlo.maximum across dimensions = [1]
    : ({_T}, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> {_T}
  %3 = stablehlo.subtract %arg0, %2 : {_T}
  %4 = stablehlo.exponential %3 : {_T}
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [1]
    : ({_T}, tensor<f32>) -> tensor<8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> {_T}
  %7 = stablehlo.divide %4, %6 : {_T}
  return %7 : {_T}"""
_RMS = f"""
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.constant dense<1.0e-5> : tensor<8xf32>
  %n = stablehlo.constant dense<64.0> : tensor<8xf32>
  %1 = stablehlo.multiply %arg0, %arg0 : {_T}
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1]
    : ({_T}, tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.divide %2, %n : tensor<8xf32>
  %4 = stablehlo.add %3, %e : tensor<8xf32>
  %5 = stablehlo.rsqrt %4 : tensor<8xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<8xf32>) -> {_T}
  %7 = stablehlo.multiply %arg0, %6 : {_T}
  %8 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> {_T}
  %9 = stablehlo.multiply %7, %8 : {_T}
  return %9 : {_T}"""
_ARGMAX = f"""
  %i = stablehlo.iota dim = 1 : tensor<8x64xi32>
  %m = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.reduce(%arg0 init: %m), (%i init: %z) across dimensions = [1]
    : ({_T}, tensor<8x64xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {{
      %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
      %r = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %q, %r : tensor<f32>, tensor<i32>
    }}
  return %1#1 : tensor<8xi32>"""
_NORM = "epsilon = 1.0e-5 : f32, normalized_shape = dense<64> : tensor<1xi64>"
_SAID = 'approximate = "tanh"'
_S = "8x64xf32"

COMPOSITES = {
    "gelu": composite("tenstorrent.gelu_tanh", _SAID, [(_S, "x|y")], _S, body=_GELU),
    "operands in another order": composite(
        "my.difference",
        "k = 1.0 : f32",
        [(_S, "x|y"), (_S, "x|y")],
        _S,
        body=f"""
  %1 = stablehlo.exponential %arg1 : {_T}
  %2 = stablehlo.subtract %1, %arg0 : {_T}
  return %2 : {_T}""",
    ),
    "results in another order": composite(
        "my.two",
        "",
        [(_S, "x|y")],
        _S,
        _S,
        body=f"""
  %1 = stablehlo.tanh %arg0 : {_T}
  %2 = stablehlo.negate %1 : {_T}
  return %2, %1 : {_T}, {_T}""",
    ),
    "softmax of rows": composite(
        "my.softmax", "dim = 1 : i64", [(_S, "xy|")], _S, body=_SOFTMAX
    ),
    "softmax of split rows": composite(
        "my.softmax", "dim = 1 : i64", [(_S, "|y")], _S, body=_SOFTMAX
    ),
    "rms_norm of rows": composite(
        "tenstorrent.rms_norm", _NORM, [(_S, "xy|"), ("64xf32", "")], _S, body=_RMS
    ),
    "rms_norm of split rows": composite(
        "tenstorrent.rms_norm", _NORM, [(_S, "x|y"), ("64xf32", "y")], _S, body=_RMS
    ),
    "argmax of rows": composite(
        "tenstorrent.argmax",
        "dim = 1 : i64, keepdim = false",
        [(_S, "xy|")],
        "8xi32",
        body=_ARGMAX,
    ),
    "argmax of split rows": composite(
        "tenstorrent.argmax",
        "dim = 1 : i64, keepdim = false",
        [(_S, "x|y")],
        "8xi32",
        body=_ARGMAX,
    ),
}
"""Composites, of which some are one op to tt-mlir."""


def twice(text: str) -> str:
    """The composite again of its own result."""
    op = next(line for line in text.splitlines() if "%r = " in line)
    again = op.replace("%r = ", "%s = ").replace("%arg0 {", "%r {")
    return text.replace(f"{op}\n    return %r", f"{op}\n{again}\n    return %s")
