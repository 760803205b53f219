"""Floating-point operations of a program that the TPU's compiler made, in all iterations of its loops.

    python benchmarks/tpu/flops.py PROGRAM.hlo [...]

Reads scheduled, optimized HLO, as `bytes.py` does, and counts each instruction as XLA's
`cost_analysis()` does. That has one iteration of each loop: two windows of a product, or one iteration
that is taken out of a loop, change it, and nothing that a device computes.
"""

import argparse
import math
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tpu.bytes import Instruction, Program

_NAMES = """
add subtract multiply divide remainder negate abs sign maximum minimum clamp select compare and or xor
not floor ceil round-nearest-afz round-nearest-even is-finite convert bitcast-convert reduce-precision
popcnt complex real imag shift-left shift-right-arithmetic shift-right-logical count-leading-zeros
all-reduce all-reduce-start
"""

_ONE_EACH = frozenset(_NAMES.split())
"""Instructions that take an operation for each element of their results."""

_LONGEST_WINDOW = 128
"""Elements of a window at most; one of a whole row is a reduction that is broadcast, and counts nothing."""


class Flops:
    """The operations of the instructions of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._inside: dict[str, int] = {}

    def total(self, once: bool = False) -> int:
        """Return the operations of the program.

        Args:
            once: whether each loop has one iteration, as for `cost_analysis()`.
        """
        runs = self.program.runs(once)
        return sum(times * self.of(name, each) for times, name, each in runs)

    def of(self, computation: str, op: Instruction) -> int:
        """Return the operations of an instruction, with those of the computations in it."""
        results = [math.prod(array.sizes) for array in op.arrays]
        count = results[0] if results else 0
        opcode = op.opcode
        if opcode in _ONE_EACH:
            return sum(results) if opcode.startswith("all-reduce") else count
        match opcode:
            case "dot":
                summed = _numbers(op, r"lhs_contracting_dims=\{([\d,]*)\}", ",")
                lhs = self._sizes(computation, op, 0)
                return 2 * count * math.prod(lhs[dim] for dim in summed)
            case "convolution":
                return 2 * self._multiply_adds(computation, op)
            case "fusion" | "async-start":
                return sum(self._of_all(name) for name in op.computations[:1])
            case "reduce":
                whole = math.prod(self._sizes(computation, op, 0))
                return (whole - count) * self._applied(op, "to_apply")
            case "reduce-window":
                window = math.prod(_window(op, "size", 0))
                is_row = window > _LONGEST_WINDOW
                return (
                    0
                    if is_row
                    else (window - 1) * count * self._applied(op, "to_apply")
                )
            case "select-and-scatter":
                window = math.prod(_window(op, "size", 0))
                source = math.prod(self._sizes(computation, op, 1))
                each = (window - 1) * self._applied(op, "select")
                return source * (each + self._applied(op, "scatter"))
            case "scatter":
                update = math.prod(
                    self._sizes(computation, op, len(op.operands) // 2 + 1)
                )
                return update * self._applied(op, "to_apply")
            case "map":
                return count * self._applied(op, "to_apply")
            case "sort":
                return count * math.ceil(math.log2(max(1, count)))
            case _:
                return 0

    def _of_all(self, computation: str) -> int:
        if computation not in self._inside:
            table = self.program.computations[computation].values()
            self._inside[computation] = sum(self.of(computation, op) for op in table)
        return self._inside[computation]

    def _applied(self, op: Instruction, kind: str) -> int:
        name = re.search(kind + r"=%([\w.\-]+)", op.attributes)
        assert name is not None, "it applies a computation"
        return self._of_all(name[1])

    def _sizes(self, computation: str, op: Instruction, index: int) -> tuple[int, ...]:
        return self.program.array(computation, *op.operands[index]).sizes

    def _multiply_adds(self, computation: str, op: Instruction) -> int:
        """Count the products with elements that are there, not with padding or gaps."""
        lhs, rhs = (self._sizes(computation, op, index) for index in (0, 1))
        result = op.arrays[0].sizes
        labels = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", op.attributes)
        assert labels is not None, "a convolution has labels"
        of_lhs, of_rhs, of_result = labels.groups()
        groups = sum(_numbers(op, r"batch_group_count=(\d+)", ",")) or 1
        total = lhs[of_lhs.index("b")] // groups
        total *= rhs[of_rhs.index("i")] * result[of_result.index("f")]
        dims = sorted(filter(str.isdigit, of_lhs))
        rank = len(dims)
        for dim, stride, low, gap, spread in zip(
            dims,
            _window(op, "stride", rank),
            _window(op, "pad", rank),
            _window(op, "lhs_dilate", rank),
            _window(op, "rhs_dilate", rank),
            strict=True,
        ):
            last = (lhs[of_lhs.index(dim)] - 1) * gap
            places = range(0, result[of_result.index(dim)] * stride, stride)
            starts = (tap * spread - low for tap in range(rhs[of_rhs.index(dim)]))
            total *= sum(_hits(places, start, last, gap) for start in starts)
        return total


def _hits(places: range, start: int, last: int, gap: int) -> int:
    """Return at how many places, moved by `start`, an element is: every `gap`-th up to `last`."""
    if gap == 1:
        first = max(0, -(start // places.step))
        return max(0, min(len(places), (last - start) // places.step + 1) - first)
    moved = (place + start for place in places)
    return sum(0 <= place <= last and not place % gap for place in moved)


def _numbers(op: Instruction, pattern: str, separator: str) -> list[int]:
    match = re.search(pattern, op.attributes)
    return [int(n) for n in match[1].split(separator) if n] if match else []


def _window(op: Instruction, name: str, rank: int) -> list[int]:
    """Return the numbers of a window, of padding those in front; without them the usual ones."""
    window = re.search(r"window=\{([^}]*)\}", op.attributes)
    given = re.search(rf"(?:^| ){name}=([\dx_\-]+)", window[1]) if window else None
    if given is None:
        return [int(name != "pad")] * rank
    return [int(each.split("_")[0]) for each in given[1].split("x")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, nargs="+")
    for path in parser.parse_args().programs:
        flops = Flops(Program(path.read_text()))
        print(f"{path.stem}: {flops.total():.4g}, {flops.total(once=True):.4g} once")


if __name__ == "__main__":
    main()
