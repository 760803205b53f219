"""`sdy-convert-global-to-local`: each device's program, with the types of its shards.

Shardy's collectives become StableHLO's, manual computations the ops in them. All other
ops work on shards as they did on whole tensors, but for those that know sizes: these
are written anew. Shardings stay, those of arguments and results say what is where.

Source: Shardy's pass of that name.
"""

from dataclasses import dataclass
from itertools import count

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.symbols import Symbols
from ttxdsl.dialects import sdy
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.exporting.sdy_drop_sharding_and_mesh import (
    MODULE_METADATA,
)
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.shardy.per_device import collectives, indexed, shards
from ttxdsl.transforms.shardy.per_device.literal import (
    LiteralEmitter,
    Wording,
    next_channel,
)
from ttxdsl.transforms.shardy.per_device.locality import (
    RESHARDS,
    is_known,
    require_kept,
    require_local,
    values_with_types,
)
from ttxdsl.transforms.shardy.per_device.planning import (
    Rewrite,
    WholeProgram,
)

_PLANNERS = {**collectives.PLANNERS, **indexed.PLANNERS, **shards.PLANNERS}

_KEPT = (
    func.FuncOp,
    func.ReturnOp,
    func.CallOp,
    sdy.ReturnOp,
    sdy.ManualComputationOp,
    sdy.NamedComputationOp,
)
"""Ops that only pass values on."""


@dataclass(frozen=True)
class _Local:
    """What one op becomes."""

    op: Operation
    types: list[tuple[SSAValue, Attribute]]
    """The types of its results and of its blocks' arguments."""
    rewrite: Rewrite | None
    signature: FunctionType | None
    """Of a function."""


def _planned(program: WholeProgram, op: Operation, symbols: Symbols) -> _Local:
    planner = _PLANNERS.get(type(op))
    if planner is None and not is_known(op) and not isinstance(op, _KEPT):
        raise UnsupportedError(
            "it has no meaning in the program of one device", op, hint=RESHARDS
        )
    require_kept(program, op, symbols)
    if not isinstance(op, (*_KEPT, sdy.CollectiveOp, sdy.ConstantOp)):
        require_local(program, op)
    types = [
        (value, local)
        for value in values_with_types(op)
        if (local := program.local_type(value, op)) != value.type
    ]
    rewrite = None if planner is None else planner(program, op)
    return _Local(op, types, rewrite, _signature(program, op))


def _signature(program: WholeProgram, op: Operation) -> FunctionType | None:
    if not isinstance(op, func.FuncOp):
        return None
    inputs = (
        program.shard_type(type_, sdy.get_func_argument_sharding(op, at), op)
        for at, type_ in enumerate(op.function_type.inputs)
    )
    outputs = (
        program.shard_type(type_, sdy.get_func_result_sharding(op, at), op)
        for at, type_ in enumerate(op.function_type.outputs)
    )
    return FunctionType.from_lists([*inputs], [*outputs])


def _say_how_main_was_split(module: ModuleOp, symbols: Symbols) -> None:
    """Let the module have the shardings of `@main`, with their meshes."""
    main = symbols.functions.get("main")
    if main is None:
        return
    mesh_of, meshes = mesh_lookup(module), sdy.mesh_table(module).values()
    first = next((mesh for mesh in meshes if mesh.axes), Mesh(()))
    ends = (
        (main.function_type.inputs, sdy.func_argument_shardings(main)),
        (main.function_type.outputs, sdy.func_result_shardings(main)),
    )
    for name, (types, shardings) in zip(MODULE_METADATA, ends, strict=True):
        module.attributes[name] = sdy.TensorShardingPerValueAttr(
            TensorSharding.fully_closed(first, sdy.tensor_rank(type_))
            if one is None
            else one.with_mesh(mesh_of(one))
            for type_, one in zip(types, shardings, strict=True)
        )


def _inline(op: sdy.ManualComputationOp) -> None:
    block = op.body.block
    end = block.last_op
    assert end is not None
    given: dict[SSAValue, SSAValue] = dict(zip(block.args, op.tensors, strict=True))
    results = [given.get(value, value) for value in end.operands]
    end.detach()
    end.erase()
    Rewriter.inline_block(block, InsertPoint.before(op), op.tensors)
    Rewriter.replace_op(op, [], results)


@dataclass(frozen=True)
class ConvertGlobalToLocalPass(ModulePass):
    """Give each value the type of its shard, and each op what it does on one device.

    Options:
        per_dim_all_gather: gather several dimensions one after another, not at once.
        combine_multi_dimension_reduce_scatter: scatter several dimensions at once,
            not by an all-reduce of which each device takes its part.
        enable_rgv3: say groups of devices by mesh axes, not by their ids.
        replica_count: if there are several, devices are replicas, not partitions.
        partition_count: of which there are then not several.
        newest: in the words of jaxlib 0.12; the module says how arguments and results
            were split.
    """

    name = "sdy-convert-global-to-local"

    per_dim_all_gather: bool = False
    combine_multi_dimension_reduce_scatter: bool = False
    enable_rgv3: bool = False
    replica_count: int = 1
    partition_count: int = 1
    newest: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            UnsupportedError: an op needs other shards than its own, or axes do not
                divide a dimension; nothing is changed.
        """
        wording = Wording(
            gather_dims_one_by_one=self.per_dim_all_gather,
            scatter_dims_at_once=self.combine_multi_dimension_reduce_scatter,
            groups_by_axes=self.enable_rgv3,
            by_replicas=self.replica_count > 1,
            newest=self.newest,
        )
        if self.replica_count > 1 and self.partition_count > 1:
            raise UnsupportedError("replicas and partitions at once have no device id")
        program, symbols = WholeProgram(op, wording), Symbols(op)
        found = [
            one for one in all_ops(op) if not isinstance(one, ModuleOp | sdy.MeshOp)
        ]
        channels = count(next_channel(op))
        plans = [_planned(program, one, symbols) for one in found]
        if self.newest:
            _say_how_main_was_split(op, symbols)
        for planned in plans:
            one = planned.op
            if planned.signature is not None:
                assert isinstance(one, func.FuncOp)
                one.function_type = planned.signature
            if planned.rewrite is not None:
                emit = LiteralEmitter(Block(), one.location, channels, wording)
                value = planned.rewrite(emit)
                Rewriter.inline_block(emit.block, InsertPoint.before(one))
                if value is not None:
                    Rewriter.replace_op(one, [], [value])
                    continue
            for value, type_ in planned.types:
                Rewriter.replace_value_with_new_type(value, type_)
            if isinstance(one, sdy.ManualComputationOp):
                _inline(one)
