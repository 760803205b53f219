"""Methods of dataclasses, compiled when they are first called.

Python writes the methods of a dataclass down as text and compiles them when the class is
made. xDSL and this package make 350 dataclasses while a command starts, with 1,700 such
methods, of which a small program calls 250: compiling them all was a quarter of its time.
Here Python's library still makes every method, of the same text, but when somebody asks
for it.

It is for the process of a command, and for xDSL's classes and ours in it: `script` of
`ttxdsl.cli.main` uses it, as does the benchmark of its steps. Whoever imports the
package, `xdsl-opt` too, has dataclasses as Python makes them.
"""

import dataclasses
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

_PACKAGES = ("ttxdsl", "xdsl")


class _Later:
    """A descriptor that compiles a method when it is first accessed."""

    __slots__ = ("__name__", "_make", "_method")

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.__name__ = name
        self._make = make
        self._method: Any = None

    def __get__(self, instance: object, owner: type[object]) -> Any:
        method = self.method()
        for base in owner.__mro__:
            if vars(base).get(self.__name__) is self:
                method.__qualname__ = f"{base.__qualname__}.{self.__name__}"
                setattr(base, self.__name__, method)
        return method.__get__(instance, owner)

    def __call__(self, *arguments: object) -> Any:
        # of `__repr__` the class has only what keeps it from going in circles
        return self.method()(*arguments)

    def method(self) -> Any:
        """Return the compiled method; it is compiled once."""
        if self._method is None:
            self._method = self._make()
        return self._method


@contextmanager
def compiled_when_called() -> Generator[None]:
    """Dataclasses that are made inside have methods that are compiled when called.

    Python's library has one function that compiles, since 3.13 another one. Later ones
    than were tried do as they always do.
    """
    library: Any = dataclasses
    if sys.version_info >= (3, 14):
        yield
        return
    if sys.version_info >= (3, 13):
        place, name, later = library._FuncBuilder, "add_fns_to_class", _all_methods
    else:
        place, name, later = library, "_create_fn", _one_method
    now = getattr(place, name)
    setattr(place, name, later(now))
    try:
        yield
    finally:
        setattr(place, name, now)


def _one_method(now: Any) -> Any:
    def create(name: str, args: Any, body: Any, **rest: Any) -> Any:
        make = partial(now, name, args, body, **rest)
        return _Later(name, make) if _is_of_ours(rest.get("globals")) else make()

    return create


def _all_methods(now: Any) -> Any:
    def add(builder: Any, to: type[object]) -> None:
        there = vars(to).keys()
        if not _is_of_ours(builder.globals) or there & builder.overwrite_errors.keys():
            now(builder, to)
            return

        @cache
        def create() -> dict[str, Any]:
            holder = type(to.__name__, (), {})
            now(builder, holder)
            return dict(vars(holder))

        for name in builder.names:
            if name in builder.unconditional_adds or name not in there:
                setattr(to, name, _Later(name, lambda name=name: create()[name]))

    return add


def _is_of_ours(module: dict[str, Any] | None) -> bool:
    return bool(module) and module["__name__"].partition(".")[0] in _PACKAGES
