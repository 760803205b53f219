"""A headless Chromium for tests of pages; where there is none the tests are skipped.

With TTXDSL_REQUIRE_BROWSER set they fail instead, so that CI cannot lose them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """TTXDSL_CHROMIUM, or the first of the usual names on the path."""
    named = os.environ.get("TTXDSL_CHROMIUM")
    if named:
        return named
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; skips the test that asks where there is none."""
    path = find_chromium()
    if path is None:
        reason = "no Chromium: install it, or say where it is in TTXDSL_CHROMIUM"
        if os.environ.get("TTXDSL_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


def open_page(browser: Browser, path: Path) -> tuple[Page, list[str]]:
    """A page of a file, and what the console and the network complain about."""
    page = browser.new_page(viewport={"width": 1400, "height": 880})
    said: list[str] = []
    page.on(
        "console",
        lambda message: (
            said.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:"))
            else said.append(f"asked the network for {request.url}")
        ),
    )
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=20_000)
    return page, said
