"""Bytes that a program of the TPU's compiler moves: as XLA counts them, and through the HBM.

    python benchmarks/tpu/bytes.py PROGRAM.hlo [...]

Reads scheduled, optimized HLO (`NAME.hlo` of `benchmarks/tpu/ask.py`, or the
`after_optimizations.txt` that `--xla_dump_to` writes). Two counts, each by kind of instruction:

- `accessed`: the `bytes accessed` of XLA's `cost_analysis()`: operands and results of each
  instruction, in whatever memory, of one iteration of each loop. A copy to the memory on the core
  (VMEM) so counts several times: its operand, both arrays of its result, and the result again at
  `copy-done`; who reads the copy counts it once more.
- `hbm`: what crosses the HBM, of all iterations: of each instruction the operands that it reads from
  there and the results that it writes there. What is in VMEM (memory space 1) is not, a copy
  between both is once, and what an update keeps is not. A collective reads and writes what it
  sends and receives.
"""

import argparse
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_BITS = {"pred": 8, "token": 0, "opaque": 0, "bf16": 16}
_ARRAY = re.compile(r"([a-z]\w*)\[([\d,<=]*)\](?:\{([^{}]*)\})?")
_SPACE = re.compile(r"S\((\d+)\)")
_NAME = re.compile(r"%([\w.\-]+)")
_OPERAND = re.compile(r"%([\w.\-]+)(?:#(\d+))?")
_TARGET = re.compile(r'custom_call_target="([^"]*)"')
_CALLED = re.compile(
    r"(calls|to_apply|body|condition|called_computations)=\{?%([\w.\-]+)"
)
_BRANCHES = re.compile(
    r"(?:branch_computations=\{|true_computation=|false_computation=)([^}\s]*)"
)

HBM = 0
VMEM = 1


@dataclass(frozen=True, slots=True)
class Array:
    """A buffer's type: its bytes without padding, the memory that it is in, and its shape."""

    bytes: int
    space: int
    sizes: tuple[int, ...] = ()


@dataclass
class Instruction:
    """An instruction of the program's text."""

    name: str
    arrays: list[Array]
    opcode: str
    operands: list[tuple[str, int | None]]
    attributes: str
    is_root: bool
    parameter: int | None = None
    constant: int | None = None
    users: "list[Instruction]" = field(default_factory=list["Instruction"], repr=False)

    @property
    def bytes(self) -> int:
        return sum(array.bytes for array in self.arrays)

    def called(self, kind: str) -> str | None:
        """Return the computation that an attribute names."""
        return next((n for k, n in _CALLED.findall(self.attributes) if k == kind), None)

    @cached_property
    def branches(self) -> list[str]:
        return [
            name
            for names in _BRANCHES.findall(self.attributes)
            for name in _NAME.findall(names)
        ]

    @cached_property
    def computations(self) -> list[str]:
        return [name for _, name in _CALLED.findall(self.attributes)]


class Program:
    """The computations of a program, each a table of its instructions."""

    def __init__(self, text: str) -> None:
        self.computations: dict[str, dict[str, Instruction]] = {}
        self.entry = ""
        current: dict[str, Instruction] = {}
        for line in text.splitlines():
            if line.startswith(("%", "ENTRY")) and line.endswith("{"):
                name = _NAME.search(line)
                assert name is not None, "a computation has a name"
                current = self.computations[name[1]] = {}
                if line.startswith("ENTRY"):
                    self.entry = name[1]
            elif line.startswith("  ") and " = " in line:
                instruction = _instruction(line)
                current[instruction.name] = instruction
        for table in self.computations.values():
            for instruction in table.values():
                if instruction.opcode == "get-tuple-element":
                    continue
                instruction.operands = [
                    _part_of(table[name], part) for name, part in instruction.operands
                ]
                for operand in dict.fromkeys(name for name, _ in instruction.operands):
                    table[operand].users.append(instruction)

    def root(self, computation: str) -> Instruction:
        table = self.computations[computation]
        return next(each for each in table.values() if each.is_root)

    def runs(self, once: bool = False) -> Iterator[tuple[int, str, Instruction]]:
        """Yield what runs on its own, with how often, and with its computation.

        Args:
            once: whether loops have one iteration, as XLA counts them.
        """
        pending = [(1, self.entry)]
        while pending:
            times, computation = pending.pop()
            for instruction in self.computations[computation].values():
                match instruction.opcode:
                    case "while":
                        iterations = times
                        if not once:
                            iterations *= self.iterations(computation, instruction)
                        for kind in ("body", "condition"):
                            name = instruction.called(kind)
                            if name is not None:
                                pending.append((iterations, name))
                    case "call":
                        name = instruction.called("to_apply")
                        assert name is not None, "a call calls a computation"
                        pending.append((times, name))
                    case "conditional":
                        if instruction.branches:
                            pending.append((times, instruction.branches[-1]))
                    case _:
                        yield times, computation, instruction

    def iterations(self, computation: str, loop: Instruction) -> int:
        """Return the iterations of a loop that counts from a constant up to another."""
        body, condition = loop.called("body"), loop.called("condition")
        assert body is not None and condition is not None, "a loop has both"
        test, bounds = self.root(condition), self.computations[condition]
        last = [bounds[name].constant for name, _ in test.operands]
        index = [part for name, part in test.operands if bounds[name].constant is None]
        assert test.opcode == "compare" and "direction=LT" in test.attributes, loop.name
        (last,), (part,) = [each for each in last if each is not None], index
        assert part is not None, "a counter is a part of what a loop carries"
        table = self.computations[computation]
        start = table[table[loop.operands[0][0]].operands[part][0]]
        while start.opcode == "copy":
            start = table[start.operands[0][0]]
        first = start.constant or 0
        step, value = 0, self.computations[body][self.root(body).operands[part][0]]
        inside = self.computations[body]
        while value.parameter is None:
            if value.opcode == "fusion":
                (name,) = value.computations[:1]
                step += sum(
                    each.constant or 0 for each in self.computations[name].values()
                )
            of = [inside[name] for name, _ in value.operands]
            step += sum(each.constant or 0 for each in of)
            value = next(each for each in of if each.constant is None)
        return -(-(last - first) // max(1, step))

    def parameter(self, computation: str, number: int) -> Instruction:
        table = self.computations[computation].values()
        return next(each for each in table if each.parameter == number)

    def array(self, computation: str, name: str, part: int | None) -> Array:
        """Return the type of an operand; of a tuple that of a part, or of all parts."""
        arrays = self.computations[computation][name].arrays
        if part is not None:
            return arrays[part]
        return (
            arrays[0] if len(arrays) == 1 else Array(sum(a.bytes for a in arrays), HBM)
        )


def _instruction(line: str) -> Instruction:
    left, _, right = line.strip().partition(" = ")
    is_root = left.startswith("ROOT ")
    name = left.removeprefix("ROOT ").lstrip("%")
    end = _type_end(right)
    kind, rest = right[:end], right[end:].lstrip()
    opcode, _, rest = rest.partition("(")
    inside, attributes = _closed(rest)
    arrays = [_array(*match) for match in _ARRAY.findall(kind)]
    parameter = int(inside) if opcode == "parameter" else None
    operands = [] if opcode in ("parameter", "constant") else _operands(inside)
    is_number = opcode == "constant" and inside.lstrip("-").isdigit()
    number = int(inside) if is_number else None
    return Instruction(
        name, arrays, opcode, operands, attributes, is_root, parameter, number
    )


def _part_of(value: Instruction, part: int | None) -> tuple[str, int | None]:
    """Return a value, or the tuple that it is taken from and which part it is.

    A program's text says `%tuple#part`, and a dump has an instruction that takes the part.
    """
    if value.opcode != "get-tuple-element":
        return value.name, part
    index = re.search(r"index=(\d+)", value.attributes)
    assert index is not None, "it says which part"
    return value.operands[0][0], int(index[1])


def _operands(text: str) -> list[tuple[str, int | None]]:
    """Return names, each with the part of a tuple that it is."""
    return [
        (name, int(part) if part else None) for name, part in _OPERAND.findall(text)
    ]


def _type_end(text: str) -> int:
    """Return where a type ends: at the first blank outside of brackets."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == " " and not depth:
            return at
    return len(text)


def _closed(text: str) -> tuple[str, str]:
    """Return what stands before the bracket that closes, and what behind it."""
    depth = 1
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if not depth:
            return text[:at], text[at + 1 :]
    return text, ""


def _array(element: str, sizes: str, layout: str) -> Array:
    digits = re.search(r"\d+", element)
    bits = _BITS.get(element, int(digits[0]) if digits else 32)
    shape = tuple(int(size.lstrip("<=")) for size in sizes.split(",") if size)
    space = _SPACE.search(layout)
    return Array(math.prod(shape) * bits // 8, int(space[1]) if space else HBM, shape)


_NAMES = ("parameter", "constant", "get-tuple-element", "bitcast", "tuple", "after-all")
"""Instructions that only name a value."""
_FREE = frozenset(
    [
        *_NAMES,
        *("partition-id", "replica-id", "opt-barrier", "add-dependency"),
    ]
)
_UNCOUNTED = frozenset([*_NAMES, "custom-call"])
_FREE_CALLS = ("AllocateBuffer", "ConcatBitcast", "NopReturnToken", "ZeroCrop")
"""Custom calls whose results are buffers that are there."""

_COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
)
_KINDS = (
    ("kernel", ("tpu_custom_call",)),
    # a product may run while a gather is under way, and names it
    ("product", ("convolution", "dot")),
    ("collective", (*_COLLECTIVES, "ragged-all-to-all")),
    ("gather", ("gather", "scatter", "async-update", "custom-call-update")),
    ("sort", ("sort", "topk")),
    ("reduction", ("reduce", "reduce-window", "select-and-scatter")),
    ("update", ("dynamic-update-slice",)),
)
_MOVES = frozenset(
    [
        *("copy", "transpose", "bitcast", "reshape", "parameter", "tuple", "constant"),
        *("slice", "dynamic-slice", "concatenate", "pad", "broadcast", "copy-start"),
        *("async-start", "iota", "reverse", "select", "compare", "clamp", "and"),
        *("partition-id", "fusion"),
    ]
)


@dataclass
class Count:
    """Bytes that cross the HBM.

    Attributes:
        read: by kind of instruction.
        written: likewise.
    """

    read: Counter[str] = field(default_factory=Counter[str])
    written: Counter[str] = field(default_factory=Counter[str])

    @property
    def of_kinds(self) -> Counter[str]:
        return self.read + self.written


class Bytes:
    """Which bytes the instructions of a program move."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._opcodes: dict[str, frozenset[str]] = {}

    def hbm(self, once: bool = False) -> Count:
        """Count what crosses the HBM.

        Args:
            once: whether loops have one iteration.
        """
        count = Count()
        for times, computation, instruction in self.program.runs(once):
            kind = self.kind(instruction)
            read, written = self.moved(computation, instruction)
            count.read[kind] += times * read
            count.written[kind] += times * written
        return count

    def accessed(self) -> Counter[str]:
        """Count as XLA's cost analysis does, by kind of instruction."""
        count = Counter[str]()
        for _, computation, instruction in self.program.runs(once=True):
            count[self.kind(instruction)] += self._accessed_by(computation, instruction)
        return count

    def _accessed_by(self, computation: str, instruction: Instruction) -> int:
        opcode, results = instruction.opcode, instruction.bytes
        if opcode in _UNCOUNTED:
            return 0
        operands = [
            self.program.array(computation, *each) for each in instruction.operands
        ]
        everywhere = [Array(operand.bytes, HBM) for operand in operands]
        if opcode in ("copy-done", "async-done", "slice-done"):
            return results if opcode == "copy-done" else 0
        if opcode == "async-start":
            return sum(
                self._accessed_by(name, each)
                for name in instruction.computations
                for each in self.program.computations[name].values()
            )
        match opcode:
            case "fusion":
                here = [Array(array.bytes, HBM) for array in instruction.arrays]
                (name,) = instruction.computations[:1]
                if _target(self.program.root(name)):
                    return results + sum(o.bytes for o in operands)
                read, _ = self._of_fusion(instruction, everywhere, repeats=True)
                roots = self._roots(name, len(here))
                return read + sum(
                    self.program.array(name, *made.operands[1]).bytes
                    if made.opcode == "dynamic-update-slice"
                    else array.bytes
                    for made, array in zip(roots, here, strict=True)
                )
            case (
                "slice"
                | "dynamic-slice"
                | "gather"
                | "dynamic-update-slice"
                | "scatter"
            ):
                here = [Array(array.bytes, HBM) for array in instruction.arrays]
                return sum(self._of_op(instruction, everywhere, here))
            case _:
                return results + sum(o.bytes for o in operands)

    def kind(self, instruction: Instruction) -> str:
        """Return what an instruction is, by the ops in it."""
        opcodes = self._all_opcodes(instruction)
        for kind, names in _KINDS:
            if any(opcode.removesuffix("-start") in names for opcode in opcodes):
                return kind
        if instruction.opcode in ("copy-start", "async-start", "slice-start"):
            return "prefetch"
        return "move" if opcodes <= _MOVES else "elementwise"

    def _all_opcodes(self, instruction: Instruction) -> frozenset[str]:
        names = {_target(instruction) or instruction.opcode}
        for called in instruction.computations:
            if called not in self._opcodes:
                table = self.program.computations[called].values()
                self._opcodes[called] = frozenset[str]().union(
                    *(self._all_opcodes(each) for each in table)
                )
            names |= self._opcodes[called]
        return frozenset(names)

    def moved(self, computation: str, instruction: Instruction) -> tuple[int, int]:
        """Return the bytes that an instruction reads of the HBM, and that it writes there."""
        opcode = instruction.opcode
        is_free = opcode in _FREE or opcode.endswith("-done")
        if is_free or _target(instruction) in _FREE_CALLS:
            return 0, 0
        operands = [
            self.program.array(computation, *each) for each in instruction.operands
        ]
        if opcode.endswith("-update"):
            # a gather or scatter of the other core, of a table, indices and what is scattered
            _, *operands = operands
            indices, *updates = operands[1:]
            moved = sum(each.bytes for each in updates or instruction.arrays[2:3])
            return _in_hbm([indices]) + moved * len(operands[1:]), moved
        if opcode == "fusion":
            return self._of_fusion(instruction, operands)
        if opcode in ("async-start", "slice-start"):
            name = instruction.called("calls")
            started = instruction if name is None else self.program.root(name)
            result = instruction.arrays[len(operands)]
            return self._of_op(started, operands, [result])
        results = instruction.arrays
        if opcode in ("copy-start", "collective-permute-start"):
            results = results[:1] if opcode == "copy-start" else results[1:2]
        return self._of_op(instruction, operands, results)

    def _of_op(
        self, op: Instruction, operands: list[Array], results: list[Array]
    ) -> tuple[int, int]:
        """Return the bytes read and written by an op, fused or not."""
        written = sum(result.bytes for result in results if result.space == HBM)
        called = [name for name in op.computations if _target(op)]
        if called and (root := self.program.root(called[0])).opcode in (
            "gather",
            "scatter",
        ):
            op = root
        match op.opcode:
            case "slice" | "slice-start" | "dynamic-slice":
                whole = operands[0].space == HBM
                return whole * sum(result.bytes for result in results), written
            case "gather":
                part = sum(result.bytes for result in results)
                return _in_hbm(operands[1:]) + part * (
                    operands[0].space == HBM
                ), written
            case "dynamic-update-slice":
                return _in_hbm(operands[1:2]), operands[1].bytes * (
                    operands[0].space == HBM
                )
            case "scatter":
                count = len(operands) // 2
                changed = sum(o.bytes for o in operands[count + 1 :]) * bool(written)
                return _in_hbm(operands[count:]) + changed, changed
            case "iota":
                return 0, written
            case _:
                return _in_hbm(operands), written

    def _of_fusion(
        self, fusion: Instruction, operands: list[Array], repeats: bool = False
    ) -> tuple[int, int]:
        """Return the bytes that a fusion reads and writes.

        Args:
            repeats: whether slices that overlap are counted each.
        """
        (name,) = fusion.computations[:1]
        table = self.program.computations[name]
        read = 0
        for instruction in table.values():
            if instruction.parameter is not None:
                array = operands[instruction.parameter]
                if array.space == HBM:
                    whole = instruction.bytes
                    part = self._read_of(name, instruction, repeats)
                    read += part if repeats else min(part, whole)
        return read, sum(self._written(name, fusion.arrays))

    def _read_of(self, computation: str, value: Instruction, repeats: bool) -> int:
        """Return how much of a fused parameter is read: of slices what they give.

        XLA's cost analysis does not look for slices behind pads and converts.
        """
        # a computation may be a bitcast alone, for who calls it
        read, is_whole = 0, value.is_root and value.opcode == "bitcast"
        for user in value.users:
            places = [
                at for at, (name, _) in enumerate(user.operands) if name == value.name
            ]
            match user.opcode:
                case "fusion":
                    (name,) = user.computations[:1]
                    for at in places:
                        inner = self.program.parameter(name, at)
                        read += self._read_of(name, inner, repeats)
                case "slice" | "dynamic-slice":
                    read += user.bytes if 0 in places else value.bytes
                case "gather" if 0 in places:
                    read += user.bytes
                case "dynamic-update-slice" if places == [0]:
                    pass
                case "scatter" if 0 in places:
                    count = len(user.operands) // 2
                    read += self.program.array(
                        computation, *user.operands[count + 1]
                    ).bytes
                case "bitcast":
                    read += self._read_of(computation, user, repeats)
                case "pad" | "convert" | "copy" | "transpose" | "reshape" if (
                    not repeats and places[0] == 0 and not user.is_root
                ):
                    part = self._read_of(computation, user, repeats)
                    # of another size by its type, or by elements that a pad adds
                    share = value.bytes / max(1, user.bytes)
                    read += min(value.bytes, int(part * share))
                case "tuple":
                    pass
                case "all-gather" if self.is_under_way(computation, user):
                    pass
                case "custom-call" if _target(user) == "AsyncCollectiveDone":
                    pass
                case _:
                    is_whole = True
        return read + is_whole * value.bytes

    def is_under_way(self, computation: str, gather: Instruction) -> bool:
        """Whether a fused collective is one that another instruction starts."""
        return not any(_target(user) == "AsyncCollectiveStart" for user in gather.users)

    def _written(self, computation: str, arrays: list[Array]) -> list[int]:
        """Return the bytes that a fusion writes of each of its results."""
        root = self.program.root(computation)
        if _target(root) == "AsyncCollectiveStart":
            return [arrays[1].bytes]
        if _target(root) == "AsyncCollectiveDone":
            return [0]
        return [
            self._written_by(computation, made, array) * (array.space == HBM)
            for made, array in zip(
                self._roots(computation, len(arrays)), arrays, strict=True
            )
        ]

    def _roots(self, computation: str, count: int) -> list[Instruction]:
        """Return what makes each of the results of a computation."""
        root = self.program.root(computation)
        if root.opcode != "tuple":
            return [root] * count
        table = self.program.computations[computation]
        return [table[name] for name, _ in root.operands]

    def _written_by(self, computation: str, made: Instruction, array: Array) -> int:
        table = self.program.computations[computation]
        while made.opcode in ("bitcast", "copy") and made.operands:
            made = table[made.operands[0][0]]
        match made.opcode:
            case "parameter":
                return 0
            case "all-gather" | "get-tuple-element" | "custom-call" if _is_async(
                self, computation, made
            ):
                return 0
            case "dynamic-update-slice":
                return table[made.operands[1][0]].bytes
            case "scatter":
                count = len(made.operands) // 2
                return table[made.operands[count + 1][0]].bytes
            case "fusion" if len(made.arrays) == 1:
                (name,) = made.computations[:1]
                return self._written_by(name, self.program.root(name), array)
            case _:
                return array.bytes


def _is_async(bytes_: Bytes, computation: str, made: Instruction) -> bool:
    return made.opcode == "all-gather" and bytes_.is_under_way(computation, made)


def _target(instruction: Instruction) -> str | None:
    if instruction.opcode != "custom-call":
        return None
    target = _TARGET.search(instruction.attributes)
    return target[1] if target else None


def _in_hbm(arrays: list[Array]) -> int:
    return sum(array.bytes for array in arrays if array.space == HBM)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, nargs="+")
    options = parser.parse_args()
    for path in options.programs:
        count = Bytes(Program(path.read_text())).hbm().of_kinds
        kinds = ", ".join(f"{k} {v / 2**20:,.0f}" for k, v in count.most_common())
        print(f"{path.stem}: {count.total() / 2**20:,.0f} MiB: {kinds}")


if __name__ == "__main__":
    main()
