"""Attributes of tt-mlir that do not affect results: their text is kept.

A memory layout, a program configuration or the description of a machine has a place
and a name here, and its text. Aliases in the text, which a printed module has no
definitions of, are replaced by what they stand for; all else is printed back letter by
letter, so that tt-mlir reads what it wrote.
"""

import re
from collections.abc import Iterable
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition

_ALIAS_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|[#!][A-Za-z_][\w$-]*(?![\w$.<-])')


def _written_out(parser: AttrParser, text: str) -> str:
    """Return the text without aliases."""
    known = parser.attribute_aliases

    def meaning(match: re.Match[str]) -> str:
        attribute = known.get(match[0])
        return match[0] if attribute is None else str(attribute)

    return _ALIAS_OR_STRING.sub(meaning, text)


class Verbatim(ParametrizedAttribute):
    """Base of attributes that are their text, `#ttnn.core_coord<8, 8>`."""

    text: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read all between the angle brackets."""
        body = cast(Any, parser)._parse_dialect_symbol_body()
        return [StringAttr(_written_out(parser, body))]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.text.data}>")


class SpacedVerbatim(Verbatim, SpacedOpaqueSyntaxAttribute):
    """Base of those that MLIR writes with the name inside, `#ttnn<mesh_offset 0x0>`."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        start = parser.pos
        end = cast(Any, parser)._raw_scan_balanced(start)
        cast(Any, parser)._resume_from(end)
        text = parser.lexer.input.content[start:end]
        return [StringAttr(_written_out(parser, text.strip()))]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(self.text.data)


def verbatim(
    dialect: str, names: Iterable[str], base: type[ParametrizedAttribute] = Verbatim
) -> list[type[ParametrizedAttribute]]:
    """Attributes of a dialect that are kept as text, by name."""
    return [_define(f"{dialect}.{name}", (base,)) for name in names]


def _define(name: str, bases: tuple[type, ...]) -> type[ParametrizedAttribute]:
    title = "".join(part.capitalize() for part in re.split(r"[._]", name)) + "Attr"
    fields = {
        "name": name,
        "__doc__": f"`{name}`, as it was written.",
        "__module__": __name__,
        # an annotation of each class: only annotated fields are compared
        "__annotations__": {"text": StringAttr},
    }
    return irdl_attr_definition(
        cast(type[ParametrizedAttribute], type(title, bases, fields))
    )


TTNN_TEXTS = (
    "buffer_type", "compute_kernel", "conv2d_config", "conv2d_slice_config",
    "conv3d_config", "core_coord", "core_range", "core_range_set", "core_runtime_args",
    "data_movement_kernel", "device_compute_kernel_config", "kernel_arg_address_of_tensor",
    "kernel_arg_cb_buffer_index", "kernel_arg_scalar", "kernel_arg_semaphore_at", "kernel_cb",
    "kernel_cb_format", "kernel_semaphore", "layernorm_sharded_multicore_program_config",
    "layout", "matmul_multi_core_reuse_multi_cast_1d_program_config",
    "matmul_multi_core_reuse_multi_cast_dram_sharded_program_config",
    "matmul_multi_core_reuse_multi_cast_program_config",
    "matmul_multi_core_reuse_program_config", "memory_config", "mesh_composer_config", "mesh_mapper_config",
    "mesh_program", "placement", "unary_with_param",
    "nd_shard_spec", "program", "read_kernel", "sdpa_program_config",
    "shard_distribution_strategy", "shard_orientation", "shard_spec",
    "tensor_memory_layout", "trace_id", "ttnn_layout", "ttnn_nd_layout", "write_kernel",
)  # fmt: skip
"""ttnn's attributes of memory layouts and kernel configurations."""

TTCORE_TEXTS = (
    "arch", "chip_channel", "chip_coord", "chip_desc", "chip_physical_helper_cores",
    "cpu_desc", "data_type", "supportedDataTypes", "device", "grid", "iterator_type",
    "memory_space", "metal_layout", "system_desc", "tile_size", "topology",
)  # fmt: skip
"""ttcore's attributes of the machine."""
