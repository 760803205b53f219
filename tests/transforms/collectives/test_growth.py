"""The optimizations' work grows with the program: by calls, which are always the same."""

import pytest

from tests.sampling import sampled
from tests.transforms.collectives.optimized import local
from tests.transforms.collectives.programs import PROGRAMS, SUMS_ALONG_TWO_AXES
from tests.transforms.collectives.repeated import chained, growth, side_by_side
from tests.work import calls
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.collectives.optimize_collectives import (
    OPTIMIZATIONS,
    OptimizeCollectivesPass,
)


@pytest.mark.parametrize("name", sampled(OPTIMIZATIONS, 5))
def test_on_programs_side_by_side(name: str):
    def work(count: int) -> int:
        module = local(side_by_side(PROGRAMS[name], count))
        optimize = OptimizeCollectivesPass((name,))
        return calls(lambda: optimize.apply(make_context(), module))

    # quadratic ones are 4.2: what is looked at for each of all groups is soon most of it
    assert growth(work, 16) < 4.05


def gathered(count: int) -> str:
    """Values that constants alone tell apart, which devices have parts of."""
    type_, whole = "tensor<8x8xf32>", f"tensor<{8 * count}x8xf32>"
    lines = [
        f"""%c{i} = stablehlo.constant dense<{i}.0> : {type_}
        %v{i} = stablehlo.add %x, %c{i} : {type_}"""
        for i in range(count)
    ]
    values = ", ".join(f"%v{i}" for i in range(count))
    return f"""sdy.mesh @mesh = <["x"=2]>
      func.func @main(
          %x: {type_} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) -> {whole} {{
        {" ".join(lines)}
        %all = stablehlo.concatenate {values}, dim = 0
          : ({", ".join([type_] * count)}) -> {whole}
        return %all : {whole}
      }}"""


def test_on_values_that_constants_tell_apart():
    def work(count: int) -> int:
        module = local(gathered(count))
        optimize = OptimizeCollectivesPass(("collective-cse",))
        return calls(lambda: optimize.apply(make_context(), module))

    assert growth(work, 25) < 4.05


def test_on_sums_that_follow_each_other():
    """Who came first is known of all: nobody looks through the block for it."""

    def work(count: int) -> int:
        module = local(chained(SUMS_ALONG_TWO_AXES, count))
        optimize = OptimizeCollectivesPass()
        return calls(lambda: optimize.apply(make_context(), module))

    assert growth(work, 25) < 4.05
