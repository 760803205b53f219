"""Every program of the JAX corpus that can be lowered computes in ttnn what it did."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import ModuleOp

from tests.conversion.compare import (
    assert_close,
    op_names,
    random_inputs,
    to_ttir,
)
from tests.dialects.tt_text import parse
from tests.differential.corpus import programs
from ttxdsl.conversion.stablehlo_to_ttir import TABLE
from ttxdsl.conversion.ttir_to_ttnn import convert_ttir_to_ttnn
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
    "scatter_apply": {"slice_dynamic", "while"},
    "scatter_sub": {"eq", "lt", "slice_dynamic", "while"},
    "sort_complex": {"logical_not", "logical_xor", "scatter", "sum"},
    "sort_keys": {
        "logical_not",
        "logical_or",
        "logical_and",
        "logical_xor",
        "sum",
        "scatter",
    },
}
"""Ops of the cases that the page says in words, by program."""


@cache
def lowered() -> dict[str, tuple[str, ModuleOp | str]]:
    """Each program's text, and its ttir module or why it cannot be lowered."""
    found: dict[str, tuple[str, ModuleOp | str]] = {}
    for program in programs():
        try:
            found[program.name] = program.pretty, to_ttir(program.pretty)
        except (UnsupportedError, CompileError) as error:
            found[program.name] = program.pretty, str(error)
    return found


def test_most_programs_can_be_lowered_and_agree():
    wrong: dict[str, str] = {}
    agreed = 0
    for name, (text, ttir) in lowered().items():
        if isinstance(ttir, str):
            continue
        module = parse(text)
        inputs = random_inputs(module)
        try:
            wanted = run_module(module, inputs)
        except Exception:
            continue  # the program itself cannot be run on one device
        ttnn = ttir.clone()
        convert_ttir_to_ttnn(ttnn)
        ttnn.verify()
        try:
            for form in (ttir, ttnn):
                for got, value in zip(run_module(form, inputs), wanted, strict=True):
                    assert_close(got, value)
            agreed += 1
        except AssertionError as error:
            wrong[name] = str(error)
    assert not wrong
    assert agreed >= 400


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
    """A lowered program has no ttir op that no rule of its ops announces."""
    unsaid: dict[str, set[str]] = {}
    for name, (text, ttir) in lowered().items():
        if isinstance(ttir, str):
            continue
        rules = (TABLE[op] for op in set(op_names(parse(text))) if op in TABLE)
        forms = {form for rule in rules for form in rule.forms}
        used = {
            op.removeprefix("ttir.") for op in op_names(ttir) if op.startswith("ttir.")
        }
        if extra := used - forms - COMMON - OF_NOTES.get(name, set()):
            unsaid[name] = extra
    assert not unsaid
