"""Stages as text: the text is the printer's, and a change is a change of the program."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer
from xdsl.rewriter import Rewriter

import ttxdsl
from ttxdsl.analysis.attribution.stacks import Stacks
from ttxdsl.dialects.sdy import TensorShardingAttr
from ttxdsl.insight.report.trace import data as trace_data
from ttxdsl.insight.report.trace.listing import (
    ADDED,
    CHANGED,
    REMOVED,
    SAME,
    StageLog,
    StageRecord,
)
from ttxdsl.loading.program import parse_program

ROOT = Path(__file__).parents[4]
PROGRAMS = [
    "examples/mlp_train_step.mlir",
    "tests/pipeline/seed_cases/case6/00-input.mlir",
]

ROW = list[int]
NAME = re.compile(r"%[\w$.-]+")


def renumbered(text: str) -> list[str]:
    """The lines of a program with the names of each function's values counted anew."""
    lines: list[str] = []
    names: dict[str, str] = {}
    for line in text.rstrip("\n").split("\n"):
        if line.lstrip().startswith("func.func"):
            names.clear()
        lines.append(NAME.sub(lambda m: names.setdefault(m[0], f"%{len(names)}"), line))
    return lines


def text_of(data: dict[str, Any], rows: list[ROW]) -> str:
    lines = [" " * r[2] + data["texts"][r[1]] for r in rows if r[3] != REMOVED]
    return "\n".join(lines)


@pytest.fixture(scope="module", params=PROGRAMS)
def recorded(request: pytest.FixtureRequest) -> tuple[ttxdsl.Program, dict[str, Any]]:
    program = ttxdsl.load(ROOT / request.param)
    return program, program.report_data()


def test_every_stage_is_what_the_compiler_makes(
    recorded: tuple[ttxdsl.Program, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    # the marks that ops are followed by must not show, nor change what passes do
    program, data = recorded
    done = program.partition()
    expected = [program.text, *(done.after(n).text for n in range(1, 14))]
    expected += [program.lower("ttir").text, program.lower("ttnn").text]
    found = [text_of(data, stage["rows"]) for stage in data["stages"]]
    assert found[0] == expected[0].rstrip("\n")
    for at, (one, other) in enumerate(zip(found, expected, strict=True)):
        for mine, theirs in zip(renumbered(one), renumbered(other), strict=True):
            head = mine.partition(" … (")[0]
            assert theirs.startswith(head), (at, mine, theirs)


def test_changes_lead_from_each_stage_to_the_next(
    recorded: tuple[ttxdsl.Program, dict[str, Any]],
):
    _, data = recorded
    before: list[ROW] = data["stages"][0]["rows"]
    assert all(row[3] == SAME for row in before)
    for stage in data["stages"][1:]:
        rows: list[ROW] = stage["rows"]
        old = Counter(row[0] for row in before if row[3] != REMOVED)
        assert old == Counter(row[0] for row in rows if row[3] != ADDED)
        changed = {row[4] for row in rows if row[3] == CHANGED}
        assert changed <= {row[1] for row in before}
        counts = Counter(row[3] for row in rows)
        for change, name in ((CHANGED, "changed"), (ADDED, "added")):
            assert stage[name] == counts[change]
        before = rows


@pytest.mark.parametrize(("ops", "all_stages"), [(390, True), (410, False)])
def test_a_large_program_lists_few_stages_unless_asked(
    monkeypatch: pytest.MonkeyPatch, ops: int, all_stages: bool
):
    """Smaller ones here: a program of 4,000 ops takes seconds."""
    assert trace_data.LARGE == 4_000
    monkeypatch.setattr(trace_data, "LARGE", 400)
    lines = [
        f"  %{at + 1} = stablehlo.negate %{at} : tensor<4xf32>" for at in range(ops)
    ]
    lines[0] = lines[0].replace("%0 ", "%a ")
    text = "\n".join(
        (
            "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {",
            *lines,
            f"  return %{ops} : tensor<4xf32>",
            "}",
        )
    )
    program = ttxdsl.load(text)
    assert program.report_data()["all_stages"] == all_stages
    assert len(program.report_data(all_stages=True)["stages"]) == 16


SMALL = """\
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.abs %a : tensor<4xf32>
  %2 = stablehlo.add %1, %b : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def log_of(module: ModuleOp) -> StageLog:
    log = StageLog(Stacks(module).origins)
    log.record(0, "as read", module)
    return log


def ops(module: ModuleOp) -> dict[str, Operation]:
    return {op.name.partition(".")[2]: op for op in module.walk()}


def changes(log: StageLog, stage: StageRecord) -> list[tuple[int, str]]:
    return [(r.change, log.texts[r.text]) for r in stage.rows if r.change != SAME]


def test_a_value_gets_a_name_that_none_ever_had():
    module = parse_program(SMALL)
    log = log_of(module)
    old = ops(module)["negate"]
    Rewriter.erase_op(old)
    add = ops(module)["add"]
    assert add.parent is not None
    for hint in (None, "a"):
        new = add.clone()
        new.results[0].name_hint = hint
        add.parent.insert_op_after(new, add)
    log.record(1, "two more", module)
    added = [text for change, text in changes(log, log.stages[1]) if change == ADDED]
    assert [text.partition(" =")[0] for text in added] == ["%a_0", "%3"]


def test_long_lines_are_cut():
    elements = ", ".join(map(str, range(10_000, 20_000)))
    module = parse_program(
        "func.func @main() -> tensor<10000xi32> {\n"
        f"  %0 = stablehlo.constant dense<[{elements}]> : tensor<10000xi32>\n"
        "  return %0 : tensor<10000xi32>\n}"
    )
    line = next(text for text in log_of(module).texts if "constant" in text)
    assert len(line) < 20_100
    assert line.endswith("characters)")


def test_the_values_of_an_op_are_looked_up_and_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 100
    names = ", ".join(f"%a{at}" for at in range(count))
    types = ", ".join(["tensor<4xf32>"] * count)
    given = ", ".join(f"%a{at}: tensor<4xf32>" for at in range(count))
    module = parse_program(
        f"func.func @main({given}) -> ({types}) {{\nreturn {names} : {types}\n}}"
    )
    compared: list[object] = []

    def counted(self: SSAValue, other: object) -> bool:
        compared.append(other)
        return self is other

    monkeypatch.setattr(SSAValue, "__eq__", counted)
    log = log_of(module)
    assert len(log.names.of) == count
    assert len(compared) < count


def test_the_text_of_an_attribute_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    print_sharding = TensorShardingAttr.print_parameter

    def counted(self: TensorShardingAttr, printer: Printer) -> None:
        made.append(self)
        print_sharding(self, printer)

    module = parse_program(
        'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%a: tensor<8xf32> '
        '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {\n'
        "return\n}"
    )
    monkeypatch.setattr(TensorShardingAttr, "print_parameter", counted)
    for _ in range(5):
        log_of(module)
    assert len(made) <= 1


def test_functions_are_printed_once_a_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take several lines, so that there is no pattern of them to look for."""
    printed: list[FuncOp] = []
    print_func = FuncOp.print

    def counted(self: FuncOp, printer: Printer) -> None:
        printed.append(self)
        print_func(self, printer)

    monkeypatch.setattr(FuncOp, "print", counted)
    module = parse_program(
        "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
        "  return %a : tensor<8xf32>\n}"
    )
    log_of(module)
    assert len(printed) == 1


def test_a_line_that_stays_is_the_same_row():
    """Sixteen listings of a large program have their rows in common."""
    module = parse_program(SMALL)
    log = log_of(module)
    Rewriter.erase_op(ops(module)["negate"])
    log.record(1, "dead code", module)
    log.record(2, "nothing", module)
    first, second, third = (
        [row for row in stage.rows if row.change != REMOVED] for stage in log.stages
    )
    assert len(first) == 1 + len(second)
    assert {*map(id, second)} < {*map(id, first)}
    assert [*map(id, second)] == [*map(id, third)]
