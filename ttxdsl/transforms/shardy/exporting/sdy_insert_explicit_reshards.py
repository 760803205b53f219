"""Insert `sdy.reshard`s and `sdy.all_reduce`s until every op can run on its shards.

Op by op, the axes of every factor are chosen (`ttxdsl.sharding.reshard.compatible`); operands
and results that were sharded otherwise get a reshard, and results of ops that reduce
along a sharded factor an all_reduce. Values that cross into regions, functions and the
return get the sharding that is expected there. Values that are partial sums (unreduced
axes) are reduced where they are used as whole ones.

The minimal version (`enable-full-version=false`) reshards only what is known to pay
off: concatenations, calls, and results of dots in place of larger operands. Reductions
are then inserted for unreduced axes only.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, ShapedType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from ttxdsl.analysis.attribution.origins import resharded
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.stablehlo import ConcatenateOp, DotGeneralOp, DotOp, ReshapeOp
from ttxdsl.ir.compat.speed.operations import replace_operands
from ttxdsl.ir.data_flow import ByClass, Operand, data_flow_of
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.rewriting import point_behind
from ttxdsl.ir.traversal import all_ops_inside_out, operands_of
from ttxdsl.rules.registry import OpSignature, Signatures, has_no_rule
from ttxdsl.sharding.axes import Axes, lists_overlap, sort_and_merge, subtract
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.projection import project
from ttxdsl.sharding.reshard.compatible import (
    Agreement,
    agree,
    reshard_dot_result,
    shared_reduction_axes,
)
from ttxdsl.sharding.reshard.unreduced import plan_to_unreduced
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.exchange.combiner import reduction_of
from ttxdsl.transforms.shardy.edge_sources import data_flow_edges

Shardings = Sequence[TensorSharding | None]


def _element_counts(op: Operation) -> tuple[int, ...]:
    """Of operands, then results; 0 for dynamic shapes and what is no tensor."""
    return tuple(
        [_element_count(value.type) for value in (*operands_of(op), *op.results)]
    )


def _element_count(type: Attribute) -> int:
    if not isinstance(type, ShapedType) or not type.has_static_shape():
        return 0
    return type.element_count()


def _same_layout(sharding: TensorSharding | None, other: TensorSharding | None) -> bool:
    """Whether two shardings give every device the same; None is replicated."""
    if sharding is None:
        return other is None or other.same_layout(sharding)
    return sharding.same_layout(other)


def _is_sharded(sharding: TensorSharding | None) -> bool:
    return sharding is not None and bool(sharding.sharding_axes)


def _location(value: SSAValue) -> LocationAttr:
    if isinstance(value, BlockArgument):
        return value.location
    assert isinstance(value.owner, Operation)
    return resharded(value.owner.location)


def _replace_other_uses(value: SSAValue, new: Operation) -> None:
    """Let everyone but `new` itself use the result of `new` in place of `value`."""
    value.replace_uses_with_if(new.results[0], lambda use: use.operation is not new)


def _behind_barriers(values: Iterable[SSAValue]) -> list[TensorSharding | None]:
    """Return the shardings of values, seen through propagation barriers."""
    return [sdy.get_sharding(sdy.behind_barriers(value)) for value in values]


def _is_terminator(op_class: type[object]) -> bool:
    return issubclass(op_class, Operation) and op_class.has_trait(
        IsTerminator, value_if_unregistered=False
    )


_IS_TERMINATOR = ByClass(_is_terminator)
_COMPUTES = ByClass(
    lambda op_class: not issubclass(op_class, CallOp | sdy.ReshardOp | sdy.CollectiveOp)
)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The shardings that make an op compatible, and their mesh."""

    agreement: Agreement
    mesh_ref: str | Mesh
    mesh: Mesh

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.agreement.reduction) or any(self.agreement.shardings)


@dataclass
class ReshardInserter:
    """A pass over one module that makes its ops compatible."""

    module: ModuleOp
    full: bool = True
    mark_partial: bool = False
    meshes: dict[str, Mesh] = field(init=False)
    functions: dict[str, FuncOp] = field(init=False)
    signatures: Signatures = field(default_factory=Signatures)
    plans: IdentityMemo[_Plan | None] = field(
        default_factory=IdentityMemo["_Plan | None"]
    )
    """By the op's signature and its shardings' identities."""

    def __post_init__(self) -> None:
        self.meshes = sdy.mesh_table(self.module)
        self.functions = {
            op.sym_name.data: op for op in self.module.ops if isinstance(op, FuncOp)
        }

    def run(self) -> None:
        """Process every function that has a body."""
        for func in self.functions.values():
            for op in all_ops_inside_out(func):
                if op is not func and not _IS_TERMINATOR[type(op)]:
                    self.visit(op)
            if func.body.blocks:
                self.visit_return(func)

    def visit(self, op: Operation) -> None:
        """Make one op compatible with its operands, results and regions."""
        if data_flow_of(type(op)) is not None:
            for target, sources in data_flow_edges(op):
                for source in sources:
                    self.bring_to(source, target, point_behind(source.value), self.full)
        elif _COMPUTES[type(op)]:
            self.visit_computation(op)
        elif isinstance(op, CallOp):
            self.visit_call(op)
        elif isinstance(op, sdy.ReshardOp) and not self.reshard_to_unreduced(op):
            self.visit_computation(op)

    def visit_computation(self, op: Operation) -> None:
        """Make an op compatible whose operands and results its rule relates."""
        shardings: list[TensorSharding | None] = []
        unreduced = behind_barrier = False
        for value in (*operands_of(op), *op.results):
            sharding = sdy.get_sharding(value)
            shardings.append(sharding)
            if sharding is not None and sharding.unreduced:
                unreduced = True
            if type(value.owner) is sdy.PropagationBarrierOp:
                behind_barrier = True
        if unreduced:
            self.reduce_operands(op)
        if unreduced or behind_barrier:
            shardings = _behind_barriers((*op.operands, *op.results))
        self.make_compatible(op, shardings)

    # Values that cross a border

    def visit_return(self, func: FuncOp) -> None:
        """Bring what a function returns to the shardings of its results."""
        end = func.body.blocks[-1].last_op
        if end is None or not end.has_trait(IsTerminator, value_if_unregistered=False):
            return
        for index, target in enumerate(sdy.func_result_shardings(func)):
            self.bring_to(
                Operand(end, index), target, InsertPoint.before(end), self.full
            )

    def visit_call(self, op: CallOp) -> None:
        """Bring the operands of a call to the shardings of the callee's arguments.

        Also in the minimal version: one function serves many calls.
        """
        callee = self.functions.get(op.callee.string_value())
        if callee is None:
            raise CompileError(f"call of undefined function {op.callee}", op)
        expected: Shardings = sdy.func_argument_shardings(callee)
        mesh = self.first_mesh(expected)
        if mesh is not None:
            ranks = [sdy.tensor_rank(type) for type in callee.function_type.inputs.data]
            targets = [
                sharding or TensorSharding.fully_open(mesh, rank)
                for sharding, rank in zip(expected, ranks, strict=True)
            ]
        else:
            mesh = self.first_mesh(sdy.get_sharding(value) for value in op.operands)
            if mesh is None:
                return
            ranks = [sdy.tensor_rank(value.type) for value in op.operands]
            targets = [TensorSharding.fully_closed(mesh, rank) for rank in ranks]
        for index, target in enumerate(targets):
            operand = Operand(op, index)
            self.bring_to(operand, target, point_behind(operand.value), True)

    def bring_to(
        self,
        operand: Operand,
        target: TensorSharding | None,
        point: InsertPoint,
        full: bool,
    ) -> None:
        """Reduce and, if `full`, reshard an operand to an expected sharding."""
        sharding = sdy.get_sharding(operand.value)
        if sharding is not None:
            sharding = self.reduce(operand, sharding, target, point)
        sharding = self.go_unreduced(operand, target, point) or sharding
        if not full or _same_layout(sharding, target):
            return
        if target is None:
            assert sharding is not None  # two missing shardings are the same layout
            target = TensorSharding.fully_closed(sharding.mesh, sharding.rank)
        self.replace_operand(operand, sdy.ReshardOp(operand.value, target), point)

    def replace_operand(
        self, operand: Operand, new: Operation, point: InsertPoint
    ) -> None:
        """Insert an op of one result and use that in place of the operand."""
        self.put_before(operand, new, point)
        operand.replace(new.results[0])

    def put_before(self, operand: Operand, new: Operation, point: InsertPoint) -> None:
        """Insert an op whose result is to take the place of an operand."""
        new.location = _location(operand.value)
        Rewriter.insert_op(new, point)

    # Unreduced axes

    def reduce(
        self,
        operand: Operand,
        sharding: TensorSharding,
        target: TensorSharding | None,
        point: InsertPoint,
    ) -> TensorSharding:
        """All-reduce an operand along unreduced axes that its user does not expect.

        Returns:
            The sharding that the operand then has.

        Raises:
            CompileError: if the user's sharding is over another mesh.
        """
        if not sharding.unreduced:
            return sharding
        mesh = self.mesh_of(operand.op, sharding)
        expected: Axes = ()
        if target is not None:
            self.expect_same_mesh(operand, sharding, target)
            expected = target.unreduced
            if target.reduction is not sharding.reduction and lists_overlap(
                sharding.unreduced, expected
            ):
                raise CompileError(
                    f"operand {operand.index} is {sharding} and its user wants parts of"
                    f" another reduction, {target}",
                    operand.op,
                )
        axes = subtract(sharding.unreduced, expected, mesh)
        if not axes:
            return sharding
        reduced = sharding.with_unreduced(subtract(sharding.unreduced, axes, mesh))
        self.replace_operand(
            operand,
            sdy.AllReduceOp(operand.value, axes, reduced).by(sharding.reduction),
            point,
        )
        return reduced

    def go_unreduced(
        self, operand: Operand, target: TensorSharding | None, point: InsertPoint
    ) -> TensorSharding | None:
        """Make an operand unreduced where it is expected to be and is not.

        Returns:
            The sharding that the operand then has, None if nothing was to do.
        """
        if target is None or not target.unreduced:
            return None
        sharding = sdy.get_sharding(operand.value)
        if sharding is None:
            if sdy.shardable_value(operand.value) is None:
                return None  # a scalar of a reduction or a sort: nothing can split it
            # whole on every device; the ops that make it partial want that in writing
            sharding = TensorSharding.fully_closed(target.mesh, target.rank)
            sdy.set_sharding(operand.value, sharding)
        self.expect_same_mesh(operand, sharding, target)
        try:
            plan = plan_to_unreduced(
                sharding, target, self.mesh_of(operand.op, sharding)
            )
        except ValueError as error:
            raise CompileError(str(error), operand.op) from error
        if plan is None:
            return None
        if plan.reshard is not None:
            sharding = plan.reshard
            self.replace_operand(operand, sdy.ReshardOp(operand.value, sharding), point)
        if plan.replicated is not None:
            sharding = plan.replicated
            new = sdy.ReplicatedToUnreducedOp(
                operand.value, plan.replicated_axes, sharding
            )
            self.replace_operand(operand, new, point)
        if plan.sharded is not None:
            sharding = plan.sharded
            new = sdy.ShardedToUnreducedOp(operand.value, plan.sharded_axes, sharding)
            self.replace_operand(operand, new, point)
        return sharding

    def expect_same_mesh(
        self, operand: Operand, sharding: TensorSharding, target: TensorSharding
    ) -> None:
        """Raise a CompileError if partial sums would have to change meshes."""
        op = operand.op
        if self.mesh_of(op, sharding) != self.mesh_of(op, target):
            raise CompileError(
                f"operand {operand.index} has unreduced axes to handle and another mesh "
                f"than its user: {sharding} and {target}",
                op,
                hint="use one mesh, or reduce the value before it changes meshes",
            )

    def reshard_to_unreduced(self, op: sdy.ReshardOp) -> bool:
        """Replace a reshard that introduces unreduced axes; whether it was one."""
        operand = Operand(op, 0)
        if self.go_unreduced(operand, op.sharding.data, InsertPoint.before(op)) is None:
            return False
        Rewriter.replace_op(op, [], [operand.value])
        return True

    def reduce_operands(self, op: Operation) -> None:
        """All-reduce operands along unreduced axes that the results do not have.

        Raises:
            UnsupportedError: if the results disagree on the unreduced axes, or there are
                none to tell.
        """
        given = [sdy.get_sharding(value) for value in operands_of(op)]
        shardings = [sdy.get_sharding(value) for value in op.results]
        unreduced = {sharding.unreduced if sharding else () for sharding in shardings}
        if len(unreduced) > 1:
            raise UnsupportedError(
                "the results have different unreduced axes",
                op,
                hint="give all results of an op the same unreduced axes",
            )
        for index, sharding in enumerate(given):
            if sharding is None or not sharding.unreduced:
                continue
            if not shardings:
                raise UnsupportedError(
                    f"operand {index} has unreduced axes and the op has no results",
                    op,
                    hint="reshard the operand to a sharding without unreduced axes",
                )
            self.reduce(
                Operand(op, index), sharding, shardings[0], InsertPoint.before(op)
            )

    # Conflicts inside an op

    def make_compatible(self, op: Operation, shardings: Shardings) -> None:
        """Reshard operands and results so that all factors agree, then all-reduce.

        Args:
            shardings: of its operands, then its results, seen through barriers.
        """
        if not any(shardings) or has_no_rule(op):
            return
        if self.full or self.always_reshards(op):
            plan = self.plan(op, shardings)
            if plan is not None and plan.is_needed:
                self.reshard(op, plan.agreement.shardings, plan.mesh_ref)
                reduction = plan.agreement.reduction
                self.reduce_results(op, reduction, plan.mesh_ref, plan.mesh)
            return
        mesh_ref = self.common_mesh(op, shardings)
        rule = self.signatures.of(op).rule
        if mesh_ref is None or rule is None or rule.is_custom:
            return
        mesh = self.mesh_of(op, mesh_ref)
        if isinstance(op, DotOp | DotGeneralOp):
            sizes = _element_counts(op)
            self.reshard_dot(op, rule, tuple(shardings), sizes, mesh_ref, mesh)
        reduction = self.unreduced_reduction(op, rule, mesh)
        self.reduce_results(op, reduction, mesh_ref, mesh)

    def plan(self, op: Operation, shardings: Shardings) -> _Plan | None:
        """Return the plan that makes an op compatible, computed once a signature.

        Returns:
            None if there is no common mesh or the op has no rule.
        """
        signature = self.signatures.of(op)
        key = (signature, *map(id, shardings))
        try:
            return self.plans[key]
        except KeyError:
            plan = self.find_plan(op, signature, tuple(shardings))
            self.plans.keep(key, plan, *shardings)
            return plan

    def find_plan(
        self,
        op: Operation,
        signature: OpSignature,
        shardings: tuple[TensorSharding | None, ...],
    ) -> _Plan | None:
        """Return the plan that makes ops of a signature compatible.

        Raises:
            UnsupportedError: a tensor would be sharded by an axis it is unreduced along.
        """
        mesh_ref = self.common_mesh(op, shardings)
        rule = signature.rule
        if mesh_ref is None or rule is None or rule.is_custom:
            return None
        mesh = self.mesh_of(op, mesh_ref)
        foreign = tuple(
            _is_sharded(sharding)
            and sharding is not None
            and self.mesh_of(op, sharding).device_ids != mesh.device_ids
            for sharding in shardings
        )
        try:
            agreement = agree(
                rule,
                shardings,
                _element_counts(op),
                mesh_ref,
                mesh,
                foreign,
                is_reshape=isinstance(op, ReshapeOp),
            )
        except ValueError as error:
            raise UnsupportedError(
                str(error),
                op,
                hint="reduce the operands first, or shard by another axis",
            ) from error
        return _Plan(agreement, mesh_ref, mesh)

    def always_reshards(self, op: Operation) -> bool:
        """Whether the minimal version treats this op as the full one does."""
        return isinstance(op, ConcatenateOp) and any(
            sdy.get_sharding(value) != sdy.get_sharding(op.results[0])
            for value in op.operands
        )

    def reshard(self, op: Operation, wanted: Shardings, mesh_ref: str | Mesh) -> None:
        """Reshard the operands of an op, and its results back to their old shardings."""
        operands, results = wanted[: len(op.operands)], wanted[len(op.operands) :]
        reshards: dict[int, SSAValue] = {}
        for index, sharding in enumerate(operands):
            if sharding is not None:
                operand = Operand(op, index)
                new = sdy.ReshardOp(operand.value, sharding)
                self.put_before(operand, new, InsertPoint.before(op))
                reshards[index] = new.result
        replace_operands(op, reshards)
        point = InsertPoint.after(op)
        for result, sharding in zip(op.results, results, strict=True):
            if sharding is not None:
                rank = sdy.tensor_rank(result.type)
                old = sdy.get_sharding(result)
                old = old or TensorSharding.fully_closed(mesh_ref, rank)
                self.follow_up(result, sdy.ReshardOp(result, old), point)
                sdy.set_sharding(result, sharding)

    def follow_up(self, value: SSAValue, new: Operation, point: InsertPoint) -> None:
        """Insert an op on a value for all its other users to use."""
        new.location = _location(value)
        Rewriter.insert_op(new, point)
        _replace_other_uses(value, new)

    def reshard_dot(
        self,
        op: Operation,
        rule: OpShardingRule,
        shardings: tuple[TensorSharding | None, ...],
        sizes: tuple[int, ...],
        mesh_ref: str | Mesh,
        mesh: Mesh,
    ) -> None:
        """Reshard the result of a dot where that is better than an operand."""
        better = reshard_dot_result(rule, shardings, sizes, mesh_ref, mesh)
        old = shardings[2]
        if better is not None and old is not None:
            result = op.results[0]
            sdy.set_sharding(result, better)
            point = InsertPoint.after(op)
            self.follow_up(result, sdy.ReshardOp(result, old), point)

    def unreduced_reduction(
        self, op: Operation, rule: OpShardingRule, mesh: Mesh
    ) -> Axes:
        """Return the reduction axes that matter to the minimal version.

        Raises:
            CompileError: if the result is unreduced and the operands disagree.
        """
        if not op.results:
            return ()
        first = sdy.get_sharding(op.results[0])
        if first is None or not first.unreduced:
            return ()
        shardings = _behind_barriers((*op.operands, *op.results))
        projection = project(mesh, rule, shardings, closed_if_missing=True)
        axes = shared_reduction_axes(projection, rule)
        if axes is None:
            raise CompileError(
                "the result has unreduced axes, but the operands are sharded "
                "differently along a reduced dimension",
                op,
                hint="use enable-full-version=true, or reshard the operands",
            )
        return axes

    def reduce_results(
        self, op: Operation, reduction: Axes, mesh_ref: str | Mesh, mesh: Mesh
    ) -> None:
        """All-reduce the results along axes that do not stay unreduced in them."""
        if not op.results or not reduction:
            return
        first = sdy.get_sharding(op.results[0])
        left = subtract(reduction, first.unreduced if first else (), mesh)
        if not left:
            return
        axes = sort_and_merge(left, mesh)
        point = InsertPoint.after(op)
        kind = reduction_of(op) if self.mark_partial else None
        for result in op.results:
            rank = sdy.tensor_rank(result.type)
            sharding = sdy.get_sharding(result)
            sharding = sharding or TensorSharding.fully_closed(mesh_ref, rank)
            new = sdy.AllReduceOp(result, axes, sharding)
            # only the result of the all_reduce is replicated
            replicated = subtract(sharding.replicated, axes, mesh)
            partial = sharding.with_replicated(replicated)
            if kind is not None:
                new.by(kind)
                open_axes = sort_and_merge((*sharding.unreduced, *axes), mesh)
                partial = partial.with_unreduced(open_axes, kind)
            self.follow_up(result, new, point)
            if partial != sharding:
                sdy.set_sharding(result, partial)

    # Meshes

    def mesh_of(self, op: Operation, sharding: TensorSharding | str | Mesh) -> Mesh:
        """Return the mesh that a sharding or a name means."""
        ref = sharding.mesh if isinstance(sharding, TensorSharding) else sharding
        if isinstance(ref, str) and ref in self.meshes:
            return self.meshes[ref]
        return sdy.get_mesh(op, ref)

    def first_mesh(
        self, shardings: Iterable[TensorSharding | None]
    ) -> str | Mesh | None:
        """Return the first mesh of several devices that is named."""
        for sharding in shardings:
            if sharding and not self.mesh_of(self.module, sharding).is_maximal:
                return sharding.mesh
        return None

    def common_mesh(self, op: Operation, shardings: Shardings) -> str | Mesh | None:
        """The mesh to make an op compatible on.

        All shardings must be over the same axes; of meshes that differ in the order of
        devices it is the one that most sharded tensors use (then the first of those).

        Returns:
            None if there is no sharding, the axes differ, or it is a single device.
        """
        mesh: Mesh | None = None
        ref: str | Mesh | None = None
        uses: Counter[str | Mesh] = Counter()
        most_used: str | Mesh | None = None
        for sharding in shardings:
            if sharding is None:
                continue
            other = self.mesh_of(op, sharding)
            if sharding.sharding_axes:
                uses[sharding.mesh] += 1
                if most_used is None or uses[sharding.mesh] > uses[most_used]:
                    most_used = sharding.mesh
            if mesh is None or mesh.is_empty:
                mesh, ref = other, sharding.mesh
            elif other.is_empty:
                continue
            elif not other.same_axes(mesh):
                return None
            elif not other.device_ids:
                mesh, ref = other, sharding.mesh
        if mesh is None or mesh.is_maximal:
            return None
        return ref if most_used is None else most_used


def insert_explicit_reshards(
    module: ModuleOp, *, full: bool = True, mark_partial: bool = False
) -> None:
    """Make every op of a module compatible with its shardings, in place.

    Raises:
        CompileError: on unreduced axes that cannot be brought in line.
    """
    ReshardInserter(module, full, mark_partial).run()


@dataclass(frozen=True)
class InsertExplicitReshardsPass(ModulePass):
    """Inserts reshards and all_reduces; see the module.

    Options:
        enable_full_version: everywhere, not only where it is known to pay off.
        mark_partial_result_with_unreduced_axes: let results say what the all_reduces
            behind them combine, and these by which function, as jaxlib 0.12 does.
    """

    name = "sdy-insert-explicit-reshards"

    enable_full_version: bool = True
    mark_partial_result_with_unreduced_axes: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        insert_explicit_reshards(
            op,
            full=self.enable_full_version,
            mark_partial=self.mark_partial_result_with_unreduced_axes,
        )
