"""Floating-point operations of a program of the TPU's compiler, in all iterations of its loops."""

from tpu.bytes import Program
from tpu.flops import Flops

TEXT = """\
HloModule jit_f, is_scheduled=true

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[]{:T(128)} parameter(0)
  %b = f32[]{:T(128)} parameter(1)
  ROOT %add = f32[]{:T(128)} add(%a, %b)
}

%fused (p.0: bf16[4,8]) -> f32[4] {
  %p.0 = bf16[4,8]{1,0:T(8,128)} parameter(0)
  %wide = f32[4,8]{1,0:T(8,128)} convert(%p.0)
  %power = f32[4,8]{1,0:T(8,128)} exponential(%wide)
  %zero = f32[]{:T(128)} constant(0)
  ROOT %rows = f32[4]{0:T(128)} reduce(%power, %zero), dimensions={1}, to_apply=%sum
}

%body (state: (s32[], bf16[4,8])) -> (s32[], bf16[4,8]) {
  %state = (s32[]{:T(128)}, bf16[4,8]{1,0:T(8,128)}) parameter(0)
  %one = s32[]{:T(128)} constant(1)
  %next = s32[]{:T(128)S(6)} add(%state#0, %one)
  %rows.1 = f32[4]{0:T(128)} fusion(%state#1), kind=kLoop, calls=%fused
  ROOT %out = (s32[]{:T(128)}, bf16[4,8]{1,0:T(8,128)}) tuple(%next, %state#1)
}

%cond (state.1: (s32[], bf16[4,8])) -> pred[] {
  %state.1 = (s32[]{:T(128)}, bf16[4,8]{1,0:T(8,128)}) parameter(0)
  %end = s32[]{:T(128)} constant(5)
  ROOT %less = pred[]{:T(512)} compare(%state.1#0, %end), direction=LT
}

ENTRY %main (x: bf16[4,8]) -> f32[4] {
  %x = bf16[4,8]{1,0:T(8,128)} parameter(0)
  %start = s32[]{:T(128)} constant(0)
  %tuple = (s32[]{:T(128)}, bf16[4,8]{1,0:T(8,128)}) tuple(%start, %x)
  %loop = (s32[]{:T(128)}, bf16[4,8]{1,0:T(8,128)}) while(%tuple), condition=%cond, body=%body
  LAST
}
"""


def _flops(last: str, once: bool = False) -> int:
    loop = _FLOPS_OF_ITERATION if once else 5 * _FLOPS_OF_ITERATION
    return Flops(Program(TEXT.replace("LAST", last))).total(once) - loop


_FLOPS_OF_ITERATION = 1 + 32 + (32 - 4) + 1
"""Of the counter, the conversions, the sums and the test; exponentials are none."""


def test_loops_have_one_iteration_for_cost_analysis() -> None:
    copy = "ROOT %y = bf16[4,8]{1,0} copy(%x)"
    assert _flops(copy) == 0
    assert _flops(copy, once=True) == 0


def test_convolutions_multiply_no_padding() -> None:
    window = "window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f"
    last = (
        "%i = bf16[2,5,8]{2,1,0} broadcast(%x)\n"
        "  %k = bf16[3,8,16]{2,1,0} broadcast(%x)\n"
        f"  ROOT %y = bf16[2,3,16]{{2,1,0}} convolution(%i, %k), {window}"
    )
    # of the three windows of three elements the first and the last have one of padding
    assert _flops(last) == 2 * (9 - 2) * 2 * 8 * 16


def test_gaps_between_elements_count_nothing() -> None:
    window = "window={size=1 lhs_dilate=2}, dim_labels=b0f_0io->b0f"
    last = (
        "%i = bf16[2,3,8]{2,1,0} broadcast(%x)\n"
        "  %k = bf16[1,8,16]{2,1,0} broadcast(%x)\n"
        f"  ROOT %y = bf16[2,5,16]{{2,1,0}} convolution(%i, %k), {window}"
    )
    assert _flops(last) == 2 * 3 * 2 * 8 * 16


def test_scatters_and_sorts() -> None:
    scatter = (
        "%i = s32[3,1]{1,0} broadcast(%x)\n"
        "  %u = bf16[3,8]{1,0} broadcast(%x)\n"
        "  ROOT %y = bf16[4,8]{1,0} scatter(%x, %i, %u), to_apply=%sum"
    )
    assert _flops(scatter) == 24
    assert _flops("ROOT %y = bf16[4,8]{1,0} sort(%x), dimensions={1}") == 32 * 5
