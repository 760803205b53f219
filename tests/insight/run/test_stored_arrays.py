"""Archives of inputs that are damaged, hostile or of another kind."""

import io
import os
import random
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.lib import format as npy

import ttxdsl
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.cli.main import main as command
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.run.inputs import load_inputs
from ttxdsl.loading.program import parse_program

X = np.arange(12, dtype=np.float32).reshape(3, 4)
FLAGS = np.array([True, False, True, True, False])


def function(*types: str):
    arguments = ", ".join(f"%a{at}: tensor<{one}>" for at, one in enumerate(types))
    return entry_function(parse_program(f"func.func @main({arguments}) {{ return }}"))


MAIN = function("3x4xf32", "5xi1")


def npy_bytes(descr: str, shape: str, data: bytes, order: str = "False") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n"
    size = struct.pack("<H", len(header))
    return npy.magic(1, 0) + size + header.encode("latin1") + data


def saved(array: Any, *, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, data in members:
            file.writestr(name, data)
    return stream.getvalue()


def first(data: bytes) -> bytes:
    """An archive whose second array is fine."""
    return zipped(("arg0.npy", data), ("arg1.npy", saved(FLAGS)))


def refused(tmp_path: Path, archive: bytes) -> str:
    path = tmp_path / "in.npz"
    path.write_bytes(archive)
    with pytest.raises(CompileError) as error:
        load_inputs(path, MAIN)
    message = str(error.value)
    assert "in.npz" in message
    assert "\n" not in message
    return message


GOOD = first(saved(X))
F32 = X.tobytes()


def encrypted() -> bytes:
    """`GOOD` with the flag that says that the first member is."""
    data = bytearray(GOOD)
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def longer_than_it_is() -> bytes:
    """The directory says more bytes of the first member than there are."""
    data = bytearray(GOOD)
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<I", 1 << 31)
    return bytes(data)


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        (b"", "it is empty"),
        (b"hello", "it is no .npz archive"),
        (saved(X), "it is a single array (.npy); give its folder, or use numpy.savez"),
        (GOOD[: len(GOOD) // 2], "it is no .npz archive"),
        (GOOD[:40] + b"\0\0\0\0" + GOOD[44:], "'arg0' in"),
        (encrypted(), "is encrypted"),
        (longer_than_it_is(), "is damaged: an array of 48 bytes, and 2147483520 are"),
        (first(b""), "is damaged"),
        (first(b"\x93NUMPY\x01"), "is damaged"),
        (first(saved(X)[:-1]), "an array of 48 bytes, and 47 are there"),
        (first(saved(X) + b"\0"), "an array of 48 bytes, and 49 are there"),
        (
            first(npy_bytes("'<f4'", "(3, -4)", F32)),
            "has shape (3, -4), but argument 0",
        ),
        (first(npy_bytes("'<f4'", "(3, 10**9)", F32)), "is damaged"),
        (
            first(npy_bytes("'<f4'", "(3, 99999999999)", F32)),
            "has shape (3, 99999999999)",
        ),
        (first(npy_bytes("'<f4'", "12", F32)), "is damaged"),
        (first(npy_bytes("'<f9'", "(3, 4)", F32)), "is damaged"),
        (first(npy_bytes("[('a', '<f2'), ('b', '<i2')]", "(3, 4)", F32)), "structured"),
        (first(npy_bytes("('<f2', (2,))", "(3, 4)", F32)), "structured elements"),
        (first(npy_bytes("'|V4'", "(3, 4)", F32)), "has element type |V4"),
        (first(npy_bytes("'<i4'", "(3, 4)", F32)), "has element type int32"),
        (first(npy_bytes("'<U1'", "(3, 4)", F32)), "has element type <U1"),
        (first(npy_bytes("(" * 5000 + ")" * 5000, "(3, 4)", F32)), "is damaged"),
        (first(npy.magic(3, 0) + saved(X)[8:]), "is a structured array"),
        (first(npy.magic(9, 9) + saved(X)[8:]), "or of a later NumPy"),
        (first(npy_bytes("(", "(3, 4)", F32)), "is no Python dictionary"),
        (first(saved(np.array([{}] * 12, object), allow_pickle=True)), "(pickle)"),
        (zipped(("arg0.npz", GOOD)), "'arg0.npz' in"),
        (zipped(("arg0.npy/", b"")), "is no array"),
        (zipped(("notes.txt", b"hi")), "its name does not end in .npy"),
        (zipped(("arg0.npy", saved(X)), ("arg0.npy", saved(X))), "is there twice"),
        (zipped(("a\nb\x1b.npy", saved(X))), r"it has a\nb\x1b"),
        (
            zipped(*((f"{at}.npy", b"") for at in range(99))),
            "0, 1, 2, 3, 4, 5, 6, 7, …",
        ),
    ],
)
def test_what_is_no_archive_of_arrays(tmp_path: Path, archive: bytes, reason: str):
    assert reason in refused(tmp_path, archive)


def test_a_file_that_is_none(tmp_path: Path):
    for path, reason in (
        (tmp_path / "no.npz", "No such file"),
        (tmp_path, "has no array 'arg0'; it has nothing"),
        (Path("/dev/zero"), "it is no regular file"),
    ):
        with pytest.raises(CompileError, match=reason):
            load_inputs(path, MAIN)


@pytest.mark.parametrize("shape", ["(3, 4)", "(8388608,)"])
def test_a_bomb_is_not_unpacked(tmp_path: Path, shape: str):
    """32 MiB of zeros in 32 KiB, with a header that fits the argument or the zeros."""
    bomb = first(npy_bytes("'<f4'", shape, bytes(1 << 25)))
    tracemalloc.start()
    try:
        message = refused(tmp_path, bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "and 33554432 are there" in message or "has shape (8388608,)" in message
    assert peak < 1 << 22


@pytest.mark.parametrize(
    "write",
    [
        lambda stream: np.savez(stream, arg0=X, arg1=FLAGS),
        lambda stream: np.savez_compressed(stream, X, FLAGS),
        lambda stream: np.savez(stream, arg0=np.asfortranarray(X), arg1=FLAGS),
        lambda stream: np.savez(stream, arg0=X.astype(">f4"), arg1=FLAGS),
        lambda stream: np.savez(
            stream, arr_0=np.asfortranarray(X.astype(">f4")), arg1=FLAGS
        ),
        lambda stream: stream.write(
            zipped(
                ("arg1.npy", npy_bytes("'|b1'", "(5,)", b"\x02\x00\x80\x01\x00")),
                ("arg0.npy", npy_bytes("'<f4'", "(3L, 4L)", F32)),
                method=zipfile.ZIP_LZMA,
            )
        ),
    ],
)
def test_every_way_to_store_an_array(tmp_path: Path, write: Callable[[Any], Any]):
    path = tmp_path / "in.npz"
    with path.open("wb") as stream:
        write(stream)
    x, flags = load_inputs(path, MAIN)
    assert x.dtype == np.float32
    assert np.array_equal(x, X)
    assert flags.view(np.uint8).tolist() == [1, 0, 1, 1, 0]


def test_types_that_numpy_does_not_have(tmp_path: Path):
    path = tmp_path / "in.npz"
    values = np.array([1.5, -2], ml_dtypes.bfloat16), np.array(-3, ml_dtypes.int4)
    np.savez(path, *values)
    for found, value in zip(
        load_inputs(path, function("2xbf16", "i4")), values, strict=True
    ):
        assert found.dtype == value.dtype
        assert np.array_equal(found, value)


def test_flipped_bytes_are_found(tmp_path: Path):
    path, chance = tmp_path / "in.npz", random.Random(0)
    for _ in range(300):
        data = bytearray(GOOD)
        for _ in range(chance.choice((1, 3))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.choice((None, -chance.randrange(len(data))))])
        try:
            x, flags = load_inputs(path, MAIN)
        except CompileError:
            continue
        assert np.array_equal(x, X)
        assert np.array_equal(flags, FLAGS)


# --- folders ------------------------------------------------------------------------


def test_a_folder_stays_in_its_files(tmp_path: Path):
    """Raw bytes are bfloat16; predicates and other byte orders are read."""
    wide = np.arange(6, dtype=">i4")
    half = np.array([1.5, -2], ml_dtypes.bfloat16)
    named: list[tuple[str, Any]] = [
        ("arg0", np.asfortranarray(X)),
        ("arr_1", FLAGS),
        ("arg2", wide),
        ("arg3", half.view("V2")),
    ]
    for name, value in named:
        np.save(tmp_path / f"{name}.npy", value)
    (tmp_path / "README").write_text("no array, and not looked at")
    main = function("3x4xf32", "5xi1", "6xi32", "2xbf16")
    found = load_inputs(tmp_path, main)
    for x, wanted in zip(found, (X, FLAGS, wide, half), strict=True):
        assert np.array_equal(x, wanted)
        assert type(x) is np.ndarray
    assert found[2].dtype == np.int32
    with (tmp_path / "arg0.npy").open("r+b") as file:
        file.seek(-4, io.SEEK_END)
        file.write(np.float32(99).tobytes())
    assert found[0][-1, -1] == 99
    with pytest.raises(ValueError, match="read-only"):
        found[0][0, 0] = 1


def test_a_folder_is_refused_as_an_archive_is(tmp_path: Path):
    def refuses(reason: str) -> None:
        with pytest.raises(CompileError, match=reason):
            load_inputs(tmp_path, MAIN)

    refuses("has no array 'arg0'; it has nothing")
    np.save(tmp_path / "arg0.npy", X)
    os.mkfifo(tmp_path / "arg1.npy")
    refuses("'arg1' in '.*' is no regular file")
    (tmp_path / "arg1.npy").unlink()
    (tmp_path / "arg1.npy").write_bytes(saved(FLAGS)[:-1])
    refuses("'arg1' in '.*' is damaged: an array of 5 bytes, and 4 are there")
    np.save(tmp_path / "arg1.npy", FLAGS)
    np.save(tmp_path / "other.npy", FLAGS)
    refuses("arrays that are no argument of 2: other")
    (tmp_path / "other.npy").unlink()
    (tmp_path / "arg0.npy").write_bytes(b"")
    refuses("'arg0' in '.*' is damaged")
    np.save(tmp_path / "arg0.npy", X.T)
    refuses(r"has shape \(4, 3\), but argument 0")


def test_commands_take_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main_of = Path(__file__).parents[3] / "examples" / "mlp_data_tensor_parallel.mlir"
    program = ttxdsl.load(main_of)
    inputs = program.random_inputs(1)
    for at, value in enumerate(inputs):
        np.save(tmp_path / f"arg{at}.npy", value)
    assert command(["run", str(main_of), "--inputs", str(tmp_path)]) == 0
    assert "FAIL" not in capsys.readouterr().out
