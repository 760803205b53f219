"""Our StableHLO against jaxlib's: what is read, printed and refused is the same."""

import difflib
import random

import pytest
from xdsl.context import Context

from tests.catalogue.use import Use
from tests.catalogue.uses import NOT_FOR_JAXLIB, UNCHECKED, USES
from tests.differential.corpus import Program, programs
from tests.differential.made_by_jax import ROOT
from tests.differential.moved_ops import move_a_line
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.stablehlo_mutations import mutations
from tests.differential.test_rules import parse as read
from tests.printing import printed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import make_context, parse_program

UNREADABLE = {
    ("dynamic_scalar", "debug"): "C++ prints a dynamic_slice of rank 0 as "
    "`%x, , sizes = []` and does not read that"
}

STRICTER = UNCHECKED | {
    "stablehlo.compare": "C3: C++ leaves it to XLA to look at compare_type",
    "stablehlo.bitcast_convert": "C1: C++ compares sizes of equal width only up to "
    "the shorter shape",
    "stablehlo.dynamic_conv": "C25: C++ does not compare the result with the shape "
    "that follows when padding is constant",
    "chlo.scan": "C++ compares only the shapes of results, not their elements",
    "chlo.broadcast": "C++ takes any result when the operands cannot be broadcast",
}
"""Programs that we refuse and C++ takes: ops, and why."""


@pytest.fixture(scope="module")
def context() -> Context:
    return make_context()


def differences(
    context: Context, oracle: Oracle, program: Program, form: str
) -> list[str]:
    """How what C++ reads from our print differs from what it reads from JAX's."""
    if (program.name, form) in UNREADABLE:
        return []
    debug = form == "debug"
    # Of the pretty form, C++ reads its own print back; for one op it does not, so
    # the reference is the generic form.
    # stored answers know the locations of no clone
    text = getattr(program, form).replace(str(ROOT), "")
    source = text if debug else program.generic
    module = read(context, text)
    if form == "generic" and module.is_structurally_equivalent(
        read(context, program.pretty)
    ):
        return []  # printed as the pretty one
    expected = oracle.run(source, debug=debug)
    found: list[str] = []
    for generic in (False,) if debug else (False, True):
        got = oracle.run(printed(module, generic=generic, debug=debug), debug=debug)
        found += difflib.unified_diff(
            expected.splitlines(), got.splitlines(), lineterm="", n=0
        )
    return found


def all_differences(
    context: Context, oracle: Oracle, form: str, every: int = 1
) -> dict[str, list[str]]:
    """Programs of the corpus that differ, and their first lines that do."""
    assert len(programs()) > 480
    return {
        program.name: found[:6]
        for program in programs()[::every]
        if (found := differences(context, oracle, program, form))
    }


@pytest.mark.parametrize(
    ("form", "every"), [("pretty", 4), ("generic", 12), ("debug", 12)]
)
def test_jax_programs_are_read_and_printed_without_loss(
    context: Context, oracle: Oracle, form: str, every: int
):
    assert not all_differences(context, oracle, form, every)


@pytest.mark.fuzz
@pytest.mark.parametrize("form", ["pretty", "generic", "debug"])
def test_every_jax_program_is_read_and_printed_without_loss(
    context: Context, oracle: Oracle, form: str
):
    assert not all_differences(context, oracle, form)


WHOLE = {
    "compare": (" EQ,", "#stablehlo<comparison_direction EQ>,"),
    "fft": ("type = FFT", "type = #stablehlo<fft_type FFT>"),
}
"""Keywords of pretty forms, and the whole attributes that may stand there."""


@pytest.mark.parametrize(("keyword", "whole"), WHOLE.values(), ids=WHOLE.keys())
def test_a_whole_attribute_in_place_of_a_keyword(
    context: Context, oracle: Oracle, keyword: str, whole: str
):
    texts = {program.pretty for program in programs() if keyword in program.pretty}
    texts |= {use.text() for use in USES.values() if keyword in use.text()}
    for text in (text.replace(keyword, whole) for text in texts):
        assert oracle.run(printed(read(context, text))) == oracle.run(text)
    assert texts


def agree(context: Context, oracle: Oracle, use: Use) -> bool:
    """Whether both sides accept a program, or both refuse it, or we say why not."""
    text = use.text()
    if use.name in NOT_FOR_JAXLIB or "quant" in text:
        return True
    try:
        parse_program(text, context=context)
        ours = True
    except CompileError:
        ours = False
    try:
        oracle.run(text)
        theirs = True
    except OracleRejected:
        theirs = False
    except OracleAborted:
        return True  # it crashes on what it should refuse
    stricter = any(use.name.startswith(op) for op in STRICTER)
    return ours == theirs or (theirs and stricter)


def test_both_accept_or_refuse_random_changes(context: Context, oracle: Oracle):
    uses = mutations(seed=0, count=200)
    assert not [use.text() for use in uses if not agree(context, oracle, use)]


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 6))
def test_both_accept_or_refuse_many_random_changes(
    context: Context, oracle: Oracle, seed: int
):
    uses = mutations(seed, count=1000)
    assert not [use.text() for use in uses if not agree(context, oracle, use)]


def moved_programs(seed: int, count: int) -> list[str]:
    """Programs that JAX made, of which one line is elsewhere."""
    rng = random.Random(seed)
    several = [one.pretty for one in programs() if one.pretty.count("\n") > 5]
    return [move_a_line(rng, rng.choice(several)) for _ in range(count)]


def taken(context: Context, text: str) -> bool:
    try:
        parse_program(text, context=context)
    except CompileError:
        return False
    return True


def test_both_accept_or_refuse_ops_that_were_moved(context: Context, oracle: Oracle):
    texts = moved_programs(seed=0, count=120)
    theirs = [one is not None for one in oracle.run_all([(t, "") for t in texts])]
    ours = [taken(context, text) for text in texts]
    pairs = zip(texts, ours, theirs, strict=True)
    assert not [text for text, a, b in pairs if a != b]
    assert min(ours.count(True), ours.count(False)) > 24


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(1, 6))
def test_both_accept_or_refuse_many_ops_that_were_moved(
    context: Context, oracle: Oracle, seed: int
):
    texts = moved_programs(seed, count=1000)
    theirs = oracle.run_all([(text, "") for text in texts])
    assert not [
        text
        for text, out in zip(texts, theirs, strict=True)
        # which C++ prints and does not read
        if "dynamic_slice %arg0, , sizes" not in text
        and taken(context, text) != (out is not None)
    ]
