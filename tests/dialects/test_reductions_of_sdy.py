"""Values of which devices hold parts of maxima: as jaxlib reads and prints after 0.10.

The newest jaxlib answers where there is one; its answers of 0.12.0.1 are held always.
"""

import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.dialects.sdy_cases import T, constraint, func, sharded
from tests.dialects.test_sdy import parse
from tests.differential.oracle import Oracle
from tests.printing import printed

SPELLINGS = {
    '<@mesh, [{}, {}], unreduced=sum{"y"}>': '<@mesh, [{}, {}], unreduced={"y"}>',
    '<@mesh, [{}, {}], unreduced{"y"}>': '<@mesh, [{}, {}], unreduced={"y"}>',
    '<@mesh, [{}, {}], unreduced=max{"y"}>': '<@mesh, [{}, {}], unreduced=max{"y"}>',
    '<@mesh, [{"x"}, {}], unreduced = min {"y"}, replicated={"z"}>': (
        '<@mesh, [{"x"}, {}], replicated={"z"}, unreduced=min{"y"}>'
    ),
}


def _collective(op: str, given: str) -> str:
    return func(f"%0 = sdy.{op} : {T}", sharded(f"<@mesh, {given}>"))


OPS = {
    "all_reduce max": _collective(
        'all_reduce max {"y"} %a out_sharding=<@mesh, [{"x"}, {}]>',
        '[{"x"}, {}], unreduced=max{"y"}',
    ),
    "of some axes": _collective(
        'all_reduce min {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced=min{"x"}>',
        '[{}, {}], unreduced=min{"x", "y"}',
    ),
    "of what is not said to be partial": _collective(
        'all_reduce max {"y"} %a out_sharding=<@mesh, [{}, {}]>', "[{}, {}]"
    ),
    "all_reduce sum": _collective(
        'all_reduce sum {"y"} %a out_sharding=<@mesh, [{}, {}]>',
        '[{}, {}], unreduced={"y"}',
    ),
    "reduce_scatter": _collective(
        'reduce_scatter min [{"y"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]>',
        '[{}, {}], unreduced=min{"y"}',
    ),
    "copies": _collective(
        'replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced=max{"y"}>',
        "[{}, {}]",
    ),
    "shards": _collective(
        'sharded_to_unreduced [{"y"}, {}] %a out_sharding=<@mesh, [{}, {}], unreduced=max{"y"}>',
        '[{"y"}, {}]',
    ),
}

REFUSED = {
    "another function": (
        func("", sharded('<@mesh, [{}, {}], unreduced=prod{"y"}>')), "expected",
    ),
    "no axes": (func("", sharded("<@mesh, [{}, {}], unreduced=max{}>")), "expected"),
    "another reduction": (
        _collective(
            'all_reduce max {"y"} %a out_sharding=<@mesh, [{}, {}]>',
            '[{}, {}], unreduced={"y"}',
        ),
        "cannot reduce 'sum' unreduced axes. Expected 'max'.",
    ),
    "scattered otherwise": (
        _collective(
            'reduce_scatter [{"y"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]>',
            '[{}, {}], unreduced=max{"y"}',
        ),
        "cannot reduce 'max' unreduced axes. Expected 'sum'.",
    ),
    "invented": (
        _collective(
            'all_reduce {"y"} %a out_sharding=<@mesh, [{}, {}], unreduced={"x"}>',
            "[{}, {}]",
        ),
        "cannot add new unreduced axis 'x'.",
    ),
    "kept as another": (
        _collective(
            'reshard %a <@mesh, [{}, {}], unreduced=min{"y"}>',
            '[{}, {}], unreduced=max{"y"}',
        ),
        "cannot change the reduction operator of kept unreduced axes from max to min.",
    ),
    "added to another": (
        _collective(
            'replicated_to_unreduced {"x"} %a '
            'out_sharding=<@mesh, [{}, {}], unreduced=max{"x", "y"}>',
            '[{}, {}], unreduced={"y"}',
        ),
        "cannot change reduction_op of existing unreduced axes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str):
    text, message = REFUSED[name]
    with pytest.raises((ParseError, VerifyException)) as raised:
        parse(text)
    assert message in str(raised.value)


def test_a_number_of_no_reduction():
    text = printed(parse(OPS["all_reduce max"]), generic=True)
    with pytest.raises(VerifyException, match="unknown reduction: 7"):
        parse(text.replace("reduction_op = 1 : i32", "reduction_op = 7 : i32"))


def test_like_the_newest(newest: Oracle):
    """The same text from both, whoever wrote what the other reads."""
    for text in (*map(constraint, SPELLINGS), *OPS.values()):
        expected = newest.run(text)
        ours = parse(text)
        for again in (printed(ours), printed(ours, generic=True)):
            assert newest.run(again) == expected
        generic = newest.run(text, generic=True)
        assert newest.run(printed(parse(generic))) == expected
    for text, _ in REFUSED.values():
        assert not newest.accepts(text)
