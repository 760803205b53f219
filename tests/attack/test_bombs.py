"""Every bomb of a few lines is compiled or refused, at once and with one diagnostic."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import pytest
from xdsl.utils.exceptions import DiagnosticException, ParseError

import ttxdsl
from tests.attack import bomb_commands
from tests.attack.bombs import BOMBS, CHEAP
from tests.attack.bombs.deep import nested_regions
from tests.sampling import sampled
from ttxdsl.analysis.attribution.roles import Role, collective_roles
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

NO_LONGER = 60
"""Seconds, on a machine that does other things too; what hangs takes far more."""


@contextmanager
def at_most(seconds: int) -> Generator[None]:
    """What is inside is interrupted when it does not end."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", sorted(CHEAP))
def test_compiled_or_refused(name: str):
    context = make_context()
    with at_most(NO_LONGER), collect_remarks():
        try:
            module = parse_program(BOMBS[name](), context=context)
            TTStableHLOPipelinePass().apply(context, module)
            ConvertStableHLOToTTIRPass().apply(context, module)
            ConvertTTIRToTTNNPass().apply(context, module)
            program_text(module)
        except (DiagnosticException, ParseError) as error:
            assert len(str(error)) < 20_000


def test_more_dimensions_than_numpy_has_are_refused():
    assert bomb_commands.check_bombs(1493) == [("interpret", "refused")]


@pytest.mark.parametrize("seed", sampled([1951, 1953, 1954, 1971], 1))
def test_calls_that_double_are_not_run_for_years(seed: int):
    ((_, outcome),) = bomb_commands.check_bombs(seed)
    assert outcome == "refused"


def test_large_results_are_not_printed():
    with at_most(NO_LONGER):
        assert bomb_commands.check_bombs(1063) == [("interpret", "done")]


def test_collectives_in_regions_too_deep_to_follow_are_activations():
    device = ttxdsl.load(nested_regions("if", 60)).partition()
    sent = [*collective_roles(device.module)]
    assert len(sent) > 60
    assert {roles.of(op) for op, roles in sent} == {Role.ACTIVATIONS}
    assert not any(roles.arguments(op) for op, roles in sent)
