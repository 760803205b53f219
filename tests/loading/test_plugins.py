"""Which plug-ins are installed is found without importing what knows it."""

import sys
from pathlib import Path

import pytest

from ttxdsl.loading import plugins


@pytest.mark.parametrize(
    ("entries", "answer"),
    [
        (b"[console_scripts]\nrun = package:main\n", False),
        (b"[xdsl.universe]\nmine = package:UNIVERSE\n", True),
        (b"[console_scripts]\n\n[ttxdsl.plugins]\nmine = package\n", True),
        (b"\xff\xfe", True),  # nobody can say
    ],
)
def test_what_is_installed_may_bring_some(
    entries: bytes, answer: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "package-1.0.dist-info"
    package.mkdir()
    (package / "entry_points.txt").write_bytes(entries)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "nowhere")])
    finder = [one for one in sys.meta_path if one is plugins.PathFinder]
    monkeypatch.setattr(sys, "meta_path", finder)
    assert plugins.are_installed.__wrapped__() is answer
