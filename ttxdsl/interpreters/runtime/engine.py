"""What runs a program, in two halves that do not know each other.

`Engine` is the outer half, what `ttxdsl run --engine` chooses: it holds one program and
places inputs, runs the entry function, and takes results. `Devices` is the inner half,
for engines that run op by op with the kernels of this package: what they differ in is
where shards lie and how collectives and decisions cross over between them, so all that
they say is which mesh an op works on. The virtual mesh is the first of both
(`ttxdsl.interpreters.runtime.run.Runner`, `VirtualDevices`). An engine that compiles the program
for its devices, as JAX's does, has an outer half only.
"""

from collections.abc import Sequence
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
        """Whole arrays, one an argument (None for a token), as the engine keeps them.

        Raises:
            CompileError: they do not fit the function, or there is no room for them.
        """
        ...

    def call(self, placed: Values) -> Values:
        """The entry function of what `place` gave; results stay where they are made.

        Raises:
            CompileError: an op cannot be run (the message names it).
        """
        ...

    def take(self, results: Values) -> Values:
        """Whole arrays of what `call` gave, None for tokens.

        Raises:
            ReplicaMismatchError: devices differ where they have to hold the same.
        """
        ...


def run_on(engine: Engine, inputs: Sequence[ArrayLike | None]) -> Values:
    """The results of a program for whole arrays: placed, called, and taken."""
    return engine.take(engine.call(engine.place(inputs)))


class Devices(Protocol):
    """Where the ops of a program find the devices.

    Attributes:
        apart: whether each device's products are computed by themselves, as the device
            would; those of all devices in one are faster, and round otherwise.
    """

    apart: bool

    def mesh(
        self,
        axes: tuple[tuple[str, int], ...] = (),
        device_ids: tuple[int, ...] = (),
        num_partitions: int | None = None,
    ) -> DeviceMesh:
        """The mesh of these axes: its methods split, collect, and do collectives."""
        ...

    def distinct(self, x: Array) -> list[int]:
        """What is found in a value on any device, sorted: all of them decide alike."""
        ...


class VirtualDevices:
    """All devices are in this process, in the leading dimensions of its arrays."""

    mesh = DeviceMesh

    def __init__(self, apart: bool = False) -> None:
        self.apart = apart

    def distinct(self, x: Array) -> list[int]:
        """What is found in the one array."""
        return np.unique(x).tolist()
