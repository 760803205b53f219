"""What repeats is one row; the dearest rows are shown."""

from ttxdsl.diagnostics.folding import farthest, fold, unfolded


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


def test_one_more_is_no_reason_to_hide_it():
    folded = fold(range(3), key=lambda x: x, weight=float, shown=2)
    assert folded.groups == [[2], [1], [0]]


def test_of_many_the_farthest_off():
    few = [0.5, 0.1]
    assert farthest(few, lambda x: True, lambda x: x) == few
    many = [float(number) for number in range(20)]
    right = farthest(many, lambda x: True, lambda x: x)
    assert right == [17.0, 18.0, 19.0]
    # what is wrong comes before what is merely far off, and no three of it are enough
    wrong = farthest(many, lambda x: x != 2, lambda x: x)
    assert len(wrong) == 12
    assert 2.0 in wrong


def test_all_stand_by_themselves():
    assert unfolded("aba").groups == [["a"], ["b"], ["a"]]
