"""Matching the collectives of two programs."""

from dataclasses import replace
from pathlib import Path

import ttxdsl
from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.insight.diff.difference import match
from ttxdsl.sharding.axes import AxisRef

GATHER = CountedCollective(
    "all_gather", (AxisRef("x"),), 2, "4xf32", 16, "add needs it", "a:1:1"
)
REDUCE = replace(GATHER, kind="all_reduce", reason="combines what dot has")


def signs(left: list[CountedCollective], right: list[CountedCollective]) -> str:
    return "".join(pair.sign for pair in match(left, right))


def test_equal_added_removed():
    assert signs([GATHER, REDUCE], [GATHER, REDUCE]) == "=="
    assert signs([GATHER], [GATHER, REDUCE]) == "=+"
    assert signs([GATHER, REDUCE], [REDUCE]) == "-="
    assert signs([], []) == ""


def test_order_and_place_do_not_matter():
    moved = replace(GATHER, position="b:9:9")
    assert signs([GATHER, REDUCE], [REDUCE, moved]) == "=="


def test_changed():
    larger = replace(GATHER, tensor="8xf32", bytes_per_device=32)
    other_axis = replace(GATHER, axes=(AxisRef("y"),))
    assert signs([GATHER], [larger]) == "~"
    assert signs([GATHER], [other_axis]) == "~"
    assert signs([GATHER], [replace(GATHER, kind="all_to_all")]) == "-+"
    assert signs([GATHER], [replace(GATHER, reason="mul needs it")]) == "-+"


def test_the_closest_one_is_the_match():
    near = replace(GATHER, tensor="8xf32", bytes_per_device=32)
    far = replace(near, axes=(AxisRef("y"),), position="b:1:1")
    (first, second) = match([GATHER], [far, near])
    assert (first.right, first.sign) == (near, "~")
    assert (second.left, second.right) == (None, far)


def test_an_exact_match_is_not_taken_by_an_earlier_near_one():
    changed = replace(GATHER, tensor="8xf32", bytes_per_device=32)
    assert signs([changed, GATHER], [GATHER]) == "-="


def test_the_same_place_is_the_match():
    moved = replace(GATHER, position="b:9:9")
    first, second = match([GATHER], [moved, GATHER])
    assert first.right is GATHER
    assert (second.right, second.sign) == (moved, "+")


def test_lines_that_both_programs_have_are_paired_with_themselves():
    """A line is inserted before both; what line 2 sends is of another size now."""
    first, second = (replace(GATHER, position=f"a:{line}:1") for line in (1, 2))
    larger = replace(GATHER, tensor="8xf32", bytes_per_device=32, position="a:3:1")
    lines = {("a", 1): ("a", 2), ("a", 2): ("a", 3)}
    (gone, changed) = match([first, second], [larger], lines)
    assert (gone.sign, changed.sign, changed.right) == ("-", "~", larger)
    # what stands on a line that the other does not have may be what was moved
    assert [pair.sign for pair in match([first], [larger], {})] == ["~"]


def test_what_differs_is_told_with_its_annotations():
    examples = Path(__file__).parents[3] / "examples"
    before, after = (
        ttxdsl.load(examples / f"mlp_{name}_parallel.mlir")
        for name in ("data", "tensor")
    )
    found = before.diff(after)
    differing = [pair for pair in found.pairs if not pair.is_equal]
    assert differing and all(pair.annotations for pair in differing)
    assert "from " in str(found)
    assert not any(pair.annotations for pair in before.diff(before).pairs)
