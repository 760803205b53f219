"""Running programs here and in JAX on the CPU, and comparing."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax._src.lib import xla_client
from xdsl.context import Context
from xdsl.dialects import builtin, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tests.differential.oracle import array_of, written
from tests.differential.stored import ANSWERS, processor
from ttxdsl import universe
from ttxdsl.interpreters.compare import compare
from ttxdsl.interpreters.kernels.elements import is_float, widen
from ttxdsl.interpreters.runtime.run import run_module

jax.config.update("jax_platforms", "cpu")


def parse(text: str) -> ModuleOp:
    """A verified module."""
    context = Context()
    context.load_dialect(builtin.Builtin)
    context.load_dialect(func.Func)
    for name, target in universe.DIALECTS.items():
        context.register_dialect(name, lambda target=target: universe.load(target))
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def run(text: str, *inputs: Any, entry: str | None = None) -> tuple[np.ndarray, ...]:
    """The results of a program's entry function."""
    return run_module(parse(text), inputs, entry=entry)


def body(text: str, *inputs: Any) -> tuple[np.ndarray, ...]:
    """The results of `func.func @main` around a signature and ops."""
    return run(f"func.func @main{text}", *inputs)


def lowered(function: Callable[..., Any], *args: Any) -> str:
    """The StableHLO text that JAX makes of a function."""
    return jax.jit(function).lower(*args).as_text()


def stored(
    text: str,
    inputs: Sequence[np.ndarray],
    flags: dict[str, bool] | None,
    ask: Callable[[], Sequence[Any]],
) -> list[np.ndarray]:
    """The results of a program, which XLA is asked for if no stored answer has them."""
    question = [
        text,
        [*map(written, inputs)],
        flags,
        os.environ["XLA_FLAGS"],
        processor(),
    ]
    results = ANSWERS.of(
        Path(__file__), question, lambda: [written(np.asarray(one)) for one in ask()]
    )
    return [array_of(*one) for one in results]


def same_as_jax(
    function: Callable[..., Any],
    *args: Any,
    reduction_length: int = 1,
    rtol: float | None = None,
    atol: float | None = None,
) -> Sequence[np.ndarray]:
    """Run `function` here and in JAX, and fail where the results differ.

    Returns what was computed here.
    """
    with jax.enable_x64(True):
        leaves, _ = jax.tree.flatten(args)
        # traced once: tracing and lowering take as long as compiling
        program = jax.jit(function, keep_unused=True).lower(*args)
        text = program.as_text()
        inputs = [np.asarray(leaf) for leaf in leaves]
        wanted = stored(
            text, inputs, None, lambda: jax.tree.leaves(program.compile()(*args))
        )
        paths, _ = jax.tree.flatten_with_path(program.out_info)
    found = run(text, *inputs)
    names = [jax.tree_util.keystr(path) for path, _ in paths]
    check_all(found, wanted, text, reduction_length, rtol, atol, names)
    return found


def each_same_as_jax(
    calls: Mapping[str, tuple[Any, ...]],
    reduction_length: int = 1,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """`same_as_jax` of several calls, a function and its arguments each.

    They are one program: to compile it takes a quarter of what compiling each takes.
    """

    def every(arguments: list[Any]) -> OrderedDict[str, Any]:
        return OrderedDict(
            (name, function(*own))
            for (name, (function, *_)), own in zip(
                calls.items(), arguments, strict=True
            )
        )

    arguments = [list(own) for _, *own in calls.values()]
    same_as_jax(
        every, arguments, reduction_length=reduction_length, rtol=rtol, atol=atol
    )


def xla(text: str, *inputs: Any, flags: dict[str, bool] | None = None) -> list[Any]:
    """What XLA's CPU backend computes for StableHLO text, also for ops JAX never makes.

    `flags` are XLA's, over those of `XLA_FLAGS`.
    """

    def run() -> list[Any]:
        device = jax.devices("cpu")[0]
        options = xla_client.CompileOptions()
        options.env_option_overrides = list((flags or {}).items())
        with jax.enable_x64(True):
            devices = xla_client.DeviceList((device,))
            program = device.client.compile_and_load(text, devices, options)
            buffers = [jax.device_put(one, device) for one in arrays]
            results = program.execute_sharded(buffers)
            shards = results.disassemble_into_single_device_arrays()
        return [one[0] for one in shards]

    arrays = [np.asarray(one) for one in inputs]
    return stored(text, arrays, flags, run)


def same_as_xla(
    text: str,
    *inputs: Any,
    reduction_length: int = 1,
    rtol: float | None = None,
    atol: float | None = None,
    flags: dict[str, bool] | None = None,
) -> Sequence[np.ndarray]:
    """Run StableHLO text here and by XLA, and fail where the results differ.

    The text is a module, or what follows `func.func @main` in one.
    """
    if "func.func" not in text:
        text = f"module {{ func.func @main{text} }}"
    found = run(text, *inputs)
    wanted = xla(text, *inputs, flags=flags)
    check_all(found, wanted, text, reduction_length, rtol, atol)
    return found


def check_all(
    found: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    text: str,
    reduction_length: int,
    rtol: float | None,
    atol: float | None,
    names: Sequence[str] | None = None,
) -> None:
    """Fail where results differ, with the program in the message."""
    names = names or [""] * len(wanted)
    for one, other, name in zip(found, wanted, names, strict=True):
        result = compare(
            one, other, reduction_length=reduction_length, rtol=rtol, atol=atol
        )
        assert result.equal, f"{name} {result}\n{one}\n{other}\n{text}"
        if is_float(one.dtype):
            zeros = (one == 0) & (other == 0)
            signs = [np.signbit(widen(x)[zeros]) for x in (one, other)]
            np.testing.assert_array_equal(*signs, f"signs of zeros: {name}\n{text}")
