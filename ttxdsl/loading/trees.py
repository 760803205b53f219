"""Conversion between Python objects and the arrays of a program.

The objects are tuples, lists and dictionaries, and every pytree of JAX once JAX is
loaded: dataclasses, train states, typed random keys. This module does not load JAX.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ttxdsl.diagnostics.errors import CompileError


@dataclass(frozen=True, slots=True)
class Calling:
    """The calling convention of the JAX function that a program was made of."""

    inputs: Any
    """The tree of its arguments and keyword arguments, without static ones."""

    kept: tuple[int, ...]
    """The leaves that the program takes; JAX drops arguments that a function ignores.
    """

    outputs: Any
    """The tree of its results."""

    keys: Mapping[int, str]
    """The leaves of that which are typed random keys, with how they are made."""

    tokens: int = 0
    """Of ordered effects: the program's first arguments and results."""

    def arguments(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        """Return the program's arguments from those of the function.

        Either all of its arguments, or as many leaves as the program takes.

        Raises:
            CompileError: there are others, or a dictionary among them has other keys.
        """
        leaves = [_plain(leaf) for leaf in self._all_leaves(args, keywords)]
        if len(leaves) == self.inputs.num_leaves:
            leaves = [leaves[index] for index in self.kept]
        elif len(leaves) != len(self.kept):
            raise self._count_error(len(leaves), (tuple(args), dict(keywords)))
        return [*(None for _ in range(self.tokens)), *leaves]

    def _all_leaves(
        self, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> list[Any]:
        """Return a leaf for each of the function's, or the given leaves of a flat call."""
        calls = [(tuple(args), dict(keywords))]
        if args and not keywords and isinstance(args[-1], Mapping):
            last = cast(Mapping[str, Any], args[-1])
            calls.append((tuple(args[:-1]), dict(last)))
        for call in calls:
            try:
                leaves = self.inputs.flatten_up_to(call)
            except (TypeError, ValueError):
                continue
            if not any(map(_is_nest, leaves)):
                return leaves
        for call in calls:
            if (named := self._by_name(call)) is not None:
                return named
        return leaves_of((*args, dict(keywords)))

    def _paths(self) -> list[tuple[Any, ...]]:
        """Return each leaf's path in JAX's keys; [] if its objects take only arrays."""
        try:
            tree = self.inputs.unflatten(range(self.inputs.num_leaves))
        except Exception:
            return []
        return list(_leaves_by_path(tree))

    def _by_name(self, call: Any) -> list[Any] | None:
        """Return the leaves by place, with None for unused ones that were left out.

        Returns:
            None if they are in another nest, or in none.
        """
        expected, given = self._paths(), _leaves_by_path(call)
        used = [expected[index] for index in self.kept if expected]
        missing = [path for path in used if path not in given]
        unknown = [path for path in given if path not in set(expected)]
        if not missing and not unknown:
            return [given.get(path) for path in expected]
        flat = all(len(path) == 2 and not path[0].idx for path in given)
        nests = {path[:-1] for path in expected}
        if flat or not all(
            hasattr(path[-1], "key") and path[:-1] in nests for path in unknown
        ):
            return None
        problems: list[str] = []
        if missing:
            problems.append(f"without {_path_texts(missing)}, which it uses")
        if unknown:
            problems.append(f"with {_path_texts(unknown)}, which it does not know")
        raise CompileError(f"the function is called {', and '.join(problems)}")

    def _count_error(self, count: int, call: Any) -> CompileError:
        """Return the error of a call with so many leaves."""
        total, taken = self.inputs.num_leaves, len(self.kept)
        paths, given = self._paths(), _leaves_by_path(call)
        missing = [path for path in paths if path not in given]
        text = f"the function takes {total} arguments, {count} were given"
        if missing and count < total and len(missing) == total - count:
            text += f", without {_path_texts(missing)}"
        if taken == total:
            return CompileError(text)
        dropped = [path for at, path in enumerate(paths) if at not in self.kept]
        names = f" (not {_path_texts(dropped)})" if dropped else ""
        return CompileError(
            text,
            hint=f"give all of them, or the {taken} that it uses{names}: JAX drops the"
            " others, unless it is jitted with keep_unused=True",
        )

    def results(self, arrays: Sequence[Any]) -> Any:
        """Return the results of the program as the function gives them."""
        leaves = list(arrays[self.tokens :])
        for index, kind in self.keys.items():
            random: Any = sys.modules["jax"].random
            leaves[index] = random.wrap_key_data(leaves[index], impl=kind)
        return self.outputs.unflatten(leaves)


def leaves_of(value: Any) -> list[Any]:
    """Return the arrays of an object, in the order in which JAX flattens it.

    A list of numbers is an array.
    """
    jax: Any = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "tree"):
        return _leaves(value)
    flat = jax.tree.leaves(value, is_leaf=_is_plain_array)
    return [_plain(leaf) for tree in flat for leaf in _leaves(tree)]


def _leaves_by_path(tree: Any) -> dict[tuple[Any, ...], Any]:
    """Return the leaves of the arguments of a call by JAX's keys to them."""
    flatten: Any = sys.modules["jax"].tree_util.tree_flatten_with_path
    return dict(flatten(tree, is_leaf=_is_plain_array)[0])


def _path_texts(paths: Sequence[tuple[Any, ...]]) -> str:
    """`args[0]['w'] and args[1]`: places of leaves, a few of many."""
    names: list[str] = []
    for path in paths[:4]:
        rest = "".join(map(str, path[1:]))
        names.append(f"{'keywords' if path[0].idx else 'args'}{rest}")
    if len(paths) > len(names):
        names.append(f"{len(paths) - len(names)} more")
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def call_arguments(
    calling: Calling | None, args: Sequence[Any], keywords: Mapping[str, Any]
) -> list[Any]:
    """Return the arguments of a program from those that it is called with.

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
        return [leaf for part in cast(Sequence[Any], value) for leaf in _leaves(part)]
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
    """Return the data of a typed random key, and any other value as it is."""
    jax: Any = sys.modules.get("jax")
    dtype: Any = getattr(value, "dtype", None)
    if jax is None or dtype is None or not hasattr(jax, "dtypes"):
        return value
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return value
