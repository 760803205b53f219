"""Options that say which machine times are modelled with."""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ttxdsl.cli.options.common import Parser, unknown_name
from ttxdsl.costs.chips import CHIPS, Chip, chip_named, chip_of
from ttxdsl.costs.links import DEFAULT_LINK, Link, Shape
from ttxdsl.costs.machines import GENERIC, PRESETS, Machine, machine_of
from ttxdsl.diagnostics.display import finite
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.diagnostics.sanitize import visible


def positive(text: str) -> float:
    """A finite number above 0.

    Raises:
        argparse.ArgumentTypeError: the text is no such number.
    """
    number = _number(text)
    if number is None or number <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
    return number


def _not_negative(text: str) -> float:
    number = _number(text)
    if number is None or number < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 up")
    return number


def _number(text: str) -> float | None:
    try:
        return finite(float(text))
    except ValueError:
        return None


def add_machine_options(parser: Parser) -> None:
    """Add the machine whose times are modelled, and its options."""
    parser.add_argument(
        "--machine",
        default=GENERIC.name,
        metavar="NAME",
        help=f"{', '.join(PRESETS)}, or a file of `ttxdsl calibrate` (generic)",
    )
    parser.add_argument(
        "--operations",
        type=positive,
        metavar="N",
        help="multiply-adds of a device in a second",
    )
    parser.add_argument(
        "--memory-gbps",
        type=positive,
        metavar="GB",
        help="gigabytes that a device reads and writes in a second",
    )
    parser.add_argument(
        "--link-gbps",
        type=positive,
        metavar="GB",
        help="gigabytes that a link carries in a second, in one direction",
    )
    parser.add_argument(
        "--latency-us",
        type=_not_negative,
        metavar="US",
        help="microseconds until a message is there",
    )
    parser.add_argument(
        "--link-shape",
        choices=[shape.value for shape in Shape],
        help="how the devices of a group are connected",
    )
    add_axis_link_option(parser)


def add_axis_link_option(parser: Parser) -> None:
    """Add the links along mesh axes."""
    parser.add_argument(
        "--axis-link",
        type=_axis_link,
        action="append",
        default=[],
        metavar="AXIS=GB[:US[:SHAPE]]",
        help="the link along a mesh axis, data=5:10:line; again for another axis",
    )


def add_chip_options(parser: Parser, *, slices: bool = True) -> None:
    """Add the chip that each device is, and in how many slices they are."""
    parser.add_argument(
        "--chip",
        type=chip_of_text,
        metavar="NAME",
        help=(
            f"what each device is: {', '.join(CHIPS)}; times and memory are those of"
            " `ttxdsl plan`, and its memory is the limit"
        ),
    )
    if slices:
        add_slices_option(parser)


def add_slices_option(parser: Parser) -> None:
    """Add in how many slices the chips are."""
    parser.count(
        "--slices",
        "slices with a network of chips each; consecutive devices are in one (1)",
        1,
    )


def chip_of_options(options: argparse.Namespace) -> Chip | None:
    """Return the chip that was asked for, with the links along axes."""
    if options.chip is None:
        return None
    return replace(options.chip, axes=tuple(options.axis_link))


def chip_of_text(text: str) -> Chip:
    """Return the chip of an option: by its name, or that of a file `calibrate` wrote."""
    try:
        if text.endswith(".json"):
            return chip_of(Path(text).read_text())
        return chip_named(text)
    except (OSError, ValueError) as error:
        if not text.endswith(".json"):
            raise unknown_name("chip", text, CHIPS) from None
        raise argparse.ArgumentTypeError(str(error)) from error


def _axis_link(text: str) -> tuple[str, Link]:
    name, _, numbers = text.partition("=")
    parts = numbers.split(":")
    shapes = [shape.value for shape in Shape]
    if len(parts) == 3 and parts[2] not in ("", *shapes):
        raise unknown_name("shape of a link", parts[2], shapes)
    try:
        speed, latency, shape = (*parts, *("", "", "")[len(parts) :])
        return name, Link(
            float(latency) * 1e-6 if latency else DEFAULT_LINK.latency,
            float(speed) * 1e9,
            Shape(shape or Shape.RING),
        )
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is no link like data=12.5, data=12.5:1 or data=12.5:1:line"
        ) from None


def require_axes(options: argparse.Namespace, axes: Iterable[tuple[str, int]]) -> None:
    """Hold the links along axes to the axes that there are.

    Args:
        axes: name and size of all axes of the meshes that times are modelled of.

    Raises:
        CompileError: a link is along none of them.
    """
    known: dict[str, int] = {}
    for name, size in axes:
        known[name] = max(size, known.get(name, 1))
    larger = [name for name, size in known.items() if size > 1] or list(known)
    for name, _ in options.axis_link:
        if name not in known:
            raise CompileError(
                f"--axis-link {visible(name)}=…: no mesh has an axis of that name",
                hint=near_hint([name], map(visible, larger), "axes"),
            )


def machine_of_options(options: argparse.Namespace) -> Machine:
    """Return the machine that `add_machine_options` read.

    Raises:
        CompileError: the machine is no preset, and no file that can be read.
    """
    name: str = options.machine
    machine = PRESETS.get(name)
    if machine is None:
        try:
            machine = machine_of(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise CompileError(
                f"'{name}' is no machine: {reason}",
                hint=near_hint(
                    [name], (*PRESETS, "FILE of `ttxdsl calibrate`"), "machines"
                ),
            ) from error
    changed: dict[str, Any] = {}
    if options.operations is not None:
        changed["operations_per_second"] = options.operations
    if options.memory_gbps is not None:
        changed["memory_bytes_per_second"] = options.memory_gbps * 1e9
    link: dict[str, Any] = {}
    if options.link_gbps is not None:
        link["bytes_per_second"] = options.link_gbps * 1e9
    if options.latency_us is not None:
        link["latency"] = options.latency_us * 1e-6
    if options.link_shape is not None:
        link["shape"] = Shape(options.link_shape)
    if link:
        # the values are those of all links
        changed["link"] = replace(machine.link, **link)
        changed["levels"] = ()
    axes = (*machine.axes, *options.axis_link)
    return replace(machine, **changed, axes=axes)
