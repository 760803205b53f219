"""tt-mlir's custom calls as the ops of ttir that it makes of them.

Operands have the same names there; options that calls say as text are properties. What
tt-mlir writes in place (caches) has no result there, and stays a call.

Source: tt-mlir's `StableHLOToTTIRPatterns.cpp`.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from ttxdsl.conversion.stablehlo_to_ttir.lowering import Lowering
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo, ttir
from ttxdsl.dialects._tt.attributes import bool_attr, dense_i32, ui32_attr
from ttxdsl.dialects.calls.tenstorrent import Target, flag, number, options, roles

_OPS: Mapping[str, str] = {
    Target.ATTENTION: "scaled_dot_product_attention",
    Target.ATTENTION_COMPOSITE: "scaled_dot_product_attention",
    Target.PAGED_DECODE: "paged_scaled_dot_product_attention_decode",
    Target.CHUNKED: "chunked_scaled_dot_product_attention",
    Target.LATENT_DECODE: "paged_flash_multi_latent_attention_decode",
    Target.SAMPLING: "sampling",
}
"""The op of each, by target."""


def _real(number: float | None) -> Attribute:
    if number is None:
        raise ValueError("not a number")
    return FloatAttr(number, f32)


def _count(number: float | None) -> Attribute:
    if number is None or number != int(number) or not 0 <= number < 1 << 32:
        raise ValueError("not a number of ui32")
    return ui32_attr(int(number))


_PROPERTIES: Mapping[str, Callable[[float | None], Attribute]] = {
    "scale": _real,
    "sliding_window_size": _count,
    "head_dim_v": _count,
    "seed": _count,
}
"""The properties for options that are numbers; `is_causal` is true by default."""


def is_op_of_ttir(call: stablehlo.CustomCallOp) -> bool:
    """Whether tt-mlir lowers a call to one op of ttir."""
    return call.call_target_name.data in _OPS


def lower_tenstorrent_call(low: Lowering, call: stablehlo.CustomCallOp) -> SSAValue:
    """Return the op of ttir that a call is.

    Raises:
        UnsupportedError: it has other operands or options than its target has.
    """
    target = call.call_target_name.data
    kind = ttir.TODAY_OPS[_OPS[target]]
    definition = kind.get_irdl_definition()
    places = roles(call)
    if places is None or len(call.outputs) != 1:
        raise UnsupportedError(
            f"custom call @{target} has other operands than its options say", call
        )
    result = low.builder.here(call.outputs[0].type)
    operands: list[SSAValue] = []
    sizes: list[int] = []
    for name, _ in definition.operands:
        if name == "output":
            operands.append(low.builder.empty(result))
        elif name in places:
            operands.append(low[call.inputs[places[name]]])
        sizes.append(int(name == "output" or name in places))
    properties: dict[str, Attribute] = {}
    if "is_causal" in definition.properties:
        properties["is_causal"] = bool_attr(value=flag(call, "is_causal", True))
    for name, write in _PROPERTIES.items():
        if name in definition.properties and name in options(call):
            try:
                properties[name] = write(number(call, name))
            except (ValueError, OverflowError) as error:
                raise UnsupportedError(
                    f"custom call @{target} is told a {name} that is none:"
                    f" {options(call)[name]}",
                    call,
                ) from error
    if any(
        isinstance(option, AttrSizedOperandSegments) for option in definition.options
    ):
        properties["operandSegmentSizes"] = dense_i32(sizes)
    new_op = kind.create(
        operands=operands, result_types=[result], properties=properties
    )
    return low.builder.add(new_op).results[0]
