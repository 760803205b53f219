"""Writes docs/reference/: passes with options, ops, and commands, from the code.

    python docs/scripts/reference.py            # writes the pages
    python docs/scripts/reference.py --check    # exit code 1 if one is stale

A test holds the pages against the code.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

from xdsl.ir import Dialect, ParametrizedAttribute
from xdsl.irdl import (
    OpDef,
    OptionalDef,
    OptOperandDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
)

from ttxdsl.cli.main import make_parser
from ttxdsl.loading.doors import COMMANDS
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.universe import DIALECTS, PASSES, load

REFERENCE = Path(__file__).parents[1] / "reference"

GENERATED = (
    "Written by `python docs/scripts/reference.py` from the code; do not edit.\n"
)

DIALECT_TITLES = {
    "sdy": "Shardy: meshes, shardings and collectives",
    "stablehlo": "StableHLO, the whole specification",
    "chlo": "CHLO: what JAX uses besides StableHLO",
    "quant": "Quantized element types",
    "ttcore": "Tenstorrent's common attributes",
    "ttir": "Tenstorrent's device-independent ops",
    "ttnn": "Tenstorrent's ops on a device",
    "check": "Expectations, as StableHLO's own tests use them",
    "interpreter": "Several programs at a time, as StableHLO's own tests use them",
}


def _text(docstring: str | None) -> str:
    return inspect.cleandoc(docstring or "").strip()


def _summary(docstring: str | None) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join(_text(docstring).split("\n\n")[0].split())
    return paragraph.replace("|", "\\|")


def _demoted(text: str) -> str:
    """Docstring sections (`Options:`, `Raises:`) as bold words, so that they render."""
    return re.sub(
        r"^(Args|Options|Raises|Returns|Source):", r"**\1:**", text, flags=re.M
    )


# --- passes -------------------------------------------------------------------------


def _type_name(type_: Any) -> str:
    text = getattr(type_, "__name__", None) if isinstance(type_, type) else str(type_)
    return (text or str(type_)).replace("|", "\\|")


def _options(pass_: type[Any]) -> Iterator[str]:
    hints = get_type_hints(pass_)
    fields = [field for field in dataclasses.fields(pass_) if field.name != "name"]
    if not fields:
        return
    yield "| option | type | default |"
    yield "|---|---|---|"
    for field in fields:
        default: Any = field.default
        if isinstance(default, bool):
            default = str(default).lower()
        shown = "" if default in ((), None, dataclasses.MISSING) else f"`{default}`"
        name = field.name.rstrip("_").replace("_", "-")
        yield f"| `{name}` | {_type_name(hints[field.name])} | {shown} |"
    yield ""


def _pass_entry(name: str, target: str, stage: int | None) -> Iterator[str]:
    module = import_module(target.partition(":")[0])
    pass_ = load(target)
    yield f"## `{name}`"
    yield ""
    if stage is not None:
        yield f"Stage {stage}."
        yield ""
    own = _text(pass_.__doc__)
    whole = _text(module.__doc__)
    # a page about one pass says it in the module, and the class only points there
    body = whole if "see the module" in own else f"{own}\n\n{whole}" if whole else own
    yield _demoted(body)
    yield ""
    yield from _options(pass_)
    yield f"Source: `{target.partition(':')[0].replace('.', '/')}.py`"
    yield ""


def passes_page() -> str:
    """All passes in the order of the universe's table, the stages first."""
    stages = TTStableHLOPipelinePass().stages()
    numbers = {stage.name: number for number, stage in enumerate(stages, 1)}
    lines = [
        "# Passes and their options",
        "",
        GENERATED,
        "Each runs as `xdsl-opt FILE -p 'NAME{option=value}'`. The thirteenth stage,"
        " `canonicalize`, is xDSL's own.",
        "",
    ]
    for name, target in PASSES.items():
        lines += _pass_entry(name, target, numbers.get(name))
    return "\n".join(lines).rstrip() + "\n"


# --- ops ----------------------------------------------------------------------------


def _suffix(definition: object) -> str:
    if isinstance(definition, OptOperandDef | OptResultDef | OptionalDef):
        return "?"
    return "…" if isinstance(definition, VarOperandDef | VarResultDef) else ""


def _named(parts: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"`{name}`{_suffix(definition)}" for name, definition in parts)


def _op_rows(dialect: Dialect) -> Iterator[str]:
    yield "| op | operands | attributes | results | |"
    yield "|---|---|---|---|---|"
    for op in sorted(dialect.operations, key=lambda one: one.name):
        definition: OpDef = op.get_irdl_definition()
        attributes = {**definition.properties, **definition.attributes}
        cells = (
            f"`{op.name}`",
            _named(definition.operands),
            _named(attributes.items()),
            _named(definition.results),
            _summary(op.__doc__),
        )
        yield f"| {' | '.join(cells)} |"


def _attribute_rows(dialect: Dialect) -> Iterator[str]:
    attributes = sorted(dialect.attributes, key=lambda one: one.name)
    if not attributes:
        return
    yield "## Attributes and types"
    yield ""
    yield "| name | |"
    yield "|---|---|"
    for attribute in attributes:
        mark = "!" if "Type" in attribute.__name__ else "#"
        kind = attribute.__doc__
        if issubclass(attribute, ParametrizedAttribute) and kind is None:
            kind = ""
        yield f"| `{mark}{attribute.name}` | {_summary(kind)} |"
    yield ""


def ops_page(name: str) -> str:
    """The ops, attributes and types of a dialect."""
    dialect: Dialect = load(DIALECTS[name])
    lines = [f"# `{name}`", "", f"{DIALECT_TITLES[name]}.", "", GENERATED]
    if list(dialect.operations):
        lines += [
            "`?` marks what may be left out, `…` what may be there several times.",
            "",
            "## Ops",
            "",
            *_op_rows(dialect),
            "",
        ]
    lines += _attribute_rows(dialect)
    return "\n".join(lines).rstrip() + "\n"


# --- commands -----------------------------------------------------------------------


def commands_page() -> str:
    """The help of every command."""
    os.environ["COLUMNS"] = "88"
    lines = ["# Commands", "", GENERATED]
    for name in COMMANDS:
        parser = make_parser(name)
        groups = [
            a for a in parser._actions if isinstance(a, argparse._SubParsersAction)
        ]
        helped: argparse.ArgumentParser = groups[0].choices[name]
        lines += [
            f"## `ttxdsl {name}`",
            "",
            "```text",
            helped.format_help().rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def pages() -> dict[Path, str]:
    """The text of every page by its path."""
    made = {
        REFERENCE / "passes.md": passes_page(),
        REFERENCE / "commands.md": commands_page(),
    }
    for name in DIALECTS:
        made[REFERENCE / "dialects" / f"{name}.md"] = ops_page(name)
    return made


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    stale = [
        (path, text)
        for path, text in pages().items()
        if not path.exists() or path.read_text() != text
    ]
    for path, text in stale:
        print(f"{'stale' if options.check else 'written'}: {path.name}")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
