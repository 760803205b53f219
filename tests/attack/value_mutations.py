"""Random changes to attributes and what they are made of: one leaf, or one list."""

import random
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntAttr,
    IntegerAttr,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute

_INTEGERS = (0, 1, 2, 3, -1, 7, 64, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**63)
_STRINGS = ("", "x", "mesh", "a b", "é", "\x1b[31m", "[/]", '"', "\\", "\n", "a" * 300)


def mutate_value(rng: random.Random, value: Any) -> Any:
    """A value of the same class with one change; equal where there is nothing to change.

    Raises:
        Exception: the class does not allow the change.
    """
    match value:
        case bool():
            return not value
        case int():
            near = (value + 1, value - 1, value * 2, value // 2)
            return rng.choice((*near, *near, *_INTEGERS))
        case float():
            return rng.choice(
                (0.0, -0.0, value * 2, -value, float("inf"), float("nan"))
            )
        case Enum():
            return rng.choice(list(type(value)))
        case str():
            return rng.choice((*_STRINGS, value + "x", value[:-1]))
        case tuple() | list():
            return _mutate_sequence(rng, cast("Sequence[Any]", value))
        case dict():
            entries = dict(cast("dict[Any, Any]", value))
            if entries:
                key = rng.choice(list(entries))
                if rng.random() < 0.3:
                    del entries[key]
                else:
                    entries[key] = mutate_value(rng, entries[key])
            return entries
        case Attribute():
            return _mutate_attribute(rng, value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in fields(value)]
            if not names:
                return value
            name = rng.choice(names)
            return replace(value, **{name: mutate_value(rng, getattr(value, name))})
        case _:
            return value


def _mutate_sequence(rng: random.Random, values: Sequence[Any]) -> Sequence[Any]:
    """One item out, twice, elsewhere, or changed."""
    if not values:
        return values
    items = list(values)
    at, other = rng.randrange(len(items)), rng.randrange(len(items))
    is_list = len({type(item) for item in items}) == 1
    match rng.randrange(8) if is_list else 7:
        case 0:
            del items[at]
        case 1:
            items.insert(other, items[at])
        case 2:
            items[at], items[other] = items[other], items[at]
        case 3:
            rng.shuffle(items)
        case 4:
            items[at] = items[other]
        case _:
            items[at] = mutate_value(rng, items[at])
    return type(values)(items)  # pyright: ignore[reportCallIssue]


def _mutate_attribute(rng: random.Random, attribute: Attribute) -> Attribute:
    match attribute:
        case IntegerAttr():
            integer = cast("IntegerAttr[Any]", attribute)
            if integer.type == i1:
                return IntegerAttr(not integer.value.data, 1)
            return IntegerAttr(mutate_value(rng, integer.value.data), integer.type)
        case IntAttr():
            return attribute
        case DenseArrayBase():
            array = cast("DenseArrayBase[Any]", attribute)
            values = mutate_value(rng, tuple(array.get_values()))
            return DenseArrayBase.from_list(array.elt_type, values)
        case DenseIntOrFPElementsAttr():
            dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
            values = list(dense.get_values())
            if not values or not isinstance(dense.type, TensorType):
                return attribute
            at, other = rng.randrange(len(values)), rng.randrange(len(values))
            if rng.random() < 0.6:
                values[at], values[other] = values[other], values[at]
            else:
                values[at] = mutate_value(rng, values[at])
            return DenseIntOrFPElementsAttr.from_list(dense.type, values)
        case Data():
            data = cast("Data[Any]", attribute)
            return type(data).new(mutate_value(rng, data.data))
        case ParametrizedAttribute():
            parameters = list(attribute.parameters)
            if not parameters:
                return attribute
            at = rng.randrange(len(parameters))
            parameters[at] = mutate_value(rng, parameters[at])
            return type(attribute).new(parameters)
        case _:
            return attribute
