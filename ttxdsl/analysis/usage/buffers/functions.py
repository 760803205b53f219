"""Functions of elements, which take longer to compute than to store.

XLA for CPUs does not compute them in two kernels: an exponential that a sum and a quotient read is
a buffer, even where other elementwise ops are in between, whose readers compute those again.
Source: XLA's instruction fusion (`IsExpensive`) and what jaxlib 0.10.2 makes of the programs of
`benchmarks/cpu_memory.py`.
"""

from collections.abc import Callable

from xdsl.ir import Operation

from ttxdsl.analysis.usage.buffers.layouts import uses
from ttxdsl.dialects import stablehlo

FUNCTIONS = (
    *(stablehlo.ExpOp, stablehlo.LogOp, stablehlo.TanhOp, stablehlo.LogisticOp),
    *(stablehlo.DivOp, stablehlo.RsqrtOp, stablehlo.SqrtOp, stablehlo.PowOp),
)
"""Ops that are not made twice where they are stored anyway."""


class KernelsMaking:
    """The kernels that would make values if each reader made them itself.

    Args:
        may_hide: whether an op's result may be made inside its readers.
        takes_in: whether an op makes the operand of an index itself.
    """

    def __init__(
        self,
        may_hide: Callable[[Operation], bool],
        takes_in: Callable[[Operation, int], bool],
    ) -> None:
        self._may_hide, self._takes_in = may_hide, takes_in
        self._of: dict[Operation, frozenset[Operation]] = {}

    def of(self, op: Operation) -> frozenset[Operation]:
        """Return two at most of the kernels; the op itself if it is stored."""
        pending = [op]
        while pending:
            current = pending[-1]
            readers = [use for result in current.results for use in uses(result)]
            is_hidden = self._may_hide(current) and all(
                self._takes_in(*use) for use in readers
            )
            users = [user for user, _ in readers if is_hidden]
            unknown = [user for user in users if user not in self._of]
            if unknown and current not in self._of:
                pending += unknown
                continue
            pending.pop()
            kernels = frozenset[Operation]().union(*(self._of[user] for user in users))
            is_stored = isinstance(current, FUNCTIONS) and len(kernels) > 1
            if is_stored or not kernels:
                kernels = frozenset((current,))
            self._of[current] = frozenset([*kernels][:2])
        return self._of[op]
