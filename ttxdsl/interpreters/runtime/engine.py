"""The two interfaces of program execution.

`Engine` is the choice of `ttxdsl run --engine`: it holds one program, places inputs,
runs the entry function, and takes results. `Devices` is for engines that run op by op
with the kernels of this package (`run.Runner`): it holds the devices' shards, and
carries out collectives and decisions between them. An engine that compiles the program
only has the first.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects.func import FuncOp

from ttxdsl.interpreters.mesh.collectives import DeviceMesh

Array = NDArray[Any]
Values = tuple[Any, ...]


class Engine(Protocol):
    """One program, ready to be run any number of times."""

    @property
    def function(self) -> FuncOp:
        """The entry function; its types are those of whole inputs and results."""
        ...

    def place(self, inputs: Sequence[ArrayLike | None]) -> Values:
        """Return whole arrays, one an argument (None for a token), as the engine keeps them.

        Raises:
            CompileError: they do not fit the function, or there is no room for them.
        """
        ...

    def call(self, placed: Values) -> Values:
        """Run the entry function on what `place` returned; results stay on the devices.

        Raises:
            CompileError: an op cannot be run (the message names it).
        """
        ...

    def take(self, results: Values) -> Values:
        """Return whole arrays of what `call` returned, None for tokens.

        Raises:
            ReplicaMismatchError: devices differ where they have to hold the same.
        """
        ...


def run_on(engine: Engine, inputs: Sequence[ArrayLike | None]) -> Values:
    """Return the results of a program for whole arrays: placed, called, and taken."""
    return engine.take(engine.call(engine.place(inputs)))


class Devices(Protocol):
    """The devices of a program's meshes."""

    apart: bool
    """Whether each device's products are computed by themselves, as the device would;
    those of all devices in one are faster, and round otherwise."""

    def mesh(
        self,
        axes: tuple[tuple[str, int], ...] = (),
        device_ids: tuple[int, ...] = (),
        num_partitions: int | None = None,
    ) -> DeviceMesh:
        """Return the mesh of these axes, whose methods split values and do collectives."""
        ...

    def distinct(self, x: Array) -> list[int]:
        """Return the numbers in a value on any device, sorted: all devices decide alike."""
        ...


class VirtualDevices:
    """All devices are in this process, in the leading dimensions of its arrays."""

    mesh = staticmethod(lru_cache(DeviceMesh))

    def __init__(self, apart: bool = False) -> None:
        self.apart = apart

    def distinct(self, x: Array) -> list[int]:
        """Return the numbers in the one array."""
        return np.unique(x).tolist()
