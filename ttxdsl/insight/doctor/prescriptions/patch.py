"""Prescriptions as a patch of the source, where it is on disk and lines are known.

A constraint is put around the expression that makes the value, found again in the file's
syntax tree. What has no such place (annotations of arguments, donation, the mesh) is in
front of the patch, as code to paste; `patch` and `git apply` skip it.
"""

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from ttxdsl.insight.doctor.prescriptions.answers import Prescription, Prescriptions
from ttxdsl.insight.doctor.prescriptions.candidates.changes import CONSTRAINT_CODE
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.sharding.devices.mesh import Mesh

_HOLD = "_held"
"""The function that a patch adds to a file."""


@dataclass(frozen=True, slots=True)
class Patch:
    """The text of a patch.

    Attributes:
        text: the diff, with what is not in it in front.
        written: numbers, from 1, of prescriptions that are in it.
        left: of those that are code in front of it.
    """

    text: str
    written: tuple[int, ...]
    left: tuple[int, ...]


def patch_of(answer: Prescriptions) -> Patch:
    """Return the prescriptions that were compiled together as a patch."""
    chosen = [(number, answer.prescriptions[number - 1]) for number in answer.together]
    files = _Files(answer.new_mesh)
    written = [
        number for number, prescription in chosen if files.can_write(prescription)
    ]
    left = [number for number, _ in chosen if number not in written]
    header: list[str] = []
    for number, prescription in chosen:
        if number in left:
            header += [f"# {number}: not in the patch, to be pasted"]
            header += [f"#   {line}" for line in prescription.write.split("\n")]
        else:
            files.write(prescription)
    text = "".join(f"{line}\n" for line in header) + files.diff()
    return Patch(text, tuple(written), tuple(left))


class _Files:
    """The files of a source, with what is inserted into them."""

    def __init__(self, mesh: Mesh):
        self._mesh = mesh
        self._texts: dict[str, str | None] = {}
        self._trees: dict[str, ast.Module] = {}
        self._inserted: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)

    def can_write(self, prescription: Prescription) -> bool:
        """Return True if every place is an expression of a file that can be read.

        One that makes other values, too, is left to its author.
        """
        return (
            prescription.kind == "constraint"
            and prescription.write.endswith(")")
            and all(self._span(place) is not None for place in prescription.places)
        )

    def write(self, prescription: Prescription) -> None:
        """Put a constraint around the expressions of a prescription."""
        spec = prescription.write.removeprefix(CONSTRAINT_CODE).removesuffix(")")
        spec = spec.removeprefix("P(").removesuffix(")")
        spec = spec.replace("P.", "jax.sharding.PartitionSpec.")
        for place in prescription.places:
            span = self._span(place)
            assert span is not None, "asked before"
            file, start, end = span
            self._inserted[file] += [
                (start, -end, f"{_HOLD}("),
                (end, -start, f", {spec})" if spec else ")"),
            ]

    def diff(self) -> str:
        """Return all that is written as a unified diff."""
        return "".join(
            line
            for file in sorted(self._inserted)
            for line in self._diff_of(file, self._inserted[file])
        )

    def _diff_of(
        self, file: str, inserted: Sequence[tuple[int, int, str]]
    ) -> list[str]:
        text = self._texts[file]
        assert text is not None
        new = text
        # at one position, the end of an inner expression precedes the start of an outer
        # one
        for at, _, code in sorted(
            inserted, key=lambda insertion: insertion[:2], reverse=True
        ):
            new = new[:at] + code + new[at:]
        lines = new.splitlines(keepends=True)
        at = _behind_imports(self._trees[file])
        lines[at:at] = [f"{line}\n" for line in self._helper(self._trees[file])]
        # as git names them: -p1 of a path from the root is the path
        name = file.lstrip("/")
        return [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in unified_diff(
                text.splitlines(keepends=True), lines, f"a/{name}", f"b/{name}"
            )
        ]

    def _helper(self, tree: ast.Module) -> list[str]:
        names = ", ".join(f'"{name}"' for name in self._mesh.axis_names)
        sizes = ", ".join(map(str, self._mesh.axis_sizes))
        comma = "," if len(self._mesh.axes) == 1 else ""
        imported = any(
            isinstance(node, ast.Import)
            and any(alias.name == "jax" and not alias.asname for alias in node.names)
            for node in tree.body
        )
        return [
            *([] if imported else ["import jax"]),
            "",
            "",
            f"def {_HOLD}(x, *dims):",
            "    auto = jax.sharding.AxisType.Auto",
            "    mesh = jax.sharding.AbstractMesh(",
            f"        ({sizes}{comma}), ({names}{comma}),",
            f"        axis_types=(auto,) * {len(self._mesh.axes)},",
            "    )",
            "    spec = jax.sharding.PartitionSpec(*dims)",
            "    sharding = jax.sharding.NamedSharding(mesh, spec)",
            "    return jax.lax.with_sharding_constraint(x, sharding)",
            "",
            "",
        ]

    def _span(self, place: SourcePlace) -> tuple[str, int, int] | None:
        """Return the file and the offsets of the expression that makes a value."""
        if place.position is None or place.end is None:
            return None
        file, line, column = place.position.rsplit(":", 2)
        text = self._text(file)
        if text is None:
            return None
        start = int(line), int(column)
        end_line, end_column = map(int, place.end.split(":"))
        for shift in (0, 1):  # columns count from 0, or from 1
            wanted = (start[0], start[1] - shift, end_line, end_column - shift)
            for node in ast.walk(self._trees[file]):
                if isinstance(node, ast.expr) and wanted == (
                    *(node.lineno, node.col_offset),
                    *(node.end_lineno, node.end_col_offset),
                ):
                    return file, _offset(text, *wanted[:2]), _offset(text, *wanted[2:])
        return None

    def _text(self, file: str) -> str | None:
        if file not in self._texts:
            self._texts[file] = None
            try:
                text = Path(file).read_text(encoding="utf-8")
                self._trees[file] = ast.parse(text)
                self._texts[file] = text
            except (OSError, ValueError, SyntaxError):
                pass  # the file is missing or has changed since the program was traced
        return self._texts[file]


def _offset(text: str, line: int, column: int) -> int:
    """Return the offset of a position whose column counts bytes."""
    lines = text.splitlines(keepends=True)
    before = lines[line - 1].encode()[:column].decode()
    return sum(map(len, lines[: line - 1])) + len(before)


def _behind_imports(tree: ast.Module) -> int:
    """Return how many lines there are until the last import at the top of a file."""
    last = 0
    for node in tree.body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not isinstance(node, ast.Import | ast.ImportFrom):
            break
        last = node.end_lineno or last
    return last
