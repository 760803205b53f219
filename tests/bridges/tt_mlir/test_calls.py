"""tt-mlir's custom calls and composites: what it makes of them alone, and through us.

The build that we ask has the sharding rules of calls, but does not find them: shardings
do not travel through a call, nothing is gathered before it or summed behind it.
"""

import re
from typing import Literal

import numpy as np
import pytest

import ttxdsl
from tests.bridges.tt_mlir.call_programs import CALLS, COMPOSITES, call, twice
from tests.bridges.tt_mlir.oracle import ask, needs_tt
from ttxdsl.bridges.tt_mlir import Answer
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program
from ttxdsl.rules.registry import sharding_rule

pytestmark = needs_tt

ALONE = {"latent decode, users and heads", "dispatch", "combine, experts"}
"""What it takes as it is, the results whole."""
NOT_TAKEN = {"decode, users and heads", "chunked, users and heads"}
"""What this build takes from nobody, not even for one chip."""
MOVED = {
    # gathered or summed, which the build does not do
    "attention, more devices than heads of keys",
    "attention, sequences",
    "sparse product, experts and depth",
    "sparse product back, experts and depth",
    "indexer, users and heads",
    "dispatch",
    # where we do not rely on what the program does not say
    "update cache, users",
    "indexer, queries",
}
"""What is not the same through us as alone with its rule written on the call."""


def through_us(text: str) -> tuple[str, Answer]:
    """Our text of each device, in today's words, and what tt-mlir says to it."""
    made = str(ttxdsl.load(text).partition(version="2026"))
    return made, ask(made.replace("shard_status<sharded>", "shard_status<presharded>"))


def one_op(text: str) -> str:
    """The types of the call or composite, and what is sent."""
    line = re.search(
        r'stablehlo\.(?:custom_call @|composite ")t?[^\n]*? : (\([^\n]*)', text
    )
    sent = re.findall(r"stablehlo\.(all_\w+|reduce_scatter|collective_permute)", text)
    types = re.sub(r" loc\(.*", "", line[1]) if line else "none"
    return f"{types} {sorted(sent)}"


@pytest.mark.parametrize("name", CALLS)
def test_a_call_alone_and_through_us(name: str):
    assert ask(CALLS[name]).ok == (name in ALONE)
    assert through_us(CALLS[name])[1].ok == (name not in NOT_TAKEN)


@pytest.mark.parametrize("name", CALLS)
def test_with_its_rule_written_on_it_a_call_is_the_same(name: str):
    (op,) = ops_of_type(parse_program(CALLS[name]), stablehlo.CustomCallOp)
    start = "mhlo.frontend_attributes = {"
    rule = (
        f'"xla.sdy.custom_sharding_rule" = "#sdy.op_sharding_rule<{sharding_rule(op)}>"'
    )
    separator = "" if f"{start}}}" in CALLS[name] else ", "
    text = CALLS[name].replace(start, f"{start}{rule}{separator}", 1)
    alone = ask(text).stages["shlo_compiler"]
    ours, _ = through_us(CALLS[name])
    assert (one_op(alone) == one_op(ours)) == (name not in MOVED)


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_composite_alone_and_through_us(name: str):
    alone = ask(COMPOSITES[name])
    ours, through = through_us(COMPOSITES[name])
    becomes_call = "@tenstorrent." in ours
    same = one_op(alone.stages["shlo_compiler"]) == one_op(ours)
    # of calls see above
    assert (alone.ok, same) == (not becomes_call, not becomes_call)
    assert through.ok


def test_two_composites_of_one_function_stay_two():
    """Alone it computes `gelu` once instead of twice, and says nothing."""
    text = twice(COMPOSITES["gelu"])
    assert ask(text).stages["ttir"].count("ttir.gelu") == 1
    assert through_us(text)[1].stages["ttir"].count("ttir.gelu") == 2


OPS = {
    "attention": "scaled_dot_product_attention",
    "decode": "paged_scaled_dot_product_attention_decode",
    "chunked": "chunked_scaled_dot_product_attention",
    "latent decode": "paged_flash_multi_latent_attention_decode",
    "sampling": "sampling",
}
"""What tt-mlir makes of each call, by the beginning of its program's name."""

LOWERED = [name for name in CALLS if name.partition(",")[0] in OPS]


@pytest.mark.parametrize("form", ["ttir", "ttnn"])
@pytest.mark.parametrize("name", LOWERED)
def test_a_call_is_an_op_of_ttir_and_ttnn(name: str, form: Literal["ttir", "ttnn"]):
    program = ttxdsl.load(CALLS[name])
    lowered = program.partition().lower(form, vocabulary="tt-mlir")
    assert f'"{form}.{OPS[name.partition(",")[0]]}"' in lowered.text
    assert "custom_call" not in lowered.text
    answer = ask(lowered.text)
    assert answer.parsed, answer.error
    if name == "sampling, rows":
        return  # draws numbers as only the device does
    inputs = program.random_inputs(0)
    for found, wanted in zip(
        lowered.simulate(inputs), program.simulate(inputs), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_the_ops_are_those_that_tt_mlir_makes_itself():
    """Of one chip, whose call this build takes: names, operands and properties."""
    text = call(
        "tt.scaled_dot_product_attention",
        {"is_causal": "False", "scale": "0.3", "has_attention_mask": "True"},
        [("1x8x32x16xf32", "")] * 3 + [("1x1x32x32xf32", "")],
        "1x8x32x16xf32",
    )
    ours = ttxdsl.load(text).partition().lower("ttir", vocabulary="tt-mlir").text
    theirs = ask(text).stages["ttir"]
    for said in (
        "is_causal = false",
        "scale = 3.000000e-01 : f32",
        "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>",
    ):
        assert said in theirs
        assert said in ours


def test_what_is_no_op_of_ttir_is_refused():
    program = ttxdsl.load(CALLS["latent prefill, users and heads"]).partition()
    with pytest.raises(
        UnsupportedError, match=r"custom call @tt\.flash_mla_prefill"
    ) as at:
        program.lower("ttir", vocabulary="tt-mlir")
    assert "--emit stablehlo" in str(at.value)
    assert "ttir.custom_call" in program.lower("ttir").text


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ('"scale" = "much"', "a scale that is none: .much"),
        ('"head_dim_v" = "2.5"', "a head_dim_v that is none: .2.5"),
        ('"head_dim_v" = "inf"', "a head_dim_v that is none: .inf"),
        ('"head_dim_v" = "-3"', "a head_dim_v that is none: .-3"),
    ],
)
def test_options_that_are_no_numbers(option: str, message: str):
    text = CALLS["latent decode, users and heads"].replace('"head_dim_v" = "8"', option)
    program = ttxdsl.load(text).partition()
    with pytest.raises(UnsupportedError, match=message):
        program.lower("ttir", vocabulary="tt-mlir")
