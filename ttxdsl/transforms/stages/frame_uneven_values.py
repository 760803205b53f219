"""`frame-uneven-values`: compute uneven values between even ones in even frames.

A shift by one row, `pad(slice(x))`, has 1023 rows in between, which no axis divides; so
have differences of neighbours and updates at constant places. Kept whole they cost a
gather of `x`, although the result needs one row of a neighbour. A *frame* of a value is
a number of consecutive places of one dimension, from any place on; places outside of
the value do not matter. The result is computed in frames of its own size:

    slice %x [0:1023]; pad low = 1      pad %x, low = 1, high = -1
    slice %x [1:1024]; subtract; …      pad %x, low = -1, high = 1; subtract; …

The axes divide the result's size, so each frame is split evenly, and stage 11 sends
what crosses from shard to shard. For an uneven dimension that is reduced or contracted,
the frame is the next larger even size, with neutral elements outside of the value.

**Why it is right.** Let F(v, s) be any tensor with F(v, s)[r] = v[r + s] wherever v has
that place.

- For a slice from place c, F(v, s) may be F(x, s + c).
- A pad, a concatenation and an update at a constant place are at each place one of
  their operands, moved by a constant, or the filler: F(v, s) selects between those
  frames.
- For a reversal, v[r] = x[n - 1 - r], the frame of size m from s is the reversed frame
  of x from n - s - m.
- An op that keeps the dimension (`held_in` of `dims.py`, same size) makes F(v, s) of
  F(x, s).
- A convolution or reduce_window reads for place r a window of x from r * stride - low:
  with other padding it makes F(v, s) of all of x. Where windows of v reach behind x,
  places outside of x hold what the op pads with.
- Any other value is padded or cut.
- The result itself is F(v, 0) of its own size. A reduction of F(v, 0) sees neutral
  elements outside of v. The kernel of a convolution may be a frame too: zeros behind it
  are multiplied with what is there (NaN for infinite numbers).

Each step goes from results to operands, and each dimension is looked at once, so it
ends. It is done where frames send less than the gathers that nobody needs any more.
Even values of another size (48 rows between values of 56) are looked into too where
that sends less.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import Axes, total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.collectives.program.single_ops import makes_results_alone
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.pieces import cut_from, pieces_of
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup
from ttxdsl.transforms.stages.even_out_shardings import leading_axes_that_divide
from ttxdsl.transforms.stages.frame_roots import (
    Root,
    aligned,
    longer_window,
    mask,
    reduced_by,
)
from ttxdsl.transforms.stages.frame_sources import (
    Pieces,
    Place,
    is_numeric,
    made_of,
    windows_of,
)
from ttxdsl.transforms.stages.frames import Frames
from ttxdsl.transforms.stages.supply_sharding_rules import SupplyShardingRulesPass

_MOVING = (
    stablehlo.SliceOp,
    stablehlo.PadOp,
    stablehlo.ConcatenateOp,
    stablehlo.DynamicUpdateSliceOp,
)


_WINDOWED = (stablehlo.ConvolutionOp, stablehlo.ReduceWindowOp)


class _Choice(NamedTuple):
    """Roots that are made of frames, and the bytes that this spares (`gained`)."""

    gained: int
    roots: list[Root]
    planned: dict[Root, tuple[Frames, list[Place]]]


class _Block:
    """The roots of one block, and which of them pay."""

    def __init__(self, block: Block, mesh_of: MeshOf, dim: int | None = None):
        self.block, self.mesh_of, self.dim = block, mesh_of, dim
        self.frames: dict[tuple[str | Mesh, Axes, bool], Frames] = {}
        self.replaced: dict[SSAValue, SSAValue] = {}
        self.planned: dict[Root, tuple[Frames, list[Place]]] = {}

    def _uneven(self, value: SSAValue) -> frozenset[int]:
        """Return the dimensions that a value's axes do not divide."""
        sharding = sdy.get_sharding(value) if is_tensor(value) else None
        if sharding is None or not sharding.sharding_axes or sharding.unreduced:
            return frozenset()
        mesh = self.mesh_of(sharding)
        if mesh.is_maximal:
            return frozenset()
        return frozenset(
            dim
            for dim, size in enumerate(shape_of(value))
            if size % sharding.dims[dim].sharded_size(mesh)
        )

    def roots(self) -> list[tuple[Root, TensorSharding, Axes]]:
        """Return the roots that may be made of frames, with the axes that split them."""
        uneven: dict[SSAValue, frozenset[int]] = {}
        known = IdentityMemo[list[frozenset[int]]]()
        joins = False
        for op in self.block.ops:
            written = op.attributes.get(sdy.SHARDING)
            if written is None:
                continue
            joins = joins or (type(op) is stablehlo.ConcatenateOp and _joins(op))
            types = [result.type for result in op.results]
            key = id(written), *map(id, types)
            of_results = known.get(key)
            if of_results is None:
                of_results = [*map(self._uneven, op.results)]
                known.keep(key, of_results, written, types)
            if any(of_results):
                uneven.update(zip(op.results, of_results, strict=True))
        roots: list[tuple[Root, TensorSharding, Axes]] = []
        if not uneven and not joins:
            return roots
        for op in self.block.ops:
            of_operands = {
                at: uneven[value]
                for at, value in enumerate(op.operands)
                if value in uneven
            }
            for root in reduced_by(op, of_operands) if of_operands else ():
                at, dim = next(
                    (at, dim)
                    for at, dim in root.framed
                    if dim in of_operands.get(at, ())
                )
                sharding = sdy.get_sharding(op.operands[at])
                assert sharding is not None, "it has axes"
                roots.append((root, sharding, sharding.dims[dim].axes))
            if isinstance(op, _WINDOWED):
                roots += self._windows(op, of_operands.get(0, frozenset()), uneven)
            if not isinstance(op, _MOVING):
                continue
            (result,) = op.results
            sharding = sdy.get_sharding(result)
            if sharding is None or sharding.unreduced:
                continue
            if isinstance(op, stablehlo.SliceOp):
                for dim in uneven.get(op.operand, ()):
                    small = 4 * shape_of(result)[dim] <= shape_of(op.operand)[dim]
                    if small and dim in uneven.get(result, ()):
                        roots.append((Root(op, dim), sharding, ()))
            for dim, dim_sharding in enumerate(sharding.dims):
                if (
                    dim_sharding.axes
                    and dim not in uneven.get(result, ())
                    and isinstance(made_of(result, dim), Pieces)
                    and not self._in_pieces(op, dim, sharding)
                ):
                    roots.append((Root(op, dim), sharding, dim_sharding.axes))
        return roots

    def _windows(
        self,
        op: Operation,
        of_operand: frozenset[int],
        uneven: Mapping[SSAValue, frozenset[int]],
    ) -> list[tuple[Root, TensorSharding, Axes]]:
        """Return the even dimensions of a result that are windows of uneven ones."""
        result = op.results[0]
        sharding = sdy.get_sharding(result)
        if not of_operand or sharding is None or sharding.unreduced:
            return []
        return [
            (Root(op, dim), sharding, dim_sharding.axes)
            for dim, dim_sharding in enumerate(sharding.dims)
            if dim_sharding.axes and dim not in uneven.get(result, ())
            if (windows := windows_of(result, dim, 2)) and windows.dim in of_operand
        ]

    def _in_pieces(self, op: Operation, dim: int, sharding: TensorSharding) -> bool:
        """Whether stage 11 makes a concatenation of pieces of one value."""
        if not isinstance(op, stablehlo.ConcatenateOp):
            return False
        cut = cut_from(op.result, dim)
        known = None if cut is None else sdy.get_sharding(cut.source)
        if cut is None or known is None or not known.same_layout(sharding):
            return False
        count = sharding.dims[dim].sharded_size(self.mesh_of(sharding))
        size = shape_of(cut.source)[dim]
        return size % count == 0 and (
            pieces_of(cut.stretches, size // count, count) is not None
        )

    def dims(self) -> set[int]:
        """Return the dimensions that may become frames."""
        return {root.dim for root, _, _ in self.roots()}

    def plan(self, *, is_deep: bool) -> None:
        """Plan the frames of all roots along the dimension.

        With `is_deep` each looks into even values, too, where it would send any.
        """
        self.planned = {}
        for root, sharding, axes in self.roots():
            if root.dim != self.dim:
                continue
            shards = total_size(axes, self.mesh_of(sharding))
            if axes and shards == 1:
                continue
            place = root.places[0]
            count = place.extent
            if not count or not all(
                is_numeric(element_of(place.value)) for place in root.places
            ):
                continue
            root = root._replace(size=-(-count // shards) * shards, shards=shards)
            frames = self._frames(sharding, axes)
            places = frames.plan(root.places, self.block, is_made=not root.operands)
            if places is None:
                continue
            if is_deep and axes and frames.sent_for(places):
                deep = self._frames(sharding, axes, is_deep=True)
                planned_places = deep.plan(
                    root.places, self.block, is_made=not root.operands
                )
                if planned_places is not None:
                    frames, places = deep, planned_places
            best = frames.sent_for(places), root, frames, places
            for moved in aligned(root, frames, places, count):
                planned_places = frames.plan(moved.places, self.block, is_made=False)
                if (
                    planned_places is not None
                    and frames.sent_for(planned_places) < best[0]
                ):
                    best = (
                        frames.sent_for(planned_places),
                        moved,
                        frames,
                        planned_places,
                    )
            self.planned[best[1]] = best[2], best[3]

    def _frames(
        self, sharding: TensorSharding, axes: Axes, *, is_deep: bool = False
    ) -> Frames:
        key = sharding.mesh, axes, is_deep
        frames = self.frames.get(key)
        if frames is None:
            mesh = self.mesh_of(sharding)
            frames = self.frames[key] = Frames(
                self.mesh_of, mesh, sharding.mesh, axes, self.replaced, is_deep
            )
        return frames

    def _gathers(self, root: Root) -> dict[tuple[SSAValue, int, Axes], set[Operation]]:
        """Return the split values that a root's uneven values use, with their users."""
        frames, places = self.planned[root]
        users_by_gather: dict[tuple[SSAValue, int, Axes], set[Operation]] = {}
        for place in places:
            derivation = frames.derivations[place]
            if derivation is None:
                continue
            user = place.value.owner
            assert isinstance(user, Operation)
            for operand in derivation.operands(place):
                if frames.is_split(operand.value, operand.dim):
                    axes = frames.axes_of(operand.value, operand.dim)
                    kept = leading_axes_that_divide(axes, place.extent, frames.mesh)
                    if isinstance(user, stablehlo.ConcatenateOp):
                        kept = ()
                    elif kept == axes:
                        continue  # which stage 11 does on shards
                    key = operand.value, operand.dim, kept
                    users_by_gather.setdefault(key, set()).add(user)
        for (value, _, _), users in users_by_gather.items():
            users |= {
                use.operation
                for use in value.uses
                if isinstance(use.operation, (*_WINDOWED, stablehlo.DotGeneralOp))
                and self._meets_uneven(use.operation)
            }
        return users_by_gather

    def _meets_uneven(self, op: Operation) -> bool:
        """Whether an operand or result of an op is sharded unevenly."""
        return any(map(self._uneven, (*op.operands, *op.results)))

    def _dead(
        self, roots: Sequence[Root], *, reads_nothing: bool = False
    ) -> set[Operation]:
        """Return the ops without users once some roots are made of frames, which may read nothing."""
        framed = {
            (root.op, at) for root in roots if root.operands for at, _ in root.framed
        }
        read = {
            value
            for root in (() if reads_nothing else roots)
            for place in self.planned[root][1]
            for value in self.planned[root][0].reads(place)
        }
        dead: set[Operation] = set()
        waiting = [root.op for root in roots if not root.operands]
        waiting += [op for op in self._unused if read.isdisjoint(op.results)]
        users: dict[Operation, int] = {}

        def drop_use(value: SSAValue) -> None:
            op = value.owner
            if isinstance(op, Block) or op.parent is not self.block or op in dead:
                return
            if op not in users:
                users[op] = sum(len([*result.uses]) for result in op.results)
            users[op] -= 1
            if (
                not users[op]
                and read.isdisjoint(op.results)
                and makes_results_alone(op)
            ):
                waiting.append(op)

        for op, at in framed:
            drop_use(op.operands[at])
        while waiting:
            op = waiting.pop()
            if op not in dead:
                dead.add(op)
                for at, operand in enumerate(op.operands):
                    if (op, at) not in framed:
                        drop_use(operand)
        return dead

    @cached_property
    def _unused(self) -> list[Operation]:
        """The ops that nobody uses already, which others use for nothing."""
        return [
            op
            for op in self.block.ops
            if all(result.first_use is None for result in op.results)
            and makes_results_alone(op)
        ]

    def choose(self) -> _Choice:
        """Return the roots that are made of frames, since that sends less."""
        gathers = {root: self._gathers(root) for root in self.planned}
        chosen = list(self.planned)
        split = [root for root in chosen if self.planned[root][0].axes]
        dead = self._dead(split)
        # of the small whole ones those that others still need
        chosen = [root for root in chosen if root in split or root.op not in dead]
        if any(frames.is_deep for frames, _ in self.planned.values()):
            most = self._dead(chosen, reads_nothing=True)
            most.update(root.op for root in chosen if root.operands)
            for root in split:
                uses = (use for result in root.op.results for use in result.uses)
                if root.operands or any(use.operation not in most for use in uses):
                    continue  # it has users, whatever else is made of frames
                rest = [other for other in chosen if other != root]
                if root.op in self._dead(rest):
                    chosen = rest
        while chosen:
            changed = self._dead(chosen) | {root.op for root in chosen}
            useful = [
                root
                for root in chosen
                if not gathers[root]
                or any(users <= changed for users in gathers[root].values())
            ]
            if len(useful) == len(chosen):
                break
            chosen = useful
        groups = _groups(
            {root: [place.value for place in self.planned[root][1]] for root in chosen}
        )
        paying: list[Root] = []
        total = 0
        for group in groups:
            dead = self._dead(group)
            saved: dict[tuple[SSAValue, int], int] = {}
            kept: set[tuple[SSAValue, int]] = set()
            sent: dict[tuple[Axes, Place], int] = {}
            added = 0
            for root in group:
                frames, places = self.planned[root]
                for (value, dim, axes), users in gathers[root].items():
                    if not users <= dead | {member.op for member in group}:
                        kept.add((value, dim))
                        continue
                    shards = total_size(frames.axes_of(value, dim), frames.mesh)
                    parts = shards // total_size(axes, frames.mesh)
                    held = shape_of(value)[dim] // shards
                    bytes_ = (parts - 1) * held * frames.row_bytes(value, dim)
                    saved[value, dim] = max(bytes_, saved.get((value, dim), 0))
                for place in places:
                    sent[frames.axes, place] = frames.sent(place)
                if root.operands:
                    (result,) = root.op.results
                    held = value_bytes(result)
                    added += ring_bytes(Ring.ALL_REDUCE, held, frames.shards)
                if isinstance(root.op, stablehlo.ConvolutionOp) and root.operands:
                    added += _read_by_kernel(root.op, root, frames)
            gained = sum(n for key, n in saved.items() if key not in kept)
            gained -= added + sum(sent.values())
            if gained > 0:
                paying += group
                total += gained
        return _Choice(total, paying, self.planned)

    def _best(self) -> _Choice:
        """Return the roots that are made of frames, and how, so that least is sent."""
        self.plan(is_deep=False)
        if not self.planned:
            return _Choice(0, [], {})
        shallow = self.choose()
        self.plan(is_deep=True)
        if not any(frames.is_deep for frames, _ in self.planned.values()):
            return shallow
        return max(shallow, self.choose(), key=lambda choice: choice.gained)

    def change(self) -> bool:
        """Make the roots that pay of frames; whether there are any."""
        _, roots, self.planned = self._best()
        order = {op: at for at, op in enumerate(self.block.ops)}
        dead = self._dead(roots)
        for root in sorted(roots, key=lambda other: order[other.op]):
            frames, _ = self.planned[root]
            emit = Emitter(Block(), root.op.location)
            frames.write(emit, root.places)
            if root.operands:
                mask(emit, frames, root)
            else:
                (result,) = root.op.results
                frame = frames.written[root.places[0]]
                frame.name_hint = frame.name_hint or result.name_hint
                self.replaced[result] = frame
            Rewriter.inline_block(emit.block, InsertPoint.before(root.op))
        # not before: what is planned names the values that others were to use
        for result, frame in self.replaced.items():
            result.replace_all_uses_with(frame)
        for op in sorted(dead, key=lambda dead_op: order[dead_op], reverse=True):
            if all(result.first_use is None for result in op.results):
                Rewriter.erase_op(op)
        return bool(roots)


def _read_by_kernel(op: stablehlo.ConvolutionOp, root: Root, frames: Frames) -> int:
    """The bytes that devices send so that each has what its part of a kernel reads."""
    window = longer_window(root)
    length = (root.size // frames.shards - 1) * window.step + window.reach
    kernel = Place(op.lhs, window.dim, -window.padding[0], root.size)
    extent = root.places[1].size if root.read else kernel.extent
    return frames.halo_bytes(kernel, extent, length, window.step)


def _groups(values: Mapping[Root, Sequence[SSAValue]]) -> list[list[Root]]:
    """Roots that have values in common, together."""
    groups: list[tuple[set[SSAValue], list[Root]]] = []
    for root, of_root in values.items():
        known = {*of_root}
        members = [root]
        apart: list[tuple[set[SSAValue], list[Root]]] = []
        for group in groups:
            if group[0].isdisjoint(known):
                apart.append(group)
            else:
                known |= group[0]
                members = [*group[1], *members]
        groups = [*apart, (known, members)]
    return [members for _, members in groups]


class FrameUnevenValuesPass(ModulePass):
    """Compute values that their axes do not divide in frames that they do."""

    name = "frame-uneven-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mesh_of = mesh_lookup(op)
        changed = False
        for function in entry_functions(op):
            for block in _blocks(function):
                tried: set[int] = set()
                while dims := _Block(block, mesh_of).dims() - tried:
                    tried.add(dim := min(dims))
                    changed |= _Block(block, mesh_of, dim).change()
        if changed:
            SupplyShardingRulesPass().apply(ctx, op)


def _joins(op: stablehlo.ConcatenateOp) -> bool:
    """Whether an op concatenates along a split dimension."""
    sharding = sdy.get_sharding(op.result)
    return bool(sharding and sharding.dims[op.dimension.value.data].axes)


def _blocks(function: FuncOp) -> list[Block]:
    """The blocks that shardings are about: not those that are already per device."""
    manual: set[Operation] = set()
    blocks = [function.body.block]
    for op in all_ops(function)[1:]:
        if not op.regions:
            continue
        parent = op.parent_op()
        if isinstance(op, sdy.ManualComputationOp) or parent in manual:
            manual.add(op)
        elif isinstance(op, stablehlo.WhileOp | stablehlo.CaseOp | stablehlo.IfOp):
            blocks += [region.block for region in op.regions]
    return blocks
