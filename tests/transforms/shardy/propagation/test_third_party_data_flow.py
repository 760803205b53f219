"""Data flow edges of ops that are not ours: xDSL's scf, and a dialect made here."""

from collections.abc import Iterator

import pytest
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import PassPipeline
from xdsl.universe import Universe
from xdsl.utils.exceptions import VerifyException

from tests.transforms.shardy.propagation.programs import ops_named, parse
from ttxdsl.dialects.sdy import BLOCK_ARGUMENT_SHARDING, get_sharding
from ttxdsl.ir.data_flow import (
    DataFlowTrait,
    Operand,
    PositionalDataFlow,
    register_data_flow,
    returned,
    unregister_data_flow,
)

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'


class WhileEdges(DataFlowTrait):
    """`scf.while`: what goes round belongs to the first region, results to the second.

    An argument of the first region is what the loop starts with or what the second
    region yields. What the condition passes on is a result and the second's argument.
    """

    def edge_owners(self, op: Operation) -> tuple[SSAValue, ...]:
        return (*op.results, *op.regions[0].block.args)

    def edge_owner(
        self, op: Operation, target: OpResult | BlockArgument
    ) -> SSAValue | None:
        if isinstance(target, BlockArgument) and target.block is op.regions[1].block:
            return op.results[target.index]
        return target

    def edge_sources(self, op: Operation, owner: SSAValue) -> list[Operand]:
        assert isinstance(owner, OpResult | BlockArgument)
        if isinstance(owner, BlockArgument):
            return [Operand(op, owner.index), returned(op.regions[1], owner.index)]
        return [returned(op.regions[0], owner.index + 1)]

    def other_targets(self, op: Operation, owner: SSAValue) -> list[SSAValue]:
        if isinstance(owner, OpResult):
            return [op.regions[1].block.args[owner.index]]
        return []

    def owner_of_source(self, op: Operation, source: Operand) -> SSAValue | None:
        if source.op.name != "scf.condition":
            return op.regions[0].block.args[source.index]
        return op.results[source.index - 1] if source.index else None


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    edges: dict[type[Operation], DataFlowTrait] = {
        scf.ForOp: PositionalDataFlow(first_operand=3, first_argument=1),
        scf.IfOp: PositionalDataFlow(),
        scf.WhileOp: WhileEdges(),
    }
    for op_class, trait in edges.items():
        register_data_flow(op_class, trait)
    yield
    for op_class in edges:
        unregister_data_flow(op_class)


FOR = """
func.func @main(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>},
    %n: index
) -> tensor<8x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last, %s = scf.for %i = %zero to %n step %one
      iter_args(%k = %zero, %v = %x) -> (index, tensor<8x8xf32>) {
    %0 = stablehlo.dot %v, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %i, %0 : index, tensor<8x8xf32>
  }
  %2 = stablehlo.tanh %s : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}"""


WHILE = """
func.func @main(
    %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %p: i1
) -> tensor<8x8xf32> {
  %0 = "scf.while"(%x) ({
  ^bb0(%v: tensor<8xf32>):
    %1 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
    "scf.condition"(%p, %1) : (i1, tensor<8x8xf32>) -> ()
  }, {
  ^bb0(%v: tensor<8x8xf32>):
    %1 = "stablehlo.slice"(%v) <{start_indices = array<i64: 0, 0>,
      limit_indices = array<i64: 8, 1>, strides = array<i64: 1, 1>}>
      : (tensor<8x8xf32>) -> tensor<8x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x1xf32>) -> tensor<8xf32>
    "scf.yield"(%2) : (tensor<8xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.tanh %0 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}"""

ADD, PROPAGATE, SINK = (
    "sdy-add-data-flow-edges",
    "sdy-aggressive-propagate",
    "sdy-sink-data-flow-edges",
)


def run_on(module: ModuleOp, *passes: str) -> ModuleOp:
    universe = Universe.get_multiverse()
    pipeline = PassPipeline.parse_spec(universe.all_passes, ",".join(passes))
    pipeline.apply(Context(), module)
    module.verify()
    return module


def run(text: str, *passes: str) -> ModuleOp:
    return run_on(parse(MESH + text), *passes)


def shardings(op: Operation) -> list[str]:
    found = [get_sharding(result) for result in op.results]
    return ["" if s is None else str(s).removeprefix("<@mesh, ")[:-1] for s in found]


def test_the_op_keeps_the_shardings_of_block_arguments() -> None:
    module = run(WHILE, ADD, PROPAGATE, SINK)
    (loop,) = ops_named(module, "scf.while")
    first, second = (region.block.args[0] for region in loop.regions)
    assert str(get_sharding(first)) == '<@mesh, [{"a", ?}]>'
    assert get_sharding(second) == get_sharding(loop.results[0])
    assert str(loop.attributes[BLOCK_ARGUMENT_SHARDING]) == (
        '#sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>'
    )
    # such a module can be propagated again, and its shardings changed as a whole
    run_on(module, ADD, PROPAGATE, SINK, "sdy-close-shardings")
    assert str(loop.attributes[BLOCK_ARGUMENT_SHARDING]) == (
        '#sdy.sharding_per_value<[<@mesh, [{"a"}]>]>'
    )
    run_on(module, "sdy-drop-sharding-and-mesh")
    assert not loop.attributes


def test_a_block_argument_sharding_needs_an_owner() -> None:
    text = FOR.replace(
        "scf.yield %i, %0 : index, tensor<8x8xf32>\n  }",
        "scf.yield %i, %0 : index, tensor<8x8xf32>\n  } {sdy.block_argument_sharding = "
        "#sdy.sharding_per_value<[<@mesh, []>, <@mesh, []>, <@mesh, [{}, {}]>]>}",
    )
    with pytest.raises(VerifyException, match="one block whose arguments own"):
        run(text)
