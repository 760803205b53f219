"""Loops and chains of windows of sizes that axes do not divide: numbers, and what is sent."""

from __future__ import annotations

from functools import cache

import pytest

from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax
from tests.differential.random_iterations import random_iteration
from tests.differential.test_shifts import sent, xla_bytes
from tests.sampling import sampled
from tests.transforms.stages.test_frame_uneven_values import bytes_without


@cache
def by_jax() -> dict[tuple[str, str], str]:
    lines = made_by_jax("tests.differential.iterations_by_jax", **EIGHT_DEVICES)
    return {(name, mesh): text for name, mesh, text in lines}


BYTES = {
    ("counted updated", "3x2"): (78800, 6080),
    ("counted updated", "2x4"): (82640, 6420),
    ("counted updated", "1x8"): (80640, 13800),
    ("counted padded", "2x4"): (117520, 6420),
    ("scanned updated", "3x2"): (78840, 6150),
    ("until_still updated", "2x4"): (8268, 4159),
}
"""Bytes where carries stay as they are, and where they grow."""


@pytest.mark.parametrize("key", sampled(BYTES, 3, several=False), ids=" ".join)
def test_carries_grow_where_that_sends_less(key: tuple[str, str]):
    text = by_jax()[key]
    before, after = BYTES[key]
    assert bytes_without(text, "pad-carries") == before
    assert sent(text)[0] == after


ONCE = {
    "once padded": (11752, 208),
    "once updated": (8264, 8264),
    "once rolled": (400, 400),
}
"""Bytes of one step between values that are whole, if it is split and if it is whole."""


@pytest.mark.parametrize("name", ONCE)
def test_a_step_between_whole_values(name: str):
    text = by_jax()[name, "2x4"]
    split, whole = ONCE[name]
    assert bytes_without(text, "keep-islands-whole") == split
    assert sent(text)[0] == whole


STAY = ("counted padded", "3x2"), ("counted padded", "1x8"), ("scanned rolled", "2x4")


@pytest.mark.parametrize("key", STAY, ids=" ".join)
def test_carries_stay_where_that_sends_no_less(key: tuple[str, str]):
    text = by_jax()[key]
    assert sent(text)[0] == bytes_without(text, "pad-carries")


WINDOWS = {
    ("two_convolutions", "2x4"): (8135, 2119),
    ("convolved_back", "2x4"): (8128, 1728),
    ("same_behind_valid", "2x4"): (8132, 1671),
    ("pooled", "1x8"): (14336, 1927),
    ("two_convolutions grad", "2x4"): (20544, 7680),
    ("two_convolutions grad", "1x8"): (14336, 6496),
    ("convolved_back grad", "2x4"): (17408, 5472),
    ("same_behind_valid grad", "2x4"): (11200, 5408),
}
"""Bytes without frames, and with frames of windows."""


@pytest.mark.parametrize("key", sampled(WINDOWS, 3, several=False), ids=" ".join)
def test_windows_between_even_values(key: tuple[str, str]):
    text = by_jax()[key]
    before, after = WINDOWS[key]
    assert bytes_without(text, "frame-uneven-values") == before
    assert sent(text)[0] == after


@pytest.mark.parametrize("seed", range(8))
def test_random_iterations(seed: int):
    sent(random_iteration(seed), seed)


@pytest.mark.fuzz
def test_a_thousand_random_iterations():
    for seed in range(1000):
        text = random_iteration(seed)
        assert sent(text, seed)[0] <= bytes_without(text, "pad-carries"), seed


@pytest.mark.fuzz
def test_iterations_send_no_more_than_xla():
    texts = {" ".join(key): text for key, text in by_jax().items()}
    theirs = xla_bytes(
        {name: text for name, text in texts.items() if "3x2" not in name}
    )
    more = {
        name: (ours, theirs[name])
        for name in theirs
        if (ours := sent(texts[name])[0]) > theirs[name]
    }
    assert all(name.startswith("pooled grad") for name in more), more


LISTED = {"191", "463", "652", "671"}
"""Seeds that send more for the reasons in docs/evidence/spellings.md."""


@pytest.mark.fuzz
def test_random_iterations_send_no_more_than_xla():
    programs = {str(seed): random_iteration(seed) for seed in range(1000)}
    texts = {seed: text for seed, text in programs.items() if '"a"=3' not in text}
    theirs = xla_bytes(texts)
    assert len(theirs) > 700
    more = {
        seed: (ours, theirs[seed])
        for seed in theirs
        if (ours := sent(texts[seed], int(seed))[0]) > theirs[seed]
    }
    assert more.keys() <= LISTED, more
