"""Garbage collection is off inside, and afterwards as it was."""

from __future__ import annotations

import gc

import pytest

from ttxdsl.collector import without_collections


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
