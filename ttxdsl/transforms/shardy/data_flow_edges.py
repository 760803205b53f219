"""Put `sdy.data_flow_edge`s behind the owners of data flow edges, and read them.

While propagation runs, the edge op holds the one sharding of all values that it links
(`ttxdsl.transforms.shardy.propagation.data_flow` says which); outside of it the owners do.
"""

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ShapedType, UnknownLoc
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.ir.rewriting import point_behind
from ttxdsl.sharding.spec import TensorSharding


def owned_arguments(op: Operation) -> list[BlockArgument]:
    """Return the block arguments of `op` that own a data flow edge."""
    return [
        argument
        for region in op.regions
        if (block := region.first_block) is not None
        for argument in block.args
        if sdy.edge_owner(argument) is argument
    ]


def owned_results(op: Operation) -> list[OpResult]:
    """Return the results of `op` that own a data flow edge."""
    return [result for result in op.results if sdy.edge_owner(result) is result]


def is_static(type: Attribute) -> bool:
    """Whether a type is shaped and all its sizes are known; tokens are not shaped."""
    return isinstance(type, ShapedType) and type.has_static_shape()


def add_edges(owners: Sequence[SSAValue]) -> None:
    """Put an edge behind each value, between it and its uses, with its sharding.

    Values that have one are left alone, as are those of unknown size and tokens.

    Args:
        owners: arguments of one block, or results of one op.
    """
    for owner in reversed(owners):
        if not is_static(owner.type) or sdy.find_data_flow_edge(owner) is not None:
            continue
        edge = sdy.DataFlowEdgeOp(owner, sdy.get_sharding(owner))
        op = sdy.owning_op(owner)
        assert op is not None
        edge.location = op.location
        if isinstance(owner, BlockArgument) and not isinstance(
            owner.location, UnknownLoc
        ):
            edge.location = owner.location
        Rewriter.insert_op(edge, point_behind(owner))
        owner.replace_uses_with_if(
            edge.result, lambda use, edge=edge: use.operation is not edge
        )


def add_edges_of(op: Operation) -> None:
    """Add the edges of all block arguments and results of an op that own one."""
    add_edges(owned_arguments(op))
    add_edges(owned_results(op))


def edge_shardings(owners: Iterable[SSAValue]) -> list[TensorSharding] | None:
    """The shardings that the edges of the owners hold; those without are fully open.

    None if no edge has one.
    """
    shardings: list[TensorSharding | None] = []
    types: list[Attribute] = []
    mesh = None
    for owner in owners:
        edge = sdy.find_data_flow_edge(owner)
        sharding = None
        if edge is not None and edge.sharding is not None:
            sharding = edge.sharding.data
            mesh = sharding.mesh if mesh is None else mesh
        shardings.append(sharding)
        types.append(owner.type)
    if mesh is None:
        return None
    return [
        TensorSharding.fully_open(mesh, sdy.tensor_rank(type))
        if sharding is None
        else sharding
        for sharding, type in zip(shardings, types, strict=True)
    ]


def remove_edges(owners: Iterable[SSAValue]) -> None:
    """Let the uses of the owners' edges use the owners again."""
    for owner in owners:
        edge = sdy.find_data_flow_edge(owner)
        if edge is not None:
            Rewriter.replace_op(edge, [], [edge.input])
