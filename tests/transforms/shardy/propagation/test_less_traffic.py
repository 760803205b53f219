"""Stage 6 of a large program: its reshards decide, and what was done is kept."""

import pytest

from tests.insight.why.trials.test_necessity import fully_sharded
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import UNSEEN, TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.propagation import less_traffic
from ttxdsl.transforms.shardy.propagation.traffic import reshard_bytes

SIZE_ONE = fully_sharded(2).replace('<["d"=', '<["one"=1, "d"=')


def compiled(text: str) -> tuple[str, list[str]]:
    """Return the per-device program that nobody looks at on the way, and the remarks."""
    module = parse_program(text)
    with collect_remarks() as remarks:
        for _ in TTStableHLOPipelinePass().run(make_context(), module, UNSEEN):
            pass
    return str(module), [str(remark) for remark in remarks if "contra" in str(remark)]


def watched(text: str) -> tuple[str, list[str]]:
    """Return the same of a program that is looked at after each stage."""
    module = parse_program(text)
    with collect_remarks() as remarks:
        for _ in TTStableHLOPipelinePass().run(make_context(), module):
            pass
    return str(module), [str(remark) for remark in remarks if "contra" in str(remark)]


@pytest.mark.parametrize("large", [1, 10**9])
@pytest.mark.parametrize("layers", [1, 3])
def test_looked_at_or_not(monkeypatch: pytest.MonkeyPatch, large: int, layers: int):
    """The same way is taken, told with the same bytes."""
    monkeypatch.setattr(less_traffic, "LARGE", large)
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)  # both ways are tried
    text = fully_sharded(layers)
    assert compiled(text) == watched(text)


@pytest.mark.parametrize("favoured", ["aggressive", "by priority"])
def test_only_one_way_goes_to_the_end(monkeypatch: pytest.MonkeyPatch, favoured: str):
    """Of a large program the other way ends with stage 8."""
    monkeypatch.setattr(less_traffic, "LARGE", 1)
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)
    monkeypatch.setattr(less_traffic, "_ALIKE", 2)
    order = iter((200, 100) if favoured == "aggressive" else (100, 200))
    monkeypatch.setattr(less_traffic, "reshard_bytes", lambda *_: next(order))
    monkeypatch.setattr(less_traffic, "bytes_sent", lambda *_: pytest.fail("counted"))
    reached: list[int | None] = []
    go_on = TTStableHLOPipelinePass.go_on

    def counted(*arguments: object, **named: object):
        for stage in go_on(*arguments, **named):  # pyright: ignore[reportArgumentType]
            reached.append(stage.number)
            yield stage

    monkeypatch.setattr(TTStableHLOPipelinePass, "go_on", counted)
    _, remarks = compiled(fully_sharded(2))
    assert reached == [7, 8, 7, 8, 9, 10, 11, 12, 13]
    assert len(remarks) == (favoured == "aggressive")
    assert all("reshards send 100 B with it, 200 B with" in one for one in remarks)


def test_counts_that_differ_decide_nothing(monkeypatch: pytest.MonkeyPatch):
    """Both ways go to the end where reshards say something else than propagation."""
    monkeypatch.setattr(less_traffic, "LARGE", 1)
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)
    small = compiled(fully_sharded(2))
    monkeypatch.setattr(less_traffic, "reshard_bytes", lambda *_: 100)
    monkeypatch.setattr(less_traffic, "_ALIKE", -1)
    assert compiled(fully_sharded(2)) == watched(fully_sharded(2))
    monkeypatch.setattr(less_traffic, "LARGE", 10**9)
    assert small[0] == compiled(fully_sharded(2))[0]


def test_counts_that_both_say_less_than_half_need_not_be_alike(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(less_traffic, "LARGE", 1)
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)
    monkeypatch.setattr(less_traffic, "bytes_sent", lambda *_: pytest.fail("counted"))
    propagation, counts = iter((100, 10)), iter((100, 50))
    monkeypatch.setattr(less_traffic, "bits_in_loops", lambda *_: next(propagation))
    monkeypatch.setattr(less_traffic, "reshard_bytes", lambda *_: next(counts))
    _, remarks = compiled(fully_sharded(2))
    assert len(remarks) == 1 and "reshards send 50 B with it" in remarks[0]


@pytest.mark.parametrize(("reshards", "to_the_end"), [(99, False), (90, True)])
def test_where_counts_differ_and_little_is_gained_priorities_stand(
    monkeypatch: pytest.MonkeyPatch, reshards: int, to_the_end: bool
):
    monkeypatch.setattr(less_traffic, "LARGE", 1)
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 1e9)
    monkeypatch.setattr(less_traffic, "bits_in_loops", lambda *_: next(propagation))
    monkeypatch.setattr(less_traffic, "reshard_bytes", lambda *_: next(counts))
    sent: list[int] = []

    def bytes_sent(_: object) -> int:
        sent.append(100 - len(sent))  # the other way would be taken
        return sent[-1]

    monkeypatch.setattr(less_traffic, "bytes_sent", bytes_sent)
    propagation, counts = iter((100, 50)), iter((100, reshards))
    _, remarks = compiled(fully_sharded(2))
    assert (bool(sent), bool(remarks)) == (to_the_end, to_the_end)


def test_a_large_program_is_tried_if_loops_gain_enough(monkeypatch: pytest.MonkeyPatch):
    """The count without loops says that it pays, the one with loops decides."""
    stage_6 = less_traffic.LessTrafficPropagatePass()
    monkeypatch.setattr(less_traffic, "CLEARLY_LESS", 2)
    text = fully_sharded(2)
    assert stage_6.candidates(parse_program(text)).other is not None
    monkeypatch.setattr(less_traffic, "LARGE", 1)
    counts = iter((100, 199, 100, 200))
    monkeypatch.setattr(less_traffic, "bits_in_loops", lambda *_: next(counts))
    for is_tried in (True, False):
        assert (stage_6.candidates(parse_program(text)).other is not None) == is_tried


def test_axes_of_size_one_stay_where_nothing_is_gained(monkeypatch: pytest.MonkeyPatch):
    """They are taken out for a try, and all attributes are put back."""
    text = SIZE_ONE.replace('[{"d"}', '[{"one", "d"}')
    assert '"one", "d"' in text
    module = parse_program(text)
    before = str(module)
    less_traffic.LessTrafficPropagatePass().candidates(module)
    assert str(module) == before


def test_reshards_count_as_often_as_loops_turn():
    text = """
sdy.mesh @m = <["d"=4]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"d"}]>}) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %n = stablehlo.constant dense<TURNS> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %r = sdy.sharding_constraint %y <@m, [{}]> : tensor<8xf32>
    %t = stablehlo.tanh %r : tensor<8xf32>
    %c = sdy.sharding_constraint %t <@m, [{"d"}]> : tensor<8xf32>
    stablehlo.return %j, %c : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
"""
    counted: dict[int, int] = {}
    for turns in (1, 2, 5):
        module = parse_program(text.replace("TURNS", str(turns)))
        for stage in TTStableHLOPipelinePass().run(make_context(), module):
            if stage.number == 8:
                counted[turns] = reshard_bytes(module)
    inside = counted[2] - counted[1]
    assert inside > 0
    assert counted[5] == counted[1] + 4 * inside
