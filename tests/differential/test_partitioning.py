"""Numbers stay: the JAX corpus and random programs, partitioned and in ttnn.

Each program runs as it is, after stage 13 and as ttnn on a virtual mesh, and by JAX on
one device. `make fuzz` runs many; `FUZZ` says how many, `FUZZ_REPORT` where counts go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.differential.campaign import Outcome, run_campaign
from tests.differential.corpus import programs
from tests.differential.forms import STAGE_13, TTIR, TTNN, Array, compare_forms
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
    with_even_borders,
    with_statuses,
)
from tests.differential.random_modules import Features, random_module
from tests.differential.random_programs import (
    FAMILIES,
    NUMBERS,
    Options,
    random_program,
)
from tests.differential.random_writer import SIZES
from ttxdsl.errors import UnsupportedError
from ttxdsl.program import parse_program

RUNNABLE = tuple(family for family in FAMILIES if family != "calls")
"""Most custom calls have no kernel, so that most programs with some cannot be run."""

MOVING = ("creation", "data_movement", "any_movement", "any_indexing")
"""Families of which many programs only move data."""

COMMON = ("f32", "f32", "f32", "i32", "bf16", "i1")
CALLS = Features(named_computations=False, manual_computations=False, numbers=True)
"""Every tenth program has several functions."""

EVEN_SIZES = (2, 4, 4, 6, 8, 8, 8, 12, 16, 16, 5, 1)
"""Sizes that small meshes divide, mostly."""

ALL = ("f32", "f32", "bf16", "f16", "f64", "i8", "i32", "i64", "ui8", "ui32", "i1", "complex<f32>")  # fmt: skip
"""Element types of the programs: mostly f32, or all."""


def options_of(seed: int) -> Options:
    """Five kinds of programs in turn: f32 only, common types, all types, data movement,
    and those that propagation is compared with; on small meshes and on large ones."""
    small = seed // 5 % 3 != 0
    common = Options(
        sizes=EVEN_SIZES if small else SIZES,
        devices=8 if small else 64,
        sharded=0.9 if small else 0.6,
        ops=8 + seed % 10,
        manual=seed % 2 == 0,
        sub_axes=seed % 3 != 0,
        device_ids=True,
        numbers=True,
        families=(*RUNNABLE, *NUMBERS),
    )
    match seed % 5:
        case 0:
            return common
        case 1:
            return replace(common, elements=COMMON)
        case 2:
            return replace(common, elements=ALL)
        case 3:
            return replace(common, elements=COMMON, families=MOVING, ops=6 + seed % 5)
        case _:
            return replace(common, families=RUNNABLE, device_ids=False, sizes=SIZES)


def random_case(seed: int) -> tuple[ModuleOp, list[Array], bool]:
    """A program, its arguments, and whether they are tagged with their indices."""
    if seed % 10 == 9:
        text = random_module(seed, CALLS)
    else:
        text = random_program(seed, options_of(seed))
    module = with_statuses(with_even_borders(parse_program(text)), seed)
    tagged = only_moves(module)
    return module, arguments_of(module, seed, tagged=tagged), tagged


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


def check_unreduced(seed: int) -> list[Outcome]:
    """A program some of whose arguments, results and values are sums over devices."""
    text = random_program(seed, replace(options_of(seed), unreduced=True))
    if "unreduced=" not in text:
        return [("inputs", "nothing is unreduced")]
    module = with_statuses(with_even_borders(parse_program(text)), seed)
    tagged = only_moves(module)
    arguments = arguments_of(module, seed, tagged=tagged)
    return compare_forms(module, arguments, None, tagged=tagged, every_form=True)


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


@pytest.mark.parametrize("block", range(8))
def test_random_programs(oracle: Oracle, block: int) -> None:
    found = Counter(
        outcome
        for seed in range(block * 20, block * 20 + 20)
        for outcome in check_random(oracle, seed, jax=seed % 5 == 0)
    )
    assert found[STAGE_13, EQUAL] > 10
    assert found[TTNN, EQUAL] > 5
    refused = [o for form, o in found if form == STAGE_13 and o.startswith(REFUSED)]
    assert len(refused) <= 1


def test_unreduced_values() -> None:
    found = Counter(outcome for seed in range(24) for outcome in check_unreduced(seed))
    assert found[TTIR, EQUAL] > 8
    assert found[TTNN, EQUAL] > 8


@pytest.mark.parametrize("block", range(8))
def test_corpus(jax_results: JaxResults, block: int) -> None:
    """Every 40th pair of a program and a mesh."""
    total = len(programs()) * len(MESHES)
    seeds = range(block * 41, total, 8 * 41)
    found = [o for seed in seeds for o in check_corpus(jax_results, seed)]
    assert sum(outcome == EQUAL for _, outcome in found) > len(found) / 2


@pytest.mark.fuzz
def test_many_random_programs(oracle: Oracle) -> None:
    run_campaign("numbers of random programs", lambda seed: check_random(oracle, seed))


@pytest.mark.fuzz
def test_many_unreduced_values() -> None:
    run_campaign("numbers of unreduced values", check_unreduced)


@pytest.mark.fuzz
def test_many_corpus_programs(jax_results: JaxResults) -> None:
    """By default every program on every mesh, once."""
    run_campaign(
        "numbers of the corpus",
        lambda seed: check_corpus(jax_results, seed),
        cases=len(programs()) * len(MESHES),
    )
