"""The engine of many processes: each runs the program on the devices that it has.

Every process runs the same ops with the same kernels; what lies between devices is
`ttxdsl.bridges.mpi.rank_mesh`'s. Inputs may be mapped files: of an argument that is
split at once a process reads its own parts only.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.bridges.mpi.processes import World
from ttxdsl.bridges.mpi.rank_mesh import RankMesh
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits
from ttxdsl.interpreters.runtime.run import Runner

Array = NDArray[Any]


class RankDevices:
    """The devices of a program, of which each process has an even part."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.apart = True
        self._meshes: dict[object, DeviceMesh] = {}

    def mesh(
        self,
        axes: tuple[tuple[str, int], ...] = (),
        device_ids: tuple[int, ...] = (),
        num_partitions: int | None = None,
    ) -> DeviceMesh:
        """Return the mesh of these axes; a single device is everywhere.

        Raises:
            InterpretationError: its devices cannot be shared evenly.
        """
        key = axes, device_ids, num_partitions
        if key not in self._meshes:
            mesh = DeviceMesh(*key)
            if prod(size for _, size in axes) > 1:
                mesh = RankMesh(*key, world=self._world)
                _ = mesh.boxes
            self._meshes[key] = mesh
        return self._meshes[key]

    def distinct(self, x: Array) -> list[int]:
        """Return the numbers in a value on any device of any process, sorted."""
        world, values = self._world, np.unique(x)
        everyone, kind = range(world.size), values.dtype
        counts = world.gathered(everyone, np.array([len(values)]), [1] * world.size)
        assert counts is not None
        every = world.gathered(everyone, values, [int(n) for n in counts])
        assert every is not None
        return np.unique(every.astype(kind)).tolist()


class _Telling(Interpreter):
    """A listener that keeps the op being run, for error messages."""

    def __init__(self, module: ModuleOp, world: World) -> None:
        super().__init__(module)
        self._world = world

    def run_op(
        self, op: Operation | str | SymbolRefAttr, inputs: tuple[Any, ...] = ()
    ) -> tuple[Any, ...]:
        """Run the op, which others may have to wait for."""
        world = self._world
        around = world.doing
        if isinstance(op, Operation):
            world.doing = op
        try:
            return super().run_op(op, inputs)
        finally:
            world.doing = around


class RankRunner(Runner):
    """The engine of one process among those of `world`."""

    def __init__(
        self,
        module: ModuleOp,
        world: World,
        entry: str | None = None,
        limits: Limits = NO_LIMITS,
    ) -> None:
        """Find the entry function, as `Runner` does."""
        self.world = world
        super().__init__(module, entry, limits, RankDevices(world))

    def interpreter_of(self, module: ModuleOp) -> Interpreter:
        """Return an interpreter that keeps the current op for processes that wait."""
        return _Telling(module, self.world)

    def require_room(self, there: int = 0) -> None:
        """Refuse a run whose even part needs more memory than a process may have."""
        if self.limits.memory is not None:
            needs = self.footprint
            self.limits.require_room(needs.shared(self.world.size))

    def take(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Whole results on process 0, None on the others."""
        return self.gathered(self.leaving(results))

    def gathered(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Whole arrays of what `leaving` gave on process 0, None on the others."""
        first = self.world.rank == 0
        taken: list[Any] = []
        for at, x in enumerate(results):
            self.world.doing = f"gathering result {at}"
            whole = x.gather(0) if isinstance(x, Scattered) else x
            taken.append(whole if first else None)
        return tuple(taken)
