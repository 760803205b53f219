"""`sdy-verify-unreduced-axes` takes and refuses what the newest C++ pass does."""

import re
from functools import partial

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.newest import newest_oracle
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.unreduced_programs import unreduced_program
from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError

NAME = "sdy-verify-unreduced-axes"


def check(newest: Oracle, seed: int) -> list[Outcome]:
    """Both sides take a program or refuse it, in the same words of the same op."""
    text = unreduced_program(seed)
    try:
        newest.run(text, f"func.func({NAME})")
        expected = None
    except OracleRejected as error:
        found = re.search(r"'([a-z_.]+)' op ([^\n]*)", str(error))
        assert found, error
        expected = found.groups()
    try:
        run_passes(text, NAME)
    except (CompileError, VerifyException) as error:
        assert expected, error
        name, message = expected
        assert message in str(error)
        # verifiers leave it to the printer of diagnostics to name their op
        assert f"'{name}'" in str(error) or isinstance(error, VerifyException)
        return [(NAME, "both refuse")]
    assert expected is None, expected
    return [(NAME, "both take")]


def test_random_programs_like_the_newest(newest: Oracle):
    found = [outcome for seed in range(60) for outcome in check(newest, seed)]
    assert len({*found}) == 2


@pytest.mark.fuzz
@pytest.mark.usefixtures("newest_python")
def test_many_programs_like_the_newest():
    run_campaign("unreduced axes", partial(asking, newest_oracle, check), 2_000)
