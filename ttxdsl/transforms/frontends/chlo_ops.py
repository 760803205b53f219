"""Ops of CHLO in forms that StableHLO can say: custom calls and composites.

    stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64}
    stablehlo.composite "chlo.erf" %a {decomposition = @chlo.erf.impl, version = 1 : i32}

HLO's dialect writes the former, portable artifacts (so `jax.export`) the latter.

Source: XLA's `stablehlo_ext` (`chlo-preserve-high-level-ops`, `chlo-recompose-ops`) and
its conversion of MHLO to StableHLO.
"""

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects.stablehlo.attributes import Precision
from ttxdsl.transforms.frontends.signs import CHLO, MHLO

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

_Options = dict[str, Attribute]


def _no_options(options: _Options) -> _Options | None:
    return None if options else {}


def _top_k(options: _Options) -> _Options | None:
    """Return the properties of `top_k`, None if something is not known."""
    known = "k" in options and options.keys() <= {"k", "is_stable"}
    return options if known else None


def _ragged_dot(options: _Options) -> _Options | None:
    """Return the properties of `ragged_dot`, whose dimensions are listed in order."""
    precisions = options.get("precision_config", ArrayAttr(()))
    dims = options.get("ragged_dot_dimension_numbers")
    if (
        not options.keys() <= {"precision_config", "ragged_dot_dimension_numbers"}
        or not isinstance(precisions, ArrayAttr)
        or not isinstance(dims, ArrayAttr)
    ):
        return None
    names = cast("ArrayAttr[StringAttr]", precisions).data
    listed = cast("ArrayAttr[DenseIntOrFPElementsAttr[IntegerType]]", dims).data
    if len(listed) != len(chlo.RaggedDotDims._fields):
        return None
    numbers = [part.get_values() for part in listed]
    return {
        "precision_config": ArrayAttr(
            chlo.PrecisionAttr(Precision(name.data)) for name in names
        ),
        "ragged_dot_dimension_numbers": chlo.RaggedDotDimensionNumbersAttr(
            chlo.RaggedDotDims(*numbers)
        ),
    }


_COMPOSITES: dict[str, Callable[[_Options], _Options | None]] = {
    f"{CHLO}{name}": _no_options for name in (*_NAMES, "erfc")
} | {f"{CHLO}top_k": _top_k, f"{CHLO}ragged_dot": _ragged_dot}
"""The properties of an op from the attributes of its composite."""


class OpOfComposite(RewritePattern):
    """The op that a composite of CHLO's stands for.

    Another one stays: its decomposition computes the same.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.CompositeOp, rewriter: PatternRewriter, /
    ) -> None:
        """Replace a composite by the op that it stands for."""
        name = op.composite_name.data
        options = op.composite_attributes
        if name not in _COMPOSITES or op.version != IntegerAttr(1, 32):
            return
        properties = _COMPOSITES[name](dict(options.data) if options else {})
        if properties is None:
            return
        new = _CHLO[name].create(
            operands=op.operands,
            result_types=op.result_types,
            properties=properties,
            attributes=op.attributes,
        )
        new.location = op.location
        rewriter.replace(op, new)
