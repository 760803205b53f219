"""Signs that a program describes shardings in another way than sdy.

Most programs have none; the code that reads them is imported when one has.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.tenstorrent import (
    FRONTEND_ATTRIBUTES,
    MARK_ARGUMENT,
    MARK_FUNCTION_PREFIX,
    SHARDING_CONSTRAINT,
    WEIGHT_DTYPE_OVERRIDE,
)
from ttxdsl.dialects.ttcore import ARGUMENT_TYPE_ATTRIBUTE
from ttxdsl.ir.traversal import all_ops

HLO_SHARDING = "mhlo.sharding"
"""XLA's own sharding, which some exporters keep there, too; see `hlo_shardings`."""
PREFIX = "xla.sdy."
"""The prefix of the names that Shardy writes where HLO is to keep them."""
MHLO = "mhlo."
"""The prefix of the targets of custom calls that stand for ops of MHLO."""
CHLO = "chlo."
"""The prefix of the names of composites that stand for ops of CHLO."""

CONSTRAINT = "Sharding"
ENTERING = frozenset({"xla.sdy.GlobalToLocalShape", "SPMDFullToShardShape"})
LEAVING = frozenset({"xla.sdy.LocalToGlobalShape", "SPMDShardToFullShape"})
BORDERS = ENTERING | LEAVING
"""Targets of custom calls: constraints, and the borders of manual computations."""
INSPECTION = "InspectSharding"
"""The target of a call by which JAX looks at the sharding that a compiler chose."""


def says_something(module: ModuleOp) -> bool:
    """Whether a module has sharding annotations that are not sdy's.

    Most modules have none. Each is asked when it is read and before it is partitioned.
    """
    for op in all_ops(module):
        attributes = op.attributes
        if attributes and (HLO_SHARDING in attributes or carries(attributes)):
            return True
        if type(op) not in (
            stablehlo.CustomCallOp,
            stablehlo.CompositeOp,
            FuncOp,
            CallOp,
        ):
            continue  # called for every op, so without isinstance
        if is_mark(op):
            return True
        if isinstance(op, stablehlo.CustomCallOp):
            target = op.call_target_name.data
            if is_carrier(op) or target == INSPECTION or target.startswith(MHLO):
                return True
        elif isinstance(op, stablehlo.CompositeOp):
            if op.composite_name.data.startswith(CHLO):
                return True
        elif isinstance(op, FuncOp):
            entries = (*(op.arg_attrs or ()), *(op.res_attrs or ()))
            if any(HLO_SHARDING in e.data or carries(e.data) for e in entries):
                return True
    return False


def carries(attributes: Mapping[str, Attribute]) -> bool:
    """Whether the frontend attributes among some say something about sdy."""
    dictionary = attributes.get(FRONTEND_ATTRIBUTES)
    return isinstance(dictionary, DictionaryAttr) and any(
        map(is_meant, dictionary.data)
    )


def is_meant(key: str) -> bool:
    """Whether a frontend attribute of that name says something about sdy."""
    return key == HLO_SHARDING or key.startswith(PREFIX)


def target_of(op: object) -> str:
    """Return the target of a custom call; "" for other ops."""
    if not isinstance(op, stablehlo.CustomCallOp):
        return ""
    return op.call_target_name.data


def is_carrier(op: Operation) -> bool:
    """Whether an op is a custom call that says something of shardings.

    A constraint with an attribute of sdy's is as Shardy knows it.
    """
    target = target_of(op)
    if target == CONSTRAINT:
        return HLO_SHARDING in op.attributes or carries(op.attributes)
    return (
        target.startswith(PREFIX) or target in BORDERS or target == SHARDING_CONSTRAINT
    )


def is_mark(op: Operation) -> bool:
    """Whether an op is an identity that marks an argument.

    tt-xla writes a custom call, or for JAX's programs a call of a function.
    """
    if isinstance(op, CallOp):
        has_type = ARGUMENT_TYPE_ATTRIBUTE in op.attributes
        return has_type and op.callee.string_value().startswith(MARK_FUNCTION_PREFIX)
    return target_of(op) in (MARK_ARGUMENT, WEIGHT_DTYPE_OVERRIDE)
