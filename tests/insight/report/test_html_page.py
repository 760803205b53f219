"""The page as text: everything is in it, and nothing in the data can leave its place."""

import copy
import json
import re
import zlib
from base64 import b64decode
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import ttxdsl
from ttxdsl.insight.report import html
from ttxdsl.insight.report.html.packing import packed
from ttxdsl.insight.report.html.page import SCRIPTS, report_page
from ttxdsl.insight.report.trace.listing import REMOVED

EXAMPLES = Path(__file__).parents[3] / "examples"

NASTY = [
    "</script><script>alert(1)</script>",
    "<!--",
    "a & b < c > d",
    "\N{LINE SEPARATOR}\u2029",
    "quote \" and ' and \\",
    "{{js}}{{data}}",
    "ünïcode",
]


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return ttxdsl.load(EXAMPLES / "mlp_data_tensor_parallel.mlir").report_data()


def data_of(page: str) -> Any:
    """The data of a page, read as `packed.js` reads it."""
    match = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert match is not None
    assert re.fullmatch("[A-Za-z0-9+/=]*", match[1])
    found = json.loads(zlib.decompress(b64decode(match[1])))
    patterns, lines = found["texts"].values()
    split = [line.split(" ") for line in lines.split("\n")]
    found["texts"] = [
        "".join(
            part if at == 0 else f"%{names[at - 1]}{part}"
            for at, part in enumerate(patterns[int(number)])
        )
        for number, *names in split
    ]
    before: list[list[int]] = []
    for stage in found["stages"]:
        rows: list[list[int]] = []
        for first, second, *others in stage["rows"]:
            if others:
                key, text = rows[-1][:2] if rows else (0, 0)
                rows.append([key + first, text + second, *others])
            else:
                rows += [[*row[:3], 0] for row in before[first : first + second]]
        before = stage["rows"] = rows
    kinds, shared = found.pop("kinds"), found.pop("shared")
    for node in found["graph"]["nodes"]:
        node["outputs"] = [{"name": n, **kinds[kind]} for n, kind in node["outputs"]]
        node["frames"], node["path"] = shared[node["frames"]], shared[node["path"]]
    return found


@pytest.mark.parametrize("title", NASTY)
def test_the_page_holds_the_data(data: dict[str, Any], title: str):
    named = {**data, "title": title}
    page = report_page(named)
    assert data_of(page) == json.loads(json.dumps(named))
    assert page.count("<script") == page.count("</script>") == 3
    match = re.search("<title>(.*?)</title>", page, re.DOTALL)
    assert match is not None
    assert unescape(match[1]) == f"{title} - ttxdsl report"


def test_nothing_is_loaded(data: dict[str, Any]):
    page = report_page(data)
    links = set(re.findall(r"https?://[\w./]*", page.partition('id="data"')[0]))
    assert links == set()
    assert re.findall(r'\b(?:src|href)="([^"]*)"', page) == ["data:,"]
    # the name of SVG is an address, but nobody goes there
    assert set(re.findall(r"https?://[\w./]*", page)) <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page


@pytest.mark.parametrize("text", [*NASTY, "%0", "%a#1, %b = % %%", "\0 %x", ""])
def test_lines_of_any_text_are_packed(data: dict[str, Any], text: str):
    # a listing is split into lines where it says so
    changed = {**data, "texts": [text, *data["texts"], text]}
    assert data_of(report_page(changed)) == json.loads(json.dumps(changed))


def test_what_is_said_again_is_packed(data: dict[str, Any]):
    def size(data: dict[str, Any]) -> int:
        return len(json.dumps(packed(data), separators=(",", ":")))

    again = copy.deepcopy(data)
    last = data["stages"][-1]
    rows = [[*row[:3], 0] for row in last["rows"] if row[3] != REMOVED]
    # a stage that changes nothing is one run
    again["stages"] += [{**last, "rows": rows}] * 10
    assert size(again) < size(data) + 10 * 150 + len(json.dumps(rows))
    assert size(data) < len(json.dumps(data, separators=(",", ":")))


def test_every_script_is_in_the_page():
    folder = Path(html.__file__).parent
    assert sorted(path.name for path in folder.glob("*.js")) == sorted(
        [*SCRIPTS, "start.js"]
    )


def test_scripts_do_not_write_html():
    # text from programs goes in as text; there is no place that takes it for HTML
    folder = Path(html.__file__).parent
    for name in (*SCRIPTS, "start.js"):
        source = (folder / name).read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
            assert word not in source, name
        assert "</script" not in source


def test_from_python(tmp_path: Path, data: dict[str, Any]):
    program = ttxdsl.load(EXAMPLES / "mlp_data_tensor_parallel.mlir")
    path = tmp_path / "report.html"
    # whatever has been done to it, the report starts from what was loaded
    program.lower("ttnn").report(path)
    found = data_of(path.read_text())
    assert found["texts"] == data["texts"]
    with pytest.raises(ttxdsl.CompileError, match="partitioned already, without mesh"):
        program.partition().report(path, mesh=(2, 4))


def test_the_verdict_on_a_chip():
    """A report for one chip says whether that one holds the program."""
    program = ttxdsl.load(EXAMPLES / "mlp_data_tensor_parallel.mlir")
    (v5e,) = program.report_data(chip="v5e")["verdict"]["memory"]["chips"]
    assert v5e["name"] == "v5e"
    assert v5e["fits"]
    assert len(program.report_data()["verdict"]["memory"]["chips"]) > 5
