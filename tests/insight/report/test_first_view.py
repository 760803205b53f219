"""What a person sees first: a verdict, a graph that is whole, words of the author's."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from playwright.sync_api import Browser, Page, expect

import ttxdsl
from tests.analysis.attribution.jax_steps import block, trained
from tests.analysis.attribution.scanned_step import checkpointed
from tests.insight.report.browser import open_page
from ttxdsl.insight.report.html.page import report_page

LAYERS, WIDTH = 4, 64


@cache
def fsdp(debug_info: bool) -> dict[str, Any]:
    """The report of an FSDP step."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    split = NamedSharding(mesh, P("data"))
    weight = jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32, sharding=split)
    x = jax.ShapeDtypeStruct((16, WIDTH), jnp.float32, sharding=split)
    step = jax.jit(trained(block)).lower([weight] * LAYERS, x)
    return ttxdsl.load(step.as_text(debug_info=debug_info)).report_data()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("first") / "step.html"
    file.write_text(report_page(fsdp(True)), encoding="utf-8")
    return file


@pytest.fixture
def page(browser: Browser, path: Path) -> Iterator[Page]:
    with open_page(browser, path) as opened:
        yield opened


def test_the_first_page_is_a_verdict(page: Page):
    text = page.locator("#view-summary").inner_text()
    assert "Fits every chip" in text
    assert "a step" in text and "bound by network" in text
    costs = page.locator("#verdict-costs .cost .what").all_inner_texts()
    assert len(costs) == 3
    # whose lines they are
    assert all(" of block" in cost or " of norm" in cost for cost in costs)
    assert any("in 4 layers" in cost for cost in costs)
    # all of it without scrolling
    for name in ("memory", "time", "costs", "advice"):
        box = page.locator(f"#verdict-{name}").bounding_box()
        assert box and box["y"] + box["height"] < 880
    # a cost leads to its op in the graph
    page.locator("#verdict-costs .cost").first.click()
    expect(page.locator("#tab-graph")).to_have_attribute("aria-selected", "true")
    assert page.evaluate("state.selected.node") >= 0


def test_values_of_layers_are_one_row_at_the_peak(page: Page):
    page.click("#tab-memory")
    row = page.locator("#view-memory .row", has_text="weights[")
    row.first.wait_for()  # rows are drawn in the next frame
    name, count = row.locator("> *").all_inner_texts()[:2]
    assert (name, count) == ("weights[0 \N{HORIZONTAL ELLIPSIS} 3]", f"{LAYERS}")
    # the summary folds them, too
    largest = fsdp(True)["verdict"]["memory"]["largest"]
    assert max(one["count"] for one in largest) >= LAYERS


def test_a_gather_that_the_compiler_added_is_found_by_the_line_that_it_serves(
    page: Page,
):
    gathers = [one for one in fsdp(True)["collectives"] if one["kind"] == "all_gather"]
    assert {one["function"] for one in gathers} == {"block"}
    page.click("#tab-graph")
    page.fill("#search", "op:all_gather src:jax_steps.py")
    expect(page.locator("#found")).to_contain_text(f"{len(gathers)} found")
    places = page.locator("#outline .row .end").all_inner_texts()
    assert places and all("jax_steps.py:" in place for place in places)


def test_the_graph_opens_whole_and_legible(page: Page):
    page.click("#tab-graph")
    page.wait_for_function("() => graph.drawing !== null")  # in the next frame
    assert page.evaluate(
        """() => graph.x >= 0 && graph.y >= 0
             && graph.x + graph.drawing.width * graph.scale <= graph.width
             && graph.y + graph.drawing.height * graph.scale <= graph.height"""
    )
    assert page.evaluate("graph.scale") >= page.evaluate("LEGIBLE")
    # something heavy is open
    assert page.evaluate("state.open.size") > 1
    # boxes beside each other do not overlap
    assert page.evaluate(
        """() => [...graph.drawing.boxes.values()].every(({ items = [] }) =>
             items.every((a, at) => items.slice(at + 1).every((b) =>
               a.x + a.width <= b.x || b.x + b.width <= a.x
               || a.y + a.height <= b.y || b.y + b.height <= a.y)))"""
    )


def test_forward_and_backward_are_beside_each_other(page: Page):
    """A layer and its gradient at one height, the optimizer apart, below both."""
    page.click("#tab-graph")
    page.wait_for_function("() => graph.drawing !== null")  # in the next frame

    def boxes(*path: str) -> list[dict[str, float]]:
        """Return the boxes of the scopes that are called so, where they are drawn."""
        found = page.evaluate(
            """(path) => [...graph.drawing.boxes.values()].filter(({ scope }) =>
                 scope > 0 && scopes[scope].name === path.at(-1)
                 && (path.length < 2 || scopes[scopes[scope].parent].name === path[0])
               ).map(({ x, y, width, height, open }) => ({ x, y, width, height, open }))""",
            list(path),
        )
        assert found, path
        return found

    def assert_apart() -> tuple[dict[str, float], dict[str, float]]:
        ((forward,), (backward,), (optimizer,)) = (
            boxes(name) for name in ("forward", "backward", "optimizer")
        )
        assert forward["x"] + forward["width"] < backward["x"]
        assert forward["y"] < backward["y"] + backward["height"]
        assert backward["y"] < forward["y"] + forward["height"]
        assert optimizer["y"] >= forward["y"] + forward["height"]
        assert optimizer["y"] >= backward["y"] + backward["height"]
        return forward, backward

    forward, backward = assert_apart()
    assert forward["open"] and backward["open"]
    for layer in range(4):  # one by one
        page.evaluate(
            """(name) => scopes.forEach((one, at) => one.name === name && state.split.add(firstLike[at]))""",
            f"block {layer}",
        )
    page.evaluate("changed('fold')")
    page.wait_for_function("() => graph.drawing.boxes.size > 12")
    tops = [boxes("forward", f"block {layer}")[0]["y"] for layer in range(4)]
    assert tops == sorted(tops)
    gradients = [boxes("backward", f"block {layer}")[0]["y"] for layer in range(4)]
    assert gradients == pytest.approx(tops)
    # folded they are beside each other too
    page.click("#fold-all")
    page.wait_for_function("() => graph.drawing.boxes.size < 8")
    forward, backward = assert_apart()
    assert forward["y"] == backward["y"]


def test_a_scan_opens_beside_its_gradients(browser: Browser, tmp_path: Path):
    """The heaviest of the step, whole, in both passes at one height."""
    file = tmp_path / "scanned.html"
    data = ttxdsl.load(checkpointed()).report_data()
    file.write_text(report_page(data), encoding="utf-8")
    with open_page(browser, file) as page:
        page.click("#tab-graph")
        page.wait_for_function("() => graph.drawing !== null")
        forward, backward = page.evaluate(
            """() => [...graph.drawing.boxes.values()].filter((box) => scopes[box.scope]?.kind === "region")"""
        )
        assert forward["open"] and backward["open"]
        assert forward["y"] == pytest.approx(backward["y"])
        assert forward["x"] + forward["width"] < backward["x"]
        assert page.evaluate("graph.scale") >= page.evaluate("LEGIBLE")
        box = page.evaluate("graph.drawing.boxes.get('s0')")
        for start, side, room in (("x", "width", "width"), ("y", "height", "height")):
            begin = page.evaluate(f"graph.{start}")
            length = box[side] * page.evaluate("graph.scale")
            assert begin >= 0 and begin + length <= page.evaluate(f"graph.{room}")


def test_gathers_of_parameters_are_in_their_layers():
    graph = fsdp(True)["graph"]
    gathers = [node for node in graph["nodes"] if node["name"] == "all_gather"]
    assert len(gathers) >= LAYERS
    for node in gathers:
        around, at = [], node["scope"]
        while at > 0:
            around.append(graph["scopes"][at]["name"])
            at = graph["scopes"][at]["parent"]
        assert any(name.startswith("block") for name in around), around


def test_one_program_in_all_of_it(page: Page):
    """Header, table, search and graph count the same collectives."""
    count = page.evaluate("data.collectives.length")
    assert page.evaluate(
        "data.collectives.every((one) => nodes[one.node].name === one.kind)"
    )
    kinds = set(page.evaluate("data.collectives.map((one) => one.kind)"))
    found = sum(page.evaluate(f"find('op:{kind}').length") for kind in kinds)
    assert found == count == page.evaluate("data.summary.collectives")


def test_the_tree_is_in_the_words_of_the_author(page: Page):
    page.click("#tab-graph")
    page.wait_for_function("() => graph.drawing !== null")  # in the next frame
    page.click("#fold-all")
    rows = page.locator("#outline .row .label").all_inner_texts()
    assert rows == ["arguments", "forward", "backward", "optimizer", "results"]
    page.evaluate("setOpen(scopes.findIndex((s) => s.name === 'backward'), true)")
    rows = page.locator("#outline .row .label").all_inner_texts()
    assert any(row.startswith("block ") for row in rows)
    assert not any("segment" in row or "closed_call" in row for row in rows)


def test_every_tab_answers_at_once(page: Page):
    answers = {
        "collectives": "sent by each device in all",
        "memory": "peak",
        "time": "Timeline",
        "stages": "as read",
    }
    for name, answer in answers.items():
        page.click(f"#tab-{name}")
        text = page.locator(f"#view-{name}").inner_text()
        assert answer in text, name


def test_collectives_by_layer(page: Page):
    page.click("#tab-collectives")
    page.click("[data-way='layer']")
    chips = page.locator("#view-collectives .groups button").all_inner_texts()
    assert any("block 3" in chip for chip in chips)


def test_the_timeline_is_zoomed(page: Page):
    page.click("#tab-time")
    chart = page.locator("#view-time canvas")
    before = chart.screenshot()
    page.click("#view-time [title^='Larger']")
    page.click("#view-time [title^='Larger']")
    assert chart.screenshot() != before


def test_a_narrow_screen(page: Page):
    page.set_viewport_size({"width": 375, "height": 800})
    for view in ("summary", "graph", "collectives", "memory"):
        page.click(f"#tab-{view}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, view
        box = page.locator(f"#view-{view}").bounding_box()
        assert box and box["width"] <= 375 and box["height"] > 300, view
    # the tab that is open is seen
    for key, name in (("7", "remarks"), ("1", "summary"), ("5", "time")):
        page.keyboard.press(key)
        box = page.locator(f"#tab-{name}").bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] < 376


def test_values_and_events_have_names_of_the_author():
    data = fsdp(True)
    assert any(" of block" in one["name"] for one in data["memory"]["live"])
    assert not any(
        "manual_computation" in event[1] for event in data["timeline"]["events"]
    )


def test_what_is_cut_is_told_by_a_tip(page: Page):
    page.click("#tab-graph")
    page.wait_for_function("() => graph.drawing !== null")  # in the next frame
    cut = page.evaluate(
        """() => { const all = [...document.querySelectorAll("#outline .label, #outline .end")];
             const cut = all.filter((one) => one.scrollWidth > one.clientWidth + 1);
             cut.forEach((one) => one.dispatchEvent(new Event("pointerover", { bubbles: true })));
             return cut.filter((one) => !one.title).length; }"""
    )
    assert cut == 0


def test_print(page: Page):
    page.emulate_media(media="print")
    expect(page.locator("#verdict-memory")).to_be_visible()
    expect(page.locator("#tabs")).to_be_hidden()


def test_the_graph_and_whole_tables_are_printed(page: Page):
    page.evaluate("setTheme('dark')")
    page.click("#tab-graph")
    page.wait_for_function("() => graph.drawing !== null")
    page.emulate_media(media="print")
    drawing = page.locator(".printed svg")
    expect(drawing).to_be_visible()
    box = drawing.bounding_box()
    assert box and box["width"] > 100 and box["height"] > 100
    page.wait_for_selector("html[data-theme='light']")
    page.emulate_media(media="screen")
    page.wait_for_selector("html[data-theme='dark']")
    page.click("#tab-collectives")
    page.emulate_media(media="print")
    page.wait_for_selector("html[data-theme='light']")
    rows = page.locator("#view-collectives .table .row").count()
    assert rows == page.evaluate("data.collectives.length")
    page.emulate_media(media="screen")
    page.wait_for_selector("html[data-theme='dark']")
    assert page.locator(".printed").count() == 0


def test_a_table_fits_a_narrow_screen(page: Page):
    page.set_viewport_size({"width": 375, "height": 800})
    for view in ("collectives", "memory"):
        page.click(f"#tab-{view}")
        cells = page.locator(f"#view-{view} .table .head button:visible")
        boxes = [cells.nth(at).bounding_box() for at in range(cells.count())]
        assert len(boxes) >= 2
        assert all(box and box["x"] + box["width"] <= 375 for box in boxes)


def test_parts_of_axes_are_explained(browser: Browser, tmp_path: Path):
    text = """
      sdy.mesh @mesh = <["x"=4]>
      func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {}]>})
          -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
        return %a : tensor<8x8xf32>
      }"""
    file = tmp_path / "parts.html"
    file.write_text(report_page(ttxdsl.load(text).report_data()), encoding="utf-8")
    with open_page(browser, file) as page:
        page.click("#tab-collectives")
        expect(page.locator("#view-collectives .note")).to_contain_text(
            "x:(1)2 is a part of x: its 4 devices seen as 2 x 2"
        )


def test_without_debug_info_it_says_how_to_get_it(browser: Browser, tmp_path: Path):
    file = tmp_path / "plain.html"
    file.write_text(report_page(fsdp(False)), encoding="utf-8")
    with open_page(browser, file) as page:
        assert "as_text(debug_info=True)" in page.locator("#view-summary").inner_text()


def test_a_row_of_the_collectives_shows_its_line_whole(page: Page):
    page.click("#tab-collectives")
    places = page.locator(".table .row .why .place")
    places.first.wait_for()  # rows are drawn in the next frame
    cut = places.evaluate_all(
        """(all) => all.filter((one) => {
             const box = one.getBoundingClientRect();
             return box.right > one.closest(".table").getBoundingClientRect().right;
           }).length"""
    )
    assert cut == 0
