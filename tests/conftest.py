"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import gc
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import pytest

from tests.differential.newest import newest_oracle, newest_python as find_newest_python
from tests.differential.oracle import XLA_FLAGS, Oracle
from tests.differential.stored import ANSWERS, COMMITTED
from ttxdsl.loading import processes

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# JAX, which nothing above imports, reads this once
os.environ.setdefault(
    "XLA_FLAGS", f"--xla_force_host_platform_device_count=8 {XLA_FLAGS}"
)

# the workers share the machine's cores as it is: they inherit this before they load BLAS
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# where all cores are busy a command would find its work long, and start processes
processes._WORTH_A_PROCESS = math.inf

gc.set_threshold(500_000, 20, 100)

# where `make tt` puts the real tt-mlir
if (folder := Path(sys.prefix, "tt")).is_dir():
    os.environ.setdefault("TTXDSL_TT_LIBRARY", str(folder))

# machines are shared: a property is not wrong because it was slow once. The suite has the
# same examples each time, whose answers are kept; with --ask-oracle others are drawn
for name in ("ttxdsl", "anew"):
    hypothesis.settings.register_profile(
        name, deadline=None, derandomize=name == "ttxdsl"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep bytecode and answers in pytest's cache.

    Where Python may not write bytecode beside the sources, this process, its workers and
    each of the many commands that tests start would compile package and tests anew.
    """
    anew = bool(config.getoption("ask_oracle"))
    hypothesis.settings.load_profile("anew" if anew else "ttxdsl")
    if not config.pluginmanager.hasplugin("cacheprovider"):
        return
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        # in the process that starts the workers, so that these inherit it
        folder = config.cache.mkdir("bytecode")
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(folder)
        sys.dont_write_bytecode = False
        of_copies = folder / tempfile.gettempdir().lstrip("/")
        config.add_cleanup(lambda: shutil.rmtree(of_copies, ignore_errors=True))
    ANSWERS.open(config.cache.mkdir("answers"))
    ANSWERS.anew = anew
    config.add_cleanup(ANSWERS.close)
    if not hasattr(config, "workerinput"):
        ANSWERS.take(COMMITTED)


def of_all_tests(config: pytest.Config) -> bool:
    """Whether neither files nor words of their names are given."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return whole and not config.option.keyword


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist what it cannot know."""
    node.workerinput["all tests"] = of_all_tests(node.config)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write what the repository is to know, if all tests asked anew and passed."""
    config = session.config
    if hasattr(config, "workerinput"):
        ANSWERS.write()  # the process that started this one reads them
    elif ANSWERS.anew and not exitstatus and of_all_tests(config):
        ANSWERS.give(COMMITTED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--ask-oracle",
        action="store_true",
        help="ask C++ and JAX anew what stored answers know; they must not differ",
    )


def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the tests first: the other workers find its bytecode."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or not worker["all tests"]:
        return
    here = Path(__file__).parent
    files = sorted(here.rglob("test_*.py"))
    for file in files[int(worker["workerid"][2:]) :: worker["workercount"]]:
        # pytest imports those of packages again; it reports what is wrong with a module
        if not file.with_name("__init__.py").exists():
            with suppress(Exception, pytest.skip.Exception):
                module = file.relative_to(here.parent).with_suffix("")
                import_module(".".join(module.parts))


def pytest_collection_finish() -> None:
    gc.freeze()
    # to count frozen objects is to read them, and `ir.collector` asks after each pass
    gc.get_freeze_count = lambda: 1


@pytest.fixture(scope="module", autouse=True)
def read_once_for_garbage() -> Iterator[None]:
    """A suite keeps programs and answers: to look through all of them takes seconds."""
    yield
    gc.collect(1)
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    # tables are as wide as they are where nobody says how wide; workers of xdist do
    os.environ.pop("COLUMNS", None)
    # campaigns ask millions of questions, each once
    ANSWERS.keeping = item.get_closest_marker("fuzz") is None


@pytest.fixture(scope="session", autouse=True)
def xla_processes() -> Iterator[None]:
    """Keep them: each would import JAX, which takes a second."""
    if find_spec("ttxdsl.bridges") is None:  # the core alone
        yield
        return
    from tests.kept_workers import kept_workers

    with kept_workers():
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of pages: to start one takes seconds.

    Playwright has no two at a time in one thread.
    """
    from tests.insight.report.browser import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def of_this_compiler_only() -> Iterator[None]:
    """For tests that plant faults: what another compiler found out is not known here.

    Nor is afterwards what a broken one found out.
    """
    from tests.insight.check.faults import forget

    forget()
    yield
    forget()


@pytest.fixture
def no_warnings() -> Iterator[None]:
    """Leave NumPy's warnings out: edge values are meant to overflow."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    """The C++ side, one worker process a session."""
    worker = Oracle(ANSWERS)
    yield worker
    worker.close()


@pytest.fixture(scope="session")
def newest_python() -> str:
    """A Python whose JAX is newer than ours; tests that need one are skipped without."""
    found = find_newest_python()
    if found is None:
        pytest.skip("no Python with a newer JAX; TTXDSL_NEWEST_PYTHON may name one")
    return found


@pytest.fixture(scope="session")
def newest(newest_python: str) -> Iterator[Oracle]:
    """The C++ side of the newest JAX, whose answers are not kept."""
    worker = newest_oracle()
    yield worker
    worker.close()
