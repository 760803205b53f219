"""Stage 3: say which arguments arrive already split over the devices.

JAX and torch-xla hand over one tensor a device exactly for the arguments that carry
an `sdy.sharding`, so that annotation decides; a status that is already there stays.
How results are handed back only the caller knows: `result-presharded=1,0`.
"""

from dataclasses import dataclass
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.ttcore import SHARD_STATUS_ATTRIBUTE, ShardStatus, ShardStatusAttr


@cache  # one object prints once
def _status(sharded: bool) -> ShardStatusAttr:
    return ShardStatusAttr(ShardStatus.SHARDED if sharded else ShardStatus.UNSHARDED)


@dataclass(frozen=True)
class ApplyArgumentShardStatusPass(ModulePass):
    """Put `ttcore.shard_status` on arguments, and on results when asked to."""

    name = "apply-argument-shard-status"

    result_presharded: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: `result-presharded` has not one 0 or 1 a result.
        """
        if any(flag not in (0, 1) for flag in self.result_presharded):
            raise CompileError("result-presharded: each entry is 0 or 1")
        for function in entry_functions(op):
            arguments = argument_attributes(function)
            for entry in arguments:
                entry.setdefault(
                    SHARD_STATUS_ATTRIBUTE, _status("sdy.sharding" in entry)
                )
            set_argument_attributes(function, arguments)
            if not self.result_presharded:
                continue
            results = result_attributes(function)
            if len(results) != len(self.result_presharded):
                raise CompileError(
                    f"result-presharded: {len(self.result_presharded)} entries for the"
                    f" {len(results)} results of '{function.sym_name.data}'",
                    function,
                )
            for entry, flag in zip(results, self.result_presharded, strict=True):
                entry[SHARD_STATUS_ATTRIBUTE] = _status(bool(flag))
            set_result_attributes(function, results)
