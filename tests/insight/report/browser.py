"""A headless Chromium for tests of pages; where there is none the tests are skipped.

With TTXDSL_REQUIRE_BROWSER set they fail instead, so that CI cannot lose them.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
        # a GPU that is not there would be simulated, on the processor
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        _tabs.clear()
        browser.close()


_tabs: list[Page] = []
"""Tabs that no test looks at: a new one takes longer than most tests."""


@contextmanager
def open_page(browser: Browser, path: Path) -> Iterator[Page]:
    """Open a file in a tab; the console and the network must not complain."""
    page = _tabs.pop() if _tabs else browser.new_page()
    page.set_viewport_size({"width": 1400, "height": 880})
    page.emulate_media(media="null", color_scheme="light")
    complaints: list[str] = []
    listeners: dict[Any, Callable[[Any], None]] = {
        "console": lambda message: (
            complaints.append(message.text)
            if message.type in ("error", "warning")
            else None
        ),
        "pageerror": lambda error: complaints.append(str(error)),
        "request": lambda request: (
            None
            if request.url.startswith(("file:", "data:"))
            else complaints.append(f"asked the network for {request.url}")
        ),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", timeout=20_000)
    yield page
    assert complaints == []
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    # what a test has stored is not there for the next one
    page.evaluate("localStorage.clear()")
    _tabs.append(page)
