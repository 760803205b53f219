"""Where in a model the collectives of a program are: layer, scope, parameter."""

import re
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FusedLoc, ModuleOp, NameLoc
from xdsl.ir import Attribute, BlockArgument, Operation

from ttxdsl.analysis.origins import unmarked
from ttxdsl.analysis.pytree_names import leaf_name
from ttxdsl.ir.traversal import all_ops
from ttxdsl.reporting.arguments import arguments_of
from ttxdsl.reporting.collectives import COLLECTIVE_OPS
from ttxdsl.reporting.trace.stacks import stack_parts

_LAYER_SCOPE = re.compile(r"\w*\d+")
_LAYER_LEAF = re.compile(r".*?\d+(?:'?\])?(?=[.\[])")
"""A path to a parameter up to the first part of it that is numbered."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a collective is; each text is empty where nobody knows it.

    Attributes:
        scope: JAX's name stack without the function and the primitive, `layers_0/mlp`.
        parameter: the arguments that it is there for, `layers_0.up.kernel`.
    """

    scope: str
    parameter: str

    @property
    def layer(self) -> str:
        """The first numbered part of the scope, or of the parameter's path."""
        for part in self.scope.split("/"):
            if _LAYER_SCOPE.fullmatch(part):
                return part
        found = _LAYER_LEAF.match(self.parameter.partition(", ")[0])
        return found[0] if found else ""


def homes(module: ModuleOp) -> list[Home]:
    """The homes of all collectives of a per-device program, in program order."""
    return [_home(op) for op in all_ops(module) if op.name in COLLECTIVE_OPS]


def _home(op: Operation) -> Home:
    parts = _scopes(unmarked(op.location))
    scope = "/".join(part for part in parts if not part.startswith("jit("))
    return Home(scope, ", ".join(map(_argument_name, arguments_of(op))))


def _scopes(location: Attribute) -> tuple[str, ...]:
    """The name stack of an op, behind those of the calls that it was inlined through."""
    match location:
        case NameLoc():
            return stack_parts(location.desc.data)[:-1]
        case CallSiteLoc():
            return (*_scopes(location.caller), *_scopes(location.callee))
        case FusedLoc():
            parts = cast(ArrayAttr[Attribute], location.locations)
            return next((found for one in parts if (found := _scopes(one))), ())
        case _:
            return ()


def _argument_name(argument: BlockArgument) -> str:
    location = unmarked(argument.location)
    if isinstance(location, NameLoc):
        return leaf_name(location.desc.data)
    hint = argument.name_hint
    return f"%{hint}" if hint else f"argument {argument.index}"
