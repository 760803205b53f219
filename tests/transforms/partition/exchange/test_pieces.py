"""Concatenations of slices of one split value send the few pieces that are read."""

from random import Random

import pytest

from tests.differential.partitioning import EQUAL, partition_and_compare
from tests.transforms.collectives.repeated import chained, growth
from tests.work import calls
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def sent(text: str) -> int:
    module = parse_program(text)
    TTStableHLOPipelinePass().apply(make_context(), module)
    return sum(one.bytes_per_device for one in list_collectives(module))


def put_together(
    size: int,
    cuts: list[tuple[int, int]],
    axes: str = '"y"',
    result: str | None = None,
    mesh: str = '["x"=2, "y"=4]',
) -> str:
    """Columns of a tensor, in stretches, next to each other."""
    whole = sum(end - start for start, end in cuts)
    lines = [
        f"%{at} = stablehlo.slice %a [0:4, {start}:{end}]"
        f" : (tensor<4x{size}xf32>) -> tensor<4x{end - start}xf32>"
        for at, (start, end) in enumerate(cuts)
    ]
    names = ", ".join(f"%{at}" for at in range(len(cuts)))
    types = ", ".join(f"tensor<4x{end - start}xf32>" for start, end in cuts)
    result = axes if result is None else result
    return f"""sdy.mesh @mesh = <{mesh}>
      func.func @main(%a: tensor<4x{size}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{{axes}}}]>}})
          -> (tensor<4x{whole}xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{{result}}}]>}}) {{
        {(chr(10) + "        ").join(lines)}
        %r = stablehlo.concatenate {names}, dim = 1 : ({types}) -> tensor<4x{whole}xf32>
        return %r : tensor<4x{whole}xf32>
      }}"""


AXES = ('"x"', '"y"', '"x", "y"', '"y", "x"', '"y":(1)2', "")


@pytest.mark.parametrize("seed", range(14))
def test_stretches_in_any_order(seed: int):
    """Rolls and others, along axes of which the result has all, some, or others."""
    random = Random(seed)
    size = random.choice((16, 24, 32))
    places = sorted(random.sample(range(1, size), random.randint(1, 3)))
    cuts = list(zip([0, *places], [*places, size], strict=True))
    random.shuffle(cuts)
    axes = random.choice(AXES)
    result = axes if random.random() < 0.7 else random.choice(AXES)
    if random.random() < 0.2:
        cuts.append(random.choice(cuts))
        result = ""  # whatever its size is
    text = put_together(size, cuts, axes, result)
    assert partition_and_compare(parse_program(text), seed)[0] == EQUAL


def test_rolls_of_rolls_are_looked_at_a_few_at_a_time():
    """What is further back than a cut may be is not walked to for each of a chain."""
    roll = put_together(16, [(8, 16), (0, 8)])

    def work(count: int) -> int:
        module = parse_program(chained(roll, count))
        stages = TTStableHLOPipelinePass(optimize=False, last_stage=11)
        return calls(lambda: stages.apply(make_context(), module))

    assert growth(work, 40) < 4.2
