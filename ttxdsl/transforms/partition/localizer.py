"""Rebuilding a global program as what one device computes.

The `Localizer` walks the old, global body and writes a new, local one beside it. The
old values keep their global types and shardings, so nothing about them has to be
remembered; for each there is one `Local`: the new value, and how it lies on the mesh.

How ops of a class become local is said by functions from the localizer and an op, in
the tables of this package's modules; `table.py` joins them.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.quant import scaled_dim
from ttxdsl.ir.captures import Captures
from ttxdsl.ir.collector import forget_uses
from ttxdsl.ir.memo import IdentityMemo
from ttxdsl.ir.traversal import operands_of
from ttxdsl.rules.division import Division, division
from ttxdsl.rules.registry import OpSignature, Signatures, sharding_rule
from ttxdsl.sharding.axes import Axes, sort_by_mesh, subtract
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.collectives import (
    AllGather,
    AllSlice,
    AllToAll,
    Collective,
    CollectivePermute,
)
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.collectives import CollectiveWriter
from ttxdsl.transforms.partition.exchange.combiner import Combiner
from ttxdsl.transforms.partition.exchange.resharding import (
    reshard_plan,
    sharding_of,
    steps_bytes,
)
from ttxdsl.transforms.partition.layout import Layout, unreduced_axes


@dataclass(frozen=True, slots=True)
class Partial:
    """Each device along `axes` holds a part of the result; `combine` joins them."""

    axes: Axes
    combine: Combiner


@dataclass(frozen=True, slots=True)
class Local:
    """One device's part of a global value.

    Attributes:
        value: the value in the new body.
        layout: which part of which global tensor it is; None for values that are no
            ranked tensors (tokens, tuples), which are the same on all devices.
        partial: set while results along some axes still have to be combined.
        complete: axes along which the op that made the value left nothing to combine
            although its sharding rule would allow it to; the `sdy.all_reduce` that
            follows it has nothing to do there.
        deferred: whether it does not lie as the program says, because that would be
            uneven: a step between two even layouts. The next collective moves it on.
        moved: a value, and what the same tensor was before it was moved to be that. A
            manual computation makes another tensor of a value without changing it, which
            no longer has this.
    """

    value: SSAValue
    layout: Layout | None
    partial: Partial | None = None
    complete: Axes = ()
    deferred: bool = False
    moved: "tuple[SSAValue, Local] | None" = field(
        default=None, compare=False, repr=False
    )

    @property
    def origin(self) -> "Local | None":
        """The tensor that this was moved from, None if the value has changed since."""
        if self.moved is None or self.moved[0] is not self.value:
            return None
        return self.moved[1]

    @property
    def is_sharded(self) -> bool:
        """Whether the devices hold shards, not the whole value."""
        return self.layout is not None and self.layout.is_sharded

    @property
    def placed(self) -> Layout:
        """The layout of a value that is known to be a tensor."""
        assert self.layout is not None, "only called for ranked tensors"
        return self.layout


@lru_cache(maxsize=4096)
def local_type(type_: Attribute, layout: Layout | None) -> Attribute:
    """Return a global type cut to one device's part."""
    if layout is None or not layout.is_sharded:
        return type_
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(tensor.element_type, layout.local_shape, tensor.encoding)


OpLocalizer = Callable[["Localizer", Any], None]
"""Writes the local form of one op and defines its results."""

Table = dict[type[Operation], OpLocalizer]
"""How ops of each class become local."""


class Localizer:
    """The state of rebuilding one wrapped function body.

    Attributes:
        emitter: writes into the block that is being filled.
        collectives: writes collectives between devices.
        mesh: the mesh of values that have no sharding.
        strict: whether computing an op replicated, for want of knowledge, is an error.
        local_random_bits: whether a device draws the bits of its part alone.
    """

    def __init__(
        self,
        table: Callable[[Operation], OpLocalizer],
        meshes: Mapping[str, Mesh],
        mesh: Mesh,
        emitter: Emitter,
        collectives: CollectiveWriter,
        *,
        strict: bool = False,
        local_random_bits: bool = False,
    ):
        self.emitter = emitter
        self.collectives = collectives
        self.mesh = mesh
        self.strict = strict
        self.local_random_bits = local_random_bits
        self._table = table
        self._meshes = meshes
        self._locals: dict[SSAValue, Local] = {}
        self._manual_axes: frozenset[str] = frozenset()
        self._signatures = Signatures()
        self._divisions: dict[OpSignature, Division | None] = {}
        # how ops that are alike are split
        self.plans = IdentityMemo[Any]()
        # by type and sharding
        self._layouts = IdentityMemo[Layout]()
        # by type and layout
        self._types = IdentityMemo[Attribute]()
        self._moved: dict[SSAValue, SSAValue] = {}

    @property
    def is_manual(self) -> bool:
        """Whether what is written now is in a computation that was already per device."""
        return bool(self._manual_axes)

    # Layouts of old values

    def mesh_of(self, sharding: TensorSharding | None, where: Operation) -> Mesh:
        """Return the mesh that a sharding names.

        Raises:
            CompileError: if there is none of that name.
        """
        if sharding is None:
            return self.mesh
        if isinstance(sharding.mesh, Mesh):
            return sharding.mesh
        mesh = self._meshes.get(sharding.mesh)
        if mesh is None:
            raise CompileError(f"unknown mesh @{sharding.mesh}", where)
        if mesh.is_maximal:
            raise UnsupportedError(
                f"a value on the single device of mesh @{sharding.mesh}",
                where,
                hint="replicate it over the mesh of the other values",
            )
        return mesh

    def layout_of(
        self,
        type_: Attribute,
        sharding: TensorSharding | None,
        where: Operation,
        name: str = "",
    ) -> Layout | None:
        """Return the layout on the mesh of a value with a global type and a sharding.

        Args:
            sharding: None is replicated.
            what: the value to blame, for example `argument 0`.

        Raises:
            UnsupportedError: if axes do not divide a dimension, or split quantized elements
                with a scale for each slice.
        """
        key = id(type_), id(sharding), self._manual_axes
        known = self._layouts.get(key)
        if known is not None:
            return known
        if not isinstance(type_, TensorType):
            return None
        if not type_.has_static_shape():
            raise UnsupportedError(
                f"{type_} has no static shape",
                where,
                hint="export the program with static shapes",
            )
        mesh = self.mesh_of(sharding, where)
        try:
            layout = Layout.of(
                sharding, mesh, type_.get_shape(), without=self._manual_axes
            )
        except ValueError as error:
            raise CompileError(str(error), where) from error
        if layout.uneven is not None:
            raise uneven_error(layout, layout.uneven, where, name)
        element = cast("TensorType[Attribute]", type_).element_type
        if layout.is_sharded and scaled_dim(element) is not None:
            raise scaled_error(where, name)
        return self._layouts.keep(key, layout, cast(Attribute, type_), sharding)

    def is_wanted_uneven(self, result: SSAValue) -> bool:
        """Whether the sharding of a tensor has axes that do not divide a dimension."""
        sharding, type_ = sdy.get_sharding(result), result.type
        if sharding is None or not isinstance(type_, TensorType):
            return False
        mesh = self.mesh_of(sharding, cast(OpResult, result).op)
        shape = type_.get_shape()
        layout = Layout.of(sharding, mesh, shape, without=self._manual_axes)
        return layout.uneven is not None

    def target(self, result: SSAValue) -> Layout | None:
        """Return the layout that the program wants for a result of an op."""
        sharding, type_ = sdy.get_sharding(result), result.type
        known = self._layouts.get((id(type_), id(sharding), self._manual_axes))
        if known is not None:
            return known
        return self.layout_of(type_, sharding, cast(OpResult, result).op)

    def division(self, op: Operation) -> Division | None:
        """Return the division of an op, the same object for ops that are alike."""
        signature = self._signatures.of(op)
        try:
            return self._divisions[signature]
        except KeyError:
            answer = self._divisions[signature] = division(op)
            return answer

    def local_type(self, type_: Attribute, layout: Layout | None) -> Attribute:
        """Return a global type cut to one device's part."""
        key = id(type_), id(layout)
        known = self._types.get(key)
        if known is None:
            known = self._types.keep(key, local_type(type_, layout), type_, layout)
        return known

    # Old values and their local parts

    def local(self, value: SSAValue) -> Local:
        """The local part of an old value, which may still be a partial result."""
        return self._locals[value]

    def operand(self, value: SSAValue, where: Operation) -> Local:
        """Return the local part of an operand that has to be a whole result.

        An operand that its sharding calls unreduced is combined here.

        Raises:
            CompileError: if other partial results were never combined.
        """
        local = self._locals[value]
        if local.partial is None:
            return local
        mesh, axes = local.placed.mesh, local.partial.axes
        if not subtract(axes, unreduced_axes(sdy.get_sharding(value), mesh), mesh):
            return self.whole(local)
        raise CompileError(
            f"an operand holds partial results along {{{', '.join(map(str, axes))}}} "
            "that no sdy.all_reduce combines",
            where,
            hint="run sdy-insert-explicit-reshards and sdy-reshard-to-collectives "
            "before this pass",
        )

    def whole(self, local: Local) -> Local:
        """Return the value with partial results combined along all their axes."""
        if local.partial is None:
            return local
        mesh, combine = local.placed.mesh, local.partial.combine
        axes = sort_by_mesh(local.partial.axes, mesh)
        value = self.collectives.all_reduce(local.value, mesh, axes, combine)
        return replace(local, value=value, partial=None)

    def parts(self, op: Operation) -> list[Local]:
        """The local parts of the operands of an op, which may be partial results.

        `sdy-insert-explicit-reshards` looks through propagation barriers when it
        makes the shardings of an op agree, and so does this.
        """
        return [self._locals[value] for value in sources(op)]

    def operands(self, op: Operation) -> list[Local]:
        """Return the local parts of the operands of an op, each whole; see `operand`.

        Raises:
            CompileError: if partial results along some axes were never combined.
        """
        locals_ = [self._locals[value] for value in sources(op)]
        for local in locals_:
            if local.partial is not None:
                return [self.operand(value, op) for value in sources(op)]
        return locals_

    def define(self, value: SSAValue, local: Local) -> None:
        """Record the local part of an old value."""
        if value.name_hint is not None and local.value.name_hint is None:
            local.value.name_hint = value.name_hint
        self._locals[value] = local

    def define_results(self, op: Operation, values: Sequence[Local]) -> None:
        """Define all results of an op, each resharded to where it is wanted."""
        for result, local in zip(op.results, values, strict=True):
            self.define(result, self.reshard_to(local, self.target(result)))

    # Writing

    def rebuild(
        self,
        op: Operation,
        operands: Sequence[Local],
        layouts: Sequence[Layout | None],
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] | None = None,
    ) -> list[Local]:
        """Write `op` again with local operands and local result types.

        Args:
            layouts: how its results lie then; one a result.
            properties: properties that differ from those of `op`.
            regions: its regions; if left out, copies of those of `op`.
        """
        new = self.emitter.emit(
            type(op),
            [operand.value for operand in operands],
            [
                self.local_type(result.type, layout)
                for result, layout in zip(op.results, layouts, strict=True)
            ],
            {**op.properties, **properties} if properties else op.properties,
            sdy.without_sdy(op.attributes),
            self.copy_regions(op) if regions is None else regions,
        )
        return [
            Local(value, layout)
            for value, layout in zip(new.results, layouts, strict=True)
        ]

    def copy_regions(self, op: Operation) -> list[Region]:
        """Copies of regions that work on values of their own, as reducers do.

        Raises:
            UnsupportedError: if a region uses a sharded value from outside.
        """
        if not op.regions:
            return []
        values: dict[SSAValue, SSAValue] = {}
        for value in captured_values(op):
            local = self.operand(value, op)
            if local.is_sharded:
                raise UnsupportedError(
                    "its region uses a sharded value from outside", op
                )
            values[value] = local.value
        copies: list[Region] = []
        for region in op.regions:
            copy = Region()
            region.clone_into(copy, value_mapper=values)
            for inner in copy.walk():
                if inner.attributes:
                    # propagation also writes on the scalars of a reduction
                    inner.attributes = sdy.without_sdy(inner.attributes)
            copies.append(copy)
        return copies

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Write into another block inside the context."""
        outer = self.emitter.block
        self.emitter.block = block
        yield
        self.emitter.block = outer

    @contextmanager
    def manual(self, axes: Iterable[str]) -> Generator[None]:
        """Take values as already local along some axes for a while."""
        outer = self._manual_axes
        self._manual_axes = outer | frozenset(axes)
        yield
        self._manual_axes = outer

    def localize_ops(self, ops: Iterable[Operation]) -> None:
        """Write the local form of each op."""
        for op in ops:
            self.emitter.location = op.location
            self._table(op)(self, op)
            forget_uses(op)

    # Moving data between devices

    def index_along(self, layout: Layout, dim: int) -> SSAValue:
        """Write the index of this device's shard of a dimension, as a position."""
        return self.collectives.index_along(layout.mesh, layout.axes[dim])

    def offset(self, layout: Layout, dim: int) -> SSAValue:
        """Write the start of this device's shard of a dimension, as a position."""
        index = self.index_along(layout, dim)
        return self.emitter.scaled(index, layout.local_shape[dim])

    def step(self, local: Local, step: Collective) -> Local:
        """One collective that only moves data, along axes that its layout implies."""
        before = local.placed
        writer = self.collectives
        if isinstance(step, CollectivePermute):
            mesh = step.mesh if isinstance(step.mesh, Mesh) else self._meshes[step.mesh]
            after = replace(before, mesh=mesh).with_axes(step.axes)
        else:
            sharding = TensorSharding.closed(before.mesh, before.axes)
            axes = step.after(sharding, before.mesh).axes_per_dim
            after = before.with_axes(axes)
        earlier = None
        if not isinstance(step, AllSlice):  # a slice costs nothing, and was asked for
            earlier = self.earlier(local, after)
        if earlier is not None:
            return Local(
                earlier.value, after, complete=local.complete, moved=earlier.moved
            )
        match step:
            case AllGather(axes_per_dim):
                value = writer.all_gather(local.value, before.mesh, axes_per_dim)
            case AllSlice(axes_per_dim):
                value = writer.all_slice(local.value, before.mesh, axes_per_dim)
            case AllToAll(moves):
                value = writer.all_to_all(local.value, before.mesh, moves)
            case CollectivePermute():
                value = writer.collective_permute(local.value, before, after)
            case _:
                raise AssertionError(f"{step} does not only move data")
        if value is local.value:
            return Local(value, after, complete=local.complete, moved=local.moved)
        self._moved[value] = local.value
        return Local(value, after, complete=local.complete, moved=(value, local))

    def earlier(self, local: Local, wanted: Layout) -> Local | None:
        """Return the value before a move, if it had the layout that is wanted again.

        Shardy shards the operand of a reshape like the result, also along axes that the
        reshape itself cannot keep, and each op names the layout of its operands anew.
        """
        origin = local.origin
        while origin is not None and not origin.placed.same_placement(wanted):
            origin = origin.origin
        return origin

    def erase_unused_moves(self) -> None:
        """Erase moves without users: their values were taken from before the move."""
        for value, origin in reversed(self._moved.items()):
            # an earlier iteration may have erased the op
            while (
                value is not origin
                and isinstance(value, OpResult)
                and value.op.parent is not None
                and not value.uses
            ):
                op = value.op
                value = op.operands[0] if op.operands else origin
                op.detach()
                op.erase()

    def gather(self, local: Local, dim: int, axes: Axes) -> Local:
        """Undo the split of one dimension along its minor-most `axes`."""
        if not axes:
            return local
        return self.gather_along(local, _only(local.placed, dim, axes))

    def gather_all(self, local: Local) -> Local:
        """Return the whole tensor on every device."""
        if not local.is_sharded:
            return local
        return self.gather_along(local, local.placed.axes)

    def gather_along(self, local: Local, axes: tuple[Axes, ...]) -> Local:
        """Gather dimensions along their minor-most axes.

        The gathered value may be an earlier form of the value, from before it was
        moved.
        """
        before, step = local.placed, AllGather(axes)
        sharding = step.after(sharding_of(before), before.mesh)
        wanted = before.with_axes(sharding.axes_per_dim)
        nearest, steps = self._nearest(local, wanted, (step,))
        for following in steps:
            nearest = self.step(nearest, following)
        return replace(nearest, layout=wanted)

    def _nearest(
        self, local: Local, wanted: Layout, steps: tuple[Collective, ...]
    ) -> tuple[Local, tuple[Collective, ...]]:
        """Return a value's origin and the steps from there, if these send less."""
        nearest, origin = local, local.origin
        if not steps or origin is None:
            return nearest, steps
        least = steps_bytes(steps, local.placed)
        while least and origin is not None and origin.placed.mesh == wanted.mesh:
            plan = reshard_plan(origin.placed, wanted)
            sent = steps_bytes(plan, origin.placed)
            if sent < least:
                least, steps = sent, plan
                nearest = replace(
                    origin, partial=None, complete=local.complete, deferred=False
                )
            origin = origin.origin
        return nearest, steps

    def slice(self, local: Local, dim: int, axes: Axes) -> Local:
        """Split one dimension further; every device keeps its part."""
        if not axes:
            return local
        return self.step(local, AllSlice(_only(local.placed, dim, axes)))

    def reshard_to(self, local: Local, layout: Layout | None) -> Local:
        """The same tensor under another layout, by as little traffic as planned."""
        if layout is None or local.placed.same_placement(layout):
            if layout is None or layout is local.layout:
                return local
            return replace(local, layout=layout)
        nearest, steps = self._nearest(
            local, layout, reshard_plan(local.placed, layout)
        )
        for step in steps:
            nearest = self.step(nearest, step)
        return replace(nearest, layout=layout)


def is_kept_consistent(op: Operation) -> bool:
    """Whether `sdy-insert-explicit-reshards` makes the shardings of an op agree."""
    rule = sharding_rule(op)
    return rule is not None and not rule.is_custom


def is_barrier(value: SSAValue) -> bool:
    """Whether a value is what a propagation barrier passes on."""
    return type(value.owner) is sdy.PropagationBarrierOp


def sources(op: Operation) -> Sequence[SSAValue]:
    """Return the operands of an op, seen through barriers if the op allows it."""
    operands = operands_of(op)
    for value in operands:
        # `is_barrier`, without a call
        if type(value.owner) is sdy.PropagationBarrierOp and is_kept_consistent(op):
            return [sdy.behind_barriers(value) for value in operands]
    return operands


def _only(layout: Layout, dim: int, axes: Axes) -> tuple[Axes, ...]:
    """Axes for one dimension, none for the others."""
    return tuple(axes if i == dim else () for i in range(len(layout.shape)))


def captured_values(op: Operation) -> list[SSAValue]:
    """Return the values that the regions of an op use and do not define."""
    captures = Captures()
    used = (captures.of(region) for region in op.regions)
    return list(dict.fromkeys(chain.from_iterable(used)))


def scaled_error(where: Operation, name: str = "") -> UnsupportedError:
    """Return the refusal to split a quantized tensor with a scale for each slice."""
    return UnsupportedError(
        f"{name or 'a value'} has a scale for each slice, and is split: devices cannot "
        "exchange parts of it",
        where,
        hint="keep it whole, and split what it is made of or becomes",
    )


def uneven_error(
    layout: Layout, dim: int, where: Operation, name: str = "", otherwise: str = ""
) -> UnsupportedError:
    """Return the refusal of a dimension that its axes do not divide."""
    size, shards = layout.shape[dim], layout.shards(dim)
    axes = ", ".join(f"{axis}={axis.size_in(layout.mesh)}" for axis in layout.axes[dim])
    below, above = size // shards * shards, -(-size // shards) * shards
    fitting = f"{below} or {above}" if below else str(above)
    return UnsupportedError(
        f"dimension {dim}{f' of {name}' if name else ''} has size {size}, which is "
        f"not divisible by {shards}, the product of its axes {{{axes}}}",
        where,
        hint=f"a size of {fitting} would work, or axes whose product divides {size}"
        + otherwise,
    )
