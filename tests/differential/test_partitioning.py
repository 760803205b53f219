"""Numbers stay: the JAX corpus and random programs, partitioned and in ttnn.

Each program runs as it is, after stage 13 and as ttnn on a virtual mesh, and by JAX on
one device. `make fuzz` runs many; `FUZZ` says how many, `FUZZ_REPORT` where counts go.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial

import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.corpus import programs
from tests.differential.forms import (
    OPTIMIZED,
    STAGE_13,
    TTIR,
    TTNN,
    UNOPTIMIZED,
    Array,
    compare_forms,
    compare_optimized,
)
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.partitioning import (
    EQUAL,
    MESHES,
    NOT_RUN,
    REFUSED,
    arguments_of,
    only_moves,
    reason_of,
    sharded_program,
)
from tests.differential.random_cases import case_of, options_of, random_case
from tests.differential.random_programs import random_program
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.loading.program import parse_program


def check_random(oracle: Oracle, seed: int, *, jax: bool = True) -> list[Outcome]:
    module, arguments, tagged = random_case(seed)

    def run(text: str) -> list[Array]:
        return oracle.compute(text, arguments)

    outcomes = compare_forms(
        module,
        arguments,
        run if jax else None,
        tagged=tagged,
        verify_each=seed % 4 == 0,
    )
    return [*outcomes, ("inputs", "tagged with their indices" if tagged else "random")]


def check_unreduced(seed: int, reduction: str = "") -> list[Outcome]:
    """A program some of whose arguments, results and values are parts on the devices.

    Of sums; with "max" or "min", which leave the value of what is said to be parts as it
    is, of these.
    """
    text = random_program(seed, replace(options_of(seed), unreduced=True))
    if "unreduced=" not in text:
        return [("inputs", "nothing is unreduced")]
    text = text.replace("unreduced=", f"unreduced={reduction}")
    module, arguments, tagged = case_of(text, seed)
    return compare_forms(module, arguments, None, tagged=tagged, every_form=True)


def check_optimized(seed: int) -> list[Outcome]:
    module, arguments, tagged = random_case(seed)
    outcomes = compare_optimized(module, arguments, tagged=tagged)
    return [*outcomes, ("inputs", "tagged with their indices" if tagged else "random")]


UNSPECIFIED = ("reduce_custom", "rng_uniform")
"""Programs whose numbers nobody specifies: a reduction in some order, random numbers."""


class JaxResults:
    """What JAX computes, once a program."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.of = lru_cache(maxsize=4)(self._run)

    def _run(self, which: int, text: str) -> list[Array] | str:
        arguments = arguments_of_program(which)
        try:
            return self.oracle.compute(text, arguments)
        except (OracleRejected, OracleAborted) as error:
            return str(error)

    def __call__(self, which: int, text: str) -> Sequence[Array]:
        found = self.of(which, text)
        if isinstance(found, str):
            raise OracleRejected(found)
        return found


def _results_of_jax() -> JaxResults:
    return JaxResults(Oracle())


def arguments_of_program(which: int) -> list[Array]:
    module = parse_program(programs()[which].pretty)
    return arguments_of(module, which, tagged=only_moves(module))


def check_corpus(jax: JaxResults, seed: int) -> list[Outcome]:
    """The program and the mesh of a number; the numbers go round all of them."""
    round_, index = divmod(seed, len(programs()) * len(MESHES))
    which, mesh = divmod(index, len(MESHES))
    program, name = programs()[which], list(MESHES)[mesh]
    if "symbolic" in program.name:
        return [("all meshes", "dynamic shapes: not partitioned")]
    module = sharded_program(
        program.pretty, MESHES[name], f"{program.name} {name} {round_}"
    )
    if module is None:
        if mesh or round_:
            return []
        module, name = parse_program(program.pretty), "its own mesh"
    try:
        arguments = arguments_of_program(which)
    except UnsupportedError as error:
        return [(f"global, {name}", f"{NOT_RUN}: {reason_of(error)}")]
    outcomes = compare_forms(
        module,
        arguments,
        None if program.name in UNSPECIFIED else lambda text: jax(which, text),
        tagged=only_moves(module),
    )
    kind = "tagged" if only_moves(parse_program(program.pretty)) else "random"
    return [
        *((f"{form}, {name}", outcome) for form, outcome in outcomes),
        (f"inputs, {name}", kind),
    ]


@pytest.fixture(scope="module")
def jax_results(oracle: Oracle) -> JaxResults:
    return JaxResults(oracle)


@pytest.mark.parametrize("block", range(2))
def test_random_programs(oracle: Oracle, block: int) -> None:
    found = Counter(
        outcome
        for seed in range(block * 10, block * 10 + 10)
        for outcome in check_random(oracle, seed, jax=seed % 5 == 0)
    )
    assert found[STAGE_13, EQUAL] > 5
    assert found[TTNN, EQUAL] > 2
    refused = [o for form, o in found if form == STAGE_13 and o.startswith(REFUSED)]
    assert len(refused) <= 1


def test_unreduced_values() -> None:
    found = Counter(outcome for seed in range(24) for outcome in check_unreduced(seed))
    assert found[TTIR, EQUAL] > 8
    assert found[TTNN, EQUAL] > 8


def check_extremes(seed: int) -> list[Outcome]:
    return check_unreduced(seed, ("max", "min")[seed % 2])


def test_parts_of_maxima_and_minima() -> None:
    found = Counter(outcome for seed in range(12) for outcome in check_extremes(seed))
    assert found[STAGE_13, EQUAL] > 4
    # only sums enter or leave in parts
    assert any(form == TTNN and said.startswith(REFUSED) for form, said in found)


def test_the_optimizations_change_no_number() -> None:
    found = Counter(outcome for seed in range(24) for outcome in check_optimized(seed))
    assert found[OPTIMIZED, EQUAL] == found[UNOPTIMIZED, EQUAL] > 18


@pytest.mark.parametrize("seed", [25000862, 25009010, 26003660])
def test_what_was_moved_is_another_tensor(seed: int) -> None:
    """What stage 11 remembers of where a value came from did not hold for it any more."""
    assert ("one against the other", EQUAL) in check_optimized(seed)


def test_an_exchange_is_used_where_it_is_there() -> None:
    """What an all_to_all behind it made was used ahead of it: now it moves up."""
    assert ("one against the other", EQUAL) in check_optimized(27003476)


@pytest.mark.parametrize("block", sampled(range(8), 3))
def test_corpus(jax_results: JaxResults, block: int) -> None:
    """Every 40th pair of a program and a mesh."""
    total = len(programs()) * len(MESHES)
    seeds = range(block * 41, total, 8 * 41)
    found = [o for seed in seeds for o in check_corpus(jax_results, seed)]
    assert sum(outcome == EQUAL for _, outcome in found) > len(found) / 2


@pytest.mark.fuzz
def test_many_random_programs() -> None:
    run_campaign("numbers of random programs", partial(asking, Oracle, check_random))


@pytest.mark.fuzz
def test_many_optimized_programs() -> None:
    run_campaign("optimized and unoptimized random programs", check_optimized)


@pytest.mark.fuzz
def test_many_unreduced_values() -> None:
    run_campaign("numbers of unreduced values", check_unreduced)


@pytest.mark.fuzz
def test_many_parts_of_maxima_and_minima() -> None:
    run_campaign("numbers of parts of maxima and minima", check_extremes, 2_000)


@pytest.mark.fuzz
def test_many_corpus_programs() -> None:
    """By default every program on every mesh, once."""
    run_campaign(
        "numbers of the corpus",
        partial(asking, _results_of_jax, check_corpus),
        cases=len(programs()) * len(MESHES),
    )
