"""Every import and export pass of Shardy, and its pipeline, against C++ at random."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.differential.campaign import Outcome, asking, run_campaign
from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle
from tests.differential.random_modules import Features, random_module
from tests.differential.random_programs import random_program
from tests.differential.random_writer import Options
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import parse_program

PROPAGATE = "sdy-aggressive-propagate"
EDGES = "sdy-add-data-flow-edges"
FLAT = "symbol-dce,sdy-flatten-call-graph"
IMPORTED = f"{FLAT},symbol-dce,sdy-import-func-calls"
EXPORTED = f"{IMPORTED},{PROPAGATE},sdy-export-named-computations"
FULLY = "{dedup-functions-fully=true}"
DEDUPED = (
    f"{EXPORTED},sdy-propagate-to-func-results,"
    f"sdy-unflatten-call-graph{FULLY},symbol-dce"
)
SPLIT = "symbol-dce,sdy-constant-or-scalar-splitter"
RECORD = "{debug-sharding-origins=true debug-propagation-edge-sharding=true}"
RECORDED = f"{EDGES},sdy-apply-sharding-constraints{RECORD},sdy-basic-propagate{RECORD}"
SINK = (
    "func.func(sdy-sink-data-flow-edges{sink-debug-sharding-origins=true "
    "sink-debug-propagation-edge-sharding=true})"
)
RESHARDED = "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"
COLLECTIVES = f"{PROPAGATE},{RESHARDED},func.func(sdy-reshard-to-collectives)"
EXPLICIT = "enable-insert-explicit-collectives=true"
LABELS = ("sdy-reshard", "sdy-collective", "sdy-reshard,sdy-collective")


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
        options=("", FULLY),
        calls=True,
    ),
    Case("sdy-insert-func-call-reshards", ("", PROPAGATE, DEDUPED), calls=True),
    Case("sdy-drop-sharding-and-mesh", ("", "sdy-inline-meshes")),
    Case("sdy-apply-sharding-constraints", ("", EDGES), options=("", RECORD)),
    Case("sdy-remove-propagation-debug-info", ("", RECORDED, f"{RECORDED},{SINK}")),
    Case(
        "canonicalize",
        # C++ merges constants that are sharded in different ways; split ones it leaves
        tuple(f"{SPLIT},{one}" for one in (EDGES, RESHARDED, COLLECTIVES)),
        options=tuple(
            f"{{{kind}-patterns={labels}}}"
            for kind in ("enable", "disable")
            for labels in LABELS
        ),
    ),
    Case(
        "sdy-remove-all-gather-reduce-scatter-for-cmv1",
        (f"{PROPAGATE},sdy-export-pipeline{{{EXPLICIT}}}",),
        nested=True,
    ),
    Case("sdy-import-pipeline", options=("", FULLY)),
    Case(
        "sdy-export-pipeline",
        (SPLIT, f"sdy-import-pipeline,{PROPAGATE}", f"{SPLIT},{RECORDED},{PROPAGATE}"),
        options=(
            "",
            f"{{{EXPLICIT}}}",
            f"{{{EXPLICIT} remove-all-gather-reduce-scatter-for-cmv1=true}}",
            "{avoid-export-for-partitioning=true avoid-reshards-on-calls=true}",
            "{keep-sharding-rules=true dump-propagation-edges=true}",
            "{dump-sharding-origins=true}",
            "{update-non-divisible-input-output-shardings=false}",
        ),
    ),
    Case("sdy-propagation-pipeline", options=("", FULLY)),
)


def random_text(rng: random.Random, seed: int, *, calls: bool, whole: bool) -> str:
    """A module of several functions, or one function of all kinds of ops.

    Args:
        rng: draws what the module may contain.
        seed: of the module.
        calls: whether it has to have several functions.
        whole: for the whole pipeline, which takes less than each pass alone.
    """
    if calls or rng.random() < 0.6:
        features = Features(
            functions=rng.choice((4, 6) if calls else (1, 3, 6)),
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


def is_whole(case: Case) -> bool:
    return case.name.endswith("-pipeline")


def known_fault(theirs: str, ours: str) -> str | None:
    """What C++ is known to do wrong in what it prints (docs/evidence/differences.md)."""
    if any(
        not one.can_coexist(other)
        for op in parse_program(theirs).walk()
        if isinstance(op, sdy.CollectiveOp)
        for one, other in combinations(op.out_sharding.data.all_axes, 2)
    ):
        return "C++ uses axes that cannot coexist"
    if theirs.count("sdy.reshard ") < ours.count("sdy.reshard "):
        return "C++ takes one reshard for two"
    return None


def check_seed(
    oracle: Oracle, seed: int, cases: Sequence[Case] = CASES
) -> list[Outcome]:
    """Every pass on the programs of a seed; both sides answer the same, or both refuse.

    Raises:
        AssertionError: naming all passes that differ.
    """
    rng = random.Random(f"import export {seed}")
    kinds = dict.fromkeys((case.calls, is_whole(case)) for case in cases)
    texts = {
        kind: random_text(rng, seed, calls=kind[0], whole=kind[1]) for kind in kinds
    }
    chosen = [case.choose(rng) for case in cases]
    befores = dict.fromkeys(
        (texts[case.calls, is_whole(case)], before)
        for case, (before, _, _) in zip(cases, chosen, strict=True)
    )
    prepared = dict(zip(befores, oracle.run_all([*befores]), strict=True))
    inputs = [
        prepared[texts[case.calls, is_whole(case)], before]
        for case, (before, _, _) in zip(cases, chosen, strict=True)
    ]
    expected = oracle.run_all(
        [
            (text or "", theirs)
            for text, (_, _, theirs) in zip(inputs, chosen, strict=True)
        ]
    )
    ours: list[str | Exception] = []
    for text, (_, pipeline, _) in zip(inputs, chosen, strict=True):
        try:
            ours.append("" if text is None else run_ours(text, pipeline))
        except Exception as error:
            ours.append(error)
    actual = oracle.run_all([(one if isinstance(one, str) else "", "") for one in ours])
    outcomes: list[Outcome] = []
    wrong: list[str] = []
    for case, text, wanted, made, found in zip(
        cases, inputs, expected, ours, actual, strict=True
    ):
        if text is None:
            outcome = "no input"
        elif wanted is None and isinstance(made, CompileError | VerifyException):
            outcome = "both refuse"
        elif wanted is None and found is not None:
            outcome = "C++ refuses or crashes"  # ours is better; at least it is valid
        elif (
            wanted
            and found
            and found != wanted
            and (fault := known_fault(wanted, found))
        ):
            outcome = fault
        elif isinstance(made, Exception) or found != wanted:
            wrong.append(f"{case.name}: {made if isinstance(made, Exception) else ''}")
            continue
        else:
            outcome = "equal" if wanted != text else "equal, nothing to do"
        outcomes.append((case.name, outcome))
    assert not wrong, "; ".join(wrong)
    return outcomes


def test_random_modules(oracle: Oracle) -> None:
    """Every pass has something to do in one of them."""
    outcomes = [
        one for seed in (11, 8, 12, 17, 1, 2) for one in check_seed(oracle, seed)
    ]
    assert {name for name, outcome in outcomes if outcome == "equal"} == {
        case.name for case in CASES
    }


def test_a_start_that_nobody_waits_for_stays(oracle: Oracle) -> None:
    text = """
      func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "stablehlo.async_start"(%a) ({
        ^bb0(%b: tensor<4xf32>):
          %1 = stablehlo.slice %b [0:2] : (tensor<4xf32>) -> tensor<2xf32>
          stablehlo.return %1 : tensor<2xf32>
        }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
        return %a : tensor<4xf32>
      }"""
    for pipeline in ("sdy-propagation-pipeline", "sdy-export-pipeline"):
        assert_equal_text(oracle, text, pipeline)


@pytest.mark.fuzz
def test_many_random_modules() -> None:
    run_campaign("import and export", partial(asking, Oracle, check_seed))


WITH_OPTIONS = tuple(
    case
    for case in CASES
    if is_whole(case)
    or case.name
    in (
        "canonicalize",
        "sdy-remove-all-gather-reduce-scatter-for-cmv1",
        "sdy-remove-propagation-debug-info",
    )
)
"""Pipelines with their options, and the passes that these alone run."""


@pytest.mark.fuzz
def test_many_random_options_of_pipelines() -> None:
    check = partial(check_seed, cases=WITH_OPTIONS)
    run_campaign("options of pipelines", partial(asking, Oracle, check))
