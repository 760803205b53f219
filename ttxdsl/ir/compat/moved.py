"""Modules that moved, importable by their old names for one release."""

import warnings
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "budgets.pytest_plugin": "insight.budget.pytest_plugin",
    "checking.check": "insight.check.check",
    "checking.steps": "insight.check.steps",
    "checking.trials": "insight.check.trials",
    "conversion.lowering": "conversion.stablehlo_to_ttir.lowering",
    "dialects.custom_calls": "dialects.calls.custom",
    "dialects.facts": "dialects.traits",
    "doctoring.doctor": "insight.doctor.doctor",
    "errors": "diagnostics.errors",
    "explaining.answers": "insight.why.answers",
    "explaining.explain": "insight.why.explain",
    "frontends.jax": "api",
    "interpreters.custom_calls": "interpreters.ops.custom_calls",
    "interpreters.engine": "interpreters.runtime.engine",
    "interpreters.implementing": "interpreters.ops.registry",
    "interpreters.run": "interpreters.runtime.run",
    "on_jax.function": "bridges.jax.function",
    "plugins": "loading.plugins",
    "program": "loading.program",
    "remarks": "diagnostics.remarks",
    "reporting.collectives": "analysis.usage.collectives",
    "reporting.memory": "analysis.usage.memory",
    "reporting.model_explorer": "insight.report.model_explorer",
    "reporting.picture": "insight.show.picture",
    "reporting.timeline": "analysis.usage.timeline",
    "sharding.cost": "costs.ring",
    "sharding.links": "costs.links",
    "sharding.machines": "costs.machines",
    "sharding.mesh": "sharding.devices.mesh",
    "sharding.replica_groups": "sharding.devices.replica_groups",
    "tools.main": "cli.main",
    "tt.comparing": "bridges.tt_mlir.comparing",
    "tt.compiler": "bridges.tt_mlir.compiler",
    "xla.benchmarking": "bridges.xla.benchmarking",
    "xla.comparing": "bridges.xla.comparing",
}
"""Old to new names of the modules that the docs named, without `ttxdsl.`."""

_FOLDERS = {old.partition(".")[0] for old in MOVED if "." in old}


class _Alias(Loader):
    """Hand out the module of the new name, or an empty folder of old names."""

    def __init__(self, new: str | None) -> None:
        self.new = new
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Import the module of the new name."""
        if self.new is None:
            return None
        module = import_module(f"ttxdsl.{self.new}")
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is: it has run under its own name."""
        if self.spec is not None:
            module.__spec__ = self.spec


def spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a module that moved, `None` for other names."""
    old = name.removeprefix("ttxdsl.")
    if (new := MOVED.get(old)) is not None:
        warnings.warn(f"{name} is now ttxdsl.{new}", DeprecationWarning, stacklevel=2)
        return ModuleSpec(name, _Alias(new))
    if old in _FOLDERS:
        return ModuleSpec(name, _Alias(None), is_package=True)
    return None
