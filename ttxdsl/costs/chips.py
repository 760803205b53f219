"""Chips: what one device computes, holds and sends, from the makers' public data sheets.

| chip | computing, bf16 dense | memory | memory speed | links |
|---|---|---|---|---|
| `v4` | 275 TFLOPS | 32 GiB | 1,228 GB/s | 3D torus, 6 x 50 GB/s (1) |
| `v5e` | 197 TFLOPS | 16 GiB | 819 GB/s | 2D torus, 4 x 50 GB/s (2) |
| `v5p` | 459 TFLOPS | 95 GiB | 2,765 GB/s | 3D torus, 6 x 100 GB/s (3) |
| `v6e` | 918 TFLOPS | 32 GiB | 1,640 GB/s | 2D torus, 4 x 100 GB/s (4) |
| `7x` | 1,153.5 TFLOPS a device | 96 GiB a device | 3,690 GB/s | 3D torus, 6 x 50 GB/s (5) |
| `a100` | 312 TFLOPS | 80 GB | 2,039 GB/s | NVLink 300 GB/s one way, 8 a node (6) |
| `h100` | 989 TFLOPS | 80 GB | 3,350 GB/s | NVLink 450 GB/s one way, 8 a node (7) |
| `b200` | 2,250 TFLOPS | 180 GB | 7,700 GB/s | NVLink 900 GB/s one way, 8 a node (8) |
| `n300` | 65.5 TFLOPS a chip | 12 GiB a chip | 288 GB/s | line of 2, 25 GB/s one way (9) |
| `galaxy` | 65.5 TFLOPS a chip | 12 GiB a chip | 288 GB/s | 2D torus of 32, 4 x 50 GB/s (10) |

Link speeds are one way. A chip of TPU7x is two devices of JAX (`tpu7x:2x2x1` has eight), which
share its 192 GiB, 2,307 TFLOPS and six links of 100 GB/s, and have a link of six times that between
them; libtpu gives each 94.74 GiB. Sources: (1) to (5) Google Cloud, "TPU v4", "TPU v5e", "TPU v5p",
"TPU v6e", "TPU7x"; (6) NVIDIA A100 80GB SXM data sheet; (7) NVIDIA H100 SXM data sheet;
(8) NVIDIA DGX B200 data sheet; (9) Tenstorrent, Wormhole specifications; (10)
Tenstorrent, Galaxy Wormhole server. Between TPU slices and between GPU nodes goes the
data-centre network: 25 GB/s a device one way on v4 to v6e hosts, 50 GB/s behind NVIDIA's
ConnectX-7; half of that is what collectives reach.

Products of other numbers than bf16 take more or fewer passes through a chip's multipliers, or have
a line of their own in the data sheet. On TPUs f32 is rounded to bf16 on the way (1.45 passes) unless a precision
is asked for, which takes 3 (high) or 6 (highest), f64 18, integers of 32 bits 9, and 8-bit numbers half
a pass where the chip has them: libtpu's own cycles of a product of 8,192 x 8,192 are 1.2 to 1.7, 2.4 to
2.9, 4.8 to 5.7, 16 to 43, 8.2 to 9.5 and 0.45 to 0.59 times those of bf16. GPUs multiply f32 as TF32 but for
the highest precision.

What large products reach of the first column (`product_efficiency`) is fitted on steps of real TPU pods,
with which libtpu's cycles agree; on 7x it is published for single products, and what kernels reach is
fitted on a step of 131,072 tokens (docs/evidence/plan.md). Of GPUs and Wormhole 0.7 is assumed.

The host's memory is behind PCIe: 16 lanes of generation 3 (16 GB/s each way), 4 (25, as
measured) or 5 (32 for each of two chips). The usable part of a TPU's memory is what libtpu says in its messages ("15.75G of hbm"): the
rest is the runtime's.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite, log
from typing import Any, cast

from ttxdsl.costs.compilers import (
    COMPILERS,
    TPU,
    TPU_MEGACORE,
    TPU_V4,
    TPU_V6E,
    TT_MLIR,
    XLA_GPU,
    Compiler,
)
from ttxdsl.costs.links import Link, Shape
from ttxdsl.costs.machines import Machine, machine_of
from ttxdsl.costs.ring import Ring

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Chip:
    """One device of a mesh, as a plan counts with it.

    Attributes:
        flops_per_second: of bf16 products; a multiply-add is two.
        memory_bytes: what a program may use of the device's memory.
        memory_bytes_per_second: what a device reads and writes.
        links: links of a device on its own network, a torus of `links / 2` dimensions;
            1: a switch.
        link: one of them, in one direction.
        network: between slices or nodes, what one device has of it.
        node_devices: devices of a node or slice if that is fixed; 0: a slice is as
            large as it was asked for.
        paired: between the two devices of one package, which have neighbouring numbers;
            None: a package is a device.
        product_efficiency: what large products reach of `flops_per_second`.
        kernel_efficiency: what kernels written by hand reach of that.
        overlap: the part of a collective's time that computing hides.
        host_bytes_per_second: to and from the host's memory, each way.
        measured: what times are modelled with instead of these figures.
        axes: what connects devices along mesh axes of a name, before all others.
        product_passes: how many times as long as of bf16 products of other numbers take, see
            `Machine`.

    Raises:
        ValueError: a figure is not positive.
    """

    name: str
    flops_per_second: float
    memory_bytes: int
    memory_bytes_per_second: float
    links: int
    link: Link
    network: Link
    node_devices: int = 0
    paired: Link | None = None
    product_efficiency: float = 0.7
    kernel_efficiency: float = 1.0
    overlap: float = 1.0
    compiler: Compiler = XLA_GPU
    host_bytes_per_second: float = 16e9
    measured: Machine | None = None
    axes: tuple[tuple[str, Link], ...] = ()
    product_passes: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for figure in (
            *(self.flops_per_second, self.memory_bytes_per_second),
            *(self.memory_bytes, self.links),
        ):
            if not (isfinite(figure) and figure > 0):
                raise ValueError(f"a chip has more than 0 of everything, not {figure}")

    def machine(self, devices: int, slices: int = 1) -> Machine:
        """Return the chip as times are modelled with it.

        Args:
            devices: of the whole mesh.
            slices: parts of the mesh with a network of their own; consecutive devices
                are in one slice.

        Raises:
            ValueError: the devices are no whole number a slice.
        """
        if slices < 1 or devices % slices:
            raise ValueError(f"{devices} devices are not {slices} equal slices")
        if self.measured is not None:
            return replace(self.measured, axes=(*self.measured.axes, *self.axes))
        return ChipMachine(
            operations_per_second=self.product_efficiency * self.flops_per_second / 2,
            memory_bytes_per_second=_MEMORY_EFFICIENCY * self.memory_bytes_per_second,
            link=self.link,
            name=self.name,
            chip=self,
            compiler=self.compiler.on(devices, slices),
            block_devices=self.node_devices or devices // slices,
            axes=self.axes,
            overlap=self.overlap,
            kernel_efficiency=self.kernel_efficiency,
            product_passes=self.product_passes,
        )

    def data(self) -> dict[str, Any]:
        """Return the chip as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ChipMachine(Machine):
    """A machine of chips on a torus, in slices or nodes.

    Attributes:
        block_devices: consecutive devices on one network of chips.
    """

    chip: Chip | None = None
    compiler: Compiler | None = None
    block_devices: int = 1

    def collective_seconds(
        self,
        kind: Ring,
        sent_bytes: int,
        group_size: int,
        axes: Sequence[str] | None = None,
        groups: Sequence[Sequence[int]] = (),
    ) -> float:
        """Return the time of a collective: on the torus, then between slices.

        A group that is in several blocks works in two steps. What a block's devices have
        together goes over the data-centre network once, each device sending its share.
        Where the link along one of its axes is said, it works as on any machine.
        """
        if self.is_said(axes):
            link = self.link_of(axes)
            return link.seconds_of_bytes(kind, sent_bytes, group_size)
        chip = self.chip
        assert chip is not None, "a machine of chips knows its chip"
        in_pairs = group_size == 2 and groups and _blocks(groups, 2) == 1
        if chip.paired is not None and in_pairs:
            return chip.paired.seconds_of_bytes(kind, sent_bytes, group_size)
        blocks = _blocks(groups, self.block_devices)
        inside = max(1, group_size // blocks)
        seconds = 0.0
        if inside > 1:
            share = sent_bytes
            if blocks > 1 and kind is Ring.ALL_GATHER:
                # between the blocks first, of the small parts
                share = sent_bytes * (inside - 1) * blocks // max(1, group_size - 1)
            seconds += self._torus(chip, inside).seconds_of_bytes(kind, share, inside)
        if blocks > 1:
            held = sent_bytes // inside
            seconds += chip.network.seconds_of_bytes(kind, held, blocks)
        return seconds

    def _torus(self, chip: Chip, group_size: int) -> Link:
        """Return the links that a group of neighbours has together, as one.

        A ring sends both ways. A group goes along as many dimensions at once as have about
        so many devices together.
        """
        dimensions = chip.links // 2
        if not dimensions:
            return chip.link
        side = max(2.0, self.block_devices ** (1 / dimensions))
        along = min(dimensions, max(1, round(log(group_size, side))))
        both_ways = 2 if group_size > 2 else 1
        return replace(
            chip.link,
            bytes_per_second=along * both_ways * chip.link.bytes_per_second,
        )


def _blocks(groups: Sequence[Sequence[int]], devices: int) -> int:
    """In how many blocks of consecutive devices a group is, at most."""
    return max(
        (len({device // devices for device in group}) for group in groups), default=1
    )


_MEMORY_EFFICIENCY = 0.85
"""What streams reach of a data sheet's memory speed, as STREAM-like tests report."""

_TPU_KERNEL_EFFICIENCY = 0.6
"""The part of the speed of XLA's products that Pallas kernels reach (attention, products of experts)."""

_TPU_OVERLAP = 0.1
"""Collectives move their data through the memory that computing reads, and what they need of the
cores for that computing lacks. Of 0, 0.1, 0.3, 0.5 and 1 the recipes of the half "fit" have the
least error with 0, with 0.1 hardly more (1.03), with 1 1.06 (docs/evidence/plan.md)."""

_INTEGERS = ("i8", "ui8", "i4", "ui4")
_FLOATS_OF_8_BITS = ("f8E4M3FN", "f8E5M2")
_BYTES = (*_INTEGERS, "f8E5M2")
_TPU_PASSES = (
    *(("f32", 1.45), ("f32_high", 3.0), ("f32_highest", 6.0), ("f64", 18.0)),
    *(("i32", 9.0), ("ui32", 9.0)),
)
"""Passes through the multipliers of bf16 for products of other numbers, on every TPU."""

_TPU_NETWORK = Link(1e-5, 12.5e9, Shape.ALL)
_GPU_NETWORK = Link(5e-6, 50e9, Shape.ALL)


def _tpu(
    name: str,
    tflops: float,
    memory: float,
    speed: float,
    links: int,
    link: float,
    efficiency: float,
    host: float = 16,
    *,
    kernels: float = _TPU_KERNEL_EFFICIENCY,
    paired: Link | None = None,
    compiler: Compiler = TPU,
    fast: Sequence[str] = (),
) -> Chip:
    """Return a TPU.

    Args:
        tflops: of bf16 products.
        memory: that a program may use, in GiB.
        speed: of the memory, GB/s.
        links: of a device.
        link: one way, GB/s.
        efficiency: the part of `tflops` that large products reach.
        host: to and from the host's memory, GB/s each way.
        kernels: the part of that which Pallas kernels reach.
        paired: between the two devices of a chip.
        fast: the numbers that it multiplies twice as fast as bf16.
    """
    return Chip(
        name,
        tflops * 1e12,
        int(memory * GIB),
        speed * 1e9,
        links,
        Link(1e-6, link * 1e9, Shape.RING),
        _TPU_NETWORK,
        paired=paired,
        product_efficiency=efficiency,
        kernel_efficiency=kernels,
        overlap=_TPU_OVERLAP,
        compiler=compiler,
        host_bytes_per_second=host * 1e9,
        product_passes=(*_TPU_PASSES, *((kind, 0.5) for kind in fast)),
    )


def _gpu(
    name: str,
    tflops: float,
    memory: float,
    speed: float,
    link: float,
    *,
    f32: float,
    f64: float,
    fast: Sequence[str],
) -> Chip:
    """Return a GPU.

    Args:
        tflops: of dense bf16 products.
        memory: in GB.
        speed: of the memory, GB/s.
        link: one way, GB/s.
        f32: TFLOPS of f32 that is not rounded to TF32.
        f64: TFLOPS.
        fast: the numbers that it multiplies twice as fast as bf16.
    """
    return Chip(
        name,
        tflops * 1e12,
        int(memory * 1e9),
        speed * 1e9,
        1,
        Link(2e-6, link * 1e9, Shape.ALL),
        _GPU_NETWORK,
        node_devices=8,
        host_bytes_per_second=25e9,
        product_passes=(
            *(("f32", 2.0), ("f32_high", 2.0)),
            *(("f32_highest", tflops / f32), ("f64", tflops / f64)),
            *((kind, 0.5) for kind in fast),
        ),
    )


def _wormhole(name: str, links: int, link: Link) -> Chip:
    return Chip(
        *(name, 65.5e12, 12 * GIB, 288e9, links, link),
        network=Link(1e-6, 12.5e9, Shape.LINE),
        compiler=TT_MLIR,
    )


CHIPS: Mapping[str, Chip] = {
    chip.name: chip
    for chip in (
        _tpu("v4", 275, 30.75, 1228, 6, 50, 0.74, compiler=TPU_V4),
        _tpu("v5e", 197, 15.75, 819, 4, 50, 0.93, fast=_BYTES),
        _tpu("v5p", 459, 95.74, 2765, 6, 100, 0.92, compiler=TPU_MEGACORE, fast=_BYTES),
        _tpu("v6e", 918, 31.25, 1640, 4, 100, 0.72, 32, compiler=TPU_V6E, fast=_BYTES),
        _tpu(
            *("7x", 1153.5, 94.74, 3690, 6, 50, 0.82, 16),
            kernels=0.95,
            compiler=TPU_V6E,
            paired=Link(1e-6, 600e9, Shape.LINE),
            fast=_FLOATS_OF_8_BITS,
        ),
        _gpu("a100", 312, 80, 2039, 300, f32=19.5, f64=19.5, fast=_INTEGERS),
        _gpu(
            *("h100", 989, 80, 3350, 450),
            f32=67,
            f64=67,
            fast=(*_INTEGERS, *_FLOATS_OF_8_BITS),
        ),
        _gpu(
            *("b200", 2250, 180, 7700, 900),
            f32=80,
            f64=40,
            fast=(*_INTEGERS, *_FLOATS_OF_8_BITS),
        ),
        _wormhole("n300", 1, Link(1e-6, 25e9, Shape.LINE)),
        _wormhole("galaxy", 4, Link(1e-6, 50e9, Shape.RING)),
    )
}
"""The chips that `--chip` knows by name."""


def chip_named(name: str) -> Chip:
    """Return a chip by its name.

    Raises:
        ValueError: nobody knows it.
    """
    if (chip := CHIPS.get(name.lower().removeprefix("tpu").lstrip("-"))) is None:
        raise ValueError(f"there is no chip '{name}'")
    return chip


def chip_text(machine: Machine, memory_bytes: int) -> str:
    """Return the text of a file that `chip_of` reads, and `machine_of` too."""
    data = {**json.loads(machine.to_json()), "memory_bytes": memory_bytes}
    return json.dumps(data, indent=2) + "\n"


def chip_of(text: str) -> Chip:
    """Return the chip of a file's text: a machine as `calibrate` writes it, and its memory.

    Besides a machine's fields it has `memory_bytes`, and may have `compiler`, a name of
    `ttxdsl.costs.compilers` (XLA for CPUs, which `calibrate` measures).

    Raises:
        ValueError: the text is no machine, or does not say the memory.
    """
    data: Any = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    fields = dict(cast("Mapping[str, Any]", data))
    memory = fields.pop("memory_bytes", None)
    name = fields.pop("compiler", "XLA_CPU")
    machine = machine_of(json.dumps(fields))
    if not isinstance(memory, int) or memory <= 0:
        raise ValueError("it does not say memory_bytes, what a device holds: add it")
    if name not in COMPILERS:
        raise ValueError(f"no compiler is called '{name}': {', '.join(COMPILERS)}")
    return Chip(
        name=machine.name,
        flops_per_second=2 * machine.operations_per_second,
        memory_bytes=memory,
        memory_bytes_per_second=machine.memory_bytes_per_second,
        links=1,
        link=machine.link,
        network=machine.link,
        product_efficiency=1.0,
        compiler=COMPILERS[name],
        measured=machine,
    )
