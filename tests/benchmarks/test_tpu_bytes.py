"""Bytes of a program of the TPU's compiler: as XLA counts them, and through the HBM."""

from tpu.bytes import Bytes, Program

SIZE = 64 * 64 * 4

TEXT = """\
HloModule jit_f, is_scheduled=true

%fused (p.0: f32[8,64,64], p.1: s32[]) -> f32[64,64] {
  %p.0 = f32[8,64,64]{2,1,0:T(8,128)} parameter(0)
  %p.1 = s32[]{:T(128)} parameter(1)
  %zero = s32[]{:T(128)} constant(0)
  %part = f32[1,64,64]{2,1,0:T(8,128)} dynamic-slice(%p.0, %p.1, %zero, %zero), dynamic_slice_sizes={1,64,64}
  %flat = f32[64,64]{1,0:T(8,128)} bitcast(%part)
  ROOT %twice = f32[64,64]{1,0:T(8,128)} add(%flat, %flat)
}

%body (state: (s32[], f32[8,64,64])) -> (s32[], f32[8,64,64]) {
  %state = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) parameter(0)
  %one = s32[]{:T(128)} constant(2)
  %next = s32[]{:T(128)S(6)} add(%state#0, %one)
  %sum = f32[64,64]{1,0:T(8,128)} fusion(%state#1, %state#0), kind=kLoop, calls=%fused
  ROOT %out = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) tuple(%next, %state#1)
}

%cond (state.1: (s32[], f32[8,64,64])) -> pred[] {
  %state.1 = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) parameter(0)
  %end = s32[]{:T(128)} constant(10)
  ROOT %less = pred[]{:T(512)} compare(%state.1#0, %end), direction=LT
}

ENTRY %main (x: f32[64,64], w: f32[8,64,64]) -> f32[64,64] {
  %x = f32[64,64]{1,0:T(8,128)} parameter(0)
  %w = f32[8,64,64]{2,1,0:T(8,128)} parameter(1)
  %second = s32[]{:T(128)} constant(2)
  %start = s32[]{:T(128)} copy(%second)
  %tuple = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) tuple(%start, %w)
  %loop = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) while(%tuple), condition=%cond, body=%body
  %copy-start = (f32[64,64]{1,0:T(8,128)S(1)}, f32[64,64]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%x)
  %copy-done = f32[64,64]{1,0:T(8,128)S(1)} copy-done(%copy-start)
  ROOT %result = f32[64,64]{1,0:T(8,128)} exponential(%copy-done)
}
"""


def test_hbm_counts_each_byte_that_crosses_it():
    kinds = Bytes(Program(TEXT)).hbm().of_kinds
    # four iterations, from the second on, read a slice and write as much, and the result; and a few bytes of the counter
    assert (kinds["prefetch"], kinds["elementwise"] // SIZE) == (SIZE, 4 * 2 + 1)
    assert kinds.total() - (1 + 4 * 2 + 1) * SIZE < 128


def test_xla_counts_a_copy_to_the_core_four_times():
    accessed = Bytes(Program(TEXT)).accessed()
    # one iteration of the loop; and who reads the copy counts it, too
    small = accessed.total() % SIZE
    assert small < 64
    assert accessed.total() - small == 2 * SIZE + (3 + 1) * SIZE + 2 * SIZE


DUMP = """\
HloModule jit_f, is_scheduled=true

%windows (p.0: f32[64,64], p.1: s32[]) -> f32[2,32,64] {
  %p.0 = f32[64,64]{1,0:T(8,128)} parameter(0)
  %p.1 = s32[]{:T(128)} parameter(1)
  %flat = f32[1,64,64]{2,1,0:T(8,128)} reshape(%p.0)
  %lowest = f32[]{:T(128)} constant(-inf)
  %pad = f32[2,64,64]{2,1,0:T(8,128)} pad(%flat, %lowest), padding=0_1x0_0x0_0
  %zero = s32[]{:T(128)} constant(0)
  ROOT %part = f32[2,32,64]{2,1,0:T(8,128)} dynamic-slice(%pad, %zero, %p.1, %zero), dynamic_slice_sizes={2,32,64}
}

ENTRY %main (x: (s32[], f32[64,64]), table: f32[512,64], rows: s32[64]) -> f32[2,32,64] {
  %x = (s32[]{:T(128)}, f32[64,64]{1,0:T(8,128)}) parameter(0)
  %table = f32[512,64]{1,0:T(8,128)} parameter(1)
  %rows = s32[64]{0:T(128)S(6)} parameter(2)
  %at = s32[]{:T(128)} get-tuple-element(%x), index=0
  %value = f32[64,64]{1,0:T(8,128)} get-tuple-element(%x), index=1
  %slice-start = ((f32[64,64]{1,0:T(8,128)}), f32[16,64]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start(%value), slice={[0:16], [0:64]}
  %slice-done = f32[16,64]{1,0:T(8,128)S(1)} slice-done(%slice-start)
  %begun = ((), (), (s32[8]{0:T(128)S(8)})) custom-call-start(), custom_call_target="other core"
  %sent = ((f32[512,64]{1,0:T(8,128)}, s32[64]{0:T(128)S(6)}), f32[64,64]{1,0:T(8,128)}, (s32[8]{0:T(128)S(8)})) custom-call-update(%begun, %table, %rows)
  %gathered = f32[64,64]{1,0:T(8,128)} custom-call-done(%sent)
  ROOT %result = f32[2,32,64]{2,1,0:T(8,128)S(1)} fusion(%value, %at), kind=kLoop, calls=%windows
}
"""


def test_dumps_name_parts_slices_and_the_other_core():
    kinds = Bytes(Program(DUMP)).hbm().of_kinds
    # rows are read and written; of a padded value's slice half is no read
    assert kinds["gather"] == 2 * SIZE
    assert kinds["prefetch"] == SIZE // 4
    assert kinds["move"] == SIZE // 2 + 4
