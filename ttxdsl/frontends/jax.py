"""From a jitted JAX function to a program.

    from ttxdsl.frontends.jax import from_jax

    program = from_jax(jax.jit(step), params, batch).partition()

The arguments carry the shardings: arrays on a mesh, or `jax.ShapeDtypeStruct`s with a
`NamedSharding`, which need no memory. Only this module imports JAX.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from ttxdsl.api import Program, program_of
from ttxdsl.errors import CompileError
from ttxdsl.interpreters.run import entry_function
from ttxdsl.program import parse_program


def from_jax(function: Any, *args: Any, **kwargs: Any) -> Program:
    """The StableHLO program that JAX makes of a function for these arguments.

    Locations are kept, so that errors name the lines of the function. The program's
    arguments are the leaves of `args` and `kwargs` in JAX's order, and so are its
    results: `program.simulate(*args)` takes the same nests of arrays.

    Args:
        function: a `jax.jit`ted function; any other callable is jitted.
        args: its arguments, values or `jax.ShapeDtypeStruct`s, with their shardings.
        kwargs: its keyword arguments.

    Raises:
        CompileError: JAX is not installed, or it drops arguments that the function
            does not use.
    """
    try:
        jax: Any = import_module("jax")
    except ImportError as error:
        raise CompileError(
            "JAX is not installed, and a JAX function needs it to be traced",
            hint="pip install jax, or load the text of a program with ttxdsl.load",
        ) from error
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    lowered: Any = jitted.lower(*args, **kwargs)
    name = str(getattr(function, "__name__", "function"))
    text = cast(str, lowered.as_text(debug_info=True))
    module = parse_program(text, f"<jax {name}>")
    expected = len(jax.tree.leaves(lowered.args_info))
    found = len(entry_function(module).function_type.inputs)
    if found != expected:
        raise CompileError(
            f"JAX dropped {expected - found} of {expected} arguments of '{name}', which"
            " does not use them",
            hint="jit it with jax.jit(f, keep_unused=True), or leave them out",
        )
    return program_of(module, f"<jax {name}>")
