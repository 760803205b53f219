"""Mutants through our passes, alone and one after the other, as xdsl-opt runs them.

outcomes = check_passes(7)
"""

import atexit
import random
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.utils.exceptions import VerifyException

from tests.attack.isolation import Finding
from tests.attack.mutants import mutant_of
from tests.attack.numbers import has_edges, is_invalid_inlined, refusal
from tests.differential.campaign import Outcome
from tests.differential.oracle import Oracle, OracleAborted, OracleRejected
from tests.differential.partitioning import REFUSED
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.insight.check.steps import pass_text
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.universe import PASSES, load

_TEXTS = (None, "", "main=input", "main=input,parameter", "f=constant", "main=", "=", ";", "\x1b[31m")  # fmt: skip
_WRITES = frozenset(("dump_dir",))
"""Options that name files: a campaign writes none."""


def _value(rng: random.Random, kind: Any) -> Any:
    """A value of an option's type, sensible or not."""
    if kind is bool:
        return rng.random() < 0.5
    if kind is int:
        return rng.choice((0, 1, 2, 4, 8, 13, 14, -1))
    if get_origin(kind) is Literal:
        return rng.choice(get_args(kind))
    if get_origin(kind) is tuple:
        return rng.choice(((), (1, 2), (2, 4), (1,), (0,), (1, 1), (8,), (-1, 2)))
    text = rng.choice(_TEXTS)
    return text if text is not None or NoneType in get_args(kind) else ""


def random_pass(rng: random.Random) -> ModulePass:
    """One of our passes, now and then with other options."""
    made = load(PASSES[rng.choice(sorted(PASSES))])
    hints = get_type_hints(made)
    options = {
        field.name: _value(rng, hints[field.name])
        for field in fields(made)
        if field.name not in _WRITES and rng.random() < 0.4
    }
    return made(**options)


def random_passes(rng: random.Random) -> list[ModulePass]:
    """A few, often behind the first stages of the pipeline, which make their input."""
    passes = [random_pass(rng) for _ in range(rng.choice((1, 1, 2, 3, 5)))]
    if rng.random() < 0.5:
        passes.insert(0, TTStableHLOPipelinePass(last_stage=rng.randrange(1, 13)))
    if rng.random() < 0.2:
        passes.append(CanonicalizePass())
    return passes


@cache
def _oracle() -> Oracle:
    """The C++ passes, asked only about what ours made invalid."""
    oracle = Oracle()
    atexit.register(oracle.close)
    return oracle


def _is_invalid_in_cpp(text: str, one: ModulePass) -> bool:
    """Whether the C++ pass, if there is one, makes something invalid too."""
    name = pass_text(one)
    for pipeline in (name, f"func.func({name})"):
        try:
            _oracle().run(text, pipeline)
        except OracleAborted:
            return True
        except OracleRejected as error:
            if "Failure while executing pass pipeline" in str(error):
                return True
        else:
            return False
    return False


def attack_passes(text: str, passes: Sequence[ModulePass]) -> list[Outcome]:
    """What came of each pass; the program is verified and read back after each.

    Raises:
        Exception: something invalid that C++ does not make invalid, something that
            cannot be read, or an exception that is no diagnostic.
    """
    context = make_context()
    outcomes: list[Outcome] = []
    with collect_remarks():
        try:
            module = parse_program(text, context=context)
        except CompileError as error:
            refusal(error)
            return [("reading", REFUSED)]
        printed = program_text(module)
        for one in passes:
            before = printed
            try:
                one.apply(context, module)
                module.verify()
            except CompileError as error:
                refusal(error)
                return [*outcomes, (one.name, REFUSED)]
            except VerifyException as error:
                if _is_invalid_in_cpp(before, one):
                    return [*outcomes, (one.name, "invalid, as in C++")]
                if is_invalid_inlined(parse_program(before)):
                    return [*outcomes, (one.name, "invalid inlined")]
                if isinstance(one, TTStableHLOPipelinePass) and has_edges(
                    parse_program(before)
                ):
                    return [*outcomes, (one.name, "its edges contradict its ops")]
                raise Finding(f"invalid after {one.name}") from error
            printed = program_text(module)
            try:
                read = parse_program(printed)
            except CompileError as error:
                raise Finding(f"{one.name} prints what cannot be read") from error
            # a custom call that carries an op for tt-mlir is read as that op
            if program_text(read) != printed and "@mhlo." not in printed:
                raise Finding(f"{one.name} prints what reads as something else")
            outcomes.append((one.name, "valid"))
    return outcomes


def passes_of(seed: int) -> list[ModulePass]:
    """The passes that the mutant of a seed goes through."""
    return random_passes(random.Random(f"passes {seed}"))


def check_passes(seed: int) -> list[Outcome]:
    """What came of a mutant; see `attack_passes`."""
    return attack_passes(mutant_of(seed).text, passes_of(seed))


def reproducer(seed: int) -> str:
    """The mutant of a seed with the passes that it goes through."""
    pipeline = ",".join(map(pass_text, passes_of(seed)))
    return f"// RUN: xdsl-opt %s -p '{pipeline}'\n{mutant_of(seed).text}"
