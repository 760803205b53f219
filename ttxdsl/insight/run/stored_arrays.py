"""Arrays of an `.npz` archive or a folder of `.npy` files, each looked at before it is read.

The archive is somebody else's: what a member says of itself (its name, its size, the
shape and the element type in its `.npy` header) is held against what is expected of it
before memory is taken for it, and what it then holds against what it said.

Source: PKWARE's APPNOTE for zip archives; NumPy's `numpy.lib.format` for `.npy`.
"""

import stat
import struct
import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, KeysView
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from errno import EINVAL
from lzma import LZMAError
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.kernels.elements import BOOL, DType

Array = NDArray[Any]

_DAMAGED = (
    BadZipFile,
    EOFError,
    IndexError,
    KeyError,
    LZMAError,
    OverflowError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What Python's and NumPy's readers raise for bytes that are no archive, no header, …"""

_NO_ARCHIVE = "it is no .npz archive of arrays"
_ENCRYPTED = 0x1
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""What stands before a member: its last two numbers are lengths of what follows."""
_SUFFIX = ".npy"
_LONGEST = 80
"""Characters of a name or of what a reader says that a message shows."""
_CHUNK = 1 << 20
"""Bytes to unpack at a time."""


@dataclass(frozen=True, slots=True)
class _Header:
    """The array header of an archive's member."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: DType


@dataclass(frozen=True, slots=True)
class _Opened:
    """A member to be read from its start, and its size in bytes."""

    stream: IO[bytes]
    size: int


class Archive(ABC):
    """Arrays with names, in one file or several."""

    path: Path

    @property
    @abstractmethod
    def names(self) -> KeysView[str]:
        """Of the arrays, without `.npy`."""

    @abstractmethod
    def _open(self, name: str) -> AbstractContextManager[_Opened]:
        """A member, as what holds it has it."""

    @abstractmethod
    def _place(self, name: str) -> tuple[Path, int] | None:
        """The file in which a member lies as it is, and where; None if in none."""

    def read(
        self, name: str, shape: tuple[int, ...], dtype: DType, expecting: str
    ) -> Array:
        """The array `name`, of `shape` and `dtype`; `expecting` is who expects these.

        Either byte order and either order of the dimensions will do, and raw bytes for
        the element types that NumPy does not have (bfloat16, float8, …), which it
        stores so.

        Raises:
            CompileError: it is of another shape or element type, no array of plain
                numbers, or damaged.
        """
        with self._member(name, shape, dtype, expecting) as (stream, header):
            return _array(_bytes(stream, prod(shape) * dtype.itemsize), header, dtype)

    def mapped(
        self, name: str, shape: tuple[int, ...], dtype: DType, expecting: str
    ) -> Array:
        """The same as `read`, left in the file where it lies there as it is.

        Raises:
            CompileError: as `read`.
        """
        with self._reading(name):
            place = self._place(name)
        if place is None or dtype == BOOL or 0 in shape:
            return self.read(name, shape, dtype, expecting)
        with self._member(name, shape, dtype, expecting) as (stream, header):
            before = stream.tell()
        if header.dtype.kind != "V" and header.dtype != dtype:
            return self.read(name, shape, dtype, expecting)
        path, start = place
        order = "F" if header.fortran_order else "C"
        with self._reading(name):
            file = np.memmap(path, dtype, "r", start + before, shape, order)
        return file.view(np.ndarray)

    @contextmanager
    def _member(
        self, name: str, shape: tuple[int, ...], dtype: DType, expecting: str
    ) -> Generator[tuple[IO[bytes], _Header]]:
        """A member behind its header, which says what is expected of it."""
        with self._reading(name), self._open(name) as opened:
            stream = opened.stream
            header = self._header(stream, name)
            if header.shape != shape:
                raise self._wrong(
                    name, f"has shape {header.shape}, but {expecting} has shape {shape}"
                )
            if not _stores(header.dtype, dtype):
                raise self._wrong(
                    name,
                    f"has element type {header.dtype}, but {expecting} has {dtype}",
                )
            size = prod(shape) * dtype.itemsize
            held = opened.size - stream.tell()
            if held != size:
                raise self._wrong(
                    name, f"is damaged: an array of {size} bytes, and {held} are there"
                )
            yield stream, header

    def _header(self, stream: IO[bytes], name: str) -> _Header:
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that Python 2 wrote it is all right
            version = npy.read_magic(stream)
            if version not in read:
                raise self._wrong(name, "is a structured array, or of a later NumPy")
            try:
                header = _Header(*read[version](stream))
            except (MemoryError, TokenError) as error:  # of Python's own parser
                raise ValueError("its header is no Python dictionary") from error
        if header.dtype.hasobject:
            raise self._wrong(name, "holds Python objects (pickle), not numbers")
        if header.dtype.names is not None or header.dtype.subdtype is not None:
            raise self._wrong(name, f"has structured elements: {header.dtype}")
        return header

    @contextmanager
    def _reading(self, name: str) -> Generator[None]:
        try:
            yield
        except NotImplementedError as error:
            raise self._wrong(name, f"cannot be unpacked: {error}") from error
        except _DAMAGED as error:
            raise self._wrong(
                name, f"is damaged: {shown(str(error)) or type(error).__name__}"
            ) from error

    def _wrong(self, name: str, reason: str) -> CompileError:
        return CompileError(f"'{shown(name)}' in '{self.path}' {reason}")


class _Zip(Archive):
    """An open `.npz` archive; names are in its order."""

    def __init__(self, path: Path, file: ZipFile) -> None:
        """Look at the names of all members, and at none of them inside."""
        self.path = path
        self._file = file
        self._members: dict[str, ZipInfo] = {}
        for info in file.infolist():
            name = info.filename.removesuffix(_SUFFIX)
            if name == info.filename:
                raise self._wrong(name, "is no array: its name does not end in .npy")
            if name in self._members:
                raise self._wrong(name, "is there twice")
            self._members[name] = info

    @property
    def names(self) -> KeysView[str]:
        return self._members.keys()

    @contextmanager
    def _open(self, name: str) -> Generator[_Opened]:
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise self._wrong(name, "is encrypted")
        with self._file.open(info) as stream:
            yield _Opened(stream, info.file_size)

    def _place(self, name: str) -> tuple[Path, int] | None:
        info = self._members[name]
        if info.compress_type != ZIP_STORED:
            return None
        # of the file's own head only the lengths of two fields are of interest
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            *_, names, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        return self.path, info.header_offset + _LOCAL_HEADER.size + names + extra


class _Folder(Archive):
    """A folder with `.npy` files, and whatever else, which is not looked at."""

    def __init__(self, path: Path) -> None:
        """Look at the names."""
        self.path = path
        files = sorted(file for file in path.iterdir() if file.suffix == _SUFFIX)
        self._files = {file.stem: file for file in files}

    @property
    def names(self) -> KeysView[str]:
        return self._files.keys()

    @contextmanager
    def _open(self, name: str) -> Generator[_Opened]:
        file = self._files[name]
        if not file.is_file():  # one that is no file may never end
            raise self._wrong(name, "is no regular file")
        with file.open("rb") as stream:
            yield _Opened(stream, file.stat().st_size)

    def _place(self, name: str) -> tuple[Path, int] | None:
        return self._files[name], 0


@contextmanager
def open_archive(path: Path) -> Generator[Archive]:
    """An `.npz` archive or a folder of `.npy` files, open as long as it is needed.

    Raises:
        CompileError: it cannot be read or is none.
    """

    def refused(reason: str) -> CompileError:
        return CompileError(f"cannot read inputs from '{path}': {reason}")

    try:
        if path.is_dir():
            yield _Folder(path)
            return
        if not stat.S_ISREG(path.stat().st_mode):
            raise refused("it is no regular file")
        with path.open("rb") as file:
            start = file.read(len(npy.MAGIC_PREFIX))
            if not start:
                raise refused("it is empty")
            if start == npy.MAGIC_PREFIX:
                raise refused(
                    "it is a single array (.npy); give its folder, or use numpy.savez"
                )
            try:
                archive = ZipFile(file)
            except (*_DAMAGED, NotImplementedError) as error:
                raise refused(_NO_ARCHIVE) from error
            with archive:
                yield _Zip(path, archive)
    except OSError as error:
        # a place in the file that cannot be is an invalid argument of a seek
        reason = None if error.errno == EINVAL else error.strerror
        raise refused(reason or _NO_ARCHIVE) from error


def shown(text: str) -> str:
    """Return a file's text for a message: on one line, and cut if it is long."""
    cut = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return cut if cut.isprintable() else repr(cut)[1:-1]


def _stores(stored: DType, dtype: DType) -> bool:
    """Whether elements of a file's type are those of `dtype`."""
    if stored.kind == "V" and dtype.isbuiltin != 1:
        return stored.itemsize == dtype.itemsize
    return stored.newbyteorder("=") == dtype


def _chunks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = stream.read(min(left, _CHUNK))
        if not chunk:
            raise EOFError("it ends early")
        left -= len(chunk)
        yield chunk
    # reading on at the end is what compares the checksum
    stream.read(1)


def _bytes(stream: IO[bytes], size: int) -> Array:
    data = np.empty(size, np.uint8)
    at = 0
    for chunk in _chunks(stream, size):
        data[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
        at += len(chunk)
    return data


def _array(data: Array, header: _Header, dtype: DType) -> Array:
    flat: Array
    if dtype == BOOL:
        flat = data != 0
    elif header.dtype.kind == "V":
        flat = data.view(dtype)
    else:
        flat = data.view(header.dtype).astype(dtype, copy=False)
    if header.fortran_order:
        return flat.reshape(header.shape[::-1]).transpose()
    return flat.reshape(header.shape)
