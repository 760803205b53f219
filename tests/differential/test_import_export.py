"""Every import and export pass of Shardy, and its pipeline, against C++ at random."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import dataclass

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.random_modules import Features, random_module
from tests.differential.random_programs import random_program
from tests.differential.random_writer import Options
from ttxdsl.errors import CompileError

PROPAGATE = "sdy-aggressive-propagate"
EDGES = "sdy-add-data-flow-edges"
FLAT = "symbol-dce,sdy-flatten-call-graph"
IMPORTED = f"{FLAT},symbol-dce,sdy-import-func-calls"
EXPORTED = f"{IMPORTED},{PROPAGATE},sdy-export-named-computations"
DEDUPED = (
    f"{EXPORTED},sdy-propagate-to-func-results,"
    "sdy-unflatten-call-graph{dedup-functions-fully=true},symbol-dce"
)
SPLIT = "symbol-dce,sdy-constant-or-scalar-splitter"


@dataclass(frozen=True)
class Case:
    """One of our passes, and C++ passes that bring a module into the form for it."""

    name: str
    before: tuple[str, ...] = ("",)
    nested: bool = False
    """Whether C++ has it on functions."""
    options: tuple[str, ...] = ("",)
    calls: bool = False
    """Whether it has to do with calls: only modules of several functions."""

    def choose(self, rng: random.Random) -> tuple[str, str, str]:
        """C++ passes before, our pipeline, C++'s pipeline."""
        ours = self.name + rng.choice(self.options)
        theirs = f"func.func({ours})" if self.nested else ours
        return rng.choice(self.before), ours, theirs


CASES = (
    Case("sdy-lift-inlined-meshes", ("", "sdy-inline-meshes")),
    Case("sdy-inline-meshes", ("", "sdy-lift-inlined-meshes")),
    Case("sdy-remove-size-one-axes"),
    Case("sdy-constant-or-scalar-splitter"),
    Case("sdy-manual-axes-cleanup", ("", "sdy-remove-size-one-axes")),
    Case("sdy-sharding-group-import"),
    Case(EDGES),
    Case("sdy-flatten-call-graph", calls=True),
    Case(
        "sdy-import-func-calls",
        (f"{FLAT},symbol-dce", f"{SPLIT},{FLAT},symbol-dce"),
        options=("", "{add-data-flow-edges-on-named-computations=false}"),
        calls=True,
    ),
    Case("sdy-propagate-sharding-from-func-to-call", calls=True),
    Case("sdy-pre-order-funcs", calls=True),
    Case("sdy-add-func-data-flow-edges", calls=True),
    Case(
        "sdy-sink-func-data-flow-edges",
        (f"symbol-dce,sdy-add-func-data-flow-edges,{PROPAGATE}",),
        nested=True,
        calls=True,
    ),
    Case(
        "sdy-constant-or-scalar-merger",
        ("", SPLIT, f"{SPLIT},{PROPAGATE}"),
        nested=True,
    ),
    Case(
        "sdy-sink-data-flow-edges",
        ("", f"{EDGES},{PROPAGATE}"),
        nested=True,
        options=("", "{sink-debug-propagation-edge-sharding=true}"),
    ),
    Case("sdy-remove-sharding-groups"),
    Case("sdy-update-non-divisible-input-output-shardings", ("", PROPAGATE)),
    Case("sdy-remove-sub-axes-in-input-output-shardings", ("", PROPAGATE)),
    Case(
        "sdy-export-named-computations",
        ("", IMPORTED, f"{IMPORTED},{PROPAGATE}"),
        calls=True,
    ),
    Case("sdy-propagate-to-func-results", ("", PROPAGATE), calls=True),
    Case(
        "sdy-unflatten-call-graph",
        ("", FLAT, EXPORTED),
        options=("", "{dedup-functions-fully=true}"),
        calls=True,
    ),
    Case("sdy-insert-func-call-reshards", ("", PROPAGATE, DEDUPED), calls=True),
    Case("sdy-drop-sharding-and-mesh", ("", "sdy-inline-meshes")),
    Case("sdy-propagation-pipeline", options=("", "{dedup-functions-fully=true}")),
)


def random_text(rng: random.Random, seed: int, case: Case) -> str:
    """A module of several functions, or one function of all kinds of ops."""
    whole = case.name == "sdy-propagation-pipeline"
    if case.calls or rng.random() < 0.6:
        features = Features(
            functions=rng.choice((4, 6) if case.calls else (1, 3, 6)),
            ops=rng.choice((4, 8, 16)),
            # C++ reads freed memory after a priority on a dead value
            priorities=not whole,
            # and refuses what its own pipeline makes of these
            named_computations=not whole,
            # groups of several functions may join by chance, with other shapes
            groups=rng.random() < 0.5,
            manual_computations=rng.random() < 0.7,
        )
        return random_module(seed, features)
    options = Options(
        ops=rng.choice((6, 12, 24)),
        groups=rng.random() < 0.5,
        priorities=not whole and rng.random() < 0.4,
        # reshards of unreduced values are compared in test_reshards
        unreduced=not whole and rng.random() < 0.3,
    )
    return random_program(seed, options)


def check_random_case(oracle: Oracle, seed: int, case: Case) -> str:
    """Both sides answer the same, or both refuse. Tells which."""
    rng = random.Random(f"import export {seed} {case.name}")
    text = random_text(rng, seed, case)
    before, ours, theirs = case.choose(rng)
    try:
        text = oracle.run(text, before)
    except (OracleRejected, OracleAborted):
        return "no input"
    try:
        expected = oracle.run(text, theirs)
    except OracleAborted:
        run_ours(text, ours)
        return "C++ crashed"
    except OracleRejected:
        try:
            answer = run_ours(text, ours)
        except (CompileError, VerifyException):
            return "both refuse"
        # ours is better; at least it is valid
        oracle.run(answer)
        return "C++ refuses"
    assert_equal_text(oracle, text, ours, theirs)
    return "changed" if expected != text else "unchanged"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_random_modules(oracle: Oracle, case: Case) -> None:
    for seed in range(8):
        check_random_case(oracle, seed, case)


@pytest.mark.fuzz
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_many_random_modules(oracle: Oracle, case: Case) -> None:
    """A share of `FUZZ`, 20000 in all; tells the outcomes, and all seeds that differ."""
    count = int(os.environ.get("FUZZ", "20000")) // len(CASES)
    start = int(os.environ.get("FUZZ_SEED", "1000"))
    outcomes: Counter[str] = Counter()
    failed: dict[int, str] = {}
    for seed in range(start, start + count):
        try:
            outcomes[check_random_case(oracle, seed, case)] += 1
        except Exception as error:
            failed[seed] = f"{type(error).__name__}: {error}"[:3000]
    print(f"\n{case.name}: {dict(outcomes)}, {len(failed)} differ")
    assert outcomes["changed"] > 0
    assert not failed, f"seeds {sorted(failed)}; first: {next(iter(failed.values()))}"
