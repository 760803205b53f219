"""A dialect of the ops and attributes that modules define, without a list of them."""

from collections.abc import Iterable

from xdsl.ir import Attribute, Dialect, Operation


def dialect_of(name: str, package: str, values: Iterable[object]) -> Dialect:
    """Return the dialect of the ops and attributes that a package defines.

    Args:
        package: the module that they are defined in or below.
        values: all of them, among others: `globals().values()` of the dialect's door.
    """
    # by the classes that they are derived from: `issubclass` asks every op of xDSL
    # whether it is a base
    defined = {
        value: None
        for value in values
        if isinstance(value, type)
        and value.__module__.startswith(package)
        and "name" in vars(value)
    }
    return Dialect(
        name,
        [value for value in defined if Operation in value.__mro__],
        [value for value in defined if Attribute in value.__mro__],
    )
