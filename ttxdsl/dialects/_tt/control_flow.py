"""Control flow, which tt-mlir leaves to the host."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AnyTensorTypeConstr, i1, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.attributes import DenseInts, dense_i32, ints, ui32
from ttxdsl.dialects._tt.op import TTOp
from ttxdsl.dialects._tt.tensors import exactly
from ttxdsl.ir.tensors import tensor_type


class RegionOp(TTOp):
    """Base of ops with regions, whose ops may use the values around them."""

    res = var_result_def()

    traits = traits_def(RecursiveMemoryEffect())

    def verify_places(self) -> None:
        """Values may come from anywhere."""

    def verify_branches(self, selector: SSAValue, element_type: Attribute) -> None:
        """The selector is a scalar; branches take nothing and yield the results."""
        if not _is_scalar(selector, element_type):
            raise VerifyException(f"the selector is one {element_type} scalar")
        if not self.regions:
            raise VerifyException("there is no branch")
        wanted = [result.type for result in self.results]
        for number, region in enumerate(self.regions):
            if region.block.args:
                raise VerifyException(f"branch {number} takes arguments, expected none")
            if [value.type for value in _yielded(region)] != wanted:
                raise VerifyException(
                    f"branch {number} does not yield the result types"
                )


def _yielded(region: Region) -> Sequence[SSAValue]:
    last = region.block.last_op
    if last is None or not last.name.endswith(".yield"):
        raise VerifyException("a region ends with a yield")
    return last.operands


def _is_scalar(value: SSAValue, element_type: Attribute) -> bool:
    type = tensor_type(value)
    return not type.get_shape() and type.element_type == element_type


class While(RegionOp):
    """While `cond` of the carried values is true, `body` replaces them.

    Both regions take the carried values; `cond` yields one i1 scalar (in tt-mlir's ttnn
    ui32), `body` new values.
    As tt-mlir writes it, `operandSegmentSizes` says how many of the operands are carried;
    the others are captured: regions take them too, and use no other values around.
    """

    name = "while"
    operand = var_operand_def()
    segments = opt_prop_def(DenseInts, prop_name="operandSegmentSizes")
    cond = region_def("single_block")
    body = region_def("single_block")

    def __init__(self, operand: Sequence[SSAValue], cond: Region, body: Region):
        types = [value.type for value in operand]
        super().__init__(operands=[operand], result_types=[types], regions=[cond, body])

    @property
    def carried(self) -> Sequence[SSAValue]:
        """The values before the first step."""
        return self.operand if self.segments is None else self.operand[: self._count()]

    def _count(self) -> int:
        assert self.segments is not None
        count, captured = exactly(2, "operandSegmentSizes", ints(self.segments))
        if count + captured != len(self.operand):
            raise VerifyException(
                f"operandSegmentSizes says {count} and {captured} operands, there are "
                f"{len(self.operand)}"
            )
        return count

    def capture(self) -> None:
        """Say which values around the regions use, and hand them in, as tt-mlir does."""
        count, around = len(self.operand), dict[SSAValue, None]()
        ops = [op for region in self.regions for op in region.walk()]
        inside = {self, *ops}
        for value in (value for op in ops for value in op.operands):
            owner = value.owner
            if (
                owner if isinstance(owner, Operation) else owner.parent_op()
            ) not in inside:
                around[value] = None
        for region in self.regions:
            taken: dict[SSAValue, SSAValue] = {
                value: region.block.insert_arg(value.type, len(region.block.args))
                for value in around
            }
            for op in region.walk():
                for index, value in enumerate(op.operands):
                    if value in taken:
                        op.operands[index] = taken[value]
        self.operands = [*self.operand, *around]
        self.segments = dense_i32([count, len(around)])

    def verify_shapes(self) -> None:
        """Check that carried types do not change and the condition is one truth value."""
        types = [value.type for value in self.carried]
        if [value.type for value in self.results] != types:
            raise VerifyException("results have the types of the carried values")
        taken = [value.type for value in self.operand]
        for region in (self.cond, self.body):
            if list(region.block.arg_types) != taken:
                raise VerifyException("regions take the carried values")
        condition = _yielded(self.cond)
        if len(condition) != 1 or not any(
            _is_scalar(condition[0], type) for type in (i1, ui32)
        ):
            raise VerifyException("the condition yields one i1 scalar")
        if [value.type for value in _yielded(self.body)] != types:
            raise VerifyException("the body yields the carried types")


class If(RegionOp):
    """The values of `true_branch` if the i1 scalar is true, else of `false_branch`."""

    name = "if"
    IN_TT_MLIR: ClassVar[bool] = False
    pred = operand_def(AnyTensorTypeConstr)
    true_branch = region_def("single_block")
    false_branch = region_def("single_block")

    def __init__(
        self,
        pred: SSAValue,
        true_branch: Region,
        false_branch: Region,
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[pred],
            result_types=[result_types],
            regions=[true_branch, false_branch],
        )

    def verify_shapes(self) -> None:
        """A scalar condition; both branches yield the results."""
        self.verify_branches(self.pred, i1)


class Case(RegionOp):
    """The values of branch number `index`; of the last when there is no such branch."""

    name = "case"
    IN_TT_MLIR: ClassVar[bool] = False
    index = operand_def(AnyTensorTypeConstr)
    branches = var_region_def("single_block")

    def __init__(
        self,
        index: SSAValue,
        branches: Sequence[Region],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[index], result_types=[result_types], regions=[branches]
        )

    def verify_shapes(self) -> None:
        """A scalar i32 index; all branches yield the results."""
        self.verify_branches(self.index, i32)


class Yield(TTOp):
    """The values that a region answers with."""

    name = "yield"
    operand = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, operand: Sequence[SSAValue]):
        super().__init__(operands=[operand])

    def verify_places(self) -> None:
        """Values may come from anywhere."""
