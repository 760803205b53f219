"""Dialects that are not ours take part in propagation: xDSL's linalg and tosa."""

from collections.abc import Iterator

import pytest
from xdsl.context import Context
from xdsl.dialects import tosa
from xdsl.dialects.linalg.ops import LinalgStructuredOperation, ReduceOp
from xdsl.ir.affine import AffineDimExpr
from xdsl.parser import Parser
from xdsl.universe import Universe

from ttxdsl.dialects.sdy import get_sharding
from ttxdsl.rules import (
    register_sharding_rule,
    sharding_rule,
    sharding_rule_of,
    unregister_sharding_rule,
)
from ttxdsl.transforms.shardy.propagation.basic import BasicPropagatePass

SYMBOLS = "ijklmnop"


def structured(op: LinalgStructuredOperation) -> str:
    """The rule of any structured op, from its indexing maps and iterators.

    A loop is a factor; results have the maps of the outputs.
    """
    tensors: list[str] = []
    for indexing_map in op.get_indexing_maps():
        dims: list[str] = []
        for expression in indexing_map.data.results:
            assert isinstance(expression, AffineDimExpr)
            dims.append(SYMBOLS[expression.position])
        tensors.append(f"[{', '.join(dims)}]")
    loops = [
        SYMBOLS[dim]
        for dim, iterator in enumerate(op.get_iterator_types())
        if iterator.data.value == "reduction"
    ]
    results = tensors[len(tensors) - len(op.results) :]
    # each device would add its part to the initial values: the sum is right for zeros
    return (
        f"({', '.join(tensors)})->({', '.join(results)})"
        + f" reduction={{{', '.join(loops)}}}" * bool(loops)
    )


def reduce(op: ReduceOp) -> str:
    rank = len(op.input.type.get_shape())
    reduced = op.dimensions.get_values()
    left = ", ".join(SYMBOLS[dim] for dim in range(rank) if dim not in reduced)
    gone = ", ".join(SYMBOLS[dim] for dim in reduced)
    every = ", ".join(SYMBOLS[:rank])
    return f"([{every}], [{left}])->([{left}]) reduction={{{gone}}}"


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    register_sharding_rule(LinalgStructuredOperation, structured)
    sharding_rule_of(ReduceOp)(reduce)
    register_sharding_rule(tosa.ReciprocalOp, "([...])->([...])")
    register_sharding_rule(
        tosa.MatMulOp, "([b, i, k], [b, k, j], [*], [*])->([b, i, j]) reduction={k}"
    )
    yield
    for op_class in (
        LinalgStructuredOperation,
        ReduceOp,
        tosa.ReciprocalOp,
        tosa.MatMulOp,
    ):
        unregister_sharding_rule(op_class)


LINALG = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
    %out: tensor<8x32xf32>, %flipped: tensor<32x8xf32>, %rows: tensor<32xf32>
) -> tensor<32xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>)
                     outs(%out : tensor<8x32xf32>) -> tensor<8x32xf32>
  %1 = linalg.add ins(%0, %0 : tensor<8x32xf32>, tensor<8x32xf32>)
                  outs(%out : tensor<8x32xf32>) -> tensor<8x32xf32>
  %2 = "linalg.transpose"(%1, %flipped) <{permutation = array<i64: 1, 0>}> ({
  ^bb0(%a: f32, %b: f32):
    "linalg.yield"(%a) : (f32) -> ()
  }) : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  %3 = "linalg.reduce"(%2, %rows) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    "linalg.yield"(%c) : (f32) -> ()
  }) : (tensor<32x8xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %3 : tensor<32xf32>
}
"""

TOSA = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(
    %x: tensor<1x8x16xf32>,
    %w: tensor<1x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>},
    %zero: tensor<1xf32>
) -> tensor<1x8x32xf32> {
  %0 = tosa.matmul %x, %w, %zero, %zero :
      (tensor<1x8x16xf32>, tensor<1x16x32xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<1x8x32xf32>
  %1 = tosa.reciprocal %0 : (tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  return %1 : tensor<1x8x32xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "rules", "shardings"),
    [
        (
            LINALG,
            [
                "([i, k], [k, j], [i, j])->([i, j]) {i=8, j=32, k=16} reduction={k}",
                "([i, j], [i, j], [i, j])->([i, j]) {i=8, j=32}",
                "([j, i], [i, j])->([i, j]) {i=32, j=8}",
                "([i, j], [i])->([i]) {i=32, j=8} reduction={j}",
            ],
            [
                '[{"x", ?}, {"y", ?}]',
                '[{"x", ?}, {"y", ?}]',
                '[{"y", ?}, {"x", ?}]',
                '[{"y", ?}]',
            ],
        ),
        (
            TOSA,
            [
                "([i, j, l], [i, l, k], [m], [n])->([i, j, k]) "
                "{i=1, j=8, k=32, l=16, m=1, n=1} reduction={l}",
                "([i, j, k])->([i, j, k]) {i=1, j=8, k=32}",
            ],
            ['[{?}, {?}, {"x", ?}]', '[{?}, {?}, {"x", ?}]'],
        ),
    ],
    ids=["linalg", "tosa"],
)  # fmt: skip
def test_propagates(text: str, rules: list[str], shardings: list[str]):
    context = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    module.verify()
    ops = [op for op in module.walk() if op.name.startswith(("linalg.", "tosa."))]
    ops = [op for op in ops if op.results]
    assert [str(sharding_rule(op)) for op in ops] == rules
    BasicPropagatePass().apply(context, module)
    found = [str(get_sharding(op.results[0])) for op in ops]
    assert found == [f"<@mesh, {sharding}>" for sharding in shardings]
