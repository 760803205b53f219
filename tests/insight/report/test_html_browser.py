"""The report in a browser: drawn, searched, folded, moved through, sorted; no errors."""

import copy
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

import ttxdsl
from tests.insight.report.browser import open_page
from ttxdsl.cli.main import main
from ttxdsl.costs.units import bytes_text, number_ranges
from ttxdsl.insight.report.html.page import report_page
from ttxdsl.insight.report.trace.layouts import LayoutTable
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.spec import DimSharding, TensorSharding

EXAMPLES = Path(__file__).parents[3] / "examples"

SCANNED = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<12x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}) -> tensor<8x16xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<12> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %a = %x) : tensor<i32>, tensor<8x16xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %s = stablehlo.dynamic_slice %w, %i, %c, %c, sizes = [1, 16, 16] : (tensor<12x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
      %r = stablehlo.reshape %s : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
      %d = stablehlo.dot %a, %r : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %t = stablehlo.tanh %d : tensor<8x16xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<8x16xf32>
    }
  return %0#1 : tensor<8x16xf32>
}"""

TIMES = "\N{MULTIPLICATION SIGN}"

MOST_SECONDS = 3.0
"""To show 4,000 ops."""


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return ttxdsl.load(EXAMPLES / "mlp_train_step.mlir").report_data()


class Report:
    """An open report: the page and its data."""

    def __init__(self, page: Page, data: dict[str, Any]):
        self.page, self.data = page, data

    def js(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def rows(self) -> list[str]:
        return self.page.locator("#outline .row .label").all_inner_texts()


@contextmanager
def opened(browser: Browser, folder: Path, data: dict[str, Any]) -> Iterator[Report]:
    """Open a report on its graph."""
    path = folder / "report.html"
    path.write_text(report_page(data), encoding="utf-8")
    with open_page(browser, path) as page:
        page.click("#tab-graph")
        page.wait_for_function("() => graph.drawing !== null")  # in the next frame
        yield Report(page, data)


@pytest.fixture
def report(browser: Browser, tmp_path: Path, data: dict[str, Any]) -> Iterator[Report]:
    with opened(browser, tmp_path, data) as report:
        yield report


def test_the_page_says_which_stages_it_does_not_list(
    browser: Browser, tmp_path: Path, report: Report
):
    assert report.page.locator("#unlisted").count() == 0
    program = ttxdsl.load(EXAMPLES / "mlp_train_step.mlir")
    with opened(browser, tmp_path, program.report_data(all_stages=False)) as few:
        few.page.click("#tab-stages")
        assert "--all-stages" in few.page.locator("#unlisted").inner_text()
        # there is nothing to slide through
        assert not few.page.locator("#stage").is_visible()
        few.page.keyboard.press("]")
        few.page.keyboard.press("]")
        assert few.page.locator("#view-stages .which b").inner_text().startswith("13 ")
        assert few.page.locator("#listing .row").count() > 10


def expect_painted(page: Page) -> None:
    """Wait for a frame in which the graph's canvas has many colours."""
    page.wait_for_function(
        """() => new Set(new Uint32Array(graph.context.getImageData(
             0, 0, graph.canvas.width, graph.canvas.height).data.buffer)).size > 50"""
    )


def test_it_is_drawn(report: Report):
    page = report.page
    assert page.locator("#title").inner_text() == "mlp_train_step.mlir"
    assert "65\nops" in page.locator("#stats").inner_text()
    expect_painted(page)
    assert "arguments" in report.rows()
    # what is sent, by cause, is there at once
    lines = page.locator("#details .purposes li").all_inner_texts()
    assert lines == report.data["summary"]["purposes"]
    assert any(" of gradients" in line and " over data, " in line for line in lines)
    # a click on a node selects it, and the picture says who holds what
    box = report.js(
        """() => { const node = nodes.findIndex((n) => n.name === "dot_general");
             select({ node }); paint(); const box = selectedBox();
             select(null);
             return [node, graph.x + (box.x + 30) * graph.scale,
                     graph.y + (box.y + 20) * graph.scale]; }"""
    )
    page.locator("#graph-canvas canvas").click(position={"x": box[1], "y": box[2]})
    expect(page.locator("#details h2")).to_have_text("stablehlo.dot_general")
    texts = page.locator("#details .picture svg").first.locator("text:not(.axis)")
    # [data, model] on 2 x 4: one device a shard
    assert [t.strip() for t in texts.all_text_contents()] == list("01234567")
    cell = page.locator("#details .picture g[data-key='1,2']").first
    cell.hover()
    said = page.locator("#details .said").inner_text()
    assert said.split("\n") == ["[16:32, 128:192]", "on device 6"]


def test_pictures_of_any_rank_on_any_mesh(report: Report):
    mesh = Mesh((("a", 2), ("b", 4), ("c", 3)), tuple(reversed(range(24))))
    dims = (
        DimSharding((AxisRef("c"),)),
        DimSharding(),
        DimSharding((AxisRef("b", 1, 2),)),
        DimSharding((AxisRef("b", 2, 2), AxisRef("a"))),
    )
    ranks = [dims, dims[:3], dims[:2], dims[3:], (*dims[2:], dims[1]), ()]
    for chosen in ranks:
        sharding = TensorSharding("m", chosen)
        shape = (6, 5, 4, 7)[: len(chosen)]
        table = LayoutTable()
        table.layout(mesh, sharding)
        expected: dict[str, list[int]] = {}
        for position, device in zip(mesh_positions(mesh), mesh.devices(), strict=True):
            slices = sharding.shard_slices(position, shape, mesh)
            text = ", ".join(f"{one.start}:{one.stop}" for one in slices)
            expected.setdefault(f"[{text}]", []).append(device)
        found = report.js(
            f"""() => {{
              data.meshes.push({json.dumps(table.meshes_data()[0])});
              data.layouts.push({json.dumps(table.layouts[0])});
              data.layouts.at(-1).mesh = data.meshes.length - 1;
              const value = {{ layout: data.layouts.length - 1, shape: {list(shape)} }};
              const [shards, devices] = pictureOf(value).querySelectorAll("svg");
              const titles = (svg) => [...svg.querySelectorAll("title")];
              return [shards, devices].map((svg) =>
                titles(svg).map((title) => title.textContent)); }}"""
        )
        shards = {text: number_ranges(held) for text, held in expected.items()}
        # every shard with its devices, every device with its shard
        assert dict(one.split(" on ") for one in found[0]) == shards
        assert len(found[0]) == len(shards)
        on_device = {f"device {d}": t for t, held in expected.items() for d in held}
        assert dict(one.split(": ", 1) for one in found[1]) == on_device


def test_search(report: Report):
    page = report.page
    page.keyboard.press("/")
    page.keyboard.type("op:dot axis:model")
    nodes = [
        at
        for at, node in enumerate(report.data["graph"]["nodes"])
        if node["name"] == "dot_general"
        and "model" in str(layout_of(report.data, node)["dims"])
    ]
    assert f"{len(nodes)} found" in page.locator("#found").inner_text()
    assert report.rows() == ["dot_general"] * len(nodes)
    page.keyboard.press("Enter")
    assert report.js("state.selected.node") == nodes[0]
    for words, count in [("%12", 1), ("mlp_train_step.mlir:15:5", 1), ("nowhere", 0)]:
        page.fill("#search", words)
        assert f"{count} found" in page.locator("#found").inner_text()
    page.focus("#search")
    page.keyboard.press("Escape")
    assert "nodes" in page.locator("#found").inner_text()


def test_axes_of_collectives_are_those_that_they_communicate_along(report: Report):
    """Not those that their results are split by."""
    page = report.page
    collectives = report.data["collectives"]
    for axis in ("data", "model"):
        page.fill("#search", f"op:reduce axis:{axis}")
        found = set(report.js("state.matches"))
        nodes = report.data["graph"]["nodes"]
        along = {
            one["node"]
            for one in collectives
            if axis in one["axes"] and "reduce" in nodes[one["node"]]["op"]
        }
        asked = {one["node"] for one in collectives} & found
        assert along and along == asked


def layout_of(data: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    return data["layouts"][node["outputs"][0]["layout"]]


def test_fold(report: Report):
    page = report.page
    report.js("openAll(true)")
    whole = report.js("outline.rows.length")
    before = report.js("graph.drawing.boxes.size")
    page.click("#fold-all")
    assert report.js("outline.rows.length") < whole
    assert report.js("graph.drawing.boxes.size") < before
    # with keys: open the first scope again, step in, and close it from inside
    page.focus("#outline")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert "arg0" in report.rows()
    page.keyboard.press("ArrowDown")
    assert report.js("state.selected.node") == 0
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert "arg0" not in report.rows()
    page.click("#unfold-all")
    scopes = report.js("scopes.length")
    nodes = len(report.data["graph"]["nodes"])
    assert report.js("graph.drawing.boxes.size") == scopes + nodes


def test_the_graph_follows_the_keys(report: Report):
    page = report.page
    report.js("selectNode(nodes.findIndex((n) => n.name === 'all_reduce'))")
    node = report.js("state.selected.node")
    page.focus("#graph-canvas canvas")
    page.keyboard.press("ArrowUp")
    source = report.data["graph"]["nodes"][node]["inputs"][0][0]
    assert report.js("state.selected.node") == source
    scale = report.js("graph.scale")
    page.keyboard.press("+")
    assert report.js("graph.scale") > scale
    page.keyboard.press("Escape")
    assert report.js("state.selected") is None


def test_stages(report: Report):
    page = report.page
    page.keyboard.press("6")
    slider = page.locator("#stage")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#view-stages .which b")).to_have_text(
        "6 sdy-user-priority-propagate"
    )
    stage = report.data["stages"][6]
    counts = page.locator("#view-stages .counts").inner_text()
    assert f"~{stage['changed']} changed" in counts
    marked = page.locator("#listing .row.changed ins").first
    assert "sdy.sharding" in marked.inner_text()
    # every mark is an addition: propagation takes nothing away here
    assert page.locator("#listing .row.changed del").count() == 0
    page.keyboard.press("]")
    page.keyboard.press("]")
    added = page.locator("#listing .row.added .text")
    page.click("#only")
    assert page.locator("#listing .row.gap").count() > 0
    assert "sdy.all_reduce" in added.first.inner_text()
    added.first.click()
    expect(page.locator("#details h2")).to_have_text("stablehlo.all_reduce")
    for number, each in enumerate(report.data["stages"]):
        report.js(f"showStage({number})")
        shown = report.js("stages.lines.filter((l) => l.row && l.row[3]).length")
        assert shown == each["changed"] + each["added"] + each["removed"]


def bytes_shown(page: Page) -> list[int]:
    rows = page.locator("#view-collectives .table .row[data-bytes]")
    rows.first.wait_for()  # `all` does not, and a busy machine draws later
    return [int(row.get_attribute("data-bytes") or -1) for row in rows.all()]


def test_collectives_are_sorted(report: Report):
    page = report.page
    page.click("#tab-collectives")
    sizes = [one["bytes"] for one in report.data["collectives"]]
    assert bytes_shown(page) == sorted(sizes, reverse=True)
    page.click("#view-collectives .head button:has-text('bytes')")
    assert bytes_shown(page) == sorted(sizes)
    page.click("#view-collectives .head button:has-text('#')")
    page.click("#view-collectives .head button:has-text('#')")
    assert bytes_shown(page) == sizes
    page.locator("#view-collectives .row[data-bytes]").nth(0).click()
    assert report.js("state.selected.node") == report.data["collectives"][0]["node"]
    assert report.data["collectives"][0]["reason"] in page.inner_text("#details")
    # one kind only
    page.locator("#view-collectives .groups button").first.click()
    assert len(bytes_shown(page)) < len(sizes)


def test_memory(report: Report):
    page = report.page
    page.keyboard.press("4")
    canvas = page.locator("#view-memory canvas")
    canvas.focus()
    peak = report.data["memory"]["peak"]
    for _ in range(peak + 1):
        page.keyboard.press("ArrowRight")
    tip = page.locator("#view-memory .tip").inner_text()
    assert tip.endswith(f"op {peak + 1} of {len(report.data['memory']['points'])}")
    assert re.match(r"77\.6 KiB at ", tip)
    page.keyboard.press("Enter")
    node = report.data["memory"]["points"][peak][1]
    assert report.js("state.selected.node") == node


def test_time(report: Report):
    page = report.page
    page.keyboard.press("5")
    canvas = page.locator("#view-time canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    timeline = report.data["timeline"]
    first = timeline["events"][0]
    assert page.locator("#view-time .tip").inner_text().startswith(f"{first[1]}: ")
    assert "Timeline: " in page.inner_text("#view-time")
    assert "hidden by computing" in page.inner_text("#view-time")
    page.keyboard.press("Enter")
    assert first[6] < 0 or report.js("state.selected.node") == first[6]


def test_ticks_are_round(report: Report):
    assert report.js("roundTicks(0.0037)") == pytest.approx([0, 0.001, 0.002, 0.003])
    assert report.js("roundTicks(7)") == [0, 2, 4, 6]
    assert report.js("roundTicks(10)") == [0, 2, 4, 6, 8, 10]
    ticks = report.js("roundTicks(data.memory.peak_bytes, true)")
    assert ticks == [0, 16 << 10, 32 << 10, 48 << 10, 64 << 10]
    assert report.js("roundTicks(0)") == [0]


def test_beside_the_graph(report: Report):
    """The legend covers nothing; a map says where one is, and goes there."""
    page = report.page
    legend, canvas = (
        page.locator(name).bounding_box()
        for name in (".below .legend", "#graph-canvas")
    )
    assert legend and canvas
    assert legend["y"] >= canvas["y"] + canvas["height"]
    small = page.locator(".graph-map")
    page.click("[title='Show all (0)']")
    expect(small).to_be_hidden()
    for _ in range(8):
        page.click("[title='Larger (+)']")
    expect(small).to_be_visible()
    page.wait_for_timeout(50)
    before = report.js("graph.y")
    small.click(position={"x": 75, "y": 180})
    assert report.js("graph.y") < before


def test_what_only_keeps_a_part_is_no_communication(report: Report):
    kind = "kindOf({ kind: 'op', op: 'sdy.%s' })"
    assert report.js(kind % "all_slice") == "movement"
    assert report.js(kind % "all_gather") == "collective"


def test_heat(report: Report):
    page = report.page
    page.click("[data-heat='bytes']")
    largest = max(report.data["collectives"], key=lambda one: one["bytes"])["node"]
    hot, cold = report.js(f"[heatOf({{ node: {largest} }}), heatOf({{ node: 0 }})]")
    assert hot.startswith("hsl(0 ") and hot != cold
    # what is in a scope counts for it
    assert report.js("heat.ofScope[0]") == report.data["summary"]["bytes"]
    page.click("[data-heat='time']")
    assert report.js("heat.ofScope[0]") > 0
    page.click("[data-heat='off']")
    assert report.js("heatOf({ node: 0 })") is None


def test_the_graph_is_saved_as_svg(report: Report):
    page = report.page
    with page.expect_download() as saving:
        page.click("[title^='Save as SVG']")
    assert saving.value.suggested_filename == "mlp_train_step.mlir.svg"
    text = Path(saving.value.path()).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    written = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    names = report.js(
        "[...graph.drawing.boxes.values()].filter((b) => b.node !== undefined).map((b) => nodes[b.node].name)"
    )
    assert names and set(names) <= {str(one) for one in written}
    assert "NaN" not in text


def test_a_loop_is_a_loop(browser: Browser, tmp_path: Path):
    """It says how often it turns, and what one turn sends."""
    with opened(browser, tmp_path, ttxdsl.load(SCANNED).report_data()) as report:
        labels = report.js("scopes.map((_, at) => scopeLabel(at))")
        loop = next(at for at, one in enumerate(labels) if one.endswith(f" {TIMES}12"))
        sent = report.data["summary"]["bytes"]
        assert report.js(f"sentText({loop})") == f"{sent // 12} B {TIMES}12"


def test_reasons_are_inside(browser: Browser, tmp_path: Path):
    """What `why` says of a collective, with changes that were compiled; once of several."""
    path = tmp_path / "report.html"
    program = ttxdsl.load(EXAMPLES / "mlp_train_step.mlir")
    program.report(path, tries=1)
    with open_page(browser, path) as page:
        page.click("#tab-graph")
        counts = [int(31.25 * 2**30), int(31.75 * 2**30), 10 * 1024, 99 * 2**20 + 5]
        assert page.evaluate(f"{counts}.map(bytesText)") == list(
            map(bytes_text, counts)
        )
        collectives = page.evaluate("data.collectives")
        (first, *_) = [one for one in collectives if one["why"] >= 0]
        page.evaluate(f"selectNode({first['node']})")
        page.locator("#details .reason summary").first.click()
        shown = page.locator("#details .reason pre").first.inner_text()
        assert "1 change" in shown or "1 compiled" in shown
        assert first["kind"] in shown
        whys = page.evaluate("data.whys")
        assert len(whys) <= len(collectives)
        assert all(one["why"] < len(whys) for one in collectives)


def layered(count: int) -> str:
    """A program of so many layers, each a scope of five ops, the last of one more."""
    lines, value = list[str](), "%x"
    for layer in range(count):
        for at in range(5 + (layer == count - 1)):
            name = f"%v{layer}_{at}"
            lines.append(
                f"  {name} = stablehlo.tanh {value} : tensor<8x16xf32>"
                f' loc("jit(f)/layers_{layer}/tanh")'
            )
            value = name
    body = "\n".join(lines)
    return f"""sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}, {{}}]>}}) -> tensor<8x16xf32> {{
{body}
  return {value} : tensor<8x16xf32>
}}"""


def test_layers_are_one_with_a_count(browser: Browser, tmp_path: Path):
    """Those that are alike; they come apart where one of them is asked for."""
    with opened(browser, tmp_path, ttxdsl.load(layered(7)).report_data()) as report:

        def scopes() -> list[str]:
            return [row for row in report.rows() if "layers" in row]

        stacked = ["layers", "layers_6"]
        assert scopes() == stacked
        # however long the name is, the count is not cut
        assert report.page.locator("#outline .times").all_inner_texts() == [f"{TIMES}6"]
        boxes = "[...graph.drawing.boxes.values()].filter((b) => b.scope > 0).length"
        before = report.js(boxes)
        row = report.page.locator("#outline .row", has_text=f"{TIMES}6")
        row.locator(".fold").click()
        assert len(scopes()) == 7
        assert report.js(boxes) == before + 5
        report.page.click("#fold-all")
        assert scopes() == stacked
        # an op of a layer that is behind another box
        node = report.js("nodes.findIndex((n) => n.path.includes('layers_3'))")
        report.js(f"selectNode({node})")
        assert len(scopes()) == 7
        assert report.js(f"visibleOf({node})") == f"n{node}"


def test_two_reports_side_by_side(browser: Browser, tmp_path: Path):
    """Their figures above, and what is looked at in one is looked at in the other."""
    path = tmp_path / "both.html"
    names = ("mlp_data_parallel.mlir", "mlp_tensor_parallel.mlir")
    left, right = (str(EXAMPLES / name) for name in names)
    assert main(["report", left, right, "-o", str(path)]) == 0
    with open_page(browser, path) as page:
        table = page.locator("#figures").inner_text()
        assert "collectives\t0\t1\t+1" in table
        assert "sent by each device\t0 B\t3.0 KiB\t+3.0 KiB" in table
        changed = page.locator("#changes").inner_text()
        assert "nothing\t1 all_reduce, 3.0 KiB" in changed and "slower" in changed
        frames = [page.frame_locator(f"iframe[title='{name}']") for name in "AB"]
        for frame, name in zip(frames, names, strict=True):
            expect(frame.locator("#title")).to_have_text(name)
        frames[0].locator("#tab-memory").click()
        expect(frames[1].locator("#view-memory")).to_be_visible()
        frames[1].locator("#search").fill("op:dot")
        expect(frames[0].locator("#search")).to_have_value("op:dot")


WRITTEN = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"), %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("p['w']")) -> tensor<64x64xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#step)
  %1 = stablehlo.tanh %0 : tensor<64x64xf32> loc(#step)
  %2 = stablehlo.dot %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc(#step)
  return %2 : tensor<64x64xf32>
}
#step = loc(callsite("step"("a.py":3:1) at "a.py":9:1))
#keep = loc(callsite("keep"("a.py":1:1) at callsite("step"("a.py":4:1) at "a.py":9:1)))
"""


def test_what_was_written_otherwise(browser: Browser, tmp_path: Path):
    """A constraint more and another sharding are told, also on the screen of a phone."""
    path, left, right = (tmp_path / name for name in ("b.html", "a.mlir", "b.mlir"))
    left.write_text(WRITTEN)
    constraint = "  %c = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<64x64xf32> loc(#keep)"
    text = WRITTEN.replace("  %2 =", f"{constraint}\n  %2 =").replace(
        "dot %1", "dot %c"
    )
    right.write_text(text.replace('[{}, {"model"}]', '[{"model"}, {}]'))
    assert main(["report", str(left), str(right), "-o", str(path)]) == 0
    with open_page(browser, path) as page:
        changed = page.locator("#changes").inner_text()
        assert "written otherwise\tA\tB" in changed
        assert 'p[\'w\']\tP(None, "model")\tP("model")' in changed
        assert "constraint at line 1 of keep from line 4 of step\tnone\tP()" in changed
        page.set_viewport_size({"width": 375, "height": 800})
        page.reload()
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(500)
        # it opens on what changed, whole; the reports are below
        assert page.evaluate("scrollY") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        header = page.locator("header")
        assert header.evaluate("e => e.scrollHeight <= e.clientHeight")
        for frame in page.locator("iframe").all():
            box = frame.bounding_box()
            assert box is not None and (box["width"], box["height"]) == (375, 800)


def test_themes(report: Report):
    page = report.page
    first = report.js("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    assert report.js("getComputedStyle(document.body).backgroundColor") != first
    expect_painted(page)


NASTY = "<b>&\"'</script>"


def test_names_are_text(browser: Browser, tmp_path: Path):
    name = json.dumps(NASTY)
    program = ttxdsl.load(
        f"""sdy.mesh @mesh = <[{name}=2]>
        func.func @main(%a: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{name}}}]>}} loc({name})) -> tensor<4xf32> {{
          %0 = stablehlo.negate %a : tensor<4xf32> loc({name}({name}:1:2))
          return %0 : tensor<4xf32>
        }}"""
    )
    data = program.report_data()
    data["title"] = NASTY
    data["remarks"] = [
        {"severity": "warning", "message": NASTY, "position": NASTY, "node": 0}
    ]
    with opened(browser, tmp_path, data) as found:
        page = found.page
        assert page.locator("#title").inner_text() == "script>"
        assert page.title() == f"{NASTY} - ttxdsl report"
        assert page.locator("#meshes").inner_text() == f"{NASTY}=2"
        for key in "12345":
            page.keyboard.press(key)
        assert page.locator("#view-remarks .remark").inner_text().count(NASTY) == 2
        found.js("select({ node: 0 })")
        assert page.locator("#details h2").inner_text() == NASTY
        found.js("select({ node: 1 })")
        assert NASTY in page.locator("#details").inner_text()
        assert page.locator("b", has_text=re.compile("^&")).count() == 0


def repeated(data: dict[str, Any], times: int) -> dict[str, Any]:
    """The same program many times over, each copy on the results of the one before."""
    result = copy.deepcopy(data)
    nodes, scopes = result["graph"]["nodes"], result["graph"]["scopes"]
    count, own, keys = len(nodes), len(scopes) - 1, len(result["keys"])
    for again in range(1, times):
        for node in data["graph"]["nodes"]:
            inputs = [[at + again * count, which] for at, which in node["inputs"]]
            if node["kind"] == "argument":
                inputs = [[again * count - 1, 0]]
            copied = {**node, "inputs": inputs, "key": node["key"] + again * keys}
            copied["scope"] = node["scope"] and node["scope"] + again * own
            nodes.append(copied)
        for scope in data["graph"]["scopes"][1:]:
            parent = scope["parent"] and scope["parent"] + again * own
            scopes.append({**scope, "parent": parent})
        result["keys"] += [k + again * count if k >= 0 else k for k in data["keys"]]
        for stage, old in zip(result["stages"], data["stages"], strict=True):
            stage["rows"] += [[r[0] + again * keys, *r[1:]] for r in old["rows"]]
        for one in data["collectives"]:
            moved = {"node": one["node"] + again * count, "order": again * 1000}
            result["collectives"].append({**one, **moved})
        result["memory"]["points"] += data["memory"]["points"]
        result["memory"]["names"] += data["memory"]["names"]
    return result


def test_four_thousand_ops(browser: Browser, tmp_path: Path, data: dict[str, Any]):
    large = repeated(data, 62)
    assert sum(n["kind"] == "op" for n in large["graph"]["nodes"]) >= 4000
    times: list[float] = []
    # what issue 7 promises; the best of three, since machines are shared
    while not times or (min(times) >= MOST_SECONDS and len(times) < 3):
        with opened(browser, tmp_path, large) as found:
            page = found.page
            shown = found.js("Number(document.documentElement.dataset.ready)") / 1000
            # only what can be seen is made
            assert page.locator("#outline .row").count() < 100
            seconds = found.js(
                """() => { const start = performance.now(); openAll(true); paint();
                 showView("stages"); showStage(11); showView("graph");
                 document.getElementById("search").value = "op:dot_general";
                 document.getElementById("search").dispatchEvent(new Event("input"));
                 return (performance.now() - start) / 1000; }"""
            )
            assert page.locator("#outline .row").count() < 100
        times.append(max(shown, seconds))
    assert min(times) < MOST_SECONDS
