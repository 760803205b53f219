"""The grammar of COMM: lines, and what is said about malformed ones."""

import pytest

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.budget.directives import parse_budget, parse_limits


def limits(text: str) -> list[tuple[str, str, int, tuple[str, ...]]]:
    found = parse_limits(text).limits
    return [(one.quantity, one.comparator, one.value, one.axes) for one in found]


TEXT = """\
// COMM: all_gather<=2
func.func @main() { // a comment
  // COMM: mesh=1,8
  return   //COMM:bytes<=4KiB , axis=batch
}
"""


def test_lines_of_a_program():
    budget = parse_budget(TEXT)
    assert budget.mesh == (1, 8)
    found = [(one.line, one.column, str(one)) for one in budget.limits]
    assert found == [(1, 10, "all_gather<=2"), (4, 19, "bytes<=4KiB, axis=batch")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "// COMM: all_gathr<=2",
            """\
f.mlir:1:10: error: 'all_gathr' is nothing that is counted
  // COMM: all_gathr<=2
           ^^^^^^^^^
  hint: did you mean all_gather or all_gather.bytes?""",
        ),
        (
            "// COMM: count<=2, bytes<=4MX",
            """\
f.mlir:1:27: error: '4MX' is no size: write a number and B, KiB, MiB or GiB
  // COMM: count<=2, bytes<=4MX
                            ^^^""",
        ),
        (
            "// COMM: count<=two",
            """\
f.mlir:1:17: error: 'two' is no number of collectives
  // COMM: count<=two
                  ^^^""",
        ),
        (
            "// COMM: all_reduce=3",
            """\
f.mlir:1:10: error: 'all_reduce=3' compares with '='
  // COMM: all_reduce=3
           ^^^^^^^^^^^^
  hint: write all_reduce==3""",
        ),
        (
            "\n  // COMM: axis=model",
            """\
f.mlir:2:12: error: an axis restricts the limits of its own line, and there are none
    // COMM: axis=model
             ^^^^^^^^^^""",
        ),
        (
            "// COMM: count<=1, peak<=2KiB, axis=x",
            """\
f.mlir:1:20: error: memory is along no axis
  // COMM: count<=1, peak<=2KiB, axis=x
                     ^^^^^^^^^^
  hint: write memory in a line of its own""",
        ),
        (
            "// COMM: mesh=2,4\n// COMM: count<=1, mesh=8",
            """\
f.mlir:2:20: error: another line says mesh=2,4
  // COMM: count<=1, mesh=8
                     ^^^^^^""",
        ),
    ],
)
def test_messages(text: str, message: str):
    with pytest.raises(CompileError) as raised:
        parse_budget(text, "f.mlir")
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a limit, axis=NAME or mesh=SIZES"),
        ("count<=1,,count<=2", "expected a limit"),
        ("count<=1,", "expected a limit"),
        ("all_gather", "'all_gather' is no limit"),
        ("2<=all_gather", "'2<=all_gather' is no limit"),
        ("count<=-1", "'-1' is no number of collectives"),
        ("count<=1, 4", "'4' is no limit"),
        ("mesh=2;4", "'2;4' is no mesh like 2,4 or 2x4"),
        ("mesh=0,4", "a mesh axis has at least one device"),
        ("mesh=2, mesh=4", "the mesh is given twice"),
        ("axis=<>, count==0", "'<>' is no name of an axis"),
        ("color=red", "there is no option 'color'"),
    ],
)
def test_malformed(text: str, message: str):
    with pytest.raises(CompileError) as raised:
        parse_limits(text)
    assert message in str(raised.value)
