"""Mend: what an attribute or op is not takes a look at all that was ever derived.

xDSL's attributes and ops are abstract classes. Whether a class is derived from one of
them Python answers by asking every class that is, each of which asks its own, since
somebody may have registered it with one of them: of `Operation` these are a thousand.
Nobody registers attributes and ops, so the bases of the class are the answer.
"""

from typing import Any, cast

from xdsl.ir import Attribute, Operation


def _is_derived(cls: type[object], other: type[object]) -> bool:
    return cls in other.__mro__


def mend() -> None:
    """Ask the class that is asked about for its bases."""
    for base in (Attribute, Operation):
        cast(Any, base).__subclasshook__ = classmethod(_is_derived)
