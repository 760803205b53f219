"""Characters that a terminal obeys, or that nobody sees, are shown."""

from io import StringIO

import pytest
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.diagnostics.sanitize import visible, visible_lines
from ttxdsl.diagnostics.terminal import Terminal, heading, styled

HOSTILE = {
    "escape": ("\x1b[31m", "\\x1b[31m"),
    "bell": ("\a", "\\x07"),
    "carriage return": ("\r", "\\r"),
    "delete": ("\x7f", "\\x7f"),
    "C1": ("\x9b31m", "\\x9b31m"),
    "bidirectional": ("\u202e", "\\u202e"),
    "isolate": ("\u2066", "\\u2066"),
    "zero width": ("\u200b", "\\u200b"),
    "line separator": ("\u2028", "\\u2028"),
    "undecodable": ("\udcff", "\\udcff"),
    "tag": ("\U000e0041", "\\U000e0041"),
    "markup": ("[/]", "[/]"),
    "style": ("[red]", "[red]"),
    "emoji": (":smile:", ":smile:"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_everywhere(name: str):
    text, shown = HOSTILE[name]
    assert visible(text) == visible_lines(text) == shown
    stream = StringIO()
    terminal = Terminal(file=stream, width=80, plain=True)
    table = Table(text, title=text)
    table.add_row(styled(text))
    tree = Tree(text)
    tree.add(Text(f"({text})"))
    for one in (text, styled(text, "red"), heading(text, text), table, tree):
        terminal.print(one)
    out = stream.getvalue()
    assert all(character.isprintable() or character == "\n" for character in out)
    # `rich` drops some characters of its own texts, which are no risk either
    assert out.count(shown) >= 7


def test_words_of_any_language_stay():
    text = "größe 量 שלום 🙂 \\ ' \""
    assert visible(text) == visible_lines(text) == text


def test_lines_stay_where_they_are_meant():
    assert visible("a\nb\t") == "a\\nb\\t"
    assert visible_lines("a\nb\t") == "a\nb\t"


def test_our_own_styles_are_colours_on_terminals():
    stream = StringIO()
    forced = Terminal(file=stream, width=80)
    forced._force_terminal = True
    forced.print(styled("\x1b[31mx", "bold"))
    assert "\x1b[31m" not in stream.getvalue()


def test_a_name_begins_no_new_diagnostic():
    error = CompileError(
        "no axis 'a\nother.mlir:1:1: error: forged'", position="a\nb.mlir:1:1"
    )
    first, second = str(error).split("\n")
    assert first == "a\\nb.mlir:1:1: error: no axis 'a"
    assert second.startswith("  other")
    remark = Remark("warning", "\x1b[2J", "a\nb:1:1")
    assert str(remark) == "a\\nb:1:1: warning: \\x1b[2J"
