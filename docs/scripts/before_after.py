"""Takes docs/images/before-after: `python docs/scripts/before_after.py [--before CHECKOUT]`.

Each picture is what a report shows when it is opened. Without `--before` the reports are
this version's; with it those of another checkout of this repository, which is what the
pictures called before were taken with (4072c8ab^). Needs Chromium and the `test` extra.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images" / "before-after"
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks" / "speed")]

from models import lower  # noqa: E402

from tests.insight.report.browser import find_chromium  # noqa: E402
from tests.insight.report.training_steps import Step, lowered  # noqa: E402

SIZE = {"width": 1100, "height": 660}

LAYERS = {"layer": 1, "layers-4": 4, "layers-24": 24}


def text_of(name: str) -> str:
    """The StableHLO text of a program: layers under FSDP, or a mixture of experts."""
    if name == "moe":
        return lowered(Step("experts"))
    scanned = name == "scanned"
    step = lower(LAYERS.get(name, 24), "train", scheme="fsdp", scanned=scanned)
    return step.as_text(debug_info=True)


def take(name: str, when: str, checkout: Path, folder: Path) -> None:
    """One picture, by the `ttxdsl` of a checkout."""
    program = folder / f"{name}.mlir"
    if not program.exists():
        program.write_text(text_of(name), encoding="utf-8")
    page_file = folder / f"{name}-{when}.html"
    subprocess.run(
        [
            *(sys.executable, "-c", "from ttxdsl.cli.main import main; main()"),
            *("report", program.name, "-o", str(page_file)),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        check=True,
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(500)
        page.screenshot(path=IMAGES / f"{name}-{when}.png")
        browser.close()


def main() -> None:
    """Take all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="all of them without")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier version")
    options = parser.parse_args()
    checkout: Path = options.before or ROOT
    when = "before" if options.before else "after"
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or [*LAYERS, "scanned", "moe"]:
            take(name, when, checkout.resolve(), Path(folder))


if __name__ == "__main__":
    main()
