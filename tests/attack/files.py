"""Damaged `.npz` files as inputs of a program.

outcomes = check_files(7)
"""

import io
import random
import struct
import tempfile
import zipfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np

from tests.attack.commands import examine, in_process
from tests.differential.campaign import Outcome

PROGRAM = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4xi8>, %c: tensor<bf16>) -> (tensor<4x6xf32>, tensor<4xi8>, tensor<bf16>) {
  %0 = stablehlo.add %a, %a : tensor<4x6xf32>
  return %0, %b, %c : tensor<4x6xf32>, tensor<4xi8>, tensor<bf16>
}
"""
ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "arg0": np.arange(24, dtype=np.float32).reshape(4, 6),
    "arg1": np.arange(4, dtype=np.int8),
    "arg2": np.zeros((), "V2"),
}
"""What the program takes."""

_STRANGE: tuple[Any, ...] = (
    np.array("text"),
    np.array([b"bytes", b"more"]),
    np.array(["2020-01-01"], "datetime64[D]"),
    np.zeros(3, [("a", "f4"), ("b", "i2")]),
    np.zeros((0, 6), np.float32),
    np.asfortranarray(np.zeros((4, 6), np.float32)),
    np.zeros((4, 6), ">f4"),
    np.zeros((4, 6), np.complex64),
    np.zeros((4, 6), np.longdouble),
    np.zeros((), "V4"),
    np.zeros(4, bool),
)
"""Arrays that are no inputs of the program."""

_HEADERS = (
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }",
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 6), }",
    b"{'descr': '<f4', 'fortran_order': False, 'shape': (-4, -6), }",
    b"{'descr': '|O', 'fortran_order': False, 'shape': (4, 6), }",
    b"{'descr': '<f999', 'fortran_order': False, 'shape': (4, 6), }",
    b"{'descr': [('a', '<f4')], 'fortran_order': 7, 'shape': 4, }",
    b"{'shape': ()}",
    b"(" * 300,
    b"[" * 5000,
    b"\xff\xfe",
    b"__import__('os')",
    b"",
)


def _npy(header: bytes, data: bytes, version: int) -> bytes:
    """An array file with a header of one's own."""
    size = struct.pack("<H" if version == 1 else "<I", len(header) % (1 << 16))
    return b"\x93NUMPY" + bytes((version, 0)) + size + header + data


def _members(rng: random.Random) -> dict[str, bytes]:
    """The members of an archive, some of them strange."""
    found: dict[str, bytes] = {}
    for name, array in ARRAYS.items():
        stream = io.BytesIO()
        if rng.random() < 0.08:
            array = rng.choice(_STRANGE)
        np.lib.format.write_array(stream, array, allow_pickle=False)
        content = stream.getvalue()
        if rng.random() < 0.06:
            content = _npy(
                rng.choice(_HEADERS), content[-96:], rng.choice((1, 2, 3, 9))
            )
        if rng.random() < 0.02:
            continue
        if rng.random() < 0.04:
            name = rng.choice(
                ("arg7", "arr_0", "../arg0", "arg0", "", "\x1b[31m", "[/]", "é")
            )
        found[name if rng.random() < 0.02 else f"{name}.npy"] = content
    return found


def archive_of(seed: int) -> bytes:
    """The bytes of an archive, damaged or not."""
    rng = random.Random(f"files {seed}")
    stream = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in _members(rng).items():
            if name:  # which the library cannot write
                archive.writestr(name, content)
    content = bytearray(stream.getvalue())
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2, 8))):
        at = rng.randrange(len(content))
        match rng.randrange(5):
            case 0:
                del content[at:]
                content += b"\0" * (not content)
            case 1:
                del content[at : at + rng.randint(1, 40)]
            case 2:
                content[at:at] = rng.randbytes(rng.randint(1, 40))
            case _:
                content[at] = rng.randrange(256)
        content = content or bytearray(b"\0")
    return bytes(content)


def check_files(seed: int) -> list[Outcome]:
    """What `run` or `interpret` do with an archive.

    Raises:
        Exception: see `tests.attack.commands`.
    """
    command, option = (("run", "--inputs"), ("interpret", "--args"))[seed % 4 > 0]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("program.mlir").write_text(PROGRAM)
        Path("inputs.npz").write_bytes(archive_of(seed))
        words = [command, "program.mlir", option, "inputs.npz"]
        return [(f"{command} {option}", examine(words, in_process(words)))]


def reproducer(seed: int) -> str:
    """How to make the archive of a seed."""
    return f"// tests.attack.files.archive_of({seed})\n{PROGRAM}"
