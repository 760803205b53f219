"""Other passes in the place of stages 6 and 8."""

import pytest

import ttxdsl
from tests.insight.why import programs


def test_stages_by_name_are_the_stages():
    """With what belongs around them."""
    given = ttxdsl.load(programs.LARGER)
    named = given.partition(
        propagation='sdy-user-priority-propagate{propagation-strategy="aggressive"}',
        reshards="sdy-insert-explicit-reshards",
    )
    assert named.text == given.partition().text
    design = given.partition(propagation="sdy-aggressive-propagate", optimize=False)
    assert design.text == given.partition(optimize=False).text
    basic = given.partition(propagation="sdy-basic-propagate", last_stage=6)
    assert basic.text != given.partition(last_stage=6).text
    with pytest.raises(ttxdsl.CompileError, match="did you mean sdy-basic-propagate"):
        given.partition(propagation="basic-propagate")
