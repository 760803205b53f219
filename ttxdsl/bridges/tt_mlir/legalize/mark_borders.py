"""`mark-borders`: put shardings on arguments and results instead of a status.

The stages mark data on the devices by a status, and hold the sharding in the manual
computation. tt-mlir's passes read the sharding of each argument and result, and write
the status themselves; an existing one would be there twice.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.dialects import sdy
from ttxdsl.dialects.ttcore import (
    SHARD_STATUS_ATTRIBUTE,
    ShardStatus,
    ShardStatusAttr,
)
from ttxdsl.sharding.spec import TensorSharding


def _given(value: SSAValue) -> TensorSharding | None:
    """Return an argument's sharding in the manual computation that takes it."""
    for use in value.uses:
        if isinstance(use.operation, sdy.ManualComputationOp):
            return use.operation.in_shardings.data[use.index]
    return None


def _returned(value: SSAValue) -> TensorSharding | None:
    """Return a result's sharding in the manual computation that makes it."""
    owner = value.owner
    if isinstance(owner, sdy.ManualComputationOp):
        return owner.out_shardings.data[owner.results.index(value)]
    return None


def _mark(function: FuncOp) -> None:
    last = function.body.block.last_op
    assert isinstance(last, Operation)
    taken = [_given(value) for value in function.body.block.args]
    returned = [_returned(value) for value in last.operands]
    entries = argument_attributes(function), result_attributes(function)
    for dictionaries, shardings in zip(entries, (taken, returned), strict=True):
        for attributes, sharding in zip(dictionaries, shardings, strict=True):
            status = attributes.pop(SHARD_STATUS_ATTRIBUTE, None)
            lies = isinstance(status, ShardStatusAttr) and status.data is not (
                ShardStatus.UNSHARDED
            )
            if lies and sharding is not None:
                attributes["sdy.sharding"] = sdy.TensorShardingAttr(sharding)
    set_argument_attributes(function, entries[0])
    set_result_attributes(function, entries[1])


class MarkBordersPass(ModulePass):
    """Replace the status of arguments and results on the devices by their sharding."""

    name = "mark-borders"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in entry_functions(op):
            _mark(function)
