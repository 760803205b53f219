"""Slices at computed starts along a split dimension: sums of parts, where these are less."""

import numpy as np
import pytest

from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

FOUR, TWO = '["a"=4]', '["a"=2, "b"=4]'
ROW = 16 * 4
"""Bytes of a row of the operand, which is 64x16."""


def slices(
    sizes: str = "1, 16",
    *,
    mesh: str = FOUR,
    split: str = '{"a"}, {}',
    result: str = "{}, {}",
    count: int = 1,
    start: str = "i32",
) -> str:
    """The sum of some slices of one value."""
    out = f"tensor<{sizes.replace(', ', 'x')}xf32>"
    starts = ", ".join(f"%i{at}: tensor<{start}>" for at in range(count))
    body = "".join(
        f"  %{at} = stablehlo.dynamic_slice %x, %i{at}, %zero, sizes = [{sizes}]"
        f" : (tensor<64x16xf32>, tensor<{start}>, tensor<{start}>) -> {out}\n"
        + (f"  %s{at} = stablehlo.add %s{at - 1}, %{at} : {out}\n" if at else f"  %s0 = stablehlo.sine %0 : {out}\n")
        for at in range(count)
    )  # fmt: skip
    return f"""
sdy.mesh @mesh = <{mesh}>
func.func @main(%x: tensor<64x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{split}]>}}, {starts})
    -> ({out} {{sdy.sharding = #sdy.sharding<@mesh, [{result}]>}}) {{
  %zero = stablehlo.constant dense<2> : tensor<{start}>
{body}  return %s{count - 1} : {out}
}}"""


def sent(text: str, starts: list[int]) -> int:
    """The bytes that a device sends, once the numbers are those of one device."""
    module = parse_program(text)
    x = np.random.default_rng(0).standard_normal((64, 16), dtype=np.float32)
    kind = np.dtype(np.int8 if "tensor<i8>" in text else np.int32)
    arguments = [x, *(np.array(start, kind) for start in starts)]
    expected = run_module(module.clone(), arguments)
    with collect_remarks():
        TTStableHLOPipelinePass(verify_each=True).apply(make_context(), module)
    np.testing.assert_allclose(run_module(module, arguments)[0], expected[0], rtol=1e-6)
    return bytes_sent(module)


@pytest.mark.parametrize("start", [0, 5, 15, 16, 61, 63, 64, 99, -1, -70])
@pytest.mark.parametrize("start_type", ["i32", "i8"])
def test_starts_are_clamped(start: int, start_type: str):
    assert sent(slices("4, 16", start=start_type), [start]) == 2 * 3 * 4 * ROW // 4


@pytest.mark.parametrize(
    ("text", "starts", "expected"),
    [
        (slices(), [17], 2 * 3 * ROW // 4),
        (slices(mesh=TWO), [17], 2 * ROW // 2),
        (slices(mesh=TWO, split='{"a", "b"}, {}'), [17], 2 * 7 * ROW // 8),
        (slices("4, 8"), [17], 2 * 3 * 2 * ROW // 4),
        # each device needs only its own rows
        (slices("8, 16", result='{"a"}, {}'), [17], 3 * 8 * ROW // 4),
        # the other dimension is split and stays so
        (slices(mesh=TWO, split='{"a"}, {"b"}', result='{}, {"b"}'), [17], ROW // 4),
        # most of the operand: gathered, as are many slices of it
        (slices("48, 16"), [3], 48 * ROW),
        (slices("4, 16", count=2), [3, 50], 2 * 2 * 3 * 4 * ROW // 4),
        (slices("4, 16", count=16), [3 * at for at in range(16)], 48 * ROW),
    ],
)
def test_what_is_sent(text: str, starts: list[int], expected: int):
    assert sent(text, starts) == expected


LOOP = """
sdy.mesh @mesh = <["a"=4]>
func.func @main(%x: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<1x16xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<TURNS> : tensor<i32>
  %start = stablehlo.constant dense<0.0> : tensor<1x16xf32>
  %0:3 = stablehlo.while(%v = %x, %i = %zero, %s = %start) : tensor<64x16xf32>, tensor<i32>, tensor<1x16xf32>
  cond {
    %p = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %v, %i, %zero, sizes = [1, 16] : (tensor<64x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
    %sine = stablehlo.sine %s : tensor<1x16xf32>
    %sum = stablehlo.add %sine, %row : tensor<1x16xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %v, %next, %sum : tensor<64x16xf32>, tensor<i32>, tensor<1x16xf32>
  }
  return %0#2 : tensor<1x16xf32>
}"""


@pytest.mark.parametrize(
    ("turns", "expected"),
    # some rows are summed one by one, for many the operand is gathered before the loop
    [(3, 3 * 2 * 3 * ROW // 4), (64, 48 * ROW)],
)
def test_slices_in_a_loop(turns: int, expected: int):
    assert sent(LOOP.replace("TURNS", str(turns)), []) == expected
