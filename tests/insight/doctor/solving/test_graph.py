"""Shardings of a whole program, chosen by the solver."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.costs.links import Link
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.insight.doctor.doctor import diagnose
from ttxdsl.insight.doctor.measure import Measurement, compile_candidate
from ttxdsl.insight.doctor.meshes import Candidate
from ttxdsl.insight.doctor.solving.candidates import SOLVED, solved_candidates
from ttxdsl.insight.doctor.solving.graph import Graph, ShardingProblem
from ttxdsl.insight.doctor.solving.layouts import Axes
from ttxdsl.insight.doctor.solving.problem import Ints
from ttxdsl.insight.doctor.solving.solve import solve
from ttxdsl.loading.program import parse_program

FAST = Machine(link=Link(latency=1e-9, bytes_per_second=1e12))


def mlp(batch: int, width: int, hidden: int, layers: int = 1) -> ModuleOp:
    """Two products a layer, with a function between."""
    x, w, v = (
        f"tensor<{a}x{b}xf32>"
        for a, b in ((batch, width), (width, hidden), (hidden, width))
    )
    y = f"tensor<{batch}x{hidden}xf32>"
    arguments = [f"%w{at}: {w}, %v{at}: {v}" for at in range(layers)]
    body = [
        f"%a{at} = stablehlo.dot_general %x{at}, %w{at}, contracting_dims = [1] x [0] :"
        f" ({x}, {w}) -> {y}\n"
        f"%t{at} = stablehlo.tanh %a{at} : {y}\n"
        f"%x{at + 1} = stablehlo.dot_general %t{at}, %v{at},"
        f" contracting_dims = [1] x [0] : ({y}, {v}) -> {x}"
        for at in range(layers)
    ]
    return parse_program(
        f"func.func @main(%x0: {x}, {', '.join(arguments)}) -> {x} {{\n"
        + "\n".join(body)
        + f"\nreturn %x{layers} : {x}\n}}"
    )


def solved(
    module: ModuleOp, sizes: tuple[int, ...], limit: float | None = None
) -> tuple[ShardingProblem, Ints]:
    graph = Graph.of(entry_function(module))
    problem = graph.problem(Axes.of(sizes, FAST), FAST, limit)
    solution = solve(problem.problem, 2.0)
    assert solution.is_feasible
    return problem, solution.chosen


def layouts(module: ModuleOp, sizes: tuple[int, ...]) -> list[tuple[int, ...] | None]:
    problem, chosen = solved(module, sizes)
    arguments = entry_function(module).body.block.args
    return [problem.layout(argument, chosen) for argument in arguments]


def test_memory_is_a_limit():
    module = mlp(8192, 512, 512)
    problem, chosen = solved(module, (8,), limit=9e6)
    assert problem.problem.usage(chosen).max() <= 9e6
    loose, free = solved(module, (8,))
    assert loose.problem.cost(free) <= problem.problem.cost(chosen)


def test_a_loop_counts_its_turns():
    module = parse_program("""
    func.func @main(%x: tensor<64x64xf32>, %w: tensor<10x64x64xf32>) -> tensor<64x64xf32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<10> : tensor<i32>
      %r:2 = stablehlo.while(%i = %z, %h = %x) : tensor<i32>, tensor<64x64xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %s = stablehlo.dynamic_slice %w, %i, %z, %z, sizes = [1, 64, 64] :
          (tensor<10x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
        %m = stablehlo.reshape %s : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
        %d = stablehlo.dot_general %h, %m, contracting_dims = [1] x [0] :
          (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
        %k = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %k, %d : tensor<i32>, tensor<64x64xf32>
      }
      return %r#1 : tensor<64x64xf32>
    }""")
    graph = Graph.of(entry_function(module))
    products = [n for n, (op, *_) in graph.ops.items() if "dot" in op.name]
    assert {e.times for e in graph.edges if e.target in products} == {10}
    function = entry_function(module)
    loop = next(op for op in function.body.block.ops if op.regions)
    carried = loop.regions[1].block.args[1]
    assert graph.node_of[carried] == graph.node_of[loop.results[1]]


@pytest.mark.parametrize("sizes", [(4,), (2, 2)])
def test_what_is_chosen_compiles(sizes: tuple[int, ...]):
    module = mlp(1024, 256, 512, layers=2)
    function = entry_function(module)
    candidates = list(solved_candidates(function, [sizes], GENERIC, seconds=2.0))
    assert [c.note for c in candidates] == [SOLVED, f"{SOLVED}, arguments alone"]
    whole = compile_candidate(module, Candidate((("data", 4),), ((),)), GENERIC)
    assert isinstance(whole, Measurement)
    for candidate in candidates:
        measured = compile_candidate(module, candidate, GENERIC)
        assert isinstance(measured, Measurement)
        assert measured.seconds < 0.5 * whole.seconds
    # as the schemes split it: one row, by the names of groups
    names = {name for row in diagnose(module, 4).rows for name, _ in row.candidate.axes}
    assert "batch" in names
