"""Garbage collection is off inside, and afterwards as it was."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from ttxdsl.collector import few_collections, without_collections
from ttxdsl.tools.main import main

EXAMPLE = Path(__file__).parents[1] / "examples/mlp_train_step.mlir"


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


def test_few_collections_leave_the_thresholds_as_they_were():
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="inside"), few_collections():
        assert gc.get_threshold()[0] > 100 * before[0]
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
