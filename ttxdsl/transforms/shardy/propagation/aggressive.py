"""`sdy-aggressive-propagate`: spread shardings and resolve conflicts on the way.

Source: Shardy's propagation passes documentation.
"""

from dataclasses import dataclass
from typing import Literal

from ttxdsl.sharding.step import Strategy
from ttxdsl.transforms.shardy.propagation.basic import PropagationPass
from ttxdsl.transforms.shardy.propagation.engine import Propagation, Ways

_STRATEGIES: dict[str, tuple[Strategy, ...]] = {
    "basic": (Strategy.BASIC,),
    "aggressive": (Strategy.AGGRESSIVE,),
    "basic-then-aggressive": (Strategy.BASIC, Strategy.AGGRESSIVE),
}


@dataclass(frozen=True)
class AggressivePropagatePass(PropagationPass):
    """Propagate, and where factors want the same axis, prefer the larger tensor's.

    Options:
        propagation_strategy: `basic`, `aggressive`, or `basic-then-aggressive`, one
            run after the other.
    """

    name = "sdy-aggressive-propagate"

    propagation_strategy: Literal["basic", "aggressive", "basic-then-aggressive"] = (
        "aggressive"
    )

    def propagate(self, propagation: Propagation) -> None:
        """One run of each strategy."""
        self.run_strategies(propagation, None)

    def run_strategies(self, propagation: Propagation, ways: Ways | None) -> None:
        """Run the strategies one after the other, along the given ways."""
        for strategy in _STRATEGIES[self.propagation_strategy]:
            propagation.run(strategy, ways)
