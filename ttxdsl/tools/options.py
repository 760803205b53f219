"""What several commands share: options of the compiler, and writing files."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttxdsl.errors import CompileError
from ttxdsl.sharding.links import DEFAULT_LINK, Link
from ttxdsl.sharding.units import parse_bytes

# commands that run nothing start faster without
if TYPE_CHECKING:
    from ttxdsl.interpreters.limits import Limits

FORMS = ("sdy", "stablehlo", "ttir", "ttnn")
"""What `--emit` prints: after stage 10, after stage 13, and after each lowering."""

SDY_STAGE = 10
"""The last stage of the form `sdy`."""


def sizes(text: str) -> tuple[int, ...]:
    """Numbers like `2,4` or `2x4`.

    Raises:
        argparse.ArgumentTypeError: the text is no such list.
    """
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list like 2,4") from None


def add_compiler_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the thirteen stages and of the lowerings."""
    parser.add_argument(
        "--mesh-shape",
        type=sizes,
        default=(),
        metavar="1,N",
        help="devices, see stage 4",
    )
    parser.add_argument(
        "--argument-types", metavar="TEXT", help="main=input,parameter; see stage 2"
    )
    parser.add_argument(
        "--automatic-arg-analysis",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="find the batch of a program without shardings",
    )
    parser.add_argument(
        "--result-presharded",
        type=sizes,
        default=(),
        metavar="1,0",
        help="see stage 3",
    )
    parser.add_argument(
        "--num-links", type=int, default=1, help="links of ttnn collectives (1)"
    )


def add_stage_options(parser: argparse.ArgumentParser) -> None:
    """Add what may be watched and refused while the thirteen stages run."""
    parser.add_argument(
        "--dump-dir",
        type=Path,
        metavar="DIR",
        help="write NN-stage.mlir after each stage",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse what would be computed replicated with a warning",
    )


def partition_options(options: argparse.Namespace) -> dict[str, Any]:
    """What `add_compiler_options` read, as arguments of `Program.partition`."""
    return {
        "mesh": options.mesh_shape,
        "argument_types": options.argument_types,
        "automatic_arg_analysis": options.automatic_arg_analysis,
        "result_presharded": options.result_presharded,
    }


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add how far a run may go."""
    parser.add_argument(
        "--max-memory",
        type=size_of,
        metavar="SIZE",
        help="refuse what needs more memory, 8GiB (three quarters of what is free)",
    )
    parser.add_argument(
        "--max-steps",
        type=count_of,
        metavar="N",
        help="turns that the loops of a run may take together (any number)",
    )


def limits_of(options: argparse.Namespace) -> Limits:
    """What `add_limit_options` read."""
    from ttxdsl.interpreters.limits import Limits

    return Limits(options.max_memory, options.max_steps)


def size_of(text: str) -> int:
    """A number of bytes like `8GiB`.

    Raises:
        argparse.ArgumentTypeError: the text is no size.
    """
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def count_of(text: str) -> int:
    """A whole number from 1 up.

    Raises:
        argparse.ArgumentTypeError: the text is no such number.
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 up")
    return number


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


def add_link_options(parser: argparse.ArgumentParser) -> None:
    """Add the speed and latency of the links that times are modelled with."""
    parser.add_argument(
        "--link-gbps",
        type=positive,
        default=DEFAULT_LINK.bytes_per_second / 1e9,
        metavar="GB",
        help="gigabytes that a link carries in a second (12.5)",
    )
    parser.add_argument(
        "--latency-us",
        type=_not_negative,
        default=DEFAULT_LINK.latency * 1e6,
        metavar="US",
        help="microseconds until a message is there (1)",
    )


def link_of(options: argparse.Namespace) -> Link:
    """What `add_link_options` read."""
    return Link(options.latency_us * 1e-6, options.link_gbps * 1e9)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`: one JSON object on standard output in place of tables."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, no tables"
    )


def finite(number: float) -> float | None:
    """The number for JSON, None for a NaN or an infinity, which JSON has not."""
    return number if math.isfinite(number) else None


def print_json(data: Any) -> None:
    """Write one JSON value on standard output.

    Raises:
        TypeError: the data has something that JSON has not.
        ValueError: there is a NaN or an infinity, which have to be None or text here.
    """
    sys.stdout.write(json.dumps(data, indent=2, allow_nan=False) + "\n")


def require_folder(path: Path | None) -> None:
    """Refuse a file that could not be written, before the work that it is for.

    Raises:
        CompileError: there is no such folder; None, standard output, needs none.
    """
    if path is not None and not path.parent.is_dir():
        raise CompileError(f"cannot write '{path}': no such directory")


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all.

    A link stays, and the file that it leads to is written; a device or a pipe gets the
    text as it is.

    Raises:
        CompileError: the file cannot be written; what was there before stays.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text)
    except OSError as error:
        raise CompileError(f"cannot write '{path}': {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    """Put a file with this text in the place of what is there.

    Raises:
        OSError: it cannot be; nothing is left behind.
    """
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        temporary = Path(file.name)
        try:
            file.write(text)
            file.close()
            umask = os.umask(0)
            os.umask(umask)
            temporary.chmod(0o666 & ~umask)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
