"""Ops of CHLO as custom calls `@mhlo.NAME`, as HLO's dialect writes them in StableHLO.

    stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64}

Source: XLA's `stablehlo_ext` and its conversion of MHLO to StableHLO.
"""

from typing import cast

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.transforms.frontends.signs import MHLO

_ATTRIBUTES = "mhlo.attributes"
_VERSION = "mhlo.version"

_NAMES = ["acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh"]
_CHLO = {op.name: op for op in chlo.Chlo.operations}
_UNARY = {f"{MHLO}{name}": _CHLO[f"chlo.{name}"] for name in _NAMES} | {
    f"{MHLO}tan": stablehlo.TanOp
}


class OpOfMhlo(RewritePattern):
    """The op that a custom call of MHLO's stands for."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.CustomCallOp, rewriter: PatternRewriter, /
    ) -> None:
        """Replace one call by the op that it stands for.

        Raises:
            UnsupportedError: no op that is known here does what it says.
        """
        target = op.call_target_name.data
        if not target.startswith(MHLO):
            return
        attribute = op.attributes.get(_ATTRIBUTES)
        options = dict(attribute.data) if isinstance(attribute, DictionaryAttr) else {}
        if target in _UNARY and len(op.inputs) == len(op.outputs) == 1 and not options:
            new = _UNARY[target].create(
                operands=op.operands, result_types=op.result_types
            )
        elif target == "mhlo.topk" and len(op.inputs) == 1 and len(op.outputs) == 2:
            k, largest = options.get("k"), options.get("largest")
            if not isinstance(k, IntegerAttr) or largest != BoolAttr.from_bool(True):
                raise UnsupportedError(f"its options are not known: {attribute}", op)
            new = chlo.TopKOp.create(
                operands=op.operands,
                result_types=op.result_types,
                properties={"k": cast(Attribute, k)},
            )
        else:
            raise UnsupportedError(f"the custom call {target} is not known", op)
        kept = {k: v for k, v in op.attributes.items() if k not in _IDLE}
        new.attributes.update(kept)
        new.location = op.location
        rewriter.replace(op, new)


_IDLE = (_ATTRIBUTES, _VERSION)
