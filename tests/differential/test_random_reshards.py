"""Our reshard passes answer like C++ Shardy's on random programs and random reshards.

`pytest -m fuzz tests/differential/test_random_reshards.py` runs the campaigns.
"""

from collections.abc import Sequence
from functools import partial
from random import Random

import pytest
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.utils.exceptions import VerifyException

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import assert_answers, run_ours
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.random_programs import Options, random_program
from tests.differential.reshards import (
    COLLECTIVES,
    FULL,
    KEEP,
    MINIMAL,
    PREPARATIONS,
    check_reshard,
    expected_failure,
    theirs,
)
from tests.sharding.random_shardings import (
    MIXED_SIZES,
    POWERS_OF_TWO,
    ReshardCase,
    random_mesh,
    random_reshard,
    random_sharding,
)
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

EQUAL = "equal"
INVALID = "C++ fails its own verifier"
UNSOUND = "C++ stops half-way or uses axes that cannot coexist"


def resharding_outcome(oracle: Oracle, text: str, pipeline: str) -> tuple[str, str]:
    """What came of explicit reshards, and the program with them."""
    try:
        expected = oracle.run(text, theirs(pipeline))
    except OracleRejected as error:
        assert expected_failure(str(error)), str(error)
        return INVALID, oracle.run(run_ours(text, pipeline))
    assert_answers(oracle, text, pipeline, expected)
    return EQUAL, expected


def reshards_of(text: str) -> list[ReshardCase]:
    """The reshards of a program, each as a case of its own."""
    module = parse_program(text)
    meshes = sdy.mesh_table(module)
    cases: list[ReshardCase] = []
    for op in module.walk():
        if isinstance(op, sdy.ReshardOp):
            kind, target = op.input.type, op.sharding.data
            assert isinstance(kind, TensorType) and isinstance(target.mesh, str)
            shape = kind.get_shape()
            source = sdy.get_sharding(op.input)
            source = source or TensorSharding.fully_closed(target.mesh, len(shape))
            cases.append(ReshardCase(meshes[target.mesh], source, target, shape))
    return cases


def collectives_outcome(oracle: Oracle, text: str, pipeline: str) -> str:
    """Equal text; else each reshard is equal, or C++'s answer to it is not sound."""
    try:
        expected = oracle.run(text, theirs(pipeline))
    except OracleRejected:
        expected = None
    else:
        if oracle.run(run_ours(text, pipeline)) == expected:
            return EQUAL
    run_ours(text, pipeline)
    sound = [check_reshard(oracle, case) for case in reshards_of(text)]
    if expected is not None:
        assert not all(sound), "all reshards are equal, the program is not"
        return UNSOUND
    return INVALID


def check_random_program(oracle: Oracle, seed: int) -> list[Outcome]:
    """A random program through every reshard pass."""
    random = Random(f"reshards {seed}")
    options = Options(ops=random.choice((4, 12, 24)), sub_axes=random.random() < 0.6)
    text = oracle.run(random_program(seed, options), random.choice(PREPARATIONS))
    full, resharded = resharding_outcome(oracle, text, FULL)
    minimal, _ = resharding_outcome(oracle, text, MINIMAL)
    return [
        (FULL, full),
        (MINIMAL, minimal),
        *(
            (pipeline, collectives_outcome(oracle, resharded, pipeline))
            for pipeline in (COLLECTIVES, KEEP)
        ),
    ]


@pytest.mark.parametrize("seed", range(16))
def test_random_program(oracle: Oracle, seed: int) -> None:
    check_random_program(oracle, seed)


@pytest.mark.fuzz
def test_random_programs() -> None:
    run_campaign("reshards", partial(asking, Oracle, check_random_program))


# ---- one reshard ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_random_reshard(oracle: Oracle, seed: int) -> None:
    assert check_reshard(oracle, random_reshard(Random(seed), POWERS_OF_TWO))


def test_random_reshards_of_mixed_sizes(oracle: Oracle) -> None:
    random = Random(1)
    cases = [random_reshard(random, MIXED_SIZES) for _ in range(80)]
    sound = sum(check_reshard(oracle, case) for case in cases)
    assert sound > 64  # most of them, or nothing was compared


def check_one_reshard(oracle: Oracle, seed: int) -> list[Outcome]:
    random = Random(f"one reshard {seed}")
    powers = check_reshard(oracle, random_reshard(random, POWERS_OF_TWO))
    assert powers
    mixed = check_reshard(oracle, random_reshard(random, MIXED_SIZES))
    return [
        ("one reshard, axes of powers of two", EQUAL),
        ("one reshard, axes of any size", EQUAL if mixed else UNSOUND),
    ]


@pytest.mark.fuzz
def test_many_random_reshards() -> None:
    run_campaign("single reshards", partial(asking, Oracle, check_one_reshard))


# ---- canonicalization ----------------------------------------------------------------


def random_partial(
    random: Random, mesh: Mesh, rank: int, partial: Sequence[str]
) -> TensorSharding:
    """A sharding with some of the axes unreduced that shard nothing."""
    sharding = random_sharding(random, mesh, rank, density=random.choice((0.4, 0.75)))
    used = {axis.name for axis in sharding.sharding_axes}
    unreduced = tuple(
        AxisRef(name) for name in partial if name not in used and random.random() < 0.6
    )
    return TensorSharding("mesh", sharding.dims, (), unreduced)


def reshard_chain(random: Random) -> str:
    """Reshards of reshards, some of partial sums, some used more than once."""
    mesh = random_mesh(random, POWERS_OF_TWO)
    rank = random.randint(1, 4)
    kind = "tensor<" + "64x" * rank + "f32>"
    partial = mesh.axis_names if random.random() < 0.5 else ()
    shardings = [random_partial(random, mesh, rank, partial)]
    names = ["%a"]
    lines: list[str] = []
    for index in range(random.randint(1, 5)):
        source = -1 if random.random() < 0.8 else random.randrange(len(names))
        # sums are finished one by one, or begun where there are none
        unfinished = [axis.name for axis in shardings[source].unreduced]
        begun = partial if random.random() < 0.2 else ()
        target = random_partial(random, mesh, rank, unfinished or begun)
        lines.append(f"%{index} = sdy.reshard {names[source]} {target} : {kind}")
        names.append(f"%{index}")
        shardings.append(target)
    returned = [names[-1], random.choice(names)]
    kinds = ", ".join(kind for _ in returned)
    return f"""
      sdy.mesh @mesh = {mesh}
      func.func @main(%a: {kind} {{sdy.sharding = #sdy.sharding{shardings[0]}}}) -> ({kinds}) {{
        {chr(10).join(lines)}
        return {", ".join(returned)} : {kinds}
      }}"""


def check_canonicalize(oracle: Oracle, seed: int) -> list[Outcome]:
    """Canonicalize reshards, and the collectives that ours makes of them."""
    random = Random(f"canonicalize {seed}")
    text = reshard_chain(random)
    texts = {"canonicalize of reshards": text}
    found: list[Outcome] = []
    for name, pass_ in {
        "collectives": COLLECTIVES,
        "redundant collectives": KEEP,
    }.items():
        name = f"canonicalize of {name}"
        try:
            texts[name] = run_ours(text, f"{FULL},{pass_}")
        except VerifyException:
            # axes of size one that become unreduced
            with pytest.raises((OracleRejected, OracleAborted)):
                oracle.run(text, theirs(f"{FULL},{pass_}"))
            found.append((name, "both refuse to make collectives"))
    inputs = [one or "" for one in oracle.run_all([(t, "") for t in texts.values()])]
    expected = oracle.run_all([(one, "canonicalize") for one in inputs])
    ours = [run_ours(one, "canonicalize") for one in inputs]
    actual = oracle.run_all([(one, "") for one in ours])
    for name, one, made, wanted in zip(texts, inputs, actual, expected, strict=True):
        assert made is not None
        if made == wanted:
            found.append((name, EQUAL))
        elif wanted is None:
            assert "sdy.replicated_to_unreduced" in one, one
            found.append((name, "C++ makes a module that does not verify"))
        else:
            assert "unreduced" in one and name.endswith("of reshards"), one
            assert returned_shardings(made) == returned_shardings(one), one
            found.append((name, "C++ merges partial and whole sums"))
    return found


def returned_shardings(text: str) -> list[tuple[object, object]]:
    """How the results of a program lie on the devices."""
    module = parse_program(text)
    (returned,) = [op for op in module.walk() if isinstance(op, ReturnOp)]
    shardings = [sdy.get_sharding(value) for value in returned.arguments]
    return [(s and s.axes_per_dim, s and s.unreduced) for s in shardings]


@pytest.mark.parametrize("seed", range(16))
def test_random_canonicalize(oracle: Oracle, seed: int) -> None:
    check_canonicalize(oracle, seed)


@pytest.mark.fuzz
def test_many_canonicalize() -> None:
    run_campaign("canonicalize", partial(asking, Oracle, check_canonicalize))
