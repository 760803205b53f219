"""Assertions, grids of processes, channels, quantized tensors."""

import numpy as np
import pytest

from tests.interpreters.reference import body, run
from ttxdsl.interpreters.ops.check import CheckError
from ttxdsl.interpreters.runtime.regions import LocatedError

F = "tensor<2xf32>"


def holds(line, *values):
    args = ", ".join(f"%{name}: {F}" for name in "ab")
    run(
        f"func.func @main({args}) {{ {line}\n return }}",
        *(np.array(v, np.float32) for v in values),
    )


@pytest.mark.parametrize(
    ("line", "good", "bad"),
    [
        (f"check.expect_eq %a, %b : {F}", [np.nan, -0.0], [np.nan, 1e-30]),
        ("check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>", None, None),
        (f"check.expect_almost_eq %a, %b : {F}", [1e-5, 1], [1e-3, 1]),
        (f"check.expect_almost_eq %a, %b, tolerance = 0.1 : {F}", [0.09, 1], [0.2, 1]),
        (f"check.expect_almost_eq %a, %b {{tolerance = 0.1 : f64}} : {F}", [0.09, 1], [0.2, 1]),
        (f"check.expect_close %a, %b, max_ulp_difference = 3 : {F}, {F}", None, None),
        (f'"stablehlo.custom_call"(%a, %b) <{{call_target_name = "check.expect_eq"}}> : ({F}, {F}) -> ()', [0, 1], [0, 2]),
    ],
    ids=str,
)  # fmt: skip
def test_assertions(line, good, bad):
    if "const" in line:
        holds(line, [1, 2], [0, 0])
        with pytest.raises(CheckError, match=r"the first at \[1\]: 3.0 instead of 2.0"):
            holds(line, [1, 3], [0, 0])
        return
    if "close" in line:
        next_ = np.float32(1) + np.finfo(np.float32).eps
        holds(line, [1, np.inf], [next_, np.inf])
        holds(line, [-1e-45, np.nan], [1e-45, np.nan])
        with pytest.raises(CheckError):
            holds(line, [1, 0], [1.000001, 0])
        with pytest.raises(CheckError):
            holds(line, [np.inf, 0], [3.4e38, 0])
        return
    zero = [np.nan, 0.0] if "expect_eq %" in line else [0, 1]
    holds(line, good, zero)
    with pytest.raises(CheckError):
        holds(line, bad, zero)


GRID = """
module {{
  func.func @one(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<ui32>, tensor<ui32>) {{
    {body}
    %p = stablehlo.partition_id : tensor<ui32>
    %q = stablehlo.replica_id : tensor<ui32>
    return %r, %q, %p : tensor<2xi64>, tensor<ui32>, tensor<ui32>
  }}
  func.func @main(%a: tensor<2xi64>, %b: tensor<2xi64>, %c: tensor<2xi64>, %d: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<ui32>, tensor<ui32>) {{
    %r:12 = "interpreter.run_parallel"(%a, %b, %c, %d) {{programs = [[@one, @one], [@one, @one]]}} :
      (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) ->
      (tensor<2xi64>, tensor<ui32>, tensor<ui32>, tensor<2xi64>, tensor<ui32>, tensor<ui32>, tensor<2xi64>, tensor<ui32>, tensor<ui32>, tensor<2xi64>, tensor<ui32>, tensor<ui32>)
    return %r#0, %r#3, %r#6, %r#9, %r#7, %r#8 : tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<ui32>, tensor<ui32>
  }}
}}"""

SUM = """%r = "stablehlo.all_reduce"(%x) ({{
      ^bb0(%u: tensor<i64>, %v: tensor<i64>):
        %s = stablehlo.add %u, %v : tensor<i64>
        stablehlo.return %s : tensor<i64>
    }}) {{{said}}} : (tensor<2xi64>) -> tensor<2xi64>"""

CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, "


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", [101, 1010, 101, 1010]),
        (CHANNEL + "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>", [1111] * 4),
        (CHANNEL + "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>", [11, 11, 1100, 1100]),
        (CHANNEL + "use_global_device_ids, replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>",
         [1001, 110, 110, 1001]),
    ],
    ids=str,
)  # fmt: skip
def test_strategies_in_a_grid(said, wanted):
    text = GRID.format(body=SUM.format(said=said))
    inputs = [np.array([v, 0]) for v in (1, 10, 100, 1000)]
    found = run(text, *inputs)
    assert [int(x[0]) for x in found[:4]] == wanted
    assert [int(x) for x in found[4:]] == [1, 0]


def test_a_process_that_waits_for_nothing():
    text = """
    module {
      func.func @wait(%t: !stablehlo.token) -> tensor<2xi64> {
        %r, %u = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
        return %r : tensor<2xi64>
      }
      func.func @other() -> tensor<2xi64> {
        %r = stablehlo.constant dense<1> : tensor<2xi64>
        return %r : tensor<2xi64>
      }
      func.func @main() -> tensor<2xi64> {
        %t = stablehlo.create_token : !stablehlo.token
        %r:2 = "interpreter.run_parallel"(%t) {programs = [[@wait], [@other]]} : (!stablehlo.token) -> (tensor<2xi64>, tensor<2xi64>)
        return %r#0 : tensor<2xi64>
      }
    }"""
    with pytest.raises(
        LocatedError, match=r"processes \[0\] wait for what no process sends"
    ):
        run(text)


Q = "!quant.uniform<i8:f32, 0.5:10>"


def test_quantized():
    text = f"""(%x: tensor<5xf32>) -> (tensor<5xi8>, tensor<5xf32>, tensor<5xf32>, tensor<f32>) {{
      %q = stablehlo.uniform_quantize %x : (tensor<5xf32>) -> tensor<5x{Q}>
      %b = stablehlo.bitcast_convert %q : (tensor<5x{Q}>) -> tensor<5xi8>
      %d = stablehlo.uniform_dequantize %q : (tensor<5x{Q}>) -> tensor<5xf32>
      %s = stablehlo.add %q, %q : tensor<5x{Q}>
      %e = stablehlo.uniform_dequantize %s : (tensor<5x{Q}>) -> tensor<5xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %zq = stablehlo.uniform_quantize %z : (tensor<f32>) -> tensor<{Q}>
      %t = stablehlo.reduce(%q init: %zq) applies stablehlo.maximum across dimensions = [0] : (tensor<5x{Q}>, tensor<{Q}>) -> tensor<{Q}>
      %m = stablehlo.uniform_dequantize %t : (tensor<{Q}>) -> tensor<f32>
      return %b, %d, %e, %m : tensor<5xi8>, tensor<5xf32>, tensor<5xf32>, tensor<f32>
    }}"""
    x = np.array([0.25, 1.2, -3, 500, -500], np.float32)
    stored, real, doubled, most = body(text, x)
    assert stored.tolist() == [10, 12, 4, 127, -128]
    assert real.tolist() == [0, 1, -3, 58.5, -69]
    assert doubled.tolist() == [0, 2, -6, 58.5, -69]
    assert float(most) == 58.5


def test_quantized_by_axis():
    kind = "!quant.uniform<i8:f32:0, {0.5, 0.25:4}>"
    text = f"""(%x: tensor<2x2xf32>) -> (tensor<2x2xi8>, tensor<2x2xf32>) {{
      %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x{kind}>
      %b = stablehlo.bitcast_convert %q : (tensor<2x2x{kind}>) -> tensor<2x2xi8>
      %d = stablehlo.uniform_dequantize %q : (tensor<2x2x{kind}>) -> tensor<2x2xf32>
      return %b, %d : tensor<2x2xi8>, tensor<2x2xf32>
    }}"""
    x = np.array([[1, 2], [1, 2]], np.float32)
    stored, real = body(text, x)
    assert stored.tolist() == [[2, 4], [8, 12]]
    np.testing.assert_array_equal(real, x)
