"""The findings of budgets, as Markdown for the page of a pull request."""

import re
from collections.abc import Sequence

from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.analysis.usage.memory import LiveValue
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import place_text
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.insight.budget.check import Finding

_MOST = 10
"""Collectives or values that are listed of a limit."""

_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~&@:]")


def _plain(text: str) -> str:
    """Somebody else's text, which marks nothing up, mentions nobody, and ends no cell."""
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", visible(text))


def _change(finding: Finding) -> str:
    allowed, quantity = finding.limit.value, finding.found
    if quantity == allowed:
        return "="
    if not allowed:
        return f"+{finding.found_text}"
    return f"{(quantity - allowed) / allowed:+.1%}"


def markdown(checked: Sequence[tuple[str, Sequence[Finding]]]) -> str:
    """A table of all limits, those that are broken first, and what breaks them, folded."""
    rows = [(name, finding) for name, findings in checked for finding in findings]
    rows.sort(key=lambda row: row[1].ok)
    broken = [row for row in rows if not row[1].ok]
    title = f"{len(broken)} of {len(rows)} limits broken" if broken else "kept"
    lines = [
        f"### Communication budget: {title}",
        "",
        "| | program | limit | found | beside the limit |",
        "|---|---|---|---:|---:|",
    ]
    for name, row_finding in rows:
        mark = "✅" if row_finding.ok else "❌"
        cells = (
            mark,
            _plain(name),
            _plain(str(row_finding.limit)),
            row_finding.found_text,
        )
        lines.append(f"| {' | '.join((*cells, _change(row_finding)))} |")
    for name, row_finding in broken:
        lines += ["", *_details(name, row_finding)]
    return "\n".join(lines) + "\n"


def _details(name: str, finding: Finding) -> list[str]:
    listed: list[str] = [
        *map(_collective, finding.collectives),
        *map(_value, finding.values),
    ]
    more = [f"- {len(listed) - _MOST} more"] if len(listed) > _MOST else []
    head = f"{_plain(name)}: {_plain(str(finding.limit))}, found {finding.found_text}"
    lines = [f"<details><summary>{head}</summary>", "", *listed[:_MOST], *more]
    return [*lines, "", "</details>"]


def _collective(collective: CountedCollective) -> str:
    place = f" ({_plain(collective.place)})" if collective.place else ""
    return (
        f"- {_plain(collective.title)} along {_plain(collective.axes_text)} of {_plain(collective.tensor)},"
        f" {bytes_text(collective.bytes_per_device)}: {_plain(collective.reason)}{place}"
    )


def _value(value: LiveValue) -> str:
    place = f" ({_plain(place_text(value.position))})" if value.position else ""
    return f"- {_plain(value.name)}, {_plain(value.type)}, {bytes_text(value.bytes)}{place}"
