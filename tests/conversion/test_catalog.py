"""Every op has a lowering or a reason why not; each lowering is seen at work.

A program of the JAX corpus that can be lowered computes in ttnn what it did: the suite
takes every third one, `make fuzz` all. To lower the cases of the page takes seconds, so
all that asks for them is in one file.
"""

from functools import cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.conversion.compare import assert_close, random_inputs
from tests.conversion.lowering_page import (
    Written,
    additions,
    forms,
    lowering_page,
    written,
)
from tests.dialects.tt_text import parse
from tests.differential.corpus import programs
from ttxdsl.conversion.stablehlo_to_ttir.convert import TABLE as TO_TTIR
from ttxdsl.conversion.stablehlo_to_ttir.unsupported import UNSUPPORTED
from ttxdsl.conversion.ttir_to_ttnn.convert import rule_of
from ttxdsl.conversion.vocabulary import Vocabulary
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects.chlo import Chlo
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.dialects.ttir import TODAY_OPS, TTIR
from ttxdsl.dialects.ttnn import TODAY_OPS as TTNN_TODAY, TTNN
from ttxdsl.interpreters.runtime.run import run_module

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "lowering.md"
INPUT_OPS = [*StableHLO.operations, *Chlo.operations]


def test_every_op_has_a_rule_or_a_reason():
    # a return is the end of a region, and read with it
    names = {op.name for op in INPUT_OPS} - {"stablehlo.return"}
    assert names <= TO_TTIR.keys() | UNSUPPORTED.keys()
    assert not names & TO_TTIR.keys() & UNSUPPORTED.keys()


OURS = [op for op in TTIR.operations if op not in TODAY_OPS.values()]
"""Those that our lowering writes; the others come from tt-mlir alone."""


def test_every_ttir_op_has_a_ttnn_form():
    assert not [op.name for op in OURS if rule_of(op, Vocabulary.DESIGN) is None]


def test_names_in_the_tables_exist():
    known = {op.name for op in INPUT_OPS} | {"func.call", "sdy.constant"}
    assert set(TO_TTIR) | set(UNSUPPORTED) <= known


def test_every_rule_is_seen_at_work():
    """Some case has the op, unless nothing is left of it but what it holds."""
    vanish = {"func.call", "stablehlo.map", "stablehlo.optimization_barrier"}
    vanish |= {"stablehlo.async_done", "stablehlo.async_start"}
    assert {name for name in TO_TTIR if name not in written().ttnn} == vanish


TT_MLIR = """
mulhi rng_bit_generator while yield
abs acos add all_gather all_reduce arange argmax asin asinh atan atan2 bitcast_convert
bitwise_and bitwise_not bitwise_or bitwise_xor cbrt ceil clamp_tensor concat constant
conv2d conv3d cos cumprod cumsum dequantize embedding eq erf erfc exp expm1 floor full
gather ge gelu gt isfinite le log log1p logical_and logical_left_shift logical_not
logical_or logical_right_shift logical_xor lt matmul max maximum mean mesh_partition min
minimum multiply ne neg ones pad permute prod quantize rand reciprocal reduce_scatter relu
remainder requantize reshape rsqrt scatter sigmoid sign silu sin slice_dynamic
slice_static sort sqrt subtract sum tan tanh topk typecast where zeros
"""
"""Mnemonics of ours that tt-mlir has in both dialects (its TTIROps.td, TTNNOps.td)."""

ONLY_TTIR = (
    "all_to_all broadcast collective_permute div dot_general empty mesh_shard pow "
    "reduce_and reduce_or reverse"
)
ONLY_TTNN = "aggregate_tensor distribute_tensor from_device point_to_point divide get_device pow_tensor repeat"


def test_every_op_is_of_tt_mlir_or_listed_as_an_addition():
    both = TT_MLIR.split()
    known = {f"ttir.{name}" for name in (*both, *ONLY_TTIR.split())}
    known |= {f"ttnn.{name}" for name in (*both, *ONLY_TTNN.split())}
    ours = {op.name for dialect in (TTIR, TTNN) for op in dialect.operations}
    ours -= {op.name for ops in (TODAY_OPS, TTNN_TODAY) for op in ops.values()}
    assert ours - known == set(additions())
    assert known <= ours
    page = PAGE.read_text().split("## What tt-mlir does not know")[1]
    assert all(f"`{name}`" in page for name in additions())


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == lowering_page(written()), (
        "run python -m tests.conversion.lowering_page > docs/reference/lowering.md"
    )


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
