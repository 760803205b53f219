"""Execution counts of ops in one run of the program: loops, calls and branches.

An op in a loop runs once an iteration, in nested loops once an iteration of all of them;
the condition runs once more. An op of a function runs at every call of it. Of the
branches of a `case` or an `if` only the dearest one counts, unless the program says
which is taken.

    runs = Runs(module)
    runs.of(op).count  # 12 in a loop of 12 iterations
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ttxdsl.analysis.calls.call_graph import called_by, callees
from ttxdsl.analysis.calls.trip_counts import TripCounts
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import all_ops, all_ops_inside_out, ops_of_type

_BRANCHES = (stablehlo.CaseOp, stablehlo.IfOp)
_AROUND = (
    *(sdy.ManualComputationOp, sdy.NamedComputationOp, stablehlo.AsyncStartOp),
    *(FuncOp, ModuleOp),
)
"""Ops whose regions are the program; those of a reduction say how to combine."""

Price = tuple[int, int]
"""What an op costs, for comparing branches: bytes that it sends, then ops."""


@dataclass(frozen=True, slots=True)
class Times:
    """The execution count of an op.

    Attributes:
        count: the number; a loop of unknown count is taken as one iteration.
        loops: how many loops the op stands in.
        unknown: how many of them have an unknown trip count.
        assumed: how many of them have the trip count of `--trip-count`.
    """

    count: int = 1
    loops: int = 0
    unknown: int = 0
    assumed: int = 0

    @property
    def is_known(self) -> bool:
        """Whether the count is no guess."""
        return not self.unknown

    def __str__(self) -> str:
        """`x12 in loop`; empty for what runs once, and stands in no loop."""
        if not self.loops:
            return "" if self.count == 1 else f"x{self.count}"
        number = f"x{self.count}" if self.is_known else "x?"
        if not self.is_known and self.count > 1:
            number = f"x{self.count}?"
        note = ", assumed" if self.assumed else ""
        return f"{number} in loop{note}"

    def inside(self, trips: int | None, assumed: int | None, more: int) -> "Times":
        """Return the times in a loop.

        Args:
            trips: how many iterations it has, if that is known.
            assumed: how many iterations it has if it is not.
            more: by how much the region runs more often than the loop has iterations.
        """
        loops = self.loops + 1
        if trips is not None:
            return Times(self.count * (trips + more), loops, self.unknown, self.assumed)
        if assumed is not None:
            count = self.count * (assumed + more)
            return Times(count, loops, self.unknown, self.assumed + 1)
        return Times(self.count, loops, self.unknown + 1, self.assumed)

    def joined(self, other: "Times") -> "Times":
        """Return the times of what runs at both."""
        return Times(
            self.count + other.count,
            max(self.loops, other.loops),
            max(self.unknown, other.unknown),
            max(self.assumed, other.assumed),
        )


ONCE = Times()
NEVER = Times(0)


def _one_op(op: Operation) -> Price:
    return 0, 1


class Runs:
    """The execution counts of a module's ops.

    Args:
        trip_count: iterations of loops with an unknown trip count; None counts one
            and notes it (`Times.unknown`).
        price: what an op costs where it stands, to find the dearest branch.

    Attributes:
        unknown_loops: the loops whose count is not known, in program order.
    """

    def __init__(
        self,
        module: ModuleOp,
        trip_count: int | None = None,
        price: Callable[[Operation], Price] = _one_op,
    ):
        self.unknown_loops: list[stablehlo.WhileOp] = []
        self._counts = TripCounts(module)
        self._assumed = trip_count
        self._blocks: dict[Block, Times] = {}
        self._left_out: set[Block] = set()
        functions = _callees_first(module)
        weights = _Weights(self._trips, price)
        if ops_of_type(module, *_BRANCHES):
            for function, _ in functions:
                weights.weigh(function)
        entered: dict[str, Times] = {}
        called = {name for _, names in functions for name in names}
        for function, _ in reversed(functions):
            name = function.sym_name.data
            times = entered.get(name, NEVER if name in called else ONCE)
            for block in function.body.blocks:
                self._blocks[block] = times
            self._enter(function, weights, entered)

    def of(self, op: Operation) -> Times:
        """Return an op's execution count; 0 inside the region of a reduction."""
        return ONCE if op.parent is None else self._blocks.get(op.parent, ONCE)

    def iterations(self, loop: stablehlo.WhileOp) -> int:
        """Return a loop's iterations each time that it runs, 1 if they are unknown."""
        count = self._trips(loop)
        return 1 if count is None else count

    def is_taken(self, block: Block) -> bool:
        """Whether a block of a branch counts."""
        return block not in self._left_out

    def _trips(self, loop: stablehlo.WhileOp) -> int | None:
        count = self._counts.of(loop)
        return self._assumed if count is None else count

    def _enter(
        self, function: FuncOp, weights: "_Weights", entered: dict[str, Times]
    ) -> None:
        """Note the times of all blocks of a function, and of what it calls."""
        for op in all_ops(function):
            for name in called_by(op):
                times = self.of(op)
                known = entered.get(name)
                entered[name] = times if known is None else known.joined(times)
            if not op.regions or op is function:
                continue
            times = self.of(op)
            match op:
                case stablehlo.WhileOp():
                    trips = self._counts.of(op)
                    if trips is None:
                        self.unknown_loops.append(op)
                    inside = [
                        times.inside(trips, self._assumed, more) for more in (1, 0)
                    ]
                case stablehlo.CaseOp() | stablehlo.IfOp():
                    taken = self._counts.taken(op)
                    if taken is None:
                        prices = [
                            weights.of_region(region.blocks) for region in op.regions
                        ]
                        taken = prices.index(max(prices))
                    inside = [
                        times if at == taken else NEVER for at in range(len(op.regions))
                    ]
                case _:
                    runs = isinstance(op, _AROUND)
                    inside = [times if runs else NEVER] * len(op.regions)
            for region, inner in zip(op.regions, inside, strict=True):
                for block in region.blocks:
                    self._blocks[block] = inner
                    if isinstance(op, _BRANCHES) and inner is NEVER:
                        self._left_out.add(block)


class _Weights:
    """The costs of a program's blocks each time that they run."""

    def __init__(
        self,
        trips: Callable[[stablehlo.WhileOp], int | None],
        price: Callable[[Operation], Price],
    ):
        self._trips, self._price = trips, price
        self._blocks: dict[Block, Price] = {}
        self._functions: dict[str, Price] = {}

    def of_region(self, blocks: Iterable[Block]) -> Price:
        counts = (0, 0)
        for block in blocks:
            counts = _plus(counts, self._blocks.get(block, (0, 0)))
        return counts

    def weigh(self, function: FuncOp) -> None:
        """Add up a function; those that it calls come first."""
        for op in all_ops_inside_out(function)[:-1]:
            weight = self._price(op)
            for name in called_by(op):
                weight = _plus(weight, self._functions.get(name, (0, 0)))
            if not op.regions and weight == (0, 0):
                continue
            regions = [self.of_region(region.blocks) for region in op.regions]
            match op:
                case stablehlo.WhileOp():
                    trips = self._trips(op)
                    trips = 1 if trips is None else trips
                    for each in regions:
                        weight = _plus(weight, (each[0] * trips, each[1] * trips))
                case stablehlo.CaseOp() | stablehlo.IfOp():
                    weight = _plus(weight, max(regions))
                case _ if isinstance(op, _AROUND):
                    for each in regions:
                        weight = _plus(weight, each)
                case _:
                    pass
            block = op.parent
            assert block is not None
            self._blocks[block] = _plus(self._blocks.get(block, (0, 0)), weight)
        self._functions[function.sym_name.data] = self.of_region(function.body.blocks)


def _plus(first: Price, second: Price) -> Price:
    return first[0] + second[0], first[1] + second[1]


def _callees_first(module: ModuleOp) -> list[tuple[FuncOp, list[str]]]:
    """Return the functions with what they call, each behind what it calls.

    Functions that call themselves, which no stage takes, come in the text's order.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    calls = {
        name: list(dict.fromkeys(callees(function)))
        for name, function in functions.items()
    }
    order: dict[str, None] = {}
    for root in functions:
        path = {root: iter(calls[root])}
        while path:
            name, pending = next(reversed(path.items()))
            callee = next(pending, None)
            if callee is None:
                path.pop(name)
                order.setdefault(name)
            elif callee in functions and callee not in path and callee not in order:
                path[callee] = iter(calls[callee])
    return [(functions[name], calls[name]) for name in order]
