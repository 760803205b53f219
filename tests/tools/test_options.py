"""What several commands share: a file is written whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from ttxdsl.errors import CompileError
from ttxdsl.tools.options import write_whole


def test_a_file_is_replaced_with_the_usual_rights(tmp_path: Path):
    path = tmp_path / "out.mlir"
    path.write_text("before, which was longer")
    umask = os.umask(0o027)
    try:
        write_whole(path, "after ⊕\n")
    finally:
        os.umask(umask)
    assert path.read_text(encoding="utf-8") == "after ⊕\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    write_whole(link, "after")
    assert link.is_symlink()
    assert target.read_text() == "after"


def test_a_pipe_gets_the_text(tmp_path: Path):
    """As /dev/null and /dev/stdout, which must not become files."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(path.read_text()))
    reader.start()
    write_whole(path, "text")
    reader.join()
    assert found == ["text"]
    assert path.is_fifo()


def test_a_folder_is_refused(tmp_path: Path):
    with pytest.raises(CompileError, match=r"cannot write '.*': Is a directory"):
        write_whole(tmp_path, "text")


def test_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "out.mlir"
    path.write_text("before")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(CompileError, match="No space left on device"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
