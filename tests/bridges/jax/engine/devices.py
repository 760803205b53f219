"""Eight virtual devices of JAX in a worker process, where our programs run as functions.

It is asked as the oracle is; nothing is stored, since what answers is our own code.
"""

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tests.differential.oracle import XLA_FLAGS, Array, Oracle, array_of, written


class DevicesOfJax(Oracle):
    """The worker; `serves` this module."""

    serves = "tests.bridges.jax.engine.devices"

    def __init__(self) -> None:
        super().__init__(
            xla_flags=f"{XLA_FLAGS} --xla_force_host_platform_device_count=8"
        )

    def run(self, text: str, arguments: Sequence[Array]) -> list[Array]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What `Program.to_jax` computes of the text of a program."""
        answer = self.asked_anew(text=text, arguments=[written(a) for a in arguments])
        return [array_of(*one) for one in answer]

    def call(self, name: str) -> None:
        """Call a function of `tests.bridges.jax.engine.calls` there.

        Raises:
            OracleRejected: it raised an exception; the message is the traceback.
        """
        self.asked_anew(call=name)


def _answer(request: dict[str, Any]) -> Any:
    import ttxdsl

    if "call" in request:
        getattr(import_module("tests.bridges.jax.engine.calls"), request["call"])()
        return None
    program = ttxdsl.load(request["text"])
    arguments = [array_of(*one) for one in request["arguments"]]
    return [written(_whole(one)) for one in program.to_jax()(*arguments)]


def _whole(result: Any) -> Array:
    """A result; what several devices hold must be the same on all."""
    from ttxdsl.interpreters.compare import compare

    whole = np.asarray(result)
    for shard in result.addressable_shards:
        beside = compare(np.asarray(shard.data), whole[shard.index])
        assert beside.equal, f"{shard.device} has something else: {beside}"
    return whole


def _serve() -> None:
    from traceback import format_exc

    from ttxdsl.diagnostics.errors import CompileError

    for line in sys.stdin:
        try:
            answer = {"answer": _answer(json.loads(line))}
        except CompileError as error:
            answer = {"error": str(error)}
        except Exception:
            answer = {"error": format_exc()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
