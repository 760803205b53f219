"""The time that changes of a large program may take."""

from time import process_time

import pytest

from tests.insight.why.trials.test_necessity import fully_sharded
from ttxdsl.diagnostics.display import plain_text
from ttxdsl.insight.why import explain
from ttxdsl.insight.why.answers import WhyCollective
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.insight.why.trials import counterfactuals
from ttxdsl.insight.why.trials.budget import TimeBudget
from ttxdsl.insight.why.view import print_answer
from ttxdsl.loading.program import parse_program


def shown(explainer: Explainer, answer: WhyCollective) -> str:
    return plain_text(
        lambda console: print_answer(console, answer, explainer.machine), 200
    )


def explained(monkeypatch: pytest.MonkeyPatch, seconds: float) -> Explainer:
    """Return what explains a program that counts as large, in so many seconds."""
    monkeypatch.setattr(explain, "_LARGE", 1)
    monkeypatch.setattr(explain, "_SECONDS", seconds)
    return Explainer(parse_program(fully_sharded(2)))


def test_no_time(monkeypatch: pytest.MonkeyPatch):
    """Nothing is compiled, and nothing said that only a compilation tells."""
    explainer = explained(monkeypatch, -1)
    monkeypatch.setattr(
        counterfactuals, "measure", lambda *_: pytest.fail("was measured")
    )
    answer = explainer.collective(0)
    assert (answer.tried, answer.failed) == (0, 0)
    assert answer.untried > 0
    assert answer.needed is None
    assert answer.necessary is None
    text = shown(explainer, answer)
    assert f"not compiled, for each takes long: --tries {answer.untried}" in text
    assert "no change" not in text
    assert "needed" not in text


def test_time_for_some(monkeypatch: pytest.MonkeyPatch):
    """What was compiled is what is said to have been; the rest is counted."""
    explainer = explained(monkeypatch, 1e9)
    whole = explainer.collective(0)
    assert whole.tried
    assert whole.untried == 0
    assert whole == Explainer(
        parse_program(fully_sharded(2)), tries=explainer._tries
    ).collective(0)
    explainer = explained(monkeypatch, 1e9)
    answers = iter([True, True])
    monkeypatch.setattr(TimeBudget, "allows", lambda *_: next(answers, False))
    some = explainer.collective(0)
    assert (some.tried or 0) + some.failed == 2
    assert some.untried == whole.tried + whole.failed - 2
    assert f"{some.untried} more change" in shown(explainer, some)


def test_later_ones_are_expected_to_take_as_long():
    budget = TimeBudget(0.5, 0.1)
    assert budget.allows()
    with budget.spending():
        end = process_time() + 0.3
        while process_time() < end:
            pass
    assert not budget.allows()
    assert budget.allows(0.5)
