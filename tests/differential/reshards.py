"""Checks of the reshard passes that fixed and random tests share.

Where the C++ pass fails its own verifier, stops half-way or loses unreduced axes, ours
must go on and be right.
"""

from collections.abc import Sequence
from itertools import combinations

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from tests.sharding.random_shardings import ReshardCase
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.reshard.plan import reaches

FULL = "sdy-insert-explicit-reshards{enable-full-version=true}"
MINIMAL = "sdy-insert-explicit-reshards{enable-full-version=false}"
COLLECTIVES = "sdy-reshard-to-collectives"
KEEP = "sdy-reshard-to-collectives{keep-redundant-reshards=true}"


def theirs(pipeline: str) -> str:
    return f"func.func({pipeline})"


# ---- reshards to collectives ---------------------------------------------------------


def tensor(shape: Sequence[int]) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


def reshard_program(case: ReshardCase) -> str:
    """A function that reshards its argument."""
    kind = tensor(case.shape)
    return f"""
      sdy.mesh @mesh = {case.mesh}
      func.func @main(%x: {kind} {{sdy.sharding = #sdy.sharding{case.source}}}) -> {kind} {{
        %0 = sdy.reshard %x {case.target} : {kind}
        return %0 : {kind}
      }}"""


def is_sound(case: ReshardCase, text: str) -> bool:
    """Whether the collectives of a program reach the target by shardings that exist."""
    shardings = [case.source]
    shardings += [
        op.out_sharding.data
        for op in parse_program(text).walk()
        if isinstance(op, sdy.CollectiveOp)
    ]
    return reaches(shardings[-1], case.target, case.mesh) and all(
        one.can_coexist(other)
        for sharding in shardings
        for one, other in combinations(sharding.sharding_axes, 2)
    )


def check_reshard(oracle: Oracle, case: ReshardCase) -> bool:
    """Compare one reshard; whether the C++ side's answer is sound."""
    text = reshard_program(case)
    actual = oracle.run(run_ours(text, COLLECTIVES))
    try:
        expected = oracle.run(text, theirs(COLLECTIVES))
    except OracleRejected:
        expected = None
    if expected is not None and is_sound(case, expected):
        assert actual == expected, text
        return True
    assert is_sound(case, actual), text
    return False


def expected_failure(message: str) -> bool:
    """Whether the C++ pass made a module that its own verifier refuses.

    It shards a tensor by axes that are listed as replicated or unreduced.
    """
    return any(
        text in message
        for text in (
            "duplicate axis ref",
            "both sub-axis and full-axis are used",
            "overlapping sub-axes",
            "overlaps with operand dimension sharding or replicated axes",
            "input and output must share the same dimension shardings",
        )
    )


def check(oracle: Oracle, text: str, pipeline: str) -> bool:
    """Equal text, or sound where C++ is not; whether they were compared."""
    try:
        assert_equal_text(oracle, text, pipeline, theirs(pipeline))
    except OracleRejected as error:
        assert expected_failure(str(error)), str(error)
        run_ours(text, pipeline)
        return False
    return True


PREPARATIONS = (
    "",
    "sdy-aggressive-propagate",
    "sdy-apply-sharding-constraints,sdy-aggressive-propagate,"
    "func.func(sdy-sharding-constraint-to-reshard)",
)
"""What a program went through before it gets explicit reshards."""
