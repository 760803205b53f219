"""What took time with the square of a program takes time with the program."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr, i32
from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsolatedFromAbove, SymbolTable
from xdsl.transforms.dead_code_elimination import region_dce
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.attack.bombs.deep import nested_calls, nested_regions
from tests.work import calls
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.inline import InlinePass

FAILS = "stablehlo.custom_call @unknown(%a)"


def grows(work: dict[int, int]) -> float:
    """By which factor the work grows when the program doubles."""
    (small, large) = (work[size] for size in sorted(work))
    return large / small


def test_verifying_many_calls():
    modules = {n: parse_program(nested_calls(n)) for n in (100, 200)}
    assert grows({n: calls(m.verify) for n, m in modules.items()}) < 2.5


def test_an_error_in_deep_calls():
    def run(module: ModuleOp) -> None:
        with pytest.raises(CompileError, match="no implementation"):
            run_module(module, [[[0.0] * 8] * 8])

    modules = {n: parse_program(nested_calls(n, FAILS, True)) for n in (50, 100)}
    run(modules[50])
    assert grows({n: calls(lambda m=m: run(m)) for n, m in modules.items()}) < 2.5


def test_inlining_deep_calls():
    modules = {n: parse_program(nested_calls(n, debug=True)) for n in (100, 200)}
    inline, context = InlinePass(), make_context()
    assert (
        grows(
            {n: calls(lambda m=m: inline.apply(context, m)) for n, m in modules.items()}
        )
        < 2.5
    )


DEAD = """
func.func @main(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %used = stablehlo.abs %x : tensor<4xf32>
  %0 = stablehlo.negate %used : tensor<4xf32>
  %1 = stablehlo.add %0, %used : tensor<4xf32>
  %2 = "stablehlo.if"(%c) ({
    %kept = stablehlo.abs %used : tensor<4xf32>
    %gone = stablehlo.negate %0 : tensor<4xf32>
    stablehlo.return %kept : tensor<4xf32>
  }, {
    stablehlo.return %used : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}"""


def test_what_is_dead_is_looked_for_once_where_nothing_is():
    text = DEAD.replace("%1 = ", "%1 = stablehlo.negate %0 : tensor<4xf32>\n%5 = ")
    chain, alive = parse_program(text), parse_program(DEAD)
    region_dce(alive.body)
    looks = {one: calls(lambda one=one: region_dce(one.body)) for one in (chain, alive)}
    assert looks[alive] < looks[chain] / 2


@pytest.mark.parametrize("kind", ["while", "case"])
def test_compiling_deep_regions(kind: str):
    """Somewhat more than linear: a change is told to all ops around."""
    modules = {n: parse_program(nested_regions(kind, n)) for n in (20, 40, 80)}
    run, context = TTStableHLOPipelinePass(), make_context()
    work = {n: calls(lambda m=m: run.apply(context, m)) for n, m in modules.items()}
    assert work[80] - work[40] < 3 * (work[40] - work[20])


def test_a_walk_may_erase_what_it_yields():
    module = parse_program(nested_calls(3))
    for op in module.walk(region_first=True):
        if op is not module:
            op.detach()
    assert not module.body.block.ops


def test_symbols_are_those_of_now():
    module = parse_program(nested_calls(3))
    table = {
        name: SymbolTable.lookup_symbol(module, name) for name in ("f0", "f1", "g")
    }
    assert table["g"] is None
    first, second = table["f0"], table["f1"]
    assert first is not None and second is not None
    first.detach()
    assert SymbolTable.lookup_symbol(module, SymbolRefAttr("f0")) is None
    module.body.block.add_op(first)
    assert SymbolTable.lookup_symbol(second, "f0") is first


def test_errors_are_noted_once():
    module = parse_program(nested_regions("case", 5))
    *_, inner = module.walk()
    error = VerifyException("wrong")
    with pytest.raises(VerifyException) as raised:
        inner.emit_error("here", error)
    with pytest.raises(VerifyException):
        module.emit_error("around", error)
    assert len(raised.value.__notes__) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#a = [1]\n#b = [#a, #a]\n", None),
        ("#a0 = 1\n" + "\n".join(f"#a{n} = [#a{n - 1}]" for n in range(1, 990)), None),
        (
            "#a0 = 1\n" + "\n".join(f"#a{n} = [#a{n - 1}]" for n in range(1, 1100)),
            "levels inside each other: more than 1000",
        ),
        (
            "#a0 = 1\n"
            + "\n".join(f"#a{n} = [#a{n - 1}, #a{n - 1}]" for n in range(1, 40)),
            "alias '#a14' stands for 98303 parts",
        ),
        (
            "!a0 = i32\n"
            + "\n".join(f"!a{n} = tuple<!a{n - 1}, !a{n - 1}>" for n in range(1, 40)),
            "alias '!a14' stands for",
        ),
        ('#l = loc("f"(#l))', "location alias '#l' is defined by itself"),
    ],
)
def test_aliases_that_stand_for_too_much(text: str, message: str | None):
    if message is None:
        parse_program(text + "\nmodule {}")
        return
    with pytest.raises((CompileError, ParseError), match=message):
        parse_program(text + "\nmodule {}")


@pytest.mark.parametrize("size", ["9223372036854775808", "9" * 5_000])
def test_dimensions_beyond_64_bits(size: str):
    with pytest.raises(CompileError, match="does not fit in 64 bits"):
        parse_program(f"func.func private @f(tensor<{size}xf32>)")


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_what_a_function_may_use(inside: bool, nested: bool):
    """What is made in it, on any level; nothing around it, and not what itself makes."""
    mine, other = test.TestOp(result_types=[i32]), test.TestOp(result_types=[i32])
    user: Operation = test.TestOp(operands=[(mine if inside else other).results[0]])
    if nested:
        user = test.TestOp(regions=[Region(Block([user]))])
    holder = test.TestOp(result_types=[i32], regions=[Region(Block([mine, user]))])
    module = ModuleOp([other, holder])
    if inside:
        IsolatedFromAbove().verify(holder)
    else:
        with pytest.raises(VerifyException, match="defined out of its"):
            IsolatedFromAbove().verify(holder)
    IsolatedFromAbove().verify(module)
    holder.regions[0].block.add_op(test.TestOp(operands=[holder.results[0]]))
    with pytest.raises(VerifyException, match="defined out of its"):
        IsolatedFromAbove().verify(holder)
