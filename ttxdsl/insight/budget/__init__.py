"""Communication budgets: what a program may send and hold, as tests.

`assert_budget` is imported when first used, so that pytest starts as fast as before.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ttxdsl.insight.budget.check import assert_budget

__all__ = ["assert_budget"]


def __getattr__(name: str) -> Any:
    if name != "assert_budget":
        raise AttributeError(
            f"module 'ttxdsl.insight.budget' has no attribute '{name}'"
        )
    from ttxdsl.insight.budget.check import assert_budget

    return assert_budget
