"""`sdy-optimize-collectives` answers like the newest C++ pass, and scrambles nothing."""

from __future__ import annotations

from functools import partial
from random import Random

import numpy as np
import pytest

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.newest import newest_oracle
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.per_device import run_everywhere
from tests.transforms.run_pass import run_passes
from ttxdsl.checking.check import check_steps
from ttxdsl.checking.steps import steps_of
from ttxdsl.interpreters.inputs import tagged_inputs
from ttxdsl.interpreters.run import entry_function
from ttxdsl.program import parse_program

NAME = "sdy-optimize-collectives"
LOCAL = "sdy-convert-global-to-local"


def _sharding(dims: list[list[str]]) -> str:
    return f"<@m, [{', '.join('{' + ', '.join(axes) + '}' for axes in dims)}]>"


def program(seed: int) -> str:
    """A permute of a dimension's axes, all_to_alls behind it, and who knows what else."""
    random = Random(f"chain {seed}")
    sizes = {name: random.choice((2, 2, 3, 4)) for name in "abcd"[: 2 + seed % 3]}
    axes = [f'"{name}"' for name in sizes]
    if sizes["a"] == 4 and random.random() < 0.5:
        axes[0:1] = ['"a":(1)2', '"a":(2)2']
    random.shuffle(axes)
    split, rank = random.randrange(2), random.choice((2, 2, 3))
    dims: list[list[str]] = [[] for _ in range(rank)]
    own = random.randint(2, len(axes))
    dims[split] = axes[:own]
    dims[1 - split] = axes[own : own + random.randrange(2)]
    whole = np.prod([*sizes.values()])
    shape = [int(random.choice((1, 2)) * whole) for _ in range(rank)]
    kind = f"tensor<{''.join(f'{size}x' for size in shape)}f32>"
    source = _sharding(dims)
    while dims[split] == axes[:own]:
        random.shuffle(dims[split])
    ops = ["sdy.collective_permute"]
    shardings = [_sharding(dims)]
    for _ in range(random.randint(1, 3)):
        if not dims[split]:
            break
        count = min(random.choice((1, 1, 1, 2)), len(dims[split]))
        target = random.choice([at for at in range(rank) if at != split])
        moved = [dims[split].pop() for _ in range(count)][::-1]
        dims[target] += moved
        ops.append(f"sdy.all_to_all [{{{', '.join(moved)}}}: {split}->{target}]")
        shardings.append(_sharding(dims))
    lines: list[str] = []
    for at, (op, sharding) in enumerate(zip(ops, shardings, strict=True)):
        value = at - 1 if at else "x"
        lines.append(f"%{at} = {op} %{value} out_sharding={sharding} : {kind}")
    returned = [len(ops) - 1]
    if random.random() < 0.1:
        returned.append(random.randrange(len(ops)))
    mesh = ", ".join(f'"{name}"={size}' for name, size in sizes.items())
    said = [
        f"{kind} {{sdy.sharding = #sdy.sharding{shardings[at]}}}" for at in returned
    ]
    text = "\n".join([
        f"sdy.mesh @m = <[{mesh}]>",
        f"func.func @main(%x: {kind} {{sdy.sharding = #sdy.sharding{source}}})"
        f" -> ({', '.join(said)}) {{",
        *lines,
        f"return {', '.join(f'%{at}' for at in returned)} : "
        + ", ".join([kind] * len(returned)),
        "}",
    ])  # fmt: skip
    return text.replace('"a":(1)2, "a":(2)2', '"a"')


def check_numbers(before: str, after: str) -> None:
    """The devices end up with the parts that the sharding says."""
    whole = parse_program(before)
    (tags,) = tagged_inputs(entry_function(whole))
    for found in run_everywhere(run_passes(after, LOCAL), whole, [tags]):
        np.testing.assert_array_equal(found, tags)


def check(newest: Oracle, seed: int) -> list[Outcome]:
    text = run_passes(program(seed), "canonicalize{enable-patterns=sdy-reshard}")
    ours = run_passes(text, NAME)
    if ours == text:
        outcome = "nothing to do"
    else:
        outcome = "changed"
        check_numbers(text, ours)
    try:
        theirs = newest.run(text, f"func.func({NAME})")
    except OracleRejected as error:
        message = str(error)
        known = "overlapping source/target dimensions", "sub-axes can be merged"
        assert any(one in message for one in known), message
        return [(NAME, "C++ fails its own verifier")]
    if newest.run(ours) == theirs:
        return [(NAME, outcome)]
    with pytest.raises(OracleRejected, match="not divisible"):
        newest.run(theirs, f"{LOCAL}{{replica-count=1 partition-count=1}}")
    assert outcome == "nothing to do"
    return [(NAME, "C++ moves an axis to where it does not divide")]


def test_random_chains_like_the_newest(newest: Oracle):
    found = [outcome for seed in range(40) for outcome in check(newest, seed)]
    assert found.count((NAME, "changed")) > 5


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_scrambled(seed: int):
    text = program(seed)
    check_numbers(text, run_passes(text, NAME))


@pytest.mark.parametrize("seed", range(4))
def test_check_finds_nothing(seed: int):
    """`ttxdsl check` on the pass, with each collective moving shards behind it."""
    module = parse_program(run_passes(program(seed), "canonicalize"))
    steps = steps_of(f"{NAME},sdy-per-instruction-partitioning", module)
    assert check_steps(module, steps, minimize=False).failure is None


@pytest.mark.fuzz
@pytest.mark.usefixtures("newest_python")
def test_many_random_chains_like_the_newest():
    run_campaign(NAME, partial(asking, newest_oracle, check), 1_000)
