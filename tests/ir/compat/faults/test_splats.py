"""Constants of equal elements are held as one element, on the whole way down."""

import tracemalloc

import numpy as np
import pytest
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

import ttxdsl
from ttxdsl.interpreters.kernels.elements import constant
from ttxdsl.loading.program import make_context

GIB = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<NxROWxf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> tensor<NxROWxf32> {
  %c = stablehlo.constant dense<2.0> : tensor<NxROWxf32>
  %d = stablehlo.constant dense<"0xCDCC8C3F"> : tensor<NxROWxf32>
  %t = stablehlo.constant dense<true> : tensor<NxROWxi1>
  %0 = stablehlo.select %t, %c, %d : tensor<NxROWxi1>, tensor<NxROWxf32>
  %1 = stablehlo.add %a, %0 : tensor<NxROWxf32>
  return %1 : tensor<NxROWxf32>
}
""".replace("ROW", "16384").replace("N", "16384")


def dense(text: str) -> DenseIntOrFPElementsAttr:
    value = Parser(make_context(), text).parse_attribute()
    assert isinstance(value, DenseIntOrFPElementsAttr)
    return value


def test_compiling_a_splat_of_a_gib_takes_no_gib():
    make_context()
    tracemalloc.start()
    try:
        program = ttxdsl.load(GIB)
        device = program.partition()
        lowered = device.lower("ttnn")
        text = program.text + device.text + lowered.text
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "tensor<4096x16384xf32>" in text
    assert peak < 1 << 26


@pytest.mark.parametrize(
    ("splat", "other"),
    [
        (
            "dense<7> : tensor<2x3xi32>",
            "dense<[[7, 7, 7], [7, 7, 7]]> : tensor<2x3xi32>",
        ),
        ("dense<1.0> : tensor<2xf32>", 'dense<"0x0000803F0000803F"> : tensor<2xf32>'),
        ("dense<-2> : tensor<2xi4>", 'dense<"0x0E0E"> : tensor<2xi4>'),
        ("dense<-2> : tensor<2xi4>", 'dense<"0x0E"> : tensor<2xi4>'),
        (
            "dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>",
            "dense<[(1.0, 2.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>",
        ),
        ("dense<7> : tensor<0x3xi32>", "dense<> : tensor<0x3xi32>"),
    ],
)
def test_equal_constants_are_equal_however_they_are_written(splat: str, other: str):
    one, same = dense(splat), dense(other)
    assert one == same
    assert hash(one) == hash(same)
    assert str(one) == str(same)
    assert np.array_equal(constant(one), constant(same))


def test_elements_that_differ_late_are_no_splat():
    numbers = np.ones(1 << 17, np.int32)
    type_ = TensorType(i32, numbers.shape)
    whole = DenseIntOrFPElementsAttr(type_, BytesAttr(numbers.tobytes()))
    assert whole.is_splat()
    assert len(whole.data.data) == 4
    for at in (1, 1 << 14, (1 << 17) - 2):
        changed = numbers.copy()
        changed[at] = 2
        value = DenseIntOrFPElementsAttr(type_, BytesAttr(changed.tobytes()))
        assert not value.is_splat()
        assert np.array_equal(constant(value), changed)


def test_all_that_lists_elements_lists_them_all():
    value = dense("dense<3> : tensor<2x2xi32>")
    assert len(value) == 4
    assert value.get_values() == (3, 3, 3, 3)
    assert tuple(value.iter_values()) == (3, 3, 3, 3)
    assert [one.value.data for one in value.iter_attrs()] == [3, 3, 3, 3]
    assert len(value.get_attrs()) == 4
    floats = DenseIntOrFPElementsAttr.from_list(TensorType(f32, (3,)), [0.5])
    assert len(floats.get_attrs()) == 3
    assert floats.shape_is_complete
    with pytest.raises(VerifyException, match="can only hold 1 value but 2"):
        DenseIntOrFPElementsAttr(TensorType(i32, ()), BytesAttr(bytes(range(8))))


def test_nobody_lists_a_splat_without_end():
    with pytest.raises(VerifyException, match="at most 16777216 numbers"):
        dense("dense<0> : tensor<1000000x1000000xi64>").get_values()
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64,
        replica_groups = dense<0> : tensor<1000000x1000000xi64>}>
        : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    with pytest.raises(ttxdsl.CompileError, match="at most 16777216 numbers"):
        ttxdsl.load(text)


def test_ttir_refuses_sizes_that_its_shapes_cannot_say():
    text = """func.func @main(%x: tensor<3000000000xi8>) -> tensor<3000000000xi8> {
      return %x : tensor<3000000000xi8>
    }"""
    with pytest.raises(ttxdsl.UnsupportedError, match="dimension above 2147483647"):
        ttxdsl.load(text).partition().lower("ttir")
