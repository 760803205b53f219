"""A valid use of every op of StableHLO and CHLO, by name: the catalogue."""

from tests.catalogue import chlo, stablehlo
from tests.catalogue.elementwise import OPS, Elementwise
from tests.catalogue.use import C4, F46, I4, Use, Uses

_OPERANDS = {"f": F46, "c": C4, "s": I4}
"""The operands of elementwise ops by the kind of their elements."""


def _use_of(op: Elementwise, kind: str) -> Use:
    operand = _OPERANDS[kind]
    shape = "tensor<4x6x" if operand == F46 else "tensor<4x"
    result = f"{shape}{op.result}>" if op.result else operand
    return Use(op.name, (operand,) * op.arity, (result,))


USES = Uses(
    # of an op that is there twice the first
    {op.name: _use_of(op, op.kinds[0]) for op in reversed(OPS)}
    | {f"{op.name} of complex": _use_of(op, "c") for op in OPS if "c" in op.kinds}
    | stablehlo.USES
    | chlo.USES
)

NOT_FOR_JAXLIB = {
    "stablehlo.collective_reduce": "this jaxlib does not have the op yet",
    "stablehlo.uniform_quantize": "JAX's context does not register the quant dialect",
    "stablehlo.uniform_dequantize": "JAX's context does not register the quant dialect",
}

UNCHECKED = {
    "stablehlo.torch_index_select": "C++ looks at nothing; the op is not specified"
}
"""Ops of which C++ takes all."""
