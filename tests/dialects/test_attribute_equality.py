"""Attributes with different parameters are different."""

import dataclasses

import pytest
from xdsl.ir import ParametrizedAttribute

from ttxdsl.universe import UNIVERSE

CLASSES = [
    attribute
    for make in UNIVERSE.all_dialects.values()
    for attribute in make().attributes
    if issubclass(attribute, ParametrizedAttribute)
]


@pytest.mark.parametrize("attribute", CLASSES, ids=lambda one: one.name)
def test_every_parameter_is_compared(attribute: type[ParametrizedAttribute]):
    """A parameter declared in a base that is no dataclass would be left out."""
    declared = {name for name, _ in attribute.get_irdl_definition().parameters}
    compared = {field.name for field in dataclasses.fields(attribute) if field.compare}
    assert compared == declared
