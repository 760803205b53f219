"""Ops without a form in tt-mlir: partitioned, lowered and run, they keep their numbers."""

import pytest
from xdsl.utils.exceptions import VerifyException

from tests.conversion.compare import (
    assert_close,
    assert_same_numbers,
    op_names,
    random_inputs,
    to_ttir,
)
from tests.dialects.tt_text import parse
from tests.sampling import sampled
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

F, C = "tensor<8x4xf32>", "tensor<8x4xcomplex<f32>>"
Q = "!quant.uniform<i8:f32, 0.05:1>"
P = "!quant.uniform<i8:f32:1, {0.05:1, 0.1:2, 0.2, 0.3}>"


CASES: dict[str, tuple[str, str, str]] = {
    # name: (type of the argument, ops on %x that make %r, type of the result)
    "complex product": (
        C,
        f"%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : "
        f"({C}, {C}) -> tensor<8x8xcomplex<f32>>",
        "tensor<8x8xcomplex<f32>>",
    ),
    "complex constant": (
        C,
        f"""%c = stablehlo.constant dense<(1.5, -2.0)> : {C}
        %r = stablehlo.add %x, %c : {C}""",
        C,
    ),
    "complex pad": (
        C,
        f"""%c = stablehlo.constant dense<(1.5, -2.0)> : tensor<complex<f32>>
        %r = stablehlo.pad %x, %c, low = [0, 1], high = [0, 1], interior = [0, 0] :
          ({C}, tensor<complex<f32>>) -> tensor<8x6xcomplex<f32>>""",
        "tensor<8x6xcomplex<f32>>",
    ),
    "complex sum": (
        C,
        f"""%c = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
        %r = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
          : ({C}, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>""",
        "tensor<4xcomplex<f32>>",
    ),
    "parts": (
        F,
        f"""%c = stablehlo.complex %x, %x : {C}
        %j = chlo.conj %c : {C} -> {C}
        %a = stablehlo.real %j : ({C}) -> {F}
        %b = stablehlo.imag %j : ({C}) -> {F}
        %r = stablehlo.subtract %a, %b : {F}""",
        F,
    ),
    "broadcasting": (
        F,
        f"""%a = chlo.broadcast_next_after %x, %x : ({F}, {F}) -> {F}
        %t = stablehlo.constant dense<2.5> : tensor<f32>
        %s = chlo.broadcast_multiply %a, %a : ({F}, {F}) -> {F}
        %p = chlo.broadcast_add %s, %t : ({F}, tensor<f32>) -> {F}
        %r = chlo.broadcast_zeta %p, %t : ({F}, tensor<f32>) -> {F}""",
        F,
    ),
    "erf_inv of f64": (
        "tensor<8xf64>",
        """%t = stablehlo.tanh %x : tensor<8xf64>
        %r = chlo.erf_inv %t : tensor<8xf64> -> tensor<8xf64>""",
        "tensor<8xf64>",
    ),
    "cholesky, triangular_solve": (
        "tensor<8x3x3xf32>",
        """%t = stablehlo.transpose %x, dims = [0, 2, 1] :
          (tensor<8x3x3xf32>) -> tensor<8x3x3xf32>
        %m = stablehlo.dot_general %x, %t, batching_dims = [0] x [0],
          contracting_dims = [2] x [1] :
          (tensor<8x3x3xf32>, tensor<8x3x3xf32>) -> tensor<8x3x3xf32>
        %l = stablehlo.cholesky %m, lower = true : tensor<8x3x3xf32>
        %r = "stablehlo.triangular_solve"(%l, %x) {left_side = true, lower = true,
          unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} :
          (tensor<8x3x3xf32>, tensor<8x3x3xf32>) -> tensor<8x3x3xf32>""",
        "tensor<8x3x3xf32>",
    ),
    "rand": (
        F,
        f"""%a = stablehlo.constant dense<-1.0> : tensor<f32>
        %b = stablehlo.constant dense<2.0> : tensor<f32>
        %s = stablehlo.constant dense<[8, 4]> : tensor<2xi64>
        %u = stablehlo.rng %a, %b, %s, distribution = UNIFORM :
          (tensor<f32>, tensor<f32>, tensor<2xi64>) -> {F}
        %n = stablehlo.rng %a, %b, %s, distribution = NORMAL :
          (tensor<f32>, tensor<f32>, tensor<2xi64>) -> {F}
        %y = stablehlo.add %u, %n : {F}
        %r = stablehlo.add %x, %y : {F}""",
        F,
    ),
    "bitcast to wide": (
        "tensor<8x4x2xui16>",
        f"%r = stablehlo.bitcast_convert %x : (tensor<8x4x2xui16>) -> {F}",
        F,
    ),
    "bitcast to bits": (
        "tensor<8xi8>",
        "%r = stablehlo.bitcast_convert %x : (tensor<8xi8>) -> tensor<8x8xi1>",
        "tensor<8x8xi1>",
    ),
    "einsum": (
        F,
        f"""%e = "stablehlo.einsum"(%x, %x) {{einsum_config = "ab,cb->ac"}} :
          ({F}, {F}) -> tensor<8x8xf32>
        %r = "stablehlo.unary_einsum"(%e) {{einsum_config = "ab->ba"}} :
          (tensor<8x8xf32>) -> tensor<8x8xf32>""",
        "tensor<8x8xf32>",
    ),
    "index_select": (
        "tensor<8x4x6xf32>",
        """%i = stablehlo.constant dense<[[0, 3], [1, 1], [2, 0], [3, 3],
          [0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<8x2xi32>
        %r = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64}
          : (tensor<8x4x6xf32>, tensor<8x2xi32>) -> tensor<8x2x6xf32>""",
        "tensor<8x2x6xf32>",
    ),
    "tokens": (
        F,
        f"""%t = stablehlo.create_token : !stablehlo.token
        %u = stablehlo.after_all %t, %t : !stablehlo.token
        %r, %v = stablehlo.optimization_barrier %x, %u : {F}, !stablehlo.token""",
        F,
    ),
    "scatter of a quotient": (
        F,
        f"""%i = stablehlo.constant dense<[[1], [5], [1], [9]]> : tensor<4x1xi32>
        %u = stablehlo.constant dense<2.0> : tensor<4x4xf32>
        %r = "stablehlo.scatter"(%x, %i, %u) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %d = stablehlo.divide %b, %a : tensor<f32>
          stablehlo.return %d : tensor<f32>
        }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}} : ({F}, tensor<4x1xi32>, tensor<4x4xf32>) -> {F}""",
        F,
    ),
    "branches in a body": (
        F,
        f"""%z = stablehlo.constant dense<0.0> : tensor<f32>
        %r = "stablehlo.reduce"(%x, %z) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %m = "stablehlo.if"(%p) ({{
            stablehlo.return %a : tensor<f32>
          }}, {{
            stablehlo.return %b : tensor<f32>
          }}) : (tensor<i1>) -> tensor<f32>
          stablehlo.return %m : tensor<f32>
        }}) {{dimensions = array<i64: 1>}} : ({F}, tensor<f32>) -> tensor<8xf32>""",
        "tensor<8xf32>",
    ),
    "special functions in a body": (
        F,
        f"""%r = "stablehlo.map"(%x) ({{
        ^bb0(%a: tensor<f32>):
          %g = chlo.lgamma %a : tensor<f32> -> tensor<f32>
          stablehlo.return %g : tensor<f32>
        }}) {{dimensions = array<i64: 0, 1>}} : ({F}) -> {F}""",
        F,
    ),
    "quantized": (
        F,
        f"""%q = stablehlo.uniform_quantize %x : ({F}) -> tensor<8x4x{Q}>
        %s = stablehlo.add %q, %q : (tensor<8x4x{Q}>, tensor<8x4x{Q}>)
          -> tensor<8x4x!quant.uniform<i8:f32, 0.1:2>>
        %t = stablehlo.transpose %s, dims = [1, 0] :
          (tensor<8x4x!quant.uniform<i8:f32, 0.1:2>>)
          -> tensor<4x8x!quant.uniform<i8:f32, 0.1:2>>
        %u = stablehlo.uniform_quantize %t :
          (tensor<4x8x!quant.uniform<i8:f32, 0.1:2>>) -> tensor<4x8x{Q}>
        %r = stablehlo.uniform_dequantize %u : (tensor<4x8x{Q}>) -> tensor<4x8xf32>""",
        "tensor<4x8xf32>",
    ),
    "quantized by slice": (
        F,
        f"""%q = stablehlo.uniform_quantize %x : ({F}) -> tensor<8x4x{P}>
        %r = stablehlo.uniform_dequantize %q : (tensor<8x4x{P}>) -> {F}""",
        F,
    ),
    "quantized result": (
        f"tensor<8x4x{Q}>",
        f"""%r = stablehlo.multiply %x, %x : (tensor<8x4x{Q}>, tensor<8x4x{Q}>)
          -> tensor<8x4x{Q}>""",
        f"tensor<8x4x{Q}>",
    ),
}


@pytest.mark.parametrize("name", sampled(CASES, 10))
def test_numbers(name: str):
    """Split over four devices, the same as on one; text is read back in between."""
    type, ops, result = CASES[name]
    rank = type.split("<", 1)[1].split("!")[0].count("x") - type.count("complex")
    first = '{"x"}' if "<8" in type else "{}"
    dims = ", ".join([first, *["{}"] * (rank - 1)])
    module = parse(f"""
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main(%x: {type} {{sdy.sharding = #sdy.sharding<@mesh, [{dims}]>}})
        -> {result} {{
      {ops}
      return %r : {result}
    }}""")
    inputs = random_inputs(module)
    wanted = run_module(module.clone(), inputs)
    with collect_remarks():
        TTStableHLOPipelinePass().apply(make_context(), module)
    lowered = to_ttir(str(module))
    for form in ("ttir", "ttnn"):
        if form == "ttnn":
            convert_ttir_to_ttnn(lowered)
        lowered.verify()
        lowered = parse(str(lowered))
        for got, value in zip(run_module(lowered, inputs), wanted, strict=True):
            assert_close(got, value)


COLLECTIVE = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg: tensor<8x4xf32>) -> tensor<8x4xf32> {{
  %0 = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>]
      out_shardings=[<@mesh, [{{"x", "y"}}, {{}}]>] manual_axes={{"x", "y"}}
      (%a: tensor<2x4xf32>) {{
    {}
    sdy.return %r : tensor<2x4xf32>
  }} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}}
"""
ADD = """({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
    })"""
LOCAL = "(tensor<2x4xf32>) -> tensor<2x4xf32>"
PAIRS = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
ODD = "replica_groups = dense<[[0, 1, 3], [2, -1, -1]]> : tensor<2x3xi64>"
ROOT = "%k = stablehlo.constant dense<1> : tensor<1xi32>"
ROOTED = "(tensor<2x4xf32>, tensor<1xi32>) -> tensor<2x4xf32>"


COLLECTIVES = dict(
    zip(
        ["sum", "reduce", "root", "broadcast", "sizes", "async", "axes"],
        [
            f'%r = "stablehlo.cross-replica-sum"(%a) {{{PAIRS}}} : {LOCAL}',
            f'%r = "stablehlo.collective_reduce"(%a) {ADD} {{{PAIRS}}} : {LOCAL}',
            f"""{ROOT}
        %r = "stablehlo.collective_reduce"(%a, %k) <{{{PAIRS}, has_dynamic_root}}> {ADD}
          : {ROOTED}""",
            f"""{ROOT}
        %r = "stablehlo.collective_broadcast"(%a, %k) <{{{PAIRS}, has_dynamic_root}}>
          : {ROOTED}""",
            f'%r = "stablehlo.all_reduce"(%a) {ADD} {{{ODD}}} : {LOCAL}',
            f"""%f = "stablehlo.async_start"(%a) ({{
          ^bb0(%b: tensor<2x4xf32>):
            %g = "stablehlo.all_reduce"(%b) {ADD} {{{PAIRS}}} : {LOCAL}
            stablehlo.return %g : tensor<2x4xf32>
        }}) : (tensor<2x4xf32>) -> !stablehlo.future<tensor<2x4xf32>>
        %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2x4xf32>>)
          -> tensor<2x4xf32>""",
            f"""%r = "stablehlo.all_reduce"(%a) {ADD} {{replica_groups =
          #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>
          }} : {LOCAL}""",
        ],
        strict=True,
    )
)


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collectives(name: str):
    assert_same_numbers(COLLECTIVE.format(COLLECTIVES[name]))


def test_rand_where_tt_mlir_can_say_it():
    type, ops, result = CASES["rand"]
    text = f"func.func @main(%x: {type}) -> {result} {{ {ops} return %r : {result} }}"
    names = op_names(to_ttir(text))
    assert names.count("ttir.rand") == names.count("ttir.rng") == 1


def test_a_custom_call_keeps_its_fields_and_functions():
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = stablehlo.custom_call @mystery(%x) {backend_config = "abc",
        called_computations = [@body], has_side_effect = true, my.note = 3 : i32} :
        (tensor<4xf32>) -> tensor<4xf32>
      return %x : tensor<4xf32>
    }
    func.func private @body(%x: tensor<f32>) -> tensor<f32> {
      return %x : tensor<f32>
    }"""
    module = to_ttir(text)
    convert_ttir_to_ttnn(module)
    [call] = [op for op in module.walk() if op.name == "ttnn.custom_call"]
    assert call.properties["backend_config"].data == "abc"
    assert "my.note" in call.attributes
    assert str(parse(str(module))).count("@body") == 2


def test_the_verifier_of_the_op_that_it_stands_for():
    text = """
    func.func @main(%a: tensor<3x4xf32>, %o: tensor<3x4xf32>) -> tensor<3x4xf32> {
      %r = "ttir.cholesky"(%a, %o) <{lower = true}> :
        (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
      return %r : tensor<3x4xf32>
    }"""
    with pytest.raises(VerifyException, match=r"3, 4|3x4"):
        parse(text)
