"""Counterfactuals: their figures are those of the program that a user would write."""

import re
from collections import Counter
from pathlib import Path

import pytest

import ttxdsl
from tests.insight.why import programs
from tests.sampling import sampled
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.collectives import device_runs
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.analysis.usage.timeline import timeline
from ttxdsl.analysis.usage.work import operations_of
from ttxdsl.costs.machines import Machine
from ttxdsl.costs.ring import Ring
from ttxdsl.insight.why.answers import Change, Figures
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

EXAMPLES = Path(__file__).parents[4] / "examples"


def edited(text: str, change: Change) -> str:
    """The text with a change, made by hand: no code of the package has a part in it."""
    name = re.escape(change.value)
    attribute = f"{{sdy.sharding = #sdy.sharding<@mesh, {change.sharding}>}}"
    match change.kind:
        case "annotate argument":
            old = rf"({name}: tensor<[^>]*>)(?: \{{sdy\.sharding = [^>]*>\}})?"
            new, count = re.subn(old, lambda m: f"{m[1]} {attribute}", text, count=1)
        case "annotate result":
            old = r"(-> \(tensor<[^>]*>)(?: \{sdy\.sharding = [^>]*>\})?"
            given = "" if change.sharding is None else f" {attribute}"
            new, count = re.subn(old, lambda m: m[1] + given, text, count=1)
        case "constrain":
            new, count = constrained(text, change)
        case "remove constraint":
            old = rf"\n *{name} = sdy\.sharding_constraint (%\w+) [^\n]*"
            found = re.search(old, text)
            assert found is not None
            new, count = re.subn(old, "", text)
            new = re.sub(rf"{name}\b", found[1], new)
        case "copy constant":
            line = re.search(rf"\n *{name} = ([^\n]*)", text)
            assert line is not None and change.user is not None
            user = re.escape(change.user)
            old = rf"(\n *{user} = [^\n]*?){name}\b"
            new, count = re.subn(old, rf"\n %copy = {line[1]}\1%copy", text)
    assert count == 1
    return new


def constrained(text: str, change: Change) -> tuple[str, int]:
    """A constraint behind the line of a value, or at the start for an argument."""
    name = re.escape(change.value)
    made = re.search(rf"\n *{name} = [^\n]*(tensor<[^>]*>)(?=\n)", text)
    argument = re.search(rf"{name}: (tensor<[^>]*>)[^\n]*\n", text)
    found = made or argument
    assert found is not None
    head, tail = text[: found.end()], text[found.end() :]
    tail = re.sub(rf"{name}\b", "%constrained", tail)
    line = (
        f"\n  %constrained = sdy.sharding_constraint {change.value}"
        f" <@mesh, {change.sharding}> : {found[1]}\n"
    )
    return head + line + tail, 1


ALONE = Machine(combine_bytes=0)
"""No collectives are joined, so that their times are those of each."""


def figures(text: str) -> Figures:
    """What the program costs, through the public interface only."""
    program = ttxdsl.load(text).partition()
    given, device = parse_program(text), program.module
    collectives = program.collectives()
    operations = operations_of(device, device_runs(device))
    whole = operations_of(given, Runs(given))
    counts = Counter(one.kind for one in collectives)
    return Figures(
        collectives=tuple(sorted(counts.items())),
        bytes=sum(one.bytes_per_device for one in collectives),
        seconds=sum(
            ALONE.link.seconds_of_bytes(
                Ring(one.kind), one.bytes_per_device, one.group_size
            )
            for one in collectives
        ),
        program_seconds=timeline(device, ALONE).seconds,
        peak_bytes=memory_profile(device).peak_bytes,
        operations=operations,
        repeated=operations - whole // 8,
        summed_bytes=sum(
            one.bytes_per_device * (1 + (one.kind == "reduce_scatter"))
            for one in collectives
        ),
    )


def explainer(
    text: str, propagation: str | None = None, *, tries: int = 16
) -> Explainer:
    module = parse_program(text, "p.mlir")
    return Explainer(
        module,
        text,
        pipeline=TTStableHLOPipelinePass(propagation=propagation),
        machine=ALONE,
        keep=1000,
        tries=tries,
    )


@pytest.mark.parametrize("name", sampled(programs.ALL, 10))
def test_figures_are_those_of_the_recompiled_program(name: str):
    text = programs.ALL[name]
    ask = explainer(text, tries=1000)
    base = figures(text)
    assert ask.program().figures == base
    known: dict[str, Figures] = {}
    for number in range(len(ask.program().collectives)):
        answer = ask.collective(number)
        for one in answer.counterfactuals:
            assert one.base == base
            new = text
            for change in one.changes:
                new = edited(new, change)
            assert new != text
            if new not in known:
                known[new] = figures(new)
            assert one.figures == known[new], one.text
            assert one.figures.seconds < base.seconds


def test_each_kind_of_change_is_found():
    kinds: set[str] = set()
    for text in programs.ALL.values():
        ask = explainer(text)
        for number in range(len(ask.program().collectives)):
            changes = ask.collective(number).counterfactuals
            kinds.update(change.kind for one in changes for change in one.changes)
    assert kinds == {
        "constrain",
        "annotate argument",
        "annotate result",
        "remove constraint",
        "copy constant",
    }


def test_best_first():
    changes = explainer(programs.TABLE).collective(0).counterfactuals
    assert changes[0].text == '%table annotated [{}, {"b"}]'
    assert changes[0].figures.launches == 0
    assert [c.figures.seconds for c in changes] == sorted(
        c.figures.seconds for c in changes
    )


def test_a_copied_constant():
    first = explainer(programs.SHARED_CONSTANT).collective(0).counterfactuals[0]
    assert first.text == "a copy of %c for %second"
    assert first.figures.difference(first.base) == (("all_gather", -1),)


def test_nothing_helps():
    answer = explainer(programs.WIDE_LAYERS, tries=4).collective(0)
    assert answer.counterfactuals == ()
    assert answer.tried == 4 + 4  # as many pairs


def test_tries_are_bounded_and_may_be_none():
    answer = explainer(programs.TRANSPOSED, tries=2).collective(0)
    assert answer.tried == 2
    assert explainer(programs.TRANSPOSED, tries=0).collective(0).tried is None


def test_user_priorities_are_compiled_as_such():
    answer = explainer(programs.PRIORITY, "sdy-user-priority-propagate").collective(0)
    assert answer.failed == 0
    assert answer.counterfactuals


def test_two_changes_where_one_alone_does_nothing():
    answer = explainer(programs.BOTH_SPLIT).collective(0)
    first = answer.counterfactuals[0]
    assert first.text == '%x annotated [{}, {}] and %w annotated [{}, {"b"}]'
    # three quarters of 512 bytes are gathered, not twice as many summed
    assert (first.base.bytes, first.figures.bytes) == (768, 384)
    assert all(len(one.changes) == 2 for one in answer.counterfactuals)


# --- what a collective hangs on ----------------------------------------------------

NEEDS = {
    "transposed": [("a", ("%x",)), ("b", ("%y",))],  # both, or there is no clash
    "larger": [("a", ("%x",)), ("a", ("%w",))],
    "contracted": [("b", ("%x", "%w"))],  # either splits the sum
    "three": [("a", ("%p", "%q", "%x"))],  # the chain leads to %p only
    "table": [("b", ("%table",))],
    "constraint": [("a", ("%x",)), ("a", ("constraint %moved",))],
}


@pytest.mark.parametrize("name", NEEDS)
def test_what_it_hangs_on(name: str):
    text = programs.ALL[name]
    ask = explainer(text)
    number = len(ask.program().collectives) - 1
    answer = ask.collective(number)
    assert answer.necessary is not None
    found = [(one.axis, one.annotations) for one in answer.necessary]
    assert found == NEEDS[name]
    # and without it, it is gone, also in the program that is edited by hand
    for one in answer.necessary:
        new = text
        for change in one.changes:
            new = edited(new, change)
        left = ttxdsl.load(new).partition().collectives()
        assert (answer.kind, answer.axes) not in [(c.kind, c.axes_text) for c in left]
        # but not if one of several stays
        if len(one.changes) > 1:
            fewer = text
            for change in one.changes[1:]:
                fewer = edited(fewer, change)
            left = ttxdsl.load(fewer).partition().collectives()
            assert left  # the sum, or what is multiplied


def test_the_table_names_what_is_needed():
    answer = explainer(programs.THREE).program().collectives[0]
    assert answer.origins == {"a": ("%p",)}
    assert answer.necessary is not None
    assert answer.necessary[0].annotations == ("%p", "%q", "%x")
    assert answer.necessary[0].outcome is None


SUMMED = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
  %a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
  %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""


def test_an_answer_ends_with_what_removes_the_collective_or_why_it_is_needed():
    """The change is measured: it leaves no collective of that kind, and takes less time."""
    first = Explainer(parse_program(SUMMED)).collective(0)
    assert first.removal is not None and first.needed is None
    assert "all_reduce" not in dict(first.removal.figures.collectives)
    untried = Explainer(parse_program(SUMMED), tries=0).collective(0)
    assert untried.removal is None and untried.needed is None
    one_try = Explainer(parse_program(SUMMED), tries=1).collective(0)
    assert one_try.tried == 1 and one_try.removal is None
    assert one_try.needed == (
        "a sum over 4 devices that all of them read moves at least 24.0 KiB a device, and"
        " no change that was compiled does without it in less time"
    )
    # what helps leaves one of that kind: neither is it removed, nor is it all that there is
    text = (EXAMPLES / "mlp_train_step.mlir").read_text()
    helped = Explainer(parse_program(text), tries=8).collective(1)
    assert helped.counterfactuals
    assert helped.removal is None and helped.needed is None
