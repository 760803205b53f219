"""The error of a step, in words that lead to the place."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.analysis.boundary import TensorLayout
from ttxdsl.insight.check.steps import Step
from ttxdsl.interpreters.mesh.collectives import same_values

Array = NDArray[Any]
Index = tuple[int, ...]


class Mode(Enum):
    """In which way a step failed."""

    CRASHED = "the pass crashed"
    INVALID = "the program that it made is not valid"
    STOPS = "the program that it made cannot be run"
    REPLICAS = "devices that should hold the same value do not"
    INCONSISTENT = "the shardings that it left contradict each other"
    DIFFERS = "a result has changed"


@dataclass(frozen=True, slots=True)
class WrongElement:
    """The first element, in row-major order, that is not what it should be.

    `belongs` are the places of the whole result where the value that was found would
    be right: data that was moved wrongly says where it came from. `differing` counts
    the wrong elements, if the run came far enough to know them all. `is_tag` says that
    inputs were tagged with their indices and the result is made by moving them.
    """

    result: int
    index: Index
    found: object
    expected: object
    belongs: tuple[Index, ...]
    size: int
    differing: int | None = None
    is_tag: bool = False


@dataclass(frozen=True, slots=True)
class Spot:
    """A device, by its coordinates on the mesh, and an element of its local value."""

    coordinates: Mapping[str, int]
    local: Index

    def __str__(self) -> str:
        device = ", ".join(f"{name}={at}" for name, at in self.coordinates.items())
        return f"device ({device}), local element {list(self.local)}"


@dataclass(frozen=True, slots=True)
class Failure:
    """The first step that changes what a program computes, and how.

    Attributes:
        message: more about it: the error, or empty where the element says all.
        trial: the inputs that showed it, None where none were needed.
        element: the first wrong element of a result.
        place: the device that holds it, if the program has devices.
    """

    step: Step
    kind: Mode
    message: str = ""
    trial: str | None = None
    tagged: bool = False
    element: WrongElement | None = None
    place: Spot | None = None

    def __str__(self) -> str:
        on = f", on {self.trial}" if self.trial else ""
        lines = [f"{self.step}: {self.kind.value}{on}"]
        if self.message:
            lines.extend(f"  {line}" for line in self.message.splitlines())
        if self.element is not None:
            lines.extend(f"  {line}" for line in self._element_lines(self.element))
        elif self.place is not None:
            lines.append(f"  at {self.place}")
        return "\n".join(lines)

    def _element_lines(self, wrong: WrongElement) -> list[str]:
        many = (
            "an element is wrong,"
            if wrong.differing is None
            else f"{wrong.differing} of {wrong.size} elements differ, the first"
        )
        lines = [f"result {wrong.result}: {many} at {list(wrong.index)}"]
        if self.place is not None:
            lines.append(f"held by {self.place}")
        tags = " (every input is its own global index)" if wrong.is_tag else ""
        lines.append(f"holds {wrong.found}, should hold {wrong.expected}{tags}")
        if wrong.belongs:
            places = " or ".join(str(list(place)) for place in wrong.belongs)
            lines.append(
                f"that is what belongs at {places} of the result,"
                f" not at {list(wrong.index)}"
            )
        elif wrong.is_tag:
            lines.append("no other element of the result should hold that")
        return lines


_MOST_PLACES = 3
"""A value that belongs at more places than these tells nothing."""


def wrong_element(
    result: int,
    index: Index,
    actual: object,
    expected: Array,
    differing: int | None = None,
    *,
    is_tag: bool = False,
) -> WrongElement:
    """An element of a result that is not what it should be, and where it would be.

    Args:
        index: of the element in it.
        expected: the whole result as it should be.
        differing: how many elements are wrong, if that is known.
        is_tag: whether the values are indices of elements of the arguments.
    """
    places = np.argwhere(same_values(expected, np.asarray(actual)))
    belongs: tuple[Index, ...] = ()
    # zeros come from nowhere more often than from the element whose tag is zero
    if 0 < len(places) <= _MOST_PLACES and bool(np.asarray(actual) != 0):
        belongs = tuple(tuple(int(at) for at in place) for place in places)
    return WrongElement(
        result,
        index,
        actual,
        expected[index],
        belongs,
        expected.size,
        differing,
        is_tag,
    )


def axis_names(layout: TensorLayout, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a layout's mesh axes: `names` where it has none itself."""
    axes = layout.mesh.axis_names
    unnamed = all(name.startswith("axis") for name in axes)
    return names if unnamed and len(names) == len(axes) else axes


def place_of(
    layout: TensorLayout | None, index: Index, shape: Index, names: tuple[str, ...]
) -> Spot | None:
    """The device that holds an element of a result.

    Args:
        names: what to call the axes of a mesh that has no names for them.
    """
    if layout is None:
        return None
    position, local = layout.holder_of(index, shape)
    axes = axis_names(layout, names)
    return Spot(dict(zip(axes, position, strict=True)), local)
