"""A program of the JAX corpus that can be lowered computes in ttnn what it did.

The suite takes every third one, `make fuzz` all.
"""

from __future__ import annotations

from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.conversion.compare import assert_close, random_inputs
from tests.conversion.lowering_page import Written, forms, written
from tests.dialects.tt_text import parse
from tests.differential.corpus import programs
from ttxdsl.conversion.stablehlo_to_ttir.unsupported import UNSUPPORTED
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.runtime.run import run_module

SEEN = Written()


@cache
def lowered(every: int = 3) -> dict[str, tuple[str, ModuleOp | str]]:
    """Each program's text, and its ttir module or why it cannot be lowered."""
    found: dict[str, tuple[str, ModuleOp | str]] = {}
    for program in programs()[::every]:
        try:
            module = parse(program.pretty)
            SEEN.lower_to_ttir(module)
            module.verify()
            found[program.name] = program.pretty, module
        except (UnsupportedError, CompileError) as error:
            found[program.name] = program.pretty, str(error)
    return found


def check_numbers(every: int) -> int:
    """Return how many programs agree; none may differ."""
    wrong: dict[str, str] = {}
    agreed = 0
    for name, (text, ttir) in lowered(every).items():
        if isinstance(ttir, str):
            continue
        module = parse(text)
        inputs = random_inputs(module)
        try:
            wanted = run_module(module, inputs)
        except Exception:
            continue  # the program itself cannot be run on one device
        ttnn = ttir.clone()
        SEEN.lower_to_ttnn(ttnn)
        ttnn.verify()
        try:
            for form in (ttir, ttnn):
                for got, value in zip(run_module(form, inputs), wanted, strict=True):
                    assert_close(got, value)
            agreed += 1
        except AssertionError as error:
            wrong[name] = str(error)
    assert not wrong
    return agreed


def test_most_programs_can_be_lowered_and_agree():
    assert check_numbers(8) >= 50


@pytest.mark.fuzz
def test_most_of_all_programs_can_be_lowered_and_agree():
    assert check_numbers(1) >= 400


REASONS = (
    "has a dynamic shape",
    "not partitioned",
    "are not manual",
    "outside of the devices' code",
    *UNSUPPORTED.values(),
)


def test_refusals_have_known_reasons():
    for name, (_, reason) in lowered().items():
        if isinstance(reason, str):
            assert any(known in reason for known in REASONS), (name, reason)


def test_programs_use_the_ops_that_the_page_says():
    """No op becomes what the page, made of other programs, does not say it becomes."""
    lowered()
    said = written()
    unsaid = {
        name: set(forms(ops)) - set(forms(there[name]))
        for here, there in ((SEEN.ttir, said.ttir), (SEEN.ttnn, said.ttnn))
        for name, ops in here.items()
    }
    assert not {name: ops for name, ops in unsaid.items() if ops}, (
        "tests/conversion/cases.py wants a case of it"
    )
