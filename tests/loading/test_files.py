"""Files are written whole or not at all, and never over what is read."""

import os
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.files import require_writable, write_whole


@pytest.mark.parametrize(
    ("before", "after"), [(None, 0o640), (0o600, 0o600), (0o755, 0o755)]
)
def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its(
    tmp_path: Path, before: int | None, after: int
):
    path = tmp_path / "out.mlir"
    if before is not None:
        path.write_text("before, which was longer")
        path.chmod(before)
    umask = os.umask(0o027)
    try:
        write_whole(path, "after ⊕\n")
    finally:
        os.umask(umask)
    assert path.read_text(encoding="utf-8") == "after ⊕\n"
    assert path.stat().st_mode & 0o7777 == after
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


def test_an_open_file_is_written_on(tmp_path: Path):
    """As `-o /dev/stdout >> log`: opening it again would lose what it has."""
    path = tmp_path / "log"
    path.write_text("before\n")
    with path.open("ab") as log:
        write_whole(Path(f"/dev/fd/{log.fileno()}"), "after\n")
    assert path.read_text() == "before\nafter\n"


def test_bytes_that_seek_reach_what_cannot(tmp_path: Path):
    """As an archive in a pipe."""

    def content(file: BinaryIO) -> None:
        file.write(b"..cd")
        file.seek(0)
        file.write(b"ab")

    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as read:
        write_whole(Path(f"/dev/fd/{writer}"), content)
        os.close(writer)
        assert read.read() == b"abcd"
    path = tmp_path / "file"
    write_whole(path, content)
    assert path.read_bytes() == b"abcd"
    write_whole(Path(os.devnull), content)
    assert Path(os.devnull).is_char_device()


# --- before the work ----------------------------------------------------------------


def test_the_input_is_no_output_by_any_name(tmp_path: Path):
    given = tmp_path / "in.mlir"
    given.write_text("program")
    link, hard = tmp_path / "link", tmp_path / "hard"
    link.symlink_to(given)
    hard.hardlink_to(given)
    (tmp_path / "folder").mkdir()
    around = tmp_path / "folder" / ".." / "in.mlir"
    for output in (given, link, hard, around):
        for one in (given, link):
            with pytest.raises(CompileError, match="it is the input"):
                require_writable(output, [one])
    with given.open("ab") as log, pytest.raises(CompileError, match="it is the input"):
        require_writable(Path(f"/dev/fd/{log.fileno()}"), [given])
    require_writable(tmp_path / "out.mlir", [given])
    require_writable(Path(os.devnull), [Path(os.devnull)])
    assert given.read_text() == "program"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (".", "Is a directory"),
        ("none/out", "(?i)no such .*directory"),
        ("file/out", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("/dev/fd/987", "Bad file descriptor"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, reason: str
):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("loop").symlink_to("loop")
    for refuse in (lambda path: write_whole(path, "text"), require_writable):
        with pytest.raises(CompileError, match=reason):
            refuse(Path(output))
    assert {path.name for path in tmp_path.iterdir()} == {"file", "loop"}


def test_rights_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file"
    path.touch()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may do anything
    with pytest.raises(CompileError, match="Permission denied"):
        require_writable(path)


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path):
    path = tmp_path / "out"
    path.write_text("before")

    def interrupted(file: BinaryIO) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, interrupted)
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]
