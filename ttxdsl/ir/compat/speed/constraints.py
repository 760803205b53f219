"""Mend: `isa(x, ArrayAttr[…])` and `base(…)` build the same constraint at each call.

xDSL turns a generic type hint into a constraint object every time that it checks a
value against it, which dominates the time to parse a module of some thousand ops.
The constraint depends on the hint alone.
"""

from functools import lru_cache
from typing import Any

import xdsl.irdl
import xdsl.parser.attribute_parser as attribute_parser


def mend() -> None:
    """Remember the constraint of each hint."""
    original = xdsl.irdl.irdl_to_attr_constraint
    remembered = lru_cache(maxsize=None)(original)

    def irdl_to_attr_constraint(hint: Any, **options: Any) -> Any:
        if options:
            return original(hint, **options)
        try:
            return remembered(hint)
        except TypeError:  # a hint that cannot be hashed
            return original(hint)

    # `isa` looks the function up in this module at each call
    xdsl.irdl.irdl_to_attr_constraint = irdl_to_attr_constraint  # pyright: ignore[reportPrivateImportUsage]
    # the parser asks for the constraint of a dense attribute's type at each one
    attribute_parser.base = lru_cache(maxsize=None)(attribute_parser.base)  # pyright: ignore[reportPrivateImportUsage]
