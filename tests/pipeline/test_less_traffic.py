"""Stage 6: by priorities, or aggressively where devices then send less."""

import pytest

import ttxdsl
from tests.interpreters.reference import parse
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.pipeline import Hooks, TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.exporting.sdy_close_shardings import CloseShardingsPass

BY_PRIORITY, AGGRESSIVE = "sdy-user-priority-propagate", "sdy-aggressive-propagate"


def program(*, table: str = '{}, {"m"}', batch: str = '"b"') -> str:
    """Rows of a table, and a layer on them, whose weights are split by the batch's axis.

    Args:
        table: how that is split.
        batch: the axis of the weights.
    """
    return f"""sdy.mesh @mesh = <["b"=2, "m"=4]>
func.func public @main(
    %j: tensor<2x16xi32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"b"}}, {{}}]>}},
    %t: tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{table}]>}},
    %v: tensor<32x48xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{batch}}}, {{"m"}}]>}},
    %w: tensor<48x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"m"}}, {{{batch}}}]>}})
    -> tensor<2x16x32xf32> {{
  %i = stablehlo.broadcast_in_dim %j, dims = [0, 1] : (tensor<2x16xi32>) -> tensor<2x16x1xi32>
  %x = "stablehlo.gather"(%t, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}}> : (tensor<64x32xf32>, tensor<2x16x1xi32>) -> tensor<2x16x32xf32>
  %q = stablehlo.dot_general %x, %v, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x48xf32>) -> tensor<2x16x48xf32>
  %0 = stablehlo.dot_general %q, %w, contracting_dims = [2] x [0] : (tensor<2x16x48xf32>, tensor<48x32xf32>) -> tensor<2x16x32xf32>
  %1 = stablehlo.add %x, %0 : tensor<2x16x32xf32>
  return %1 : tensor<2x16x32xf32>
}}"""


def test_stages_apart_choose_the_same():
    module = parse(program())
    for first, last in ((1, 6), (7, 13)):
        stages = TTStableHLOPipelinePass(first_stage=first, last_stage=last)
        stages.apply(make_context(), module)
    whole = ttxdsl.load(program()).partition()
    assert bytes_sent(module) == bytes_sent(whole.module)


def test_the_end_of_the_cheaper_way_is_kept(monkeypatch: pytest.MonkeyPatch):
    """Nothing is compiled a third time where nobody looks at the stages between."""
    ended: list[None] = []
    close = CloseShardingsPass.apply
    monkeypatch.setattr(
        CloseShardingsPass, "apply", lambda *all_: (ended.append(None), close(*all_))
    )
    made: dict[bool, tuple[str, list[str], int]] = {}
    for looks in (False, True):
        ended.clear()
        module = parse(program())
        with collect_remarks() as remarks:
            stages = TTStableHLOPipelinePass().run(
                make_context(), module, Hooks(looks=looks)
            )
            numbers = [stage.number for stage in stages]
        assert numbers == [*range(1, 14)]
        made[looks] = str(module), [str(one) for one in remarks], len(ended)
    assert made[False][:2] == made[True][:2]
    assert (made[False][2], made[True][2]) == (2, 1)  # which ends trials at stage 11


def test_why_tells_of_the_chosen_one():
    """What an explanation records is what is compiled."""
    given = ttxdsl.load(program())
    by_priority, aggressive = (
        str(given.partition(propagation=name).why("%0"))
        for name in (BY_PRIORITY, AGGRESSIVE)
    )
    assert str(given.partition().why("%0")) == aggressive != by_priority
