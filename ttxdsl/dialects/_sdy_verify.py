"""The constraints of the sdy dialect, one function a constraint.

Functions take plain values and raise `VerifyException` with the constraint, the axis
and the dimension in the message; nothing here looks at ops.

Source: the "Constraints" lists of Shardy's dialect documentation and `verifiers.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._sdy_values import EdgeValueRef, PropagationStep
from ttxdsl.sharding.spec import Mesh

# Meshes


def mesh_axis_size(name: str, size: int) -> None:
    """A mesh axis has at least one device."""
    if size < 1:
        raise VerifyException(f'axis size must be at least 1: "{name}"={size}')


def mesh_device_ids(mesh: Mesh) -> None:
    """Explicit device ids are a permutation of all devices, other than counting up."""
    ids = mesh.device_ids
    negative = next((i for i in ids if i < 0), None)
    if negative is not None:
        raise VerifyException(f"device id must be non-negative, got: {negative}")
    if not ids:
        return
    if not mesh.axes:
        if len(ids) > 1:
            raise VerifyException(
                "a mesh without axes has at most one device id (the maximal mesh), "
                f"got: {len(ids)}"
            )
        return
    devices = prod(size for _, size in mesh.axes)
    if devices != len(ids):
        raise VerifyException(
            "the product of the axis sizes must equal the number of device ids: "
            f"{devices} != {len(ids)}"
        )
    if sorted(ids) != list(range(devices)):
        raise VerifyException(
            f"sorted device ids must be 0 to {devices - 1}, got: {sorted(ids)}"
        )
    if list(ids) == list(range(devices)):
        raise VerifyException(
            "device ids that count up from 0 are the default: leave device_ids out"
        )


def mesh(mesh: Mesh) -> None:
    """All constraints of a mesh by itself."""
    seen: set[str] = set()
    for name, size in mesh.axes:
        mesh_axis_size(name, size)
        if name in seen:
            raise VerifyException(f'duplicate axis name: "{name}"')
        seen.add(name)
    mesh_device_ids(mesh)


# Propagation edges


def propagation_steps(steps: Sequence[PropagationStep]) -> None:
    """Steps are numbered once from 0 up; targets differ from the source and in pairs."""
    seen: set[int] = set()
    for step in steps:
        if step.index < 0:
            raise VerifyException(
                f"propagation edges have negative step index: {step.index}"
            )
        if step.index in seen:
            raise VerifyException(
                f"propagation edges have duplicate step index: {step.index}"
            )
        seen.add(step.index)
        for entry in step.entries:
            targets: set[EdgeValueRef] = set()
            for target in entry.targets:
                if target == entry.source:
                    raise VerifyException(
                        f'the source of axis "{entry.axis.name}" in step {step.index} '
                        "is also a target"
                    )
                if target in targets:
                    raise VerifyException(
                        f'axis "{entry.axis.name}" has duplicate targets in step '
                        f"{step.index}"
                    )
                targets.add(target)
