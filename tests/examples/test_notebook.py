"""The notebook runs, and what its answers show is legible in a browser."""

import ast
import json
from contextlib import AbstractContextManager, chdir
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.insight.report.browser import open_page

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"

PAGE = """<!doctype html><html><head><title>notebook</title><style>
body {{ font: 14px sans-serif; margin: 0; width: 980px; {style} }}
.output {{ border-bottom: 1px solid #888; padding: 8px; }}
</style></head><body>{outputs}
<script>document.documentElement.dataset.ready = 1</script></body></html>"""
"""As wide as the outputs of JupyterLab on a laptop."""

RIGHT_EDGES = """() => [...document.querySelectorAll("pre")].map((pre) => {
  const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const letters = [];
  for (let node; (node = walker.nextNode()); )
    for (let at = 0; at < node.length; at++) letters.push([node, at]);
  const letter = (place) => place ? place[0].data[place[1]] : "\\n";
  return letters.filter((place, at) => "┓┃┩│┘".includes(letter(place)) && letter(letters[at + 1]) === "\\n")
    .map(([node, at]) => {
      const range = document.createRange();
      range.setStart(node, at); range.setEnd(node, at + 1);
      return Math.round(range.getBoundingClientRect().right);
    });
})"""
"""Of each answer where the right borders of its tables are."""


def cells() -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text())
    assert notebook["nbformat"] == 4
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in code), "it is committed without outputs"
    return ["".join(cell["source"]) for cell in code]


@cache
def shown() -> list[tuple[str, str]]:
    """Run the notebook as a kernel does; return cells with the HTML of what they end on."""
    names: dict[str, Any] = {}
    found: list[tuple[str, str]] = []
    with chdir(NOTEBOOK.parent):
        for source in cells():
            *body, last = ast.parse(source).body
            assert isinstance(last, ast.Expr), "each cell ends on an answer"
            exec(compile(ast.Module(body, []), "cell", "exec"), names)
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            found.append((source, value._repr_html_()))
    return found


def opened(browser: Browser, folder: Path, style: str) -> AbstractContextManager[Page]:
    outputs = "".join(f'<div class="output">{html}</div>' for _, html in shown())
    path = folder / "notebook.html"
    path.write_text(PAGE.format(style=style, outputs=outputs), encoding="utf-8")
    return open_page(browser, path)


def test_every_answer_draws_itself():
    assert len(shown()) >= 8
    for source, html in shown():
        assert html, f"'{source}' shows nothing"
    texts = dict(shown())
    assert "all_reduce" in texts["program.why()"]
    assert "pass" in texts["program.run()"]
    assert "held then" in texts["device.memory()"]
    (collectives,) = (html for source, html in shown() if "collectives()" in source)
    assert "launches" in collectives and "16x16xf32" in collectives


@pytest.mark.parametrize("style", ["", "background: #111; color: #eee"])
def test_answers_are_legible(browser: Browser, tmp_path: Path, style: str):
    with opened(browser, tmp_path, style) as page:
        outputs = page.locator(".output")
        assert outputs.count() == len(shown())
        for at in range(outputs.count()):
            box = outputs.nth(at).bounding_box()
            assert box and box["height"] > 20
            # what is wider can be scrolled, and does not push the page
            assert outputs.nth(at).evaluate(
                "(e) => e.scrollWidth <= e.clientWidth + 1 || getComputedStyle(e.firstElementChild).overflowX !== 'visible'"
            )
        tables = [edges for edges in page.evaluate(RIGHT_EDGES) if edges]
        assert len(tables) >= 4
        for edges in tables:
            # borders of one table are below each other: boxes are as wide as letters
            runs = [edges[0]]
            for edge in edges:
                if abs(edge - runs[-1]) > 1:  # bold letters are a part of a pixel off
                    runs.append(edge)
            assert len(runs) <= 6, runs
        # letters are told from what is behind them
        contrast = page.evaluate(
            """() => Math.min(...[...document.querySelectorAll(".output *")]
          .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
          .map((e) => {
            const of = (text) => text.match(/[\\d.]+/g).map(Number);
            let behind = e, back = [0, 0, 0, 0];
            while (behind && (back = of(getComputedStyle(behind).backgroundColor))[3] === 0)
              behind = behind.parentElement;
            if (!behind) back = [255, 255, 255];
            const linear = (v) => (v /= 255) <= 0.04 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            const light = (c) => 0.05 + 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
            const both = [light(of(getComputedStyle(e).color)), light(back)];
            return Math.max(...both) / Math.min(...both);
          }))"""
        )
        assert contrast >= 3  # of WCAG, for large letters
