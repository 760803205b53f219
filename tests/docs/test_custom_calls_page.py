"""The page of custom calls names every target that is known, and no other."""

from __future__ import annotations

import re
from itertools import product

from tests.docs.pages import ROOT
from ttxdsl.dialects.linalg_calls import ROUTINE_OF
from ttxdsl.dialects.tenstorrent_calls import Target


def spellings(name: str) -> set[str]:
    """`{a,b}c` is `ac` and `bc`."""
    parts = re.split(r"\{([^}]*)\}", name)
    return {"".join(one) for one in product(*(part.split(",") for part in parts))}


def test_targets():
    page = (ROOT / "docs/reference/custom-calls.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    names = [name for row in rows for name in re.findall(r"`([^`]*)`", row)]
    listed = [target for name in names for target in spellings(name)]
    assert len(listed) == len(set(listed))
    assert set(listed) == {*ROUTINE_OF, *Target}
