"""Where values are defined: jaxlib refuses the uses that we refuse, and no others."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.differential.moved_ops import random_blocks
from tests.differential.oracle import Oracle
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import make_context, parse_program


def accepts(text: str) -> bool:
    try:
        parse_program(text, context=make_context())
    except CompileError:
        return False
    return True


def both(oracle: Oracle, texts: list[str]) -> Counter[bool]:
    """How many both take and both refuse; fails where they do not agree."""
    theirs = [text is not None for text in oracle.run_all([(t, "") for t in texts])]
    ours = [accepts(text) for text in texts]
    wrong = [t for t, a, b in zip(texts, ours, theirs, strict=True) if a != b]
    assert not wrong, f"{len(wrong)}, the first of them:\n{wrong[0]}"
    return Counter(ours)


def test_uses_in_functions_of_several_blocks(oracle: Oracle):
    rng = random.Random(0)
    counts = both(oracle, [random_blocks(rng) for _ in range(200)])
    assert min(counts[True], counts[False]) > 40


@pytest.mark.fuzz
def test_uses_in_many_functions_of_several_blocks(oracle: Oracle):
    rng = random.Random(1)
    both(oracle, [random_blocks(rng) for _ in range(5000)])
