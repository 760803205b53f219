"""Loops and asynchronous collectives of libtpu's programs."""

import pytest

from ttxdsl.bridges.xla.hlo.collectives import list_hlo_collectives

LOOP = """\
HloModule m

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%next (q: s32[]) -> s32[] {
  %q = s32[]{:T(128)} parameter(0)
  %two = s32[]{:T(128)} constant(STEP)
  ROOT %n = s32[]{:T(128)} add(%q, %two)
}

%cond (p: (f32[8], s32[])) -> pred[] {
  %p = (f32[8]{0}, s32[]{:T(128)}) parameter(0)
  %limit = s32[]{:T(128)} constant(LIMIT)
  %i = s32[]{:T(128)} get-tuple-element(%p), index=1
  ROOT %go = pred[]{:T(512)} compare(%i, %limit), direction=DIRECTION
}

%body (p.1: (f32[8], s32[])) -> (f32[8], s32[]) {
  %p.1 = (f32[8]{0}, s32[]{:T(128)}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%p.1), index=0
  %kernel = f32[8]{0} custom-call(%x), custom_call_target="tpu_custom_call", frontend_attributes={kernel_metadata={
"xprof_metadata":"{}"
}}, metadata={op_name="kernel"}
  %j = s32[]{:T(128)} get-tuple-element(%p.1), index=1
  %i.1 = s32[]{:T(128)} fusion(%j), kind=kLoop, calls=%next
  %r = f32[8]{0} all-reduce(%kernel), replica_groups={{0,1}}, to_apply=%add
  ROOT %t = (f32[8]{0}, s32[]{:T(128)}) tuple(%r, %i.1)
}

ENTRY %main (a.1: f32[8], n: s32[]) -> f32[8] {
  %a.1 = f32[8]{0} parameter(0)
  %n = s32[] parameter(1)
  %zero = s32[]{:T(128)} constant(3)
  %start = s32[]{:T(128)} copy(START)
  %carried = (f32[8]{0}, s32[]{:T(128)}) tuple(%a.1, %start)
  %loop = (f32[8]{0}, s32[]{:T(128)}) while(%carried), condition=%cond, body=%body
  ROOT %out = f32[8]{0} get-tuple-element(%loop), index=0
}
"""


def loop(step: int, limit: int, direction: str, start: str = "%zero") -> str:
    text = LOOP.replace("STEP", str(step)).replace("LIMIT", str(limit))
    return text.replace("DIRECTION", direction).replace("START", start)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (loop(1, 35, "LT"), 32),
        (loop(2, 34, "LT"), 16),
        (loop(2, 34, "LE"), 16),
        (loop(1, 35, "LT").replace("compare(%i", "compare(%p#1"), 32),
        (loop(-1, 0, "GT"), 3),
        (loop(1, 3, "LT"), 0),
        # it starts at an argument, or does not end
        (loop(1, 35, "LT", "%n"), 1),
        (loop(0, 35, "LT"), 1),
    ],
)
def test_loops_are_counted(text: str, count: int):
    (found,) = list_hlo_collectives(text, 2)
    assert found.count == count
    assert found.bytes_per_device == count * 32


PIECE = (
    "%g = f32[8]{0} all-gather(%p), channel_id=7, replica_groups={{0,1}},"
    ' backend_config={"async_collective_fusion_config":{"flag_start":"-1"}}'
)
FUSED = f"""\
HloModule m

%begin (p: f32[4]) -> (f32[4], f32[8]) {{
  %p = f32[4]{{0}} parameter(0)
  {PIECE}
  ROOT %c = (f32[4]{{0}}, f32[8]{{0}}) custom-call(%g), custom_call_target="AsyncCollectiveStart"
}}

%middle (p: f32[4]) -> f32[8] {{
  %p = f32[4]{{0}} parameter(0)
  {PIECE}
  ROOT %n = f32[8]{{0}} negate(%g)
}}

%end (p: f32[4]) -> f32[8] {{
  %p = f32[4]{{0}} parameter(0)
  {PIECE}
  ROOT %c = f32[8]{{0}} custom-call(%g), custom_call_target="AsyncCollectiveDone"
}}

ENTRY %main (a: f32[4]) -> f32[8] {{
  %a = f32[4]{{0}} parameter(0)
  %s = (f32[4]{{0}}, f32[8]{{0}}) fusion(%a), kind=kCustom, calls=%begin
  %m = f32[8]{{0}} fusion(%a), kind=kOutput, calls=%middle
  ROOT %d = f32[8]{{0}} fusion(%a), kind=kCustom, calls=%end
}}
"""


def test_a_collective_in_several_fusions_is_one():
    (found,) = list_hlo_collectives(FUSED, 2)
    assert (found.kind, found.count, found.bytes_per_device) == ("all_gather", 1, 16)


ASYNC = """\
HloModule m

%wrapped (p: f32[4]) -> f32[8] {
  %p = f32[4]{0} parameter(0)
  ROOT %g = f32[8]{0} all-gather(%p), replica_groups={{0,1}}, dimensions={0}
}, execution_thread="sparsecore"

ENTRY %main (a: f32[4]) -> f32[8] {
  %a = f32[4]{0} parameter(0)
  %s = ((f32[4]{0}), f32[8]{0}, u32[]) async-start(%a), calls=%wrapped
  %u = ((f32[4]{0}), f32[8]{0}, u32[]) async-update(%s), calls=%wrapped
  ROOT %d = f32[8]{0} async-done(%u), calls=%wrapped
}
"""


def test_a_called_computation_runs_when_it_is_started():
    (found,) = list_hlo_collectives(ASYNC, 2)
    assert (found.kind, found.count, found.bytes_per_device) == ("all_gather", 1, 16)
