"""Hostile names in every place of a program that a command may print.

outcomes = check_terminals(7)
"""

import random
import tempfile
from contextlib import chdir
from pathlib import Path

from tests.attack.commands import IN_PROCESS, examine, in_process
from tests.differential.campaign import Outcome

HOSTILE = (
    "\x1b[31m", "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\", "\x9b31m", "\x07", "\x08" * 9,
    "\r", "\n", "\x0b", "\x7f", "\x00", "\u202e", "\u2066", "\u2028", "[/]", "[bold]", "[/bold]",
    "[link=a]", "[@click=a]", "{}", "%s", "{0}", "<script>", "--help", "é", "日本", "🙂", "", " ", "'", '"', "\\",
)  # fmt: skip
"""What terminals, rich or a formatter might obey."""


def hostile_program(seed: int) -> str:
    """A program whose names are hostile, valid or not."""
    rng = random.Random(f"terminals {seed}")

    def name(plain: str, likely: float = 0.15) -> str:
        """As MLIR writes it in quotes, most characters as hexadecimal escapes."""
        if rng.random() >= likely:
            return plain
        hostile = (
            rng.choice((plain, "")) + rng.choice(HOSTILE) + rng.choice((plain, ""))
        )
        if rng.random() < 0.3:
            return hostile.replace("\\", "\\\\").replace('"', '\\"')
        return "".join(f"\\{byte:02X}" for byte in hostile.encode())

    axis, mesh, callee = name("x"), name("mesh", 0.1), name("callee", 0.1)
    sharding = f'#sdy.sharding<@"{mesh}", [{{"{axis}"}}, {{}}]>'
    size = rng.choice((4, 4, 8, 6, 6, 5))
    type_ = f"tensor<{size}x8xf32>"
    call = rng.choice(("stablehlo.custom_call", "stablehlo.composite", "func.call"))
    extra = {
        "stablehlo.custom_call": f'"stablehlo.custom_call"(%0) <{{call_target_name = "{name("target")}", backend_config = "{name("config")}"}}>',
        "stablehlo.composite": f'"stablehlo.composite"(%0) <{{name = "{name("a.b")}", decomposition = @"{callee}", version = 1 : i32}}>',
        "func.call": f'"func.call"(%0) <{{callee = @"{callee}"}}>',
    }[call]
    entry = name("main", 0.1)
    body = rng.choice(
        (
            "",
            "",
            "",
            f'  %9 = "{name("a.b")}"(%0) : ({type_}) -> {type_}\n',
            f'  %9 = "stablehlo.negate"(%0) {{"{name("a.name")}" = "{name("value")}"}} : ({type_}) -> {type_}\n',
        )
    )
    label = name("value")
    return f"""\
// COMM: all_reduce<=0, axis={name("x")}
module @"{name("module")}" attributes {{"{name("a.attribute")}" = "{name("text")}"}} {{
sdy.mesh @"{mesh}" = <["{axis}"=2, "{name("y")}"=2]>
func.func @"{entry}"(%arg0: {type_} {{sdy.sharding = {sharding}}} loc("{label}"), %arg1: tensor<8x8xf32> {{sdy.sharding = {sharding}, "{name("jax.arg")}" = "{name("w")}"}}) -> ({type_} {{jax.result_info = "{name("result")}"}}) {{
  %0 = "stablehlo.dot_general"(%arg0, %arg1) <{{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}}> : ({type_}, tensor<8x8xf32>) -> {type_} loc("{name("dot")}"("{name("file.py")}":3:1))
{body}  %1 = {extra} : ({type_}) -> {type_} loc("{name("file.py")}":2:4)
  return %1 : {type_}
}}
func.func private @"{callee}"(%arg0: {type_}) -> {type_} {{
  %0 = stablehlo.negate %arg0 : {type_} loc(callsite("{name("f")}" at "{name("g.py")}":1:1))
  return %0 : {type_}
}}
}}
"""


_ASKED: dict[str, tuple[tuple[str, ...], ...]] = {
    "compile": (("--emit", "sdy"), ("--emit", "stablehlo"), ()),
    "check": (("--minimize-seconds", "1"), ("--json", "--no-minimize")),
    "interpret": (("--seed", "0"), ("--entry", "\x1b[31m[/]")),
    "report": (("--json",), ("-o", "out.html")),
    "why": ((), ("%0",), ("--collective", "0", "--tries", "1"), ("--arg", "0", "--json"), ("%\x1b[2J[/]",)),
    "show": ((), ("%0", "--after", "6"), ("--arg", "0", "--devices"), ("%[/]",), ("--after", "[/]\x1b[31m")),
    "diff": (("--mesh-shape", "2,2", "--mesh-shape", "1,2"), ("--all", "PROGRAM")),
    "doctor": (("--devices", "2", "--jobs", "1", "--candidates", "2"),),
    "run": ((), ("--json",), ("--mesh-shape", "1,2"), ("--argument-types", "[/]\x1b[31m=input")),
}  # fmt: skip


def case_of(seed: int) -> tuple[str, list[str]]:
    """A file name and a command line."""
    rng = random.Random(f"words {seed}")
    strange = [one for one in HOSTILE if "\x00" not in one and "/" not in one]
    file = f"p{rng.choice(strange) if rng.random() < 0.3 else ''}.mlir"
    command = rng.choice(IN_PROCESS)
    asked = rng.choice(_ASKED.get(command, ((),)))
    words = [command, file, *(word.replace("PROGRAM", file) for word in asked)]
    return file, words


def check_terminals(seed: int) -> list[Outcome]:
    """What a command did with a hostile program in a file of a hostile name.

    Raises:
        Exception: see `tests.attack.commands`.
    """
    file, words = case_of(seed)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        if seed % 50:
            Path(file).write_text(
                hostile_program(seed), encoding="utf-8", errors="surrogatepass"
            )
        return [(words[0], examine(words, in_process(words)))]


def reproducer(seed: int) -> str:
    """The program of a seed with its command line."""
    file, words = case_of(seed)
    return f"// {file!r}: {words!r}\n{hostile_program(seed)}"
