"""Random modules with unusual meshes, sizes and collectives: passes leave valid IR."""

import random
import re
from contextlib import suppress

import pytest
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from tests.differential.oracle import Oracle
from tests.differential.random_modules import random_module
from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    RemoveSizeOneAxesPass,
)
from ttxdsl.transforms.stages.even_out_shardings import EvenOutShardingsPass

_MESH_SIZE = re.compile(r'(?<="=)\d+')
_SIZE = re.compile(r"(?<=[<x])\d+(?=x)")
_CLOSED = re.compile(r'(?<=["0-9)]\})(?=[,\]])')
_COLLECTIVES = "sdy-insert-explicit-reshards,sdy-reshard-to-collectives"


def odd_module(seed: int) -> str:
    """A module of which a size, the mesh or priorities changed; it may be invalid."""
    rng = random.Random(f"odd {seed}")
    text = random_module(seed)
    if rng.random() < 0.5:
        # a call inside a computation may ask for an axis that is manual there
        with suppress(VerifyException):
            text = run_passes(text, _COLLECTIVES)
    if rng.random() < 0.3:
        text = _CLOSED.sub(lambda _: rng.choice(["", "p1", "p2"]), text)
    if rng.random() < 0.5:
        place = rng.choice(list(_MESH_SIZE.finditer(text)))
        size = rng.choice(["1", "1", "3", "4"])
        text = text[: place.start()] + size + text[place.end() :]
    if rng.random() < 0.5:
        old, new = rng.choice(_SIZE.findall(text)), rng.choice("12356")
        text = re.sub(rf"(?<=[<x]){old}(?=x)", new, text)
    return text


@pytest.mark.parametrize("made", [EvenOutShardingsPass, RemoveSizeOneAxesPass])
def test_what_passes_leave_is_valid(oracle: Oracle, made: type[ModulePass]):
    left: list[str] = []
    for seed in range(40):
        try:
            module = parse_program(odd_module(seed))
        except CompileError:
            continue
        try:
            with collect_remarks():
                made().apply(make_context(), module)
        except UnsupportedError:
            continue
        module.verify()
        left.append(program_text(module))
    assert len(left) > 10
    read = oracle.run_all([(text, "") for text in left])
    assert not [text for text, out in zip(left, read, strict=True) if out is None]
