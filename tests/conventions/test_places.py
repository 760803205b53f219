"""What is new takes the places that `docs/guide/adding.md` says, and no others.

The page's blocks are put into a copy of the package, and its programs run there.
"""

import re
import subprocess
import sys
from pathlib import Path

from tests.conventions.copies import copy_package

PAGE = Path(__file__).parents[2] / "docs/guide/adding.md"

_BLOCK = re.compile(r"^```py title='([^\n]*)'\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def put_before(file: Path, line: str, block: str) -> None:
    """Put a block before the one line that starts so, and before its decorators."""
    lines = file.read_text().splitlines(keepends=True)
    (at,) = (number for number, text in enumerate(lines) if text.startswith(line))
    while lines[at - 1].startswith("@"):
        at -= 1
    apart = "" if line.startswith(" ") else "\n\n"
    file.write_text("".join([*lines[:at], block + apart, *lines[at:]]))


def run(program: str, folder: Path) -> None:
    """Run a program with the package in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport ttxdsl\nprint(ttxdsl.__file__)"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(folder)


def test_the_page_says_all_places(tmp_path: Path):
    copy = copy_package(tmp_path)
    places: list[str] = []
    counts: list[int] = []
    for title, block in _BLOCK.findall(PAGE.read_text()):
        name, _, line = title.partition(" before ")
        if title == "run":
            run(block, tmp_path)
            counts.append(len(places))
            places.clear()
        elif title.endswith(" has"):
            assert block in (copy / title.removesuffix(" has")).read_text()
        elif line:
            put_before(copy / name, line, block)
            places.append(name)
        else:
            (copy / name).write_text(block)
            places.append(name)
    assert counts == [3, 2, 4]
