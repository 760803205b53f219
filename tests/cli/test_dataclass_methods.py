"""Dataclasses of the command's process: those that Python makes, compiled later."""

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ttxdsl.cli.dataclass_methods import compiled_when_called

ROOT = Path(__file__).parents[2]

CLASSES = """
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

@dataclass
class Plain:
    a: int
    b: list[int] = field(default_factory=list)

@dataclass(frozen=True)
class Frozen:
    "Has a docstring."
    a: int
    b: str = "b"
    kind: ClassVar[str] = "kind"

@dataclass(frozen=True)
class Derived(Frozen):
    c: int = field(default=3, compare=False)

class Undecorated(Derived):
    pass

@dataclass(frozen=True, slots=True)
class Slots:
    a: int
    b: int = 2

@dataclass(order=True, kw_only=True)
class Ordered:
    a: int
    b: int = field(default=0, repr=False)

@dataclass(unsafe_hash=True, match_args=False)
class Hashed:
    a: int
    b: int = field(default=1, hash=False)

@dataclass(eq=False, repr=False)
class Bare:
    a: int = 1

@dataclass
class Own:
    a: int
    def __init__(self): self.a = 7
    def __repr__(self): return "own"
    def __eq__(self, other): return True

@dataclass
class Circle:
    to: object = None

@dataclass
class After:
    a: int
    b: int = field(init=False)
    def __post_init__(self):
        self.b = self.a + 1

class Base(ABC):
    @abstractmethod
    def __eq__(self, other): ...

@dataclass
class Concrete(Base):
    a: int = 0
    def __hash__(self): return 5
"""

ASKED = """
Plain(1)
Plain(1) == Plain(1), Plain(1) == Plain(2), Plain(1) == 1
hash(Plain(1))
Plain()
Plain(1, c=2)
Plain(1).b is Plain(1).b
Plain.__doc__
Frozen.__doc__
Slots.__doc__
Frozen(1, "x"), Frozen(1) == Frozen(1), hash(Frozen(1)) == hash(Frozen(1))
{Frozen(1), Frozen(1), Derived(1)} == {Derived(1, c=8), Frozen(1)}
setattr(Frozen(1), "a", 2)
delattr(Frozen(1), "a")
setattr(Derived(1), "other", 2)
setattr(Undecorated(1), "a", 2)
Undecorated(1), Undecorated(1) == Derived(1), Undecorated(1) == Undecorated(1)
Derived(1) == Derived(1, c=9), repr(Derived(1, c=9))
Slots(1), hash(Slots(1)) == hash(Slots(1)), Slots.__slots__
setattr(Slots(1), "a", 2)
pickle.loads(pickle.dumps(Slots(4))), pickle.loads(pickle.dumps(Derived(4)))
Ordered(a=1) < Ordered(a=2), sorted([Ordered(a=2), Ordered(a=1)]), Ordered(a=1) >= Ordered(a=1)
Ordered(1)
Ordered(a=1) < 3
hash(Hashed(1, 2)) == hash(Hashed(1, 3)), Hashed(1, 2) == Hashed(1, 3)
hasattr(Hashed, "__match_args__"), Frozen.__match_args__
Bare(2).a, Bare() == Bare()
Own(), Own() == 3, Own().a
After(3), After(a=3).b
(lambda c: (setattr(c, "to", [c]), repr(c)))(Circle())
Concrete(), Concrete() == Concrete(), hash(Concrete())
Base()
dataclasses.replace(Derived(1), b="z")
dataclasses.asdict(Plain(1, [2]))
[one.name for one in dataclasses.fields(Derived)]
[str(inspect.signature(one)) for one in (Plain, Frozen, Slots, Ordered, After, Own)]
[one.__qualname__ for one in (Plain.__init__, Frozen.__eq__, Slots.__hash__, Derived.__repr__)]
Plain.__init__.__annotations__, Plain.__init__.__module__, Plain.__init__.__name__
Derived.__init__ is Undecorated.__init__, Plain.__eq__ is Plain.__eq__
copy.deepcopy(Derived(1, c=4)), copy.copy(Slots(1))
""".strip().splitlines()


def _module(name: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(CLASSES, vars(module))
    return module


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    """The classes as Python makes them, and as the command does."""
    name = "ttxdsl.made_for_a_test"
    plain = _module(name)
    with compiled_when_called():
        later = _module(name)
    yield plain, later
    del sys.modules[name]


@pytest.mark.parametrize("asked", ASKED)
def test_classes_answer_alike(asked: str, modules: tuple[ModuleType, ModuleType]):
    def answer(module: ModuleType) -> str:
        sys.modules[module.__name__] = module  # as pickle finds it
        import copy
        import inspect
        import pickle

        known = vars(module) | {
            "copy": copy,
            "dataclasses": dataclasses,
            "inspect": inspect,
            "pickle": pickle,
        }
        try:
            return repr(eval(asked, known))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    plain, later = map(answer, modules)
    assert plain == later


LATER = sys.version_info < (3, 14)
"""Whether this Python is one of those that were tried."""


@pytest.mark.skipif(not LATER, reason="a newer Python than was tried")
def test_a_method_is_compiled_when_it_is_first_asked_for():
    with compiled_when_called():
        module = _module("xdsl.made_for_a_test")
        other = _module("somebody.else")
    made = "<string>"  # what the library compiles has this for a file

    def compiled(one: type[object], name: str) -> bool:
        code = getattr(vars(one)[name], "__code__", None)
        return code is not None and code.co_filename == made

    assert not compiled(module.Frozen, "__eq__")
    assert compiled(other.Frozen, "__eq__")
    assert module.Frozen(1) == module.Frozen(1)
    assert compiled(module.Frozen, "__init__")
    assert compiled(module.Frozen, "__eq__")
    assert not compiled(module.Derived, "__eq__")
    for one in (module, other):
        del sys.modules[one.__name__]


def test_it_ends_with_the_command():
    def state() -> list[object]:
        builder = getattr(dataclasses, "_FuncBuilder", None)
        return [
            getattr(dataclasses, "_create_fn", None),
            getattr(builder, "add_fns_to_class", None),
        ]

    before = state()
    with pytest.raises(ValueError), compiled_when_called():
        assert (state() != before) == LATER
        raise ValueError
    assert state() == before


SCRIPT = """
import sys
from ttxdsl.cli import main
entry = sys.argv.pop()
sys.argv.insert(1, "compile")
getattr(main, entry)()
from xdsl.utils.diagnostic import Diagnostic
print(type(vars(Diagnostic)["__eq__"]).__name__, file=sys.stderr)
"""


@pytest.mark.skipif(not LATER, reason="a newer Python than was tried")
@pytest.mark.parametrize("entry", ["script", "main"])
def test_who_imports_the_package_has_pythons_own(entry: str):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            SCRIPT,
            ROOT / "examples" / "mlp_train_step.mlir",
            entry,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ttnn.matmul" in done.stdout, done.stderr
    said = done.stderr.splitlines()[-1]
    assert said == ("_Later" if entry == "script" else "function")
