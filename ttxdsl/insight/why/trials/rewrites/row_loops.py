"""Batched loops that end on each device for its own rows.

`jax.vmap` of a `lax.while_loop` goes on until every row has ended, and keeps the rows that
have: the condition is an `or` over the batch, an all_reduce in each iteration where the
batch is split. Under `jax.shard_map` each device iterates until its own rows have ended.

    c, ended = any(p(rows)), select(p(rows), body(rows), rows)

The numbers are the same, since a row for which `p` is false stays as it is, and `p` false.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.usage.collectives import collective_ops
from ttxdsl.analysis.values.intervals import ANY, bounds_of, moved_operands, reduced_by
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.why.trials.rewrites.constant_rows import called_functions
from ttxdsl.ir.captures import Captures
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.loading.program import make_context
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_BY_DEVICE = (
    CallOp,
    stablehlo.CompositeOp,
    stablehlo.PartitionIdOp,
    stablehlo.ReplicaIdOp,
    stablehlo.RngOp,
)
"""Ops whose results may differ by device, or that refer to functions of global shapes."""


def row_predicate(loop: stablehlo.WhileOp) -> OpResult | None:
    """Return what says for each row whether it goes on, if any row keeps the loop going."""
    last = loop.cond.block.last_op
    value = last.operands[0] if last is not None and last.operands else None
    if not isinstance(value, OpResult) or not isinstance(value.op, stablehlo.ReduceOp):
        return None
    reduction = value.op
    if reduced_by(reduction) is not stablehlo.OrOp or len(reduction.inputs) != 1:
        return None
    rows, start = reduction.inputs[0], reduction.init_values[0]
    constant = start.owner
    is_false = (
        isinstance(constant, stablehlo.ConstantOp)
        and bounds_of(constant, lambda _: ANY).point == 0
    )
    whole = is_tensor(rows) and shape_of(rows) and not shape_of(value)
    return rows if is_false and whole and isinstance(rows, OpResult) else None


def row_loop(
    loop: stablehlo.WhileOp, sharding: TensorSharding
) -> sdy.ManualComputationOp | None:
    """Return a batched loop as one that each device ends for its own rows.

    The loop is compiled alone for rows that are split; it is right if no device needs rows
    of others but for the `or`, and each row stays as it is once its predicate is false.

    Args:
        loop: of a program before stage 1; it is not changed.
        sharding: of its row predicate; only axes of the batch.

    Returns:
        The loop in a manual computation, whose results are those that change. None if they
        are not certainly the same.
    """
    changing = [at for at in range(len(loop.results)) if not _stays(loop, at)]
    if row_predicate(loop) is None or not all(
        is_tensor(loop.results[i]) for i in changing
    ):
        return None
    module, values = _isolated(loop, changing, sharding)
    try:
        with collect_remarks():
            TTStableHLOPipelinePass().apply(make_context(), module)
    except DiagnosticException:
        return None
    computations = [
        op for op in module.walk() if isinstance(op, sdy.ManualComputationOp)
    ]
    if len(computations) != 1:
        return None
    (computation,) = computations
    axes = {axis.name for axis in sharding.sharding_axes}
    loops = [op for op in computation.walk() if isinstance(op, stablehlo.WhileOp)]
    returned = computation.body.block.last_op
    if (
        not loops
        or returned is None
        or list(returned.operands) != list(loops[0].results)
    ):
        return None
    if not _ends_by_itself(loops[0]) or any(
        {axis.name for axis in split.sharding_axes} - axes
        for split in (*computation.in_shardings.data, *computation.out_shardings.data)
    ):
        return None
    if collective_ops(module) or any(
        isinstance(op, _BY_DEVICE) for op in module.walk()
    ):
        return None
    if not _keeps_ended_rows(loops[0], computation.out_shardings.data):
        return None
    return sdy.ManualComputationOp(
        values,
        [_open(split) for split in computation.in_shardings.data],
        [_open(split) for split in computation.out_shardings.data],
        [name for name in sdy.get_mesh(loop, sharding).axis_names if name in axes],
        computation.detach_region(computation.body),
        [loop.results[at].type for at in changing],
    )


def _stays(loop: stablehlo.WhileOp, index: int) -> bool:
    """Whether a carry is what it is at the beginning."""
    last = loop.body.block.last_op
    return last is not None and last.operands[index] is loop.body.block.args[index]


def respell_loop(loop: stablehlo.WhileOp, sharding: TensorSharding) -> None:
    """Let each device iterate until its own rows have ended.

    Raises:
        ValueError: that is not the same.
    """
    computation = row_loop(loop, sharding)
    if computation is None:
        raise ValueError("rows of the loop do not end by themselves")
    for op in computation.walk():
        op.location = loop.location
    Rewriter.insert_op(computation, InsertPoint.before(loop))
    results = iter(computation.results)
    Rewriter.replace_op(
        loop,
        [],
        [
            operand if _stays(loop, at) else next(results)
            for at, operand in enumerate(loop.operands)
        ],
    )


def loop_code(axes: Sequence[str]) -> str:
    """Return the JAX code of a loop over rows that are split along axes."""
    names = ", ".join(f'"{axis}"' for axis in axes)
    spec = f"P({names if len(axes) == 1 else f'({names})'})"
    return (
        "# instead of jax.vmap(f)(*rows): each device iterates until its own rows end\n"
        "jax.shard_map(\n"
        "    jax.vmap(f), mesh=mesh, axis_names={" + names + "},\n"
        f"    in_specs={spec}, out_specs={spec},  # P() for what all rows share\n"
        ")(*rows)"
    )


def _isolated(
    loop: stablehlo.WhileOp, changing: Sequence[int], sharding: TensorSharding
) -> tuple[ModuleOp, list[SSAValue]]:
    """Return a program of a loop alone, and what its arguments are in the whole one.

    Carries that do not change are read from outside, so that none is moved for nothing.
    """
    values = list(dict.fromkeys(Captures().used_by(loop)))
    block = Block(arg_types=[value.type for value in values])
    whole = loop.clone(dict[SSAValue, SSAValue](zip(values, block.args, strict=True)))
    returned = whole.body.block.last_op
    assert returned is not None
    returned.operands = [returned.operands[at] for at in changing]
    for region in whole.regions:
        for argument in reversed(region.block.args):
            if argument.index not in changing:
                argument.replace_all_uses_with(whole.operands[argument.index])
                region.block.erase_arg(argument)
    copy = stablehlo.WhileOp.create(
        operands=[whole.operands[at] for at in changing],
        result_types=[whole.results[at].type for at in changing],
        regions=[whole.detach_region(region) for region in list(whole.regions)],
    )
    whole.erase()
    for argument in reversed(block.args):
        if not argument.uses:
            del values[argument.index]
            block.erase_arg(argument)
    block.add_ops((copy, ReturnOp(*copy.results)))
    predicate = row_predicate(copy)
    assert predicate is not None, "the loop is a copy of one that has it"
    constraint = sdy.ShardingConstraintOp(predicate, sharding)
    Rewriter.insert_op(constraint, InsertPoint.after(predicate.op))
    predicate.replace_uses_with_if(
        constraint.result, lambda use: use.operation is not constraint
    )
    function = FuncOp(
        "main",
        FunctionType.from_lists(block.arg_types, copy.result_types),
        Region(block),
        StringAttr("public"),
    )
    around = loop.get_toplevel_object()
    assert isinstance(around, ModuleOp)
    meshes = [op.clone() for op in around.ops if isinstance(op, sdy.MeshOp)]
    callees = [callee.clone() for callee in called_functions(loop.walk())]
    return ModuleOp([*meshes, function, *callees]), values


def _open(sharding: TensorSharding) -> TensorSharding:
    """Return a sharding with all dimensions left to axes that are not its own."""
    dims = (DimSharding(dim.axes, closed=False) for dim in sharding.dims)
    return TensorSharding(sharding.mesh, tuple(dims))


def _ends_by_itself(loop: stablehlo.WhileOp) -> bool:
    """Take the `or` over devices out of a loop's condition; False if there is none."""
    last = loop.cond.block.last_op
    assert last is not None
    removed = False
    while (
        isinstance(op := last.operands[0].owner, stablehlo.AllReduceOp)
        and reduced_by(op) is stablehlo.OrOp
    ):
        if len(list(op.outputs[0].uses)) > 1:
            return False
        Rewriter.replace_op(op, [], op.inputs)
        removed = True
    return removed and row_predicate(loop) is not None


def _keeps_ended_rows(
    loop: stablehlo.WhileOp, shardings: Sequence[TensorSharding]
) -> bool:
    """Whether rows whose predicate is false stay, and what all rows share does."""
    predicate = row_predicate(loop)
    last = loop.body.block.last_op
    assert predicate is not None and last is not None
    for carry, new, sharding in zip(
        loop.body.block.args, last.operands, shardings, strict=True
    ):
        if new is carry:
            continue
        op = new.owner
        if (
            not isinstance(op, stablehlo.SelectOp)
            or op.on_false is not carry
            or not any(dim.axes for dim in sharding.dims)
        ):
            return False
        if not _is_false_with(predicate, op.pred):
            return False
    return True


def _is_false_with(predicate: SSAValue, value: SSAValue) -> bool:
    """Whether a value is false everywhere where a predicate is false for all rows."""
    if is_same(predicate, value):
        return True
    op = value.owner
    if isinstance(op, stablehlo.AndOp):
        return any(_is_false_with(predicate, operand) for operand in op.operands)
    moved = moved_operands(op) if isinstance(op, Operation) else ()
    return len(moved) == 1 and _is_false_with(predicate, moved[0])


def is_same(value: SSAValue, other: SSAValue) -> bool:
    """Return True for values that are computed alike from the same values.

    Arguments of the regions of one op are the same by their number, those of a loop's
    condition and of its body.
    """
    known: dict[tuple[SSAValue, SSAValue], bool] = {}

    def same(a: SSAValue, b: SSAValue) -> bool:
        if a is b:
            return True
        if (a, b) not in known:
            known[a, b] = computed_alike(a, b)
        return known[a, b]

    def computed_alike(a: SSAValue, b: SSAValue) -> bool:
        if isinstance(a, BlockArgument) and isinstance(b, BlockArgument):
            parents = a.owner.parent_op(), b.owner.parent_op()
            return a.index == b.index and parents[0] is parents[1]
        if not isinstance(a, OpResult) or not isinstance(b, OpResult):
            return False
        return (
            a.index == b.index
            and a.type == b.type
            and a.op.name == b.op.name
            and a.op.properties == b.op.properties
            and len(a.op.operands) == len(b.op.operands)
            and len(a.op.regions) == len(b.op.regions)
            and all(map(same, a.op.operands, b.op.operands))
            and all(map(_is_equal_region, a.op.regions, b.op.regions))
        )

    return same(value, other)


def _is_equal_region(region: Region, other: Region) -> bool:
    """Whether two regions that use nothing from outside say the same."""
    captures = Captures()
    if captures.of(region) or captures.of(other):
        return False
    return region.is_structurally_equivalent(other)
