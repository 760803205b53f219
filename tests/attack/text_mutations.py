"""Random changes to the text of a program: to its tokens, numbers, types and lines.

    text = mutate_text(rng, text)

Most make the program invalid; those that change all of a kind together often do not.
"""

import random
import re
from collections.abc import Callable

from tests.differential.stablehlo_mutations import ELEMENTS, mutate_number, mutate_type

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|[%@#!^][\w.$-]+(?:#\d+)?|0x[0-9A-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?'
    r"|[A-Za-z_][\w.$]*|->|//[^\n]*|\s+|."
)
_KINDS = tuple(
    re.compile(one)
    for one in (r"%[\w.$-]+", r"@[\w.$-]+", r"\^\w+", r'"[^"\n]*"', r"\b\d+\b", r"\bsdy\.\w+",
                r"\bstablehlo\.\w+", r"tensor<[^<>]*>", r"[#!][\w.]+", r"(?<=x)(?:b?f|u?i)\d+\b")
)  # fmt: skip
"""Names, strings, numbers, ops and types: what may stand in the place of one another."""

BOUNDARIES = (
    "0", "1", "-1", "2", "7", "127", "128", "255", "256", "2147483647", "2147483648",
    "-2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "1" + "0" * 40, "0x7F", "1.5", "1e400",
    "-0.0", "0xFF800000",
)  # fmt: skip

STRANGE = (
    "\x00", "\x1b[31m", "\x1b]0;t\x07", "\r", "\t", "\u2028", "\u202e", "\ufeff", "é", "🙂",
    "[/]", "[bold]", "{", "}", "(", ")", "<", ">", '"', "\\", "%", "@", "#", "!", "::", "//",
    "?", ",", "=", "->", "loc(unknown)", "{}", "<>", "[]", "dense<>", "unit", "none", "module",
)  # fmt: skip
"""What no program should have where it lands."""

TextMutation = Callable[[random.Random, str], str]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def delete_tokens(rng: random.Random, text: str) -> str:
    tokens = _tokens(text)
    at = rng.randrange(len(tokens))
    del tokens[at : at + rng.choice((1, 1, 1, 2, 5))]
    return "".join(tokens)


def duplicate_tokens(rng: random.Random, text: str) -> str:
    tokens = _tokens(text)
    at = rng.randrange(len(tokens))
    run = tokens[at : at + rng.choice((1, 1, 2, 5))]
    tokens[at:at] = run * rng.choice((1, 1, 1, 20))
    return "".join(tokens)


def swap_tokens(rng: random.Random, text: str) -> str:
    tokens = _tokens(text)
    one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def insert_strange(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(STRANGE) + text[at:]


def replace_by_kind(rng: random.Random, text: str) -> str:
    """One name, number, op or type by another of the program."""
    found = [*rng.choice(_KINDS).finditer(text)]
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + rng.choice(found).group() + text[match.end() :]


def rename_everywhere(rng: random.Random, text: str) -> str:
    """All occurrences of a name, number, op or type by another of the program."""
    found = [match.group() for match in rng.choice(_KINDS).finditer(text)]
    if not found:
        return text
    old, new = rng.choice(found), rng.choice(found)
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w.])", lambda _: new, text)


def boundary_number(rng: random.Random, text: str) -> str:
    found = [*re.finditer(r"-?\b\d+", text)]
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + rng.choice(BOUNDARIES) + text[match.end() :]


def element_type_everywhere(rng: random.Random, text: str) -> str:
    """One element type by another in all types, or in all of one shape."""
    found = re.findall(r"\btensor<((?:\d+x)*)(\w+)>", text)
    if not found:
        return text
    shape, element = rng.choice(found)
    new = rng.choice(ELEMENTS)
    if rng.random() < 0.7:
        return re.sub(rf"(?<=[<x]){element}>", f"{new}>", text)
    return text.replace(f"tensor<{shape}{element}>", f"tensor<{shape}{new}>")


def size_everywhere(rng: random.Random, text: str) -> str:
    """One size by another in all types."""
    found = re.findall(r"(?<=[<x])(\d+)(?=x)", text)
    if not found:
        return text
    old = rng.choice(found)
    new = rng.choice((*found, "0", "1", "3", "7", "?"))
    return re.sub(rf"(?<=[<x]){old}(?=x)", new, text)


def delete_lines(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    del lines[at : at + rng.choice((1, 1, 1, 2, 4))]
    return "\n".join(lines)


def duplicate_line(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    line = rng.choice(lines)
    if rng.random() < 0.5:
        line = re.sub(
            r"%\w+(?= =)|%\w+(?=,.* = )", lambda m: m.group() + "_again", line
        )
    lines.insert(rng.randint(0, len(lines)), line)
    return "\n".join(lines)


def move_line(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randint(0, len(lines)), line)
    return "\n".join(lines)


def nest_lines(rng: random.Random, text: str) -> str:
    """Some lines in a region of a module or of an op that nobody knows."""
    lines = text.split("\n")
    start = rng.randrange(len(lines))
    end = min(len(lines), start + rng.choice((1, 2, 5)))
    head = rng.choice(("module {", '"a.region"() ({', "func.func private @nested() {"))
    tail = "}) : () -> ()" if "(" in head[-2:] else "}"
    lines[start:end] = [head, *lines[start:end], tail]
    return "\n".join(lines)


def cut(rng: random.Random, text: str) -> str:
    """The start of the text, or its end, or without something in the middle."""
    at = rng.randint(0, len(text))
    match rng.randrange(4):
        case 0:
            return text[at:]
        case 1:
            return text[:at] + text[at + rng.randint(1, 200) :]
        case _:
            return text[:at]


def repeat(rng: random.Random, text: str) -> str:
    """A bracket many times, as deep nesting."""
    bracket = rng.choice(("(", "[", "{", "<", "tensor<", "loc(", "dense<[", "tuple<"))
    at = rng.randint(0, len(text))
    return text[:at] + bracket * rng.choice((2, 10, 200, 3000)) + text[at:]


TEXT_MUTATIONS: tuple[tuple[int, TextMutation], ...] = (
    (3, delete_tokens),
    (2, duplicate_tokens),
    (3, swap_tokens),
    (2, insert_strange),
    (6, replace_by_kind),
    (5, rename_everywhere),
    (4, boundary_number),
    (4, mutate_number),
    (3, mutate_type),
    (5, element_type_everywhere),
    (5, size_everywhere),
    (2, delete_lines),
    (2, duplicate_line),
    (2, move_line),
    (1, nest_lines),
    (1, cut),
    (1, repeat),
)
"""Each with how likely it is."""


def mutate_text(rng: random.Random, text: str) -> tuple[str, str]:
    """The text with one change, and what the change is called."""
    weights, mutations = zip(*TEXT_MUTATIONS, strict=True)
    mutation = rng.choices(mutations, weights)[0]
    return (mutation(rng, text) if text else text), mutation.__name__
