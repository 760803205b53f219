"""Stored answers: what is asked again, and that a wrong pass is still seen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import hypothesis
import pytest

from tests.differential import stored
from tests.differential.equal_text import assert_equal_text
from tests.differential.oracle import Oracle, OracleRejected
from tests.differential.stored import Answers, ChangedAnswer
from ttxdsl.transforms.shardy.exporting.sdy_close_shardings import CloseShardingsPass

HERE = Path(__file__)


class Asked:
    """Somebody who answers, and counts."""

    def __init__(self, answer: object = "yes") -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> object:
        self.times += 1
        return self.answer


@contextmanager
def opened(folder: Path, *, anew: bool = False) -> Iterator[Answers]:
    """A run of the suite that keeps its answers in this folder."""
    answers = Answers()
    folder.mkdir(exist_ok=True)
    answers.open(folder)
    answers.anew = anew
    with closing(answers):
        yield answers


def times_asked(folder: Path, *, asker: Path = HERE, question: object = "q") -> int:
    """How often a run that asks this twice asks the other side."""
    asked = Asked({"a": [1, None]})
    with opened(folder) as answers:
        for _ in range(2):
            assert answers.of(asker, question, asked) == {"a": [1, None]}
    return asked.times


def test_another_run_does_not_ask_again(tmp_path: Path):
    assert times_asked(tmp_path) == 1
    assert times_asked(tmp_path) == 0
    assert times_asked(tmp_path, question=["q", 1]) == 1


@pytest.mark.parametrize("package", ["jax", "jaxlib"])
def test_another_version_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
):
    assert times_asked(tmp_path) == 1
    version = stored.version
    monkeypatch.setattr(
        stored, "version", lambda name: version(name) + "1" * (name == package)
    )
    assert times_asked(tmp_path) == 1
    monkeypatch.undo()
    assert times_asked(tmp_path) == 0


def test_who_asks_otherwise_asks_again(tmp_path: Path):
    asker, other = tmp_path / "asker.py", tmp_path / "other.py"
    asker.write_text("ask(1)")
    other.write_text("ask(2)")
    assert times_asked(tmp_path, asker=asker) == 1
    assert times_asked(tmp_path, asker=asker) == 0
    assert times_asked(tmp_path, asker=other) == 1


def test_asked_anew_the_answer_must_be_the_same(tmp_path: Path):
    assert times_asked(tmp_path) == 1
    same, other = Asked({"a": [1, None]}), Asked("no")
    with opened(tmp_path, anew=True) as answers:
        answers.of(HERE, "q", same)
        answers.of(HERE, "q", same)
    assert same.times == 1
    with (
        opened(tmp_path, anew=True) as answers,
        pytest.raises(ChangedAnswer, match="no"),
    ):
        answers.of(HERE, "q", other)


def test_numbers_asked_anew_may_be_those_of_another_processor(tmp_path: Path):
    question = ["program", stored.processor()]
    for number in (1.0, 1.5):
        with opened(tmp_path, anew=True) as answers:
            assert answers.of(HERE, question, Asked(number)) == number


def test_the_repository_has_what_the_last_run_asked(tmp_path: Path):
    file = tmp_path / "answers.json.xz"
    for number in range(2):
        with opened(tmp_path / "theirs", anew=True) as answers:
            answers.take(file)
            answers.of(HERE, [number], Asked([number]))
            answers.give(file)
    asked = Asked("another")
    with opened(tmp_path / "fresh") as answers:
        answers.take(file)
        assert answers.of(HERE, [1], asked) == [1]
        assert answers.of(HERE, [0], asked) == "another"
    with opened(tmp_path / "fresh", anew=True) as answers, pytest.raises(ChangedAnswer):
        answers.of(HERE, [1], asked)


def test_drawn_examples_are_asked_each_time(tmp_path: Path):
    asked = Asked()

    @hypothesis.given(hypothesis.strategies.just(0))
    def draw(_: int) -> None:
        with opened(tmp_path, anew=True) as answers:
            answers.of(HERE, "q", asked)

    draw()
    assert times_asked(tmp_path) == 1


def test_campaigns_keep_nothing(tmp_path: Path):
    asked = Asked()
    with opened(tmp_path) as answers:
        answers.keeping = False
        answers.of(HERE, "q", asked)
        answers.keeping = True
        answers.of(HERE, "q", asked)
    assert asked.times == 2


def test_a_file_that_has_grown_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert times_asked(tmp_path) == 1
    monkeypatch.setattr(stored, "LARGEST", 1)
    assert times_asked(tmp_path) == 1


# ---- the oracle with stored answers --------------------------------------------------

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})
    -> tensor<4xf32> {
  return %x : tensor<4xf32>
}"""
CLOSE = "sdy-close-shardings"


class NobodyThere(Exception):
    pass


def nobody() -> None:
    raise NobodyThere


def ask_all(oracle: Oracle) -> None:
    assert_equal_text(oracle, PROGRAM, CLOSE)
    with pytest.raises(OracleRejected, match="for custom op"):
        oracle.run("nothing.at.all")
    assert not oracle.accepts(PROGRAM.replace("> {\n", "", 1))


def test_a_wrong_pass_is_seen_with_stored_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with opened(tmp_path) as answers, closing(Oracle(answers)) as oracle:
        ask_all(oracle)

    with opened(tmp_path) as answers, closing(Oracle(answers)) as oracle:
        monkeypatch.setattr(oracle, "_start", nobody)
        ask_all(oracle)
        # the wrong text is a question that nobody has asked
        monkeypatch.setattr(CloseShardingsPass, "apply", lambda self, context, op: None)
        with pytest.raises(NobodyThere):
            ask_all(oracle)

    with (
        opened(tmp_path) as answers,
        closing(Oracle(answers)) as oracle,
        pytest.raises(AssertionError, match="sdy-close-shardings differs"),
    ):
        ask_all(oracle)
