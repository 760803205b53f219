"""Collectives read off HLO text."""

import pytest

from ttxdsl.bridges.xla.hlo.collectives import (
    list_hlo_collectives,
    parse_groups,
    scopes_of,
)


def pairs(*groups: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(device) for device in group) for group in groups)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("replica_groups={{0,1,2,3},{4,5,6,7}}, channel_id=1", pairs("0123", "4567")),
        ("replica_groups=[4,2]<=[8], dimensions={1}", pairs("01", "23", "45", "67")),
        ("replica_groups=[4,2]<=[2,4]T(1,0), dimensions={1}", pairs("04", "15", "26", "37")),
        ("replica_groups={}, to_apply=%add", pairs("01234567")),
        ("replica_groups=mesh['a'=2,'b'=4] {'b'}, dimensions={0}", pairs("0123", "4567")),
        ("replica_groups=mesh['a'=2,'b'=4] {'a'}", pairs("04", "15", "26", "37")),
        ("replica_groups=mesh['a'=4,'b'=1,'c'=2], device_ids=([2,4]T(1,0)) {'a','c'}", pairs("04152637")),
        ("replica_groups=mesh['a'=4,'b'=1,'c'=2], device_ids=([2,4]T(1,0)) {'a'}", pairs("0123", "4567")),
        ("replica_groups=mesh['a'=8] {'a':(2)4}, dimensions={0}", pairs("0123", "4567")),
        ("replica_groups=mesh['a'=8] {'a':(1)2}, dimensions={0}", pairs("04", "15", "26", "37")),
        ("replica_groups=mesh['a'=8] {'a':(2)2}, dimensions={0}", pairs("02", "13", "46", "57")),
        ("channel_id=1, source_target_pairs={{0,1},{1,0}}", pairs("01", "10")),
        ("channel_id=1, source_target_pairs={{0,0},{1,1}}", ()),
        ("channel_id=1, source_target_pairs={{0,0},{1,2},{2,1}}, metadata={}", pairs("12", "21")),
    ],
)  # fmt: skip
def test_groups(text: str, groups: tuple[tuple[int, ...], ...]):
    assert parse_groups(f"%x = f32[8] all-gather(%y), {text}", 8) == groups


FOURS = "replica_groups={{0,1,2,3},{4,5,6,7}}"


@pytest.mark.parametrize(
    ("line", "kind", "tensor", "size"),
    [
        (f"%x = f32[8,64]{{1,0}} all-reduce(%y), {FOURS}", "all_reduce", "8x64xf32", 3072),
        (
            f"ROOT %x = (f32[128]{{0}}, /*index=1*/bf16[4]{{0}}) all-reduce(%y, %z), {FOURS}",
            "all_reduce", "128xf32, 4xbf16", 780,
        ),
        (f"%x = f32[8,64]{{1,0}} all-gather(%y), {FOURS}", "all_gather", "8x64xf32", 1536),
        (
            f"%x = (f32[2,64]{{1,0}}, f32[8,64]{{1,0}}) all-gather-start(%y), {FOURS}",
            "all_gather", "8x64xf32", 1536,
        ),
        (f"%x = f32[2,64]{{1,0}} reduce-scatter(%y), {FOURS}", "reduce_scatter", "2x64xf32", 1536),
        (
            f"%x = (s8[4]{{0}}, s8[4]{{0}}, s8[4]{{0}}, s8[4]{{0}}) all-to-all(%a, %b, %c, %d), {FOURS}",
            "all_to_all", "4xs8, 4xs8, 4xs8, 4xs8", 12,
        ),
        (
            "%x = (pred[4]{0}, pred[4]{0}, u32[], u32[]) collective-permute-start(%y), source_target_pairs={{0,1},{1,0}}",
            "collective_permute", "4xpred", 4,
        ),
    ],
)  # fmt: skip
def test_collective(line: str, kind: str, tensor: str, size: int):
    (found,) = list_hlo_collectives(f"  {line}, channel_id=1\n", 8)
    assert (found.kind, found.tensor, found.bytes_per_device) == (kind, tensor, size)


def test_other_lines_are_no_collectives():
    text = """
  %all-gather.1 = f32[8]{0} fusion(%all-gather), kind=kLoop
  %done = f32[8]{0} all-gather-done(%start)
"""
    assert list_hlo_collectives(text, 8) == []


HEAD = """HloModule jit_f

FileNames
1 "/home/me/run.py"
2 "/home/me/model.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=6 end_line=6 column=27 end_column=27}
2 {file_name_id=2 function_name_id=1 line=22 end_line=22 column=11 end_column=11}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

"""


def test_origin_is_the_innermost_frame():
    line = (
        "  %x = f32[8] all-reduce(%y), replica_groups=[1,8]<=[8],"
        ' metadata={op_name="jit(f)/dot_general" stack_frame_id=2}\n'
    )
    (found,) = list_hlo_collectives(HEAD + line, 8)
    assert found.op_name == "jit(f)/dot_general"
    assert found.position == "/home/me/model.py:22:11"
    assert found.group_size == 8


def test_a_name_may_have_quotes_and_braces():
    line = (
        "  %x = f32[8] all-reduce(%y), replica_groups=[1,8]<=[8],"
        ' metadata={op_name="jit(f)/{\\"w\\"}/add" stack_frame_id=2}\n'
    )
    (found,) = list_hlo_collectives(HEAD + line, 8)
    assert found.op_name == 'jit(f)/{"w"}/add'
    assert found.position == "/home/me/model.py:22:11"


def test_origin_is_the_users_own_frame():
    """The number of the frame around one is written as one more than it is."""
    dense = "/v/lib/python3.12/site-packages/flax/linen/linear.py"
    head = HEAD.replace("/home/me/model.py", dense)
    line = (
        "  %ar = f32[8,64]{1,0} all-reduce(%dot), replica_groups={{0,1}},"
        ' metadata={op_name="jit(f)/dot_general" stack_frame_id=2}\n'
    )
    (found,) = list_hlo_collectives(head + line, 8)
    assert found.position == "/home/me/run.py:6:27"
    assert found.place == "/home/me/run.py:6 in main"


LOOP = """\
HloModule f

%cheap (p: f32[8]) -> f32[8] {
  ROOT %a = f32[8]{0} all-reduce(%p), replica_groups={{0,1}}, to_apply=%add
}

%dear (p: f32[8]) -> f32[8] {
  %a = f32[64]{0} all-gather(%p), replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}
  ROOT %b = f32[8]{0} slice(%a)
}

%inner (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %c = f32[8]{0} conditional(%i, %x, %y), branch_computations={%cheap, %dear}
  ROOT %t = (s32[], f32[8]{0}) tuple(%n, %c)
}

%more (p: (s32[], f32[8])) -> pred[] {
  %a = f32[8]{0} all-reduce(%p), replica_groups={{0,1}}, to_apply=%add
  ROOT %l = pred[] compare(%i, %n), direction=LT
}

%outer (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  ROOT %w = (s32[], f32[8]{0}) while(%p), condition=%more, body=%inner, backend_config={"known_trip_count":{"n":"5"}}
}

ENTRY %main (p: f32[8]) -> f32[8] {
  %w = (s32[], f32[8]{0}) while(%p), condition=%done, body=%outer
  ROOT %a = f32[8]{0} all-reduce(%p), replica_groups={{0,1}}, to_apply=%add
}
"""


@pytest.mark.parametrize(
    ("trip_count", "said"),
    [
        (None, ["x0", "x5? in loop", "x6? in loop", ""]),
        (3, ["x0", "x15 in loop, assumed", "x18 in loop, assumed", ""]),
    ],
)  # fmt: skip
def test_loops_of_xla(trip_count: int | None, said: list[str]):
    found = list_hlo_collectives(LOOP, 8, trip_count)
    assert [str(one.times) for one in found] == said
    outer = trip_count or 1
    assert [one.bytes_per_device for one in found] == [
        0, 5 * outer * 7 * 32, 6 * outer * 32, 32,
    ]  # fmt: skip


def test_a_custom_call_runs_what_it_calls():
    text = """\
HloModule f

%gathered (p: bf16[8,64]) -> bf16[64,64] {
  ROOT %g = bf16[64,64]{1,0} all-gather(%p), replica_groups=mesh['a'=8] {'a'}, dimensions={0}
}, execution_thread="sparsecore"

%started (p: bf16[8,64]) -> bf16[64,64] {
  ROOT %c = bf16[64,64]{1,0} custom-call(%p), custom_call_target="later", called_computations={%gathered}
}, execution_thread="sparsecore"

ENTRY %main (p: bf16[8,64]) -> bf16[64,64] {
  %s = ((bf16[8,64]), bf16[64,64], u32[]) async-start(%p), async_execution_thread="sparsecore", calls=%started
  ROOT %d = bf16[64,64]{1,0} async-done(%s)
}
"""
    (gather,) = list_hlo_collectives(text, 8)
    assert (str(gather.times), gather.bytes_per_device) == ("", 7 * 8 * 64 * 2)


@pytest.mark.parametrize(
    ("name", "scopes"),
    [
        (
            "jit(f)/jit(main)/Model/layers_0/dot_general",
            ("Model/layers_0/dot_general",),
        ),
        ("jit(f)/jvp(Model)/layers_0/add", ("Model/layers_0/add",)),
        (
            "jit(f)/transpose(jvp(Model/Dense_0))/dot_general",
            ("Model/Dense_0/dot_general backward",),
        ),
        # what XLA joins, some of it twice
        (
            "jit(f)/(jvp(A)/add:transpose(jvp(A))/add:jvp(A)/add)",
            ("A/add", "A/add backward"),
        ),
        ("jit(f)/jvp(bthk,hkd->btd)/dot_general", ("bthk,hkd->btd/dot_general",)),
        # a program without debug information
        ("(reduce.8:dot.9)", ("reduce.8", "dot.9")),
        ("dot.6", ("dot.6",)),
    ],
)
def test_the_users_scopes(name: str, scopes: tuple[str, ...]):
    assert scopes_of(name) == scopes
