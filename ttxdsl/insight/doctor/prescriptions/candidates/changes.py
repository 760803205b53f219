"""A change of a program that may help, and its code."""

import re
from dataclasses import dataclass, field
from typing import Literal

from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.why.trials.edits import Edit

Kind = Literal["constraint", "argument", "donation", "mesh", "spelling"]

CONSTRAINT_CODE = "x = jax.lax.with_sharding_constraint(x, "


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change to try.

    Attributes:
        edits: what is made to a copy of the program.
        target: what no two candidates of one answer may both change.
    """

    kind: Kind
    write: str
    places: tuple[SourcePlace, ...]
    edits: tuple[Edit, ...] = field(repr=False)
    target: tuple[object, ...] = field(repr=False)


def without_numbers(name: str) -> str:
    """Return an argument's path with a star for each number: layers have one name."""
    return re.sub(r"\d+", "*", name)
