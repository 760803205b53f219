"""Every program of public packages, by name: `PROGRAMS` makes them."""

from tests.packages import games, models, solvers
from tests.packages.making import PROGRAMS

__all__ = ["PROGRAMS", "games", "models", "solvers"]
