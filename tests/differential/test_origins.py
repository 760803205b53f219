"""Where axes came from is what Shardy itself records, on programs that JAX makes.

Shardy's options `debug-sharding-origins` and `debug-propagation-edge-sharding` write it
into attributes. `why` tells the same records (`History`).
"""

import zlib
from pathlib import Path

import pytest

from tests.differential.corpus import programs
from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.partitioning import sharded_program
from tests.differential.sharded_models import MODELS, sharded_models
from tests.differential.test_propagation import IMPORT, RECORD, with_sorted_steps
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import program_text
from ttxdsl.sharding.devices.mesh import Mesh

EXAMPLES = Path(__file__).parents[2] / "examples"
MESH = Mesh((("x", 2), ("y", 4)))
KINDS = ("basic", "aggressive", "op-priority", "user-priority")
PARTS = 12
"""Of the corpus, each with its own kind of propagation in turn."""


def compare(oracle: Oracle, text: str, kind: str) -> str:
    """Compare the records of a program; return what could be compared."""
    try:
        text = oracle.run(text, f"inline,symbol-dce,{IMPORT}")
    except (OracleRejected, OracleAborted):
        return "C++ does not import it"
    name = f"sdy-{kind}-propagate"
    try:
        run_ours(text, name)
    except CompileError as error:
        return f"refused: {error.message}"
    try:
        oracle.run(text, f"{name}{{{RECORD}}}")
    except OracleRejected:
        # edges of several sources, which its own verifier refuses
        origins = f"{name}{{debug-sharding-origins=true}}"
        run_ours(text, f"{name}{{{RECORD}}}")
        try:
            assert_equal_text(oracle, text, origins)
        except OracleRejected:
            return "C++ refuses its own records"
        return "equal origins"
    except OracleAborted:
        run_ours(text, f"{name}{{{RECORD}}}")
        return "C++ crashes with records"
    assert_equal_text(oracle, text, f"{name}{{{RECORD}}}", normal=with_sorted_steps)
    return "equal"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sampled(MODELS, 4))
def test_models(oracle: Oracle, name: str, kind: str):
    compare(oracle, sharded_models()[name], kind)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.mlir")), ids=lambda p: p.stem)
def test_examples(oracle: Oracle, path: Path):
    assert compare(oracle, path.read_text(), "user-priority").startswith("equal")


@pytest.mark.parametrize(
    "part",
    [0, *(pytest.param(part, marks=pytest.mark.fuzz) for part in range(1, PARTS))],
)
def test_corpus(oracle: Oracle, part: int):
    """Programs of the corpus with random shardings of their arguments."""
    outcomes: list[str] = []
    for program in programs():
        # the same part whatever is added to the corpus
        if zlib.crc32(program.name.encode()) % PARTS != part:
            continue
        module = sharded_program(program.pretty, MESH, program.name)
        if module is None:
            continue
        kind = KINDS[len(outcomes) % len(KINDS)]
        outcomes.append(compare(oracle, program_text(module), kind))
    assert outcomes.count("equal") >= 0.6 * len(outcomes), outcomes
