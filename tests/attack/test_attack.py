"""Nothing that is wrong makes the compiler wrong: a result, or one diagnostic.

`make attack` runs all of it in processes of its own; `FUZZ`, `FUZZ_SEED`, `FUZZ_REPORT`
and `FUZZ_JOBS` are those of `make fuzz`. A program for each kind of finding is left in
`build/attack`. `make test` runs the first seeds here.
"""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.attack import commands, files, numbers, passes, terminals
from tests.attack.isolation import outcomes_of, workers, writer_of_reproducers
from tests.attack.mutants import jax_mutant_of, mutant_of
from tests.differential.campaign import CASES, Check, jobs, run_campaign
from tests.differential.partitioning import EQUAL


def attack(
    name: str, check: Check, text_of: Callable[[int], str], cases: int = CASES
) -> None:
    run_campaign(
        name,
        check,
        cases,
        runner=workers(jobs()),
        on_failure=writer_of_reproducers(name, text_of),
    )


def test_numbers() -> None:
    found = Counter(outcomes_of(numbers.check_numbers, range(16)))
    assert found["reading", "valid"] > 16 * 0.5
    assert found["ttnn", EQUAL] > 16 * 0.3


def test_passes() -> None:
    found = Counter(outcomes_of(passes.check_passes, range(12)))
    assert sum(n for (_, outcome), n in found.items() if outcome == "valid") > 12


def test_commands() -> None:
    found = Counter(outcomes_of(commands.check_commands, range(20)))
    assert sum(n for (_, outcome), n in found.items() if outcome == "done") > 5


def test_files() -> None:
    found = Counter(outcomes_of(files.check_files, range(40)))
    assert sum(n for (_, outcome), n in found.items() if outcome == "done") > 5


def test_terminals() -> None:
    found = Counter(outcomes_of(terminals.check_terminals, range(40)))
    assert sum(n for (_, outcome), n in found.items() if outcome == "done") > 5


@pytest.mark.attack
def test_many_numbers() -> None:
    attack("mutants", numbers.check_numbers, lambda seed: mutant_of(seed).text)


@pytest.mark.attack
def test_many_numbers_of_jax() -> None:
    attack(
        "mutants of the JAX corpus",
        numbers.check_jax_numbers,
        lambda seed: jax_mutant_of(seed).text,
    )


@pytest.mark.attack
def test_many_passes() -> None:
    attack("mutants through passes", passes.check_passes, passes.reproducer)


@pytest.mark.attack
def test_many_commands() -> None:
    attack("mutants through commands", commands.check_commands, commands.reproducer)


@pytest.mark.attack
def test_many_processes() -> None:
    """Every hundredth."""
    attack("mutants through processes", commands.check_processes, commands.reproducer)


@pytest.mark.attack
def test_many_files() -> None:
    attack("damaged files", files.check_files, files.reproducer)


@pytest.mark.attack
def test_many_terminals() -> None:
    attack("hostile names", terminals.check_terminals, terminals.reproducer)


@pytest.mark.attack
def test_bombs() -> None:
    from tests.attack import bomb_commands

    attack(
        "bombs",
        bomb_commands.check_bombs,
        bomb_commands.reproducer,
        bomb_commands.COUNT,
    )
