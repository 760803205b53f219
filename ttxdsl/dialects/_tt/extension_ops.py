"""Ops of ttir and ttnn that tt-mlir does not have: StableHLO's and chlo's own.

Where tt-mlir has no op for what a program says, and no others spell it exactly, both
dialects have the op of the same name, fields, constraints and meaning as the StableHLO
or chlo op that it stands for. `ADDITIONS` lists them; their declarations are made of
the op that they stand for, which the verifier and the interpreter ask too.
"""

from functools import cache
from typing import Any, ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import BoolAttr, TensorType
from xdsl.ir import Attribute, Block, Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
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
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.elementwise import ACTIVATIONS
from ttxdsl.dialects._tt.op import TTOp, op_of
from ttxdsl.dialects.chlo import Chlo
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.stablehlo.attributes import RngAlgorithm, RngAlgorithmAttr
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.dialects.ttcore import on_host


class Addition(NamedTuple):
    """One op that ttir and ttnn have beside tt-mlir's.

    Attributes:
        source: the op that it stands for, such as `stablehlo.cholesky`.
        when: when the lowering uses it, if not always.
        token: whether its one result is a token, which has no destination.
        pure: whether it may be dropped when nothing uses its results.
        registered: whether tt-mlir of today has an op of this name after all.
        flag: the truth value that tt-mlir's op has where the source has a property.
        means: that property's name, and its values if the flag is false and true.
    """

    source: str
    when: str = ""
    token: bool = False
    pure: bool = True
    registered: bool = False
    flag: str | None = None
    means: tuple[str, Attribute, Attribute] | None = None

    def spelled(self, flag: Attribute) -> dict[str, Attribute]:
        """Return the source's property that a value of the flag stands for."""
        assert self.means is not None
        name, *values = self.means
        return {name: values[flag == TRUE]}

    @property
    def each(self) -> bool:
        """Whether it works element by element."""
        return sources()[self.source].get_trait(Elementwise) is not None

    @property
    def mnemonic(self) -> str:
        """Its name in ttir and ttnn, without the dialect's."""
        return self.source.split(".", 1)[1]


TRUE = BoolAttr.from_bool(True)
_COMPLEX = "of complex numbers"
_SHAPE = "the shape of its result is static"

ADDITIONS: tuple[Addition, ...] = (
    Addition("chlo._asin_acos_kernel"),
    Addition("chlo.acosh", _COMPLEX),
    Addition("chlo.atanh", _COMPLEX),
    Addition("chlo.bessel_i1e"),
    Addition("chlo.conj"),
    Addition("chlo.cosh", _COMPLEX),
    Addition("chlo.digamma"),
    Addition("chlo.erf_inv", "of f64"),
    Addition("chlo.lgamma"),
    Addition("chlo.mulhi", registered=True),
    Addition("chlo.next_after"),
    Addition("chlo.polygamma"),
    Addition("chlo.ragged_dot"),
    Addition("chlo.sinh", _COMPLEX),
    Addition("chlo.zeta"),
    Addition("stablehlo.after_all", token=True),
    Addition("stablehlo.cholesky"),
    Addition("stablehlo.complex"),
    Addition("stablehlo.create_token", token=True),
    Addition("stablehlo.custom_call", "not an annotation", pure=False),
    Addition("stablehlo.dynamic_conv", _SHAPE),
    Addition("stablehlo.dynamic_gather", _SHAPE),
    Addition("stablehlo.dynamic_pad", _SHAPE),
    Addition("stablehlo.einsum"),
    Addition("stablehlo.fft"),
    Addition("stablehlo.imag"),
    Addition("stablehlo.infeed", pure=False),
    Addition("stablehlo.outfeed", token=True, pure=False),
    Addition("stablehlo.real"),
    Addition("stablehlo.real_dynamic_slice", _SHAPE),
    Addition("stablehlo.recv", pure=False),
    Addition("stablehlo.rng", "normal numbers, integers, or computed bounds"),
    Addition(
        "stablehlo.rng_bit_generator",
        registered=True,
        flag="philox",
        means=(
            "rng_algorithm",
            RngAlgorithmAttr(RngAlgorithm.DEFAULT),
            RngAlgorithmAttr(RngAlgorithm.PHILOX),
        ),
    ),
    Addition("stablehlo.send", token=True, pure=False),
    Addition("stablehlo.set_dimension_size", _SHAPE),
    Addition("stablehlo.torch_index_select", "with batch dimensions"),
    Addition("stablehlo.triangular_solve"),
    Addition("stablehlo.unary_einsum"),
)
"""The op classes by the name of the op that they stand for."""


@cache
def sources() -> dict[str, type[IRDLOperation]]:
    """Return the classes of the ops that additions stand for, by name."""
    wanted = {addition.source for addition in ADDITIONS}
    ops: dict[str, type[IRDLOperation]] = {}
    for op in (*StableHLO.operations, *Chlo.operations):
        if op.name in wanted and issubclass(op, IRDLOperation):
            ops[op.name] = op
    return ops


class AdditionOp(TTOp):
    """Base of StableHLO's and chlo's ops that tt-mlir has no form of.

    Fields, constraints and meaning are the op's that `ADDITION` names.
    """

    ADDITION: ClassVar[Addition]

    @classmethod
    def later_fields(cls) -> dict[str, Any]:
        """Return the fields of the source, for which that one is defined."""
        return {**_fields_of(cls.ADDITION), **super().later_fields()}

    def as_source(self) -> Operation:
        """Return the op that this one stands for, on tensors without a place.

        It is not part of the program: its operands are arguments of a block of its own.
        """
        block = Block(arg_types=[_without_place(value.type) for value in self.reads])
        properties = dict(self.properties)
        for own in ("operandSegmentSizes", *ACTIVATIONS):
            properties.pop(own, None)
        if self.ADDITION.flag is not None and self.ADDITION.flag in properties:
            properties.update(self.ADDITION.spelled(properties.pop(self.ADDITION.flag)))
        source = sources()[self.ADDITION.source].create(
            operands=block.args,
            result_types=[_without_place(result.type) for result in self.results],
            properties=properties,
            attributes=dict(self.attributes),
            location=self.location,
        )
        block.add_op(source)
        return source

    def verify_shapes(self) -> None:
        """Verify the constraints of the op that this one stands for."""
        flag = self.ADDITION.flag
        if flag is not None and flag in self.properties:
            (name,) = self.ADDITION.spelled(self.properties[flag])
            if name in self.properties:
                raise VerifyException(f"{flag} says what {name} does: give one of them")
        self.as_source().verify()


def _without_place(type: Attribute) -> Attribute:
    if isinstance(type, TensorType):
        return on_host(cast("TensorType[Attribute]", type))
    return type


@cache
def _fields_of(addition: Addition) -> dict[str, Any]:
    """Return the fields of its source, under their names."""
    source = sources()[addition.source].get_irdl_definition()
    fields: dict[str, Any] = {}
    for name, definition in source.operands:
        variadic = isinstance(definition, VariadicDef)
        fields[name] = var_operand_def() if variadic else operand_def()
    if addition.flag is not None:
        fields[addition.flag] = opt_prop_def(BoolAttr)
    instead = addition.means[0] if addition.means is not None else None
    for name, definition in source.properties.items():
        optional = isinstance(definition, OptionalDef) or name == instead
        define = opt_prop_def if optional else prop_def
        fields[name] = define(AnyAttr(), prop_name=name)
    for name, definition in source.results:
        variadic = isinstance(definition, VariadicDef)
        fields[name] = var_result_def() if variadic else result_def()
    return fields


def op_of_line(
    addition: Addition, dialect: type[TTOp], **fields: Any
) -> type[AdditionOp]:
    """Return the op that an addition is in a dialect, with what it has there alone."""
    members: dict[str, Any] = {"ADDITION": addition, "IN_TT_MLIR": addition.registered}
    members["__annotations__"] = {
        "ADDITION": "ClassVar[Addition]",
        "IN_TT_MLIR": "ClassVar[bool]",
    }
    if addition.pure:
        members["traits"] = traits_def(Pure())
    summary = f"As `{addition.source}`."
    return op_of(AdditionOp, dialect, addition.mnemonic, summary, **members, **fields)
