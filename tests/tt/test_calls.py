"""tt-mlir's custom calls and composites: what it makes of them alone, and through us.

The build that we ask has the sharding rules of calls, but does not find them: shardings
do not travel through a call, nothing is gathered before it or summed behind it.
"""

import re

import pytest

import ttxdsl
from tests.tt.call_programs import CALLS, COMPOSITES, twice
from tests.tt.oracle import ask, needs_tt
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.program import parse_program
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.tt import Answer

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
