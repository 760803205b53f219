"""What a class is derived from is found in its bases, as Python finds it."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
from abc import ABCMeta
from xdsl.ir import Attribute, Operation

from ttxdsl import universe  # which mends
if sys.argv[1] == "as it was":
    for base in (Attribute, Operation):
        del base.__subclasshook__

for name in ("arith", "builtin", "func", "memref", "test", *universe.DIALECTS):
    universe.dialects()[name]()

def below(one):
    return {one}.union(*map(below, type.__subclasses__(one)))

classes = sorted(below(Attribute) | below(Operation) | {int, str}, key=str)
bases = [one for one in classes if isinstance(one, ABCMeta)][::7]
asking = classes[::3]
asked = 0
check = ABCMeta.__subclasscheck__
def count(cls, other):
    global asked
    asked += 1
    return check(cls, other)
ABCMeta.__subclasscheck__ = count
wrong = [
    (one, base)
    for base in bases
    for one in asking
    if issubclass(one, base) != (base in one.__mro__)
]
print(len(classes), wrong, asked > 2 * len(bases) * len(asking))
"""


def _answer(how: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, check=True
    )
    count, _, rest = done.stdout.strip().partition(" ")
    return int(count), rest


def test_answers_are_those_of_python():
    mended, answers = _answer("mended")
    before, as_it_was = _answer("as it was")
    assert mended == before > 600
    assert (answers, as_it_was) == ("[] False", "[] True")
