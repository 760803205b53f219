"""The six cases of the design, stage by stage, letter by letter.

Both sides go through jaxlib's parser and printer, so only the module counts and not
the spelling. A stage without a file leaves the module as the last file before it.
"""

from pathlib import Path

import pytest

from tests.differential.oracle import Oracle
from tests.run_lines import xdsl_opt

CASES = Path(__file__).parent / "seed_cases"

STAGES = (
    "inline",
    "apply-tt-argument-annotations",
    "apply-argument-shard-status",
    "apply-shardy-argument-annotations",
    "sdy-apply-sharding-constraints",
    "sdy-aggressive-propagate",
    "sdy-sharding-constraint-to-reshard",
    "sdy-insert-explicit-reshards",
    "wrap-under-manual-computation",
    "sdy-reshard-to-collectives",
    "update-global-to-local-shapes",
    "sdy-close-shardings",
    "canonicalize",
)
OPTIONS = {
    1: {
        "apply-tt-argument-annotations": 'argument-types="abs=input"',
        "apply-shardy-argument-annotations": "mesh-shape=1,2",
    },
    2: {"apply-tt-argument-annotations": 'argument-types="main=input"'},
    3: {"apply-tt-argument-annotations": 'argument-types="main=input,parameter"'},
}
LAST_KNOWN_STAGE = {1: 13, 2: 13, 3: 13, 4: 13, 6: 10}
"""Case 5 gives an input only, case 6 its stages up to 10."""

CHECKS = [(case, n) for case, last in LAST_KNOWN_STAGE.items() for n in range(last + 1)]

SOLVED = (2, 3)
"""Somebody partitioned them: the pipeline skips stages 5 to 12."""


def after(case: int, passes: str) -> str:
    """The text of a case after passes."""
    return xdsl_opt([str(CASES / f"case{case}" / "00-input.mlir"), "-p", passes])


def expected(case: int, number: int) -> str:
    """The text of the case after a stage; case 3 from stage 4 on as the design rules."""
    files = sorted((CASES / f"case{case}").iterdir())
    text = [file for file in files if int(file.name[:2]) <= number][-1].read_text()
    if case == 3 and number >= 4:
        for dims in ('{"x"}, {"y"}', '{"y"}, {}'):
            text = text.replace(f"sdy.sharding = #sdy.sharding<@mesh, [{dims}]>, ", "")
        # what the replacement must not reach
        assert text.count("sdy.sharding") == 0
    return text


@pytest.mark.parametrize(("case", "number"), CHECKS)
def test_pipeline_up_to_stage(oracle: Oracle, case: int, number: int):
    options = " ".join(OPTIONS.get(case, {}).values())
    passes = f"tt-stablehlo-pipeline{{last-stage={number} {options}}}" if number else ""
    assert oracle.run(after(case, passes)) == oracle.run(expected(case, number))


@pytest.mark.parametrize(
    ("case", "number"),
    # run by name, stages 5 and 6 write a solved graph's shardings on its arguments, as
    # C++ Shardy's does, and stage 11 takes them off; only the pipeline skips
    [(c, n) for c, n in CHECKS if n and not (c in SOLVED and 5 <= n <= 10)],
)
def test_passes_by_name_up_to_stage(oracle: Oracle, case: int, number: int):
    options = OPTIONS.get(case, {})
    passes = ",".join(
        f"{name}{{{options[name]}}}" if name in options else name
        for name in STAGES[:number]
    )
    assert oracle.run(after(case, passes)) == oracle.run(expected(case, number))


@pytest.mark.parametrize("number", range(len(STAGES) + 1))
def test_case_5_passes(oracle: Oracle, number: int):
    passes = f"tt-stablehlo-pipeline{{last-stage={number}}}" if number else ""
    assert oracle.accepts(after(5, passes))


@pytest.mark.parametrize("case", range(1, 7))
def test_every_stage_leaves_what_it_should(case: int):
    options = " ".join(OPTIONS.get(case, {}).values())
    text = after(case, f"tt-stablehlo-pipeline{{verify-each=true {options}}}")
    assert "sdy.manual_computation" in text
