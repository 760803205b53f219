"""Takes the screenshots of docs/guide/report.md: `python docs/scripts/screenshots.py [NAME…]`.

Needs Chromium and the `test` extra, and `pip install ai-edge-model-explorer` for the
picture of that. Every report is made anew; look at the pictures before you commit them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import ttxdsl
from ttxdsl.insight.report.html.page import report_page
from ttxdsl.insight.report.model_explorer import graph_collection, node_data

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT))

from tests.insight.report.browser import find_chromium  # noqa: E402

SIZE = {"width": 1440, "height": 860}

LAYERS = """\
import sys
sys.path.insert(0, "benchmarks/speed")
from models import lower
print(lower(12, "train", scanned={scanned}).as_text(debug_info=True))
"""


@cache
def program(name: str) -> ttxdsl.Program:
    """The program that a picture is of."""
    match name:
        case "block":
            return ttxdsl.load(ROOT / "examples" / "transformer_block.mlir")
        case "case6":
            cases = ROOT / "tests" / "pipeline" / "seed_cases"
            return ttxdsl.load(cases / "case6" / "00-input.mlir")
        case "mlp":
            return ttxdsl.load(ROOT / "examples" / "mlp_data_tensor_parallel.mlir")
        case "train":
            command = ["examples/transformer_train.py"]
        case _:
            command = ["-c", LAYERS.format(scanned=name == "scanned")]
    made = subprocess.run(
        [sys.executable, *command], cwd=ROOT, check=True, capture_output=True, text=True
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.mlir"
        path.write_text(made.stdout)
        return ttxdsl.load(path)


@cache
def html(name: str) -> Path:
    """The report of a program, in a file."""
    data = program(name).report_data()
    # the folder that the file happens to be in says nothing
    data["title"] = Path(data["title"]).name
    path = Path(tempfile.mkdtemp()) / f"{name}.html"
    path.write_text(report_page(data), encoding="utf-8")
    return path


def node(condition: str) -> str:
    """JavaScript that selects the first node for which a condition on `n` holds."""
    return f"selectNode(nodes.findIndex((n) => {condition}))"


Step = str | tuple[str, str]

REPORTS: dict[str, tuple[str, list[str], list[Step]]] = {
    "report-graph": ("block", ["2"], [node("n.outputs[0]?.partial.length")]),
    "report-summary": ("layers", [], []),
    "report-train": (
        "train",
        ["2"],
        ["select({ scope: scopes.findIndex((s) => s.name === 'backward') })"],
    ),
    "report-stages": (
        "train",
        ["6"],
        ["showStage(11)", node("n.name === 'all_reduce'"), "jump(-1)"],
    ),
    "report-collectives": (
        "train",
        ["3"],
        ["selectNode(data.collectives[2].node)"],
    ),
    "report-twelve": ("layers", ["2"], []),
    "report-scanned": ("scanned", ["2"], []),
    "report-memory": ("layers", ["4", "t"], []),
    "report-search": (
        "layers",
        ["2"],
        [("fill", "op:dot_general axis:model")],
    ),
    "report-case6": ("case6", ["2"], [node("n.name === 'all_gather'")]),
}
"""For each picture its program, keys to press, and what is done then."""


def take(browser: Browser, name: str) -> None:
    """One picture of a report."""
    which, keys, steps = REPORTS[name]
    page = browser.new_page(viewport=SIZE, color_scheme="light")
    page.goto(html(which).as_uri())
    page.wait_for_selector("html[data-ready]")
    for key in keys:
        page.keyboard.press(key)
    for step in steps:
        if isinstance(step, tuple):
            page.fill("#search", step[1])
            page.keyboard.press("Enter")
        else:
            page.evaluate(step)
    if name == "report-graph":
        page.locator("#details .picture g[data-key]").first.hover()
    save(page, name)


def save(page: Page, name: str) -> None:
    """Write a picture once nothing moves any more."""
    page.wait_for_timeout(300)
    page.screenshot(path=IMAGES / f"{name}.png")
    size = (IMAGES / f"{name}.png").stat().st_size
    print(f"{name}.png  {size // 1024} KiB", flush=True)
    page.close()


@contextmanager
def model_explorer(files: list[Path]) -> Iterator[str]:
    """Its server with a graph and node data; the address to open."""
    command = Path(sys.executable).with_name("model-explorer")
    graph, *overlays = map(str, files)
    log = files[0].with_suffix(".log")
    with log.open("w") as out:
        server = subprocess.Popen(
            [
                *(command, graph, "--no_open_in_browser", "--skip_health_check"),
                *("--port", "8193", "--node_data_paths", ",".join(overlays)),
            ],
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        for _ in range(60):
            if found := re.search(r"http://localhost\S+data=\S+", log.read_text()):
                break
            time.sleep(0.5)
        else:
            raise RuntimeError(f"Model Explorer did not start: {log.read_text()}")
        yield found[0]
    finally:
        server.terminate()
        server.wait()


def take_model_explorer(browser: Browser) -> None:
    """The same graph in Google's Model Explorer."""
    data = program("mlp").report_data()
    data["title"] = Path(data["title"]).name
    folder = Path(tempfile.mkdtemp())
    files = {"mlp.json": graph_collection(data)}
    files.update((f"mlp.{name}.json", one) for name, one in node_data(data).items())
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    with model_explorer([folder / name for name in files]) as address:
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.get_by_text("all_reduce").first.wait_for(timeout=60_000)
        page.wait_for_timeout(3000)
        save(page, "report-model-explorer")


def main() -> None:
    """Take all pictures, or those that are named."""
    wanted = sys.argv[1:] or [*REPORTS, "report-model-explorer"]
    with sync_playwright() as playwright:
        # WebGL by software, for Model Explorer
        arguments = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader"]
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=arguments
        )
        others: dict[str, Callable[[Browser], None]] = {
            "report-model-explorer": take_model_explorer
        }
        for name in wanted:
            if name in others:
                others[name](browser)
            else:
                take(browser, name)
        browser.close()


if __name__ == "__main__":
    main()
