"""The page of custom calls names every target that is known, and no other."""

import re
from itertools import product

from tests.docs.pages import ROOT
from ttxdsl.dialects.calls.custom import (
    FIRST_BY_COMPARATOR,
    LOCAL_TARGETS,
    RAGGED_ALL_TO_ALL,
)
from ttxdsl.dialects.calls.linalg import ROUTINE_OF
from ttxdsl.dialects.calls.tenstorrent import Target
from ttxdsl.interpreters.ops.custom_calls import CUSTOM_CALLS


def spellings(name: str) -> set[str]:
    """`{a,b}c` is `ac` and `bc`."""
    parts = re.split(r"\{([^}]*)\}", name)
    return {"".join(one) for one in product(*(part.split(",") for part in parts))}


def targets_of(section: str) -> list[str]:
    """The targets in the first column of the table of a section of the page."""
    page = (ROOT / "docs/reference/custom-calls.md").read_text()
    (text,) = (part for part in page.split("\n## ") if part.startswith(section))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    names = [name for row in rows for name in re.findall(r"`([^`]*)`", row)]
    return [target for name in names for target in spellings(name)]


def test_targets():
    listed = targets_of("Linear algebra") + targets_of("tt-mlir's")
    assert len(listed) == len(set(listed))
    assert set(listed) == {*ROUTINE_OF, *Target}


def test_targets_of_jax():
    """Those that are run are there; of all but Pallas' the page says what is known."""
    listed = set(targets_of("JAX's"))
    ours = {*FIRST_BY_COMPARATOR, "TopK", "AllocateBuffer", RAGGED_ALL_TO_ALL}
    assert ours <= listed & set(CUSTOM_CALLS)
    for target in listed - {"tpu_custom_call", "mosaic_gpu_v2", RAGGED_ALL_TO_ALL}:
        if target.isidentifier() and not target.startswith("custom_"):
            assert target in LOCAL_TARGETS, target
