"""Reductions over dimensions; `REDUCTIONS` lists those that differ by name only."""

from abc import abstractmethod
from typing import NamedTuple

from xdsl.dialects.builtin import BoolAttr, IntegerType
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.attributes import I32Array, ints
from ttxdsl.dialects._tt.op import OneInputOp
from ttxdsl.dialects._tt.tensors import expect_dim, expect_shape


class ReductionOp(OneInputOp):
    """Base of reductions.

    With `keep_dim` reduced dimensions keep size 1, otherwise they are removed.
    """

    keep_dim = prop_def(BoolAttr)

    @abstractmethod
    def reduced_dims(self) -> tuple[int, ...]:
        """Return the dimensions that are reduced."""

    def verify_shapes(self) -> None:
        """Reduced dimensions vanish or have size 1; then the element types."""
        input, result = self.types
        reduced = self.reduced_dims()
        for dim in reduced:
            expect_dim(input, dim, "dim_arg")
        if len(set(reduced)) != len(reduced):
            raise VerifyException("dim_arg names a dimension twice")
        wanted = [
            1 if dim in reduced else size
            for dim, size in enumerate(input.get_shape())
            if bool(self.keep_dim) or dim not in reduced
        ]
        expect_shape(result, wanted, "the operand without dim_arg")
        self.verify_elements()

    def verify_elements(self) -> None:
        """The element type stays."""
        input, result = self.types
        if input.element_type != result.element_type:
            raise VerifyException(
                f"reduces {input.element_type} to {result.element_type}: "
                "the element type must stay"
            )


class DimsReductionOp(ReductionOp):
    """Base of reductions over the dimensions `dim_arg` (all, when it is absent)."""

    dim_arg = opt_prop_def(I32Array)

    def reduced_dims(self) -> tuple[int, ...]:
        """Return the dimensions that are reduced."""
        if self.dim_arg is None:
            return tuple(range(len(self.types[0].get_shape())))
        return ints(self.dim_arg)


class ArgMax(ReductionOp):
    """Index of the largest element along one dimension, the first of equals.

    A NaN is larger than every number. The result holds integers.
    """

    name = "argmax"

    def verify_elements(self) -> None:
        """One dimension, integer result."""
        if len(self.reduced_dims()) != 1:
            raise VerifyException("argmax works along exactly one dimension")
        if not isinstance(self.types[1].element_type, IntegerType):
            raise VerifyException("argmax answers with integers")


class Reduction(NamedTuple):
    """A reduction over dimensions: its mnemonic and summary."""

    ttir: str
    summary: str
    in_ttnn: bool = True
    """Whether ttnn has it with these fields; else the lowering spells it."""


REDUCTIONS: tuple[Reduction, ...] = (
    Reduction("max", "The largest; NaN if any is."),
    Reduction("mean", "The sum divided by the number of elements."),
    Reduction("min", "The smallest; NaN if any is."),
    Reduction("prod", "The product; bf16 and f16 accumulate in f32.", in_ttnn=False),
    Reduction("reduce_and", "Whether all are true (i1).", in_ttnn=False),
    Reduction("reduce_or", "Whether any is true (i1).", in_ttnn=False),
    Reduction("sum", "The sum; bf16 and f16 accumulate in f32."),
)
"""Reductions with `keep_dim` and `dim_arg`, by name."""
