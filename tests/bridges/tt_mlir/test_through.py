"""Programs through us: tt-mlir takes them, and they compute what they did."""

import re

import numpy as np
import pytest

from tests.bridges.tt_mlir.oracle import needs_tt
from tests.bridges.tt_mlir.programs import some_programs
from tests.bridges.tt_mlir.through import (
    BEGIN,
    END,
    PAGE,
    all_outcomes,
    outcome_of,
    page,
    prepared,
)
from tests.differential.partitioning import arguments_of, assert_same
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import parse_program

NOT_RUN = "no implementation of custom call|calls back|replicas differ|token"
"""Programs that nobody here can run."""

PARTS = 8
"""Programs are known when they are made, which collecting the tests does not wait for."""


@needs_tt
def test_what_is_given_is_compiled():
    """All that we do not refuse; and nothing that tt-mlir takes alone is lost."""
    outcomes = {name: outcome_of(text) for name, text in some_programs().items()}
    given = {name: one for name, one in outcomes.items() if not one.refused}
    assert {name: one.through for name, one in given.items() if one.through} == {}
    assert [n for n, one in outcomes.items() if one.refused and one.alone is None] == []
    assert len(given) > 0.9 * len(outcomes)
    assert sum(one.alone is None for one in given.values()) < 0.75 * len(given)


def numbers_differ(text: str) -> str | None:
    """Hold what a program computes for tt-mlir against what it did; why not, if not.

    Raises:
        AssertionError: a number differs.
    """
    local, given, why = prepared(text)
    if local is None or given is None:
        return why
    with collect_remarks():
        module = parse_program(local)
        try:
            arguments = arguments_of(module, 7, tagged=False)
            wanted = run_module(module, arguments)
        except Exception as error:
            if re.search(NOT_RUN, str(error)) is None:
                raise
            return str(error)
        for one, other in zip(
            run_module(parse_program(given), arguments), wanted, strict=True
        ):
            assert_same(one, other)
    return None


@pytest.mark.parametrize("part", sampled(range(PARTS), 2))
def test_numbers_stay(part: int):
    for name in list(some_programs())[part::PARTS]:
        try:
            numbers_differ(some_programs()[name])
        except Exception as error:
            error.add_note(f"{name[0]} on {name[1]}")
            raise


@needs_tt
@pytest.mark.fuzz
def test_the_page_is_fresh():
    """If this fails for the better: `python -m tests.bridges.tt_mlir.through --write`."""
    outcomes = all_outcomes()
    assert page(outcomes) == PAGE.read_text()
    for name, one in outcomes.items():
        assert one.refused or one.through is None, name
        assert one.alone is not None or one.through is None, name


@pytest.mark.fuzz
def test_all_numbers_stay():
    from tests.bridges.tt_mlir.programs import all_programs

    with np.errstate(all="ignore"):
        for text in all_programs().values():
            numbers_differ(text)


def test_the_page_counts_none_as_lost():
    """What the last run of all wrote: nothing lost, at least 95% of what is given."""
    rows = [
        [int(cell) for cell in line.split("|")[2:-1]]
        for line in PAGE.read_text().split(BEGIN)[1].split(END)[0].splitlines()
        if line.startswith("| ") and "---" not in line and "programs" not in line
    ]
    assert rows
    for count, alone, through, refused, lost in rows:
        assert not lost and alone <= through
        assert through >= 0.95 * (count - refused)


def test_what_it_does_not_take_is_said_first():
    text = """
    func.func @main(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
      %0 = stablehlo.fft %a, type = FFT, length = [4]
        : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
      return %0 : tensor<4xcomplex<f32>>
    }"""
    _, given, why = prepared(text)
    assert given is None
    assert why is not None and "'stablehlo.fft' op" in why and "Fourier" in why
    with pytest.raises(UnsupportedError, match=r":3:\d+: error: 'stablehlo.fft' op"):
        from ttxdsl.bridges.tt_mlir.legalize.prepare_for_tt_mlir import (
            PrepareForTTMLIRPass,
        )
        from ttxdsl.loading.program import make_context

        PrepareForTTMLIRPass().apply(make_context(), parse_program(text))
