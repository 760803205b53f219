"""Meshes and shardings that the solver chooses, to be compiled like all others.

For each shape of a mesh with up to two axes the graph of the program is solved; the best by
its price become candidates: shardings of arguments, and constraints on the results of
products, gathers and scatters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.usage.memory import argument_name
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.errors import Frame, source_frame
from ttxdsl.dialects import stablehlo
from ttxdsl.insight.doctor.groups import ArgumentDim
from ttxdsl.insight.doctor.meshes import Candidate, Constraint
from ttxdsl.insight.doctor.solving.graph import Graph, ShardingProblem
from ttxdsl.insight.doctor.solving.layouts import WHOLE, Axes, Layout
from ttxdsl.insight.doctor.solving.problem import Ints
from ttxdsl.insight.doctor.solving.solve import solve
from ttxdsl.ir.tensors import shape_of

SOLVED = "solved"
"""The note of candidates that the solver chose."""

AXIS_NAMES = "data", "model"
"""The axes of meshes whose shardings the solver chooses."""
_CONSTRAINED = (
    stablehlo.DotGeneralOp,
    stablehlo.ConvolutionOp,
    stablehlo.GatherOp,
    stablehlo.ScatterOp,
)
_SECONDS_A_CLASS = 5e-3
"""Of time for a mesh, for each class of nodes: longer finds little that is better."""
_BEST = 3
"""How many shapes of a mesh become candidates."""


@dataclass(frozen=True, slots=True)
class _Solved:
    problem: ShardingProblem
    chosen: Ints
    cost: float
    is_feasible: bool


def solved_candidates(
    function: FuncOp,
    shapes: Sequence[tuple[int, ...]],
    machine: Machine,
    *,
    memory: int | None = None,
    trip_count: int | None = None,
    seconds: float,
) -> Iterator[Candidate]:
    """Yield what the solver chooses, the cheapest by its own prices first.

    Args:
        function: without calls and shardings; its ops are numbered as candidates' are.
        shapes: of meshes, largest axis first.
        memory: bytes that a device has.
        seconds: for all shapes at most.
    """
    end = monotonic() + seconds
    graph = Graph.of(function, trip_count)
    if not graph.arguments:
        return  # scalars alone: nothing is split
    most = _SECONDS_A_CLASS * len(set(graph.kinds))
    solved: list[_Solved] = []
    shapes = [shape for shape in shapes if len(shape) <= len(AXIS_NAMES)]
    for at, shape in enumerate(shapes):
        if (left := end - monotonic()) <= 0:
            break
        problem = graph.problem(Axes.of(shape, machine), machine, memory)
        solution = solve(problem.problem, min(most, left / (len(shapes) - at)))
        solved.append(
            _Solved(problem, solution.chosen, solution.cost, solution.is_feasible)
        )
    solved.sort(key=lambda choice: (not choice.is_feasible, choice.cost))
    for choice in solved[:_BEST]:
        candidate = _candidate(function, choice)
        if any(candidate.splits or ()):
            yield candidate
            if choice is solved[0]:
                note = f"{SOLVED}, arguments alone"
                yield replace(candidate, note=note, constraints=())


def _candidate(function: FuncOp, solved: _Solved) -> Candidate:
    sizes = solved.problem.axes.sizes
    splits: list[list[ArgumentDim]] = [[] for _ in sizes]
    for index, argument in enumerate(function.body.block.args):
        layout = solved.problem.layout(argument, solved.chosen) or ()
        for axis, dim in enumerate(layout):
            if dim != WHOLE:
                name, size = argument_name(function, index), shape_of(argument)[dim]
                splits[axis].append(ArgumentDim(index, dim, name, size))
    return Candidate(
        tuple(zip(AXIS_NAMES, sizes, strict=False)),
        tuple(map(tuple, splits)),
        note=SOLVED,
        constraints=tuple(_constraints(function, solved)),
    )


def _constraints(function: FuncOp, solved: _Solved) -> Iterator[Constraint]:
    for number, op in enumerate(function.body.walk()):
        if isinstance(op, _CONSTRAINED):
            result = op.results[0]
            layout = solved.problem.layout(result, solved.chosen)
            if layout is not None and any(dim != WHOLE for dim in layout):
                frame = source_frame(op.location) or Frame("", "")
                yield Constraint(
                    number,
                    _dims(layout, len(shape_of(result))),
                    frame.position or None,
                    frame.function or None,
                )


def _dims(layout: Layout, rank: int) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(name for name, at in zip(AXIS_NAMES, layout, strict=False) if at == dim)
        for dim in range(rank)
    )
