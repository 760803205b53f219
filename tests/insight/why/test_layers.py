"""Collectives of several layers told in one row."""

from ttxdsl.insight.why.layers import names_together, text_of_all


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


def test_modules_with_numbers_are_layers():
    blocks = [f"params['block{at}']['fc']['kernel']" for at in range(3)]
    assert names_together(blocks) == ["params['block0-2']['fc']['kernel']"]
    weights = ["p[0]['w1']", "p[1]['w1']", "p[0]['w2']"]
    assert names_together(weights) == ["p[0-1]['w1']", "p[0]['w2']"]
