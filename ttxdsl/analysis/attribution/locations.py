"""The places of collectives in a model, and names for rows of a table of collectives."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FusedLoc, ModuleOp, NameLoc
from xdsl.ir import Attribute, BlockArgument, Operation

from ttxdsl.analysis.attribution.authored import (
    ITERATION,
    author_path,
    layer_of,
    path_text,
)
from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.analysis.attribution.pytree_names import leaf_name
from ttxdsl.analysis.attribution.roles import Roles, collective_roles
from ttxdsl.analysis.attribution.stacks import stack_parts
from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.diagnostics.errors import CompileError

_LAYER_SCOPE = re.compile(r"\w*\d+")
_LAYER_LEAF = re.compile(r".*?\d+(?:'?\])?(?=[.\[])")
"""A path to a parameter up to the first part of it that is numbered."""


@dataclass(frozen=True, slots=True)
class Home:
    """The place of a collective in a model; each text is empty where it is unknown.

    Attributes:
        scope: the author's scopes; of a program that was not loaded, JAX's name stack
            without the function and the primitive, `layers_0/mlp`.
        parameter: the arguments that it is there for, `layers_0.up.kernel`.
        layer: the first numbered part of the scope, or of the parameter's path.
    """

    scope: str
    parameter: str
    layer: str


_OWN: dict[str, Callable[[CountedCollective], str]] = {
    "kind": attrgetter("kind"),
    "axis": attrgetter("axes_text"),
    "cause": attrgetter("reason"),
    "line": attrgetter("place"),
}
_OF_HOME: dict[str, Callable[[Home], str]] = {
    "layer": lambda home: home.layer,
    "scope": lambda home: home.scope,
    "parameter": lambda home: home.parameter,
}
WAYS = (*_OWN, *_OF_HOME)
"""What `--by` makes one row of; the latter are looked up in the program."""

PLACES = ("line", *_OF_HOME)
"""Of these, what has a column of its own."""


def row_names(
    module: ModuleOp, collectives: Sequence[CountedCollective], by: str
) -> tuple[str, ...]:
    """For each collective what all of its row share; empty where nobody knows it.

    Args:
        module: of one device.
        collectives: all of it, in program order.
        by: one of `WAYS`.

    Raises:
        CompileError: it is none of these.
    """
    if by in _OWN:
        return tuple(map(_OWN[by], collectives))
    if by not in _OF_HOME:
        raise CompileError(f"by='{by}': say one of {', '.join(WAYS)}")
    return tuple(map(_OF_HOME[by], homes(module)))


def homes(
    module: ModuleOp, known: Sequence[tuple[Operation, Roles]] | None = None
) -> list[Home]:
    """Return the homes of all collectives of a per-device program, in program order.

    Args:
        module: of one device.
        known: what `collective_roles` returned, if it was asked.
    """
    known = collective_roles(module) if known is None else known
    return [_home(op, roles) for op, roles in known]


def _home(op: Operation, roles: Roles) -> Home:
    parameter = ", ".join(map(_argument_name, roles.arguments(op)))
    path = author_path(op.location)
    layer = layer_of(path)
    parts = [scope.text for scope in path] or [
        part for part in _scopes(unmarked(op.location)) if not part.startswith("jit(")
    ]
    named = next((part for part in parts if _LAYER_SCOPE.fullmatch(part)), "")
    match = _LAYER_LEAF.match(parameter.partition(", ")[0])
    leaf = match[0] if match else ""
    if layer.startswith(ITERATION):
        layer = named or leaf or layer
    layer = layer or named or leaf
    return Home(path_text(path) or "/".join(parts), parameter, layer)


def _scopes(location: Attribute) -> tuple[str, ...]:
    """The name stack of an op, behind those of the calls that it was inlined through."""
    match location:
        case NameLoc():
            return stack_parts(location.desc.data)[:-1]
        case CallSiteLoc():
            return (*_scopes(location.caller), *_scopes(location.callee))
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            return next((scopes for part in parts if (scopes := _scopes(part))), ())
        case _:
            return ()


def _argument_name(argument: BlockArgument) -> str:
    location = unmarked(argument.location)
    if isinstance(location, NameLoc):
        return leaf_name(location.desc.data)
    hint = argument.name_hint
    return f"%{hint}" if hint else f"argument {argument.index}"
