"""Programs whose ops stand elsewhere, or use values of elsewhere, at random."""

import random
import re

_ONE_LINE = re.compile(r" +(?:%|stablehlo\.|return|func\.return)[^{}]*$")


def move_a_line(rng: random.Random, text: str) -> str:
    """The text of a program with one op's line before another line of a body."""
    lines = text.split("\n")
    movable = [at for at, line in enumerate(lines) if _ONE_LINE.match(line)]
    if len(movable) < 2:
        return text
    at = rng.choice(movable)
    line = lines.pop(at)
    # mostly not far away, where it may stay right
    near = range(max(2, at - 6), min(len(lines) - 1, at + 6))
    lines.insert(rng.choice(near), line)
    return "\n".join(lines)
