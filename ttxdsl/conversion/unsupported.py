"""Ops that have no ttir form, each with the reason that a user reads."""

from __future__ import annotations

_COMPLEX = "ttir has no complex numbers"
_DYNAMIC = "its result depends on shapes that are values; ttir has fixed shapes"
_TOKEN = "it exchanges data with a host while the program runs"
_LINEAR = "ttir has no such linear algebra"
_QUANTIZED = "ttir's quantized types are not modelled"
_SPECIAL = "ttir has no such special function"

UNSUPPORTED: dict[str, str] = {
    "stablehlo.after_all": _TOKEN,
    "stablehlo.async_done": "ttir has no asynchronous ops",
    "stablehlo.async_start": "ttir has no asynchronous ops",
    "stablehlo.collective_reduce": "ttir has no reduction onto one device of a group",
    "stablehlo.cholesky": _LINEAR,
    "stablehlo.complex": _COMPLEX,
    "stablehlo.create_token": _TOKEN,
    "stablehlo.cross-replica-sum": "a legacy op: write it as stablehlo.all_reduce",
    "stablehlo.dynamic_conv": _DYNAMIC,
    "stablehlo.dynamic_gather": _DYNAMIC,
    "stablehlo.dynamic_pad": _DYNAMIC,
    "stablehlo.einsum": "a legacy op: write it as stablehlo.dot_general",
    "stablehlo.fft": _COMPLEX,
    "stablehlo.get_tuple_element": "ttir has no tuples",
    "stablehlo.imag": _COMPLEX,
    "stablehlo.infeed": _TOKEN,
    "stablehlo.outfeed": _TOKEN,
    "stablehlo.real": _COMPLEX,
    "stablehlo.real_dynamic_slice": _DYNAMIC,
    "stablehlo.recv": _TOKEN,
    "stablehlo.rng": "its numbers are not specified, so that no two runs agree",
    "stablehlo.rng_bit_generator": "ttir.rand does not make the specified bits",
    "stablehlo.send": _TOKEN,
    "stablehlo.set_dimension_size": _DYNAMIC,
    "stablehlo.triangular_solve": _LINEAR,
    "stablehlo.tuple": "ttir has no tuples",
    "stablehlo.unary_einsum": "a legacy op: write it as transpose and reduce",
    "stablehlo.uniform_dequantize": _QUANTIZED,
    "stablehlo.uniform_quantize": _QUANTIZED,
    "chlo._asin_acos_kernel": _COMPLEX,
    "chlo.bessel_i1e": _SPECIAL,
    "chlo.broadcast_complex": _COMPLEX,
    "chlo.broadcast_next_after": _SPECIAL,
    "chlo.broadcast_polygamma": _SPECIAL,
    "chlo.broadcast_zeta": _SPECIAL,
    "chlo.conj": _COMPLEX,
    "chlo.digamma": _SPECIAL,
    "chlo.lgamma": _SPECIAL,
    "chlo.mulhi": "ttir has no product of double width",
    "chlo.next_after": _SPECIAL,
    "chlo.polygamma": _SPECIAL,
    "chlo.ragged_dot": "ttir has no products of ragged groups",
    "chlo.scan": "ttir has no scan; write it as stablehlo.while",
    "chlo.zeta": _SPECIAL,
}
"""Why an op cannot be lowered, by its name."""
