"""What repeats is one row; the dearest rows are shown."""

from ttxdsl.reporting.alike import fold, unfolded


def test_groups_stand_by_weight_and_keep_their_order():
    folded = fold(
        ["b1", "a2", "b3", "c9"], key=lambda x: x[0], weight=lambda x: int(x[1])
    )
    assert folded.groups == [["c9"], ["b1", "b3"], ["a2"]]
    assert not folded.hidden


def test_what_is_hidden_is_the_cheapest():
    folded = fold(range(5), key=lambda x: x, weight=float, shown=2)
    assert folded.groups == [[4], [3]]
    assert folded.hidden == [2, 1, 0]


def test_all_stand_by_themselves():
    assert unfolded("aba").groups == [["a"], ["b"], ["a"]]
