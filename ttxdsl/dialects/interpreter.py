"""The interpreter dialect: what StableHLO's own tests ask of an interpreter.

Source: StableHLO's InterpreterOps, the op descriptions.
"""

from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

_Symbols = BaseAttr[ArrayAttr[Attribute]](ArrayAttr)


@irdl_op_definition
class RunParallelOp(IRDLOperation):
    """Runs a grid of processes, one program each: `programs` has a row a replica.

    Operands and results are those of all processes, one process after the other, row
    by row. `infeed` names functions whose results `stablehlo.infeed` reads in turn.
    """

    name = "interpreter.run_parallel"

    inputs = var_operand_def()
    infeed = opt_prop_def(_Symbols)
    programs = prop_def(_Symbols)
    outputs = var_result_def()


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Prints a tensor."""

    name = "interpreter.print"

    operand = operand_def()

    assembly_format = "$operand attr-dict `:` type($operand)"


@irdl_op_definition
class ProbeOp(IRDLOperation):
    """Its operand, which the run also keeps under `probe_id`, each time anew."""

    name = "interpreter.probe"

    T: ClassVar = VarConstraint("T", AnyAttr())

    operand = operand_def(T)
    probe_id = prop_def(StringAttr)
    result = result_def(T)

    assembly_format = (
        "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)"
    )


Interpreter = Dialect("interpreter", [PrintOp, ProbeOp, RunParallelOp])
"""The dialect object that a context registers."""
