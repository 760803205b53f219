"""Reading programs: whatever is wrong with the text, one diagnostic says where."""

from pathlib import Path

import pytest
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.parser.attribute_parser import AttrParser

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.budget.directives import parse_budget
from ttxdsl.ir.compat.faults import locations
from ttxdsl.ir.compat.faults.locations import source_frames
from ttxdsl.loading.program import make_context, parse_program, read_program, read_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {", ""),
        ("func.func @f() { return", ""),
        ('"test.op"() : () -> (tensor<2xf32', ""),
        ('"func.func"() ({}) : () -> ()', ""),
        ("%0 = stablehlo.constant dense<300> : tensor<i8>", "out of range"),
        ("%0 = stablehlo.constant dense<[1, 300]> : tensor<2xi8>", "out of range"),
        ("%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi8>", "Shape mismatch"),
        ('%0 = stablehlo.constant dense<"0x1"> : tensor<i8>', "Hex string"),
        ("%0 = stablehlo.nonsense : i32", "stablehlo.nonsense is not registered"),
        ('sdy.mesh @m = <["x"=0]>', ""),
        ("", "the text is empty"),
        (
            "HloModule jit_f, is_scheduled=true\n\nENTRY %main () -> f32[] {",
            "XLA's HLO",
        ),
        ("{ lambda ; a:f32[3]. let b:f32[3] = neg a in (b,) }", "that is a jaxpr"),
        ("\x00", ""),
        (
            "func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> { return %a : tensor<2xf32> }",
            "",
        ),
    ],
)
def test_malformed_text_is_one_diagnostic(text: str, message: str):
    with pytest.raises(CompileError) as raised:
        parse_program(text, "in.mlir")
    assert message in str(raised.value)
    assert str(raised.value).startswith("in.mlir")
    assert str(raised.value).count("error:") == 1


def test_excerpt_points_at_the_place():
    with pytest.raises(CompileError) as raised:
        parse_program("module {\n  func.func @f() -> i32 $ {\n  }\n}", "in.mlir")
    lines = str(raised.value).splitlines()
    assert lines[0].startswith("in.mlir:2:25: error:")
    assert lines[1] == "    func.func @f() -> i32 $ {"
    assert lines[2].index("^") == lines[1].index("$")


def test_a_wrong_attribute_is_told_at_its_own_line():
    with pytest.raises(CompileError) as raised:
        parse_program('sdy.mesh @m = <["x"=0]>\n\nfunc.func @f() {', "in.mlir")
    assert str(raised.value).startswith("in.mlir:1:23: error: axis size")


def test_excerpt_of_a_long_line_is_cut():
    text = "module { " + "func.func private @f() " * 1000 + "$ }"
    with pytest.raises(CompileError) as raised:
        parse_program(text)
    assert max(len(line) for line in str(raised.value).splitlines()) < 200


def test_file_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(CompileError, match="Is a directory"):
        read_program(tmp_path)


MARKED = "// COMM: all_reduce<=1\nfunc.func @f() {\n  %0 = stablehlo.bogus\n}\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_byte_order_mark_and_line_ends_are_not_part_of_the_text(
    tmp_path: Path, mark: str, newline: str
):
    path = tmp_path / "in.mlir"
    path.write_text(mark + MARKED, encoding="utf-8", newline=newline)
    assert parse_budget(read_text(path), "in.mlir").limits
    for read in (
        lambda: read_program(path),
        lambda: parse_program(mark + MARKED.replace("\n", newline), str(path)),
    ):
        with pytest.raises(CompileError) as raised:
            read()
        assert str(raised.value).splitlines() == [
            f"{path}:3:8: error: Operation stablehlo.bogus is not registered",
            "    %0 = stablehlo.bogus",
            "         ^^^^^^^^^^^^^^^",
            "  hint: it may be of a newer version of its dialect than ttxdsl knows",
        ]


@pytest.mark.parametrize(
    ("op", "hint"), [("mhlo.abs", "not mhlo"), ("torch.abs", "has no dialect torch")]
)
def test_ops_of_other_dialects_are_not_called_new(op: str, hint: str):
    with pytest.raises(CompileError) as raised:
        parse_program(MARKED.replace("stablehlo.bogus", op), "in.mlir")
    assert hint in str(raised.value).splitlines()[-1]


def test_byte_order_mark_before_the_first_line(tmp_path: Path):
    with pytest.raises(CompileError, match=r"^in\.mlir:1:3: error"):
        parse_program("\ufeff  $", "in.mlir")
    # where the parser is another tool's, as in xdsl-opt
    assert Parser(make_context(), "\ufeffmodule {}").parse_module().ops.first is None


def test_op_that_breaks_a_rule_is_named_with_its_place():
    text = (
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %0 = stablehlo.abs %a : tensor<2xf32>\n"
        "  %1 = stablehlo.abs %0 : (tensor<2xf32>) -> tensor<3xf32>\n"
        "  return %0 : tensor<2xf32>\n}"
    )
    with pytest.raises(CompileError) as raised:
        parse_program(text, "in.mlir")
    place = "in.mlir:3:3: error: 'stablehlo.abs' op: "
    assert str(raised.value).startswith(place)


STEP = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize(
    "symbol",
    ['sdy.mesh @m = <["x"=2]>', "func.func private @m(tensor<f32>) -> tensor<f32>"],
)
def test_a_symbol_that_is_defined_again_is_told_with_its_line(symbol: str):
    text = f"{symbol}\nfunc.func @main() {{\n  return\n}}\n{symbol}\n"
    with pytest.raises(CompileError, match='Redefinition of symbol "m"') as refused:
        parse_program(text, "twice.mlir")
    assert refused.value.position is not None
    assert refused.value.position.startswith("twice.mlir:5:")


@pytest.mark.parametrize(
    "length", [*range(len(STEP) // 2, len(STEP) - 3, 7), len(STEP) - 2]
)
def test_an_export_that_is_cut_off_says_so(length: int):
    with pytest.raises(CompileError) as caught:
        parse_program(STEP[:length])
    assert caught.value.hint == "the text ends on that line: it may be cut off"
    assert "  " not in str(caught.value).partition("\n")[0]


def test_an_export_that_is_cut_off_ahead_of_its_locations_says_so():
    with pytest.raises(CompileError) as caught:
        parse_program(
            STEP.replace(
                "negate %a : tensor<8xf32>", "negate %a : tensor<8xf32> loc(#loc7)"
            )[:-2]
        )
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("at the end of the text: it may be cut off")


@pytest.mark.parametrize(
    "text", ["hello", "import jax\njax.jit(f)", "<html>", '{"a": 1}']
)
def test_a_text_of_another_kind_is_told_how_programs_begin(text: str):
    with pytest.raises(CompileError) as caught:
        parse_program(text)
    hint = caught.value.hint or ""
    assert hint.startswith("a program begins with module or func.func")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("stablehlo.negate", "stablehlo.newer", "stablehlo.newer is not registered"),
        ("0 : i32", "#stablehlo.newer<1>", "'stablehlo.newer' is not registered"),
    ],
)
def test_what_a_newer_exporter_writes_is_named(old: str, new: str, message: str):
    with pytest.raises(CompileError, match=message) as caught:
        parse_program(STEP.replace(old, new))
    assert caught.value.hint is not None
    assert "newer version" in caught.value.hint


def test_a_wrong_sharding_is_told_with_one_position() -> None:
    argument = '%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}'
    text = f"func.func @main({argument}) -> tensor<8xf32> {{\n"
    with pytest.raises(CompileError) as raised:
        parse_program(f"{text}  return %a : tensor<8xf32>\n}}", "f.mlir")
    assert str(raised.value) == (
        "f.mlir:1:1: error: 'func.func' op: arg 0: unknown mesh: @other"
    )


def test_each_alias_of_a_location_is_parsed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []
    parse = locations._parse_file_position  # pyright: ignore[reportPrivateUsage]

    def counted(parser: AttrParser, filename: str) -> Attribute:
        parsed.append(filename)
        return parse(parser, filename)

    monkeypatch.setattr(locations, "_parse_file_position", counted)
    before = "\n".join(f'#a{n} = loc("f{n}":{n}:1)' for n in range(20))
    behind = "\n".join(f'#b{n} = loc("g{n}":{n}:1)' for n in range(20))
    parts = ", ".join(f"#a{n}, #b{n}" for n in range(20))
    module = parse_program(
        f"{before}\nfunc.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{\n"
        f"  %b = stablehlo.tanh %a : tensor<8xf32> loc(fused[{parts}])\n"
        f"  return %b : tensor<8xf32> loc(#a3)\n}}\n{behind} // the last\n#c = loc(#b1)"
    )
    assert sorted(parsed) == sorted(f"{file}{n}" for file in "fg" for n in range(20))
    (tanh,) = (op for op in module.walk() if op.name == "stablehlo.tanh")
    assert [frame.position for frame in source_frames(tanh.location)][:2] == [
        "f0:0:1",
        "g0:0:1",
    ]
