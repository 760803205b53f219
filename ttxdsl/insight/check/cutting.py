"""Cutting ops and results out of a program: what is left is a program again.

A value whose op is cut becomes an argument of the function, split over the mesh as the
value was, so that what used it stays as it is.
"""

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, ShapedType, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.dialects import sdy
from ttxdsl.dialects.ttcore import SHARD_STATUS_ATTRIBUTE, ShardStatus, ShardStatusAttr
from ttxdsl.sharding.spec import TensorSharding


def _bodies(function: FuncOp) -> list[Block]:
    """The body of a function and those of the manual computations in it."""
    block = function.body.block
    inner = [
        op.body.block for op in block.ops if isinstance(op, sdy.ManualComputationOp)
    ]
    return [block, *inner]


def _is_plain(value: SSAValue) -> bool:
    type_: Attribute = value.type
    return isinstance(type_, ShapedType) and type_.has_static_shape()


def cuttable_ops(module: ModuleOp) -> list[Operation]:
    """The ops that can be cut, in program order: all that only make tensors."""
    return [
        op
        for body in _bodies(entry_function(module))
        for op in body.ops
        if not op.has_trait(IsTerminator)
        and not isinstance(op, sdy.ManualComputationOp)
        and all(_is_plain(result) for result in op.results)
    ]


def cut_ops(
    module: ModuleOp, indices: Collection[int], *, with_status: bool
) -> ModuleOp:
    """A copy of the module without some of its `cuttable_ops`.

    Args:
        with_status: whether new arguments need a shard status, which all have from
            stage 3 on.
    """
    module = module.clone()
    ops = cuttable_ops(module)
    for index in sorted(indices, reverse=True):
        op = ops[index]
        for result in op.results:
            if result.uses.get_length():
                result.replace_all_uses_with(_argument_for(result, with_status))
        Rewriter.erase_op(op)
    tidy(module)
    return module


def _argument_for(value: SSAValue, with_status: bool) -> BlockArgument:
    """A new argument in the block where a value is made, like the value."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    assert block is not None
    parent = block.parent_op()
    sharding = sdy.get_sharding(value)
    if isinstance(parent, FuncOp):
        return _function_argument(parent, value.type, sharding, with_status)
    assert isinstance(parent, sdy.ManualComputationOp)
    function = parent.parent_op()
    assert isinstance(function, FuncOp)
    shardings = list(parent.in_shardings.data)
    if sharding is None:
        some = (*shardings, *parent.out_shardings.data)
        mesh = some[0].mesh if some else next(iter(_mesh_names(parent)))
        sharding = TensorSharding.fully_closed(mesh, sdy.tensor_rank(value.type))
    outer = _function_argument(function, value.type, sharding, with_status)
    parent.operands = [*parent.operands, outer]
    parent.in_shardings = sdy.TensorShardingPerValueAttr([*shardings, sharding])
    return block.insert_arg(value.type, len(block.args))


def _mesh_names(op: Operation) -> list[str]:
    module = sdy.enclosing_module(op)
    return [] if module is None else list(sdy.mesh_table(module))


def _function_argument(
    function: FuncOp,
    type_: Attribute,
    sharding: TensorSharding | None,
    with_status: bool,
) -> BlockArgument:
    entries = argument_attributes(function)
    entry: dict[str, Attribute] = {}
    if sharding is not None:
        entry[sdy.SHARDING] = sdy.TensorShardingAttr(sharding)
    if with_status:
        entry[SHARD_STATUS_ATTRIBUTE] = ShardStatusAttr(ShardStatus.UNSHARDED)
    block = function.body.block
    argument = block.insert_arg(type_, len(block.args))
    function.function_type = FunctionType.from_lists(
        block.arg_types, list(function.function_type.outputs)
    )
    set_argument_attributes(function, [*entries, entry])
    return argument


def keep_results(module: ModuleOp, kept: Sequence[int]) -> ModuleOp:
    """A copy of the module whose entry function returns only some of its results."""
    module = module.clone()
    function = entry_function(module)
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp)
    entries = result_attributes(function)
    values = [end.operands[index] for index in kept]
    end.operands = values
    function.function_type = FunctionType.from_lists(
        list(function.function_type.inputs), [value.type for value in values]
    )
    set_result_attributes(function, [entries[index] for index in kept])
    tidy(module)
    return module


def tidy(module: ModuleOp) -> None:
    """Remove what nothing uses: ops, results, arguments and functions, in place."""
    function = entry_function(module)
    for op in list(function.body.block.ops):
        if isinstance(op, sdy.ManualComputationOp):
            _tidy_results(op)
    for body in reversed(_bodies(function)):
        _remove_unused_ops(body)
        parent = body.parent_op()
        if isinstance(parent, sdy.ManualComputationOp):
            _tidy_operands(parent)
    _tidy_arguments(function)
    _tidy_functions(module, function)


def _remove_unused_ops(body: Block) -> None:
    for op in reversed(list(body.ops)):
        used = any(result.uses.get_length() for result in op.results)
        if op.results and not used:
            Rewriter.erase_op(op)


def _tidy_results(op: sdy.ManualComputationOp) -> None:
    """Make the computation return only what is used."""
    used = [at for at, result in enumerate(op.results) if result.uses.get_length()]
    if len(used) == len(op.results):
        return
    end = op.body.block.last_op
    assert isinstance(end, sdy.ReturnOp)
    end.operands = [end.operands[at] for at in used]
    new = sdy.ManualComputationOp(
        list(op.operands),
        op.in_shardings,
        [op.out_shardings.data[at] for at in used],
        op.manual_axes,
        op.detach_region(op.body),
        [op.results[at].type for at in used],
    )
    Rewriter.insert_op(new, InsertPoint.before(op))
    for at, result in zip(used, new.results, strict=True):
        op.results[at].replace_all_uses_with(result)
    Rewriter.erase_op(op)


def _tidy_operands(op: sdy.ManualComputationOp) -> None:
    block = op.body.block
    used = [arg.index for arg in block.args if arg.uses.get_length()]
    shardings = op.in_shardings.data
    operands = list(op.operands)
    for argument in reversed(block.args):
        if argument.index not in used:
            block.erase_arg(argument)
    op.operands = [operands[at] for at in used]
    op.in_shardings = sdy.TensorShardingPerValueAttr([shardings[at] for at in used])


def _tidy_arguments(function: FuncOp) -> None:
    block = function.body.block
    entries = argument_attributes(function)
    used = [arg.index for arg in block.args if arg.uses.get_length()]
    for argument in reversed(block.args):
        if argument.index not in used:
            block.erase_arg(argument)
    function.function_type = FunctionType.from_lists(
        block.arg_types, list(function.function_type.outputs)
    )
    set_argument_attributes(function, [entries[at] for at in used])


def _tidy_functions(module: ModuleOp, entry: FuncOp) -> None:
    while True:
        named = {
            attribute.root_reference.data
            for op in module.walk()
            for attribute in (*op.properties.values(), *op.attributes.values())
            if isinstance(attribute, SymbolRefAttr)
        }
        unused = [
            op
            for op in module.ops
            if isinstance(op, FuncOp)
            and op is not entry
            and op.sym_name.data not in named
        ]
        if not unused:
            return
        for op in unused:
            Rewriter.erase_op(op)
