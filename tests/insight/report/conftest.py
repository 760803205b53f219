"""One browser for all tests of the report: to start one takes seconds."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.insight.report.browser import chromium


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found
