"""Mend: xDSL goes through the traits of a class whenever an op is asked for one.

Canonicalization asks each op for three kinds of traits, and most passes for one. Here a
class's answer is kept. All are forgotten when a trait is added to some class.
"""

from typing import Any, cast

from xdsl.ir import Operation
from xdsl.ir.core import OpTraits
from xdsl.traits import OpTrait

_MOST_KEPT = 1 << 14
"""More than all classes have; some are made while a program is read."""


def mend() -> None:
    """Look up the traits of a class once."""
    find, find_all = (
        cast(Any, method).__func__
        for method in (Operation.get_trait, Operation.get_traits_of_type)
    )
    add = OpTraits.add_trait
    known: dict[tuple[type[Operation], object], Any] = {}
    all_known: dict[tuple[type[Operation], object], list[Any]] = {}

    def get_trait(cls: type[Operation], trait: Any) -> Any:
        key = cls, trait
        try:
            return known[key]
        except KeyError:
            if len(known) >= _MOST_KEPT:
                known.clear()
            answer = known[key] = find(cls, trait)
            return answer

    def get_traits_of_type(cls: type[Operation], trait_type: Any) -> list[Any]:
        key = cls, trait_type
        traits = all_known.get(key)
        if traits is None:
            if len(all_known) >= _MOST_KEPT:
                all_known.clear()
            traits = all_known[key] = find_all(cls, trait_type)
        return [*traits]

    def add_trait(self: OpTraits, trait: OpTrait) -> None:
        add(self, trait)
        known.clear()
        all_known.clear()

    Operation.get_trait = cast(Any, classmethod(get_trait))
    Operation.get_traits_of_type = cast(Any, classmethod(get_traits_of_type))
    OpTraits.add_trait = add_trait
