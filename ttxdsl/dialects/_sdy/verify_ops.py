"""The constraints of sdy ops and of sdy attributes on any op, in their module.

They cross symbols (which mesh a name means), regions (which axes are manual already)
and uses (which sharding an operand has), so they are checked here and not by each
attribute. The constraints themselves are in `_sdy.verify`.

An op of the dialect is checked when xDSL verifies it. `sdy.` attributes of other
dialects' ops and of functions are checked by `verify_shardings`, once for a module.
xDSL has no hook for attributes of a dialect, but ops can be given traits: the dialect
gives modules a `ShardingsVerify` when it is imported.

Source: Shardy's `verifiers.cc`.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    ShapedType,
    TensorType,
    TupleType,
    UnrankedTensorType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._sdy import access, verify as verify
from ttxdsl.dialects._sdy.attributes import (
    OpShardingRuleAttr,
    PropagationEdgesAttr,
    TensorShardingAttr,
    TensorShardingPerValueAttr,
)
from ttxdsl.dialects._sdy.ops import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    CombiningOp,
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    ManualComputationOp,
    NamedComputationOp,
    PropagationBarrierOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
    ShardingOp,
)
from ttxdsl.dialects._sdy.values import EdgeNodeType, EdgeValueRef, PropagationStep
from ttxdsl.ir.compat.faults.locations import OpError
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.traversal import parent_of
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.unreduced import check_transition
from ttxdsl.sharding.spec import ReductionKind, TensorSharding
from ttxdsl.sharding.step import PropagationDirection
from ttxdsl.sharding.text import quoted, symbol

_EDGE_LISTS = ("sdy.result_propagation_edges", "sdy.block_arg_propagation_edges")


# One sharding


def verify_sharding(
    sharding: TensorSharding,
    type: Attribute,
    mesh: Mesh | None,
    bound: Collection[str] = (),
) -> None:
    """Check a sharding of a value.

    Args:
        type: the type of the value, global outside of manual computations.
        mesh: what `sharding.mesh` means; None if nothing.
        bound: the manual axes of all computations around.

    Raises:
        VerifyException: naming the constraint, the axis and the dimension.
    """
    if mesh is None:
        raise VerifyException(f"unknown mesh: {symbol(str(sharding.mesh))}")
    if mesh.is_maximal:
        verify.no_axes_at_all(sharding, "a maximal mesh")
        return
    if isinstance(type, TupleType):
        if len(type.types) != 1:
            raise VerifyException(
                f"ops can only have a sharding for a tuple of size 1: {type}"
            )
        type = type.types.data[0]
    if isinstance(type, UnrankedTensorType):
        raise VerifyException(f"only ranked tensors can have a sharding, got {type}")
    if not isinstance(type, ShapedType):
        verify.no_axes_at_all(sharding, f"a value of type {type}")
        return
    verify.tensor_sharding(sharding, mesh, type.get_num_dims())
    if bound:
        verify.free_axes(sharding.all_axes, bound)


def bound_axes(op: Operation) -> set[str]:
    """Return the manual axes of all manual computations around `op`."""
    bound: set[str] = set()
    parent = parent_of(op)
    while parent is not None:
        if type(parent) is ManualComputationOp:
            bound.update(parent.manual_axes.data)
        parent = parent_of(parent)
    return bound


def _verify_at(
    op: Operation, sharding: TensorSharding, type: Attribute, where: str = ""
) -> None:
    try:
        verify_sharding(
            sharding, type, access.find_mesh(op, sharding.mesh), bound_axes(op)
        )
    except VerifyException as error:
        raise VerifyException(f"{where}{error}") from error


def _verify_per_value(
    shardings: Sequence[TensorSharding],
    types: Sequence[Attribute],
    meshes: dict[str, Mesh],
    bound: Collection[str],
    label: str,
) -> None:
    """One valid sharding a value. An op without results may have one that is empty."""
    if not types and len(shardings) == 1:
        sharding = shardings[0]
        mesh = _named(meshes, sharding)
        if mesh is None:
            raise VerifyException(
                f"{label} 0: unknown mesh: {symbol(str(sharding.mesh))}"
            )
        if mesh.is_maximal or sharding.is_replicated:
            verify.no_axes_at_all(sharding, f"{label} 0: an op without {label}s")
            return
    if len(shardings) != len(types):
        raise VerifyException(
            f"{label} shardings don't match number of values: {len(shardings)} "
            f"shardings vs {len(types)} values"
        )
    right: set[tuple[int, int]] = set()
    for index, (sharding, type) in enumerate(zip(shardings, types, strict=True)):
        pair = id(sharding), id(type)
        if pair in right:  # a step has many values that are alike
            continue
        right.add(pair)
        try:
            verify_sharding(sharding, type, _named(meshes, sharding), bound)
        except VerifyException as error:
            where = f"{label} {index}: " if len(types) > 1 else f"{label}: "
            raise VerifyException(f"{where}{error}") from error


def _named(meshes: dict[str, Mesh], sharding: TensorSharding) -> Mesh | None:
    mesh = sharding.mesh
    return mesh if isinstance(mesh, Mesh) else meshes.get(mesh)


def common_mesh(
    shardings: Sequence[TensorSharding], meshes: dict[str, Mesh]
) -> Mesh | None:
    """Return the one mesh of all shardings, empty meshes aside; None if they differ."""
    common: Mesh | None = None
    for sharding in shardings:
        mesh = _named(meshes, sharding)
        if common is None or common.is_empty:
            common = mesh
        elif mesh is None or not (mesh.is_empty or mesh == common):
            return None
    return common


# Ops of the dialect


def verify_op(op: Operation) -> None:
    """Check the constraints of an op of the dialect that cross symbols, regions or uses.

    An op outside of any module is left alone: its meshes are not known.

    Raises:
        VerifyException: naming the constraint, the axis and the dimension.
    """
    if access.enclosing_module(op) is None:
        return
    match op:
        case ShardingOp():
            _verify_at(op, op.sharding.data, op.result.type)
            source = access.get_sharding(access.behind_barriers(op.input))
            if source is not None:
                verify_transition(
                    op, [source], [op.sharding.data], ReductionKind, ReductionKind
                )
        case CollectiveOp():
            _verify_collective(op)
        case DataFlowEdgeOp():
            _verify_edge(op)
        case FuncDataFlowEdgeOp():
            _verify_func_edge(op)
        case PropagationBarrierOp():
            _verify_barrier(op)
        case ManualComputationOp():
            _verify_manual_computation(op)
        case NamedComputationOp():
            _verify_named_computation(op)
        case _:
            return


def _verify_barrier(op: PropagationBarrierOp) -> None:
    if op.allowed_direction.value.data not in PropagationDirection.__members__.values():
        raise VerifyException(f"unknown direction: {op.allowed_direction.value.data}")
    if op.direction == PropagationDirection.BOTH:
        raise VerifyException(
            "cannot specify `BOTH` as the direction: a barrier that blocks nothing is "
            "redundant"
        )


def _verify_static_single_use(op: Operation, value: SSAValue) -> None:
    type = value.type
    if not (isinstance(type, ShapedType) and type.has_static_shape()):
        raise VerifyException(f"expected a static-shaped result, got {type}")
    if not value.has_one_use():
        raise VerifyException(f"expected input of {op.name} to have a single user")


def _verify_edge(op: DataFlowEdgeOp) -> None:
    _verify_static_single_use(op, op.input)
    owner = op.input.owner
    if (
        isinstance(owner, Operation)
        and owner.dialect_name() == "sdy"
        and not isinstance(owner, ManualComputationOp | NamedComputationOp)
    ):
        raise VerifyException(
            "expected input of sdy.data_flow_edge to not be defined by an op of the "
            f"dialect other than a computation, got {owner.name}"
        )
    if op.sharding is not None:
        _verify_at(op, op.sharding.data, op.result.type)


def _verify_func_edge(op: FuncDataFlowEdgeOp) -> None:
    _verify_static_single_use(op, op.operand)
    owner = access.owning_op(op.operand)
    if isinstance(op.operand, BlockArgument):
        if not isinstance(owner, FuncOp):
            raise VerifyException(
                "expected operand to be a block argument of a func op"
            )
    elif not isinstance(owner, CallOp):
        raise VerifyException("expected operand to be a result of a call op")


# Manual and named computations


def _verify_manual_values(
    op: ManualComputationOp,
    label: str,
    global_types: Sequence[Attribute],
    local_types: Sequence[Attribute],
    shardings: Sequence[TensorSharding],
    meshes: dict[str, Mesh],
    bound: Collection[str],
) -> None:
    """Operands and block arguments, or results and returned values."""
    manual = set(op.manual_axes.data)
    if not global_types and not local_types and not shardings:
        return
    _verify_per_value(shardings, global_types, meshes, bound, label)
    if len(global_types) != len(local_types):
        raise VerifyException(
            f"number of op {label}s and region {label}s must match: {len(global_types)} "
            f"op {label}s and {len(local_types)} region {label}s"
        )
    right: set[tuple[int, int, int]] = set()
    for index, (outside, inside, sharding) in enumerate(
        zip(global_types, local_types, shardings, strict=False)
    ):
        alike = id(outside), id(inside), id(sharding)
        if alike in right:
            continue
        right.add(alike)
        try:
            for dim_index, dim in enumerate(sharding.dims):
                verify.manual_axes_first(dim, dim_index, manual)
            if isinstance(outside, ShapedType):
                _verify_local_type(outside, inside, sharding, meshes, manual)
        except VerifyException as error:
            raise VerifyException(f"{label} {index}: {error}") from error


def _verify_local_type(
    outside: Attribute,
    inside: Attribute,
    sharding: TensorSharding,
    meshes: dict[str, Mesh],
    manual: Collection[str],
) -> None:
    """The type inside is the shard's along the manual axes."""
    mesh = _named(meshes, sharding)
    if not isinstance(outside, TensorType) or mesh is None or mesh.is_maximal:
        return
    shape = verify.local_shape(outside.get_shape(), sharding, mesh, manual)
    element_type = cast(TensorType[Attribute], outside).element_type
    expected: Attribute = TensorType(element_type, shape)
    if inside != expected:
        raise VerifyException(
            "global shape, sharding and local shape must match: expected local type "
            f"{expected}, got {inside}"
        )


def _returned_types(block: Block) -> Sequence[Attribute]:
    last = block.last_op
    return () if last is None else last.operand_types


def _verify_manual_computation(op: ManualComputationOp) -> None:
    bound = bound_axes(op)
    for name in op.manual_axes.data:
        if name in bound:
            raise VerifyException(
                f"operates on axis {quoted(name)} which is already bound by a parent "
                "sdy.manual_computation op"
            )
    meshes = _meshes_around(op)
    in_shardings, out_shardings = op.in_shardings.data, op.out_shardings.data
    block = op.body.block
    _verify_manual_values(
        op, "operand", op.operand_types, block.arg_types, in_shardings, meshes, bound
    )
    _verify_manual_values(
        op,
        "result",
        op.result_types,
        _returned_types(block),
        out_shardings,
        meshes,
        bound,
    )
    if not in_shardings and not out_shardings:
        return
    mesh = common_mesh((*in_shardings, *out_shardings), meshes)
    for name in op.manual_axes.data:
        if mesh is None:
            raise VerifyException(
                "all in and out shardings must be bound to the same mesh or an empty "
                "mesh"
            )
        if not mesh.has_axis(name):
            raise VerifyException(
                f"unknown manual axis: {quoted(name)}; the mesh is {mesh.title}"
            )


def _meshes_around(op: Operation) -> dict[str, Mesh]:
    module = access.enclosing_module(op)
    return {} if module is None else access.mesh_table(module)


def _verify_named_computation(op: NamedComputationOp) -> None:
    block = op.body.block
    arguments = block.arg_types
    if len(arguments) != len(op.operands):
        raise VerifyException(
            "number of block arguments must match the number of operands: "
            f"{len(arguments)} != {len(op.operands)}"
        )
    returned = _returned_types(block)
    if len(returned) != len(op.results):
        raise VerifyException(
            "number of returned values must match the number of results: "
            f"{len(returned)} != {len(op.results)}"
        )
    for label, inside, outside in (
        ("block argument", arguments, op.operand_types),
        ("returned value", returned, op.result_types),
    ):
        for index, (inner, outer) in enumerate(zip(inside, outside, strict=True)):
            if inner != outer:
                raise VerifyException(
                    f"expected the type of {label} {index} to match the outer type: "
                    f"{inner} vs {outer}"
                )
    meshes, bound = _meshes_around(op), bound_axes(op)
    for label, shardings, types in (
        ("in_shardings", op.in_shardings, op.operand_types),
        ("out_shardings", op.out_shardings, op.result_types),
    ):
        if shardings is not None:
            _verify_per_value(shardings.data, types, meshes, bound, label)


# Collectives


def _verify_collective(op: CollectiveOp) -> None:
    """Check the constraints of the interface, then those of the op."""
    operand = access.get_sharding(op.tensor)
    if operand is None and not op.ALLOWS_MISSING_INPUT_SHARDING:
        raise VerifyException("collective on operand without sharding")
    result = op.out_sharding.data
    _verify_at(op, result, op.result.type, "out_sharding: ")
    mesh = access.find_mesh(op, result.mesh)
    if mesh is None:
        return
    operand_mesh = mesh
    if operand is None:
        operand = TensorSharding.fully_open(result.mesh, result.rank)
    else:
        operand_mesh = access.find_mesh(op, operand.mesh)
        if operand_mesh is None:
            raise VerifyException(f"operand: unknown mesh: {symbol(str(operand.mesh))}")
        if operand_mesh != mesh and not op.ALLOWS_DIFFERENT_MESHES:
            raise VerifyException(
                f"result mesh does not match operand mesh: {mesh} != {operand_mesh}"
            )
        if operand.rank != result.rank:
            raise VerifyException(
                f"result sharding has rank {result.rank} but operand sharding has rank "
                f"{operand.rank}"
            )
    match op:
        case AllGatherOp():
            verify.gathers(operand, op.gathering_axes.data, result, mesh, "gathering")
        case AllSliceOp():
            verify.slices(operand, op.slicing_axes.data, result, mesh, "slicing")
        case ReduceScatterOp():
            lists = op.reduce_scatter_axes.data
            verify.slices(operand, lists, result, mesh, "reduce-scatter")
            _verify_reducing(op, operand, result)
        case AllToAllOp():
            verify.all_to_all(operand, op.params.data, result, mesh)
        case CollectivePermuteOp():
            verify.permutes(operand, operand_mesh, result, mesh)
        case AllReduceOp():
            verify.reduces(operand, op.reduction_axes.data, result, mesh)
            _verify_reducing(op, operand, result)
        case ShardedToUnreducedOp():
            lists = op.axes.data
            verify.gathers(operand, lists, result, mesh, "sharded-to-unreduced")
            axes = tuple(axis for axes in lists for axis in axes)
            verify.becomes_unreduced(operand, axes, result, mesh)
        case ReplicatedToUnreducedOp():
            verify.replicated_to_unreduced(operand, op.axes.data, result, mesh)
        case _:
            return


def _verify_reducing(
    op: CombiningOp, operand: TensorSharding, result: TensorSharding
) -> None:
    if op.reduction_op is not None:
        verify.reduction_number(op.reduction_op.value.data)
    verify_transition(op, [operand], [result], removed=(op.reduction,))


def verify_transition(
    op: Operation,
    operands: Sequence[TensorSharding | None],
    results: Sequence[TensorSharding | None],
    introduced: Collection[ReductionKind] = (),
    removed: Collection[ReductionKind] = (),
) -> None:
    """Refuse an op that changes unreduced axes as it cannot; see `check_transition`.

    Where the shardings are over several meshes nothing is checked, as in C++.
    """
    given = [sharding for sharding in (*operands, *results) if sharding]
    if not any(sharding.unreduced for sharding in given):
        return
    meshes = {access.find_mesh(op, sharding.mesh) for sharding in given} - {None}
    if len(meshes) != 1 or (mesh := meshes.pop()) is None:
        return
    try:
        check_transition(operands, results, mesh, introduced, removed)
    except ValueError as error:
        raise VerifyException(str(error)) from error


# Attributes on any op


class ShardingsVerify(OpTrait):
    """Trait of modules: verifies their `sdy.` attributes."""

    def verify(self, op: Operation) -> None:
        """Check them all."""
        if isinstance(op, ModuleOp):
            verify_shardings(op)


def verify_shardings(module: ModuleOp) -> None:
    """Check every `sdy.` attribute in a module: of functions and of any dialect's ops.

    One walk, which leaves out modules inside; each distinct sharding is checked once
    (`_sdy.verify.tensor_sharding`).
    Ops of the sdy dialect check their own properties when they are verified.

    Raises:
        VerifyException: naming the op, its place, the constraint, the axis and the
            dimension.
    """
    _verify_nested(module.ops, access.mesh_table(module), frozenset())


def _verify_nested(
    ops: Iterable[Operation], meshes: dict[str, Mesh], bound: frozenset[str]
) -> None:
    for op in ops:
        # most ops have no regions, and abstract classes answer slowly
        if op.regions and isinstance(op, ModuleOp):
            continue  # it has meshes of its own, and this trait
        try:
            if op.regions and isinstance(op, FuncOp):
                _verify_func(op, meshes)
            if op.attributes:
                _verify_attributes(op, meshes, bound)
        except VerifyException as error:
            raise OpError(str(error), op) from error
        if op.regions:
            inside = bound
            if isinstance(op, ManualComputationOp):
                inside = bound.union(op.manual_axes.data)
            for region in op.regions:
                for block in region.blocks:
                    _verify_nested(block.ops, meshes, inside)


def _verify_func(func: FuncOp, meshes: dict[str, Mesh]) -> None:
    function_type = func.function_type
    _verify_dictionaries("arg", func.arg_attrs, function_type.inputs.data, meshes)
    _verify_dictionaries("result", func.res_attrs, function_type.outputs.data, meshes)


def _verify_dictionaries(
    label: str,
    dictionaries: ArrayAttr[DictionaryAttr] | None,
    types: Sequence[Attribute],
    meshes: dict[str, Mesh],
) -> None:
    if dictionaries is None:
        return
    checked: set[tuple[int, int]] = set()  # identities: most are of the same objects
    for index, (entries, type) in enumerate(
        zip(dictionaries.data, types, strict=False)
    ):
        sharding = entries.data.get(access.SHARDING)
        pair = id(sharding), id(type)
        if sharding is None or pair in checked:
            continue
        checked.add(pair)
        try:
            if not isinstance(sharding, TensorShardingAttr):
                raise VerifyException(
                    "should have a sharding attribute of type #sdy.sharding, got "
                    f"{sharding}"
                )
            verify_sharding(sharding.data, type, _named(meshes, sharding.data))
        except VerifyException as error:
            raise VerifyException(f"{label} {index}: {error}") from error


def _verify_attributes(
    op: Operation, meshes: dict[str, Mesh], bound: Collection[str]
) -> None:
    """The `sdy.` attributes of one op."""
    attributes = op.attributes
    sharding = attributes.get(access.SHARDING)
    if sharding is not None:
        shardings = _per_value(sharding)
        _verify_per_value(shardings, op.result_types, meshes, bound, "result")
    sharding = attributes.get(access.BLOCK_ARGUMENT_SHARDING)
    if sharding is not None:
        shardings = _per_value(sharding)
        types = _owning_block_types(op)
        _verify_per_value(shardings, types, meshes, bound, "block argument")
    rule = attributes.get(access.SHARDING_RULE)
    if rule is not None:
        _verify_rule(op, rule)
    edges = attributes.get(access.PROPAGATION_EDGES)
    if edges is not None:
        if not isinstance(edges, PropagationEdgesAttr):
            raise VerifyException(
                f"{access.PROPAGATION_EDGES} should be a #sdy.propagation_edges, got {edges}"
            )
        _verify_propagation_edges(op, edges.data, meshes)
    for name in _EDGE_LISTS:
        if name in attributes:
            _verify_edge_list(name, attributes[name])


def _per_value(attribute: Attribute) -> tuple[TensorSharding, ...]:
    if not isinstance(attribute, TensorShardingPerValueAttr):
        raise VerifyException(
            "should have a sharding attribute of type #sdy.sharding_per_value, "
            f"got {attribute}"
        )
    return attribute.data


def _owning_block_types(op: Operation) -> tuple[Attribute, ...]:
    """The types of the arguments of the block whose arguments own data flow edges."""
    edges = data_flow_of(type(op))
    owners = () if edges is None else edges.edge_owners(op)
    blocks = {owner.block for owner in owners if isinstance(owner, BlockArgument)}
    if len(blocks) != 1:
        raise VerifyException(
            f"{access.BLOCK_ARGUMENT_SHARDING} is for ops with one block whose arguments own "
            f"data flow edges, this one has {len(blocks)}"
        )
    return tuple(blocks.pop().arg_types)


def _verify_rule(op: Operation, rule: Attribute) -> None:
    if not isinstance(rule, OpShardingRuleAttr):
        raise VerifyException(
            f"{access.SHARDING_RULE} should be a #sdy.op_sharding_rule, got {rule}"
        )
    shapes: list[tuple[int, ...]] = []
    for type in (*op.operand_types, *op.result_types):
        if not (isinstance(type, ShapedType) and type.has_static_shape()):
            raise VerifyException(
                f"sharding rule: expected ranked tensors with static shapes, got {type}"
            )
        shapes.append(type.get_shape())
    operands = len(op.operands)
    verify.rule(rule.data, tuple(shapes[:operands]), tuple(shapes[operands:]))


def _verify_edge_list(name: str, edges: Attribute) -> None:
    entries = (
        cast(ArrayAttr[Attribute], edges).data if isinstance(edges, ArrayAttr) else None
    )
    if entries is None or not all(isinstance(e, PropagationEdgesAttr) for e in entries):
        raise VerifyException(f"{name} should be an array of #sdy.propagation_edges")


def _edge_value(op: Operation, ref: EdgeValueRef) -> SSAValue | None:
    """The operand or result that a reference means; None if it is out of range."""
    values = op.operands if ref.type == EdgeNodeType.OPERAND else op.results
    return values[ref.index] if 0 <= ref.index < len(values) else None


def _verify_propagation_edges(
    op: Operation, steps: Sequence[PropagationStep], meshes: dict[str, Mesh]
) -> None:
    """Edges name operands and results of the op, which have shardings on one mesh."""
    refs = [
        (entry.axis, ref)
        for step in steps
        for entry in step.entries
        for ref in (entry.source, *entry.targets)
    ]
    values = (_edge_value(op, ref) for _, ref in refs)
    shardings = [
        sharding
        for value in values
        if value is not None and (sharding := access.get_sharding(value)) is not None
    ]
    if not shardings:
        raise VerifyException("expected propagation edges to reference a sharding")
    mesh = common_mesh(shardings, meshes)
    if mesh is None:
        raise VerifyException("expected a common mesh for propagation edges")
    for axis, ref in refs:
        if not mesh.has_axis(axis.name):
            raise VerifyException(
                f"propagation edges: unknown axis name: {quoted(axis.name)}; the mesh "
                f"is {mesh.title}"
            )
        if _edge_value(op, ref) is None:
            count = len(op.operands if ref.type == EdgeNodeType.OPERAND else op.results)
            raise VerifyException(
                f"propagation edges: expected {ref.type.value} index in range [0, "
                f"{count}), got: {ref.index}"
            )
