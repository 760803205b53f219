"""`sdy-resolve-permutation-factors`: no op needs elements of its neighbours' shards.

A slice, a padding or a window moves elements along the dimension that it works on. Where
that is split, its operands and results get reshards between which it is whole. A
reversal stays split: its shards go to a mesh with the devices in the opposite order, and
each device reverses its own. If the split is uneven, what the last shard lacks is moved
to the first one before, one shard's edge to the next (a halo exchange).

jaxlib 0.12 exchanges halos for slices and pads as well (`halo_exchange`), reverses shards
before they go to the other devices, and makes uneven dimensions whole to reshape them.

Source: Shardy's pass of that name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.symbols import Symbols
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo import StableHLOOp
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type_inside_out
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.projection import (
    FactorSharding,
    Projection,
    project,
    unproject_tensor,
)
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.emitter import Emitter
from ttxdsl.transforms.shardy.exporting.halo_exchange import (
    Exchange,
    Shards,
    digit_of,
    pairs_attr,
    steps_along,
    stretch_of_pad,
    stretches_of,
)
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    ReshardInserter,
    Shardings,
)
from ttxdsl.transforms.shardy.exporting.uneven_reshapes import reshardings
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.shardy.per_device.literal import (
    LiteralEmitter,
    Wording,
    next_channel,
)

# Meshes


def reversed_along(mesh: Mesh, axes: tuple[AxisRef, ...]) -> Mesh:
    """The mesh with its devices in the opposite order along some axes."""
    devices = mesh.devices()
    for axis in axes:
        stride, size = digit_of(mesh, axis)
        devices = tuple(
            devices[at + (size - 1 - 2 * (at // stride % size)) * stride]
            for at in range(mesh.total_size)
        )
    in_order = devices == tuple(range(mesh.total_size))
    return replace(mesh, device_ids=() if in_order else devices)


# Reversals


@dataclass(frozen=True)
class _Reversal:
    """How a split reversal is done on shards."""

    axes: tuple[AxisRef, ...]
    """Those along which the devices change places."""
    uneven: tuple[int, ...]
    """The dimensions whose split is uneven."""
    shape: tuple[int, ...]
    """That of the operand, padded to be even."""

    @staticmethod
    def of(
        op: stablehlo.ReverseOp, sharding: TensorSharding, mesh: Mesh
    ) -> "_Reversal":
        """The plan."""
        axes: list[AxisRef] = []
        uneven: list[int] = []
        shape = [*shape_of(op.operand)]
        for dim, split in enumerate(sharding.dims):
            count = split.sharded_size(mesh)
            if count < 2 or dim not in op.dimensions.get_values():
                continue
            axes.extend(split.axes)
            if shape[dim] % count:
                uneven.append(dim)
                shape[dim] = -(-shape[dim] // count) * count
        return _Reversal(tuple(axes), tuple(uneven), tuple(shape))


def _moved_right(
    emitter: Emitter, value: SSAValue, dim: int, count: int, shards: Shards
) -> SSAValue:
    """The last `count` elements of each shard go to the front of the next."""
    shape = shape_of(value)
    stays = shape[dim] - count

    def split(result: SSAValue) -> SSAValue:
        sdy.set_sharding(result, shards.inside)
        return result

    edge = value
    if stays:
        edge = split(emitter.slice_dim(value, dim, stays, shape[dim]))
    pairs = steps_along(shards.mesh, shards.sharding.dims[dim].axes, 1)
    by = {"source_target_pairs": pairs_attr(pairs)}
    received = split(emitter.one(stablehlo.CollectivePermuteOp, [edge], edge.type, by))
    if not stays:
        return received
    rest = split(emitter.slice_dim(value, dim, 0, stays))
    return split(emitter.concatenate([received, rest], dim))


def _with_shifts(op: stablehlo.PadOp, rule: OpShardingRule) -> OpShardingRule:
    """The rule of jaxlib 0.12, in which a dimension that is shifted is not kept.

    That of 0.10 calls a dimension kept that has the same size before and after.
    """
    shifted = {
        rule.operands[0][dim][0]
        for dim, low in enumerate(op.edge_padding_low.get_values())
        if low or op.interior_padding.get_values()[dim]
    }
    return replace(rule, permutation=tuple(sorted(shifted | {*rule.permutation})))


def _resharded(emitter: Emitter, value: SSAValue, sharding: TensorSharding) -> SSAValue:
    reshard = sdy.ReshardOp(value, sharding)
    reshard.location = emitter.location
    emitter.block.add_op(reshard)
    return reshard.result


# The pass

_EXCHANGED = (stablehlo.PadOp, stablehlo.ReverseOp, stablehlo.SliceOp)


@dataclass
class _Resolver:
    module: ModuleOp
    halo_exchange: bool
    whole_random_bits: bool
    wording: Wording
    symbols: Symbols = field(init=False)
    declared: dict[Mesh, str] = field(init=False)
    inserter: ReshardInserter = field(init=False)
    channels: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.mesh_of = mesh_lookup(self.module)
        self.symbols = Symbols(self.module)
        names = sdy.mesh_table(self.module).items()
        self.declared = {mesh: name for name, mesh in names}
        self.inserter = ReshardInserter(self.module)
        self.channels = count(next_channel(self.module))

    def resolve(self, op: Operation) -> None:
        """Let one op work on its own shards."""
        if self.whole_random_bits and isinstance(op, stablehlo.RngBitGeneratorOp):
            self._draw_whole(op)
            return
        if self.wording.newest and isinstance(op, stablehlo.ReshapeOp):
            self._reshape(op)
            return
        rule = sharding_rule(op)
        if rule is None or rule.is_custom:
            return
        if self.wording.newest and isinstance(op, stablehlo.PadOp):
            rule = _with_shifts(op, rule)
        if not rule.permutation:
            return
        if self.halo_exchange and isinstance(op, _EXCHANGED):
            sharding = sdy.get_sharding(op.operand)
            if sharding is None or not sharding.sharding_axes:
                return
            if sdy.get_sharding(op.result) == sharding and self._exchange(op, sharding):
                return
        self._reshard(op, rule)

    # By reshards

    def _common_mesh(self, shardings: Shardings) -> str | Mesh | None:
        """The mesh of all shardings, rather one with devices in natural order."""
        found: str | Mesh | None = None
        mesh: Mesh | None = None
        for sharding in shardings:
            if sharding is None:
                continue
            other = self.mesh_of(sharding)
            if mesh is None or mesh.is_empty:
                mesh, found = other, sharding.mesh
            elif other.is_empty:
                continue
            elif not other.same_axes(mesh):
                return None
            elif not other.device_ids:
                mesh, found = other, sharding.mesh
        return None if mesh is None or mesh.is_maximal else found

    def _stays_on_device(
        self, op: Operation, rule: OpShardingRule, factor: int, mesh: Mesh
    ) -> bool:
        """Whether a slice of each shard of a dimension is its shard of the slice.

        jaxlib 0.12 asks whether what a pad reads is in the shard.
        """
        if not isinstance(op, stablehlo.SliceOp) and not (
            self.wording.newest and isinstance(op, stablehlo.PadOp)
        ):
            return False
        sharding = sdy.get_sharding(op.operand)
        if sharding is None or sharding != sdy.get_sharding(op.result):
            return False
        dim = rule.operands[0].index((factor,))
        parts = sharding.dims[dim].sharded_size(mesh)
        before, after = shape_of(op.operand)[dim], shape_of(op.result)[dim]
        if parts <= 1:
            return True
        if isinstance(op, stablehlo.PadOp):
            return stretch_of_pad(op, dim, parts).is_own
        return (
            op.start_indices.get_values()[dim] == 0
            and op.strides.get_values()[dim] == 1
            and -(-before // parts) == -(-after // parts)
        )

    def _reshard(self, op: Operation, rule: OpShardingRule) -> None:
        values = (*op.operands, *op.results)
        shardings = [sdy.get_sharding(value) for value in values]
        ref = self._common_mesh(shardings)
        if ref is None:
            return
        mesh = self.inserter.mesh_of(op, ref)
        projection = project(mesh, rule, shardings, closed_if_missing=True)
        changed = [False] * len(values)
        grouped = self._grouped(op, rule, projection)
        for factor in (*rule.permutation, *sorted(grouped)):
            if self._stays_on_device(op, rule, factor, mesh):
                continue
            for index, tensor in enumerate(projection.tensors):
                known = tensor.factors.get(factor)
                if known is not None and (known.axes or known.overflow):
                    tensor.factors[factor] = FactorSharding(
                        closed=known.closed, minor_most=known.minor_most
                    )
                    changed[index] = True
        if not any(changed):
            return
        wanted = [
            unproject_tensor(ref, mesh, rule, mapping, tensor)
            if now or self._is_on_other_devices(sharding, mesh)
            else None
            for now, sharding, mapping, tensor in zip(
                changed, shardings, rule.tensors, projection.tensors, strict=True
            )
        ]
        self.inserter.reshard(op, wanted, ref)

    def _grouped(
        self, op: Operation, rule: OpShardingRule, projection: Projection
    ) -> set[int]:
        """The factors that jaxlib 0.12 makes whole where the groups of an op are split.

        It leaves groups of one feature; where the result is in parts it forgets that,
        and ours leaves the op.
        """
        if not self.wording.newest or not isinstance(op, stablehlo.ConvolutionOp):
            return set()
        numbers = op.dimension_numbers.data
        if op.feature_group_count.value.data > 1:
            group = rule.operands[0][numbers.input_feature_dimension][0]
        elif op.batch_group_count.value.data > 1:
            group = rule.operands[0][numbers.input_batch_dimension][0]
        else:
            return set()
        beside = {
            factor
            for mapping in rule.tensors
            for factors in mapping
            if group in factors
            for factor in factors
        }
        split = {
            factor
            for tensor in projection.tensors
            for factor, known in tensor.factors.items()
            if known.axes or known.overflow
        }
        if beside == {group} or group not in split or split & {*rule.reduction}:
            return set()
        return beside

    def _reshape(self, op: stablehlo.ReshapeOp) -> None:
        """Make whole what is split unevenly and would move."""
        before, after = (sdy.get_sharding(value) for value in (op.operand, op.result))
        if before is None or after is None or before.mesh != after.mesh:
            return
        mesh = self.mesh_of(before)
        if mesh.is_maximal:
            return
        shapes = shape_of(op.operand), shape_of(op.result)
        wanted = reshardings(shapes, (before, after), mesh)
        if wanted is not None:
            self.inserter.reshard(op, [*wanted], before.mesh)

    def _draw_whole(self, op: stablehlo.RngBitGeneratorOp) -> None:
        """Let every device draw the same bits."""
        values = (*op.operands, *op.results)
        shardings = [sdy.get_sharding(value) for value in values]
        ref = self._common_mesh(shardings)
        if ref is None:
            return
        wanted = [
            TensorSharding.fully_closed(ref, len(shape_of(value)))
            if sharding is not None and sharding.sharding_axes
            else None
            for value, sharding in zip(values, shardings, strict=True)
        ]
        self.inserter.reshard(op, wanted, ref)

    def _is_on_other_devices(self, sharding: TensorSharding | None, mesh: Mesh) -> bool:
        if sharding is None or not sharding.sharding_axes:
            return False
        return self.mesh_of(sharding).device_ids != mesh.device_ids

    # By an exchange

    def _exchange(
        self,
        op: stablehlo.ReverseOp | stablehlo.SliceOp | stablehlo.PadOp,
        sharding: TensorSharding,
    ) -> bool:
        """Let shards go to other devices; whether that is possible."""
        mesh = self.mesh_of(sharding)
        if isinstance(op, stablehlo.ReverseOp):
            return mesh.is_maximal or self._reverse(op, sharding, mesh)
        if not self.wording.newest:
            return False
        if mesh.is_maximal:
            return True
        stretches = stretches_of(op, sharding, mesh)
        if stretches is None:
            return False
        pads = isinstance(op, stablehlo.PadOp)
        if pads and all(one.is_own and one.is_full for one in stretches):
            return True  # each device pads and takes its part of that
        if not all(one.is_kept for one in stretches):
            shards = Shards(sharding, mesh, range(len(sharding.dims)))
            Exchange(shards, self.channels, self.wording).resolve(op, stretches)
        return True

    def _reverse(
        self, op: stablehlo.ReverseOp, sharding: TensorSharding, mesh: Mesh
    ) -> bool:
        plan = _Reversal.of(op, sharding, mesh)
        if not plan.axes:
            return True
        original = shape_of(op.operand)
        lacking = [new - old for new, old in zip(plan.shape, original, strict=True)]
        if not self.wording.newest and any(
            lacking[dim] > plan.shape[dim] // sharding.dims[dim].sharded_size(mesh)
            for dim in plan.uneven
        ):
            return False  # more than a whole shard
        shards = Shards(sharding, mesh, plan.uneven)
        front, behind = (Emitter(Block(), op.location) for _ in range(2))
        value = shards.evened(front, op.operand, plan.shape)
        if plan.uneven:
            value = self._shifted(front, value, lacking, shards)
        reversed_ = replace(
            sharding, mesh=self._mesh_ref(sharding, reversed_along(mesh, plan.axes))
        )
        if not self.wording.newest:
            value = _resharded(front, value, reversed_)
        op.operands[0] = value
        result = whole = (
            Rewriter.replace_value_with_new_type(op.result, value.type)
            if plan.uneven
            else op.result
        )
        users = [*whole.uses]
        if self.wording.newest:
            sdy.set_sharding(whole, reversed_)
            result = _resharded(behind, whole, sharding)
        result = shards.cut(behind, result, original)
        for use in users:
            use.operation.operands[use.index] = result
        Rewriter.inline_block(front.block, InsertPoint.before(op))
        Rewriter.inline_block(behind.block, InsertPoint.after(op))
        return True

    def _shifted(
        self, emitter: Emitter, value: SSAValue, lacking: list[int], shards: Shards
    ) -> SSAValue:
        """A padded value with the padding in front instead of behind."""

        def write(body: Block) -> SSAValue:
            emit = LiteralEmitter(body, emitter.location, self.channels, self.wording)
            exchange = Exchange(shards, self.channels, self.wording)
            shifted: SSAValue = body.args[0]
            for dim in shards.dims:
                shifted = (
                    exchange.moved_right(emit, shifted, dim, lacking[dim])
                    if self.wording.newest
                    else _moved_right(emit, shifted, dim, lacking[dim], shards)
                )
            return shifted

        return shards.computed(emitter, [value], shape_of(value), write)

    def _mesh_ref(self, like: TensorSharding, mesh: Mesh) -> str | Mesh:
        """How to name a mesh: as the sharding names its own."""
        if isinstance(like.mesh, Mesh):
            return mesh
        name = self.declared.get(mesh)
        if name is None:
            name = self.symbols.take(f"{like.mesh}_reversed")
            self.declared[mesh] = name
            first = self.module.body.block.first_op
            assert first is not None
            Rewriter.insert_op(sdy.MeshOp(name, mesh), InsertPoint.before(first))
        return name


@dataclass(frozen=True)
class ResolvePermutationFactorsPass(ModulePass):
    """Let no op need elements of other shards than its own.

    Options:
        enable_halo_exchange: reverse shards where they are; otherwise a reversed
            dimension is made whole, as others are.
        replica_count: see `sdy-convert-global-to-local`; only exchanges of jaxlib 0.12
            ask for the device's id.
        partition_count: the same.
        rng_bit_generator_unsafe: let each device draw random bits for its own shard;
            otherwise all draw the whole alike.
        newest: as jaxlib 0.12 does, exchange halos for slices and pads too, reverse
            shards before they go to other devices, and reshape uneven shards.
    """

    name = "sdy-resolve-permutation-factors"

    enable_halo_exchange: bool = True
    replica_count: int = 1
    partition_count: int = 1
    rng_bit_generator_unsafe: bool = True
    newest: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        wording = Wording(
            gather_dims_one_by_one=False,
            scatter_dims_at_once=False,
            groups_by_axes=False,
            by_replicas=self.replica_count > 1,
            newest=self.newest,
        )
        resolver = _Resolver(
            op, self.enable_halo_exchange, not self.rng_bit_generator_unsafe, wording
        )
        for inner in ops_of_type_inside_out(op, StableHLOOp):
            resolver.resolve(inner)
