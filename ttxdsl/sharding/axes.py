"""References to mesh axes and sub-axes, and the algebra on lists of them.

An axis of size n can be split: reshaped to `[m, k, n/(m*k)]`, its middle part is the
sub-axis `"x":(m)k` with pre-size m and size k. Seen as an interval, it covers the
pre-sizes from m up to m*k; a full axis covers everything from 1. Containment, overlap
and merging of sub-axes are containment, overlap and adjacency of those intervals.

A list of axis references (a tuple here) shards a dimension from major to minor.

Source: Shardy's `AxisRefAttr`, `SubAxisInfoAttr` and `AxisRefListAttr`; the sharding
representation document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.text import quoted

_END_OF_FULL_AXIS = float("inf")


@dataclass(frozen=True, slots=True)
class AxisRef:
    """A full mesh axis (`size` is None) or a sub-axis `(pre_size)size` of it."""

    name: str
    pre_size: int = 1
    size: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether this is the whole axis and not a part of it."""
        return self.size is None

    def __str__(self) -> str:
        """Shardy's text, for example `"x"` or `"x":(2)4`."""
        sub = "" if self.size is None else f":({self.pre_size}){self.size}"
        return quoted(self.name) + sub

    def told_in(self, mesh: Mesh) -> str:
        """Return a sentence on which devices a sub-axis goes along."""
        total, size = mesh.axis_size(self.name), self.size_in(mesh)
        behind = total // self.next_pre_size_in(mesh)
        factors = [part for part in (self.pre_size, size, behind) if part > 1]
        at = "first" if self.pre_size == 1 else "last" if behind == 1 else "middle"
        return (
            f"{self.name}:({self.pre_size}){size} is a part of {self.name}: its {total}"
            f" devices seen as {' x '.join(map(str, factors))}, along the {at} {size}"
        )

    @property
    def _end(self) -> float:
        """The end of the covered interval of pre-sizes, without knowing the mesh."""
        return _END_OF_FULL_AXIS if self.size is None else self.pre_size * self.size

    def size_in(self, mesh: Mesh) -> int:
        """Return the number of parts that this axis splits a dimension into."""
        return mesh.axis_size(self.name) if self.size is None else self.size

    def next_pre_size_in(self, mesh: Mesh) -> int:
        """Return the pre-size of the sub-axis that follows: `pre_size * size`."""
        return self.pre_size * self.size_in(mesh)

    def mesh_order(self, mesh: Mesh) -> tuple[int, int, float]:
        """Return a sort key: by axis in the mesh, then by pre-size, then by size.

        A full axis sorts behind its sub-axes of pre-size 1 and before the others.
        """
        return (mesh.axis_index(self.name), self.pre_size, self._end)

    def contains(self, other: AxisRef) -> bool:
        """Whether `other` is equal to this or is a sub-axis of it."""
        return (
            self.name == other.name
            and self.pre_size <= other.pre_size
            and self._end >= other._end
        )

    def is_prefix_of(self, other: AxisRef) -> bool:
        """Whether `other` is equal to this or splits into this and a minor rest."""
        return other.contains(self) and self.pre_size == other.pre_size

    def is_suffix_of(self, other: AxisRef, mesh: Mesh) -> bool:
        """Whether `other` is equal to this or splits into a major rest and this."""
        return other.contains(self) and (
            self.next_pre_size_in(mesh) == other.next_pre_size_in(mesh)
        )

    def overlaps(self, other: AxisRef) -> bool:
        """Whether some sub-axis is in both."""
        return (
            self.name == other.name
            and self.pre_size < other._end
            and other.pre_size < self._end
        )

    def can_coexist(self, other: AxisRef) -> bool:
        """Whether one axis can be split so that both are unions of its parts.

        `"a":(1)2` and `"a":(1)3` cannot: no reshape of the axis shows both.
        """
        if self.name != other.name or self.size is None or other.size is None:
            return True
        first_start, last_start = sorted((self.pre_size, other.pre_size))
        first_end, last_end = sorted((self._end, other._end))
        if first_end > last_start:
            return (
                last_start % first_start == 0
                and first_end % last_start == 0
                and last_end % first_end == 0
            )
        return last_start % first_end == 0

    def prefix_without(self, other: AxisRef) -> AxisRef | None:
        """Return the largest prefix of this that does not overlap with `other`.

        None if there is none or the two cannot coexist.
        """
        if self.name != other.name:
            return self
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        if self.pre_size >= other.pre_size:
            return None
        return AxisRef(self.name, self.pre_size, other.pre_size // self.pre_size)

    def suffix_without(self, other: AxisRef, mesh: Mesh) -> AxisRef | None:
        """Return the largest suffix of this that does not overlap with `other`.

        None if there is none or the two cannot coexist.
        """
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        end, other_end = self.next_pre_size_in(mesh), other.next_pre_size_in(mesh)
        if end <= other_end:
            return None
        return AxisRef(self.name, other_end, end // other_end)

    def common_prefix(self, other: AxisRef) -> AxisRef | None:
        """The largest axis or sub-axis that both start with, if they can coexist."""
        if not self.can_coexist(other):
            return None
        if self.is_prefix_of(other):
            return self
        if other.is_prefix_of(self):
            return other
        return None

    def can_merge(self, minor: AxisRef) -> bool:
        """Whether this and `minor` are consecutive sub-axes, this one major."""
        return (
            self.name == minor.name
            and self.size is not None
            and minor.size is not None
            and self.pre_size * self.size == minor.pre_size
        )

    def merge(self, minor: AxisRef, mesh: Mesh) -> AxisRef:
        """Return the axis or sub-axis that `self, minor` make together.

        Raises:
            ValueError: if they are not consecutive (see `can_merge`).
        """
        if self.size is None or minor.size is None or not self.can_merge(minor):
            raise ValueError(f"axes {self} and {minor} are not consecutive sub-axes")
        size = self.size * minor.size
        if size == mesh.axis_size(self.name):
            return AxisRef(self.name)
        return AxisRef(self.name, self.pre_size, size)


Axes: TypeAlias = tuple[AxisRef, ...]
"""Axis references, major to minor where they shard a dimension."""


def parts_of_axes(axes: Iterable[AxisRef], meshes: Iterable[Mesh]) -> list[str]:
    """Return a sentence for each part of an axis among the axes."""
    known = list(meshes)
    parts = dict.fromkeys(axis for axis in axes if not axis.is_full)
    texts = (
        next((axis.told_in(mesh) for mesh in known if mesh.has_axis(axis.name)), None)
        for axis in parts
    )
    return [text for text in texts if text is not None]


def total_size(axes: Iterable[AxisRef], mesh: Mesh) -> int:
    """The product of the sizes: into how many parts these axes split something."""
    product = 1
    for axis in axes:
        product *= axis.size_in(mesh)
    return product


def is_prefix(first: Axes, second: Axes) -> bool:
    """Whether `second` starts with `first`; its last axis may be a sub-axis prefix."""
    if not first:
        return True
    last = len(first) - 1
    return (
        len(first) <= len(second)
        and first[:last] == second[:last]
        and first[last].is_prefix_of(second[last])
    )


def is_strict_prefix(first: Axes, second: Axes) -> bool:
    """Whether `first` is a prefix of `second` and shorter."""
    return first != second and is_prefix(first, second)


def common_prefix(first: Axes, second: Axes) -> Axes:
    """Return the longest list, perhaps ending in a sub-axis, that both start with."""
    shared: list[AxisRef] = []
    for axis, other in zip(first, second, strict=False):
        if axis != other:
            part = axis.common_prefix(other)
            if part is not None:
                shared.append(part)
            break
        shared.append(axis)
    return tuple(shared)


def lists_overlap(first: Iterable[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether any axis of `first` overlaps with one of `second`."""
    return any(axis.overlaps(other) for axis in first for other in second)


def lists_coexist(first: Iterable[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether each axis of `first` can coexist with each of `second`."""
    return all(axis.can_coexist(other) for axis in first for other in second)


def are_apart(first: Iterable[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether a device's places along two lists of axes say nothing of each other."""
    listed = tuple(first)
    return not lists_overlap(listed, second) and lists_coexist(listed, second)


def prefix_without_overlap(axis: AxisRef, others: Iterable[AxisRef]) -> AxisRef | None:
    """Return the largest prefix of `axis` that overlaps with none of `others`."""
    rest: AxisRef | None = axis
    for other in others:
        rest = rest.prefix_without(other)
        if rest is None:
            return None
    return rest


def truncate_without_overlap(axes: Axes, others: Sequence[AxisRef]) -> Axes:
    """Return the longest prefix of `axes` that overlaps with none of `others`."""
    for index, axis in enumerate(axes):
        rest = prefix_without_overlap(axis, others)
        if rest is None:
            return axes[:index]
        if rest != axis:
            return (*axes[:index], rest)
    return axes


def append_merged(axes: Axes, axis: AxisRef, mesh: Mesh) -> Axes:
    """`axes` with `axis` as new minor-most one, merged with the last if they join."""
    if axes and axes[-1].can_merge(axis):
        return (*axes[:-1], axes[-1].merge(axis, mesh))
    return (*axes, axis)


def concatenate_merged(axes: Axes, minor: Iterable[AxisRef], mesh: Mesh) -> Axes:
    """`axes` followed by `minor`, with all neighbours that join merged."""
    minor = tuple(minor)
    if not axes and len(minor) < 2:
        return minor
    for axis in minor:
        axes = append_merged(axes, axis, mesh)
    return axes


def sort_by_mesh(axes: Iterable[AxisRef], mesh: Mesh) -> Axes:
    """Return the same axes in the order of the mesh, sub-axes major first."""
    return tuple(sorted(axes, key=lambda axis: axis.mesh_order(mesh)))


def sort_and_merge(axes: Iterable[AxisRef], mesh: Mesh) -> Axes:
    """Non-overlapping axes in the order of the mesh, neighbours that join merged."""
    return concatenate_merged((), sort_by_mesh(axes, mesh), mesh)


def subtract(axes: Axes, others: Sequence[AxisRef], mesh: Mesh) -> Axes:
    """Return `axes`, in their order, without any part that `others` cover.

    An axis that cannot coexist with one of the others that overlaps it disappears.
    """
    by_position = sort_by_mesh(others, mesh)
    left: list[AxisRef] = []
    for axis in axes:
        rest: AxisRef | None = axis
        for other in by_position:
            if not rest.overlaps(other):
                continue
            before = rest.prefix_without(other)
            if before is not None:
                left.append(before)
            rest = rest.suffix_without(other, mesh)
            if rest is None:
                break
        if rest is not None:
            left.append(rest)
    return tuple(left)


def split_mesh_at(mesh: Mesh, axes: Iterable[AxisRef]) -> Axes:
    """The whole mesh as axes and sub-axes, major first, cut where `axes` begin and end.

    For mesh `<["x"=2, "y"=16]>` and `"y":(2)2` it is `"x", "y":(1)2, "y":(2)2, "y":(4)4`.
    Every one of `axes` is then a run of consecutive members.

    Raises:
        ValueError: if two of the axes cannot coexist.
    """
    cuts: dict[str, set[int]] = {name: {1, size} for name, size in mesh.axes}
    for axis in axes:
        if axis.size is not None:
            cuts[axis.name] |= {axis.pre_size, axis.pre_size * axis.size}
    parts: list[AxisRef] = []
    for name, places in cuts.items():
        ordered = sorted(places)
        if len(ordered) <= 2:
            parts.append(AxisRef(name))
            continue
        for start, end in pairwise(ordered):
            if end % start != 0:
                raise ValueError(f'sub-axes of "{name}" cannot coexist: {ordered}')
            parts.append(AxisRef(name, start, end // start))
    return tuple(parts)
