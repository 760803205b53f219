"""Trials: inputs of a program with the results that are right for them.

Random inputs find wrong sums and masks. Inputs tagged with their own index find data
that came from the wrong place, exactly: what is only moved, compared or selected has
to be equal to the bit. Where a program computes more than that, tags are fractions: a
tag of a million through a few products is a number that rounding decides.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from ttxdsl.analysis.values.reductions import summed_numbers
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.traits import RoundsOnce, ops_with
from ttxdsl.insight.check.rounding import RoundedRuns
from ttxdsl.interpreters.inputs import random_inputs, tagged_inputs
from ttxdsl.interpreters.kernels.elements import is_complex, is_float, tensor_of
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits, beside_comparison
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.ir.traversal import ancestors

Array = NDArray[Any]

_EXACT = frozenset(op.name for op in ops_with(RoundsOnce, StableHLO))
"""Ops whose result is rounded at most once, the same however the program is split."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Inputs, what they are called, and the results that the program must give.

    `exact` says for each result whether it must be equal to the bit; the others may be
    off by what rounding `summed` numbers explains, or what is seen in `rounded`: a
    result of runs that round at random, made when first asked for.
    """

    name: str
    inputs: tuple[ArrayLike, ...]
    expected: tuple[Array, ...]
    exact: tuple[bool, ...]
    summed: int
    rounded: Callable[[int], Iterable[Array]]
    tagged: bool = False


def _is_float(value: SSAValue) -> bool:
    dtype = tensor_of(value.type)[1]
    return is_float(dtype) or is_complex(dtype)


def _inputs(op: Operation) -> list[SSAValue]:
    """The values that an op is computed of, with those that its regions capture."""
    if not op.regions:
        return list(op.operands)
    return [
        value
        for inner in op.walk()
        for value in inner.operands
        if inner is op or op not in ancestors(value.owner)
    ]


class _Exactness:
    """Remembers for each value whether everything it is computed of is exact."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, bool] = {}
        self._bodies: dict[FuncOp, bool] = {}

    def _op_is_exact(self, op: Operation) -> bool:
        if isinstance(op, CallOp):
            table = SymbolTable.lookup_symbol(op, op.callee)
            return isinstance(table, FuncOp) and self.body_is_exact(table)
        return all(
            inner.name in _EXACT
            or inner.name.startswith("sdy.")
            or not any(_is_float(value) for value in (*inner.operands, *inner.results))
            for inner in op.walk()
        )

    def body_is_exact(self, function: FuncOp) -> bool:
        """Return whether every op of a function is exact, of which the body is known."""
        if function not in self._bodies:
            self._bodies[function] = False  # where it calls itself
            self._bodies[function] = not function.is_declaration and all(
                isinstance(op, ReturnOp) or self._op_is_exact(op)
                for op in function.body.block.ops
            )
        return self._bodies[function]

    def of(self, end: SSAValue) -> bool:
        """Whether a value is exact; no recursion, programs are long chains."""
        stack = [end]
        while stack:
            value = stack[-1]
            op = value.owner
            if value in self._known or not isinstance(op, Operation):
                self._known.setdefault(value, True)
                stack.pop()
                continue
            if not self._op_is_exact(op):
                self._known[value] = False
                stack.pop()
                continue
            unknown = [operand for operand in _inputs(op) if operand not in self._known]
            if unknown:
                stack.extend(unknown)
                continue
            self._known[value] = all(self._known[operand] for operand in _inputs(op))
            stack.pop()
        return self._known[end]


def exact_results(function: FuncOp) -> tuple[bool, ...]:
    """For each result whether it must be the same to the bit however it is computed."""
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    exactness = _Exactness()
    return tuple(exactness.of(value) for value in end.operands)


def trials_of(
    module: ModuleOp,
    seeds: Sequence[int] = (0,),
    *,
    tagged: bool = True,
    given: Sequence[ArrayLike] | None = None,
    limits: Limits = NO_LIMITS,
) -> list[Trial]:
    """Given, tagged and random inputs with what the program as it is makes of them.

    Raises:
        CompileError: the program cannot be run as it is, or needs more than `limits`
            allow; before inputs are made if that is memory.
    """
    runner = Runner(module, limits=limits)
    function, count = runner.function, tagged + len(seeds) + (given is not None)
    if count:
        limits.require_room(beside_comparison(runner.footprint, function, count))
    exact, summed = exact_results(function), summed_numbers(module)
    tried: list[tuple[str, Sequence[ArrayLike], bool]] = []
    if given is not None:
        tried.append(("given inputs", given, False))
    if tagged:
        inputs = tagged_inputs(function, fractions=not all(exact))
        tried.append(("index-tagged inputs", inputs, True))
    tried.extend(
        (f"random inputs (seed {seed})", random_inputs(function, seed), False)
        for seed in seeds
    )
    return [
        Trial(
            name,
            tuple(x),
            runner.run(x),
            exact,
            summed,
            RoundedRuns(runner, x).result,
            tags,
        )
        for name, x, tags in tried
    ]
