"""Bytes at each op, counted by hand."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.analysis.usage.compilers import TPU
from tests.work import calls
from ttxdsl.analysis.usage.memory import MemoryParts, MemoryProfile, memory_profile
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program


def profile_of(body: str, arguments: str = "%a: tensor<8xf32>") -> MemoryProfile:
    text = f"func.func @main({arguments}) -> tensor<8xf32> {{\n{body}\n}}"
    profile = memory_profile(parse_program(text))
    assert sum(value.bytes for value in profile.peak_values) == profile.peak_bytes
    assert profile.points[profile.peak].bytes == profile.peak_bytes
    return profile


CHAIN = """
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = stablehlo.negate %1 : tensor<8xf32>
  return %2 : tensor<8xf32>"""


@pytest.mark.parametrize("name", ["tf.aliasing_output = 0 : i32", "jax.buffer_donor = true"])  # fmt: skip
def test_a_donated_argument_ends_with_its_last_use(name: str):
    profile = profile_of(CHAIN, f"%a: tensor<8xf32> {{{name}}}")
    assert [point.bytes for point in profile.points] == [64, 64, 64, 32]
    assert (profile.argument_bytes, profile.donated_bytes) == (32, 32)
    assert profile.parts == MemoryParts(32, 32, 32, 32)
    assert profile.parts.total == 64


def test_parts_are_those_of_xla():
    """A constant of different elements is temporary; nothing is aliased by itself."""
    profile = profile_of(
        "%0 = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>\n"
        "%1 = stablehlo.add %a, %0 : tensor<8xf32>\n"
        "return %1 : tensor<8xf32>"
    )
    assert profile.parts == MemoryParts(32, 32, 0, 32)
    assert profile.parts.data()["total"] == profile.parts.total == 96


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }",
            "its shape is not static",
        ),
        (
            "func.func @f() { return }\nfunc.func @g() { return }",
            "no function @main, and the public functions are: @f, @g",
        ),
        (
            "func.func @main(%a: memref<2xf32>) { return }",
            "the memory of a value of type memref<2xf32> is not known",
        ),
    ],
)
def test_what_cannot_be_counted(text: str, message: str):
    with pytest.raises(CompileError) as raised:
        memory_profile(parse_program(text))
    assert message in str(raised.value)


def test_work_is_linear():
    def work(count: int) -> int:
        lines = [
            f"  %{at + 1} = stablehlo.negate %{at} : tensor<8xf32>"
            for at in range(count)
        ]
        text = "\n".join(
            (
                "func.func @main(%0: tensor<8xf32>) -> tensor<8xf32> {",
                *lines,
                f"  return %{count} : tensor<8xf32>",
                "}",
            )
        )
        module = parse_program(text)

        def count_bytes() -> None:
            assert memory_profile(module).peak_bytes == 96

        return calls(count_bytes)

    assert work(4000) < 4.2 * work(1000)


def test_one_donated_argument_is_the_place_of_one_result():
    text = """
    func.func @main(%a: tensor<1048576xf32> {jax.buffer_donor = true}) -> (tensor<1048576xf32>, tensor<1048576xf32>) {
      %0 = stablehlo.negate %a : tensor<1048576xf32>
      %1 = stablehlo.exponential %a : tensor<1048576xf32>
      return %0, %1 : tensor<1048576xf32>, tensor<1048576xf32>
    }
    """
    profile = memory_profile(parse_program(text), compiler=TPU)
    # the first is begun while the argument is read, and copied; the second has its own
    assert profile.peak_bytes == 12 << 20


T = "tensor<256x256xf32>"
BYTES = 256 * 256 * 4


def module_of(body: str, results: str, arguments: str) -> ModuleOp:
    return parse_program(f"func.func @main({arguments}) -> ({results}) {{{body}}}")


def test_donated_arguments_hold_their_results():
    donated = f"%x: {T} {{tf.aliasing_output = 0 : i32}}"
    body = f"  %0 = stablehlo.negate %x : {T}\n  return %0 : {T}"
    kept, given = (
        memory_profile(module_of(body, T, one), compiler=TPU).peak_bytes
        for one in (f"%x: {T}", donated)
    )
    assert (kept, given) == (2 * BYTES, BYTES)


def test_arguments_that_are_returned_are_the_place_of_no_other_result():
    part = T.replace("256x256", "8x256")
    body = f"""
        %i = stablehlo.constant dense<0> : tensor<i32>
        %0 = stablehlo.dynamic_update_slice %x, %p, %i, %i : ({T}, {part}, tensor<i32>, tensor<i32>) -> {T}
        %1 = stablehlo.negate %y : {T}
        return %0, %1 : {T}, {T}"""
    arguments = f"%x: {T} {{jax.buffer_donor = true}}, %y: {T}, %p: {part}"
    module = module_of(body, f"{T}, {T}", arguments)
    profile = memory_profile(module, compiler=TPU)
    # the other result has a buffer of its own throughout
    assert profile.points[0].bytes >= profile.argument_bytes + BYTES


def test_the_first_result_of_a_type_takes_the_place_of_the_first_argument():
    """It is copied there if the argument is still read, though another one's place is free."""
    body = f"""
  %0 = stablehlo.negate %y : {T}
  %1 = stablehlo.custom_call @another(%0, %{{read}}) : ({T}, {T}) -> {T}
  return %0, %1 : {T}, {T}"""
    donated = "{jax.buffer_donor = true}"
    peaks = [
        memory_profile(
            module_of(
                body.replace("%{read}", read),
                f"{T}, {T}",
                f"%x: {T} {donated}, %y: {T} {donated}",
            ),
            compiler=TPU,
        ).peak_bytes
        for read in ("%x", "%0")
    ]
    assert peaks == [3 * BYTES, 2 * BYTES]


@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_loop_writes_over_what_it_replaces_alone(is_replaced: bool):
    """A mask that a loop only carries is no place for what is made with it."""
    pair = f"{T}, {T}"
    text = f"""
      %i = stablehlo.constant dense<0> : tensor<i32>
      %z = stablehlo.constant dense<0.0> : {T}
      %0:3 = stablehlo.while(%j = %i, %v = %x, %w = %z) : tensor<i32>, {pair}
      cond {{
        %p = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }} do {{
        %d = stablehlo.dot_general %w, %y, contracting_dims = [1] x [0] : ({pair}) -> {T}
        %e = stablehlo.add %d, %v : {T}
        %f = stablehlo.custom_call @another(%e) : ({T}) -> {T}
        %k = stablehlo.add %j, %n : tensor<i32>
        stablehlo.return %k, {"%e" if is_replaced else "%v"}, %f : tensor<i32>, {pair}
      }}
      return %0#2 : {T}"""
    module = module_of(text, T, f"%x: {T}, %y: {T}, %n: tensor<i32>")
    profile = memory_profile(module, compiler=TPU)
    names = [value.name for value in profile.peak_values]
    assert ("add" in names) is not is_replaced
