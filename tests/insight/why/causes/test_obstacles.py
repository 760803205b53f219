"""`why` names what kept an axis away: the obstacle, and who won a conflict by which rule."""

from pathlib import Path

import pytest

from tests.insight.why import programs
from tests.insight.why.programs import ask
from ttxdsl.insight.why.answers import Conflict, Obstacle, WhySharding

EXAMPLES = Path(__file__).parents[3] / "examples"


def obstacles(answer: WhySharding, dim: int) -> dict[str, Obstacle]:
    return {one.kind: one for one in answer.dims[dim].obstacles}


def only_conflict(answer: WhySharding, dim: int) -> Conflict:
    found = {o.conflict for o in answer.dims[dim].obstacles if o.conflict is not None}
    (conflict,) = found
    return conflict


# --- shardings: why not ------------------------------------------------------------


def test_missing_annotation():
    answer = ask(programs.MISSING).answer("%w")
    obstacle = obstacles(answer, 1)["no op reached it"]
    assert "dot %out (p.mlir:3:3)" in obstacle.text


def test_an_axis_that_was_lost_upstream():
    text = programs.LARGER.replace(
        "return %out",
        "%neg = stablehlo.negate %out : tensor<8x32xf32>\n  %exp = stablehlo.exponential %neg : tensor<8x32xf32>\n  return %exp",
    )
    answer = ask(text).answer("%exp")
    (obstacle,) = answer.dims[0].obstacles
    assert obstacle.kind == "conflict" and obstacle.axis == "a"
    assert obstacle.upstream == "dimension 0 of %out"
    assert obstacle.conflict == only_conflict(ask(text).answer("%out"), 0)
    # nobody ever had the other one
    assert "no op reached it" in obstacles(ask(programs.MISSING).answer("%out"), 1)


def test_closed_dimension():
    answer = ask(programs.CLOSED).answer("%y")
    texts = [one.text for one in answer.dims[0].obstacles]
    assert len(texts) == 2
    assert "operand 0 (%x) has {a}" in texts[0]
    assert all("closed by its annotation [{}, {}]" in text for text in texts)
    kinds = {one.kind for one in answer.dims[0].obstacles}
    assert kinds == {"closed dimension"}


def test_uneven_dimension():
    answer = ask(programs.UNEVEN).answer("%part")
    obstacle = obstacles(answer, 0)["uneven"]
    assert "4 does not divide 6: it is kept whole" in obstacle.text


def test_op_without_a_rule():
    answer = ask(programs.NO_RULE).answer("%same")
    assert "custom_call %same" in obstacles(answer, 0)["no rule"].text


def test_what_has_no_operands_or_is_dead_is_not_to_blame():
    text = programs.function(
        "%x: tensor<8xf32>",
        programs.given("tensor<8xf32>", "[{}]"),
        """  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %sum = stablehlo.add %x, %c : tensor<8xf32>
  %dead = stablehlo.negate %sum : tensor<8xf32>
  %kept = stablehlo.optimization_barrier %sum : tensor<8xf32>
  return %kept : tensor<8xf32>""",
    )
    for name in ("%c", "%sum", "%x"):
        assert set(obstacles(ask(text).answer(name), 0)) == {"no op reached it"}


def test_reshape_would_be_strided():
    answer = ask(programs.RESHAPE).answer("%flat")
    obstacle = obstacles(answer, 0)["not divisible"]
    assert "factor j=8 stands behind factor i=2" in obstacle.text


def test_blocked_factor():
    answer = ask(programs.SORT).answer("%sorted")
    assert "blocks factor i=16" in obstacles(answer, 0)["blocked factor"].text


def test_replicated_axis():
    answer = ask(programs.REPLICATED).answer("%y")
    assert "%y lists a as replicated" in obstacles(answer, 0)["replicated axis"].text


# --- conflicts: who won, who lost, by which rule ----------------------------------


def test_the_larger_tensor_wins():
    answer = ask(programs.LARGER).answer("%out")
    conflict = only_conflict(answer, 0)
    assert "(argument 1 (%w) is annotated" in conflict.winner
    assert "(argument 0 (%x) is annotated" in conflict.loser
    assert "factor j=32 comes from the larger tensor (512 elements" in conflict.rule
    assert conflict.decided
    # the step in which it was decided says the same
    (cause,) = answer.dims[1].causes
    (in_step,) = cause.steps[0].conflicts
    assert "larger tensor (512 elements, factor i=8 from 128)" in in_step.rule


def test_the_user_priority_wins():
    answer = ask(programs.PRIORITY, "sdy-user-priority-propagate").answer("%out")
    conflict = only_conflict(answer, 0)
    assert "%w" in conflict.winner and "%x" in conflict.loser
    assert "user priority p0" in conflict.rule
    assert "held back by its user priority p1" in conflict.rule


def test_without_priorities_the_larger_tensor_wins():
    answer = ask(programs.PRIORITY, "sdy-aggressive-propagate").answer("%out")
    conflict = only_conflict(answer, 0)
    assert "larger tensor" in conflict.rule


def test_annotated_axes_stay():
    conflict = only_conflict(ask(programs.CONSTRAINT).answer("%neg"), 0)
    assert "sharding constraint on %neg" in conflict.winner
    assert "argument 0 (%x)" in conflict.loser
    assert "it was annotated there" in conflict.rule


def test_the_earlier_step_wins():
    answer = ask(programs.ORDER).answer("%sum")
    rules = [c.rule for c in answer.conflicts]
    assert any("the order of steps: it came here in step 2" in rule for rule in rules)


def test_only_the_common_prefix_goes_on():
    conflict = only_conflict(ask(programs.CONFLICTING).answer("%sum"), 0)
    assert not conflict.decided
    assert "%x" in conflict.winner and "%y" in conflict.loser
    assert "only the compatible prefix {} of {a} and {b}" in conflict.rule
    assert "both were annotated" in conflict.rule


def test_the_more_split_factor_wins_in_elementwise_ops():
    (conflict,) = {
        step
        for cause in ask(programs.PREFIX).answer("%sum").dims[0].causes
        for one in cause.steps
        for step in one.conflicts
    }
    assert "factor i=16 is split 8 ways and factor j=4 4 ways" in conflict.rule


# --- the cause is the cause: without it, it does not happen ------------------------

CURES = {
    "closed dimension": (programs.CLOSED, ("[{}, {}]", "[{?}, {}]"), ("%y", 0, "a")),
    "replicated axis": (
        programs.REPLICATED,
        (', replicated={"a"}', ""),
        ("%y", 0, "a"),
    ),
    "uneven": (programs.UNEVEN, ('"b"=4', '"b"=2'), ("%part", 0, "b")),
    "no rule": (
        programs.NO_RULE,
        (
            "@mystery(%x) :",
            "@mystery(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j])"
            " {i=8, j=16}>} :",
        ),
        ("%same", 0, "a"),
    ),
    "not divisible": (
        programs.RESHAPE,
        ('[{}, {"b"}]', '[{"a"}, {"b"}]'),
        ("%flat", 0, "b"),
    ),
    "no op reached it": (
        programs.MISSING,
        (
            "%w: tensor<16x32xf32>",
            '%w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}',
        ),
        ("%out", 1, "b"),
    ),
    "conflict with a larger tensor": (
        programs.LARGER,
        ('[{}, {"a"}]', "[{}, {}]"),
        ("%out", 0, "a"),
    ),
    "conflict with a constraint": (
        programs.CONSTRAINT,
        ('%neg <@mesh, [{}, {"a"}]>', "%neg <@mesh, [{?}, {?}]>"),
        ("%neg", 0, "a"),
    ),
    "conflict of two annotations": (
        programs.CONFLICTING,
        ('[{"b"}, {}]', "[{?}, {?}]"),
        ("%sum", 0, "a"),
    ),
}


@pytest.mark.parametrize("kind", CURES)
def test_without_the_obstacle_the_axis_arrives(kind: str):
    text, (old, new), (value, dim, axis) = CURES[kind]
    before = ask(text).answer(value)
    named = {one.kind for one in before.dims[dim].obstacles}
    assert kind.partition(" with ")[0].partition(" of ")[0] in named
    assert old in text
    after = ask(text.replace(old, new)).answer(value)
    assert axis in after.dims[dim].axes
    assert "uneven" not in {one.kind for one in after.dims[dim].obstacles}
    if kind != "uneven":  # which propagation sees too late
        assert axis not in before.dims[dim].axes
