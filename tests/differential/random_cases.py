"""Random programs that can be run, of five kinds and of several functions.

module, arguments, tagged = random_case(7)
"""

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tests.differential.partitioning import (
    Array,
    arguments_of,
    only_moves,
    with_even_borders,
    with_statuses,
)
from tests.differential.random_modules import Features, random_module
from tests.differential.random_programs import (
    FAMILIES,
    NUMBERS,
    Options,
    random_program,
)
from tests.differential.random_writer import SIZES
from ttxdsl.loading.program import parse_program

RUNNABLE = tuple(family for family in FAMILIES if family != "calls")
"""Most custom calls have no kernel, so that most programs with some cannot be run."""

MOVING = ("creation", "data_movement", "any_movement", "any_indexing")
"""Families of which many programs only move data."""

COMMON = ("f32", "f32", "f32", "i32", "bf16", "i1")
CALLS = Features(named_computations=False, manual_computations=False, numbers=True)
"""What programs of several functions have."""

EVEN_SIZES = (2, 4, 4, 6, 8, 8, 8, 12, 16, 16, 5, 1)
"""Sizes that small meshes divide, mostly."""

ALL = ("f32", "f32", "bf16", "f16", "f64", "i8", "i32", "i64", "ui8", "ui32", "i1", "complex<f32>")  # fmt: skip
"""Element types of the programs: mostly f32, or all."""


def options_of(seed: int) -> Options:
    """Five kinds of programs in turn: f32 only, common types, all types, data movement,
    and those that propagation is compared with; on small meshes and on large ones."""
    small = seed // 5 % 3 != 0
    common = Options(
        sizes=EVEN_SIZES if small else SIZES,
        devices=8 if small else 64,
        sharded=0.9 if small else 0.6,
        ops=8 + seed % 10,
        manual=seed % 2 == 0,
        sub_axes=seed % 3 != 0,
        device_ids=True,
        numbers=True,
        families=(*RUNNABLE, *NUMBERS),
    )
    match seed % 5:
        case 0:
            return common
        case 1:
            return replace(common, elements=COMMON)
        case 2:
            return replace(common, elements=ALL)
        case 3:
            return replace(common, elements=COMMON, families=MOVING, ops=6 + seed % 5)
        case _:
            return replace(common, families=RUNNABLE, device_ids=False, sizes=SIZES)


def runnable_program(seed: int) -> str:
    """The text of a program; every tenth has several functions."""
    if seed % 10 == 9:
        return random_module(seed, CALLS)
    return random_program(seed, options_of(seed))


def random_case(seed: int) -> tuple[ModuleOp, list[Array], bool]:
    """A program, its arguments, and whether they are tagged with their indices."""
    return case_of(runnable_program(seed), seed)


def case_of(text: str, seed: int) -> tuple[ModuleOp, list[Array], bool]:
    """The same of the text of a program."""
    module = with_statuses(with_even_borders(parse_program(text)), seed)
    tagged = only_moves(module)
    return module, arguments_of(module, seed, tagged=tagged), tagged
