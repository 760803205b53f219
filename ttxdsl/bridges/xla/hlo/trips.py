"""The trip counts of a compiled XLA program's loops, where XLA does not write them.

XLA's CPU compiler writes them in a loop's line; libtpu does not. Their loops count a
number of the carried tuple: the condition compares it, the body adds to it, and it starts
at a constant. These are computed as they stand, from one iteration to the next.

    %cond (p: (s32[], f32[8])) -> pred[] {
      %n = s32[] constant(32)
      %i = s32[] get-tuple-element(%p), index=0
      ROOT %lt = pred[] compare(%i, %n), direction=LT
    }

Source: XLA's HLO text format.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

_OP = re.compile(
    r"^\s*(?P<root>ROOT )?%?(?P<name>\S+) = (?P<type>\(.*?\)|\S+) (?P<kind>[\w-]+)\("
    r"(?P<operands>[^()]*)\)(?P<rest>.*)$"
)
_COMMENT = re.compile(r"/\*.*?\*/")
_MOST_ITERATIONS = 1 << 16

_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": int.__add__,
    "subtract": int.__sub__,
    "multiply": int.__mul__,
    "minimum": min,
    "maximum": max,
    "and": int.__and__,
    "or": int.__or__,
}
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_SAME = ("bitcast", "convert", "copy", "copy-done", "copy-start", "reshape")

_INTEGER = re.compile(r"(?:pred|[su]\d+)\[\]")


@dataclass(frozen=True, slots=True)
class _Op:
    """One line of a computation."""

    type: str
    kind: str
    operands: tuple[str, ...]
    text: str
    """The text between the parentheses: a constant's value, a parameter's number."""
    rest: str

    def named(self, key: str) -> str | None:
        """Return an attribute's text, up to the next comma: `index=4`."""
        match = re.search(rf"\b{key}=%?([^\s,}}]+)", self.rest)
        return match[1] if match else None


@dataclass
class HloLines:
    """The lines of one computation, parsed on demand."""

    texts: list[str] = field(default_factory=list[str])

    @cached_property
    def _read(self) -> tuple[dict[str, _Op], str | None]:
        ops: dict[str, _Op] = {}
        root = None
        for line in self.texts:
            match = _OP.match(line)
            if match is None:
                continue
            inside = _COMMENT.sub("", match["operands"])
            operands = tuple(re.findall(r"%([^\s,]+)", inside))
            kind, text, rest = match["kind"], inside.strip(), match["rest"]
            ops[match["name"]] = _Op(match["type"], kind, operands, text, rest)
            if match["root"]:
                root = match["name"]
        return ops, root

    @property
    def ops(self) -> dict[str, _Op]:
        """Its ops by name."""
        return self._read[0]

    @property
    def root(self) -> str | None:
        """The name of the root instruction."""
        return self._read[1]


class _Unknown(Exception):
    """A number that is unknown at compile time."""


class _Numbers:
    """The integers that a computation computes from given parameters."""

    def __init__(
        self,
        computations: Mapping[str, HloLines],
        lines: HloLines,
        parameter: Callable[[int, Sequence[int]], int],
    ):
        self.computations = computations
        self.lines = lines
        self.parameter = parameter

    def of(self, name: str, path: Sequence[int] = (), depth: int = 0) -> int:
        """Return a value, or an element of a tuple.

        Raises:
            _Unknown: it does not follow from constants and parameters.
        """
        if "#" in name:  # `%p#1` is an element of a tuple
            whole, _, index = name.rpartition("#")
            return self.of(whole, (_integer(index), *path), depth + 1)
        op = self.lines.ops.get(name)
        if op is None or depth > _DEEPEST:
            raise _Unknown
        inner = depth + 1
        match op.kind:
            case "constant" if _INTEGER.match(op.type):
                return _integer({"true": "1", "false": "0"}.get(op.text, op.text))
            case "parameter":
                return self.parameter(_integer(op.text), path)
            case "get-tuple-element":
                index = _integer(op.named("index") or "")
                return self.of(op.operands[0], (index, *path), inner)
            case "tuple" if path:
                return self.of(op.operands[path[0]], path[1:], inner)
            case "fusion" | "call":
                called = op.named("calls") or op.named("to_apply") or ""
                lines = self.computations.get(called)
                if lines is None or lines.root is None:
                    raise _Unknown

                def given(number: int, path: Sequence[int]) -> int:
                    return self.of(op.operands[number], path, inner)

                return _Numbers(self.computations, lines, given).of(
                    lines.root, path, inner
                )
            case kind if kind in _SAME and op.operands:
                # what copying starts with is a tuple that begins with the copy
                return self.of(op.operands[0], () if kind == "copy-done" else path)
            case kind if kind in _BINARY and _INTEGER.match(op.type):
                left, right = (self.of(each, (), inner) for each in op.operands)
                return _BINARY[kind](left, right)
            case "compare":
                left, right = (self.of(each, (), inner) for each in op.operands)
                return int(_COMPARED[op.named("direction") or ""](left, right))
            case _:
                raise _Unknown


_DEEPEST = 200


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _Unknown from None


def trips_of(computations: Mapping[str, HloLines], place: str, line: str) -> int | None:
    """Return the number of iterations of the loop of a line in `place`; None if nothing says it."""
    match = _OP.match(line)
    if match is None or match["kind"] != "while":
        return None
    loop = _Op(match["type"], "while", (), "", match["rest"])
    operand = match["operands"].strip().lstrip("%")
    condition, body = (
        computations.get(loop.named(role) or "") for role in ("condition", "body")
    )
    if condition is None or body is None or condition.root is None or body.root is None:
        return None
    state: dict[tuple[int, ...], int] = {}
    iterations = 0

    def unknown(number: int, path: Sequence[int]) -> int:
        raise _Unknown

    before = _Numbers(computations, computations[place], unknown)

    def carried(number: int, path: Sequence[int]) -> int:
        key = tuple(path)
        if key not in state:
            if iterations:
                raise _Unknown
            state[key] = before.of(operand, key)
        return state[key]

    goes_on = _Numbers(computations, condition, carried)
    following = _Numbers(computations, body, carried)
    try:
        while goes_on.of(condition.root):
            after: dict[tuple[int, ...], int] = {}
            while len(after) < len(state):  # one computation may depend on another
                for key in list(state):
                    after[key] = following.of(body.root, key)
            if after == state or iterations == _MOST_ITERATIONS:
                return None
            state, iterations = after, iterations + 1
    except (_Unknown, ValueError, IndexError, KeyError):
        return None
    return iterations
