"""What values are called where nobody wrote down what their author called them."""

import ttxdsl
from tests.analysis.attribution.scanned_step import scanned


def test_without_debug_info_values_of_called_functions_have_no_names_of_the_text():
    program = ttxdsl.load(ttxdsl.load(scanned()).text)
    answer = program.why()
    told = " ".join(f"{one.op} {one.summary}" for one in answer.collectives)
    assert answer.collectives and ":%" not in told
    # what a loop takes of a stacked argument is the argument's
    assert "[i]" in told
