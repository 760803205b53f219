"""The command as a process: interrupts, closed and full outputs, and how it ends.

Whatever happens ends with a line on standard error and an exit code: no traceback of
Python's, and nothing that the interpreter says while it shuts down.
"""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


class Interrupts:
    """Handling of Ctrl-C: the first ends the work, another one ends all at once.

    The first is a `KeyboardInterrupt`, so that files and processes that were begun are
    removed. Where Python drops exceptions (in destructors and callbacks) it cannot end
    anything; the process then ends there.
    """

    def __init__(self) -> None:
        self.seen = False

    def watch(self) -> None:
        """Begin; a process that was started deaf to interrupts stays so."""
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            sys.unraisablehook = self.dropped
            signal.signal(signal.SIGINT, self.handle)

    def end(self) -> None:
        """There is nothing left to interrupt."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        if self.seen:
            self._leave()
        self.seen = True
        raise KeyboardInterrupt

    def dropped(self, unraisable: "UnraisableHookArgs") -> None:
        """Handle an exception that Python cannot raise."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._leave()
        sys.__unraisablehook__(unraisable)

    def _leave(self) -> None:
        os.write(2, b"interrupted\n")
        os._exit(130)


def _open_closed_descriptors() -> None:
    """Open closed standard descriptors (`>&-`), so that no file takes their numbers.

    Python sets the streams of closed descriptors to None. Printing is then an error, as
    on a full disk; messages on standard error are lost.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    # a new descriptor gets the lowest free number, so each takes the closed one's place
    while (opened := os.open(os.devnull, os.O_RDONLY)) < 2:
        pass
    if opened > 2 or sys.stderr is not None:
        os.close(opened)
    else:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _flush() -> bool:
    """Flush standard output; return whether all of it was written."""
    well = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            well = False
            # or Python tries again when it ends, and complains
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return well


def _share_processors() -> None:
    """Let BLAS start no more threads than this one of several processes has a share of.

    Source: the variables that MPICH and Open MPI set for what they start.
    """
    for name in ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"):
        if (there := os.environ.get(name, "")).isdigit() and int(there) > 1:
            share = (os.cpu_count() or 1) // int(there)
            os.environ.setdefault("OMP_NUM_THREADS", str(max(1, share)))


def run_as_process(command: Callable[[], int]) -> int:
    """Run a command to its end, whatever it is.

    Args:
        command: answers with the exit code; errors of programs and of outputs are told
            there already.

    Returns:
        The exit code, 130 if the command was interrupted.

    Raises:
        SystemExit: the command line is wrong, or asks for help.
    """
    interrupts = Interrupts()
    interrupts.watch()
    _open_closed_descriptors()
    _share_processors()
    try:
        code = command()
    except Exception:
        # an imported module may replace the interrupt handler
        if not interrupts.seen:
            raise
        print("interrupted", file=sys.stderr)
        code = 130
    finally:
        interrupts.end()
        well = _flush()
    return code if well or code else 1
