"""Whether an op on shards computes the shards of what it computes on whole tensors.

It does if each of its factors is split alike in all tensors that have it, and none of
them moves elements or is needed whole. Along a factor that is reduced there are parts,
which the next op has to join.

Source: Shardy's sharding rules; its pass takes this for granted.
"""

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator

from ttxdsl.analysis.symbols import Symbols
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.interpreter import PrintOp
from ttxdsl.dialects.stablehlo import StableHLOOp
from ttxdsl.errors import UnsupportedError
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.axes import Axes, subtract
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.projection import project
from ttxdsl.sharding.spec import ReductionKind, TensorSharding
from ttxdsl.transforms.local.combiner import (
    COMBINERS,
    SUM,
    Combiner,
    combiner_of,
    combiners_of,
)
from ttxdsl.transforms.local.layout import unreduced_axes, without_trivial
from ttxdsl.transforms.local.reduction import is_constant_number
from ttxdsl.transforms.shardy.edge_sources import passed_on
from ttxdsl.transforms.shardy.exporting.sdy_resolve_permutation_factors import (
    reversed_along,
)
from ttxdsl.transforms.shardy.per_device.planning import WholeProgram

RESHARDS = "run sdy-insert-explicit-reshards and sdy-reshard-to-collectives before"

KNOWS_ITS_SHARDS = (
    stablehlo.SliceOp,
    stablehlo.PadOp,
    stablehlo.ConvolutionOp,
    stablehlo.ReduceWindowOp,
    stablehlo.SelectAndScatterOp,
    stablehlo.GatherOp,
    stablehlo.ScatterOp,
)
"""Ops whose planners say what their split dimensions allow."""


def _text(axes_per_dim: Sequence[Axes]) -> str:
    dims = ("{" + ", ".join(map(str, axes)) + "}" for axes in axes_per_dim)
    return f"[{', '.join(dims)}]"


def _placement(
    program: WholeProgram, sharding: TensorSharding | None
) -> tuple[tuple[Mesh | None, Axes], ...]:
    """For each dimension its axes, and the mesh if there are any; Nones at the end."""
    if sharding is None:
        return ()
    mesh = program.mesh_of(sharding)
    split = [without_trivial(axes, mesh) for axes in sharding.axes_per_dim]
    placed = [(mesh if axes else None, axes) for axes in split]
    unreduced = unreduced_axes(sharding, mesh)
    placed.append((mesh if unreduced else None, unreduced))
    return tuple(placed) if any(axes for _, axes in placed) else ()


def _require_same(
    program: WholeProgram,
    op: Operation,
    what: str,
    one: TensorSharding | None,
    other: TensorSharding | None,
) -> None:
    if _placement(program, one) != _placement(program, other):
        raise UnsupportedError(
            f"{what} lies as {one or 'a whole'}, and is to lie as {other or 'a whole'}",
            op,
            hint=RESHARDS,
        )


def require_kept(program: WholeProgram, op: Operation, symbols: Symbols) -> None:
    """Hold what goes in and out of functions and regions to one sharding.

    Raises:
        UnsupportedError: a value would have to be moved.
    """
    match op:
        case func.ReturnOp():
            function = op.parent_op()
            assert isinstance(function, func.FuncOp)
            for at, value in enumerate(op.operands):
                wanted = sdy.get_func_result_sharding(function, at)
                _require_same(
                    program, op, f"result {at}", sdy.get_sharding(value), wanted
                )
        case func.CallOp():
            called = symbols.functions[op.callee.string_value()]
            for at, value in enumerate(op.operands):
                wanted = sdy.get_func_argument_sharding(called, at)
                _require_same(
                    program, op, f"argument {at}", sdy.get_sharding(value), wanted
                )
            for at, value in enumerate(op.results):
                given = sdy.get_func_result_sharding(called, at)
                _require_same(
                    program, op, f"result {at}", given, sdy.get_sharding(value)
                )
        case sdy.ManualComputationOp():
            for at, (value, wanted) in enumerate(
                zip(op.tensors, op.in_shardings.data, strict=True)
            ):
                _require_same(
                    program, op, f"operand {at}", sdy.get_sharding(value), wanted
                )
            returned = op.body.block.last_op
            assert returned is not None
            manual = set(op.manual_axes.data)
            for at, (value, wanted) in enumerate(
                zip(returned.operands, op.out_shardings.data, strict=True)
            ):
                free = wanted.with_dims(
                    [
                        dim.with_axes(
                            tuple(a for a in dim.axes if a.name not in manual)
                        )
                        for dim in wanted.dims
                    ]
                ).with_unreduced(
                    tuple(a for a in wanted.unreduced if a.name not in manual)
                )
                _require_same(
                    program, op, f"result {at}", sdy.get_sharding(value), free
                )
        case _:
            edges = passed_on(op)
            if edges is None:
                return
            for owner in edges.edge_owners(op):
                wanted = sdy.get_sharding(owner)
                for source in edges.edge_sources(op, owner):
                    given = sdy.get_sharding(source.value)
                    _require_same(program, op, "a value", given, wanted)


def require_local(program: WholeProgram, op: Operation) -> None:
    """Hold an op to compute its shards from those of its operands.

    Notes in the program how the parts of a reduction are to be joined.

    Raises:
        UnsupportedError: it would have to know elements of other shards.
    """
    is_end = op.has_trait(IsTerminator, value_if_unregistered=False)
    if is_end or passed_on(op) is not None:
        return  # what crosses borders is looked at where these are
    values = (*op.operands, *op.results)
    shardings = [sdy.get_sharding(value) for value in values]
    placements = [_placement(program, sharding) for sharding in shardings]
    meshes = {mesh for placed in placements for mesh, _ in placed if mesh is not None}
    if not meshes:
        return
    if isinstance(op, stablehlo.ReverseOp) and _turns_shards(program, op):
        return
    if len(meshes) > 1:
        raise UnsupportedError("it works over several meshes", op, hint=RESHARDS)
    if isinstance(op, UnregisteredOp | PrintOp) and not op.results:
        return  # it looks at its operands
    if isinstance(op, stablehlo.ConstantOp | stablehlo.IotaOp):
        return
    (mesh,) = meshes
    for value in () if _keeps_parts(op) else op.operands:
        sharding = sdy.get_sharding(value)
        if sharding is not None and unreduced_axes(sharding, mesh):
            raise UnsupportedError(
                f"an operand is still to be summed along {_text([sharding.unreduced])}",
                op,
                hint=RESHARDS,
            )
    rule = sharding_rule(op)
    if rule is None:
        raise UnsupportedError(
            "it has no sharding rule, so that it needs whole tensors", op, hint=RESHARDS
        )
    pending = _pending(op, rule, mesh, shardings)
    if pending:
        program.parts[op] = mesh, pending
        _note_joining(program, op, pending, mesh)


def _keeps_parts(op: Operation) -> bool:
    """Whether parts of a result stay such: some are taken, or are zeros of a sum."""
    filler: SSAValue | None = None
    match op:
        case stablehlo.SliceOp() | stablehlo.DynamicSliceOp():
            kept = op.operand
        case stablehlo.ConcatenateOp() if len(op.inputs) == 1:
            (kept,) = op.inputs
        case stablehlo.SelectOp():
            kept, filler = op.on_true, op.on_false
        case stablehlo.PadOp():
            kept, filler = op.operand, op.padding_value
        case _:
            return False
    given, made = sdy.get_sharding(kept), sdy.get_sharding(op.results[0])
    others = (sdy.get_sharding(value) for value in op.operands if value is not kept)
    return (
        not any(sharding is not None and sharding.unreduced for sharding in others)
        and given is not None
        and made is not None
        and given.same_unreduced(made)
        and (
            filler is None
            or (
                given.reduction is ReductionKind.SUM
                and is_constant_number(_taken_along(filler), 0)
            )
        )
    )


def _taken_along(value: SSAValue) -> SSAValue:
    """What a manual computation is given for an argument of its body."""
    while isinstance(value, BlockArgument):
        around = value.owner.parent_op()
        if not isinstance(around, sdy.ManualComputationOp):
            break
        value = around.tensors[value.index]
    return value


def _turns_shards(program: WholeProgram, op: stablehlo.ReverseOp) -> bool:
    """Whether the devices have the operand's shards in the opposite order."""
    dims = op.dimensions.get_values()
    given, made = program.axes(op.operand), program.axes(op.result)
    axes = tuple(axis for dim in dims for axis in given[dim])
    if given != made or not axes:
        return False
    before, after = (program.mesh(value, op) for value in (op.operand, op.result))
    return before.devices() == reversed_along(after, axes).devices()


def _pending(
    op: Operation,
    rule: OpShardingRule,
    mesh: Mesh,
    shardings: Sequence[TensorSharding | None],
) -> Axes:
    """The axes along which the results are parts."""
    pending: list[Axes] = []
    tensors = project(mesh, rule, shardings).tensors
    for factor in range(len(rule.factor_sizes)):
        known = [
            (
                without_trivial(tensor.factors[factor].axes, mesh),
                without_trivial(tensor.factors[factor].overflow, mesh),
            )
            for tensor in tensors
            if factor in tensor.factors
        ]
        if not any(axes or overflow for axes, overflow in known):
            continue
        split = [axes for axes, _ in known]
        if len(set(split)) > 1 or any(overflow for _, overflow in known):
            raise UnsupportedError(
                f"its operands and results are split otherwise: {rule}",
                op,
                hint=RESHARDS,
            )
        if factor in rule.reduction:
            pending.append(split[0])
            continue
        made = any(factor in one.factors for one in tensors[len(op.operands) :])
        # a reshape cuts what only one side has in other places
        stays = made and not (len(known) == 1 and isinstance(op, stablehlo.ReshapeOp))
        if not (stays and rule.is_pass_through(factor)) and not isinstance(
            op, KNOWS_ITS_SHARDS
        ):
            raise UnsupportedError(
                f"it needs elements of other shards along {_text(split[:1])}",
                op,
                hint=RESHARDS,
            )
    return tuple(axis for axes in pending for axis in axes)


def _note_joining(
    program: WholeProgram, op: Operation, pending: Axes, mesh: Mesh
) -> None:
    for at, result in enumerate(op.results):
        user = result.get_user_of_unique_use()
        match user:
            case sdy.AllReduceOp():
                joined = user.reduction_axes.data
            case sdy.ReduceScatterOp():
                joined = tuple(
                    a for axes in user.reduce_scatter_axes.data for a in axes
                )
            case _:
                joined = ()
        sharding = sdy.get_sharding(result)
        open_ = () if sharding is None else sharding.unreduced
        combine = _combiner(op, at)
        if subtract(pending, joined, mesh) and (
            sharding is None
            or subtract(pending, open_, mesh)
            or combine != COMBINERS[sharding.reduction]
        ):
            raise UnsupportedError(
                f"each device has a part of the result along {_text([pending])},"
                " and no sdy.all_reduce follows",
                op,
                hint=RESHARDS,
            )
        if user is not None and joined:
            program.combiners[user] = combine


def _combiner(op: Operation, result: int) -> Combiner:
    """How the parts of a result are joined."""
    match op:
        case stablehlo.ReduceOp():
            found = combiners_of(op.body)
            if not found:
                raise UnsupportedError(
                    "it is not known how to join its parts",
                    op,
                    hint="gather its operand before",
                )
            return found[result]
        case stablehlo.ScatterOp():
            return combiner_of(op.update_computation) or SUM
        case _:
            return SUM


def is_known(op: Operation) -> bool:
    """Whether shards of an op's dialect are written as the op itself."""
    return isinstance(op, StableHLOOp | UnregisteredOp | PrintOp)


def values_with_types(op: Operation) -> list[SSAValue]:
    """The results of an op and the arguments of its blocks."""
    arguments = (
        a for region in op.regions for block in region.blocks for a in block.args
    )
    return [*op.results, *arguments]
