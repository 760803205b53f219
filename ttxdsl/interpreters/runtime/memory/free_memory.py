"""Memory that the operating system would still give this process."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

_MEMORY_INFO = Path("/proc/meminfo")
_GROUPS = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Return the bytes that can still be allocated; None if the system does not tell.

    The minimum of the memory free without swapping, the rest of the process's control
    groups (a container's, say), and the rest of its address space (`ulimit -v`).
    Without `/proc`, half of the machine's memory.
    """
    limits = [*_system(), *_control_groups(), *_address_space()]
    return max(0, min(limits)) if limits else None


def _system() -> Iterator[int]:
    for line in _lines(_MEMORY_INFO):
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            yield int(rest.split()[0]) << 10
            return
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _control_groups() -> Iterator[int]:
    """Yield what each group of this process and those around it leave (v1, v2)."""
    for line in _lines(_GROUPS):
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers == "":
            root, limit, used = _MOUNT, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root = _MOUNT / "memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / path.strip("/")
        for place in (group, *group.parents):
            most, now = _number(place / limit), _number(place / used)
            if most is not None and now is not None:
                yield most - now + _reclaimable(place / "memory.stat")
            if place == root:
                break


def _reclaimable(statistics: Path) -> int:
    """File pages that count as used and are given up when memory is wanted."""
    for line in _lines(statistics):
        name, _, number = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(number)
    return 0


def _address_space() -> Iterator[int]:
    if sys.platform == "win32":
        return
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = next(iter(_lines(Path("/proc/self/statm"))), "").split()
    if most != resource.RLIM_INFINITY and pages:
        yield most - int(pages[0]) * resource.getpagesize()


def _number(path: Path) -> int | None:
    text = next(iter(_lines(path)), "")
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
