"""What becomes of every StableHLO and chlo op, as it was seen written, as one page.

`python -m tests.conversion.lowering_page` prints `docs/reference/lowering.md`. Nothing
declares what a rule writes: every case is lowered with each op's name as its location,
and what is found there in ttir and in ttnn is what the op became.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects.builtin import (
    FileLineColLoc,
    FunctionType,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.catalogue.uses import USES
from tests.conversion import test_additions, test_collectives
from tests.conversion.cases import CASES
from tests.dialects.tt_text import parse
from ttxdsl.conversion.stablehlo_to_ttir.convert import TABLE, convert_stablehlo_to_ttir
from ttxdsl.conversion.stablehlo_to_ttir.unsupported import UNSUPPORTED
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.dialects._tt.extension_ops import ADDITIONS
from ttxdsl.dialects.ttcore import MeshShardDirection
from ttxdsl.sharding.devices.mesh import Mesh

# --- what is written ----------------------------------------------------------


@dataclass
class Written:
    """The names of the ttir and ttnn ops that each op of the input became."""

    ttir: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ttnn: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def lower_to_ttir(self, module: ModuleOp) -> None:
        """Lower a program in place, and remember what its ops become.

        Raises:
            CompileError: it cannot be lowered.
        """
        nowhere = IntAttr(0)
        for op in module.walk():
            op.location = FileLineColLoc(StringAttr(op.name), nowhere, nowhere)
        with collect_remarks():
            convert_stablehlo_to_ttir(module)
        _remember(module, self.ttir)

    def lower_to_ttnn(self, module: ModuleOp) -> None:
        """Lower such a ttir program in place, and remember what the same ops become."""
        with collect_remarks():
            convert_ttir_to_ttnn(module)
        _remember(module, self.ttnn)


def _remember(module: ModuleOp, found: dict[str, set[str]]) -> None:
    for op in module.walk():
        if isinstance(op.location, FileLineColLoc) and not _is_of_the_border(op):
            found[op.location.filename.data].add(op.name)


def _is_of_the_border(op: Operation) -> bool:
    """Whether it makes a destination, ends a region, or hands a result to the host."""
    if op.name.endswith((".empty", ".yield")) or op.name.startswith("func."):
        return True
    direction = op.properties.get("shard_direction")
    return getattr(direction, "data", None) == MeshShardDirection.SHARD_TO_FULL


_NUMBERS = {
    f"{one}.{op}"
    for one in ("ttir", "ttnn")
    for op in ("constant", "full", "ones", "zeros")
}


def forms(found: set[str]) -> list[str]:
    """What is worth telling: numbers only where there is nothing else."""
    return sorted(found - _NUMBERS or found)


# --- the cases ----------------------------------------------------------------

_ELEMENTS = ("bf16", "f64", "i32", "ui8", "ui32", "i1", "complex<f32>")


def _uses() -> Iterator[ModuleOp]:
    """The valid use of every op, of all element types that it takes so."""
    for use in USES.values():
        text = use.text()
        for element in ("",) if "constant" in use.name else ("", *_ELEMENTS):
            try:
                module = parse(re.sub("(f32|i32)>", (element or "\\1") + ">", text))
                _hand_out(module, use.name)
                module.verify()
            except (ParseError, VerifyException):
                continue
            yield module


def _hand_out(module: ModuleOp, name: str) -> None:
    """Make what the op of that name results in the results of its function."""
    module.body.block.insert_op_before(
        sdy.MeshOp("mesh", sdy.MeshAttr(Mesh((("x", 2), ("y", 2))))),
        next(iter(module.ops)),
    )
    op = next(op for op in module.walk() if op.name == name)
    end, function = op.parent_block().last_op, op.parent_op()  # type: ignore[union-attr]
    if isinstance(function, FuncOp) and isinstance(end, ReturnOp):
        end.operands = op.results
        inputs = function.function_type.inputs
        results = [value.type for value in op.results]
        function.function_type = FunctionType.from_lists(list(inputs), results)


def cases() -> Iterator[ModuleOp]:
    """Programs that together have every op in every form that it is lowered in."""
    for module in _cases():
        yield module.clone()


@cache
def _cases() -> tuple[ModuleOp, ...]:
    return tuple(_read_cases())


def _read_cases() -> Iterator[ModuleOp]:
    yield from _uses()
    yield from map(parse, CASES)
    for type, ops, result in test_additions.CASES.values():
        yield parse(
            f"func.func @main(%x: {type}) -> {result} {{ {ops} return %r : {result} }}"
        )
    for ops in test_additions.COLLECTIVES.values():
        yield parse(test_additions.COLLECTIVE.format(ops))
    for groups in test_collectives.GROUPS.values():
        yield from map(parse, test_collectives.programs_of(groups))
    for before, after, _ in test_collectives.RESHARDS:
        yield test_collectives.resharded(before, after)


@cache
def written() -> Written:
    """What all cases become; those that cannot be lowered become nothing."""
    found = Written()
    for module in cases():
        try:
            found.lower_to_ttir(module)
            found.lower_to_ttnn(module)
        except CompileError:
            continue
    return found


# --- the page -----------------------------------------------------------------

_OTHERWISE = "groups that are no whole axes: all_gather, embedding"

NOTES: dict[str, str] = {
    "chlo.scan": "a loop over the dimension, with the ops of its body",
    "func.call": "the function's body in place",
    "stablehlo.all_gather": f"one an axis, minor axis first; {_OTHERWISE}",
    "stablehlo.all_reduce": f"one an axis; {_OTHERWISE}, sum",
    "stablehlo.all_to_all": f"one an axis, major first; {_OTHERWISE}",
    "stablehlo.async_done": "the results of its start",
    "stablehlo.async_start": "its op, done at once",
    "stablehlo.bitcast_convert": "bitcast_convert alone where the width stays",
    "stablehlo.collective_broadcast": "a root that is computed: embedding",
    "stablehlo.collective_reduce": (
        "zeros but on the root; a root that is computed: eq, where"
    ),
    "stablehlo.compare": "total order of floats: on bitcast_convert, bitwise_xor and where",
    "stablehlo.composite": "sdy.all_slice; any other composite is its decomposition",
    "stablehlo.cross-replica-sum": "as an all_reduce that adds",
    "stablehlo.custom_call": (
        "annotations vanish: Sharding, annotate_device_placement, LayoutConstraint; "
        "ApproxTopK and PartialReduce: a sort and a slice"
    ),
    "stablehlo.dot_general": "precision and algorithm are the device's",
    "stablehlo.dynamic_broadcast_in_dim": "of static result type",
    "stablehlo.dynamic_iota": "of static result type",
    "stablehlo.dynamic_reshape": "of static result type",
    "stablehlo.map": "the elementwise ops of its computation",
    "stablehlo.optimization_barrier": "vanishes: there is nothing to keep apart",
    "stablehlo.partition_id": "a table of the ids",
    "stablehlo.reduce": (
        "any other body: a tree of its ops on pairs (slice_static, concat)"
    ),
    "stablehlo.reduce_scatter": f"one an axis, major axis first; {_OTHERWISE}",
    "stablehlo.reduce_window": "windows by doubling, one dimension after the other",
    "stablehlo.replica_id": "a table if devices are replicas",
    "stablehlo.rng": "rand: uniform floats between constants",
    "stablehlo.scatter": "a computation of its own: a loop",
    "stablehlo.sort": (
        "several keys: as many sorts, the last key first; a comparator without a key: "
        "ranks from all pairs (logical ops, sum, scatter)"
    ),
    "stablehlo.uniform_quantize": (
        "any other op of quantized numbers: dequantized, the op of floats, quantized"
    ),
}
"""What a reader should know of some ops."""

_CONTROL = "tt-mlir leaves control flow to the host"
_SEED = "in ttnn, as the design request lists it"

OTHER_ADDITIONS: dict[str, str] = {
    "ttir.case": _CONTROL,
    "ttir.if": _CONTROL,
    "ttnn.all_to_all": "along `cluster_axis`; tt-mlir has it in ttir, by replica groups",
    "ttnn.case": _CONTROL,
    "ttnn.collective_permute": _SEED,
    "ttnn.if": _CONTROL,
    "ttnn.mesh_shard": _SEED,
}
"""Ops of ours that tt-mlir has not, beside those that keep StableHLO's or chlo's form."""


def additions() -> dict[str, str]:
    """Every op of ttir and ttnn that tt-mlir does not know, and what it is, by name."""
    found = dict(OTHER_ADDITIONS)
    for one in ADDITIONS:
        if one.registered:
            continue
        text = f"`{one.source}`" + (f", {one.when}" if one.when else "")
        found[f"ttir.{one.mnemonic}"] = found[f"ttnn.{one.mnemonic}"] = text
    return dict(sorted(found.items()))


def _addition_lines() -> list[str]:
    """The additions as a table, one row for an op that both dialects have alike."""
    known = additions()
    lines = ["| op | |", "|---|---|"]
    for name, text in known.items():
        dialect, mnemonic = name.split(".", 1)
        twin = f"{'ttnn' if dialect == 'ttir' else 'ttir'}.{mnemonic}"
        if known.get(twin) != text:
            lines.append(f"| `{name}` | {text} |")
        elif dialect == "ttir":
            lines.append(f"| `{name}`, `{twin}` | {text} |")
    return lines


def _cell(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _note(name: str, found: Written) -> str:
    """What to know of an op; of one with other forms, when it is an addition."""
    when = {one.source: f"{one.when}: {one.mnemonic}" for one in ADDITIONS if one.when}
    several = len(forms(found.ttir[name])) > 1
    return NOTES.get(name, when.get(name, "") if several else "")


def lowering_page(found: Written) -> str:
    """The page in Markdown: what was written for each op of the tables."""
    lines = [
        "# StableHLO in ttir and ttnn",
        "",
        "<!-- made by `python -m tests.conversion.lowering_page`: do not edit -->",
        "",
        "Each op of the input, and the ops that it was seen to become in the tests'",
        "programs. An op with several forms uses those that the case needs; `ttir.empty`,",
        "which makes every destination, is left out, and so are the numbers that a rule",
        "computes with (`constant`, `full`, `ones`, `zeros`). The rules are in",
        "`ttxdsl/conversion/lower_*.py` and in the table of",
        "`ttxdsl/conversion/ttir_to_ttnn/convert.py`.",
        "",
        "| StableHLO | ttir | ttnn | |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {_cell(forms(found.ttir[name]))} "
        f"| {_cell(forms(found.ttnn[name]))} | {_note(name, found)} |"
        for name in sorted(TABLE)
    ]
    lines += [
        "",
        "## What tt-mlir does not know",
        "",
        "Ops that ttir and ttnn have here and not in tt-mlir: its tools cannot read a",
        "module with one of them. Those that stand for an op of StableHLO or chlo keep",
        "its fields; in ttir they take destinations like every other op. Tokens have no",
        "destination, and keep their type.",
        "",
        *_addition_lines(),
        "",
        "With `for=tt-mlir` the lowerings write none of them: in ttnn `mesh_shard` is",
        "`distribute_tensor` or `aggregate_tensor`, `collective_permute` a",
        "`point_to_point` for each pair, `all_to_all` an `all_gather` and a",
        "`mesh_partition`; all others are refused with an error that names the op and",
        "its line. What tt-mlir's verifiers say of each op has",
        "[a table of its own](tt-mlir-verdicts.md).",
        "",
        "Of ops that tt-mlir has, `mesh_shard` can say more here: `device_parts` lists,",
        "for data that lies on the devices already and is split by sub-axes or by axes",
        "out of mesh order, the part that each device holds; `device_summands`, for such",
        "data that is unreduced, which summand of its part. `ttir.all_to_all` names a",
        "`cluster_axis` instead of replica groups.",
        "",
        "A program's quantized numbers (`!quant.uniform`) are moved as they are; an op",
        "that computes with them works on `ttir.dequantize`d operands, and its result is",
        "`ttir.quantize`d, which is what StableHLO says it means. In ttnn these two take",
        "scales and zero points as operands.",
        "",
        "## Not lowered",
        "",
        "These are refused with an error that names the op and the reason; so is a tensor",
        "of dynamic shape.",
        "",
        "| op | reason |",
        "|---|---|",
        *(f"| `{name}` | {reason} |" for name, reason in sorted(UNSUPPORTED.items())),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(lowering_page(written()), end="")
