"""Every program of the JAX corpus that can be lowered computes in ttnn what it did."""

from __future__ import annotations

from tests.conversion.compare import (
    assert_same_numbers,
    op_names,
    random_inputs,
    to_ttir,
)
from tests.dialects.tt_text import parse
from tests.differential.corpus import programs
from ttxdsl.conversion.stablehlo_to_ttir import TABLE
from ttxdsl.conversion.unsupported import UNSUPPORTED
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.run import run_module

COMMON = {
    "arange",
    "broadcast",
    "clamp_tensor",
    "concat",
    "constant",
    "empty",
    "full",
    "mesh_shard",
    "ones",
    "pad",
    "permute",
    "reshape",
    "slice_static",
    "typecast",
    "yield",
    "zeros",
}
"""What any lowering may use to bring values into shape."""


OF_NOTES: dict[str, set[str]] = {
    "searchsorted": {"bitcast_convert", "bitwise_xor"},
    "psum_groups": {"all_gather", "embedding", "sum"},
    "sort_keys": {"logical_not", "logical_or", "logical_and", "sum", "scatter"},
}
"""Ops of the cases that the page says in words, by program."""


def lowered_or_reason(text: str) -> str | None:
    """None if the program can be lowered, else why not."""
    try:
        to_ttir(text)
    except (UnsupportedError, CompileError) as error:
        return str(error)
    return None


def test_most_programs_can_be_lowered_and_agree():
    wrong: dict[str, str] = {}
    agreed = 0
    for program in programs():
        if lowered_or_reason(program.pretty) is not None:
            continue
        module = parse(program.pretty)
        inputs = random_inputs(module)
        try:
            run_module(module, inputs)
        except Exception:
            continue  # the program itself cannot be run on one device
        try:
            assert_same_numbers(program.pretty, inputs)
            agreed += 1
        except AssertionError as error:
            wrong[program.name] = str(error)
    assert not wrong
    assert agreed >= 400


REASONS = (
    "no complex numbers",
    "has a dynamic shape",
    "not partitioned",
    "changes the shape",  # bitcasts
    "polynomial is for f32",  # erf_inv of f64
    "are not manual",
    "indices may be equal",  # scatter of a computed update
    "nothing is known about custom call",
    "outside of the devices' code",
    *UNSUPPORTED.values(),
)


def test_refusals_have_known_reasons():
    for program in programs():
        reason = lowered_or_reason(program.pretty)
        assert reason is None or any(known in reason for known in REASONS), (
            program.name,
            reason,
        )


def test_programs_use_the_ops_that_the_page_says():
    """A lowered program has no ttir op that no rule of its ops announces."""
    unsaid: dict[str, set[str]] = {}
    for program in programs():
        if lowered_or_reason(program.pretty) is not None:
            continue
        source = set(op_names(parse(program.pretty)))
        forms = {form for name in source if name in TABLE for form in TABLE[name].forms}
        used = {
            name.removeprefix("ttir.")
            for name in op_names(to_ttir(program.pretty))
            if name.startswith("ttir.")
        }
        if extra := used - forms - COMMON - OF_NOTES.get(program.name, set()):
            unsaid[program.name] = extra
    assert not unsaid
