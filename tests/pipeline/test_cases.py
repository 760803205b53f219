"""Small programs that people reported, each for a kind: what they send, and say.

Each file of `cases/` stands for many programs that mean the same. A loop that never ends is
in `tests/cli/test_process.py`, the steps of Llamas are in `tests/insight/doctor`, numbers
that their state asks for in `tests/analysis/values/test_argument_demands.py`.
"""

import re
from pathlib import Path

import pytest

import ttxdsl
from tests.bridges.tt_mlir.oracle import needs_tt
from tests.differential.test_shifts import sent
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

CASES = Path(__file__).parent / "cases"

SENT = {
    "shift_slice_pad": (64, 1),
    "shift_concat": (1024, 1),
    "roll_strict": (12, 1),
    "scatter_window": (0, 0),
    "implicit_batch_gather": (0, 0),
    "gather_by_iota_rows": (0, 0),
    "glu_halves": (384, 3),
    # the same function, its columns in one order and in another
    "gate_up_halves": (384, 3),
    "gate_up_interleaved": (0, 0),
    "qkv_thirds": (512, 4),
    "qkv_by_head": (0, 0),
    "rotary_halves": (256, 1),
    "rotary_interleaved": (0, 0),
    "linalg_batch": (0, 0),
    "conv_kernel_grad": (90, 1),
    "boolean_gather": (3584, 1),
    "whole_operand_is_not_sliced_solve": (0, 0),
    "reshape_heads_not_divisible": (288, 1),
    "optimizer_adds_bytes": (4608, 4),
    "many_slices_of_one": (192, 1),
    "batch_norm_of_split_batch": (56, 2),
    "ragged_silent": (12, 1),
    "tt_sharding_constraint_ignored": (0, 0),
    "tt_mark_argument": (0, 0),
}
"""Bytes that a device sends, and launches."""


def text_of(name: str) -> str:
    return (CASES / f"{name}.mlir").read_text()


@pytest.mark.parametrize("name", SENT)
def test_what_a_case_sends(name: str):
    assert sent(text_of(name)) == SENT[name]


def sent_by(name: str, *, optimize: bool = True) -> int:
    module = parse_program(text_of(name))
    stages = TTStableHLOPipelinePass(optimize=optimize)
    with collect_remarks():
        stages.apply(make_context(), module)
    return sum(one.bytes_per_device for one in list_collectives(module))


@pytest.mark.parametrize("name", ["endless_compile", "optimizer_adds_bytes"])
def test_the_optimizer_ends_below_where_it_began(name: str):
    assert sent_by(name) < sent_by(name, optimize=False)


def test_a_budget_counts_a_custom_call_that_communicates():
    assert main(["budget", str(CASES / "ragged_silent.mlir")]) == 1


def test_a_collective_of_the_whole_program_is_run():
    assert main(["run", str(CASES / "global_collective_not_run.mlir")]) == 0


def test_replicas_that_differ_have_a_place():
    program = ttxdsl.load(CASES / "no_place_replicas_differ.mlir")
    with pytest.raises(CompileError, match=r"mlir:\d+:\d+: .*replicas differ"):
        program.partition().simulate(*program.random_inputs())


def test_a_device_sends_nothing_to_itself(capsys: pytest.CaptureFixture[str]):
    path = str(CASES / "ttnn_point_to_point_self.mlir")
    assert main(["compile", path, "--for", "tt-mlir", "--emit", "ttnn"]) == 0
    found = re.findall(
        r"sender_coord = array<(.*?)>, receiver_coord = array<(.*?)>",
        capsys.readouterr().out,
    )
    assert found and all(sender != receiver for sender, receiver in found)


def test_why_of_a_shard_map_in_gspmds_form(capsys: pytest.CaptureFixture[str]):
    assert main(["why", str(CASES / "why_gspmd_shard_map_traceback.mlir")]) == 0
    assert "nothing has to be sent" in capsys.readouterr().out


@needs_tt
@pytest.mark.parametrize(
    "name",
    [
        "batch_norm_inference_not_read",
        "batch_norm_read_wrong",
        "rows_scatter_one_index",
    ],
)
def test_what_tt_mlir_makes_is_read(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["compare-tt", str(CASES / f"{name}.mlir")]) == 0
    assert "is wrong" not in capsys.readouterr().out
