"""Reshapes of dimensions that their shards do not divide.

A reshape works on groups of dimensions, such as `10x6 -> 2x5x6`, which is `10 -> 2x5` and
`6 -> 6`. Shards of a group are reshaped each on its device if the first dimension on each
side is the split one, and as many elements are on a device before as after: then what is
lacking is lacking at the end of both.

    14 over 4: 4 4 4 2      7x2 over 4: 2x2 2x2 2x2 1x2     stays
    10 over 4: 3 3 3 1      5x2 over 4: 2x2 2x2 1x2 0x2     does not
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import CLOSED_DIM, TensorSharding


@dataclass(frozen=True)
class DimGroup:
    """Neighbouring dimensions, and those that a reshape makes of them."""

    before: range
    after: range

    def grows(
        self,
        shapes: tuple[Sequence[int], Sequence[int]],
        larger: tuple[Sequence[int], Sequence[int]],
    ) -> bool:
        """Whether its elements stay in order if both shapes grow.

        Args:
            shapes: before and after the reshape.
            larger: both shapes as they would be.
        """
        counts: list[int] = []
        for dims, old, new in zip(
            (self.before, self.after), shapes, larger, strict=True
        ):
            counts.append(prod(new[dim] for dim in dims))
            for dim in dims:
                behind_others = prod(new[dims.start : dim]) != 1
                if old[dim] != new[dim] and behind_others:
                    return False
        return counts[0] == counts[1]


def groups_of(before: Sequence[int], after: Sequence[int]) -> list[DimGroup]:
    """The groups of a reshape between two shapes of as many elements, which are some."""
    groups: list[DimGroup] = []
    i = j = 0
    while i < len(before) or j < len(after):
        start = i, j
        count = missing = 1
        if i < len(before):
            count, i = before[i], i + 1
        if j < len(after):
            missing, j = after[j], j + 1
        while count != missing:
            if count < missing:
                count, i = count * before[i], i + 1
            else:
                missing, j = missing * after[j], j + 1
        groups.append(DimGroup(range(start[0], i), range(start[1], j)))
    return groups


def reshardings(
    shapes: tuple[Sequence[int], Sequence[int]],
    shardings: tuple[TensorSharding, TensorSharding],
    mesh: Mesh,
) -> tuple[TensorSharding, TensorSharding] | None:
    """How operand and result lie while an uneven reshape is done; None as they do.

    Args:
        shapes: of the operand and the result.
        shardings: theirs, by axes of one mesh.
        mesh: that mesh.
    """
    if not prod(shapes[0]):
        return None
    even = (
        shardings[0].even_shape(shapes[0], mesh),
        shardings[1].even_shape(shapes[1], mesh),
    )
    dims = [[*sharding.dims] for sharding in shardings]
    changed = False
    for group in groups_of(*shapes):
        sides = (group.before, group.after)
        if all(
            old[dim] == new[dim]
            for side, old, new in zip(sides, shapes, even, strict=True)
            for dim in side
        ):
            continue
        split = [
            [(dim, one[dim].axes) for dim in side if one[dim].sharded_size(mesh) > 1]
            for side, one in zip(sides, dims, strict=True)
        ]
        alike = [[axes for _, axes in side] for side in split]
        if group.grows(shapes, even) and alike[0] == alike[1] and len(alike[0]) == 1:
            continue
        changed = True
        for side, one in zip(split, dims, strict=True):
            for dim, _ in side:
                one[dim] = CLOSED_DIM
    if not changed:
        return None
    before, after = shardings
    return replace(before, dims=tuple(dims[0])), replace(after, dims=tuple(dims[1]))
