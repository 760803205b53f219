"""Garbage collection is off inside, and afterwards as it was."""

import gc
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.ir.collector import (
    discard_block,
    discard_regions,
    few_collections,
    forget_uses,
    freeing_old_bodies,
    without_collections,
)
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

EXAMPLE = Path(__file__).parents[2] / "examples/mlp_train_step.mlir"


def test_collections_are_off_inside_and_back_after_an_error():
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), without_collections():
        assert not gc.isenabled()
        with without_collections():
            pass
        assert not gc.isenabled()
        raise ValueError("inside")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with without_collections():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


ONCE_MUCH_IS_UNREAD = """
import gc
from weakref import ref

from ttxdsl.ir import collector


class Thing:
    pass


def leave_garbage():
    with collector.without_collections():
        kept = [[] for _ in range(200_000)]
        thing = Thing()
        thing.myself = thing, kept
        return ref(thing)


gc.set_threshold(100_000, 20, 100)
collections = gc.get_stats()[0]["collections"]
left = leave_garbage()
assert left() is not None
assert gc.get_stats()[0]["collections"] == collections
collector._MOST_UNREAD = 100
leave_garbage()
assert left() is None
"""
"""For a process of its own: this one has frozen objects, which stay frozen."""


def test_what_a_pass_made_is_not_read_until_there_is_much_of_it():
    """A cycle from inside is still found later."""
    subprocess.run([sys.executable, "-c", ONCE_MUCH_IS_UNREAD], check=True)


def test_few_collections_leave_the_thresholds_as_they_were():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="inside"), few_collections():
        assert gc.get_threshold()[0] > before[0]
        assert gc.isenabled()
        raise ValueError("inside")
    assert gc.get_threshold() == before


def test_a_command_collects_rarely(capsys: pytest.CaptureFixture[str]):
    before, collections = gc.get_threshold(), gc.get_stats()
    assert main(["show", str(EXAMPLE), "--arg", "0"]) == 0
    assert capsys.readouterr().out
    assert gc.get_threshold() == before
    # reading the example alone makes thousands of objects: a collection every 700
    made = gc.get_stats()[0]["collections"] - collections[0]["collections"]
    assert made <= 2


def nest() -> tuple[Operation, Block]:
    """A block that uses a value from outside, with a loop of uses and an inner block."""
    outside = test.TestOp(result_types=[i32])
    first = test.TestOp(operands=[outside.results[0]], result_types=[i32])
    inner = Block([test.TestOp(operands=[first.results[0]])], arg_types=[i32])
    second = test.TestOp(
        operands=[first.results[0], first.results[0]],
        result_types=[i32],
        regions=[Region([inner, Block()])],
    )
    block = Block([first, second], arg_types=[i32])
    first.operands = (outside.results[0], block.args[0])
    return outside, block


def test_a_discarded_block_is_free_without_a_collection():
    outside, block = nest()
    parts: list[Any] = [block, *block.ops, *outside.results[0].uses]
    parts += [op for each in list(block.ops) for op in each.walk()]
    known = [ref(part) for part in parts]
    with without_collections(), freeing_old_bodies():
        parts.clear()
        discard_block(block)
        del block
        assert [one() for one in known if one() is not None] == []
    assert not outside.results[0].uses


def test_what_was_discarded_cannot_be_read():
    _, block = nest()
    op = block.first_op
    assert op is not None
    with freeing_old_bodies():
        discard_block(block)
    with pytest.raises(AttributeError):
        _ = op.attributes
    with pytest.raises(AttributeError):
        _ = block.args


def test_others_may_look_at_what_was_replaced():
    outside, block = nest()
    op = block.first_op
    assert op is not None
    discard_block(block)
    assert op.parent is None
    assert [result.type for result in op.results] == [i32]
    assert not outside.results[0].uses


def test_an_op_that_is_done_may_be_looked_back_at():
    """What it read and made stays; who used what, and its regions, do not."""
    outside, block = nest()
    first, second = block.ops
    inner = [ref(op) for region in second.regions for op in region.walk()]
    with without_collections(), freeing_old_bodies():
        for op in (first, second):
            forget_uses(op)
            discard_regions(op)
        assert [one() for one in inner if one() is not None] == []
        assert not outside.results[0].uses and not first.results[0].uses
        assert tuple(first.operands) == (outside.results[0], block.args[0])
        assert tuple(second.operands) == (first.results[0], first.results[0])
        assert first.next_op is second and second.regions == ()
        discard_block(block)


def test_others_keep_uses_and_regions():
    outside, block = nest()
    first, second = block.ops
    for op in (first, second):
        forget_uses(op)
        discard_regions(op)
    assert outside.results[0].has_one_use() and len(list(first.results[0].uses)) == 3
    assert len(second.regions) == 1 and len(second.regions[0].blocks) == 2


@pytest.mark.parametrize("stage", [11, "ttir", "ttnn"])
def test_rebuilding_a_body_leaves_little_garbage(stage: int | str):
    """Each makes every op anew; the old ones are not left to the collector."""
    program = ttxdsl.load(EXAMPLE)
    context, module = make_context(), program.module
    steps: dict[int | str, Callable[[], object]] = {}
    stages = TTStableHLOPipelinePass().run(context, module)
    for number in range(1, 14):
        steps[number] = partial(next, stages)
    steps["ttir"] = partial(ConvertStableHLOToTTIRPass().apply, context, module)
    steps["ttnn"] = partial(ConvertTTIRToTTNNPass().apply, context, module)
    with without_collections(), freeing_old_bodies():
        for name, run in steps.items():
            if name == stage:
                break
            run()
        gc.collect(1)
        gc.freeze()  # not to look through the whole suite again
        steps[stage]()
        ops, garbage = len(all_ops(module)), gc.collect()
    assert garbage < 3 * ops  # thirty objects an op if they were
