"""Names are written as MLIR writes them."""

import pytest

from ttxdsl.sharding.text import quoted, symbol


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", '"x"'),
        ("two words", '"two words"'),
        ("", '""'),
        ('a"b', r'"a\22b"'),
        ("a\\b", r'"a\\b"'),
        ("a\nb", r'"a\0Ab"'),
        ("ä", r'"\C3\A4"'),
    ],
)
def test_quoted(text: str, expected: str):
    assert quoted(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mesh", "@mesh"),
        ("_m.1$a", "@_m.1$a"),
        ("1st", '@"1st"'),
        ("a mesh", '@"a mesh"'),
        ("a-b", '@"a-b"'),
        ("", '@""'),
    ],
)
def test_symbol(name: str, expected: str):
    assert symbol(name) == expected
