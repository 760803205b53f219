"""Tables on narrow terminals: whole figures, words without their middle."""

from io import StringIO

from rich.table import Table

from ttxdsl.diagnostics.terminal import Terminal


def printed(table: Table, width: int, drop: list[str], lines: int | None = None) -> str:
    stream = StringIO()
    Terminal(file=stream, width=width, plain=True).print_table(table, drop, lines)
    return stream.getvalue()


def table_of(*rows: tuple[str, str, str]) -> Table:
    table = Table("name", "where")
    table.add_column("bytes", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def test_columns_go_before_figures_are_cut():
    row = ("layers_0.attention.query.kernel", "models/block.py:3", "1,234.5 KiB")
    wide = printed(table_of(row), 80, ["where"])
    assert "models/block.py:3" in wide
    narrow = printed(table_of(row), 40, ["where"])
    assert "where" not in narrow
    assert "1,234.5 KiB" in narrow


def test_a_long_word_loses_its_middle_and_a_path_its_folders():
    row = ("layers_0.attention.query.kernel", "models/transformer/block.py:33", "1 B")
    out = printed(table_of(row), 50, [])
    (name, place) = out.split("│")[1:3]
    assert name.strip() == "layers_0…ry.kernel"
    assert place.strip() == "…/block.py:33"


def test_a_path_in_brackets_keeps_the_bracket():
    row = ("dot", "add (models/transformer/layers/block.py:33 in f)", "1 B")
    out = printed(table_of(row), 44, [])
    assert "(…/" in out and "block.py:33" in out
    assert out.count("(") == out.count(")") == 1


def test_columns_go_before_a_table_gets_too_high():
    rows = [("one two three four five six", "some place", "1 B")] * 4
    high = printed(table_of(*rows), 42, ["where"])
    low = printed(table_of(*rows), 42, ["where"], lines=9)
    assert "where" in high and "where" not in low
    assert len(low.splitlines()) < len(high.splitlines())


def test_text_is_wrapped_between_words():
    stream = StringIO()
    terminal = Terminal(file=stream, width=24)
    terminal.print_wrapped("  5%  line 3 of layers[0-3].up_projection", indent=6)
    assert stream.getvalue().splitlines() == [
        "  5%  line 3 of",
        "      layers[0-3].up_projection",
    ]
