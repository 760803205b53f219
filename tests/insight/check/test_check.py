"""Broken compilers are found out: the stage, the element, the device, a small proof."""

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

from tests.differential.corpus import programs
from tests.differential.partitioning import MESHES, sharded_program
from tests.differential.sharded_models import sharded_models
from tests.insight.check.faults import DOT, FAULTS, PROGRAMS, Fault, forget
from tests.insight.check.optimization_faults import OPTIMIZATION_FAULTS
from tests.insight.check.training_steps import training_steps
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.conversion.stablehlo_to_ttir.convert import (
    TABLE as TO_TTIR,
    ConvertStableHLOToTTIRPass,
)
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.insight.check import judge
from ttxdsl.insight.check.check import CheckReport, check_steps
from ttxdsl.insight.check.cutting import cuttable_ops
from ttxdsl.insight.check.failure import Failure
from ttxdsl.insight.check.minimize import pipeline_text
from ttxdsl.insight.check.rounding import hold
from ttxdsl.insight.check.steps import pipeline_steps, steps_of
from ttxdsl.interpreters.compare import Verdict
from ttxdsl.interpreters.inputs import argument_types
from ttxdsl.interpreters.runtime.limits import Limits
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def check(
    text: str, passes: str | None = None, *, minimize: bool = True
) -> CheckReport:
    module = parse_program(text)
    if passes is None:
        steps = pipeline_steps(module, TTStableHLOPipelinePass())
    else:
        steps = steps_of(passes, module)
    return check_steps(module, steps, minimize=minimize)


pytestmark = pytest.mark.usefixtures("of_this_compiler_only")


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_nothing_is_wrong_without_a_fault(program: str):
    report = check(program)
    assert report.ok, str(report)
    assert len(report.steps) == 15


def test_axes_of_one_device_split_nothing():
    report = check(
        """sdy.mesh @mesh = <["x"=2, "one"=1]>
        func.func @main(%a: tensor<8x2x8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}, {?}, {}]>}, %b: tensor<2x2x2x8xf32>)
            -> (tensor<8x1x7x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one", ?}, {}, {}, {}]>}) {
          %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<8x2x8x2xf32>, tensor<2x2x2x8xf32>) -> tensor<8x1x7x8xf32>
          return %0 : tensor<8x1x7x8xf32>
        }"""
    )
    assert report.ok, str(report)


def test_the_faults_of_the_issue_are_planted():
    """Each of the eight by its name; the test below finds and blames each."""
    assert [fault.name for fault in FAULTS][:8] == [
        "slice bounds divided",
        "iota without offset",
        "permuted replica groups",
        "missing all_reduce",
        "gather of the wrong axis",
        "swapped shard_dims",
        "padded lanes not masked",
        "permute pair dropped",
    ]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found_and_blamed_on_its_stage(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
):
    fault.plant(monkeypatch)
    report = check(fault.program)
    assert report.failure is not None
    assert str(report.failure.step) == fault.stage, str(report)
    assert report.failure.kind in fault.kinds, str(report)
    # the proof is smaller, fails in the same way in the same way, and only because of the fault
    assert report.reproducer is not None
    text = report.reproducer.text
    run = text.splitlines()[0]
    assert run.startswith("// RUN: ttxdsl check %s -p '")
    passes = run.split("'")[1]
    again = check(text, passes)
    assert again.failure is not None
    assert str(again.failure.step) == fault.stage
    assert again.failure.kind is report.failure.kind
    monkeypatch.undo()
    forget()
    assert check(text, passes).ok


def failure_of(name: str, monkeypatch: pytest.MonkeyPatch) -> Failure:
    fault = next(fault for fault in FAULTS if fault.name == name)
    fault.plant(monkeypatch)
    failure = check(fault.program).failure
    assert failure is not None
    return failure


def test_data_that_was_moved_wrongly_says_where_it_came_from(
    monkeypatch: pytest.MonkeyPatch,
):
    failure = failure_of("permuted replica groups", monkeypatch)
    wrong, place = failure.element, failure.place
    assert wrong is not None
    assert place is not None
    # rows 0 to 3 and 4 to 7 of a negated 8x4 have changed places
    assert (wrong.result, wrong.index) == (0, (0, 0))
    assert (wrong.found, wrong.expected) == (-16, 0)
    assert wrong.belongs == ((4, 0),)
    assert wrong.differing == wrong.size == 32
    assert place.coordinates == {"x": 0, "y": 0}


def test_a_device_that_starts_again_is_named(monkeypatch: pytest.MonkeyPatch):
    failure = failure_of("iota without offset", monkeypatch)
    wrong, place = failure.element, failure.place
    assert wrong is not None
    assert place is not None
    # a * iota + a, of element 16: it should be 16 * 4 + 16
    assert (wrong.index, wrong.found, wrong.expected) == ((4, 0), 16, 80)
    assert place.coordinates == {"x": 1, "y": 0}
    assert place.local == (0, 0)
    assert "held by device (x=1, y=0), local element [0, 0]" in str(failure)


def test_of_replicas_that_differ_the_wrong_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
):
    failure = failure_of("permute pair dropped in ttir", monkeypatch)
    wrong, place = failure.element, failure.place
    assert wrong is not None
    assert place is not None
    assert place.coordinates == {"x": 1, "y": 1}
    assert (wrong.index, wrong.found, wrong.expected) == ((4, 0), 0, -16)
    assert wrong.differing is None
    assert wrong.belongs == ()


def test_a_sum_that_is_missing_is_within_no_tolerance(monkeypatch: pytest.MonkeyPatch):
    failure = failure_of("missing all_reduce", monkeypatch)
    assert failure.element is not None
    assert not failure.element.is_tag


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("slice bounds divided", 1),
        ("permuted replica groups", 1),
        ("crash in propagation", 1),
    ],
)
def test_proofs_are_small(name: str, ops: int, monkeypatch: pytest.MonkeyPatch):
    fault = next(fault for fault in FAULTS if fault.name == name)
    fault.plant(monkeypatch)
    report = check(fault.program)
    assert report.reproducer is not None
    small = parse_program(report.reproducer.text)
    assert len(cuttable_ops(small)) <= ops + 1


def test_no_proof_unless_wanted(monkeypatch: pytest.MonkeyPatch):
    fault = FAULTS[0]
    fault.plant(monkeypatch)
    module = parse_program(fault.program)
    steps = pipeline_steps(module, TTStableHLOPipelinePass())
    report = check_steps(module, steps, minimize=False)
    assert not report.ok
    assert report.reproducer is None


def test_a_refusal_is_no_fault(monkeypatch: pytest.MonkeyPatch):
    """What has no ttir form is an error of the program, not of a stage."""
    monkeypatch.delitem(TO_TTIR, "stablehlo.negate")
    text = (
        "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.negate %a : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n}\n"
    )
    with pytest.raises(UnsupportedError, match="no rule"):
        check(text)


def test_the_steps_of_a_program_on_its_way():
    module = parse_program(DOT)
    assert len(pipeline_steps(module, TTStableHLOPipelinePass())) == 15
    TTStableHLOPipelinePass().apply(make_context(), module)
    # solved: stages 5 to 12 have nothing to do
    numbers = [s.number for s in pipeline_steps(module, TTStableHLOPipelinePass())]
    assert numbers == [1, 2, 3, 4, 13, None, None]
    ConvertStableHLOToTTIRPass().apply(make_context(), module)
    (last,) = pipeline_steps(module, TTStableHLOPipelinePass())
    assert last.spec == "convert-ttir-to-ttnn"


def test_steps_of_text():
    module = parse_program(DOT)
    steps = steps_of("inline,tt-stablehlo-pipeline{first-stage=6 last-stage=8}", module)
    assert [str(step) for step in steps] == [
        "inline",
        "6 sdy-user-priority-propagate",
        "7 sdy-sharding-constraint-to-reshard",
        "8 sdy-insert-explicit-reshards",
    ]
    assert pipeline_text(steps) == (
        "inline,tt-stablehlo-pipeline{first-stage=6 last-stage=8}"
    )


@pytest.mark.parametrize("text", ["no-such-pass", "inline{", "inline{x=3}"])
def test_passes_that_cannot_be_read(text: str):
    with pytest.raises(CompileError, match="cannot read the passes"):
        steps_of(text, parse_program(DOT))


@pytest.mark.parametrize("fault", OPTIMIZATION_FAULTS, ids=lambda fault: fault.name)
def test_a_broken_optimization_is_found(fault: Fault, monkeypatch: pytest.MonkeyPatch):
    assert check(fault.program).ok
    fault.plant(monkeypatch)
    report = check(fault.program, minimize=False)
    assert report.failure is not None
    assert str(report.failure.step) == fault.stage, str(report)
    assert report.failure.kind in fault.kinds, str(report)


def of_training_step(number: int, passes: str | None = None) -> CheckReport:
    steps_by_name = training_steps(24)
    name = next(name for name in steps_by_name if name.startswith(f"{number} "))
    module = parse_program(steps_by_name[name], name)
    steps = (
        pipeline_steps(module, TTStableHLOPipelinePass())
        if passes is None
        else steps_of(passes, module)
    )
    return check_steps(module, steps, inputs=inputs_far_apart(module), minimize=False)


def inputs_far_apart(module: ModuleOp) -> list[np.ndarray]:
    """Normal numbers whatever they are for: products of many lose their way."""
    rng = np.random.default_rng(0)
    return [
        rng.standard_normal(shape).astype(dtype)
        if dtype.kind == "f"
        else rng.integers(0, 8, shape).astype(dtype)
        for shape, dtype in argument_types(entry_function(module))
    ]


def test_rounding_is_nobodys_fault():
    """Steps that were blamed on stage 11: what tags or sums that cancel drive far."""
    reports = [of_training_step(number) for number in (18, 23)]
    assert all(report.ok for report in reports), "\n".join(map(str, reports))
    assert "rounding decides result" in "\n".join(map(str, reports))


@pytest.mark.parametrize(("run", "right"), [([-3e8, 1e7], True), ([4.1, 5.2], False)])
def test_a_mesh_whose_numbers_overflow_where_rounding_leaves_no_digit(
    run: list[float], right: bool
):
    """Conjugate gradients of a matrix that is not definite: what it holds is chance."""
    wanted, nan, rounded = np.array([[4, 5], [np.nan, np.nan], run], np.float32)
    compared = hold(nan, wanted, 1, lambda: [rounded])
    assert compared.verdict is (Verdict.NOTHING if right else Verdict.FAIL)


@pytest.mark.parametrize("chance", [1.0, 0.0])
def test_an_element_that_the_first_runs_leave_as_it_is_moves_in_more(chance: float):
    wanted, actual = np.ones((2, 64), np.float32) * [[1], [2]]
    few, more = (np.array([1 + last, *[2.0] * 63], np.float32) for last in (0, chance))
    compared = hold(actual, wanted, 1, lambda: [few, few, few, few, more])
    assert compared.differing == (0 if chance else 1)


def test_a_fault_is_found_where_rounding_goes_far(monkeypatch: pytest.MonkeyPatch):
    fault = next(fault for fault in FAULTS if fault.name == "permuted replica groups")
    fault.plant(monkeypatch)
    report = of_training_step(18)
    assert report.failure is not None
    assert str(report.failure.step) == fault.stage


@pytest.mark.fuzz
def test_no_false_alarm():
    """Right programs: JAX's operators split at random, its models, training steps."""
    texts = {
        **{one.name: one.pretty for one in programs()},
        **sharded_models(),
        **training_steps(96),
    }
    alarms: list[str] = []
    checked = 0
    for name, text in texts.items():
        shown = sharded_program(text, MESHES["2x4"], name)
        module = parse_program(text, name) if shown is None else shown
        try:
            steps = pipeline_steps(module, TTStableHLOPipelinePass())
            limits = Limits.of("1GiB", 10_000)
            report = check_steps(module, steps, minimize=False, limits=limits)
        except (CompileError, InterpretationError):
            continue  # what cannot be run, or whose own devices differ
        checked += 1
        if report.failure is not None:
            alarms.append(f"{name}: {report}")
    assert not alarms, "\n".join(alarms)
    assert checked >= 500


def test_a_program_is_planned_once_for_a_step_that_changes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned: list[object] = []

    class Counted(judge.Runner):
        def __init__(self, *args: Any, **more: Any) -> None:
            planned.append(args[0])
            super().__init__(*args, **more)

    monkeypatch.setattr(judge, "Runner", Counted)
    module = parse_program(
        'sdy.mesh @mesh = <["x"=2]>\n'
        "func.func @main(%a: tensor<8xf32> "
        '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {\n'
        "%0 = stablehlo.tanh %a : tensor<8xf32>\nreturn %0 : tensor<8xf32>\n}"
    )
    steps = pipeline_steps(module, TTStableHLOPipelinePass())
    report = check_steps(module, steps, seeds=(0, 1), minimize=False)
    assert report.ok and len(report.trials) == 3
    # most stages have nothing to do, and each of the others has three trials
    assert 3 < len(planned) < len(steps)
