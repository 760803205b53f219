"""Whose spelling of ttir and ttnn the lowerings write: the design's, or tt-mlir's.

The dialects read both, as optional operands and properties of the same ops. The
option is called `for`, which Python keeps for itself: here the field is `for_`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.str_enum import StrEnum

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects._tt.op import TTOp


class Vocabulary(StrEnum):
    """The audience of a ttir or ttnn text."""

    DESIGN = "design"
    """The design request's forms: destinations, data `sharded` in place."""
    TT_MLIR = "tt-mlir"
    """The forms that tt-mlir parses today."""

    @classmethod
    def named(cls, text: str) -> "Vocabulary":
        """Return the vocabulary of a name.

        Raises:
            CompileError: there is none.
        """
        member = next((member for member in cls if member.value == text), None)
        if member is None:
            names = " or ".join(member.value for member in cls)
            raise CompileError(f"for is '{text}', expected {names}")
        return member


def require_in_tt_mlir(op: Operation) -> None:
    """Refuse an op that tt-mlir has not.

    Raises:
        UnsupportedError: it is one.
    """
    if isinstance(op, TTOp) and not op.IN_TT_MLIR:
        raise UnsupportedError(
            "tt-mlir has no such op",
            op,
            hint="docs/reference/lowering.md lists what it has",
        )


HARDWARE_AXES = 2
"""How many axes a mesh of Tenstorrent devices can have."""


def require_hardware_axes(shape: Sequence[int], where: Operation) -> None:
    """Refuse a mesh of more axes than tt-mlir knows.

    Raises:
        UnsupportedError: it has more.
    """
    if len(shape) > HARDWARE_AXES:
        raise UnsupportedError(
            f"tt-mlir takes meshes of at most {HARDWARE_AXES} axes, not of"
            f" {'x'.join(map(str, shape))}",
            where,
            hint="run fit-mesh before convert-stablehlo-to-ttir, as ttxdsl compile does",
        )


@dataclass(frozen=True)
class LoweringPass(ModulePass):
    """Base of the lowerings: passes with the option `for`, `design` or `tt-mlir`."""

    for_: str = Vocabulary.DESIGN.value

    @property
    def vocabulary(self) -> "Vocabulary":
        """The vocabulary that the option `for` names.

        Raises:
            CompileError: `for` says something else.
        """
        return Vocabulary.named(self.for_)

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> Self:
        """Return the pass for its text in a pipeline."""
        spec_parameters = {
            "for_" if name == "for" else name: value
            for name, value in spec.parameters.items()
        }
        return super().from_spec(ArgSpec(spec.name, spec_parameters))

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        """Return the text of the pass in a pipeline."""
        spec = super().spec(include_default=include_default)
        parameters = {
            name.rstrip("_"): value for name, value in spec.parameters.items()
        }
        return ArgSpec(spec.name, parameters)
