"""The C++ parser, Shardy passes and XLA that ship with jaxlib, in a worker process.

Some wrong programs and wrongly nested passes abort the whole process, so a worker
does the work: it reads one JSON request a line and answers with one JSON line. It
imports JAX, which takes a second, and forks: a fork that dies is replaced, and the call
raises `OracleAborted`. What stored answers know is not asked (see `stored`).
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import ml_dtypes  # the names of its types become NumPy's
import numpy as np

from tests.differential.stored import Answers, processor

Array = np.ndarray[Any, Any]

# compiling takes far longer than running such small programs
XLA_FLAGS = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
ENVIRONMENT = {
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    # where several processes ask they were told not to look for modules in this folder
    "PYTHONSAFEPATH": "",
}

T = TypeVar("T")


class OracleRejected(Exception):
    """The C++ side refused the program or the pass failed; holds its diagnostics."""


class OracleAborted(Exception):
    """The C++ side crashed on this request."""


def written(array: Array) -> tuple[str, list[int], str]:
    """An array as JSON can write it: element type, shape and base64 of the bytes."""
    data = base64.b64encode(array.tobytes()).decode()
    return array.dtype.name, list(array.shape), data


def array_of(dtype: str, shape: list[int], data: str) -> Array:
    """The array that `written` wrote."""
    kind = getattr(ml_dtypes, dtype, None) or dtype
    return np.frombuffer(base64.b64decode(data), kind).reshape(shape)


class Oracle:
    """One worker process, started when first asked what no stored answer knows."""

    serves = "tests.differential.oracle"
    """The module that is the worker."""

    def __init__(
        self,
        answers: Answers | None = None,
        *,
        python: str = sys.executable,
        xla_flags: str = XLA_FLAGS,
    ) -> None:
        """Ask the jaxlib of a Python; answers of another than ours may not be kept."""
        self._python = python
        self._settings = ENVIRONMENT | {"XLA_FLAGS": xla_flags}
        self._worker: subprocess.Popen[str] | None = None
        self._answers = answers or Answers()

    def _start(self) -> subprocess.Popen[str]:
        if self._worker is None or self._worker.poll() is not None:
            self._worker = subprocess.Popen(
                [self._python, "-m", self.serves],
                cwd=Path(__file__).parents[2],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | self._settings,
                text=True,
            )
        return self._worker

    def _ask(self, **request: Any) -> Any:
        return self._told(
            self._answers.of(
                Path(__file__), request, lambda: self._asked_worker(request)
            )
        )

    @staticmethod
    def _told(answer: dict[str, Any]) -> Any:
        if "aborted" in answer:
            raise OracleAborted(answer["aborted"])
        if "error" in answer:
            raise OracleRejected(answer["error"])
        return answer["answer"]

    def _asked_worker(self, request: dict[str, Any]) -> dict[str, Any]:
        worker = self._start()
        assert worker.stdin and worker.stdout
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        if not line:
            code = worker.wait()
            self.close()
            return {"aborted": f"worker died with code {code}"}
        return json.loads(line)

    def run(
        self,
        text: str,
        pipeline: str = "",
        *,
        generic: bool = False,
        debug: bool = False,
    ) -> str:
        """Parse, verify, run `pipeline` (nested as in `func.func(…)`) and print.

        Args:
            text: a module.
            pipeline: passes between the parentheses of `builtin.module(…)`; empty
                for a plain round trip.
            generic: print the generic form.
            debug: print locations.
        """
        return self._ask(text=text, pipeline=pipeline, generic=generic, debug=debug)

    def seconds(self, text: str, pipeline: str, *, rounds: int = 1) -> float:
        """CPU seconds of the passes alone: no parsing, no verification, no printing.

        The best of some rounds; each starts from the text.
        """
        return self.asked_anew(text=text, pipeline=pipeline, rounds=rounds)

    def asked_anew(self, **request: Any) -> Any:
        """The answer to a request, whatever is stored."""
        return self._told(self._asked_worker(request))

    def run_all(self, requests: Sequence[tuple[str, str]]) -> list[str | None]:
        """Run passes on programs as `run` does, all in one go.

        Args:
            requests: a module and a pipeline each.

        Returns:
            What is printed, None where the module or the passes are refused or crash.
        """
        try:
            return self._ask(batch=[*requests])
        except OracleAborted:
            return [self._run_or_none(*request) for request in requests]

    def _run_or_none(self, text: str, pipeline: str) -> str | None:
        try:
            return self.run(text, pipeline)
        except (OracleRejected, OracleAborted):
            return None

    def compute(self, text: str, arguments: Sequence[Array]) -> list[Array]:
        """Compile a program without shardings for one CPU, and run it.

        Args:
            text: a module in StableHLO and chlo.
            arguments: one array an argument of `@main`.

        Raises:
            OracleRejected: XLA refuses the program.
        """
        inputs = [written(array) for array in arguments]
        answer = self._ask(text=text, arguments=inputs, processor=processor())
        return [array_of(*one) for one in answer]

    def through_hlo(self, text: str) -> str:
        """A program as HLO, and that as StableHLO again: what XLA's users export."""
        return self._ask(text=text, through_hlo=True)

    def accepts(self, text: str) -> bool:
        """Whether the C++ parser and verifier take this module."""
        try:
            self.run(text)
        except OracleRejected:
            return False
        return True

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            for stream in (self._worker.stdin, self._worker.stdout):
                if stream:
                    stream.close()
            self._worker.kill()
            self._worker.wait()
            self._worker = None


_SECONDS = 300
"""That a question may take, by the clock: on a busy machine, too, most take one."""

_MEMORY = 4 << 30
"""Bytes that a worker may have; some passes take all that there are."""


def _serve() -> None:
    import resource  # Windows has none, and asks no worker

    from jax._src.interpreters import mlir as jax_mlir

    ir: Any = import_module("jaxlib.mlir.ir")
    passmanager: Any = import_module("jaxlib.mlir.passmanager")
    jax: Any = import_module("jax")
    compiler: Any = import_module("jax._src.compiler")
    xla_client: Any = import_module("jax._src.lib").xla_client

    def manager(pipeline: str) -> Any:
        return passmanager.PassManager.parse(f"builtin.module({pipeline})")

    def run(request: dict[str, Any]) -> str:
        module = ir.Module.parse(request["text"])
        module.operation.verify()
        if request["pipeline"]:
            manager(request["pipeline"]).run(module.operation)
        return module.operation.get_asm(
            print_generic_op_form=request["generic"],
            enable_debug_info=request["debug"],
            use_local_scope=False,
        )

    def seconds(request: dict[str, Any]) -> float:
        passes = manager(request["pipeline"])
        passes.enable_verifier(False)
        module = ir.Module.parse(request["text"])
        start = time.process_time()
        passes.run(module.operation)
        return time.process_time() - start

    def compute(request: dict[str, Any]) -> list[tuple[str, list[int], str]]:
        # JAX does when it lowers a call of LAPACK; without it the call jumps to nowhere
        import_module("jaxlib.cpu._lapack").initialize()
        device = jax.local_devices()[0]
        executable = device.client.compile_and_load(
            ir.Module.parse(request["text"]),
            executable_devices=xla_client.DeviceList((device,)),
            compile_options=compiler.get_compile_options(1, 1),
        )
        arrays = [
            jax.device_put(array_of(*one), device) for one in request["arguments"]
        ]
        results = executable.execute_sharded(arrays)
        return [
            written(np.asarray(shards[0]))
            for shards in results.disassemble_into_single_device_arrays()
        ]

    def through_hlo(request: dict[str, Any]) -> str:
        mlir: Any = import_module("jaxlib._jax").mlir
        computation = mlir.mlir_module_to_xla_computation(
            request["text"], use_tuple_args=False, return_tuple=False
        )
        return mlir.xla_computation_to_mlir_module(computation)

    def new_context() -> Any:
        context = jax_mlir.make_ir_context()
        context.allow_unregistered_dialects = True
        # passes on functions run on threads, and a thread that has an error to tell
        # waits for Python's lock, which this one holds while it waits for the passes
        context.enable_multithreading(False)
        return context

    def in_new_context(
        work: Callable[[dict[str, Any]], T], request: dict[str, Any]
    ) -> T:
        with new_context():
            return work(request)

    # to make one takes longer than most passes; none is kept for ever, since what a
    # context has seen stays in it
    contexts = (one for one in iter(new_context, None) for _ in range(100))

    def run_all(request: dict[str, Any]) -> list[str | None]:
        options = {"generic": False, "debug": False}
        answers: list[str | None] = []
        for text, pipeline in request["batch"]:
            try:
                answer = run({"text": text, "pipeline": pipeline, **options})
            except (ir.MLIRError, ValueError, RuntimeError):
                answer = None
            answers.append(answer)
        return answers

    def answer_to(request: dict[str, Any]) -> Any:
        if "batch" in request:
            return in_new_context(run_all, request)
        if "arguments" in request:
            return in_new_context(compute, request)
        if "through_hlo" in request:
            return through_hlo(request)
        if "rounds" not in request:
            with next(contexts):
                return run(request)
        return min(in_new_context(seconds, request) for _ in range(request["rounds"]))

    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    while (fork := os.fork()) and (status := os.waitpid(fork, 0)[1]):
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"aborted": f"worker died with code {code}"}), flush=True)
    if fork:
        return
    for line in sys.stdin:
        # some passes never end: the alarm then ends this process, as if it crashed
        signal.alarm(_SECONDS)
        try:
            answer = {"answer": answer_to(json.loads(line))}
        except (ir.MLIRError, ValueError, RuntimeError) as error:
            answer = {"error": str(error)}
        signal.alarm(0)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
