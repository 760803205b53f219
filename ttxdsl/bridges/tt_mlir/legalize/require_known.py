"""`require-known`: refuse ops that tt-mlir has no form for, with their position.

tt-mlir itself often crashes on such a program, or leaves the op behind.
"""

from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    ModuleOp,
    TensorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from ttxdsl.bridges.tt_mlir.legalize.scalar_computations import (
    combining_op,
    constant_number,
)
from ttxdsl.conversion.writing import integer_width
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of
from ttxdsl.ir.traversal import all_ops

_WIDTHS = (1, 8, 16, 32, 64)

WITHOUT = {
    "stablehlo.cholesky": "it has no factorizations",
    "stablehlo.fft": "it has no Fourier transforms",
    "stablehlo.infeed": "it has no channels to the host",
    "stablehlo.outfeed": "it has no channels to the host",
    "stablehlo.recv": "it has no channels to the host",
    "stablehlo.send": "it has no channels to the host",
    "stablehlo.triangular_solve": "it has no solvers",
    "stablehlo.collective_reduce": "it has no reduction to one device",
}
"""Ops that are refused, and why."""

_OWN_CALLS = ("tt.", "tenstorrent.", "mhlo.")


def _is_known(type_: Attribute) -> bool:
    if not isinstance(type_, TensorType):
        return False
    element = cast("TensorType[Attribute]", type_).element_type
    if isinstance(element, ComplexType):
        element = cast("ComplexType[AnyFloat]", element).element_type
    if (width := integer_width(element)) is not None:
        return width in _WIDTHS
    return isinstance(element, Float16Type | BFloat16Type | Float32Type | Float64Type)


def _reason(op: Operation) -> str | None:
    """Why tt-mlir does not take an op; None if nothing is known against it."""
    if (why := WITHOUT.get(op.name)) is not None:
        return why
    if isinstance(op, stablehlo.CustomCallOp):
        target = op.call_target_name.data
        if not target.startswith(_OWN_CALLS):
            return f"it has no custom call @{target}"
    if isinstance(op, stablehlo.SelectAndScatterOp):
        adds = combining_op(op.scatter.block) is stablehlo.AddOp
        if not adds or constant_number(op.init_value) is None:
            return "it adds up what it selects, from a constant"
    if isinstance(op, stablehlo.SortOp) and any(
        isinstance(element_of(input), ComplexType) for input in op.inputs
    ):
        return "it does not sort complex numbers"
    return None


class RequireKnownPass(ModulePass):
    """Refuse what tt-mlir does not take whatever its form."""

    name = "require-known"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at all ops.

        Raises:
            UnsupportedError: one of them, or a type.
        """
        for child in all_ops(op):
            if not child.name.startswith(("stablehlo.", "chlo.")):
                continue
            reason = _reason(child)
            if reason is None:
                types = (*(v.type for v in child.operands), *child.result_types)
                unknown = next((t for t in types if not _is_known(t)), None)
                if unknown is not None:
                    reason = f"it has no {unknown}"
            if reason is not None:
                raise UnsupportedError(f"tt-mlir does not take it: {reason}", child)
