"""Budgets in `.mlir` files as pytest items, if one asks for it.

    pytest --comm-budget
    pytest -o comm_budget=true

or `comm_budget = true` in the configuration. Without it nothing is collected, so that
projects which have ttxdsl installed and `.mlir` files of their own notice nothing. Each
limit of a `COMM:` line is an item, `model.mlir::3:all_gather<=2`; a file's program is
compiled once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:  # the compiler is imported when the first budget is met
    from ttxdsl.insight.budget.check import Finding

_OPTION = "comm_budget"
_HELP = "collect the COMM: lines of .mlir files as tests (ttxdsl)"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--comm-budget` and the ini option `comm_budget`."""
    group = parser.getgroup("ttxdsl")
    group.addoption(
        "--comm-budget", action="store_true", default=None, dest=_OPTION, help=_HELP
    )
    parser.addini(_OPTION, _HELP, type="bool", default=False)


def _is_enabled(config: pytest.Config) -> bool:
    asked = config.getoption(_OPTION)
    return bool(config.getini(_OPTION) if asked is None else asked)


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """Collect a `.mlir` file that has a budget, if that is enabled."""
    if file_path.suffix != ".mlir" or not _is_enabled(parent.config):
        return None
    from ttxdsl.insight.budget.directives import has_budget

    try:
        text = file_path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if not has_budget(text):
        return None
    return _BUDGET_FILE.from_parent(parent, path=file_path)


class BudgetFile(pytest.File):
    """A file with budgets; compiled when its first item runs."""

    _findings: list[Finding] | None = None

    def collect(self) -> Iterator[pytest.Item]:
        """An item a limit.

        Raises:
            CollectError: a line is malformed.
        """
        from ttxdsl.diagnostics.errors import CompileError
        from ttxdsl.insight.budget.directives import parse_budget
        from ttxdsl.loading.program import split_programs

        limits: list[Any] = []
        try:
            for part in split_programs(self.path.read_text(encoding="utf-8-sig")):
                limits.extend(parse_budget(part, str(self.path)).limits)
        except CompileError as error:
            raise self.CollectError(str(error)) from error
        for index, limit in enumerate(limits):
            name = f"{limit.line}:{limit}".replace(" ", "")
            yield _BUDGET_ITEM.from_parent(
                self, name=name, index=index, line=limit.line
            )

    def finding(self, index: int) -> Finding:
        """Return the program's finding for the limit of that index."""
        from ttxdsl.insight.budget.check import check_text

        if self._findings is None:
            text = self.path.read_text(encoding="utf-8-sig")
            self._findings = check_text(text, str(self.path))
        return self._findings[index]


class BudgetItem(pytest.Item):
    """One limit of a file."""

    def __init__(self, *, index: int, line: int, **kwargs: Any):
        cast(Any, super()).__init__(**kwargs)
        self.index = index
        self.line = line

    def runtest(self) -> None:
        """Compile the program and compare."""
        from ttxdsl.insight.budget.check import BudgetExceededError

        assert isinstance(self.parent, BudgetFile)
        finding = self.parent.finding(self.index)
        if not finding.ok:
            raise BudgetExceededError(self.path.name, [finding])

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """The tables or the diagnostic, without a traceback."""
        from ttxdsl.diagnostics.errors import CompileError
        from ttxdsl.insight.budget.check import BudgetExceededError

        if isinstance(excinfo.value, BudgetExceededError | CompileError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the limit's file, line and name."""
        return self.path, self.line - 1, f"{self.path.name}:{self.name}"


# pytest leaves the types of its constructors open
_BUDGET_FILE: Any = BudgetFile
_BUDGET_ITEM: Any = BudgetItem
