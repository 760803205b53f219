"""From a jitted JAX function, or an exported one, to the module of a program."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.stablehlo import TokenType
from ttxdsl.loading.artifacts.reading import not_readable
from ttxdsl.loading.artifacts.worker import NotReadable, exported_text
from ttxdsl.loading.program import parse_program
from ttxdsl.loading.trees import Calling


@dataclass(frozen=True, slots=True)
class Traced:
    """The StableHLO text that JAX makes of a function, and how the function is called."""

    text: str
    name: str
    calling: Calling


def traced_module(
    function: Any,
    *args: Any,
    shapes: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> tuple[ModuleOp, str, Calling]:
    """Return JAX's module of a function, its name, and its calling convention.

    The arguments are those of `ttxdsl.from_jax`.

    Raises:
        CompileError: see there.
    """
    traced = trace(function, *args, shapes=shapes, **kwargs)
    source = f"<jax {traced.name}>"
    module = parse_program(traced.text, source)
    types = entry_function(module).function_type
    # the tokens of effects that have an order come before all others
    tokens = sum(isinstance(type_, TokenType) for type_ in types.inputs)
    calling = replace(traced.calling, tokens=tokens)
    counts = len(types.inputs), len(types.outputs)
    expected = len(calling.kept), calling.outputs.num_leaves
    if counts != tuple(count + tokens for count in expected):
        raise CompileError(
            f"JAX makes a program with {counts[0]} arguments and {counts[1]} results of"
            f" '{traced.name}', which has {expected[0]} and {expected[1]}",
            position=source,
            hint="jit it with jax.jit(f, keep_unused=True) if it ignores some",
        )
    return module, source, calling


def trace(
    function: Any,
    *args: Any,
    shapes: Mapping[str, int] | None = None,
    **kwargs: Any,
) -> Traced:
    """Trace a function, by the arguments of `ttxdsl.from_jax`.

    Raises:
        CompileError: see there.
    """
    try:
        jax: Any = import_module("jax")
        export: Any = import_module("jax.export")
    except ImportError as error:
        raise CompileError(
            "JAX is not installed, and a JAX function needs it to be traced",
            hint="pip install 'ttxdsl[jax]', or load the text of a program with"
            " ttxdsl.load",
        ) from error
    if isinstance(function, export.Exported):
        _require_no_arguments("exported", args, kwargs)
        return _of_exported(jax, function, shapes or {})
    if shapes is not None:
        kwargs["shapes"] = shapes
    return _of_lowered(jax, _lowered(jax, function, args, kwargs))


def _require_no_arguments(
    state: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    if args or kwargs:
        raise CompileError(
            f"a function that is {state} has its arguments already",
            hint="sizes of an exported one's symbolic dimensions are given by name:"
            " shapes={…}",
        )


def _lowered(
    jax: Any, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Return the `jax.stages.Lowered` of a function or of one of JAX's stages."""
    # flax.nnx.jit wraps JAX's stages of a function from states to states
    given = getattr(function, "lowered", function)
    if isinstance(given, jax.stages.Lowered):
        _require_no_arguments("lowered", args, kwargs)
        return given
    if isinstance(given, jax.stages.Traced):
        _require_no_arguments("traced", args, kwargs)
        return given.lower()
    if isinstance(given, jax.stages.Compiled):
        raise CompileError(
            "a compiled function is XLA's program, which is no StableHLO any more",
            hint="give what was compiled: jitted.lower(…), or (jitted, *arguments)",
        )
    can_lower = hasattr(function, "lower") and not isinstance(function, str | bytes)
    if not callable(function) and not can_lower:
        raise CompileError(
            f"a program is made of a function, not of {type(function).__name__}",
            hint="give from_jax(function, *arguments), or what JAX lowered or exported;"
            " ttxdsl.load takes files and text, too",
        )
    jitted: Any = function if can_lower else jax.jit(function)
    lowered: Any = jitted.lower(*args, **kwargs)
    lowered = getattr(lowered, "lowered", lowered)
    if not isinstance(lowered, jax.stages.Lowered):
        raise CompileError(
            f"'{getattr(function, '__name__', 'function')}' is no jitted function: its"
            f" lower() gives {type(lowered).__name__}, which is nothing of JAX's"
        )
    return lowered


_NAME = re.compile(r"module @(?:jit_)?([\w.-]+)")
"""The name of the function in the text of JAX's module."""


def _of_lowered(jax: Any, lowered: Any) -> Traced:
    infos = jax.tree.leaves(lowered.args_info)
    # no other attribute of JAX lists the dropped arguments
    lowering: Any = getattr(lowered, "_lowering", None)
    compile_args: Mapping[str, Any] = getattr(lowering, "compile_args", {})
    kept = sorted(compile_args.get("kept_var_idx", range(len(infos))))
    calling = _calling(
        jax, lowered.in_tree, kept, lowered.out_tree, jax.tree.leaves(lowered.out_info)
    )
    text = cast(str, lowered.as_text(debug_info=True))
    name = _NAME.search(text)
    return Traced(text, "function" if name is None else name[1], calling)


def _of_exported(jax: Any, exported: Any, sizes: Mapping[str, int]) -> Traced:
    name = str(exported.fun_name)
    try:
        text = exported_text(exported, sizes)
    except NotReadable as error:
        raise not_readable(f"<jax {name}>", str(error), error.hint) from error
    kept = exported.module_kept_var_idx
    calling = _calling(
        jax, exported.in_tree, kept, exported.out_tree, exported.out_avals
    )
    return Traced(text, name, calling)


def _calling(
    jax: Any, inputs: Any, kept: Sequence[int], outputs: Any, results: Sequence[Any]
) -> Calling:
    keys = {
        index: str(result.dtype._impl.name)
        for index, result in enumerate(results)
        if jax.dtypes.issubdtype(result.dtype, jax.dtypes.prng_key)
    }
    return Calling(inputs, tuple(kept), outputs, keys)
