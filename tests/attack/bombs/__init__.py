"""All bombs, by their names; see `registry`."""

from tests.attack.bombs import deep, doubling, many, meshes, numbers
from tests.attack.bombs.registry import BOMBS, CHEAP

__all__ = ["BOMBS", "CHEAP", "deep", "doubling", "many", "meshes", "numbers"]
