"""Ops through which processes exchange values, and ops that tell who a process is.

Source: StableHLO specification, one section an op, and section "Parallel execution".
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttxdsl.dialects.stablehlo._base import (
    Array,
    Bool,
    NotNegative,
    Positive,
    PrettyOp,
    StableHLOOp,
    String,
)
from ttxdsl.dialects.stablehlo._syntax import Types, parse_type, print_type
from ttxdsl.dialects.stablehlo.attributes import (
    ChannelHandleAttr,
    ReplicaGroupMeshAxesAttr,
)
from ttxdsl.dialects.stablehlo.elementwise import ElementwiseBinaryOp
from ttxdsl.dialects.stablehlo.reduction import reducer_of
from ttxdsl.dialects.stablehlo.types import (
    TENSOR,
    TENSOR_PER_AXIS,
    TENSOR_PER_AXIS_OR_TOKEN,
    Kind,
    TensorOf,
    TokenType,
    shape_of,
    with_shape,
)

Groups = Sequence[Sequence[int]] | Attribute
"""Replica groups: lists of process ids, or the attribute itself."""

_DenseIds = BaseAttr[DenseIntOrFPElementsAttr[IntegerType]](DenseIntOrFPElementsAttr)
_ReplicaGroups = AnyOf(
    (BaseAttr(DenseIntOrFPElementsAttr), BaseAttr(ReplicaGroupMeshAxesAttr))
)
_Channel = BaseAttr(ChannelHandleAttr)
_Unit = BaseAttr(UnitAttr)


def groups_attr(groups: Groups) -> Attribute:
    """Replica groups as `dense<…> : tensor<groups x size x i64>`.

    Groups of unequal size are filled up with -1, as the specification has it.
    """
    if isinstance(groups, Attribute):
        return groups
    longest = max((len(group) for group in groups), default=0)
    flat = [
        one for group in groups for one in (*group, *(-1,) * (longest - len(group)))
    ]
    return DenseIntOrFPElementsAttr.from_list(
        TensorType(i64, (len(groups), longest)), flat
    )


def group_lists(groups: Attribute) -> tuple[tuple[int, ...], ...] | None:
    """Replica groups as tuples of process ids; None if mesh axes say them."""
    if not isinstance(groups, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr[IntegerType]", groups)
    flat = dense.get_values()
    size = dense.get_shape()[-1] if dense.get_shape() else 1
    return tuple(
        tuple(one for one in flat[start : start + size] if one >= 0)
        for start in range(0, len(flat), size or 1)
    )


def _unit(is_set: bool) -> UnitAttr | None:
    return UnitAttr() if is_set else None


def _region(
    computation: Region | type[ElementwiseBinaryOp], value_type: Attribute
) -> Region:
    if isinstance(computation, Region):
        return computation
    return reducer_of(computation, value_type)


class _GroupedOp(StableHLOOp, ABC):
    """A collective among replica groups."""

    replica_groups = prop_def(_ReplicaGroups)
    channel_handle = opt_prop_def(_Channel)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...] | None:
        """The replica groups as process ids; None if mesh axes say them."""
        return group_lists(self.replica_groups)


@irdl_op_definition
class AllGatherOp(_GroupedOp):
    """The group's values one after the other. Spec section "all_gather"."""

    name = "stablehlo.all_gather"

    inputs = var_operand_def(TENSOR)
    all_gather_dim = prop_def(NotNegative)
    use_global_device_ids = opt_prop_def(_Unit)
    outputs = var_result_def(TENSOR)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        all_gather_dim: int,
        replica_groups: Groups,
        result_types: Sequence[Attribute],
        channel_handle: ChannelHandleAttr | None = None,
        use_global_device_ids: bool = False,
    ):
        super().__init__(
            operands=[inputs],
            result_types=[result_types],
            properties={
                "all_gather_dim": IntegerAttr(all_gather_dim, i64),
                "channel_handle": channel_handle,
                "replica_groups": groups_attr(replica_groups),
                "use_global_device_ids": _unit(use_global_device_ids),
            },
        )


@irdl_op_definition
class AllReduceOp(_GroupedOp):
    """The group's values combined. Spec section "all_reduce"."""

    name = "stablehlo.all_reduce"

    inputs = var_operand_def(TENSOR)
    use_global_device_ids = opt_prop_def(_Unit)
    computation = region_def()
    outputs = var_result_def(TENSOR)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        replica_groups: Groups,
        computation: Region | type[ElementwiseBinaryOp],
        channel_handle: ChannelHandleAttr | None = None,
        use_global_device_ids: bool = False,
    ):
        super().__init__(
            operands=[inputs],
            result_types=[[one.type for one in inputs]],
            properties={
                "channel_handle": channel_handle,
                "replica_groups": groups_attr(replica_groups),
                "use_global_device_ids": _unit(use_global_device_ids),
            },
            regions=[_region(computation, inputs[0].type)],
        )


@irdl_op_definition
class ReduceScatterOp(_GroupedOp):
    """The group's values combined, then split. Spec section "reduce_scatter"."""

    name = "stablehlo.reduce_scatter"

    operand = operand_def(TENSOR)
    scatter_dimension = prop_def(NotNegative)
    use_global_device_ids = opt_prop_def(_Unit)
    computation = region_def()
    result = result_def(TENSOR)

    def __init__(
        self,
        operand: SSAValue,
        scatter_dimension: int,
        replica_groups: Groups,
        computation: Region | type[ElementwiseBinaryOp],
        result_type: Attribute,
        channel_handle: ChannelHandleAttr | None = None,
        use_global_device_ids: bool = False,
    ):
        super().__init__(
            operands=[operand],
            result_types=[result_type],
            properties={
                "channel_handle": channel_handle,
                "replica_groups": groups_attr(replica_groups),
                "scatter_dimension": IntegerAttr(scatter_dimension, i64),
                "use_global_device_ids": _unit(use_global_device_ids),
            },
            regions=[_region(computation, operand.type)],
        )


@irdl_op_definition
class AllToAllOp(_GroupedOp):
    """Each process's parts, exchanged in the group. Spec section "all_to_all"."""

    name = "stablehlo.all_to_all"

    inputs = var_operand_def(TENSOR)
    split_dimension = prop_def(NotNegative)
    concat_dimension = prop_def(NotNegative)
    split_count = prop_def(Positive)
    outputs = var_result_def(TENSOR)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        split_dimension: int,
        concat_dimension: int,
        split_count: int,
        replica_groups: Groups,
        channel_handle: ChannelHandleAttr | None = None,
    ):
        def result(one: SSAValue) -> Attribute:
            shape = list(shape_of(one.type))
            shape[split_dimension] //= split_count
            shape[concat_dimension] *= split_count
            return with_shape(one.type, shape)

        super().__init__(
            operands=[inputs],
            result_types=[[result(one) for one in inputs]],
            properties={
                "channel_handle": channel_handle,
                "concat_dimension": IntegerAttr(concat_dimension, i64),
                "replica_groups": groups_attr(replica_groups),
                "split_count": IntegerAttr(split_count, i64),
                "split_dimension": IntegerAttr(split_dimension, i64),
            },
        )


@irdl_op_definition
class CollectiveBroadcastOp(_GroupedOp):
    """The value of each group's first process. Spec: "collective_broadcast"."""

    name = "stablehlo.collective_broadcast"

    inputs = var_operand_def(TENSOR)
    has_dynamic_root = opt_prop_def(_Unit)
    outputs = var_result_def(TENSOR)

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        replica_groups: Groups,
        channel_handle: ChannelHandleAttr | None = None,
    ):
        super().__init__(
            operands=[inputs],
            result_types=[[one.type for one in inputs]],
            properties={
                "channel_handle": channel_handle,
                "replica_groups": groups_attr(replica_groups),
            },
        )


@irdl_op_definition
class CollectivePermuteOp(StableHLOOp):
    """Values sent along source-target pairs. Spec section "collective_permute"."""

    name = "stablehlo.collective_permute"

    operand = operand_def(TENSOR)
    source_target_pairs = prop_def(_DenseIds)
    channel_handle = opt_prop_def(_Channel)
    result = result_def(TENSOR)

    def __init__(
        self,
        operand: SSAValue,
        source_target_pairs: Sequence[tuple[int, int]] | Attribute,
        channel_handle: ChannelHandleAttr | None = None,
    ):
        if not isinstance(source_target_pairs, Attribute):
            flat = [one for pair in source_target_pairs for one in pair]
            source_target_pairs = DenseIntOrFPElementsAttr.from_list(
                TensorType(i64, (len(source_target_pairs), 2)), flat
            )
        super().__init__(
            operands=[operand],
            result_types=[operand.type],
            properties={
                "channel_handle": channel_handle,
                "source_target_pairs": source_target_pairs,
            },
        )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The source and target process ids."""
        flat = self.source_target_pairs.get_values()
        return tuple(zip(flat[::2], flat[1::2], strict=True))


@irdl_op_definition
class CrossReplicaSumOp(StableHLOOp):
    """Sum over replicas. Deprecated, not in the specification."""

    name = "stablehlo.cross-replica-sum"

    operand = operand_def(TENSOR)
    replica_groups = prop_def(_DenseIds)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, replica_groups: Groups):
        super().__init__(
            operands=[operand],
            result_types=[operand.type],
            properties={"replica_groups": groups_attr(replica_groups)},
        )


_UI32 = IntegerType(32, Signedness.UNSIGNED)


class _ProcessIdOp(PrettyOp, ABC):
    """A number of the process that asks."""

    result = result_def(TensorOf(Kind.UINT))

    traits = traits_def(Pure())

    def __init__(self):
        super().__init__(result_types=[TensorType(_UI32, ())])

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> tuple[Types, Types]:
        """Parse the result's type."""
        return (), (parse_type(parser),)

    def print_types(self, printer: Printer) -> None:
        """Print the result's type."""
        print_type(printer, self.result.type)


@irdl_op_definition
class PartitionIdOp(_ProcessIdOp):
    """The process's partition. Spec section "partition_id"."""

    name = "stablehlo.partition_id"


@irdl_op_definition
class ReplicaIdOp(_ProcessIdOp):
    """The process's replica. Spec section "replica_id"."""

    name = "stablehlo.replica_id"


_EMPTY = StringAttr("")
_FALSE = BoolAttr.from_bool(False)


@irdl_op_definition
class InfeedOp(StableHLOOp):
    """Values from the host. Spec section "infeed"."""

    name = "stablehlo.infeed"

    token = operand_def(BaseAttr(TokenType))
    infeed_config = opt_prop_def(String, _EMPTY)
    layout = opt_prop_def(Array)
    outputs = var_result_def(TENSOR_PER_AXIS_OR_TOKEN)

    def __init__(self, token: SSAValue, result_types: Sequence[Attribute]):
        super().__init__(
            operands=[token],
            result_types=[result_types],
            properties={"infeed_config": _EMPTY},
        )


@irdl_op_definition
class OutfeedOp(StableHLOOp):
    """Values to the host. Spec section "outfeed"."""

    name = "stablehlo.outfeed"

    inputs = var_operand_def(TENSOR_PER_AXIS)
    token = operand_def(BaseAttr(TokenType))
    outfeed_config = opt_prop_def(String, _EMPTY)
    result = result_def(BaseAttr(TokenType))

    def __init__(self, inputs: Sequence[SSAValue], token: SSAValue):
        super().__init__(
            operands=[inputs, token],
            result_types=[TokenType()],
            properties={"outfeed_config": _EMPTY},
        )


@irdl_op_definition
class SendOp(StableHLOOp):
    """Values sent over a channel. Spec section "send"."""

    name = "stablehlo.send"

    inputs = var_operand_def(TENSOR_PER_AXIS)
    token = operand_def(BaseAttr(TokenType))
    channel_handle = prop_def(_Channel)
    is_host_transfer = opt_prop_def(Bool, _FALSE)
    source_target_pairs = opt_prop_def(_DenseIds)
    result = result_def(BaseAttr(TokenType))

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        token: SSAValue,
        channel_handle: ChannelHandleAttr,
        is_host_transfer: bool = False,
    ):
        super().__init__(
            operands=[inputs, token],
            result_types=[TokenType()],
            properties={
                "channel_handle": channel_handle,
                "is_host_transfer": BoolAttr.from_bool(is_host_transfer),
            },
        )


@irdl_op_definition
class RecvOp(StableHLOOp):
    """Values received over a channel. Spec section "recv"."""

    name = "stablehlo.recv"

    token = operand_def(BaseAttr(TokenType))
    channel_handle = prop_def(_Channel)
    is_host_transfer = opt_prop_def(Bool, _FALSE)
    source_target_pairs = opt_prop_def(_DenseIds)
    outputs = var_result_def(TENSOR_PER_AXIS_OR_TOKEN)

    def __init__(
        self,
        token: SSAValue,
        channel_handle: ChannelHandleAttr,
        result_types: Sequence[Attribute],
        is_host_transfer: bool = False,
    ):
        super().__init__(
            operands=[token],
            result_types=[result_types],
            properties={
                "channel_handle": channel_handle,
                "is_host_transfer": BoolAttr.from_bool(is_host_transfer),
            },
        )
