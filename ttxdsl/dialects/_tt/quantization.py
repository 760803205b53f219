"""Ops between real numbers and stored integers (`quant.uniform` types)."""

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.op import OneInputOp
from ttxdsl.dialects._tt.tensors import expect_shape
from ttxdsl.dialects.quant import QuantizedType


class QuantizationOp(OneInputOp):
    """Base of ops between real numbers and stored integers.

    The floats that a quantized tensor stands for have its expressed type.
    """

    STORED: ClassVar[tuple[bool, bool]]
    """Whether the input, and whether the result, is quantized."""

    def verify_shapes(self) -> None:
        """Operand and result are quantized or not, by the op; the shape is kept."""
        input, result = self.types
        expect_shape(result, input.get_shape(), "the input's")
        for type, quantized, name in zip(
            (input, result), self.STORED, ("input", "result"), strict=True
        ):
            if isinstance(type.element_type, QuantizedType) != quantized:
                wanted = "quantized" if quantized else "plain"
                raise VerifyException(
                    f"the {name} has {type.element_type} elements, expected {wanted} ones"
                )
        expressed = {_expressed(input.element_type), _expressed(result.element_type)}
        if len(expressed) > 1:
            names = ", ".join(sorted(str(type) for type in expressed))
            raise VerifyException(
                f"input and result stand for different floats: {names}"
            )


def _expressed(type: Attribute) -> Attribute:
    return type.expressed_type if isinstance(type, QuantizedType) else type


class Quantize(QuantizationOp):
    """Real numbers to the stored integers of the result's `quant.uniform` type.

    `round(input / scale + zero_point)`, kept in the stored range.
    """

    name = "quantize"

    STORED: ClassVar[tuple[bool, bool]] = (False, True)


class Dequantize(QuantizationOp):
    """Stored integers of the input's `quant.uniform` type to real numbers.

    `(input - zero_point) * scale`.
    """

    name = "dequantize"

    STORED: ClassVar[tuple[bool, bool]] = (True, False)


class Requantize(QuantizationOp):
    """Stored integers of one `quant.uniform` type converted to another.

    `dequantize` by the first scale and zero point, `quantize` by the second.
    """

    name = "requantize"

    STORED: ClassVar[tuple[bool, bool]] = (True, True)
