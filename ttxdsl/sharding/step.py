"""One propagation step: spread the shardings of an op's operands and results.

The steps of the talk are the steps here. Dimension shardings are projected to factor
shardings; for every factor the axes to propagate are found (`axes_to_propagate`, the
last row of the conflict table); they are propagated to the tensors that have the
factor, where conflicts are removed; and the result is projected back.

The *basic* strategy removes every conflict from the axes to propagate before it
touches a tensor: it only propagates what no tensor objects to. The *aggressive*
strategy goes tensor by tensor, and where two factors want the same axis of a tensor,
the factor that the larger tensor shards wins.

A step is a pure function of the values in `StepSignature` and the shardings. Repeated
layers repeat steps: `StepMemo` remembers them by small numbers instead of values.

Source: the LLVM talk ("Conflict resolution", steps 0 to 3), Shardy's propagation
document, its `BasicFactorPropagation` and `AggressiveFactorPropagation`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from math import gcd, prod
from typing import NamedTuple

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    is_prefix,
    is_strict_prefix,
    prefix_without_overlap,
    total_size,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.projection import (
    FactorSharding,
    Projection,
    TensorFactors,
    project,
    unproject_tensor,
)
from ttxdsl.sharding.spec import TensorSharding


class PropagationDirection(IntFlag):
    """Directions in which shardings may travel along a factor; `|`, `&` combine them."""

    NONE = 0
    FORWARD = 1
    """From operands to results."""
    BACKWARD = 2
    """From results to operands."""
    BOTH = 3

    __hash__ = int.__hash__  # Enum's own is slow, and directions are keys


class Strategy(StrEnum):
    """The way in which a step treats conflicts."""

    BASIC = "basic"
    """Propagate only what conflicts with nothing."""
    AGGRESSIVE = "aggressive"
    """Resolve conflicts, the factor of the larger source tensor first."""

    __hash__ = str.__hash__  # as above


@dataclass(frozen=True, slots=True)
class StepSignature:
    """Everything but the shardings that a step depends on.

    `directions` has one entry a factor. `elementwise` ops break ties of the
    aggressive strategy differently. `conservative` forbids to introduce sub-axes.
    """

    mesh_ref: str | Mesh
    mesh: Mesh
    rule: OpShardingRule
    directions: tuple[PropagationDirection, ...]
    strategy: Strategy
    elementwise: bool = False
    conservative: bool = False


def propagate(
    signature: StepSignature, shardings: Sequence[TensorSharding | None]
) -> tuple[TensorSharding | None, ...]:
    """One step.

    Args:
        signature: the op's part.
        shardings: of all operands, then all results; None is fully open.

    Returns:
        For each tensor its new sharding, None where it stays as it is.
    """
    rule = signature.rule
    projection = project(signature.mesh, rule, shardings)
    updated = spread(signature, projection)
    new: list[TensorSharding | None] = [None] * len(shardings)
    for index in updated:
        sharding = unproject_tensor(
            signature.mesh_ref,
            signature.mesh,
            rule,
            rule.tensors[index],
            projection.tensors[index],
        )
        old = shardings[index]
        # Projecting back drops axes that would need a strided view, so that a
        # tensor may end as it was.
        if sharding != old and not (old is None and sharding.names_no_axes):
            new[index] = sharding
    return tuple(new)


def spread(signature: StepSignature, projection: Projection) -> set[int]:
    """Propagate factor shardings with the strategy of the signature.

    Changes `projection`.

    Returns:
        The indices of the tensors whose factor shardings changed.
    """
    if signature.strategy is Strategy.BASIC:
        return propagate_basic(signature, projection)
    return propagate_aggressive(signature, projection)


# ---- step 1: the axes to propagate along each factor --------------------------------


def axes_to_propagate(
    projection: Projection, factor: int, direction: PropagationDirection
) -> Axes:
    """The axes along which all tensors with the factor agree, and go on from there.

    Conflicts inside the factor end the list: `["a", "b"]` and `["a", "c"]` agree on
    `["a"]`. A tensor that is sharded by a prefix of the others' axes agrees with
    them. With one direction only, the tensors on the other side can end the list but
    not extend it. Closed dimensions, replicated axes and other factors are not
    looked at.
    """
    if direction is PropagationDirection.NONE:
        return ()
    sources, targets = projection.operands, projection.results
    if direction is PropagationDirection.BACKWARD:
        sources, targets = targets, sources
    agreed: Axes = ()
    may_grow = True
    for tensors in (sources, targets):
        for tensor in tensors:
            sharding = tensor.factors.get(factor)
            # one without axes, or with the very same, objects to nothing
            if sharding is not None and sharding.axes and sharding.axes != agreed:
                agreed, may_grow = _agree(agreed, sharding.axes, may_grow)
        may_grow = may_grow and direction is PropagationDirection.BOTH
    return agreed


def _agree(agreed: Axes, axes: Axes, may_grow: bool) -> tuple[Axes, bool]:
    """Return `agreed` in view of one more tensor's axes, and if it may still grow."""
    common: list[AxisRef] = []
    for index, (known, new) in enumerate(zip(agreed, axes, strict=False)):
        if known == new:
            common.append(known)
        elif new.is_prefix_of(known):
            if index + 1 < len(axes):
                # The rest of `known` would have to come next, and it does not: it
                # would have been merged.
                return (*common, new), False
            common.append(known)
        elif known.is_prefix_of(new):
            if not may_grow or index + 1 < len(agreed):
                return (*common, known), False
            common.append(new)
        else:
            return tuple(common), False
    done = len(common)
    grown = axes[done:] if may_grow else ()
    return (*common, *agreed[done:], *grown), may_grow


# ---- conflicts -----------------------------------------------------------------------


def prefix_free_in_other_factors(
    axis: AxisRef, tensor: TensorFactors, factor: int
) -> AxisRef | None:
    """Return the largest prefix of an axis that no other factor of the tensor uses."""
    rest: AxisRef | None = axis
    for other, sharding in tensor.factors.items():
        if other != factor:
            rest = prefix_without_overlap(rest, sharding.overflow)
            if rest is None:
                return None
            rest = prefix_without_overlap(rest, sharding.axes)
            if rest is None:
                return None
    return rest


def prefix_fitting_factor(
    axis: AxisRef,
    tensor: TensorFactors,
    sharding: FactorSharding,
    sharded_before: int,
    factor_size: int,
    mesh: Mesh,
) -> AxisRef | None:
    """Return the largest prefix of an axis that the tensor's factor has or can take.

    Args:
        axis: the next axis to propagate along the factor.
        sharded_before: the product of the sizes of the axes before this one.

    Returns:
        None if the axis is replicated or unreduced here, or would have to be added
        to a closed or overflowing factor, or does not divide a factor that is not
        minor-most.
    """
    rest = prefix_without_overlap(axis, tensor.replicated)
    if rest is None:
        return None
    rest = prefix_without_overlap(rest, tensor.unreduced)
    if rest is None or any(known.contains(rest) for known in sharding.axes):
        return rest
    if not sharding.closed and not sharding.overflow:
        if sharding.minor_most:
            return rest
        if factor_size % sharded_before == 0:
            size = rest.size_in(mesh)
            part = gcd(factor_size // sharded_before, size)
            if part == size:
                return rest
            if part != 1:
                return AxisRef(rest.name, rest.pre_size, part)
    if sharding.axes and sharding.axes[-1].is_prefix_of(rest):
        return sharding.axes[-1]
    return None


def _truncate(
    axes: Axes,
    allowed: Callable[[AxisRef, int], AxisRef | None],
    signature: StepSignature,
) -> Axes:
    """Return the axes up to the first that is not allowed, or only a prefix of it is.

    `allowed(axis, sharded_before)` answers with the largest allowed prefix.
    """
    sharded = 1
    for index, axis in enumerate(axes):
        prefix = allowed(axis, sharded)
        if prefix is None or (signature.conservative and not prefix.is_full):
            return axes[:index]
        if prefix != axis:
            return (*axes[:index], prefix)
        sharded *= axis.size_in(signature.mesh)
    return axes


# ---- the basic strategy --------------------------------------------------------------


def propagate_basic(signature: StepSignature, projection: Projection) -> set[int]:
    """Propagate, factor by factor, the axes that conflict with nothing.

    Changes `projection`.

    Returns:
        The indices of the tensors whose factor shardings changed.
    """
    updated: set[int] = set()
    for factor in range(len(signature.rule.factor_sizes)):
        axes = compatible_axes(signature, projection, factor)
        if axes:
            updated.update(
                index
                for index, tensor in enumerate(projection.tensors)
                if tensor.expand(factor, axes)
            )
    return updated


def compatible_axes(
    signature: StepSignature, projection: Projection, factor: int
) -> Axes:
    """The axes to propagate along a factor, as far as every tensor accepts them."""
    factor_size = signature.rule.factor_sizes[factor]

    def accepted_by_all(axis: AxisRef, sharded_before: int) -> AxisRef | None:
        rest: AxisRef | None = axis
        for tensor in projection.tensors:
            rest = prefix_free_in_other_factors(rest, tensor, factor)
            if rest is None:
                return None
            sharding = tensor.factors.get(factor)
            if sharding is None:
                continue
            rest = prefix_fitting_factor(
                rest, tensor, sharding, sharded_before, factor_size, signature.mesh
            )
            if rest is None:
                return None
        return rest

    axes = axes_to_propagate(projection, factor, signature.directions[factor])
    return _truncate(axes, accepted_by_all, signature)


# ---- the aggressive strategy ---------------------------------------------------------


def propagate_aggressive(signature: StepSignature, projection: Projection) -> set[int]:
    """Propagate to each tensor all axes that it can take, preferred factors first.

    Changes `projection`.

    Returns:
        The indices of the tensors whose factor shardings changed.
    """
    factors = range(len(signature.rule.factor_sizes))
    axes_per_factor = [
        axes_to_propagate(projection, factor, signature.directions[factor])
        for factor in factors
    ]
    count = len(projection.tensors)
    results = range(projection.num_operands, count)
    # Results first: elementwise operands look at what the results took.
    growing = {
        index: factors_to_grow
        for index in (*results, *range(projection.num_operands))
        if (factors_to_grow := _growing(projection.tensors[index], axes_per_factor))
    }
    if not growing:
        return set()
    order = _order_of_preference(signature, projection, axes_per_factor)

    updated: set[int] = set()
    for index, factors_to_grow in growing.items():
        tensor = projection.tensors[index]
        for factor in order:
            if factor not in factors_to_grow:
                continue
            axes = _axes_for_tensor(signature, tensor, factor, axes_per_factor[factor])
            if not axes:
                continue
            if signature.elementwise and index < projection.num_operands:
                axes = _shorten_to_results(projection, factor, axes)
            if tensor.expand(factor, axes):
                updated.add(index)
    return updated


def _growing(tensor: TensorFactors, axes_per_factor: Sequence[Axes]) -> list[int]:
    """Return the factors of a tensor that the axes to propagate would shard further."""
    return [
        factor
        for factor, sharding in tensor.factors.items()
        if axes_per_factor[factor]
        and is_strict_prefix(sharding.axes, axes_per_factor[factor])
    ]


def _axes_for_tensor(
    signature: StepSignature, tensor: TensorFactors, factor: int, axes: Axes
) -> Axes:
    """The part of `axes` that one tensor can take along a factor, () for nothing new.

    Conflicts with other factors are those of the tensor's present state, in which
    preferred factors have already been propagated.
    """
    sharding = tensor.factors.get(factor)
    if sharding is None:
        return ()
    factor_size = signature.rule.factor_sizes[factor]
    axes = _truncate(
        axes,
        lambda axis, sharded_before: prefix_fitting_factor(
            axis, tensor, sharding, sharded_before, factor_size, signature.mesh
        ),
        signature,
    )
    if not is_strict_prefix(sharding.axes, axes):
        return ()
    return _truncate(
        axes,
        lambda axis, _: prefix_free_in_other_factors(axis, tensor, factor),
        signature,
    )


def _shorten_to_results(projection: Projection, factor: int, axes: Axes) -> Axes:
    """Axes for an operand of an elementwise op, cut to what the results took.

    It makes no sense to shard an operand further than a result that cannot follow.
    """
    for result in projection.results:
        sharding = result.factors.get(factor)
        if sharding is not None and is_strict_prefix(sharding.axes, axes):
            axes = sharding.axes
    return axes


def _order_of_preference(
    signature: StepSignature, projection: Projection, axes_per_factor: Sequence[Axes]
) -> list[int]:
    """Factors in the order in which they may claim axes.

    The factor with the largest source tensor first (a source is a tensor that is
    sharded by all the axes to propagate); then, for elementwise ops, the most sharded
    factor; then the first source tensor; then the first factor.
    """
    sizes = signature.rule.factor_sizes
    source_size = [-1] * len(sizes)
    source_index = [-1] * len(sizes)
    for index, tensor in enumerate(projection.tensors):
        tensor_size = prod(sizes[factor] for factor in tensor.factors)
        for factor, sharding in tensor.factors.items():
            axes = axes_per_factor[factor]
            if (
                axes
                and is_prefix(axes, sharding.axes)
                and (tensor_size > source_size[factor])
            ):
                source_size[factor] = tensor_size
                source_index[factor] = index

    def key(factor: int) -> tuple[int, int, int, int]:
        shards = 0
        if signature.elementwise:
            shards = total_size(axes_per_factor[factor], signature.mesh)
        return (-source_size[factor], -shards, source_index[factor], factor)

    return sorted(range(len(sizes)), key=key)


# ---- remembering steps ---------------------------------------------------------------


def common_mesh(
    shardings: Sequence[TensorSharding | None], meshes: Mapping[str, Mesh]
) -> tuple[str | Mesh, Mesh] | None:
    """Return the one mesh that all shardings lie on, and how the first names it.

    Empty meshes are placeholders that agree with every mesh.

    Returns:
        None if there is no sharding, or if there are different meshes.
    """
    common: tuple[str | Mesh, Mesh] | None = None
    for sharding in shardings:
        if sharding is None:
            continue
        ref = sharding.mesh
        mesh = meshes[ref] if isinstance(ref, str) else ref
        if common is None or common[1].is_empty:
            common = (ref, mesh)
        elif mesh is not common[1] and not mesh.is_empty and mesh != common[1]:
            return None
    return common


class OpBehaviour(NamedTuple):
    """The inputs of a step that never change for an op."""

    rule: OpShardingRule
    elementwise: bool = False
    conservative: bool = False


Directions = tuple[PropagationDirection, ...]
"""One direction a factor."""

FullStep = tuple[StepSignature, tuple[TensorSharding | None, ...]]
"""The inputs of a step, by which it is remembered, with shardings of operands and results."""

Updates = tuple[tuple[int, int], ...]
"""Index of a tensor (operands, then results) and number of its new sharding."""


class StepMemo:
    """Steps on numbered shardings, each computed once.

    Number 0 is the missing sharding. Two shardings have the same number if and only if
    they are equal, so that an engine can keep and compare numbers only. What a step
    depends on besides has a number, too: the signature.

    Args:
        meshes: the meshes that shardings may name.
    """

    NO_SHARDING = 0

    INERT = 0
    """The signature of steps that change nothing, for they have no direction."""

    def __init__(self, meshes: Mapping[str, Mesh]):
        self._meshes = meshes
        self._shardings: list[TensorSharding | None] = [None]
        self._numbers: dict[TensorSharding | None, int] = {None: 0}
        self._behaviours: list[OpBehaviour] = []
        self._behaviour_numbers: dict[OpBehaviour, int] = {}
        self._signatures: list[tuple[int, Strategy, Directions]] = [
            (-1, Strategy.BASIC, ())
        ]
        self._signature_numbers: dict[tuple[int, Strategy, Directions], int] = {}
        self._steps: list[dict[tuple[int, ...], Updates]] = [{}]
        self._full: dict[tuple[int, tuple[int, ...]], FullStep | None] = {}

    def number(self, sharding: TensorSharding | None) -> int:
        """Return the number of a sharding."""
        number = self._numbers.get(sharding)
        if number is None:
            number = len(self._shardings)
            self._numbers[sharding] = number
            self._shardings.append(sharding)
        return number

    def sharding(self, number: int) -> TensorSharding | None:
        """Return the sharding of a number."""
        return self._shardings[number]

    def behaviour(self, behaviour: OpBehaviour) -> int:
        """Return the number of an op's behaviour."""
        number = self._behaviour_numbers.get(behaviour)
        if number is None:
            number = len(self._behaviours)
            self._behaviour_numbers[behaviour] = number
            self._behaviours.append(behaviour)
        return number

    def signature(
        self, behaviour: int, strategy: Strategy, directions: Directions
    ) -> int:
        """Return the number of everything that a step depends on but the shardings.

        Args:
            behaviour: the number of the op's behaviour.
            strategy: how to treat conflicts.
            directions: for each factor of the rule.
        """
        key = (behaviour, strategy, directions)
        number = self._signature_numbers.get(key)
        if number is None:
            blocked = self._behaviours[behaviour].rule.blocked
            open_ways = tuple(
                PropagationDirection.NONE if factor in blocked else direction
                for factor, direction in enumerate(directions)
            )
            if any(open_ways):
                number = len(self._signatures)
                self._signatures.append((behaviour, strategy, open_ways))
                self._steps.append({})
            else:
                number = self.INERT
            self._signature_numbers[key] = number
        return number

    def step(self, signature: int, numbers: tuple[int, ...]) -> Updates:
        """One step of an op.

        Args:
            numbers: the shardings of operands, then results.

        Returns:
            The tensors that change, operands first. Nothing changes where tensors lie
            on different meshes or on a single device.
        """
        known = self._steps[signature]
        updates = known.get(numbers)
        if updates is None:
            updates = known[numbers] = self._compute(signature, numbers)
        return updates

    def in_full(self, signature: int, numbers: tuple[int, ...]) -> FullStep | None:
        """Return the step that numbers mean, always the same; None if it changes nothing."""
        key = signature, numbers
        if key not in self._full:
            self._full[key] = self._in_full(signature, numbers)
        return self._full[key]

    def _in_full(self, signature: int, numbers: tuple[int, ...]) -> FullStep | None:
        shardings = tuple(self._shardings[number] for number in numbers)
        mesh = common_mesh(shardings, self._meshes)
        if signature == self.INERT or mesh is None or mesh[1].is_maximal:
            return None
        number, strategy, directions = self._signatures[signature]
        behaviour = self._behaviours[number]
        complete = StepSignature(
            *mesh,
            behaviour.rule,
            directions,
            strategy,
            behaviour.elementwise,
            behaviour.conservative,
        )
        return complete, shardings

    def _compute(self, signature: int, numbers: tuple[int, ...]) -> Updates:
        full = self._in_full(signature, numbers)
        if full is None:
            return ()
        complete, shardings = full
        return tuple(
            (index, self.number(sharding))
            for index, sharding in enumerate(propagate(complete, shardings))
            if sharding is not None
        )

    @property
    def size(self) -> int:
        """The number of different steps that were computed."""
        return sum(len(steps) for steps in self._steps)
