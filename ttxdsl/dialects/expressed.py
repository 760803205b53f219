"""Ops on quantized tensors as ops on the floats that their integers stand for.

Source: StableHLO specification, sections "Quantized types", "quantize", "dequantize".
"""

from functools import cache
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.rewriter import Rewriter

from ttxdsl.dialects.quant import Quantization, QuantizedType
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.traits import MovesData, ops_with
from ttxdsl.ir.tensors import Tensor


@cache
def _moves() -> frozenset[str]:
    """Ops that move stored integers without computing."""
    return frozenset(op.name for op in ops_with(MovesData, StableHLO)) | {
        "stablehlo.composite",
        "stablehlo.uniform_dequantize",
        "stablehlo.uniform_quantize",
    }


def quantization_of(type: Attribute) -> Quantization | None:
    """Return the quantization of a tensor type's elements, None if there is none."""
    if not isinstance(type, TensorType):
        return None
    element = cast("TensorType[Attribute]", type).element_type
    return element.data if isinstance(element, QuantizedType) else None


def _expressed(type: Attribute) -> Attribute:
    how = quantization_of(type)
    if how is None:
        return type
    return TensorType(how.expressed_type, cast(Tensor, type).get_shape())


def on_floats(op: Operation) -> Operation | None:
    """For an op on quantized tensors the same op on floats, else None.

    It is not part of the program: its operands are arguments of a block of its own.
    """
    if op.name in _moves() or not op.name.startswith("stablehlo."):
        return None
    types = (value.type for value in (*op.operands, *op.results))
    if all(quantization_of(type) is None for type in types):
        return None
    block = Block(arg_types=[_expressed(value.type) for value in op.operands])
    regions = [_region_on_floats(region) for region in op.regions]
    copy = type(op).create(
        operands=block.args,
        result_types=[_expressed(value.type) for value in op.results],
        properties=op.properties,
        attributes=op.attributes,
        regions=regions,
    )
    block.add_op(copy)
    return copy


def _region_on_floats(region: Region) -> Region:
    copy = region.clone()
    values = [arg for block in copy.blocks for arg in block.args]
    values += [result for op in copy.walk() for result in op.results]
    for value in values:
        wanted = _expressed(value.type)
        if wanted != value.type:
            Rewriter.replace_value_with_new_type(value, wanted)
    return copy
