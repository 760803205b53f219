"""A worker that runs tt-mlir's library, each request in a process that may abort.

The library takes a second to load and most programs a fiftieth of one, so a worker
(`ttxdsl.loading.worker`) loads it once, and a fork of it serves each request. The fork
gives the module to the library through PJRT's C API (`Plugin_Initialize`,
`Client_Create`, `Client_Compile`), which prints its modules to standard error. An
answer is that log, the fork's exit code, and the library's error message, if any.
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import tempfile
from ctypes import POINTER, c_char_p, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

# the fields of `PJRT_Api` after its size, extensions and version, in order
_FIRST_FUNCTION = 5
_FUNCTIONS = (
    "Error_Destroy", "Error_Message", "Error_GetCode", "Plugin_Initialize",
    "Plugin_Attributes", "Event_Destroy", "Event_IsReady", "Event_Error", "Event_Await",
    "Event_OnReady", "Client_Create", "Client_Destroy", "Client_PlatformName",
    "Client_ProcessIndex", "Client_PlatformVersion", "Client_Devices",
    "Client_AddressableDevices", "Client_LookupDevice",
    "Client_LookupAddressableDevice", "Client_AddressableMemories", "Client_Compile",
)  # fmt: skip

OPTIONS = bytes.fromhex("1a0f08ffffffffffffffffff0120012801")
"""XLA's `CompileOptionsProto`: any device, one replica, one partition."""


class _Arguments(ctypes.Structure):
    """The fields that every structure of arguments begins with."""

    _fields_ = [("struct_size", c_size_t), ("extensions", c_void_p)]


class _ErrorMessage(_Arguments):
    _fields_ = [("error", c_void_p), ("message", c_void_p), ("size", c_size_t)]


class _ClientCreate(_Arguments):
    _fields_ = [
        ("options", c_void_p),
        ("options_count", c_size_t),
        ("key_value_get", c_void_p * 2),
        ("key_value_put", c_void_p * 2),
        ("client", c_void_p),
        ("key_value_try_get", c_void_p * 2),
    ]


class _Program(_Arguments):
    _fields_ = [
        ("code", c_char_p),
        ("code_size", c_size_t),
        ("format", c_char_p),
        ("format_size", c_size_t),
    ]


class _ClientCompile(_Arguments):
    _fields_ = [
        ("client", c_void_p),
        ("program", c_void_p),
        ("options", c_char_p),
        ("options_size", c_size_t),
        ("executable", c_void_p),
    ]


class _Api:
    """The functions of a plug-in."""

    def __init__(self, library: str) -> None:
        entry = ctypes.CDLL(library).GetPjrtApi
        entry.restype = POINTER(c_void_p)
        self._table = entry()

    def call(self, name: str, arguments: _Arguments) -> str | None:
        """Call a function; return its error message, or None."""
        error = self._raw(name, arguments)
        if not error:
            return None
        message = _ErrorMessage(error=error)
        self._raw("Error_Message", message)
        return ctypes.string_at(message.message, message.size).decode(errors="replace")

    def _raw(self, name: str, arguments: _Arguments) -> int | None:
        arguments.struct_size = ctypes.sizeof(arguments)
        address = self._table[_FIRST_FUNCTION + _FUNCTIONS.index(name)]
        function = ctypes.CFUNCTYPE(c_void_p, c_void_p)(address)
        return function(ctypes.addressof(arguments))


def _ask(api: _Api, code: bytes) -> str | None:
    created = _ClientCreate()
    failed = api.call("Plugin_Initialize", _Arguments()) or api.call(
        "Client_Create", created
    )
    if failed:
        return failed
    program = _Program(code=code, code_size=len(code), format=b"mlir", format_size=4)
    program.struct_size = ctypes.sizeof(program)
    return api.call(
        "Client_Compile",
        _ClientCompile(
            client=created.client,
            program=ctypes.addressof(program),
            options=OPTIONS,
            options_size=len(OPTIONS),
        ),
    )


def _answered(
    api: _Api, code: bytes, descriptor: str, timeout: float
) -> dict[str, Any]:
    """Serve a request in a fork, which has a folder of its own for the library's files.

    The library writes the machine's description to a file of a fixed name, and ends
    with a segmentation fault if another process writes it meanwhile.
    """
    with (
        tempfile.TemporaryFile() as log,
        tempfile.TemporaryFile() as file,
        tempfile.TemporaryDirectory(prefix="ttxdsl-tt-") as own,
    ):
        child = os.fork()
        if not child:
            os.dup2(log.fileno(), 2)
            os.environ["TMPDIR"] = own
            os.environ["TT_COMPILE_ONLY_SYSTEM_DESC"] = descriptor
            message = _ask(api, code)
            os.write(file.fileno(), json.dumps(message).encode())
            # without taking down what the library has set up
            os._exit(0)
        watched = os.pidfd_open(child)
        ended, _, _ = select.select([watched], [], [], timeout)
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(watched)
        log.seek(0)
        file.seek(0)
        return {
            "log": log.read().decode(errors="replace"),
            "code": os.waitstatus_to_exitcode(status) if ended else None,
            "message": json.loads(file.read() or b"null"),
        }


def _loaded(library: str) -> _Api:
    """Load the library, one process of a user at a time.

    It unpacks what it needs into a folder that all its processes share, and ends one
    that finds another at it.
    """
    lock = Path(tempfile.gettempdir(), f"ttxdsl-tt-{os.getuid()}.lock")
    # others may write to the folder: no link of theirs is followed
    held = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        return _Api(library)
    finally:
        os.close(held)


@cache
def _api(library: str) -> _Api:
    return _loaded(library)


def answer(question: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Answer `ttxdsl.loading.worker.Worker`.

    Args:
        question: the `library`, the `descriptor` of the machine, and for how many
            seconds to wait; without a descriptor the library is only loaded.
    """
    try:
        api = _api(question["library"])
    except (OSError, AttributeError) as error:
        return {"failed": f"cannot load {question['library']}: {error}"}
    if "descriptor" not in question:
        return {}
    return _answered(api, data, question["descriptor"], question["timeout"])
