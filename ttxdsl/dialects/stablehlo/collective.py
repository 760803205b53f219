"""Ops that exchange values between processes, and the processes' ids.

Source: StableHLO specification, one section an op, and section "Parallel execution".
"""

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    BaseAttr,
    VerificationContext,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ttxdsl.costs.ring import Ring
from ttxdsl.dialects.stablehlo._base import (
    Array,
    Bool,
    ElementsOf,
    NotNegative,
    Positive,
    PrettyNullaryOp,
    StableHLOOp,
    String,
)
from ttxdsl.dialects.stablehlo._infer import (
    require_equal_elements,
    require_results,
    require_type,
    tensors_of,
)
from ttxdsl.dialects.stablehlo._regions import check_reducer
from ttxdsl.dialects.stablehlo._shapes import (
    all_to_all,
    require,
    require_dim,
    sizes_fit,
)
from ttxdsl.dialects.stablehlo.attributes import (
    ChannelHandleAttr,
    ReplicaGroupMeshAxesAttr,
)
from ttxdsl.dialects.stablehlo.types import (
    STATIC_TENSOR_OR_TOKEN,
    TENSOR,
    TENSOR_PER_AXIS,
    FixedConstraint,
    Kind,
    TensorOf,
    TokenType,
    scalar_of,
    shape_of,
    with_element,
    with_shape,
)
from ttxdsl.dialects.traits import Collective, MovesData, RoundsOnce
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition
from ttxdsl.ir.compat.speed.verify_once import looks_around

_DenseIds = ElementsOf()


@dataclass(frozen=True)
class _ReplicaGroups(FixedConstraint[Attribute]):
    """Process ids, or mesh axes."""

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Refuse anything else."""
        if not isinstance(attr, ReplicaGroupMeshAxesAttr):
            _DenseIds.verify(attr)


_Channel = BaseAttr(ChannelHandleAttr)
_Unit = BaseAttr(UnitAttr)


def id_pairs(pairs: DenseIntOrFPElementsAttr) -> tuple[tuple[int, int], ...]:
    """Return the (source, target) rows of a `source_target_pairs`."""
    flat = cast("tuple[int, ...]", pairs.get_values())
    return tuple(zip(flat[::2], flat[1::2], strict=True))


class _GroupedOp(StableHLOOp, ABC):
    """A collective among replica groups."""

    replica_groups = prop_def(_ReplicaGroups())
    channel_handle = opt_prop_def(_Channel)

    def check_channel(self, constraint: str, least: int) -> None:
        """With global device ids the channel must have a number."""
        channel = self.channel_handle
        number = 0 if channel is None else channel.data.handle
        if "use_global_device_ids" in self.properties and number < least:
            raise VerifyException(
                f"{constraint}: use_global_device_ids needs a channel of number "
                f"{least} or more, got {number}"
            )


def check_groups(
    op: _GroupedOp,
    unique: str,
    complete: str,
    *,
    uniform: bool,
    size: int | None = None,
) -> None:
    """Replica groups are disjoint, name processes from 0 on, and are of one size.

    Args:
        unique, complete: the numbers of the constraints.
        uniform: whether groups must have one size, so that no entry may be -1.
    """
    groups = op.replica_groups
    if isinstance(groups, ReplicaGroupMeshAxesAttr):
        check_mesh_of(op, groups)
        return
    dense = cast("DenseIntOrFPElementsAttr[IntegerType]", groups)
    require_pairs_shape(dense, None, unique)
    shape = dense.get_shape()
    ids = dense.get_values()
    if "use_global_device_ids" in op.properties and not ids:
        raise VerifyException(
            f"{complete}: with use_global_device_ids, replica_groups must not be empty"
        )
    if uniform and -1 in ids:
        raise VerifyException(
            f"{complete}: replica groups must be of one size, -1 is no process"
        )
    processes = [process for process in ids if process != -1]
    require(
        len(set(processes)) == len(processes),
        f"{unique}: a process is in two replica groups: {sorted(processes)}",
    )
    require(
        sorted(processes) == list(range(len(processes))),
        f"{complete}: replica groups must name the processes 0 to "
        f"{len(processes) - 1}, got {sorted(processes)}",
    )
    require(
        size is None or (shape[0] > 0 and len(ids) // shape[0] == size),
        f"C8: replica groups must have {size} processes, got shape {list(shape)}",
    )


def check_mesh_of(op: _GroupedOp, groups: ReplicaGroupMeshAxesAttr) -> None:
    """Raise if the module has no mesh of the replica groups' name."""
    mesh = groups.mesh
    if isinstance(mesh, SymbolRefAttr):
        looks_around()
        if SymbolTable.lookup_symbol(op, mesh) is None:
            raise VerifyException(f"replica_groups: there is no mesh {mesh}")


def require_pairs_shape(
    ids: DenseIntOrFPElementsAttr[IntegerType], columns: int | None, constraint: str
) -> None:
    """Process ids come as a matrix, of so many columns."""
    shape = ids.get_shape()
    require(
        len(shape) == 2 and columns in (None, shape[-1]),
        f"{constraint}: process ids must be a matrix"
        f"{'' if columns is None else f' of {columns} columns'}, got shape "
        f"{list(shape)}",
    )


def require_tensors_then_token(
    op: "InfeedOp | RecvOp", constraints: tuple[str, str, str]
) -> None:
    """The results are tensors and last a token."""
    not_empty, tensors, token = constraints
    types = op.result_types
    if not types:
        raise VerifyException(f"{not_empty}: there must be a result")
    for type in types[:-1]:
        if not isinstance(type, TensorType):
            raise VerifyException(
                f"{tensors}: every result but the last must be a tensor, got {type}"
            )
    require(
        isinstance(types[-1], TokenType),
        f"{token}: the last result must be a token, got {types[-1]}",
    )


def require_other_sizes(
    operand: Attribute, result: Attribute, dim: int, constraint: str
) -> None:
    """Check that operand and result have one shape but for a dimension."""
    before, after = shape_of(operand), shape_of(result)
    if len(before) != len(after) or not all(
        index == dim or sizes_fit(*sizes)
        for index, sizes in enumerate(zip(before, after, strict=True))
    ):
        raise VerifyException(
            f"{constraint}: {operand} and {result} must agree but for dimension {dim}"
        )


def require_channel_type(channel: ChannelHandleAttr, expected: int) -> None:
    """C1 of `send` and `recv`: which ends the channel joins."""
    if channel.data.type != expected:
        raise VerifyException(
            f"C1: the channel's type must be {expected} (1: device to device, 2: "
            f"device to host, 3: host to device), got {channel.data.type}"
        )


@irdl_op_definition
class AllGatherOp(_GroupedOp):
    """The group's values one after the other. Spec section "all_gather"."""

    name = "stablehlo.all_gather"

    inputs = var_operand_def(TENSOR)
    all_gather_dim = prop_def(NotNegative)
    use_global_device_ids = opt_prop_def(_Unit)
    outputs = var_result_def(TENSOR)

    traits = traits_def(MovesData(), Collective(Ring.ALL_GATHER))

    def verify_(self) -> None:
        """C1: the dimension; C2 to C5: groups; C6: results."""
        check_groups(self, "C2", "C4", uniform=True)
        self.check_channel("C5", 0)
        require(
            len(self.inputs) == len(self.outputs),
            f"C6: {len(self.inputs)} operands, but {len(self.outputs)} results",
        )
        dim = self.all_gather_dim.value.data
        for operand, result in zip(self.inputs, self.outputs, strict=True):
            before, after = shape_of(operand.type), shape_of(result.type)
            require_dim(dim, before, "all_gather_dim", "C1")
            if before[dim] == 0:
                raise VerifyException(f"dimension {dim} of {operand.type} has size 0")
            require_equal_elements(operand.type, result.type, "C6")
            require_other_sizes(operand.type, result.type, dim, "C6")
            if (
                DYNAMIC_INDEX not in (before[dim], after[dim])
                and after[dim] % before[dim] != 0
            ):
                raise VerifyException(
                    f"C6: the result's size {after[dim]} of dimension {dim} is no "
                    f"multiple of the operand's {before[dim]}"
                )


@irdl_op_definition
class AllReduceOp(_GroupedOp):
    """The group's values combined. Spec section "all_reduce"."""

    name = "stablehlo.all_reduce"

    inputs = var_operand_def(TENSOR)
    use_global_device_ids = opt_prop_def(_Unit)
    computation = region_def()
    outputs = var_result_def(TENSOR)

    traits = traits_def(Collective(Ring.ALL_REDUCE))

    def verify_(self) -> None:
        """C1 to C4: groups; C5: the computation; C6, C7: results."""
        check_groups(self, "C1", "C3", uniform=False)
        self.check_channel("C4", 1)
        inputs = tensors_of(self.inputs)
        expected: list[Attribute] = []
        for type in inputs:
            scalar = scalar_of(type)
            (result,) = check_reducer(
                self.computation, [type], [scalar], (), "C5", "computation"
            )
            expected.append(with_element(type, result.element_type))
        require_results(self, expected, "C6, C7")


@irdl_op_definition
class ReduceScatterOp(_GroupedOp):
    """The group's values combined, then split. Spec section "reduce_scatter"."""

    name = "stablehlo.reduce_scatter"

    operand = operand_def(TENSOR)
    scatter_dimension = prop_def(NotNegative)
    use_global_device_ids = opt_prop_def(_Unit)
    computation = region_def()
    result = result_def(TENSOR)

    traits = traits_def(Collective(Ring.REDUCE_SCATTER))

    def verify_(self) -> None:
        """C2: the dimension; C1, C3 to C6: groups; C7: computation; C8, C9: result."""
        check_groups(self, "C1", "C4", uniform=True)
        self.check_channel("C6", 1)
        (operand,) = tensors_of((self.operand,))
        (combined,) = check_reducer(
            self.computation, [operand], [scalar_of(operand)], (), "C7", "computation"
        )
        (result,) = tensors_of((self.result,))
        before, after = operand.get_shape(), result.get_shape()
        dim = self.scatter_dimension.value.data
        if len(before) != len(after):
            raise VerifyException(f"C8: the operand is {operand}, the result {result}")
        require_dim(dim, before, "scatter_dimension", "C2")
        if DYNAMIC_INDEX not in (before[dim], after[dim]):
            if after[dim] <= 0 or before[dim] <= 0 or before[dim] % after[dim] != 0:
                raise VerifyException(
                    f"C8: the operand's size {before[dim]} of dimension {dim} is no "
                    f"multiple of the result's {after[dim]}"
                )
            require_other_sizes(operand, result, dim, "C8")
            if result.element_type != combined.element_type:
                raise VerifyException(
                    f"C9: the result is {result}, but computation returns {combined}"
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

    traits = traits_def(MovesData(), Collective(Ring.ALL_TO_ALL, sends_parts=True))

    def verify_(self) -> None:
        """C1 to C4: dimensions; C5, C7, C8: groups; C9: results."""
        count = self.split_count.value.data
        check_groups(self, "C5", "C7", uniform=True, size=count)
        require_results(
            self,
            [
                with_shape(
                    operand.type,
                    all_to_all(
                        shape_of(operand.type),
                        self.split_dimension.value.data,
                        self.concat_dimension.value.data,
                        count,
                    ),
                )
                for operand in self.inputs
            ],
            "C9",
        )


def data_operands(
    op: "CollectiveBroadcastOp | CollectiveReduceOp", constraint: str
) -> Sequence[SSAValue]:
    """Return the operands without the one that says the roots, if there is one."""
    data = tuple(op.inputs)
    if op.has_dynamic_root is not None:
        require(len(data) >= 2, f"{constraint}: there must be an operand and roots")
        *data, roots = data
        require_type(roots.type, TensorType(i32, (len(data),)), f"roots ({constraint})")
    require(bool(data), f"{constraint}: there must be an operand")
    return data


@irdl_op_definition
class CollectiveBroadcastOp(_GroupedOp):
    """The value of each group's first process. Spec: "collective_broadcast"."""

    name = "stablehlo.collective_broadcast"

    inputs = var_operand_def(TENSOR)
    has_dynamic_root = opt_prop_def(_Unit)
    outputs = var_result_def(TENSOR)

    traits = traits_def(
        MovesData(), Collective(Ring.COLLECTIVE_PERMUTE, sends_parts=True)
    )

    def verify_(self) -> None:
        """C1, C2: groups; C3: results."""
        groups = self.replica_groups
        if isinstance(groups, DenseIntOrFPElementsAttr):
            dense = cast("DenseIntOrFPElementsAttr[IntegerType]", groups)
            require_pairs_shape(dense, None, "C1")
            ids = dense.get_values()
            require(len(set(ids)) == len(ids), "C1: a process is in two replica groups")
            require(
                all(process >= 0 for process in ids),
                "C2: process ids must not be negative",
            )
        data = data_operands(self, "C3")
        require_results(self, [type.type for type in data], "C3")


@irdl_op_definition
class CollectiveReduceOp(_GroupedOp):
    """The group's values combined, on one process. Spec: "collective_reduce".

    This jaxlib's StableHLO does not have it yet.
    """

    name = "stablehlo.collective_reduce"

    inputs = var_operand_def(TENSOR)
    use_global_device_ids = opt_prop_def(_Unit)
    has_dynamic_root = opt_prop_def(_Unit)
    computation = region_def()
    outputs = var_result_def(TENSOR)

    traits = traits_def(Collective(Ring.ALL_REDUCE))

    def verify_(self) -> None:
        """C1, C2: groups; C3: operands and results; C4: the computation."""
        check_groups(self, "C1", "C2", uniform=False)
        self.check_channel("C2", 1)
        expected: list[Attribute] = []
        for type in tensors_of(data_operands(self, "C3")):
            (result,) = check_reducer(
                self.computation, [type], [scalar_of(type)], (), "C4", "computation"
            )
            expected.append(with_element(type, result.element_type))
        require_results(self, expected, "C3")


@irdl_op_definition
class CollectivePermuteOp(StableHLOOp):
    """Values sent along source-target pairs. Spec section "collective_permute"."""

    name = "stablehlo.collective_permute"

    operand = operand_def(TENSOR)
    source_target_pairs = prop_def(_DenseIds)
    channel_handle = opt_prop_def(_Channel)
    result = result_def(TENSOR)

    traits = traits_def(
        MovesData(), Collective(Ring.COLLECTIVE_PERMUTE, sends_parts=True)
    )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The source and target process ids."""
        return id_pairs(self.source_target_pairs)

    def verify_(self) -> None:
        """C1 to C4: pairs; C5: the result."""
        require_pairs_shape(self.source_target_pairs, 2, "C1")
        pairs = self.pairs
        for name, ids, constraint in (
            ("sources", [source for source, _ in pairs], "C2"),
            ("targets", [target for _, target in pairs], "C3"),
        ):
            if len(set(ids)) != len(ids):
                raise VerifyException(f"{constraint}: {name} repeat: {ids}")
            if not all(process >= 0 for process in ids):
                raise VerifyException(f"C4: {name} must not be negative: {ids}")
        require_type(self.result.type, self.operand.type, "result (C5)")


@irdl_op_definition
class CrossReplicaSumOp(StableHLOOp):
    """Sum over replicas. Deprecated, not in the specification."""

    name = "stablehlo.cross-replica-sum"

    operand = operand_def(TENSOR)
    replica_groups = prop_def(_DenseIds)
    result = result_def(TENSOR)

    traits = traits_def(Pure(), Collective(Ring.ALL_REDUCE))

    def verify_(self) -> None:
        """Operand and result have one type."""
        require_type(self.result.type, self.operand.type)


_UI32 = IntegerType(32, Signedness.UNSIGNED)


class _ProcessIdOp(PrettyNullaryOp, ABC):
    """A number of the process that asks."""

    result = result_def(TensorOf(Kind.UINT))

    def verify_(self) -> None:
        """The result is a tensor<ui32>."""
        require_type(self.result.type, TensorType(_UI32, ()))


@irdl_op_definition
class PartitionIdOp(_ProcessIdOp):
    """The process's partition. Spec section "partition_id"."""

    name = "stablehlo.partition_id"

    traits = traits_def(RoundsOnce())


@irdl_op_definition
class ReplicaIdOp(_ProcessIdOp):
    """The process's replica. Spec section "replica_id"."""

    name = "stablehlo.replica_id"


_EMPTY = StringAttr("")
_FALSE = BoolAttr.from_bool(False)


def _is_integer_list(attribute: Attribute) -> bool:
    return isinstance(attribute, ArrayAttr) and all(
        isinstance(entry, IntegerAttr)
        for entry in cast("ArrayAttr[Attribute]", attribute).data
    )


@irdl_op_definition
class InfeedOp(StableHLOOp):
    """Values from the host. Spec section "infeed"."""

    name = "stablehlo.infeed"

    token = operand_def(BaseAttr(TokenType))
    infeed_config = opt_prop_def(String, _EMPTY)
    layout = opt_prop_def(Array)
    outputs = var_result_def(STATIC_TENSOR_OR_TOKEN)

    def verify_(self) -> None:
        """C1 to C3: tensors and last a token."""
        require_tensors_then_token(self, ("C1", "C2", "C3"))
        if self.layout is not None:
            require(
                len(self.layout.data) == len(self.outputs) - 1,
                f"layout must have an entry for each tensor, got {len(self.layout.data)}",
            )
            for layout in self.layout.data:
                if not _is_integer_list(layout):
                    raise VerifyException(
                        f"a layout must be a list of integers, got {layout}"
                    )


@irdl_op_definition
class OutfeedOp(StableHLOOp):
    """Values to the host. Spec section "outfeed"."""

    name = "stablehlo.outfeed"

    inputs = var_operand_def(TENSOR_PER_AXIS)
    token = operand_def(BaseAttr(TokenType))
    outfeed_config = opt_prop_def(String, _EMPTY)
    result = result_def(BaseAttr(TokenType))


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

    def verify_(self) -> None:
        """C1: the channel leads from device to device, or to the host."""
        to_host = bool(self.is_host_transfer.value.data)
        require_channel_type(self.channel_handle, 2 if to_host else 1)


@irdl_op_definition
class RecvOp(StableHLOOp):
    """Values received over a channel. Spec section "recv"."""

    name = "stablehlo.recv"

    token = operand_def(BaseAttr(TokenType))
    channel_handle = prop_def(_Channel)
    is_host_transfer = opt_prop_def(Bool, _FALSE)
    source_target_pairs = opt_prop_def(_DenseIds)
    outputs = var_result_def(STATIC_TENSOR_OR_TOKEN)

    def verify_(self) -> None:
        """C1: the channel; C2 to C4: tensors and last a token."""
        from_host = bool(self.is_host_transfer.value.data)
        require_channel_type(self.channel_handle, 3 if from_host else 1)
        require_tensors_then_token(self, ("C2", "C3", "C4"))
