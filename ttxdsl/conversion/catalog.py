"""What becomes of every StableHLO and chlo op: the tables as one page.

`python -m ttxdsl.conversion.catalog` prints `docs/lowering.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttxdsl.conversion.stablehlo_to_ttir import TABLE as TO_TTIR
from ttxdsl.conversion.ttir_to_ttnn import TABLE as TO_TTNN
from ttxdsl.conversion.unsupported import UNSUPPORTED


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
        "## Not lowered",
        "",
        "These are refused with an error that names the op and the reason.",
        "",
        "| op | reason |",
        "|---|---|",
    ]
    lines += [f"| `{row.source}` | {row.note} |" for row in refused]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(lowering_page(), end="")
