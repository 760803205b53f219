"""Timelines of per-device programs: overlap, joined collectives, loops."""

from dataclasses import replace
from typing import Any

import pytest

import ttxdsl
from tests.attack.bombs.deep import nested_regions
from tests.insight.budget.test_check import loop
from ttxdsl.analysis.usage import timeline as timelines
from ttxdsl.analysis.usage.timeline import Event, Timeline, timeline
from ttxdsl.costs.machines import GENERIC, Convolving, Machine
from ttxdsl.insight.report.chrome_trace import chrome_trace
from ttxdsl.loading.program import parse_program

ALONE = replace(GENERIC, combine_bytes=0)


def names(found: Timeline) -> list[str]:
    return [one.name for one in found.events]


def test_an_unknown_count_is_taken_as_said():
    program = ttxdsl.load(loop("f32", "0.0", "12.0", "1.0")).partition()
    one = timeline(program.module, ALONE)
    assert timeline(program.module, ALONE, 5).seconds == pytest.approx(5 * one.seconds)


OVERLAP = """\
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<512x512xf32>) -> (tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<512x512xf32>) {
  %0 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %a, %0 : tensor<512x512xf32>, tensor<512x512xf32>
}
"""


def test_a_trace_for_chrome():
    data = ttxdsl.load(OVERLAP).report_data()
    trace = chrome_trace(data)
    events = [one for one in trace["traceEvents"] if one["ph"] == "X"]
    assert len(events) == len(data["timeline"]["events"]) > 1
    end = max(one["ts"] + one["dur"] for one in events)
    assert end == pytest.approx(1e6 * data["timeline"]["seconds"])
    # every event has what Perfetto wants of it, a process and lanes have names
    assert all({"name", "pid", "tid", "ts", "dur"} <= event.keys() for event in events)
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"]
    assert names == ["a device of <text>", "loops", "computes", "sends"]
    sends = [event for event in events if event["cat"] == "link"]
    reasons = [one["reason"] for one in data["collectives"]]
    assert sends and {event["args"]["why"] for event in sends} <= {*reasons}


def test_convolutions_of_few_features_take_their_own_time():
    text = """\
func.func public @main(%x: tensor<1x8x8x4xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<1x8x8x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}
"""
    few, many = Convolving((2, 4), 1e6), Convolving((32, 32), 1e9)
    machine = Machine(convolutions=(few, many))
    seconds = timeline(parse_program(text), machine).seconds
    assert seconds == pytest.approx(64 * 4 * 4 / 1e6)


def test_events_of_a_nest_are_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ttxdsl.load(nested_regions("while", 60)).partition().module
    placed: list[object] = []
    place = timelines.replace

    def counted(event: Event, **changes: Any) -> Event:
        placed.append(event)
        return place(event, **changes)

    monkeypatch.setattr(timelines, "replace", counted)
    events = timeline(module, GENERIC).events
    assert max(event.depth for event in events) > 55
    assert len(placed) <= len(events)
