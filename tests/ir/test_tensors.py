"""What elements take: one answer for collectives, memory and time, and it is XLA's."""

import pytest

import ttxdsl
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.ir.tensors import value_bytes

# what XLA's memory_analysis() says of an argument of 64x64, and what it stores
BYTES = {
    "i1": 4096,  # pred
    "i2": 1024,  # s2[64,64]{1,0:E(2)}
    "ui4": 2048,  # u4[64,64]{1,0:E(4)}
    "i4": 2048,
    "i8": 4096,
    "f4E2M1FN": 2048,
    "f8E4M3FN": 4096,
    "bf16": 8192,
    "f32": 16384,
    "i64": 32768,
    "complex<f32>": 32768,
    "complex<f64>": 65536,
    "!quant.uniform<i8:f32, 0.5>": 4096,
}


@pytest.mark.parametrize("element", BYTES)
def test_collectives_and_memory_count_an_element_alike(element: str):
    whole = BYTES[element]
    program = ttxdsl.load(f"""
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<64x64x{element}> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
    -> (tensor<64x64x{element}> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}}) {{
  return %a : tensor<64x64x{element}>
}}""")
    local = program.partition()
    memory = local.memory()
    assert (memory.argument_bytes, memory.result_bytes) == (whole // 8, whole)
    (gather,) = local.collectives()
    assert gather.bytes_per_device == 7 * (whole // 8)


def test_elements_below_a_byte_are_packed():
    program = ttxdsl.load("""
func.func @main(%a: tensor<3x3xi4>, %b: tensor<i1>, %c: tensor<3xi2>) -> tensor<3x3xi4> {
  return %a : tensor<3x3xi4>
}""")
    arguments = entry_function(program.module).body.block.args
    assert [value_bytes(one) for one in arguments] == [5, 1, 1]
