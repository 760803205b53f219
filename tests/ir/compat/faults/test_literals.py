"""Numbers in text: jaxlib takes and refuses the same, and reads the same."""

from collections.abc import Iterator
from typing import Any

import pytest
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from tests.differential.oracle import Oracle
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import make_context, parse_program, program_text

FORMS = (
    "module attributes {{x.a = {0} : {1}}} {{}}",
    "module attributes {{x.a = dense<{0}> : tensor<2x{1}>}} {{}}",
    "module attributes {{x.a = dense<[{0}, {0}]> : tensor<2x{1}>}} {{}}",
    "module attributes {{x.a = dense<({0}, {0})> : tensor<complex<{1}>>}} {{}}",
)
ARRAY = "module attributes {{x.a = array<{1}: {0}>}} {{}}"


def integers(bits: int) -> Iterator[str]:
    """The borders of an integer type and what lies next to them, in any spelling."""
    yield from ("true", "false", "1.0", "-0", "-0x0", "00012", "0x" + 20 * "0" + "1")
    near = {0, 1, 2, 1 << bits}
    for border in (1 << (bits - 1), 1 << bits):
        near |= {border - 1, border, border + 1}
    for number in sorted(near):
        yield from (f"{number}", f"-{number}", f"0x{number:x}", f"-0x{number:X}")


FLOATS = (
    *("0x0", "0x1", "-0x1", "0xF", "0x10", "0x7C", "0x100", "0x7C00", "0xFC00", "0x10000"),
    *("0x7F800000", "0xFF800000", "0x1FFFFFFFF", "0x7FF0000000000000", "true", "1.5"),
    *("-1.5", "7.0", "500.0", "-500.0", "65519.9", "65520.0", "-70000.0", "3.4028235e38"),
    *("3.4028236e38", "-3.5e38", "1.0e400", "-1.0e400", "-0.0"),
)  # fmt: skip


def written(type: str) -> list[str]:
    if type.startswith("f") or type == "bf16":
        numbers = FLOATS
    else:
        bits = 64 if type == "index" else int(type.lstrip("sui"))
        numbers = tuple(integers(bits))
    if type not in ("i8", "i16", "i32", "i64"):
        return [form.format(n, type) for form in FORMS for n in numbers]
    return [form.format(n, type) for form in (*FORMS, ARRAY) for n in numbers]


def text_of(text: str) -> str | None:
    try:
        return program_text(parse_program(text, context=make_context()))
    except CompileError:
        return None


@pytest.mark.parametrize(
    "type",
    sampled(
        [
            *("i1", "i2", "i4", "i7", "i8", "i16", "i32", "i64", "index"),
            *("si2", "si4", "si8", "si16", "si32", "si64"),
            *("ui1", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64"),
            *("f8E5M2", "f16", "bf16", "f32", "f64"),
        ],
        12,
    ),
)
def test_numbers_are_read_and_refused_as_mlir_does(oracle: Oracle, type: str):
    texts = written(type)
    expected = oracle.run_all([(text, "") for text in texts])
    ours = [text_of(text) for text in texts]
    again = oracle.run_all([(text or "", "") for text in ours])
    wrong = [
        (text, mine, theirs)
        for text, mine, read, theirs in zip(texts, ours, again, expected, strict=True)
        if (mine is None) != (theirs is None) or (mine is not None and read != theirs)
    ]
    assert not wrong


def test_number_that_does_not_fit_is_told_with_its_place():
    text = "module {\n  %0 = stablehlo.constant dense<[[1], [32]]> : tensor<2x1xi4>\n}"
    with pytest.raises(CompileError) as raised:
        parse_program(text, "in.mlir")
    lines = str(raised.value).splitlines()
    assert lines[0] == (
        "in.mlir:2:40: error: a constant is out of range for its type 'i4'"
    )
    assert lines[2].strip() == "^^"


@pytest.mark.parametrize("form", ["{0}", "[{0}]"])
@pytest.mark.parametrize("literal", ["(1, 2)", "1.5", "true", "0x100"])
def test_value_of_another_kind_is_one_diagnostic(form: str, literal: str):
    constant = f"dense<{form.format(literal)}> : tensor<1xi8>"
    with pytest.raises(CompileError, match=r"^in.mlir:1:\d+: error: ") as raised:
        parse_program(f"module attributes {{x.a = {constant}}} {{}}", "in.mlir")
    assert literal in str(raised.value)


LONG = 400


@pytest.mark.parametrize("type", ["i64", "i32", "ui8", "i8", "i4", "index", "f32"])
@pytest.mark.parametrize("largest", [7, 127, 255, 1 << 40])
def test_a_long_list_is_read_as_its_parts_are(type: str, largest: int):
    """Several hundred numbers at once say what the same, a few at a time, do."""
    rows = [[n, largest] for n in (1, 2)] * LONG

    def read(rows: list[list[int]]) -> list[Any] | str:
        text = f"module attributes {{x.a = dense<{rows}> : tensor<{len(rows)}x2x{type}>}} {{}}"
        try:
            dense = parse_program(text).attributes["x.a"]
        except CompileError as error:
            return str(error).splitlines()[0].partition("error: ")[2]
        assert isinstance(dense, DenseIntOrFPElementsAttr)
        return list(dense.get_values())

    few, many = read(rows[:2]), read(rows)
    assert many == (few if isinstance(few, str) else few * LONG)


@pytest.mark.parametrize(
    "listed",
    [[[1, 2, 3]] * LONG, [[1, 2]] * (LONG + 1), [[1, 2]] * (LONG - 1) + [[1]], [1, 2] * LONG],
)  # fmt: skip
def test_a_long_list_of_another_shape(listed: list[object]):
    text = f"module attributes {{x.a = dense<{listed}> : tensor<{LONG}x2xi64>}} {{}}"
    with pytest.raises(CompileError):
        parse_program(text)
