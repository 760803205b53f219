"""Every op class and the function that makes its ops local."""

from xdsl.ir import Operation

from ttxdsl.ir.data_flow import ByClass
from ttxdsl.transforms.partition.localizer import OpLocalizer, Table
from ttxdsl.transforms.partition.ops import (
    contraction,
    control_flow,
    creation,
    data_movement,
    elementwise,
    indexing,
    normalization,
    opaque,
    reduction,
    sdy_collectives,
    windowed,
)

LOCALIZERS: Table = {
    **contraction.LOCALIZERS,
    **control_flow.LOCALIZERS,
    **creation.LOCALIZERS,
    **data_movement.LOCALIZERS,
    **elementwise.LOCALIZERS,
    **indexing.LOCALIZERS,
    **normalization.LOCALIZERS,
    **opaque.LOCALIZERS,
    **reduction.LOCALIZERS,
    **sdy_collectives.LOCALIZERS,
    **windowed.LOCALIZERS,
}


def _nearest(op_class: type[object]) -> OpLocalizer:
    for base in op_class.__mro__:
        if issubclass(base, Operation) and base in LOCALIZERS:
            return LOCALIZERS[base]
    return opaque.unknown


_NEAREST = ByClass(_nearest)


def localizer_of(op: Operation) -> OpLocalizer:
    """Return the line for the op's class or the nearest of its bases.

    Ops without a line are computed replicated, unless a rule says more.
    """
    return _NEAREST[type(op)]
