"""Every op of StableHLO and CHLO: read, printed, refused, and run in every form.

What is tested follows from the catalogue; a new op wants a use in it, and no test.
"""

import re

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

import ttxdsl
from tests.catalogue.elementwise import OPS
from tests.catalogue.refusals import BROKEN, Broken
from tests.catalogue.use import Use
from tests.catalogue.uses import NOT_FOR_JAXLIB, UNCHECKED, USES
from tests.conversion.compare import assert_close, random_inputs
from tests.differential.oracle import Oracle
from tests.interpreters.reference import xla
from tests.printing import printed
from ttxdsl.dialects.chlo import Chlo
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.loading.program import make_context, parse_program

NOT_IN_TABLE = {"stablehlo.return"}
"""It is in the regions of others."""


@pytest.fixture(scope="module")
def context() -> Context:
    return make_context()


def test_the_catalogue_has_every_op():
    defined = {op.name for one in (StableHLO, Chlo) for op in one.operations}
    assert defined - {use.name for use in USES.values()} == NOT_IN_TABLE
    assert {op.name for op in OPS} <= defined


def test_every_op_says_where_it_is_specified():
    for op in StableHLO.operations:
        assert op.__doc__ and op.__doc__.strip().endswith((".", '".')), op.name


# --- syntax -------------------------------------------------------------------


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_what_is_printed_reads_back_the_same(context: Context, use: Use):
    """With discardable attributes, which are kept."""
    module = parse_program(use.text(), context=context)
    (op,) = (op for op in module.walk() if op.name == use.name)
    note = '{mhlo.frontend_attributes = {a = "b"}, mhlo.note}'
    noted = parse_program(f"module attributes {note} {{}}", context=context)
    for attributes in {}, noted.attributes:
        op.attributes.update(attributes)
        for generic in (False, True):
            text = printed(module, generic=generic)
            again = parse_program(text, context=context)
            assert again.is_structurally_equivalent(module), text
            assert printed(again, generic=generic) == text


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_jaxlib_reads_what_we_print(context: Context, oracle: Oracle, use: Use):
    if use.name in NOT_FOR_JAXLIB:
        pytest.skip(NOT_FOR_JAXLIB[use.name])
    expected = oracle.run(use.text())
    module = parse_program(use.text(), context=context)
    for generic in (False, True):
        assert oracle.run(printed(module, generic=generic)) == expected
        # and we read what C++ prints
        theirs = oracle.run(use.text(), generic=generic)
        again = parse_program(theirs, context=context)
        assert again.is_structurally_equivalent(module)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.id)
def test_a_broken_constraint_is_named(context: Context, oracle: Oracle, broken: Broken):
    """The wrong op can be printed, as diagnostics do; jaxlib refuses it, too."""
    text = broken.wrong.text()
    module = Parser(context, text).parse_module()
    for generic in (False, True):
        printed(module, generic=generic)
    with pytest.raises(VerifyException, match=re.escape(broken.constraint)):
        module.verify()
    if broken.wrong.name not in NOT_FOR_JAXLIB | UNCHECKED:
        assert not oracle.accepts(text)


# --- numbers ------------------------------------------------------------------

_TOKENS = "programs do not take tokens, tuples or futures, or do not return them"
_DEVICES = "its results differ by device"
WITHOUT_NUMBERS = {
    "stablehlo.after_all": _TOKENS,
    "stablehlo.all_to_all": _DEVICES,
    "stablehlo.async_done": _TOKENS,
    "stablehlo.async_start": _TOKENS,
    "stablehlo.collective_permute": _DEVICES,
    "stablehlo.collective_reduce": _DEVICES,
    "stablehlo.create_token": _TOKENS,
    "stablehlo.custom_call": "its target is unknown",
    "stablehlo.get_tuple_element": _TOKENS,
    "stablehlo.infeed": _TOKENS,
    "stablehlo.outfeed": _TOKENS,
    "stablehlo.partition_id": _DEVICES,
    "stablehlo.real_dynamic_slice": "its result has a dynamic shape",
    "stablehlo.recv": _TOKENS,
    "stablehlo.reduce_scatter": _DEVICES,
    "stablehlo.replica_id": _DEVICES,
    "stablehlo.send": _TOKENS,
    "stablehlo.set_dimension_size": "its result has a dynamic shape",
    "stablehlo.tuple": _TOKENS,
}
"""Ops whose use is no program that all forms can run; their own tests run them."""

_COLLECTIVE = "its groups are of more devices than one"
_NOT_COMPILED = "XLA's CPU backend does not compile it"
NOT_FOR_XLA = {
    "chlo.broadcast_and": _NOT_COMPILED,
    "chlo.broadcast_or": _NOT_COMPILED,
    "chlo.broadcast_shift_left": _NOT_COMPILED,
    "chlo.broadcast_shift_right_arithmetic": _NOT_COMPILED,
    "chlo.broadcast_shift_right_logical": _NOT_COMPILED,
    "chlo.broadcast_xor": _NOT_COMPILED,
    "chlo.ragged_dot": _NOT_COMPILED,
    "stablehlo.all_gather": _COLLECTIVE,
    "stablehlo.all_reduce": _COLLECTIVE,
    "stablehlo.cholesky": "of a random matrix nothing is specified",
    "stablehlo.collective_broadcast": _COLLECTIVE,
    "stablehlo.cross-replica-sum": _COLLECTIVE,
    "stablehlo.dynamic_conv": _NOT_COMPILED,
    "stablehlo.rng": "the numbers are the implementation's choice",
    "stablehlo.unary_einsum": _NOT_COMPILED,
    "stablehlo.uniform_dequantize": _NOT_COMPILED,
    "stablehlo.uniform_quantize": _NOT_COMPILED,
}
"""Ops whose forms are compared with the program on one device only."""

RUN = [key for key, use in USES.items() if use.name not in WITHOUT_NUMBERS]


def inputs_of(use: Use) -> list[np.ndarray]:
    return random_inputs(parse_program(use.text()))


@pytest.fixture(scope="module")
def wanted() -> dict[str, list[np.ndarray]]:
    """What XLA computes of each use: all are one program, which compiles in a second."""
    keys = [key for key in RUN if USES[key].name not in NOT_FOR_XLA]
    functions, arguments, calls, results, inputs = [], [], [], [], []
    for number, key in enumerate(keys):
        use = USES[key]
        text = use.text(function=f"f{number}", returns=True).strip()
        functions.append(text.removeprefix("module {").removesuffix("}"))
        names = [f"%a{number}_{i}" for i in range(len(use.operands))]
        typed = zip(names, use.operands, strict=True)
        arguments += [f"{name}: {type}" for name, type in typed]
        results.append((f"%r{number}", use.results))
        calls.append(
            f"%r{number}:{len(use.results)} = func.call @f{number}({', '.join(names)})"
            f" : ({', '.join(use.operands)}) -> ({', '.join(use.results)})"
        )
        inputs += inputs_of(use)
    values = [f"{name}#{i}" for name, types in results for i in range(len(types))]
    types = ", ".join(type for _, types in results for type in types)
    whole = "\n".join(
        [
            *functions,
            f"func.func @main({', '.join(arguments)}) -> ({types}) {{",
            *calls,
            f"return {', '.join(values)} : {types}\n}}",
        ]
    )
    answers = iter(xla(whole, *inputs))
    return {
        key: [next(answers) for _ in types]
        for key, (_, types) in zip(keys, results, strict=True)
    }


def sharded(use: Use) -> str:
    """The use, each operand split along its first two dimensions where that is even."""
    text = use.text(function="main", returns=True)
    text = text.replace("{\n", '{\nsdy.mesh @mesh = <["x"=2, "y"=2]>\n', 1)
    for number, type in enumerate(use.operands):
        axes = iter(('{"x"}', '{"y"}'))
        sizes = re.match(r"tensor<((?:\d+x)*)", type)[1].split("x")[:-1]  # type: ignore[index]
        dims = ["{}" if int(size) % 2 else next(axes, "{}") for size in sizes]
        sharding = f"#sdy.sharding<@mesh, [{', '.join(dims)}]>"
        argument = f"%{number}: {type}"
        text = text.replace(argument, f"{argument} {{sdy.sharding = {sharding}}}", 1)
    return text


@pytest.mark.parametrize("key", RUN)
@pytest.mark.usefixtures("no_warnings")
def test_every_form_computes_what_xla_does(
    wanted: dict[str, list[np.ndarray]], key: str
):
    program = ttxdsl.load(sharded(USES[key]))
    inputs = inputs_of(USES[key])
    device = program.partition()
    expected = wanted.get(key) or program.simulate(*inputs)
    ttir = device.lower("ttir")  # what is printed of it reads back: test_tt_uses
    for form in (program, device, ttir, ttir.lower("ttnn")):
        for found, value in zip(form.simulate(*inputs), expected, strict=True):
            assert_close(np.asarray(found), np.asarray(value))
