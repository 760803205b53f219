"""The speeds of devices and links, from which times are modelled.

A machine is a file (`Machine.to_json`), one of the presets below, or numbers on the
command line, which go over both. The presets are what makers publish, which is a bound and
no measurement; `ttxdsl calibrate` measures.

| preset | computing | memory | links |
|---|---|---|---|
| `generic` | 5e13 multiply-adds | 300 GB/s | ring, 12.5 GB/s, 1 us: round figures |
| `n300` | FP16 131 TFLOPS a board (1) | 576 GB/s a board (1) | 2 chips, 400 Gbit/s both ways together (1) |
| `t3000` | as n300, four boards | as n300 | lines of chips; between boards 100 Gbit/s, a bridge (1) |
| `tpu-v4` | bfloat16 275 TFLOPS (3) | 1,228 GB/s (3) | 3D torus, 300 GB/s over six links (3) |
| `tpu-v5e` | bfloat16 197 TFLOPS (4) | 819 GB/s (4) | 2D torus, 400 GB/s both ways over four links (4) |
| `h100` | bfloat16 989 TFLOPS, dense (5) | 3,350 GB/s (5) | NVLink 900 GB/s both ways through a switch, 8 a node; beyond it 400 Gbit/s a device (6) |

Sources: (1) Tenstorrent, Wormhole n150/n300 specifications
(docs.tenstorrent.com/aibs/wormhole/specifications.html); devices 2i and 2i+1 are taken for
a board's, and `--axis-link` says otherwise; (3) Google Cloud, "TPU v4"; Jouppi et al., "TPU v4", ISCA 2023, for the six links of 50 GB/s; (4) Google Cloud,
"TPU v5e" (docs.cloud.google.com/tpu/docs/v5e); (5) NVIDIA, H100 SXM data sheet; (6) NVIDIA, DGX H100 data sheet: eight
ConnectX-7 adapters of 400 Gbit/s for eight GPUs. A multiply-add is two operations of a
data sheet. Latencies are round figures: they are not published.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite, log
from typing import Any, cast

from ttxdsl.costs.links import DEFAULT_LINK, Link, Shape
from ttxdsl.costs.ring import Ring


@dataclass(frozen=True, slots=True)
class Level:
    """The link between blocks of consecutive devices.

    Attributes:
        devices: in a block; inside it another link is used.
        link: between blocks.
    """

    devices: int
    link: Link


@dataclass(frozen=True, slots=True)
class Convolving:
    """The speed of convolutions with some numbers of features, in each of their groups.

    Attributes:
        features: of the input and of the output.
        operations_per_second: multiply-adds.
    """

    features: tuple[int, int]
    operations_per_second: float

    def distance(self, features: tuple[int, int]) -> float:
        """Return the distance to other features, in ratios."""
        pairs = zip(self.features, features, strict=True)
        return sum(abs(log(max(size, 1) / max(other, 1))) for size, other in pairs)


@dataclass(frozen=True, slots=True)
class Machine:
    """The speeds of a device and its links.

    Attributes:
        operations_per_second: multiply-adds of products, elements of all else.
        memory_bytes_per_second: what a device reads and writes.
        link: between devices, where nothing below says otherwise.
        functions_per_second: exponentials and the like; None: as multiply-adds.
        convolutions: what was measured; the nearest counts. None: as products.
        op_seconds: until an op starts.
        levels: what connects devices that are further apart, the smallest blocks first.
        axes: what connects devices along mesh axes of a name, before all others.
        combine_bytes: neighbouring collectives of one kind among the same devices are
            one up to so many bytes, as XLA makes it; 0: each is one by itself.
        overlap: the part of a collective's time that computing hides; 0: links wait while
            the device computes.
        kernel_efficiency: what kernels written by hand reach of `operations_per_second`.
        product_passes: for products of some numbers how many times as long they take, see
            `ttxdsl.analysis.usage.work.product_numbers`; 1 where nothing is said.

    Raises:
        ValueError: a speed is not positive, a time is negative, or a part is more than all.
    """

    operations_per_second: float = 5e13
    memory_bytes_per_second: float = 3e11
    link: Link = DEFAULT_LINK
    name: str = "generic"
    functions_per_second: float | None = None
    convolutions: tuple[Convolving, ...] = ()
    op_seconds: float = 0.0
    levels: tuple[Level, ...] = ()
    axes: tuple[tuple[str, Link], ...] = ()
    combine_bytes: int = 30 << 20
    overlap: float = 1.0
    kernel_efficiency: float = 1.0
    product_passes: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        speeds = (
            *(self.operations_per_second, self.memory_bytes_per_second),
            self.kernel_efficiency,
            *(passes for _, passes in self.product_passes),
        )
        of_kinds = [
            convolution.operations_per_second for convolution in self.convolutions
        ]
        for speed in (*speeds, self.functions_per_second or 1.0, *of_kinds):
            if not (isfinite(speed) and speed > 0):
                raise ValueError(f"a device does more than 0 a second, not {speed}")
        if any(level.devices < 1 for level in self.levels):
            raise ValueError("a block of a level has at least one device")
        for least in (self.op_seconds, self.combine_bytes):
            if not (isfinite(least) and least >= 0):
                raise ValueError(f"nothing takes less than 0, as {least} does")
        if not 0 <= self.overlap <= 1:
            raise ValueError(
                f"computing hides 0 to 1 of a collective, not {self.overlap}"
            )

    def seconds(
        self,
        operations: int,
        bytes_touched: int,
        *,
        is_function: bool = False,
        is_kernel: bool = False,
        features: tuple[int, int] | None = None,
        numbers: Sequence[str] = (),
    ) -> float:
        """Return the time of one op: computing or memory, whichever takes longer.

        Args:
            operations: multiply-adds, or elements.
            bytes_touched: what it reads and writes.
            is_function: whether it computes exponentials and the like.
            is_kernel: whether it is a kernel written by hand.
            features: of a convolution, see `Convolving`.
            numbers: what a product multiplies: the slowest count.
        """
        speed = self.operations_per_second
        if is_kernel:
            speed *= self.kernel_efficiency
        if is_function and self.functions_per_second is not None:
            speed = self.functions_per_second
        if features is not None and self.convolutions:
            near = min(
                self.convolutions,
                key=lambda convolution: convolution.distance(features),
            )
            speed = near.operations_per_second
        if numbers and self.product_passes:
            passes = dict(self.product_passes)
            speed /= max(passes.get(kind, 1.0) for kind in numbers)
        return max(operations / speed, bytes_touched / self.memory_bytes_per_second)

    def link_of(
        self, axes: Sequence[str] | None, groups: Sequence[Sequence[int]] = ()
    ) -> Link:
        """Return the link that a collective uses: along several axes the slowest.

        Args:
            axes: the mesh axes along which it runs, None where it follows none.
            groups: the devices among which it runs, to find how far apart they are.
        """
        named = dict(self.axes)
        along = [named[axis] for axis in axes or () if axis in named]
        if axes and len(along) == len(axes):
            return min(along, key=_speed)
        link = self.link
        for level in self.levels:
            size = level.devices
            if any(len({device // size for device in group}) > 1 for group in groups):
                link = level.link
        return min((*along, link), key=_speed)

    def is_said(self, axes: Sequence[str] | None) -> bool:
        """Return True if the link along one of the axes is said by name."""
        return any(name in (axes or ()) for name, _ in self.axes)

    def collective_seconds(
        self,
        kind: Ring,
        sent_bytes: int,
        group_size: int,
        axes: Sequence[str] | None = None,
        groups: Sequence[Sequence[int]] = (),
    ) -> float:
        """Return the time of one collective, from the bytes that each device sends."""
        link = self.link_of(axes, groups)
        return link.seconds_of_bytes(kind, sent_bytes, group_size)

    def to_json(self) -> str:
        """Return the machine as a file that `machine_of` reads."""
        data = {
            **asdict(self),
            "axes": {name: asdict(link) for name, link in self.axes},
            "product_passes": dict(self.product_passes),
        }
        return json.dumps(data, indent=2) + "\n"

    def __str__(self) -> str:
        """`generic: 100 TFLOP/s, memory 300 GB/s, link 12.5 GB/s, 1 us`."""
        flops, scale = 2 * self.operations_per_second, "T"
        if flops < 1e12:
            flops, scale = 1e3 * flops, "G"
        memory = self.memory_bytes_per_second / 1e9
        return (
            f"{self.name}: {_rounded(flops / 1e12)} {scale}FLOP/s,"
            f" memory {_rounded(memory)} GB/s, link {self.links_text}"
        )

    @property
    def links_text(self) -> str:
        """`12.5 GB/s, 1 us`, and the links of levels and axes."""
        links = [str(self.link)]
        links += [
            f"beyond {level.devices} devices {level.link}" for level in self.levels
        ]
        links += [f"along {name} {link}" for name, link in self.axes]
        return ", ".join(links)


def _rounded(figure: float) -> str:
    """Return three digits of a figure: `24.7`, `2,350`."""
    return f"{float(f'{figure:.3g}'):,g}"


def machine_data(machine: Machine) -> dict[str, Any]:
    """Return the figures of a machine for JSON; of a chip, those that any machine has."""
    names = {field.name for field in fields(Machine)}
    return {name: value for name, value in asdict(machine).items() if name in names}


def _speed(link: Link) -> float:
    return link.bytes_per_second


def _link_of(data: Any) -> Link:
    known: dict[str, Any] = dict(cast("Mapping[str, Any]", data))
    known["shape"] = Shape(known.get("shape", Shape.RING))
    return Link(**known)


def _convolving_of(data: Any) -> Convolving:
    into, out = data["features"]
    return Convolving((int(into), int(out)), float(data["operations_per_second"]))


CHIP_FIELDS = ("memory_bytes", "compiler")
"""The keys of a chip in a file besides its machine's: see `ttxdsl.costs.chips.chip_of`."""


def machine_of(text: str) -> Machine:
    """Return the machine of a file's text, which may be that of a chip.

    Raises:
        ValueError: the text is no machine.
    """
    try:
        data: Any = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError("it is no JSON object")
        known = dict(cast("Mapping[str, Any]", data))
        for field in CHIP_FIELDS:
            known.pop(field, None)
        if "link" in known:
            known["link"] = _link_of(known["link"])
        known["convolutions"] = tuple(
            _convolving_of(convolution) for convolution in known.get("convolutions", ())
        )
        known["levels"] = tuple(
            Level(int(level["devices"]), _link_of(level["link"]))
            for level in known.get("levels", ())
        )
        known["axes"] = tuple(
            (name, _link_of(link)) for name, link in known.get("axes", {}).items()
        )
        known["product_passes"] = tuple(
            (name, float(passes))
            for name, passes in known.get("product_passes", {}).items()
        )
        return Machine(**known)
    except (
        *(TypeError, KeyError, AttributeError, ArithmeticError, RecursionError),
    ) as error:
        raise ValueError(str(error)) from error


GENERIC = Machine()

_BOARD = Link(1e-6, 25e9, Shape.LINE)
_N300 = Machine(
    operations_per_second=131e12 / 2 / 2,
    memory_bytes_per_second=576e9 / 2,
    link=_BOARD,
    name="n300",
    op_seconds=2e-6,
    combine_bytes=0,
    overlap=0.0,
)

PRESETS: Mapping[str, Machine] = {
    machine.name: machine
    for machine in (
        GENERIC,
        _N300,
        replace(
            _N300, name="t3000", levels=(Level(2, Link(1e-6, 12.5e9, Shape.LINE)),)
        ),
        Machine(
            operations_per_second=275e12 / 2,
            memory_bytes_per_second=1228e9,
            link=Link(1e-6, 50e9, Shape.RING),
            name="tpu-v4",
        ),
        Machine(
            operations_per_second=197e12 / 2,
            memory_bytes_per_second=819e9,
            link=Link(1e-6, 50e9, Shape.RING),
            name="tpu-v5e",
        ),
        Machine(
            operations_per_second=989e12 / 2,
            memory_bytes_per_second=3350e9,
            link=Link(2e-6, 450e9, Shape.ALL),
            name="h100",
            op_seconds=2e-6,
            levels=(Level(8, Link(5e-6, 50e9, Shape.ALL)),),
        ),
    )
}
"""The machines that `--machine` knows by name."""
