"""Mutants: programs with a few random changes, the same one for the same seed.

    mutant = mutant_of(7)
    mutant.text, mutant.origin, mutant.changes

`python -m tests.attack.mutants 7` prints one.
"""

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tests.attack.module_mutations import mutate_module
from tests.attack.text_mutations import mutate_text
from tests.differential.corpus import programs
from tests.differential.partitioning import MESHES, sharded_program
from tests.differential.random_cases import runnable_program
from tests.differential.random_programs import Options, random_program
from tests.differential.stablehlo_mutations import USES
from tests.printing import printed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program, program_text, split_programs

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """A changed program, what it was made of, and how."""

    text: str
    origin: str
    changes: tuple[str, ...]


@cache
def _files() -> tuple[tuple[str, str], ...]:
    """The programs of the examples and of the text tests."""
    paths = [*(_ROOT / "examples").glob("*.mlir")]
    paths += (_ROOT / "tests" / "filecheck").rglob("*.mlir")
    return tuple(
        (str(path.relative_to(_ROOT)), text)
        for path in sorted(paths)
        for text in split_programs(path.read_text(encoding="utf-8"))
    )


def _runnable(rng: random.Random) -> tuple[str, str]:
    seed = rng.randrange(10**6)
    return f"runnable_program({seed})", runnable_program(seed)


def _any_program(rng: random.Random) -> tuple[str, str]:
    """With everything that propagation knows, also what cannot be run."""
    seed = rng.randrange(10**6)
    options = Options(priorities=True, unreduced=True, groups=True, device_ids=True)
    return f"random_program({seed})", random_program(seed, options)


def _file(rng: random.Random) -> tuple[str, str]:
    return rng.choice(_files())


def _use(rng: random.Random) -> tuple[str, str]:
    name = rng.choice(sorted(USES))
    return name, USES[name].text()


def _of_jax(rng: random.Random) -> tuple[str, str]:
    """A program of the corpus on a mesh, with random shardings."""
    program = rng.choice(programs())
    mesh = rng.choice(sorted(MESHES))
    module = sharded_program(program.pretty, MESHES[mesh], str(rng.random()))
    text = program.pretty if module is None else program_text(module)
    return f"{program.name} on {mesh}", text


Origin = Callable[[random.Random], tuple[str, str]]

ORIGINS: tuple[tuple[int, Origin], ...] = (
    (6, _runnable),
    (1, _any_program),
    (2, _file),
    (1, _use),
)
"""Where programs come from, and how often."""


def _printed(rng: random.Random, module: ModuleOp) -> str:
    """As text; generic if it has no other."""
    if rng.random() < 0.5:
        try:
            module.verify()
            return program_text(module)
        except Exception:
            pass  # custom syntax is for valid ops
    return printed(module, generic=True)


def _mutant(rng: random.Random, origin: Origin) -> Mutant:
    name, text = origin(rng)
    changes: list[str] = []
    if rng.random() < 0.7:
        try:
            module = parse_program(text)
        except CompileError:
            pass  # a test of what is refused
        else:
            for _ in range(rng.choice((1, 1, 2, 3, 4))):
                module, change = mutate_module(rng, module)
                changes.append(change)
            try:
                text = _printed(rng, module)
            except Exception:
                changes.clear()  # no text says this
    if not changes or rng.random() < 0.1:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            text, change = mutate_text(rng, text)
            changes.append(change)
    return Mutant(text, name, tuple(changes))


def mutant_of(seed: int) -> Mutant:
    """The mutant of a seed, of random programs, examples and text tests."""
    rng = random.Random(f"mutant {seed}")
    weights, origins = zip(*ORIGINS, strict=True)
    return _mutant(rng, rng.choices(origins, weights)[0])


def jax_mutant_of(seed: int) -> Mutant:
    """The mutant of a seed, of the programs that JAX makes."""
    return _mutant(random.Random(f"mutant of JAX {seed}"), _of_jax)


if __name__ == "__main__":
    shown = mutant_of(int(sys.argv[1]))
    print(f"// {shown.origin}: {', '.join(shown.changes)}\n{shown.text}")
