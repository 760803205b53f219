"""What becomes of every StableHLO and chlo op: the tables as one page.

`python -m ttxdsl.conversion.catalog` prints `docs/reference/lowering.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttxdsl.conversion.stablehlo_to_ttir import TABLE as TO_TTIR
from ttxdsl.conversion.ttir_to_ttnn import TABLE as TO_TTNN
from ttxdsl.conversion.unsupported import UNSUPPORTED
from ttxdsl.dialects._tt.additions import ADDITIONS


@dataclass(frozen=True, slots=True)
class Row:
    """The ops that one op of the input program becomes.

    Attributes:
        source: the name of the op, such as `stablehlo.add`.
        ttir: the mnemonics of the ttir ops that it may become; empty if it vanishes.
        ttnn: the mnemonics of the ttnn ops that these become.
        note: what a reader should know; why not, for an op that cannot be lowered.
        supported: whether it can be lowered.
    """

    source: str
    ttir: tuple[str, ...]
    ttnn: tuple[str, ...]
    note: str
    supported: bool = True


def lowering_table() -> tuple[Row, ...]:
    """A row for every StableHLO and chlo op, by name; those without a form last."""
    rows = [
        Row(name, rule.forms, _in_ttnn(rule.forms), rule.note)
        for name, rule in sorted(TO_TTIR.items())
    ]
    refused = [
        Row(name, (), (), reason, supported=False)
        for name, reason in sorted(UNSUPPORTED.items())
    ]
    return (*rows, *refused)


_CONTROL = "tt-mlir leaves control flow to the host"
_SEED = "in ttnn, as the design request lists it"

OTHER_ADDITIONS: dict[str, str] = {
    "ttir.case": _CONTROL,
    "ttir.if": _CONTROL,
    "ttir.while": _CONTROL,
    "ttir.yield": _CONTROL,
    "ttnn.all_to_all": "along `cluster_axis`; tt-mlir has it in ttir, by replica groups",
    "ttnn.case": _CONTROL,
    "ttnn.collective_permute": _SEED,
    "ttnn.if": _CONTROL,
    "ttnn.mesh_shard": _SEED,
    "ttnn.while": _CONTROL,
    "ttnn.yield": _CONTROL,
}
"""Ops of ours that tt-mlir has not, beside those that keep StableHLO's or chlo's form."""


def additions() -> dict[str, str]:
    """Every op of ttir and ttnn that tt-mlir does not know, and what it is, by name."""
    found = dict(OTHER_ADDITIONS)
    for one in ADDITIONS:
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


def _in_ttnn(forms: tuple[str, ...]) -> tuple[str, ...]:
    """The ttnn mnemonics of ttir ops, each once, in their order."""
    found: dict[str, None] = {}
    for form in forms:
        for mnemonic in TO_TTNN[f"ttir.{form}"].forms:
            found[mnemonic] = None
    return tuple(found)


def _cell(mnemonics: tuple[str, ...], dialect: str) -> str:
    return ", ".join(f"`{dialect}.{mnemonic}`" for mnemonic in mnemonics)


def lowering_page() -> str:
    """The table in Markdown, with its introduction."""
    rows = lowering_table()
    done = [row for row in rows if row.supported]
    refused = [row for row in rows if not row.supported]
    lines = [
        "# StableHLO in ttir and ttnn",
        "",
        "<!-- made by `python -m ttxdsl.conversion.catalog`: do not edit -->",
        "",
        "Each op of the input, and the ops that it may become. An op with several forms",
        "uses those that the case needs; `ttir.empty`, which makes every destination, is",
        "left out. The rules are in `ttxdsl/conversion/lower_*.py` and in the table of",
        "`ttxdsl/conversion/ttir_to_ttnn.py`.",
        "",
        "| StableHLO | ttir | ttnn | |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{row.source}` | {_cell(row.ttir, 'ttir')} | {_cell(row.ttnn, 'ttnn')} "
        f"| {row.note} |"
        for row in done
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
    ]
    lines += [f"| `{row.source}` | {row.note} |" for row in refused]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(lowering_page(), end="")
