"""Ops of ttir and ttnn that tt-mlir does not have: StableHLO's and chlo's own.

Where tt-mlir has no op for what a program says, and no others spell it exactly, both
dialects have the op of the same name, fields, constraints and meaning as the StableHLO
or chlo op that it stands for. `ADDITIONS` lists them; both dialects make their op
classes from it, the verifier and the interpreter ask the op that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OptionalDef,
    VariadicDef,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from ttxdsl.dialects.chlo import Chlo
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.ttcore import on_host


@dataclass(frozen=True, slots=True)
class Addition:
    """One op that ttir and ttnn have beside tt-mlir's.

    Attributes:
        source: the op that it stands for, such as `stablehlo.cholesky`.
        when: when the lowering uses it, if not always.
        each: whether it works element by element.
        token: whether its one result is a token, which has no destination.
        pure: whether it may be dropped when nothing uses its results.
    """

    source: str
    when: str = ""
    each: bool = False
    token: bool = False
    pure: bool = True

    @property
    def mnemonic(self) -> str:
        """Its name in ttir and ttnn, without the dialect's."""
        return self.source.split(".", 1)[1]


_COMPLEX = "of complex numbers"
_SHAPE = "the shape of its result is static"

ADDITIONS: tuple[Addition, ...] = (
    Addition("chlo._asin_acos_kernel", each=True),
    Addition("chlo.acosh", _COMPLEX, each=True),
    Addition("chlo.atanh", _COMPLEX, each=True),
    Addition("chlo.bessel_i1e", each=True),
    Addition("chlo.conj", each=True),
    Addition("chlo.cosh", _COMPLEX, each=True),
    Addition("chlo.digamma", each=True),
    Addition("chlo.erf_inv", "of f64", each=True),
    Addition("chlo.lgamma", each=True),
    Addition("chlo.mulhi", each=True),
    Addition("chlo.next_after", each=True),
    Addition("chlo.polygamma", each=True),
    Addition("chlo.ragged_dot"),
    Addition("chlo.sinh", _COMPLEX, each=True),
    Addition("chlo.zeta", each=True),
    Addition("stablehlo.after_all", token=True),
    Addition("stablehlo.cholesky"),
    Addition("stablehlo.complex", each=True),
    Addition("stablehlo.create_token", token=True),
    Addition("stablehlo.custom_call", "not an annotation", pure=False),
    Addition("stablehlo.dynamic_conv", _SHAPE),
    Addition("stablehlo.dynamic_gather", _SHAPE),
    Addition("stablehlo.dynamic_pad", _SHAPE),
    Addition("stablehlo.einsum"),
    Addition("stablehlo.fft"),
    Addition("stablehlo.imag", each=True),
    Addition("stablehlo.infeed", pure=False),
    Addition("stablehlo.outfeed", token=True, pure=False),
    Addition("stablehlo.real", each=True),
    Addition("stablehlo.real_dynamic_slice", _SHAPE),
    Addition("stablehlo.recv", pure=False),
    Addition("stablehlo.rng", "normal numbers, integers, or computed bounds"),
    Addition("stablehlo.rng_bit_generator"),
    Addition("stablehlo.send", token=True, pure=False),
    Addition("stablehlo.set_dimension_size", _SHAPE),
    Addition("stablehlo.torch_index_select", "with batch dimensions"),
    Addition("stablehlo.triangular_solve"),
    Addition("stablehlo.unary_einsum"),
)
"""Every such op, by the name of the op that it stands for."""


@cache
def sources() -> dict[str, type[IRDLOperation]]:
    """The classes of the ops that additions stand for, by name."""
    wanted = {addition.source for addition in ADDITIONS}
    found: dict[str, type[IRDLOperation]] = {}
    for op in (*StableHLO.operations, *Chlo.operations):
        if op.name in wanted and issubclass(op, IRDLOperation):
            found[op.name] = op
    return found


def fields_of(addition: Addition, *, destinations: bool) -> dict[str, Any]:
    """The members of an op class for an addition: its fields under the source's names.

    Args:
        addition: the op.
        destinations: whether there is an `output` for each tensor that results, after
            the other operands.
    """
    source = sources()[addition.source].get_irdl_definition()
    fields: dict[str, Any] = {}
    for name, definition in source.operands:
        variadic = isinstance(definition, VariadicDef)
        fields[name] = var_operand_def() if variadic else operand_def()
    if destinations and not addition.token:
        fields |= _outputs(source)
    for name, definition in source.properties.items():
        define = opt_prop_def if isinstance(definition, OptionalDef) else prop_def
        fields[name] = define(AnyAttr(), prop_name=name)
    for name, definition in source.results:
        variadic = isinstance(definition, VariadicDef)
        fields[name] = var_result_def() if variadic else result_def()
    if addition.pure:
        fields["traits"] = traits_def(Pure())
    several = sum(isinstance(one, VariadicDef) for _, one in source.operands) + any(
        isinstance(one, VariadicDef) for _, one in source.results
    )
    if destinations and several > 1 and not addition.token:
        fields["irdl_options"] = (AttrSizedOperandSegments(as_property=True),)
    return fields


def _outputs(source: OpDef) -> dict[str, Any]:
    """A destination for each result, named after it where there are several."""
    if len(source.results) == 1:
        ((_, only),) = source.results
        if isinstance(only, VariadicDef):
            return {"destinations": var_operand_def()}
        return {"output": operand_def()}
    return {f"{name}_output": operand_def() for name, _ in source.results}


def as_source(op: Operation, source: str, inputs: Sequence[SSAValue]) -> Operation:
    """The op that an addition stands for, on tensors without a place.

    It is not part of the program: its operands are arguments of a block of its own.

    Args:
        op: the ttir or ttnn op.
        source: the name of the op that it stands for.
        inputs: the operands that it reads.
    """

    def plain(value: SSAValue) -> Any:
        type = value.type
        return on_host(type) if isinstance(type, TensorType) else type  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    block = Block(arg_types=[plain(value) for value in inputs])
    properties = dict(op.properties)
    properties.pop("operandSegmentSizes", None)
    made = sources()[source].create(
        operands=block.args,
        result_types=[plain(result) for result in op.results],
        properties=properties,
        attributes=dict(op.attributes),
        location=op.location,
    )
    block.add_op(made)
    return made
