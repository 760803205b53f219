"""Programs that are small to write and large to compute, to hold, or to walk.

    BOMBS["calls that double"]()   # the text

Importing `tests.attack.bombs` registers all of them. Whatever reads, compiles, explains
or runs one ends soon: with a result, or with one diagnostic. Each name says what is
large; numbers are far beyond what any machine holds, so that nothing which makes them
whole gets by.
"""

from collections.abc import Callable, Sequence

BOMBS: dict[str, Callable[[], str]] = {}
"""The text of each bomb by its name."""

CHEAP: set[str] = set()
"""Names of those that take little time even to read: a few lines."""

TYPE = "tensor<8x8xf32>"
SHARDED = f'%a: {TYPE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}'
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>'
MANY = 100_000
DEEP = 1_000
HUGE = 10**12
INT64 = 2**63 - 1


def bomb(
    name: str, cheap: bool = True
) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Register a maker of a text."""

    def add(make: Callable[[], str]) -> Callable[[], str]:
        assert name not in BOMBS
        BOMBS[name] = make
        if cheap:
            CHEAP.add(name)
        return make

    return add


def program(
    body: Sequence[str] | str,
    arguments: str = f"%a: {TYPE}",
    results: str = TYPE,
    before: str = "",
    behind: str = "",
) -> str:
    """A module with a `main`, whose body ends in a return."""
    lines = body if isinstance(body, str) else "\n".join(body)
    return (
        f"{before}\nfunc.func public @main({arguments}) -> ({results}) {{\n"
        f"{lines}\n}}\n{behind}\n"
    )


def sharded(*lines: str, behind: str = "") -> str:
    """The same of a sharded argument."""
    return program(lines, SHARDED, before=MESH, behind=behind)


def one_op(text: str, arguments: str, result: str, before: str = "") -> str:
    """A module whose `main` has one op, `%r = text`."""
    body = [f"%r = {text}", f"return %r : {result}"]
    return program(body, arguments, result, before)


def add(name: str, text: str, cheap: bool = True) -> None:
    """Register a text of a few lines."""
    bomb(name, cheap)(lambda: text)
