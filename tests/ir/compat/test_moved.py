"""Modules that moved are found by their old names, with a warning."""

import subprocess
import sys
from importlib import import_module

import pytest

from ttxdsl.ir.compat.moved import MOVED


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_old_names_are_the_modules(old: str, new: str):
    with pytest.warns(DeprecationWarning, match=f"ttxdsl.{old} is now ttxdsl.{new}"):
        module = import_module(f"ttxdsl.{old}")
    assert module is import_module(f"ttxdsl.{new}")
    assert module.__spec__ is not None
    assert module.__spec__.name == f"ttxdsl.{new}"
    sys.modules.pop(f"ttxdsl.{old}")


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'ttxdsl\.nothing'"):
        import_module("ttxdsl.nothing")


def test_import_statements_take_old_names():
    program = (
        "from ttxdsl.frontends.jax import from_jax; import ttxdsl;"
        "assert ttxdsl.from_jax is from_jax"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
