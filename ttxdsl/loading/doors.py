"""Doors for other packages: commands, engines, pipelines and vocabularies, by name.

Ours are lines `name -> "module:object"`, imported when first asked for, which may be in
a part of this package that is not there. A plug-in registers its own while it is imported
(`docs/guide/plugins.md`):

    ENGINES.register("mine", MyEngine())
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def load(target: str) -> Any:
    """Return the object that a `"module:name"` line stands for."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


@cache
def _is_part(name: str) -> bool:
    return find_spec(name) is not None


def is_there(target: str) -> bool:
    """Return whether the part of this package that a line names is there."""
    return _is_part(".".join(target.partition(":")[0].split(".")[:2]))


class Door(Generic[T]):
    """Objects of one `kind` by name: ours, and those that plug-ins register."""

    def __init__(self, kind: str, ours: Mapping[str, str]) -> None:
        self.kind = kind
        self._ours = ours
        self._registered: dict[str, T] = {}

    def register(self, name: str, value: T) -> None:
        """Add an object under a name of its own.

        Raises:
            CompileError: the name is taken.
        """
        if name in self._ours or self._registered.get(name, value) is not value:
            from ttxdsl.diagnostics.errors import CompileError

            raise CompileError(f"the {self.kind} '{name}' is there already")
        self._registered[name] = value

    def is_ours(self, name: str) -> bool:
        """Return whether a name is built in; no plug-in is imported to know."""
        return name in self._ours and is_there(self._ours[name])

    def __iter__(self) -> Iterator[str]:
        """Yield all names, those of installed plug-ins last."""
        from ttxdsl.loading.plugins import load_installed

        load_installed()
        yield from filter(self.is_ours, self._ours)
        yield from self._registered

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (
            self.is_ours(name) or any(name == known for known in self)
        )

    def __getitem__(self, name: str) -> T:
        """Return the object of a name.

        Raises:
            CompileError: there is none.
        """
        if self.is_ours(name):
            return load(self._ours[name])
        if name not in self:
            from ttxdsl.diagnostics.errors import CompileError
            from ttxdsl.diagnostics.hints import near_hint
            from ttxdsl.diagnostics.sanitize import visible

            hint = near_hint([name], self, f"{self.kind}s")
            message = f"there is no {self.kind} '{visible(name)}'"
            raise CompileError(message, hint=hint)
        return self._registered[name]


_COMMANDS = "ttxdsl.cli.commands"

COMMANDS: Door[Callable[[Any], None]] = Door(
    "command",
    {
        "run": f"{_COMMANDS}.run:add_command",
        "compile": f"{_COMMANDS}.compile:add_command",
        "check": f"{_COMMANDS}.check:add_command",
        "interpret": f"{_COMMANDS}.interpret:add_command",
        "report": f"{_COMMANDS}.report:add_command",
        "why": f"{_COMMANDS}.why:add_command",
        "show": f"{_COMMANDS}.show:add_command",
        "diff": f"{_COMMANDS}.diff:add_command",
        "plan": f"{_COMMANDS}.plan:add_command",
        "doctor": f"{_COMMANDS}.doctor:add_command",
        "budget": f"{_COMMANDS}.budget:add_command",
        "compare-xla": f"{_COMMANDS}.compare_xla:add_command",
        "bench": f"{_COMMANDS}.bench:add_command",
        "calibrate": f"{_COMMANDS}.calibrate:add_command",
        "compare-tt": f"{_COMMANDS}.compare_tt:add_command",
        "completion": f"{_COMMANDS}.completion:add_command",
    },
)
"""Functions that add a subcommand to a parser, in the order of the help."""

ENGINES: Door[Any] = Door(
    "engine",
    {
        "virtual": "ttxdsl.insight.run.engines:VIRTUAL",
        "jax": "ttxdsl.bridges.xla.execute:JAX",
        "mpi": "ttxdsl.bridges.mpi.ranks:MPI",
    },
)
"""Engines of `ttxdsl run --engine` (`ttxdsl.insight.run.engines.EngineKind`)."""

PIPELINES: Door[Any] = Door(
    "pipeline version",
    {
        "design": "ttxdsl.transforms.pipeline:DESIGN_VERSION",
        "2026": "ttxdsl.transforms.pipeline_2026:VERSION",
        "xla": "ttxdsl.transforms.pipeline_xla:VERSION",
    },
)
"""Versions of the pipeline (`ttxdsl.transforms.pipeline.Version`)."""

VOCABULARIES: Door[Any] = Door(
    "vocabulary",
    {
        "design": "ttxdsl.conversion.driver:DESIGN",
        "tt-mlir": "ttxdsl.bridges.tt_mlir.vocabulary:TT_MLIR",
    },
)
"""Vocabularies of StableHLO, ttir and ttnn (`ttxdsl.conversion.driver.Audience`)."""
