"""The mends that make parsing fast change nothing that is parsed, nor what is refused."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.ir import Block
from xdsl.parser import Parser
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from tests.printing import printed
from tests.sampling import sampled
from ttxdsl.ir.compat.faults.locations import OpError, ParsedLoc
from ttxdsl.ir.compat.speed import lexing, lines, types
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
    places = [
        op.location.position if isinstance(op.location, ParsedLoc) else ""
        for op in module.walk()
    ]
    return f"{printed(module, debug=True)}\n{places}"


@pytest.fixture
def plainly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Context, str], str]:
    """The outcome without the mends of lines, types and tokens."""

    def nothing_known(
        parser: Parser, block: Block, templates: object, start: int
    ) -> int:
        return start

    def none(content: str, start: int) -> None:
        return None

    def answer(context: Context, text: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(lines, "_add_known_lines", nothing_known)
            patch.setattr(types, "_tensor", none)
            patch.setattr(types, "_encoded", none)
            patch.setattr(lexing, "_next_token", none)
            return outcome(context, text)

    return answer


# Lines


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


@pytest.mark.usefixtures("context")
def test_tokens_are_those_of_xdsl(monkeypatch: pytest.MonkeyPatch):
    def tokens(text: str) -> Iterator[object]:
        lexer = MLIRLexer(Input(text, "in.mlir"))
        kind = None
        while kind is not MLIRTokenKind.EOF:
            try:
                token = lexer.lex()
            except ParseError as error:
                yield str(error), lexer.pos
                return
            kind = token.kind
            yield kind, token.text, token.span.start, token.span.end, lexer.pos

    choose = random.Random(1)
    characters = '%#^!@"-{}#.0x1eE+_$\\\n/ \té²\xa0ab:'
    texts = ['#-} {-# #--> ... @"a" 0x1 0xg 1.e5 1e5']
    texts += ["".join(choose.choices(characters, k=8)) for _ in range(4000)]
    quick = [list(tokens(text)) for text in texts]
    monkeypatch.setattr(lexing, "_next_token", lambda *_: None)
    assert quick == [list(tokens(text)) for text in texts]


def test_an_open_string_is_refused_at_once(context: Context):
    text = f'"test.op"() {{s = "{"a b, " * 200}}} : () -> ()'
    with pytest.raises(ParseError, match="closing string literal"):
        Parser(context, text).parse_module()


# Scopes of names


def nested(depth: int) -> str:
    before = "".join(f'%a{i} = "test.op"() ({{\n' for i in range(depth))
    return before + '%x = "test.op"() : () -> i32\n' + "}) : () -> i32\n" * depth


# Types


def test_an_encoding_may_hold_any_bracket(
    context: Context, plainly: Callable[[Context, str], str]
):
    """Each type twice; a set's inequality and a map's arrow are no brackets."""
    for encoding in (
        '#ttcore.tensor_mesh<"a">',
        '#ttcore.tensor_mesh<">">',
        "affine_map<(d0) -> (d0)>",
        "affine_set<(d0) : (d0 >= 0)>",
        "#e",
        "#ttnn.x<<>>",
    ):
        op = f'"test.op"() : () -> tensor<2xf32, {encoding}> // >\n'
        for text in (op * 2, "#e = 1 : i32\n" + op * 2, "#e = unit\n" + op * 2):
            assert outcome(context, text) == plainly(context, text)
