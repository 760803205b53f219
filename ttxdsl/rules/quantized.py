"""Factors of quantized tensors that devices cannot divide.

- Tensors with a scale for each slice: their type lists all scales, so that parts along
  that dimension would be of different types in one program, and StableHLO's collectives
  and slices do not take such tensors.
- Sums that become quantized tensors: each part would be rounded and cut off before
  parts are added.

Shardy's rules do not look at element types; see docs/evidence/differences.md.
"""

from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.dialects.quant import QuantizedType, scaled_dim
from ttxdsl.ir.tensors import element_of, is_tensor
from ttxdsl.rules.builder import Dims, Factor, FactorType


def quantized_elements(op: Operation) -> tuple[Attribute | None, ...]:
    """Return each operand's and result's quantized type; `()` if there is none."""
    elements = tuple([_quantized(value) for value in (*op.operands, *op.results)])
    return elements if any(elements) else ()


def _quantized(value: SSAValue) -> QuantizedType | None:
    if not is_tensor(value):
        return None
    element = element_of(value)
    return element if isinstance(element, QuantizedType) else None


def kept_whole(op: Operation, factors: Iterable[Factor]) -> Iterable[Factor]:
    """The factors of an op, those that its elements keep together needed whole."""
    elements = quantized_elements(op)
    if not elements:
        return factors
    scaled = [
        element is not None and scaled_dim(element) is not None for element in elements
    ]
    count = len(op.operands)
    adds = any(elements[count:])
    return [
        factor._replace(kind=FactorType.NEED_REPLICATION, local=None)
        if _is_in(factor.operands, scaled[:count])
        or _is_in(factor.results, scaled[count:])
        or (adds and not _is_in(factor.results, [True] * len(op.results)))
        else factor
        for factor in factors
    ]


def _is_in(dims: Dims, some: Sequence[bool]) -> bool:
    """Whether some of the tensors have a factor."""
    if dims is None or isinstance(dims, int):
        return dims is not None and any(some)
    return any(cut and dim is not None for dim, cut in zip(dims, some, strict=True))
