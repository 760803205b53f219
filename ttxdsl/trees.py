"""Python objects as lists of arrays and back: what programs take, and what they give.

Tuples, lists and dictionaries, and whatever else JAX knows as a tree once it is loaded:
dataclasses, train states, typed random keys. This module does not load it.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ttxdsl.errors import CompileError


@dataclass(frozen=True, slots=True)
class Calling:
    """How a JAX function is called, of which a program was made."""

    inputs: Any
    """The tree of its arguments and keyword arguments, without static ones."""

    kept: tuple[int, ...]
    """The leaves of it that the program takes; JAX drops what a function ignores."""

    outputs: Any
    """The tree of its results."""

    keys: Mapping[int, str]
    """The leaves of that which are typed random keys, with how they are made."""

    tokens: int = 0
    """Of ordered effects: the program's first arguments and results."""

    def _all_leaves(
        self, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """A leaf for each of the function's, or what there is if it is called apart."""
        try:
            found = self.inputs.flatten_up_to((tuple(args), dict(keywords)))
        except (TypeError, ValueError):
            found = None
        if found is None or any(map(_is_nest, found)):
            # the leaves in another nest, or keyword arguments as a dictionary
            found = leaves_of((*args, dict(keywords)))
        return found

    def arguments(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        """What the program takes of the arguments of the function.

        Either all of its arguments, or as many leaves as the program takes.
        """
        leaves = [_plain(one) for one in self._all_leaves(args, keywords)]
        if len(leaves) == self.inputs.num_leaves:
            leaves = [leaves[index] for index in self.kept]
        return [*(None for _ in range(self.tokens)), *leaves]

    def results(self, arrays: Sequence[Any]) -> Any:
        """The results of the program as the function gives them."""
        leaves = list(arrays[self.tokens :])
        for index, kind in self.keys.items():
            random: Any = sys.modules["jax"].random
            leaves[index] = random.wrap_key_data(leaves[index], impl=kind)
        return self.outputs.unflatten(leaves)


def leaves_of(value: Any) -> list[Any]:
    """The arrays of an object, in the order in which JAX flattens it.

    A list of numbers is an array.
    """
    jax: Any = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "tree"):
        return _leaves(value)
    flat = jax.tree.leaves(value, is_leaf=_is_plain_array)
    return [_plain(leaf) for one in flat for leaf in _leaves(one)]


def call_arguments(
    calling: Calling | None, args: Sequence[Any], keywords: Mapping[str, Any]
) -> list[Any]:
    """What a program takes of the arguments that it is called with.

    Args:
        calling: of the function that the program was made of, if there is one.
        args: objects whose arrays are the program's arguments.
        keywords: the function's keyword arguments.

    Raises:
        CompileError: there are keywords, and no function that knows them.
    """
    if calling is not None:
        return calling.arguments(args, keywords)
    if keywords:
        raise CompileError(
            f"the program has no arguments with names: {', '.join(keywords)}"
        )
    return leaves_of(tuple(args))


def _leaves(value: Any) -> list[Any]:
    if value is None:
        return []
    if _is_plain_array(value):
        return [value]
    if isinstance(value, Mapping):
        items = cast(Mapping[Any, Any], value)
        return [leaf for key in sorted(items) for leaf in _leaves(items[key])]
    if isinstance(value, tuple | list):
        return [leaf for one in cast(Sequence[Any], value) for leaf in _leaves(one)]
    return [value]


def _is_plain_array(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    items = cast(list[Any], value)
    return all(
        isinstance(x, int | float | complex) or _is_plain_array(x) for x in items
    )


def _is_nest(value: Any) -> bool:
    return isinstance(value, tuple | list | Mapping) and not _is_plain_array(value)


def _plain(value: Any) -> Any:
    """What a typed random key is made of, and any other value as it is."""
    jax: Any = sys.modules.get("jax")
    dtype: Any = getattr(value, "dtype", None)
    if jax is None or dtype is None or not hasattr(jax, "dtypes"):
        return value
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return value
