"""The result of a function that an argument becomes: a step's state before and after.

Given by `tf.aliasing_output`; else by the path in the pytree, as JAX names arguments and
results; else an argument that is given away (`jax.buffer_donor`) becomes the result of
its type, as XLA pairs them.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, NameLoc, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    result_attributes,
)

_ALIASED = "tf.aliasing_output"
BUFFER_DONOR = "jax.buffer_donor"

DONATED = (_ALIASED, BUFFER_DONOR)
"""Attributes of arguments that the caller gives away; the first says for which result."""

_PART = re.compile(r"\[[^\]]*\]|\.?\w+")
_COUNTED = re.compile(r"\[\d+\]")


def results_of_arguments(function: FuncOp) -> dict[int, int]:
    """The result that an argument becomes, by their indices, for all that become one.

    Both have one type. No result is what two arguments become.
    """
    types = function.function_type
    given = argument_attributes(function)
    found: dict[int, int] = {}
    for index, entry in enumerate(given):
        aliased = entry.get(_ALIASED)
        if isinstance(aliased, IntegerAttr):
            result = aliased.value.data
            if result < len(types.outputs.data) and result not in found.values():
                found[index] = result
    arguments: defaultdict[Attribute, list[int]] = defaultdict(list)
    results: defaultdict[Attribute, list[int]] = defaultdict(list)
    for index, type_ in enumerate(types.inputs.data):
        if index not in found:
            arguments[type_].append(index)
    for index, type_ in enumerate(types.outputs.data):
        if index not in found.values():
            results[type_].append(index)
    names = _argument_paths(function), _result_paths(function)
    for type_, outputs in results.items():
        inputs = arguments[type_]
        donated = {
            index for index in inputs if any(name in given[index] for name in DONATED)
        }
        pairs = _by_path(inputs, outputs, names, donated)
        found.update(pairs)
        left = sorted(donated - set(pairs))
        free = [index for index in outputs if index not in pairs.values()]
        if len(left) == len(free):
            found.update(zip(left, free, strict=True))
    return dict(sorted(found.items()))


def _by_path(
    inputs: Sequence[int],
    outputs: Sequence[int],
    names: tuple[list[tuple[str, ...]], list[tuple[str, ...]]],
    donated: set[int],
) -> dict[int, int]:
    """The pairs whose paths end alike, those that agree in most parts first."""
    pairs: dict[int, int] = {}
    scored: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for one in inputs:
        for other in outputs:
            parts = _common_end(names[0][one], names[1][other])
            if parts:
                scored[parts].append((one, other))
    for parts in sorted(scored, reverse=True):
        alike: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}
        for one, other in scored[parts]:
            if one in pairs or other in pairs.values():
                continue
            sides = alike.setdefault(names[0][one][-parts:], ([], []))
            sides[0].extend({one} - set(sides[0]))
            sides[1].extend({other} - set(sides[1]))
        for mine, theirs in alike.values():
            if len(mine) != len(theirs):
                mine = [index for index in mine if index in donated]
            if len(mine) == len(theirs):
                pairs.update(zip(sorted(mine), sorted(theirs), strict=True))
    return pairs


def _common_end(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of last parts that two paths share; 0 if these only count."""
    parts = 0
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            break
        parts += 1
    end = one[len(one) - parts :]
    return 0 if all(_COUNTED.fullmatch(part) for part in end) else parts


def _argument_paths(function: FuncOp) -> list[tuple[str, ...]]:
    """The paths of arguments, without the names of the function's parameters."""
    paths: list[tuple[str, ...]] = []
    for argument in function.body.block.args:
        location = unmarked(argument.location)
        text = location.desc.data if isinstance(location, NameLoc) else ""
        paths.append(tuple(_PART.findall(text)[1:]))
    return paths


def _result_paths(function: FuncOp) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for entry in result_attributes(function):
        info = entry.get("jax.result_info")
        text = info.data if isinstance(info, StringAttr) else ""
        paths.append(tuple(_PART.findall(text)))
    return paths
