"""Small twins of public models: the same code of MaxText, with few and narrow layers."""

NARROW = {
    "override_model_config": "true",
    "base_emb_dim": "64",
    "base_num_query_heads": "4",
    "base_num_kv_heads": "4",
    "head_dim": "16",
    "base_mlp_dim": "128",
    "vocab_size": "256",
    "max_target_length": "64",
    "per_device_batch_size": "1",
    "base_num_decoder_layers": "2",
    "attention": "dot_product",
}
"""What all twins are given."""

_EXPERTS = {"num_experts": "8", "num_experts_per_tok": "2", "base_moe_mlp_dim": "128"}
_DENSE = {"sparse_matmul": "false"}
"""Experts without Pallas: the kernel of the grouped product runs on chips only."""
_LATENT = {
    "kv_lora_rank": "16",
    "qk_nope_head_dim": "16",
    "qk_rope_head_dim": "8",
    "v_head_dim": "16",
    "first_num_dense_layers": "1",
    "base_num_decoder_layers": "3",
}
_PICTURES = {
    "image_size_for_vit": "64",
    "num_position_embeddings_for_vit": "16",
    "hidden_size_for_vit": "32",
    "intermediate_size_for_vit": "64",
    "num_attention_heads_for_vit": "4",
    "num_hidden_layers_for_vit": "3",
    "out_hidden_size_for_vit": "64",
    "deepstack_visual_indexes_for_vit": "[1]",
    "mrope_section": "[2,3,3]",
    "scan_layers": "false",
}

TWINS: dict[str, tuple[str, dict[str, str]]] = {
    "llama": ("llama3.1-8b", {}),
    "llama_tensor": (
        "llama3.1-8b",
        {"ici_tensor_parallelism": "4", "ici_fsdp_parallelism": "2"},
    ),
    "llama_context": (
        "llama3.1-8b",
        {"ici_context_parallelism": "2", "ici_fsdp_parallelism": "4"},
    ),
    "gemma2": ("gemma2-2b", {"sliding_window_size": "16"}),
    "gemma3": (
        "gemma3-4b",
        {"base_num_decoder_layers": "7", "sliding_window_size": "16"},
    ),
    "gpt3": ("gpt3-52k", {"trainable_position_size": "64"}),
    "olmo3": (
        "olmo3-7b",
        {"base_num_decoder_layers": "4", "sliding_window_size": "16"},
    ),
    "qwen3": ("qwen3-0.6b", {}),
    "qwen3_moe": ("qwen3-30b-a3b", _EXPERTS | _DENSE),
    "qwen3_next": (
        "qwen3-next-80b-a3b",
        _EXPERTS
        | _DENSE
        | {
            "base_num_decoder_layers": "4",
            "gdn_key_head_dim": "16",
            "gdn_value_head_dim": "16",
            "gdn_num_key_heads": "2",
            "gdn_num_value_heads": "4",
            "gdn_chunk_size": "16",
        },
    ),
    "mixtral": ("mixtral-8x7b", _EXPERTS | _DENSE),
    "mixtral_expert": (
        "mixtral-8x7b",
        _EXPERTS
        | _DENSE
        | {"ici_expert_parallelism": "4", "ici_fsdp_parallelism": "2"},
    ),
    "deepseek2": ("deepseek2-16b", _EXPERTS | _DENSE | _LATENT),
    "deepseek3": (
        "deepseek3-671b",
        _EXPERTS | _DENSE | _LATENT | {"q_lora_rank": "32"},
    ),
    "gpt_oss": ("gpt-oss-20b", _EXPERTS | _DENSE | {"sliding_window_size": "16"}),
    "llama4": (
        "llama4-17b-16e",
        _EXPERTS
        | _DENSE
        | {
            "num_experts_per_tok": "1",
            "base_num_decoder_layers": "4",
            "chunk_attn_window_size": "32",
        },
    ),
    "qwen3_vision": ("qwen3-vl-2b", _PICTURES),
}
"""Each twin's model, and what it is given besides."""


def settings(name: str) -> list[str]:
    """Return all settings of a twin, as MaxText takes them."""
    _, own = TWINS[name]
    return [f"{key}={value}" for key, value in (NARROW | own).items()]
