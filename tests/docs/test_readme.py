"""README.md: the commands that it names are those that there are."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT
from ttxdsl.tools.main import COMMANDS


def test_every_command_is_named():
    """But `completion`, which answers no question about a program."""
    readme = (ROOT / "README.md").read_text()
    named = set(re.findall(r"`ttxdsl ([a-z-]+)", readme))
    assert named == set(COMMANDS) - {"completion"}
