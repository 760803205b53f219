"""What tt-mlir makes of a program alone, and of what we make of it.

`python -m tests.bridges.tt_mlir.through` prints the section of docs/evidence/tt-mlir.md that counts
them, `--write` writes it into the page. Answers are kept as in any test.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tests.bridges.tt_mlir.oracle import ask
from tests.bridges.tt_mlir.programs import FIRST, OTHERS, OWN, Named, all_programs
from tests.differential.stored import ANSWERS
from ttxdsl.bridges.tt_mlir.legalize.prepare_for_tt_mlir import PrepareForTTMLIRPass
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "evidence" / "tt-mlir.md"
BEGIN, END = "<!-- programs: begin -->", "<!-- programs: end -->"


@dataclass(frozen=True)
class Outcome:
    """How a program went both ways.

    Attributes:
        alone: why tt-mlir does not compile it, None if it does.
        local: the per-device program, None if our stages refuse it.
        given: what tt-mlir is given by us, None if we refuse it.
        through: why that is not compiled; our own words where we refuse it.
    """

    alone: str | None
    local: str | None
    given: str | None
    through: str | None

    @property
    def refused(self) -> bool:
        """Whether we said that it cannot be, before tt-mlir was asked."""
        return self.given is None


def prepared(text: str) -> tuple[str | None, str | None, str | None]:
    """The per-device program, the same for tt-mlir, and why there is none of them."""
    module = parse_program(text)
    local = None
    with collect_remarks():
        try:
            TTStableHLOPipelinePass().apply(make_context(), module)
            local = program_text(module)
            PrepareForTTMLIRPass().apply(make_context(), module)
        except CompileError as error:
            return local, None, _first_line(str(error))
        module.verify()
    return local, program_text(module), None


def outcome_of(text: str) -> Outcome:
    """Ask tt-mlir about a program, both ways."""
    alone = ask(text).error
    local, given, why = prepared(text)
    if given is None:
        return Outcome(alone, local, None, why)
    return Outcome(alone, local, given, ask(given).error)


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0].split("error: ", 1)[-1]


def _kind(reason: str) -> str:
    """A reason without what differs from program to program."""
    reason = reason.split("; ")[0].splitlines()[0]
    reason = re.sub(r"TT_(THROW|FATAL) @ .*", "an exception of its runtime", reason)
    # which of several is named first changes from run to run
    reason = re.sub(r"(materialization) from .* to .* (that)", r"\1 … \2", reason)
    reason = re.sub(r"https?://\S*", "", reason)
    reason = re.sub(r"tensor<(?:\d+x)*(\w+(<\w+>)?)>", r"\1", reason)
    reason = re.sub(r"'?\{+devices=.*", "a sharding", reason)
    reason = re.sub(r"@\w*|@.*", "@…", reason)
    reason = re.sub(r"'stablehlo.(constant|convert)' op: (.* has no)", r"\2", reason)
    return re.sub(r"\d+x\d+x?\w*|\(\d[\d, ]*\)", "…", reason)[:120].strip()


def section(outcomes: dict[Named, Outcome]) -> str:
    """The counts by mesh, and the reasons."""
    lines = [
        "| mesh | programs | tt-mlir alone | through us | refused by us | lost |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for mesh in (FIRST, *OTHERS, OWN):
        lines.append(
            _row(mesh, [one for (_, other), one in outcomes.items() if other == mesh])
        )
    lines.append(_row("**all**", outcomes.values()))
    alone = Counter(_kind(one.alone) for one in outcomes.values() if one.alone)
    refused = Counter(
        _kind(one.through or "") for one in outcomes.values() if one.refused
    )
    failed = {
        name: one.through
        for name, one in outcomes.items()
        if one.through is not None and not one.refused
    }
    lines += [
        "",
        "Refused by us before tt-mlir is asked, with the op and its line:",
        "",
    ]
    lines += [f"- {count}: {why}" for why, count in _sorted(refused)]
    lines += ["", "Given to tt-mlir and not compiled:", ""]
    lines += [f"- `{name}` on {mesh}: {why}" for (name, mesh), why in failed.items()]
    lines += [] if failed else ["- none"]
    lines += ["", "Why tt-mlir alone does not compile, most frequent first:", ""]
    lines += [f"- {count}: {why}" for why, count in _sorted(alone)[:25]]
    return "\n".join(lines)


def _sorted(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _row(name: str, outcomes: Iterable[Outcome]) -> str:
    counted = list(outcomes)
    alone = sum(one.alone is None for one in counted)
    through = sum(one.through is None for one in counted)
    refused = sum(one.refused for one in counted)
    lost = sum(one.alone is None and one.through is not None for one in counted)
    return f"| {name} | {len(counted)} | {alone} | {through} | {refused} | {lost} |"


def page(outcomes: dict[Named, Outcome]) -> str:
    """The whole page with this section made anew."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{section(outcomes)}\n{END}{after}"


def all_outcomes() -> dict[Named, Outcome]:
    """How every program went."""
    return {name: outcome_of(text) for name, text in all_programs().items()}


def main_with_answers(made: Callable[[], str]) -> None:
    """Print what is made of tt-mlir's answers, or write it as the page."""
    import_module("tests.conftest")  # finds the library
    store = ROOT / ".pytest_cache" / "d" / "answers"
    store.mkdir(parents=True, exist_ok=True)
    ANSWERS.open(store)
    try:
        text = made()
    finally:
        ANSWERS.close()
    if "--write" in sys.argv:
        PAGE.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main_with_answers(lambda: page(all_outcomes()))
