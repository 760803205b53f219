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
  %end = s32[]{:T(128)} constant(8)
  ROOT %less = pred[]{:T(512)} compare(%state.1#0, %end), direction=LT
}

ENTRY %main (x: f32[64,64], w: f32[8,64,64]) -> f32[64,64] {
  %x = f32[64,64]{1,0:T(8,128)} parameter(0)
  %w = f32[8,64,64]{2,1,0:T(8,128)} parameter(1)
  %start = s32[]{:T(128)} constant(0)
  %tuple = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) tuple(%start, %w)
  %loop = (s32[]{:T(128)}, f32[8,64,64]{2,1,0:T(8,128)}) while(%tuple), condition=%cond, body=%body
  %copy-start = (f32[64,64]{1,0:T(8,128)S(1)}, f32[64,64]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%x)
  %copy-done = f32[64,64]{1,0:T(8,128)S(1)} copy-done(%copy-start)
  ROOT %result = f32[64,64]{1,0:T(8,128)} exponential(%copy-done)
}
"""


def test_hbm_counts_each_byte_that_crosses_it():
    kinds = Bytes(Program(TEXT)).hbm().of_kinds
    # four turns read a slice and write as much, and the result; and a few bytes of the counter
    assert (kinds["prefetch"], kinds["elementwise"] // SIZE) == (SIZE, 4 * 2 + 1)
    assert kinds.total() - (1 + 4 * 2 + 1) * SIZE < 128


def test_xla_counts_a_copy_to_the_core_four_times():
    accessed = Bytes(Program(TEXT)).accessed()
    # one turn of the loop; and who reads the copy counts it, too
    small = accessed.total() % SIZE
    assert small < 64
    assert accessed.total() - small == 2 * SIZE + (3 + 1) * SIZE + 2 * SIZE
