"""The page in the browser: ttxdsl run by Pyodide in a headless Chromium.

Run by `pytest -m playground` once `make docs` has built it, since it takes Pyodide from
the registry of npm.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page

SITE = Path(__file__).parents[2] / "build" / "site"
LOADED = 120_000
ANSWERED = 240_000

pytestmark = pytest.mark.playground


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """The page, with Python loaded; nothing is asked of another server."""
    if not (SITE / "playground" / "packages.zip").exists():
        pytest.skip("the playground is not built: make docs")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    asked: list[str] = []
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: pytest.fail(str(error)))
    tab.goto(f"{home}playground/index.html")
    tab.wait_for_selector("html[data-ready]", timeout=LOADED)
    yield tab
    assert not [url for url in asked if not url.startswith((home, "blob:", "data:"))]
    tab.close()
    server.shutdown()
    server.server_close()


def look(page: Page, text: str) -> str:
    """Ask about a text; return the error that the page shows, if any."""
    page.fill("#text", text)
    page.click("#look")
    page.wait_for_function(
        "!document.getElementById('look').disabled", timeout=ANSWERED
    )
    return page.inner_text("#error") if page.is_visible("#error") else ""


def test_an_example(page: Page):
    page.select_option("#example", "transformer_block.mlir")
    page.wait_for_function(
        "document.getElementById('status').textContent.startsWith('Answered')",
        timeout=ANSWERED,
    )
    assert not page.is_visible("#error")
    assert "all_reduce" in page.inner_text("#why")
    page.click("#tab-plan")
    assert "fits" in page.inner_text("#plan")
    page.keyboard.press("ArrowRight")
    report = page.frame_locator("#report iframe")
    report.locator("html[data-ready]").wait_for(state="attached", timeout=LOADED)
    assert "program.mlir" in report.locator("body").inner_text()


NO_MESH = """func.func @main(%a: tensor<8xf32>
  {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "begins with module or func.func"),
        ("", "the text is empty"),
        (NO_MESH[:-20], "it may be cut off"),
        (NO_MESH[:-2], "it may be cut off"),
        ("\0\1\2\ufffd", "Unexpected character: \\x00"),
        ("ML\ufffdR\rStableHLO_v1.9.5", "that is MLIR bytecode"),
        ("module {}", "no function @main"),
        (NO_MESH, "unknown mesh: @mesh"),
        (
            "HloModule jit_step, entry_computation_layout={()->f32[]}",
            "that is XLA's HLO",
        ),
    ],
)
def test_texts_that_are_no_programs(page: Page, text: str, message: str):
    """The diagnostics of the command line, and the page goes on."""
    assert message in look(page, text)
    assert page.is_enabled("#look")
    assert "No answer" in page.inner_text("#status")
    assert not page.is_visible("#answers")


def test_a_file_that_is_too_large(page: Page, tmp_path: Path):
    large = tmp_path / "large.mlir"
    large.write_text(" " * (65 << 20))
    page.set_input_files("#file", large)
    page.wait_for_selector("#error:not([hidden])")
    assert "more than the 64 MiB" in page.inner_text("#error")


def test_narrow(page: Page):
    page.set_viewport_size({"width": 375, "height": 700})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 375


def test_a_step_of_405_billion_parameters(page: Page):
    """Scanned layers of Llama 3.1 405B's sizes on 16 x 16 devices, without debug info."""
    root = Path(__file__).parents[2]
    code = "from large_step import step_path; print(step_path(126, scanned=True))"
    flags = "--xla_force_host_platform_device_count=256"
    made = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root / "benchmarks" / "speed",
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    start = time.monotonic()
    assert look(page, Path(made.stdout.strip()).read_text()) == ""
    # 60 s where nothing else runs
    assert time.monotonic() - start < ANSWERED / 1000
    why = page.inner_text("#why")
    assert "all_gather" in why or "all_reduce" in why
    assert "debug_info=True" in page.inner_text("body")
