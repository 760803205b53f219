"""Writing files: whole or not at all, never over what is read, tried before the work."""

import errno
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible

Content = str | Callable[[BinaryIO], object]
"""Of a file: its text, or what writes its bytes into a file that can seek."""

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def require_writable(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a file that may not or cannot be written, before the work that it is for.

    Args:
        path: of the file; it need not exist.
        inputs: files that are read. None of them may be this one under whatever name:
            links are followed. Devices and pipes may be both.

    Raises:
        CompileError: it is an input or a folder, or cannot be written.
    """
    try:
        status = _status(path)
        if status is None:
            _try_folder(path)
        elif stat.S_ISDIR(status.st_mode):
            raise _error(errno.EISDIR)
        elif not os.access(path, os.W_OK):
            raise _error(errno.EACCES)
        elif stat.S_ISREG(status.st_mode):
            _refuse_inputs(path, status, inputs)
            if _descriptor(path) is None:
                _try_folder(path)
    except OSError as error:
        raise _cannot_write(path, error) from error


def is_stream(path: Path) -> bool:
    """Whether a path names a device, a pipe or an open file: no file can be beside it."""
    with suppress(OSError):
        return _is_stream(path, _status(path))
    return False


def write_whole(path: Path, content: Content) -> None:
    """Write a file completely or not at all.

    An existing file keeps its mode; of a link the target is written. A device, a pipe,
    or an open file named as `/dev/stdout` or `/dev/fd/3` gets the content appended
    directly.

    Raises:
        CompileError: the file cannot be written; what was there before stays.
    """
    try:
        status = _status(path)
        if not _is_stream(path, status):
            _replace(path.resolve(), content, status)
            return
        descriptor = _descriptor(path)
        if descriptor is not None:
            sys.stdout.flush()
            descriptor = os.dup(descriptor)
        with open(path if descriptor is None else descriptor, "wb") as file:  # noqa: PTH123
            file.write(_bytes(content))
    except OSError as error:
        raise _cannot_write(path, error) from error


def _replace(path: Path, content: Content, status: os.stat_result | None) -> None:
    """Replace the file at a path by one with this content.

    Raises:
        OSError: it cannot be; nothing is left behind.
    """
    mode = 0o666 if status is None else stat.S_IMODE(status.st_mode)
    temporary = path.parent / f".ttxdsl-{os.urandom(8).hex()}"
    try:
        # the umask and the folder's rules hold for new files, as for any program's
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            if status is not None:
                _keep_rights(temporary, status)
            if isinstance(content, str):
                file.write(content.encode())
            else:
                content(file)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _keep_rights(path: Path, status: os.stat_result) -> None:
    """Copy a file's mode and, where permitted, its owner."""
    if sys.platform != "win32":
        with suppress(PermissionError):
            os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))


def _bytes(content: Content) -> bytes:
    if isinstance(content, str):
        return content.encode()
    buffer = BytesIO()
    content(buffer)
    return buffer.getvalue()


def _descriptor(path: Path) -> int | None:
    """Return the open file that a path names, which opening it again would empty."""
    name = os.path.abspath(path)  # noqa: PTH100 - links in it lead to what is open
    match = _DESCRIPTOR.fullmatch(name)
    return _STREAMS.get(name) if match is None else int(match[1])


def _is_stream(path: Path, status: os.stat_result | None) -> bool:
    irregular = status is not None and not stat.S_ISREG(status.st_mode)
    return irregular or _descriptor(path) is not None


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file, links followed; None if there is none."""
    descriptor = _descriptor(path)
    try:
        return path.stat() if descriptor is None else os.fstat(descriptor)
    except FileNotFoundError:
        return None


def _try_folder(path: Path) -> None:
    """Make a file beside, which is gone before it has a name where that can be."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise OSError(errno.ENOENT, "no such directory")
    with tempfile.TemporaryFile(dir=folder):
        pass


def _refuse_inputs(path: Path, status: os.stat_result, inputs: Iterable[Path]) -> None:
    for input in inputs:
        with suppress(OSError):
            if os.path.samestat(status, input.stat()):
                raise CompileError(
                    f"cannot write '{visible(str(path))}': it is the input"
                    f" '{visible(str(input))}'",
                    hint="name another file for what is written",
                )


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _cannot_write(path: Path, error: OSError) -> CompileError:
    reason = error.strerror or str(error)
    return CompileError(f"cannot write '{visible(str(path))}': {reason}")
