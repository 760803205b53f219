"""What each process of mpiexec does in `test_ranks.py`: `-m tests.cli.mpi_processes WHAT`.

Process 0 prints one line a finding; whoever fails ends all.
"""

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.interpreters.rank_programs import PROGRAMS, same_bits, wanted
from ttxdsl.bridges.mpi.engine import RankRunner
from ttxdsl.bridges.mpi.processes import World
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.loading.program import parse_program


def programs(world: World) -> int:
    """Hold programs against the virtual mesh."""
    return _compare(world, PROGRAMS)


def files(world: World) -> int:
    """The same for files."""
    return _compare(world, {name: Path(name).read_text() for name in sys.argv[2:]})


def _compare(world: World, texts: dict[str, str]) -> int:
    for name, text in texts.items():
        runner = RankRunner(parse_program(text), world)
        found = runner.run(random_inputs(runner.function, 0))
        if world.rank == 0:
            _, expected = wanted(text)
            same = all(map(same_bits, found, expected))
            print(f"{name}: {'same' if same else 'other'} bits", flush=True)
    return 0


def fails(world: World) -> int:
    """One fails while the others wait for it."""
    world.doing = "an op"
    if world.rank == 1:
        raise CompileError("process one cannot do it")
    world.gathered(range(world.size), np.ones(1), [1] * world.size)
    return 0


def apart(world: World) -> int:
    """One comes to its end while the others wait for it."""
    world.doing = "an op"
    if world.rank != 1:
        world.gathered(range(world.size), np.ones(1), [1] * world.size)
    return 0


def others(world: World) -> int:
    """Two are in collectives of other processes."""
    if world.rank < 2:
        ranks = (0, 1) if world.rank == 0 else (0, 1, 2)
        world.gathered(ranks, np.ones(1), [1] * len(ranks))
    return 0


def large(world: World) -> int:
    """More than is sent at once, each way."""
    everyone, rows = range(world.size), np.full((world.size, 1 << 20), world.rank)
    counts = [1] * world.size
    after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    into = np.empty_like(rows[0])
    world.traded({after: rows[0]}, {before: into})
    whole = world.gathered(everyone, rows[:1], counts, world.size - 1)
    right = bool((into == before).all())
    if whole is not None:
        right &= (whole[:, -1] == [*everyone]).all()
    counted = world.gathered(everyone, np.array([right]), counts)
    assert counted is not None
    if world.rank == 0:
        print("large:", "same" if counted.all() else "other", "bits", flush=True)
    return 0


WORK: dict[str, Callable[[World], int]] = {
    work.__name__: work for work in (programs, files, fails, apart, others, large)
}


def _explained(error: Exception) -> str:
    if isinstance(error, CompileError):
        return str(error)
    return "".join(traceback.format_exception(error))


def _main() -> int:
    world = World(patience=2)

    def work() -> int:
        return max(WORK[name](world) for name in sys.argv[1].split(","))

    return world.run(work, _explained)


if __name__ == "__main__":
    sys.exit(_main())
