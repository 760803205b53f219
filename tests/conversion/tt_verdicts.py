"""What tt-mlir's parser and verifiers say of every op that the lowerings write for it.

Each op of the cases of `lowering_page`, lowered with `for=tt-mlir`, becomes a function
of its own. All functions go to tt-mlir in one module; what it refuses is found by
halves, so that a page of accepted ops is one question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.printer import Printer
from xdsl.traits import IsTerminator

from tests.tt.oracle import ask
from ttxdsl.dialects.ttcore import device_mesh_name, meshes_of


def alone(op: Operation, name: str = "f") -> FuncOp:
    """The op in a function of its own, whose arguments are what it reads."""
    outside: dict[SSAValue, None] = {}
    inner = {value for one in op.walk() for value in one.results}
    blocks = {block for one in op.walk() for region in one.regions for block in region.blocks}
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


def samples(module: ModuleOp) -> Iterable[Sample]:
    """A sample of every op of ttir and ttnn in a module, regions' ops within theirs."""
    meshes = meshes_of(module)
    for function in module.ops:
        if not isinstance(function, FuncOp) or function.is_declaration:
            continue
        for op in function.body.block.ops:
            if op.name.startswith(("ttir.", "ttnn.")) and not op.has_trait(IsTerminator):
                stream = StringIO()
                Printer(stream=stream, print_generic_format=False).print_op(alone(op))
                yield Sample(op.name, str(meshes), stream.getvalue())


def _module(wanted: Sequence[Sample]) -> str:
    functions = "\n".join(
        re.sub(r"func\.func @f\b", f"func.func @f{number}", one.text)
        for number, one in enumerate(wanted)
    )
    return (
        f"module attributes {{ttcore.meshes = {wanted[0].meshes}}} {{\n{functions}\n}}\n"
    )


_NAMED = re.compile(r"(?:unregistered operation )?'((?:ttir|ttnn)\.\w+)'")


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
        for one in batch:
            if named is not None and one.op == named[1]:
                found.setdefault(one, part)
    rest = [one for one in batch if one not in found]
    if found:
        return {**found, **_refused_of(rest)} if rest else found
    half = len(batch) // 2
    return {**_refused_of(batch[:half]), **_refused_of(batch[half:])}
