"""The mends that make parsing fast change nothing that is parsed, nor what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from tests.sampling import sampled
from ttxdsl.ir.compat.faults.locations import OpError, ParsedLoc
from ttxdsl.ir.compat.speed import lines, types
from ttxdsl.loading.program import make_context

ROOT = Path(__file__).parents[3]
TEXTS = sorted((ROOT / "tests/filecheck/dialects").rglob("*.mlir"))
EXAMPLES = sorted((ROOT / "examples").glob("*.mlir"))


@pytest.fixture(scope="module")
def context() -> Context:
    return make_context()


def outcome(context: Context, text: str) -> str:
    """A module with all its names and locations, or the error and its place."""
    try:
        module = Parser(context, text, "in.mlir").parse_module()
    except (ParseError, MultipleSpansParseError, OpError) as error:
        return str(error)
    stream = StringIO()
    Printer(stream=stream, print_debuginfo=True).print_op(module)
    places = [
        op.location.position if isinstance(op.location, ParsedLoc) else ""
        for op in module.walk()
    ]
    return f"{stream.getvalue()}\n{places}"


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Context, str], str]:
    """The outcome without the mends of lines and of types."""

    def nothing_known(
        parser: Parser, block: Block, templates: object, start: int
    ) -> int:
        return start

    def no_type(content: str, start: int) -> None:
        return None

    def answer(context: Context, text: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(lines, "_add_known_lines", nothing_known)
            patch.setattr(types, "_tensor", no_type)
            return outcome(context, text)

    return answer


@pytest.fixture
def count_lines(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many ops the templates have made, in its one entry."""
    made = [0]
    make = lines._make  # pyright: ignore[reportPrivateUsage]

    def counting(*arguments: object) -> object:
        op = make(*arguments)  # pyright: ignore[reportArgumentType]
        made[0] += op is not None
        return op

    monkeypatch.setattr(lines, "_make", counting)
    return made


# Lines

TWICE = {
    "names": """
      %a = "test.op"() : () -> i32
      %b = "test.op"() : () -> i32
      %0 = "test.op"() : () -> i32
      %c_1 = "test.op"() : () -> i32""",
    "order of operands": """
      %a, %b = "test.op"() : () -> (i32, i64)
      %c = "test.op"(%a, %b) : (i32, i64) -> i32
      %d = "test.op"(%c, %b) : (i32, i64) -> i32
      "test.op"(%a, %a) : (i32, i32) -> ()
      "test.op"(%d, %c) : (i32, i32) -> ()
      "test.op"(%d, %d) : (i32, i32) -> ()""",
    "several results": """
      %a:2 = "test.op"() : () -> (i32, i64)
      %b:2 = "test.op"() : () -> (i32, i64)
      "test.op"(%a#1, %a#0) : (i64, i32) -> ()
      "test.op"(%b#1, %b#0) : (i64, i32) -> ()
      "test.op"(%b#1, %b) : (i64, i32) -> ()""",
    "index out of range": """
      %a:2 = "test.op"() : () -> (i32, i32)
      "test.op"(%a#1) : (i32) -> ()
      "test.op"(%a#2) : (i32) -> ()""",
    "wrong type": """
      %a:2 = "test.op"() : () -> (i32, i64)
      "test.op"(%a#0) : (i32) -> ()
      "test.op"(%a#1) : (i32) -> ()""",
    "defined twice": """
      %a = "test.op"() : () -> i32
      %b = "test.op"() : () -> i32
      %a = "test.op"() : () -> i32""",
    "not defined": """
      %a = "test.op"() : () -> i32
      "test.op"(%a) : (i32) -> ()
      "test.op"(%b) : (i32) -> ()""",
    "defined later": """
      %a = "test.op"() : () -> i32
      "test.op"(%a) : (i32) -> ()
      "test.op"(%b) : (i32) -> ()
      "test.op"(%b) : (i32) -> ()
      %b = "test.op"() : () -> i32
      "test.op"(%b) : (i32) -> ()""",
    "used before with another type": """
      %a = "test.op"() : () -> i32
      "test.op"(%b) : (i64) -> ()
      %b = "test.op"() : () -> i32""",
    "itself": """
      %a = "test.op"(%a) : (i32) -> i32
      %b = "test.op"(%b) : (i32) -> i32
      %c = "test.op"(%b) : (i32) -> i32""",
    "too few names": """
      %a:2 = "test.op"() : () -> (i32, i32)
      %b:1 = "test.op"() : () -> (i32, i32)
      %c:2 = "test.op"() : () -> (i32, i32)
      %d = "test.op"() : () -> (i32, i32)""",
    "names in strings": """
      %a = "test.op"() {s = "%a, %b"} : () -> i32
      %b = "test.op"() {s = "%c, %d"} : () -> i32
      %c = "test.op"() {s = "% 1"} : () -> i32
      %d = "test.op"() {s = "% 1"} : () -> i32""",
    "comments": """
      %a = "test.op"() : () -> i32 // %b
      %b = "test.op"() : () -> i32 // %c
      %d = "test.op"() : () -> i32
      // %e = "test.op"() : () -> i32
      %f = "test.op"() : () -> i32""",
    "two on a line": """
      %a = "test.op"() : () -> i32 %b = "test.op"() : () -> i32
      %c = "test.op"() : () -> i32 %d = "test.op"() : () -> i32""",
    "over several lines": """
      %a = "test.op"() : ()
        -> i32
      %b = "test.op"() : ()
        -> i64
      %c = "test.op"() : () -> i32
      %d = "test.op"() : () -> i32
        loc("x")
      %e = "test.op"() : () -> i32
      %f = "test.op"() : () -> i32
        loc("y")""",
    "regions on a line": """
      %a = "test.op"() : () -> i32
      "test.op"(%a) ({ "test.op"(%a) : (i32) -> () }) : (i32) -> ()
      "test.op"(%a) ({ "test.op"(%a) : (i32) -> () }) : (i32) -> ()
      "test.op"() ({ %b = "test.op"() : () -> i32 }) : () -> ()
      "test.op"() ({ %c = "test.op"() : () -> i32 }) : () -> ()""",
    "successors": """
      "test.op"() ({
      ^one:
        "test.op"() [^two] : () -> ()
      ^two:
        "test.op"() [^two] : () -> ()
      ^three:
        "test.op"() [^two] : () -> ()
      }) : () -> ()""",
    "locations": """
      %a = "test.op"() : () -> i32 loc(#loc1)
      %b = "test.op"() : () -> i32 loc(#loc2)
      %c = "test.op"() : () -> i32 loc(#loc1)
      %d = "test.op"() : () -> i32 loc("y":3:4)
      %e = "test.op"() : () -> i32 loc("y":3:4)
      %f = "test.op"() : () -> i32
      %g = "test.op"() : () -> i32 loc(unknown)
      %h = "test.op"() : () -> i32 loc(unknown)
      %i = "test.op"() : () -> i32
      %j = "test.op"() : () -> i32 loc(#loc9)
      #loc1 = loc("x")
      #loc2 = loc("x"(#loc1))""",
    "aliases": """
      #one = 1 : i32
      !t = i32
      %a = "test.op"() {v = #one} : () -> !t
      %b = "test.op"() {v = #one} : () -> !t
      "test.op"(%b) {v = #two} : (i32) -> ()
      "test.op"(%a) {v = #two} : (i32) -> ()""",
    "scopes": """
      "test.op"() ({
        %a = "test.op"() : () -> i32
        "test.op"(%a) : (i32) -> ()
      }) : () -> ()
      "test.op"() ({
        %a = "test.op"() : () -> i32
        "test.op"(%a) : (i32) -> ()
      }) : () -> ()
      "test.op"(%a) : (i32) -> ()""",
    "a reducer on the next line": """
      func.func @f(%x: tensor<4xf32>, %y: tensor<f32>) {
        %0 = stablehlo.reduce(%x init: %y) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
         reducer(%a: tensor<f32>, %b: tensor<f32>)  {
          %2 = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %2 : tensor<f32>
        }
        %1 = stablehlo.reduce(%x init: %y) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
         reducer(%a: tensor<f32>, %b: tensor<f32>)  {
          %2 = stablehlo.multiply %a, %b : tensor<f32>
          stablehlo.return %2 : tensor<f32>
        }
        %3 = stablehlo.reduce(%x init: %y) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        return
      }""",
    "a body that is written short": """
      func.func @f(%x: tensor<4xf32>, %y: tensor<f32>) {
        %0 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        %2 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("here")
        return
      }""",
    "a name that means another op elsewhere": """
      func.func @f() {
        return
      }
      func.func @g() {
        return
      }""",
    "the same type, written in two ways": """
      !t = tensor<4xf32>
      %a = "test.op"() : () -> tensor<4xf32>
      %b = "test.op"() : () -> !t
      %c = "test.op"() : () -> tensor<4 x f32>
      %d = "test.op"() : () -> tensor<4x x f32>""",
}


@pytest.mark.parametrize("text", TWICE.values(), ids=TWICE.keys())
def test_lines_that_look_alike(
    context: Context, plainly: Callable[[Context, str], str], text: str
):
    assert outcome(context, text) == plainly(context, text)


def test_most_lines_of_a_model_are_looked_up(context: Context, count_lines: list[int]):
    text = (ROOT / "examples/transformer_block.mlir").read_text()
    module = Parser(context, text + text.replace("@", "@again_")).parse_module()
    ops = sum(1 for _ in module.walk())
    assert count_lines[0] > 0.5 * ops


def test_ops_of_one_template_share_nothing_that_changes(context: Context):
    text = TWICE["a body that is written short"]
    module = Parser(context, text).parse_module()
    first, second, _ = (op for op in module.walk() if op.name == "stablehlo.reduce")
    assert first.properties == second.properties
    assert first.properties is not second.properties
    assert first.attributes is not second.attributes
    assert first.regions[0] is not second.regions[0]
    first.attributes["mark"] = first.properties["dimensions"]
    again = Parser(context, text).parse_module()
    assert not any("mark" in op.attributes for op in again.walk())


def mutations(text: str, count: int) -> Iterator[str]:
    """The text with a few characters or lines exchanged, doubled or left out."""
    choose = random.Random(len(text))
    rows = text.split("\n")
    for _ in range(count):
        changed = list(rows)
        for _ in range(choose.randint(1, 3)):
            place = choose.randrange(len(changed))
            row = changed[place]
            match choose.randrange(5):
                case 0:
                    changed[place] = changed[choose.randrange(len(changed))]
                case 1:
                    changed.insert(place, changed[choose.randrange(len(changed))])
                case 2 if row:
                    at = choose.randrange(len(row))
                    changed[place] = row[:at] + row[at + 1 :]
                case 3 if row:
                    at = choose.randrange(len(row))
                    changed[place] = row[:at] + choose.choice('%#,:0a") \n') + row[at:]
                case _:
                    changed[place] = row.replace("32", "64", 1)
        yield "\n".join(changed)


@pytest.mark.parametrize("path", sampled(EXAMPLES, 2), ids=lambda path: path.stem)
def test_programs_with_random_changes(
    context: Context, plainly: Callable[[Context, str], str], path: Path
):
    text = path.read_text()
    half = text.split("\n")
    texts = [text, *mutations("\n".join(half[: len(half) // 2]), 10)]
    texts += mutations(text, 15)
    for one in texts:
        assert outcome(context, one) == plainly(context, one)


def test_files_of_all_dialects(
    context: Context, plainly: Callable[[Context, str], str]
):
    for path in TEXTS:
        for part in path.read_text().split("// -----"):
            assert outcome(context, part) == plainly(context, part), path


# Tokens


class PlainLexer(MLIRLexer):
    """A class of its own, which the mend leaves alone."""


def tokens(lexer: MLIRLexer) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    while not found or found[-1][0] != MLIRTokenKind.EOF:
        try:
            token = lexer.lex()
        except ParseError as error:
            return [*found, (str(error), lexer.pos)]
        found.append((token.kind, token.span.start, token.span.end, type(token.span)))
    return found


def test_tokens_are_the_same():
    choose = random.Random(1)
    alphabet = list('%#!^@->{}#-()[]<>=:,+*?/|."\\01x9aZ_$ \n\t//é²٣.eE')
    texts = [path.read_text() for path in (*TEXTS, *EXAMPLES)]
    texts += ["".join(choose.choices(alphabet, k=8)) for _ in range(5000)]
    texts += ["// 1", "1 // 2", "-> - >", "{-# #-}", "0x1F 0xi32 1.5e-3 1.e 7.", "@a.b"]
    for text in texts:
        source = Input(text, "in.mlir")
        assert tokens(MLIRLexer(source)) == tokens(PlainLexer(source)), text


def test_an_open_string_is_refused_at_once(context: Context):
    text = f'"test.op"() {{s = "{"a b, " * 200}}} : () -> ()'
    with pytest.raises(ParseError, match="closing string literal"):
        Parser(context, text).parse_module()


# Scopes of names


def nested(depth: int) -> str:
    before = "".join(f'%a{i} = "test.op"() ({{\n' for i in range(depth))
    return before + '%x = "test.op"() : () -> i32\n' + "}) : () -> i32\n" * depth


def test_a_region_forgets_its_own_names_only(context: Context):
    parser = Parser(context, TWICE["scopes"].rpartition("\n")[0])
    parser.parse_module()
    assert not parser.ssa_values
    parser = Parser(context, nested(20))
    parser.parse_module()
    assert list(parser.ssa_values) == ["a0"]


def test_names_are_not_copied_for_a_region(context: Context):
    count = 300
    text = "".join(f'%v{i} = "test.op"() : () -> i32\n' for i in range(count))
    text += '"test.op"() ({\n}) : () -> ()\n' * count
    parser = Parser(context, text)
    before = parser.ssa_values
    parser.parse_module()
    assert parser.ssa_values is before


# Types


def test_equal_types_are_one_object(context: Context):
    def first_type(text: str) -> object:
        module: ModuleOp = Parser(context, text).parse_module()
        (op,) = module.ops
        return op.results[0].type

    text = '%0 = "test.op"() : () -> tensor<2x?x7xbf16>'
    assert first_type(text) is first_type(text)
    assert first_type(text) != first_type(text.replace("7", "9"))
    encoded = '%0 = "test.op"() : () -> tensor<2xf32, "a">'
    assert first_type(encoded) != first_type(encoded.replace('"a"', '"b"'))
