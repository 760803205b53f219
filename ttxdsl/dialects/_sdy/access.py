"""Get and set the shardings of values, and find the mesh that a sharding names.

Source: Shardy's compiler API document and the data flow edges of its dialect.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, is_not
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, ShapedType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects._sdy.attributes import (
    TensorShardingAttr,
    TensorShardingPerValueAttr,
)
from ttxdsl.dialects._sdy.ops import (
    CollectiveOp,
    DataFlowEdgeOp,
    ManualComputationOp,
    MeshOp,
    NamedComputationOp,
    PropagationBarrierOp,
    ShardingOp,
)
from ttxdsl.ir.data_flow import ByClass, data_flow_of
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import all_ops, parent_of
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.manual import with_manual_axes
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.text import symbol

SHARDING = "sdy.sharding"
"""Attribute of function arguments and results (a sharding) and ops (one a result)."""

BLOCK_ARGUMENT_SHARDING = "sdy.block_argument_sharding"
"""Attribute of ops of other dialects whose block arguments own data flow edges.

A sharding for each argument of the block.
"""

SHARDING_RULE = "sdy.sharding_rule"
"""Attribute of an op that holds its `OpShardingRuleAttr`."""

PROPAGATION_EDGES = "sdy.propagation_edges"
"""Attribute of an op that names the operand or result that each axis came from."""

# Shardings of values


def _keeps_result_shardings(op_class: type[object]) -> bool:
    return (
        issubclass(op_class, Operation)
        and not issubclass(op_class, CollectiveOp | DataFlowEdgeOp | ShardingOp)
        and data_flow_of(op_class) is None
    )


IS_PLAIN = ByClass(_keeps_result_shardings)
"""Whether the results of ops of a class keep their shardings in the ops' `sdy.sharding`.

True of nearly all, for which the search for the holder can be spared; False for
blocks, the owners of block arguments.
"""


def is_of_sdy(name: str) -> bool:
    """Whether an attribute's name is one of the dialect's, known or not."""
    return name.startswith("sdy.")


def without_sdy(entries: dict[str, Attribute]) -> dict[str, Attribute]:
    """Attributes without the dialect's."""
    if not entries:  # as most ops have none
        return entries
    if len(entries) == 1 and SHARDING in entries:  # as most others have
        return {}
    return {name: value for name, value in entries.items() if not is_of_sdy(name)}


def tensor_rank(type: Attribute) -> int:
    """Return the rank of a shaped type, 0 for every other type."""
    return type.get_num_dims() if isinstance(type, ShapedType) else 0


def owning_op(value: SSAValue) -> Operation | None:
    """Return the op that defines a result, or whose region has the block argument."""
    if isinstance(value, OpResult):
        return value.op
    owner = value.owner
    return owner.parent_op() if isinstance(owner, Block) else owner


def enclosing_function(value: SSAValue) -> FuncOp | None:
    """Return the function that a value stands in."""
    op = owning_op(value)
    while op is not None and not isinstance(op, FuncOp):
        op = op.parent_op()
    return op


def edge_owner(target: SSAValue) -> SSAValue | None:
    """The value that stands for all targets of the data flow edge that `target` is on.

    None if the op that owns `target` has no data flow edges.
    """
    op = owning_op(target)
    edges = None if op is None else data_flow_of(type(op))
    if op is None or edges is None or not isinstance(target, OpResult | BlockArgument):
        return None
    return edges.edge_owner(op, target)


def find_data_flow_edge(target: SSAValue) -> DataFlowEdgeOp | None:
    """The `sdy.data_flow_edge` of the edge that `target` is on, if there is one."""
    owner = edge_owner(target)
    if owner is None:
        return None
    use = owner.get_user_of_unique_use()
    return use if isinstance(use, DataFlowEdgeOp) else None


def shardable_value(value: SSAValue) -> SSAValue | None:
    """Return the value that holds the sharding of `value`; None if nothing can hold it.

    The result of the data flow edge if there is one; the edge's owner for block
    arguments; otherwise the value itself. Block arguments of ops that are neither
    functions nor have data flow edges (the scalars of a reduction) have none.
    """
    edge = find_data_flow_edge(value)
    if edge is not None:
        return edge.result
    if isinstance(value, OpResult) or isinstance(owning_op(value), FuncOp):
        return value
    return edge_owner(value)


def get_sharding(value: SSAValue) -> TensorSharding | None:
    """Return the sharding of a value, wherever its kind of value keeps it.

    A function's argument keeps it in the function's argument attributes; sharding
    constraints, reshards, collectives, data flow edges and manual and named
    computations in properties; results of all other ops in `sdy.sharding`, and block
    arguments that own data flow edges in `sdy.block_argument_sharding`. The sharding
    of a manual computation's block argument names free axes only.

    Returns:
        None if the value has no sharding, which means fully open.
    """
    owner: Any = value.owner
    if IS_PLAIN[type(owner)]:
        shardings = owner.attributes.get(SHARDING)
        return None if shardings is None else _entry(shardings, value)
    holder = shardable_value(value)
    if holder is None:
        return None
    op = owning_op(holder)
    match op:
        case FuncOp() if isinstance(holder, BlockArgument):
            return get_func_argument_sharding(op, holder.index)
        case DataFlowEdgeOp():
            return None if op.sharding is None else op.sharding.data
        case ShardingOp():
            return op.sharding.data
        case CollectiveOp():
            return op.out_sharding.data
        case ManualComputationOp() if isinstance(holder, BlockArgument):
            return op.inner_sharding(holder.index)
        case ManualComputationOp() | NamedComputationOp():
            inwards = isinstance(holder, BlockArgument)
            return _entry(op.in_shardings if inwards else op.out_shardings, holder)
        case Operation():
            return _entry(op.attributes.get(_attribute_for(holder)), holder)
        case None:
            return None


def set_sharding(value: SSAValue, sharding: TensorSharding) -> None:
    """Give a value a sharding, wherever its kind of value keeps it.

    Other results of the same op that had none become fully open, which means the
    same. Values that nothing can hold a sharding for are left alone.
    """
    owner = value.owner
    if IS_PLAIN[type(owner)]:
        attributes = cast(Operation, owner).attributes
        attributes[SHARDING] = _with_entry(attributes.get(SHARDING), value, sharding)
        return
    holder = shardable_value(value)
    if holder is None:
        return
    op = owning_op(holder)
    match op:
        case FuncOp() if isinstance(holder, BlockArgument):
            set_func_argument_sharding(op, holder.index, sharding)
        case DataFlowEdgeOp() | ShardingOp():
            op.sharding = TensorShardingAttr(sharding)
        case CollectiveOp():
            op.out_sharding = TensorShardingAttr(sharding)
        case ManualComputationOp() | NamedComputationOp():
            if not isinstance(holder, BlockArgument):
                op.out_shardings = _with_entry(op.out_shardings, holder, sharding)
                return
            if isinstance(op, ManualComputationOp):
                outer = op.in_shardings.data[holder.index]
                sharding = with_manual_axes(outer, sharding, op.manual_axes.data)
            op.in_shardings = _with_entry(op.in_shardings, holder, sharding)
        case Operation():
            name = _attribute_for(holder)
            op.attributes[name] = _with_entry(op.attributes.get(name), holder, sharding)
        case None:
            return


def _attribute_for(holder: SSAValue) -> str:
    """Return the attribute that holds a sharding in an op of another dialect."""
    return SHARDING if isinstance(holder, OpResult) else BLOCK_ARGUMENT_SHARDING


def _entry(shardings: Attribute | None, value: Any) -> TensorSharding | None:
    """Return the sharding of a result or block argument; None without one."""
    if type(shardings) is not TensorShardingPerValueAttr:
        return None
    index: int = value.index
    data = shardings.data
    return data[index] if index < len(data) else None


def _with_entry(
    shardings: Attribute | None,
    value: SSAValue,
    sharding: TensorSharding,
) -> TensorShardingPerValueAttr:
    """One sharding replaced; without any, the values beside it are fully open."""
    if isinstance(shardings, TensorShardingPerValueAttr):
        entries = list(shardings.data)
    elif isinstance(value.owner, Block):
        entries = fully_open_shardings(value.owner.arg_types, sharding.mesh)
    else:
        entries = fully_open_shardings(value.owner.result_types, sharding.mesh)
    assert isinstance(value, OpResult | BlockArgument)
    entries[value.index] = sharding
    return TensorShardingPerValueAttr(entries)


def fully_open_shardings(
    types: Iterable[Attribute], mesh: str | Mesh
) -> list[TensorSharding]:
    """Return a fully open sharding for each type."""
    return [TensorSharding.fully_open(mesh, tensor_rank(type)) for type in types]


# Shardings of functions


def _dictionary_sharding(
    attributes: ArrayAttr[DictionaryAttr] | None, index: int
) -> TensorSharding | None:
    if attributes is None:
        return None
    sharding = attributes.data[index].data.get(SHARDING)
    return sharding.data if isinstance(sharding, TensorShardingAttr) else None


def get_func_argument_sharding(func: FuncOp, index: int) -> TensorSharding | None:
    """The sharding of a function's argument; also works for external functions."""
    return _dictionary_sharding(func.arg_attrs, index)


def get_func_result_sharding(func: FuncOp, index: int) -> TensorSharding | None:
    """Return the sharding of a function's result."""
    return _dictionary_sharding(func.res_attrs, index)


def _with_sharding(
    attributes: DictionaryAttr, sharding: TensorShardingAttr | None
) -> DictionaryAttr:
    if attributes.data.get(SHARDING) == sharding and _is_sorted(attributes):
        return attributes
    entries = dict(attributes.data)
    entries.pop(SHARDING, None)
    if sharding is not None:
        entries[SHARDING] = sharding
    # MLIR prints dictionaries in the order of their keys
    return DictionaryAttr(dict(sorted(entries.items())))


def _is_sorted(attributes: DictionaryAttr) -> bool:
    return len(attributes.data) < 2 or [*attributes.data] == sorted(attributes.data)


def _with_shardings(
    attributes: ArrayAttr[DictionaryAttr] | None,
    count: int,
    changes: Iterable[tuple[int, TensorSharding | None]],
) -> ArrayAttr[DictionaryAttr] | None:
    """`count` dictionaries, some with other shardings; None if all are empty."""
    if attributes is None:
        dictionaries = [DictionaryAttr({})] * count
    else:
        dictionaries = list(attributes.data)
    # most are alike, and one object prints once
    alike: dict[TensorSharding | None, TensorShardingAttr | None] = {None: None}
    for index, sharding in changes:
        if sharding not in alike:
            alike[sharding] = sharding and TensorShardingAttr(sharding)
        dictionaries[index] = _with_sharding(dictionaries[index], alike[sharding])
    if not any(dictionary.data for dictionary in dictionaries):
        return None
    return ArrayAttr(dictionaries)


def set_func_shardings(
    func: FuncOp,
    arguments: Sequence[TensorSharding | None] | None = None,
    results: Sequence[TensorSharding | None] | None = None,
) -> None:
    """Replace the shardings of all arguments, all results, or both.

    Args:
        arguments: one entry an argument; an entry None removes the sharding. None
            leaves all arguments alone.
    """
    if arguments is not None:
        changes = enumerate(arguments)
        func.arg_attrs = _with_shardings(func.arg_attrs, len(arguments), changes)
    if results is not None:
        changes = enumerate(results)
        func.res_attrs = _with_shardings(func.res_attrs, len(results), changes)


def drop_func_shardings(func: FuncOp) -> None:
    """Remove the shardings of all arguments and results."""
    types = func.function_type
    set_func_shardings(func, [None] * len(types.inputs), [None] * len(types.outputs))


def func_argument_shardings(func: FuncOp) -> list[TensorSharding | None]:
    """Return the shardings of all arguments."""
    count = len(func.function_type.inputs.data)
    return [get_func_argument_sharding(func, index) for index in range(count)]


def func_result_shardings(func: FuncOp) -> list[TensorSharding | None]:
    """Return the shardings of all results."""
    count = len(func.function_type.outputs.data)
    return [get_func_result_sharding(func, index) for index in range(count)]


def set_func_argument_sharding(
    func: FuncOp, index: int, sharding: TensorSharding | None
) -> None:
    """Replace or remove the sharding of one argument."""
    count = len(func.function_type.inputs.data)
    func.arg_attrs = _with_shardings(func.arg_attrs, count, [(index, sharding)])


def set_func_result_sharding(
    func: FuncOp, index: int, sharding: TensorSharding | None
) -> None:
    """Replace or remove the sharding of one result."""
    count = len(func.function_type.outputs.data)
    func.res_attrs = _with_shardings(func.res_attrs, count, [(index, sharding)])


# All shardings


def behind_barriers(value: SSAValue) -> SSAValue:
    """The value that propagation barriers pass on; these leave data and layout alone."""
    while isinstance(value.owner, PropagationBarrierOp):
        value = value.owner.input
    return value


def transform_shardings(
    root: Operation, change: Callable[[TensorSharding], TensorSharding]
) -> None:
    """Replace every sharding in and under `root` by `change` of it.

    Those of function arguments and results, of op results, of the operands and
    results of computations, of data flow edges, constraints, reshards and
    collectives. `change` is called once for each distinct sharding.
    """
    changed: dict[TensorSharding, TensorSharding] = {}
    # one attribute serves many ops
    attributes = IdentityMemo[TensorShardingPerValueAttr]()

    def new(sharding: TensorSharding) -> TensorSharding:
        known = changed.get(sharding)
        if known is None:
            known = changed[sharding] = change(sharding)
        return known

    def new_per_value(
        old: TensorShardingPerValueAttr, op: Operation, values: _Values
    ) -> TensorShardingPerValueAttr:
        known = attributes.get(id(old))
        if known is None:
            new_shardings = TensorShardingPerValueAttr(map(new, old.data))
            known = attributes.keep(id(old), new_shardings, old)
        return known

    _transform(root, lambda sharding, op, type: new(sharding), new_per_value)


def written_shardings(root: Operation) -> list[TensorSharding]:
    """Return the different shardings in and under `root`, in order of the program."""
    written: dict[TensorSharding, None] = {}

    def see(sharding: TensorSharding) -> TensorSharding:
        written[sharding] = None
        return sharding

    transform_shardings(root, see)
    return list(written)


def transform_shardings_of_values(
    root: Operation,
    change: Callable[[TensorSharding, Operation, Attribute], TensorSharding],
) -> None:
    """Replace the shardings of values; `change` gets the type of the value, too.

    `change` gets a sharding, its op, and the value's type. What it leaves as it is, it
    is not asked about again for values of that type. The sharding of an op without
    results is kept.
    """
    unchanged = IdentityMemo[bool]()

    def new_per_value(
        old: TensorShardingPerValueAttr, op: Operation, values: _Values
    ) -> TensorShardingPerValueAttr:
        if not values:
            return old
        types = [*map(_type_of, values)]
        key = id(old), *map(id, types)
        if key in unchanged:
            return old
        new = [
            change(sharding, op, type_)
            for sharding, type_ in zip(old.data, types, strict=True)
        ]
        if any(map(is_not, new, old.data)):
            return TensorShardingPerValueAttr(new)
        unchanged.keep(key, True, old, types)
        return old

    _transform(root, change, new_per_value)


_Values = Sequence[SSAValue]
_type_of = attrgetter("type")


def _transform(
    root: Operation,
    change: Callable[[TensorSharding, Operation, Attribute], TensorSharding],
    per_value: Callable[
        [TensorShardingPerValueAttr, Operation, _Values], TensorShardingPerValueAttr
    ],
) -> None:
    for op in all_ops(root):
        if type(op) is not FuncOp and IS_PLAIN[type(op)]:
            shardings = op.attributes.get(SHARDING)
            if type(shardings) is TensorShardingPerValueAttr:
                op.attributes[SHARDING] = per_value(shardings, op, op.results)
            continue
        match op:
            case FuncOp():
                transform_func_shardings(
                    op, lambda sharding, type, func=op: change(sharding, func, type)
                )
            case ShardingOp() | CollectiveOp() | DataFlowEdgeOp():
                (result,) = op.results
                sharding = get_sharding(result)
                if sharding is not None:
                    set_sharding(result, change(sharding, op, result.type))
            case ManualComputationOp() | NamedComputationOp():
                if op.in_shardings is not None:
                    op.in_shardings = per_value(op.in_shardings, op, op.operands)
                if op.out_shardings is not None:
                    op.out_shardings = per_value(op.out_shardings, op, op.results)
            case _:
                for name in (SHARDING, BLOCK_ARGUMENT_SHARDING):
                    shardings = op.attributes.get(name)
                    if type(shardings) is TensorShardingPerValueAttr:
                        is_result = name == SHARDING
                        values = op.results if is_result else op.regions[0].block.args
                        op.attributes[name] = per_value(shardings, op, values)


def transform_func_shardings(
    func: FuncOp, change: Callable[[TensorSharding, Attribute], TensorSharding]
) -> None:
    """Replace the shardings of a function's arguments and results.

    `change` gets a sharding and the type of its value.
    """

    def all_new(
        old: list[TensorSharding | None], types: ArrayAttr[Attribute]
    ) -> list[TensorSharding | None]:
        return [
            None if sharding is None else change(sharding, type)
            for sharding, type in zip(old, types, strict=True)
        ]

    types = func.function_type
    if func.arg_attrs is not None:
        arguments = all_new(func_argument_shardings(func), types.inputs)
        set_func_shardings(func, arguments=arguments)
    if func.res_attrs is not None:
        results = all_new(func_result_shardings(func), types.outputs)
        set_func_shardings(func, results=results)


# Meshes in scope


def enclosing_module(scope: Operation | SSAValue) -> ModuleOp | None:
    """Return the nearest module around an op or a value; the op itself if it is one."""
    op = owning_op(scope) if isinstance(scope, SSAValue) else scope
    while op is not None and type(op) is not ModuleOp:
        op = parent_of(op)
    return op


def mesh_table(module: ModuleOp) -> dict[str, Mesh]:
    """The meshes of a module by symbol name, in order; look them up many times."""
    return {
        op.sym_name.data: op.mesh.data for op in module.ops if isinstance(op, MeshOp)
    }


def find_mesh(scope: Operation | SSAValue, mesh: str | Mesh) -> Mesh | None:
    """Return the mesh that a name stands for in the module around `scope`, or None.

    An inlined mesh is itself.
    """
    if isinstance(mesh, Mesh):
        return mesh
    module = enclosing_module(scope)
    if module is None:
        return None
    for op in module.ops:
        if isinstance(op, MeshOp) and op.sym_name.data == mesh:
            return op.mesh.data
    return None


def get_mesh(
    scope: Operation | SSAValue, sharding: TensorSharding | str | Mesh
) -> Mesh:
    """Return the mesh that a sharding (or the name of a mesh) means at `scope`.

    Raises:
        CompileError: if the module around `scope` has no mesh of that name.
    """
    named = sharding.mesh if isinstance(sharding, TensorSharding) else sharding
    mesh = find_mesh(scope, named)
    if mesh is None:
        raise CompileError(
            f"unknown mesh: {symbol(str(named))}",
            scope,
            hint='declare it in the module: sdy.mesh @name = <["x"=2]>',
        )
    return mesh
