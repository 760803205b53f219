"""`why` names the known cause of a sharding or a collective, with the op and the rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from xdsl.utils.exceptions import DiagnosticException

import ttxdsl
from tests.differential.random_modules import random_module
from tests.insight.why import programs
from tests.insight.why.programs import ask
from tests.work import calls
from ttxdsl.costs.machines import GENERIC
from ttxdsl.diagnostics.display import plain_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.why.answers import WhyCollective
from ttxdsl.insight.why.costs import measure
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.insight.why.trials.compiling import compile_and_record, compile_plainly
from ttxdsl.insight.why.view import print_answer
from ttxdsl.loading.program import parse_program
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.projection import Projection, project
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

EXAMPLES = Path(__file__).parents[3] / "examples"


def origins(answer: WhyCollective) -> list[str]:
    """The annotations behind a collective, each once."""
    causes = [cause for side in answer.sides for cause in side.causes]
    return list(dict.fromkeys(cause.origin.text for cause in causes))


# --- collectives: kind, cause, op, dimensions, annotations -------------------------


@dataclass(frozen=True)
class Case:
    program: str
    kind: str
    cause: str
    op: str
    dims: tuple[int, ...]
    reason: str
    origins: tuple[str, ...]
    propagation: str | None = None


CASES = {
    "conflicting annotations": Case(
        programs.CONFLICTING,
        "collective_permute",
        "operand",
        "stablehlo.add",
        (0,),
        "needs dimension 0 of operand 0 (%x) split by {b}, and it is split by {a}",
        (
            'argument 0 (%x) is annotated [{"a"}, {}]',
            'argument 1 (%y) is annotated [{"b"}, {}]',
        ),
    ),
    "transposed order of axes": Case(
        programs.TRANSPOSED,
        "collective_permute",
        "operand",
        "stablehlo.add",
        (0,),
        "needs dimension 0 of operand 0 (%x) split by {b, a}, and it is split by {a, b}",
        (
            'argument 0 (%x) is annotated [{"a", "b"}, {}]',
            'argument 1 (%y) is annotated [{"b", "a"}, {}]',
        ),
    ),
    "uneven dimension": Case(
        programs.UNEVEN,
        "all_gather",
        "operand",
        "stablehlo.slice",
        (0,),
        "needs dimension 0 of operand 0 (%x) whole, and it is split by {b}",
        ('argument 0 (%x) is annotated [{"b"}, {}]',),
    ),
    "custom call with no rule": Case(
        programs.NO_RULE,
        "all_gather",
        "local",
        "stablehlo.custom_call",
        (0,),
        "has no sharding rule: every device computes all of %same",
        ('argument 0 (%x) is annotated [{"a"}, {}]',),
    ),
    "partial results of an argmax": Case(
        programs.LARGEST_POSITION,
        "all_gather",
        "local",
        "stablehlo.reduce",
        (1,),
        "from shards alone",
        ('argument 0 (%x) is annotated [{}, {"a"}]',),
    ),
    "partial sums of a ragged product": Case(
        programs.RAGGED,
        "all_reduce",
        "local",
        "chlo.ragged_dot",
        (1,),
        "a part of every element",
        (
            'argument 0 (%x) is annotated [{}, {"a"}]',
            'argument 1 (%w) is annotated [{}, {"a"}, {}]',
        ),
    ),
    "constant that two ops share": Case(
        programs.SHARED_CONSTANT,
        "all_gather",
        "operand",
        "stablehlo.add",
        (0, 1),
        "needs dimension 0 of operand 1 (%c) whole, and it is split by {a}",
        (
            'argument 0 (%x) is annotated [{"a"}, {}]',
            'argument 1 (%y) is annotated [{}, {"a"}]',
        ),
    ),
    "reshape that cannot keep a factor": Case(
        programs.RESHAPE,
        "all_gather",
        "operand",
        "stablehlo.reshape",
        (1,),
        "needs dimension 1 of operand 0 (%x) whole, and it is split by {b}",
        ('argument 0 (%x) is annotated [{}, {"b"}]',),
    ),
    "loser of user priorities": Case(
        programs.PRIORITY,
        "all_gather",
        "operand",
        "stablehlo.dot",
        (0,),
        "needs dimension 0 of operand 0 (%x) whole, and it is split by {a}",
        (
            'argument 0 (%x) is annotated [{"a"}p1, {?}]',
            'argument 1 (%w) is annotated [{?}, {"a"}p0]',
        ),
        "sdy-user-priority-propagate",
    ),
    "smaller tensor loses": Case(
        programs.LARGER,
        "all_gather",
        "operand",
        "stablehlo.dot",
        (0,),
        "needs dimension 0 of operand 0 (%x) whole, and it is split by {a}",
        (
            'argument 0 (%x) is annotated [{"a"}, {}]',
            'argument 1 (%w) is annotated [{}, {"a"}]',
        ),
    ),
    "closed result": Case(
        programs.CLOSED_RESULT,
        "all_gather",
        "return",
        "stablehlo.add",
        (0,),
        "the function returns %twice as result 0, which shall be [{}, {}]",
        ('argument 0 (%x) is annotated [{"a"}, {}]',),
    ),
    "contracted dimension": Case(
        programs.CONTRACTED,
        "all_reduce",
        "reduction",
        "stablehlo.dot",
        (1, 0),
        "sums over a dimension that {b} splits (dimension 1 of operand 0 (%x);"
        " dimension 0 of operand 1 (%w))",
        (
            'argument 0 (%x) is annotated [{}, {"b"}]',
            'argument 1 (%w) is annotated [{"b"}, {}]',
        ),
    ),
    "border of a shard_map": Case(
        programs.BORDER,
        "all_to_all",
        "result",
        "stablehlo.negate",
        (0, 1),
        "makes dimension 0 of result 0 (%neg) split by {a}, and it shall be whole",
        (
            'argument 0 (%x) is annotated [{"a"}, {}]',
            'a manual computation takes operand 0 as [{}, {"a"}]',
        ),
    ),
    "argument at the border of a shard_map": Case(
        programs.BORDER_OF_ARGUMENT,
        "all_to_all",
        "border",
        "sdy.manual_computation",
        (0, 1),
        'takes value 0 (%x) as [{}, {"a"}]',
        ('argument 0 (%x) is annotated [{"a"}, {}]',),
    ),
    "gather from a split table": Case(
        programs.TABLE,
        "all_reduce",
        "reduction",
        "stablehlo.gather",
        (0,),
        "sums over a dimension that {b} splits (dimension 0 of operand 0 (%table))",
        ('argument 0 (%table) is annotated [{"b"}, {}]',),
    ),
    "sort along a split dimension": Case(
        programs.SORT,
        "all_gather",
        "operand",
        "stablehlo.sort",
        (0,),
        "needs dimension 0 of operand 0 (%x) whole, and it is split by {b}",
        ('argument 0 (%x) is annotated [{"b"}]',),
    ),
    "constraint in the middle": Case(
        programs.CONSTRAINT,
        "all_to_all",
        "result",
        "stablehlo.negate",
        (0, 1),
        "makes dimension 0 of result 0 (%neg) split by {a}, and it shall be whole",
        (
            'argument 0 (%x) is annotated [{"a"}, {}]',
            'a sharding constraint on %neg asks for [{}, {"a"}]',
        ),
    ),
    "constraint on an argument": Case(
        programs.CONSTRAINED_ARGUMENT,
        "all_gather",
        "constraint",
        "sdy.sharding_constraint",
        (0,),
        "a constraint asks for %x as [{}, {}]",
        ('argument 0 (%x) is annotated [{"a"}, {}]',),
    ),
    "compatible prefix": Case(
        programs.PREFIX,
        "all_to_all",
        "operand",
        "stablehlo.add",
        (0, 1),
        "needs dimension 0 of operand 1 (%y) split by {a, b}, and it is split by {a}",
        (
            'argument 0 (%x) is annotated [{"a", "b"}, {}]',
            'argument 1 (%y) is annotated [{"a"}, {"b"}]',
        ),
    ),
    "written in the program": Case(
        programs.WRITTEN,
        "all_gather",
        "written",
        "stablehlo.all_gather",
        (),
        "is written in the program: no stage chose it",
        (),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_collective(case: Case):
    answer = ask(case.program, case.propagation).collective(0)
    assert (answer.kind, answer.cause, answer.op.op) == (case.kind, case.cause, case.op)
    assert answer.dims == case.dims
    assert case.reason in answer.reason
    assert set(case.origins) == set(origins(answer))


def test_what_is_written_has_one_reason_everywhere():
    told = ask(programs.WRITTEN).collective(0)
    (counted,) = ttxdsl.load(programs.WRITTEN).partition(optimize=False).collectives()
    assert counted.reason.startswith("written in the program: ")
    assert told.summary == counted.reason
    # what a stage inserts on the value of such a one is not written
    reasons = [
        one.reason
        for one in ttxdsl.load(programs.RESHARDED)
        .partition(optimize=False)
        .collectives()
    ]
    assert [one.startswith("written") for one in reasons] == [True, False]
    causes = [one.cause for one in ask(programs.RESHARDED).program().collectives]
    assert causes == ["written", "return"]


def test_a_summary_says_a_sharding_as_a_partition_spec():
    summaries = {
        programs.BORDER_OF_ARGUMENT: 'takes %x as P(None, "a")',
        programs.RESHARDED: "returned whole",
    }
    for text, summary in summaries.items():
        assert ask(text).program().collectives[-1].summary == summary


def test_an_argument_is_headed_by_its_path():
    explainer = ask(programs.SORT.replace("}) ->", "} loc(\"p['w']\")) ->", 1))
    answer = explainer.answer(argument=0)
    console = plain_text(lambda c: print_answer(c, answer, explainer.machine))
    assert console.startswith("p['w'] (%x)  tensor<16xf32>  argument")


@pytest.mark.parametrize("name", programs.ALL)
def test_notes_do_not_change_what_is_compiled(name: str):
    module = parse_program(programs.ALL[name])
    before = str(module)
    explainer = Explainer(module, programs.ALL[name], tries=0)
    plain = compile_plainly(module, TTStableHLOPipelinePass())
    assert explainer.program().figures == measure(plain, module, GENERIC)
    assert str(module) == before


def test_details_say_what_the_op_chose():
    shared = ask(programs.SHARED_CONSTANT).collective(0)
    assert "%c is shared by 2 ops" in shared.details[0]
    sort = ask(programs.SORT).collective(0)
    assert "(need-replication) is computed whole: the op needs it" in sort.details[0]
    no_rule = ask(programs.NO_RULE).collective(0)
    assert "not known to work on parts of its operands" in no_rule.details[0]
    larger = ask(programs.LARGER).collective(0)
    assert "{a} splits factor j=32 of the op" in larger.details[0]


def test_reshard_and_plan():
    answer = ask(programs.CONSTRAINT).collective(0)
    assert answer.reshard == ('[{"a"}, {}]', '[{}, {"a"}]')
    assert answer.plan == ("sdy.all_to_all",)
    two_axes = ask(programs.TRANSPOSED).collective(1)
    assert two_axes.reshard == ('[{"b", "a"}, {}]', "[{}, {}]")
    assert two_axes.plan == ("sdy.all_gather",)
    reduction = ask(programs.CONTRACTED).collective(0)
    assert (reduction.reshard, reduction.plan) == (None, ("sdy.all_reduce",))


# --- shardings: chains ------------------------------------------------------------


def test_chain_step_by_step():
    answer = ask(
        (EXAMPLES.parent / "docs" / "programs" / "predict.mlir").read_text()
    ).answer("%param2")
    assert answer.sharding == '[{"model", ?}, {?}]'
    (cause,) = answer.dims[0].causes
    assert cause.origin.text == 'argument 1 (%param1) is annotated [{}, {"model"}]'
    first, second = cause.steps
    assert first.place.value == "%hidden"
    assert first.place.position == "p.mlir:7:3"
    assert (first.direction, first.factor, first.factor_kind) == (
        "forward",
        "j=256",
        "pass-through",
    )
    assert first.source == "operand 1 (%param1) dimension 1"
    assert first.target == "result 0 (%hidden) dimension 1"
    assert (second.direction, second.factor_kind) == ("across", "reduction")
    assert second.source == "operand 0 (%hidden) dimension 1"
    assert "no op reached it" in {o.kind for o in answer.dims[1].obstacles}


def test_backward_chain_from_a_result():
    text = programs.function(
        "%x: tensor<8x16xf32>",
        programs.given("tensor<8x16xf32>", '[{"a"}, {}]'),
        """  %neg = stablehlo.negate %x : tensor<8x16xf32>
  return %neg : tensor<8x16xf32>""",
    )
    (cause,) = ask(text).answer(argument=0).dims[0].causes
    assert cause.origin.kind == "result"
    assert [step.direction for step in cause.steps] == ["backward"]


def test_priorities_are_named_in_steps():
    answer = ask(programs.PRIORITY, "sdy-user-priority-propagate").answer("%out")
    (cause,) = answer.dims[1].causes
    assert cause.steps[0].priority.startswith("user priority p0, op priority 2")
    plain = ask(programs.PRIORITY, "sdy-aggressive-propagate").answer(argument=0)
    assert "stage 6 of the pipeline does not look at" in plain.notes[0]


def test_through_a_loop():
    answer = ask(programs.LOOP).answer("%out")
    (cause,) = answer.dims[0].causes
    assert [step.place.op for step in cause.steps] == [
        "stablehlo.while",
        "stablehlo.negate",
    ]
    assert cause.origin.kind == "argument"


def test_inlined_functions():
    explainer = ask(programs.INLINED)
    first, second = explainer.answer("%first"), explainer.answer("%second")
    assert (first.dims[0].axes, first.dims[1].axes) == (("a",), ())
    assert (second.dims[0].axes, second.dims[1].axes) == ((), ("a",))
    inner = explainer.answer("@f:%0")
    assert inner.copies == 2
    assert inner.place.value == "@f:%0"


# --- what cannot be answered -------------------------------------------------------


def test_unknown_values_name_near_ones():
    explainer = ask(programs.INLINED)
    with pytest.raises(CompileError, match=r"did you mean %first\?"):
        explainer.answer("%firs")
    with pytest.raises(CompileError, match=r"did you mean @f:%0\?"):
        explainer.answer("%0")
    with pytest.raises(
        CompileError, match="an argument of a function that was inlined"
    ):
        explainer.answer("@f:%v")
    with pytest.raises(CompileError, match="there is no argument 2"):
        explainer.answer(argument=2)
    with pytest.raises(CompileError, match="there is no result 7"):
        explainer.answer(result=7)
    with pytest.raises(CompileError, match="the program has none"):
        explainer.collective(0)


def test_dead_values():
    text = programs.MISSING.replace(
        "  return", "  %dead = stablehlo.negate %out : tensor<8x32xf32>\n  return"
    )
    with pytest.raises(CompileError, match="nothing uses it"):
        ask(text).answer("%dead")


def test_a_program_that_came_partitioned():
    case = EXAMPLES.parent / "tests" / "pipeline" / "seed_cases" / "case3"
    explainer = ask((case / "00-input.mlir").read_text())
    answer = explainer.program()
    assert answer.notes and answer.collectives[0].cause == "written"
    with pytest.raises(CompileError, match="the program came partitioned"):
        explainer.answer(argument=0)


SINGLE = """\
func.func @main(%x: tensor<16x4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}
"""


def test_a_program_without_annotations():
    module = parse_program(SINGLE)
    pipeline = TTStableHLOPipelinePass(mesh_shape=(1, 8))
    explainer = Explainer(module, SINGLE, pipeline=pipeline)
    plain = compile_plainly(module, pipeline)
    assert explainer.program().figures == measure(plain, module, GENERIC)
    (cause,) = explainer.answer("%0").dims[0].causes
    assert cause.origin.text.startswith("stage 4 found the batch in argument 0 (%x)")
    answer = explainer.collective(0)
    assert answer.failed == 0
    # whole batches on every device have no collective, and all do the same
    assert answer.counterfactuals == ()


# --- chains hold together on random programs ---------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_chains_lead_from_an_annotation_to_the_value(seed: int):
    text = random_module(seed)
    module = parse_program(text)
    try:
        recorded = compile_and_record(module, TTStableHLOPipelinePass())
    except DiagnosticException:
        return
    for value, holder in recorded.holders.items():
        sharding = recorded.sharding(value)
        for axis in sharding.sharding_axes if sharding is not None else ():
            hops = [*recorded.hops_back(value, axis)][::-1]
            start = hops[0].source_value if hops else holder
            first = hops[0].axis if hops else axis
            given = recorded.initial.get(start)
            name = recorded.origin(start, first) or ""
            # what is returned stands for the annotated result
            assert name.startswith("output:") or (
                given is not None
                and any(first.overlaps(one) for one in given.sharding_axes)
            )
            for one, following in pairwise(hops):
                assert one.target_value is following.source_value
                assert one.axis.overlaps(following.axis)
            if hops:
                assert hops[-1].target_value is holder


def test_a_collective_that_moved_across_a_reshape():
    """Its dimension is that of the operand that had to be whole, not its own."""
    whole = "#sdy.sharding<@mesh, [{}, {}]>"
    program = ttxdsl.load(f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"y"}}]>}}, %b: tensor<8x8xf32> {{sdy.sharding = {whole}}}) -> (tensor<1x2x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}, {{}}]>}}) {{
  %0 = stablehlo.subtract %a, %b {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{}}, {{}}]>]>}} : tensor<8x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x8xf32>) -> tensor<1x8x8xf32>
  %2 = stablehlo.slice %1 [0:1, 0:2, 0:8] : (tensor<1x8x8xf32>) -> tensor<1x2x8xf32>
  return %2 : tensor<1x2x8xf32>
}}""").partition()
    assert "all_gather_dim = 2" in program.text
    assert "makes dimension 1 of %0 {y}" in str(program.why())


SQUARE = "tensor<8x8xf32>"


def _joined(count: int) -> Explainer:
    """A concatenation of one value many times, along the dimension that is split."""
    operands, types = ", ".join(["%a"] * count), ", ".join(["tensor<8x8xf32>"] * count)
    result = f"tensor<{8 * count}x8xf32>"
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}
    ) -> {result} {{
      %r = stablehlo.concatenate {operands}, dim = 0
          : ({types}) -> {result}
      return %r : {result}
    }}
    """
    return ask(text)


def test_an_op_is_projected_once_for_all_its_operands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    projected: list[int] = []

    def count(
        mesh: Mesh,
        rule: OpShardingRule,
        shardings: Sequence[TensorSharding | None],
        *,
        closed_if_missing: bool = False,
    ) -> Projection:
        projected.append(len(shardings))
        return project(mesh, rule, shardings, closed_if_missing=closed_if_missing)

    for module in ("meetings", "collectives"):
        monkeypatch.setattr(f"ttxdsl.insight.why.causes.{module}.project", count)
    counts: list[int] = []
    for operands in (4, 40):
        explainer = _joined(operands)
        projected.clear()
        assert explainer.collectives()
        counts.append(len(projected))
    assert counts[0] == counts[1] > 0


def test_reasons_of_an_op_of_many_operands_take_linear_time() -> None:
    few, many = (_joined(operands) for operands in (50, 200))
    once = calls(few.collectives)
    assert calls(many.collectives) < 5 * once


def _long(count: int) -> Explainer:
    """Products of one value after the other, each of which gathers an operand."""
    lines = "\n".join(
        f"%v{at + 1} = stablehlo.dot %v{at}, %v{max(at - 1, 0)} : ({SQUARE}, {SQUARE}) -> {SQUARE}"
        for at in range(count)
    )
    return ask(f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(
        %v0: {SQUARE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}
    ) -> {SQUARE} {{
      {lines}
      return %v{count} : {SQUARE}
    }}
    """)


def test_reasons_of_long_chains_take_linear_time() -> None:
    few, many = _long(60), _long(240)
    once = calls(few.collectives)
    assert calls(many.collectives) < 5 * once
    cause = many.collectives()[-1].sides[0].causes[0]
    places = [step.place.value for step in cause.steps]
    assert places == [f"%v{at}" for at in range(1, 239)]


def test_of_very_many_sides_the_first_are_printed() -> None:
    answer = _joined(40).collective(0)
    assert len(answer.sides) > 40
    whole = plain_text(
        lambda console: print_answer(console, answer, GENERIC, whole=True), 84
    )
    brief = plain_text(lambda console: print_answer(console, answer, GENERIC), 84)
    assert "operand 39" in whole
    hidden = len(answer.sides) - 16
    assert f"… {hidden} more sides (--all shows them)" in brief
