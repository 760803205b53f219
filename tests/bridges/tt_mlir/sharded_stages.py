"""Every stage of what tt-mlir makes of sharded programs, alone and of what we give it.

`python -m tests.bridges.tt_mlir.sharded_stages` prints the tables of docs/evidence/tt-mlir.md that
count them, `--write` writes them into the page. Answers are kept as in any test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.utils.exceptions import InterpretationError

from tests.bridges.tt_mlir.oracle import ask
from tests.bridges.tt_mlir.programs import all_programs
from tests.bridges.tt_mlir.through import PAGE, main_with_answers, prepared
from ttxdsl.bridges.tt_mlir import StageCheck, check_stages
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import parse_program

BEGIN, END = "<!-- stages: begin -->", "<!-- stages: end -->"

Way: TypeAlias = Literal["alone", "through"]
WAYS: tuple[Way, ...] = ("alone", "through")


@dataclass(frozen=True)
class Theirs:
    """One thing that tt-mlir gets wrong, or leaves open.

    Attributes:
        what: what happens.
        stage: the first that differs.
        alone: the programs that show it as they are, the smallest first.
        through: those that show it in the form that we give.
    """

    what: str
    stage: str
    alone: tuple[str, ...] = ()
    through: tuple[str, ...] = ()

    def programs(self, way: Way) -> tuple[str, ...]:
        """Those of one way."""
        return self.alone if way == "alone" else self.through


_LOCAL = "shlo_compiler"

THEIRS = (
    Theirs(
        "a dimension that two axes split is gathered by the major one first: its parts "
        "are in another order",
        _LOCAL,
        ("conv1d", "max_pool", "avg_pool_grad"),
    ),
    Theirs(
        "windows take nothing from the neighbours, and every part is padded",
        _LOCAL,
        (
            "cummin_reverse", "conv_precision", "conv2d_batch_group",
            "conv2d_transposed", "conv2d_grad",
        ),
    ),
    Theirs("every device reverses its part where it is", _LOCAL, ("reverse",)),
    Theirs("a custom call is of every part alone", _LOCAL, ("approx_max_k",)),
    Theirs("the parts of any reduction are summed", _LOCAL, ("reduce_custom",)),
    Theirs(
        "indices into the whole are taken for indices into a part",
        _LOCAL,
        (
            "scatter_add", "scatter_apply", "scatter_max", "scatter_min",
            "scatter_multiply", "scatter_pred", "scatter_set", "scatter_sub",
        ),
    ),
    Theirs(
        "every device adds its updates to the operand, and these are summed: the "
        "operand counts twice",
        _LOCAL,
        ("scatter_batched",),
    ),
    Theirs(
        "indices are clamped to 15 instead of 3, and the rows of those beyond are zero",
        _LOCAL,
        ("take_index",),
    ),
    Theirs("the second key of a sort is dropped", "ttir", ("sort_keys",)),
    Theirs(
        "constants of ui64 lose their upper half",
        "ttir",
        ("uniform", "bernoulli", "randint"),
        ("uniform", "bernoulli", "randint", "normal"),
    ),
    Theirs(
        "random bits of ui64 are made as ui32",
        "ttir",
        ("rng_bits_philox",),
        ("rng_bits_philox",),
    ),
    Theirs(
        "the random bits are the device's choice: not run",
        "ttir",
        ("rng_bits",),
        ("rng_bits",),
    ),
    Theirs(
        "padding of conv_transpose2d is in ttir's order",
        "ttnn",
        (),
        ("conv2d_transposed", "conv2d_stride_grad"),
    ),
    Theirs(
        "the form of gelu with tanh becomes the exact one",
        "ttnn",
        ("gelu", "gelu_grad", "mlp_data_parallel", "mlp_tensor_parallel"),
        (
            "gelu", "gelu_grad", "mlp_data_parallel", "mlp_tensor_parallel",
            "mlp_fsdp_train_step",
        ),
    ),
    Theirs(
        "i64 is si32",
        "ttnn",
        ("constant_i64", "clz_int64"),
        ("constant_i64", "clz_int64"),
    ),
    Theirs("i8 is a wider integer", "ttnn", (), ("int_pow_int8",)),
)  # fmt: skip
"""All that differs, by stage."""


def theirs(way: Way) -> dict[str, str]:
    """The stage that differs first, by program."""
    return {name: one.stage for one in THEIRS for name in one.programs(way)}


@dataclass(frozen=True)
class Outcome:
    """How the stages of a program compare.

    Attributes:
        why: why it was not run: we do not give it to tt-mlir, or cannot run it
            ourselves. None if it was.
        compiled: whether tt-mlir gets to its binary.
        checks: the stages that it reaches.
    """

    why: str | None
    compiled: bool = False
    checks: tuple[StageCheck, ...] = ()

    @property
    def stage(self) -> str | None:
        """The first stage that differs, or cannot be run."""
        return next((check.stage for check in self.checks if differs(check)), None)


def differs(check: StageCheck) -> bool:
    """Whether a stage computes something else or cannot be run.

    What is not finite on one device, too, and equal otherwise, does not.
    """
    return not check.ok and (check.compared or check.max_abs is None)


def outcome_of(text: str, way: Way) -> Outcome:
    """Every stage of a program with random inputs."""
    try:
        inputs = random_inputs(Runner(parse_program(text)).function, 0)
        if way == "through":
            _local, given, why = prepared(text)
            if given is None:
                return Outcome(f"not given: {why}")
            text = given
        answer = ask(text)
        return Outcome(None, answer.ok, check_stages(answer, text, inputs))
    except (CompileError, InterpretationError) as error:
        return Outcome(str(error))


def all_outcomes(way: Way) -> dict[str, Outcome]:
    """Of all programs on the first mesh, and those that bring their own."""
    return {
        name: outcome_of(text, way)
        for (name, _), text in all_programs(others=False).items()
    }


def counts(found: Mapping[str, Outcome]) -> dict[str, int]:
    """How many programs of one way went how."""
    every = list(found.values())
    run = [one for one in every if one.checks]
    equal = [one for one in run if one.stage is None]
    return {
        "all": len(every),
        "not given, or not run by us": sum(one.why is not None for one in every),
        "tt-mlir shows no stage": sum(not one.why and not one.checks for one in every),
        "run": len(run),
        "… compiled to the end": sum(one.compiled for one in run),
        "… equal at every stage reached": len(equal),
        "… equal and compiled to the end": sum(one.compiled for one in equal),
        "… different": len(run) - len(equal),
    }


def section(found: Mapping[Way, Mapping[str, Outcome]]) -> str:
    """The counts, and what differs with the smallest program of each kind."""
    lines = ["| sharded programs | alone | through us |", "|---|--:|--:|"]
    alone, through = (counts(found[way]) for way in WAYS)
    lines += [f"| {name} | {alone[name]} | {through[name]} |" for name in alone]
    lines += [
        "",
        "| what happens | first stage | alone | through us | smallest program |",
        "|---|---|--:|--:|---|",
    ]
    for one in THEIRS:
        programs = f"{len(one.alone)} | {len(one.through)}"
        smallest = (one.alone or one.through)[0]
        lines.append(f"| {one.what} | {one.stage} | {programs} | `{smallest}` |")
    return "\n".join(lines)


def page(found: Mapping[Way, Mapping[str, Outcome]]) -> str:
    """The whole page with these tables made anew."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n{section(found)}\n{END}{after}"


def _text() -> str:
    found: dict[Way, dict[str, Outcome]] = {way: all_outcomes(way) for way in WAYS}
    return page(found)


if __name__ == "__main__":
    main_with_answers(_text)
