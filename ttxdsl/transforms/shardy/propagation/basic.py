"""`sdy-basic-propagate`: spread shardings where nothing conflicts.

Source: Shardy's propagation passes documentation.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.sharding.step import Strategy
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.history import History


@dataclass(frozen=True)
class PropagationPass(ModulePass):
    """The options and the frame that all propagation passes share.

    Options:
        keep_sharding_rules: leave the rules of ops as `sdy.sharding_rule` on them.
        conservative_propagation: introduce no sub-axes and no uneven shardings.
        debug_sharding_origins: write for every axis of every value which argument,
            result, constraint or manual computation it came from.
        debug_propagation_edge_sharding: write on every op which axes went from which
            operand or result to which others, and in which step.
        module_dump_directory: where passes that propagate in several rounds write the
            module after each but the last, as numbered `.mlir` files.
    """

    keep_sharding_rules: bool = False
    conservative_propagation: bool = False
    debug_sharding_origins: bool = False
    debug_propagation_edge_sharding: bool = False
    module_dump_directory: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.debug_sharding_origins or self.debug_propagation_edge_sharding:
            self.apply_and_record(op)
        else:
            self._run(Propagation(op, conservative=self.conservative_propagation))

    def apply_and_record(self, module: ModuleOp) -> History:
        """Propagate in the whole module, and tell where each axis came from."""
        history = History(module)
        self._run(
            Propagation(
                module, conservative=self.conservative_propagation, history=history
            )
        )
        history.write(
            module,
            origins=self.debug_sharding_origins,
            edges=self.debug_propagation_edge_sharding,
        )
        return history

    def _run(self, propagation: Propagation) -> None:
        self.propagate(propagation)
        propagation.finish(keep_rules=self.keep_sharding_rules)

    def propagate(self, propagation: Propagation) -> None:
        """Run the engine, as often and in whatever way this pass does."""
        raise TypeError(f"{type(self).__name__} does not say how it propagates")


class BasicPropagatePass(PropagationPass):
    """Propagate the axes that are compatible with all operands and results of an op.

    The lowest strategy: it resolves no conflicts.
    """

    name = "sdy-basic-propagate"

    def propagate(self, propagation: Propagation) -> None:
        """One run of the basic strategy."""
        propagation.run(Strategy.BASIC)
