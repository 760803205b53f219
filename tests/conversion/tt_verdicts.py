"""What tt-mlir's parser and verifiers say of every op that the lowerings write for it.

Each op of the cases of `lowering_page`, lowered with `for=tt-mlir`, becomes a function
of its own. All functions go to tt-mlir in one module; what it refuses is found by
halves, so that a page of accepted ops is one question.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tests.bridges.tt_mlir.oracle import ask
from tests.conversion.lowering_page import cases
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.conversion.vocabulary import Vocabulary
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects.ttcore import meshes_of


def alone(op: Operation, name: str = "f") -> FuncOp:
    """The op in a function of its own, whose arguments are what it reads."""
    outside: dict[SSAValue, None] = {}
    inner = {value for one in op.walk() for value in one.results}
    blocks = {
        block for one in op.walk() for region in one.regions for block in region.blocks
    }
    inner |= {value for block in blocks for value in block.args}
    for one in op.walk():
        outside.update(dict.fromkeys(v for v in one.operands if v not in inner))
    block = Block(arg_types=[value.type for value in outside])
    copy = op.clone(value_mapper=dict(zip(outside, block.args, strict=True)))
    block.add_op(copy)
    block.add_op(ReturnOp(*copy.results))
    types = [value.type for value in copy.results]
    return FuncOp(name, (list(block.arg_types), types), Region(block))


@dataclass(frozen=True)
class Sample:
    """One op as the lowering writes it, in a function of its own."""

    op: str
    meshes: str
    text: str


def _is_ours(op: Operation) -> bool:
    return op.name.startswith(("ttir.", "ttnn.")) and not op.has_trait(IsTerminator)


def samples(module: ModuleOp, known: Container[str]) -> Iterable[Sample]:
    """A sample of every op of ttir and ttnn in a module, regions' ops within theirs.

    Args:
        known: names of ops of which there is a sample.
    """
    meshes = meshes_of(module)
    for function in module.ops:
        if not isinstance(function, FuncOp) or function.is_declaration:
            continue
        for op in function.body.block.ops:
            if _is_ours(op) and op.name not in known:
                yield Sample(op.name, str(meshes), str(alone(op)))


def _module(wanted: Sequence[Sample]) -> str:
    functions = "\n".join(
        re.sub(r"func\.func @f\b", f"func.func @f{number}", one.text)
        for number, one in enumerate(wanted)
    )
    # what has two public functions is read and verified, and not compiled
    functions += "\nfunc.func @a() { return }\nfunc.func @b() { return }"
    return f"module attributes {{ttcore.meshes = {wanted[0].meshes}}} {{\n{functions}\n}}\n"


_NAMED = re.compile(r"(?:unregistered operation )?'((?:ttir|ttnn)\.\w+)'")

_CUT_OFF = "..."
"""The end of what tt-mlir says of many ops at once; of the last of them it is asked again."""


def refused(wanted: Sequence[Sample]) -> Mapping[Sample, str]:
    """What tt-mlir says against each sample that it does not take.

    It names the ops that it refuses, so a module with one sample of an op is one
    question; where it names none, the culprit is found by halves.
    """
    found: dict[Sample, str] = {}
    rest = list(wanted)
    while rest:
        by_op = {one.op: one for one in reversed(rest)}
        batch = [*by_op.values()]
        found |= _refused_of(batch)
        taken = set(batch)
        rest = [one for one in rest if one not in taken]
    return found


def _refused_of(batch: Sequence[Sample]) -> Mapping[Sample, str]:
    answer = ask(_module(batch))
    if "vhlo" in answer.stages:
        return {}
    said = answer.error or ""
    if len(batch) == 1:
        return {batch[0]: said}
    found: dict[Sample, str] = {}
    for part in said.split("; "):
        named = _NAMED.match(part)
        if part.endswith(_CUT_OFF):
            continue
        for one in batch:
            if named is not None and one.op == named[1]:
                found.setdefault(one, part)
    rest = [one for one in batch if one not in found]
    if found:
        return {**found, **_refused_of(rest)} if rest else found
    half = len(batch) // 2
    return {**_refused_of(batch[:half]), **_refused_of(batch[half:])}


@cache
def written_for(vocabulary: Vocabulary) -> Mapping[str, Mapping[str, Sample]]:
    """A sample of every op that is written in `ttir` and in `ttnn`, by name."""
    found: dict[str, dict[str, Sample]] = {"ttir": {}, "ttnn": {}}
    steps = {
        "ttir": lambda module: convert_stablehlo_to_ttir(module, vocabulary),
        "ttnn": lambda module: convert_ttir_to_ttnn(module, vocabulary=vocabulary),
    }
    for module in cases():
        try:
            for form, convert in steps.items():
                with collect_remarks():
                    convert(module)
                known = found[form]
                if any(_is_ours(op) and op.name not in known for op in module.walk()):
                    module.verify()
                for one in samples(module, known):
                    known.setdefault(one.op, one)
        except (CompileError, VerifyException):
            continue
    return found


def verdicts(form: str, vocabulary: Vocabulary) -> Mapping[str, str | None]:
    """What tt-mlir says against each op that is written, None if it takes it."""
    written = written_for(vocabulary)[form]
    by_meshes: dict[str, list[Sample]] = {}
    for sample in written.values():
        by_meshes.setdefault(sample.meshes, []).append(sample)
    against: dict[str, str | None] = dict.fromkeys(written)
    for wanted in by_meshes.values():
        against |= {one.op: said for one, said in refused(wanted).items()}
    return against


# --- the page -----------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tt-mlir-verdicts.md"

_LONGEST = 90


def _said(verdict: str | None) -> str:
    """A verdict in a cell: the first complaint, shortened."""
    if verdict is None:
        return "taken"
    first = verdict.split("; ")[0].replace("|", "\\|").replace("\n", " ")
    short = first if len(first) <= _LONGEST else f"{first[: _LONGEST - 1]}…"
    return short.replace("<", "&lt;")


def verdict_page() -> str:
    """The page in Markdown: what tt-mlir's verifiers say of every op."""
    lines = [
        "# Every op before tt-mlir's verifiers",
        "",
        "<!-- made by `python -m tests.conversion.tt_verdicts`: do not edit -->",
        "",
        "Each op that [the lowerings](lowering.md) write, one sample of each in a function of",
        "its own, as tt-mlir of October 2026 (`jax-tt-plugin` 0.1.3) reads and verifies it: in",
        "the design's form, and written with `for=tt-mlir`. What is not written there is",
        "refused with the op and its line, or said by other ops.",
    ]
    for form in ("ttir", "ttnn"):
        design = verdicts(form, Vocabulary.DESIGN)
        today = verdicts(form, Vocabulary.TT_MLIR)
        taken = [sum(one is None for one in each.values()) for each in (design, today)]
        lines += [
            "",
            f"## {form}",
            "",
            f"{taken[0]} of {len(design)} are taken in the design's form, {taken[1]} of "
            f"{len(today)} with `for=tt-mlir`.",
            "",
            "| op | the design's form | `for=tt-mlir` |",
            "|---|---|---|",
            *(
                f"| `{op}` | {_said(design[op]) if op in design else 'not written'} "
                f"| {_said(today[op]) if op in today else 'not written'} |"
                for op in sorted({*design, *today})
            ),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(verdict_page())
