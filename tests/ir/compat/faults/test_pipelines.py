"""Misspelt passes and options: the error says what may have been meant."""

import pytest
from xdsl.passes import PassPipeline

from ttxdsl.ir.compat import mend_xdsl
from ttxdsl.universe import passes


@pytest.mark.parametrize(
    ("pipeline", "near"),
    [
        ("canonicalise", "canonicalize"),
        ("tt-stablehlo-pipelin", "tt-stablehlo-pipeline"),
        ("inline,convert-ttir-to-ttn", "convert-ttir-to-ttnn"),
        ("sdy-op-priority", "sdy-op-priority-propagate"),
        ("tt-stablehlo-pipeline{mesh-shap=1,2}", "tt-stablehlo-pipeline{mesh-shape}"),
        ("tt-stablehlo-pipeline{optimise=false}", "tt-stablehlo-pipeline{optimize}"),
        ("tt-stablehlo-pipeline{auto=1}", "{automatic-arg-analysis}"),
    ],
)
def test_what_may_have_been_meant(pipeline: str, near: str):
    mend_xdsl()
    with pytest.raises(ValueError, match="did you mean") as raised:
        PassPipeline.parse_spec(passes(), pipeline)
    assert near in str(raised.value).partition("did you mean")[2]


@pytest.mark.parametrize("pipeline", ["nothing-like-it", "inline{xyzzy=1}"])
def test_nothing_is_near(pipeline: str):
    mend_xdsl()
    with pytest.raises(ValueError, match=r"Unrecognized|not found") as raised:
        PassPipeline.parse_spec(passes(), pipeline)
    assert "did you mean" not in str(raised.value)


def test_right_ones_are_as_before():
    mend_xdsl()
    pipeline = PassPipeline.parse_spec(passes(), "inline,canonicalize")
    assert [one.name for one in pipeline.passes] == ["inline", "canonicalize"]
