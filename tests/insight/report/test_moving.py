"""Moving a large graph: how much is painted in a frame, counted, and sharp when it stands."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

import ttxdsl
from tests.insight.report.browser import open_page
from tests.insight.report.test_html_browser import EXAMPLES, repeated
from ttxdsl.insight.report.html.page import report_page


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """An unfolded graph of 2,000 ops."""
    data = ttxdsl.load(EXAMPLES / "mlp_train_step.mlir").report_data()
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page(repeated(data, 31)), encoding="utf-8")
    with open_page(browser, path) as page:
        page.click("#tab-graph")
        page.evaluate(
            """() => {
                 openAll(true);
                 window.counted = 0;
                 const paintLeafAsEver = paintLeaf, arrowAsEver = arrow;
                 paintLeaf = (...given) => (counted += 1, paintLeafAsEver(...given));
                 arrow = (...given) => (counted += 1, arrowAsEver(...given));
               }"""
        )
        yield page


def settle(page: Page) -> None:
    """Wait until nothing is painted any more, and count from there."""
    before = None
    while (now := page.evaluate("counted")) != before:
        before = now
        page.wait_for_timeout(300)
    page.evaluate("() => { counted = 0; }")


def drag(page: Page, moves: int) -> list[int]:
    """Drag the graph; return the boxes and arrows that were painted for each move."""
    box = page.locator("#graph-canvas canvas").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    counts: list[int] = []
    for step in range(1, moves + 1):
        page.evaluate("() => { counted = 0; }")
        page.mouse.move(x - 6 * step, y - 4 * step)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        counts.append(page.evaluate("counted"))
    page.mouse.up()
    return counts


def test_a_move_of_the_whole_paints_none_of_it(page: Page):
    page.evaluate("() => { fitAll(); }")
    settle(page)
    assert page.evaluate("still.painted") > 2_000
    # a hovered box is painted on top
    assert max(drag(page, 12)) <= 1


def test_a_move_up_close_paints_what_is_in_view(page: Page):
    page.evaluate("() => { fitAll(true); }")
    settle(page)
    most = page.evaluate("MOST_PAINTED")
    assert max(drag(page, 12)) <= most


def test_a_zoom_is_sharp_when_it_stands(page: Page):
    page.evaluate("() => { fitAll(); }")
    settle(page)
    paints = page.evaluate("still.paints")
    for _ in range(5):
        page.evaluate("() => { zoom(1.2); paint(); }")
    assert page.evaluate("counted") == 0
    assert not page.evaluate("isSharp()")
    page.wait_for_timeout(300)
    assert page.evaluate("isSharp()")
    assert page.evaluate("still.paints") == paints + 1


def test_what_changes_is_painted_at_once(page: Page):
    page.evaluate("() => { fitAll(); }")
    settle(page)
    changed: Any = page.evaluate(
        "() => { select({ node: 3 }); paint(); return counted; }"
    )
    assert changed > 0
    page.evaluate("() => { select(null); }")


def test_a_move_takes_less_than_a_frame(page: Page):
    """Half of the frames: others wait for whatever else the machine does."""
    for place in ("fitAll()", "fitAll(true)"):
        page.evaluate(f"() => {{ {place}; }}")
        settle(page)
        milliseconds: list[float] = page.evaluate(
            """() => Array.from({ length: 60 }, () => {
                 const begun = performance.now();
                 (graph.x -= 3), (graph.y -= 2), paint();
                 return performance.now() - begun;
               })"""
        )
        assert sorted(milliseconds)[30] < 1000 / 60
