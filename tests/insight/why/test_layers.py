"""Collectives of several layers told in one row."""

from __future__ import annotations

from ttxdsl.insight.why.layers import annotations_text, names_together, text_of_all


def test_texts_that_differ_in_numbers_are_one():
    texts = [f"dot_general %{at}7 needs p[{at}]['w'] of block {at}" for at in range(4)]
    assert text_of_all(texts) == "dot_general needs p[0-3]['w'] of block 0-3"
    assert text_of_all(["sums over x", "sums over y"]) is None


def test_values_of_all_stay():
    texts = [f"dot %{at} from %arg{at}, constraint %7" for at in (3, 5)]
    assert text_of_all(texts) == "dot from %arg3 …, constraint %7"
    texts = [f"dot %{at} sums over dimension 1 of %{at}2" for at in (3, 5)]
    assert text_of_all(texts) == "dot sums over dimension 1 of %32 …"
    # of values of some nothing is told
    assert text_of_all(["dot %3", "dot"]) == "dot"


def test_names_of_layers_are_one():
    names = ["p['emb']", *(f"p['layers'][{at}]['w1']" for at in (0, 1, 3))]
    assert names_together(names) == ["p['emb']", "p['layers'][0-1,3]['w1']"]
    # what differs is no number of a layer
    assert names_together(["p['w1']", "p['w2']"]) == ["p['w1']", "p['w2']"]
    assert names_together(["%12"]) == ["%12"]
    assert names_together(["layers_0.up", "layers_1.up"]) == ["layers_0-1.up"]


def test_many_names_are_counted():
    assert annotations_text([]) == ""
    assert annotations_text(["a", "b"]) == "a and b"
    assert annotations_text("abcde") == "a, b, c and 2 others"
