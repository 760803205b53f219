"""What C++ refuses, ours refuses, but where C++ fails by its own fault; and conversely.

Valid modules, changed at random, so that passes meet what no pass before them makes. Where
C++ says that a module is wrong and ours takes it, the message has to be one of those of
which it is known that C++ made the wrong thing itself, and C++ must take what ours made.
"""

import random
import re
from functools import partial

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.attack.module_mutations import mutate_module
from tests.attack.mutants import mutant_of
from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.random_modules import Features, random_module
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program

RESHARDS = "sdy-insert-explicit-reshards"
PIPELINES = (
    "sdy-close-shardings",
    f"{RESHARDS}{{enable-full-version=true}}",
    f"{RESHARDS}{{enable-full-version=false}}",
    "sdy-propagation-pipeline",
    "sdy-import-pipeline",
    "sdy-export-pipeline",
)
FAULTS_OF_CPP = {
    "is empty and closed but has a priority": "it keeps the priority of what it empties",
    "duplicate axis ref|both sub-axis and full-axis|overlapping sub-axes|overlaps with "
    "operand dimension sharding or replicated": "it lists an axis as sharding and replicated",
    "to not be defined by an SdyDialect op": "it adds edges where there are some",
    "func_data_flow_edge to be a result of call": "edges come to be where no call is",
    "two consecutive sub-axes can be merged": "it leaves sub-axes apart",
    "result sharding doesn't match expected sharding": "it looks between passes: what a "
    "collective of the program takes is split, and whole again in the end, as it is uneven",
    "input and output must share the same dimension shardings": "zeros beside a value "
    "that says its replicated axes",
}
"""By what the message has; docs/evidence/differences.md has them in more words."""

OURS_ONLY = {
    "recursive call": "recursion, which C++ copies as often as it can",
    "which of the 0 functions": "modules inside of modules",
}


def changed_module(seed: int) -> str:
    """A module of several functions, or any mutant of the attack's."""
    if seed % 2:
        return mutant_of(seed).text
    rng = random.Random(f"refusals {seed}")
    features = Features(
        functions=rng.choice((1, 3)),
        ops=rng.choice((4, 8)),
        groups=rng.random() < 0.5,
        manual_computations=rng.random() < 0.5,
    )
    module = parse_program(random_module(seed, features))
    for _ in range(rng.randint(1, 2)):
        module, _change = mutate_module(rng, module)
    return str(module)


def _reason(message: str, known: dict[str, str]) -> str | None:
    found = (reason for said, reason in known.items() if re.search(said, message))
    return next(found, None)


def _ours(text: str, pipeline: str) -> str | Exception:
    try:
        return run_ours(text, pipeline)
    except (CompileError, VerifyException) as error:
        return error


def verdict(oracle: Oracle, text: str, pipeline: str) -> str:
    """How the two judge a module.

    Raises:
        AssertionError: otherwise, and it is not known why.
    """
    ours = _ours(text, pipeline)
    theirs = f"func.func({pipeline})" if pipeline.startswith(RESHARDS) else pipeline
    try:
        oracle.run(text, theirs)
    except OracleAborted:
        return "C++ crashes"
    except OracleRejected as error:
        if isinstance(ours, Exception):
            return "both refuse"
        reason = _reason(str(error), FAULTS_OF_CPP)
        assert reason is not None, f"{pipeline}: only C++ refuses: {error}"
        assert oracle.accepts(ours), f"{pipeline}: ours is no module: {ours}"
        return f"C++ refuses: {reason}"
    if isinstance(ours, Exception):
        reason = _reason(str(ours), OURS_ONLY)
        assert reason is not None, f"{pipeline}: only ours refuses: {ours}"
        return f"ours refuses: {reason}"
    return "both take"


def check(oracle: Oracle, seed: int) -> list[Outcome]:
    """The verdicts on a module that both can read; none on any other."""
    text = changed_module(seed)
    try:
        run_ours(text, "")
        text = oracle.run(text)
        run_ours(text, "")
    except Exception:
        # whatever parsers say: test_stablehlo and tests/attack compare these
        return []
    return [(one, verdict(oracle, text, one)) for one in PIPELINES]


def test_changed_modules(oracle: Oracle) -> None:
    outcomes = [one for seed in range(20, 32) for one in check(oracle, seed)]
    assert sum(verdict == "both take" for _, verdict in outcomes) > 30
    assert any(verdict.startswith("C++ refuses") for _, verdict in outcomes)


@pytest.mark.fuzz
def test_many_changed_modules() -> None:
    run_campaign("refusals", partial(asking, Oracle, check), 2_000)
