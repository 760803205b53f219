"""The page that puts our collectives beside XLA's: its parser, and that it is fresh."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.differential.sharded_models import MODELS, sharded_models

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import compare_xla  # noqa: E402
from compare_xla import Moved  # noqa: E402

EXAMPLES = sorted(f"examples/{path.stem}" for path in ROOT.glob("examples/*.mlir"))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("replica_groups={{0,1,2,3},{4,5,6,7}}, use_global_device_ids=true", 4),
        ("replica_groups=[4,2]<=[2,4]T(1,0), dimensions={1}", 2),
        ("replica_groups={}, to_apply=%add", 8),
        ("replica_groups=mesh['a'=2,'b'=4] {'b'}, dimensions={0}", 4),
        ("replica_groups=mesh['a'=4,'b'=1,'c'=2], device_ids=([2,4]T(1,0)) {'a','c'}", 8),
        ("replica_groups=mesh['a'=8] {'a':(2)4}, dimensions={0}", 4),
        ("channel_id=1, source_target_pairs={{0,1},{1,0}}", 2),
        ("channel_id=1, source_target_pairs={{0,0},{1,1}}", 1),
        ("channel_id=1, source_target_pairs={{0,0},{1,2},{2,1}}, metadata={}", 2),
    ],
)  # fmt: skip
def test_groups_of_hlo(text: str, size: int):
    assert compare_xla.group_size(f"%x = f32[8] all-gather(%y), {text}") == size


GROUPS = "replica_groups={{0,1,2,3},{4,5,6,7}}"


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        (f"%x = f32[8,64]{{1,0}} all-reduce(%y), {GROUPS}", Moved("all_reduce", 4, 3072)),
        (
            f"ROOT %x = (f32[128]{{0}}, /*index=1*/bf16[4]{{0}}) all-reduce(%y, %z), {GROUPS}",
            Moved("all_reduce", 4, 780),
        ),
        (f"%x = f32[8,64]{{1,0}} all-gather(%y), {GROUPS}", Moved("all_gather", 4, 1536)),
        (
            f"%x = (f32[2,64]{{1,0}}, f32[8,64]{{1,0}}) all-gather-start(%y), {GROUPS}",
            Moved("all_gather", 4, 1536),
        ),
        (
            f"%x = f32[2,64]{{1,0}} reduce-scatter(%y), {GROUPS}",
            Moved("reduce_scatter", 4, 1536),
        ),
        (
            f"%x = (s8[4]{{0}}, s8[4]{{0}}, s8[4]{{0}}, s8[4]{{0}}) all-to-all(%a, %b, %c, %d), {GROUPS}",
            Moved("all_to_all", 4, 12),
        ),
        (
            "%x = (f32[4]{0}, f32[4]{0}, u32[], u32[]) collective-permute-start(%y), source_target_pairs={{0,1},{1,0}}",
            Moved("collective_permute", 2, 16),
        ),
    ],
)  # fmt: skip
def test_collectives_of_hlo(line: str, moved: Moved):
    assert compare_xla.hlo_collectives(f"  {line}, channel_id=1") == [moved]


def test_other_lines_of_hlo_are_no_collectives():
    text = """
  %all-gather.1 = f32[8]{0} fusion(%all-gather), kind=kLoop
  %done = f32[8]{0} all-gather-done(%start)
"""
    assert compare_xla.hlo_collectives(text) == []


def page_bytes() -> dict[str, int]:
    """What the page says that ours move."""
    rows = (line.split("|") for line in compare_xla.PAGE.read_text().splitlines())
    return {r[1].strip(" `"): int(r[2]) for r in rows if len(r) > 2 and "`" in r[1]}


def test_every_program_is_on_the_page():
    assert set(page_bytes()) == {*EXAMPLES, *MODELS}


@pytest.mark.parametrize("name", (*EXAMPLES, *MODELS))
def test_the_page_is_fresh(name: str):
    """If this fails for the better: `python benchmarks/compare_xla.py --write`."""
    path = ROOT / f"{name}.mlir"
    text = path.read_text() if name in EXAMPLES else sharded_models()[name]
    moved = sum(one.bytes for one in compare_xla.our_collectives(text))
    assert moved == page_bytes()[name]


def test_what_moves_more_than_xla_has_a_reason():
    assert "no reason known" not in compare_xla.PAGE.read_text()
