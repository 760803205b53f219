"""Programs that tt-mlir is asked about: JAX's corpus on many meshes, models, examples."""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from tests.differential.corpus import programs
from tests.differential.partitioning import MESHES, sharded_program
from tests.differential.sharded_models import MODELS, sharded_models
from ttxdsl.sharding.devices.mesh import Mesh

EXAMPLES = Path(__file__).parents[3] / "examples"

FIRST = "2x4"
"""The mesh that all programs of the corpus are split on."""

OTHERS = {
    "2x2x2": MESHES["2x2x2"],
    "4x2": Mesh((("x", 4), ("y", 2))),
    "2x4 reordered": MESHES["2x4 reordered"],
    "1x8": MESHES["1x8"],
    "8": Mesh((("x", 8),)),
    "1x2": MESHES["1x2"],
}
"""Those that every fourth is split on, each by other programs."""

OWN = "their own"
"""Stands for the mesh of programs that bring one."""

Named = tuple[str, str]
"""A program of the corpus, a model or an example, and the mesh that it is split on."""


def _makers(*, others: bool = True) -> dict[Named, Callable[[], str]]:
    """What makes the text of each program of the corpus that has no dynamic shapes."""
    found: dict[Named, Callable[[], str]] = {}
    for place, one in enumerate(programs()):
        if "symbolic" in one.name:
            continue
        if _brings_mesh(one.pretty):
            found[one.name, OWN] = partial(str, one.pretty)
            continue
        meshes = {FIRST: MESHES[FIRST]} | {
            name: mesh
            for shift, (name, mesh) in enumerate(OTHERS.items())
            if others and not (place + shift) % 4
        }
        for name, mesh in meshes.items():
            found[one.name, name] = partial(_split, one.pretty, one.name, name, mesh)
    return found


@cache
def all_programs(*, others: bool = True) -> dict[Named, str]:
    """The text of every program that has no dynamic shapes.

    Args:
        others: whether on the other meshes, too.
    """
    made = {name: make() for name, make in _makers(others=others).items()}
    return made | some_models()


@cache
def some_models() -> dict[Named, str]:
    """Models and examples, which have meshes of their own."""
    texts = {(name, OWN): sharded_models()[name] for name in MODELS}
    for path in sorted(EXAMPLES.glob("*.mlir")):
        texts[path.name, OWN] = path.read_text()
    return texts


def program_on_first(name: str) -> str:
    """One program on the first mesh, or the one that it brings."""
    models = some_models()
    if (name, OWN) in models:
        return models[name, OWN]
    (one,) = programs(name)
    if _brings_mesh(one.pretty):
        return one.pretty
    return _split(one.pretty, one.name, FIRST, MESHES[FIRST])


def _brings_mesh(text: str) -> bool:
    return "sdy.mesh @" in text


def _split(text: str, name: str, mesh_name: str, mesh: Mesh) -> str:
    module = sharded_program(text, mesh, f"{name} {mesh_name} 0")
    assert module is not None
    return str(module)


@cache
def some_programs() -> dict[Named, str]:
    """Few programs, on every mesh, and all models."""
    some = list(_makers().items())[::40]
    return {name: make() for name, make in some} | some_models()
