"""`sdy-convert-global-to-local` against C++ and by numbers, at random.

Programs come in three kinds: ops of which many move elements, with uneven shards; those
that propagation gave shardings; single reshards. Each is made of collectives and of ops
that need no others, as far as our passes before can do that.
"""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
from tests.differential.padded_programs import MOVING_OPS, OPS, padded_program
from tests.differential.partitioning import arguments_of, assert_same
from tests.differential.per_device import run_everywhere
from tests.differential.random_cases import EVEN_SIZES
from tests.differential.random_programs import FAMILIES, Options, random_program
from tests.differential.reshards import COLLECTIVES, FULL, tensor
from tests.sharding.random_shardings import random_reshard
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.run import run_module
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.program import parse_program

NAME = "sdy-convert-global-to-local"
OPTIONS = (
    "",
    "{per-dim-all-gather=true}",
    "{combine-multi-dimension-reduce-scatter=true}",
    "{enable-rgv3=true}",
)
RESHARDED = (
    f"{FULL},sdy-resolve-permutation-factors,{COLLECTIVES},sdy-pad-for-divisibility"
)
PROPAGATED = (
    "sdy-propagation-pipeline,sdy-sink-data-flow-edges,sdy-constant-or-scalar-merger,"
    f"{RESHARDED}"
)
MAY_BE_HARMLESS = "count the whole several times", "padding moves elements"
COLLECTIVES_OF_ONE = sdy.AllSliceOp, sdy.AllGatherOp, sdy.AllToAllOp
BATCHING = "sdy-explicit-gather-scatter-batching"
COMPUTED = tuple(name for name in FAMILIES if name not in ("calls", "linear_algebra"))


def reshard_of_argument(seed: int) -> str:
    """A function that gives back its argument in another sharding."""
    case = random_reshard(Random(f"global to local {seed}"), (1, 2, 4))
    # it is run, on all devices
    kind = tensor([min(size, 48 if len(case.shape) < 3 else 24) for size in case.shape])
    return f"""
      sdy.mesh @mesh = {case.mesh}
      func.func @main(%x: {kind} {{sdy.sharding = #sdy.sharding{case.source}}})
          -> ({kind} {{sdy.sharding = #sdy.sharding{case.target}}}) {{
        %0 = sdy.reshard %x {case.target} : {kind}
        return %0 : {kind}
      }}"""


def whole_program(seed: int) -> tuple[str, str]:
    """A program, and the passes that give it collectives."""
    match seed % 4:
        case 0:
            return padded_program(seed, OPS), RESHARDED
        case 1:
            return padded_program(seed, MOVING_OPS), RESHARDED
        case 2:
            options = Options(
                ops=8,
                sizes=EVEN_SIZES,
                devices=8,
                sharded=0.9,
                manual=seed % 8 < 4,
                numbers=True,
                families=COMPUTED,
            )
            return random_program(seed, options), f"{BATCHING},{PROPAGATED}"
        case _:
            return reshard_of_argument(seed), COLLECTIVES


def computes(text: str | None, before: str, seed: int) -> bool:
    """Whether all devices together compute what the whole program does."""
    if text is None:
        return False
    module = parse_program(before)
    arguments = arguments_of(module, seed, tagged=False)
    wanted = run_module(module, arguments)
    try:
        found = run_everywhere(text, module, arguments)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    except (CompileError, AssertionError, ReplicaMismatchError):
        return False
    return True


def check_global_to_local(oracle: Oracle, seed: int) -> list[Outcome]:
    """What came of a program that can be run as it is."""
    try:
        return compare_global_to_local(oracle, seed)
    except ReplicaMismatchError:
        return [(NAME, "not run: replicas differ")]


def reshapes_a_splat(text: str) -> bool:
    """Whether any part would do for a reshape, since all elements are one constant."""
    for op in ops_of_type(parse_program(text), stablehlo.ReshapeOp):
        owner = op.operand.owner
        while isinstance(owner, COLLECTIVES_OF_ONE):
            owner = owner.operands[0].owner
        if isinstance(owner, stablehlo.ConstantOp | sdy.ConstantOp):
            value = owner.value
            return isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat()
    return False


def compare_global_to_local(oracle: Oracle, seed: int) -> list[Outcome]:
    """The same text as C++, and right; or C++ is not."""
    text, before = whole_program(seed)
    pipeline = NAME + OPTIONS[seed // 4 % len(OPTIONS)]
    try:
        split = oracle.run(run_ours(text, before))
    except UnsupportedError:
        return [(NAME, "no program of collectives")]
    (theirs,) = oracle.run_all([(split, pipeline)])
    try:
        ours = oracle.run(run_ours(split, pipeline))
    except UnsupportedError as error:
        # an all_reduce of a whole may be of no consequence, and so may what is padded
        harmless = any(one in str(error) for one in MAY_BE_HARMLESS)
        harmless = harmless or reshapes_a_splat(split)
        assert harmless or not computes(theirs, split, seed), f"{error}\n{split}"
        return [(NAME, "both refuse" if theirs is None else "C++ computes otherwise")]
    if not computes(ours, split, seed):
        # bits of what is added up in another order, as C++ does, too
        assert "stablehlo.bitcast_convert" in split, split
        assert not computes(theirs, split, seed), split
        refused = ", and C++ refuses or crashes" if theirs is None else ""
        return [(NAME, f"bits of sums{refused}")]
    if ours == theirs:
        return [(NAME, "equal" if ours != split else "equal, nothing to do")]
    if theirs is None:
        return [(NAME, "C++ refuses or crashes")]
    if not computes(theirs, split, seed):
        return [(NAME, "C++ computes something else")]
    return [(NAME, "in other words")]


def test_random_programs_of_a_device(oracle: Oracle) -> None:
    outcomes = [
        one for seed in range(24) for one in check_global_to_local(oracle, seed)
    ]
    assert outcomes.count((NAME, "equal")) > 10


@pytest.mark.fuzz
def test_many_random_programs_of_a_device() -> None:
    run_campaign("global to local", partial(asking, Oracle, check_global_to_local))
