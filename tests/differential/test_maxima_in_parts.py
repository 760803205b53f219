"""Passes on values of which devices hold parts of maxima and minima, as in the newest C++.

jaxlib 0.10.2 cannot read them.
"""

import re
from functools import partial

import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.newest import newest_oracle
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.unreduced_programs import unreduced_program
from ttxdsl.diagnostics.errors import CompileError

RESHARDS = "sdy-insert-explicit-reshards{enable-full-version=true}"
COLLECTIVES = "sdy-reshard-to-collectives"
PASSES = {
    "sdy-basic-propagate": "{}",
    "sdy-aggressive-propagate": "{}",
    "sdy-user-priority-propagate": "{}",
    "sdy-add-data-flow-edges": "{}",
    "sdy-apply-sharding-constraints": "{}",
    "sdy-close-shardings": "{}",
    "sdy-flatten-call-graph": "{}",
    "sdy-import-func-calls": "{}",
    "sdy-import-pipeline": "{}",
    "sdy-inline-meshes": "{}",
    "sdy-remove-size-one-axes": "{}",
    "sdy-constant-or-scalar-merger": "func.func({})",
    "sdy-sharding-constraint-to-reshard": "func.func({})",
    "canonicalize{enable-patterns=sdy-reshard}": "func.func({})",
    RESHARDS: "func.func({})",
    COLLECTIVES: "func.func({})",
}
"""How C++ has them; those that 0.12.0.1 has changed for sums too are left out."""

UNREDUCED = re.compile(r", unreduced=\w*\{[^}]*\}")
OURS_REFUSES = {
    RESHARDS: "its user wants parts of another reduction",
    COLLECTIVES: "changes unreduced axes",
}


def _difference(name: str, ours: str, theirs: str) -> str | None:
    """What C++ is known to do wrong in what it prints (docs/evidence/differences.md)."""
    if name == COLLECTIVES and UNREDUCED.sub("", ours) == UNREDUCED.sub("", theirs):
        return "C++ drops unreduced axes"
    if name == RESHARDS and theirs.count("sdy.all_reduce") > ours.count("sdy.all_red"):
        return "C++ reduces twice"
    added = "sdy.replicated_to_unreduced"
    if name == RESHARDS and ours.count(added) > theirs.count(added):
        return "C++ takes what says nothing for unreduced"
    return None


def check(newest: Oracle, seed: int) -> list[Outcome]:
    """The outcome of each pass on the program of a seed; none if it is not valid.

    Raises:
        AssertionError: ours and C++ differ, and it is not known why.
    """
    text = unreduced_program(seed)
    if not newest.accepts(text):
        return []
    text = newest.run(text)
    return [(name, _outcome(newest, text, name)) for name in PASSES]


def _outcome(newest: Oracle, text: str, name: str) -> str:
    try:
        ours = run_ours(text, name)
    except CompileError as error:
        ours = error
    try:
        theirs = newest.run(text, PASSES[name].format(name))
    except OracleAborted:
        assert isinstance(ours, CompileError) or newest.accepts(ours), ours
        return "C++ crashes"
    except OracleRejected:
        assert isinstance(ours, CompileError), f"{name}: only C++ refuses"
        return "both refuse"
    if isinstance(ours, CompileError):
        known = OURS_REFUSES.get(name)
        assert known is not None, f"{name}: {ours}"
        assert known in str(ours), f"{name}: {ours}"
        return "ours refuses"
    made = newest.run(ours)
    if made == theirs:
        return "equal"
    difference = _difference(name, made, theirs)
    assert difference is not None, f"{name}:\n{made}\n{theirs}"
    return difference


def test_random_programs_like_the_newest(newest: Oracle) -> None:
    outcomes = [one for seed in range(6) for one in check(newest, seed)]
    assert {name for name, outcome in outcomes if outcome == "equal"} == set(PASSES)


@pytest.mark.fuzz
@pytest.mark.usefixtures("newest_python")
def test_many_programs_like_the_newest() -> None:
    run_campaign("maxima in parts", partial(asking, newest_oracle, check), 2_000)
