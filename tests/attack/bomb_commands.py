"""Every bomb through every command, in limits of time and memory.

outcomes = check_bombs(7)
"""

from tests.attack.bombs import BOMBS
from tests.attack.commands import FILE, attack_command
from tests.differential.campaign import Outcome

_COMMANDS = (
    ("compile", FILE),
    ("run", FILE),
    ("show", FILE, "--after", "8"),
    ("interpret", FILE, "--seed", "0"),
    ("check", FILE, "--no-minimize"),
    ("why", FILE, "--tries", "1"),
    ("report", FILE, "--json"),
    ("budget", FILE),
    ("doctor", FILE, "--devices", "2", "--candidates", "2", "--jobs", "1"),
    ("diff", FILE, FILE),
)

COUNT = len(BOMBS) * len(_COMMANDS)
"""How many pairs there are."""


def case_of(seed: int) -> tuple[str, tuple[str, ...]]:
    """The bomb and the command of a number; the numbers go round all pairs."""
    which, command = divmod(seed % COUNT, len(_COMMANDS))
    return sorted(BOMBS)[which], _COMMANDS[command]


def check_bombs(seed: int) -> list[Outcome]:
    """What a command did with a bomb."""
    name, words = case_of(seed)
    return attack_command(BOMBS[name](), words, seed)


def reproducer(seed: int) -> str:
    """The bomb of a number, or how to make it if it is large."""
    name, words = case_of(seed)
    text = BOMBS[name]()
    if len(text) > 1 << 16:
        text = f"// tests.attack.bombs.BOMBS[{name!r}]()\n"
    return f"// {name}\n// RUN: ttxdsl {' '.join(words)}\n{text}"
