"""Stage 2: mark each argument as an input, a parameter or a constant.

The compiler cannot know, so the caller says it, in tt-mlir's notation:
`argument-types="main=input,parameter;other=constant"`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_functions,
    set_argument_attributes,
)
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import ttcore


def parse_argument_types(text: str) -> dict[str, tuple[ttcore.ArgumentType, ...]]:
    """Read `function=type,type;function=…`.

    Raises:
        CompileError: a part without `=`, a function named twice, or an unknown type.
    """
    types: dict[str, tuple[ttcore.ArgumentType, ...]] = {}
    choices = ", ".join(kind.value for kind in ttcore.ArgumentType)
    for part in filter(None, (part.strip() for part in text.split(";"))):
        function, equals, listed = part.partition("=")
        function = function.strip()
        if not equals or not function:
            raise CompileError(
                f"argument-types: expected 'function=type,…', got '{part}'"
            )
        if function in types:
            raise CompileError(f"argument-types: function '{function}' is given twice")
        kinds: list[ttcore.ArgumentType] = []
        for word in filter(None, (word.strip() for word in listed.split(","))):
            try:
                kinds.append(ttcore.ArgumentType(word))
            except ValueError:
                raise CompileError(
                    f"argument-types: unknown type '{word}' for function"
                    f" '{function}'; one of {choices}"
                ) from None
        types[function] = tuple(kinds)
    return types


@dataclass(frozen=True)
class ApplyTTArgumentAnnotationsPass(ModulePass):
    """Put `ttcore.argument_type` on the arguments that `argument-types` names."""

    name = "apply-tt-argument-annotations"

    argument_types: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: the option names no function of the module, or lists more or
                fewer types than the function has arguments.
        """
        functions = {
            function.sym_name.data: function for function in entry_functions(op)
        }
        for name, kinds in parse_argument_types(self.argument_types or "").items():
            if (function := functions.get(name)) is None:
                known = ", ".join(functions) or "none"
                raise CompileError(
                    f"argument-types: no public function '{name}'; there is: {known}"
                )
            entries = argument_attributes(function)
            if len(kinds) != len(entries):
                raise CompileError(
                    f"argument-types: {len(kinds)} types for the {len(entries)}"
                    f" arguments of '{name}'",
                    function,
                )
            for entry, kind in zip(entries, kinds, strict=True):
                entry[ttcore.ARGUMENT_TYPE_ATTRIBUTE] = ttcore.ArgumentTypeAttr(kind)
            set_argument_attributes(function, entries)
