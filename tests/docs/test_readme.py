"""README.md: the commands that it names are those that there are."""

import re
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT
from ttxdsl.loading.doors import COMMANDS


def test_every_command_is_named():
    """But `completion`, which answers no question about a program."""
    readme = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`ttxdsl ([a-z-]+)", readme))
    assert named == set(COMMANDS) - {"completion"}


def test_the_installed_script_has_the_commands():
    done = subprocess.run(
        [Path(sys.executable).parent / "ttxdsl", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name in COMMANDS:
        assert re.search(rf"^ +{name}\b", done.stdout, re.MULTILINE)
